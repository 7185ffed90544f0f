/* SPDX-License-Identifier: Apache-2.0 */
#include "check/known_batch.h"

#include "base/mem.h"

enum { BATCH_WRITE = 1, BATCH_FRESH = 2 }; /* of a mark */
/* What stands in a slot until its key has a place: which batch, which of its keys. */
#define BATCH_PENDING (UINT32_C(1) << 31)
enum { BATCH_BITS = 23, BATCH_ROOM = 4096 };
#define BATCH_LATER UINT32_MAX /* as a slot: the search left what its owner may write, so it is decided afterwards */

static uint32_t batch_owner(const il_known *s, uint64_t key, uint32_t owners) {
    if (s->set) { /* neighbours share a word, and a line of the cache */
        const uint64_t mixed = (key >> 9) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
        return (uint32_t)(mixed * owners >> 32);
    }
    return s->slots ? (uint32_t)((uint64_t)il_known_hash(s, key) * owners >> s->bits) : 0;
}

/* The first slot that is no longer this owner's. */
static uint32_t batch_end(const il_known *s, uint32_t owner, uint32_t owners) {
    return (uint32_t)(((((uint64_t)owner + 1) << s->bits) + owners - 1) / owners);
}

static bool batch_grow(il_known_batch *b, const il_alloc *alloc) {
    const uint32_t room = b->room ? b->room * 2 : BATCH_ROOM;
    il_known_found *found = alloc->alloc(alloc->ctx, room * sizeof *found);
    uint8_t *owner = alloc->alloc(alloc->ctx, room), *mark = alloc->alloc(alloc->ctx, room);
    if (found && owner && mark && b->n > 0) {
        memcpy(found, b->found, b->n * sizeof *found);
        memcpy(owner, b->owner, b->n);
        memcpy(mark, b->mark, b->n);
    }
    const uint32_t n = b->n;
    const bool wide = b->wide;
    const bool whole = found && owner && mark;
    il_known_batch_free(whole ? b : &(il_known_batch){.found = found, .owner = owner, .mark = mark}, alloc);
    if (whole) {
        *b = (il_known_batch){.found = found, .owner = owner, .mark = mark, .n = n, .room = room, .wide = wide};
    }
    return whole;
}

bool il_known_batch_push(il_known_batch *b, const il_known *s, uint32_t owners, uint64_t key, uint32_t parent, bool write) {
    if (b->n == b->room && !batch_grow(b, s->alloc)) {
        return false;
    }
    b->wide = b->wide || (s->width < 64 && key >> s->width != 0);
    b->found[b->n] = (il_known_found){.key = key, .parent = parent};
    b->owner[b->n] = (uint8_t)batch_owner(s, key, owners);
    b->mark[b->n++] = write ? BATCH_WRITE : 0;
    return true;
}

void il_known_batch_free(il_known_batch *b, const il_alloc *alloc) {
    alloc->free(alloc->ctx, b->found);
    alloc->free(alloc->ctx, b->owner);
    alloc->free(alloc->ctx, b->mark);
    *b = (il_known_batch){0};
}

uint16_t il_known_batch_writes(const il_known_batch *b, const il_known *s, uint32_t i) {
    return (uint16_t)(il_known_writes(s, b->found[i].parent) + (b->mark[i] & BATCH_WRITE ? 1u : 0u));
}

bool il_known_batches_fit(const il_known *s, const il_known_batch *all, uint32_t n) {
    uint64_t sum = s->n;
    for (uint32_t k = 0; k < n; k++) {
        sum += all[k].n;
        if (all[k].wide || all[k].n >= UINT32_C(1) << BATCH_BITS) {
            return false;
        }
    }
    const bool room = s->set || (s->slots && sum < (UINT64_C(1) << s->bits) / 4 * 3);
    return n <= IL_KNOWN_BATCHES && sum <= s->max && room && il_known_chunks_fit(s, (uint32_t)sum);
}

/* Whether the key in a slot is this one; *had is it when it has no place yet. */
static bool batch_same(const il_known *s, il_known_batch *all, uint32_t slot, uint64_t key, uint32_t *batch, uint32_t *i) {
    if (slot & BATCH_PENDING) {
        *batch = (slot & ~BATCH_PENDING) >> BATCH_BITS;
        *i = slot & ((UINT32_C(1) << BATCH_BITS) - 1);
        return all[*batch].found[*i].key == key;
    }
    *batch = UINT32_MAX;
    *i = slot - 1;
    return il_known_key(s, slot - 1) == key;
}

/* The i-th of a batch is a way to a key that another way leads to as well: of those of one length the one with fewest writes stays. */
static void batch_better(il_known *s, il_known_batch *all, uint32_t to, uint32_t at, const il_known_batch *b, uint32_t i,
                         uint32_t late) {
    const uint16_t writes = il_known_batch_writes(b, s, i);
    if (!s->writes) {
        return;
    }
    if (to != UINT32_MAX) {
        if (writes < il_known_batch_writes(&all[to], s, at)) {
            all[to].found[at].parent = b->found[i].parent;
            all[to].mark[at] = (uint8_t)((all[to].mark[at] & ~BATCH_WRITE) | (b->mark[i] & BATCH_WRITE));
        }
        return;
    }
    il_known_chunk *chunk = s->chunks[at / IL_KNOWN_CHUNK];
    if (at >= late && writes < chunk->writes[at % IL_KNOWN_CHUNK]) {
        chunk->parents[at % IL_KNOWN_CHUNK] = b->found[i].parent;
        chunk->writes[at % IL_KNOWN_CHUNK] = writes;
    }
}

/* Looks the i-th key of a batch up in the slots below `end`, and takes the empty one for it. */
static void batch_index(il_known *s, il_known_batch *all, uint32_t k, uint32_t i, uint32_t end, uint32_t late) {
    il_known_batch *b = &all[k];
    il_known_found *f = &b->found[i];
    uint32_t at = il_known_hash(s, f->key), to = 0, place = 0;
    while (at < end && s->slots[at]) {
        if (batch_same(s, all, s->slots[at], f->key, &to, &place)) {
            batch_better(s, all, to, place, b, i, late);
            return;
        }
        at++;
    }
    if (at == end) {
        f->slot = BATCH_LATER;
        return;
    }
    s->slots[at] = BATCH_PENDING | k << BATCH_BITS | i;
    f->slot = at;
    b->mark[i] |= BATCH_FRESH;
    b->fresh[b->owner[i]]++;
}

static void batch_set(il_known *s, il_known_batch *b, uint32_t i) {
    const uint64_t key = b->found[i].key, bit = UINT64_C(1) << (key % 64);
    if (!(s->set[key / 64] & bit)) {
        s->set[key / 64] |= bit;
        b->mark[i] |= BATCH_FRESH;
        b->fresh[b->owner[i]]++;
    }
}

void il_known_batches_claim(il_known *s, il_known_batch *all, uint32_t n, uint32_t owner, uint32_t owners, uint32_t late) {
    const uint32_t end = s->set ? 0 : batch_end(s, owner, owners);
    for (uint32_t k = 0; k < n; k++) {
        all[k].fresh[owner] = 0;
        for (uint32_t i = 0; i < all[k].n; i++) {
            if (all[k].owner[i] != owner) {
                continue;
            }
            if (s->set) {
                batch_set(s, &all[k], i);
            } else {
                batch_index(s, all, k, i, end, late);
            }
        }
    }
}

/* Searches that left their owner's slots: few, and in order. They may begin anew at the first slot. */
static void batch_later(il_known *s, il_known_batch *all, uint32_t n, uint32_t late) {
    const uint32_t mask = (UINT32_C(1) << s->bits) - 1;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < all[k].n; i++) {
            il_known_found *f = &all[k].found[i];
            if (f->slot != BATCH_LATER) {
                continue;
            }
            uint32_t at = il_known_hash(s, f->key), to = 0, place = 0;
            bool known = false;
            while (s->slots[at] && !(known = batch_same(s, all, s->slots[at], f->key, &to, &place))) {
                at = (at + 1) & mask;
            }
            if (known) {
                batch_better(s, all, to, place, &all[k], i, late);
                continue;
            }
            s->slots[at] = BATCH_PENDING | k << BATCH_BITS | i;
            f->slot = at;
            all[k].mark[i] |= BATCH_FRESH;
            all[k].fresh[all[k].owner[i]]++;
        }
    }
}

il_known_added il_known_batches_number(il_known *s, il_known_batch *all, uint32_t n, uint32_t owners, uint32_t late) {
    if (!s->set) {
        batch_later(s, all, n, late);
    }
    for (uint32_t k = 0; k < n; k++) {
        all[k].base = s->n;
        for (uint32_t owner = 0; owner < owners; owner++) {
            s->n += all[k].fresh[owner];
        }
    }
    il_known_added done = IL_KNOWN_NEW;
    while (s->n > s->nchunks * IL_KNOWN_CHUNK && done == IL_KNOWN_NEW) {
        done = il_known_chunk_new(s);
    }
    return done == IL_KNOWN_NEW ? done : IL_KNOWN_MEMORY; /* a bound was asked about before */
}

void il_known_batch_write(il_known *s, const il_known_batch *all, uint32_t at) {
    const il_known_batch *b = &all[at];
    uint32_t place = b->base;
    for (uint32_t i = 0; i < b->n; i++) {
        if (!(b->mark[i] & BATCH_FRESH)) {
            continue;
        }
        const il_known_found *f = &b->found[i];
        il_known_chunk *chunk = s->chunks[place / IL_KNOWN_CHUNK];
        chunk->keys[place % IL_KNOWN_CHUNK] = f->key;
        chunk->parents[place % IL_KNOWN_CHUNK] = f->parent;
        if (s->writes) {
            chunk->writes[place % IL_KNOWN_CHUNK] = il_known_batch_writes(b, s, i);
        }
        place++;
        if (s->slots) {
            s->slots[f->slot] = place;
        }
    }
}
