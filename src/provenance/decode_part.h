/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of decode.h share. */
#pragma once
#include "provenance/block.h"
#include "provenance/decode.h"

typedef struct il_entity {
    char name[24]; /* no NUL behind 24 bytes */
    uint32_t point;
} il_entity;
extern const il_entity il_entities[]; /* by name, in byte order */
extern const size_t il_nentities;

/* One escape that begins at p: how many bytes it takes, 0 when there is none; `out` gets what it stands for, at most as many bytes. */
size_t il_escape_at(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n);
/* The first byte at or after `at` with which an escape may begin: `\`, `%`, `&`, and what is not ASCII. Sixteen at a time. */
static inline size_t il_escape_next(const uint8_t *p, size_t n, size_t at) {
    for (; at + IL_BLOCK_PART <= n; at += IL_BLOCK_PART) {
        const il_sixteen c = il_sixteen_load(p + at);
        const uint64_t may =
            il_sixteen_bits(IL_SIXTEEN(c == '\\') | IL_SIXTEEN(c == '%') | IL_SIXTEEN(c == '&') | IL_SIXTEEN(c >= 0x80));
        if (may != 0) {
            return at + (size_t)__builtin_ctzll(may);
        }
    }
    while (at < n && p[at] < 0x80 && p[at] != '\\' && p[at] != '%' && p[at] != '&') {
        at++;
    }
    return at;
}

/* The text that begins at byte `at` of decoded bytes: its end. Text is UTF-8 without controls but for white space and NUL (which UTF-16 has). */
size_t il_text_end(const uint8_t *p, size_t n, size_t at);

/* A text that is being read, with where its bytes come from. */
typedef struct il_passage {
    const uint8_t *p;
    size_t n;
    const il_place *places; /* NULL: each from where it stands, counted from `base` */
    size_t base;
    bool cut_left, cut_right; /* it begins or ends in the middle of something */
} il_passage;
static inline il_place il_passage_place(const il_passage *t, size_t i) {
    return t->places != NULL ? t->places[i] : (il_place){(uint32_t)(t->base + i), (uint32_t)(t->base + i + 1)};
}

typedef struct il_reader {
    il_stream *out;
    il_arena *scratch;
    size_t left; /* bytes of further readings that are still looked at */
    bool cut;
    il_error *err;
} il_reader;
/* Appends the passage and its readings; `level` decodings led to it. */
IL_NODISCARD il_status il_read_passage(il_reader *r, const il_passage *t, unsigned level);
/* Reads what stands in base64 and hex in a passage. */
IL_NODISCARD il_status il_read_blobs(il_reader *r, const il_passage *t, unsigned level);
