/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of il_index_digest, numbers little-endian: version, whether readings were left out, how long the stream is, how many fingerprints and words there are; then a bit
 * for each place, in steps of IL_PRINT_STEP, that says whether its fingerprint follows; of each 24 bits of hash and 16 of sketch; of each word its place behind the
 * one before (a varint) and 24 bits of hash. Of equal fingerprints with equal surroundings, and of equal words within IL_DIGEST_WORDS bytes, the first is
 * there at least. */
#pragma once
#include "provenance/fingerprint.h"
#include "provenance/posting.h"

enum {
    IL_DIGEST_WORDS = 16384,
    IL_DIGEST_TEXT = 64 << 20 /* bytes of a text that are looked at */
};

/* The readings of a text as one stream. `arena` holds it, and what was needed on the way. */
IL_NODISCARD il_status il_digest_stream(il_str text, bool traced, il_arena *arena, il_stream *out, bool *cut, il_error *err);

/* Bytes of the gaps of a stream. */
static inline size_t il_digest_gaps(size_t stream) { return stream / 8 + 1; }

typedef struct il_digest_part { /* a reader of the rows of one kind */
    const uint8_t *p;           /* of those to come */
    const uint8_t *places;      /* of fingerprints: the bits; NULL for words */
    uint32_t n, place;          /* rows to come; the place to go on from */
} il_digest_part;
typedef struct il_digest {
    uint32_t stream; /* bytes */
    bool cut;
    il_digest_part prints, words;
} il_digest;
/* Takes them apart, and checks every row: IL_E_DAMAGED. Borrows the bytes. */
IL_NODISCARD il_status il_digest_open(il_str bytes, il_digest *out, il_error *err);
/* The next rows, `max` at most: how many. Places are in steps, from `first` on. */
size_t il_digest_next(il_digest_part *part, uint32_t first, il_posting *out, size_t max);
