/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_cel_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ip.h"
#include "base/time.h"
#include "json/node.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

typedef struct oracle {
    const il_cel_program *program;
    const il_cel_value *vars;
    il_arena *arena;
    il_cel_value locals[IL_CEL_LOCALS];
} oracle;

static il_cel_value oracle_eval(oracle *o, const il_cel_node *n);

static il_cel_value oracle_fault(il_cel_fault f) { return il_cel_of_fault(f); }
static bool oracle_bad(il_cel_value v) { return v.kind == IL_CEL_ERROR; }

static il_cel_value oracle_read(il_cel_value v) {
    return oracle_bad(v) ? oracle_fault(v.fault == IL_CEL_NO_FAULT ? IL_CEL_UNSET : (il_cel_fault)v.fault) : v;
}

static void *oracle_room(oracle *o, size_t n) {
    void *p = il_arena_get(o->arena, n);
    if (p == NULL) {
        abort();
    }
    return p;
}

/* --- items, whatever form they have ---------------------------------------------------------------------------------------- */

static il_cel_value oracle_json_child(il_cel_value v, uint32_t i, il_str *key) {
    const il_json *child = v.u.node->first;
    while (i-- > 0) {
        child = child->next;
    }
    *key = child->key;
    return il_cel_of_json(child);
}

static il_cel_value oracle_item(il_cel_value list, uint32_t i) {
    il_str key;
    return list.json ? oracle_json_child(list, i, &key) : list.u.items[i];
}

static void oracle_entry(il_cel_value map, uint32_t i, il_cel_value *key, il_cel_value *value) {
    il_str k;
    if (map.json) {
        *value = oracle_json_child(map, i, &k);
        *key = il_cel_of_str(k);
    } else {
        *key = map.u.items[2 * (size_t)i];
        *value = map.u.items[2 * (size_t)i + 1];
    }
}

/* --- numbers
 * ----------------------------------------------------------------------------------------------------------------- */

static bool oracle_whole(il_cel_value v) { return v.kind == IL_CEL_INT || v.kind == IL_CEL_UINT; }
static bool oracle_number(il_cel_value v) { return oracle_whole(v) || v.kind == IL_CEL_DOUBLE; }
static wide oracle_wide(il_cel_value v) { return v.kind == IL_CEL_INT ? (wide)v.u.i : (wide)v.u.u; }

enum { LESS = -1, EQUAL = 0, MORE = 1, NEITHER = 2 };

static int oracle_doubles(double a, double b) { return isnan(a) || isnan(b) ? NEITHER : a < b ? LESS : a > b ? MORE : EQUAL; }

static int oracle_whole_double(il_cel_value w, double d) {
    if (isnan(d)) {
        return NEITHER;
    }
    double low = w.kind == IL_CEL_INT ? -0x1p63 : 0, high = w.kind == IL_CEL_INT ? 0x1p63 : 0x1p64;
    return d < low ? MORE : d > high ? LESS : oracle_doubles(w.kind == IL_CEL_INT ? (double)w.u.i : (double)w.u.u, d);
}

static int oracle_numbers(il_cel_value a, il_cel_value b) {
    if (oracle_whole(a) && oracle_whole(b)) {
        wide x = oracle_wide(a), y = oracle_wide(b);
        return x < y ? LESS : x > y ? MORE : EQUAL;
    }
    if (oracle_whole(a)) {
        return oracle_whole_double(a, b.u.d);
    }
    if (oracle_whole(b)) {
        int turned = oracle_whole_double(b, a.u.d);
        return turned == NEITHER ? NEITHER : -turned;
    }
    return oracle_doubles(a.u.d, b.u.d);
}

/* --- equality
 * ------------------------------------------------------------------------------------------------------------------- */

static bool oracle_find(il_cel_value map, il_cel_value key, il_cel_value *out);

static bool oracle_equal(il_cel_value a, il_cel_value b) {
    if (oracle_number(a) && oracle_number(b)) {
        return oracle_numbers(a, b) == EQUAL;
    }
    if (a.kind != b.kind) {
        return false;
    }
    switch ((il_cel_kind)a.kind) {
    case IL_CEL_ERROR:
        return a.fault == b.fault;
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return a.u.b == b.u.b;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        return a.n == b.n && (a.n == 0 || memcmp(a.u.p, b.u.p, a.n) == 0);
    case IL_CEL_LIST:
        for (uint32_t i = 0; i < a.n && a.n == b.n; i++) {
            if (!oracle_equal(oracle_item(a, i), oracle_item(b, i))) {
                return false;
            }
        }
        return a.n == b.n;
    case IL_CEL_MAP:
        for (uint32_t i = 0; i < a.n && a.n == b.n; i++) {
            il_cel_value key, mine, theirs;
            oracle_entry(a, i, &key, &mine);
            if (!oracle_find(b, key, &theirs) || !oracle_equal(mine, theirs)) {
                return false;
            }
        }
        return a.n == b.n;
    case IL_CEL_RECORD:
        for (uint32_t i = 0; i < a.n && a.n == b.n; i++) {
            if (!oracle_equal(a.u.items[i], b.u.items[i])) {
                return false;
            }
        }
        return a.n == b.n;
    case IL_CEL_TIMESTAMP:
        return a.u.i == b.u.i && a.n == b.n;
    case IL_CEL_DURATION:
        return a.u.i == b.u.i;
    case IL_CEL_TYPE:
        return il_str_eq(il_cel_type_name(a), il_cel_type_name(b));
    case IL_CEL_OPTIONAL:
        return a.u.items == NULL ? b.u.items == NULL : b.u.items != NULL && oracle_equal(*a.u.items, *b.u.items);
    case IL_CEL_IP:
        return memcmp(a.u.p, b.u.p, sizeof(il_ip)) == 0;
    case IL_CEL_CIDR:
        return memcmp(a.u.p, b.u.p, sizeof(il_cidr)) == 0;
    case IL_CEL_OPAQUE:
        return a.u.p == b.u.p;
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_PARAM:
        break;
    }
    return false;
}

/* A key: a double is the integer that it is exactly; no other kind is any other. */
static bool oracle_key_is(il_cel_value have, il_cel_value key) {
    if (oracle_whole(have) && key.kind == IL_CEL_DOUBLE) {
        return isfinite(key.u.d) && key.u.d == trunc(key.u.d) && fabs(key.u.d) < 0x1p65 && (wide)key.u.d == oracle_wide(have);
    }
    if (oracle_whole(have)) {
        return oracle_whole(key) && oracle_wide(have) == oracle_wide(key);
    }
    return have.kind == key.kind && oracle_equal(have, key);
}

static bool oracle_find(il_cel_value map, il_cel_value key, il_cel_value *out) {
    for (uint32_t i = 0; i < map.n; i++) {
        il_cel_value have;
        oracle_entry(map, i, &have, out);
        if (oracle_key_is(have, key)) {
            return true;
        }
    }
    return false;
}

/* --- operators
 * -------------------------------------------------------------------------------------------------------------------- */

static il_cel_value oracle_fit(il_cel_kind kind, wide v) {
    if (kind == IL_CEL_INT) {
        return v < INT64_MIN || v > INT64_MAX ? oracle_fault(IL_CEL_OVERFLOW) : il_cel_of_int((int64_t)v);
    }
    return v < 0 || v > (wide)UINT64_MAX ? oracle_fault(IL_CEL_OVERFLOW) : il_cel_of_uint((uint64_t)v);
}

static il_cel_value oracle_whole_arithmetic(il_cel_op op, il_cel_value a, il_cel_value b) {
    wide x = oracle_wide(a), y = oracle_wide(b);
    il_cel_kind kind = (il_cel_kind)a.kind;
    if (op == IL_CEL_OP_ADD || op == IL_CEL_OP_SUB) {
        return oracle_fit(kind, op == IL_CEL_OP_ADD ? x + y : x - y);
    }
    if (op == IL_CEL_OP_MUL) {
        if (kind == IL_CEL_UINT) { /* 2^64 squared is more than a wide holds */
            return x != 0 && (uwide)y > (uwide)UINT64_MAX / (uwide)x ? oracle_fault(IL_CEL_OVERFLOW) : oracle_fit(kind, x * y);
        }
        return oracle_fit(kind, x * y);
    }
    if (y == 0) {
        return oracle_fault(IL_CEL_DIVIDE);
    }
    if (kind == IL_CEL_INT && x == INT64_MIN && y == -1) {
        return oracle_fault(IL_CEL_OVERFLOW);
    }
    return oracle_fit(kind, op == IL_CEL_OP_DIV ? x / y : x % y);
}

static il_cel_value oracle_time(il_cel_op op, il_cel_value a, il_cel_value b) {
    const wide billion = 1000000000;
    wide x = a.kind == IL_CEL_TIMESTAMP ? a.u.i * billion + a.n : a.u.i,
         y = b.kind == IL_CEL_TIMESTAMP ? b.u.i * billion + b.n : b.u.i;
    int stamps = (a.kind == IL_CEL_TIMESTAMP) + (b.kind == IL_CEL_TIMESTAMP);
    bool add = op == IL_CEL_OP_ADD;
    if ((!add && op != IL_CEL_OP_SUB) || (add && stamps == 2) || (!add && stamps == 1 && b.kind == IL_CEL_TIMESTAMP)) {
        return oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    wide v = add ? x + y : x - y;
    if (stamps != 1) {
        il_cel_value d = il_cel_of(IL_CEL_DURATION, 0);
        d.u.i = (int64_t)v;
        return v < INT64_MIN || v > INT64_MAX ? oracle_fault(IL_CEL_OVERFLOW) : d;
    }
    if (v < IL_TIME_SECONDS_MIN * billion || v >= (IL_TIME_SECONDS_MAX + (wide)1) * billion) {
        return oracle_fault(IL_CEL_OVERFLOW);
    }
    wide nanos = (v % billion + billion) % billion;
    il_cel_value t = il_cel_of(IL_CEL_TIMESTAMP, (uint32_t)nanos);
    t.u.i = (int64_t)((v - nanos) / billion);
    return t;
}

static il_cel_value oracle_join(oracle *o, il_cel_value a, il_cel_value b) {
    if (a.kind == IL_CEL_LIST) {
        il_cel_value *items = oracle_room(o, ((size_t)a.n + b.n) * sizeof *items);
        for (uint32_t i = 0; i < a.n + b.n; i++) {
            items[i] = i < a.n ? oracle_item(a, i) : oracle_item(b, i - a.n);
        }
        return il_cel_of_items(IL_CEL_LIST, items, a.n + b.n);
    }
    char *p = oracle_room(o, (size_t)a.n + b.n);
    for (uint32_t i = 0; i < a.n + b.n; i++) {
        p[i] = i < a.n ? a.u.p[i] : b.u.p[i - a.n];
    }
    il_cel_value v = il_cel_of((il_cel_kind)a.kind, a.n + b.n);
    v.u.p = p;
    return v;
}

static il_cel_value oracle_arithmetic(oracle *o, il_cel_op op, il_cel_value a, il_cel_value b) {
    bool times =
        (a.kind == IL_CEL_TIMESTAMP || a.kind == IL_CEL_DURATION) && (b.kind == IL_CEL_TIMESTAMP || b.kind == IL_CEL_DURATION);
    if (times) {
        return oracle_time(op, a, b);
    }
    if (a.kind != b.kind) {
        return oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    if (oracle_whole(a)) {
        return oracle_whole_arithmetic(op, a, b);
    }
    if (a.kind == IL_CEL_DOUBLE && op != IL_CEL_OP_MOD) {
        double x = a.u.d, y = b.u.d;
        return il_cel_of_double(op == IL_CEL_OP_ADD ? x + y : op == IL_CEL_OP_SUB ? x - y : op == IL_CEL_OP_MUL ? x * y : x / y);
    }
    if (op == IL_CEL_OP_ADD && (a.kind == IL_CEL_STRING || a.kind == IL_CEL_BYTES || a.kind == IL_CEL_LIST)) {
        return oracle_join(o, a, b);
    }
    return oracle_fault(IL_CEL_NO_OVERLOAD);
}

static il_cel_value oracle_order(il_cel_op op, il_cel_value a, il_cel_value b) {
    int order = NEITHER;
    if (oracle_number(a) && oracle_number(b)) {
        order = oracle_numbers(a, b);
    } else if (a.kind != b.kind) {
        return oracle_fault(IL_CEL_NO_OVERLOAD);
    } else if (a.kind == IL_CEL_BOOL) {
        order = (int)a.u.b - (int)b.u.b;
    } else if (a.kind == IL_CEL_STRING || a.kind == IL_CEL_BYTES) {
        uint32_t least = a.n < b.n ? a.n : b.n;
        order = least == 0 ? 0 : memcmp(a.u.p, b.u.p, least);
        order = order < 0 ? LESS : order > 0 ? MORE : a.n < b.n ? LESS : a.n > b.n ? MORE : EQUAL;
    } else if (a.kind == IL_CEL_TIMESTAMP) {
        order = a.u.i < b.u.i ? LESS : a.u.i > b.u.i ? MORE : a.n < b.n ? LESS : a.n > b.n ? MORE : EQUAL;
    } else if (a.kind == IL_CEL_DURATION) {
        order = a.u.i < b.u.i ? LESS : a.u.i > b.u.i ? MORE : EQUAL;
    } else {
        return oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    bool yes = op == IL_CEL_OP_LT   ? order == LESS
               : op == IL_CEL_OP_LE ? order == LESS || order == EQUAL
               : op == IL_CEL_OP_GT ? order == MORE
                                    : order == MORE || order == EQUAL;
    return il_cel_of_bool(yes);
}

static il_cel_value oracle_in(il_cel_value v, il_cel_value of) {
    il_cel_value found;
    if (of.kind == IL_CEL_MAP) {
        return il_cel_of_bool(oracle_find(of, v, &found));
    }
    if (of.kind != IL_CEL_LIST) {
        return oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    bool in = false;
    for (uint32_t i = 0; i < of.n; i++) {
        in = in || oracle_equal(v, oracle_item(of, i));
    }
    return il_cel_of_bool(in);
}

static il_cel_value oracle_binary(oracle *o, const il_cel_node *n) {
    il_cel_value a = oracle_eval(o, n->kids), b = oracle_eval(o, n->kids->next);
    il_cel_op op = (il_cel_op)n->op;
    if (oracle_bad(a) || oracle_bad(b)) {
        return oracle_bad(a) ? a : b;
    }
    if (op == IL_CEL_OP_EQ || op == IL_CEL_OP_NE) {
        return il_cel_of_bool(oracle_equal(a, b) == (op == IL_CEL_OP_EQ));
    }
    if (op == IL_CEL_OP_IN) {
        return oracle_in(a, b);
    }
    if (op == IL_CEL_OP_LT || op == IL_CEL_OP_LE || op == IL_CEL_OP_GT || op == IL_CEL_OP_GE) {
        return oracle_order(op, a, b);
    }
    return oracle_arithmetic(o, op, a, b);
}

static il_cel_value oracle_truth(il_cel_value v) {
    return v.kind == IL_CEL_BOOL || oracle_bad(v) ? v : oracle_fault(IL_CEL_NO_OVERLOAD);
}

/* `a && b`: false if either is false, else an error if any is one, else true. `||` is the dual. */
static il_cel_value oracle_fold(bool decides, il_cel_value sofar, il_cel_value next) {
    next = oracle_truth(next);
    if (sofar.kind == IL_CEL_BOOL && sofar.u.b == decides) {
        return sofar;
    }
    if (next.kind == IL_CEL_BOOL && next.u.b == decides) {
        return next;
    }
    return oracle_bad(sofar) ? sofar : next;
}

static il_cel_value oracle_cond(oracle *o, const il_cel_node *n) {
    il_cel_value c = oracle_truth(oracle_eval(o, n->kids));
    return oracle_bad(c) ? c : oracle_eval(o, c.u.b ? n->kids->next : n->kids->next->next);
}

/* --- members
 * ------------------------------------------------------------------------------------------------------------------------ */

static il_cel_value oracle_some(oracle *o, il_cel_value v) {
    il_cel_value *in = oracle_room(o, sizeof *in);
    *in = v;
    return il_cel_of_items(IL_CEL_OPTIONAL, in, 0);
}

static il_cel_value oracle_none(void) { return il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0); }

static il_cel_value oracle_list_at(il_cel_value list, il_cel_value index) {
    if (!oracle_number(index)) {
        return oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    if (index.kind == IL_CEL_DOUBLE && (isnan(index.u.d) || trunc(index.u.d) != index.u.d)) {
        return oracle_fault(IL_CEL_BAD_VALUE);
    }
    for (uint32_t i = 0; i < list.n; i++) {
        if (oracle_numbers(il_cel_of_int(i), index) == EQUAL) {
            return oracle_read(oracle_item(list, i));
        }
    }
    return oracle_fault(IL_CEL_MISSING);
}

/* key NULL: the field of that number. */
static il_cel_value oracle_get(il_cel_value of, const il_cel_value *key, bool index, uint32_t field) {
    il_cel_value v;
    if (of.kind == IL_CEL_RECORD && key == NULL) {
        return field < of.n ? oracle_read(of.u.items[field]) : oracle_fault(IL_CEL_UNSET);
    }
    if (of.kind == IL_CEL_MAP && key != NULL) {
        return oracle_find(of, *key, &v) ? oracle_read(v) : oracle_fault(IL_CEL_MISSING);
    }
    return of.kind == IL_CEL_LIST && index ? oracle_list_at(of, *key) : oracle_fault(IL_CEL_NO_OVERLOAD);
}

static bool oracle_numbered(const il_cel_node *n) {
    const il_cel_type *t = n->kids->type;
    t = t != NULL && t->kind == IL_CEL_OPTIONAL ? t->element : t;
    return t != NULL && t->kind == IL_CEL_RECORD;
}

static il_cel_value oracle_member(oracle *o, const il_cel_node *n, bool has) {
    bool index = n->op == IL_CEL_OP_INDEX;
    il_cel_value of = oracle_eval(o, n->kids), key = index ? oracle_eval(o, n->kids->next) : il_cel_of_str(n->name);
    if (oracle_bad(of) || oracle_bad(key)) {
        return oracle_bad(of) ? of : key;
    }
    bool through = of.kind == IL_CEL_OPTIONAL;
    if (through && of.u.items == NULL) {
        return has ? il_cel_of_bool(false) : oracle_none();
    }
    il_cel_value v = oracle_get(through ? *of.u.items : of, !index && oracle_numbered(n) ? NULL : &key, index, n->field);
    bool absent = oracle_bad(v) && (v.fault == IL_CEL_MISSING || v.fault == IL_CEL_UNSET);
    if (has) {
        return oracle_bad(v) && !absent ? v : il_cel_of_bool(!absent);
    }
    if (!through && !n->optional) {
        return v;
    }
    return absent ? oracle_none() : oracle_bad(v) ? v : oracle_some(o, v);
}

/* --- lists, maps
 * ------------------------------------------------------------------------------------------------------------------------ */

static il_cel_value oracle_list(oracle *o, const il_cel_node *n) {
    uint32_t count = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        count++;
    }
    il_cel_value *items = oracle_room(o, count * sizeof *items);
    count = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        il_cel_value v = oracle_eval(o, k);
        if (!oracle_bad(v) && k->maybe) {
            if (v.kind != IL_CEL_OPTIONAL) {
                return oracle_fault(IL_CEL_NO_OVERLOAD);
            }
            if (v.u.items == NULL) {
                continue;
            }
            v = *v.u.items;
        }
        if (oracle_bad(v)) {
            return v;
        }
        items[count++] = v;
    }
    return il_cel_of_items(IL_CEL_LIST, items, count);
}

/* The entries of a map in the making: a key that is there already is the end of it. */
typedef struct oracle_map {
    il_cel_value *entries;
    uint32_t n;
    il_cel_value error;
    bool failed, repeated;
} oracle_map;

static void oracle_put(oracle *o, oracle_map *m, il_cel_value key, il_cel_value value) {
    il_cel_value there, have = il_cel_of_items(IL_CEL_MAP, m->entries, m->n);
    m->repeated = m->repeated || oracle_find(have, key, &there);
    il_cel_value *more = oracle_room(o, 2 * ((size_t)m->n + 1) * sizeof *more);
    if (m->n > 0) {
        memcpy(more, m->entries, 2 * (size_t)m->n * sizeof *more);
    }
    more[2 * (size_t)m->n] = key;
    more[2 * (size_t)m->n + 1] = value;
    m->entries = more;
    m->n++;
}

static void oracle_map_fail(oracle_map *m, il_cel_value error) {
    if (!m->failed) {
        m->failed = true;
        m->error = error;
    }
}

static int oracle_key_rank(il_cel_value k) { return k.kind == IL_CEL_BOOL ? 0 : oracle_number(k) ? 1 : 2; }

static bool oracle_key_less(il_cel_value a, il_cel_value b) {
    if (oracle_key_rank(a) != oracle_key_rank(b)) {
        return oracle_key_rank(a) < oracle_key_rank(b);
    }
    return oracle_order(IL_CEL_OP_LT, a, b).u.b;
}

/* Sorted, since a loop over it shall have a known order. */
static il_cel_value oracle_map_done(oracle_map *m) {
    if (m->failed || m->repeated) {
        return m->failed ? m->error : oracle_fault(IL_CEL_BAD_VALUE);
    }
    for (uint32_t i = 1; i < m->n; i++) {
        for (uint32_t j = i; j > 0 && oracle_key_less(m->entries[2 * j], m->entries[2 * j - 2]); j--) {
            il_cel_value key = m->entries[2 * j], value = m->entries[2 * j + 1];
            m->entries[2 * j] = m->entries[2 * j - 2];
            m->entries[2 * j + 1] = m->entries[2 * j - 1];
            m->entries[2 * j - 2] = key;
            m->entries[2 * j - 1] = value;
        }
    }
    return il_cel_of_items(IL_CEL_MAP, m->entries, m->n);
}

static bool oracle_is_key(il_cel_value k) {
    return k.kind == IL_CEL_BOOL || k.kind == IL_CEL_INT || k.kind == IL_CEL_UINT || k.kind == IL_CEL_STRING;
}

static il_cel_value oracle_map_literal(oracle *o, const il_cel_node *n) {
    oracle_map m = {0};
    for (const il_cel_node *k = n->kids; k != NULL && !m.failed; k = k->next->next) {
        il_cel_value key = oracle_eval(o, k), value = oracle_eval(o, k->next);
        if (!oracle_is_key(key)) {
            oracle_map_fail(&m, oracle_bad(key) ? key : oracle_fault(IL_CEL_NO_OVERLOAD));
        } else if (oracle_bad(value)) {
            oracle_map_fail(&m, value);
        } else if (!k->maybe) {
            oracle_put(o, &m, key, value);
        } else if (value.kind != IL_CEL_OPTIONAL) {
            oracle_map_fail(&m, oracle_fault(IL_CEL_NO_OVERLOAD));
        } else if (value.u.items != NULL) {
            oracle_put(o, &m, key, *value.u.items);
        }
    }
    return oracle_map_done(&m);
}

/* --- macros
 * --------------------------------------------------------------------------------------------------------------------------------
 * */

static void oracle_bind(oracle *o, const il_cel_node *n, il_cel_value range, uint32_t i) {
    il_cel_value key, value;
    if (range.kind == IL_CEL_MAP) {
        oracle_entry(range, i, &key, &value);
    } else {
        key = il_cel_of_int(i);
        value = oracle_item(range, i);
    }
    if (n->slot2 != IL_CEL_NO_SLOT) {
        o->locals[n->slot] = oracle_read(key);
        o->locals[n->slot2] = oracle_read(value);
    } else {
        o->locals[n->slot] = oracle_read(range.kind == IL_CEL_MAP ? key : value);
    }
}

static il_cel_value oracle_loop(oracle *o, const il_cel_node *n) {
    il_cel_value range = oracle_eval(o, n->kids);
    if (range.kind != IL_CEL_LIST && range.kind != IL_CEL_MAP) {
        return oracle_bad(range) ? range : oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_cel_node *body = n->kids->next, *last = body->next != NULL ? body->next : body;
    il_cel_value answer = il_cel_of_bool(n->op == IL_CEL_OP_ALL);
    il_cel_value *items = oracle_room(o, range.n * sizeof *items);
    oracle_map map = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < range.n; i++) {
        oracle_bind(o, n, range, i);
        if (n->op == IL_CEL_OP_EXISTS || n->op == IL_CEL_OP_ALL) {
            answer = oracle_fold(n->op == IL_CEL_OP_EXISTS, answer, oracle_eval(o, body));
            continue;
        }
        bool filters = n->op == IL_CEL_OP_EXISTS_ONE || n->op == IL_CEL_OP_FILTER || body != last;
        il_cel_value yes = filters ? oracle_truth(oracle_eval(o, body)) : il_cel_of_bool(true);
        if (oracle_bad(yes)) {
            return yes;
        }
        if (!yes.u.b) {
            continue;
        }
        il_cel_value v = n->op == IL_CEL_OP_FILTER || n->op == IL_CEL_OP_EXISTS_ONE ? o->locals[n->slot] : oracle_eval(o, last);
        if (n->op != IL_CEL_OP_EXISTS_ONE && oracle_bad(v)) {
            return v;
        }
        if (n->op == IL_CEL_OP_TRANSFORM_MAP) {
            oracle_put(o, &map, o->locals[n->slot], v);
        } else if (n->op == IL_CEL_OP_TRANSFORM_ENTRY) {
            for (uint32_t e = 0; e < v.n; e++) {
                il_cel_value key, value;
                oracle_entry(v, e, &key, &value);
                oracle_put(o, &map, key, value);
            }
        } else {
            items[count++] = v;
        }
    }
    if (n->op == IL_CEL_OP_EXISTS_ONE) {
        return il_cel_of_bool(count == 1);
    }
    if (n->op == IL_CEL_OP_TRANSFORM_MAP || n->op == IL_CEL_OP_TRANSFORM_ENTRY) {
        return oracle_map_done(&map);
    }
    return n->op == IL_CEL_OP_EXISTS || n->op == IL_CEL_OP_ALL ? answer : il_cel_of_items(IL_CEL_LIST, items, count);
}

static il_cel_value oracle_opt(oracle *o, const il_cel_node *n) {
    il_cel_value of = oracle_eval(o, n->kids);
    if (of.kind != IL_CEL_OPTIONAL) {
        return oracle_bad(of) ? of : oracle_fault(IL_CEL_NO_OVERLOAD);
    }
    if (of.u.items == NULL) {
        return of;
    }
    o->locals[n->slot] = *of.u.items;
    il_cel_value v = oracle_eval(o, n->kids->next);
    if (oracle_bad(v)) {
        return v;
    }
    if (n->op == IL_CEL_OP_OPT_MAP) {
        return oracle_some(o, v);
    }
    return v.kind == IL_CEL_OPTIONAL ? v : oracle_fault(IL_CEL_NO_OVERLOAD);
}

/* --- calls
 * --------------------------------------------------------------------------------------------------------------------------------------
 * */

static il_cel_value oracle_call(oracle *o, const il_cel_node *n) {
    il_cel_value args[16], failed = {0};
    uint32_t nargs = 0;
    bool any = false;
    if (n->builtin == NULL && n->function == NULL) {
        return oracle_fault(IL_CEL_UNKNOWN);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        args[nargs] = oracle_eval(o, k);
        if (oracle_bad(args[nargs]) && !any) {
            failed = args[nargs];
            any = true;
        }
        nargs++;
        const bool either =
            n->builtin != NULL && nargs == 1 && (il_str_eq(n->name, IL_STR("or")) || il_str_eq(n->name, IL_STR("orValue")));
        if (either && !any && args[0].kind != IL_CEL_OPTIONAL) {
            return oracle_fault(IL_CEL_NO_OVERLOAD);
        }
        if (either && !any && args[0].u.items != NULL) { /* the right side is not looked at */
            return il_str_eq(n->name, IL_STR("or")) ? args[0] : args[0].u.items[0];
        }
    }
    if (any) {
        return failed;
    }
    if (n->function != NULL) {
        return oracle_read(n->function->call(n->function->ctx, args, nargs));
    }
    il_cel_run run = {.program = o->program, .scratch = o->arena, .steps = INT64_MAX};
    return oracle_read(n->builtin->call(&run, args, nargs));
}

static il_cel_value oracle_eval(oracle *o, const il_cel_node *n) {
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_TYPE:
        return n->lit;
    case IL_CEL_OP_LIST:
        return oracle_list(o, n);
    case IL_CEL_OP_MAP:
        return oracle_map_literal(o, n);
    case IL_CEL_OP_NAME:
        return oracle_fault(IL_CEL_UNKNOWN);
    case IL_CEL_OP_LET:
        return oracle_eval(o, n->kids);
    case IL_CEL_OP_LOCAL:
        return o->locals[n->slot];
    case IL_CEL_OP_VAR:
        return oracle_read(o->vars[n->slot]);
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_INDEX:
        return oracle_member(o, n, false);
    case IL_CEL_OP_HAS:
        return oracle_member(o, n->kids, true);
    case IL_CEL_OP_CALL:
        return oracle_call(o, n);
    case IL_CEL_OP_NOT: {
        il_cel_value v = oracle_truth(oracle_eval(o, n->kids));
        return oracle_bad(v) ? v : il_cel_of_bool(!v.u.b);
    }
    case IL_CEL_OP_NEG: {
        il_cel_value v = oracle_eval(o, n->kids);
        return oracle_bad(v)             ? v
               : v.kind == IL_CEL_INT    ? oracle_fit(IL_CEL_INT, -(wide)v.u.i)
               : v.kind == IL_CEL_DOUBLE ? il_cel_of_double(-v.u.d)
                                         : oracle_fault(IL_CEL_NO_OVERLOAD);
    }
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
        return oracle_binary(o, n);
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR: {
        bool decides = n->op == IL_CEL_OP_OR;
        il_cel_value v = il_cel_of_bool(!decides);
        for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
            v = oracle_fold(decides, v, oracle_eval(o, k));
        }
        return v;
    }
    case IL_CEL_OP_COND:
        return oracle_cond(o, n);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
        return oracle_loop(o, n);
    case IL_CEL_OP_BIND:
        o->locals[n->slot] = oracle_eval(o, n->kids);
        return oracle_eval(o, n->kids->next);
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        return oracle_opt(o, n);
    }
    return oracle_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value cel_oracle(const il_cel_program *program, const il_cel_value *vars, il_arena *arena) {
    oracle o = {.program = program, .vars = vars, .arena = arena};
    return oracle_eval(&o, program->root);
}

bool cel_oracle_same(il_cel_value a, il_cel_value b) {
    if (a.kind != b.kind) {
        return false;
    }
    if (a.kind == IL_CEL_DOUBLE) {
        return memcmp(&a.u.d, &b.u.d, sizeof a.u.d) == 0 || (isnan(a.u.d) && isnan(b.u.d));
    }
    if (a.kind == IL_CEL_LIST || a.kind == IL_CEL_MAP) {
        for (uint32_t i = 0; i < a.n && a.n == b.n; i++) {
            il_cel_value ka, kb, va, vb;
            if (a.kind == IL_CEL_MAP) {
                oracle_entry(a, i, &ka, &va);
                oracle_entry(b, i, &kb, &vb);
                if (!cel_oracle_same(ka, kb)) {
                    return false;
                }
            } else {
                va = oracle_item(a, i);
                vb = oracle_item(b, i);
            }
            if (!cel_oracle_same(va, vb)) {
                return false;
            }
        }
        return a.n == b.n;
    }
    if (a.kind == IL_CEL_OPTIONAL && a.u.items != NULL && b.u.items != NULL) {
        return cel_oracle_same(*a.u.items, *b.u.items);
    }
    return oracle_equal(a, b);
}
