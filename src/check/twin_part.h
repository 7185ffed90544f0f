/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of the twin plant: the search over pairs, and what is concluded from it. */
#pragma once
#include "check/twin.h"

enum { IL_TWIN_MOVES = 1, IL_TWIN_SEEN = 2 }; /* of an edge: x moves; something is seen */

typedef struct il_twin_edge {
    uint32_t to, flags;
} il_twin_edge;

typedef struct il_twin_search {
    const il_plant *p;
    const il_twin_ask *ask;
    const il_space_bounds *bounds;
    const il_alloc *alloc;
    uint64_t *view;
    bool *enters;   /* of each edge of the plant; a region of steps only */
    bool faults;    /* x has them */
    il_nodes pairs; /* latch << 63 | x << 32 | y */
    size_t *first, first_cap;
    il_twin_edge *edges; /* between ambiguous pairs */
    size_t nedges, edges_cap;
    uint64_t all_edges;
    uint32_t expanded;
    bool stopped;
    bool looking; /* not exploring: looking for the step that leads to `wanted` */
    bool found;
    uint64_t wanted;
    il_twin_step step;
} il_twin_search;

static inline uint32_t il_twin_x(uint64_t key) { return (uint32_t)(key >> 32) & 0x7FFFFFFFu; }
static inline uint32_t il_twin_y(uint64_t key) { return (uint32_t)key; }
static inline bool il_twin_in(const il_twin_search *s, uint32_t node) { return s->p->in[node] >> s->ask->region & 1; }
static inline bool il_twin_ambiguous(const il_twin_search *s, uint64_t key) {
    return s->ask->now ? il_twin_in(s, il_twin_x(key)) && !il_twin_in(s, il_twin_y(key)) : key >> 63 != 0;
}
static inline bool il_twin_bounded(const il_twin_search *s) { return s->pairs.bound_hit || s->stopped; }

/* Takes every step of the pair, or (looking) finds the one that leads to s->wanted. */
IL_NODISCARD il_status il_twin_expand(il_twin_search *s, uint32_t pair, il_error *err);
/* The answer, and its witness, from what was explored so far. */
IL_NODISCARD il_status il_twin_conclude(il_twin_search *s, il_arena *arena, il_twin *out, il_error *err);
