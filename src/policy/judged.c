/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/judged.h"

#include "policy/compiled.h"

/* ---- the state ------------------------------------------------------------------------------------------ */

/* The machine's state after calls that brought these effects one by one, in this order of bits; false: it rejects one. */
static bool il_judged_walk(const il_bind *b, const uint32_t *bits, uint32_t n, uint64_t *state, uint32_t *rejected) {
    *state = il_machine_initial(b->machine);
    for (uint32_t i = 0; i < n; i++) {
        const bool egress = bits[i] == (uint32_t)IL_EGRESS;
        const uint32_t symbol = il_bind_admit(b, bits[i], egress ? IL_SINK_STANDING : IL_SINK_NONE, false);
        const il_step step = il_machine_step(b->machine, *state, symbol);
        *rejected = bits[i];
        if (symbol == IL_NO_SYMBOL || step.verdict != IL_ACCEPT) {
            return false;
        }
        *state = step.next;
        const uint32_t settle = il_bind_settle(b, bits[i] & IL_TAINTS, 0);
        const il_step settled = il_machine_step(b->machine, *state, settle);
        *state = settle != IL_NO_SYMBOL && settled.verdict == IL_ACCEPT ? settled.next : *state;
    }
    return true;
}

/* Any order in which the machine accepts them. Depth: IL_EFFECTS. */
static bool il_judged_orders(const il_bind *b, uint32_t *bits, uint32_t at, uint32_t n, uint64_t *state, uint32_t *rejected) {
    if (at == n) {
        return il_judged_walk(b, bits, n, state, rejected);
    }
    for (uint32_t i = at; i < n; i++) {
        const uint32_t swap = bits[at];
        bits[at] = bits[i];
        bits[i] = swap;
        if (il_judged_orders(b, bits, at + 1, n, state, rejected)) {
            return true;
        }
        bits[i] = bits[at];
        bits[at] = swap;
    }
    return false;
}

bool il_judged_state(const il_bind *b, uint32_t held, uint64_t *state, uint32_t *rejected) {
    uint32_t bits[IL_EFFECTS], n = 0;
    held &= (held & (uint32_t)IL_SECRET) != 0 ? ~(uint32_t)IL_SENSITIVE : UINT32_MAX; /* a secret brings it */
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if ((held & (1u << i)) != 0) {
            bits[n++] = (1u << i) | ((1u << i) == (uint32_t)IL_SECRET ? (uint32_t)IL_SENSITIVE : 0u);
        }
    }
    *rejected = 0;
    return il_judged_orders(b, bits, 0, n, state, rejected);
}

/* ---- the decision ------------------------------------------------------------------------------------------ */

bool il_judged_accepts(const il_bind *b, uint64_t state, uint32_t effects, il_sink_word sink, bool approved) {
    const uint32_t symbol = il_bind_admit(b, effects, (effects & (uint32_t)IL_EGRESS) != 0 ? sink : IL_SINK_NONE, approved);
    if (symbol == IL_NO_SYMBOL) {
        return false;
    }
    const il_step step = il_machine_step(b->machine, state, symbol);
    return step.verdict == IL_ACCEPT ||
           (approved && step.verdict == IL_REJECT &&
            il_str_eq(il_machine_reason(b->machine, step.reason), IL_STR("no-approval"))); /* had a human granted it */
}

il_status il_judged_step(il_judged *j, const il_bind *b, uint64_t state, il_error *err) {
    const uint32_t symbol = il_bind_admit(b, j->label.effects, j->label.sink, false);
    if (symbol == IL_NO_SYMBOL) {
        return il_error_set(err, IL_E_INTERNAL, "the machine does not know this call's symbol");
    }
    const il_step step = il_machine_step(b->machine, state, symbol);
    j->accepted = step.verdict == IL_ACCEPT;
    j->rejection = j->accepted ? (il_str){0} : il_machine_reason(b->machine, step.reason);
    j->releasable = !j->accepted && il_machine_releasable(b->machine, step.reason);
    return IL_OK;
}

static void il_judged_is(il_judged *j, il_then action, const char *layer, il_str reason) {
    j->action = action;
    j->layer = action == IL_THEN_ALLOW ? NULL : layer;
    j->reason = action == IL_THEN_ALLOW ? (il_str){0} : reason;
}

void il_judged_decide(il_judged *j, const il_policy *p, const il_bind *b, uint64_t state) {
    const il_then then = j->ruling.then;
    const il_str rule = j->ruling.rule != NULL ? j->ruling.rule->name : (il_str){0};
    if (j->ruling.erred) {
        il_judged_is(j, IL_THEN_BLOCK, "fault", IL_STR("condition-error"));
    } else if (j->accepted) {
        il_judged_is(j, then == IL_THEN_APPROVAL && !b->approves ? IL_THEN_BLOCK : then, "rule", rule);
    } else {
        j->human = j->releasable && b->approves && il_policy_may_release(p, j->label.effects) &&
                   il_judged_accepts(b, state, j->label.effects, j->label.sink, true);
        if (j->human && then == IL_THEN_BLOCK && j->ruling.rule != NULL) {
            il_judged_is(j, IL_THEN_BLOCK, "rule", rule);
        } else {
            il_judged_is(j, j->human ? IL_THEN_APPROVAL : IL_THEN_BLOCK, "machine", j->rejection);
        }
    }
}

il_status il_policy_judge(const il_policy *p, const il_bind *b, const il_label_call *call, il_str name, uint64_t state,
                          il_arena *scratch, il_judged *out, il_error *err) {
    *out = (il_judged){0};
    IL_TRY(il_policy_label(p, call, scratch, &out->label, err));
    if (!out->label.known) {
        il_judged_is(out, IL_THEN_BLOCK, "labeller", IL_STR("unlabelled-tool"));
        return IL_OK;
    }
    IL_TRY(il_judged_step(out, b, state, err));
    IL_TRY(il_rules_judge(p, call, name, &out->label, state, scratch, &out->ruling, err));
    il_judged_decide(out, p, b, state);
    return IL_OK;
}
