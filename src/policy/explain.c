/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/explain.h"

#include "cel/partial.h"
#include "policy/compiled.h"
#include "policy/effect.h"
#include "policy/explain_part.h"

const char *il_matches_word(il_matches m) {
    static const char *const words[] = {"no", "yes", "maybe", "errs"};
    return words[m];
}

static uint32_t il_explain_held(uint32_t held) {
    return (held & (uint32_t)IL_SECRET) != 0 ? held | (uint32_t)IL_SENSITIVE : held;
}

/* ---- conditions ------------------------------------------------------------------------------------------ */

/* What is not known of this call; of an entry's own names what is remembered, and without arguments what they build. */
static il_status il_explain_unknown(il_condition_call *c, uint32_t asks, uint32_t nown, il_error *err) {
    const uint32_t built = c->tool != NULL && c->call->args != NULL ? c->tool->nkinds : 0;
    if (c->call->args == NULL) {
        c->values[IL_CONDITION_ARGS] = c->values[IL_CONDITION_PROV] = il_cel_unknown();
    }
    if (c->policy->interbolt.on) {
        IL_TRY(il_interbolt_unknown(c, asks, err));
    } else if ((asks & IL_CONDITION_ASKS_SOURCES) != 0) {
        c->values[IL_CONDITION_RUN] = il_cel_unknown();
    }
    c->values[IL_CONDITION_ITEM] = il_cel_unknown();
    for (uint32_t i = built; i < nown; i++) {
        c->values[IL_CONDITION_NAMES + i] = il_cel_unknown();
    }
    return IL_OK;
}

/* What a function says that reads the call itself (`ours`, `public`) is none of what is left of a condition, and is known with the arguments. A true or
 * false that comes in spite of what is unknown stands whatever that is; an error may be the unknown's. */
static void il_explain_whole(const il_condition *condition, il_condition_call *c, uint32_t nown, il_cel_residue *left) {
    const uint32_t later = (1u << IL_CONDITION_ITEM) | IL_CONDITION_ASKS_SOURCES;
    const uint32_t built = c->tool != NULL ? c->tool->nkinds : 0;
    if (left->decided || c->call->args == NULL || c->policy->interbolt.on) {
        return;
    }
    const il_cel_value v = il_cel_eval_in(condition->program, c->values, c->scratch, c);
    const bool all = (condition->asks & later) == 0 && nown <= built;
    if (v.kind == IL_CEL_BOOL || all) {
        left->decided = true;
        left->value = v;
    }
}

static il_status il_explain_left(const il_condition *condition, il_condition_call *c, uint32_t nown, il_explain_condition *out,
                                 il_error *err) {
    il_cel_residue left;
    out->matches = IL_MATCHES_YES;
    if (condition->program == NULL) {
        return IL_OK;
    }
    out->when = condition->program->root->src->text;
    IL_TRY(il_condition_values(c, condition->asks, err));
    IL_TRY(il_explain_unknown(c, condition->asks, nown, err));
    IL_TRY(il_cel_partial(c->scratch, condition->program, c->values, &left, err));
    il_explain_whole(condition, c, nown, &left);
    c->made = 0; /* the next condition is told what it is not to know again */
    if (!left.decided) {
        out->matches = IL_MATCHES_MAYBE;
        out->left = left.text;
    } else if (left.value.kind == IL_CEL_BOOL) {
        out->matches = left.value.u.b ? IL_MATCHES_YES : IL_MATCHES_NO;
    } else {
        il_error why = {.msg = "neither true nor false"};
        out->matches = IL_MATCHES_ERRS;
        if (left.value.kind == IL_CEL_ERROR) {
            il_cel_explain(condition->program, left.value, &why);
        }
        return il_arena_copy(c->scratch, il_str_of(why.msg), &out->left, err);
    }
    return IL_OK;
}

/* ---- entries ------------------------------------------------------------------------------------------------ */

typedef struct il_explain_entries {
    il_explaining *e;
    size_t room;
} il_explain_entries;

static il_status il_explain_count(void *ctx, const il_tool *tool, il_error *err) {
    il_explain_entries *n = ctx;
    (void)err;
    n->room += tool->when != NULL ? tool->when->n : 0;
    return IL_OK;
}

static il_status il_explain_entry(void *ctx, const il_tool *tool, il_error *err) {
    il_explaining *e = ((il_explain_entries *)ctx)->e;
    il_explanation *out = e->out;
    il_str own[IL_CONDITION_OWN_MAX];
    il_condition_call c = {.policy = e->p, .call = &e->call, .tool = tool, .scratch = e->arena};
    const uint32_t nown = tool->when != NULL ? tool->nkinds + tool->when->nremembered : 0;
    if (tool->when != NULL) {
        IL_TRY(il_effects_own(tool, &e->call, e->arena, own, err));
        c.own = own;
        c.nown = nown;
    }
    out->entry = out->nentries == 0 ? tool : out->entry;
    out->nentries++;
    out->declared |= tool->effects;
    for (uint32_t i = 0; tool->when != NULL && i < tool->when->n; i++) {
        il_explain_condition *x = &out->conditions[out->nconditions++];
        x->effect = tool->when->when[i].bit;
        IL_TRY(il_explain_left(&tool->when->when[i].condition, &c, nown, x, err));
    }
    return IL_OK;
}

static il_status il_explain_effects(il_explaining *e, il_error *err) {
    il_explain_entries n = {e, 0};
    IL_TRY(il_policy_match_each(e->p, e->out->name, il_explain_count, &n, err));
    e->out->conditions = IL_NEW_ARRAY(e->arena, il_explain_condition, n.room + 1);
    if (e->out->conditions == NULL) {
        return il_arena_fail(e->arena, err);
    }
    IL_TRY(il_policy_match_each(e->p, e->out->name, il_explain_entry, &n, err));
    IL_TRY(il_policy_label(e->p, &e->call, e->arena, &e->out->label, err));
    if (e->call.args == NULL && e->out->label.why[0] != '\0' && e->out->nentries == 1 && !e->out->label.outside) {
        (void)il_format(e->out->label.why, sizeof e->out->label.why,
                        "it is not told what the call names, and nothing is vouched unseen");
    }
    e->out->declared |= e->out->label.outside ? (uint32_t)(IL_UNTRUSTED | IL_EGRESS) : 0u;
    return IL_OK;
}

/* ---- rules ---------------------------------------------------------------------------------------------------- */

/* The rules about this tool. With arguments known the monitor's own judgement is the answer, and the list shows how it came about. */
static il_status il_explain_rules(il_explaining *e, il_error *err) {
    il_explanation *out = e->out;
    const il_rules *rules = &e->p->rules;
    il_condition_call c = {.policy = e->p,
                           .call = &e->call,
                           .declared = out->label.declared,
                           .state = out->state,
                           .label = &out->label,
                           .tool = out->nentries == 1 ? out->entry : NULL,
                           .scratch = e->arena};
    bool over = false;
    out->rules = IL_NEW_ARRAY(e->arena, il_explain_condition, rules->n + 2);
    if (out->rules == NULL) {
        return il_arena_fail(e->arena, err);
    }
    if (e->call.args != NULL) {
        IL_TRY(il_rules_judge(e->p, &e->call, out->name, &out->label, out->state, e->arena, &e->ruling, err));
    }
    for (uint32_t i = 0; i < rules->n + (rules->otherwise != NULL ? 1u : 0u) && !over; i++) {
        const il_policy_rule *rule = i < rules->n ? &rules->list[i] : rules->otherwise;
        if (i < rules->n && !il_rule_names(rule, out->name)) {
            continue;
        }
        il_explain_condition *x = &out->rules[out->nrules++];
        x->rule = rule;
        x->number = i + 1;
        IL_TRY(il_explain_left(&rule->when, &c, 0, x, err));
        if (e->call.args != NULL) {
            const bool decides = e->ruling.number == i + 1;
            x->matches = !decides ? IL_MATCHES_NO : e->ruling.erred ? IL_MATCHES_ERRS : IL_MATCHES_YES;
            over = decides;
            continue;
        }
        x->matches = rules->soft && x->matches == IL_MATCHES_ERRS ? IL_MATCHES_NO : x->matches;
        over = x->matches == IL_MATCHES_YES || x->matches == IL_MATCHES_ERRS;
        out->depends = out->depends || x->matches == IL_MATCHES_MAYBE;
        if (x->matches != IL_MATCHES_NO) {
            e->ruling.erred = e->ruling.erred || x->matches == IL_MATCHES_ERRS;
            e->ruling.rule = e->ruling.rule == NULL || rule->then < e->ruling.rule->then ? rule : e->ruling.rule;
        }
    }
    if (e->call.args == NULL) {
        e->ruling.then = e->ruling.rule != NULL ? e->ruling.rule->then : IL_THEN_ALLOW;
    }
    return IL_OK;
}

/* ---- the decision ---------------------------------------------------------------------------------------------- */

bool il_explain_accepts(const il_explaining *e, uint64_t state, uint32_t effects, il_sink_word sink, bool approved) {
    return il_judged_accepts(&e->bind, state, effects, sink, approved);
}

static void il_explain_decided(il_explaining *e, const il_judged *j) {
    il_explanation *out = e->out;
    out->accepted = j->accepted;
    out->reason = j->rejection;
    out->action = j->action;
    out->layer = j->layer;
    out->why_layer = j->reason;
    e->ruling = j->ruling;
}

static il_status il_explain_name(il_explaining *e, const il_explain_ask *ask, il_error *err) {
    il_buf b;
    il_buf_init(&b, e->arena, 4096);
    il_buf_put(&b, ask->server);
    if (ask->server.n > 0) {
        il_buf_putc(&b, '.');
    }
    il_buf_put(&b, ask->tool);
    return il_buf_done(&b, &e->out->name, err);
}

il_status il_policy_explain(const il_policy *p, const il_explain_ask *ask, il_arena *arena, il_explanation *out, il_error *err) {
    il_explaining e = {.p = p, .arena = arena, .out = out, .held = il_explain_held(ask->held)};
    uint32_t rejected = 0;
    *out = (il_explanation){0};
    e.call = (il_label_call){.server = ask->server,
                             .tool = ask->tool,
                             .args = ask->args,
                             .held = e.held & IL_TAINTS,
                             .agent = ask->agent,
                             .sends = (e.held & (uint32_t)IL_EGRESS) != 0};
    IL_TRY(il_bind_open(p->machine, &e.bind, err));
    IL_TRY(il_explain_name(&e, ask, err));
    if (!il_judged_state(&e.bind, e.held, &out->state, &rejected)) {
        return il_error_set(err, IL_E_STATE,
                            "no session holds these effects together: machine `%.*s` rejects `%.*s` after the others",
                            IL_STR_ARG(il_machine_name(p->machine)),
                            IL_STR_ARG(il_effect_name(rejected & (uint32_t)IL_SECRET ? (uint32_t)IL_SECRET : rejected)));
    }
    IL_TRY(il_explain_effects(&e, err));
    if (!out->label.known) {
        out->layer = "labeller";
        out->why_layer = IL_STR("unlabelled-tool");
        return il_explain_changes(&e, err);
    }
    il_judged j = {.label = out->label};
    IL_TRY(il_judged_step(&j, &e.bind, out->state, err));
    IL_TRY(il_explain_rules(&e, err));
    j.ruling = e.ruling;
    il_judged_decide(&j, p, &e.bind, out->state);
    il_explain_decided(&e, &j);
    /* an effect that is not told yet may be none */
    for (size_t i = 0; i < out->nconditions && !out->accepted && ask->args == NULL; i++) {
        out->depends = out->depends || out->conditions[i].matches == IL_MATCHES_MAYBE;
    }
    out->depends = out->depends && out->action != IL_THEN_ALLOW;
    return il_explain_changes(&e, err);
}
