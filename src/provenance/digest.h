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
/* The next row, place in steps; false at the end. */
bool il_digest_next(il_digest_part *p, il_posting *out);
