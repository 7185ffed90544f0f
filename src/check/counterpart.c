/* SPDX-License-Identifier: Apache-2.0 */
#include "check/counterpart.h"

#include "machine/vocabulary.h"

#define COUNTERPART_SEARCHED 4096u /* symbols of an action that are compared one by one */

static uint32_t counterpart_place(const il_domain *from, uint32_t value, const il_domain *to) {
    for (uint32_t i = 0; i < to->size; i++) {
        if (il_str_eq(to->names[i], from->names[value])) {
            return i;
        }
    }
    if (from->kind == IL_DOMAIN_BOOL) {
        return value ? to->size - 1 : 0;
    }
    if (to->kind == IL_DOMAIN_BOOL) {
        return value ? 1 : 0;
    }
    return UINT32_MAX;
}

/* Field by field. What only this action says must be at its first value. */
static uint32_t counterpart_exact(const il_model *from, uint32_t symbol, const il_model *to, uint32_t action) {
    const il_action_def *a = &from->actions[from->symbol_action[symbol]];
    const il_action_def *b = &to->actions[action];
    uint32_t out = b->first_symbol;
    for (uint32_t f = 0; f < a->nfields; f++) {
        const uint32_t value = il_model_field_value(from, symbol, f);
        const uint32_t field = il_model_field(to, action, a->fields[f]);
        if (field == UINT32_MAX) {
            if (value != 0) {
                return IL_NO_SYMBOL;
            }
            continue;
        }
        const uint32_t place = counterpart_place(&a->field_domains[f], value, &b->field_domains[field]);
        if (place == UINT32_MAX) {
            return IL_NO_SYMBOL;
        }
        out += place * b->strides[field];
    }
    return out;
}

static bool counterpart_knows(const il_model *m, uint32_t action, const char *field, const char *value) {
    const uint32_t f = il_model_field(m, action, il_str_of(field));
    if (f == UINT32_MAX || !value) {
        return f != UINT32_MAX;
    }
    const il_domain *d = &m->actions[action].field_domains[f];
    for (uint32_t i = 0; i < d->size; i++) {
        if (il_str_eq(d->names[i], il_str_of(value))) {
            return true;
        }
    }
    return false;
}

/* What of these words the action can say: the three that may be lost are. */
static il_symbol_words counterpart_say(il_symbol_words w, const il_model *to, uint32_t action) {
    const bool secret = counterpart_knows(to, action, "secret", NULL) || counterpart_knows(to, action, "data", "secret");
    w.commit = w.commit && counterpart_knows(to, action, "commit", NULL);
    w.sensitive = w.sensitive || w.secret;
    w.secret = w.secret && secret;
    w.bound = w.bound && counterpart_knows(to, action, "egress", w.egress == IL_SINK_STANDING ? "standing_bound" : "once_bound");
    w.flight = w.flight == 1 && !counterpart_knows(to, action, "flight", "bound") ? 2 : w.flight;
    w.open = w.open == 1 && !counterpart_knows(to, action, "open", "bound") ? 2 : w.open;
    return w;
}

static bool counterpart_same(const il_symbol_words *a, const il_symbol_words *b) {
    return a->untrusted == b->untrusted && a->sensitive == b->sensitive && a->secret == b->secret && a->egress == b->egress &&
           a->bound == b->bound && a->flight == b->flight && a->open == b->open && a->commit == b->commit &&
           a->approved == b->approved && a->last == b->last && a->slot == b->slot;
}

/* Only where every field is a word of effects: another field might be what the step turns on. */
static bool counterpart_worded(const il_model *m, uint32_t action) {
    static const char *const words[] = {"untrusted", "sensitive", "secret",   "data", "egress", "flight",
                                        "open",      "commit",    "approved", "last", "slot"};
    bool all = m->actions[action].nfields > 0;
    for (uint32_t f = 0; f < m->actions[action].nfields; f++) {
        bool known = false;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            known = known || il_str_eq(m->actions[action].fields[f], il_str_of(words[i]));
        }
        all = all && known;
    }
    return all;
}

static uint32_t counterpart_words(const il_model *from, uint32_t symbol, const il_model *to, uint32_t action) {
    const il_action_def *b = &to->actions[action];
    if (b->nsymbols > COUNTERPART_SEARCHED || !counterpart_worded(from, from->symbol_action[symbol]) ||
        !counterpart_worded(to, action)) {
        return IL_NO_SYMBOL;
    }
    const il_symbol_words want = counterpart_say(il_model_words(from, symbol), to, action);
    for (uint32_t i = 0; i < b->nsymbols; i++) {
        il_symbol_words have = il_model_words(to, b->first_symbol + i);
        have.sensitive = have.sensitive || have.secret;
        if (counterpart_same(&want, &have)) {
            return b->first_symbol + i;
        }
    }
    return IL_NO_SYMBOL;
}

static il_status counterpart_symbols(il_counterpart *c, il_arena *arena, il_error *err) {
    c->symbols = IL_NEW_ARRAY(arena, uint32_t, c->from->nsymbols);
    c->reached = IL_NEW_ARRAY(arena, bool, c->to->nsymbols);
    if (!c->symbols || !c->reached) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < c->from->nsymbols; i++) {
        const uint32_t action = il_model_action(c->to, c->from->actions[c->from->symbol_action[i]].name);
        c->symbols[i] = action == UINT32_MAX ? IL_NO_SYMBOL : counterpart_exact(c->from, i, c->to, action);
        if (c->symbols[i] == IL_NO_SYMBOL && action != UINT32_MAX) {
            c->symbols[i] = counterpart_words(c->from, i, c->to, action);
        }
        if (c->symbols[i] != IL_NO_SYMBOL) {
            c->reached[c->symbols[i]] = true;
        }
    }
    return IL_OK;
}

il_status il_counterpart_init(il_counterpart *c, il_arena *arena, const il_model *from, const il_model *to, il_error *err) {
    *c = (il_counterpart){.from = from, .to = to};
    c->vars = IL_NEW_ARRAY(arena, uint32_t, from->nvars);
    c->values = IL_NEW_ARRAY(arena, uint32_t *, from->nvars);
    if (!c->vars || !c->values) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t v = 0; v < from->nvars; v++) {
        const il_domain *d = &from->vars[v].domain;
        c->vars[v] = il_model_var(to, from->vars[v].name);
        c->values[v] = IL_NEW_ARRAY(arena, uint32_t, d->size);
        if (!c->values[v]) {
            return il_arena_fail(arena, err);
        }
        for (uint32_t i = 0; c->vars[v] != UINT32_MAX && i < d->size; i++) {
            c->values[v][i] = counterpart_place(d, i, &to->vars[c->vars[v]].domain);
        }
    }
    return counterpart_symbols(c, arena, err);
}

uint64_t il_counterpart_state(const il_counterpart *c, uint64_t state, uint32_t *lost) {
    uint64_t out = c->to->initial;
    uint32_t first = UINT32_MAX;
    for (uint32_t v = 0; v < c->from->nvars; v++) {
        if (c->vars[v] == UINT32_MAX) {
            continue;
        }
        const uint32_t value = il_model_get(c->from, state, v);
        const uint32_t place = value < c->from->vars[v].domain.size ? c->values[v][value] : UINT32_MAX;
        if (place == UINT32_MAX) {
            first = first == UINT32_MAX ? v : first;
        } else {
            out = il_model_set(c->to, out, c->vars[v], place);
        }
    }
    if (lost) {
        *lost = first;
    }
    return out;
}

uint32_t il_counterpart_rule(const il_model *to, il_str name) {
    for (uint32_t i = 0; i < to->nrules; i++) {
        if (il_str_eq(to->rules[i].name, name)) {
            return i + 1;
        }
    }
    return 0;
}
