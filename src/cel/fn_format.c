/* SPDX-License-Identifier: Apache-2.0 */
/* string.format (cel-spec's strings extension): `%s %d %f %e %b %o %x %X`, `%%`, and a precision of 0 to 1000 after a point. A
 * clause takes the next item of the list; items that no clause takes are ignored. No locale. */
#include "base/sort.h"
#include "cel/fn.h"

enum { FORMAT_PRECISION = 6, FORMAT_PRECISION_MAX = 1000, FORMAT_DEPTH = 512 };

typedef struct format_out {
    il_cel_run *r;
    il_buf b;
    il_cel_fault fault; /* the first; the text is void then */
} format_out;

/* The first fault stays. False, for `return format_fail(…)`. */
static bool format_fail(format_out *out, il_cel_fault fault) {
    out->fault = out->fault == IL_CEL_NO_FAULT ? fault : out->fault;
    return false;
}

/* Bytes are charged at the end: the buffer holds no more than the steps that are left could pay for. */
static bool format_put(format_out *out, il_str s) {
    il_buf_put(&out->b, s);
    return out->b.failed ? format_fail(out, IL_CEL_BUDGET) : true;
}

/* In a base of 2, 8, 10 or 16. */
static bool format_number(format_out *out, uint64_t v, bool minus, unsigned base, bool upper) {
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[65];
    size_t at = sizeof text;
    do {
        text[--at] = digits[v % base];
        v /= base;
    } while (v != 0);
    if (minus) {
        text[--at] = '-';
    }
    return format_put(out, (il_str){text + at, sizeof text - at});
}

static bool format_whole(format_out *out, const il_cel_value *v, unsigned base, bool upper) {
    if (v->kind == IL_CEL_INT) {
        return format_number(out, v->u.i < 0 ? 0 - (uint64_t)v->u.i : (uint64_t)v->u.i, v->u.i < 0, base, upper);
    }
    return v->kind == IL_CEL_UINT ? format_number(out, v->u.u, false, base, upper) : format_fail(out, IL_CEL_NO_OVERLOAD);
}

static bool format_hex(format_out *out, const il_cel_value *v, bool upper) {
    if (v->kind != IL_CEL_STRING && v->kind != IL_CEL_BYTES) {
        return format_whole(out, v, 16, upper);
    }
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    const il_str s = il_cel_str(*v);
    if (s.n == 0) {
        return true;
    }
    char *p = s.n <= UINT32_MAX / 2 ? il_buf_room(&out->b, s.n * 2) : NULL;
    if (p == NULL) {
        return format_fail(out, IL_CEL_BUDGET);
    }
    for (size_t i = 0; i < s.n; i++) {
        p[2 * i] = digits[(unsigned char)s.p[i] >> 4];
        p[2 * i + 1] = digits[(unsigned char)s.p[i] & 15];
    }
    out->b.n += s.n * 2;
    return true;
}

static bool format_double(format_out *out, const il_cel_value *v, bool exponent, uint32_t precision) {
    double d;
    if (v->kind == IL_CEL_DOUBLE) {
        d = v->u.d;
    } else if (v->kind == IL_CEL_INT) {
        d = (double)v->u.i;
    } else if (v->kind == IL_CEL_UINT) {
        d = (double)v->u.u;
    } else {
        return format_fail(out, IL_CEL_NO_OVERLOAD);
    }
    if (exponent) {
        il_double_exponent(&out->b, d, precision);
    } else {
        il_double_fixed(&out->b, d, precision);
    }
    return out->b.failed ? format_fail(out, IL_CEL_BUDGET) : true;
}

static bool format_value(format_out *out, const il_cel_value *v, unsigned depth);

static bool format_list(format_out *out, const il_cel_value *list, unsigned depth) {
    il_cel_walk w = il_cel_walk_of(list);
    il_cel_value item;
    bool ok = format_put(out, IL_STR("["));
    for (bool first = true; ok && il_cel_walk_item(&w, &item); first = false) {
        ok = format_put(out, first ? IL_STR("") : IL_STR(", ")) && format_value(out, &item, depth + 1);
    }
    return ok && format_put(out, IL_STR("]"));
}

typedef struct format_entry {
    il_str key;
    uint32_t place; /* among the entries: which comes first of two keys with one text (1 and "1") */
    il_cel_value value;
} format_entry;

static bool format_before(const void *x, const void *y) {
    const format_entry *a = x, *b = y;
    const int c = il_str_cmp(a->key, b->key);
    return c != 0 ? c < 0 : a->place < b->place;
}

/* In the order of the keys' texts. */
static bool format_map(format_out *out, const il_cel_value *map, unsigned depth) {
    format_entry *entries = NULL;
    size_t n = 0;
    if (map->n > 0) {
        /* An arena, for the alignment; and 32 steps an entry for its sorting (2^32 entries are sorted in 32 n comparisons). */
        const bool paid = map->n <= UINT32_MAX / sizeof *entries && il_cel_charge(out->r, (uint64_t)map->n * 32);
        entries = paid ? il_arena_raw(out->r->scratch, map->n * sizeof *entries) : NULL;
        if (entries == NULL) {
            return format_fail(out, IL_CEL_BUDGET);
        }
    }
    il_cel_walk w = il_cel_walk_of(map);
    for (il_cel_value key, value; n < map->n && il_cel_walk_entry(&w, &key, &value); n++) {
        char text[IL_CEL_SCALAR_TEXT];
        if (key.kind != IL_CEL_STRING) {
            const size_t bytes = il_cel_scalar_text(&key, IL_DOUBLE_PLAIN, text);
            key = il_cel_copied(out->r, (il_str){text, bytes});
        }
        if (key.kind != IL_CEL_STRING) {
            return format_fail(out, IL_CEL_BUDGET);
        }
        entries[n] = (format_entry){il_cel_str(key), (uint32_t)n, value};
    }
    il_sort(entries, n, sizeof *entries, format_before);
    bool ok = format_put(out, IL_STR("{"));
    for (size_t i = 0; ok && i < n; i++) {
        ok = format_put(out, i == 0 ? IL_STR("") : IL_STR(", ")) && format_put(out, entries[i].key) &&
             format_put(out, IL_STR(": ")) && format_value(out, &entries[i].value, depth + 1);
    }
    return ok && format_put(out, IL_STR("}"));
}

/* `%s`. */
static bool format_value(format_out *out, const il_cel_value *v, unsigned depth) {
    if (depth > FORMAT_DEPTH || !il_cel_charge(out->r, 1)) {
        return format_fail(out, IL_CEL_BUDGET);
    }
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_NULL:
        return format_put(out, IL_STR("null"));
    case IL_CEL_BYTES:
        if (!il_cel_charge_text(out->r, v->n)) {
            return format_fail(out, IL_CEL_BUDGET);
        }
        return il_str_utf8(il_cel_str(*v), NULL) ? format_put(out, il_cel_str(*v)) : format_fail(out, IL_CEL_BAD_VALUE);
    case IL_CEL_STRING:
        return format_put(out, il_cel_str(*v));
    case IL_CEL_TYPE:
        return format_put(out, il_cel_type_name(*v));
    case IL_CEL_LIST:
        return format_list(out, v, depth);
    case IL_CEL_MAP:
        return format_map(out, v, depth);
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_IP:
    case IL_CEL_CIDR: {
        char text[IL_CEL_SCALAR_TEXT];
        const size_t n = il_cel_scalar_text(v, IL_DOUBLE_PLAIN, text);
        return format_put(out, (il_str){text, n});
    }
    case IL_CEL_ERROR:
    case IL_CEL_OPTIONAL:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return format_fail(out, IL_CEL_NO_OVERLOAD);
}

static bool format_clause(format_out *out, char letter, const il_cel_value *v, uint32_t precision) {
    switch (letter) {
    case 's':
        return format_value(out, v, 0);
    case 'd':
        /* A double only for NaN and the infinities to have a text; cel-go writes others whole. */
        return v->kind == IL_CEL_DOUBLE ? format_value(out, v, 0) : format_whole(out, v, 10, false);
    case 'f':
    case 'e':
        return format_double(out, v, letter == 'e', precision);
    case 'b':
        return v->kind == IL_CEL_BOOL ? format_put(out, v->u.b ? IL_STR("1") : IL_STR("0")) : format_whole(out, v, 2, false);
    case 'o':
        return format_whole(out, v, 8, false);
    case 'x':
    case 'X':
        return format_hex(out, v, letter == 'X');
    default:
        return format_fail(out, IL_CEL_BAD_VALUE);
    }
}

/* `.digits` at *at, which moves behind them; false for a point without digits and for more than the limit. */
static bool format_precision(il_str f, size_t *at, uint32_t *precision) {
    *precision = FORMAT_PRECISION;
    if (*at >= f.n || f.p[*at] != '.') {
        return true;
    }
    const size_t from = ++*at;
    *precision = 0;
    for (; *at < f.n && f.p[*at] >= '0' && f.p[*at] <= '9'; ++*at) {
        *precision = *precision * 10 + (uint32_t)(f.p[*at] - '0');
        if (*precision > FORMAT_PRECISION_MAX) {
            return false;
        }
    }
    return *at > from;
}

static bool format_all(format_out *out, il_str f, const il_cel_value *list) {
    il_cel_walk w = il_cel_walk_of(list);
    for (size_t at = 0; at < f.n;) {
        size_t to = at;
        while (to < f.n && f.p[to] != '%') {
            to++;
        }
        if (!format_put(out, il_str_part(f, at, to))) {
            return false;
        }
        at = to;
        if (at == f.n) {
            break;
        }
        at++;
        if (at < f.n && f.p[at] == '%') {
            if (!format_put(out, IL_STR("%"))) {
                return false;
            }
            at++;
            continue;
        }
        uint32_t precision;
        il_cel_value item;
        if (!format_precision(f, &at, &precision) || at >= f.n || !il_cel_walk_item(&w, &item)) {
            return format_fail(out, IL_CEL_BAD_VALUE);
        }
        if (!il_cel_charge(out->r, 1 + precision / 64) || !format_clause(out, f.p[at++], &item, precision)) {
            return format_fail(out, IL_CEL_BUDGET);
        }
    }
    return true;
}

il_cel_value il_cel_fn_format(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_STRING || args[1].kind != IL_CEL_LIST) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (r->scratch == NULL || !il_cel_charge_text(r, args[0].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    format_out out = {.r = r, .fault = IL_CEL_NO_FAULT};
    const uint64_t most = (uint64_t)r->steps > UINT32_MAX / 64 ? UINT32_MAX : (uint64_t)r->steps * 64 + 63;
    il_buf_init(&out.b, r->scratch, (size_t)most);
    il_str text;
    if (!format_all(&out, il_cel_str(args[0]), &args[1])) {
        r->steps = out.fault == IL_CEL_BUDGET ? -1 : r->steps;
        return il_cel_of_fault(out.fault);
    }
    if (il_buf_done(&out.b, &text, NULL) != IL_OK || !il_cel_charge_text(r, text.n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_str(text);
}

/* What stands in the list is not known: at most a message's text, written in hexadecimal (twice), in binary or with 1000 digits
 * of a fraction. */
il_cel_bound il_cel_bound_format(const uint64_t *sizes, uint32_t n) {
    if (n < 2) {
        return (il_cel_bound){1, 1};
    }
    const uint64_t text = il_cel_cost_mul(sizes[1], IL_CEL_TEXT_GUESS),
                   numbers = il_cel_cost_mul(sizes[1], FORMAT_PRECISION_MAX + 320);
    const uint64_t size = il_cel_cost_add(il_cel_cost_add(sizes[0], numbers), 2 * il_cel_cost_least(text, IL_CEL_ITEMS_TEXT));
    return (il_cel_bound){il_cel_cost_add(2 + size / 32, il_cel_cost_mul(sizes[1], 32)), size};
}
