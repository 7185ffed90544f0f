/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the index share. */
#pragma once
#include "provenance/digest.h"
#include "provenance/index.h"

typedef struct il_index_text {
    uint32_t first; /* place of its stream's first byte, in steps */
    uint32_t source, group;
    uint32_t n; /* bytes of the stream */
    uint8_t *p; /* the stream and behind it its gaps; NULL: not kept (any more) */
} il_index_text;

enum { IL_INDEX_BLOCK = 6 }; /* bits of a place in its block */

struct il_index {
    il_alloc alloc;
    size_t text_max, index_max;
    il_index_text *texts;
    size_t n, cap;
    uint32_t *blocks; /* of each block of places: the text in which it begins */
    size_t blocks_cap;
    size_t oldest; /* of the texts that are kept */
    size_t kept, kept_bytes;
    size_t given;          /* bytes that all texts would take, kept or not */
    uint32_t places, last; /* places given away, the latest source */
    uint64_t *groups;      /* bit g: there is a text of group g */
    size_t groups_cap, ngroups;
    bool incomplete;
    il_postings prints, words;
};

/* The text in which a place lies. */
const il_index_text *il_index_text_at(const il_index *x, uint32_t place);
static inline size_t il_index_blocks(uint32_t places) { return ((size_t)places + (1u << IL_INDEX_BLOCK) - 1) >> IL_INDEX_BLOCK; }
static inline const uint8_t *il_index_gaps(const il_index_text *t) { return t->p + t->n; }

/* What is looked for by its words: bytes of a stream that begin and end with a word. */
typedef struct il_index_needle {
    const uint8_t *p;
    size_t n;
    uint32_t key;  /* of its word, or pair of joined words, that the fewest places have */
    size_t anchor; /* where this word, the latter of a pair, begins */
    bool exact;    /* it is this word or pair: each posting of it says where it stands */
} il_index_needle;
/* Of `n` bytes of a stream from `from` on. False when there is no word in them. */
bool il_index_needle_of(const il_index *x, const il_stream *s, size_t from, size_t n, il_index_needle *out);
/* The next text in which it stands whole; *compared: with the text itself. `w` begins as il_postings_walk of the needle's key. `work` is what
 * may still be done: bytes that are compared. */
const il_index_text *il_index_needle_next(const il_index *x, const il_index_needle *needle, il_posting_walk *w, size_t *work,
                                          bool *compared);
