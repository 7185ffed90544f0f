/* SPDX-License-Identifier: Apache-2.0 */
/* The one step function, and what an opened table can be asked. */
#include "machine/machine_impl.h"

/* The row of a state plus 1, 0 when the table has none. Ends: most slots are empty. */
static uint32_t machine_row(const il_machine *m, uint64_t state) {
    uint32_t at = il_table_slot(state, m->index_bits);
    /*@ loop invariant at <= m->index_mask;
        loop assigns at; */
    while (m->index[at].state != state && m->index[at].row != 0) {
        at = (at + 1) & m->index_mask;
    }
    return m->index[at].row;
}

il_step il_machine_step(const il_machine *m, uint64_t state, uint32_t symbol) {
    il_step s = {.next = state, .verdict = IL_REJECT, .reason = IL_REASON_OFF_TABLE};
    uint32_t row = m ? machine_row(m, state) : 0;
    if (row == 0) {
        return s;
    }
    if (symbol >= m->nsymbols) {
        s.reason = IL_REASON_NO_SYMBOL;
        return s;
    }
    /*@ assert last: 0 <= (row - 1) * m->nsymbols && row * m->nsymbols <= area(m->nstates, m->nsymbols); */
    size_t place = (size_t)(row - 1) * m->nsymbols + symbol;
    /*@ assert place == (row - 1) * m->nsymbols + symbol; */
    /*@ assert fine_row(m, row - 1); */
    /*@ assert fine_cell(m, row - 1, symbol); */
    uint32_t cell = il_table_u32(m->cells + place * 4);
    /*@ assert cell == cell_at(m, row - 1, symbol); */
    s.verdict = (uint8_t)IL_CELL_VERDICT(cell);
    s.reason = IL_CELL_REASON(cell);
    /* Chosen as a row and then read: whether a step is accepted is no branch that a processor would have to guess. */
    uint32_t after = s.verdict == IL_ACCEPT ? IL_CELL_POST(cell) : row - 1;
    s.next = il_table_u64(m->states + (size_t)after * 8);
    /*@ assert s.verdict == IL_ACCEPT ==> accepted(m, row - 1, state, symbol, s.next); */
    return s;
}

il_str il_machine_name(const il_machine *m) { return m ? m->name : (il_str){0}; }

void il_machine_digest(const il_machine *m, uint8_t out[IL_DIGEST_BYTES]) {
    if (m) {
        memcpy(out, m->digest, IL_DIGEST_BYTES);
    } else {
        memset(out, 0, IL_DIGEST_BYTES);
    }
}

uint64_t il_machine_initial(const il_machine *m) { return m ? il_table_u64(m->states + (size_t)m->initial * 8) : 0; }
uint32_t il_machine_states(const il_machine *m) { return m ? m->nstates : 0; }
uint32_t il_machine_symbols(const il_machine *m) { return m ? m->nsymbols : 0; }

uint64_t il_machine_state(const il_machine *m, uint32_t i) {
    return m && i < m->nstates ? il_table_u64(m->states + (size_t)i * 8) : 0;
}

il_str il_machine_reason(const il_machine *m, uint8_t reason) {
    if (reason == IL_REASON_OFF_TABLE) {
        return IL_STR("off-table");
    }
    if (reason == IL_REASON_NO_SYMBOL) {
        return IL_STR("no-symbol");
    }
    return m && reason > 0 && reason <= m->nrules ? m->rules[reason - 1].name : (il_str){0};
}

bool il_machine_releasable(const il_machine *m, uint8_t reason) {
    return m && reason > 0 && reason <= m->nrules && m->rules[reason - 1].releasable;
}

uint32_t il_machine_vars(const il_machine *m) { return m ? m->nvars : 0; }
il_str il_machine_var_name(const il_machine *m, uint32_t var) { return m && var < m->nvars ? m->vars[var].name : (il_str){0}; }

uint32_t il_machine_var_find(const il_machine *m, il_str name) {
    for (uint32_t i = 0; m && i < m->nvars; i++) {
        if (il_str_eq(m->vars[i].name, name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t il_machine_value(const il_machine *m, uint64_t state, uint32_t var) {
    if (!m || var >= m->nvars) {
        return 0;
    }
    return (uint32_t)((state >> m->vars[var].shift) & ((UINT64_C(1) << m->vars[var].bits) - 1));
}

il_str il_machine_value_name(const il_machine *m, uint32_t var, uint32_t value) {
    return m && var < m->nvars && value < m->vars[var].nvalues ? m->vars[var].values[value] : (il_str){0};
}

static uint32_t machine_place(const il_machine_field *f, il_str value) {
    for (uint32_t i = 0; i < f->nvalues; i++) {
        if (il_str_eq(f->values[i], value)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t il_machine_action_symbol(const il_machine *m, il_str action, const il_payload *payload, size_t n) {
    for (uint32_t i = 0; m && i < m->nactions; i++) {
        const il_machine_action *a = &m->actions[i];
        if (!il_str_eq(a->name, action)) {
            continue;
        }
        uint32_t symbol = a->first;
        uint32_t given = 0;
        for (size_t k = 0; k < n; k++) {
            for (uint32_t f = 0; f < a->nfields; f++) {
                if (il_str_eq(a->fields[f].name, payload[k].field)) {
                    uint32_t place = machine_place(&a->fields[f], payload[k].value);
                    if (place == UINT32_MAX || (given >> f & 1)) {
                        return IL_NO_SYMBOL;
                    }
                    given |= 1u << f;
                    symbol += place * a->fields[f].stride;
                }
            }
        }
        bool all = n == a->nfields && given == (a->nfields == 0 ? 0 : (UINT32_C(1) << a->nfields) - 1);
        return all ? symbol : IL_NO_SYMBOL;
    }
    return IL_NO_SYMBOL;
}

static size_t machine_append(char *out, size_t cap, size_t at, il_str s) {
    for (size_t i = 0; i < s.n && at + 1 < cap; i++) {
        out[at++] = s.p[i];
    }
    return at;
}

size_t il_machine_symbol_text(const il_machine *m, uint32_t symbol, char *out, size_t cap) {
    size_t at = 0;
    if (cap == 0) {
        return 0;
    }
    for (uint32_t i = 0; m && i < m->nactions; i++) {
        const il_machine_action *a = &m->actions[i];
        if (symbol < a->first || symbol - a->first >= a->nsymbols) {
            continue;
        }
        at = machine_append(out, cap, at, a->name);
        at = machine_append(out, cap, at, IL_STR("{"));
        for (uint32_t f = 0; f < a->nfields; f++) {
            uint32_t place = (symbol - a->first) / a->fields[f].stride % a->fields[f].nvalues;
            at = machine_append(out, cap, at, f > 0 ? IL_STR(",") : (il_str){0});
            at = machine_append(out, cap, at, a->fields[f].name);
            at = machine_append(out, cap, at, IL_STR("="));
            at = machine_append(out, cap, at, a->fields[f].values[place]);
        }
        at = machine_append(out, cap, at, IL_STR("}"));
    }
    out[at] = '\0';
    return at;
}
