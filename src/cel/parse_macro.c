/* SPDX-License-Identifier: Apache-2.0 */
/* Macros are nodes of their own, never expanded: messages and printing keep what was written. */
#include "cel/parse.h"

typedef struct parse_shape {
    il_str name;
    il_cel_op op;
    bool one, two; /* how many variables it may have */
    bool filter;   /* may have a condition before its body */
} parse_shape;

static const parse_shape parse_shapes[] = {
    {{"exists", 6}, IL_CEL_OP_EXISTS, true, true, false},
    {{"all", 3}, IL_CEL_OP_ALL, true, true, false},
    {{"exists_one", 10}, IL_CEL_OP_EXISTS_ONE, true, true, false},
    {{"existsOne", 9}, IL_CEL_OP_EXISTS_ONE, true, true, false},
    {{"filter", 6}, IL_CEL_OP_FILTER, true, false, false},
    {{"map", 3}, IL_CEL_OP_TRANSFORM, true, false, true},
    {{"transformList", 13}, IL_CEL_OP_TRANSFORM, false, true, true},
    {{"transformMap", 12}, IL_CEL_OP_TRANSFORM_MAP, false, true, true},
    {{"transformMapEntry", 17}, IL_CEL_OP_TRANSFORM_ENTRY, false, true, true},
    {{"optMap", 6}, IL_CEL_OP_OPT_MAP, true, false, false},
    {{"optFlatMap", 10}, IL_CEL_OP_OPT_FLAT_MAP, true, false, false},
};

static il_status parse_usage(il_cel_parser *p, const parse_shape *m, size_t at) {
    const char *form = m->op == IL_CEL_OP_TRANSFORM && m->one ? "x, x + 1"
                       : m->op == IL_CEL_OP_TRANSFORM_ENTRY   ? "k, v, {k: v}"
                       : !m->one                              ? "k, v, v + 1"
                       : m->op == IL_CEL_OP_OPT_FLAT_MAP      ? "x, x.?field"
                       : m->op == IL_CEL_OP_OPT_MAP           ? "x, x + 1"
                                                              : "x, x == 1";
    return PARSE_FAIL(p, at, IL_E_SYNTAX, "`%.*s` takes a variable name and %s: `%.*s(%s)`", IL_STR_ARG(m->name),
                      m->op == IL_CEL_OP_TRANSFORM || m->op == IL_CEL_OP_OPT_MAP || m->op == IL_CEL_OP_OPT_FLAT_MAP || !m->one
                          ? "an expression"
                          : "a condition",
                      IL_STR_ARG(m->name), form);
}

/* The current token is a variable's name; it is read, with the comma after it. */
static il_status parse_variable(il_cel_parser *p, const parse_shape *m, il_str *name, size_t *at) {
    *at = p->tok.offset;
    if (p->tok.kind != IL_CEL_T_NAME) {
        return il_cel_parse_unexpected(p, "a variable name");
    }
    IL_TRY(il_arena_copy(p->arena, il_cel_parse_text(p, &p->tok), name, p->err));
    IL_TRY(il_cel_parse_advance(p));
    if (p->tok.kind != IL_CEL_T_COMMA) {
        return parse_usage(p, m, *at);
    }
    return il_cel_parse_advance(p);
}

static il_status parse_bind_local(il_cel_parser *p, il_str name, size_t at, uint32_t *slot) {
    if (p->nlocals >= IL_CEL_LOCALS) {
        return PARSE_FAIL(p, at, IL_E_LIMIT, "more than %u macro variables in one place", (unsigned)IL_CEL_LOCALS);
    }
    *slot = p->nlocals;
    p->locals[p->nlocals++] = name;
    return IL_OK;
}

/* Whether a name and a comma come next: then they are a second variable. */
static il_status parse_second_follows(const il_cel_parser *p, bool *does) {
    il_cel_lexer ahead = p->lex;
    il_cel_token next;
    *does = false;
    if (p->tok.kind == IL_CEL_T_NAME) {
        IL_TRY(il_cel_lex(&ahead, &next, p->err));
        *does = next.kind == IL_CEL_T_COMMA;
    }
    return IL_OK;
}

static il_status parse_loop(il_cel_parser *p, const parse_shape *m, size_t start, size_t at, il_cel_node **io) {
    il_cel_node *n = NULL, *body = NULL, *tail = NULL;
    size_t var = 0;
    uint32_t before = p->nlocals;
    bool two = !m->one;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, m->op, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    IL_TRY(il_cel_parse_hang(p, n, &tail, *io));
    IL_TRY(parse_variable(p, m, &n->name, &var));
    if (m->one && m->two) {
        IL_TRY(parse_second_follows(p, &two));
    }
    IL_TRY(parse_bind_local(p, n->name, var, &n->slot));
    if (two) {
        IL_TRY(parse_variable(p, m, &n->name2, &var));
        if (il_str_eq(n->name, n->name2)) {
            return PARSE_FAIL(p, var, IL_E_SYNTAX, "`%.*s` has the variable `%.*s` twice", IL_STR_ARG(m->name),
                              IL_STR_ARG(n->name));
        }
        IL_TRY(parse_bind_local(p, n->name2, var, &n->slot2));
    }
    IL_TRY(il_cel_parse_expr(p, &body));
    IL_TRY(il_cel_parse_hang(p, n, &tail, body));
    if (m->filter && p->tok.kind == IL_CEL_T_COMMA) {
        IL_TRY(il_cel_parse_advance(p));
        IL_TRY(il_cel_parse_expr(p, &body));
        IL_TRY(il_cel_parse_hang(p, n, &tail, body));
    }
    p->nlocals = before;
    if (p->tok.kind == IL_CEL_T_COMMA) {
        return parse_usage(p, m, at);
    }
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_RPAREN, "`)`"));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *io = n;
    return IL_OK;
}

/* After `cel.bind(`. The init does not see the variable. */
static il_status parse_bind(il_cel_parser *p, size_t start, size_t at, il_cel_node **out) {
    static const parse_shape bind = {{"cel.bind", 8}, IL_CEL_OP_BIND, true, false, false};
    il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
    size_t var = 0;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_BIND, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    IL_TRY(parse_variable(p, &bind, &n->name, &var));
    IL_TRY(il_cel_parse_expr(p, &kid));
    IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_COMMA, "`,` and an expression for the variable to be used in"));
    IL_TRY(parse_bind_local(p, n->name, var, &n->slot));
    IL_TRY(il_cel_parse_expr(p, &kid));
    p->nlocals--;
    IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_RPAREN, "`)`"));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *out = n;
    return IL_OK;
}

il_status il_cel_parse_macro(il_cel_parser *p, il_str name, size_t start, size_t at, bool *was, il_cel_node **io) {
    const il_cel_node *on = *io;
    *was = true;
    if (il_str_eq(name, IL_STR("bind")) && on->op == IL_CEL_OP_NAME && il_str_eq(on->name, IL_STR("cel"))) {
        return parse_bind(p, start, at, io);
    }
    for (size_t i = 0; i < sizeof parse_shapes / sizeof parse_shapes[0]; i++) {
        if (il_str_eq(parse_shapes[i].name, name)) {
            return parse_loop(p, &parse_shapes[i], start, at, io);
        }
    }
    *was = false;
    return IL_OK;
}

il_status il_cel_parse_has(il_cel_parser *p, size_t start, size_t at, il_cel_node **out) {
    il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
    size_t arg = p->tok.offset;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_HAS, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    IL_TRY(il_cel_parse_expr(p, &kid));
    IL_CHECK(kid != NULL, p->err);
    if (kid->op != IL_CEL_OP_SELECT || kid->optional || p->tok.kind == IL_CEL_T_COMMA) {
        return PARSE_FAIL(p, arg, IL_E_SYNTAX, "`has` takes a field: `has(x.field)`");
    }
    IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_RPAREN, "`)`"));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *out = n;
    return IL_OK;
}
