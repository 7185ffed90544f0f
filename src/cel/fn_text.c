/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at texts (cel-spec langdef.md, and its strings extension). Every index counts code points, from 0; one outside the
 * text is an error. What is cut out of a text borrows from it. */
#include "cel/fn.h"

static bool text_is(const il_cel_value *v) { return v->kind == IL_CEL_STRING; }

/* `list.contains(x)` is not CEL; it is what policies of Interbolt say for `x in list`. */
static il_cel_value text_list_contains(il_cel_run *r, const il_cel_value *list, const il_cel_value *wanted) {
    il_cel_walk w = il_cel_walk_of(list);
    il_cel_value item;
    while (il_cel_walk_item(&w, &item)) {
        const bool same = il_cel_charge(r, 1) && il_cel_same(r, &item, wanted);
        if (r->steps < 0) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        if (same) {
            return il_cel_of_bool(true);
        }
    }
    return il_cel_of_bool(false);
}

il_cel_value il_cel_fn_contains(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind == IL_CEL_LIST) {
        return text_list_contains(r, &args[0], &args[1]);
    }
    if (!text_is(&args[0]) || !text_is(&args[1])) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (!il_cel_charge_text(r, (uint64_t)args[0].n + args[1].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_bool(il_str_find(il_cel_str(args[0]), il_cel_str(args[1]), 0) != SIZE_MAX);
}

il_cel_value il_cel_fn_starts_with(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (!text_is(&args[0]) || !text_is(&args[1])) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (!il_cel_charge_text(r, args[1].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_bool(il_str_starts(il_cel_str(args[0]), il_cel_str(args[1])));
}
il_cel_value il_cel_fn_ends_with(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (!text_is(&args[0]) || !text_is(&args[1])) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (!il_cel_charge_text(r, args[1].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_bool(il_str_ends(il_cel_str(args[0]), il_cel_str(args[1])));
}
/* An index as an offset in bytes, SIZE_MAX when it is none of this text. A text has at least as many bytes as code points. */
static size_t text_offset(il_str s, int64_t index) {
    return index < 0 || (uint64_t)index > s.n ? SIZE_MAX : il_utf8_offset(s, (size_t)index);
}

il_cel_value il_cel_fn_char_at(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (!text_is(&args[0]) || args[1].kind != IL_CEL_INT) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]);
    if (!il_cel_charge_text(r, s.n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    const size_t at = text_offset(s, args[1].u.i);
    if (at == SIZE_MAX) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    const size_t n = at == s.n ? 0 : il_utf8_length((const unsigned char *)s.p + at, s.n - at);
    return il_cel_of_str(il_str_part(s, at, at + n));
}

/* The place of the first or last needle as an index: of the first at or after args[2], of the last that begins at or before it.
 * */
static il_cel_value text_index(il_cel_run *r, const il_cel_value *args, uint32_t nargs, bool last) {
    if (!text_is(&args[0]) || !text_is(&args[1]) || (nargs > 2 && args[2].kind != IL_CEL_INT)) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    il_str s = il_cel_str(args[0]);
    const il_str needle = il_cel_str(args[1]);
    if (!il_cel_charge_text(r, (uint64_t)s.n * 2 + needle.n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t limit = last ? s.n : 0;
    if (nargs > 2) {
        limit = text_offset(s, args[2].u.i);
        if (limit == SIZE_MAX) {
            return il_cel_of_fault(IL_CEL_BAD_VALUE);
        }
    }
    size_t at;
    if (last) {
        at = il_str_find_last(il_str_part(s, 0, limit + needle.n), needle);
    } else {
        at = il_str_find(s, needle, limit);
    }
    return il_cel_of_int(at == SIZE_MAX ? -1 : (int64_t)il_utf8_count(il_str_part(s, 0, at)));
}

il_cel_value il_cel_fn_index_of(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return text_index(r, args, nargs, false);
}
il_cel_value il_cel_fn_last_index_of(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return text_index(r, args, nargs, true);
}

il_cel_value il_cel_fn_substring(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    if (!text_is(&args[0]) || args[1].kind != IL_CEL_INT || (nargs > 2 && args[2].kind != IL_CEL_INT)) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]);
    if (!il_cel_charge_text(r, (uint64_t)s.n * 2)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    const size_t from = text_offset(s, args[1].u.i), to = nargs > 2 ? text_offset(s, args[2].u.i) : s.n;
    if (from == SIZE_MAX || to == SIZE_MAX || from > to) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    return il_cel_of_str(il_str_part(s, from, to));
}

/* Unicode's White_Space, which has none of the zero-width characters. */
static bool text_space(uint32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

il_cel_value il_cel_fn_trim(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (!text_is(&args[0])) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]);
    if (!il_cel_charge_text(r, s.n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    const unsigned char *p = (const unsigned char *)s.p;
    size_t from = 0, to = s.n;
    while (from < to) {
        const size_t n = il_utf8_length(p + from, to - from);
        if (n == 0 || !text_space(il_utf8_point(p + from, n))) {
            break;
        }
        from += n;
    }
    while (to > from) {
        size_t at = to - 1;
        while (at > from && (p[at] & 0xc0) == 0x80) {
            at--;
        }
        const size_t n = il_utf8_length(p + at, to - at);
        if (n != to - at || !text_space(il_utf8_point(p + at, n))) {
            break;
        }
        to = at;
    }
    return il_cel_of_str(il_str_part(s, from, to));
}

static uint64_t text_sum(const uint64_t *sizes, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum = il_cel_cost_add(sum, sizes[i]);
    }
    return sum;
}

/* An answer without a size. Twice the receiver, for the code points that are counted and for the search; a list may be walked
 * whole, each item compared. */
il_cel_bound il_cel_bound_scan(const uint64_t *sizes, uint32_t n) {
    return (il_cel_bound){il_cel_cost_add(1 + text_sum(sizes, n) / 32, 1), 1};
}

/* Of the receiver only as much is looked at as the argument has. */
il_cel_bound il_cel_bound_affix(const uint64_t *sizes, uint32_t n) { return (il_cel_bound){1 + (n > 1 ? sizes[1] / 64 : 0), 1}; }

/* A part of the receiver. */
il_cel_bound il_cel_bound_part(const uint64_t *sizes, uint32_t n) {
    return (il_cel_bound){1 + (n > 0 ? sizes[0] / 32 : 0), n > 0 ? sizes[0] : 1};
}

/* One code point of it. */
il_cel_bound il_cel_bound_char(const uint64_t *sizes, uint32_t n) { return (il_cel_bound){1 + (n > 0 ? sizes[0] / 64 : 0), 4}; }
