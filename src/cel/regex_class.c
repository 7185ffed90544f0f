/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of code points as sorted ranges. */
#include "base/sort.h"
#include "cel/regex_part.h"

bool il_regex_class_add(il_arena *tmp, il_regex_class *c, uint32_t lo, uint32_t hi) {
    if (c->n > 0) { /* most come in order */
        il_regex_range *last = &c->r[c->n - 1];
        if (lo >= last->lo && lo <= last->hi + 1) {
            last->hi = hi > last->hi ? hi : last->hi;
            return true;
        }
    }
    if (c->n == c->cap) {
        il_regex_class_sort(c);
        if (c->n > c->cap / 2 || c->cap == 0) {
            const size_t cap = c->cap == 0 ? 8 : c->cap * 2;
            il_regex_range *r = il_arena_raw(tmp, cap * sizeof *r);
            if (r == NULL) {
                return false;
            }
            if (c->n > 0) {
                memcpy(r, c->r, c->n * sizeof *r);
            }
            c->r = r;
            c->cap = cap;
        }
    }
    c->r[c->n++] = (il_regex_range){lo, hi};
    return true;
}

bool il_regex_class_join(il_arena *tmp, il_regex_class *c, const il_regex_class *more) {
    for (size_t i = 0; i < more->n; i++) {
        if (!il_regex_class_add(tmp, c, more->r[i].lo, more->r[i].hi)) {
            return false;
        }
    }
    return true;
}

static bool class_before(const void *a, const void *b) {
    return ((const il_regex_range *)a)->lo < ((const il_regex_range *)b)->lo;
}

void il_regex_class_sort(il_regex_class *c) {
    size_t in_order = 1;
    while (in_order < c->n && c->r[in_order - 1].lo <= c->r[in_order].lo) {
        in_order++;
    }
    if (in_order < c->n) {
        il_sort(c->r, c->n, sizeof *c->r, class_before);
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (kept > 0 && c->r[i].lo <= c->r[kept - 1].hi + 1) {
            c->r[kept - 1].hi = c->r[i].hi > c->r[kept - 1].hi ? c->r[i].hi : c->r[kept - 1].hi;
        } else {
            c->r[kept++] = c->r[i];
        }
    }
    c->n = kept;
}

bool il_regex_class_negate(il_arena *tmp, il_regex_class *c) {
    il_regex_class rest = {0};
    uint32_t from = 0;
    il_regex_class_sort(c);
    for (size_t i = 0; i < c->n; i++) {
        if (c->r[i].lo > from && !il_regex_class_add(tmp, &rest, from, c->r[i].lo - 1)) {
            return false;
        }
        from = c->r[i].hi + 1;
    }
    if (from <= IL_REGEX_LAST_POINT && !il_regex_class_add(tmp, &rest, from, IL_REGEX_LAST_POINT)) {
        return false;
    }
    *c = rest;
    return true;
}

/* One run of the folding table and the members of the class in it: adds what is next to each of them. */
static bool class_fold_run(il_arena *tmp, il_regex_class *add, il_regex_range members, uint32_t first, uint32_t zigzag) {
    if (zigzag == 0) { /* pairs: all of each that is touched */
        return il_regex_class_add(tmp, add, members.lo - ((members.lo - first) & 1u),
                                  members.hi + (((members.hi - first) & 1u) ^ 1u));
    }
    const uint32_t distance = (zigzag & 1u) != 0 ? 0u - (zigzag + 1) / 2 : zigzag / 2;
    return il_regex_class_add(tmp, add, members.lo + distance, members.hi + distance);
}

bool il_regex_class_fold(il_arena *tmp, il_regex_class *c) {
    /* Orbits have at most four members, so the next of the next of the next is the last that can be new. */
    for (unsigned pass = 0; pass < 3; pass++) {
        il_regex_class add = {0};
        size_t i = 0;
        uint32_t point = 0;
        il_regex_class_sort(c);
        for (size_t at = 0; at < il_regex_folds_n;) {
            point += il_regex_varint(il_regex_folds, &at);
            const uint32_t first = point, last = first + il_regex_varint(il_regex_folds, &at) - 1;
            const uint32_t zigzag = il_regex_varint(il_regex_folds, &at);
            point = last + 1;
            while (i < c->n && c->r[i].hi < first) {
                i++;
            }
            for (size_t k = i; k < c->n && c->r[k].lo <= last; k++) {
                const il_regex_range members = {c->r[k].lo > first ? c->r[k].lo : first, c->r[k].hi < last ? c->r[k].hi : last};
                if (!class_fold_run(tmp, &add, members, first, zigzag)) {
                    return false;
                }
            }
        }
        if (!il_regex_class_join(tmp, c, &add)) {
            return false;
        }
    }
    il_regex_class_sort(c);
    return true;
}

bool il_regex_class_split(il_arena *tmp, il_regex_class *c, il_regex_split *out) {
    static const il_regex_range lengths[4] = {{0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xffff}, {0x10000, IL_REGEX_LAST_POINT}};
    il_regex_class_sort(c);
    for (unsigned k = 0; k < 4; k++) {
        il_regex_class part = {0};
        for (size_t i = 0; i < c->n; i++) {
            if (c->r[i].hi < lengths[k].lo || c->r[i].lo > lengths[k].hi) {
                continue;
            }
            const uint32_t lo = c->r[i].lo > lengths[k].lo ? c->r[i].lo : 0;
            const uint32_t hi = c->r[i].hi < lengths[k].hi ? c->r[i].hi : k == 3 ? 0x1fffff : lengths[k].hi;
            if (!il_regex_class_add(tmp, &part, lo, hi)) {
                return false;
            }
        }
        out->r[k] = part.r;
        out->n[k] = part.n;
    }
    return true;
}
