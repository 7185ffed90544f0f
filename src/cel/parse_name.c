/* SPDX-License-Identifier: Apache-2.0 */
/* What names stand for: macro variables, lets, variables (also qualified ones, in the container first), types. What is nothing of these stays a
 * NAME, for the checker to refuse. */
#include "base/utf8.h"
#include "cel/builtin.h"
#include "cel/family.h"

bool il_cel_parse_type(il_str name, il_cel_value *out) {
    static const struct {
        il_str name;
        il_cel_kind kind;
    } types[] = {
        {{"bool", 4}, IL_CEL_BOOL},
        {{"int", 3}, IL_CEL_INT},
        {{"uint", 4}, IL_CEL_UINT},
        {{"double", 6}, IL_CEL_DOUBLE},
        {{"string", 6}, IL_CEL_STRING},
        {{"bytes", 5}, IL_CEL_BYTES},
        {{"list", 4}, IL_CEL_LIST},
        {{"map", 3}, IL_CEL_MAP},
        {{"null_type", 9}, IL_CEL_NULL},
        {{"type", 4}, IL_CEL_TYPE},
        {{"optional_type", 13}, IL_CEL_OPTIONAL},
        {{"google.protobuf.Timestamp", 25}, IL_CEL_TIMESTAMP},
        {{"google.protobuf.Duration", 24}, IL_CEL_DURATION},
        {{"net.IP", 6}, IL_CEL_IP},
        {{"net.CIDR", 8}, IL_CEL_CIDR},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (il_str_eq(types[i].name, name)) {
            *out = il_cel_of(IL_CEL_TYPE, (uint32_t)types[i].kind);
            return true;
        }
    }
    return false;
}

bool il_cel_parse_function(const il_cel_parser *p, il_str name) {
    for (size_t i = 0; i < p->env->nfunctions; i++) {
        if (!p->env->functions[i].receiver && il_str_eq(p->env->functions[i].name, name)) {
            return true;
        }
    }
    return il_cel_builtin_find(name, false) != NULL;
}

/* Stands for the let's expression in parentheses. Its names are those of the root scope: a macro variable around the use is not
 * seen inside, so a let means the same wherever it is used. */
static il_status parse_expand(il_cel_parser *p, size_t let, size_t member, size_t offset, il_cel_node **out) {
    const il_cel_let *l = &p->env->lets[let];
    for (uint32_t i = 0; i < p->nlets; i++) {
        if (p->lets[i] == let) {
            return PARSE_FAIL(p, offset, IL_E_INVALID, "the let `%.*s` refers to itself", IL_STR_ARG(l->name));
        }
    }
    IL_TRY(il_cel_parse_enter(p));
    if (p->nlets >= IL_CEL_DEPTH_MAX) {
        return PARSE_FAIL(p, offset, IL_E_LIMIT, "lets nested deeper than %u", (unsigned)IL_CEL_DEPTH_MAX);
    }
    il_cel_source *src = IL_NEW(p->arena, il_cel_source);
    if (src == NULL) {
        return il_cel_no_memory(p->arena, p->err);
    }
    if (l->source.n > p->limits->source_bytes) {
        return PARSE_FAIL(p, offset, IL_E_LIMIT, "the let `%.*s` is longer than %zu bytes", IL_STR_ARG(l->name),
                          p->limits->source_bytes);
    }
    p->expanded += l->source.n;
    if (p->expanded / 64 > p->limits->source_bytes) {
        return PARSE_FAIL(p, offset, IL_E_LIMIT, "the lets expand to more than %zu bytes", p->limits->source_bytes * 64);
    }
    *src = (il_cel_source){{NULL, 0}, l->line, l->col};
    IL_TRY(il_arena_copy(p->arena, l->source, &src->text, p->err));
    size_t bad = 0;
    if (!il_str_utf8(l->source, &bad)) {
        return IL_CEL_FAIL(src, bad, p->err, IL_E_SYNTAX, "not valid UTF-8");
    }

    il_cel_lexer lex = p->lex;
    il_cel_token tok = p->tok, prev = p->prev;
    uint32_t visible = p->visible, nbound = p->nbound, bound_visible = p->bound_visible;
    il_cel_node *n = NULL, *kid = NULL, *tail = NULL;
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_LET, offset, offset, &n));
    IL_CHECK(n != NULL, p->err);
    il_cel_parse_close(p, n);
    p->lex = (il_cel_lexer){src, 0};
    p->prev = (il_cel_token){.kind = IL_CEL_T_END};
    p->visible = p->nlocals;
    p->bound_visible = p->nbound;
    p->lets[p->nlets++] = let;
    size_t family = il_cel_family_of_let(p->env, let);
    if (family != SIZE_MAX) {
        IL_TRY(il_cel_family_bind(p, p->env->families->list[family].name, family, member, 0));
    }
    IL_TRY(il_cel_lex(&p->lex, &p->tok, p->err));
    IL_TRY(il_cel_parse_expr(p, &kid));
    if (p->tok.kind != IL_CEL_T_END) {
        return il_cel_parse_unexpected(p, "an operator or the end");
    }
    p->lex = lex;
    p->tok = tok;
    p->prev = prev;
    p->visible = visible;
    p->nbound = nbound;
    p->bound_visible = bound_visible;
    p->nlets--;
    il_cel_parse_leave(p);
    IL_TRY(il_cel_parse_hang(p, n, &tail, kid));
    *out = n;
    return IL_OK;
}

/* `name` in `container` (empty: the root), compared in two pieces. */
static bool parse_is_in(il_str full, il_str container, il_str name) {
    if (container.n == 0) {
        return il_str_eq(full, name);
    }
    return full.n == container.n + 1 + name.n && il_str_starts(full, container) && full.p[container.n] == '.' &&
           il_str_ends(full, name);
}

/* The variable that `name` stands for: in the container, in what is around it, at the root. nvars when there is none. */
static size_t parse_find_var(const il_cel_parser *p, il_str name, bool root) {
    il_str container = root ? (il_str){NULL, 0} : p->env->container;
    for (;;) {
        for (size_t i = 0; i < p->env->nvars; i++) {
            if (parse_is_in(p->env->vars[i].name, container, name)) {
                return i;
            }
        }
        if (container.n == 0) {
            return p->env->nvars;
        }
        size_t n = container.n;
        while (n > 0 && container.p[n - 1] != '.') {
            n--;
        }
        container.n = n > 0 ? n - 1 : 0;
    }
}

static il_status parse_var(il_cel_parser *p, size_t var, bool root, size_t start, size_t at, il_cel_node **out) {
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_VAR, start, at, out));
    IL_CHECK(*out != NULL, p->err);
    il_cel_parse_close(p, *out);
    (*out)->root = root && p->env->container.n > 0; /* only then it makes a difference how it is printed */
    (*out)->slot = (uint32_t)var;
    (*out)->name = p->env->vars[var].name;
    return IL_OK;
}

/* The longest qualified name, from the name just read (at `at`, its text `name`) over the `.name`s that follow, that is a variable. What
 * is called is no part of it. *var is nvars when none is; else what belongs to it has been read. */
static il_status parse_longest(il_cel_parser *p, il_str name, bool root, size_t *var) {
    enum { PARTS = 16 };
    il_cel_lexer lex = p->lex;
    il_cel_token tok = p->tok, prev = p->prev;
    char *text = il_arena_get(p->arena, p->lex.src->text.n - p->prev.offset);
    if (text == NULL) {
        return il_cel_no_memory(p->arena, p->err);
    }
    size_t n = name.n;
    memcpy(text, name.p, n);
    *var = p->env->nvars;
    for (unsigned parts = 0; parts < PARTS; parts++) {
        size_t found = p->tok.kind == IL_CEL_T_LPAREN ? p->env->nvars : parse_find_var(p, (il_str){text, n}, root);
        if (found < p->env->nvars) {
            *var = found;
            lex = p->lex;
            tok = p->tok;
            prev = p->prev;
        }
        if (p->tok.kind != IL_CEL_T_DOT) {
            break;
        }
        IL_TRY(il_cel_parse_advance(p));
        if (p->tok.kind != IL_CEL_T_NAME && p->tok.kind != IL_CEL_T_RESERVED) {
            break;
        }
        il_str part = il_cel_parse_text(p, &p->tok);
        text[n++] = '.';
        memcpy(text + n, part.p, part.n);
        n += part.n;
        IL_TRY(il_cel_parse_advance(p));
    }
    p->lex = lex;
    p->tok = tok;
    p->prev = prev;
    return IL_OK;
}

static il_status parse_call(il_cel_parser *p, il_str name, size_t start, size_t at, il_cel_node **out) {
    il_cel_node *n = NULL;
    IL_TRY(il_cel_parse_advance(p));
    if (il_str_eq(name, IL_STR("has"))) {
        return il_cel_parse_has(p, start, at, out);
    }
    IL_TRY(il_cel_parse_enter(p));
    IL_TRY(il_cel_parse_node(p, IL_CEL_OP_CALL, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    IL_TRY(il_arena_copy(p->arena, name, &n->name, p->err));
    IL_TRY(il_cel_parse_arguments(p, n, NULL));
    il_cel_parse_leave(p);
    il_cel_parse_close(p, n);
    *out = n;
    return IL_OK;
}

il_status il_cel_parse_name(il_cel_parser *p, bool root, size_t start, il_cel_node **out) {
    size_t at = p->tok.offset;
    il_str name = il_cel_parse_text(p, &p->tok);
    il_cel_node *n = NULL;
    IL_TRY(il_cel_parse_advance(p));
    if (p->tok.kind == IL_CEL_T_LPAREN) {
        return parse_call(p, name, start, at, out);
    }
    if (!root && p->env->families != NULL) {
        bool is = false;
        IL_TRY(il_cel_family_name(p, name, start, at, &is, out));
        if (is) {
            return IL_OK;
        }
    }
    for (uint32_t i = root ? p->visible : p->nlocals; i > p->visible; i--) { /* innermost first */
        if (il_str_eq(p->locals[i - 1], name)) {
            IL_TRY(il_cel_parse_node(p, IL_CEL_OP_LOCAL, start, at, &n));
            IL_CHECK(n != NULL, p->err);
            il_cel_parse_close(p, n);
            n->slot = i - 1;
            n->name = p->locals[i - 1];
            *out = n;
            return IL_OK;
        }
    }
    for (size_t i = 0; i < p->env->nlets; i++) {
        if (il_str_eq(p->env->lets[i].name, name)) {
            size_t family = il_cel_family_of_let(p->env, i), member = 0;
            if (family != SIZE_MAX) {
                IL_TRY(il_cel_family_index(p, name, family, at, &member));
            }
            return parse_expand(p, i, member, start, out);
        }
    }
    size_t var = p->env->nvars;
    if (p->qualified) {
        IL_TRY(parse_longest(p, name, root, &var));
    } else {
        var = parse_find_var(p, name, true);
    }
    if (var < p->env->nvars) {
        return parse_var(p, var, root, start, at, out);
    }
    il_cel_value type;
    bool is_type = il_cel_parse_type(name, &type);
    IL_TRY(il_cel_parse_node(p, is_type ? IL_CEL_OP_TYPE : IL_CEL_OP_NAME, start, at, &n));
    IL_CHECK(n != NULL, p->err);
    il_cel_parse_close(p, n);
    n->root = root;
    if (is_type) {
        n->lit = type;
        n->constant = true;
    }
    *out = n;
    return il_arena_copy(p->arena, name, &n->name, p->err);
}

il_status il_cel_parse_dotted(il_cel_parser *p, const il_cel_node *n, il_str field, bool *is, il_str *out) {
    size_t bytes = field.n;
    *is = false;
    for (const il_cel_node *k = n;; k = k->kids) {
        bytes += k->name.n + 1;
        if (k->op == IL_CEL_OP_NAME || k->op == IL_CEL_OP_VAR || k->op == IL_CEL_OP_TYPE) {
            break;
        }
        if (k->op != IL_CEL_OP_SELECT || k->optional) {
            return IL_OK;
        }
    }
    char *text = il_arena_get(p->arena, bytes);
    if (text == NULL) {
        return il_cel_no_memory(p->arena, p->err);
    }
    size_t at = bytes - field.n;
    memcpy(text + at, field.p, field.n);
    for (const il_cel_node *k = n; at > 0; k = k->kids) {
        text[--at] = '.';
        at -= k->name.n;
        memcpy(text + at, k->name.p, k->name.n);
    }
    *is = true;
    *out = (il_str){text, bytes};
    return IL_OK;
}
