/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a needle in a text, forwards and backwards, in time linear in both whatever they hold: a text that an attacker
 * wrote must not make it quadratic. Short needles are compared at each place where their first byte stands; longer ones use the
 * two-way algorithm (Crochemore and Perrin, 1991), which needs no memory. Backwards is forwards with both strings read from
 * their ends. */
#include "base/str.h"

enum { FIND_SHORT = 16 };

static inline unsigned char find_at(il_str s, size_t i, bool back) { return (unsigned char)s.p[back ? s.n - 1 - i : i]; }

/* Where the maximal suffix of x begins, less one (SIZE_MAX: at 0), under the usual order of bytes or its reverse, and its
 * period. */
static inline size_t find_suffix(il_str x, bool reverse, bool back, size_t *period) {
    size_t suffix = SIZE_MAX, j = 0, k = 1, p = 1;
    while (j + k < x.n) {
        const unsigned char a = find_at(x, j + k, back), b = find_at(x, suffix + k, back);
        if (a == b) {
            if (k == p) {
                j += p;
                k = 1;
            } else {
                k++;
            }
        } else if (reverse ? a > b : a < b) {
            j += k;
            k = 1;
            p = j - suffix;
        } else {
            suffix = j++;
            k = p = 1;
        }
    }
    *period = p;
    return suffix;
}

/* Two-way search for a needle x of at least two bytes that is no longer than y. */
static inline size_t find_long(il_str y, il_str x, bool back) {
    size_t p, q;
    const size_t less = find_suffix(x, false, back, &p), more = find_suffix(x, true, back, &q);
    /* The later of the two is a critical place; + 1 turns SIZE_MAX into 0, which is before all others. */
    const size_t critical = less + 1 > more + 1 ? less + 1 : more + 1;
    size_t period = less + 1 > more + 1 ? p : q;
    bool periodic = critical + period <= x.n;
    for (size_t i = 0; periodic && i < critical; i++) {
        periodic = find_at(x, i, back) == find_at(x, i + period, back);
    }
    if (!periodic) {
        period = (critical > x.n - critical ? critical : x.n - critical) + 1;
    }
    size_t known = 0; /* the first bytes of x that stand at j already, as the shift before has shown */
    for (size_t j = 0; j <= y.n - x.n;) {
        size_t i = critical > known ? critical : known;
        while (i < x.n && find_at(x, i, back) == find_at(y, i + j, back)) {
            i++;
        }
        if (i < x.n) {
            j += i - critical + 1;
            known = 0;
            continue;
        }
        i = critical;
        while (i > known && find_at(x, i - 1, back) == find_at(y, i - 1 + j, back)) {
            i--;
        }
        if (i <= known) {
            return j;
        }
        j += period;
        known = periodic ? x.n - period : 0;
    }
    return SIZE_MAX;
}

size_t il_str_find(il_str s, il_str needle, size_t from) {
    if (from > s.n || needle.n > s.n - from) {
        return SIZE_MAX;
    }
    if (needle.n > FIND_SHORT) {
        const size_t at = find_long((il_str){s.p + from, s.n - from}, needle, false);
        return at == SIZE_MAX ? SIZE_MAX : from + at;
    }
    for (size_t i = from; i <= s.n - needle.n; i++) {
        if (needle.n == 0 || (s.p[i] == needle.p[0] && memcmp(s.p + i, needle.p, needle.n) == 0)) {
            return i;
        }
    }
    return SIZE_MAX;
}

size_t il_str_find_last(il_str s, il_str needle) {
    if (needle.n > s.n) {
        return SIZE_MAX;
    }
    if (needle.n > FIND_SHORT) {
        const size_t at = find_long(s, needle, true);
        return at == SIZE_MAX ? SIZE_MAX : s.n - needle.n - at;
    }
    for (size_t i = s.n - needle.n + 1; i-- > 0;) {
        if (needle.n == 0 || (s.p[i] == needle.p[0] && memcmp(s.p + i, needle.p, needle.n) == 0)) {
            return i;
        }
    }
    return SIZE_MAX;
}
