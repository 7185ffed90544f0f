/* SPDX-License-Identifier: Apache-2.0 */
/* Postings: where a key stands. What is found by hash in the index, fingerprints and words alike.
 *
 * A hash table of buckets that grows by one bucket at a time (linear hashing), so that no addition is much dearer than others, and a bucket holds about
 * IL_POSTING_LOAD postings, in one piece of memory: all of a key are in one bucket, in the order in which they were added. Each bucket has a filter that says of
 * most keys that are not in it that they are not, before its postings are looked at. */
#pragma once
#include "base/error.h"
#include "provenance/block.h"

enum {
    IL_POSTING_PLACES = 1 << 24, /* and so many postings at most */
    IL_POSTING_KEY = 24,         /* bits of a key: 8 say the bucket of the smallest table, and 16 are the tag */
    IL_POSTING_FIRST = 1 << 8,   /* buckets */
    IL_POSTING_TAG = 2,          /* bytes of a tag, */
    IL_POSTING_PLACE = 3,        /* of a place, */
    IL_POSTING_PLAIN = 5,        /* of a row, */
    IL_POSTING_SKETCHED = 7,     /* and of one with a sketch */
    IL_POSTING_GROUP = 8,        /* rows that come and go together in a block */
    IL_POSTING_LOAD = 48,
    IL_POSTING_FILTERS = 3, /* words of a bucket's filter: four bits a posting */
    IL_POSTING_CHUNK = 10,  /* a chunk of memory has 2 to this many groups at most, but for a block that is larger */
    IL_POSTING_CLASSES = 37 /* of blocks up to a chunk: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 .. groups; 0: none */
};

typedef struct il_posting {
    uint32_t key;
    uint16_t more;  /* a sketch, where there are sketches */
    uint32_t place; /* below IL_POSTING_PLACES */
} il_posting;

typedef struct il_posting_bucket {
    uint32_t block;                      /* its first group: a chunk, and in the last IL_POSTING_CHUNK bits which one of it */
    uint32_t n_class;                    /* postings; in the last eight bits the class of the block */
    uint64_t filter[IL_POSTING_FILTERS]; /* for each key a bit is set */
} il_posting_bucket;

typedef struct il_postings {
    const il_alloc *alloc;
    size_t max;                 /* bytes that it may have; its owner may change it */
    il_posting_bucket *buckets; /* from `low`, a power of two, to twice as many are in use */
    uint32_t nbuckets, cap, low;
    size_t total, bytes;
    uint8_t **chunks;
    uint32_t nchunks, chunks_cap;
    uint32_t fresh, fresh_end;         /* groups of the latest chunk that were never given away */
    uint32_t free[IL_POSTING_CLASSES]; /* of each class: a block that was given back, plus 1; it begins with the next one */
    uint64_t has_free;                 /* bit c: class c has one */
    size_t row;                        /* bytes of one: IL_POSTING_PLAIN or IL_POSTING_SKETCHED */
} il_postings;

/* `row`: IL_POSTING_SKETCHED where there are sketches, else IL_POSTING_PLAIN. */
void il_postings_init(il_postings *p, const il_alloc *alloc, size_t row);
void il_postings_free(il_postings *p);
/* Adds them in this order: all, or on a failure none: IL_E_LIMIT where it would take more than `max` bytes, IL_E_MEMORY. */
IL_NODISCARD il_status il_postings_add(il_postings *p, const il_posting *list, size_t n, il_error *err);
/* Takes the latest posting of the key's bucket out again. To undo additions it is called with each of their keys, in any order. */
void il_postings_drop(il_postings *p, uint32_t key);

static inline const il_posting_bucket *il_postings_bucket(const il_postings *p, uint32_t key) {
    const uint32_t b = key & (2 * p->low - 1);
    return &p->buckets[b < p->nbuckets ? b : b - p->low];
}
/* What a key sets in the filter of its bucket: a bit of one word. */
static inline uint64_t il_posting_bits(uint32_t key, uint32_t *word) {
    const uint32_t bits = (key >> 8) * UINT32_C(0x9e3779b1);
    *word = (bits >> 24) * IL_POSTING_FILTERS >> 8;
    return UINT64_C(1) << (bits >> 18 & 63);
}
/* False: no posting of the bucket has this key. */
static inline bool il_posting_may(const il_posting_bucket *b, uint32_t key) {
    uint32_t word;
    const uint64_t bits = il_posting_bits(key, &word);
    return (b->filter[word] & bits) != 0;
}
/* False: no posting has this key. */
static inline bool il_postings_may(const il_postings *p, uint32_t key) {
    return p->total > 0 && il_posting_may(il_postings_bucket(p, key), key);
}
static inline uint32_t il_posting_rows(const il_posting_bucket *b) { return b->n_class >> 8; }
/* How many groups a block of a class has. */
static inline uint32_t il_posting_groups(uint32_t class) { return class < 4 ? class : (4 + (class & 3)) << ((class - 4) / 4); }
/* A bucket's block: the tags of all its rows, which are the 16 bits of their keys that a bucket does not say; then their sketches, where there are some, both as the processor has
 * them; then their places. */
static inline uint8_t *il_posting_tags(const il_postings *p, const il_posting_bucket *b) {
    return p->chunks[b->block >> IL_POSTING_CHUNK] +
           (size_t)(b->block & ((1u << IL_POSTING_CHUNK) - 1)) * IL_POSTING_GROUP * p->row;
}
static inline size_t il_posting_room(const il_posting_bucket *b) {
    return (size_t)il_posting_groups(b->n_class & 0xff) * IL_POSTING_GROUP;
}
static inline uint8_t *il_posting_sketches(const il_posting_bucket *b, uint8_t *tags) {
    return tags + il_posting_room(b) * IL_POSTING_TAG;
}
static inline uint8_t *il_posting_places(const il_posting_bucket *b, uint8_t *tags, size_t row) {
    return tags + il_posting_room(b) * (row - IL_POSTING_PLACE);
}
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
/* Has the processor fetch what is read of a bucket first. */
static inline void il_postings_fetch(const il_postings *p, const il_posting_bucket *b) {
    if (il_posting_rows(b) > 0) {
        const uint8_t *tags = il_posting_tags(p, b);
        __builtin_prefetch(tags);
        __builtin_prefetch(tags + 64);
    }
}

/* The postings of a key, in the order in which they were added. */
typedef struct il_posting_walk {
    const uint8_t *tags, *sketches, *places; /* of the bucket; NULL: it has no sketches */
    uint32_t key, at, n;                     /* the group at hand, of n rows */
    uint32_t same;                           /* of it, those to come */
} il_posting_walk;
il_posting_walk il_postings_walk(const il_postings *p, uint32_t key);
bool il_posting_next(il_posting_walk *w, il_posting *out);
