/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/words.h"

static const char *const il_effect_words[IL_EFFECTS] = {"untrusted", "sensitive", "secret", "egress", "commit"};

il_str il_effect_name(uint32_t bit) {
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if (bit == (1u << i)) {
            return il_str_of(il_effect_words[i]);
        }
    }
    return (il_str){0};
}

static il_status il_words_unknown_effect(const il_json *v, uint32_t allowed, const char *what, il_error *err) {
    il_str text = il_json_text(v), nearest = {0};
    unsigned best = 3;
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        il_str word = il_str_of(il_effect_words[i]);
        if ((allowed & (1u << i)) != 0 && il_str_distance(word, text) < best) {
            best = il_str_distance(word, text);
            nearest = word;
        }
    }
    if (nearest.n > 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "%s: unknown word `%.*s`; did you mean `%.*s`?", what, IL_STR_ARG(text),
                            IL_STR_ARG(nearest));
    }
    char words[96];
    size_t n = 0;
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if ((allowed & (1u << i)) != 0) {
            const bool last = (allowed >> (i + 1)) == 0;
            n += il_format(words + n, sizeof words - n, "%s`%s`", n == 0 ? "" : last ? " and " : ", ", il_effect_words[i]);
        }
    }
    return IL_JSON_FAIL(v, err, IL_E_INVALID, "%s: `%.*s` cannot stand here; what can are %s", what, IL_STR_ARG(text), words);
}

il_status il_words_effects(const il_json *list, uint32_t allowed, const char *what, uint32_t *out, il_error *err) {
    *out = 0;
    if (il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, err, IL_E_INVALID, "%s is a list of words, `[]` for none", what);
    }
    for (const il_json *v = il_json_first(list); v != NULL; v = il_json_next(v)) {
        uint32_t bit = 0;
        for (uint32_t i = 0; i < IL_EFFECTS; i++) {
            if (il_json_kind_of(v) == IL_JSON_STRING && il_str_eq(il_json_text(v), il_str_of(il_effect_words[i]))) {
                bit = 1u << i;
            }
        }
        if ((bit & allowed) == 0) {
            return il_words_unknown_effect(v, allowed, what, err);
        }
        if ((*out & bit) != 0) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "%s: `%.*s` stands there twice", what, IL_STR_ARG(il_json_text(v)));
        }
        *out |= bit;
    }
    return IL_OK;
}

il_status il_words_unsupported(const il_json *member, il_error *err) {
    return il_error_at(err, IL_E_INVALID, member->key_line, member->key_col, member->key_offset,
                       "`%.*s` is not supported yet; take it out, nothing is ignored", IL_STR_ARG(member->key));
}

il_status il_words_duration(const il_json *v, uint64_t *ms, il_error *err) {
    static const struct {
        char letter;
        uint64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}};
    il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (text.n > 1 && text.n < 8 && text.p[text.n - 1] == units[i].letter &&
            il_str_int(il_str_part(text, 0, text.n - 1), &count) && count > 0 &&
            (uint64_t)count <= 7 * units[3].ms / units[i].ms) {
            *ms = (uint64_t)count * units[i].ms;
            return IL_OK;
        }
    }
    return IL_JSON_FAIL(v, err, IL_E_INVALID, "a time is a whole number with s, m, h or d, such as `10m`, of at most 7d");
}

il_status il_words_mode(const il_json *v, il_mode *out, il_error *err) {
    const il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    *out = il_str_eq(text, IL_STR("monitor")) ? IL_MODE_MONITOR : IL_MODE_ENFORCE;
    if (*out == IL_MODE_ENFORCE && !il_str_eq(text, IL_STR("enforce"))) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`mode` is `enforce` or `monitor`");
    }
    return IL_OK;
}
