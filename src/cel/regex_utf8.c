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

/* A byte of `first` and up, `digits` values, then `more` continuation bytes, for those points from `base` that are in the set. Ends with `out`. */
static uint16_t utf8_block(il_regex_writer *w, utf8_ranges s, uint32_t base, unsigned first, unsigned digits, unsigned more,
                           uint16_t out) {
    const uint32_t each = 1u << (6 * more);
    uint16_t all = IL_REGEX_FAIL_AT, run_out = IL_REGEX_FAIL_AT;
    unsigned run = 0;
    for (unsigned d = 0; d <= digits; d++) {
        uint16_t to = IL_REGEX_FAIL_AT;
        unsigned same = 1; /* digits from here that surely lead to the same */
        if (d < digits) {
            const uint32_t lo = base + d * each;
            s = utf8_within((utf8_ranges){s.r, s.n}, lo, base + digits * each - 1);
            if (s.n > 0 && s.r[0].lo <= lo + each - 1) {
                const uint32_t hi = s.r[0].hi < base + digits * each - 1 ? s.r[0].hi : base + digits * each - 1;
                if (s.r[0].lo <= lo && hi >= lo + each - 1) { /* whole ones */
                    same = (hi - lo + 1) / each;
                    to = out;
                    for (unsigned k = 0; k < more; k++) {
                        to = il_regex_write(w, IL_REGEX_OP_BYTE, 0x80, 0xbf, to, 0);
                    }
                } else {
                    to = utf8_block(w, utf8_within(s, lo, lo + each - 1), lo, 0x80, 64, more - 1, out);
                }
            } else if (s.n > 0) {
                same = (s.r[0].lo - lo) / each;
            } else {
                same = digits - d;
            }
        }
        if (d == digits || to != run_out) {
            if (run_out != IL_REGEX_FAIL_AT) {
                const uint16_t byte = il_regex_write(w, IL_REGEX_OP_BYTE, first + run, first + d - 1, run_out, 0);
                all = all == IL_REGEX_FAIL_AT ? byte : il_regex_write(w, IL_REGEX_OP_EITHER, 0, 0, byte, all);
            }
            run = d;
            run_out = to;
        }
        d += same - 1;
    }
    return all;
}

uint16_t il_regex_write_class(il_regex_writer *w, const il_regex_split *split, uint16_t out) {
    static const struct {
        uint8_t first, digits;
    } lengths[4] = {{0, 128}, {0xc0, 32}, {0xe0, 16}, {0xf0, 8}};
    uint16_t all = IL_REGEX_FAIL_AT;
    for (unsigned k = 0; k < 4; k++) {
        const utf8_ranges s = {split->r[k], split->n[k]};
        const uint16_t part = utf8_block(w, s, 0, lengths[k].first, lengths[k].digits, k, out);
        if (part != IL_REGEX_FAIL_AT) {
            all = all == IL_REGEX_FAIL_AT ? part : il_regex_write(w, IL_REGEX_OP_EITHER, 0, 0, part, all);
        }
    }
    return all;
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
