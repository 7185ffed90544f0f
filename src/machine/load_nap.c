/* SPDX-License-Identifier: Apache-2.0 */
/* Naps: what the machine does by itself after a step. Only corrective actions of the runtime may be done so: nobody else's word is put in. */
#include "machine/load.h"

#define IL_LOAD_NAP_BOUND_MAX 64

static il_status load_bound(il_loader *l, const il_json *naps, const il_json *bound) {
    int64_t n = 0;
    l->m->nap_bound = IL_MODEL_NAP_BOUND;
    if (!bound) {
        return IL_OK;
    }
    if (!naps) {
        return IL_JSON_FAIL(bound, l->err, IL_E_INVALID, "`nap_bound` is for `naps`; there are none");
    }
    if (!il_json_int(bound, &n) || n < 1 || n > IL_LOAD_NAP_BOUND_MAX) {
        return IL_JSON_FAIL(bound, l->err, IL_E_INVALID, "`nap_bound` must be a whole number from 1 to %u",
                            (unsigned)IL_LOAD_NAP_BOUND_MAX);
    }
    l->m->nap_bound = (uint32_t)n;
    return IL_OK;
}

static il_status load_nap_action(il_loader *l, const il_json *v, uint32_t *out) {
    const il_model *m = l->m;
    uint64_t bits = 0;
    IL_TRY(il_load_action_bits(l, v, &bits));
    if ((bits & (bits - 1)) != 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "a nap takes one action; `revoke[c]` makes a nap for each member");
    }
    *out = (uint32_t)__builtin_ctzll(bits);
    const il_action_def *a = &m->actions[*out];
    if (!a->corrective || a->principal != IL_RUNTIME || a->lowers) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID,
                            "a nap takes corrective actions of the runtime that lower no taint; `%.*s` is none",
                            IL_STR_ARG(a->name));
    }
    return IL_OK;
}

/* The one symbol of the action that `with` says: every field has its value. */
static il_status load_nap_symbol(il_loader *l, const il_json *v, const il_json *with, uint32_t action, uint32_t *symbol) {
    const il_action_def *a = &l->m->actions[action];
    if (with && il_json_kind_of(with) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(with, l->err, IL_E_INVALID, "`with` must be a map of the fields of `%.*s`", IL_STR_ARG(a->name));
    }
    *symbol = a->first_symbol;
    for (const il_json *x = il_json_first(with); x; x = il_json_next(x)) {
        uint32_t field = il_model_field(l->m, action, x->key);
        uint32_t place = 0;
        if (field == UINT32_MAX) {
            il_json at = *x;
            at.line = x->key_line;
            at.col = x->key_col;
            return il_load_unknown(l, &at, "field", x->key, a->fields, a->nfields);
        }
        IL_TRY(il_load_value(l, x, &a->field_domains[field], &place));
        *symbol += place * a->strides[field];
    }
    for (uint32_t f = 0; f < a->nfields; f++) {
        if (!il_json_get(with, a->fields[f])) {
            return IL_JSON_FAIL(with ? with : v, l->err, IL_E_INVALID, "a nap says all of its call: `with` lacks `%.*s`",
                                IL_STR_ARG(a->fields[f]));
        }
    }
    return IL_OK;
}

static il_status load_nap(il_loader *l, const il_json *v, il_nap *nap) {
    static const il_str keys[] = {{"if", 2}, {"do", 2}, {"with", 4}};
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "a nap must be {if: CONDITION, do: ACTION}");
    }
    IL_TRY(il_json_only(v, keys, sizeof keys / sizeof keys[0], "a nap", l->err));
    const il_json *action = NULL;
    const il_json *when = il_json_get(v, IL_STR("if"));
    uint32_t place = 0;
    if (!when) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "a nap needs `if`");
    }
    IL_TRY(il_load_need(l, v, "do", IL_JSON_STRING, "a nap", (il_str){0}, &action));
    nap->line = v->line;
    nap->col = v->col;
    IL_TRY(load_nap_action(l, action, &place));
    IL_TRY(load_nap_symbol(l, v, il_json_get(v, IL_STR("with")), place, &nap->symbol));
    IL_TRY(il_load_over_pre(l, when, IL_CEL_BOOL, &nap->when));
    return il_load_no_ghost(l, when, nap->when, UINT32_MAX, "a nap");
}

/* How many naps an entry makes: with an index in `do` one for each member. */
static il_status load_nap_family(il_loader *l, const il_json *v, size_t *family, size_t *count) {
    const il_json *action = il_json_kind_of(v) == IL_JSON_OBJECT ? il_json_get(v, IL_STR("do")) : NULL;
    *family = l->families.n;
    *count = 1;
    if (action && il_json_kind_of(action) == IL_JSON_STRING) {
        il_load_named named = {0};
        IL_TRY(il_load_name(l, action, action->text, &named));
        *family = named.open ? named.family : l->families.n;
        *count = named.open ? l->families.list[named.family].nmembers : 1;
    }
    return IL_OK;
}

il_status il_load_naps(il_loader *l, const il_json *naps, const il_json *bound) {
    il_model *m = l->m;
    size_t count = 0;
    size_t family = 0;
    size_t here = 0;
    IL_TRY(load_bound(l, naps, bound));
    if (!naps) {
        return IL_OK;
    }
    if (il_json_kind_of(naps) != IL_JSON_ARRAY || il_json_count(naps) == 0) {
        return IL_JSON_FAIL(naps, l->err, IL_E_INVALID, "`naps` must be a list of {if: CONDITION, do: ACTION}");
    }
    for (const il_json *v = il_json_first(naps); v; v = il_json_next(v)) {
        IL_TRY(load_nap_family(l, v, &family, &here));
        count += here;
    }
    if (count > IL_MODEL_NAPS_MAX) {
        return IL_JSON_FAIL(naps, l->err, IL_E_LIMIT, "more than %u naps", (unsigned)IL_MODEL_NAPS_MAX);
    }
    m->naps = IL_NEW_ARRAY(l->arena, il_nap, count);
    if (!m->naps) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *v = il_json_first(naps); v; v = il_json_next(v)) {
        IL_TRY(load_nap_family(l, v, &family, &here));
        for (size_t k = 0; k < here; k++) {
            il_load_bind(l, family, k);
            IL_TRY(load_nap(l, v, &m->naps[m->nnaps]));
            m->nnaps++;
            il_load_bind(l, l->families.n, 0);
        }
    }
    return IL_OK;
}
