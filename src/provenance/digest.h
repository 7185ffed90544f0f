/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of il_index_digest: version, whether readings were left out, how long the stream is; then the fingerprints and the words, each as its place
 * in steps of IL_PRINT_STEP behind the one before (a varint), 32 bits of hash and 16 more. Of equal fingerprints with equal surroundings, and of equal words within
 * IL_DIGEST_WORDS bytes, the first is there. */
#pragma once
#include "provenance/fingerprint.h"
#include "provenance/posting.h"

enum {
    IL_DIGEST_WORDS = 16384,
    IL_DIGEST_TEXT = 64 << 20 /* bytes of a text that are looked at */
};

/* The readings of a text as one stream. `arena` holds it, and what was needed on the way. */
IL_NODISCARD il_status il_digest_stream(il_str text, bool traced, il_arena *arena, il_stream *out, bool *cut, il_error *err);

typedef struct il_digest_part { /* a reader of the rows of one kind */
    il_cursor at;
    uint32_t n; /* rows */
    uint32_t place;
} il_digest_part;
typedef struct il_digest {
    uint32_t stream; /* bytes */
    bool cut;
    il_digest_part prints, words;
} il_digest;
/* Takes them apart, and checks every row: IL_E_DAMAGED. Borrows the bytes. */
IL_NODISCARD il_status il_digest_open(il_str bytes, il_digest *out, il_error *err);
static inline void il_digest_row(il_digest_part *part, const uint8_t *p, size_t n, uint32_t step, il_posting *out) {
    part->n--;
    part->at.at += n + 6;
    part->place += step;
    *out = (il_posting){.key = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24,
                        .more = (uint16_t)(p[4] | p[5] << 8),
                        .place = part->place};
}
bool il_digest_next_long(il_digest_part *part, il_posting *out); /* il_digest_next where the step is not one byte */
/* The next row, place in steps; false at the end. */
static inline bool il_digest_next(il_digest_part *part, il_posting *out) {
    if (part->n == 0) {
        return false;
    }
    const uint8_t *p = part->at.p + part->at.at;
    if (part->at.n - part->at.at < 7 || p[0] >= 0x80) {
        return il_digest_next_long(part, out);
    }
    il_digest_row(part, p + 1, 1, p[0], out);
    return true;
}
