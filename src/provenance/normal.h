/* SPDX-License-Identifier: Apache-2.0 */
/* Normalised text: what is left when compatibility forms, letter case, white space and what cannot be seen make no difference any more.
 *
 * Letters are folded and decomposed (Unicode 15; marks that combine fall away, so that their order cannot matter), typographic quotes and dashes are
 * ASCII ones, controls and format characters are gone. White space is gone too, and remembered as a gap before what follows it; so is `+`, which a
 * query string has for a space. A byte that is not UTF-8 is the Latin-1 character of that number.
 *
 * A stream holds the readings of one text (decode.h) behind one another: UTF-8, each reading between two bytes that no UTF-8 has. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"

enum {
    IL_NORMAL_CUT = 0xfe, /* a reading begins or ends here in the middle of something: the word beside it is not a whole one */
    IL_NORMAL_END = 0xff  /* a reading begins or ends here */
};

typedef struct il_place { /* bytes [from, to) of the text that was given */
    uint32_t from, to;
} il_place;

enum { IL_STREAM_BEYOND = 16 };
typedef struct il_stream {
    il_arena *arena;  /* of all below */
    uint8_t *p;       /* n bytes, and IL_STREAM_BEYOND more that may be read */
    uint8_t *gaps;    /* bit i: white space stood before byte i; and IL_STREAM_BEYOND more bytes that may be read */
    il_place *places; /* of each byte; NULL: not asked for */
    size_t n, cap;
    bool traced;
} il_stream;

/* `expect`: bytes that it will most likely hold. `traced`: with places. */
IL_NODISCARD il_status il_stream_init(il_stream *s, il_arena *arena, size_t expect, bool traced, il_error *err);
/* Appends IL_NORMAL_CUT or IL_NORMAL_END. */
IL_NODISCARD il_status il_stream_mark(il_stream *s, uint8_t mark, il_error *err);
/* Appends `text` normalised. `places` says where each of its bytes comes from; NULL: from where it stands. Fails for memory only. */
IL_NODISCARD il_status il_stream_put(il_stream *s, il_str text, const il_place *places, il_error *err);

/* Eight bytes as a number, the first lowest: one load. */
static inline uint64_t il_load8(const uint8_t *p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline bool il_stream_gap(const uint8_t *gaps, size_t at) { return (gaps[at / 8] >> (at % 8) & 1) != 0; }
static inline bool il_normal_mark(uint8_t byte) { return byte >= IL_NORMAL_CUT; }
bool il_normal_word_wide(const uint8_t *p, size_t n, size_t at); /* il_normal_word_at of what is not ASCII */
extern const uint8_t il_normal_words[]; /* of each byte: 1 of a word, 2 of a character that is not ASCII, else 0 */
/* Whether the character of which byte `at` is a part belongs to words: a letter or a number. */
static inline bool il_normal_word_at(const uint8_t *p, size_t n, size_t at) {
    const uint8_t class = il_normal_words[p[at]];
    return class < 2 ? class != 0 : il_normal_word_wide(p, n, at);
}
/* What one code point becomes: its bytes; *n is 0 when it falls away, and *space when it is (or holds nothing but) white space. `own` is room for those that stay. */
const uint8_t *il_normal_point(uint32_t point, uint8_t own[12], size_t *n, bool *space);
