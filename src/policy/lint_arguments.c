/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions against what the tools take: each is compiled once more, with the types of `args` that the servers' schemas give. A schema is read
 * narrowly: what it leaves open (`anyOf`, `$ref`, a list of types, `additionalProperties`) may be anything. */
#include "cel/suggest.h"
#include "policy/lint_part.h"

#define IL_TAKES_DEPTH 8u
#define IL_TAKES_DOMAIN 64u

/* ---- types ---------------------------------------------------------------------------------------------- */

static bool il_takes_open(const il_json *schema) {
    static const char *const keys[] = {
        "$ref", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties", "additionalProperties", "dependentSchemas"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const il_json *v = il_json_get(schema, il_str_of(keys[i]));
        if (v != NULL && !(il_json_kind_of(v) == IL_JSON_BOOL && !v->truth)) {
            return true;
        }
    }
    return false;
}

/* A text that is one of fixed words; dyn-like string otherwise. */
static il_status il_takes_text(const il_json *schema, il_arena *arena, const il_cel_type **out, il_error *err) {
    const il_json *words = il_json_get(schema, IL_STR("enum"));
    const size_t n = il_json_kind_of(words) == IL_JSON_ARRAY ? il_json_count(words) : 0;
    *out = &il_cel_type_string;
    if (n == 0 || n > IL_TAKES_DOMAIN) {
        return IL_OK;
    }
    il_cel_type *t = IL_NEW(arena, il_cel_type);
    il_str *domain = IL_NEW_ARRAY(arena, il_str, n);
    size_t i = 0;
    if (t == NULL || domain == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *w = il_json_first(words); w != NULL; w = il_json_next(w)) {
        if (il_json_kind_of(w) != IL_JSON_STRING) {
            return IL_OK;
        }
        domain[i++] = il_json_text(w);
    }
    *t = (il_cel_type){.kind = IL_CEL_STRING, .domain = domain, .ndomain = n};
    *out = t;
    return IL_OK;
}

/* Recursion: IL_TAKES_DEPTH. */
static il_status il_takes_type(const il_json *schema, uint32_t depth, il_arena *arena, const il_cel_type **out, il_error *err) {
    const il_json *said = il_json_get(schema, IL_STR("type")), *fields = il_json_get(schema, IL_STR("properties"));
    const il_str type = il_json_kind_of(said) == IL_JSON_STRING ? il_json_text(said) : (il_str){0};
    il_cel_type *t = IL_NEW(arena, il_cel_type);
    *out = &il_cel_type_dyn;
    if (t == NULL) {
        return il_arena_fail(arena, err);
    }
    if (il_json_kind_of(schema) != IL_JSON_OBJECT || il_takes_open(schema) || depth > IL_TAKES_DEPTH) {
        return IL_OK;
    }
    if (il_str_eq(type, IL_STR("string"))) {
        return il_takes_text(schema, arena, out, err);
    }
    if (il_str_eq(type, IL_STR("boolean")) || il_str_eq(type, IL_STR("integer"))) {
        *out = il_str_eq(type, IL_STR("boolean")) ? &il_cel_type_bool : &il_cel_type_int;
        return IL_OK;
    }
    if (il_str_eq(type, IL_STR("array"))) {
        *t = (il_cel_type){.kind = IL_CEL_LIST};
        IL_TRY(il_takes_type(il_json_get(schema, IL_STR("items")), depth + 1, arena, &t->element, err));
        *out = t;
        return IL_OK;
    }
    if (!il_str_eq(type, IL_STR("object")) || il_json_kind_of(fields) != IL_JSON_OBJECT) {
        return IL_OK; /* a number may be whole or not */
    }
    il_cel_field *f = IL_NEW_ARRAY(arena, il_cel_field, il_json_count(fields) + 1);
    if (f == NULL) {
        return il_arena_fail(arena, err);
    }
    *t = (il_cel_type){.kind = IL_CEL_MAP, .key = &il_cel_type_string, .fields = f, .name = IL_STR("args")};
    for (const il_json *v = il_json_first(fields); v != NULL; v = il_json_next(v)) {
        f[t->nfields].name = il_json_key(v);
        IL_TRY(il_takes_type(v, depth + 1, arena, &f[t->nfields].type, err));
        t->nfields++;
    }
    *out = t;
    return IL_OK;
}

static bool il_takes_same(const il_cel_type *a, const il_cel_type *b) {
    return a == b || (a->kind == b->kind && a->kind == IL_CEL_STRING && a->ndomain == 0 && b->ndomain == 0);
}

/* What a call of any of the tools may have: the arguments of all; one that two of them take differently may be anything. */
static il_status il_takes_join(const il_cel_type *a, const il_cel_type *b, il_arena *arena, const il_cel_type **out,
                               il_error *err) {
    *out = &il_cel_type_dyn;
    if (a == NULL || a->fields == NULL || b->fields == NULL) {
        *out = a == NULL ? b : *out;
        return IL_OK;
    }
    il_cel_type *t = IL_NEW(arena, il_cel_type);
    il_cel_field *f = IL_NEW_ARRAY(arena, il_cel_field, a->nfields + b->nfields + 1);
    if (t == NULL || f == NULL) {
        return il_arena_fail(arena, err);
    }
    *t = *a;
    t->fields = f;
    for (size_t i = 0; i < a->nfields; i++) {
        f[i] = a->fields[i];
    }
    for (size_t i = 0; i < b->nfields; i++) {
        size_t k = 0;
        while (k < t->nfields && !il_str_eq(f[k].name, b->fields[i].name)) {
            k++;
        }
        if (k == t->nfields) {
            f[t->nfields++] = b->fields[i];
        } else if (!il_takes_same(f[k].type, b->fields[i].type)) {
            f[k].type = &il_cel_type_dyn;
        }
    }
    *out = t;
    return IL_OK;
}

/* ---- one condition ---------------------------------------------------------------------------------------- */

typedef struct il_takes {
    il_linting *l;
    const il_lint_tools *tools;
    const il_cel_type **types; /* of each tool's arguments, made when it is first asked for */
    bool *wanted;              /* the tools that the condition in hand may be asked about */
} il_takes;

/* The first argument that is read by a name that the tools do not have; NULL: none. Depth: IL_CEL_DEPTH. */
static const il_cel_node *il_takes_unknown(const il_cel_node *n, const il_cel_type *type, il_str *name) {
    const bool field = n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_FIELD, index = n->op == IL_CEL_OP_INDEX;
    if ((field || index) && n->kids != NULL && n->kids->op == IL_CEL_OP_VAR &&
        (n->kids->slot == IL_CONDITION_ARGS || n->kids->slot == IL_CONDITION_PROV)) {
        const il_cel_node *key = index ? n->kids->next : NULL;
        const bool text = key != NULL && key->op == IL_CEL_OP_LIT && key->lit.kind == IL_CEL_STRING;
        *name = field ? n->name : text ? il_cel_str(key->lit) : (il_str){0};
        bool known = !field && !text;
        for (size_t i = 0; i < type->nfields && !known; i++) {
            known = il_str_eq(type->fields[i].name, *name);
        }
        if (!known) {
            return n;
        }
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        const il_cel_node *found = il_takes_unknown(k, type, name);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static il_status il_takes_say_unknown(il_takes *t, const il_cel_node *n, const il_cel_type *type, il_str argument, il_str name,
                                      const char *what, il_error *err) {
    const il_lint_at at = {name, il_cel_line(n->src, n->start), il_cel_col(n->src, n->start)};
    il_cel_near near = il_cel_near_to(argument);
    il_cel_words more;
    for (size_t i = 0; i < type->nfields; i++) {
        il_cel_near_try(&near, type->fields[i].name);
    }
    il_cel_words_init(&more);
    il_cel_say_near(&more, &near);
    if (more.n == 0 && type->nfields > 0) {
        il_str names[8];
        const size_t shown = type->nfields < 8 ? type->nfields : 8;
        for (size_t i = 0; i < shown; i++) {
            names[i] = type->fields[i].name;
        }
        il_cel_say(&more, "; there are ");
        il_cel_say_names(&more, names, shown);
    }
    return il_lint_say(t->l, "unknown-argument", &at, err, "%s `%.*s`: no tool that it is about has an argument `%.*s`%s", what,
                       IL_STR_ARG(name), IL_STR_ARG(argument), more.p);
}

/* The condition compiled with `args` and `prov` of these types: what is refused now is a finding. */
static il_status il_takes_check(il_takes *t, const il_condition *c, const il_cel_type *type, il_str name, const char *what,
                                il_error *err) {
    const il_cel_program *program = c->program;
    const il_cel_source *src = program->root->src;
    il_str argument = {0};
    const il_cel_node *unknown = il_takes_unknown(program->root, type, &argument);
    if (unknown != NULL) {
        return il_takes_say_unknown(t, unknown, type, argument, name, what, err);
    }
    il_arena room;
    il_arena_init(&room, t->l->arena->alloc, t->l->arena->cap);
    il_cel_env env = *program->env;
    il_cel_field *vars = IL_NEW_ARRAY(&room, il_cel_field, env.nvars);
    il_cel_program *again = NULL;
    il_error why = {0};
    il_status s = vars == NULL ? il_arena_fail(&room, err) : IL_OK;
    if (vars != NULL) {
        memcpy(vars, env.vars, env.nvars * sizeof *vars);
        vars[IL_CONDITION_ARGS].type = type;
        env.vars = vars;
        s = il_cel_compile(&room, src->text, src->line, src->col, &env, IL_CEL_BOOL, NULL, &again, &why);
    }
    il_arena_free(&room);
    if (s == IL_E_INVALID) {
        const il_lint_at at = {name, why.line, why.col};
        return il_lint_say(t->l, "argument-type", &at, err, "%s `%.*s`: by the schemas of its tools: %s", what, IL_STR_ARG(name),
                           why.msg);
    }
    return s == IL_E_MEMORY ? il_error_set(err, s, "no memory to check a condition") : IL_OK;
}

/* ---- which tools ------------------------------------------------------------------------------------------ */

static bool il_takes_listed(const il_takes *t, il_str form) {
    const size_t dot = il_str_find(form, IL_STR("."), 0);
    for (size_t i = 0; i < t->tools->nservers && dot != SIZE_MAX; i++) {
        if (il_str_eq(t->tools->servers[i], il_str_part(form, 0, dot))) {
            return il_str_find(form, IL_STR("/"), 0) == SIZE_MAX; /* a method's parameters are in no list */
        }
    }
    return false;
}

/* The tools of the lists that a form of an entry matches, and that are the rule's (NULL: of no rule). False: it may match others. */
static bool il_takes_form(il_takes *t, il_str form, const il_policy_rule *rule) {
    if (!il_takes_listed(t, form)) {
        return false;
    }
    for (size_t i = 0; i < t->tools->n; i++) {
        const il_str tool = t->tools->list[i].name;
        t->wanted[i] = t->wanted[i] || (il_stars_match(form, tool, false) && (rule == NULL || il_rule_names(rule, tool)));
    }
    return true;
}

/* *type: of the arguments of all tools that are wanted; NULL when there are none or they may have any. */
static il_status il_takes_wanted(il_takes *t, const il_cel_type **type, il_error *err) {
    const il_cel_type *joined = NULL;
    *type = NULL;
    for (size_t i = 0; i < t->tools->n; i++) {
        if (!t->wanted[i]) {
            continue;
        }
        if (t->types[i] == NULL) {
            IL_TRY(il_takes_type(t->tools->list[i].schema, 0, t->l->arena, &t->types[i], err));
        }
        IL_TRY(il_takes_join(joined, t->types[i], t->l->arena, &joined, err));
        if (joined->fields == NULL) {
            return IL_OK;
        }
    }
    *type = joined;
    return IL_OK;
}

static il_status il_takes_entry(il_takes *t, const il_tool *tool, il_error *err) {
    const il_cel_type *type;
    bool listed = true;
    if (tool->when == NULL || tool->preset.n > 0) {
        return IL_OK;
    }
    memset(t->wanted, 0, t->tools->n * sizeof *t->wanted);
    for (uint32_t g = 0; g < tool->nglobs; g++) {
        for (uint32_t f = 0; f < tool->globs[g].nforms && listed; f++) {
            listed = il_takes_form(t, tool->globs[g].forms[f], NULL);
        }
    }
    IL_TRY(il_takes_wanted(t, &type, err));
    for (uint32_t i = 0; i < tool->when->n && listed && type != NULL; i++) {
        IL_TRY(il_takes_check(t, &tool->when->when[i].condition, type, tool->globs[0].text, "entry", err));
    }
    return IL_OK;
}

static il_status il_takes_rule(il_takes *t, const il_lint_reach *reach, uint32_t number, il_error *err) {
    const il_policy_rule *rule = &t->l->p->rules.list[number];
    const il_cel_type *type;
    bool listed = rule->when.program != NULL;
    memset(t->wanted, 0, t->tools->n * sizeof *t->wanted);
    for (uint32_t f = 0; f < reach->nforms && listed; f++) {
        if (il_lint_bit(reach->may, reach->words, number, f)) {
            listed = il_takes_form(t, reach->forms[f], rule);
        }
    }
    if (!listed) {
        return IL_OK;
    }
    IL_TRY(il_takes_wanted(t, &type, err));
    return type != NULL ? il_takes_check(t, &rule->when, type, rule->name, "rule", err) : IL_OK;
}

il_status il_policy_lint_arguments(const il_policy *p, const il_lint_tools *tools, il_arena *scratch, const il_lint_out *out,
                                   il_error *err) {
    il_linting l = {p, scratch, out};
    il_takes t = {.l = &l, .tools = tools};
    il_lint_reach reach;
    bool known;
    t.types = IL_NEW_ARRAY(scratch, const il_cel_type *, tools->n + 1);
    t.wanted = IL_NEW_ARRAY(scratch, bool, tools->n + 1);
    if (t.types == NULL || t.wanted == NULL) {
        return il_arena_fail(scratch, err);
    }
    for (uint32_t i = 0; i < p->ntools; i++) {
        IL_TRY(il_takes_entry(&t, &p->tools[i], err));
    }
    IL_TRY(il_lint_reach_new(p, scratch, &reach, &known, err));
    for (uint32_t i = 0; i < p->rules.n && known; i++) {
        IL_TRY(il_takes_rule(&t, &reach, i, err));
    }
    return IL_OK;
}
