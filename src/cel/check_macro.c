/* SPDX-License-Identifier: Apache-2.0 */
/* Macros: their variables get the types and sizes of what the range holds, and what stands in a loop is paid for once an item. */
#include "cel/check.h"

static il_status macro_local(il_cel_checker *c, uint32_t slot, il_str name, const il_cel_type *type, il_cel_extent extent) {
    IL_CHECK(slot < IL_CEL_LOCALS, c->err);
    c->locals[slot].name = name;
    c->locals[slot].type = type;
    c->locals[slot].extent = extent;
    c->nlocals = slot + 1;
    return IL_OK;
}

static il_status macro_bad_range(il_cel_checker *c, const il_cel_node *n, const il_cel_type *type) {
    return CHECK_FAIL_NAME(c, n, "`%.*s` needs a list or a map, got `%s`", IL_STR_ARG(il_cel_check_name(n)),
                           il_cel_check_type_name(c, type).p);
}

/* Types of the items of a range: key (or index) and value; with one variable it is the item of a list, the key of a map. */
static il_status macro_range(il_cel_checker *c, const il_cel_node *n, const il_cel_type **first, const il_cel_type **second) {
    const il_cel_type *range = il_cel_check_seen(c, n->kids);
    const bool two = n->slot2 != IL_CEL_NO_SLOT;
    *first = *second = &il_cel_type_dyn;
    if (range->kind == IL_CEL_LIST) {
        *second = range->element;
        *first = two ? &il_cel_type_int : range->element;
        return IL_OK;
    }
    if (range->kind == IL_CEL_MAP) {
        *first = range->key;
        *second = range->element;
        return IL_OK;
    }
    if (range->kind == IL_CEL_PARAM) {
        (void)il_cel_type_unify(&c->types, range, &il_cel_type_dyn);
        return IL_OK;
    }
    return il_cel_type_is_dyn(range) ? IL_OK : macro_bad_range(c, n, range);
}

/* What a loop makes of its bodies; `last` is what it collects. */
static void macro_result(il_cel_checker *c, il_cel_node *n, const il_cel_type *key, const il_cel_node *last) {
    const il_cel_node *range = n->kids;
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_FILTER:
        n->type = il_cel_type_list_of(&c->types, key);
        n->extent = (il_cel_extent){0, range->extent.items, range->extent.inner_text, range->extent.inner_items};
        return;
    case IL_CEL_OP_TRANSFORM:
        n->type = il_cel_type_list_of(&c->types, last->type);
        n->extent.items = range->extent.items;
        n->extent = il_cel_extent_with(n->extent, last->extent);
        return;
    case IL_CEL_OP_TRANSFORM_MAP:
        n->type = il_cel_type_map_of(&c->types, key, last->type);
        n->extent = (il_cel_extent){0, range->extent.items, range->extent.inner_text, 0};
        n->extent = il_cel_extent_with(n->extent, last->extent);
        return;
    case IL_CEL_OP_TRANSFORM_ENTRY:
        n->type = last->type;
        n->extent = last->extent;
        n->extent.items = il_cel_cost_mul(range->extent.items, last->extent.items);
        return;
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
    case IL_CEL_OP_EXISTS_ONE:
        n->type = &il_cel_type_bool;
        return;
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_LOCAL:
    case IL_CEL_OP_VAR:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_CALL:
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
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        break;
    }
}

static bool macro_is_condition(const il_cel_node *n, const il_cel_node *body) {
    const bool collects = n->op == IL_CEL_OP_TRANSFORM || n->op == IL_CEL_OP_TRANSFORM_MAP || n->op == IL_CEL_OP_TRANSFORM_ENTRY;
    return !collects || body->next != NULL;
}

/* Steps for what is done with an item beside looking at it: a list takes it in, a map sorts it. */
static uint64_t macro_keeps(const il_cel_node *n) {
    return n->op == IL_CEL_OP_FILTER || n->op == IL_CEL_OP_TRANSFORM                ? 2
           : n->op == IL_CEL_OP_TRANSFORM_MAP || n->op == IL_CEL_OP_TRANSFORM_ENTRY ? 4
                                                                                    : 1;
}

/* What `transformMapEntry` collects is maps: no list, and no text. */
static il_status macro_want_map(il_cel_checker *c, const il_cel_node *n, const il_cel_node *body) {
    const il_cel_type *type = il_cel_check_seen(c, body);
    if (type->kind == IL_CEL_MAP || il_cel_type_is_dyn(type) || il_cel_type_unify(&c->types, type, &il_cel_type_map)) {
        return IL_OK;
    }
    return CHECK_FAIL_NODE(c, body, "`%.*s` ends with a map, got `%s`; write `{key: value}`", IL_STR_ARG(il_cel_check_name(n)),
                           il_cel_check_type_name(c, type).p);
}

/* `list.map(i, v, e)`: the second is read as a condition. */
static il_status macro_one_variable(il_cel_checker *c, const il_cel_node *n) {
    const il_cel_node *second = n->kids->next;
    if (n->op != IL_CEL_OP_TRANSFORM || n->slot2 != IL_CEL_NO_SLOT || second == NULL || second->next == NULL ||
        second->op != IL_CEL_OP_NAME) {
        return IL_OK;
    }
    return CHECK_FAIL_NAME(
        c, second, "undeclared name `%.*s`; `map` has one variable: for index and item write `transformList(%.*s, %.*s, ...)`",
        IL_STR_ARG(second->name), IL_STR_ARG(n->name), IL_STR_ARG(second->name));
}

static il_status macro_loop(il_cel_checker *c, il_cel_node *n) {
    const il_cel_node *range = n->kids, *last = NULL;
    const il_cel_type *first = NULL, *second = NULL;
    const uint32_t before = c->nlocals;
    uint64_t body = 0;
    const uint32_t outside = n->weight;
    CHECK_REFUSE(c, macro_range(c, n, &first, &second));
    CHECK_REFUSE(c, macro_one_variable(c, n));
    const il_cel_extent inside = il_cel_extent_inside(range->extent);
    IL_TRY(macro_local(c, n->slot, n->name, first, inside));
    if (n->slot2 != IL_CEL_NO_SLOT) {
        IL_TRY(macro_local(c, n->slot2, n->name2, second, inside));
    }
    for (il_cel_node *k = range->next; k != NULL; k = k->next) {
        IL_TRY(il_cel_check_node(c, k));
        if (macro_is_condition(n, k)) {
            CHECK_REFUSE(c, il_cel_check_want_bool(c, k, il_cel_check_name(n)));
        }
        n->weight += k->weight;
        body = il_cel_cost_add(body, k->cost);
        last = k;
    }
    c->nlocals = before;
    IL_CHECK(last != NULL, c->err);
    if (n->op == IL_CEL_OP_TRANSFORM_ENTRY) {
        CHECK_REFUSE(c, macro_want_map(c, n, last));
    }
    n->cost = il_cel_cost_add(n->cost, n->weight - outside);
    n->cost = il_cel_cost_add(n->cost, il_cel_cost_mul(range->extent.items, il_cel_cost_add(body, macro_keeps(n))));
    macro_result(c, n, first, last);
    return IL_OK;
}

static il_status macro_no_optional(il_cel_checker *c, const il_cel_node *n, const il_cel_node *at, const char *what) {
    return CHECK_FAIL(c, at, at == n ? n->at : at->start, at == n ? il_cel_check_name_end(n) : at->end, IL_E_INVALID,
                      "`%.*s` %s an optional, got `%s`", IL_STR_ARG(il_cel_check_name(n)), what,
                      il_cel_check_type_name(c, at == n ? n->kids->type : at->type).p);
}

/* What `target` holds; refused when it is no optional. */
static il_status macro_held(il_cel_checker *c, const il_cel_node *n, const il_cel_type **out) {
    const il_cel_type *type = il_cel_check_seen(c, n->kids);
    *out = &il_cel_type_dyn;
    if (type->kind == IL_CEL_OPTIONAL) {
        *out = type->element;
        return IL_OK;
    }
    if (type->kind == IL_CEL_PARAM) {
        (void)il_cel_type_unify(&c->types, type, &il_cel_type_dyn);
        return IL_OK;
    }
    return il_cel_type_is_dyn(type) ? IL_OK : macro_no_optional(c, n, n, "needs");
}

/* One value under a name: cel.bind, optMap, optFlatMap. */
static il_status macro_named(il_cel_checker *c, il_cel_node *n) {
    il_cel_node *value = n->kids, *body = value->next;
    const uint32_t before = c->nlocals;
    const il_cel_type *type = value->type;
    IL_CHECK(body != NULL, c->err);
    if (n->op != IL_CEL_OP_BIND) {
        CHECK_REFUSE(c, macro_held(c, n, &type));
    }
    IL_TRY(macro_local(c, n->slot, n->name, type, value->extent));
    IL_TRY(il_cel_check_node(c, body));
    c->nlocals = before;
    n->weight += body->weight;
    n->cost = il_cel_cost_add(n->cost, body->cost);
    n->extent = body->extent;
    n->type = body->type;
    if (n->op == IL_CEL_OP_OPT_MAP) {
        n->type = il_cel_type_optional_of(&c->types, body->type);
    }
    if (n->op == IL_CEL_OP_OPT_FLAT_MAP) {
        const il_cel_type *result = il_cel_check_seen(c, body);
        if (result->kind != IL_CEL_OPTIONAL && !il_cel_type_is_dyn(result) &&
            !il_cel_type_unify(&c->types, result, il_cel_type_optional_of(&c->types, &il_cel_type_dyn))) {
            return macro_no_optional(c, n, body, "ends with");
        }
    }
    return IL_OK;
}

il_status il_cel_check_macro(il_cel_checker *c, il_cel_node *n) {
    il_cel_node *range = n->kids;
    IL_CHECK(range != NULL, c->err);
    IL_TRY(il_cel_check_node(c, range));
    n->weight += range->weight;
    n->cost = il_cel_cost_add(n->cost, range->cost);
    return n->op == IL_CEL_OP_BIND || n->op == IL_CEL_OP_OPT_MAP || n->op == IL_CEL_OP_OPT_FLAT_MAP ? macro_named(c, n)
                                                                                                    : macro_loop(c, n);
}
