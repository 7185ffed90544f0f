/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/sql_lex.h"

#include "policy/kind_part.h"

static il_sql_token il_sql_strange(const char *why) { return (il_sql_token){IL_SQL_STRANGE, il_str_of(why)}; }

static bool il_sql_word_part(char c) { return il_ascii_alnum(c) || c == '_' || c == '$'; }

static char il_sql_peek(const il_sql_lexer *l, size_t ahead) {
    return l->at + ahead < l->text.n ? l->text.p[l->at + ahead] : '\0';
}

/* `--` to the end of the line. MySQL wants a space behind it (`a--1` is arithmetic there), and ends of lines differ. */
static bool il_sql_line_comment(il_sql_lexer *l) {
    const char next = il_sql_peek(l, 2);
    if (next != ' ' && next != '\t' && next != '\n' && l->at + 2 < l->text.n) {
        return false;
    }
    while (l->at < l->text.n && l->text.p[l->at] != '\n') {
        if (l->text.p[l->at] == '\r') {
            return false;
        }
        l->at++;
    }
    return true;
}

/* One that has another begin inside ends in different places. */
static bool il_sql_block_comment(il_sql_lexer *l) {
    for (l->at += 2; l->at + 1 < l->text.n; l->at++) {
        if (l->text.p[l->at] == '*' && l->text.p[l->at + 1] == '/') {
            l->at += 2;
            return true;
        }
        if (l->text.p[l->at] == '/' && l->text.p[l->at + 1] == '*') {
            return false;
        }
    }
    return false;
}

/* Skips white space and comments; NULL, or why not. */
static const char *il_sql_blank(il_sql_lexer *l) {
    while (l->at < l->text.n) {
        const char c = l->text.p[l->at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            l->at++;
        } else if (c == '-' && il_sql_peek(l, 1) == '-') {
            if (!il_sql_line_comment(l)) {
                return "a comment that not every database reads as one";
            }
        } else if (c == '/' && il_sql_peek(l, 1) == '*') {
            if (il_sql_peek(l, 2) == '!' || il_sql_peek(l, 2) == '+' || il_sql_peek(l, 2) == 'M' || !il_sql_block_comment(l)) {
                return "a comment that not every database reads as one";
            }
        } else if (c == '#') {
            return "`#`, which begins a comment in some databases";
        } else {
            return NULL;
        }
    }
    return NULL;
}

/* From the quote at l->at; a doubled quote stands for one. A backslash escapes in some databases and not in others. */
static il_sql_token il_sql_quoted(il_sql_lexer *l, il_sql_sort sort) {
    const char quote = l->text.p[l->at++];
    char *to = l->room + l->used;
    size_t n = 0;
    for (; l->at < l->text.n; l->at++) {
        const char c = l->text.p[l->at];
        if (c == '\\' || c == '\0') {
            return il_sql_strange("a backslash between quotes, which not every database reads the same");
        }
        if (c == quote) {
            l->at++;
            if (il_sql_peek(l, 0) != quote) {
                /* adjacent literals are one in some databases: 'a' 'b' */
                l->used += n;
                return (il_sql_token){sort, {to, n}};
            }
        }
        to[n++] = sort == IL_SQL_QUOTED ? il_ascii_lower(c) : c;
    }
    return il_sql_strange("a quote that does not end");
}

static il_sql_token il_sql_word(il_sql_lexer *l) {
    const size_t from = l->at;
    bool dollar = false;
    while (l->at < l->text.n && il_sql_word_part(l->text.p[l->at])) {
        dollar = dollar || l->text.p[l->at] == '$';
        l->at++;
    }
    const il_str raw = il_str_part(l->text, from, l->at);
    const char next = il_sql_peek(l, 0);
    if (dollar) {
        return il_sql_strange("a dollar sign in a name");
    }
    /* E'..', U&'..', B'..', X'..', N'..', _utf8'..': each has rules of its own, and `q'[...]'` is not a string everywhere */
    if (next == '\'' || next == '"' || (next == '&' && raw.n == 1 && il_ascii_lower(raw.p[0]) == 'u')) {
        return il_sql_strange("a quote behind a letter, which not every database reads the same");
    }
    char *to = l->room + l->used;
    l->used += raw.n;
    for (size_t i = 0; i < raw.n; i++) {
        to[i] = il_ascii_lower(raw.p[i]);
    }
    return (il_sql_token){IL_SQL_WORD, {to, raw.n}};
}

static il_sql_token il_sql_number(il_sql_lexer *l) {
    const size_t from = l->at;
    while (l->at < l->text.n && (il_ascii_digit(l->text.p[l->at]) || l->text.p[l->at] == '.')) {
        l->at++;
    }
    const char e = il_ascii_lower(il_sql_peek(l, 0));
    if (e == 'e' && (il_ascii_digit(il_sql_peek(l, 1)) ||
                     ((il_sql_peek(l, 1) == '-' || il_sql_peek(l, 1) == '+') && il_ascii_digit(il_sql_peek(l, 2))))) {
        l->at += 2;
        while (il_ascii_digit(il_sql_peek(l, 0))) {
            l->at++;
        }
    }
    /* 0x1f, 1from: what belongs to the number differs */
    return il_sql_word_part(il_sql_peek(l, 0)) ? il_sql_strange("a letter behind a number")
                                               : (il_sql_token){IL_SQL_LITERAL, il_str_part(l->text, from, l->at)};
}

il_sql_token il_sql_next(il_sql_lexer *l) {
    const char *why = il_sql_blank(l);
    if (why != NULL) {
        return il_sql_strange(why);
    }
    if (l->at == l->text.n) {
        return (il_sql_token){IL_SQL_END, {0}};
    }
    const char c = l->text.p[l->at];
    if (c == '\'') {
        return il_sql_quoted(l, IL_SQL_LITERAL);
    }
    if (c == '"' || c == '`') {
        return il_sql_quoted(
            l, IL_SQL_QUOTED); /* "x" is a string in MySQL and, when no column has the name, in SQLite: then no table is missed */
    }
    if (il_ascii_digit(c) || (c == '.' && il_ascii_digit(il_sql_peek(l, 1)))) {
        return il_sql_number(l);
    }
    if (il_sql_word_part(c)) {
        return c == '$' ? il_sql_strange("a dollar sign") : il_sql_word(l);
    }
    if (c == '[' || c == ']' || c == '\\' || c == '{' || c == '}' || c == '@' || (uint8_t)c < 0x20 || (uint8_t)c >= 0x7f) {
        return il_sql_strange("a sign that not every database reads the same");
    }
    l->at++;
    return (il_sql_token){IL_SQL_SIGN, il_str_part(l->text, l->at - 1, l->at)};
}
