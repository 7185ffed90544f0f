/* SPDX-License-Identifier: Apache-2.0 */
/* The operators, by the kinds that their operands have at run time (cel-spec, Standard Definitions). */
#include "base/double.h"
#include "base/time.h"
#include "cel/eval.h"
#include "cel/value_compare.h"

/* --- arithmetic ------------------------------------------------------------------------------------------------------------ */

/* Without __builtin_mul_overflow, which on wasm32 calls a 128-bit helper that we would have to import. */
static bool operator_mul(uint64_t a, uint64_t b, uint64_t *out) {
    uint64_t ah = a >> 32, bh = b >> 32, al = a & UINT32_MAX, bl = b & UINT32_MAX;
    if (ah != 0 && bh != 0) {
        return false;
    }
    uint64_t cross = ah * bl + al * bh; /* one of the two is 0 */
    uint64_t low = al * bl;
    *out = low + (cross << 32);
    return cross >> 32 == 0 && *out >= low;
}

static bool operator_mul_int(int64_t a, int64_t b, int64_t *out) {
    uint64_t product = 0, most = (uint64_t)INT64_MAX + ((a < 0) != (b < 0) ? 1 : 0);
    if (!operator_mul(a < 0 ? 0 - (uint64_t)a : (uint64_t)a, b < 0 ? 0 - (uint64_t)b : (uint64_t)b, &product) || product > most) {
        return false;
    }
    *out = (int64_t)((a < 0) != (b < 0) ? 0 - product : product);
    return true;
}

static il_cel_value operator_int(il_cel_code_op op, int64_t a, int64_t b) {
    int64_t v = 0;
    bool fits = true;
    if (op == IL_CEL_C_ADD) {
        fits = !__builtin_add_overflow(a, b, &v);
    } else if (op == IL_CEL_C_SUB) {
        fits = !__builtin_sub_overflow(a, b, &v);
    } else if (op == IL_CEL_C_MUL) {
        fits = operator_mul_int(a, b, &v);
    } else if (b == 0) {
        return il_cel_of_fault(IL_CEL_DIVIDE);
    } else if (a == INT64_MIN && b == -1) {
        fits = false; /* for `%` as well, as cel-go has it; and the processor must not see it */
    } else {
        v = op == IL_CEL_C_DIV ? a / b : a % b;
    }
    return fits ? il_cel_of_int(v) : il_cel_of_fault(IL_CEL_OVERFLOW);
}

static il_cel_value operator_uint(il_cel_code_op op, uint64_t a, uint64_t b) {
    uint64_t v = 0;
    bool fits = true;
    if (op == IL_CEL_C_ADD) {
        fits = !__builtin_add_overflow(a, b, &v);
    } else if (op == IL_CEL_C_SUB) {
        fits = !__builtin_sub_overflow(a, b, &v);
    } else if (op == IL_CEL_C_MUL) {
        fits = operator_mul(a, b, &v);
    } else if (b == 0) {
        return il_cel_of_fault(IL_CEL_DIVIDE);
    } else {
        v = op == IL_CEL_C_DIV ? a / b : a % b;
    }
    return fits ? il_cel_of_uint(v) : il_cel_of_fault(IL_CEL_OVERFLOW);
}

static il_cel_value operator_double(il_cel_code_op op, double a, double b) {
    return op == IL_CEL_C_ADD   ? il_cel_of_double(a + b)
           : op == IL_CEL_C_SUB ? il_cel_of_double(a - b)
           : op == IL_CEL_C_MUL ? il_cel_of_double(a * b)
           : op == IL_CEL_C_DIV ? il_cel_of_double(a / b)
                                : il_cel_of_fault(IL_CEL_NO_OVERLOAD); /* `%` */
}

static il_cel_value operator_duration(int64_t nanos) {
    il_cel_value v = il_cel_of(IL_CEL_DURATION, 0);
    v.u.i = nanos;
    return v;
}

/* timestamp + duration */
static il_cel_value operator_later(const il_cel_value *t, int64_t nanos) {
    il_time sum = {0, 0};
    if (!il_time_add((il_time){t->u.i, (int32_t)t->n}, nanos, &sum)) {
        return il_cel_of_fault(IL_CEL_OVERFLOW);
    }
    il_cel_value v = il_cel_of(IL_CEL_TIMESTAMP, (uint32_t)sum.nanos);
    v.u.i = sum.seconds;
    return v;
}

static il_cel_value operator_time(il_cel_code_op op, const il_cel_value *a, const il_cel_value *b) {
    bool add = op == IL_CEL_C_ADD, sub = op == IL_CEL_C_SUB;
    int64_t nanos = 0;
    if (a->kind == IL_CEL_DURATION && b->kind == IL_CEL_DURATION && (add || sub)) {
        bool over = add ? __builtin_add_overflow(a->u.i, b->u.i, &nanos) : __builtin_sub_overflow(a->u.i, b->u.i, &nanos);
        return over ? il_cel_of_fault(IL_CEL_OVERFLOW) : operator_duration(nanos);
    }
    if (a->kind == IL_CEL_TIMESTAMP && b->kind == IL_CEL_DURATION && (add || sub)) {
        if (sub && b->u.i == INT64_MIN) { /* has no negative: in two parts */
            il_cel_value half = operator_later(a, INT64_MAX);
            return half.kind == IL_CEL_TIMESTAMP ? operator_later(&half, 1) : half;
        }
        return operator_later(a, add ? b->u.i : -b->u.i);
    }
    if (a->kind == IL_CEL_DURATION && b->kind == IL_CEL_TIMESTAMP && add) {
        return operator_later(b, a->u.i);
    }
    if (a->kind == IL_CEL_TIMESTAMP && b->kind == IL_CEL_TIMESTAMP && sub) {
        bool fits = il_time_sub((il_time){a->u.i, (int32_t)a->n}, (il_time){b->u.i, (int32_t)b->n}, &nanos);
        return fits ? operator_duration(nanos) : il_cel_of_fault(IL_CEL_OVERFLOW);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

static il_cel_value operator_join_text(il_cel_run *r, const il_cel_value *a, const il_cel_value *b) {
    if (b->n == 0 || a->n == 0) {
        return b->n == 0 ? *a : *b;
    }
    uint64_t n = (uint64_t)a->n + b->n;
    char *p = n <= UINT32_MAX ? il_cel_room(r, (size_t)n) : NULL;
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    memcpy(p, a->u.p, a->n);
    memcpy(p + a->n, b->u.p, b->n);
    il_cel_value v = il_cel_of((il_cel_kind)a->kind, (uint32_t)n);
    v.u.p = p;
    return v;
}

static il_cel_value *operator_copy_items(il_cel_value *to, const il_cel_value *list) {
    il_cel_walk w = il_cel_walk_of(list);
    while (il_cel_walk_item(&w, to)) {
        to++;
    }
    return to;
}

static il_cel_value operator_join_lists(il_cel_run *r, const il_cel_value *a, const il_cel_value *b) {
    if (b->n == 0 || a->n == 0) {
        return b->n == 0 ? *a : *b;
    }
    uint64_t n = (uint64_t)a->n + b->n;
    il_cel_value *items = n <= UINT32_MAX ? il_cel_room_values(r, (size_t)n) : NULL;
    if (items == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    (void)operator_copy_items(operator_copy_items(items, a), b);
    return il_cel_of_items(IL_CEL_LIST, items, (uint32_t)n);
}

static il_cel_value operator_arithmetic(il_cel_run *r, il_cel_code_op op, const il_cel_value *a, const il_cel_value *b) {
    if (a->kind == IL_CEL_TIMESTAMP || a->kind == IL_CEL_DURATION) {
        return operator_time(op, a, b);
    }
    if (a->kind != b->kind) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (a->kind == IL_CEL_INT) {
        return operator_int(op, a->u.i, b->u.i);
    }
    if (a->kind == IL_CEL_UINT) {
        return operator_uint(op, a->u.u, b->u.u);
    }
    if (a->kind == IL_CEL_DOUBLE) {
        return operator_double(op, a->u.d, b->u.d);
    }
    if (op == IL_CEL_C_ADD && (a->kind == IL_CEL_STRING || a->kind == IL_CEL_BYTES)) {
        return operator_join_text(r, a, b);
    }
    if (op == IL_CEL_C_ADD && a->kind == IL_CEL_LIST) {
        return operator_join_lists(r, a, b);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_negative(const il_cel_value *v) {
    if (v->kind == IL_CEL_INT) {
        return operator_int(IL_CEL_C_SUB, 0, v->u.i);
    }
    return v->kind == IL_CEL_DOUBLE ? il_cel_of_double(-v->u.d) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

/* --- comparing --- */

static il_cel_value operator_order(il_cel_run *r, il_cel_code_op op, const il_cel_value *a, const il_cel_value *b) {
    if ((a->kind == IL_CEL_STRING || a->kind == IL_CEL_BYTES) && !il_cel_charge(r, (a->n < b->n ? a->n : b->n) / 64)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    int order = il_cel_order(a, b);
    if (order == IL_CEL_INCOMPARABLE) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (order == IL_CEL_UNORDERED) {
        return il_cel_of_bool(false);
    }
    return il_cel_of_bool(op == IL_CEL_C_LT   ? order < 0
                          : op == IL_CEL_C_LE ? order <= 0
                          : op == IL_CEL_C_GT ? order > 0
                                              : order >= 0);
}

/* What is no key, though of another kind than all keys, may be one to who reads it. */
static il_cel_value operator_in_map(il_cel_run *r, const il_cel_value *v, const il_cel_value *map) {
    il_cel_value key, item;
    if (v->kind == IL_CEL_STRING && !il_cel_charge(r, v->n / 64)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    const bool found = il_cel_map_find(map, v, &item);
    if (found || v->kind == IL_CEL_NULL || map->n == 0 || r->program == NULL || !r->program->alike) {
        return il_cel_of_bool(found);
    }
    il_cel_walk w = il_cel_walk_of(map);
    while (il_cel_walk_entry(&w, &key, &item)) {
        if (!il_cel_charge(r, 1)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        (void)il_cel_same(r, v, &key);
        if (r->steps < 0) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        if (!il_cel_unlike(r)) {
            return il_cel_of_bool(false);
        }
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_in(il_cel_run *r, const il_cel_value *v, const il_cel_value *of, unsigned alike) {
    il_cel_value item;
    bool unlike = false, differs = false;
    if (of->kind == IL_CEL_MAP && (alike & IL_CEL_ALIKE_LIST) == 0) {
        return operator_in_map(r, v, of);
    }
    if (of->kind != IL_CEL_LIST) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    il_cel_walk w = il_cel_walk_of(of);
    for (; w.left > 0; w.left--) {
        const il_cel_value *at = &item;
        if (w.items != NULL) {
            at = w.items++;
        } else {
            item = il_cel_json_value(w.node);
            w.node = w.node->next;
        }
        if (!il_cel_charge(r, 1)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        if (at->kind == IL_CEL_STRING && v->kind == IL_CEL_STRING && at->n != v->n) {
            differs = true;
            continue;
        }
        if (il_cel_same(r, v, at)) {
            return il_cel_of_bool(true);
        }
        unlike = unlike || il_cel_unlike(r);
        differs = differs || (!r->unlike && at->kind != IL_CEL_NULL);
    }
    if (r->steps < 0) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return unlike && !(differs && (alike & IL_CEL_ALIKE_LITERALS) != 0) ? il_cel_of_fault(IL_CEL_NO_OVERLOAD)
                                                                        : il_cel_of_bool(false);
}

il_cel_value il_cel_binary(il_cel_run *r, il_cel_code_op op, const il_cel_value *a, const il_cel_value *b) {
    if (op == IL_CEL_C_EQ || op == IL_CEL_C_NE) {
        const il_cel_value same = il_cel_compared(r, a, b);
        return same.kind == IL_CEL_BOOL ? il_cel_of_bool(same.u.b == (op == IL_CEL_C_EQ)) : same;
    }
    if (op == IL_CEL_C_LT || op == IL_CEL_C_LE || op == IL_CEL_C_GT || op == IL_CEL_C_GE) {
        return operator_order(r, op, a, b);
    }
    return operator_arithmetic(r, op, a, b);
}

/* --- members --- */

il_cel_value il_cel_some(il_cel_run *r, const il_cel_value *v) {
    il_cel_value *room = il_cel_room_values(r, 1);
    if (room == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    *room = *v;
    return il_cel_of_items(IL_CEL_OPTIONAL, room, 0);
}

static bool operator_absent(const il_cel_value *v) {
    return v->kind == IL_CEL_ERROR && (v->fault == IL_CEL_MISSING || v->fault == IL_CEL_UNSET || v->fault == IL_CEL_NO_FAULT);
}

/* What was found in `of` is the answer, or makes it. */
static il_cel_value operator_found(il_cel_run *r, const il_cel_value *of, il_cel_value found, il_cel_how how) {
    if (how == IL_CEL_HAS) {
        return found.kind != IL_CEL_ERROR || operator_absent(&found) ? il_cel_of_bool(found.kind != IL_CEL_ERROR) : found;
    }
    if (how == IL_CEL_PLAIN && of->kind != IL_CEL_OPTIONAL) {
        return found;
    }
    if (found.kind != IL_CEL_ERROR) {
        return il_cel_some(r, &found);
    }
    return operator_absent(&found) ? il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0) : found;
}

/* `in`: `of`, or what is in it; false: there is nothing in it, and *out is the answer. */
static bool operator_open(const il_cel_value *of, il_cel_how how, const il_cel_value **in, il_cel_value *out) {
    *in = of;
    if (of->kind != IL_CEL_OPTIONAL) {
        return true;
    }
    *in = of->u.items;
    *out = how == IL_CEL_HAS ? il_cel_of_bool(false) : il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0);
    return *in != NULL;
}

il_cel_value il_cel_member(il_cel_run *r, const il_cel_value *of, const il_cel_value *name, uint32_t field, il_cel_how how) {
    const il_cel_value *in;
    il_cel_value found;
    if (!operator_open(of, how, &in, &found)) {
        return found;
    }
    if (name != NULL) {
        found = in->kind == IL_CEL_MAP ? il_cel_map_at(r, in, name) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    } else if (in->kind != IL_CEL_RECORD) {
        found = il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    } else {
        found = field < in->n ? in->u.items[field] : il_cel_of_fault(IL_CEL_UNSET);
    }
    return operator_found(r, of, found, how);
}

il_cel_value il_cel_index(il_cel_run *r, const il_cel_value *of, const il_cel_value *index, il_cel_how how) {
    const il_cel_value *in;
    il_cel_value found;
    if (!operator_open(of, how, &in, &found)) {
        return found;
    }
    found = in->kind == IL_CEL_LIST  ? il_cel_list_at(r, in, index)
            : in->kind == IL_CEL_MAP ? il_cel_map_at(r, in, index)
                                     : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    return operator_found(r, of, found, how);
}
