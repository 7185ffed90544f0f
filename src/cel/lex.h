/* SPDX-License-Identifier: Apache-2.0 */
/* CEL tokens. The lexer is complete: what the language has and this part does not evaluate is still read as what it is,
 * so that positions and precedence are final and nothing is misparsed. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* A text and where its first character stands in its file. */
typedef struct il_cel_source {
    il_str text;
    uint32_t line, col;
} il_cel_source;

/* Line and column (code points) of a byte offset. Found by scanning from the start: only failures need them. */
uint32_t il_cel_line(const il_cel_source *src, size_t offset);
uint32_t il_cel_col(const il_cel_source *src, size_t offset);

/* The value is the code itself, so that a compiler sees that a failure never is IL_OK. */
#define IL_CEL_FAIL(src, offset, err, code, ...)                                                                         \
    ((void)il_error_at((err), (code), il_cel_line((src), (offset)), il_cel_col((src), (offset)), (offset), __VA_ARGS__), \
     (il_status)(code))

/* The same with what is underlined: the bytes [from, to), as far as they are on one line. */
uint32_t il_cel_span(const il_cel_source *src, size_t from, size_t to);
#define IL_CEL_FAIL_SPAN(src, from, to, err, code, ...)            \
    ((void)IL_CEL_FAIL((src), (from), (err), (code), __VA_ARGS__), \
     (void)((err) != NULL && ((err)->span = il_cel_span((src), (from), (to)))), (il_status)(code))

static inline il_status il_cel_no_memory(const il_arena *arena, il_error *err) {
    return il_arena_fail(arena, err) == IL_E_LIMIT ? IL_E_LIMIT : IL_E_MEMORY;
}

typedef enum il_cel_token_kind {
    IL_CEL_T_END = 0,
    IL_CEL_T_NAME,     /* identifier */
    IL_CEL_T_RESERVED, /* a reserved word: a field name after a dot, else an error */
    IL_CEL_T_QUOTED,   /* `field name`, after a dot only */
    IL_CEL_T_TRUE,
    IL_CEL_T_FALSE,
    IL_CEL_T_NULL,
    IL_CEL_T_IN,
    IL_CEL_T_INT,
    IL_CEL_T_UINT,
    IL_CEL_T_DOUBLE,
    IL_CEL_T_STRING,
    IL_CEL_T_BYTES,
    IL_CEL_T_LPAREN,
    IL_CEL_T_RPAREN,
    IL_CEL_T_LBRACKET,
    IL_CEL_T_RBRACKET,
    IL_CEL_T_LBRACE,
    IL_CEL_T_RBRACE,
    IL_CEL_T_DOT,
    IL_CEL_T_COMMA,
    IL_CEL_T_COLON,
    IL_CEL_T_QUESTION,
    IL_CEL_T_OR,
    IL_CEL_T_AND,
    IL_CEL_T_NOT,
    IL_CEL_T_LT,
    IL_CEL_T_LE,
    IL_CEL_T_GT,
    IL_CEL_T_GE,
    IL_CEL_T_EQ,
    IL_CEL_T_NE,
    IL_CEL_T_PLUS,
    IL_CEL_T_MINUS,
    IL_CEL_T_STAR,
    IL_CEL_T_SLASH,
    IL_CEL_T_PERCENT
} il_cel_token_kind;

typedef struct il_cel_token {
    il_cel_token_kind kind;
    size_t offset, n;    /* the whole token in its source */
    size_t body, body_n; /* between the quotes */
    bool raw;            /* r'…' */
} il_cel_token;

typedef struct il_cel_lexer {
    const il_cel_source *src;
    size_t at;
} il_cel_lexer;

/* The next token; IL_CEL_T_END for ever at the end. */
IL_NODISCARD il_status il_cel_lex(il_cel_lexer *lex, il_cel_token *out, il_error *err);

/* Where the token that begins at `offset` ends; `offset` itself at the end of the text and for what is no token. */
size_t il_cel_token_end(const il_cel_source *src, size_t offset);

/* The value of a STRING (UTF-8) or BYTES token, copied into `arena`. */
IL_NODISCARD il_status il_cel_unescape(const il_cel_source *src, const il_cel_token *t, il_arena *arena, il_str *out,
                                       il_error *err);

/* Where byte `byte` of the value of the string literal that begins at `literal` stands in its source; the literal's end when it has fewer. */
size_t il_cel_literal_at(const il_cel_source *src, size_t literal, size_t byte);

/* The value of an INT token, `negative` when a minus sign belongs to it. */
IL_NODISCARD il_status il_cel_int_value(const il_cel_source *src, const il_cel_token *t, bool negative, int64_t *out,
                                        il_error *err);

/* The value of a UINT token. */
IL_NODISCARD il_status il_cel_uint_value(const il_cel_source *src, const il_cel_token *t, uint64_t *out, il_error *err);
