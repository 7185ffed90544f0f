/* SPDX-License-Identifier: Apache-2.0 */
/* Postings: where a key stands. What is found by hash in the index, fingerprints and words alike.
 *
 * The latest are a small hash table, `young`. When it is full it becomes a run: seven bytes each, in buckets by the first bits of the key. Eight runs of about one
 * size become one, so there are few, and each posting is moved but a few times. A filter over the keys of all runs says of most that are not there that they are not. */
#pragma once
#include "base/error.h"

enum {
    IL_POSTING_PLACES = 1 << 24,
    IL_POSTING_KEY = 26, /* bits of a key that count, the lowest ones of what is given */
    IL_POSTING_BYTES = 7,
    IL_POSTING_RUNS = 64
};

typedef struct il_posting {
    uint32_t key;
    uint16_t more;  /* a sketch, or more bits of the hash */
    uint32_t place; /* below IL_POSTING_PLACES */
} il_posting;

typedef struct il_posting_run {
    uint8_t *
        tags; /* of each posting the last 16 bits of its key; behind them of each the rest, more and place; and bytes to read beyond */
    uint32_t *buckets; /* where each begins, and the end */
    size_t n;
    unsigned bits; /* of the key, which say the bucket */
} il_posting_run;

typedef struct il_postings {
    const il_alloc *alloc;
    il_posting *list;              /* the young ones */
    uint32_t *before;              /* of each: the one before it with the same head, plus 1 */
    uint32_t *heads;               /* a power of two */
    size_t n, cap, linked, nheads; /* cap of the list, linked of `before`: less where the list is to become a run */
    il_posting_run runs[IL_POSTING_RUNS];
    size_t nruns, total;
    il_posting_run coming; /* what il_postings_reserve has made ready */
    uint8_t *filter;       /* 2 to the filter_bits bits */
    unsigned filter_bits;
    bool filtered; /* whether there is to be a filter */
} il_postings;

void il_postings_init(il_postings *p, const il_alloc *alloc, bool filtered);
void il_postings_free(il_postings *p);
/* Room for so many more, which follow by il_postings_add and then il_postings_commit; or none, and il_postings_cancel. On a failure nothing has changed. */
IL_NODISCARD il_status il_postings_reserve(il_postings *p, size_t more, il_error *err);
void il_postings_add(il_postings *p, il_posting posting);
void il_postings_commit(il_postings *p);
void il_postings_cancel(il_postings *p);
size_t il_postings_bytes(const il_postings *p);
/* About the bytes that so many more would bring it to. */
size_t il_postings_bytes_with(const il_postings *p, size_t more);

/* The postings of a key, in no order. */
typedef struct il_posting_walk {
    const il_postings *in;
    uint32_t key, young; /* of the young ones: the next, plus 1 */
    size_t left;         /* runs */
    const il_posting_run *run;
    uint32_t at, end; /* in the run */
} il_posting_walk;
il_posting_walk il_postings_walk(const il_postings *p, uint32_t key);
bool il_posting_next(il_posting_walk *w, il_posting *out);
