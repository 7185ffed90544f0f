/* SPDX-License-Identifier: Apache-2.0 */
/* YAML 1.1 (section 10.2 and the type repository) and the 1.2 core schema (section 10.3.2) read the forms below differently, or
 * differently from a string; only what both read alike is accepted. */
#include "yaml/scalar.h"

static bool scalar_digit(char c) { return c >= '0' && c <= '9'; }

/* Booleans, nulls and floats of either schema in any letter case, the 1.1 "value" and "merge" keys, and the sign that begins an item, which
 * stands alone only in `[ ]` and `{ }`. */
static bool scalar_word(il_str s) {
    static const char *const words[] = {"y", "n",  "yes", "no",   "on",    "off",   "true", "false", "null",
                                        "=", "<<", "-",   ".inf", "+.inf", "-.inf", ".nan", "+.nan", "-.nan"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (il_str_eq_nocase(s, il_str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

static size_t scalar_sign(il_str s) { return s.n > 0 && (s.p[0] == '+' || s.p[0] == '-') ? 1 : 0; }

/* Digits and underscores from i on; counts the digits. */
static size_t scalar_run(il_str s, size_t i, size_t *digits) {
    while (i < s.n && (scalar_digit(s.p[i]) || s.p[i] == '_')) {
        *digits += s.p[i] != '_';
        i++;
    }
    return i;
}

/* `012`, `+5`, `1_000`, `.5`, `5.`, `01e5`: decimal in one reader or another, and no JSON number. */
static bool scalar_decimal(il_str s) {
    size_t digits = 0;
    size_t i = scalar_run(s, scalar_sign(s), &digits);
    if (i < s.n && s.p[i] == '.') {
        i = scalar_run(s, i + 1, &digits);
    }
    if (digits == 0) {
        return false;
    }
    if (i + 1 < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        i += scalar_sign(il_str_part(s, i, s.n));
        const size_t exponent = i;
        while (i < s.n && scalar_digit(s.p[i])) {
            i++;
        }
        return i == s.n && i > exponent;
    }
    return i == s.n;
}

/* `0x1f`, `0o17`, `0b11` */
static bool scalar_based(il_str s) {
    const size_t at = scalar_sign(s);
    if (s.n < at + 3 || s.p[at] != '0') {
        return false;
    }
    const char base = (char)(s.p[at + 1] | 0x20);
    for (size_t i = at + 2; i < s.n; i++) {
        const char c = (char)(s.p[i] | 0x20);
        const bool fits = s.p[i] == '_' || (base == 'b' && (c == '0' || c == '1')) ||
                          (base == 'o' && s.p[i] >= '0' && s.p[i] <= '7') ||
                          (base == 'x' && (scalar_digit(s.p[i]) || (c >= 'a' && c <= 'f')));
        if (!fits) {
            return false;
        }
    }
    return true;
}

/* `1:30`, `12:30:45.5`: base 60 in YAML 1.1 */
static bool scalar_sixty(il_str s) {
    size_t colons = 0;
    size_t i = scalar_sign(s);
    for (;;) {
        size_t digits = 0;
        i = scalar_run(s, i, &digits);
        if (digits == 0) {
            return false;
        }
        if (i == s.n || s.p[i] != ':') {
            break;
        }
        colons++;
        i++;
    }
    if (colons > 0 && i < s.n && s.p[i] == '.') {
        size_t digits = 0;
        i = scalar_run(s, i + 1, &digits);
    }
    return colons > 0 && i == s.n;
}

/* `2026-07-28`, alone or before a time: a timestamp in YAML 1.1 */
static bool scalar_date(il_str s) {
    size_t i = 0;
    for (size_t part = 0; part < 3; part++) {
        size_t digits = 0;
        while (i < s.n && scalar_digit(s.p[i]) && digits < 4) {
            digits++;
            i++;
        }
        if (part == 0 ? digits != 4 : digits < 1 || digits > 2) {
            return false;
        }
        if (part < 2 && (i == s.n || s.p[i++] != '-')) {
            return false;
        }
    }
    return i == s.n || s.p[i] == 'T' || s.p[i] == 't' || s.p[i] == ' ' || s.p[i] == '\t';
}

/* A brace is text here and a mapping one line further on, inside `[ ]`: patterns and templates that hold one are quoted. */
static bool scalar_brace(il_str s) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '{' || s.p[i] == '}') {
            return true;
        }
    }
    return false;
}

il_yaml_sense il_yaml_sense_of(il_str s) {
    if (s.n == 0 || il_str_eq(s, IL_STR("~")) || il_str_eq(s, IL_STR("null"))) {
        return IL_YAML_NULL;
    }
    if (il_str_eq(s, IL_STR("true"))) {
        return IL_YAML_TRUE;
    }
    if (il_str_eq(s, IL_STR("false"))) {
        return IL_YAML_FALSE;
    }
    if (il_json_is_number(s)) {
        return IL_YAML_NUMBER;
    }
    if (scalar_word(s) || scalar_decimal(s) || scalar_based(s) || scalar_sixty(s) || scalar_date(s) || scalar_brace(s)) {
        return IL_YAML_DOUBTFUL;
    }
    return IL_YAML_STRING;
}
