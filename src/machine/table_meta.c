/* SPDX-License-Identifier: Apache-2.0 */
/* The names inside a table: canonical JSON. Read strictly although the seal covers it: the seal shows integrity, not good will. */
#include "machine/machine_impl.h"
#include "json/node.h"

static il_status meta_bad(il_error *err, const char *what) {
    return il_error_set(err, IL_E_SEAL, "the table's description is not usable: %s", what);
}

/* Puts a name among those of its list. Two of one name, and the table would not agree with itself: who asks by name gets the first. */
static il_status meta_new(il_machine *m, il_json *seen, il_str name, il_error *err) {
    il_json *mark = il_json_make(&m->arena, IL_JSON_NULL);
    if (!seen || !mark) {
        return il_arena_fail(&m->arena, err);
    }
    return il_json_set(seen, name, mark) ? IL_OK : meta_bad(err, "a name stands twice");
}

static il_status meta_values(il_machine *m, const il_json *list, uint32_t *n, il_str **out, il_error *err) {
    size_t count = il_json_count(list);
    if (il_json_kind_of(list) != IL_JSON_ARRAY || count == 0 || count > IL_MODEL_DOMAIN_MAX) {
        return meta_bad(err, "a domain");
    }
    *out = IL_NEW_ARRAY(&m->arena, il_str, count);
    if (!*out) {
        return il_arena_fail(&m->arena, err);
    }
    *n = 0;
    il_json *seen = il_json_make(&m->arena, IL_JSON_OBJECT);
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        if (il_json_kind_of(v) != IL_JSON_STRING) {
            return meta_bad(err, "a domain");
        }
        IL_TRY(meta_new(m, seen, v->text, err));
        (*out)[(*n)++] = v->text;
    }
    return IL_OK;
}

/* The name of `o`, a member of the list whose names are `seen`. */
static il_status meta_name(il_machine *m, il_json *seen, const il_json *o, il_str *out, il_error *err) {
    const il_json *name = il_json_get(o, IL_STR("name"));
    if (il_json_kind_of(o) != IL_JSON_OBJECT || il_json_kind_of(name) != IL_JSON_STRING) {
        return meta_bad(err, "a name");
    }
    *out = name->text;
    return meta_new(m, seen, name->text, err);
}

static il_status meta_list(const il_json *root, il_str key, size_t max, const il_json **out, uint32_t *n, il_error *err) {
    const il_json *list = il_json_get(root, key);
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) > max) {
        return meta_bad(err, "a list");
    }
    *out = list;
    *n = (uint32_t)il_json_count(list);
    return IL_OK;
}

static il_status meta_vars(il_machine *m, const il_json *list, il_error *err) {
    m->vars = IL_NEW_ARRAY(&m->arena, il_machine_var, m->nvars);
    if (!m->vars) {
        return il_arena_fail(&m->arena, err);
    }
    il_json *seen = il_json_make(&m->arena, IL_JSON_OBJECT);
    uint32_t bits = 0;
    uint32_t i = 0;
    for (const il_json *o = il_json_first(list); o; o = il_json_next(o), i++) {
        il_machine_var *v = &m->vars[i];
        IL_TRY(meta_name(m, seen, o, &v->name, err));
        IL_TRY(meta_values(m, il_json_get(o, IL_STR("values")), &v->nvalues, &v->values, err));
        while ((UINT32_C(1) << v->bits) < v->nvalues) {
            v->bits++;
        }
        if (bits + v->bits > 64) {
            return meta_bad(err, "more than 64 bits of state");
        }
        v->shift = (uint8_t)(v->bits == 0 ? 0 : bits);
        bits += v->bits;
    }
    return IL_OK;
}

static il_status meta_action(il_machine *m, il_json *actions, const il_json *o, il_machine_action *a, il_error *err) {
    const il_json *fields = NULL;
    il_json *seen = il_json_make(&m->arena, IL_JSON_OBJECT);
    IL_TRY(meta_name(m, actions, o, &a->name, err));
    IL_TRY(meta_list(o, IL_STR("fields"), IL_MODEL_FIELDS_MAX, &fields, &a->nfields, err));
    a->fields = IL_NEW_ARRAY(&m->arena, il_machine_field, a->nfields);
    if (!a->fields) {
        return il_arena_fail(&m->arena, err);
    }
    uint64_t n = 1;
    uint32_t i = 0;
    for (const il_json *f = il_json_first(fields); f; f = il_json_next(f), i++) {
        IL_TRY(meta_name(m, seen, f, &a->fields[i].name, err));
        IL_TRY(meta_values(m, il_json_get(f, IL_STR("values")), &a->fields[i].nvalues, &a->fields[i].values, err));
        n *= a->fields[i].nvalues;
        if (n > IL_MODEL_SYMBOLS_MAX) {
            return meta_bad(err, "too many symbols");
        }
    }
    uint32_t stride = 1;
    for (uint32_t f = a->nfields; f-- > 0;) {
        a->fields[f].stride = stride;
        stride *= a->fields[f].nvalues;
    }
    a->nsymbols = (uint32_t)n;
    return IL_OK;
}

static il_status meta_actions(il_machine *m, const il_json *list, il_error *err) {
    m->actions = IL_NEW_ARRAY(&m->arena, il_machine_action, m->nactions);
    if (!m->actions) {
        return il_arena_fail(&m->arena, err);
    }
    il_json *seen = il_json_make(&m->arena, IL_JSON_OBJECT);
    uint64_t symbols = 0;
    uint32_t i = 0;
    for (const il_json *o = il_json_first(list); o; o = il_json_next(o), i++) {
        m->actions[i].first = (uint32_t)symbols;
        IL_TRY(meta_action(m, seen, o, &m->actions[i], err));
        symbols += m->actions[i].nsymbols;
        if (symbols > IL_MODEL_SYMBOLS_MAX) {
            return meta_bad(err, "too many symbols");
        }
    }
    return symbols == m->nsymbols ? IL_OK : meta_bad(err, "the number of symbols");
}

static il_status meta_contract(il_machine *m, const il_json *rules, const il_json *regions, il_error *err) {
    m->rules = IL_NEW_ARRAY(&m->arena, il_rule, m->nrules);
    m->regions = IL_NEW_ARRAY(&m->arena, il_machine_region, m->nregions);
    if (!m->rules || !m->regions) {
        return il_arena_fail(&m->arena, err);
    }
    il_json *seen = il_json_make(&m->arena, IL_JSON_OBJECT);
    uint32_t i = 0;
    for (const il_json *o = il_json_first(rules); o; o = il_json_next(o), i++) {
        IL_TRY(meta_name(m, seen, o, &m->rules[i].name, err));
        m->rules[i].releasable = il_json_bool(il_json_get(o, IL_STR("releasable")));
    }
    seen = il_json_make(&m->arena, IL_JSON_OBJECT);
    i = 0;
    for (const il_json *o = il_json_first(regions); o; o = il_json_next(o), i++) {
        IL_TRY(meta_name(m, seen, o, &m->regions[i].name, err));
        m->regions[i].gated = il_json_bool(il_json_get(o, IL_STR("gated")));
        m->regions[i].edge = il_json_bool(il_json_get(o, IL_STR("edge")));
    }
    return IL_OK;
}

il_status il_table_read_meta(il_machine *m, il_str meta, il_error *err) {
    il_json *root = NULL;
    il_json_limits limits = {.size = sizeof limits, .bytes = (size_t)16 << 20, .nodes = 2000000};
    il_status s = il_json_parse(&m->arena, meta, &limits, &root, NULL);
    if (s != IL_OK) {
        return s == IL_E_MEMORY ? il_arena_fail(&m->arena, err) : meta_bad(err, "no JSON");
    }
    const il_json *name = il_json_get(root, IL_STR("machine"));
    const il_json *vars = NULL;
    const il_json *actions = NULL;
    const il_json *rules = NULL;
    const il_json *regions = NULL;
    uint32_t nregions = 0;
    if (il_json_kind_of(name) != IL_JSON_STRING) {
        return meta_bad(err, "the machine's name");
    }
    m->name = name->text;
    IL_TRY(meta_list(root, IL_STR("vars"), IL_MODEL_VARS_MAX, &vars, &m->nvars, err));
    IL_TRY(meta_list(root, IL_STR("actions"), IL_MODEL_ACTIONS_MAX, &actions, &m->nactions, err));
    IL_TRY(meta_list(root, IL_STR("rules"), IL_MODEL_RULES_MAX, &rules, &m->nrules, err));
    IL_TRY(meta_list(root, IL_STR("regions"), IL_MODEL_REGIONS_MAX, &regions, &nregions, err));
    if (nregions != m->nregions) {
        return meta_bad(err, "the number of regions");
    }
    IL_TRY(meta_vars(m, vars, err));
    IL_TRY(meta_actions(m, actions, err));
    return meta_contract(m, rules, regions, err);
}
