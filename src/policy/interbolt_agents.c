/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that ask only who calls are finite: each is evaluated for every agent that the document or one of them names, and for one that nobody names. What no agent
 * meets, and what earlier rules have met before, never decides. */
#include "cel/ast.h"
#include "policy/compiled.h"
#include "policy/lint.h"

#define IL_IBA_RULES 256u   /* of one sink that are looked at */
#define IL_IBA_AGENTS 1024u /* further ones are not */
#define IL_IBA_MEMORY ((size_t)4 << 20)

typedef struct il_ib_agents {
    const il_policy *p;
    il_arena *scratch;
    const il_lint_out *found;
    il_str *ids;
    uint32_t n, words;
    const il_policy_rule *rules[IL_IBA_RULES];
    uint64_t *met[IL_IBA_RULES]; /* the agents that meet each */
    uint32_t nrules;
} il_ib_agents;

static void il_iba_add(il_ib_agents *a, il_str id) {
    for (uint32_t i = 0; i < a->n; i++) {
        if (il_str_eq(a->ids[i], id)) {
            return;
        }
    }
    if (a->n < IL_IBA_AGENTS) {
        a->ids[a->n++] = id;
    }
}

/* Whatever text a condition has may be an agent's id. Depth: IL_CEL_DEPTH. */
static void il_iba_texts(il_ib_agents *a, const il_cel_node *n) {
    if (n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING) {
        il_iba_add(a, il_cel_str(n->lit));
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        il_iba_texts(a, k);
    }
}

/* A rule that errs for some agent decides for him: it is left alone. */
static il_status il_iba_evaluate(il_ib_agents *a, const il_policy_rule *rule, bool *known, uint64_t *met, il_error *err) {
    il_arena room;
    il_arena_init(&room, a->scratch->alloc, IL_IBA_MEMORY);
    il_status s = IL_OK;
    *known = true;
    for (uint32_t i = 0; i < a->n && s == IL_OK && *known; i++) {
        const il_label_call call = {.agent = a->ids[i]};
        il_condition_call c = {.policy = a->p, .call = &call, .scratch = &room};
        il_arena_reset(&room);
        s = il_condition_values(&c, rule->when.asks, err);
        const il_cel_value v = s == IL_OK ? il_condition_eval(&rule->when, &c) : il_cel_of_bool(false);
        *known = v.kind == IL_CEL_BOOL;
        met[i / 64] |= *known && v.u.b ? UINT64_C(1) << (i % 64) : 0u;
    }
    il_arena_free(&room);
    return s;
}

static il_status il_iba_take(il_ib_agents *a, const il_policy_rule *rule, il_error *err) {
    bool known = false;
    uint64_t *met = IL_NEW_ARRAY(a->scratch, uint64_t, a->words);
    if (met == NULL) {
        return il_arena_fail(a->scratch, err);
    }
    IL_TRY(il_iba_evaluate(a, rule, &known, met, err));
    if (known) {
        a->rules[a->nrules] = rule;
        a->met[a->nrules++] = met;
    }
    return IL_OK;
}

/* One that meets the rule, NULL: nobody does. The last of them is nobody's name. */
static const il_str *il_iba_one(const il_ib_agents *a, const uint64_t *met) {
    for (uint32_t i = 0; i < a->n; i++) {
        if ((met[i / 64] >> (i % 64) & 1) != 0) {
            return &a->ids[i];
        }
    }
    return NULL;
}

static il_status il_iba_say(il_ib_agents *a, uint32_t at, const il_policy_rule *before, il_error *err) {
    const il_policy_rule *rule = a->rules[at];
    const il_str *one = il_iba_one(a, a->met[at]);
    il_error why = {0};
    const il_cel_source *when = rule->when.program->root->src;
    il_lint f = {.kind = one == NULL ? "rule-never" : "rule-shadowed", .name = rule->name};
    f.line = one == NULL ? when->line : rule->line; /* where the lint of every policy says it, so that it is said once */
    f.col = one == NULL ? when->col : rule->col;
    if (one == NULL) {
        (void)il_error_set(&why, IL_E_INVALID, "rule `%.*s` never matches: no agent that it asks for is declared so",
                           IL_STR_ARG(rule->name));
    } else {
        (void)il_error_set(
            &why, IL_E_INVALID,
            "rule `%.*s` never decides: each agent that it is about%s%.*s%s is met by rule `%.*s` (line %u) before",
            IL_STR_ARG(rule->name), one->n > 0 ? ", such as `" : "", IL_STR_ARG(*one), one->n > 0 ? "`," : "",
            IL_STR_ARG(before->name), (unsigned)before->line);
    }
    IL_TRY(il_arena_copy(a->scratch, il_str_of(why.msg), &f.message, err));
    return a->found->found(a->found->ctx, &f, err);
}

static il_status il_iba_compare(il_ib_agents *a, il_error *err) {
    for (uint32_t j = 0; j < a->nrules; j++) {
        bool within = il_iba_one(a, a->met[j]) == NULL;
        uint32_t i = 0;
        for (; i < j && !within; i++) {
            within = true;
            for (uint32_t w = 0; w < a->words; w++) {
                within = within && (a->met[j][w] & ~a->met[i][w]) == 0;
            }
        }
        if (within) {
            IL_TRY(il_iba_say(a, j, a->rules[i > 0 ? i - 1 : 0], err));
        }
    }
    return IL_OK;
}

/* Of one sink: its rules stand behind one another. */
static il_status il_iba_sink(il_ib_agents *a, uint32_t from, uint32_t to, il_error *err) {
    const uint32_t only = 1u << IL_CONDITION_AGENT;
    const il_rules *rules = &a->p->rules;
    a->n = a->nrules = 0;
    for (uint32_t i = 0; i < a->p->agents.n; i++) {
        il_iba_add(a, a->p->agents.list[i].id);
    }
    for (uint32_t i = from; i < to; i++) {
        if (rules->list[i].when.program != NULL && rules->list[i].when.asks == only) {
            il_iba_texts(a, rules->list[i].when.program->root);
        }
    }
    if (a->n == IL_IBA_AGENTS) { /* of more agents nothing is said for certain */
        return IL_OK;
    }
    il_iba_add(a, IL_STR("")); /* stands for all whom nobody names */
    a->words = (a->n + 63) / 64;
    for (uint32_t i = from; i < to && a->nrules < IL_IBA_RULES; i++) {
        if (rules->list[i].when.program != NULL && rules->list[i].when.asks == only) {
            IL_TRY(il_iba_take(a, &rules->list[i], err));
        }
    }
    return il_iba_compare(a, err);
}

il_status il_interbolt_lint_agents(const il_policy *p, il_arena *scratch, const il_lint_out *found, il_error *err) {
    const il_rules *rules = &p->rules;
    il_ib_agents *a = IL_NEW(scratch, il_ib_agents);
    if (a == NULL) {
        return il_arena_fail(scratch, err);
    }
    *a = (il_ib_agents){.p = p, .scratch = scratch, .found = found, .ids = IL_NEW_ARRAY(scratch, il_str, IL_IBA_AGENTS)};
    if (a->ids == NULL) {
        return il_arena_fail(scratch, err);
    }
    for (uint32_t from = 0, to; from < rules->n; from = to) {
        for (to = from + 1; to < rules->n && il_str_eq(rules->list[to].globs[0].text, rules->list[from].globs[0].text); to++) {
        }
        IL_TRY(il_iba_sink(a, from, to, err));
    }
    return IL_OK;
}
