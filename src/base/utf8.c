/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

static bool utf8_tail(unsigned char c) { return (c & 0xc0) == 0x80; }

/* RFC 3629 table: the second byte's range depends on the first, which excludes overlong forms,
 * surrogates and everything above U+10FFFF. */
size_t il_utf8_length(const unsigned char *p, size_t n) {
    if (n == 0) {
        return 0;
    }
    const unsigned char c = p[0];
    if (c < 0x80) {
        return 1;
    }
    if (c < 0xc2 || c > 0xf4) {
        return 0;
    }
    if (c < 0xe0) {
        return n >= 2 && utf8_tail(p[1]) ? 2 : 0;
    }
    if (c < 0xf0) {
        if (n < 3 || !utf8_tail(p[1]) || !utf8_tail(p[2])) {
            return 0;
        }
        return (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) ? 0 : 3;
    }
    if (n < 4 || !utf8_tail(p[1]) || !utf8_tail(p[2]) || !utf8_tail(p[3])) {
        return 0;
    }
    return (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f) ? 0 : 4;
}

uint32_t il_utf8_point(const unsigned char *p, size_t n) {
    switch (n) {
    case 1:
        return p[0];
    case 2:
        return ((uint32_t)(p[0] & 0x1fu) << 6) | (p[1] & 0x3fu);
    case 3:
        return ((uint32_t)(p[0] & 0x0fu) << 12) | ((uint32_t)(p[1] & 0x3fu) << 6) | (p[2] & 0x3fu);
    default:
        return ((uint32_t)(p[0] & 0x07u) << 18) | ((uint32_t)(p[1] & 0x3fu) << 12) | ((uint32_t)(p[2] & 0x3fu) << 6) |
               (p[3] & 0x3fu);
    }
}

size_t il_utf8_put(uint32_t point, char out[4]) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0u | point >> 6);
        out[1] = (char)(0x80u | (point & 0x3fu));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0u | point >> 12);
        out[1] = (char)(0x80u | (point >> 6 & 0x3fu));
        out[2] = (char)(0x80u | (point & 0x3fu));
        return 3;
    }
    out[0] = (char)(0xf0u | point >> 18);
    out[1] = (char)(0x80u | (point >> 12 & 0x3fu));
    out[2] = (char)(0x80u | (point >> 6 & 0x3fu));
    out[3] = (char)(0x80u | (point & 0x3fu));
    return 4;
}

bool il_str_utf8(il_str s, size_t *bad) {
    size_t i = 0;
    while (i < s.n) {
        uint64_t word;
        if (s.n - i >= sizeof word) {
            memcpy(&word, s.p + i, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof word;
                continue;
            }
        }
        const size_t len = il_utf8_length((const unsigned char *)s.p + i, s.n - i);
        if (len == 0) {
            if (bad != NULL) {
                *bad = i;
            }
            return false;
        }
        i += len;
    }
    return true;
}

enum { UTF8_LANES = 32 };

/* Bytes as signed: those that continue a sequence are 0x80 to 0xbf, that is below -64. GNU vectors: the compiler takes what the machine has. */
typedef int8_t utf8_lanes __attribute__((vector_size(UTF8_LANES)));

static size_t utf8_count_bytes(const char *p, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += (signed char)p[i] >= -64;
    }
    return count;
}

size_t il_utf8_count(il_str s) {
    return utf8_count_bytes(s.p, s.n);
}
