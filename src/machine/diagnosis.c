/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/diagnosis.h"

/* `pre` as a record over values that the caller keeps room for. */
static il_cel_value diagnosis_pre(const il_model *m, uint64_t state, il_cel_value room[IL_MODEL_VARS_MAX]) {
    for (uint32_t v = 0; v < m->nvars; v++) {
        room[v] = m->vars[v].domain.values[il_model_get(m, state, v)];
    }
    il_cel_value pre = {0};
    pre.kind = IL_CEL_RECORD;
    pre.n = m->nvars;
    pre.u.items = room;
    return pre;
}

il_diagnosis il_diagnosis_default(const il_model *m) {
    il_diagnosis d = {.verdicts = true};
    for (uint32_t v = 0; v < m->nvars; v++) {
        d.sees |= m->vars[v].ghost ? 0 : UINT64_C(1) << v;
    }
    return d;
}

/* The seen variables where they stand in the packed state, the sensors above it; the loader sees that both fit. */
uint64_t il_diagnosis_view(const il_model *m, uint64_t sees, uint32_t uses, uint64_t state) {
    uint64_t view = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (sees >> v & 1) {
            view |= state & ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift;
        }
    }
    if (!uses || !m->diagnosis) {
        return view;
    }
    il_cel_value room[IL_MODEL_VARS_MAX];
    il_cel_value pre = diagnosis_pre(m, state, room);
    for (uint32_t i = 0; i < m->diagnosis->nsensors; i++) {
        if (uses >> i & 1) {
            il_cel_value v = il_cel_eval(m->diagnosis->sensors[i].reads, &pre, NULL);
            view |= (uint64_t)(v.kind != IL_CEL_BOOL || v.u.b) << (m->bits + i);
        }
    }
    return view;
}

/* Place of a value in a domain; its size when it has none. */
static uint32_t diagnosis_place(const il_domain *d, il_cel_value v) {
    for (uint32_t i = 0; i < d->size; i++) {
        il_cel_value have = d->values[i];
        bool same = have.kind == v.kind;
        if (same && d->kind == IL_DOMAIN_BOOL) {
            same = have.u.b == v.u.b;
        } else if (same && d->kind == IL_DOMAIN_INT) {
            same = have.u.i == v.u.i;
        } else if (same) {
            same = il_str_eq(il_cel_str(have), il_cel_str(v));
        }
        if (same) {
            return i;
        }
    }
    return d->size;
}

bool il_silent_step(const il_model *m, const il_silent *silent, uint64_t state, uint64_t *next) {
    il_cel_value room[IL_MODEL_VARS_MAX];
    il_cel_value pre = diagnosis_pre(m, state, room);
    if (silent->when) {
        il_cel_value v = il_cel_eval(silent->when, &pre, NULL);
        if (v.kind != IL_CEL_BOOL || !v.u.b) {
            return false;
        }
    }
    uint64_t after = state;
    for (uint32_t u = 0; u < silent->nupdates; u++) {
        uint32_t var = silent->updates[u].var;
        uint32_t place = diagnosis_place(&m->vars[var].domain, il_cel_eval(silent->updates[u].value, &pre, NULL));
        if (place == m->vars[var].domain.size) {
            return false;
        }
        after = il_model_set(m, after, var, place);
    }
    *next = after;
    return after != state;
}
