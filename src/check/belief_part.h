/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of the belief set: the plant's tables. */
#pragma once
#include "check/belief.h"
#include "machine/steps.h"

typedef struct il_estimator_edge {
    uint32_t next, symbol; /* symbols from m->nsymbols on are fault edges */
} il_estimator_edge;

/* Successors of all states: those of state i are [first[i], first[i + 1]), in symbol order. */
typedef struct il_estimator_lists {
    uint64_t *first;
    il_estimator_edge *edge;
} il_estimator_lists;

struct il_estimator {
    const il_alloc *alloc;
    const il_model *m;
    il_estimator_options options;
    il_steps *steps;
    il_space space; /* numbers the states */
    uint32_t n;
    uint64_t nvisible, nhidden;
    uint64_t *views, *regions; /* of each state; `regions`: bit r, region r */
    il_estimator_lists visible, hidden;
    /* for one observation at a time */
    uint64_t *mark;
    uint32_t *from, *to; /* lists of up to n states */
};
