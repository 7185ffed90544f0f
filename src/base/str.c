/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

int il_str_cmp(il_str a, il_str b) {
    const size_t n = a.n < b.n ? a.n : b.n;
    const int c = n == 0 ? 0 : memcmp(a.p, b.p, n);
    if (c != 0) {
        return c < 0 ? -1 : 1;
    }
    return a.n == b.n ? 0 : a.n < b.n ? -1 : 1;
}

il_str il_str_of(const char *z) {
    size_t n = 0;
    while (z != NULL && z[n] != '\0') {
        n++;
    }
    return (il_str){z, n};
}

bool il_str_starts(il_str s, il_str prefix) { return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0); }

bool il_str_ends(il_str s, il_str suffix) {
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

il_str il_str_part(il_str s, size_t from, size_t to) {
    if (to > s.n) {
        to = s.n;
    }
    if (from >= to) {
        return (il_str){s.p, 0};
    }
    return (il_str){s.p + from, to - from};
}

static char str_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

bool il_str_eq_nocase(il_str a, il_str b) {
    if (a.n != b.n) {
        return false;
    }
    for (size_t i = 0; i < a.n; i++) {
        if (str_lower(a.p[i]) != str_lower(b.p[i])) {
            return false;
        }
    }
    return true;
}

#define STR_DISTANCE_MAX 32

static unsigned str_min(unsigned a, unsigned b) { return a < b ? a : b; }

/* Optimal string alignment: insert, delete, replace, swap of neighbours. Three rows suffice. */
unsigned il_str_distance(il_str a, il_str b) {
    if (a.n > STR_DISTANCE_MAX || b.n > STR_DISTANCE_MAX) {
        return UINT_MAX;
    }
    unsigned rows[3][STR_DISTANCE_MAX + 1];
    for (unsigned j = 0; j <= b.n; j++) {
        rows[0][j] = j;
    }
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned *now = rows[i % 3];
        const unsigned *prev = rows[(i - 1) % 3];
        const unsigned *prev2 = rows[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            const unsigned replace = prev[j - 1] + (a.p[i - 1] == b.p[j - 1] ? 0u : 1u);
            now[j] = str_min(replace, str_min(prev[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1]) {
                now[j] = str_min(now[j], prev2[j - 2] + 1);
            }
        }
    }
    return rows[a.n % 3][b.n];
}

bool il_str_int(il_str s, int64_t *out) {
    const bool minus = s.n > 0 && s.p[0] == '-';
    uint64_t v = 0;
    if (s.n == (minus ? 1u : 0u)) {
        return false;
    }
    const uint64_t most = (uint64_t)INT64_MAX + (minus ? 1u : 0u);
    for (size_t i = minus ? 1 : 0; i < s.n; i++) {
        const char c = s.p[i];
        if (c < '0' || c > '9') {
            return false;
        }
        /* Not __builtin_mul_overflow: for 64 bits it needs a 128-bit helper that wasm32 would have to import. */
        const uint64_t digit = (uint64_t)(c - '0');
        if (v > (most - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    /* Written so that INT64_MIN needs no negation of a value that does not fit. */
    *out = minus ? (v == 0 ? 0 : -(int64_t)(v - 1) - 1) : (int64_t)v;
    return true;
}
