/* SPDX-License-Identifier: Apache-2.0 */
/* The `fleet` section: instances, shared variables, invariants over several sessions, families. */
#include "machine/fleet.h"
#include "machine/load.h"

static il_status fleet_var(il_loader *l, const il_json *v, uint32_t *out) {
    il_str names[IL_MODEL_VARS_MAX];
    const uint32_t var = il_model_var(l->m, il_json_text(v));
    if (var != UINT32_MAX) {
        *out = var;
        return IL_OK;
    }
    for (uint32_t k = 0; k < l->m->nvars; k++) {
        names[k] = l->m->vars[k].name;
    }
    return il_load_unknown(l, v, "variable", il_json_text(v), names, l->m->nvars);
}

static il_status fleet_number(il_loader *l, const il_json *v, const char *key, int64_t lo, int64_t hi, uint32_t *out) {
    int64_t n = 0;
    il_str name = il_json_text(v);
    bool known = il_json_int(v, &n);
    for (size_t i = 0; !known && il_json_kind_of(v) == IL_JSON_STRING && i < l->nconsts; i++) {
        if (il_str_eq(l->consts[i].name, name)) {
            n = l->consts[i].value;
            known = true;
            l->let_used[l->nlets - l->nconsts + i] = true;
        }
    }
    if (!known || n < lo || n > hi) {
        if (lo == hi) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%s` must be %lld, or a const of that value", key, (long long)lo);
        }
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%s` must be a whole number from %lld to %lld, or a const", key,
                            (long long)lo, (long long)hi);
    }
    *out = (uint32_t)n;
    return IL_OK;
}

static il_status fleet_shared(il_loader *l, const il_json *list, il_fleet *f) {
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) == 0) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`shared` must be a list of at least one variable");
    }
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        uint32_t var = 0;
        IL_TRY(fleet_var(l, v, &var));
        if (f->shared >> var & 1) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "variable `%.*s` is listed twice", IL_STR_ARG(il_json_text(v)));
        }
        f->shared |= UINT64_C(1) << var;
    }
    return IL_OK;
}

/* ---- invariants --------------------------------------------------------------------------------- */

static il_status fleet_keyed(il_loader *l, const il_json *v, const il_json *key, const il_fleet *f, il_fleet_invariant *out) {
    const il_json *where = il_json_get(v, IL_STR("where"));
    IL_TRY(fleet_var(l, key, &out->var));
    if (f->shared >> out->var & 1) {
        return IL_JSON_FAIL(key, l->err, IL_E_INVALID,
                            "`%.*s` is shared, so all instances have the same value of it; name a variable of their own",
                            IL_STR_ARG(il_json_text(key)));
    }
    return where ? il_load_over_pre(l, where, IL_CEL_BOOL, &out->where) : IL_OK;
}

static il_status fleet_invariant(il_loader *l, const il_json *v, const il_fleet *f, il_fleet_invariant *out) {
    static const il_str keys[] = {{"count", 5}, {"distinct", 8}, {"unique", 6}, {"where", 5}, {"most", 4}};
    IL_TRY(il_load_slug(l, v, v->key, true, "fleet invariant"));
    IL_TRY(il_arena_copy(l->arena, v->key, &out->name, l->err));
    out->line = v->key_line;
    out->col = v->key_col;
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "invariant `%.*s` must be a map with `count`, `distinct` or `unique`",
                            IL_STR_ARG(out->name));
    }
    IL_TRY(il_json_only(v, keys, sizeof keys / sizeof keys[0], "an invariant of a fleet", l->err));
    const il_json *count = il_json_get(v, IL_STR("count"));
    const il_json *distinct = il_json_get(v, IL_STR("distinct"));
    const il_json *unique = il_json_get(v, IL_STR("unique"));
    const il_json *most = il_json_get(v, IL_STR("most"));
    const il_json *where = il_json_get(v, IL_STR("where"));
    if ((count != NULL) + (distinct != NULL) + (unique != NULL) != 1) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "invariant `%.*s` needs exactly one of `count`, `distinct` and `unique`",
                            IL_STR_ARG(out->name));
    }
    if (count && where) {
        return IL_JSON_FAIL(where, l->err, IL_E_INVALID, "`where` is for `distinct` and `unique`; say it in `count`");
    }
    if ((unique == NULL) != (most != NULL)) {
        return IL_JSON_FAIL(most ? most : v, l->err, IL_E_INVALID,
                            most ? "`most` is for `count` and `distinct`; `%.*s` is neither" : "invariant `%.*s` needs `most`",
                            IL_STR_ARG(out->name));
    }
    out->kind = count ? IL_FLEET_COUNT : distinct ? IL_FLEET_DISTINCT : IL_FLEET_UNIQUE;
    out->most = 1;
    if (most) { /* what no number of instances can exceed is no invariant */
        IL_TRY(fleet_number(l, most, "most", 1, (int64_t)f->instances - 1, &out->most));
    }
    if (count) {
        return il_load_over_pre(l, count, IL_CEL_BOOL, &out->where);
    }
    return fleet_keyed(l, v, distinct ? distinct : unique, f, out);
}

static il_status fleet_invariants(il_loader *l, const il_json *map, il_fleet *f) {
    if (il_json_kind_of(map) != IL_JSON_OBJECT || il_json_count(map) == 0) {
        return IL_JSON_FAIL(map, l->err, IL_E_INVALID, "`invariants` must be a map of at least one invariant");
    }
    if (il_json_count(map) > IL_FLEET_INVARIANTS_MAX) {
        return IL_JSON_FAIL(map, l->err, IL_E_LIMIT, "more than %u invariants", (unsigned)IL_FLEET_INVARIANTS_MAX);
    }
    f->invariants = IL_NEW_ARRAY(l->arena, il_fleet_invariant, il_json_count(map));
    if (!f->invariants) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *v = il_json_first(map); v; v = il_json_next(v)) {
        IL_TRY(fleet_invariant(l, v, f, &f->invariants[f->ninvariants]));
        f->ninvariants++;
    }
    return IL_OK;
}

/* ---- families ----------------------------------------------------------------------------------- */

static uint32_t fleet_place(const il_domain *d, il_str name) {
    for (uint32_t i = 0; i < d->size; i++) {
        if (il_str_eq(d->names[i], name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static il_status fleet_carry(il_loader *l, il_family *f, uint32_t var, uint32_t field, il_family_carry **out) {
    il_family_carry *c = &f->carries[f->ncarries++];
    *c = (il_family_carry){.var = var, .field = field};
    c->place = IL_NEW_ARRAY(l->arena, uint32_t, l->m->vars[var].domain.size);
    f->carried |= UINT64_C(1) << var;
    *out = c;
    return c->place ? IL_OK : il_arena_fail(l->arena, l->err);
}

/* A field takes the variable of its name: as a truth, by the value's name, or as its worst value. */
static il_status fleet_carry_same(il_loader *l, il_family *f, uint32_t var, uint32_t field) {
    const il_domain *from = &l->m->vars[var].domain;
    const il_domain *to = &l->m->actions[f->action].field_domains[field];
    il_family_carry *c = NULL;
    IL_TRY(fleet_carry(l, f, var, field, &c));
    for (uint32_t i = 0; i < from->size; i++) {
        const uint32_t same = fleet_place(to, from->names[i]);
        c->place[i] = i == 0 && same == UINT32_MAX ? 0 : same == UINT32_MAX ? to->size - 1 : same;
    }
    return IL_OK;
}

/* `data` carries two variables, a secret being sensitive as well; its values stand from the least to the most. */
static il_status fleet_carry_data(il_loader *l, const il_json *at, il_family *f, uint32_t field) {
    static const il_str words[2] = {{"sensitive", 9}, {"secret", 6}};
    const il_domain *to = &l->m->actions[f->action].field_domains[field];
    const uint32_t sensitive = fleet_place(to, words[0]);
    const uint32_t secret = fleet_place(to, words[1]);
    bool any = false;
    if (sensitive == UINT32_MAX || sensitive == 0 || (secret != UINT32_MAX && secret < sensitive)) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID,
                            "`data` of the join must list `sensitive` behind a first value and before "
                            "`secret`");
    }
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t var = il_model_var(l->m, words[k]);
        il_family_carry *c = NULL;
        if (var == UINT32_MAX) {
            continue;
        }
        any = true;
        IL_TRY(fleet_carry(l, f, var, field, &c));
        for (uint32_t i = 1; i < l->m->vars[var].domain.size; i++) {
            c->place[i] = k == 1 && secret != UINT32_MAX ? secret : sensitive;
        }
    }
    return any ? IL_OK
               : IL_JSON_FAIL(at, l->err, IL_E_INVALID,
                              "`data` of the join carries no variable: there is neither "
                              "`sensitive` nor `secret`");
}

static il_status fleet_together(il_loader *l, const il_json *list, il_family *f) {
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) == 0 || il_json_count(list) > IL_FLEET_TOGETHER_MAX) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`together` must be a list of one to %u regions",
                            (unsigned)IL_FLEET_TOGETHER_MAX);
    }
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        il_str names[IL_MODEL_REGIONS_MAX];
        uint32_t r = 0;
        while (r < l->m->nregions && !il_str_eq(l->m->regions[r].name, il_json_text(v))) {
            names[r] = l->m->regions[r].name;
            r++;
        }
        if (r == l->m->nregions) {
            return il_load_unknown(l, v, "region", il_json_text(v), names, r);
        }
        if (!l->m->regions[r].predicate || l->m->regions[r].gated) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "region `%.*s` is not a `never` region of states",
                                IL_STR_ARG(il_json_text(v)));
        }
        if (f->together >> r & 1) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "region `%.*s` is listed twice", IL_STR_ARG(il_json_text(v)));
        }
        f->together |= UINT64_C(1) << r;
    }
    return IL_OK;
}

static il_status fleet_family(il_loader *l, const il_json *v, il_fleet *fleet) {
    static const il_str keys[] = {{"join", 4}, {"together", 8}};
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`family` must be a map; `{}` takes the action `join`");
    }
    IL_TRY(il_json_only(v, keys, 2, "a family", l->err));
    const il_json *join = il_json_get(v, IL_STR("join"));
    const il_json *together = il_json_get(v, IL_STR("together"));
    const il_json *at = join ? join : v;
    const il_str name = join ? il_json_text(join) : IL_STR("join");
    il_family *f = IL_NEW(l->arena, il_family);
    if (!f) {
        return il_arena_fail(l->arena, l->err);
    }
    *f = (il_family){.action = il_model_action(l->m, name), .line = v->key_line, .col = v->key_col};
    if (f->action == UINT32_MAX) {
        il_str names[IL_MODEL_ACTIONS_MAX];
        for (uint32_t k = 0; k < l->m->nactions; k++) {
            names[k] = l->m->actions[k].name;
        }
        return il_load_unknown(l, at, "action", name, names, l->m->nactions);
    }
    const il_action_def *a = &l->m->actions[f->action];
    f->carries = IL_NEW_ARRAY(l->arena, il_family_carry, (size_t)a->nfields + 1);
    if (!f->carries) {
        return il_arena_fail(l->arena, l->err);
    }
    if (a->nfields == 0) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID,
                            "action `%.*s` carries nothing: give it fields that are named like variables", IL_STR_ARG(name));
    }
    for (uint32_t k = 0; k < a->nfields; k++) {
        const uint32_t var = il_model_var(l->m, a->fields[k]);
        if (var != UINT32_MAX) {
            IL_TRY(fleet_carry_same(l, f, var, k));
        } else if (il_str_eq(a->fields[k], IL_STR("data"))) {
            IL_TRY(fleet_carry_data(l, at, f, k));
        } else {
            return IL_JSON_FAIL(at, l->err, IL_E_INVALID,
                                "field `%.*s` of action `%.*s` carries no variable; name it like the variable that it carries",
                                IL_STR_ARG(a->fields[k]), IL_STR_ARG(name));
        }
    }
    fleet->family = f;
    return together ? fleet_together(l, together, f) : IL_OK;
}

il_status il_load_fleet(il_loader *l, const il_json *section) {
    static const il_str keys[] = {{"instances", 9}, {"shared", 6}, {"renew", 5}, {"invariants", 10}, {"family", 6}};
    if (!section) {
        return IL_OK;
    }
    if (il_json_kind_of(section) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(section, l->err, IL_E_INVALID, "`fleet` must be a map with `instances`");
    }
    IL_TRY(il_json_only(section, keys, sizeof keys / sizeof keys[0], "a fleet", l->err));
    const il_json *instances = il_json_get(section, IL_STR("instances"));
    const il_json *shared = il_json_get(section, IL_STR("shared"));
    const il_json *renew = il_json_get(section, IL_STR("renew"));
    const il_json *invariants = il_json_get(section, IL_STR("invariants"));
    const il_json *family = il_json_get(section, IL_STR("family"));
    il_fleet *f = IL_NEW(l->arena, il_fleet);
    if (!f) {
        return il_arena_fail(l->arena, l->err);
    }
    *f = (il_fleet){.line = section->key_line, .col = section->key_col};
    if (!instances) {
        return IL_JSON_FAIL(section, l->err, IL_E_INVALID, "a fleet needs `instances`");
    }
    if (!invariants && !family) {
        return IL_JSON_FAIL(section, l->err, IL_E_INVALID, "a fleet needs `invariants` or a `family`");
    }
    IL_TRY(fleet_number(l, instances, "instances", 2, IL_FLEET_INSTANCES_MAX, &f->instances));
    if (shared) {
        IL_TRY(fleet_shared(l, shared, f));
    }
    if (renew) {
        IL_TRY(il_load_over_pre(l, renew, IL_CEL_BOOL, &f->renew));
    }
    if (invariants) {
        IL_TRY(fleet_invariants(l, invariants, f));
    }
    if (family) {
        IL_TRY(fleet_family(l, family, f));
    }
    l->m->fleet = f;
    return IL_OK;
}
