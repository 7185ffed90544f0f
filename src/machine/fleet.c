/* SPDX-License-Identifier: Apache-2.0 */
/* What the `fleet` section says of packed states. */
#include "machine/fleet.h"

static il_cel_value fleet_eval(const il_model *m, const il_cel_program *program, uint64_t state) {
    il_cel_value items[IL_MODEL_VARS_MAX];
    il_cel_value pre = {0};
    for (uint32_t i = 0; i < m->nvars; i++) {
        items[i] = m->vars[i].domain.values[il_model_get(m, state, i)];
    }
    pre.kind = IL_CEL_RECORD;
    pre.n = m->nvars;
    pre.u.items = items;
    return il_cel_eval(program, &pre, NULL);
}

bool il_fleet_counts(const il_model *m, const il_fleet_invariant *invariant, uint64_t state) {
    if (!invariant->where) {
        return true;
    }
    const il_cel_value v = fleet_eval(m, invariant->where, state);
    return v.kind != IL_CEL_BOOL || v.u.b;
}

bool il_fleet_breaks(const il_fleet_invariant *invariant, const uint32_t *values, uint32_t n) {
    uint32_t different = 0;
    for (uint32_t i = 0; invariant->kind != IL_FLEET_COUNT && i < n; i++) {
        uint32_t k = 0;
        while (k < i && values[k] != values[i]) {
            k++;
        }
        different += k == i ? 1 : 0;
    }
    switch (invariant->kind) {
    case IL_FLEET_COUNT:
        return n > invariant->most;
    case IL_FLEET_DISTINCT:
        return different > invariant->most;
    case IL_FLEET_UNIQUE:
        return different < n;
    }
    return true;
}

bool il_fleet_renews(const il_model *m, const il_fleet *fleet, uint64_t state) {
    return fleet->renew && il_cel_true(fleet_eval(m, fleet->renew, state));
}

uint32_t il_family_symbol(const il_model *m, const il_family *family, uint64_t giver) {
    const il_action_def *a = &m->actions[family->action];
    uint32_t places[IL_MODEL_FIELDS_MAX] = {0};
    uint32_t symbol = a->first_symbol;
    bool any = false;
    for (uint32_t i = 0; i < family->ncarries; i++) {
        const il_family_carry *c = &family->carries[i];
        const uint32_t value = il_model_get(m, giver, c->var);
        any = any || value != 0;
        if (c->place[value] > places[c->field]) {
            places[c->field] = c->place[value];
        }
    }
    for (uint32_t f = 0; f < a->nfields; f++) {
        symbol += places[f] * a->strides[f];
    }
    return any ? symbol : IL_NO_SYMBOL;
}

uint32_t il_family_lost(const il_model *m, const il_family *family, uint64_t giver, uint64_t taker) {
    for (uint32_t i = 0; i < family->ncarries; i++) {
        const uint32_t var = family->carries[i].var;
        if (il_model_get(m, taker, var) < il_model_get(m, giver, var)) {
            return var;
        }
    }
    return UINT32_MAX;
}

uint64_t il_family_union(const il_model *m, const il_family *family, uint64_t one, uint64_t other) {
    for (uint32_t i = 0; i < family->ncarries; i++) {
        const uint32_t var = family->carries[i].var;
        if (il_model_get(m, other, var) > il_model_get(m, one, var)) {
            one = il_model_set(m, one, var, il_model_get(m, other, var));
        }
    }
    return one;
}
