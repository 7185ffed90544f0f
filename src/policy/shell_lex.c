/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/shell_lex.h"

#include "policy/kind_part.h"

static il_shell_token il_shell_strange(const char *why) {
    return (il_shell_token){.sort = IL_SHELL_STRANGE, .text = il_str_of(why)};
}

static char il_shell_peek(const il_shell_lexer *l, size_t ahead) {
    return l->at + ahead < l->text.n ? l->text.p[l->at + ahead] : '\0';
}

static bool il_shell_in(char c, const char *signs) {
    for (; *signs != '\0'; signs++) {
        if (*signs == c) {
            return true;
        }
    }
    return false;
}

/* `1`, `2` before a redirection; then a digit or `-` behind `&` is no file. */
static il_shell_token il_shell_redirect(il_shell_lexer *l) {
    const char first = il_shell_peek(l, 0);
    const bool both = first == '&';
    l->at += both ? 2 : 1;
    if (first == '<') {
        return il_shell_in(il_shell_peek(l, 0), "<(&>") ? il_shell_strange("a redirection that is no plain file")
                                                        : (il_shell_token){.sort = IL_SHELL_FROM};
    }
    if (il_shell_peek(l, 0) == '>' || il_shell_peek(l, 0) == '|') {
        l->at++;
    }
    if (il_shell_peek(l, 0) == '(' || il_shell_peek(l, 0) == '<') {
        return il_shell_strange("a redirection that is no plain file");
    }
    if (il_shell_peek(l, 0) == '&') {
        if (both || !il_ascii_digit(il_shell_peek(l, 1)) ||
            (il_shell_peek(l, 2) != '\0' && !il_shell_in(il_shell_peek(l, 2), " \t\n;|&)"))) {
            return il_shell_strange("a redirection that is no plain file");
        }
        l->at += 2;
        return il_shell_next(l); /* 2>&1: nothing is written that was not before. Depth: one, the text grows shorter */
    }
    return (il_shell_token){.sort = IL_SHELL_INTO};
}

/* One piece of a word into `to`; NULL, or why not. */
static const char *il_shell_piece(il_shell_lexer *l, char *to, size_t *n, bool *quoted) {
    const char c = l->text.p[l->at++];
    if (c == '\'') {
        *quoted = true;
        while (l->at < l->text.n && l->text.p[l->at] != '\'') {
            to[(*n)++] = l->text.p[l->at++];
        }
        return l->at++ < l->text.n ? NULL : "a quote that does not end";
    }
    if (c == '"') {
        *quoted = true;
        while (l->at < l->text.n && l->text.p[l->at] != '"') {
            char d = l->text.p[l->at++];
            if (d == '$' || d == '`' || d == '!') {
                return "an expansion";
            }
            if (d == '\\' && il_shell_in(il_shell_peek(l, 0), "\\\"$`!\n")) {
                d = l->text.p[l->at++];
                if (d != '"' && d != '\\') {
                    return "an expansion";
                }
            }
            to[(*n)++] = d;
        }
        return l->at++ < l->text.n ? NULL : "a quote that does not end";
    }
    if (c == '\\') {
        const char d = il_shell_peek(l, 0);
        if (d == '\0' || d == '\n' || d == '\r') {
            return "a line that goes on";
        }
        *quoted = true;
        to[(*n)++] = d;
        l->at++;
        return NULL;
    }
    if (il_shell_in(c, "$`(){}[]!^%") || (uint8_t)c < 0x20 || c == 0x7f) {
        return "an expansion, a group or a control character";
    }
    to[(*n)++] = c;
    return NULL;
}

static il_shell_token il_shell_word(il_shell_lexer *l) {
    il_shell_token t = {.sort = IL_SHELL_WORD};
    char *to = l->room + l->used;
    size_t n = 0;
    while (l->at < l->text.n && !il_shell_in(l->text.p[l->at], " \t\n;&|<>")) {
        const char *why = il_shell_piece(l, to, &n, &t.quoted);
        if (why != NULL) {
            return il_shell_strange(why);
        }
    }
    t.text = (il_str){to, n};
    l->used += n;
    /* a number that stands right before a redirection is a descriptor */
    if (!t.quoted && n == 1 && il_ascii_digit(to[0]) && il_shell_in(il_shell_peek(l, 0), "<>")) {
        return il_shell_redirect(l);
    }
    if (n > 0 && !il_text_visible(t.text)) {
        return il_shell_strange("an invisible or control character");
    }
    return t;
}

il_shell_token il_shell_next(il_shell_lexer *l) {
    while (il_shell_peek(l, 0) == ' ' || il_shell_peek(l, 0) == '\t') {
        l->at++;
    }
    if (l->at == l->text.n) {
        return (il_shell_token){.sort = IL_SHELL_END};
    }
    const char c = l->text.p[l->at];
    if (c == '#') {
        while (l->at < l->text.n && l->text.p[l->at] != '\n') {
            l->at++;
        }
        return (il_shell_token){.sort = IL_SHELL_NEXT};
    }
    if (c == '\n' || c == ';') {
        l->at++;
        return (il_shell_token){.sort = IL_SHELL_NEXT};
    }
    if (c == '&' && il_shell_peek(l, 1) == '>') {
        return il_shell_redirect(l);
    }
    if (c == '|' || c == '&') {
        l->at += il_shell_peek(l, 1) == c ? 2u : 1u;
        return c == '|' && il_shell_peek(l, 0) == '&' ? il_shell_strange("a pipe of both outputs")
                                                      : (il_shell_token){.sort = IL_SHELL_NEXT};
    }
    if (c == '<' || c == '>') {
        return il_shell_redirect(l);
    }
    return il_shell_word(l);
}
