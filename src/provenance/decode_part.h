/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of decode.h share. */
#pragma once
#include "provenance/decode.h"

typedef struct il_entity {
    char name[24]; /* no NUL behind 24 bytes */
    uint32_t point;
} il_entity;
extern const il_entity il_entities[]; /* by name, in byte order */
extern const size_t il_nentities;

/* One escape that begins at p: how many bytes it takes, 0 when there is none; `out` gets what it stands for, at most as many bytes. */
size_t il_escape_at(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n);
/* Whether an escape may begin with this byte: of `\`, `%`, `&`, and of characters that are not ASCII. */
static inline bool il_escape_may(uint8_t c) { return c >= 0xc2 || c == '\\' || c == '%' || c == '&'; }

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
