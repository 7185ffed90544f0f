/* SPDX-License-Identifier: Apache-2.0 */
/* Literals, lists and maps, fields, indexes and operators. Operators are functions with the signatures below (cel-spec, List
 * of Standard Definitions), but for those that take anything: `==`, `&&`, `?:`. */
#include "cel/check.h"

static const il_cel_type operator_a = {.kind = IL_CEL_PARAM, .name = {"A", 1}};
static const il_cel_type operator_b = {.kind = IL_CEL_PARAM, .name = {"B", 1}};
static const il_cel_type operator_list = {.kind = IL_CEL_LIST, .element = &operator_a};
static const il_cel_type operator_map = {.kind = IL_CEL_MAP, .key = &operator_a, .element = &operator_b};
static const il_cel_type operator_maybe_a = {.kind = IL_CEL_OPTIONAL, .element = &operator_a};
static const il_cel_type operator_maybe_b = {.kind = IL_CEL_OPTIONAL, .element = &operator_b};
static const il_cel_type operator_maybe_list = {.kind = IL_CEL_OPTIONAL, .element = &operator_list};
static const il_cel_type operator_maybe_map = {.kind = IL_CEL_OPTIONAL, .element = &operator_map};

#define ONE(a, result) \
    { {&(a)}, &(result) }
#define TWO(a, b, result) \
    { {&(a), &(b)}, &(result) }
#define SAME(t, result) TWO(t, t, result)
#define T_BOOL il_cel_type_bool
#define T_INT il_cel_type_int
#define T_UINT il_cel_type_uint
#define T_DOUBLE il_cel_type_double
#define T_TIME il_cel_type_timestamp
#define T_SPAN il_cel_type_duration

static const il_cel_overload operator_not[] = {ONE(T_BOOL, T_BOOL)};
static const il_cel_overload operator_neg[] = {ONE(T_INT, T_INT), ONE(T_DOUBLE, T_DOUBLE)};
static const il_cel_overload operator_mul[] = {SAME(T_INT, T_INT), SAME(T_UINT, T_UINT), SAME(T_DOUBLE, T_DOUBLE)}; /* and `/` */
static const il_cel_overload operator_mod[] = {SAME(T_INT, T_INT), SAME(T_UINT, T_UINT)};
static const il_cel_overload operator_add[] = {
    SAME(T_INT, T_INT),
    SAME(T_UINT, T_UINT),
    SAME(T_DOUBLE, T_DOUBLE),
    SAME(il_cel_type_string, il_cel_type_string),
    SAME(il_cel_type_bytes, il_cel_type_bytes),
    SAME(operator_list, operator_list),
    TWO(T_TIME, T_SPAN, T_TIME),
    TWO(T_SPAN, T_TIME, T_TIME),
    SAME(T_SPAN, T_SPAN),
};
static const il_cel_overload operator_sub[] = {
    SAME(T_INT, T_INT),   SAME(T_UINT, T_UINT),        SAME(T_DOUBLE, T_DOUBLE),
    SAME(T_TIME, T_SPAN), TWO(T_TIME, T_SPAN, T_TIME), SAME(T_SPAN, T_SPAN),
};
static const il_cel_overload operator_order[] = {
    SAME(T_INT, T_BOOL),
    SAME(T_UINT, T_BOOL),
    SAME(T_DOUBLE, T_BOOL),
    SAME(il_cel_type_string, T_BOOL),
    SAME(il_cel_type_bytes, T_BOOL),
    SAME(T_BOOL, T_BOOL),
    SAME(T_TIME, T_BOOL),
    SAME(T_SPAN, T_BOOL),
};
static const il_cel_overload operator_in[] = {TWO(operator_a, operator_list, T_BOOL), TWO(operator_a, operator_map, T_BOOL)};
static const il_cel_overload operator_index[] = {
    TWO(operator_list, T_INT, operator_a),
    TWO(operator_map, operator_a, operator_b),
    TWO(operator_maybe_list, T_INT, operator_maybe_a),
    TWO(operator_maybe_map, operator_a, operator_maybe_b),
};
static const il_cel_overload operator_maybe_index[] = {
    TWO(operator_list, T_INT, operator_maybe_a),
    TWO(operator_map, operator_a, operator_maybe_b),
    TWO(operator_maybe_list, T_INT, operator_maybe_a),
    TWO(operator_maybe_map, operator_a, operator_maybe_b),
};

/* --- literals, lists, maps --------------------------------------------------------------------------------------------- */

static void operator_literal(il_cel_node *n) {
    n->type = il_cel_type_of_kind((il_cel_kind)n->lit.kind);
    if (n->lit.kind == IL_CEL_STRING || n->lit.kind == IL_CEL_BYTES) {
        n->extent.text = n->lit.n;
    }
}

/* The type of what `?e` puts into a list or map: what the optional holds. */
static il_status operator_maybe(il_cel_checker *c, const il_cel_node *k, const il_cel_type **out) {
    const il_cel_type *type = il_cel_check_seen(c, k);
    *out = k->type;
    if (type->kind == IL_CEL_OPTIONAL) {
        *out = type->element;
    } else if (!il_cel_type_is_dyn(type)) {
        *out = &il_cel_type_dyn;
        return CHECK_FAIL_NODE(c, k, "an optional expected after `?`, got `%s`; write it without `?`",
                               il_cel_check_type_name(c, type).p);
    }
    return IL_OK;
}

/* A mixed list is a list of anything, as in CEL. */
static const il_cel_type *operator_joined(il_cel_checker *c, const il_cel_type *a, const il_cel_type *b) {
    if (a == NULL) {
        return b;
    }
    return il_cel_type_unify(&c->types, a, b) ? il_cel_type_join(&c->types, a, b) : &il_cel_type_dyn;
}

/* A list whose items are all literals is a literal: evaluation then builds nothing. The kids stay, for positions and printing. */
static il_status operator_list_constant(il_cel_checker *c, il_cel_node *n, uint32_t count) {
    il_cel_value *items = IL_NEW_ARRAY(c->arena, il_cel_value, count);
    if (items == NULL) {
        return il_cel_no_memory(c->arena, c->err);
    }
    uint32_t i = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        items[i++] = k->lit;
    }
    n->constant = true;
    n->lit = il_cel_of_items(IL_CEL_LIST, items, count);
    n->cost = n->weight = 1;
    return IL_OK;
}

static il_status operator_list_literal(il_cel_checker *c, il_cel_node *n) {
    const il_cel_type *element = NULL, *type = NULL;
    uint32_t count = 0;
    bool constant = true;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        type = k->type;
        if (k->maybe) {
            CHECK_REFUSE(c, operator_maybe(c, k, &type));
        }
        element = operator_joined(c, element, type);
        n->extent = il_cel_extent_with(n->extent, k->extent);
        constant = constant && k->constant && !k->maybe;
        count++;
    }
    n->type = il_cel_type_list_of(&c->types, element != NULL ? element : il_cel_type_unknown(&c->types));
    n->extent.items = count;
    n->cost = il_cel_cost_add(n->cost, count);
    return constant ? operator_list_constant(c, n, count) : IL_OK;
}

static il_status operator_key(il_cel_checker *c, const il_cel_node *k) {
    const il_cel_type *type = il_cel_check_seen(c, k);
    if (il_cel_type_is_dyn(type) || type->kind == IL_CEL_STRING || type->kind == IL_CEL_INT || type->kind == IL_CEL_UINT ||
        type->kind == IL_CEL_BOOL || type->kind == IL_CEL_PARAM) {
        return IL_OK;
    }
    return CHECK_FAIL_NODE(c, k, "a key of a map is an int, uint, bool or string, not `%s`", il_cel_check_type_name(c, type).p);
}

static il_status operator_map_literal(il_cel_checker *c, il_cel_node *n) {
    const il_cel_type *key = NULL, *value = NULL, *type = NULL;
    uint32_t count = 0;
    for (const il_cel_node *k = n->kids, *v; k != NULL; k = v->next) {
        v = k->next;
        IL_CHECK(v != NULL, c->err);
        CHECK_REFUSE(c, operator_key(c, k));
        type = v->type;
        if (k->maybe) {
            CHECK_REFUSE(c, operator_maybe(c, v, &type));
        }
        key = operator_joined(c, key, k->type);
        value = operator_joined(c, value, type);
        n->extent = il_cel_extent_with(il_cel_extent_with(n->extent, k->extent), v->extent);
        count++;
    }
    n->type = il_cel_type_map_of(&c->types, key != NULL ? key : il_cel_type_unknown(&c->types),
                                 value != NULL ? value : il_cel_type_unknown(&c->types));
    n->extent.items = count;
    n->cost = il_cel_cost_add(n->cost, il_cel_cost_mul(count, 4)); /* entries are sorted: log2 of at most 2,048 items, shared */
    return IL_OK;
}

/* --- fields and indexes ------------------------------------------------------------------------------------------------ */

/* The place of a known field, or a refusal. `at`: the node whose name or literal names it. */
static CHECK_APART il_status operator_field_missing(il_cel_checker *c, const il_cel_node *at, bool whole, il_str name,
                                                    const il_cel_type *of) {
    il_cel_near near = il_cel_near_to(name);
    il_cel_words hint;
    il_str names[9];
    size_t n = 0;
    for (size_t i = 0; i < of->nfields; i++) {
        il_cel_near_try(&near, of->fields[i].name);
        if (n < 9) {
            names[n++] = of->fields[i].name;
        }
    }
    il_cel_words_init(&hint);
    if (near.best.n > 0) {
        il_cel_say_near(&hint, &near);
    } else if (n > 0) {
        il_cel_say(&hint, "; there are ");
        il_cel_say_names(&hint, names, n);
    }
    il_cel_words type;
    il_cel_words_init(&type);
    if (of->name.n > 0) {
        il_cel_say(&type, "%.*s", IL_STR_ARG(of->name));
    } else {
        il_cel_say(&type, "%s", il_cel_check_type_name(c, of).p);
    }
    return CHECK_FAIL(c, at, whole ? at->start : at->at, whole ? at->end : il_cel_check_name_end(at), IL_E_INVALID,
                      "no field `%.*s` in `%s`%s", IL_STR_ARG(name), type.p, hint.p);
}

static bool operator_field(const il_cel_type *of, il_str name, size_t *field) {
    for (size_t i = 0; i < of->nfields; i++) {
        if (il_str_eq(of->fields[i].name, name)) {
            *field = i;
            return true;
        }
    }
    return false;
}

static CHECK_APART il_status operator_no_fields(il_cel_checker *c, const il_cel_node *n, const il_cel_type *of) {
    const char *rewrite = il_cel_rewrite_method(n->name);
    il_cel_words hint;
    il_cel_words_init(&hint);
    if (rewrite != NULL) {
        il_cel_say(&hint, "; did you mean `%s()`?", rewrite);
    } else if (il_cel_builtin_find(n->name, true) != NULL) {
        il_cel_say(&hint, "; did you mean `%.*s()`?", IL_STR_ARG(n->name));
    }
    return CHECK_FAIL_NAME(c, n, "no field `%.*s` in a `%s`%s", IL_STR_ARG(n->name), il_cel_check_type_name(c, of).p, hint.p);
}

/* What `of.name` is, and how large. */
static il_status operator_member(il_cel_checker *c, il_cel_node *n, const il_cel_type *of, const il_cel_type **out) {
    size_t field = 0;
    n->extent = il_cel_extent_inside(n->kids->extent);
    *out = &il_cel_type_dyn;
    switch (of->kind) {
    case IL_CEL_ERROR:
        return IL_OK;
    case IL_CEL_PARAM: /* nothing is known of it, and from here on never will be */
        (void)il_cel_type_unify(&c->types, of, &il_cel_type_dyn);
        return IL_OK;
    case IL_CEL_MAP:
        if (of->fields == NULL) {
            if (!il_cel_type_unify(&c->types, of->key, &il_cel_type_string)) {
                return operator_no_fields(c, n, of);
            }
            *out = il_cel_type_seen(&c->types, of->element);
            return IL_OK;
        }
        if (!operator_field(of, n->name, &field)) {
            return operator_field_missing(c, n, false, n->name, of);
        }
        *out = il_cel_type_seen(&c->types, of->fields[field].type);
        n->extent = il_cel_extent_of(of->fields[field].type, c->limits);
        return IL_OK;
    case IL_CEL_RECORD:
        if (!operator_field(of, n->name, &field)) {
            return operator_field_missing(c, n, false, n->name, of);
        }
        n->field = (uint32_t)field;
        n->name = of->fields[field].name;
        *out = il_cel_type_seen(&c->types, of->fields[field].type);
        n->extent = il_cel_extent_of(of->fields[field].type, c->limits);
        return IL_OK;
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_LIST:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_OPAQUE:
        break;
    }
    return operator_no_fields(c, n, of);
}

/* A field of an optional is that of what it holds, and optional too. */
static il_status operator_select(il_cel_checker *c, il_cel_node *n, bool in_has) {
    il_cel_node *kid = n->kids;
    IL_CHECK(kid != NULL, c->err);
    const il_cel_type *of = il_cel_check_seen(c, kid), *type = NULL;
    const bool optional = of->kind == IL_CEL_OPTIONAL;
    if (optional) {
        of = il_cel_type_seen(&c->types, of->element);
    }
    IL_TRY(operator_member(c, n, of, &type));
    n->type = optional || n->optional ? il_cel_type_optional_of(&c->types, type) : type;
    if (of->kind == IL_CEL_RECORD && kid->op == IL_CEL_OP_VAR && !optional && !n->optional && !in_has) {
        n->op = IL_CEL_OP_FIELD;
        n->slot = kid->slot;
    }
    return IL_OK;
}

/* `has(x.f)`: the kid stays a select, so that its being there can be asked. */
static il_status operator_has(il_cel_checker *c, il_cel_node *n) {
    il_cel_node *select = n->kids;
    n->type = &T_BOOL;
    IL_CHECK(select != NULL && select->op == IL_CEL_OP_SELECT && select->kids != NULL, c->err);
    select->weight = 1;
    select->cost = 1;
    select->type = &il_cel_type_dyn;
    IL_TRY(il_cel_check_kids(c, select));
    CHECK_REFUSE(c, operator_select(c, select, true));
    n->weight += select->weight;
    n->cost = il_cel_cost_add(n->cost, select->cost);
    return IL_OK;
}

/* `!n` of what is no bool: the question that it stands for elsewhere. */
static void operator_say_none(const il_cel_checker *c, const il_cel_node *n, il_cel_words *w) {
    const il_cel_kind kind = il_cel_check_seen(c, n)->kind;
    const bool number = kind == IL_CEL_INT || kind == IL_CEL_UINT || kind == IL_CEL_DOUBLE,
               sized = kind == IL_CEL_STRING || kind == IL_CEL_BYTES || kind == IL_CEL_LIST || kind == IL_CEL_MAP;
    il_str text = il_cel_check_text(n);
    if (n->op >= IL_CEL_OP_NOT && n->op <= IL_CEL_OP_COND) { /* it stands in parentheses, which are not the node's */
        text = IL_STR("x");
    }
    if (text.n == 0) {
        return;
    }
    if (number) {
        il_cel_say(w, "; did you mean `%.*s == %s`?", IL_STR_ARG(text),
                   kind == IL_CEL_INT    ? "0"
                   : kind == IL_CEL_UINT ? "0u"
                                         : "0.0");
    } else if (sized) {
        il_cel_say(w, "; did you mean `size(%.*s) == 0`?", IL_STR_ARG(text));
    } else if (kind == IL_CEL_OPTIONAL) {
        il_cel_say(w, "; did you mean `!%.*s.hasValue()`?", IL_STR_ARG(text));
    } else if (kind == IL_CEL_NULL) {
        il_cel_say(w, "; compare with `null`");
    }
}

/* `ip in range`. */
static void operator_say_within(const il_cel_node *range, const il_cel_node *of, const char *function, il_cel_words *w) {
    const il_str r = il_cel_check_text(range), x = il_cel_check_text(of);
    if (r.n > 0 && x.n > 0) {
        il_cel_say(w, "; did you mean `%.*s.%s(%.*s)`?", IL_STR_ARG(r), function, IL_STR_ARG(x));
    } else {
        il_cel_say(w, "; did you mean `range.%s(x)`?", function);
    }
}

/* What stands beside a text that is joined to. */
static void operator_say_string(const il_cel_checker *c, const il_cel_node *n, il_cel_words *w) {
    const il_cel_kind kind = il_cel_check_seen(c, n)->kind;
    const il_str text = il_cel_check_text(n);
    const bool has_text = kind == IL_CEL_INT || kind == IL_CEL_UINT || kind == IL_CEL_DOUBLE || kind == IL_CEL_BOOL ||
                          kind == IL_CEL_BYTES || kind == IL_CEL_TIMESTAMP || kind == IL_CEL_DURATION || kind == IL_CEL_IP ||
                          kind == IL_CEL_CIDR;
    if (has_text && text.n > 0) {
        il_cel_say(w, "; did you mean `string(%.*s)`?", IL_STR_ARG(text));
    } else if (has_text) {
        il_cel_say(w, "; write `string(...)` around the other");
    }
}

static CHECK_APART il_status operator_no_overload(il_cel_checker *c, const il_cel_node *n) {
    const il_cel_node *a = n->kids, *b = il_cel_check_second(n);
    IL_CHECK(a != NULL, c->err);
    const il_cel_type *ta = il_cel_check_seen(c, a);
    const char *sign = il_cel_sign((il_cel_op)n->op);
    il_cel_words hint;
    il_cel_words_init(&hint);
    if (b == NULL) {
        if (n->op == IL_CEL_OP_NOT) {
            operator_say_none(c, a, &hint);
        }
        return CHECK_FAIL_NAME(c, n, "no overload `%s%s`%s", sign, il_cel_check_type_name(c, ta).p, hint.p);
    }
    const il_cel_type *tb = il_cel_check_seen(c, b);
    if (n->op == IL_CEL_OP_INDEX) {
        if (ta->kind == IL_CEL_STRING) {
            il_cel_say(&hint, "; a character of a string is `charAt(i)`");
        } else if (ta->kind == IL_CEL_LIST) {
            il_cel_say(&hint, "; an index is an int");
        } else if (ta->kind == IL_CEL_RECORD) {
            il_cel_say(&hint, "; write `.name`");
        }
        return CHECK_FAIL_NAME(c, n, "no overload `%s[%s]`%s", il_cel_check_type_name(c, ta).p, il_cel_check_type_name(c, tb).p,
                               hint.p);
    }
    const il_cel_node *text = ta->kind == IL_CEL_STRING ? a : b;
    const il_cel_type *to = text == a ? tb : ta;
    int64_t number = 0;
    if (n->op == IL_CEL_OP_IN) {
        if (ta->kind == IL_CEL_STRING && tb->kind == IL_CEL_STRING) {
            il_cel_say(&hint, "; for texts there is `contains`");
        } else if (tb->kind == IL_CEL_CIDR) {
            operator_say_within(b, a, ta->kind == IL_CEL_CIDR ? "containsCIDR" : "containsIP", &hint);
        }
    } else if (text->op == IL_CEL_OP_LIT && text->lit.kind == IL_CEL_STRING && to->kind == IL_CEL_INT &&
               il_str_int(text->name, &number)) {
        il_cel_say(&hint, "; did you mean `%.*s`?", IL_STR_ARG(text->name));
    } else if ((ta->kind == IL_CEL_INT || ta->kind == IL_CEL_UINT || ta->kind == IL_CEL_DOUBLE) &&
               (tb->kind == IL_CEL_INT || tb->kind == IL_CEL_UINT || tb->kind == IL_CEL_DOUBLE) && ta->kind != tb->kind) {
        il_cel_say(&hint, "; convert one of them");
    } else if (n->op == IL_CEL_OP_ADD && ta->kind != tb->kind && (ta->kind == IL_CEL_STRING || tb->kind == IL_CEL_STRING)) {
        operator_say_string(c, text == a ? b : a, &hint);
    }
    return CHECK_FAIL_NAME(c, n, "no overload `%s %s %s`%s", il_cel_check_type_name(c, ta).p, sign,
                           il_cel_check_type_name(c, tb).p, hint.p);
}

static il_status operator_fit(il_cel_checker *c, il_cel_node *n, const il_cel_overload *overloads, size_t count) {
    IL_CHECK(n->kids != NULL, c->err);
    il_cel_check_fit(c, overloads, count, false, n->kids, &n->type, NULL);
    if (n->type == NULL) {
        n->type = &il_cel_type_dyn;
        return operator_no_overload(c, n);
    }
    return IL_OK;
}
#define OPERATOR_FIT(c, n, table) operator_fit((c), (n), (table), sizeof(table) / sizeof((table)[0]))

static il_status operator_subscript(il_cel_checker *c, il_cel_node *n) {
    const il_cel_node *of = n->kids, *key = il_cel_check_second(n);
    IL_CHECK(of != NULL && key != NULL, c->err);
    const il_cel_type *type = il_cel_check_seen(c, of);
    n->extent = il_cel_extent_inside(of->extent);
    if (type->kind == IL_CEL_MAP && type->fields != NULL && key->op == IL_CEL_OP_LIT && key->lit.kind == IL_CEL_STRING) {
        size_t field = 0;
        if (!operator_field(type, key->name, &field)) {
            return operator_field_missing(c, key, true, key->name, type);
        }
        const il_cel_type *is = il_cel_type_seen(&c->types, type->fields[field].type);
        n->type = n->optional ? il_cel_type_optional_of(&c->types, is) : is;
        n->extent = il_cel_extent_of(type->fields[field].type, c->limits);
        return IL_OK;
    }
    return n->optional ? OPERATOR_FIT(c, n, operator_maybe_index) : OPERATOR_FIT(c, n, operator_index);
}

/* --- operators --------------------------------------------------------------------------------------------------------- */

static il_status operator_plus(il_cel_checker *c, il_cel_node *n) {
    const il_cel_node *a = n->kids, *b = il_cel_check_second(n);
    IL_CHECK(a != NULL && b != NULL, c->err);
    IL_TRY(OPERATOR_FIT(c, n, operator_add));
    const il_cel_kind kind = il_cel_check_seen(c, n)->kind;
    if (kind == IL_CEL_STRING || kind == IL_CEL_BYTES || kind == IL_CEL_LIST || kind == IL_CEL_DYN || kind == IL_CEL_PARAM) {
        n->extent = il_cel_extent_join(a->extent, b->extent);
        n->extent.text = il_cel_cost_add(a->extent.text, b->extent.text);
        n->extent.items = il_cel_cost_add(a->extent.items, b->extent.items);
        n->cost = il_cel_cost_add(n->cost, il_cel_cost_add(il_cel_cost_text(n->extent.text), n->extent.items));
    }
    return IL_OK;
}

/* Of two texts, and of two lists, only as much is compared as the smaller one has. */
static il_status operator_pay_comparing(il_cel_checker *c, il_cel_node *n) {
    const il_cel_node *a = n->kids, *b = il_cel_check_second(n);
    IL_CHECK(a != NULL && b != NULL, c->err);
    n->cost = il_cel_cost_add(n->cost, il_cel_cost_text(il_cel_cost_least(a->extent.text, b->extent.text)));
    n->cost = il_cel_cost_add(n->cost, il_cel_cost_least(a->extent.items, b->extent.items));
    return IL_OK;
}

static il_status operator_equality(il_cel_checker *c, il_cel_node *n) {
    il_cel_node *a = n->kids, *b = il_cel_check_second(n);
    n->type = &T_BOOL;
    IL_TRY(operator_pay_comparing(c, n));
    if (!il_cel_type_unify(&c->types, a->type, b->type)) {
        return operator_no_overload(c, n);
    }
    IL_TRY(il_cel_check_never_equal(c, n, a, b));
    return IL_OK;
}

static il_status operator_contained(il_cel_checker *c, il_cel_node *n) {
    il_cel_node *a = n->kids, *b = il_cel_check_second(n);
    IL_CHECK(a != NULL && b != NULL, c->err);
    if (il_cel_check_seen(c, b)->kind != IL_CEL_MAP) {
        n->cost = il_cel_cost_add(n->cost, b->extent.items);
    }
    IL_TRY(OPERATOR_FIT(c, n, operator_in));
    return il_cel_check_never_in(c, a, b);
}

static il_status operator_bools(il_cel_checker *c, il_cel_node *n) {
    n->type = &T_BOOL;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_cel_check_want_bool(c, k, il_str_of(il_cel_sign((il_cel_op)n->op))));
    }
    return IL_OK;
}

static il_status operator_arms_differ(il_cel_checker *c, const il_cel_node *n, const il_cel_node *a, const il_cel_node *b) {
    return CHECK_FAIL_NAME(c, n, "the arms of `?:` differ: `%s` and `%s`", il_cel_check_type_name(c, a->type).p,
                           il_cel_check_type_name(c, b->type).p);
}

static il_status operator_cond(il_cel_checker *c, il_cel_node *n) {
    il_cel_node *a = il_cel_check_second(n), *b = a != NULL ? a->next : NULL;
    IL_CHECK(a != NULL && b != NULL, c->err);
    n->cost = il_cel_cost_add(il_cel_cost_add(1, n->kids->cost),
                              il_cel_cost_most(il_cel_cost_add(a->cost, b->weight), il_cel_cost_add(b->cost, a->weight)));
    n->extent = il_cel_extent_join(a->extent, b->extent);
    CHECK_REFUSE(c, il_cel_check_want_bool(c, n->kids, IL_STR("?:")));
    if (!il_cel_type_unify(&c->types, a->type, b->type)) {
        return operator_arms_differ(c, n, a, b);
    }
    return il_cel_check_arms(c, a, b, &n->type);
}

il_status il_cel_check_operator(il_cel_checker *c, il_cel_node *n) {
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
        operator_literal(n);
        return IL_OK;
    case IL_CEL_OP_TYPE:
        n->type = il_cel_type_of_type(&c->types, n->lit);
        return IL_OK;
    case IL_CEL_OP_LIST:
        return operator_list_literal(c, n);
    case IL_CEL_OP_MAP:
        return operator_map_literal(c, n);
    case IL_CEL_OP_LOCAL:
        IL_CHECK(n->slot < IL_CEL_LOCALS, c->err);
        n->type = c->locals[n->slot].type;
        n->extent = c->locals[n->slot].extent;
        return IL_OK;
    case IL_CEL_OP_VAR:
        n->type = c->env->vars[n->slot].type != NULL ? c->env->vars[n->slot].type : &il_cel_type_dyn;
        n->extent = il_cel_extent_of(n->type, c->limits);
        return IL_OK;
    case IL_CEL_OP_SELECT:
        return operator_select(c, n, false);
    case IL_CEL_OP_HAS:
        return operator_has(c, n);
    case IL_CEL_OP_INDEX:
        return operator_subscript(c, n);
    case IL_CEL_OP_NOT:
        return OPERATOR_FIT(c, n, operator_not);
    case IL_CEL_OP_NEG:
        return OPERATOR_FIT(c, n, operator_neg);
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        return operator_bools(c, n);
    case IL_CEL_OP_COND:
        return operator_cond(c, n);
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
        return OPERATOR_FIT(c, n, operator_mul);
    case IL_CEL_OP_MOD:
        return OPERATOR_FIT(c, n, operator_mod);
    case IL_CEL_OP_ADD:
        return operator_plus(c, n);
    case IL_CEL_OP_SUB:
        return OPERATOR_FIT(c, n, operator_sub);
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
        IL_TRY(operator_pay_comparing(c, n));
        return OPERATOR_FIT(c, n, operator_order);
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        return operator_equality(c, n);
    case IL_CEL_OP_IN:
        return operator_contained(c, n);
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_CALL:
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
        break; /* il_cel_check_node has done with them */
    }
    return CHECK_FAIL(c, n, n->start, n->end, IL_E_INTERNAL, "an operator that the checker does not know");
}
