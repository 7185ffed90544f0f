/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the next byte of a string that needs a look, eight at a time. Reader and writer share it. */
#pragma once
#include "base/mem.h"

/* A bit in each byte of x that equals the byte c. Bytes above the first hit may be marked wrongly; the lowest mark is exact. */
static inline uint64_t json_scan_equal(uint64_t x, uint8_t c) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t v = x ^ (ones * c);
    return (v - ones) & ~v & (ones << 7);
}

/* Marks control characters, quotes, backslashes and bytes above ASCII (and DEL, which JSON allows but the writer escapes). */
static inline uint64_t json_scan_marks(uint64_t x, bool del) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t below_space = (x - ones * 0x20) & ~x;
    const uint64_t marks = (below_space | x) & (ones << 7);
    return marks | json_scan_equal(x, '"') | json_scan_equal(x, '\\') | (del ? json_scan_equal(x, 0x7f) : 0);
}

static inline bool json_scan_plain(uint8_t c, bool del) {
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && !(del && c == 0x7f);
}

/* Not 0 when a byte of x is not plain (DEL is none). Only that: which byte it is stays open, so carries between bytes need no care; they
 * start at a byte that is marked itself. */
static inline uint64_t json_scan_any(uint64_t x) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t quote = x ^ (ones * '"'), backslash = x ^ (ones * '\\');
    return (x | (x + ones) | (x - ones * 0x20) | (quote - ones) | (backslash - ones)) & (ones << 7);
}

/* Whether every byte is plain: of a short text in one or two looks, which overlap. */
static inline bool json_scan_all(const uint8_t *p, size_t n) {
    uint64_t x, marks = 0;
    if (n < sizeof(uint32_t)) {
        for (size_t i = 0; i < n; i++) {
            if (!json_scan_plain(p[i], true)) {
                return false;
            }
        }
        return true;
    }
    if (n < sizeof x) {
        uint32_t first, last;
        memcpy(&first, p, sizeof first);
        memcpy(&last, p + n - sizeof last, sizeof last);
        return json_scan_any((uint64_t)first << 32 | last) == 0;
    }
    for (size_t i = 0; i + sizeof x < n; i += sizeof x) {
        memcpy(&x, p + i, sizeof x);
        marks |= json_scan_any(x);
    }
    memcpy(&x, p + n - sizeof x, sizeof x);
    return (marks | json_scan_any(x)) == 0;
}

/* The first byte at or after p that is not plain, or end. */
static inline const uint8_t *json_scan(const uint8_t *p, const uint8_t *end, bool del) {
    while ((size_t)(end - p) >= sizeof(uint64_t)) {
        uint64_t x;
        memcpy(&x, p, sizeof x);
        const uint64_t marks = json_scan_marks(x, del);
        if (marks != 0) {
            if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
                return p + (unsigned)__builtin_ctzll(marks) / 8;
            }
            break;
        }
        p += sizeof x;
    }
    while (p < end && json_scan_plain(*p, del)) {
        p++;
    }
    return p;
}
