/* SPDX-License-Identifier: Apache-2.0 */
/* Words and tokens of a stream. A word is a run of letters and numbers without a gap in it. A token is words joined by one of `. - _ @`: `acct-77120`,
 * `a.b@c.example`, `x_1`. */
#pragma once
#include "provenance/normal.h"

typedef struct il_word {
    uint32_t at, n;
    bool whole; /* neither end is where a reading was cut */
} il_word;
/* The next word at or after *at, which is moved behind it. */
bool il_word_next(const uint8_t *p, size_t n, const uint8_t *gaps, size_t *at, il_word *out);

/* All words of a stream, in their order. */
void il_words_each(const il_stream *s, void (*take)(void *ctx, const il_word *w), void *ctx);

/* 48 bits that stand for a word of a stream: reads IL_STREAM_BEYOND bytes beyond it. */
uint64_t il_word_hash(const uint8_t *p, size_t n);
/* What a posting has of it. */
static inline uint32_t il_word_key(uint64_t hash) { return (uint32_t)(hash >> 24); }

/* Whether the words that `b` ends and `a` begins are one token. */
bool il_word_joined(const uint8_t *p, const uint8_t *gaps, const il_word *a, const il_word *b);
/* Whether a digit is in it. */
bool il_word_numbered(const uint8_t *p, const il_word *w);
/* Whether bytes [at, at + m) of a stream have no word character before or behind them that belongs to the same word. */
bool il_word_bounded(const uint8_t *p, size_t n, const uint8_t *gaps, size_t at, size_t m);
