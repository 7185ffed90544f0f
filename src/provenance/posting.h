/* SPDX-License-Identifier: Apache-2.0 */
/* Postings: where a key stands. What is found by hash in the index, fingerprints and words alike. */
#pragma once
#include "base/error.h"

enum { IL_POSTING_PLACES = 1 << 24 };

typedef struct il_posting {
    uint32_t key;
    uint16_t more;  /* a sketch, or more bits of the hash */
    uint32_t place; /* below IL_POSTING_PLACES; never smaller than those before it */
} il_posting;

typedef struct il_postings {
    const il_alloc *alloc;
    il_posting *list;
    uint32_t *before; /* of each: the one before it with the same head, plus 1 */
    uint32_t *heads;  /* a power of two */
    size_t n, cap, nheads;
} il_postings;

void il_postings_init(il_postings *p, const il_alloc *alloc);
void il_postings_free(il_postings *p);
/* Room for so many more; on a failure nothing has changed. */
IL_NODISCARD il_status il_postings_reserve(il_postings *p, size_t more, il_error *err);
/* After il_postings_reserve. */
void il_postings_add(il_postings *p, il_posting posting);
size_t il_postings_bytes(const il_postings *p);
/* The bytes that so many more would bring it to. */
size_t il_postings_bytes_with(const il_postings *p, size_t more);

/* The postings of a key, the latest first. */
typedef struct il_posting_walk {
    const il_postings *in;
    uint32_t key, next;
} il_posting_walk;
il_posting_walk il_postings_walk(const il_postings *p, uint32_t key);
bool il_posting_next(il_posting_walk *w, il_posting *out);
