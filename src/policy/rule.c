/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/rule.h"

#include "policy/compiled.h"

#define IL_RULES_MAX 10000u
#define IL_RULE_PATTERNS_MAX 256u

static il_status il_rule_pattern(const il_json *v, il_policy_rule *rule, il_arena *arena, il_error *err) {
    il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    const bool not = text.n > 0 && text.p[0] == '!';
    il_error why = {0};
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID,
                            "`tools` is a tool's name or pattern, or a list of them; `\"!pattern\"` excludes");
    }
    text = not ? il_str_part(text, 1, text.n) : text;
    const il_status s = il_glob_new(text, arena, not ? &rule->nots[rule->nnot++] : &rule->globs[rule->nglobs++], &why);
    return s == IL_OK ? s : IL_JSON_FAIL(v, err, s, "%s", why.msg);
}

static il_status il_rule_tools(const il_json *tools, il_policy_rule *rule, il_arena *arena, il_error *err) {
    const bool list = il_json_kind_of(tools) == IL_JSON_ARRAY;
    const size_t n = list ? il_json_count(tools) : 1;
    if (n > IL_RULE_PATTERNS_MAX) {
        return IL_JSON_FAIL(tools, err, IL_E_LIMIT, "more than %u patterns in one rule", IL_RULE_PATTERNS_MAX);
    }
    rule->globs = IL_NEW_ARRAY(arena, il_glob, n + 1);
    rule->nots = IL_NEW_ARRAY(arena, il_glob, n + 1);
    if (rule->globs == NULL || rule->nots == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *v = list ? il_json_first(tools) : tools; v != NULL; v = list ? il_json_next(v) : NULL) {
        IL_TRY(il_rule_pattern(v, rule, arena, err));
    }
    if (rule->nglobs == 0) {
        return IL_JSON_FAIL(tools, err, IL_E_INVALID, "`tools` names none; `\"*\"` is every tool");
    }
    return IL_OK;
}

static const char *const il_then_words[] = {"block", "require_approval", "allow"};

const char *il_then_word(il_then then) { return il_then_words[then]; }

il_status il_then_read(const il_json *v, const char *what, il_then *out, il_error *err) {
    const il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    for (uint32_t i = 0; i < 3; i++) {
        if (il_str_eq(text, il_str_of(il_then_words[i]))) {
            *out = (il_then)i;
            return IL_OK;
        }
    }
    return IL_JSON_FAIL(v, err, IL_E_INVALID, "%s is `block`, `require_approval` or `allow`", what);
}

/* It is a decision's reason: one word for people, programs and models. */
static il_status il_rule_name(const il_json *v, uint32_t number, il_arena *arena, il_str *out, il_error *err) {
    char made[24];
    if (v == NULL) {
        return il_arena_copy(arena, (il_str){made, il_format(made, sizeof made, "rule-%u", (unsigned)number)}, out, err);
    }
    const il_str name = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    bool word = name.n > 0 && name.n <= IL_RULE_NAME_MAX;
    for (size_t i = 0; i < name.n && word; i++) {
        const char c = name.p[i];
        word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    }
    if (!word) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "the `name` of a rule is one word of letters, digits and `- _ .`, at most %u",
                            IL_RULE_NAME_MAX);
    }
    return il_arena_copy(arena, name, out, err);
}

static il_status il_rule_load(const il_json *v, uint32_t number, const il_condition_scope *scope, il_arena *arena,
                              il_policy_rule *out, il_error *err) {
    static const il_str keys[] = {{"tools", 5}, {"when", 4}, {"then", 4}, {"name", 4}};
    *out = (il_policy_rule){.line = il_json_line(v), .col = il_json_col(v)};
    IL_TRY(il_json_only(v, keys, 4, "a rule", err));
    const il_json *tools = il_json_get(v, keys[0]), *when = il_json_get(v, keys[1]), *then = il_json_get(v, keys[2]);
    if (tools == NULL || then == NULL) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a rule needs `%s`", tools == NULL ? "tools" : "then");
    }
    IL_TRY(il_rule_tools(tools, out, arena, err));
    IL_TRY(il_then_read(then, "`then`", &out->then, err));
    IL_TRY(il_rule_name(il_json_get(v, keys[3]), number, arena, &out->name, err));
    return when != NULL ? il_condition_new(when, scope, arena, &out->when, err) : IL_OK;
}

/* `within`: of one tool; rules of different tools may have one name. */
static il_status il_rules_twice(const il_rules *rules, bool within, const il_json *at, il_error *err) {
    const il_policy_rule *last = &rules->list[rules->n - 1];
    for (uint32_t i = 0; i + 1 < rules->n; i++) {
        if (il_str_eq(rules->list[i].name, last->name) &&
            (!within || il_str_eq(rules->list[i].globs[0].text, last->globs[0].text))) {
            return IL_JSON_FAIL(at, err, IL_E_INVALID, "rule `%.*s` is there already, at line %u: a name is one rule's",
                                IL_STR_ARG(last->name), (unsigned)rules->list[i].line);
        }
    }
    return IL_OK;
}

il_status il_rules_load(il_rules *rules, const il_json *list, const il_condition_names *names, il_arena *arena, il_error *err) {
    il_condition_scope scope;
    *rules = (il_rules){0};
    if (list == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) == 0) {
        return IL_JSON_FAIL(list, err, IL_E_INVALID,
                            "`rules` is a list such as { tools: mail.send, when: run.tainted, then: block }");
    }
    if (il_json_count(list) > IL_RULES_MAX) {
        return IL_JSON_FAIL(list, err, IL_E_LIMIT, "more than %u rules", IL_RULES_MAX);
    }
    rules->list = IL_NEW_ARRAY(arena, il_policy_rule, il_json_count(list));
    if (rules->list == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_condition_scope_new(names, list, arena, &scope, err));
    for (const il_json *v = il_json_first(list); v != NULL; v = il_json_next(v)) {
        il_policy_rule *rule = &rules->list[rules->n++];
        IL_TRY(il_rule_load(v, rules->n, &scope, arena, rule, err));
        IL_TRY(il_rules_twice(rules, names->interbolt, v, err));
        rules->asks |= rule->when.asks;
    }
    return IL_OK;
}

bool il_rule_names(const il_policy_rule *rule, il_str tool) {
    bool named = false;
    for (uint32_t i = 0; i < rule->nglobs && !named; i++) {
        named = il_glob_matches(&rule->globs[i], tool);
    }
    for (uint32_t i = 0; i < rule->nnot && named; i++) {
        named = !il_glob_matches(&rule->nots[i], tool);
    }
    return named;
}

il_status il_rules_judge(const il_policy *p, const il_label_call *call, il_str name, const il_label *label, uint64_t state,
                         il_arena *scratch, il_ruling *out, il_error *err) {
    il_condition_call c = {
        .policy = p, .call = call, .declared = label->declared, .state = state, .label = label, .scratch = scratch};
    if ((p->rules.asks & (IL_CONDITION_ASKS_SQL | IL_CONDITION_ASKS_SHELL)) != 0) {
        c.tool = il_policy_entry(p, name);
    }
    *out = (il_ruling){0};
    for (uint32_t i = 0; i < p->rules.n; i++) {
        const il_policy_rule *rule = &p->rules.list[i];
        if (!il_rule_names(rule, name)) {
            continue;
        }
        if (rule->when.program != NULL) {
            IL_TRY(il_condition_values(&c, rule->when.asks, err));
            const il_cel_value v = il_condition_eval(&rule->when, &c);
            IL_TRY(il_condition_done(&c, err));
            if (v.kind != IL_CEL_BOOL && p->rules.soft) {
                (void)il_format(out->why, sizeof out->why, "rule `%.*s` (line %u) was passed over: its condition erred",
                                IL_STR_ARG(rule->name), (unsigned)rule->line);
                continue;
            }
            if (v.kind != IL_CEL_BOOL) {
                il_error why = {.msg = "the condition gave neither true nor false"};
                if (v.kind == IL_CEL_ERROR) {
                    il_cel_explain(rule->when.program, v, &why);
                }
                out->rule = rule;
                out->number = (uint16_t)(i + 1);
                out->erred = true;
                (void)il_format(out->why, sizeof out->why, "rule `%.*s` (line %u): %s", IL_STR_ARG(rule->name),
                                (unsigned)rule->line, why.msg);
                return IL_OK;
            }
            if (!v.u.b) {
                continue;
            }
        }
        out->rule = rule;
        out->number = (uint16_t)(i + 1);
        out->then = rule->then;
        if (rule->then != IL_THEN_ALLOW) {
            (void)il_format(out->why, sizeof out->why, "rule `%.*s` (line %u)", IL_STR_ARG(rule->name), (unsigned)rule->line);
        }
        return IL_OK;
    }
    out->then = IL_THEN_ALLOW;
    if (p->rules.otherwise != NULL && !il_label_bare(call->tool, call->args)) { /* to list tools is to call none */
        out->rule = p->rules.otherwise;
        out->number = (uint16_t)(p->rules.n + 1);
        out->then = out->rule->then;
    }
    if (out->then != IL_THEN_ALLOW) {
        (void)il_format(out->why, sizeof out->why, "no rule decides, and `sink_action` (line %u) says so",
                        (unsigned)out->rule->line);
    }
    return IL_OK;
}

il_str il_policy_rule_name(const il_policy *p, uint32_t number) {
    if (p != NULL && number == p->rules.n + 1 && p->rules.otherwise != NULL) {
        return p->rules.otherwise->name;
    }
    return p != NULL && number >= 1 && number <= p->rules.n ? p->rules.list[number - 1].name : (il_str){0};
}
