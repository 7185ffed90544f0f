/* SPDX-License-Identifier: Apache-2.0 */
/* Equality, order, and the order of keys. */
#include "cel/value_compare.h"

#include "base/double.h"
#include "base/ip.h"
#include "base/sort.h"
#include "json/node.h"

static int value_sign(bool less, bool more) { return (int)more - (int)less; }

/* --- numbers, one line of three kinds ------------------------------------------------------------------------------------ */

static bool value_is_number(const il_cel_value *v) {
    return v->kind == IL_CEL_INT || v->kind == IL_CEL_UINT || v->kind == IL_CEL_DOUBLE;
}

/* Beyond the range of an int the double decides; within it the int is compared as a double, as the language's tests have it
 * (9223372036854775807 is not less than 9223372036854775808.0). */
static int value_int_double(int64_t i, double d) {
    if (il_double_nan(d)) {
        return IL_CEL_UNORDERED;
    }
    if (d < -9223372036854775808.0) {
        return 1;
    }
    if (d > 9223372036854775808.0) {
        return -1;
    }
    return value_sign((double)i<d, (double)i> d);
}

static int value_uint_double(uint64_t u, double d) {
    if (il_double_nan(d)) {
        return IL_CEL_UNORDERED;
    }
    if (d < 0) {
        return 1;
    }
    if (d > 18446744073709551616.0) {
        return -1;
    }
    return value_sign((double)u<d, (double)u> d);
}

static int value_turned(int order) { return order == IL_CEL_UNORDERED ? order : -order; }

static int value_int_uint(int64_t i, uint64_t u) { return i < 0 ? -1 : value_sign((uint64_t)i<u, (uint64_t)i> u); }

static int value_number_order(const il_cel_value *a, const il_cel_value *b) {
    if (a->kind == IL_CEL_INT) {
        return b->kind == IL_CEL_INT    ? value_sign(a->u.i<b->u.i, a->u.i> b->u.i)
               : b->kind == IL_CEL_UINT ? value_int_uint(a->u.i, b->u.u)
                                        : value_int_double(a->u.i, b->u.d);
    }
    if (a->kind == IL_CEL_UINT) {
        return b->kind == IL_CEL_UINT  ? value_sign(a->u.u<b->u.u, a->u.u> b->u.u)
               : b->kind == IL_CEL_INT ? -value_int_uint(b->u.i, a->u.u)
                                       : value_uint_double(a->u.u, b->u.d);
    }
    if (b->kind == IL_CEL_INT) {
        return value_turned(value_int_double(b->u.i, a->u.d));
    }
    if (b->kind == IL_CEL_UINT) {
        return value_turned(value_uint_double(b->u.u, a->u.d));
    }
    return il_double_nan(a->u.d) || il_double_nan(b->u.d) ? IL_CEL_UNORDERED : value_sign(a->u.d<b->u.d, a->u.d> b->u.d);
}

/* --- order ---------------------------------------------------------------------------------------------------------------- */

int il_cel_order(const il_cel_value *a, const il_cel_value *b) {
    if (value_is_number(a) && value_is_number(b)) {
        return value_number_order(a, b);
    }
    if (a->kind != b->kind) {
        return IL_CEL_INCOMPARABLE;
    }
    switch ((il_cel_kind)a->kind) {
    case IL_CEL_BOOL:
        return (int)a->u.b - (int)b->u.b;
    case IL_CEL_STRING:
    case IL_CEL_BYTES: {
        int order = il_str_cmp(il_cel_str(*a), il_cel_str(*b));
        return value_sign(order<0, order> 0);
    }
    case IL_CEL_TIMESTAMP:
        return a->u.i != b->u.i ? value_sign(a->u.i<b->u.i, a->u.i> b->u.i) : value_sign(a->n<b->n, a->n> b->n);
    case IL_CEL_DURATION:
        return value_sign(a->u.i<b->u.i, a->u.i> b->u.i);
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_LIST:
    case IL_CEL_MAP:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return IL_CEL_INCOMPARABLE;
}

/* --- keys ----------------------------------------------------------------------------------------------------------------- */

/* A double as the integer that it is exactly; false when it is none. */
static bool value_key_number(const il_cel_value *v, il_cel_value *out) {
    *out = *v;
    if (v->kind != IL_CEL_DOUBLE) {
        return true;
    }
    double d = v->u.d;
    if (!(d >= -9223372036854775808.0 && d < 18446744073709551616.0) || il_double_trunc(d) != d) {
        return false;
    }
    *out = d < 0 ? il_cel_of_int((int64_t)d) : il_cel_of_uint((uint64_t)d);
    return true;
}

static int value_key_class(const il_cel_value *v) {
    return v->kind == IL_CEL_BOOL ? 0 : value_is_number(v) ? 1 : v->kind == IL_CEL_STRING ? 2 : -1;
}

int il_cel_key_order(const il_cel_value *a, const il_cel_value *b) {
    int ca = value_key_class(a), cb = value_key_class(b);
    if (ca < 0 || cb < 0) {
        return IL_CEL_INCOMPARABLE;
    }
    if (ca != cb) {
        return ca < cb ? -1 : 1;
    }
    il_cel_value na, nb;
    if (ca == 1 && (!value_key_number(a, &na) || !value_key_number(b, &nb))) {
        return IL_CEL_INCOMPARABLE;
    }
    return ca == 1 ? value_number_order(&na, &nb) : il_cel_order(a, b);
}

static bool value_is_key(const il_cel_value *v) {
    return v->kind == IL_CEL_BOOL || v->kind == IL_CEL_INT || v->kind == IL_CEL_UINT || v->kind == IL_CEL_STRING;
}

static bool value_before(const void *a, const void *b) { return il_cel_key_order(a, b) < 0; }

bool il_cel_sort_entries(il_cel_value *entries, uint32_t n) {
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_key(&entries[2 * (size_t)i])) {
            return false;
        }
        sorted = sorted && (i == 0 || il_cel_key_order(&entries[2 * (size_t)(i - 1)], &entries[2 * (size_t)i]) < 0);
    }
    if (sorted) {
        return true;
    }
    il_sort(entries, n, 2 * sizeof *entries, value_before); /* a key and its value are one item */
    for (uint32_t i = 1; i < n; i++) {
        if (il_cel_key_order(&entries[2 * (size_t)(i - 1)], &entries[2 * (size_t)i]) == 0) {
            return false;
        }
    }
    return true;
}

/* --- equality ------------------------------------------------------------------------------------------------------------- */

static bool value_same(il_cel_run *r, const il_cel_value *a, const il_cel_value *b, unsigned depth);

static bool value_same_text(il_cel_run *r, const il_cel_value *a, const il_cel_value *b) {
    if (a->n != b->n) {
        return false;
    }
    return il_cel_charge(r, a->n / 64) && il_cel_same_bytes(a->u.p, b->u.p, a->n);
}

static bool value_same_lists(il_cel_run *r, const il_cel_value *a, const il_cel_value *b, unsigned depth) {
    if (a->n != b->n) {
        return false;
    }
    il_cel_walk wa = il_cel_walk_of(a), wb = il_cel_walk_of(b);
    il_cel_value ia, ib;
    while (il_cel_walk_item(&wa, &ia) && il_cel_walk_item(&wb, &ib)) {
        if (!il_cel_charge(r, 1) || !value_same(r, &ia, &ib, depth - 1)) {
            return false;
        }
    }
    return true;
}

/* Every entry of one has its equal in the other; as many entries, no key twice: the sets of keys are the same. */
static bool value_same_maps(il_cel_run *r, const il_cel_value *a, const il_cel_value *b, unsigned depth) {
    if (a->n != b->n) {
        return false;
    }
    il_cel_walk w = il_cel_walk_of(a);
    il_cel_value key, mine, theirs;
    while (il_cel_walk_entry(&w, &key, &mine)) {
        if (!il_cel_charge(r, 1 + (key.kind == IL_CEL_STRING ? key.n / 64 : 0)) || !il_cel_map_find(b, &key, &theirs) ||
            !value_same(r, &mine, &theirs, depth - 1)) {
            return false;
        }
    }
    return true;
}

static bool value_same_records(il_cel_run *r, const il_cel_value *a, const il_cel_value *b, unsigned depth) {
    if (a->n != b->n) {
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (!il_cel_charge(r, 1) || !value_same(r, &a->u.items[i], &b->u.items[i], depth - 1)) {
            return false;
        }
    }
    return true;
}

static bool value_same_cidrs(const il_cel_value *a, const il_cel_value *b) {
    il_cidr ca, cb;
    memcpy(&ca, a->u.p, sizeof ca);
    memcpy(&cb, b->u.p, sizeof cb);
    return ca.prefix == cb.prefix && il_ip_eq(&ca.ip, &cb.ip);
}

static bool value_same_ips(const il_cel_value *a, const il_cel_value *b) {
    il_ip ia, ib;
    memcpy(&ia, a->u.p, sizeof ia);
    memcpy(&ib, b->u.p, sizeof ib);
    return il_ip_eq(&ia, &ib);
}

static bool value_same(il_cel_run *r, const il_cel_value *a, const il_cel_value *b, unsigned depth) {
    if (depth == 0) {
        r->steps = -1; /* deeper than any value that we build: the caller's tree has no end */
        return false;
    }
    if (a->kind != b->kind) {
        const bool numbers = value_is_number(a) && value_is_number(b);
        r->unlike = !numbers && a->kind != IL_CEL_NULL && b->kind != IL_CEL_NULL;
        return numbers && value_number_order(a, b) == 0;
    }
    switch ((il_cel_kind)a->kind) {
    case IL_CEL_ERROR:
        return a->fault == b->fault; /* two unset fields of records */
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return a->u.b == b->u.b;
    case IL_CEL_INT:
    case IL_CEL_DURATION:
        return a->u.i == b->u.i;
    case IL_CEL_UINT:
        return a->u.u == b->u.u;
    case IL_CEL_DOUBLE:
        return a->u.d >= b->u.d && a->u.d <= b->u.d; /* not so for NaN */
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        return value_same_text(r, a, b);
    case IL_CEL_LIST:
        return value_same_lists(r, a, b, depth);
    case IL_CEL_MAP:
        return value_same_maps(r, a, b, depth);
    case IL_CEL_TIMESTAMP:
        return a->u.i == b->u.i && a->n == b->n;
    case IL_CEL_TYPE:
        return a->n == b->n && il_str_eq(il_cel_type_name(*a), il_cel_type_name(*b));
    case IL_CEL_OPTIONAL:
        return a->u.items == NULL || b->u.items == NULL ? a->u.items == b->u.items
                                                        : value_same(r, a->u.items, b->u.items, depth - 1);
    case IL_CEL_IP:
        return value_same_ips(a, b);
    case IL_CEL_CIDR:
        return value_same_cidrs(a, b);
    case IL_CEL_RECORD:
        return value_same_records(r, a, b, depth);
    case IL_CEL_OPAQUE:
        return a->u.p == b->u.p;
    case IL_CEL_PARAM:
        break;
    }
    return false;
}

bool il_cel_same(il_cel_run *r, const il_cel_value *a, const il_cel_value *b) {
    r->unlike = false;
    return value_same(r, a, b, IL_CEL_DEPTH_MAX + 1);
}

il_cel_value il_cel_compared(il_cel_run *r, const il_cel_value *a, const il_cel_value *b) {
    const bool same = il_cel_same(r, a, b);
    return r->steps < 0                ? il_cel_of_fault(IL_CEL_BUDGET)
           : !same && il_cel_unlike(r) ? il_cel_of_fault(IL_CEL_NO_OVERLOAD)
                                       : il_cel_of_bool(same);
}

bool il_cel_equal(il_cel_value a, il_cel_value b) {
    il_cel_run r = {.steps = IL_CEL_COST};
    return il_cel_same(&r, &a, &b) && r.steps >= 0;
}
