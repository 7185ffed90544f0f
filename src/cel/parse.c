/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent over the whole grammar:
 *
 *   expr     = or [ "?" or ":" expr ]
 *   or       = and { "||" and }          and  = rel { "&&" rel }       both flat: a chain is one node
 *   rel      = sum { relop sum }         sum  = term { ("+"|"-") term }      term = unary { ("*"|"/"|"%") unary }
 *   unary    = { "!" } postfix | { "-" } postfix
 *   postfix  = atom { "." field [ "(" args ")" ] | "[" expr "]" }
 *   atom     = literal | "(" expr ")" | ["."] name [ "(" args ")" ] | list | map
 */
#include "base/utf8.h"
#include "cel/ast.h"

typedef struct parse_state {
    il_arena *arena;
    const il_cel_env *env;
    const il_cel_limits *limits;
    il_error *err;
    il_cel_lexer lex;
    il_cel_token tok, prev;
    uint32_t depth, nodes;
    size_t expanded;           /* bytes of lets read so far */
    uint32_t nlocals, visible; /* macro variables around here; those from `visible` on can be named */
    il_str locals[IL_CEL_LOCALS];
    uint32_t nlets;
    size_t lets[IL_CEL_DEPTH_MAX]; /* those being expanded; each is one deeper */
} parse_state;

static il_status parse_expr(parse_state *p, il_cel_node **out);
static il_status parse_unary(parse_state *p, il_cel_token_kind only, il_cel_node **out);

#define PARSE_FAIL(p, offset, code, ...) IL_CEL_FAIL((p)->lex.src, (offset), (p)->err, (code), __VA_ARGS__)

static il_str parse_text(const parse_state *p, const il_cel_token *t) {
    return il_str_part(p->lex.src->text, t->offset, t->offset + t->n);
}

static il_status parse_advance(parse_state *p) {
    p->prev = p->tok;
    return il_cel_lex(&p->lex, &p->tok, p->err);
}

/* The token is not what the grammar wants here. Words and signs of other languages get the CEL form. */
static il_status parse_unexpected(parse_state *p, const char *wanted) {
    static const struct {
        const char *word, *sign;
    } rewrites[] = {{"and", "&&"}, {"or", "||"}, {"AND", "&&"}, {"OR", "||"}, {"is", "=="}};
    il_str text = parse_text(p, &p->tok);
    if (p->tok.kind == IL_CEL_T_END) {
        return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "expected %s, got the end of the expression", wanted);
    }
    if (p->tok.kind == IL_CEL_T_NAME) {
        for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++) {
            if (il_str_eq(text, il_str_of(rewrites[i].word))) {
                return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "unexpected `%.*s`; did you mean `%s`?", IL_STR_ARG(text),
                                  rewrites[i].sign);
            }
        }
    }
    if (p->prev.kind == IL_CEL_T_NAME && il_str_eq_nocase(parse_text(p, &p->prev), IL_STR("not"))) {
        return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "unexpected `%.*s` after `not`; did you mean `!`?", IL_STR_ARG(text));
    }
    if (text.n > 40) {
        text.n = 40;
    }
    return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "unexpected `%.*s`; expected %s", IL_STR_ARG(text), wanted);
}

static il_status parse_want(parse_state *p, il_cel_token_kind kind, const char *wanted) {
    return p->tok.kind == kind ? parse_advance(p) : parse_unexpected(p, wanted);
}

static il_status parse_too_deep(parse_state *p, size_t offset) {
    return PARSE_FAIL(p, offset, IL_E_LIMIT, "nested deeper than %u; split the expression", (unsigned)p->limits->depth);
}

static il_status parse_enter(parse_state *p) {
    if (p->depth >= p->limits->depth) {
        return parse_too_deep(p, p->tok.offset);
    }
    p->depth++;
    return IL_OK;
}

static il_status parse_node(parse_state *p, il_cel_op op, size_t start, size_t at, il_cel_node **out) {
    if (p->nodes >= p->limits->nodes) {
        return PARSE_FAIL(p, at, IL_E_LIMIT, "more than %u parts, lets expanded; split the expression",
                          (unsigned)p->limits->nodes);
    }
    p->nodes++;
    il_cel_node *n = IL_NEW(p->arena, il_cel_node);
    if (n == NULL) {
        return il_cel_no_memory(p->arena, p->err);
    }
    n->op = (uint8_t)op;
    n->height = 1;
    n->src = p->lex.src;
    n->start = (uint32_t)start; /* a source is far below 4 GiB: il_cel_compile says so */
    n->at = (uint32_t)at;
    *out = n;
    return IL_OK;
}

/* Hangs `kid` behind *tail (NULL: as the first). */
static il_status parse_hang(parse_state *p, il_cel_node *n, il_cel_node **tail, il_cel_node *kid) {
    IL_CHECK(n != NULL && kid != NULL, p->err);
    if (kid->height >= p->limits->depth) {
        return parse_too_deep(p, n->at);
    }
    if (kid->height >= n->height) {
        n->height = (uint16_t)(kid->height + 1);
    }
    if (*tail == NULL) {
        n->kids = kid;
    } else {
        (*tail)->next = kid;
    }
    *tail = kid;
    return IL_OK;
}

static il_status parse_copy(parse_state *p, il_str s, il_str *out) { return il_arena_copy(p->arena, s, out, p->err); }

static il_status parse_optional(parse_state *p) {
    return PARSE_FAIL(p, p->tok.offset, IL_E_INVALID, "the optional syntax `?` is not supported yet");
}

/* Comma-separated expressions up to `close`, which is consumed. A list may end with a comma. */
static il_status parse_items(parse_state *p, il_cel_node *n, il_cel_node *tail, il_cel_token_kind close, const char *wanted,
                             bool trailing) {
    while (p->tok.kind != close) {
        il_cel_node *item = NULL;
        if (p->tok.kind == IL_CEL_T_QUESTION) {
            return parse_optional(p);
        }
        IL_TRY(parse_expr(p, &item));
        IL_TRY(parse_hang(p, n, &tail, item));
        if (p->tok.kind == close) {
            break;
        }
        IL_TRY(parse_want(p, IL_CEL_T_COMMA, wanted));
        if (p->tok.kind == close && !trailing) {
            return parse_unexpected(p, "an expression");
        }
    }
    return parse_advance(p);
}

static il_status parse_list(parse_state *p, il_cel_node **out) {
    size_t start = p->tok.offset;
    IL_TRY(parse_enter(p));
    IL_TRY(parse_node(p, IL_CEL_OP_LIST, start, start, out));
    IL_TRY(parse_advance(p));
    if (p->tok.kind == IL_CEL_T_COMMA) { /* `[,]` is a list of nothing */
        IL_TRY(parse_advance(p));
        if (p->tok.kind != IL_CEL_T_RBRACKET) {
            return parse_unexpected(p, "`]`");
        }
    }
    IL_TRY(parse_items(p, *out, NULL, IL_CEL_T_RBRACKET, "`,` or `]`", true));
    p->depth--;
    return IL_OK;
}

static il_status parse_map(parse_state *p, il_cel_node **out) {
    size_t start = p->tok.offset;
    il_cel_node *n = NULL, *tail = NULL, *item = NULL;
    IL_TRY(parse_enter(p));
    IL_TRY(parse_node(p, IL_CEL_OP_MAP, start, start, &n));
    IL_TRY(parse_advance(p));
    if (p->tok.kind == IL_CEL_T_COMMA) {
        IL_TRY(parse_advance(p));
        if (p->tok.kind != IL_CEL_T_RBRACE) {
            return parse_unexpected(p, "`}`");
        }
    }
    while (p->tok.kind != IL_CEL_T_RBRACE) {
        if (p->tok.kind == IL_CEL_T_QUESTION) {
            return parse_optional(p);
        }
        IL_TRY(parse_expr(p, &item));
        IL_TRY(parse_hang(p, n, &tail, item));
        IL_TRY(parse_want(p, IL_CEL_T_COLON, "`:`"));
        IL_TRY(parse_expr(p, &item));
        IL_TRY(parse_hang(p, n, &tail, item));
        if (p->tok.kind != IL_CEL_T_RBRACE) {
            IL_TRY(parse_want(p, IL_CEL_T_COMMA, "`,` or `}`"));
        }
    }
    IL_TRY(parse_advance(p));
    p->depth--;
    *out = n;
    return IL_OK;
}

/* Stands for the let's expression in parentheses. Its names are those of the root scope: a macro variable around the use is not
 * seen inside, so a let means the same wherever it is used. */
static il_status parse_expand(parse_state *p, size_t let, size_t offset, il_cel_node **out) {
    const il_cel_let *l = &p->env->lets[let];
    for (uint32_t i = 0; i < p->nlets; i++) {
        if (p->lets[i] == let) {
            return PARSE_FAIL(p, offset, IL_E_INVALID, "the let `%.*s` refers to itself", IL_STR_ARG(l->name));
        }
    }
    IL_TRY(parse_enter(p));
    if (p->nlets >= IL_CEL_DEPTH_MAX) {
        return parse_too_deep(p, offset);
    }
    il_cel_source *src = IL_NEW(p->arena, il_cel_source);
    if (src == NULL) {
        return il_cel_no_memory(p->arena, p->err);
    }
    *src = (il_cel_source){l->source, l->line, l->col};
    if (l->source.n > p->limits->source_bytes) {
        return PARSE_FAIL(p, offset, IL_E_LIMIT, "the let `%.*s` is longer than %zu bytes", IL_STR_ARG(l->name),
                          p->limits->source_bytes);
    }
    p->expanded += l->source.n;
    if (p->expanded / 64 > p->limits->source_bytes) {
        return PARSE_FAIL(p, offset, IL_E_LIMIT, "the lets expand to more than %zu bytes", p->limits->source_bytes * 64);
    }
    size_t bad = 0;
    if (!il_str_utf8(l->source, &bad)) {
        return IL_CEL_FAIL(src, bad, p->err, IL_E_SYNTAX, "not valid UTF-8");
    }

    il_cel_lexer lex = p->lex;
    il_cel_token tok = p->tok, prev = p->prev;
    uint32_t visible = p->visible;
    il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
    IL_TRY(parse_node(p, IL_CEL_OP_LET, offset, offset, &n));
    p->lex = (il_cel_lexer){src, 0};
    p->prev = (il_cel_token){.kind = IL_CEL_T_END};
    p->visible = p->nlocals;
    p->lets[p->nlets++] = let;
    IL_TRY(il_cel_lex(&p->lex, &p->tok, p->err));
    IL_TRY(parse_expr(p, &kid));
    if (p->tok.kind != IL_CEL_T_END) {
        return parse_unexpected(p, "an operator or the end");
    }
    p->lex = lex;
    p->tok = tok;
    p->prev = prev;
    p->visible = visible;
    p->nlets--;
    p->depth--;
    IL_TRY(parse_hang(p, n, &tail, kid));
    *out = n;
    return IL_OK;
}

/* The current token is the name; `start` is before the root dot, if there is one. */
static il_status parse_name(parse_state *p, bool root, size_t start, il_cel_node **out) {
    size_t at = p->tok.offset;
    il_str name = parse_text(p, &p->tok);
    il_cel_node *n = NULL;
    IL_TRY(parse_advance(p));
    if (p->tok.kind == IL_CEL_T_LPAREN) {
        IL_TRY(parse_enter(p));
        IL_TRY(parse_node(p, IL_CEL_OP_CALL, start, at, &n));
        IL_TRY(parse_copy(p, name, &n->name));
        IL_TRY(parse_advance(p));
        IL_TRY(parse_items(p, n, NULL, IL_CEL_T_RPAREN, "`,` or `)`", false));
        p->depth--;
        *out = n;
        return IL_OK;
    }
    for (uint32_t i = root ? p->visible : p->nlocals; i > p->visible; i--) { /* innermost first */
        if (il_str_eq(p->locals[i - 1], name)) {
            IL_TRY(parse_node(p, IL_CEL_OP_LOCAL, start, at, &n));
            IL_CHECK(n != NULL, p->err);
            n->slot = i - 1;
            n->name = p->locals[i - 1];
            *out = n;
            return IL_OK;
        }
    }
    for (size_t i = 0; i < p->env->nlets; i++) {
        if (il_str_eq(p->env->lets[i].name, name)) {
            return parse_expand(p, i, start, out);
        }
    }
    for (size_t i = 0; i < p->env->nvars; i++) {
        if (il_str_eq(p->env->vars[i].name, name)) {
            IL_TRY(parse_node(p, IL_CEL_OP_VAR, start, at, &n));
            IL_CHECK(n != NULL, p->err);
            n->slot = (uint32_t)i;
            n->name = p->env->vars[i].name;
            *out = n;
            return IL_OK;
        }
    }
    IL_TRY(parse_node(p, IL_CEL_OP_NAME, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    n->root = root;
    *out = n;
    return parse_copy(p, name, &n->name);
}

static il_status parse_literal(parse_state *p, bool negative, size_t start, il_cel_node **out) {
    il_cel_node *n = NULL;
    IL_TRY(parse_node(p, IL_CEL_OP_LIT, start, start, &n));
    IL_CHECK(n != NULL, p->err);
    *out = n;
    il_str text;
    switch (p->tok.kind) {
    case IL_CEL_T_TRUE:
    case IL_CEL_T_FALSE:
        n->lit = il_cel_of_bool(p->tok.kind == IL_CEL_T_TRUE);
        break;
    case IL_CEL_T_NULL:
        n->lit.kind = IL_CEL_NULL;
        break;
    case IL_CEL_T_INT:
        n->lit.kind = IL_CEL_INT;
        IL_TRY(il_cel_int_value(p->lex.src, &p->tok, negative, &n->lit.u.i, p->err));
        break;
    case IL_CEL_T_STRING:
        IL_TRY(il_cel_unescape(p->lex.src, &p->tok, p->arena, &text, p->err));
        n->lit = il_cel_of_str(text);
        break;
    case IL_CEL_T_BYTES: /* unescaped only to judge its escapes */
        IL_TRY(il_cel_unescape(p->lex.src, &p->tok, p->arena, &text, p->err));
        n->op = IL_CEL_OP_UNSUPPORTED;
        n->name = IL_STR("bytes");
        break;
    case IL_CEL_T_UINT:
        n->op = IL_CEL_OP_UNSUPPORTED;
        n->name = IL_STR("uint");
        break;
    case IL_CEL_T_DOUBLE:
        n->op = IL_CEL_OP_UNSUPPORTED;
        n->name = IL_STR("double");
        break;
    case IL_CEL_T_END:
    case IL_CEL_T_NAME:
    case IL_CEL_T_RESERVED:
    case IL_CEL_T_QUOTED:
    case IL_CEL_T_IN:
    case IL_CEL_T_LPAREN:
    case IL_CEL_T_RPAREN:
    case IL_CEL_T_LBRACKET:
    case IL_CEL_T_RBRACKET:
    case IL_CEL_T_LBRACE:
    case IL_CEL_T_RBRACE:
    case IL_CEL_T_DOT:
    case IL_CEL_T_COMMA:
    case IL_CEL_T_COLON:
    case IL_CEL_T_QUESTION:
    case IL_CEL_T_OR:
    case IL_CEL_T_AND:
    case IL_CEL_T_NOT:
    case IL_CEL_T_LT:
    case IL_CEL_T_LE:
    case IL_CEL_T_GT:
    case IL_CEL_T_GE:
    case IL_CEL_T_EQ:
    case IL_CEL_T_NE:
    case IL_CEL_T_PLUS:
    case IL_CEL_T_MINUS:
    case IL_CEL_T_STAR:
    case IL_CEL_T_SLASH:
    case IL_CEL_T_PERCENT:
        return parse_unexpected(p, "an expression");
    }
    return parse_advance(p);
}

static il_status parse_atom(parse_state *p, bool negative, size_t start, il_cel_node **out) {
    size_t at = p->tok.offset;
    if (p->tok.kind == IL_CEL_T_LPAREN) {
        IL_TRY(parse_enter(p));
        IL_TRY(parse_advance(p));
        IL_TRY(parse_expr(p, out));
        IL_TRY(parse_want(p, IL_CEL_T_RPAREN, "`)`"));
        p->depth--;
        return IL_OK;
    }
    if (p->tok.kind == IL_CEL_T_LBRACKET) {
        return parse_list(p, out);
    }
    if (p->tok.kind == IL_CEL_T_LBRACE) {
        return parse_map(p, out);
    }
    if (p->tok.kind == IL_CEL_T_DOT) {
        IL_TRY(parse_advance(p));
        if (p->tok.kind != IL_CEL_T_NAME) {
            return parse_unexpected(p, "a name");
        }
        return parse_name(p, true, at, out);
    }
    if (p->tok.kind == IL_CEL_T_NAME) {
        return parse_name(p, false, at, out);
    }
    if (p->tok.kind == IL_CEL_T_RESERVED) {
        return PARSE_FAIL(p, at, IL_E_SYNTAX, "`%.*s` is a reserved word", IL_STR_ARG(parse_text(p, &p->tok)));
    }
    if (p->tok.kind == IL_CEL_T_QUOTED) {
        return PARSE_FAIL(p, at, IL_E_SYNTAX, "a back-quoted name may stand after a dot only");
    }
    return parse_literal(p, negative, start, out);
}

/* After `range.exists(` or `range.all(`. */
static il_status parse_macro(parse_state *p, il_cel_op op, il_str macro, size_t start, size_t at, il_cel_node **io) {
    il_cel_node *n = NULL, *body = NULL, *tail = NULL;
    IL_TRY(parse_enter(p));
    IL_TRY(parse_node(p, op, start, at, &n));
    IL_TRY(parse_hang(p, n, &tail, *io));
    if (p->tok.kind != IL_CEL_T_NAME) {
        return parse_unexpected(p, "a variable name");
    }
    il_cel_token var = p->tok;
    IL_TRY(parse_copy(p, parse_text(p, &p->tok), &n->name));
    IL_TRY(parse_advance(p));
    if (p->tok.kind != IL_CEL_T_COMMA) {
        return PARSE_FAIL(p, var.offset, IL_E_SYNTAX, "`%.*s` takes a variable name and a condition: `list.%.*s(x, x == 1)`",
                          IL_STR_ARG(macro), IL_STR_ARG(macro));
    }
    IL_TRY(parse_advance(p));
    if (p->nlocals >= IL_CEL_LOCALS) {
        return PARSE_FAIL(p, var.offset, IL_E_LIMIT, "more than %u macro variables in one place", (unsigned)IL_CEL_LOCALS);
    }
    n->slot = p->nlocals;
    p->locals[p->nlocals++] = n->name;
    IL_TRY(parse_expr(p, &body));
    p->nlocals--;
    IL_TRY(parse_hang(p, n, &tail, body));
    if (p->tok.kind == IL_CEL_T_COMMA) {
        return PARSE_FAIL(p, at, IL_E_INVALID, "the form of `%.*s` with two variables is not supported yet", IL_STR_ARG(macro));
    }
    IL_TRY(parse_want(p, IL_CEL_T_RPAREN, "`)`"));
    p->depth--;
    *io = n;
    return IL_OK;
}

/* At the dot. */
static il_status parse_member(parse_state *p, size_t start, il_cel_node **io) {
    il_cel_node *n = NULL, *tail = NULL;
    IL_TRY(parse_advance(p));
    if (p->tok.kind == IL_CEL_T_QUESTION) {
        return parse_optional(p);
    }
    size_t at = p->tok.offset;
    il_str name = parse_text(p, &p->tok);
    bool quoted = p->tok.kind == IL_CEL_T_QUOTED;
    if (quoted) {
        name = il_str_part(p->lex.src->text, p->tok.body, p->tok.body + p->tok.body_n);
    } else if (p->tok.kind != IL_CEL_T_NAME && p->tok.kind != IL_CEL_T_RESERVED) {
        return parse_unexpected(p, "a field name");
    }
    IL_TRY(parse_advance(p));
    if (p->tok.kind != IL_CEL_T_LPAREN || quoted) {
        IL_TRY(parse_node(p, IL_CEL_OP_SELECT, start, at, &n));
        IL_TRY(parse_copy(p, name, &n->name));
        IL_TRY(parse_hang(p, n, &tail, *io));
        *io = n;
        return IL_OK;
    }
    IL_TRY(parse_advance(p));
    if (il_str_eq(name, IL_STR("exists"))) {
        return parse_macro(p, IL_CEL_OP_EXISTS, IL_STR("exists"), start, at, io);
    }
    if (il_str_eq(name, IL_STR("all"))) {
        return parse_macro(p, IL_CEL_OP_ALL, IL_STR("all"), start, at, io);
    }
    IL_TRY(parse_enter(p));
    IL_TRY(parse_node(p, IL_CEL_OP_CALL, start, at, &n));
    IL_TRY(parse_copy(p, name, &n->name));
    n->receiver = true;
    IL_TRY(parse_hang(p, n, &tail, *io));
    IL_TRY(parse_items(p, n, tail, IL_CEL_T_RPAREN, "`,` or `)`", false));
    p->depth--;
    *io = n;
    return IL_OK;
}

/* `negative`: the minus sign at `start` stood directly before. It belongs to an int literal, and to nothing else. */
static il_status parse_postfix(parse_state *p, bool negative, size_t start, il_cel_node **out) {
    IL_TRY(parse_atom(p, negative, start, out));
    for (;;) {
        if (p->tok.kind == IL_CEL_T_DOT) {
            IL_TRY(parse_member(p, start, out));
        } else if (p->tok.kind == IL_CEL_T_LBRACKET) {
            il_cel_node *n = NULL, *tail = NULL, *index = NULL;
            IL_TRY(parse_enter(p));
            IL_TRY(parse_node(p, IL_CEL_OP_INDEX, start, p->tok.offset, &n));
            IL_TRY(parse_hang(p, n, &tail, *out));
            IL_TRY(parse_advance(p));
            if (p->tok.kind == IL_CEL_T_QUESTION) {
                return parse_optional(p);
            }
            IL_TRY(parse_expr(p, &index));
            IL_TRY(parse_hang(p, n, &tail, index));
            IL_TRY(parse_want(p, IL_CEL_T_RBRACKET, "`]`"));
            p->depth--;
            *out = n;
        } else if (p->tok.kind == IL_CEL_T_LBRACE) {
            const il_cel_node *n = *out;
            bool name =
                n->op == IL_CEL_OP_NAME || n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_LOCAL;
            return name ? PARSE_FAIL(p, p->tok.offset, IL_E_INVALID, "message literals (`T{field: value}`) are not supported")
                        : parse_unexpected(p, "an operator or the end");
        } else {
            return IL_OK;
        }
    }
}

/* `only`: the sign that stands before; `!` and `-` do not mix without parentheses. */
static il_status parse_unary(parse_state *p, il_cel_token_kind only, il_cel_node **out) {
    il_cel_token_kind kind = p->tok.kind;
    size_t start = p->tok.offset;
    if (kind != IL_CEL_T_NOT && kind != IL_CEL_T_MINUS) {
        return parse_postfix(p, false, start, out);
    }
    if (only != IL_CEL_T_END && only != kind) {
        return PARSE_FAIL(p, start, IL_E_SYNTAX, "`!` and `-` do not mix; use parentheses");
    }
    IL_TRY(parse_enter(p));
    IL_TRY(parse_advance(p));
    if (kind == IL_CEL_T_MINUS && p->tok.kind == IL_CEL_T_INT) {
        IL_TRY(parse_postfix(p, true, start, out));
    } else {
        il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
        IL_TRY(parse_node(p, kind == IL_CEL_T_NOT ? IL_CEL_OP_NOT : IL_CEL_OP_NEG, start, start, &n));
        IL_TRY(parse_unary(p, kind, &kid));
        IL_TRY(parse_hang(p, n, &tail, kid));
        *out = n;
    }
    p->depth--;
    return IL_OK;
}

/* Binding strength of a binary operator; 0 for other tokens. */
static unsigned parse_strength(il_cel_token_kind kind, il_cel_op *op) {
    static const struct {
        il_cel_token_kind kind;
        il_cel_op op;
        unsigned strength;
    } table[] = {
        {IL_CEL_T_OR, IL_CEL_OP_OR, 1},     {IL_CEL_T_AND, IL_CEL_OP_AND, 2},     {IL_CEL_T_LT, IL_CEL_OP_LT, 3},
        {IL_CEL_T_LE, IL_CEL_OP_LE, 3},     {IL_CEL_T_GT, IL_CEL_OP_GT, 3},       {IL_CEL_T_GE, IL_CEL_OP_GE, 3},
        {IL_CEL_T_EQ, IL_CEL_OP_EQ, 3},     {IL_CEL_T_NE, IL_CEL_OP_NE, 3},       {IL_CEL_T_IN, IL_CEL_OP_IN, 3},
        {IL_CEL_T_PLUS, IL_CEL_OP_ADD, 4},  {IL_CEL_T_MINUS, IL_CEL_OP_SUB, 4},   {IL_CEL_T_STAR, IL_CEL_OP_MUL, 5},
        {IL_CEL_T_SLASH, IL_CEL_OP_DIV, 5}, {IL_CEL_T_PERCENT, IL_CEL_OP_MOD, 5},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].kind == kind) {
            *op = table[i].op;
            return table[i].strength;
        }
    }
    return 0;
}

/* Operators of at least `strength`, left to right. Recurses once a level, so at most five deep. */
static il_status parse_binary(parse_state *p, unsigned strength, il_cel_node **out) {
    size_t start = p->tok.offset;
    il_cel_node *chain = NULL, *tail = NULL; /* the && or || node of this very chain, and its last kid */
    IL_TRY(parse_unary(p, IL_CEL_T_END, out));
    for (;;) {
        il_cel_op op = IL_CEL_OP_LIT;
        unsigned here = parse_strength(p->tok.kind, &op);
        if (here == 0 || here < strength) {
            return IL_OK;
        }
        size_t at = p->tok.offset;
        il_cel_node *right = NULL;
        IL_TRY(parse_advance(p));
        IL_TRY(parse_binary(p, here + 1, &right));
        if (chain == NULL || chain != *out || chain->op != op) {
            IL_TRY(parse_node(p, op, start, at, &chain));
            tail = NULL;
            IL_TRY(parse_hang(p, chain, &tail, *out));
            *out = chain;
        }
        IL_TRY(parse_hang(p, chain, &tail, right));
        if (op != IL_CEL_OP_AND && op != IL_CEL_OP_OR) {
            chain = NULL; /* a - b - c is (a - b) - c */
        }
    }
}

/* Whoever calls this again inside itself has counted the depth. */
static il_status parse_expr(parse_state *p, il_cel_node **out) {
    size_t start = p->tok.offset;
    IL_TRY(parse_binary(p, 1, out));
    if (p->tok.kind == IL_CEL_T_QUESTION) {
        il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
        IL_TRY(parse_node(p, IL_CEL_OP_COND, start, p->tok.offset, &n));
        IL_TRY(parse_hang(p, n, &tail, *out));
        IL_TRY(parse_advance(p));
        IL_TRY(parse_binary(p, 1, &kid));
        IL_TRY(parse_hang(p, n, &tail, kid));
        IL_TRY(parse_want(p, IL_CEL_T_COLON, "`:`"));
        IL_TRY(parse_enter(p));
        IL_TRY(parse_expr(p, &kid));
        p->depth--;
        IL_TRY(parse_hang(p, n, &tail, kid));
        *out = n;
    }
    return IL_OK;
}

il_status il_cel_parse(il_arena *arena, il_str source, uint32_t line, uint32_t col, const il_cel_env *env,
                       const il_cel_limits *limits, il_cel_node **out, il_error *err) {
    il_cel_source *src = IL_NEW(arena, il_cel_source);
    if (src == NULL) {
        return il_cel_no_memory(arena, err);
    }
    *src = (il_cel_source){source, line, col};
    size_t bad = 0;
    if (!il_str_utf8(source, &bad)) {
        return IL_CEL_FAIL(src, bad, err, IL_E_SYNTAX, "not valid UTF-8");
    }
    parse_state p = {.arena = arena, .env = env, .limits = limits, .err = err, .lex = {src, 0}};
    IL_TRY(parse_advance(&p));
    if (p.tok.kind == IL_CEL_T_END) {
        return IL_CEL_FAIL(src, p.tok.offset, err, IL_E_SYNTAX, "an empty expression");
    }
    IL_TRY(parse_expr(&p, out));
    if (p.tok.kind != IL_CEL_T_END) {
        return parse_unexpected(&p, "an operator or the end");
    }
    return IL_OK;
}
