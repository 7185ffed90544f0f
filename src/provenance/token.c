/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/token.h"

#include "provenance/block.h"

/* A word character that is also a byte of its own, or the first of several. */
static size_t word_step(const uint8_t *p, size_t n, size_t at) {
    size_t length = 1;
    while (at + length < n && (p[at + length] & 0xc0) == 0x80) {
        length++;
    }
    return length;
}

static il_word word_of(const uint8_t *p, size_t n, const uint8_t *gaps, size_t from, size_t to) {
    return (il_word){.at = (uint32_t)from,
                     .n = (uint32_t)(to - from),
                     .whole = !(from > 0 && p[from - 1] == IL_NORMAL_CUT && !il_stream_gap(gaps, from)) &&
                              !(to < n && p[to] == IL_NORMAL_CUT)};
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
    *out = word_of(p, n, gaps, from, i);
    *at = i;
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

/* Which of the bytes from `at` on, `p` where they are a whole block, belong to words. */
static uint64_t words_block(const il_stream *s, size_t at, const uint8_t *p) {
    uint64_t words = 0, wide = 0;
    for (unsigned part = 0; part < IL_BLOCK / IL_BLOCK_PART; part++, p += IL_BLOCK_PART) {
        uint8_t word[IL_BLOCK_PART], high[IL_BLOCK_PART], c[IL_BLOCK_PART];
        memcpy(c, p, sizeof c);
        for (size_t i = 0; i < IL_BLOCK_PART; i++) {
            const uint8_t letter = (uint8_t)(c[i] - 'a'), digit = (uint8_t)(c[i] - '0');
            word[i] = IL_BLOCK_IF(letter < 26) | IL_BLOCK_IF(digit < 10);
            high[i] = IL_BLOCK_IF(c[i] >= 0x80 && c[i] < IL_NORMAL_CUT);
        }
        words |= il_block_bits(word, part);
        wide |= il_block_bits(high, part);
    }
    for (; wide != 0; wide &= wide - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(wide);
        words |= (il_normal_word_at(s->p, s->n, at + bit) ? UINT64_C(1) : 0) << bit;
    }
    return words;
}

static inline void word_take(const il_stream *s, size_t from, size_t to, void (*take)(void *ctx, const il_word *w), void *ctx) {
    const il_word w = word_of(s->p, s->n, s->gaps, from, to);
    take(ctx, &w);
}

void il_words_each(const il_stream *s, void (*take)(void *ctx, const il_word *w), void *ctx) {
    uint8_t room[IL_BLOCK];
    size_t from = SIZE_MAX; /* of the word that is open */
    for (size_t at = 0; at < s->n; at += IL_BLOCK) {
        const uint64_t words = words_block(s, at, il_block_at(s->p, s->n, at, room)), gaps = il_load8(s->gaps + at / 8);
        uint64_t ends = ~words | gaps, starts = words & (~(words << 1) | gaps);
        starts &= ~(uint64_t)(from != SIZE_MAX && (gaps & 1) == 0); /* its first byte goes on with the open word */
        for (;;) {
            if (from == SIZE_MAX) {
                if (starts == 0) {
                    break;
                }
                const unsigned bit = (unsigned)__builtin_ctzll(starts);
                from = at + bit;
                ends = (~words | gaps) & ~UINT64_C(1) << bit;
                starts &= starts - 1;
            }
            if (ends == 0) {
                break;
            }
            word_take(s, from, at + (size_t)__builtin_ctzll(ends), take, ctx);
            from = SIZE_MAX;
        }
    }
    if (from != SIZE_MAX) {
        word_take(s, from, s->n, take, ctx);
    }
}

uint64_t il_word_hash(const uint8_t *p, size_t n) {
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t part = il_load8(p + i);
        if (n - i < 8) {
            part &= (UINT64_C(1) << 8 * (n - i)) - 1;
        }
        h = (h ^ part) * UINT64_C(0xd6e8feb86659fd93);
        h ^= h >> 32;
    }
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h >> 16;
}

bool il_word_joined(const uint8_t *p, const uint8_t *gaps, const il_word *a, const il_word *b) {
    const uint32_t between = a->at + a->n;
    return a->n > 0 && b->at == between + 1 && !il_stream_gap(gaps, between) && !il_stream_gap(gaps, b->at) &&
           (p[between] == '.' || p[between] == '-' || p[between] == '_' || p[between] == '@');
}

bool il_word_numbered(const uint8_t *p, const il_word *w) {
    for (uint32_t i = 0; i < w->n; i++) {
        if (p[w->at + i] >= '0' && p[w->at + i] <= '9') {
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
