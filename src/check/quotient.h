/* SPDX-License-Identifier: Apache-2.0 */
/* Reachability under an adversary who writes some variables at any time, to any value: states that differ in those alone reach each other, so
 * they are one class. It finds what is reached, not how; il_view_explore() with the writes as steps finds how. */
#pragma once
#include "check/view.h"

/* Combinations of values of the written variables up to which this is worth while. */
#define IL_QUOTIENT_VALUES (1u << 20)

typedef struct il_quotient {
    uint64_t reached; /* of the view's regions */
    bool bound_hit;   /* what was not reached may be reachable */
    bool cut;         /* likewise, because `patience` ended */
    uint32_t classes;
    uint64_t steps; /* that were looked at */
} il_quotient;

/* How many combinations `vars` have; 0 when they are more than IL_QUOTIENT_VALUES. */
uint32_t il_quotient_values(const il_model *m, uint64_t vars);
/* Ends as soon as everything in `v->regions` is reached, or after about `patience` steps. What `v` raises and lowers is not read: `vars` are
 * written both ways. Not for IL_OBSERVE_APPROVALS. */
IL_NODISCARD il_status il_quotient_reach(il_view *v, uint64_t vars, uint64_t patience, il_quotient *out, il_error *err);
