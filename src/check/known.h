/* SPDX-License-Identifier: Apache-2.0 */
/* What an exploration has found: keys in the order of discovery, each with the node from which it was found first, and a set that says which
 * are known. The set is an index of places, until a bit for every key there can be is no larger than that: then it is those bits. By what a
 * parent's steps are, the step between the two is found again when a trace is asked for (space.c); it is not kept.
 *
 * Every byte held counts against `limit`, what lies beside what replaces it included. Threads: one writer; while nobody writes, any number
 * may read (il_known_has, il_known_key). */
#pragma once
#include "base/arena.h"
#include "machine/steps.h"

#define IL_KNOWN_CHUNK 4096u
#define IL_KNOWN_AHEAD 16u /* keys that are fetched before they are asked for, and slots */
#define IL_KNOWN_AHEAD_SLOT 32u

typedef struct il_known_chunk {
    uint64_t keys[IL_KNOWN_CHUNK];
    uint32_t parents[IL_KNOWN_CHUNK];
    uint16_t writes[]; /* an adversary's writes on the way, where these are told apart */
} il_known_chunk;

typedef struct il_known_places il_known_places;

typedef struct il_known {
    const il_alloc *alloc;
    size_t bytes, limit;
    uint32_t n, max;
    uint32_t width;         /* bits of a key */
    bool writes;            /* fewer writes are better; then there is always an index */
    uint32_t nchunks, room; /* of the directory */
    il_known_chunk **chunks;
    uint32_t *slots, bits;   /* 2^bits slots, of which a quarter is empty. NULL when `set` has taken over */
    uint64_t *set;           /* bit k: key k is known */
    il_known_places *places; /* of the keys in `set`, made when one is asked for */
} il_known;

/* A key that may be new, and the node it was found from. */
typedef struct il_known_found {
    uint64_t key;
    uint32_t parent;
    bool write; /* the step to it is an adversary's */
} il_known_found;

typedef enum il_known_added { IL_KNOWN_OLD, IL_KNOWN_NEW, IL_KNOWN_FULL, IL_KNOWN_MEMORY } il_known_added;

/* Allocates nothing yet. `width` 64 when keys may be any number. il_known_free() in any case. */
void il_known_init(il_known *s, const il_alloc *alloc, uint32_t width, bool writes, uint32_t max, size_t limit);
void il_known_free(il_known *s);

/* `late`: nodes from here on may still be reached as shortly in another way, and take the one with fewer writes. FULL: the key is new, and a
 * bound (`max`, `limit`) forbids to keep it. */
il_known_added il_known_add(il_known *s, uint64_t key, uint32_t parent, uint16_t writes, uint32_t late);
/* Adds of `n` the first ones, as many as it can while no bound is near; returns how many. 0: the next one is for il_known_add(). */
uint32_t il_known_take(il_known *s, const il_known_found *found, uint32_t n);
/* The same where the set is an index for good (`width` 64), and the key's place, UINT32_MAX when it has none. */
il_known_added il_known_put(il_known *s, uint64_t key, uint32_t parent, uint32_t *place);
/* Place of a key, UINT32_MAX when it is not known. May take up to 12 bytes a node beyond the limit. */
uint32_t il_known_find(const il_known *s, uint64_t key);

/* By upper bits of products. One product alone leaves the keys of a lattice in heaps. */
static inline uint32_t il_known_hash(uint64_t key) {
    const uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(((mixed ^ mixed >> 32) * UINT64_C(0xD6E8FEB86659FD93)) >> 32);
}
static inline uint64_t il_known_key(const il_known *s, uint32_t i) {
    return s->chunks[i / IL_KNOWN_CHUNK]->keys[i % IL_KNOWN_CHUNK];
}
static inline uint32_t il_known_parent(const il_known *s, uint32_t i) {
    return s->chunks[i / IL_KNOWN_CHUNK]->parents[i % IL_KNOWN_CHUNK];
}
static inline uint16_t il_known_writes(const il_known *s, uint32_t i) {
    return s->writes ? s->chunks[i / IL_KNOWN_CHUNK]->writes[i % IL_KNOWN_CHUNK] : 0;
}
/* A slot holds a place plus 1 in `bits` bits, and above it what is left of the key's hash, so that another key is seldom asked for. 0: empty. */
static inline uint32_t il_known_at(const il_known *s, uint32_t slot) { return s->slots[slot] & ((UINT32_C(1) << s->bits) - 1); }
/* The slot of a key, or the empty one where it would be. */
static inline uint32_t il_known_slot(const il_known *s, uint64_t key) {
    const uint32_t hash = il_known_hash(key);
    uint32_t at = hash >> (32 - s->bits);
    while (s->slots[at] &&
           (s->slots[at] >> s->bits != (hash << s->bits) >> s->bits || il_known_key(s, il_known_at(s, at) - 1) != key)) {
        at = (at + 1) & ((UINT32_C(1) << s->bits) - 1);
    }
    return at;
}
static inline void il_known_slot_put(il_known *s, uint32_t slot, uint64_t key, uint32_t place) {
    s->slots[slot] = il_known_hash(key) << s->bits | (place + 1);
}
static inline bool il_known_has(const il_known *s, uint64_t key) {
    return s->set ? key >> s->width == 0 && (s->set[key / 64] >> (key % 64) & 1)
                  : s->slots && s->slots[il_known_slot(s, key)] != 0;
}
/* Fetches what il_known_has() will read in an index, the slot and then the key in it: memory answers slowly, but many at once. The bits lie close
 * together. The empty statements: a call of a function that only fetches, gcc takes for one without an effect, and leaves it out. */
static inline void il_known_fetch_slot(const il_known *s, uint64_t key) {
    __builtin_prefetch(&s->slots[il_known_hash(key) >> (32 - s->bits)]);
    __asm__ volatile("");
}
static inline void il_known_fetch_key(const il_known *s, uint64_t key) {
    uint32_t place = il_known_at(s, il_known_hash(key) >> (32 - s->bits));
    place -= place != 0;
    __builtin_prefetch(&s->chunks[place / IL_KNOWN_CHUNK]->keys[place % IL_KNOWN_CHUNK]);
    __asm__ volatile("");
}
/* Of all the ends of a state's steps. */
static inline void il_known_fetch(const il_known *s, const il_steps_edge *edge, uint32_t n) {
    for (uint32_t k = 0; !s->set && k < n; k++) {
        il_known_fetch_slot(s, edge[k].next);
    }
    for (uint32_t k = 0; !s->set && k < n; k++) {
        il_known_fetch_key(s, edge[k].next);
    }
}
/* Of those that come some way behind the first of these. */
static inline void il_known_fetch_found(const il_known *s, const il_known_found *found, uint32_t n) {
    if (!s->set && n > IL_KNOWN_AHEAD_SLOT) {
        il_known_fetch_slot(s, found[IL_KNOWN_AHEAD_SLOT].key);
        il_known_fetch_key(s, found[IL_KNOWN_AHEAD].key);
    }
}
