/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/check.h"

/* --- what messages are made of ----------------------------------------------------------------------------------------- */

static bool check_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t il_cel_check_name_end(const il_cel_node *n) {
    const il_str text = n->src->text;
    size_t i = n->at;
    if (i >= text.n) {
        return i;
    }
    if (text.p[i] == '`') {
        do {
            i++;
        } while (i < text.n && text.p[i] != '`');
        return i < text.n ? i + 1 : i;
    }
    if (!check_word_byte(text.p[i])) {
        const size_t sign = n->op == IL_CEL_OP_COND ? 1 : il_str_of(il_cel_sign((il_cel_op)n->op)).n;
        return i + (sign > 0 ? sign : 1);
    }
    while (i < text.n && check_word_byte(text.p[i])) {
        i++;
    }
    return i;
}

il_str il_cel_check_text(const il_cel_node *n) {
    enum { SHORT = 60 };
    const il_str text = il_str_part(n->src->text, n->start, n->end);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' || text.p[i] == '\r' || (text.p[i] == '/' && i + 1 < text.n && text.p[i + 1] == '/')) {
            return (il_str){NULL, 0};
        }
    }
    return text.n <= SHORT ? text : (il_str){NULL, 0};
}

il_cel_type_shown il_cel_check_type_name(const il_cel_checker *c, const il_cel_type *t) {
    il_cel_type_shown name = {.p = {0}};
    il_cel_type_write(&c->types, t, name.p, sizeof name.p);
    return name;
}

void il_cel_check_say_bool(const il_cel_checker *c, const il_cel_node *n, il_cel_words *w) {
    const il_cel_kind kind = il_cel_check_seen(c, n)->kind;
    const il_str text = n->op != IL_CEL_OP_COND ? il_cel_check_text(n) : (il_str){NULL, 0};
    if (kind == IL_CEL_INT || kind == IL_CEL_UINT || kind == IL_CEL_DOUBLE) {
        const char *zero = kind == IL_CEL_INT ? "0" : kind == IL_CEL_UINT ? "0u" : "0.0";
        if (text.n > 0) {
            il_cel_say(w, "; did you mean `%.*s > %s`?", IL_STR_ARG(text), zero);
        } else {
            il_cel_say(w, "; compare it with something");
        }
    } else if (kind == IL_CEL_LIST || kind == IL_CEL_MAP) {
        if (text.n > 0) {
            il_cel_say(w, "; did you mean `size(%.*s) > 0`?", IL_STR_ARG(text));
        } else {
            il_cel_say(w, "; ask for its `size()`");
        }
    } else if (kind == IL_CEL_STRING) {
        il_cel_say(w, "; compare it with a text");
    } else if (kind == IL_CEL_OPTIONAL && text.n > 0) {
        il_cel_say(w, "; did you mean `%.*s.hasValue()`?", IL_STR_ARG(text));
    }
}

static il_status check_no_bool(il_cel_checker *c, const il_cel_node *n, il_str who) {
    il_cel_words hint;
    il_cel_words_init(&hint);
    il_cel_check_say_bool(c, n, &hint);
    return CHECK_FAIL_NODE(c, n, "bool expected by `%.*s`, got `%s`%s", IL_STR_ARG(who), il_cel_check_type_name(c, n->type).p,
                           hint.p);
}

il_status il_cel_check_want_bool(il_cel_checker *c, const il_cel_node *n, il_str who) {
    const il_cel_type *type = il_cel_check_seen(c, n);
    if (type->kind == IL_CEL_BOOL || il_cel_type_is_dyn(type) || il_cel_type_unify(&c->types, type, &il_cel_type_bool)) {
        return IL_OK;
    }
    return check_no_bool(c, n, who);
}

/* --- names and lets ---------------------------------------------------------------------------------------------------- */

/* Nearest of all that can be named here; also, when the name is that of no variable but begins one's qualified name. */
static il_status check_name(il_cel_checker *c, const il_cel_node *n) {
    il_cel_near near = il_cel_near_to(n->name);
    il_cel_words hint;
    il_cel_words_init(&hint);
    for (uint32_t i = n->root ? c->nlocals : c->visible; i < c->nlocals; i++) {
        il_cel_near_try(&near, c->locals[i].name);
    }
    for (size_t i = 0; i < c->env->nlets; i++) {
        il_cel_near_try(&near, c->env->lets[i].name);
    }
    for (size_t i = 0; i < c->env->nvars; i++) {
        il_cel_near_try(&near, c->env->vars[i].name);
    }
    const char *rewrite = il_cel_rewrite_name(n->name);
    if (rewrite != NULL) {
        il_cel_say(&hint, "; did you mean `%s`?", rewrite);
    } else if (near.best.n > 0) {
        il_cel_say_near(&hint, &near);
    } else if (c->env->nvars > 0) {
        il_str names[9];
        size_t count = 0;
        for (; count < c->env->nvars && count < 9; count++) {
            names[count] = c->env->vars[count].name;
        }
        il_cel_say(&hint, "; there are ");
        il_cel_say_names(&hint, names, count);
    }
    return CHECK_FAIL_NAME(c, n, "undeclared name `%.*s`%s", IL_STR_ARG(n->name), hint.p);
}

/* `agent.rol` where `agent.role` is one variable and `agent` none. */
static CHECK_APART il_status check_qualified(il_cel_checker *c, const il_cel_node *select) {
    const il_cel_node *name = select->kids;
    il_cel_words full, hint;
    il_cel_words_init(&full);
    il_cel_words_init(&hint);
    il_cel_say(&full, "%.*s.%.*s", IL_STR_ARG(name->name), IL_STR_ARG(select->name));
    il_cel_near near = il_cel_near_to((il_str){full.p, full.n});
    for (size_t i = 0; i < c->env->nvars; i++) {
        if (il_str_find(c->env->vars[i].name, IL_STR("."), 0) != SIZE_MAX) {
            il_cel_near_try(&near, c->env->vars[i].name);
        }
    }
    if (near.best.n == 0) {
        return IL_OK;
    }
    il_cel_say_near(&hint, &near);
    return CHECK_FAIL(c, name, name->start, select->end, IL_E_INVALID, "undeclared name `%s`%s", full.p, hint.p);
}

static il_status check_let(il_cel_checker *c, il_cel_node *n) {
    const uint32_t visible = c->visible;
    IL_CHECK(n->kids != NULL, c->err);
    c->visible = c->nlocals; /* a let sees the root scope only */
    IL_TRY(il_cel_check_node(c, n->kids));
    c->visible = visible;
    il_cel_node *next = n->next, *kid = n->kids;
    const bool maybe = n->maybe;
    *n = *kid;
    n->next = next;
    n->maybe = maybe;
    return IL_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------------------------- */

il_status il_cel_check_kids(il_cel_checker *c, il_cel_node *n) {
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_cel_check_node(c, k));
        n->weight += k->weight;
        n->cost = il_cel_cost_add(n->cost, k->cost);
    }
    return IL_OK;
}

/* `{a: 1}`: the keys of other languages' objects. */
static il_status check_keys(il_cel_checker *c, const il_cel_node *map) {
    for (const il_cel_node *k = map->kids; k != NULL && k->next != NULL; k = k->next->next) {
        if (k->op == IL_CEL_OP_NAME) {
            return CHECK_FAIL_NAME(c, k, "undeclared name `%.*s`; a key that is a text is quoted: `'%.*s'`", IL_STR_ARG(k->name),
                                   IL_STR_ARG(k->name));
        }
    }
    return IL_OK;
}

static il_status check_any(il_cel_checker *c, il_cel_node *n) {
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_NAME:
        n->extent = il_cel_extent_of(NULL, c->limits);
        return check_name(c, n);
    case IL_CEL_OP_CALL:
        return il_cel_check_call(c, n);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        return il_cel_check_macro(c, n);
    case IL_CEL_OP_HAS: /* looks at its kid itself */
        return il_cel_check_operator(c, n);
    case IL_CEL_OP_SELECT:
        if (n->kids != NULL && n->kids->op == IL_CEL_OP_NAME) {
            CHECK_REFUSE(c, check_qualified(c, n));
        }
        break;
    case IL_CEL_OP_MAP:
        CHECK_REFUSE(c, check_keys(c, n));
        break;
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_LOCAL:
    case IL_CEL_OP_VAR:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_NEG:
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
    case IL_CEL_OP_IN:
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
    case IL_CEL_OP_COND:
        break;
    }
    IL_TRY(il_cel_check_kids(c, n));
    return il_cel_check_operator(c, n);
}

il_status il_cel_check_node(il_cel_checker *c, il_cel_node *n) {
    if (n->op == IL_CEL_OP_LET) {
        return check_let(c, n);
    }
    n->weight = 1;
    n->cost = 1;
    n->type = &il_cel_type_dyn;
    const il_status status = check_any(c, n);
    if (status != IL_OK) {
        if (status != IL_E_INVALID || !c->limits->unchecked) {
            return status;
        }
        n->type = &il_cel_type_dyn;
        n->extent = il_cel_extent_of(NULL, c->limits);
    }
    n->size = il_cel_cost_most(n->extent.text, n->extent.items);
    return IL_OK;
}

/* Variables of types give way to what was found. */
static void check_settle(il_cel_checker *c, il_cel_node *n) {
    n->type = il_cel_type_final(&c->types, n->type);
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        check_settle(c, k);
    }
}

/* Literals, and nothing else, in brackets. */
static bool check_literals(const il_cel_node *n) {
    bool all = n->op == IL_CEL_OP_LIST;
    for (const il_cel_node *k = n->kids; all && k != NULL; k = k->next) {
        all = k->op == IL_CEL_OP_LIT && !k->maybe;
    }
    return all;
}

/* What the range of an `in` or of a macro has to be, where operands have to be alike. A macro with two variables looks at the values of a map too. */
static void check_alike(const il_cel_checker *c, il_cel_node *n) {
    const bool loop = n->op >= IL_CEL_OP_EXISTS && n->op <= IL_CEL_OP_TRANSFORM_ENTRY && n->slot2 == IL_CEL_NO_SLOT;
    const il_cel_node *range = n->op == IL_CEL_OP_IN ? il_cel_check_second(n) : loop ? n->kids : NULL;
    if (range != NULL) {
        n->alike = check_literals(range)                             ? (uint8_t)IL_CEL_ALIKE_LITERALS
                   : il_cel_type_is_dyn(il_cel_check_seen(c, range)) ? (uint8_t)IL_CEL_ALIKE_LIST
                                                                     : 0;
    }
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        check_alike(c, k);
    }
}

/* Whether two values of which nothing is known are compared there. */
static bool check_compares_dyn(const il_cel_checker *c, const il_cel_node *n) {
    const il_cel_node *b = il_cel_check_second(n);
    if ((n->op == IL_CEL_OP_EQ || n->op == IL_CEL_OP_NE) && b != NULL && il_cel_type_is_dyn(il_cel_check_seen(c, n->kids)) &&
        il_cel_type_is_dyn(il_cel_check_seen(c, b))) {
        return true;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (check_compares_dyn(c, k)) {
            return true;
        }
    }
    return false;
}

/* The smallest part that is too dear alone. */
static CHECK_APART il_status check_too_dear(il_cel_checker *c, const il_cel_node *n) {
    for (const il_cel_node *k = n->kids; k != NULL;) {
        if (k->cost > c->limits->cost) {
            n = k;
            k = n->kids;
        } else {
            k = k->next;
        }
    }
    const char *sign = il_cel_sign((il_cel_op)n->op);
    const il_str name = n->op == IL_CEL_OP_CALL ? n->name : sign[0] != 0 ? il_str_of(sign) : (il_str){NULL, 0};
    il_cel_words what;
    il_cel_words_init(&what);
    if (name.n > 0) {
        il_cel_say(&what, "this `%.*s`", IL_STR_ARG(name));
    } else {
        il_cel_say(&what, "this");
    }
    il_cel_say(&what, n->cost == UINT64_MAX ? " is beyond counting" : " is %llu steps", (unsigned long long)n->cost);
    return CHECK_FAIL(
        c, n, n->start, n->end, IL_E_LIMIT, "worst-case cost of %s, over %llu; %s", what.p, (unsigned long long)c->limits->cost,
        check_compares_dyn(c, n) ? "it compares values that may be long texts: compare with a literal, or declare the items"
                                 : "nest fewer loops or build shorter texts and lists");
}

static CHECK_APART il_status check_wanted(il_cel_checker *c, const il_cel_node *root, il_cel_kind want) {
    if (want == IL_CEL_NULL || root->type->kind == want || il_cel_type_is_dyn(root->type)) {
        return IL_OK;
    }
    il_cel_words hint;
    il_cel_words_init(&hint);
    if (want == IL_CEL_BOOL) {
        il_cel_check_say_bool(c, root, &hint);
    }
    const char *wanted = want == IL_CEL_LIST       ? "list"
                         : want == IL_CEL_MAP      ? "map"
                         : want == IL_CEL_OPTIONAL ? "optional_type"
                                                   : il_cel_check_type_name(c, il_cel_type_of_kind(want)).p;
    return CHECK_FAIL_NODE(c, root, "must be `%s`, is `%s`%s", wanted, il_cel_check_type_name(c, root->type).p, hint.p);
}

il_status il_cel_check(il_arena *arena, const il_cel_env *env, const il_cel_limits *limits, il_cel_kind want, il_cel_node *root,
                       il_error *err) {
    il_error ignored = {.code = IL_OK}; /* without the check refusals are made and dropped */
    il_cel_checker checker, *c = &checker;
    c->arena = arena;
    c->env = env;
    c->limits = limits;
    c->err = limits->unchecked ? &ignored : err;
    c->nlocals = c->visible = 0;
    il_cel_types_init(&c->types, arena);
    il_status status = il_cel_check_node(c, root);
    if (status == IL_OK && c->types.nbound > 0) {
        check_settle(c, root);
    }
    if (status == IL_OK && limits->alike) {
        check_alike(c, root);
    }
    /* What was found before the inference broke off may be wrong, refusals too. */
    if (il_cel_types_failed(&c->types) == IL_E_MEMORY) {
        return il_cel_no_memory(arena, err);
    }
    if (il_cel_types_failed(&c->types) == IL_E_LIMIT) {
        return IL_CEL_FAIL_SPAN(root->src, root->start, root->end, err, IL_E_LIMIT,
                                "the types of this expression are too large; split it");
    }
    if (status == IL_OK && !limits->unchecked) {
        IL_TRY(root->cost > limits->cost ? check_too_dear(c, root) : IL_OK);
        return check_wanted(c, root, want);
    }
    if (status != IL_OK && c->err != err && err != NULL) {
        *err = ignored;
    }
    return status;
}

const il_cel_type *il_cel_result_type(const il_cel_program *program) { return program->root->type; }
