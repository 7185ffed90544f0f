/* SPDX-License-Identifier: Apache-2.0 */
#include "check/known.h"

#include "base/mem.h"

enum { KNOWN_BITS_FIRST = 10, KNOWN_BITS_LAST = 31 };

/* An index made when a place was asked for of keys that are in the bit set. */
struct il_known_places {
    uint32_t *slots, bits;
    uint32_t n; /* nodes when it was made */
};

void il_known_init(il_known *s, const il_alloc *alloc, uint32_t width, bool writes, uint32_t max, size_t limit) {
    *s = (il_known){.alloc = alloc, .width = width, .writes = writes, .max = max, .limit = limit};
}

void il_known_free(il_known *s) {
    if (!s->alloc) {
        return;
    }
    for (uint32_t i = 0; i < s->nchunks; i++) {
        s->alloc->free(s->alloc->ctx, s->chunks[i]);
    }
    if (s->places) {
        s->alloc->free(s->alloc->ctx, s->places->slots);
    }
    s->alloc->free(s->alloc->ctx, s->places);
    s->alloc->free(s->alloc->ctx, s->chunks);
    s->alloc->free(s->alloc->ctx, s->slots);
    s->alloc->free(s->alloc->ctx, s->set);
    *s = (il_known){0};
}

static il_known_added known_alloc(il_known *s, size_t bytes, void **out) {
    if (bytes > s->limit - s->bytes) {
        return IL_KNOWN_FULL;
    }
    *out = s->alloc->alloc(s->alloc->ctx, bytes);
    s->bytes += *out ? bytes : 0;
    return *out ? IL_KNOWN_NEW : IL_KNOWN_MEMORY;
}

static void known_give(il_known *s, void *p, size_t bytes) {
    s->alloc->free(s->alloc->ctx, p);
    s->bytes -= p ? bytes : 0;
}

static size_t known_chunk_bytes(const il_known *s) {
    return sizeof(il_known_chunk) + (s->writes ? IL_KNOWN_CHUNK * sizeof(uint16_t) : 0);
}

static il_known_added known_chunk_new(il_known *s) {
    void *p = NULL;
    if (s->nchunks == s->room) {
        uint32_t room = s->room ? s->room * 2 : 16;
        il_known_added done = known_alloc(s, room * sizeof(void *), &p);
        if (done != IL_KNOWN_NEW) {
            return done;
        }
        if (s->nchunks > 0) {
            memcpy(p, s->chunks, s->nchunks * sizeof(void *));
        }
        known_give(s, s->chunks, s->room * sizeof(void *));
        s->chunks = p;
        s->room = room;
    }
    il_known_added done = known_alloc(s, known_chunk_bytes(s), &p);
    if (done == IL_KNOWN_NEW) {
        s->chunks[s->nchunks++] = p;
    }
    return done;
}

/* All keys into 2^bits empty slots. By old place, where there is an old index: the new places come in nearly the same order. */
static void known_index(const il_known *s, uint32_t *slots, uint32_t bits) {
    il_known fresh = *s;
    fresh.slots = slots;
    fresh.bits = bits;
    memset(slots, 0, sizeof *slots << bits);
    uint32_t from = s->slots ? UINT32_C(1) << s->bits : s->n;
    for (uint32_t i = 0; i < from; i++) {
        if (s->slots && i + IL_KNOWN_AHEAD < from && s->slots[i + IL_KNOWN_AHEAD]) {
            uint32_t ahead = il_known_at(s, i + IL_KNOWN_AHEAD) - 1;
            __builtin_prefetch(&s->chunks[ahead / IL_KNOWN_CHUNK]->keys[ahead % IL_KNOWN_CHUNK]);
        }
        uint32_t place = s->slots ? il_known_at(s, i) : i + 1;
        if (place) {
            const uint64_t key = il_known_key(s, place - 1);
            il_known_slot_put(&fresh, il_known_slot(&fresh, key), key, place - 1);
        }
    }
}

static il_known_added known_to_set(il_known *s, size_t bytes) {
    void *p = NULL;
    il_known_places *places = s->alloc->alloc(s->alloc->ctx, sizeof *places);
    if (!places) {
        return IL_KNOWN_MEMORY;
    }
    s->places = places;
    *places = (il_known_places){0};
    il_known_added done = known_alloc(s, bytes, &p);
    if (done != IL_KNOWN_NEW) {
        s->alloc->free(s->alloc->ctx, places);
        s->places = NULL;
        return done;
    }
    memset(p, 0, bytes);
    s->set = p;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t key = il_known_key(s, i);
        s->set[key / 64] |= UINT64_C(1) << (key % 64);
    }
    known_give(s, s->slots, sizeof *s->slots << s->bits);
    s->slots = NULL;
    return IL_KNOWN_NEW;
}

/* Room in the set for one more. */
static il_known_added known_widen(il_known *s) {
    void *p = NULL;
    uint32_t bits = s->slots ? s->bits + 1 : KNOWN_BITS_FIRST;
    size_t bytes = sizeof *s->slots << bits;
    size_t set = s->width < 40 ? (((size_t)1 << s->width) + 63) / 64 * 8 : SIZE_MAX;
    if (!s->writes && set <= bytes) {
        return known_to_set(s, set);
    }
    if (bits > KNOWN_BITS_LAST) {
        return IL_KNOWN_FULL;
    }
    il_known_added done = known_alloc(s, bytes, &p);
    if (done == IL_KNOWN_NEW) {
        known_index(s, p, bits);
        known_give(s, s->slots, s->slots ? sizeof *s->slots << s->bits : 0);
        s->slots = p;
        s->bits = bits;
    }
    return done;
}

static il_known_added known_more(il_known *s) {
    if (s->n >= s->max) {
        return IL_KNOWN_FULL;
    }
    if (!s->set && (!s->slots || s->n >= (UINT32_C(1) << s->bits) / 4 * 3)) {
        il_known_added done = known_widen(s);
        if (done != IL_KNOWN_NEW) {
            return done;
        }
    }
    return s->n == s->nchunks * IL_KNOWN_CHUNK ? known_chunk_new(s) : IL_KNOWN_NEW;
}

static void known_append(il_known *s, uint64_t key, uint32_t parent, uint16_t writes) {
    il_known_chunk *chunk = s->chunks[s->n / IL_KNOWN_CHUNK];
    uint32_t at = s->n % IL_KNOWN_CHUNK;
    chunk->keys[at] = key;
    chunk->parents[at] = parent;
    if (s->writes) {
        chunk->writes[at] = writes;
    }
    s->n++;
}

static il_known_added known_add_set(il_known *s, uint64_t key, uint32_t parent) {
    uint64_t bit = UINT64_C(1) << (key % 64);
    if (s->set[key / 64] & bit) {
        return IL_KNOWN_OLD;
    }
    il_known_added done = known_more(s);
    if (done == IL_KNOWN_NEW) {
        s->set[key / 64] |= bit;
        known_append(s, key, parent, 0);
    }
    return done;
}

/* Where there is an index of places; *place is the key's. */
static il_known_added known_add_index(il_known *s, uint64_t key, uint32_t parent, uint16_t writes, uint32_t late,
                                      uint32_t *place) {
    uint32_t at = s->slots ? il_known_slot(s, key) : 0;
    if (s->slots && s->slots[at]) {
        uint32_t known = il_known_at(s, at) - 1;
        il_known_chunk *chunk = s->chunks[known / IL_KNOWN_CHUNK];
        if (s->writes && known >= late && writes < chunk->writes[known % IL_KNOWN_CHUNK]) {
            chunk->parents[known % IL_KNOWN_CHUNK] = parent;
            chunk->writes[known % IL_KNOWN_CHUNK] = writes;
        }
        *place = known;
        return IL_KNOWN_OLD;
    }
    const uint32_t *old = s->slots;
    il_known_added done = known_more(s);
    if (done != IL_KNOWN_NEW) {
        return done;
    }
    if (s->slots) {
        at = s->slots == old ? at : il_known_slot(s, key);
        il_known_slot_put(s, at, key, s->n);
    } else { /* the bits have taken over just now */
        s->set[key / 64] |= UINT64_C(1) << (key % 64);
    }
    *place = s->n;
    known_append(s, key, parent, writes);
    return IL_KNOWN_NEW;
}

il_known_added il_known_add(il_known *s, uint64_t key, uint32_t parent, uint16_t writes, uint32_t late) {
    uint32_t place = 0;
    if (s->width < 64 && key >> s->width != 0) {
        return IL_KNOWN_FULL; /* wider than was said: not kept, so nothing is concluded */
    }
    return s->set ? known_add_set(s, key, parent) : known_add_index(s, key, parent, writes, late, &place);
}

/* Every one is written where the next new one goes: whether it is new nobody could foretell, so there is no branch on it. */
uint32_t il_known_take(il_known *s, const il_known_found *found, uint32_t n) {
    uint32_t took = 0, at = s->n % IL_KNOWN_CHUNK;
    const uint32_t begun = at;
    if (!s->set || s->n >= s->max || s->n == s->nchunks * IL_KNOWN_CHUNK) {
        return 0;
    }
    il_known_chunk *chunk = s->chunks[s->n / IL_KNOWN_CHUNK];
    uint32_t room = IL_KNOWN_CHUNK - at < s->max - s->n ? IL_KNOWN_CHUNK - at : s->max - s->n;
    for (; took < n && took < room && found[took].key >> s->width == 0; took++) {
        const uint64_t key = found[took].key, bits = s->set[key / 64];
        s->set[key / 64] = bits | UINT64_C(1) << (key % 64);
        chunk->keys[at] = key;
        chunk->parents[at] = found[took].parent;
        at += !(bits >> (key % 64) & 1);
    }
    s->n += at - begun;
    return took;
}

il_known_added il_known_put(il_known *s, uint64_t key, uint32_t parent, uint32_t *place) {
    *place = UINT32_MAX;
    return s->set ? IL_KNOWN_FULL : known_add_index(s, key, parent, 0, UINT32_MAX, place);
}

uint32_t il_known_find(const il_known *s, uint64_t key) {
    if (s->n == 0 || (s->width < 64 && key >> s->width != 0) || !il_known_has(s, key)) {
        return UINT32_MAX;
    }
    if (s->slots) {
        return il_known_at(s, il_known_slot(s, key)) - 1;
    }
    if (!s->places->slots || s->places->n != s->n) {
        s->alloc->free(s->alloc->ctx, s->places->slots);
        for (s->places->bits = KNOWN_BITS_FIRST; s->n >= (UINT32_C(1) << s->places->bits) / 4 * 3; s->places->bits++) {
        }
        s->places->n = s->n;
        s->places->slots = s->alloc->alloc(s->alloc->ctx, sizeof(uint32_t) << s->places->bits);
        if (s->places->slots) {
            known_index(s, s->places->slots, s->places->bits);
        }
    }
    if (!s->places->slots) { /* memory is short: one after the other */
        uint32_t i = 0;
        while (il_known_key(s, i) != key) {
            i++;
        }
        return i;
    }
    il_known by = *s;
    by.slots = s->places->slots;
    by.bits = s->places->bits;
    return il_known_at(&by, il_known_slot(&by, key)) - 1;
}
