/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the parser share. The grammar (cel-spec, Syntax; `?` forms: the optional extension):
 *
 *   expr     = or [ "?" or ":" expr ]
 *   or       = and { "||" and }          and  = rel { "&&" rel }       both flat: a chain is one node
 *   rel      = sum { relop sum }         sum  = term { ("+"|"-") term }      term = unary { ("*"|"/"|"%") unary }
 *   unary    = { "!" } postfix | { "-" } postfix
 *   postfix  = atom { "." ["?"] field | "." name "(" args ")" | "[" ["?"] expr "]" }
 *   atom     = literal | "(" expr ")" | ["."] name [ "(" args ")" ] | "[" [ item {"," item} [","] ] "]" | "{" [ entry {"," entry} [","] ] "}"
 *   item     = ["?"] expr          entry = ["?"] expr ":" expr         field = name | reserved word | "`" quoted "`"
 */
#pragma once
#include "cel/ast.h"

typedef struct il_cel_binding { /* an index (cel/family.h) */
    il_str name;
    size_t family, member;
    uint32_t nlocals; /* macro variables around it: later ones of its name hide it */
} il_cel_binding;

typedef struct il_cel_parser {
    il_arena *arena;
    const il_cel_env *env;
    const il_cel_limits *limits;
    il_error *err;
    il_cel_lexer lex;
    il_cel_token tok, prev;
    uint32_t depth, nodes;
    bool qualified;            /* some variable has a dot in its name, or there is a container */
    size_t expanded;           /* bytes of lets read so far */
    uint32_t nlocals, visible; /* macro variables around here; those from `visible` on can be named */
    il_str locals[IL_CEL_LOCALS];
    uint32_t nbound, bound_visible; /* indices, likewise */
    il_cel_binding bound[IL_CEL_LOCALS];
    uint32_t nlets;
    size_t lets[IL_CEL_DEPTH_MAX]; /* those being expanded; each is one deeper */
} il_cel_parser;

/* The token at `offset` is underlined. */
#define PARSE_FAIL(p, offset, code, ...) \
    IL_CEL_FAIL_SPAN((p)->lex.src, (offset), il_cel_token_end((p)->lex.src, (offset)), (p)->err, (code), __VA_ARGS__)

/* --- parse.c: tokens and nodes --- */
il_str il_cel_parse_text(const il_cel_parser *p, const il_cel_token *t);
IL_NODISCARD il_status il_cel_parse_advance(il_cel_parser *p);
IL_NODISCARD il_status il_cel_parse_unexpected(il_cel_parser *p, const char *wanted);
IL_NODISCARD il_status il_cel_parse_want(il_cel_parser *p, il_cel_token_kind kind, const char *wanted);
/* One deeper, and back: nested constructs and expansions of lets count against the depth limit. */
IL_NODISCARD il_status il_cel_parse_enter(il_cel_parser *p);
static inline void il_cel_parse_leave(il_cel_parser *p) { p->depth--; }
IL_NODISCARD il_status il_cel_parse_node(il_cel_parser *p, il_cel_op op, size_t start, size_t at, il_cel_node **out);
/* Hangs `kid` behind *tail (NULL: as the first). */
IL_NODISCARD il_status il_cel_parse_hang(il_cel_parser *p, il_cel_node *n, il_cel_node **tail, il_cel_node *kid);
/* The node ends where the last token that was read ends. */
static inline void il_cel_parse_close(const il_cel_parser *p, il_cel_node *n) { n->end = (uint32_t)(p->prev.offset + p->prev.n); }
/* Whoever calls this again inside itself has counted the depth. */
IL_NODISCARD il_status il_cel_parse_expr(il_cel_parser *p, il_cel_node **out);
/* Comma-separated expressions up to the closing parenthesis, which is read too. */
IL_NODISCARD il_status il_cel_parse_arguments(il_cel_parser *p, il_cel_node *n, il_cel_node *tail);

/* --- parse_name.c: names, lets, what a dotted name stands for --- */
/* The current token is the name; `start` is before the root dot, if there is one. */
IL_NODISCARD il_status il_cel_parse_name(il_cel_parser *p, bool root, size_t start, il_cel_node **out);
/* The dotted name that a chain of selects on an undeclared name spells, followed by `.field`; false when the node is something else. */
IL_NODISCARD il_status il_cel_parse_dotted(il_cel_parser *p, const il_cel_node *n, il_str field, bool *is, il_str *out);
/* A type by its name (`net.IP`), as a value. */
bool il_cel_parse_type(il_str name, il_cel_value *out);
/* Whether a function can be called by this name without a receiver. */
bool il_cel_parse_function(const il_cel_parser *p, il_str name);

/* --- parse_macro.c --- */
/* After `*io.name(`: *was tells whether that is a macro, which then is read with its closing parenthesis. */
IL_NODISCARD il_status il_cel_parse_macro(il_cel_parser *p, il_str name, size_t start, size_t at, bool *was, il_cel_node **io);
/* After `has(`. */
IL_NODISCARD il_status il_cel_parse_has(il_cel_parser *p, size_t start, size_t at, il_cel_node **out);
