/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of the belief set. */
#pragma once
#include "check/belief.h"

struct il_estimator {
    const il_alloc *alloc;
    const il_model *m;
    il_estimator_options options;
    il_plant plant; /* numbers the states and lists their successors */
    uint32_t n;
    bool hides;      /* something may happen unseen */
    uint64_t *views; /* of each state */
    /* for one observation at a time */
    uint64_t *mark;
    uint32_t *from, *to; /* lists of up to n states */
};
