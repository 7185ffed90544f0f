/* SPDX-License-Identifier: Apache-2.0 */
/* New texts from others (cel-spec's strings extension). Each result is measured first and written once; what does not change is
 * not copied. */
#include "cel/fn.h"

static il_cel_value edit_ascii(il_cel_run *r, const il_cel_value *v, char first, char last) {
    if (v->kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(*v);
    if (!il_cel_charge_text(r, s.n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t i = 0;
    while (i < s.n && (s.p[i] < first || s.p[i] > last)) {
        i++;
    }
    if (i == s.n) {
        return *v;
    }
    char *p = il_cel_room(r, s.n);
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    for (i = 0; i < s.n; i++) {
        p[i] = s.p[i] >= first && s.p[i] <= last ? (char)(s.p[i] ^ 0x20) : s.p[i];
    }
    return il_cel_of_str((il_str){p, s.n});
}

il_cel_value il_cel_fn_lower_ascii(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    return edit_ascii(r, &args[0], 'A', 'Z');
}

il_cel_value il_cel_fn_upper_ascii(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    return edit_ascii(r, &args[0], 'a', 'z');
}

/* By code points: a combining mark comes before its letter afterwards, as in cel-spec. */
il_cel_value il_cel_fn_reverse(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]);
    char *p = s.n < 2 ? NULL : il_cel_charge_text(r, s.n) ? il_cel_room(r, s.n) : NULL;
    if (p == NULL) {
        return s.n < 2 ? args[0] : il_cel_of_fault(IL_CEL_BUDGET);
    }
    for (size_t i = 0; i < s.n;) {
        size_t n = 1;
        while (i + n < s.n && ((unsigned char)s.p[i + n] & 0xc0) == 0x80) {
            n++;
        }
        memcpy(p + (s.n - i - n), s.p + i, n);
        i += n;
    }
    return il_cel_of_str((il_str){p, s.n});
}

/* The letter of an escape, 0 for a character that needs none. */
static char edit_escape(char c) {
    static const char letters[] = "abtnvfr"; /* from 0x07 on */
    if (c >= 0x07 && c <= 0x0d) {
        return letters[c - 0x07];
    }
    return c == '"' || c == '\\' ? c : 0;
}

il_cel_value il_cel_fn_quote(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]);
    if (!il_cel_charge_text(r, s.n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t n = 2;
    for (size_t i = 0; i < s.n; i++) {
        n += edit_escape(s.p[i]) != 0 ? 2 : 1;
    }
    char *p = n <= UINT32_MAX ? il_cel_room(r, n) : NULL;
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t at = 0;
    p[at++] = '"';
    for (size_t i = 0; i < s.n; i++) {
        const char escape = edit_escape(s.p[i]);
        if (escape != 0) {
            p[at++] = '\\';
        }
        p[at++] = escape != 0 ? escape : s.p[i];
    }
    p[at++] = '"';
    return il_cel_of_str((il_str){p, at});
}

/* The next place at or after `from` where `needle` stands; an empty one stands before each code point and at the end. SIZE_MAX:
 * none. */
static size_t edit_next(il_str s, il_str needle, size_t from) {
    return needle.n > 0 ? il_str_find(s, needle, from) : from <= s.n ? from : SIZE_MAX;
}
/* Where to look on after one at `at`. Past the end, an empty needle is not found again. */
static size_t edit_after(il_str s, il_str needle, size_t at) {
    if (needle.n > 0) {
        return at + needle.n;
    }
    return at == s.n ? s.n + 1 : at + il_utf8_length((const unsigned char *)s.p + at, s.n - at);
}

static void edit_append(char *p, size_t *at, il_str s) {
    if (s.n > 0) {
        memcpy(p + *at, s.p, s.n);
    }
    *at += s.n;
}

il_cel_value il_cel_fn_replace(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    if (args[0].kind != IL_CEL_STRING || args[1].kind != IL_CEL_STRING || args[2].kind != IL_CEL_STRING ||
        (nargs > 3 && args[3].kind != IL_CEL_INT)) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]), old = il_cel_str(args[1]), with = il_cel_str(args[2]);
    const uint64_t most = nargs > 3 && args[3].u.i >= 0 ? (uint64_t)args[3].u.i : UINT64_MAX; /* negative: all */
    if (!il_cel_charge_text(r, ((uint64_t)s.n + old.n) * 2)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    uint64_t count = 0;
    for (size_t at = 0; count < most && (at = edit_next(s, old, at)) != SIZE_MAX; at = edit_after(s, old, at)) {
        count++;
    }
    if (count == 0) {
        return args[0];
    }
    /* Lengths are below 2^32 and count is at most that: the sum stays below 2^64. */
    const uint64_t n = s.n - count * old.n + count * with.n;
    char *p = n <= UINT32_MAX ? il_cel_room(r, (size_t)n) : NULL;
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t done = 0, to = 0; /* of s, of p */
    size_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        at = edit_next(s, old, at);
        edit_append(p, &to, il_str_part(s, done, at));
        edit_append(p, &to, with);
        done = at + old.n;
        at = edit_after(s, old, at);
    }
    edit_append(p, &to, il_str_part(s, done, s.n));
    return il_cel_of_str((il_str){p, to});
}

/* Without a separator each code point is a part, and an empty text has none. The last of `most` parts keeps the rest. */
il_cel_value il_cel_fn_split(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    if (args[0].kind != IL_CEL_STRING || args[1].kind != IL_CEL_STRING || (nargs > 2 && args[2].kind != IL_CEL_INT)) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]), by = il_cel_str(args[1]);
    const uint64_t most = nargs > 2 && args[2].u.i >= 0 ? (uint64_t)args[2].u.i : UINT64_MAX;
    if (most == 0 || (s.n == 0 && by.n == 0)) {
        return il_cel_of_items(IL_CEL_LIST, NULL, 0);
    }
    if (!il_cel_charge_text(r, ((uint64_t)s.n + by.n) * 2)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    uint64_t count = 1;
    if (by.n > 0) {
        for (size_t at = 0; count < most && (at = il_str_find(s, by, at)) != SIZE_MAX; at += by.n) {
            count++;
        }
    } else {
        const size_t points = il_utf8_count(s);
        count = points < most ? points : most;
    }
    il_cel_value *items = count <= UINT32_MAX ? il_cel_room_values(r, (size_t)count) : NULL;
    if (items == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t from = 0;
    for (uint64_t i = 0; i + 1 < count; i++) {
        const size_t to = by.n > 0 ? il_str_find(s, by, from) : edit_after(s, by, from);
        items[i] = il_cel_of_str(il_str_part(s, from, to));
        from = to + by.n;
    }
    items[count - 1] = il_cel_of_str(il_str_part(s, from, s.n));
    return il_cel_of_items(IL_CEL_LIST, items, (uint32_t)count);
}

il_cel_value il_cel_fn_join(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    if (args[0].kind != IL_CEL_LIST || (nargs > 1 && args[1].kind != IL_CEL_STRING)) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str by = nargs > 1 ? il_cel_str(args[1]) : (il_str){NULL, 0};
    if (!il_cel_charge(r, args[0].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    uint64_t n = args[0].n > 1 ? (uint64_t)by.n * (args[0].n - 1) : 0;
    il_cel_value item;
    for (il_cel_walk w = il_cel_walk_of(&args[0]); il_cel_walk_item(&w, &item);) {
        if (item.kind != IL_CEL_STRING) {
            return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
        }
        n = il_cel_cost_add(n, item.n);
    }
    if (args[0].n == 0) {
        return il_cel_of_str((il_str){"", 0});
    }
    char *p = n <= UINT32_MAX ? il_cel_room(r, (size_t)n) : NULL;
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t to = 0;
    bool first = true;
    for (il_cel_walk w = il_cel_walk_of(&args[0]); il_cel_walk_item(&w, &item); first = false) {
        edit_append(p, &to, first ? (il_str){NULL, 0} : by);
        edit_append(p, &to, il_cel_str(item));
    }
    return il_cel_of_str((il_str){p, to});
}

/* A text as long as the receiver. */
il_cel_bound il_cel_bound_copy(const uint64_t *sizes, uint32_t n) {
    const uint64_t text = n > 0 ? sizes[0] : 0;
    return (il_cel_bound){il_cel_cost_add(2 + text / 64, text / 64), text};
}

il_cel_bound il_cel_bound_quote(const uint64_t *sizes, uint32_t n) {
    const uint64_t text = n > 0 ? sizes[0] : 0, size = il_cel_cost_add(il_cel_cost_mul(text, 2), 2);
    return (il_cel_bound){il_cel_cost_add(2 + text / 64, size / 64), size};
}

/* At worst every byte of the receiver is replaced, or there is a replacement before each and at the end. */
il_cel_bound il_cel_bound_replace(const uint64_t *sizes, uint32_t n) {
    if (n < 3) {
        return (il_cel_bound){1, 1};
    }
    const uint64_t size = il_cel_cost_add(sizes[0], il_cel_cost_mul(il_cel_cost_add(sizes[0], 1), sizes[2]));
    return (il_cel_bound){il_cel_cost_add(3 + il_cel_cost_add(sizes[0], sizes[1]) / 32, size / 64), size};
}

/* A part for each byte and one more, four of them in 64 bytes. As many are paid for, but no more are counted on than a host's
 * list has: together the parts are no longer than the text, and to take each for as long as it and as many as it has bytes would
 * refuse every loop over them. */
il_cel_bound il_cel_bound_split(const uint64_t *sizes, uint32_t n) {
    if (n < 2) {
        return (il_cel_bound){1, 1};
    }
    const uint64_t parts = il_cel_cost_add(sizes[0], 1);
    return (il_cel_bound){il_cel_cost_add(3 + il_cel_cost_add(sizes[0], sizes[1]) / 32, parts / 4),
                          il_cel_cost_least(parts, IL_CEL_LIST_GUESS)};
}

il_cel_bound il_cel_bound_join(const uint64_t *sizes, uint32_t n) {
    const uint64_t items = n > 0 ? sizes[0] : 0, text = il_cel_cost_mul(items, IL_CEL_TEXT_GUESS);
    const uint64_t size =
        il_cel_cost_add(il_cel_cost_least(text, IL_CEL_ITEMS_TEXT), il_cel_cost_mul(items, n > 1 ? sizes[1] : 0));
    return (il_cel_bound){il_cel_cost_add(2 + items, size / 64), size};
}
