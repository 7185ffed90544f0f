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

/* Counting: a byte begins a code point unless it is 0x80 to 0xbf, which as a signed number is below -64. */

/* Eight bytes at a time, where it does not pay to start with more. Each byte of `ones` counts for its place: at most 255 words
 * between two sums. */
#define UTF8_ONES UINT64_C(0x0101010101010101)
enum { UTF8_ROUNDS = 255 };

static size_t utf8_count_words(const char *p, size_t n) {
    size_t tails = 0, i = 0;
    while (n - i >= sizeof(uint64_t)) {
        uint64_t sum = 0, word;
        for (size_t r = 0; r < UTF8_ROUNDS && n - i >= sizeof word; r++, i += sizeof word) {
            memcpy(&word, p + i, sizeof word);
            sum += word >> 7 & ~word >> 6 & UTF8_ONES;
        }
        sum = (sum & UINT64_C(0x00ff00ff00ff00ff)) + (sum >> 8 & UINT64_C(0x00ff00ff00ff00ff));
        tails += (size_t)(sum * UINT64_C(0x0001000100010001) >> 48);
    }
    for (size_t at = i; at < n; at++) {
        tails += (signed char)p[at] < -64;
    }
    return n - tails;
}

/* Longer texts by GNU vectors, which any machine has (the compiler takes others apart); where it has none of its own, words are
 * faster. */
#if defined(__wasm__) && !defined(__wasm_simd128__)
enum { UTF8_WIDE = 0 };
#else
enum { UTF8_WIDE = 1 };
#endif
typedef int8_t utf8_lanes __attribute__((vector_size(16)));
typedef uint8_t utf8_tally __attribute__((vector_size(16)));
typedef uint64_t utf8_pair __attribute__((vector_size(16)));
typedef uint16_t utf8_sums __attribute__((vector_size(16)));

static utf8_tally utf8_continues(const char *p) { /* all bits of a lane are set where it does not begin a code point */
    utf8_lanes v;
    memcpy(&v, p, sizeof v);
    return (utf8_tally)(v < -64);
}

/* Of `rounds` (at most UTF8_ROUNDS) times four vectors. */
static size_t utf8_count_lanes(const char *p, size_t rounds) {
    utf8_tally a = {0}, b = {0}, c = {0}, d = {0};
    for (const char *end = p + rounds * 4 * sizeof a; p < end; p += 4 * sizeof a) {
        a -= utf8_continues(p); /* minus all bits is plus 1 */
        b -= utf8_continues(p + sizeof a);
        c -= utf8_continues(p + 2 * sizeof a);
        d -= utf8_continues(p + 3 * sizeof a);
    }
    const utf8_sums s[4] = {(utf8_sums)a, (utf8_sums)b, (utf8_sums)c, (utf8_sums)d};
    utf8_sums sum = {0};
    for (size_t k = 0; k < 4; k++) {
        sum += s[k] % 256 + s[k] / 256; /* not `>> 8`: gcc 12 -fanalyzer takes the number of lanes for their width */
    }
    size_t tails = 0;
    for (size_t k = 0; k < sizeof sum / sizeof sum[0]; k++) {
        tails += sum[k];
    }
    return rounds * 4 * sizeof a - tails;
}

static utf8_pair utf8_either(const char *p) { /* the bits of two vectors */
    utf8_pair a, b;
    memcpy(&a, p, sizeof a);
    memcpy(&b, p + sizeof a, sizeof b);
    return a | b;
}

enum { UTF8_BLOCK = 128 };
static bool utf8_ascii(const char *p) { /* UTF8_BLOCK bytes */
    const utf8_pair all = (utf8_either(p) | utf8_either(p + 32)) | (utf8_either(p + 64) | utf8_either(p + 96));
    return ((all[0] | all[1]) & UTF8_ONES << 7) == 0;
}

/* How many bytes the text begins with that are all ASCII, in blocks, the last one laid over the end: the bulk of most texts, and needs no sums. */
static size_t utf8_begins(il_str s) {
    size_t i = 0;
    while (s.n - i >= UTF8_BLOCK && utf8_ascii(s.p + i)) {
        i += UTF8_BLOCK;
    }
    return i > 0 && s.n - i < UTF8_BLOCK && utf8_ascii(s.p + s.n - UTF8_BLOCK) ? s.n : i;
}

size_t il_utf8_count(il_str s) {
    const size_t step = 4 * sizeof(utf8_lanes);
    size_t i = utf8_begins(s), count = i;
    while (UTF8_WIDE && s.n - i >= step) {
        const size_t rounds = (s.n - i) / step < UTF8_ROUNDS ? (s.n - i) / step : UTF8_ROUNDS;
        count += utf8_count_lanes(s.p + i, rounds);
        i += rounds * step;
    }
    return s.n == i ? count : count + utf8_count_words(s.p + i, s.n - i);
}

size_t il_utf8_offset(il_str s, size_t n) {
    size_t at = 0, seen = 0;
    for (size_t step = 4096; step >= 64; step /= 8) { /* whole blocks, as long as the code point lies behind them */
        while (s.n - at >= step) {
            const size_t more = il_utf8_count((il_str){s.p + at, step});
            if (more > n - seen) {
                break;
            }
            seen += more;
            at += step;
        }
    }
    for (; at < s.n; at++) {
        if ((signed char)s.p[at] >= -64 && seen++ == n) {
            return at;
        }
    }
    return seen == n ? s.n : SIZE_MAX;
}

bool il_utf8_part(il_str s, size_t from, size_t to, il_str *out) {
    if (from > to) {
        return false;
    }
    const size_t begin = il_utf8_offset(s, from);
    if (begin == SIZE_MAX) {
        return false;
    }
    const il_str rest = {s.n > 0 ? s.p + begin : s.p, s.n - begin};
    const size_t length = il_utf8_offset(rest, to - from);
    if (length == SIZE_MAX) {
        return false;
    }
    *out = (il_str){rest.p, length};
    return true;
}
