/* SPDX-License-Identifier: Apache-2.0 */
/* Words in the making, for generate.c and what it is split into. */
#pragma once
#include "cel/code.h"

typedef struct il_cel_maker {
    il_arena *arena; /* where the code goes in the end */
    il_arena *room;  /* for the growing arrays below; given back when the code is done */
    il_error *err;
    il_cel_word *words;
    const il_cel_node **nodes;
    il_cel_value *constants;
    il_cel_loop *loops;
    il_cel_site *sites;
    il_cel_set *sets;
    uint32_t nwords, nconstants, nloops, nsites, nsets;
    uint32_t words_room, constants_room, loops_room, sites_room, sets_room;
    uint32_t top, most;     /* registers in use; the most that ever were */
    uint32_t level, levels; /* the same of loops */
    uint32_t last; /* the word that the latest instruction begins with; UINT32_MAX when something may jump to what comes next */
} il_cel_maker;

/* Code that leaves the value of `root`, for an evaluation; what is constant is marked already. Kept in m->arena. */
IL_NODISCARD il_status il_cel_make(il_arena *arena, il_arena *room, const il_cel_node *root, il_cel_code *out, il_error *err);

/* Finds and marks what is constant: sets `constant` and `lit`. Not an error, whatever happens: then less is constant. */
void il_cel_fold(il_arena *arena, const il_cel_program *program, il_cel_node *root);
