/* SPDX-License-Identifier: Apache-2.0 */
/* Postings: where a key stands. What is found by hash in the index, fingerprints and words alike.
 *
 * A hash table whose buckets are chains of lines, each as long as a line of a processor's cache: a row is written once and moves only when its bucket is divided in
 * four, which is done a few buckets at a time, so that no addition is much dearer than others. All rows of a key are in one bucket, in the order in which they were
 * added. Each bucket has a filter that says of most keys that are not in it that they are not, before its lines are looked at. */
#pragma once
#include "base/error.h"
#include "provenance/block.h"

enum {
    IL_POSTING_PLACES = 1 << 24, /* and so many postings at most */
    IL_POSTING_KEY = 24,         /* bits of a key: 8 say the bucket of the smallest table, and 16 are the tag */
    IL_POSTING_FIRST = 1 << 8,   /* buckets */
    IL_POSTING_TAG = 2,          /* bytes of a tag, */
    IL_POSTING_PLACE = 3,        /* and of a place */
    IL_POSTING_LINE = 64,        /* bytes of a line: its tags, sketches, places, and at its end the number of the next line */
    IL_POSTING_PLAIN = 12,       /* rows of a line, */
    IL_POSTING_SKETCHED = 8,     /* and of one with sketches */
    IL_POSTING_GROUP = 8,        /* tags that are compared at once */
    IL_POSTING_PARTS = 4,        /* what a bucket is divided into */
    IL_POSTING_LOAD = 96,        /* when all buckets have so many rows, each is divided */
    IL_POSTING_FILTERS = 6,      /* words of a bucket's filter */
    IL_POSTING_CHUNK = 10        /* a chunk of memory has 2 to this many lines at most */
};

typedef struct il_posting {
    uint32_t key;
    uint16_t more;  /* a sketch, where there are sketches */
    uint32_t place; /* below IL_POSTING_PLACES */
} il_posting;

typedef struct il_posting_bucket {
    uint64_t filter[IL_POSTING_FILTERS]; /* for each key two bits are set */
    uint32_t lines;                      /* how many it has, */
    uint32_t left;                       /* and rows that the last one has room for */
    uint32_t first, last;                /* lines: a chunk, and in the last IL_POSTING_CHUNK bits which one of it */
} il_posting_bucket;
_Static_assert(sizeof(il_posting_bucket) == IL_POSTING_LINE, "a bucket is one line of a cache");

typedef struct il_postings {
    const il_alloc *alloc;
    size_t max; /* bytes that it may have; its owner may change it */
    il_posting_bucket *
        buckets; /* `low` of them, a power of two, of which the first `divided` are IL_POSTING_PARTS each, by more bits of a key */
    uint32_t low, divided, cap;
    size_t total, bytes;
    uint8_t **chunks;
    uint32_t nchunks, chunks_cap;
    uint32_t fresh, fresh_end; /* lines of the latest chunk that were never given away */
    uint32_t free, nfree;      /* lines that were given back: the latest; each says the one before it */
    size_t rows;               /* of a line: IL_POSTING_PLAIN or IL_POSTING_SKETCHED */
} il_postings;

/* `rows`: IL_POSTING_SKETCHED where there are sketches, else IL_POSTING_PLAIN. */
void il_postings_init(il_postings *p, const il_alloc *alloc, size_t rows);
void il_postings_free(il_postings *p);
/* Adds them in this order: all, or on a failure none: IL_E_LIMIT where it would take more than `max` bytes, IL_E_MEMORY. */
IL_NODISCARD il_status il_postings_add(il_postings *p, const il_posting *list, size_t n, il_error *err);
/* Takes the latest posting of the key's bucket out again. To undo additions it is called with each of their keys, in any order. */
void il_postings_drop(il_postings *p, uint32_t key);

static inline const il_posting_bucket *il_postings_bucket(const il_postings *p, uint32_t key) {
    const uint32_t b = key & (p->low - 1), wide = key & (IL_POSTING_PARTS * p->low - 1);
    return &p->buckets[b < p->divided ? wide : b];
}
/* What a key sets in the filter of its bucket: bits of one word. */
static inline uint64_t il_posting_bits(uint32_t key, uint32_t *word) {
    const uint32_t bits = (key >> 8) * UINT32_C(0x9e3779b1);
    *word = (bits >> 24) * IL_POSTING_FILTERS >> 8;
    return UINT64_C(1) << (bits >> 18 & 63) | UINT64_C(1) << (bits >> 12 & 63);
}
/* False: no posting of the bucket has this key. */
static inline bool il_posting_may(const il_posting_bucket *b, uint32_t key) {
    uint32_t word;
    const uint64_t bits = il_posting_bits(key, &word);
    return (b->filter[word] & bits) == bits;
}
/* False: no posting has this key. */
static inline bool il_postings_may(const il_postings *p, uint32_t key) {
    return p->total > 0 && il_posting_may(il_postings_bucket(p, key), key);
}
static inline uint32_t il_postings_rows(const il_postings *p, const il_posting_bucket *b) {
    return b->lines * (uint32_t)p->rows - b->left;
}
/* A line: the tags of all its rows, which are the 16 bits of their keys that a bucket does not say; then their sketches, where there are some, both as the processor has
 * them; then their places. All but a bucket's last line are full. */
static inline uint8_t *il_posting_line(const il_postings *p, uint32_t line) {
    return p->chunks[line >> IL_POSTING_CHUNK] + (size_t)(line & ((1u << IL_POSTING_CHUNK) - 1)) * IL_POSTING_LINE;
}
static inline uint32_t il_posting_next_line(const uint8_t *line) {
    uint32_t next;
    memcpy(&next, line + (IL_POSTING_LINE - sizeof next), sizeof next);
    return next;
}
static inline uint8_t *il_posting_sketches(uint8_t *line) { return line + (size_t)IL_POSTING_SKETCHED * IL_POSTING_TAG; }
static inline uint8_t *il_posting_places(uint8_t *line, size_t rows) {
    return line + rows * (rows == IL_POSTING_SKETCHED ? (size_t)2 * IL_POSTING_TAG : (size_t)IL_POSTING_TAG);
}
_Static_assert(IL_POSTING_SKETCHED *(2 * IL_POSTING_TAG + IL_POSTING_PLACE) + 4 <= IL_POSTING_LINE &&
                   IL_POSTING_PLAIN * (IL_POSTING_TAG + IL_POSTING_PLACE) + 4 <= IL_POSTING_LINE,
               "what a line holds");
static inline uint32_t il_posting_place(const uint8_t *places, size_t i) {
    const uint8_t *p = places + i * IL_POSTING_PLACE;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}
/* Of eight tags those that are this one, of the first n: two equal bits for each, the lowest two of the first. */
static inline uint32_t il_posting_same(const uint8_t *tags, uint32_t n, uint32_t tag) {
    typedef uint16_t posting_eight __attribute__((vector_size(IL_BLOCK_PART)));
    posting_eight eight;
    memcpy(&eight, tags, sizeof eight);
    const uint32_t same = (uint32_t)il_sixteen_bits((il_sixteen)(eight == (uint16_t)tag));
    return n < IL_POSTING_GROUP ? same & ((1u << 2 * n) - 1) : same;
}

/* The postings of a key, in the order in which they were added. */
typedef struct il_posting_walk {
    const il_postings *of;
    uint8_t *line;       /* at hand */
    uint32_t key, at, n; /* the group of it, and rows from there on */
    uint32_t same;       /* of the group, those to come */
} il_posting_walk;
il_posting_walk il_postings_walk(const il_postings *p, uint32_t key);
bool il_posting_next(il_posting_walk *w, il_posting *out);
