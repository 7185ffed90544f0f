/* SPDX-License-Identifier: Apache-2.0 */
#include "check/maker.h"

static il_json *maker_made(il_maker *k, il_json *v) {
    k->failed = k->failed || !v;
    return v;
}

il_json *il_maker_object(il_maker *k) { return maker_made(k, il_json_make(k->arena, IL_JSON_OBJECT)); }
il_json *il_maker_list(il_maker *k) { return maker_made(k, il_json_make(k->arena, IL_JSON_ARRAY)); }
il_json *il_maker_null(il_maker *k) { return maker_made(k, il_json_make(k->arena, IL_JSON_NULL)); }
il_json *il_maker_truth(il_maker *k, bool v) { return maker_made(k, il_json_boolean(k->arena, v)); }
il_json *il_maker_number(il_maker *k, uint64_t v) { return maker_made(k, il_json_number(k->arena, (int64_t)v)); }
il_json *il_maker_text(il_maker *k, il_str s) { return s.n ? maker_made(k, il_json_string(k->arena, s)) : il_maker_null(k); }
il_json *il_maker_word(il_maker *k, const char *z) { return il_maker_text(k, z ? il_str_of(z) : (il_str){0}); }

void il_maker_set(il_maker *k, il_json *object, const char *key, il_json *v) {
    k->failed = !il_json_set(object, il_str_of(key), v) || k->failed;
}

void il_maker_push(il_maker *k, il_json *list, il_json *v) { k->failed = !il_json_push(list, v) || k->failed; }

il_json *il_maker_state(il_maker *k, uint64_t state) {
    char text[24];
    il_str s = {0};
    const size_t n = il_format(text, sizeof text, "%016llx", (unsigned long long)state);
    k->failed = il_arena_copy(k->arena, (il_str){text, n}, &s, NULL) != IL_OK || k->failed;
    return il_maker_text(k, s);
}

il_json *il_maker_symbol(il_maker *k, const il_model *m, uint32_t symbol) {
    il_buf b;
    il_str s = {0};
    if (symbol >= m->nsymbols) {
        return il_maker_null(k);
    }
    il_buf_init(&b, k->arena, 4096);
    il_model_symbol_brief(m, symbol, &b);
    k->failed = il_buf_done(&b, &s, NULL) != IL_OK || k->failed;
    return il_maker_text(k, s);
}

il_json *il_maker_values(il_maker *k, const il_model *m, uint64_t state) {
    il_json *o = il_maker_object(k);
    for (uint32_t v = 0; v < m->nvars; v++) {
        const uint32_t value = il_model_get(m, state, v);
        if (value != 0) {
            k->failed = !il_json_set(o, m->vars[v].name, il_maker_text(k, m->vars[v].domain.names[value])) || k->failed;
        }
    }
    return o;
}

il_status il_maker_done(const il_maker *k, il_error *err) { return k->failed ? il_arena_fail(k->arena, err) : IL_OK; }
