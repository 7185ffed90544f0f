/* SPDX-License-Identifier: Apache-2.0 */
/* Binary decision diagrams: functions of yes-no variables, each function one number, equal functions equal numbers. A
 * variable's place in the order is its number. Nodes and the work of one question are bounded: what would pass a bound gives
 * IL_BDD_FALSE and sets `spent` (or `failed`, out of memory), which sticks, so a caller looks once, at the end, and uses no
 * number that came out meanwhile. Threads: one at a time. */
#pragma once
#include "base/arena.h"
#include "base/error.h"

typedef uint32_t il_bdd_ref;
enum { IL_BDD_FALSE = 0, IL_BDD_TRUE = 1, IL_BDD_CACHE = 4096 };

typedef struct il_bdd_node {
    uint32_t var, stamp;
    il_bdd_ref low, high; /* where the variable is false, true */
    uint32_t next;        /* in its bucket */
} il_bdd_node;

typedef struct il_bdd_memo {
    il_bdd_ref f, g, h, result;
} il_bdd_memo;

typedef struct il_bdd {
    il_arena *arena;
    il_bdd_node *nodes;
    uint32_t n, room, limit;
    uint32_t *buckets, nbuckets;
    il_bdd_memo *memo;
    uint64_t steps; /* left */
    uint32_t stamp; /* of the latest walk */
    bool spent;
    il_status failed; /* IL_OK, or why the arena gave nothing */
} il_bdd;

IL_NODISCARD il_status il_bdd_init(il_bdd *b, il_arena *arena, uint32_t limit, il_error *err);
static inline bool il_bdd_bad(const il_bdd *b) { return b->spent || b->failed != IL_OK; }
/* Forgets all nodes from number n up: what was made since b->n was n. */
void il_bdd_cut(il_bdd *b, uint32_t n);

/* Work that a caller does for the same question; false when there is no more of it to be had. */
bool il_bdd_charge(il_bdd *b, uint64_t steps);

il_bdd_ref il_bdd_var(il_bdd *b, uint32_t var);
il_bdd_ref il_bdd_ite(il_bdd *b, il_bdd_ref f, il_bdd_ref g, il_bdd_ref h);
/* f where the variable is fixed. */
il_bdd_ref il_bdd_fix(il_bdd *b, il_bdd_ref f, uint32_t var, bool value);
static inline il_bdd_ref il_bdd_not(il_bdd *b, il_bdd_ref f) { return il_bdd_ite(b, f, IL_BDD_FALSE, IL_BDD_TRUE); }
static inline il_bdd_ref il_bdd_and(il_bdd *b, il_bdd_ref f, il_bdd_ref g) { return il_bdd_ite(b, f, g, IL_BDD_FALSE); }
static inline il_bdd_ref il_bdd_or(il_bdd *b, il_bdd_ref f, il_bdd_ref g) { return il_bdd_ite(b, f, IL_BDD_TRUE, g); }
/* Calls visit for each variable that f depends on, perhaps more than once, in no order. visit must not walk itself. */
void il_bdd_support(il_bdd *b, il_bdd_ref f, void (*visit)(void *ctx, uint32_t var), void *ctx);
