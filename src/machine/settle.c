/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/settle.h"

#define IL_SETTLE_LENS 65536u /* values of what the naps' conditions read, up to which it is remembered that none of them holds */
#define IL_SETTLE_SLOTS 16384u

typedef struct settle_slot {
    uint64_t state, after;
    uint32_t known, fault;
} settle_slot;

struct il_settle {
    const il_model *m;
    uint64_t actions; /* bit i: some nap takes action i */
    uint32_t nvars;
    uint8_t vars[IL_MODEL_VARS_MAX];
    uint32_t strides[IL_MODEL_VARS_MAX];
    uint8_t *idle; /* 0 not asked yet, 1 no condition holds, 2 some does; NULL when the conditions read too much */
    settle_slot *slots;
};

static void settle_visit(void *ctx, size_t var, size_t field) {
    uint64_t *vars = ctx;
    (void)var;
    *vars |= field < IL_MODEL_VARS_MAX ? UINT64_C(1) << field : UINT64_MAX;
}

il_settle *il_settle_new(il_arena *arena, const il_model *m) {
    il_settle *s = IL_NEW(arena, il_settle);
    uint64_t vars = 0;
    uint64_t size = 1;
    if (!s) {
        return NULL;
    }
    s->m = m;
    for (uint32_t i = 0; i < m->nnaps; i++) {
        il_cel_reads(m->naps[i].when, settle_visit, &vars);
        s->actions |= UINT64_C(1) << m->symbol_action[m->naps[i].symbol];
    }
    for (uint32_t v = 0; v < m->nvars && size <= IL_SETTLE_LENS; v++) {
        if (vars >> v & 1) {
            s->vars[s->nvars] = (uint8_t)v;
            s->strides[s->nvars++] = (uint32_t)size;
            size *= m->vars[v].domain.size;
        }
    }
    s->idle = size <= IL_SETTLE_LENS ? IL_NEW_ARRAY(arena, uint8_t, (size_t)size) : NULL;
    s->slots = IL_NEW_ARRAY(arena, settle_slot, IL_SETTLE_SLOTS);
    return s->slots ? s : NULL;
}

bool il_settle_touched(const il_settle *s, const il_variant *variant) {
    return variant && ((variant->deleted & s->actions) != 0 || (variant->skip && (s->actions >> variant->skip_action & 1)));
}

/* Whether it is known that no condition holds; *cell is where that is remembered. */
static bool settle_idle(il_settle *s, uint64_t state, uint8_t **cell) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->nvars; i++) {
        at += il_model_get(s->m, state, s->vars[i]) * s->strides[i];
    }
    *cell = s->idle ? &s->idle[at] : NULL;
    return *cell && **cell == 1;
}

static bool settle_holds(const il_settle *s, uint64_t state) {
    for (uint32_t i = 0; i < s->m->nnaps; i++) {
        if (il_model_nap_holds(s->m, i, state)) {
            return true;
        }
    }
    return false;
}

bool il_settle_state(il_settle *s, const il_variant *variant, uint64_t state, uint64_t *out) {
    uint8_t *cell = NULL;
    *out = state;
    if (settle_idle(s, state, &cell)) {
        return true;
    }
    if (cell && *cell == 0) {
        *cell = settle_holds(s, state) ? 2 : 1;
        if (*cell == 1) {
            return true;
        }
    }
    if (il_settle_touched(s, variant)) {
        const il_settled after = il_model_settle(s->m, variant, state);
        *out = after.state;
        return after.fault == NULL;
    }
    settle_slot *slot = &s->slots[(state * UINT64_C(0x9E3779B97F4A7C15)) >> 50];
    if (!slot->known || slot->state != state) {
        const il_settled after = il_model_settle(s->m, NULL, state);
        *slot = (settle_slot){.state = state, .after = after.state, .known = 1, .fault = after.fault != NULL};
    }
    *out = slot->after;
    return slot->fault == 0;
}
