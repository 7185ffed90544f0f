/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that ask for what this policy never brings, or that hold of nothing: warnings, since a parent's session may bring it, and nothing may be meant. */
#include "policy/condition.h"
#include "policy/lint_part.h"

typedef struct il_meant {
    il_linting *l;
    il_str name;   /* of the rule or the entry */
    uint32_t legs; /* effects that some entry has */
    bool allows;   /* the condition is an `allow` rule's */
} il_meant;

static il_lint_at il_meant_at(const il_meant *m, const il_cel_node *n) {
    return (il_lint_at){m->name, il_cel_line(n->src, n->start), il_cel_col(n->src, n->start)};
}

/* Words below this node that are compared with what `run.trifecta` has. Depth: IL_CEL_DEPTH. */
static il_status il_meant_legs(il_meant *m, const il_cel_node *n, il_error *err) {
    static const uint32_t legs[] = {(uint32_t)IL_UNTRUSTED, (uint32_t)IL_SENSITIVE, (uint32_t)IL_EGRESS};
    for (size_t i = 0; n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING && i < 3; i++) {
        const il_lint_at at = il_meant_at(m, n);
        if ((m->legs & legs[i]) == 0 && il_str_eq(il_cel_str(n->lit), il_effect_name(legs[i]))) {
            IL_TRY(il_lint_say(
                m->l, "leg-undeclared", &at, err,
                "no entry of `tools` has the effect `%.*s`, so it is in `run.trifecta` only where a parent's session brings it",
                IL_STR_ARG(il_effect_name(legs[i]))));
        }
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_meant_legs(m, k, err));
    }
    return IL_OK;
}

/* A list that may have nothing in it: what the session read, and where an argument is from. */
static bool il_meant_list(const il_cel_node *n) {
    if (il_lint_field(n, IL_CONDITION_RUN, (il_str){0})) {
        return !il_str_eq(n->name, IL_STR("tainted"));
    }
    const il_cel_node *of = n->kids;
    return n->op == IL_CEL_OP_SELECT && il_str_eq(n->name, IL_STR("sources")) && of != NULL &&
           (il_lint_field(of, IL_CONDITION_PROV, (il_str){0}) ||
            (of->op == IL_CEL_OP_INDEX && of->kids->op == IL_CEL_OP_VAR && of->kids->slot == IL_CONDITION_PROV));
}

/* Depth: IL_CEL_DEPTH. */
static il_status il_meant_walk(il_meant *m, const il_cel_node *n, il_error *err) {
    const il_cel_node *second = n->kids != NULL ? n->kids->next : NULL;
    const bool macro = n->op >= IL_CEL_OP_EXISTS && n->op <= IL_CEL_OP_FILTER;
    if (n->op == IL_CEL_OP_IN && second != NULL && il_lint_field(second, IL_CONDITION_RUN, IL_STR("trifecta"))) {
        IL_TRY(il_meant_legs(m, n->kids, err));
    }
    if (macro && second != NULL && il_lint_field(n->kids, IL_CONDITION_RUN, IL_STR("trifecta"))) {
        IL_TRY(il_meant_legs(m, second, err));
    }
    if (n->op == IL_CEL_OP_ALL && m->allows && second != NULL && il_meant_list(n->kids)) {
        const il_lint_at at = il_meant_at(m, n);
        IL_TRY(
            il_lint_say(m->l, "all-of-none", &at, err,
                        "rule `%.*s`: `all` is true where there is none, and then this rule allows and no later one is looked at",
                        IL_STR_ARG(m->name)));
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_meant_walk(m, k, err));
    }
    return IL_OK;
}

/* All that calls may bring: by the entries, and by servers that are outside. */
static uint32_t il_meant_brings(const il_policy *p) {
    uint32_t bits = 0;
    for (uint32_t t = 0; t < p->ntools; t++) {
        const il_tool *tool = &p->tools[t];
        bits |= tool->effects | (tool->child ? (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE) : 0u);
        for (uint32_t g = 0; g < tool->nglobs; g++) {
            for (uint32_t f = 0; f < tool->globs[g].nforms; f++) {
                const il_str form = tool->globs[g].forms[f];
                const size_t dot = il_str_find(form, IL_STR("."), 0);
                const bool own = dot == SIZE_MAX && il_str_find(form, IL_STR("*"), 0) == SIZE_MAX;
                const bool inside = own || (dot != SIZE_MAX && il_policy_server_inside(p, il_str_part(form, 0, dot)));
                bits |= inside ? 0u : (uint32_t)(IL_UNTRUSTED | IL_EGRESS);
            }
        }
    }
    return bits;
}

il_status il_policy_lint_meant(const il_policy *p, il_arena *scratch, const il_lint_out *out, il_error *err) {
    il_linting l = {p, scratch, out};
    il_meant m = {.l = &l, .legs = il_meant_brings(p)};
    if (p->interbolt.on) { /* which has words of its own for them: il_interbolt_lint */
        return IL_OK;
    }
    for (uint32_t t = 0; t < p->ntools; t++) {
        const il_effects *when = p->tools[t].preset.n == 0 ? p->tools[t].when : NULL;
        m.name = p->tools[t].globs[0].text;
        for (uint32_t i = 0; when != NULL && i < when->n; i++) {
            IL_TRY(il_meant_walk(&m, when->when[i].condition.program->root, err));
        }
    }
    for (uint32_t i = 0; i < p->rules.n; i++) {
        const il_policy_rule *rule = &p->rules.list[i];
        m.name = rule->name;
        m.allows = rule->then == IL_THEN_ALLOW;
        if (rule->when.program != NULL) {
            IL_TRY(il_meant_walk(&m, rule->when.program->root, err));
        }
    }
    return IL_OK;
}
