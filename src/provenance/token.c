/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/token.h"

#define MASK(n) ((UINT64_C(1) << 8 * (n)) - 1)
const uint64_t il_word_masks[25] = {0,          0,          0,          0,          0,          0,          0,
                                    0,          0,          MASK(1),    MASK(2),    MASK(3),    MASK(4),    MASK(5),
                                    MASK(6),    MASK(7),    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
#undef MASK

/* A word character that is also a byte of its own, or the first of several. */
static size_t word_step(const uint8_t *p, size_t n, size_t at) {
    size_t length = 1;
    while (at + length < n && (p[at + length] & 0xc0) == 0x80) {
        length++;
    }
    return length;
}

bool il_word_next(const uint8_t *p, size_t n, const uint8_t *gaps, size_t *at, il_word *out) {
    size_t i = *at;
    while (i < n && (il_normal_words[p[i]] == 0 || !il_normal_word_at(p, n, i))) {
        i++;
    }
    if (i == n) {
        *at = n;
        return false;
    }
    const size_t from = i;
    do {
        i += il_normal_words[p[i]] == 1 ? 1 : word_step(p, n, i);
    } while (i < n && !il_stream_gap(gaps, i) && il_normal_words[p[i]] != 0 && il_normal_word_at(p, n, i));
    *out = (il_word){(uint32_t)from, (uint32_t)(i - from), il_word_whole(p, n, gaps, from, i)};
    *at = i;
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

/* Which of the bytes from `at` on, `p` where they are a whole block, belong to words. */
static uint64_t words_block(const il_stream *s, size_t at, const uint8_t *p) {
    uint64_t words = 0, wide = 0;
    for (unsigned part = 0; part < IL_BLOCK; part += IL_BLOCK_PART) {
        const il_sixteen c = il_sixteen_load(p + part);
        words |= il_sixteen_bits(IL_SIXTEEN(c - 'a' < 26) | IL_SIXTEEN(c - '0' < 10)) << part;
        wide |= il_sixteen_bits(IL_SIXTEEN(c - 0x80 < IL_NORMAL_CUT - 0x80)) << part;
    }
    for (; wide != 0; wide &= wide - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(wide);
        words |= (il_normal_word_at(s->p, s->n, at + bit) ? UINT64_C(1) : 0) << bit;
    }
    return words;
}

static uint32_t words_list(uint64_t bits, size_t at, uint32_t *out, uint32_t n) {
    for (; bits != 0; bits &= bits - 1) {
        out[n++] = (uint32_t)(at + (size_t)__builtin_ctzll(bits));
    }
    return n;
}

bool il_words_next(il_words *w) {
    const il_stream *s = w->s;
    uint8_t room[IL_BLOCK];
    uint32_t ended = 0;
    w->starts[0] = w->starts[w->begun > w->n ? w->n : 0];
    w->begun -= w->n;
    for (; ended < IL_WORDS && w->at < s->n; w->at += IL_BLOCK) {
        const uint64_t words = words_block(s, w->at, il_block_at(s->p, s->n, w->at, room)), gaps = il_load8(s->gaps + w->at / 8);
        const uint64_t before = words << 1 | w->open;
        w->begun = words_list(words & (~before | gaps), w->at, w->starts, w->begun);
        ended = words_list(before & (~words | gaps), w->at, w->ends, ended);
        w->open = words >> 63;
    }
    if (ended == 0 && w->begun > 0) { /* the last byte of the stream is of it */
        w->ends[ended++] = (uint32_t)s->n;
        w->open = 0;
    }
    w->n = ended;
    return ended > 0;
}

bool il_word_numbered(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (p[i] >= '0' && p[i] <= '9') {
            return true;
        }
    }
    return false;
}

bool il_word_bounded(const uint8_t *p, size_t n, const uint8_t *gaps, size_t at, size_t m) {
    const size_t end = at + m;
    const bool starts = il_normal_word_at(p, n, at), ends = il_normal_word_at(p, n, end - 1);
    if (at > 0 && starts && !il_stream_gap(gaps, at) && (p[at - 1] == IL_NORMAL_CUT || il_normal_word_at(p, n, at - 1))) {
        return false;
    }
    return !(end < n && ends && !il_stream_gap(gaps, end) && (p[end] == IL_NORMAL_CUT || il_normal_word_at(p, n, end)));
}
