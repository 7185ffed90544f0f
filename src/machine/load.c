/* SPDX-License-Identifier: Apache-2.0 */
/* Machine document to model. Everything that can be known without exploring is refused here, at its line and column. */
#include "machine/load.h"

#include "base/utf8.h"

il_status il_load_need(il_loader *l, const il_json *object, const char *key, il_json_kind kind, const char *where, il_str name,
                       const il_json **out) {
    static const char *const kinds[] = {"null", "true or false", "a number", "text", "a list", "a map"};
    const il_json *v = il_json_get(object, il_str_of(key));
    const char *open = name.n > 0 ? " `" : "";
    const char *close = name.n > 0 ? "`" : "";
    if (!v) {
        (void)IL_JSON_FAIL(object, l->err, IL_E_INVALID, "%s%s%.*s%s needs `%s`", where, open, IL_STR_ARG(name), close, key);
        return IL_E_INVALID;
    }
    if (il_json_kind_of(v) != kind) {
        (void)IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%s` of %s%s%.*s%s must be %s", key, where, open, IL_STR_ARG(name), close,
                           kinds[kind]);
        return IL_E_INVALID;
    }
    *out = v;
    return IL_OK;
}

il_status il_load_flag(il_loader *l, const il_json *object, const char *key, bool *out) {
    const il_json *v = il_json_get(object, il_str_of(key));
    if (v && il_json_kind_of(v) != IL_JSON_BOOL) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%s` must be true or false%s", key,
                            il_json_kind_of(v) == IL_JSON_STRING && !v->plain ? ", without quotes" : "");
    }
    *out = il_json_bool(v);
    return IL_OK;
}

il_status il_load_unknown(il_loader *l, const il_json *at, const char *kind, il_str name, const il_str *names, size_t n) {
    unsigned best = name.n < 5 ? 2 : 3;
    il_str near = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned d = il_str_distance(name, names[i]);
        if (d < best) {
            best = d;
            near = names[i];
        }
    }
    if (near.n > 0) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "no %s `%.*s` is declared; did you mean `%.*s`?", kind, IL_STR_ARG(name),
                            IL_STR_ARG(near));
    }
    return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "no %s `%.*s` is declared", kind, IL_STR_ARG(name));
}

static bool load_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

il_status il_load_ident(il_loader *l, const il_json *member, il_str s, const char *what) {
    static const il_str taken[] = {{"true", 4}, {"false", 5}, {"null", 4}, {"in", 2}, {"pre", 3}, {"call", 4}, {"next", 4}};
    bool good = s.n > 0 && s.n <= 64 && load_letter(s.p[0]);
    for (size_t i = 1; good && i < s.n; i++) {
        good = load_letter(s.p[i]) || (s.p[i] >= '0' && s.p[i] <= '9');
    }
    for (size_t i = 0; good && i < sizeof taken / sizeof taken[0]; i++) {
        good = !il_str_eq(s, taken[i]);
    }
    if (!good) {
        return il_error_at(l->err, IL_E_INVALID, member->key_line, member->key_col, member->offset,
                           "`%.*s` is no name for %s %s: use letters, digits and `_`, and no word of the language", IL_STR_ARG(s),
                           what[0] == 'a' ? "an" : "a", what);
    }
    return IL_OK;
}

il_status il_load_free_name(il_loader *l, const il_json *v, il_str name, const char *what) {
    if (il_str_eq(name, IL_STR("action")) || il_str_eq(name, IL_STR("reason"))) {
        return il_error_at(l->err, IL_E_INVALID, v->key_line, v->key_col, v->offset,
                           "`%.*s` has a meaning in guards and regions; choose another name for the %s", IL_STR_ARG(name), what);
    }
    for (size_t i = 0; i < l->families.n; i++) {
        if (il_str_eq(l->families.list[i].name, name)) {
            return il_error_at(l->err, IL_E_INVALID, v->key_line, v->key_col, v->offset, "`%.*s` is a family and a %s",
                               IL_STR_ARG(name), what);
        }
    }
    return il_load_ident(l, v, name, what);
}

/* What a decision or a table can say in full: a decision keeps its reason in 64 bytes, the last of them 0. */
#define IL_LOAD_SLUG_MAX 63u

il_status il_load_slug(il_loader *l, const il_json *at, il_str s, bool is_key, const char *what) {
    bool good = s.n > 0;
    if (s.n > IL_LOAD_SLUG_MAX) {
        return il_error_at(l->err, IL_E_LIMIT, is_key ? at->key_line : at->line, is_key ? at->key_col : at->col, at->offset,
                           "a name of a %s has at most %u letters; shorten it", what, IL_LOAD_SLUG_MAX);
    }
    for (size_t i = 0; good && i < s.n; i++) {
        bool letter = s.p[i] >= 'a' && s.p[i] <= 'z';
        bool later = (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-';
        good = letter || (later && i > 0);
    }
    if (!good) {
        return il_error_at(l->err, IL_E_INVALID, is_key ? at->key_line : at->line, is_key ? at->key_col : at->col, at->offset,
                           "`%.*s` is no name for a %s: use lower-case letters, digits and `-`", IL_STR_ARG(s), what);
    }
    return IL_OK;
}

/* Controls, line separators, and what reorders or hides text. */
static bool load_steers(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

il_status il_load_sentence(il_loader *l, const il_json *v, const char *what, il_str *out) {
    const il_str s = il_json_kind_of(v) == IL_JSON_STRING ? v->text : (il_str){0};
    if (s.n == 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "%s", what);
    }
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        const size_t n = il_utf8_length(p, s.n - i);
        if (n == 0 || load_steers(il_utf8_point(p, n))) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "a sentence is one line without control characters");
        }
        i += n;
    }
    return il_arena_copy(l->arena, s, out, l->err);
}

uint32_t il_load_rule(const il_loader *l, il_str name) {
    for (uint32_t i = 0; i < l->m->nrules; i++) {
        if (il_str_eq(l->m->rules[i].name, name)) {
            return i + 1;
        }
    }
    return 0;
}

/* Marks the lets whose names occur as identifiers in an expression, so that a let that nothing uses (a misspelling, most likely) is found. */
static void load_mark_used(il_loader *l, il_str s) {
    for (size_t i = 0; i < s.n;) {
        if (!load_letter(s.p[i])) {
            i++;
            continue;
        }
        size_t from = i;
        while (i < s.n && (load_letter(s.p[i]) || (s.p[i] >= '0' && s.p[i] <= '9'))) {
            i++;
        }
        il_str word = il_str_part(s, from, i);
        for (size_t k = 0; k < l->nlets; k++) {
            if ((from == 0 || s.p[from - 1] != '.') && il_str_eq(l->lets[k].name, word)) {
                l->let_used[k] = true;
            }
        }
    }
}

il_status il_load_program(il_loader *l, const il_json *v, const il_cel_env *env, il_cel_kind want, il_cel_program **out) {
    il_str source = il_json_text(v);
    if (v && il_json_kind_of(v) == IL_JSON_BOOL) {
        source = v->truth ? IL_STR("true") : IL_STR("false");
    } else if (!v || (il_json_kind_of(v) != IL_JSON_STRING && il_json_kind_of(v) != IL_JSON_NUMBER)) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "an expression must be text");
    }
    load_mark_used(l, source);
    return il_cel_compile(l->arena, source, v->line, v->col + (v->plain ? 0 : 1), env, want, NULL, out, l->err);
}

il_status il_load_over_pre(il_loader *l, const il_json *v, il_cel_kind want, il_cel_program **out) {
    il_cel_field *vars = IL_NEW_ARRAY(l->arena, il_cel_field, 1);
    il_cel_type *type = IL_NEW(l->arena, il_cel_type);
    if (!vars || !type) {
        return il_arena_fail(l->arena, l->err);
    }
    *type = l->state_type;
    type->name = IL_STR("pre");
    vars[0] = (il_cel_field){type->name, type};
    il_cel_env env = {
        .size = sizeof env, .vars = vars, .nvars = 1, .lets = l->lets, .nlets = l->nlets, .families = il_load_names(l)};
    return il_load_program(l, v, &env, want, out);
}

typedef struct load_ghost {
    const il_model *m;
    uint32_t own, found; /* UINT32_MAX: none */
} load_ghost;

static void load_ghost_visit(void *ctx, size_t var, size_t field) {
    load_ghost *g = ctx;
    if ((var == IL_LOAD_PRE || var == IL_LOAD_NEXT) && field < g->m->nvars && field != g->own && g->m->vars[field].ghost) {
        g->found = (uint32_t)field;
    }
}

il_status il_load_no_ghost(il_loader *l, const il_json *v, const il_cel_program *program, uint32_t own, const char *who) {
    load_ghost g = {l->m, own, UINT32_MAX};
    il_cel_reads(program, load_ghost_visit, &g);
    if (g.found != UINT32_MAX) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "%s reads the ghost `%.*s`; only regions and its own updates may", who,
                            IL_STR_ARG(l->m->vars[g.found].name));
    }
    return IL_OK;
}

static il_status load_consts(il_loader *l, const il_json *consts, const il_json *lets) {
    if (consts && il_json_kind_of(consts) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(consts, l->err, IL_E_INVALID, "`const` must be a map of names and numbers");
    }
    if (lets && il_json_kind_of(lets) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(lets, l->err, IL_E_INVALID, "`let` must be a map of names and expressions");
    }
    size_t nc = il_json_count(consts);
    size_t nl = il_json_count(lets);
    l->consts = IL_NEW_ARRAY(l->arena, il_load_const, nc);
    l->lets = IL_NEW_ARRAY(l->arena, il_cel_let, nc + nl);
    l->let_nodes = IL_NEW_ARRAY(l->arena, const il_json *, nc + nl);
    l->let_used = IL_NEW_ARRAY(l->arena, bool, nc + nl);
    size_t *let_family = IL_NEW_ARRAY(l->arena, size_t, nc + nl);
    if (!l->consts || !l->lets || !l->let_nodes || !l->let_used || !let_family) {
        return il_arena_fail(l->arena, l->err);
    }
    l->families.lets = let_family;
    for (const il_json *v = il_json_first(lets); v; v = il_json_next(v)) {
        il_str base;
        size_t family = 0;
        IL_TRY(il_load_declared(l, v, &base, &family));
        IL_TRY(il_load_free_name(l, v, base, "let"));
        if (il_json_kind_of(v) != IL_JSON_STRING) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "let `%.*s` must be an expression in quotes", IL_STR_ARG(v->key));
        }
        for (size_t i = 0; i < l->nlets; i++) {
            if (il_str_eq(l->lets[i].name, base)) {
                return il_error_at(l->err, IL_E_INVALID, v->key_line, v->key_col, v->offset,
                                   "let `%.*s` is declared already, with another index or none", IL_STR_ARG(base));
            }
        }
        il_cel_let *let = &l->lets[l->nlets];
        IL_TRY(il_arena_copy(l->arena, base, &let->name, l->err));
        IL_TRY(il_arena_copy(l->arena, v->text, &let->source, l->err));
        let->line = v->line;
        let->col = v->col + (v->plain ? 0 : 1);
        let_family[l->nlets] = family;
        l->let_nodes[l->nlets++] = v;
    }
    for (const il_json *v = il_json_first(consts); v; v = il_json_next(v)) {
        IL_TRY(il_load_free_name(l, v, v->key, "const"));
        int64_t value = 0;
        if (!il_json_int(v, &value)) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "const `%.*s` must be a whole number", IL_STR_ARG(v->key));
        }
        for (size_t i = 0; i < l->nlets - l->nconsts; i++) {
            if (il_str_eq(l->lets[i].name, v->key)) {
                return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%.*s` is a const and a let", IL_STR_ARG(v->key));
            }
        }
        il_cel_let *let = &l->lets[l->nlets];
        IL_TRY(il_arena_copy(l->arena, v->key, &let->name, l->err));
        IL_TRY(il_arena_copy(l->arena, v->text, &let->source, l->err));
        let->line = v->line;
        let->col = v->col;
        l->consts[l->nconsts++] = (il_load_const){let->name, value};
        let_family[l->nlets] = l->families.n;
        l->let_nodes[l->nlets++] = v;
    }
    for (const il_json *v = il_json_first(lets); v; v = il_json_next(v)) {
        load_mark_used(l, v->text);
    }
    return IL_OK;
}

static il_status load_unused(il_loader *l) {
    for (size_t i = 0; i < l->nlets; i++) {
        if (!l->let_used[i]) {
            const il_json *v = l->let_nodes[i];
            return il_error_at(l->err, IL_E_INVALID, v->key_line, v->key_col, v->offset,
                               "nothing uses `%.*s`; remove it or correct its name", IL_STR_ARG(l->lets[i].name));
        }
    }
    return IL_OK;
}

static il_status load_contract(il_loader *l, const il_json *contract) {
    static const il_str keys[] = {{"rules", 5}, {"releasable", 10}};
    il_model *m = l->m;
    IL_TRY(il_json_only(contract, keys, 2, "the contract", l->err));
    const il_json *rules = NULL;
    IL_TRY(il_load_need(l, contract, "rules", IL_JSON_ARRAY, "the contract", (il_str){0}, &rules));
    if (il_json_count(rules) > IL_MODEL_RULES_MAX) {
        return IL_JSON_FAIL(rules, l->err, IL_E_LIMIT, "more than %u rules", (unsigned)IL_MODEL_RULES_MAX);
    }
    m->rules = IL_NEW_ARRAY(l->arena, il_rule, il_json_count(rules));
    if (!m->rules) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *v = il_json_first(rules); v; v = il_json_next(v)) {
        IL_TRY(il_load_slug(l, v, il_json_kind_of(v) == IL_JSON_STRING ? v->text : (il_str){0}, false, "rule"));
        if (il_load_rule(l, v->text) != 0) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "rule `%.*s` is listed twice", IL_STR_ARG(v->text));
        }
        IL_TRY(il_arena_copy(l->arena, v->text, &m->rules[m->nrules].name, l->err));
        m->nrules++;
    }
    il_str *names = IL_NEW_ARRAY(l->arena, il_str, m->nrules);
    if (!names) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t i = 0; i < m->nrules; i++) {
        names[i] = m->rules[i].name;
    }
    l->reason_type = (il_cel_type){.kind = IL_CEL_STRING, .domain = names, .ndomain = m->nrules, .name = IL_STR("reason")};
    const il_json *releasable = il_json_get(contract, IL_STR("releasable"));
    if (releasable && il_json_kind_of(releasable) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(releasable, l->err, IL_E_INVALID, "`releasable` must be a list of rules");
    }
    for (const il_json *v = il_json_first(releasable); v; v = il_json_next(v)) {
        uint32_t rule = il_load_rule(l, il_json_text(v));
        if (rule == 0) {
            return il_load_unknown(l, v, "rule", il_json_text(v), names, m->nrules);
        }
        m->rules[rule - 1].releasable = true;
    }
    return IL_OK;
}

/* A rule that no clause can give is a promise that nothing keeps. */
static il_status load_rules_named(il_loader *l, const il_json *rules) {
    uint32_t rule = 1;
    for (const il_json *v = il_json_first(rules); v; v = il_json_next(v), rule++) {
        bool named = false;
        for (uint32_t a = 0; a < l->m->nactions; a++) {
            for (uint32_t c = 0; c < l->m->actions[a].nclauses; c++) {
                named = named || l->m->actions[a].clauses[c].rule == rule;
            }
        }
        if (!named) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "no clause rejects as rule `%.*s`; remove it or add the clause",
                                IL_STR_ARG(v->text));
        }
    }
    return IL_OK;
}

static il_status load_recovery(il_loader *l, const il_json *v) {
    static const il_str keys[] = {{"goal", 4}};
    if (!v) {
        return IL_OK;
    }
    if (il_json_kind_of(v) != IL_JSON_OBJECT || il_json_count(v) == 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`recovery` must be {goal: CONDITION}");
    }
    IL_TRY(il_json_only(v, keys, 1, "`recovery`", l->err));
    return il_load_over_pre(l, il_json_get(v, keys[0]), IL_CEL_BOOL, &l->m->goal);
}

il_status il_model_document(il_arena *arena, const il_json *doc, const il_json **out, il_error *err) {
    static const il_str beside[] = {{"diagnosis", 9}, {"fleet", 5}, {"widens", 6}};
    il_json *copy = il_json_shallow(arena, doc);
    *out = copy;
    if (!copy) {
        return il_arena_fail(arena, err);
    }
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        (void)il_json_remove(copy, beside[i]);
    }
    return IL_OK;
}

il_status il_model_load(il_arena *arena, const il_json *doc, il_model **out, il_error *err) {
    static const il_str keys[] = {{"machine", 7},  {"version", 7},  {"const", 5},     {"families", 8},  {"vars", 4},
                                  {"let", 3},      {"actions", 7},  {"naps", 4},      {"nap_bound", 9}, {"regions", 7},
                                  {"recovery", 8}, {"contract", 8}, {"diagnosis", 9}, {"fleet", 5},     {"widens", 6}};
    *out = NULL;
    if (il_json_kind_of(doc) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(doc, err, IL_E_INVALID, "a machine must be a map that begins with `machine:` and its name");
    }
    il_loader l = {.arena = arena, .err = err};
    IL_TRY(il_json_only(doc, keys, sizeof keys / sizeof keys[0], "a machine", err));
    const il_json *name = NULL;
    const il_json *version = NULL;
    const il_json *vars = NULL;
    const il_json *actions = NULL;
    const il_json *regions = NULL;
    const il_json *contract = NULL;
    IL_TRY(il_load_need(&l, doc, "machine", IL_JSON_STRING, "a machine", (il_str){0}, &name));
    IL_TRY(il_load_need(&l, doc, "version", IL_JSON_NUMBER, "a machine", (il_str){0}, &version));
    int64_t number = 0;
    if (!il_json_int(version, &number) || number != 1) {
        return IL_JSON_FAIL(version, err, IL_E_VERSION, "machine version `%.*s` is not known; this build reads version 1",
                            IL_STR_ARG(version->text));
    }
    IL_TRY(il_load_need(&l, doc, "vars", IL_JSON_OBJECT, "a machine", (il_str){0}, &vars));
    IL_TRY(il_load_need(&l, doc, "actions", IL_JSON_OBJECT, "a machine", (il_str){0}, &actions));
    IL_TRY(il_load_need(&l, doc, "regions", IL_JSON_OBJECT, "a machine", (il_str){0}, &regions));
    IL_TRY(il_load_need(&l, doc, "contract", IL_JSON_OBJECT, "a machine", (il_str){0}, &contract));
    IL_TRY(il_load_slug(&l, name, name->text, false, "machine"));

    il_model *m = IL_NEW(arena, il_model);
    if (!m) {
        return il_arena_fail(arena, err);
    }
    l.m = m;
    m->arena = arena;
    const il_json *consts = il_json_get(doc, IL_STR("const"));
    const il_json *lets = il_json_get(doc, IL_STR("let"));
    IL_TRY(il_arena_copy(arena, name->text, &m->name, err));
    IL_TRY(il_load_families(&l, il_json_get(doc, IL_STR("families"))));
    IL_TRY(load_consts(&l, consts, lets));
    IL_TRY(il_load_vars(&l, vars));
    IL_TRY(load_contract(&l, contract));
    IL_TRY(il_load_actions(&l, actions));
    IL_TRY(load_rules_named(&l, il_json_get(contract, IL_STR("rules"))));
    IL_TRY(il_load_naps(&l, il_json_get(doc, IL_STR("naps")), il_json_get(doc, IL_STR("nap_bound"))));
    IL_TRY(il_load_regions(&l, regions));
    IL_TRY(load_recovery(&l, il_json_get(doc, IL_STR("recovery"))));
    IL_TRY(il_load_diagnosis(&l, il_json_get(doc, IL_STR("diagnosis"))));
    IL_TRY(il_load_fleet(&l, il_json_get(doc, IL_STR("fleet"))));
    IL_TRY(il_load_widens(&l, il_json_get(doc, IL_STR("widens"))));
    IL_TRY(load_unused(&l));
    const il_json *means = NULL;
    IL_TRY(il_model_document(arena, doc, &means, err));
    IL_TRY(il_json_digest(means, NULL, m->digest, err));
    *out = m;
    return IL_OK;
}
