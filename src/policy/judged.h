/* SPDX-License-Identifier: Apache-2.0 */
/* One call decided in one state, without a session: labeller, machine, rules, the strictest wins, as the monitor's plan of a decision has it (in
 * enforce, and with no approval given yet). For what asks about a policy: explanations, comparisons. */
#pragma once
#include "policy/bind.h"
#include "policy/label.h"
#include "policy/rule.h"

typedef struct il_judged {
    il_label label;
    il_ruling ruling;
    bool accepted;   /* by the machine */
    bool releasable; /* its rejection, by what the machine says */
    bool human;      /* and by what the policy says */
    il_str rejection;
    il_then action;
    const char *layer; /* `labeller`, `machine`, `rule`, `fault`; NULL: allowed */
    il_str reason;     /* of the decision; empty: allowed */
} il_judged;

/* The state of a session that holds these; false: the machine rejects `*rejected` after the others, in whatever order. */
bool il_judged_state(const il_bind *b, uint32_t held, uint64_t *state, uint32_t *rejected);
/* Whether the machine accepts. `approved`: as it would when a human had granted it. */
bool il_judged_accepts(const il_bind *b, uint64_t state, uint32_t effects, il_sink_word sink, bool approved);
/* What the machine says of the label, into accepted, releasable and rejection. IL_E_INTERNAL for a symbol that it does not know. */
IL_NODISCARD il_status il_judged_step(il_judged *j, const il_bind *b, uint64_t state, il_error *err);
/* What follows of label, step and ruling. */
void il_judged_decide(il_judged *j, const il_policy *p, const il_bind *b, uint64_t state);
/* All of it. `name`: `server.tool`. What *out names lives in scratch or in the policy. */
IL_NODISCARD il_status il_policy_judge(const il_policy *p, const il_bind *b, const il_label_call *call, il_str name,
                                       uint64_t state, il_arena *scratch, il_judged *out, il_error *err);
