/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent: operators, literals, lists and maps, members. parse.h has the grammar. */
#include "cel/family.h"

#include "base/double.h"
#include "base/utf8.h"
#include "cel/builtin.h"

static il_status parse_unary(il_cel_parser *p, il_cel_token_kind only, il_cel_node **out);

il_str il_cel_parse_text(const il_cel_parser *p, const il_cel_token *t) {
    return il_str_part(p->lex.src->text, t->offset, t->offset + t->n);
}

il_status il_cel_parse_advance(il_cel_parser *p) {
    p->prev = p->tok;
    return il_cel_lex(&p->lex, &p->tok, p->err);
}

static bool parse_in_follows(const il_cel_parser *p) {
    il_cel_lexer ahead = p->lex;
    il_cel_token next;
    return il_cel_lex(&ahead, &next, NULL) == IL_OK && next.kind == IL_CEL_T_IN;
}

/* The token is not what the grammar wants here. Words and signs of other languages get the CEL form. */
il_status il_cel_parse_unexpected(il_cel_parser *p, const char *wanted) {
    static const struct {
        const char *word, *sign;
    } rewrites[] = {{"and", "&&"}, {"or", "||"}, {"AND", "&&"}, {"OR", "||"}, {"is", "=="}};
    il_str text = il_cel_parse_text(p, &p->tok);
    if (text.n > 40) {
        text.n = 40;
    }
    if (p->tok.kind == IL_CEL_T_END) {
        return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "expected %s, got the end of the expression", wanted);
    }
    if (p->tok.kind == IL_CEL_T_NAME) {
        if (il_str_eq_nocase(text, IL_STR("not")) && parse_in_follows(p)) {
            return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "unexpected `%.*s`; `x not in y` is written `!(x in y)`",
                              IL_STR_ARG(text));
        }
        for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++) {
            if (il_str_eq(text, il_str_of(rewrites[i].word))) {
                return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "unexpected `%.*s`; did you mean `%s`?", IL_STR_ARG(text),
                                  rewrites[i].sign);
            }
        }
    }
    if (p->prev.kind == IL_CEL_T_NAME && il_str_eq_nocase(il_cel_parse_text(p, &p->prev), IL_STR("not"))) {
        const il_str not = il_cel_parse_text(p, &p->prev);
        return PARSE_FAIL(p, p->prev.offset, IL_E_SYNTAX, "unexpected `%.*s`; did you mean `!%.*s`?", IL_STR_ARG(not ),
                          IL_STR_ARG(text));
    }
    return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "unexpected `%.*s`; expected %s", IL_STR_ARG(text), wanted);
}

il_status il_cel_parse_want(il_cel_parser *p, il_cel_token_kind kind, const char *wanted) {
    return p->tok.kind == kind ? il_cel_parse_advance(p) : il_cel_parse_unexpected(p, wanted);
}

static il_status parse_too_deep(il_cel_parser *p, size_t offset) {
    return PARSE_FAIL(p, offset, IL_E_LIMIT, "nested deeper than %u; split the expression", (unsigned)p->limits->depth);
}

il_status il_cel_parse_enter(il_cel_parser *p) {
    if (p->depth >= p->limits->depth) {
        return parse_too_deep(p, p->tok.offset);
    }
    p->depth++;
    return IL_OK;
}

il_status il_cel_parse_node(il_cel_parser *p, il_cel_op op, size_t start, size_t at, il_cel_node **out) {
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
    n->slot2 = IL_CEL_NO_SLOT;
    n->src = p->lex.src;
    n->start = (uint32_t)start; /* a source is far below 4 GiB: il_cel_compile says so */
    n->at = (uint32_t)at;
    *out = n;
    return IL_OK;
}

il_status il_cel_parse_hang(il_cel_parser *p, il_cel_node *n, il_cel_node **tail, il_cel_node *kid) {
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

il_status il_cel_parse_arguments(il_cel_parser *p, il_cel_node *n, il_cel_node *tail) {
    while (p->tok.kind != IL_CEL_T_RPAREN) {
        il_cel_node *kid = NULL;
        IL_TRY(il_cel_parse_expr(p, &kid));
        IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
        if (p->tok.kind == IL_CEL_T_RPAREN) {
            break;
        }
        IL_TRY(il_cel_parse_want(p, IL_CEL_T_COMMA, "`,` or `)`"));
        if (p->tok.kind == IL_CEL_T_RPAREN) {
            return il_cel_parse_unexpected(p, "an expression");
        }
    }
    return il_cel_parse_advance(p);
}

/* An item of a list or a key of a map, `?` before it or not. */
static il_status parse_item(il_cel_parser *p, il_cel_node **out) {
    bool maybe = p->tok.kind == IL_CEL_T_QUESTION;
    if (maybe) {
        IL_TRY(il_cel_parse_advance(p));
    }
    IL_TRY(il_cel_parse_expr(p, out));
    IL_CHECK(*out != NULL, p->err);
    (*out)->maybe = maybe;
    return IL_OK;
}

/* A list or a map: both may end with a comma, and `[,]` is a list of nothing. */
static il_status parse_collection(il_cel_parser *p, il_cel_op op, il_cel_node **out) {
    bool map = op == IL_CEL_OP_MAP;
    il_cel_token_kind close = map ? IL_CEL_T_RBRACE : IL_CEL_T_RBRACKET;
    size_t start = p->tok.offset;
    il_cel_node *n = NULL, *tail = NULL, *item = NULL;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, op, start, start, &n));
    IL_CHECK(n != NULL, p->err);
    IL_TRY(il_cel_parse_advance(p));
    if (p->tok.kind == IL_CEL_T_COMMA) {
        IL_TRY(il_cel_parse_advance(p));
        if (p->tok.kind != close) {
            return il_cel_parse_unexpected(p, map ? "`}`" : "`]`");
        }
    }
    while (p->tok.kind != close) {
        IL_TRY(parse_item(p, &item));
        IL_TRY(il_cel_parse_hang(p, n, &tail, item));
        if (map) {
            IL_TRY(il_cel_parse_want(p, IL_CEL_T_COLON, "`:`"));
            IL_TRY(il_cel_parse_expr(p, &item));
            IL_TRY(il_cel_parse_hang(p, n, &tail, item));
        }
        if (p->tok.kind != close) {
            IL_TRY(il_cel_parse_want(p, IL_CEL_T_COMMA, map ? "`,` or `}`" : "`,` or `]`"));
        }
    }
    IL_TRY(il_cel_parse_advance(p));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *out = n;
    return IL_OK;
}

static il_status parse_literal(il_cel_parser *p, bool negative, size_t start, il_cel_node **out) {
    il_cel_node *n = NULL;
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_LIT, start, start, &n));
    IL_CHECK(n != NULL, p->err);
    n->constant = true;
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
        if (p->env->families != NULL) {
            IL_TRY(il_cel_family_word(p, &text));
        }
        n->lit = il_cel_of_str(text);
        n->name = text;
        break;
    case IL_CEL_T_BYTES:
        IL_TRY(il_cel_unescape(p->lex.src, &p->tok, p->arena, &text, p->err));
        n->lit = il_cel_of_bytes(text);
        break;
    case IL_CEL_T_UINT:
        n->lit.kind = IL_CEL_UINT;
        IL_TRY(il_cel_uint_value(p->lex.src, &p->tok, &n->lit.u.u, p->err));
        break;
    case IL_CEL_T_DOUBLE:
        n->lit.kind = IL_CEL_DOUBLE;
        if (!il_double_parse(il_cel_parse_text(p, &p->tok), &n->lit.u.d) || il_double_infinite(n->lit.u.d)) {
            return PARSE_FAIL(p, p->tok.offset, IL_E_SYNTAX, "`%.*s` does not fit a double",
                              IL_STR_ARG(il_cel_parse_text(p, &p->tok)));
        }
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
        return il_cel_parse_unexpected(p, "an expression");
    }
    IL_TRY(il_cel_parse_advance(p));
    il_cel_parse_close(p, n);
    return IL_OK;
}

static il_status parse_atom(il_cel_parser *p, bool negative, size_t start, il_cel_node **out) {
    size_t at = p->tok.offset;
    if (p->tok.kind == IL_CEL_T_LPAREN) {
        IL_TRY(il_cel_parse_enter(p));
        IL_TRY(il_cel_parse_advance(p));
        IL_TRY(il_cel_parse_expr(p, out));
        IL_TRY(il_cel_parse_want(p, IL_CEL_T_RPAREN, "`)`"));
        il_cel_parse_leave(p);
        return IL_OK;
    }
    if (p->tok.kind == IL_CEL_T_LBRACKET) {
        return parse_collection(p, IL_CEL_OP_LIST, out);
    }
    if (p->tok.kind == IL_CEL_T_LBRACE) {
        return parse_collection(p, IL_CEL_OP_MAP, out);
    }
    if (p->tok.kind == IL_CEL_T_DOT) {
        IL_TRY(il_cel_parse_advance(p));
        if (p->tok.kind != IL_CEL_T_NAME) {
            return il_cel_parse_unexpected(p, "a name");
        }
        return il_cel_parse_name(p, true, at, out);
    }
    if (p->tok.kind == IL_CEL_T_NAME) {
        return il_cel_parse_name(p, false, at, out);
    }
    if (p->tok.kind == IL_CEL_T_RESERVED) {
        return PARSE_FAIL(p, at, IL_E_SYNTAX, "`%.*s` is a reserved word", IL_STR_ARG(il_cel_parse_text(p, &p->tok)));
    }
    if (p->tok.kind == IL_CEL_T_QUOTED) {
        return PARSE_FAIL(p, at, IL_E_SYNTAX, "a back-quoted name may stand after a dot only");
    }
    return parse_literal(p, negative, start, out);
}

/* `of.name`. A chain on an undeclared name may spell a type. */
static il_status parse_select(il_cel_parser *p, il_str name, bool optional, size_t start, size_t at, il_cel_node **io) {
    il_cel_node *n = NULL, *tail = NULL, *root = *io;
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_SELECT, start, at, &n));
    IL_CHECK(n != NULL && root != NULL, p->err);
    IL_TRY(il_arena_copy(p->arena, name, &n->name, p->err));
    n->optional = optional;
    il_cel_parse_close(p, n);
    while (!optional && root->op == IL_CEL_OP_SELECT && root->kids != NULL) {
        root = root->kids;
    }
    if (root->op == IL_CEL_OP_NAME && !optional) {
        bool dotted = false;
        il_str full;
        IL_TRY(il_cel_parse_dotted(p, *io, name, &dotted, &full));
        if (dotted && il_cel_parse_type(full, &n->lit)) {
            n->op = IL_CEL_OP_TYPE;
            n->constant = true;
            n->name = full;
            n->root = root->root;
            *io = n;
            return IL_OK;
        }
    }
    IL_TRY(il_cel_parse_hang(p, n, &tail, *io));
    *io = n;
    return p->env->families != NULL ? il_cel_family_field(p, n) : IL_OK;
}

/* After `of.name(`: a macro, a function with a dotted name (`strings.quote`), or a function called on what stands before. */
static il_status parse_method(il_cel_parser *p, il_str name, size_t start, size_t at, il_cel_node **io) {
    il_cel_node *n = NULL, *tail = NULL;
    bool done = false, dotted = false;
    il_str full;
    IL_TRY(il_cel_parse_macro(p, name, start, at, &done, io));
    if (done) {
        return IL_OK;
    }
    IL_TRY(il_cel_parse_dotted(p, *io, name, &dotted, &full));
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_CALL, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    if (dotted && il_cel_parse_function(p, full)) {
        n->name = full;
    } else {
        IL_TRY(il_arena_copy(p->arena, name, &n->name, p->err));
        n->receiver = true;
        IL_TRY(il_cel_parse_hang(p, n, &tail, *io));
    }
    IL_TRY(il_cel_parse_arguments(p, n, tail));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *io = n;
    return IL_OK;
}

/* At the dot. */
static il_status parse_member(il_cel_parser *p, size_t start, il_cel_node **io) {
    IL_TRY(il_cel_parse_advance(p));
    bool optional = p->tok.kind == IL_CEL_T_QUESTION;
    if (optional) {
        IL_TRY(il_cel_parse_advance(p));
    }
    size_t at = p->tok.offset;
    il_str name = il_cel_parse_text(p, &p->tok);
    bool quoted = p->tok.kind == IL_CEL_T_QUOTED;
    if (quoted) {
        name = il_str_part(p->lex.src->text, p->tok.body, p->tok.body + p->tok.body_n);
    } else if (p->tok.kind != IL_CEL_T_NAME && p->tok.kind != IL_CEL_T_RESERVED) {
        return il_cel_parse_unexpected(p, "a field name");
    }
    IL_TRY(il_cel_parse_advance(p));
    if (p->tok.kind != IL_CEL_T_LPAREN || quoted || optional) {
        return parse_select(p, name, optional, start, at, io);
    }
    IL_TRY(il_cel_parse_advance(p));
    return parse_method(p, name, start, at, io);
}

/* At the bracket. */
static il_status parse_index(il_cel_parser *p, size_t start, il_cel_node **io) {
    il_cel_node *n = NULL, *tail = NULL, *index = NULL;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_INDEX, start, p->tok.offset, &n));
    IL_CHECK(n != NULL, p->err);
    IL_TRY(il_cel_parse_hang(p, n, &tail, *io));
    IL_TRY(il_cel_parse_advance(p));
    if (p->tok.kind == IL_CEL_T_QUESTION) {
        n->optional = true;
        IL_TRY(il_cel_parse_advance(p));
    }
    IL_TRY(il_cel_parse_expr(p, &index));
    IL_TRY(il_cel_parse_hang(p, n, &tail, index));
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_RBRACKET, "`]`"));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *io = n;
    return IL_OK;
}

/* `negative`: the minus sign at `start` stood directly before. It belongs to an int literal, and to nothing else. */
static il_status parse_postfix(il_cel_parser *p, bool negative, size_t start, il_cel_node **out) {
    IL_TRY(parse_atom(p, negative, start, out));
    for (;;) {
        if (p->tok.kind == IL_CEL_T_DOT) {
            IL_TRY(parse_member(p, start, out));
        } else if (p->tok.kind == IL_CEL_T_LBRACKET) {
            IL_TRY(parse_index(p, start, out));
        } else if (p->tok.kind == IL_CEL_T_LBRACE) {
            const il_cel_node *n = *out;
            IL_CHECK(n != NULL, p->err);
            bool name = n->op == IL_CEL_OP_NAME || n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_SELECT ||
                        n->op == IL_CEL_OP_LOCAL || n->op == IL_CEL_OP_TYPE;
            return name ? PARSE_FAIL(p, p->tok.offset, IL_E_INVALID, "message literals (`T{field: value}`) are not supported")
                        : il_cel_parse_unexpected(p, "an operator or the end");
        } else {
            return IL_OK;
        }
    }
}

/* `only`: the sign that stands before; `!` and `-` do not mix without parentheses. */
static il_status parse_unary(il_cel_parser *p, il_cel_token_kind only, il_cel_node **out) {
    il_cel_token_kind kind = p->tok.kind;
    size_t start = p->tok.offset;
    if (kind != IL_CEL_T_NOT && kind != IL_CEL_T_MINUS) {
        return parse_postfix(p, false, start, out);
    }
    if (only != IL_CEL_T_END && only != kind) {
        return PARSE_FAIL(p, start, IL_E_SYNTAX, "`!` and `-` do not mix; use parentheses");
    }
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_advance(p));
    if (kind == IL_CEL_T_MINUS && p->tok.kind == IL_CEL_T_INT) {
        IL_TRY(parse_postfix(p, true, start, out));
    } else {
        il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
        IL_TRY(il_cel_parse_node(p, kind == IL_CEL_T_NOT ? IL_CEL_OP_NOT : IL_CEL_OP_NEG, start, start, &n));
        IL_CHECK(n != NULL, p->err);
        IL_TRY(parse_unary(p, kind, &kid));
        IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
        il_cel_parse_close(p, n);
        *out = n;
    }
    il_cel_parse_leave(p);
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
static il_status parse_binary(il_cel_parser *p, unsigned strength, il_cel_node **out) {
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
        IL_TRY(il_cel_parse_advance(p));
        IL_TRY(parse_binary(p, here + 1, &right));
        if (chain == NULL || chain != *out || chain->op != op) {
            IL_TRY(il_cel_parse_node(p, op, start, at, &chain));
            IL_CHECK(chain != NULL, p->err);
            tail = NULL;
            IL_TRY(il_cel_parse_hang(p, chain, &tail, *out));
            *out = chain;
        }
        IL_TRY(il_cel_parse_hang(p, chain, &tail, right));
        il_cel_parse_close(p, chain);
        if (p->env->families != NULL) {
            IL_TRY(il_cel_family_compare(p, chain));
        }
        if (op != IL_CEL_OP_AND && op != IL_CEL_OP_OR) {
            chain = NULL; /* a - b - c is (a - b) - c */
        }
    }
}

il_status il_cel_parse_expr(il_cel_parser *p, il_cel_node **out) {
    size_t start = p->tok.offset;
    IL_TRY(parse_binary(p, 1, out));
    if (p->tok.kind == IL_CEL_T_QUESTION) {
        il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
        IL_TRY(il_cel_parse_node(p, IL_CEL_OP_COND, start, p->tok.offset, &n));
        IL_CHECK(n != NULL, p->err);
        IL_TRY(il_cel_parse_hang(p, n, &tail, *out));
        IL_TRY(il_cel_parse_advance(p));
        IL_TRY(parse_binary(p, 1, &kid));
        IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
        IL_TRY(il_cel_parse_want(p, IL_CEL_T_COLON, "`:`"));
        IL_TRY(il_cel_parse_enter(p));
        IL_TRY(il_cel_parse_expr(p, &kid));
        il_cel_parse_leave(p);
        IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
        il_cel_parse_close(p, n);
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
    *src = (il_cel_source){{NULL, 0}, line, col};
    IL_TRY(il_arena_copy(arena, source, &src->text, err));
    size_t bad = 0;
    if (!il_str_utf8(src->text, &bad)) {
        return IL_CEL_FAIL(src, bad, err, IL_E_SYNTAX, "not valid UTF-8");
    }
    il_cel_parser p = {
        .arena = arena, .env = env, .limits = limits, .err = err, .lex = {src, 0}, .qualified = env->container.n > 0};
    for (size_t i = 0; i < env->nvars && !p.qualified; i++) {
        p.qualified = il_str_find(env->vars[i].name, IL_STR("."), 0) != SIZE_MAX;
    }
    if (env->families != NULL && env->families->bound < env->families->n) {
        const il_cel_families *f = env->families;
        IL_TRY(il_cel_family_bind(&p, f->list[f->bound].name, f->bound, f->member, 0));
    }
    IL_TRY(il_cel_parse_advance(&p));
    if (p.tok.kind == IL_CEL_T_END) {
        return IL_CEL_FAIL(src, 0, err, IL_E_SYNTAX, "an empty expression");
    }
    IL_TRY(il_cel_parse_expr(&p, out));
    if (p.tok.kind != IL_CEL_T_END) {
        return il_cel_parse_unexpected(&p, "an operator or the end");
    }
    return IL_OK;
}
