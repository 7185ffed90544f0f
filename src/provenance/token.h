/* SPDX-License-Identifier: Apache-2.0 */
/* Words and tokens of a stream. A word is a run of letters and numbers without a gap in it. A token is words joined by one of `. - _ @`: `acct-77120`,
 * `a.b@c.example`, `x_1`. */
#pragma once
#include "provenance/block.h"
#include "provenance/normal.h"

typedef struct il_word {
    uint32_t at, n;
    bool whole; /* neither end is where a reading was cut */
} il_word;
/* The next word at or after *at, which is moved behind it. */
bool il_word_next(const uint8_t *p, size_t n, const uint8_t *gaps, size_t *at, il_word *out);

/* All words of a stream, in their order: many at a time. Begins as {.s = s}. */
enum { IL_WORDS = 192 /* and those of the block in which so many are reached */ };
typedef struct il_words {
    const il_stream *s;
    size_t at;      /* of the block that comes next */
    uint64_t open;  /* 1: the byte before it is of a word */
    uint32_t n;     /* words that are there */
    uint32_t begun; /* and that began: one more where the last goes on */
    uint32_t starts[IL_WORDS + IL_BLOCK + 1], ends[IL_WORDS + IL_BLOCK + 1];
} il_words;
/* False: there are no more. Else `n` words are there, one at least. */
bool il_words_next(il_words *w);
/* Whether neither end of the bytes [from, to), which are a word, is where a reading was cut. */
static inline bool il_word_whole(const uint8_t *p, size_t n, const uint8_t *gaps, size_t from, size_t to) {
    return !(from > 0 && p[from - 1] == IL_NORMAL_CUT && !il_stream_gap(gaps, from)) && !(to < n && p[to] == IL_NORMAL_CUT);
}

extern const uint64_t il_word_masks[]; /* of no byte, eight times; of 0 to 8; of 8, eight times */
/* Which bits of the first eight bytes, and of the eight behind them, are of a word of n bytes. */
static inline uint64_t il_word_low(size_t n) { return il_word_masks[8 + (n < 16 ? n : 16)]; }
static inline uint64_t il_word_high(size_t n) { return il_word_masks[n < 16 ? n : 16]; }
static inline uint64_t il_word_mix(uint64_t h) {
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h >> 16;
}
/* 48 bits that stand for a word of a stream: reads IL_STREAM_BEYOND bytes beyond it. */
static inline uint64_t il_word_hash(const uint8_t *p, size_t n) {
    const uint64_t by = UINT64_C(0xd6e8feb86659fd93);
    uint64_t h = ((il_load8(p) & il_word_low(n)) ^ n * UINT64_C(0x9e3779b97f4a7c15)) * by;
    const uint64_t longer = ((h ^ h >> 32) + (il_load8(p + 8) & il_word_high(n))) * by;
    h = n > 8 ? longer : h; /* without a branch that nobody can foretell */
    for (size_t i = 16; i < n; i += 8) {
        h = ((h ^ h >> 32) + (il_load8(p + i) & il_word_low(n - i))) * by;
    }
    return il_word_mix(h);
}
/* Whether the first sixteen bytes of two words of n are equal. Reads as many. */
static inline bool il_word_alike(const uint8_t *a, const uint8_t *b, size_t n) {
    return (((il_load8(a) ^ il_load8(b)) & il_word_low(n)) | ((il_load8(a + 8) ^ il_load8(b + 8)) & il_word_high(n))) == 0;
}
/* As many that stand for two words and what joins them. */
static inline uint64_t il_word_pair(uint64_t before, uint8_t joint, uint64_t hash) {
    return il_word_mix((before + joint) * UINT64_C(0xd6e8feb86659fd93) ^ hash << 8);
}
/* What a posting has of it. */
static inline uint32_t il_word_key(uint64_t hash) { return (uint32_t)(hash >> 24); }

static inline bool il_word_joint(uint8_t c) { return (c == '.') | (c == '-') | (c == '_') | (c == '@'); }
/* Whether the word that ends at `end` and the one that begins at `from` are one token. */
static inline bool il_word_joins(const uint8_t *p, const uint8_t *gaps, size_t end, size_t from) {
    if (from != end + 1) {
        return false;
    }
    return il_word_joint(p[end]) && !il_stream_gap(gaps, end) && !il_stream_gap(gaps, from);
}
/* Whether a digit is in it. */
bool il_word_numbered(const uint8_t *p, size_t n);
/* Whether bytes [at, at + m) of a stream have no word character before or behind them that belongs to the same word. */
bool il_word_bounded(const uint8_t *p, size_t n, const uint8_t *gaps, size_t at, size_t m);
