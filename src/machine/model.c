/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a model: packed values, names, symbols. */
#include "machine/model.h"

const char *il_principal_name(il_principal p) {
    switch (p) {
    case IL_AGENT:
        return "agent";
    case IL_HUMAN:
        return "human";
    case IL_RUNTIME:
        return "runtime";
    case IL_ENV:
        return "env";
    }
    return "unknown";
}

bool il_model_turn(const il_model *m, uint64_t vars, uint64_t *state) {
    for (; vars != 0; vars &= vars - 1) {
        const uint32_t v = (uint32_t)__builtin_ctzll(vars);
        const uint64_t bits = il_model_bits(m, v);
        if (((*state & bits) >> m->vars[v].shift) + 1 < m->vars[v].domain.size) {
            *state += UINT64_C(1) << m->vars[v].shift;
            return true;
        }
        *state &= ~bits;
    }
    return false;
}

bool il_model_valid(const il_model *m, uint64_t state) {
    if (m->bits < 64 && (state >> m->bits) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < m->nvars; i++) {
        if (il_model_get(m, state, i) >= m->vars[i].domain.size) {
            return false;
        }
    }
    return true;
}

uint32_t il_model_var(const il_model *m, il_str name) {
    for (uint32_t i = 0; i < m->nvars; i++) {
        if (il_str_eq(m->vars[i].name, name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t il_model_action(const il_model *m, il_str name) {
    for (uint32_t i = 0; i < m->nactions; i++) {
        if (il_str_eq(m->actions[i].name, name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t il_model_field(const il_model *m, uint32_t action, il_str name) {
    for (uint32_t i = 0; i < m->actions[action].nfields; i++) {
        if (il_str_eq(m->actions[action].fields[i], name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t il_model_action_of(const il_model *m, uint32_t symbol) {
    return symbol < m->nsymbols ? m->symbol_action[symbol] : UINT32_MAX;
}

uint32_t il_model_field_value(const il_model *m, uint32_t symbol, uint32_t field) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    return (symbol - a->first_symbol) / a->strides[field] % a->field_domains[field].size;
}

void il_model_symbol_text(const il_model *m, uint32_t symbol, il_buf *out) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    il_buf_put(out, a->name);
    il_buf_putc(out, '{');
    for (uint32_t f = 0; f < a->nfields; f++) {
        if (f > 0) {
            il_buf_putc(out, ',');
        }
        il_buf_put(out, a->fields[f]);
        il_buf_putc(out, '=');
        il_buf_put(out, a->field_domains[f].names[il_model_field_value(m, symbol, f)]);
    }
    il_buf_putc(out, '}');
}

void il_model_symbol_brief(const il_model *m, uint32_t symbol, il_buf *out) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    bool open = false;
    il_buf_put(out, a->name);
    for (uint32_t f = 0; f < a->nfields; f++) {
        uint32_t value = il_model_field_value(m, symbol, f);
        if (value == 0) {
            continue;
        }
        il_buf_putc(out, open ? ',' : '{');
        open = true;
        il_buf_put(out, a->fields[f]);
        if (a->field_domains[f].kind != IL_DOMAIN_BOOL) {
            il_buf_putc(out, '=');
            il_buf_put(out, a->field_domains[f].names[value]);
        }
    }
    if (open) {
        il_buf_putc(out, '}');
    }
}
