/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of an entry: declared for the worst case, and conditions that can only take one away. A condition that errs takes nothing away.
 *
 * A condition on the call is settled before the call runs, one on `item` when its result has been read: until then the effect counts. */
#pragma once
#include "policy/condition.h"
#include "policy/tool.h"

typedef struct il_effect_when {
    uint32_t bit;
    il_condition condition;
} il_effect_when;

struct il_effects {
    uint32_t n;
    il_effect_when when[IL_EFFECTS];
    uint32_t on_item; /* bits whose condition waits for the result */
    uint32_t asks;    /* of all conditions */
    uint32_t nremembered;
    const il_str *remembered; /* names that stand behind the entry's kinds among its own */
    uint32_t nitem;
    il_arg_path *item; /* the fields that conditions may read */
};

/* Compiles the conditions of an entry's `effects` (a map with at least one text); tool->when becomes what was made. The entry itself has been loaded. */
IL_NODISCARD il_status il_effects_load(const il_json *effects, const il_condition_names *names, il_arena *arena, il_tool *tool,
                                       il_error *err);

/* The values of the entry's own names, into own[0 .. nkinds + nremembered): of the kinds as the call's arguments build them, of what is remembered as the
 * session has it. {NULL}: there is none, and a condition that reads it errs. tool->when is there. */
IL_NODISCARD il_status il_effects_own(const il_tool *tool, const il_label_call *call, il_arena *scratch, il_str *own,
                                      il_error *err);

/* The effects that a call of this entry may have, as far as they can be told before it runs. Fails for want of memory, and when a store does not answer. */
IL_NODISCARD il_status il_effects_call(const il_policy *p, const il_tool *tool, const il_label_call *call, il_arena *scratch,
                                       uint32_t *out, il_error *err);

/* When the result has been read: which effects each item has, into each[0..n) (may be NULL), and into *absent those that the call was admitted with
 * and that no item has. Only for a result that was read as the entry declares it. Fails for want of memory, and then nothing is absent. */
IL_NODISCARD il_status il_effects_items(const il_policy *p, const il_tool *tool, const il_label_call *call,
                                        const il_json *const *items, size_t n, il_arena *scratch, uint32_t *each,
                                        uint32_t *absent, il_error *err);
