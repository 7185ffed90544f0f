/* SPDX-License-Identifier: Apache-2.0 */
/* Two machines side by side: what a symbol, a variable, a value of one is in the other, by their names. Versions of a machine are compared so, and a
 * trail that one wrote is read by another so.
 *
 * A value is that of the same name. Between a bool and another domain `false` is the first value, and `true` the last one; whatever is beyond the first
 * is `true`. A field or variable that only the other machine has is at its first value. A payload that has no counterpart field by field may still say
 * the same in the words of effects (machine/vocabulary.h); `commit`, `bound` and `secret` may be lost there as the monitor loses them. */
#pragma once
#include "base/arena.h"
#include "machine/model.h"

typedef struct il_counterpart {
    const il_model *from, *to;
    uint32_t *symbols; /* of `to` for each of `from`; IL_NO_SYMBOL */
    bool *reached;     /* whether a symbol of `to` is the counterpart of some */
    uint32_t *vars;    /* of `to` for each of `from`; UINT32_MAX */
    uint32_t **values; /* of `to`'s variable for each value; UINT32_MAX */
} il_counterpart;

IL_NODISCARD il_status il_counterpart_init(il_counterpart *c, il_arena *arena, const il_model *from, const il_model *to,
                                           il_error *err);
/* The state of `to` that says the same. A variable without a counterpart is dropped; one whose value has none is left at its first value, and *lost
 * (may be NULL) names the first of these, else it is UINT32_MAX. */
uint64_t il_counterpart_state(const il_counterpart *c, uint64_t state, uint32_t *lost);
/* Number of a rule of the same name in the other contract, from 1; 0: none. */
uint32_t il_counterpart_rule(const il_model *to, il_str name);
