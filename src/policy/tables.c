/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tables.h"

#define IL_TABLES_MAX 1024u

static const char *const il_tables_words[IL_TABLES_CLASSES] = {"secret", "untrusted", "public"};

bool il_tables_class_find(il_str word, il_tables_class *out) {
    for (uint32_t i = 0; i < IL_TABLES_CLASSES; i++) {
        if (il_str_eq(word, il_str_of(il_tables_words[i]))) {
            *out = (il_tables_class)i;
            return true;
        }
    }
    return false;
}

/* Letters, digits, `_`, `$`, one dot between schema and table, and `*` for any run of characters. */
static bool il_tables_pattern_ok(il_str text) {
    size_t dots = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        dots += c == '.' ? 1u : 0u;
        if (!letter && c != '_' && c != '$' && c != '*' && (c != '.' || i == 0 || i + 1 == text.n)) {
            return false;
        }
    }
    return text.n > 0 && text.n <= 128 && dots <= 1;
}

static il_status il_tables_class_load(const il_json *v, il_arena *arena, il_tables *out, il_error *err) {
    if (il_json_kind_of(v) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is a list of tables, `[]` for none", IL_STR_ARG(il_json_key(v)));
    }
    if (il_json_count(v) > IL_TABLES_MAX) {
        return IL_JSON_FAIL(v, err, IL_E_LIMIT, "more than %u tables", IL_TABLES_MAX);
    }
    out->said = true;
    out->patterns = IL_NEW_ARRAY(arena, il_str, il_json_count(v) + 1);
    if (out->patterns == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *t = il_json_first(v); t != NULL; t = il_json_next(t)) {
        if (il_json_kind_of(t) != IL_JSON_STRING || !il_tables_pattern_ok(il_json_text(t))) {
            return IL_JSON_FAIL(t, err, IL_E_INVALID,
                                "a table is `users`, `auth.*` or `*_tokens`: letters, digits, `_`, `*` and one dot");
        }
        IL_TRY(il_arena_copy(arena, il_json_text(t), &out->patterns[out->n++], err));
    }
    return IL_OK;
}

il_status il_tables_load(const il_json *v, il_arena *arena, il_tables *out, il_error *err) {
    il_str keys[IL_TABLES_CLASSES];
    for (uint32_t i = 0; i < IL_TABLES_CLASSES; i++) {
        keys[i] = il_str_of(il_tables_words[i]);
        out[i] = (il_tables){0};
    }
    if (v == NULL) {
        return IL_OK;
    }
    IL_TRY(il_json_only(v, keys, IL_TABLES_CLASSES, "`sql` of a server", err));
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        il_tables_class class = IL_TABLES_SECRET;
        if (il_tables_class_find(il_json_key(c), &class)) {
            IL_TRY(il_tables_class_load(c, arena, &out[class], err));
        }
    }
    return IL_OK;
}
