/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lex.h"

#include "base/utf8.h"

uint32_t il_cel_line(const il_cel_source *src, size_t offset) {
    uint32_t line = src->line;
    for (size_t i = 0; i < offset && i < src->text.n; i++) {
        line += src->text.p[i] == '\n' ? 1u : 0u;
    }
    return line;
}

uint32_t il_cel_col(const il_cel_source *src, size_t offset) {
    uint32_t col = src->col;
    for (size_t i = 0; i < offset && i < src->text.n; i++) {
        unsigned char c = (unsigned char)src->text.p[i];
        if (c == '\n') {
            col = 1;
        } else if ((c & 0xC0) != 0x80) {
            col++;
        }
    }
    return col;
}

uint32_t il_cel_span(const il_cel_source *src, size_t from, size_t to) {
    uint32_t span = 0;
    for (size_t i = from; i < to && i < src->text.n && src->text.p[i] != '\n'; i++) {
        span += ((unsigned char)src->text.p[i] & 0xC0) != 0x80;
    }
    return span;
}

static bool lex_digit(int c) { return c >= '0' && c <= '9'; }
static bool lex_name_start(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool lex_name_part(int c) { return lex_name_start(c) || lex_digit(c); }
static int lex_hex(int c) {
    if (lex_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The byte at `i`, or -1 past the end: a NUL is a byte like others. */
static int lex_at(const il_cel_source *src, size_t i) { return i < src->text.n ? (unsigned char)src->text.p[i] : -1; }

static size_t lex_skip_space(const il_cel_source *src, size_t i) {
    for (;;) {
        int c = lex_at(src, i);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
            i++;
        } else if (c == '/' && lex_at(src, i + 1) == '/') {
            while (i < src->text.n && src->text.p[i] != '\n') {
                i++;
            }
        } else {
            return i;
        }
    }
}

static il_cel_token_kind lex_word(il_str w) {
    static const struct {
        il_str word;
        il_cel_token_kind kind;
    } words[] = {
        {{"true", 4}, IL_CEL_T_TRUE},          {{"false", 5}, IL_CEL_T_FALSE},
        {{"null", 4}, IL_CEL_T_NULL},          {{"in", 2}, IL_CEL_T_IN},
        {{"as", 2}, IL_CEL_T_RESERVED},        {{"break", 5}, IL_CEL_T_RESERVED},
        {{"const", 5}, IL_CEL_T_RESERVED},     {{"continue", 8}, IL_CEL_T_RESERVED},
        {{"else", 4}, IL_CEL_T_RESERVED},      {{"for", 3}, IL_CEL_T_RESERVED},
        {{"function", 8}, IL_CEL_T_RESERVED},  {{"if", 2}, IL_CEL_T_RESERVED},
        {{"import", 6}, IL_CEL_T_RESERVED},    {{"let", 3}, IL_CEL_T_RESERVED},
        {{"loop", 4}, IL_CEL_T_RESERVED},      {{"package", 7}, IL_CEL_T_RESERVED},
        {{"namespace", 9}, IL_CEL_T_RESERVED}, {{"return", 6}, IL_CEL_T_RESERVED},
        {{"var", 3}, IL_CEL_T_RESERVED},       {{"void", 4}, IL_CEL_T_RESERVED},
        {{"while", 5}, IL_CEL_T_RESERVED},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (il_str_eq(words[i].word, w)) {
            return words[i].kind;
        }
    }
    return IL_CEL_T_NAME;
}

static il_status lex_number(il_cel_lexer *lex, il_cel_token *out, il_error *err) {
    const il_cel_source *src = lex->src;
    size_t start = lex->at, i = start;
    out->kind = IL_CEL_T_INT;
    if (lex_at(src, i) == '0' && (lex_at(src, i + 1) == 'x' || lex_at(src, i + 1) == 'X') && lex_hex(lex_at(src, i + 2)) >= 0) {
        i += 2;
        while (lex_hex(lex_at(src, i)) >= 0) {
            i++;
        }
    } else {
        while (lex_digit(lex_at(src, i))) {
            i++;
        }
        /* `1.` is an int and a dot: a double has digits after its dot. */
        if (lex_at(src, i) == '.' && lex_digit(lex_at(src, i + 1))) {
            out->kind = IL_CEL_T_DOUBLE;
            i++;
            while (lex_digit(lex_at(src, i))) {
                i++;
            }
        }
        if (lex_at(src, i) == 'e' || lex_at(src, i) == 'E') {
            size_t e = i + 1;
            if (lex_at(src, e) == '+' || lex_at(src, e) == '-') {
                e++;
            }
            if (lex_digit(lex_at(src, e))) {
                out->kind = IL_CEL_T_DOUBLE;
                while (lex_digit(lex_at(src, e))) {
                    e++;
                }
                i = e;
            }
        }
    }
    if (out->kind == IL_CEL_T_INT && (lex_at(src, i) == 'u' || lex_at(src, i) == 'U')) {
        out->kind = IL_CEL_T_UINT;
        i++;
    }
    if (lex_name_part(lex_at(src, i))) {
        while (lex_name_part(lex_at(src, i))) {
            i++;
        }
        return IL_CEL_FAIL_SPAN(src, start, i, err, IL_E_SYNTAX, "`%.*s` is not a number",
                                IL_STR_ARG(il_str_part(src->text, start, i)));
    }
    out->n = i - start;
    lex->at = i;
    return IL_OK;
}

/* `i` is at the opening quote; the prefix, if any, began at lex->at. */
static il_status lex_string(il_cel_lexer *lex, size_t i, bool raw, bool bytes, il_cel_token *out, il_error *err) {
    const il_cel_source *src = lex->src;
    int quote = lex_at(src, i);
    bool triple = lex_at(src, i + 1) == quote && lex_at(src, i + 2) == quote;
    size_t quotes = triple ? 3 : 1;
    i += quotes;
    out->kind = bytes ? IL_CEL_T_BYTES : IL_CEL_T_STRING;
    out->raw = raw;
    out->body = i;
    for (;;) {
        int c = lex_at(src, i);
        if (c < 0 || (!triple && (c == '\n' || c == '\r'))) {
            return IL_CEL_FAIL_SPAN(src, lex->at, i, err, IL_E_SYNTAX, "unterminated string; close it with `%s%c`",
                                    triple ? (quote == '"' ? "\"\"" : "''") : "", (char)quote);
        }
        if (c == '\\' && !raw) {
            i += 2; /* whatever is escaped does not end the string; il_cel_unescape judges it */
            continue;
        }
        if (c == quote && (!triple || (lex_at(src, i + 1) == quote && lex_at(src, i + 2) == quote))) {
            break;
        }
        i++;
    }
    out->body_n = i - out->body;
    out->n = i + quotes - out->offset;
    lex->at = i + quotes;
    return IL_OK;
}

static il_status lex_quoted_name(il_cel_lexer *lex, il_cel_token *out, il_error *err) {
    const il_cel_source *src = lex->src;
    size_t i = lex->at + 1;
    for (;;) {
        int c = lex_at(src, i);
        if (c == '`') {
            break;
        }
        if (!(lex_name_part(c) || c == '.' || c == '-' || c == '/' || c == ' ')) {
            return IL_CEL_FAIL(src, lex->at, err, IL_E_SYNTAX,
                               "a back-quoted field name holds letters, digits, `_`, `.`, `-`, `/` and spaces only");
        }
        i++;
    }
    out->kind = IL_CEL_T_QUOTED;
    out->body = lex->at + 1;
    out->body_n = i - out->body;
    if (out->body_n == 0) {
        return IL_CEL_FAIL(src, lex->at, err, IL_E_SYNTAX, "an empty field name");
    }
    out->n = i + 1 - out->offset;
    lex->at = i + 1;
    return IL_OK;
}

/* Where the code point at `i` ends. */
static size_t lex_point_end(const il_cel_source *src, size_t i) {
    i += i < src->text.n;
    while (i < src->text.n && ((unsigned char)src->text.p[i] & 0xC0) == 0x80) {
        i++;
    }
    return i;
}

/* Signs of other languages: no two signs of this one ever stand together like that. */
static il_status lex_foreign(const il_cel_source *src, size_t at, il_error *err) {
    static const struct {
        il_str sign;
        const char *here;
    } foreign[] = {
        {{"===", 3}, "did you mean `==`?"},
        {{"!==", 3}, "did you mean `!=`?"},
        {{"=>", 2}, "did you mean `>=`?"},
        {{"=<", 2}, "did you mean `<=`?"},
        {{"<>", 2}, "did you mean `!=`?"},
        {{"**", 2}, "there are no powers; multiply"},
        {{"~=", 2}, "did you mean `text.matches('pattern')`?"},
        {{"=~", 2}, "did you mean `text.matches('pattern')`?"},
        {{"??", 2}, "did you mean `x.?field.orValue(other)`?"},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (il_str_starts(il_str_part(src->text, at, src->text.n), foreign[i].sign)) {
            return IL_CEL_FAIL_SPAN(src, at, at + foreign[i].sign.n, err, IL_E_SYNTAX, "unexpected `%.*s`; %s",
                                    IL_STR_ARG(foreign[i].sign), foreign[i].here);
        }
    }
    return IL_OK;
}

il_status il_cel_lex(il_cel_lexer *lex, il_cel_token *out, il_error *err) {
    const il_cel_source *src = lex->src;
    lex->at = lex_skip_space(src, lex->at);
    *out = (il_cel_token){.kind = IL_CEL_T_END, .offset = lex->at};
    size_t at = lex->at;
    int c = lex_at(src, at), d = lex_at(src, at + 1);
    if (c < 0) {
        return IL_OK;
    }
    if (lex_name_start(c)) {
        /* r b rb br in either case, then a quote, begin a string. */
        size_t q = at;
        bool raw = false, bytes = false;
        for (; q < at + 2; q++) {
            int p = lex_at(src, q);
            if ((p == 'r' || p == 'R') && !raw) {
                raw = true;
            } else if ((p == 'b' || p == 'B') && !bytes) {
                bytes = true;
            } else {
                break;
            }
        }
        if (q > at && (lex_at(src, q) == '"' || lex_at(src, q) == '\'')) {
            return lex_string(lex, q, raw, bytes, out, err);
        }
        size_t i = at;
        while (lex_name_part(lex_at(src, i))) {
            i++;
        }
        out->n = i - at;
        out->kind = lex_word(il_str_part(src->text, at, i));
        lex->at = i;
        return IL_OK;
    }
    if (lex_digit(c) || (c == '.' && lex_digit(d))) {
        return lex_number(lex, out, err);
    }
    if (c == '"' || c == '\'') {
        return lex_string(lex, at, false, false, out, err);
    }
    if (c == '`') {
        return lex_quoted_name(lex, out, err);
    }
    static const struct {
        char c;
        il_cel_token_kind kind;
    } single[] = {
        {'(', IL_CEL_T_LPAREN}, {')', IL_CEL_T_RPAREN},   {'[', IL_CEL_T_LBRACKET}, {']', IL_CEL_T_RBRACKET},
        {'{', IL_CEL_T_LBRACE}, {'}', IL_CEL_T_RBRACE},   {'.', IL_CEL_T_DOT},      {',', IL_CEL_T_COMMA},
        {':', IL_CEL_T_COLON},  {'?', IL_CEL_T_QUESTION}, {'+', IL_CEL_T_PLUS},     {'-', IL_CEL_T_MINUS},
        {'*', IL_CEL_T_STAR},   {'/', IL_CEL_T_SLASH},    {'%', IL_CEL_T_PERCENT},  {'!', IL_CEL_T_NOT},
        {'<', IL_CEL_T_LT},     {'>', IL_CEL_T_GT},
    };
    IL_TRY(lex_foreign(src, at, err));
    out->n = 2;
    if (c == '=' && d == '=') {
        out->kind = IL_CEL_T_EQ;
    } else if (c == '!' && d == '=') {
        out->kind = IL_CEL_T_NE;
    } else if (c == '<' && d == '=') {
        out->kind = IL_CEL_T_LE;
    } else if (c == '>' && d == '=') {
        out->kind = IL_CEL_T_GE;
    } else if (c == '&' && d == '&') {
        out->kind = IL_CEL_T_AND;
    } else if (c == '|' && d == '|') {
        out->kind = IL_CEL_T_OR;
    } else {
        out->n = 1;
        for (size_t i = 0; i < sizeof single / sizeof single[0] && out->kind == IL_CEL_T_END; i++) {
            if (single[i].c == c) {
                out->kind = single[i].kind;
            }
        }
        if (out->kind == IL_CEL_T_END) {
            if (c == '=' || c == '&' || c == '|') {
                return IL_CEL_FAIL(src, at, err, IL_E_SYNTAX, "unexpected `%c`; did you mean `%c%c`?", (char)c, (char)c, (char)c);
            }
            const size_t end = lex_point_end(src, at); /* name the whole code point, not its first byte */
            return IL_CEL_FAIL(src, at, err, IL_E_SYNTAX, "unexpected `%.*s`", IL_STR_ARG(il_str_part(src->text, at, end)));
        }
    }
    lex->at = at + out->n;
    return IL_OK;
}

/* The digits of an INT or UINT token, up to `limit`. */
static bool lex_digits(il_str s, uint64_t limit, uint64_t *out) {
    uint64_t base = 10, v = 0;
    size_t i = 0;
    if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X')) {
        base = 16;
        i = 2;
    }
    for (; i < s.n; i++) {
        uint64_t digit = (uint64_t)lex_hex(s.p[i]);
        if (digit > limit || v > (limit - digit) / base) {
            return false;
        }
        v = v * base + digit;
    }
    *out = v;
    return true;
}

il_status il_cel_int_value(const il_cel_source *src, const il_cel_token *t, bool negative, int64_t *out, il_error *err) {
    il_str s = il_str_part(src->text, t->offset, t->offset + t->n);
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, v = 0;
    if (!lex_digits(s, limit, &v)) {
        size_t from = t->offset;
        while (negative && from > 0 && src->text.p[from] != '-') {
            from--;
        }
        return IL_CEL_FAIL_SPAN(src, from, t->offset + t->n, err, IL_E_SYNTAX, "`%s%.*s` does not fit an int (64 bits)",
                                negative ? "-" : "", IL_STR_ARG(s));
    }
    *out = !negative ? (int64_t)v : v == limit ? INT64_MIN : -(int64_t)v;
    return IL_OK;
}

il_status il_cel_uint_value(const il_cel_source *src, const il_cel_token *t, uint64_t *out, il_error *err) {
    il_str s = il_str_part(src->text, t->offset, t->offset + t->n - 1);
    if (!lex_digits(s, UINT64_MAX, out)) {
        return IL_CEL_FAIL_SPAN(src, t->offset, t->offset + t->n, err, IL_E_SYNTAX, "`%.*su` does not fit a uint (64 bits)",
                                IL_STR_ARG(s));
    }
    return IL_OK;
}

/* Where an escape of so many hexadecimal digits ends; before that, where they do. */
static size_t lex_escape_end(const il_cel_source *src, size_t at, size_t digits) {
    size_t end = at + 2;
    while (end < at + 2 + digits && lex_hex(lex_at(src, end)) >= 0) {
        end++;
    }
    return end;
}

/* The escape whose backslash stands at `at`; *end gets the offset after it. */
static il_status lex_escape(const il_cel_source *src, size_t at, bool bytes, uint32_t *value, size_t *end, il_error *err) {
    static const char plain[] = "a\ab\bf\fn\nr\rt\tv\v\\\\??\"\"''``";
    int c = lex_at(src, at + 1);
    for (size_t i = 0; i + 1 < sizeof plain; i += 2) {
        if (plain[i] == c) {
            *value = (unsigned char)plain[i + 1];
            *end = at + 2;
            return IL_OK;
        }
    }
    size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
        if (bytes && digits > 2) {
            return IL_CEL_FAIL_SPAN(src, at, lex_escape_end(src, at, digits), err, IL_E_SYNTAX,
                                    "`\\%c` is not allowed in bytes; write `\\x` escapes", (char)c);
        }
        uint32_t v = 0;
        for (size_t i = 0; i < digits; i++) {
            int h = lex_hex(lex_at(src, at + 2 + i));
            if (h < 0) {
                return IL_CEL_FAIL_SPAN(src, at, at + 2 + i, err, IL_E_SYNTAX, "`\\%c` needs %zu hexadecimal digits", (char)c,
                                        digits);
            }
            v = (v << 4) | (uint32_t)h;
        }
        if (v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) {
            return IL_CEL_FAIL_SPAN(src, at, at + 2 + digits, err, IL_E_SYNTAX, "`\\%c%.*s` is not a Unicode character", (char)c,
                                    IL_STR_ARG(il_str_part(src->text, at + 2, at + 2 + digits)));
        }
        *value = v;
        *end = at + 2 + digits;
        return IL_OK;
    }
    if (c >= '0' && c <= '3') {
        int d = lex_at(src, at + 2), e = lex_at(src, at + 3);
        if (d >= '0' && d <= '7' && e >= '0' && e <= '7') {
            *value = (uint32_t)((c - '0') * 64 + (d - '0') * 8 + (e - '0'));
            *end = at + 4;
            return IL_OK;
        }
        return IL_CEL_FAIL_SPAN(src, at, d >= '0' && d <= '7' ? at + 3 : at + 2, err, IL_E_SYNTAX,
                                "an octal escape has three digits, `\\000` to `\\377`");
    }
    return IL_CEL_FAIL_SPAN(src, at, lex_point_end(src, at + 1), err, IL_E_SYNTAX,
                            "unknown escape after `\\`; write `\\\\` for a backslash");
}

size_t il_cel_token_end(const il_cel_source *src, size_t offset) {
    il_cel_lexer lex = {src, offset};
    il_cel_token t;
    return il_cel_lex(&lex, &t, NULL) == IL_OK && t.offset == offset ? t.offset + t.n : offset;
}

size_t il_cel_literal_at(const il_cel_source *src, size_t literal, size_t byte) {
    il_cel_lexer lex = {src, literal};
    il_cel_token t;
    if (il_cel_lex(&lex, &t, NULL) != IL_OK || (t.kind != IL_CEL_T_STRING && t.kind != IL_CEL_T_BYTES)) {
        return literal;
    }
    size_t i = t.body, n = 0, end = t.body + t.body_n;
    while (i < end) {
        size_t next = i + 1, bytes = 1;
        uint32_t v = 0;
        char utf8[4];
        if (src->text.p[i] == '\\' && !t.raw) {
            if (lex_escape(src, i, t.kind == IL_CEL_T_BYTES, &v, &next, NULL) != IL_OK) {
                return i;
            }
            bytes = t.kind == IL_CEL_T_BYTES ? 1 : il_utf8_put(v, utf8);
        }
        if (byte < n + bytes) {
            return i;
        }
        n += bytes;
        i = next;
    }
    return end;
}

il_status il_cel_unescape(const il_cel_source *src, const il_cel_token *t, il_arena *arena, il_str *out, il_error *err) {
    /* No escape gives more bytes than it has characters. */
    char *to = il_arena_get(arena, t->body_n);
    if (to == NULL) {
        return il_cel_no_memory(arena, err);
    }
    size_t n = 0, end = t->body + t->body_n;
    for (size_t i = t->body; i < end;) {
        if (src->text.p[i] != '\\' || t->raw) {
            to[n++] = src->text.p[i++];
            continue;
        }
        uint32_t v = 0;
        IL_TRY(lex_escape(src, i, t->kind == IL_CEL_T_BYTES, &v, &i, err));
        if (t->kind == IL_CEL_T_BYTES) {
            to[n++] = (char)(v & 0xFF);
        } else {
            n += il_utf8_put(v, to + n);
        }
    }
    *out = (il_str){to, n};
    return IL_OK;
}
