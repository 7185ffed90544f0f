/* SPDX-License-Identifier: Apache-2.0 */
/* A set of code points as instructions over the bytes of their UTF-8 forms. */
#include "cel/regex_part.h"

/* The sorted ranges that a block of code points is looked up in. */
typedef struct utf8_ranges {
    const il_regex_range *r;
    size_t n;
} utf8_ranges;

/* Those that touch lo to hi. */
static utf8_ranges utf8_within(utf8_ranges s, uint32_t lo, uint32_t hi) {
    while (s.n > 0 && s.r[0].hi < lo) {
        s.r++;
        s.n--;
    }
    size_t n = 0;
    while (n < s.n && s.r[n].lo <= hi) {
        n++;
    }
    s.n = n;
    return s;
}

/* Adds the arcs of a byte of `first` and up, `digits` values, that `more` continuation bytes follow, for those points from `base` that
 * are in the set. All end with `out`. Recursion: three continuation bytes. */
static uint32_t utf8_arcs(il_regex_writer *w, utf8_ranges s, uint32_t base, unsigned first, unsigned digits, unsigned more,
                          uint16_t out, il_regex_arc *arcs, uint32_t n) {
    const uint32_t each = 1u << (6 * more), last = base + digits * each - 1;
    const uint32_t before = n;
    for (unsigned d = 0, same = 1; d < digits; d += same) { /* `same` digits lead to the same */
        const uint32_t lo = base + d * each, hi = lo + each - 1;
        uint16_t to = out;
        s = utf8_within(s, lo, last);
        if (s.n == 0) {
            break;
        }
        if (s.r[0].lo > hi) {
            same = (s.r[0].lo - lo) / each;
            continue;
        }
        if (more == 0 || (s.r[0].lo <= lo && s.r[0].hi >= hi)) { /* whole */
            same = ((s.r[0].hi < last ? s.r[0].hi : last) - lo + 1) / each;
            for (unsigned k = 0; k < more; k++) {
                to = il_regex_write(w, IL_REGEX_OP_BYTE, 0x80, 0xbf, to, 0);
            }
        } else {
            il_regex_arc inner[64];
            same = 1;
            to = il_regex_write_arcs(w, inner, utf8_arcs(w, utf8_within(s, lo, hi), lo, 0x80, 64, more - 1, out, inner, 0));
        }
        if (to == IL_REGEX_FAIL_AT) {
            continue;
        }
        if (n > before && arcs[n - 1].hi + 1u == first + d && arcs[n - 1].out == to) {
            arcs[n - 1].hi = (uint8_t)(first + d + same - 1);
        } else {
            arcs[n++] = (il_regex_arc){(uint8_t)(first + d), (uint8_t)(first + d + same - 1), to};
        }
    }
    return n;
}

uint16_t il_regex_write_class(il_regex_writer *w, const il_regex_split *split, uint16_t out) {
    static const struct { uint8_t first, digits; } lengths[4] = {{0, 128}, {0xc0, 32}, {0xe0, 16}, {0xf0, 8}};
    il_regex_arc arcs[128 + 32 + 16 + 8];
    uint32_t n = 0;
    for (unsigned k = 0; k < 4; k++) {
        n = utf8_arcs(w, (utf8_ranges){split->r[k], split->n[k]}, 0, lengths[k].first, lengths[k].digits, k, out, arcs, n);
    }
    return il_regex_write_arcs(w, arcs, n);
}

uint16_t il_regex_write_point(il_regex_writer *w, uint32_t point, uint16_t out) {
    unsigned more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t first[4] = {0, 0xc0, 0xe0, 0xf0};
    const unsigned lead = first[more];
    for (; more > 0; more--) {
        const unsigned byte = 0x80 | (point & 0x3fu);
        out = il_regex_write(w, IL_REGEX_OP_BYTE, byte, byte, out, 0);
        point >>= 6;
    }
    return il_regex_write(w, IL_REGEX_OP_BYTE, lead | point, lead | point, out, 0);
}
