/* SPDX-License-Identifier: Apache-2.0 */
/* What Interbolt warns of, asked of the compiled conditions and not of their text. */
#include "policy/condition.h"
#include "policy/lint_part.h"

typedef struct il_ib_linting {
    const il_policy *p;
    il_arena *scratch;
    const il_lint_out *warn, *found;
    const il_policy_rule *rule;
    uint32_t legs;    /* that some sink declares, as effects */
    bool provenance;  /* the condition asks where data came from */
    bool vacuous;     /* the rule allows: `all` of an empty list is true */
    uint32_t missing; /* legs that were complained of in this rule */
    il_error *err;
} il_ib_linting;

static il_status il_ibl_say(il_ib_linting *l, const il_lint_out *out, const char *kind, uint32_t line, uint32_t col,
                            const char *message) {
    il_lint f = {.kind = kind, .name = l->rule != NULL ? l->rule->name : (il_str){0}, .line = line, .col = col};
    IL_TRY(il_arena_copy(l->scratch, il_str_of(message), &f.message, l->err));
    return out->found(out->ctx, &f, l->err);
}

/* At the node's place in the document. */
#define IL_IBL_SAY(l, out, kind, node, ...)                                                                \
    do {                                                                                                   \
        il_error why_ = {0};                                                                               \
        (void)IL_CEL_FAIL_SPAN((node)->src, (node)->start, (node)->end, &why_, IL_E_INVALID, __VA_ARGS__); \
        IL_TRY(il_ibl_say((l), (out), (kind), why_.line, why_.col, why_.msg));                             \
    } while (0)

static bool il_ibl_text(const il_cel_node *n) { return n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING; }

static bool il_ibl_declared(const il_policy *p, il_str group) {
    for (uint32_t i = 0; i < p->agents.ngroups; i++) {
        if (il_str_eq(p->agents.groups[i], group)) {
            return true;
        }
    }
    return false;
}

static il_status il_ibl_group(il_ib_linting *l, const il_cel_node *word) {
    if (il_ibl_text(word) && !il_ibl_declared(l->p, il_cel_str(word->lit))) {
        IL_IBL_SAY(l, l->warn, "group-undeclared", word, "no agent is in a group `%.*s`; declare it under `agents`",
                   IL_STR_ARG(il_cel_str(word->lit)));
    }
    return IL_OK;
}

/* What the variable of a macro over the groups is compared with. Depth: IL_CEL_DEPTH. */
static il_status il_ibl_groups(il_ib_linting *l, const il_cel_node *n, uint32_t slot) {
    const il_cel_node *a = n->kids, *b = a != NULL ? a->next : NULL;
    if ((n->op == IL_CEL_OP_EQ || n->op == IL_CEL_OP_NE) && b != NULL) {
        const bool left = a->op == IL_CEL_OP_LOCAL && a->slot == slot, right = b->op == IL_CEL_OP_LOCAL && b->slot == slot;
        IL_TRY(left ? il_ibl_group(l, b) : right ? il_ibl_group(l, a) : IL_OK);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_ibl_groups(l, k, slot));
    }
    return IL_OK;
}

static il_status il_ibl_leg(il_ib_linting *l, const il_cel_node *n) {
    const il_str word = il_cel_str(n->lit);
    const uint32_t leg = il_str_eq(word, IL_STR("reads_private"))      ? (uint32_t)IL_SENSITIVE
                         : il_str_eq(word, IL_STR("reaches_external")) ? (uint32_t)IL_EGRESS
                                                                       : 0;
    if (leg == 0 || (l->legs & leg) != 0 || (l->missing & leg) != 0) {
        return IL_OK;
    }
    l->missing |= leg;
    if (l->legs == 0) {
        IL_IBL_SAY(l, l->found, "leg-never", n,
                   "`%.*s` is never computed until at least one sink declares it under `capabilities:`", IL_STR_ARG(word));
    } else {
        IL_IBL_SAY(l, l->warn, "leg-undeclared", n, "no sink declares `%.*s` under `capabilities:`, so it is never there",
                   IL_STR_ARG(word));
    }
    return IL_OK;
}

/* `trifecta.contains("exfiltrate")`: compared with `==` or `in` such a word is refused when it is loaded. */
static il_status il_ibl_no_leg(il_ib_linting *l, const il_cel_node *n) {
    static const il_str legs[] = {{"from_untrusted", 14}, {"reaches_external", 16}, {"reads_private", 13}};
    const il_cel_node *word = n->kids->next;
    const bool of_call = n->kids->op == IL_CEL_OP_VAR && n->kids->slot == (uint32_t)IL_CONDITION_NAMES + IL_INTERBOLT_TRIFECTA;
    if (word == NULL || !il_ibl_text(word) || !(of_call || il_lint_field(n->kids, IL_CONDITION_RUN, IL_STR("trifecta")))) {
        return IL_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        if (il_str_eq(legs[i], il_cel_str(word->lit))) {
            return IL_OK;
        }
    }
    IL_IBL_SAY(l, l->found, "leg-unknown", word,
               "`%.*s` is not a trifecta leg; there are `from_untrusted`, `reaches_external`, `reads_private`",
               IL_STR_ARG(il_cel_str(word->lit)));
    return IL_OK;
}

static il_status il_ibl_all(il_ib_linting *l, const il_cel_node *n) {
    const il_cel_node *range = n->kids;
    if (range->op == IL_CEL_OP_VAR && range->slot == (uint32_t)IL_CONDITION_NAMES + IL_INTERBOLT_TAINT) {
        IL_IBL_SAY(l, l->warn, "all-of-none", n, "`taint.all(` is true of a call without labels, and this rule allows it");
    }
    if (il_lint_field(range, IL_CONDITION_RUN, (il_str){0})) {
        IL_IBL_SAY(l, l->warn, "all-of-none", n, "`run.%.*s.all(` is true of a run that has none, and this rule allows the call",
                   IL_STR_ARG(range->name));
    }
    return IL_OK;
}

/* `t.source` is where a value was taken in last; what it was made of is `t.lineage`. */
static il_status il_ibl_source(il_ib_linting *l, const il_cel_node *n) {
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (k->op == IL_CEL_OP_SELECT && il_str_eq(k->name, IL_STR("source")) && k->kids != NULL && k->kids->type != NULL &&
            il_str_eq(k->kids->type->name, IL_STR("a label"))) {
            IL_IBL_SAY(l, l->warn, "source-compared", k,
                       "`source` is one name, the last hop; ask `lineage` for what the value was made of");
        }
    }
    return IL_OK;
}

static bool il_ibl_is_provenance(const il_cel_node *n) {
    const bool of_run = il_lint_field(n, IL_CONDITION_RUN, (il_str){0}) && !il_str_eq(n->name, IL_STR("ingested_by"));
    const bool of_call =
        n->op == IL_CEL_OP_VAR && n->slot >= IL_CONDITION_NAMES && n->slot < (uint32_t)IL_CONDITION_NAMES + IL_INTERBOLT_TRIFECTA;
    return of_run || of_call || (n->op == IL_CEL_OP_VAR && n->slot == IL_CONDITION_PROV);
}

/* Depth: IL_CEL_DEPTH. */
static il_status il_ibl_walk(il_ib_linting *l, const il_cel_node *n) {
    const il_cel_node *second = n->kids != NULL ? n->kids->next : NULL;
    l->provenance = l->provenance || il_ibl_is_provenance(n);
    if (il_ibl_text(n)) {
        return il_ibl_leg(l, n);
    }
    if (n->op == IL_CEL_OP_EXISTS && second != NULL && il_lint_field(n->kids, IL_CONDITION_AGENT, IL_STR("groups"))) {
        IL_TRY(il_ibl_groups(l, second, n->slot));
    }
    if (n->op == IL_CEL_OP_IN && second != NULL && il_lint_field(second, IL_CONDITION_AGENT, IL_STR("groups"))) {
        IL_TRY(il_ibl_group(l, n->kids));
    }
    if (n->op == IL_CEL_OP_CALL && n->receiver && il_str_eq(n->name, IL_STR("contains")) && second != NULL &&
        il_lint_field(n->kids, IL_CONDITION_AGENT, IL_STR("groups"))) {
        IL_TRY(il_ibl_group(l, second));
    }
    if (n->op == IL_CEL_OP_CALL && n->receiver && il_str_eq(n->name, IL_STR("contains"))) {
        IL_TRY(il_ibl_no_leg(l, n));
    }
    if (n->op == IL_CEL_OP_ALL && l->vacuous) {
        IL_TRY(il_ibl_all(l, n));
    }
    if (n->op == IL_CEL_OP_EQ || n->op == IL_CEL_OP_NE) {
        IL_TRY(il_ibl_source(l, n));
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_ibl_walk(l, k));
    }
    return IL_OK;
}

static il_status il_ibl_rule(il_ib_linting *l, const il_policy_rule *rule) {
    l->rule = rule;
    l->provenance = false;
    l->missing = 0;
    l->vacuous = rule->then == IL_THEN_ALLOW;
    if (rule->when.program == NULL) {
        return IL_OK;
    }
    const il_cel_node *root = rule->when.program->root;
    IL_TRY(il_ibl_walk(l, root));
    if (root->type == NULL || root->type->kind != IL_CEL_BOOL) {
        IL_IBL_SAY(l, l->warn, "not-bool", root,
                   "this may be no bool, and blocks the call when it is none; compare it: `%.*s == true`",
                   IL_STR_ARG(il_str_part(root->src->text, root->start, root->end)));
    }
    if (l->vacuous && !l->provenance && (rule->when.asks & (1u << IL_CONDITION_AGENT)) != 0) {
        IL_IBL_SAY(l, l->warn, "agent-alone", rule->when.program->root,
                   "the agent has unconditional access: the rule asks who calls and not where the data came from");
    }
    return IL_OK;
}

static il_status il_ibl_sinks(il_ib_linting *l, const il_json *sinks) {
    bool some = false;
    for (const il_json *v = il_json_first(sinks); v != NULL; v = il_json_next(v)) {
        some = some || il_json_kind_of(il_json_get(v, IL_STR("capabilities"))) == IL_JSON_ARRAY;
    }
    for (const il_json *v = some ? il_json_first(sinks) : NULL; v != NULL; v = il_json_next(v)) {
        if (il_json_kind_of(il_json_get(v, IL_STR("capabilities"))) != IL_JSON_ARRAY) {
            il_error why = {0};
            (void)il_error_set(&why, IL_E_INVALID,
                               "sink `%.*s` has no `capabilities` and others have; `[]` says that it has none",
                               IL_STR_ARG(v->key));
            IL_TRY(il_ibl_say(l, l->warn, "capabilities-missing", v->key_line, v->key_col, why.msg));
        }
    }
    return IL_OK;
}

il_status il_interbolt_lint(const il_policy *p, const il_json *doc, il_arena *scratch, const il_lint_out *warn,
                            const il_lint_out *found, il_error *err) {
    il_ib_linting l = {.p = p, .scratch = scratch, .warn = warn, .found = found, .err = err};
    IL_TRY(il_ibl_sinks(&l, il_json_get(doc, IL_STR("sinks"))));
    for (uint32_t i = 0; i < p->ntools; i++) {
        l.legs |= p->tools[i].effects & (uint32_t)(IL_SENSITIVE | IL_EGRESS);
    }
    for (uint32_t i = 0; i < p->rules.n; i++) {
        IL_TRY(il_ibl_rule(&l, &p->rules.list[i]));
    }
    return il_interbolt_lint_agents(p, scratch, found, err);
}
