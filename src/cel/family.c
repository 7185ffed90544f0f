/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/family.h"

#include "cel/suggest.h"

il_status il_cel_family_join(il_arena *arena, il_str base, il_str member, il_str *out, il_error *err) {
    char *text = il_arena_get(arena, base.n + member.n + 2);
    if (text == NULL) {
        return il_cel_no_memory(arena, err);
    }
    memcpy(text, base.p, base.n);
    text[base.n] = '[';
    memcpy(text + base.n + 1, member.p, member.n);
    text[base.n + member.n + 1] = ']';
    *out = (il_str){text, base.n + member.n + 2};
    return IL_OK;
}

il_status il_cel_family_bind(il_cel_parser *p, il_str name, size_t family, size_t member, size_t at) {
    if (p->nbound >= IL_CEL_LOCALS) {
        return PARSE_FAIL(p, at, IL_E_LIMIT, "more than %u indices in one place", (unsigned)IL_CEL_LOCALS);
    }
    p->bound[p->nbound++] = (il_cel_binding){name, family, member, p->nlocals};
    return IL_OK;
}

static const il_cel_family *family_of(const il_cel_parser *p, size_t family) { return &p->env->families->list[family]; }

static size_t family_find(const il_cel_parser *p, il_str name) {
    const il_cel_families *f = p->env->families;
    for (size_t i = 0; i < f->n; i++) {
        if (il_str_eq(f->list[i].name, name)) {
            return i;
        }
    }
    return f->n;
}

static size_t family_member(const il_cel_family *f, il_str name) {
    for (size_t i = 0; i < f->nmembers; i++) {
        if (il_str_eq(f->members[i], name)) {
            return i;
        }
    }
    return f->nmembers;
}

/* The innermost index of that name; NULL when there is none or a macro variable hides it. */
static const il_cel_binding *family_bound(const il_cel_parser *p, il_str name) {
    for (uint32_t i = p->nbound; i > p->bound_visible; i--) {
        const il_cel_binding *b = &p->bound[i - 1];
        if (il_str_eq(b->name, name)) {
            for (uint32_t k = p->nlocals; k > b->nlocals; k--) {
                if (il_str_eq(p->locals[k - 1], name)) {
                    return NULL;
                }
            }
            return b;
        }
    }
    return NULL;
}

static il_status family_no_member(il_cel_parser *p, const il_cel_node *n, const il_cel_family *f, bool compared) {
    il_str name = il_cel_str(n->lit);
    il_cel_words w = {0};
    il_cel_near near = il_cel_near_to(name);
    for (size_t i = 0; i < f->nmembers; i++) {
        il_cel_near_try(&near, f->members[i]);
    }
    il_cel_say_names(&w, f->members, f->nmembers);
    il_cel_say_near(&w, &near);
    return compared ? IL_CEL_FAIL_SPAN(n->src, n->start, n->end, p->err, IL_E_INVALID, "never equal: `%.*s` is one of %s",
                                       IL_STR_ARG(f->name), w.p)
                    : IL_CEL_FAIL_SPAN(n->src, n->start, n->end, p->err, IL_E_INVALID,
                                       "no member `%.*s` in the family `%.*s`: there are %s", IL_STR_ARG(name),
                                       IL_STR_ARG(f->name), w.p);
}

/* An index in brackets: a bound one, or a member by its name. */
static il_status family_read(il_cel_parser *p, il_str name, size_t family, size_t *member) {
    const il_cel_family *f = family_of(p, family);
    il_cel_node *n = NULL;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_advance(p));
    IL_TRY(il_cel_parse_expr(p, &n));
    IL_CHECK(n != NULL, p->err);
    if (n->op != IL_CEL_OP_LIT || n->lit.kind != IL_CEL_STRING) {
        return IL_CEL_FAIL_SPAN(n->src, n->start, n->end, p->err, IL_E_INVALID,
                                "the index of `%.*s` must be `%.*s`, a variable of a question, or a member in quotes",
                                IL_STR_ARG(name), IL_STR_ARG(f->name));
    }
    if (n->name2.n > 0 && !il_str_eq(n->name2, f->name)) {
        return IL_CEL_FAIL_SPAN(n->src, n->start, n->end, p->err, IL_E_INVALID,
                                "`%.*s` has an index of the family `%.*s`, and this is one of `%.*s`", IL_STR_ARG(name),
                                IL_STR_ARG(f->name), IL_STR_ARG(n->name2));
    }
    *member = family_member(f, il_cel_str(n->lit));
    if (*member == f->nmembers) {
        return family_no_member(p, n, f, false);
    }
    if (p->tok.kind == IL_CEL_T_COMMA) {
        return PARSE_FAIL(p, p->tok.offset, IL_E_INVALID, "a name has one index at most");
    }
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_RBRACKET, "`]`"));
    il_cel_parse_leave(p);
    if (p->tok.kind == IL_CEL_T_LBRACKET) {
        return PARSE_FAIL(p, p->tok.offset, IL_E_INVALID, "a name has one index at most");
    }
    return IL_OK;
}

il_status il_cel_family_index(il_cel_parser *p, il_str name, size_t family, size_t at, size_t *member) {
    if (p->tok.kind != IL_CEL_T_LBRACKET) {
        return PARSE_FAIL(p, at, IL_E_INVALID, "`%.*s` has an index: `%.*s[%.*s]`", IL_STR_ARG(name), IL_STR_ARG(name),
                          IL_STR_ARG(family_of(p, family)->name));
    }
    return family_read(p, name, family, member);
}

il_status il_cel_family_field(il_cel_parser *p, il_cel_node *n) {
    const il_cel_families *f = p->env->families;
    const il_cel_node *on = n->kids;
    if (on == NULL || on->op != IL_CEL_OP_VAR || n->optional) {
        return IL_OK;
    }
    for (size_t i = 0; i < f->nfields; i++) {
        const il_cel_type *type = p->env->vars[on->slot].type;
        size_t member = 0;
        il_str first;
        bool has = false;
        if (!il_str_eq(f->fields[i].base, n->name) || type == NULL || type->kind != IL_CEL_RECORD) {
            continue;
        }
        IL_TRY(il_cel_family_join(p->arena, n->name, family_of(p, f->fields[i].family)->members[0], &first, p->err));
        for (size_t k = 0; k < type->nfields && !has; k++) {
            has = il_str_eq(type->fields[k].name, first);
        }
        if (!has) {
            continue; /* the payload of a call may have a field of that name */
        }
        if (p->tok.kind != IL_CEL_T_LBRACKET) {
            return PARSE_FAIL(p, n->at, IL_E_INVALID, "`%.*s` has an index: `%.*s.%.*s[%.*s]`", IL_STR_ARG(n->name),
                              IL_STR_ARG(on->name), IL_STR_ARG(n->name), IL_STR_ARG(family_of(p, f->fields[i].family)->name));
        }
        IL_TRY(family_read(p, n->name, f->fields[i].family, &member));
        il_cel_parse_close(p, n);
        return il_cel_family_join(p->arena, n->name, family_of(p, f->fields[i].family)->members[member], &n->name, p->err);
    }
    return IL_OK;
}

il_status il_cel_family_word(il_cel_parser *p, il_str *text) {
    const il_cel_families *f = p->env->families;
    size_t open = il_str_find(*text, IL_STR("["), 0);
    if (open == SIZE_MAX || text->p[text->n - 1] != ']') {
        return IL_OK;
    }
    il_str base = il_str_part(*text, 0, open);
    const il_cel_binding *b = family_bound(p, il_str_part(*text, open + 1, text->n - 1));
    for (size_t i = 0; b != NULL && i < f->nwords; i++) {
        if (il_str_eq(f->words[i].base, base) && f->words[i].family == b->family) {
            return il_cel_family_join(p->arena, base, family_of(p, b->family)->members[b->member], text, p->err);
        }
    }
    return IL_OK;
}

/* A literal that is compared with an index. */
static il_status family_compare(il_cel_parser *p, const il_cel_node *index, const il_cel_node *with) {
    const il_cel_family *f = family_of(p, family_find(p, index->name2));
    if (with->op != IL_CEL_OP_LIT || with->lit.kind != IL_CEL_STRING) {
        return IL_OK;
    }
    if (with->name2.n > 0 && !il_str_eq(with->name2, index->name2)) {
        return IL_CEL_FAIL_SPAN(with->src, with->start, with->end, p->err, IL_E_INVALID,
                                "never equal: indices of the families `%.*s` and `%.*s`", IL_STR_ARG(index->name2),
                                IL_STR_ARG(with->name2));
    }
    return family_member(f, il_cel_str(with->lit)) < f->nmembers ? IL_OK : family_no_member(p, with, f, true);
}

static bool family_is_index(const il_cel_node *n) { return n != NULL && n->op == IL_CEL_OP_LIT && n->name2.n > 0; }

il_status il_cel_family_compare(il_cel_parser *p, const il_cel_node *n) {
    const il_cel_node *a = n->kids;
    const il_cel_node *b = a != NULL ? a->next : NULL;
    if (n->op != IL_CEL_OP_EQ && n->op != IL_CEL_OP_NE && n->op != IL_CEL_OP_IN) {
        return IL_OK;
    }
    if (family_is_index(a) && b != NULL) {
        IL_TRY(family_compare(p, a, b));
        for (const il_cel_node *k = b->op == IL_CEL_OP_LIST && n->op == IL_CEL_OP_IN ? b->kids : NULL; k != NULL; k = k->next) {
            IL_TRY(family_compare(p, a, k));
        }
    }
    return family_is_index(b) && a != NULL && n->op != IL_CEL_OP_IN ? family_compare(p, b, a) : IL_OK;
}

typedef enum family_question { FAMILY_NONE, FAMILY_EXISTS, FAMILY_ALL, FAMILY_ONE } family_question;

/* Whether `.exists(` or one of its like comes next. */
static family_question family_asked(const il_cel_parser *p) {
    static const struct {
        il_str name;
        family_question question;
    } words[] = {{{"exists", 6}, FAMILY_EXISTS},
                 {{"all", 3}, FAMILY_ALL},
                 {{"exists_one", 10}, FAMILY_ONE},
                 {{"existsOne", 9}, FAMILY_ONE}};
    il_cel_lexer ahead = p->lex;
    il_cel_token name;
    il_cel_token open;
    if (p->tok.kind != IL_CEL_T_DOT || il_cel_lex(&ahead, &name, NULL) != IL_OK || il_cel_lex(&ahead, &open, NULL) != IL_OK ||
        open.kind != IL_CEL_T_LPAREN) {
        return FAMILY_NONE;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (il_str_eq(il_cel_parse_text(p, &name), words[i].name)) {
            return words[i].question;
        }
    }
    return FAMILY_NONE;
}

static il_status family_literal(il_cel_parser *p, il_cel_value value, size_t at, il_cel_node **out) {
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_LIT, at, at, out));
    IL_CHECK(*out != NULL, p->err);
    (*out)->constant = true;
    (*out)->lit = value;
    il_cel_parse_close(p, *out);
    return IL_OK;
}

static il_status family_node(il_cel_parser *p, il_cel_op op, size_t start, size_t at, il_cel_node *a, il_cel_node *b,
                             il_cel_node *c, il_cel_node **out) {
    il_cel_node *tail = NULL;
    IL_TRY(il_cel_parse_node(p, op, start, at, out));
    IL_CHECK(*out != NULL, p->err);
    IL_TRY(il_cel_parse_hang(p, *out, &tail, a));
    IL_TRY(il_cel_parse_hang(p, *out, &tail, b));
    if (c != NULL) {
        IL_TRY(il_cel_parse_hang(p, *out, &tail, c));
    }
    il_cel_parse_close(p, *out);
    return IL_OK;
}

/* One more body: `a || b`, `a && b`; of exists_one `(a ? 1 : 0) + (b ? 1 : 0)`, which is compared with 1 in the end. */
static il_status family_add(il_cel_parser *p, family_question q, size_t start, size_t at, il_cel_node *body, il_cel_node **tail,
                            il_cel_node **io) {
    if (q != FAMILY_ONE) {
        if (*io == NULL) {
            IL_TRY(il_cel_parse_node(p, q == FAMILY_ALL ? IL_CEL_OP_AND : IL_CEL_OP_OR, start, at, io));
        }
        return il_cel_parse_hang(p, *io, tail, body);
    }
    il_cel_node *one = NULL, *none = NULL, *count = NULL;
    IL_TRY(family_literal(p, il_cel_of_int(1), at, &one));
    IL_TRY(family_literal(p, il_cel_of_int(0), at, &none));
    IL_TRY(family_node(p, IL_CEL_OP_COND, start, at, body, one, none, &count));
    if (*io == NULL) {
        *io = count;
        return IL_OK;
    }
    return family_node(p, IL_CEL_OP_ADD, start, at, *io, count, NULL, io);
}

/* At the dot behind the family's name. The body is read once for each member, each time with the variable bound to it. */
static il_status family_ask(il_cel_parser *p, size_t family, family_question q, size_t start, il_cel_node **out) {
    const il_cel_family *f = family_of(p, family);
    il_cel_node *all = NULL, *tail = NULL;
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_advance(p));
    size_t at = p->tok.offset;
    IL_TRY(il_cel_parse_advance(p));
    IL_TRY(il_cel_parse_advance(p));
    if (p->tok.kind != IL_CEL_T_NAME) {
        return il_cel_parse_unexpected(p, "a variable name");
    }
    size_t where = p->tok.offset;
    il_str variable;
    IL_TRY(il_arena_copy(p->arena, il_cel_parse_text(p, &p->tok), &variable, p->err));
    IL_TRY(il_cel_parse_advance(p));
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_COMMA, "`,` and a condition"));
    const il_cel_lexer lex = p->lex;
    const il_cel_token tok = p->tok, prev = p->prev;
    const uint32_t before = p->nbound;
    for (size_t i = 0; i < f->nmembers; i++) {
        il_cel_node *body = NULL;
        p->lex = lex;
        p->tok = tok;
        p->prev = prev;
        IL_TRY(il_cel_family_bind(p, variable, family, i, where));
        IL_TRY(il_cel_parse_expr(p, &body));
        IL_TRY(family_add(p, q, start, at, body, &tail, &all));
        p->nbound = before;
    }
    IL_CHECK(all != NULL, p->err);
    if (q == FAMILY_ONE) {
        il_cel_node *one = NULL;
        IL_TRY(family_literal(p, il_cel_of_int(1), at, &one));
        IL_TRY(family_node(p, IL_CEL_OP_EQ, start, at, all, one, NULL, &all));
    } else if (f->nmembers == 1) { /* a chain has two parts at least */
        il_cel_node *same = NULL;
        IL_TRY(family_literal(p, il_cel_of_bool(q == FAMILY_ALL), at, &same));
        IL_TRY(il_cel_parse_hang(p, all, &tail, same));
    }
    IL_TRY(il_cel_parse_want(p, IL_CEL_T_RPAREN, "`)`"));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, all);
    *out = all;
    return IL_OK;
}

il_status il_cel_family_name(il_cel_parser *p, il_str name, size_t start, size_t at, bool *is, il_cel_node **out) {
    const il_cel_binding *b = family_bound(p, name);
    size_t family = family_find(p, name);
    *is = false;
    for (uint32_t i = p->nlocals; b == NULL && i > p->visible; i--) {
        if (il_str_eq(p->locals[i - 1], name)) {
            return IL_OK; /* a macro variable */
        }
    }
    if (family < p->env->families->n) {
        family_question q = family_asked(p);
        *is = true;
        if (q != FAMILY_NONE) {
            return family_ask(p, family, q, start, out);
        }
        if (b == NULL) {
            return PARSE_FAIL(p, at, IL_E_INVALID,
                              "the index `%.*s` is not bound here: ask `%.*s.exists(x, …)`, or name a member", IL_STR_ARG(name),
                              IL_STR_ARG(name));
        }
    }
    if (b == NULL) {
        return IL_OK;
    }
    *is = true;
    const il_cel_family *f = family_of(p, b->family);
    IL_TRY(family_literal(p, il_cel_of_str(f->members[b->member]), at, out));
    (*out)->start = (uint32_t)start;
    (*out)->name = f->members[b->member];
    (*out)->name2 = f->name;
    return IL_OK;
}
