/* SPDX-License-Identifier: Apache-2.0 */
/* Optional values (cel-go's optional types, which cel-spec's tests name). The right side of `or` and `orValue` is computed only
 * when it is needed: the code that is made for them (generate.c) sees to that, and hands in the left side twice when it is not. */
#include "cel/fn.h"

static il_cel_value optional_none(void) { return il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0); }

il_cel_value il_cel_fn_optional_of(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    il_cel_value *p = il_cel_room_values(r, 1);
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    *p = args[0];
    return il_cel_of_items(IL_CEL_OPTIONAL, p, 1);
}

il_cel_value il_cel_fn_optional_none(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)args;
    (void)nargs;
    return optional_none();
}

/* The default of its kind, as protobuf has them: of a timestamp the start of 1970. Types, optionals and addresses have none. */
static bool optional_zero(const il_cel_value *v) {
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return !v->u.b;
    case IL_CEL_INT:
    case IL_CEL_DURATION:
        return v->u.i == 0;
    case IL_CEL_UINT:
        return v->u.u == 0;
    case IL_CEL_DOUBLE:
        return v->u.d == 0;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_LIST:
    case IL_CEL_MAP:
        return v->n == 0;
    case IL_CEL_TIMESTAMP:
        return v->u.i == 0 && v->n == 0;
    case IL_CEL_ERROR:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return false;
}

il_cel_value il_cel_fn_optional_of_non_zero(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return optional_zero(&args[0]) ? optional_none() : il_cel_fn_optional_of(r, args, nargs);
}

il_cel_value il_cel_fn_has_value(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return args[0].kind == IL_CEL_OPTIONAL ? il_cel_of_bool(args[0].u.items != NULL) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_value(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    if (args[0].kind != IL_CEL_OPTIONAL) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    return args[0].u.items != NULL ? args[0].u.items[0] : il_cel_of_fault(IL_CEL_BAD_VALUE);
}

il_cel_value il_cel_fn_or(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    if (args[0].kind != IL_CEL_OPTIONAL || args[1].kind != IL_CEL_OPTIONAL) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    return args[0].u.items != NULL ? args[0] : args[1];
}

il_cel_value il_cel_fn_or_value(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    if (args[0].kind != IL_CEL_OPTIONAL) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    return args[0].u.items != NULL ? args[0].u.items[0] : args[1];
}

/* optional.unwrap(list) and list.unwrapOpt(): the values of those that have one. */
il_cel_value il_cel_fn_unwrap(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_LIST) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (!il_cel_charge(r, args[0].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    uint32_t n = 0;
    il_cel_value item;
    for (il_cel_walk w = il_cel_walk_of(&args[0]); il_cel_walk_item(&w, &item);) {
        if (item.kind != IL_CEL_OPTIONAL) {
            return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
        }
        n += item.u.items != NULL;
    }
    if (n == 0) {
        return il_cel_of_items(IL_CEL_LIST, NULL, 0);
    }
    il_cel_value *items = il_cel_room_values(r, n);
    if (items == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    n = 0;
    for (il_cel_walk w = il_cel_walk_of(&args[0]); il_cel_walk_item(&w, &item);) {
        if (item.u.items != NULL) {
            items[n++] = item.u.items[0];
        }
    }
    return il_cel_of_items(IL_CEL_LIST, items, n);
}

/* Room for one value, and a size that is the argument's (`optional.of`, `value`) or the larger one's (`or`). */
il_cel_bound il_cel_bound_optional(const uint64_t *sizes, uint32_t n) {
    uint64_t size = 1;
    for (uint32_t i = 0; i < n; i++) {
        size = sizes[i] > size ? sizes[i] : size;
    }
    return (il_cel_bound){2, size};
}

il_cel_bound il_cel_bound_unwrap(const uint64_t *sizes, uint32_t n) {
    const uint64_t items = n > 0 ? sizes[0] : 0;
    return (il_cel_bound){il_cel_cost_add(2 + items / 4, items), items};
}
