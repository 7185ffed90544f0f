/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: payload, updates in file order, reject clauses. */
#include "machine/load.h"

typedef struct load_reads {
    const il_loader *l;
    const il_action_def *a;
    uint32_t at;  /* update that reads */
    il_str early; /* a variable that it reads before it is set */
    bool whole;
} load_reads;

/* An update may read next.x only of a variable that is listed above it (or not at all: that one is unchanged). */
static void load_visit(void *ctx, size_t var, size_t field) {
    load_reads *r = ctx;
    if (var != IL_LOAD_NEXT) {
        return;
    }
    if (field == SIZE_MAX) {
        r->whole = true;
        return;
    }
    for (uint32_t u = r->at; u < r->a->nupdates; u++) {
        if (r->a->updates[u].var == field) {
            r->early = r->l->m->vars[field].name;
        }
    }
}

/* Fields of the payload that an expression depends on; `of`: those of each variable's update above it. */
typedef struct load_fields {
    const uint32_t *of;
    uint32_t fields;
} load_fields;

static void load_field_visit(void *ctx, size_t var, size_t field) {
    load_fields *r = ctx;
    if (var == IL_LOAD_CALL) {
        r->fields |= field < IL_MODEL_FIELDS_MAX ? UINT32_C(1) << field : UINT32_MAX;
    } else if (var == IL_LOAD_NEXT) {
        for (size_t v = 0; v < IL_MODEL_VARS_MAX; v++) {
            r->fields |= field == SIZE_MAX || field == v ? r->of[v] : 0;
        }
    }
}

static void load_heard(il_action_def *a) {
    uint32_t of[IL_MODEL_VARS_MAX] = {0};
    for (uint32_t u = 0; u < a->nupdates; u++) {
        load_fields r = {.of = of};
        il_cel_reads(a->updates[u].value, load_field_visit, &r);
        a->updates[u].fields = of[a->updates[u].var] = r.fields;
    }
    for (uint32_t c = 0; c < a->nclauses; c++) {
        load_fields r = {.of = of};
        il_cel_reads(a->clauses[c].guard, load_field_visit, &r);
        a->clauses[c].fields = r.fields;
    }
}

static il_status load_call(il_loader *l, il_action_def *a, const il_json *call) {
    uint64_t n = 1;
    if (call) {
        if (il_json_kind_of(call) != IL_JSON_OBJECT) {
            return IL_JSON_FAIL(call, l->err, IL_E_INVALID, "`call` of action `%.*s` must be a map of fields",
                                IL_STR_ARG(a->name));
        }
        if (il_json_count(call) > IL_MODEL_FIELDS_MAX) {
            return IL_JSON_FAIL(call, l->err, IL_E_LIMIT, "action `%.*s` has more than %u fields", IL_STR_ARG(a->name),
                                (unsigned)IL_MODEL_FIELDS_MAX);
        }
        a->nfields = (uint32_t)il_json_count(call);
        a->fields = IL_NEW_ARRAY(l->arena, il_str, a->nfields);
        a->field_domains = IL_NEW_ARRAY(l->arena, il_domain, a->nfields);
        a->strides = IL_NEW_ARRAY(l->arena, uint32_t, a->nfields);
        if (!a->fields || !a->field_domains || !a->strides) {
            return il_arena_fail(l->arena, l->err);
        }
        uint32_t i = 0;
        for (const il_json *v = il_json_first(call); v; v = il_json_next(v), i++) {
            IL_TRY(il_load_ident(l, v, v->key, "field"));
            IL_TRY(il_arena_copy(l->arena, v->key, &a->fields[i], l->err));
            IL_TRY(il_load_domain(l, v, a->fields[i], &a->field_domains[i], NULL));
            n *= a->field_domains[i].size;
            if (n > IL_MODEL_SYMBOLS_MAX) {
                return IL_JSON_FAIL(v, l->err, IL_E_LIMIT, "action `%.*s` makes more than %u symbols", IL_STR_ARG(a->name),
                                    (unsigned)IL_MODEL_SYMBOLS_MAX);
            }
        }
        uint32_t stride = 1;
        for (uint32_t f = a->nfields; f-- > 0;) { /* the last field turns fastest */
            a->strides[f] = stride;
            stride *= a->field_domains[f].size;
        }
    }
    a->nsymbols = (uint32_t)n;
    return IL_OK;
}

il_status il_load_env(il_loader *l, const il_action_def *a, bool rejection, il_cel_env *out) {
    il_cel_field *vars = IL_NEW_ARRAY(l->arena, il_cel_field, IL_LOAD_NAMES);
    il_cel_type *types = IL_NEW_ARRAY(l->arena, il_cel_type, IL_LOAD_NAMES);
    il_cel_field *fields = IL_NEW_ARRAY(l->arena, il_cel_field, a->nfields);
    if (!vars || !types || !fields) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t f = 0; f < a->nfields; f++) {
        fields[f] = (il_cel_field){a->fields[f], &a->field_domains[f].type};
    }
    types[IL_LOAD_PRE] = l->state_type;
    types[IL_LOAD_PRE].name = IL_STR("pre");
    if (rejection) {
        types[IL_LOAD_REASON] = l->reason_type;
    } else {
        types[IL_LOAD_NEXT] = l->state_type;
        types[IL_LOAD_NEXT].name = IL_STR("next");
    }
    types[IL_LOAD_ACTION] = l->action_type;
    types[IL_LOAD_CALL].kind = IL_CEL_RECORD;
    types[IL_LOAD_CALL].name = IL_STR("call");
    types[IL_LOAD_CALL].fields = fields;
    types[IL_LOAD_CALL].nfields = a->nfields;
    for (size_t i = 0; i < IL_LOAD_NAMES; i++) {
        vars[i] = (il_cel_field){types[i].name, &types[i]};
    }
    *out = (il_cel_env){.size = sizeof *out,
                        .vars = vars,
                        .nvars = IL_LOAD_NAMES,
                        .lets = l->lets,
                        .nlets = l->nlets,
                        .families = il_load_names(l)};
    return IL_OK;
}

typedef struct load_target { /* one variable that `next` sets */
    const il_json *v;
    uint32_t var;
    size_t family, member; /* the index that the value stands under */
} load_target;

static il_status load_target_add(il_loader *l, const il_json *at, const il_json *v, il_str name, load_target *out, uint32_t *n) {
    uint32_t var = il_model_var(l->m, name);
    for (size_t i = 0; var == UINT32_MAX && i < l->families.nfields; i++) {
        if (il_str_eq(l->families.fields[i].base, name)) {
            return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`%.*s` has an index: `%.*s[%.*s]`", IL_STR_ARG(name), IL_STR_ARG(name),
                                IL_STR_ARG(l->families.list[l->families.fields[i].family].name));
        }
    }
    if (var == UINT32_MAX) {
        il_str names[IL_MODEL_VARS_MAX];
        for (uint32_t k = 0; k < l->m->nvars; k++) {
            names[k] = l->m->vars[k].name;
        }
        return il_load_unknown(l, at, "variable", name, names, l->m->nvars);
    }
    for (uint32_t i = 0; i < *n; i++) {
        if (out[i].var == var) {
            return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`%.*s` is set twice", IL_STR_ARG(name));
        }
    }
    out[(*n)++] = (load_target){v, var, l->families.bound, l->families.member};
    return IL_OK;
}

/* At most one for each variable, in file order. `cap[c]` where nothing binds c sets all members, each with c bound in its value. */
static il_status load_targets(il_loader *l, const il_json *next, load_target *out, uint32_t *n) {
    *n = 0;
    for (const il_json *v = il_json_first(next); v; v = il_json_next(v)) {
        il_json at = *v;
        il_load_named named;
        at.line = v->key_line;
        at.col = v->key_col;
        IL_TRY(il_load_name(l, &at, v->key, &named));
        if (named.every) {
            const il_json *key = &at;
            return IL_JSON_FAIL(key, l->err, IL_E_INVALID, "name the index, so that the value can: `%.*s[c]` sets all members",
                                IL_STR_ARG(named.base));
        }
        for (size_t k = 0; named.open && k < l->families.list[named.family].nmembers; k++) {
            il_str name;
            IL_TRY(il_cel_family_join(l->arena, named.base, l->families.list[named.family].members[k], &name, l->err));
            il_load_bind(l, named.family, k);
            IL_TRY(load_target_add(l, &at, v, name, out, n));
            il_load_bind(l, l->families.n, 0);
        }
        if (!named.open) {
            IL_TRY(load_target_add(l, &at, v, named.name, out, n));
        }
    }
    return IL_OK;
}

static il_status load_update(il_loader *l, const il_action_def *a, const il_cel_env *env, const load_target *t, uint32_t at) {
    const il_json *v = t->v;
    const il_var *var = &l->m->vars[t->var];
    il_update *u = &a->updates[at];
    IL_TRY(il_load_program(l, v, env, var->domain.type.kind, &u->value));
    if (!var->ghost) {
        IL_TRY(il_load_no_ghost(l, v, u->value, UINT32_MAX, "an update"));
    } else {
        IL_TRY(il_load_no_ghost(l, v, u->value, t->var, "the update of another ghost"));
    }
    load_reads r = {.l = l, .a = a, .at = at};
    il_cel_reads(u->value, load_visit, &r);
    if (r.early.n > 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID,
                            "the update of `%.*s` reads `next.%.*s`, which is set only at or below it; list it above",
                            IL_STR_ARG(var->name), IL_STR_ARG(r.early));
    }
    if (r.whole) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "the update of `%.*s` reads all of `next`; name a variable",
                            IL_STR_ARG(var->name));
    }
    return IL_OK;
}

static il_status load_updates(il_loader *l, il_action_def *a, const il_json *next, const il_cel_env *env) {
    load_target targets[IL_MODEL_VARS_MAX];
    if (!next) {
        return IL_OK;
    }
    if (il_json_kind_of(next) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(next, l->err, IL_E_INVALID, "`next` of action `%.*s` must be a map of variables",
                            IL_STR_ARG(a->name));
    }
    const size_t family = l->families.bound;
    const size_t member = l->families.member;
    IL_TRY(load_targets(l, next, targets, &a->nupdates));
    a->updates = IL_NEW_ARRAY(l->arena, il_update, a->nupdates);
    if (!a->updates) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t i = 0; i < a->nupdates; i++) {
        a->updates[i] = (il_update){.var = targets[i].var, .line = targets[i].v->line, .col = targets[i].v->col};
    }
    for (uint32_t i = 0; i < a->nupdates; i++) {
        il_load_bind(l, targets[i].family, targets[i].member);
        IL_TRY(load_update(l, a, env, &targets[i], i));
    }
    il_load_bind(l, family, member);
    return IL_OK;
}

/* `live: true` stands for two clauses in front of the action's own. */
static il_status load_live(il_loader *l, il_action_def *a, const il_json *at, const il_cel_env *env) {
    static const il_str words[2] = {{"quarantined", 11}, {"ended", 5}};
    static const il_str guards[2] = {{"pre.phase == 'quarantined'", 26}, {"pre.phase == 'ended'", 20}};
    uint32_t phase = il_model_var(l->m, IL_STR("phase"));
    for (uint32_t i = 0; i < 2; i++) {
        bool found = false;
        for (uint32_t k = 0; phase != UINT32_MAX && k < l->m->vars[phase].domain.size; k++) {
            found = found ||
                    (l->m->vars[phase].domain.kind == IL_DOMAIN_ENUM && il_str_eq(l->m->vars[phase].domain.names[k], words[i]));
        }
        if (!found) {
            return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`live` needs a variable `phase` with the value `%.*s`",
                                IL_STR_ARG(words[i]));
        }
        uint32_t rule = il_load_rule(l, words[i]);
        if (rule == 0) {
            return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`live` needs the rule `%.*s` in the contract", IL_STR_ARG(words[i]));
        }
        il_clause *c = &a->clauses[a->nclauses++];
        c->rule = (uint8_t)rule;
        c->line = at->line;
        c->col = at->col;
        IL_TRY(il_cel_compile(l->arena, guards[i], at->line, at->col, env, IL_CEL_BOOL, NULL, &c->guard, l->err));
        IL_TRY(il_load_no_ghost(l, at, c->guard, UINT32_MAX, "`live`"));
    }
    return IL_OK;
}

static il_status load_clauses(il_loader *l, il_action_def *a, const il_json *v, const il_cel_env *env) {
    static const il_str keys[] = {{"as", 2}, {"if", 2}};
    const il_json *list = il_json_get(v, IL_STR("reject"));
    if (list && il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`reject` of action `%.*s` must be a list of {as: RULE, if: GUARD}",
                            IL_STR_ARG(a->name));
    }
    a->clauses = IL_NEW_ARRAY(l->arena, il_clause, il_json_count(list) + 2);
    if (!a->clauses) {
        return il_arena_fail(l->arena, l->err);
    }
    if (a->live) {
        IL_TRY(load_live(l, a, il_json_get(v, IL_STR("live")), env));
    }
    for (const il_json *c = il_json_first(list); c; c = il_json_next(c)) {
        if (il_json_kind_of(c) != IL_JSON_OBJECT) {
            return IL_JSON_FAIL(c, l->err, IL_E_INVALID, "a clause must be {as: RULE, if: GUARD}");
        }
        IL_TRY(il_json_only(c, keys, 2, "a reject clause", l->err));
        const il_json *as = NULL;
        IL_TRY(il_load_need(l, c, "as", IL_JSON_STRING, "a clause of action", a->name, &as));
        const il_json *guard = il_json_get(c, IL_STR("if"));
        if (!guard) {
            return IL_JSON_FAIL(c, l->err, IL_E_INVALID, "a clause of action `%.*s` needs `if`", IL_STR_ARG(a->name));
        }
        uint32_t rule = il_load_rule(l, as->text);
        if (rule == 0) {
            il_str names[IL_MODEL_RULES_MAX];
            for (uint32_t k = 0; k < l->m->nrules; k++) {
                names[k] = l->m->rules[k].name;
            }
            return il_load_unknown(l, as, "rule", as->text, names, l->m->nrules);
        }
        il_clause *out = &a->clauses[a->nclauses++];
        out->rule = (uint8_t)rule;
        out->line = c->line;
        out->col = c->col;
        IL_TRY(il_load_program(l, guard, env, IL_CEL_BOOL, &out->guard));
        IL_TRY(il_load_no_ghost(l, guard, out->guard, UINT32_MAX, "a guard"));
    }
    return IL_OK;
}

static il_status load_principal(il_loader *l, il_action_def *a, const il_json *p) {
    static const il_principal all[] = {IL_AGENT, IL_HUMAN, IL_RUNTIME, IL_ENV};
    const char *near = NULL;
    unsigned best = 3;
    for (size_t i = 0; i < 4; i++) {
        const char *name = il_principal_name(all[i]);
        const unsigned d = il_str_distance(p->text, il_str_of(name));
        if (d == 0) {
            a->principal = all[i];
            return IL_OK;
        }
        if (d < best) {
            best = d;
            near = name;
        }
    }
    return IL_JSON_FAIL(p, l->err, IL_E_INVALID,
                        "`principal` of action `%.*s` must be `agent`, `human`, `runtime` or `env`%s%s%s", IL_STR_ARG(a->name),
                        near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static il_status load_action(il_loader *l, const il_load_instance *from, il_action_def *a) {
    static const il_str keys[] = {{"principal", 9},   {"gate", 4}, {"live", 4}, {"corrective", 10}, {"lowers", 6},
                                  {"observable", 10}, {"call", 4}, {"next", 4}, {"reject", 6}};
    const il_json *v = from->v;
    IL_TRY(il_load_ident(l, v, from->base, "action"));
    a->name = from->name;
    a->line = v->key_line;
    a->col = v->key_col;
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "action `%.*s` must be a map", IL_STR_ARG(a->name));
    }
    IL_TRY(il_json_only(v, keys, sizeof keys / sizeof keys[0], "an action", l->err));
    const il_json *p = NULL;
    IL_TRY(il_load_need(l, v, "principal", IL_JSON_STRING, "action", a->name, &p));
    IL_TRY(load_principal(l, a, p));
    IL_TRY(il_load_flag(l, v, "gate", &a->gate));
    IL_TRY(il_load_flag(l, v, "live", &a->live));
    IL_TRY(il_load_flag(l, v, "corrective", &a->corrective));
    IL_TRY(il_load_flag(l, v, "lowers", &a->lowers));
    bool seen = true;
    if (il_json_get(v, IL_STR("observable"))) {
        IL_TRY(il_load_flag(l, v, "observable", &seen));
    }
    a->hidden = !seen;
    IL_TRY(load_call(l, a, il_json_get(v, IL_STR("call"))));
    il_cel_env env = {.size = sizeof env};
    IL_TRY(il_load_env(l, a, false, &env));
    IL_TRY(load_updates(l, a, il_json_get(v, IL_STR("next")), &env));
    IL_TRY(load_clauses(l, a, v, &env));
    load_heard(a);
    return IL_OK;
}

/* What `action` may be in a guard: known before the first guard is read. */
static il_status load_action_names(il_loader *l, const il_load_instance *all, uint32_t n) {
    il_str *names = IL_NEW_ARRAY(l->arena, il_str, n);
    if (!names) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t i = 0; i < n; i++) {
        names[i] = all[i].name;
    }
    l->action_type = (il_cel_type){.kind = IL_CEL_STRING, .domain = names, .ndomain = n, .name = IL_STR("action")};
    return il_load_bases(l, all, n, &l->families.words, &l->families.nwords);
}

il_status il_load_actions(il_loader *l, const il_json *actions) {
    il_model *m = l->m;
    il_load_instance *all = NULL;
    uint32_t n = 0;
    IL_TRY(il_load_instances(l, actions, "action", "actions", IL_MODEL_ACTIONS_MAX, &all, &n));
    IL_TRY(load_action_names(l, all, n));
    m->actions = IL_NEW_ARRAY(l->arena, il_action_def, n);
    if (!m->actions) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t i = 0; i < n; i++) {
        il_action_def *a = &m->actions[m->nactions];
        il_load_bind(l, all[i].family, all[i].member);
        IL_TRY(load_action(l, &all[i], a));
        a->first_symbol = m->nsymbols;
        m->nsymbols += a->nsymbols;
        m->nactions++;
        if (m->nsymbols > IL_MODEL_SYMBOLS_MAX) {
            return IL_JSON_FAIL(all[i].v, l->err, IL_E_LIMIT, "more than %u symbols", (unsigned)IL_MODEL_SYMBOLS_MAX);
        }
    }
    il_load_bind(l, l->families.n, 0);
    m->symbol_action = IL_NEW_ARRAY(l->arena, uint8_t, m->nsymbols);
    if (!m->symbol_action) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        memset(m->symbol_action + m->actions[a].first_symbol, (int)a, m->actions[a].nsymbols);
    }
    return IL_OK;
}
