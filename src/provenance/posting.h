/* SPDX-License-Identifier: Apache-2.0 */
/* Postings: where a key stands. What is found by hash in the index, fingerprints and words alike.
 *
 * A hash table of buckets that grows by one bucket at a time (linear hashing), so that no addition is much dearer than others, and a bucket holds about
 * IL_POSTING_LOAD postings. A bucket is one piece of memory, of groups of eight: their tags, then the rest of each; all postings of a key are in one bucket, where
 * eight are looked at at once. A filter says of most keys that are not there that they are not, before any bucket is looked at. */
#pragma once
#include "base/error.h"
#include "provenance/normal.h"

enum {
    IL_POSTING_PLACES = 1 << 24, /* and so many postings at most */
    IL_POSTING_KEY = 24,         /* bits of a key: 8 say the bucket of the smallest table, and 16 are the tag */
    IL_POSTING_FIRST = 1 << 8,   /* buckets */
    IL_POSTING_GROUP = 8,
    IL_POSTING_LOAD = 48,
    IL_POSTING_CHUNK = 10,  /* a chunk of memory has 2 to this many groups at most, but for a block that is larger */
    IL_POSTING_CLASSES = 37 /* of blocks up to a chunk: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 .. groups; 0: none */
};

typedef struct il_posting {
    uint32_t key;
    uint16_t more;  /* a sketch, where there are sketches */
    uint32_t place; /* below IL_POSTING_PLACES */
} il_posting;

typedef struct il_posting_bucket {
    uint32_t block;   /* its first group: a chunk, and in the last IL_POSTING_CHUNK bits which one of it */
    uint32_t n_class; /* postings; in the last eight bits the class of the block */
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
    uint8_t *filter;                   /* 2 to the filter_bits bits; NULL: none */
    unsigned filter_bits, more_bytes, group_bytes;
    bool filtered; /* whether there is to be a filter */
} il_postings;

/* `more_bytes`: 2 where there are sketches, else 0. */
void il_postings_init(il_postings *p, const il_alloc *alloc, unsigned more_bytes, bool filtered);
void il_postings_free(il_postings *p);
/* Adds them in this order: all, or on a failure none: IL_E_LIMIT where it would take more than `max` bytes, IL_E_MEMORY. */
IL_NODISCARD il_status il_postings_add(il_postings *p, const il_posting *list, size_t n, il_error *err);
/* Takes the latest posting of the key's bucket out again. To undo additions it is called with each of their keys, in any order. */
void il_postings_drop(il_postings *p, uint32_t key);

/* False: no posting has this key. */
static inline bool il_postings_may(const il_postings *p, uint32_t key) {
    const uint32_t bit = key >> (IL_POSTING_KEY - p->filter_bits);
    return p->filter == NULL || (p->filter[bit / 8] >> (bit % 8) & 1) != 0;
}
static inline const il_posting_bucket *il_postings_bucket(const il_postings *p, uint32_t key) {
    const uint32_t b = key & (2 * p->low - 1);
    return &p->buckets[b < p->nbuckets ? b : b - p->low];
}
static inline uint8_t *il_posting_groups(const il_postings *p, const il_posting_bucket *b) {
    return p->chunks[b->block >> IL_POSTING_CHUNK] + (size_t)(b->block & ((1u << IL_POSTING_CHUNK) - 1)) * p->group_bytes;
}

/* Has the processor fetch what il_postings_walk will read; its bucket should be there. */
static inline void il_postings_fetch(const il_postings *p, uint32_t key) {
    const il_posting_bucket *b = il_postings_bucket(p, key);
    if (b->n_class >= 256) {
        const uint8_t *groups = il_posting_groups(p, b);
        __builtin_prefetch(groups);
        __builtin_prefetch(groups + 64);
        __builtin_prefetch(groups + 128);
    }
}

/* A group: the high bytes of eight tags, their low bytes, `more` of each, and the places. */
static inline uint8_t *il_posting_mores(const uint8_t *group) { return (uint8_t *)(uintptr_t)group + 2 * IL_POSTING_GROUP; }
static inline uint8_t *il_posting_places(const il_postings *p, const uint8_t *group) {
    return (uint8_t *)(uintptr_t)group + (2 + p->more_bytes) * IL_POSTING_GROUP;
}
static inline uint32_t il_posting_place(const il_postings *p, const uint8_t *group, size_t i) {
    const uint8_t *place = il_posting_places(p, group) + 3 * i;
    return (uint32_t)place[0] | (uint32_t)place[1] << 8 | (uint32_t)place[2] << 16;
}
/* Of each of eight bytes the highest bit, where it is `byte`. */
static inline uint64_t il_posting_equal(const uint8_t *eight, uint32_t byte) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), unlike = il_load8(eight) ^ (~low / 0x80) * byte;
    return ~(((unlike & low) + low) | unlike | low);
}
/* Which of a group, of which `n` rows are there, have the key: the highest bit of byte i. */
static inline uint64_t il_posting_same(const uint8_t *group, uint32_t n, uint32_t key) {
    const uint64_t same = il_posting_equal(group, key >> 16) & il_posting_equal(group + IL_POSTING_GROUP, key >> 8 & 0xff);
    return n < IL_POSTING_GROUP ? same & ((UINT64_C(1) << 8 * n) - 1) : same;
}

/* The postings of a key, in the order in which they were added. */
typedef struct il_posting_walk {
    const il_postings *in;
    const uint8_t *group;
    uint32_t key, left; /* postings of the bucket from the group on */
    uint64_t same;      /* of the group, those still to come */
} il_posting_walk;
il_posting_walk il_postings_walk(const il_postings *p, uint32_t key);
bool il_posting_next(il_posting_walk *w, il_posting *out);
