/* SPDX-License-Identifier: Apache-2.0 */
/* What a backslash begins: one code point, or a named class. */
#include "cel/regex_part.h"

#include "base/hidden.h"
#include "base/utf8.h"

static int escape_hex(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \x41 or \x{10FFFF}; `at` is behind the x. */
static il_status escape_hexadecimal(il_regex_reader *in, size_t begin, uint32_t *out) {
    const bool braces = in->at < in->text.n && in->text.p[in->at] == '{';
    uint32_t v = 0;
    unsigned digits = 0;
    in->at += braces;
    for (; in->at < in->text.n && (braces || digits < 2); digits++, in->at++) {
        const int digit = escape_hex(in->text.p[in->at]);
        if (digit < 0) {
            break;
        }
        v = v * 16 + (uint32_t)digit;
        if (v > IL_REGEX_LAST_POINT) {
            return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "`\\x{...}` beyond 10FFFF, the last code point");
        }
    }
    if (braces ? digits == 0 || in->at == in->text.n || in->text.p[in->at] != '}' : digits < 2) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "`\\x` takes two hexadecimal digits, or `{`, hexadecimal digits and `}`");
    }
    in->at += braces;
    *out = v;
    return IL_OK;
}

il_status il_regex_escape(il_regex_reader *in, uint32_t *out) {
    static const char letters[] = "a\af\fn\nr\rt\tv\v";
    const size_t begin = in->at++;
    if (in->at == in->text.n) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "nothing after `\\`; write `\\\\` for a backslash");
    }
    const size_t at = in->at;
    const uint32_t c = il_regex_point(in);
    const bool octal_follows = in->at < in->text.n && in->text.p[in->at] >= '0' && in->text.p[in->at] <= '7';
    if (c == '0' || (c >= '1' && c <= '7' && octal_follows)) {
        *out = c - '0';
        for (unsigned i = 0; i < 2 && in->at < in->text.n && in->text.p[in->at] >= '0' && in->text.p[in->at] <= '7'; i++) {
            *out = *out * 8 + (uint32_t)(in->text.p[in->at++] - '0');
        }
        return IL_OK;
    }
    if (c >= '1' && c <= '9') {
        return IL_REGEX_FAIL(in, begin, IL_E_INVALID, "backreference `\\%c` is not supported", (char)c);
    }
    if (c == 'x') {
        return escape_hexadecimal(in, begin, out);
    }
    for (size_t i = 0; letters[i] != '\0'; i += 2) {
        if (c == (unsigned char)letters[i]) {
            *out = (unsigned char)letters[i + 1];
            return IL_OK;
        }
    }
    if (c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "unknown escape `\\%.*s`", (int)(in->at - at), in->text.p + at);
    }
    *out = c;
    return IL_OK;
}

il_status il_regex_class_named(il_regex_reader *in, il_regex_class *c, il_regex_class *named, bool negated) {
    if (in->fold) { /* all but a class and its case variants: folding what is left would bring the class back */
        IL_TRY(il_regex_fold(in, named));
    }
    IL_TRY(il_regex_spend(in, 1 + named->n));
    return (!negated || il_regex_class_negate(in->tmp, named)) && il_regex_class_join(in->tmp, c, named)
               ? IL_OK
               : il_regex_no_memory(in->tmp, in->err);
}

/* \pN, \p{Greek}, \P{Greek}, \p{^Greek}. */
static il_status escape_property(il_regex_reader *in, il_regex_class *c) {
    const size_t begin = in->at;
    bool negated = in->text.p[begin + 1] == 'P', memory = false;
    in->at += 2;
    if (in->at == in->text.n) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "nothing after `\\%c`; a name belongs there, as in `\\p{Greek}`",
                             in->text.p[begin + 1]);
    }
    il_str name = {in->text.p + in->at, 0};
    if (il_regex_point(in) != '{') {
        name.n = (size_t)(in->text.p + in->at - name.p);
    } else {
        const size_t close = il_str_find(in->text, IL_STR("}"), in->at);
        if (close == SIZE_MAX) {
            return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "missing `}` after `\\%c{`", in->text.p[begin + 1]);
        }
        name = il_str_part(in->text, in->at, close);
        in->at = close + 1;
    }
    il_regex_class named = {0};
    il_str plain = name;
    IL_TRY(il_regex_spend(in, il_regex_categories_n));
    if (plain.n > 0 && plain.p[0] == '^') {
        negated = !negated;
        plain = il_str_part(plain, 1, plain.n);
    }
    if (!il_regex_property(in->tmp, plain, &named, &memory) && !memory) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX,
                             "`%.*s` is no Unicode category or script; there are for example `Lu`, `N`, `Greek`, `Any`",
                             IL_STR_ARG(plain));
    }
    return memory ? il_regex_no_memory(in->tmp, in->err) : il_regex_class_named(in, c, &named, negated);
}

il_status il_regex_escape_class(il_regex_reader *in, il_regex_class *c, bool *found) {
    const char letter = in->text.n - in->at >= 2 && in->text.p[in->at] == '\\' ? in->text.p[in->at + 1] : '\0';
    const char lower = (char)(letter | 0x20);
    *found = true;
    if (lower == 'p') {
        return escape_property(in, c);
    }
    if (lower != 'd' && lower != 's' && lower != 'w') {
        *found = false;
        return IL_OK;
    }
    const char name[2] = {'\\', lower};
    il_regex_class named = {0};
    bool memory = false;
    in->at += 2;
    if (!il_regex_posix(in->tmp, (il_str){name, 2}, &named, &memory)) {
        return il_regex_no_memory(in->tmp, in->err);
    }
    return il_regex_class_named(in, c, &named, letter != lower);
}
