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
    uint32_t *slots, bits;   /* 2^bits slots: place plus 1, 0 empty. NULL when `set` has taken over */
    uint64_t *set;           /* bit k: key k is known */
    il_known_places *places; /* of the keys in `set`, made when one is asked for */
} il_known;

typedef enum il_known_added { IL_KNOWN_OLD, IL_KNOWN_NEW, IL_KNOWN_FULL, IL_KNOWN_MEMORY } il_known_added;

/* Allocates nothing yet. `width` 64 when keys may be any number. il_known_free() in any case. */
void il_known_init(il_known *s, const il_alloc *alloc, uint32_t width, bool writes, uint32_t max, size_t limit);
void il_known_free(il_known *s);

/* `late`: nodes from here on may still be reached as shortly in another way, and take the one with fewer writes. FULL: the key is new, and a
 * bound (`max`, `limit`) forbids to keep it. */
il_known_added il_known_add(il_known *s, uint64_t key, uint32_t parent, uint16_t writes, uint32_t late);
/* The same where the set is an index for good (`width` 64), and the key's place, UINT32_MAX when it has none. */
il_known_added il_known_put(il_known *s, uint64_t key, uint32_t parent, uint32_t *place);
/* For known_batch.c: one more chunk; whether those for `n` nodes are within the limit. */
il_known_added il_known_chunk_new(il_known *s);
bool il_known_chunks_fit(const il_known *s, uint32_t n);
/* Place of a key, UINT32_MAX when it is not known. May take up to 12 bytes a node beyond the limit. */
uint32_t il_known_find(const il_known *s, uint64_t key);

/* Keys that differ little lie far apart by the upper bits of the product. */
static inline uint32_t il_known_hash(const il_known *s, uint64_t key) {
    return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - s->bits));
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
/* The slot of a key, or the empty one where it would be. */
static inline uint32_t il_known_slot(const il_known *s, uint64_t key) {
    uint32_t at = il_known_hash(s, key);
    while (s->slots[at] && il_known_key(s, s->slots[at] - 1) != key) {
        at = (at + 1) & ((UINT32_C(1) << s->bits) - 1);
    }
    return at;
}
static inline bool il_known_has(const il_known *s, uint64_t key) {
    return s->set ? key >> s->width == 0 && (s->set[key / 64] >> (key % 64) & 1)
                  : s->slots && s->slots[il_known_slot(s, key)] != 0;
}
/* Fetches what il_known_has() of these steps' ends will read: memory answers slowly, but many at once. */
static inline void il_known_fetch(const il_known *s, const il_steps_edge *edge, uint32_t n) {
    for (uint32_t k = 0; s->set && k < n; k++) {
        __builtin_prefetch(&s->set[edge[k].next / 64]);
    }
    for (uint32_t k = 0; !s->set && k < n; k++) {
        __builtin_prefetch(&s->slots[il_known_hash(s, edge[k].next)]);
    }
    for (uint32_t k = 0; !s->set && k < n; k++) {
        uint32_t place = s->slots[il_known_hash(s, edge[k].next)];
        place -= place != 0;
        __builtin_prefetch(&s->chunks[place / IL_KNOWN_CHUNK]->keys[place % IL_KNOWN_CHUNK]);
    }
}
