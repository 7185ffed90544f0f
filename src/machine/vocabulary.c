/* SPDX-License-Identifier: Apache-2.0 */
/* Payload words, one reader and one chooser. A word the chooser cannot say in full makes it fail rather than say less. */
#include "machine/vocabulary.h"
#include "machine/machine_impl.h"

static bool words_is(il_str s, const char *z) { return il_str_eq(s, il_str_of(z)); }

static void words_read(il_symbol_words *w, il_str field, il_str value) {
    bool yes = words_is(value, "true");
    uint8_t reach = yes || words_is(value, "foreign") ? 2 : words_is(value, "bound") ? 1 : 0;
    if (words_is(field, "untrusted")) {
        w->untrusted = yes;
    } else if (words_is(field, "sensitive")) {
        w->sensitive = w->sensitive || yes;
    } else if (words_is(field, "secret")) {
        w->secret = yes;
        w->sensitive = w->sensitive || yes;
    } else if (words_is(field, "data")) {
        w->secret = words_is(value, "secret");
        w->sensitive = w->secret || words_is(value, "sensitive");
    } else if (words_is(field, "egress")) {
        w->bound = words_is(value, "once_bound") || words_is(value, "standing_bound");
        w->egress = words_is(value, "once") || words_is(value, "once_bound")           ? IL_SINK_ONCE
                    : words_is(value, "standing") || words_is(value, "standing_bound") ? IL_SINK_STANDING
                                                                                       : IL_SINK_NONE;
    } else if (words_is(field, "flight")) {
        w->flight = reach;
    } else if (words_is(field, "open")) {
        w->open = reach;
    } else if (words_is(field, "commit")) {
        w->commit = yes;
    } else if (words_is(field, "approved")) {
        w->approved = yes;
    } else if (words_is(field, "last")) {
        w->last = words_is(value, "egress") ? 1 : words_is(value, "crossing") ? 2 : 0;
    } else if (words_is(field, "slot")) {
        w->slot = words_is(value, "granted") ? 1 : 0;
    }
}

il_symbol_words il_model_words(const il_model *m, uint32_t symbol) {
    il_symbol_words w = {0};
    if (symbol < m->nsymbols) {
        const il_action_def *a = &m->actions[m->symbol_action[symbol]];
        for (uint32_t f = 0; f < a->nfields; f++) {
            words_read(&w, a->fields[f], a->field_domains[f].names[il_model_field_value(m, symbol, f)]);
        }
    }
    return w;
}

static bool words_has_field(const il_machine_action *a, const char *field) {
    for (uint32_t f = 0; f < a->nfields; f++) {
        if (words_is(a->fields[f].name, field)) {
            return true;
        }
    }
    return false;
}

/* The value of `field` that says `w`, or NULL when no word sets such a field. Alternatives stand best first, `;` between. */
static const char *words_value(il_str field, const il_symbol_words *w) {
    static const char *const egress[2][3] = {{"none", "once", "standing"},
                                             {"none", "once_bound;once", "standing_bound;standing"}};
    static const char *const reach[3] = {"none;false", "bound;foreign;true", "foreign;true"};
    static const char *const last[3] = {"none", "egress", "crossing"};
    static const char *const yes[2] = {"false", "true"};
    if (w->egress > IL_SINK_STANDING || w->flight > 2 || w->open > 2 || w->last > 2 || w->slot > 1) {
        return NULL;
    }
    if (words_is(field, "untrusted")) {
        return yes[w->untrusted];
    }
    if (words_is(field, "sensitive")) {
        return yes[w->sensitive || w->secret];
    }
    if (words_is(field, "secret")) {
        return yes[w->secret];
    }
    if (words_is(field, "data")) {
        return w->secret ? "secret;sensitive" : w->sensitive ? "sensitive" : "none";
    }
    if (words_is(field, "egress")) {
        return egress[w->bound][w->egress];
    }
    if (words_is(field, "flight")) {
        return reach[w->flight];
    }
    if (words_is(field, "open")) {
        return reach[w->open];
    }
    if (words_is(field, "commit")) {
        return yes[w->commit];
    }
    if (words_is(field, "approved")) {
        return yes[w->approved];
    }
    if (words_is(field, "last")) {
        return last[w->last];
    }
    if (words_is(field, "slot")) {
        return w->slot ? "granted" : "asked";
    }
    return NULL;
}

static uint32_t words_place(const il_machine_field *f, const char *alternatives) {
    il_str rest = il_str_of(alternatives);
    while (rest.n > 0) {
        size_t end = il_str_find(rest, IL_STR(";"), 0);
        il_str one = il_str_part(rest, 0, end == SIZE_MAX ? rest.n : end);
        for (uint32_t i = 0; i < f->nvalues; i++) {
            if (il_str_eq(f->values[i], one)) {
                return i;
            }
        }
        if (end == SIZE_MAX) {
            break;
        }
        rest = il_str_part(rest, end + 1, rest.n);
    }
    return UINT32_MAX;
}

/* Whether the action can say every word that is set; only `commit`, `bound` and `secret` may lack a field of their own. */
static bool words_sayable(const il_machine_action *a, const il_symbol_words *w) {
    return (!w->untrusted || words_has_field(a, "untrusted")) &&
           (!(w->sensitive || w->secret) || words_has_field(a, "data") || words_has_field(a, "sensitive")) &&
           (w->egress == IL_SINK_NONE || words_has_field(a, "egress")) && (w->flight == 0 || words_has_field(a, "flight")) &&
           (w->open == 0 || words_has_field(a, "open")) && (!w->approved || words_has_field(a, "approved")) &&
           (w->last == 0 || words_has_field(a, "last")) && (w->slot == 0 || words_has_field(a, "slot"));
}

uint32_t il_machine_words_symbol(const il_machine *m, il_str action, const il_symbol_words *words) {
    for (uint32_t i = 0; m && i < m->nactions; i++) {
        const il_machine_action *a = &m->actions[i];
        if (!il_str_eq(a->name, action)) {
            continue;
        }
        if (!words_sayable(a, words)) {
            return IL_NO_SYMBOL;
        }
        uint32_t symbol = a->first;
        for (uint32_t f = 0; f < a->nfields; f++) {
            const char *value = words_value(a->fields[f].name, words);
            uint32_t place = value ? words_place(&a->fields[f], value) : UINT32_MAX;
            if (place == UINT32_MAX) {
                return IL_NO_SYMBOL;
            }
            symbol += place * a->fields[f].stride;
        }
        return symbol;
    }
    return IL_NO_SYMBOL;
}
