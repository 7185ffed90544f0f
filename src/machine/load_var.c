/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: their place in the packed state, and what is said of them beside their domain. */
#include "machine/load.h"

/* `adversarial: true`, or {to: [values], when: "…"}. */
static il_status load_adversary(il_loader *l, const il_json *v, il_var *var) {
    static const il_str keys[] = {{"to", 2}, {"when", 4}};
    il_adversary *a = &var->adversary;
    if (il_json_kind_of(v) == IL_JSON_BOOL) {
        a->writes = il_json_bool(v);
        return IL_OK;
    }
    if (il_json_kind_of(v) != IL_JSON_OBJECT || il_json_count(v) == 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`adversarial` of `%.*s` must be true or {to: [VALUES], when: CONDITION}",
                            IL_STR_ARG(var->name));
    }
    IL_TRY(il_json_only(v, keys, sizeof keys / sizeof keys[0], "an adversary", l->err));
    a->writes = true;
    const il_json *when = il_json_get(v, IL_STR("when"));
    const il_json *to = il_json_get(v, IL_STR("to"));
    if (when) {
        IL_TRY(il_load_over_pre(l, when, IL_CEL_BOOL, &a->when));
    }
    if (!to) {
        return IL_OK;
    }
    if (il_json_kind_of(to) != IL_JSON_ARRAY || il_json_count(to) == 0) {
        return IL_JSON_FAIL(to, l->err, IL_E_INVALID, "`to` must be a list of at least one value of `%.*s`",
                            IL_STR_ARG(var->name));
    }
    a->to = IL_NEW_ARRAY(l->arena, bool, var->domain.size);
    if (!a->to) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *x = il_json_first(to); x; x = il_json_next(x)) {
        uint32_t place = 0;
        IL_TRY(il_load_value(l, x, &var->domain, &place));
        a->to[place] = true;
    }
    return IL_OK;
}

static il_status load_var(il_loader *l, const il_load_instance *from, il_var *var) {
    il_model *m = l->m;
    const il_json *v = from->v;
    IL_TRY(il_load_ident(l, v, from->base, "variable"));
    var->name = from->name;
    var->line = v->key_line;
    var->col = v->key_col;
    IL_TRY(il_load_domain(l, v, var->name, &var->domain, var));
    while ((UINT32_C(1) << var->bits) < var->domain.size) {
        var->bits++;
    }
    if (m->bits + var->bits > 64) {
        return il_error_at(l->err, IL_E_LIMIT, v->key_line, v->key_col, v->offset,
                           "`%.*s` makes the state wider than 64 bits; use fewer or smaller variables", IL_STR_ARG(var->name));
    }
    var->shift = (uint8_t)(var->bits == 0 ? 0 : m->bits);
    m->bits += var->bits;
    if (__builtin_mul_overflow(m->product, (uint64_t)var->domain.size, &m->product)) {
        m->product = UINT64_MAX;
    }
    return IL_OK;
}

il_status il_load_vars(il_loader *l, const il_json *vars) {
    il_model *m = l->m;
    il_load_instance *all = NULL;
    uint32_t n = 0;
    IL_TRY(il_load_instances(l, vars, "variable", "variables", IL_MODEL_VARS_MAX, &all, &n));
    IL_TRY(il_load_bases(l, all, n, &l->families.fields, &l->families.nfields));
    m->vars = IL_NEW_ARRAY(l->arena, il_var, n);
    il_cel_field *fields = IL_NEW_ARRAY(l->arena, il_cel_field, n);
    if (!m->vars || !fields) {
        return il_arena_fail(l->arena, l->err);
    }
    m->product = 1;
    for (uint32_t i = 0; i < n; i++) {
        IL_TRY(load_var(l, &all[i], &m->vars[i]));
        fields[i] = (il_cel_field){m->vars[i].name, &m->vars[i].domain.type};
        m->nvars++;
    }
    l->state_type.kind = IL_CEL_RECORD;
    l->state_type.fields = fields;
    l->state_type.nfields = n;
    for (uint32_t i = 0; i < n; i++) { /* a condition may read any variable */
        const il_json *v = all[i].v;
        const il_json *adversarial = il_json_kind_of(v) == IL_JSON_OBJECT ? il_json_get(v, IL_STR("adversarial")) : NULL;
        if (adversarial) {
            il_load_bind(l, all[i].family, all[i].member);
            IL_TRY(load_adversary(l, adversarial, &m->vars[i]));
        }
    }
    il_load_bind(l, l->families.n, 0);
    return IL_OK;
}
