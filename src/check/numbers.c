/* SPDX-License-Identifier: Apache-2.0 */
#include "check/numbers.h"

#include "base/mem.h"

void il_numbers_init(il_numbers *t, const il_alloc *alloc) { *t = (il_numbers){.alloc = alloc}; }

void il_numbers_free(il_numbers *t) {
    if (t->alloc) {
        t->alloc->free(t->alloc->ctx, t->keys);
        t->alloc->free(t->alloc->ctx, t->slots);
    }
    *t = (il_numbers){0};
}

/* The slot of a key, or the empty one where it would be. */
static uint32_t numbers_slot(const il_numbers *t, uint64_t key) {
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - t->bits));
    while (t->slots[at] && t->keys[t->slots[at] - 1] != key) {
        at = (at + 1) & ((UINT32_C(1) << t->bits) - 1);
    }
    return at;
}

uint32_t il_numbers_find(const il_numbers *t, uint64_t key) {
    const uint32_t place = t->n ? t->slots[numbers_slot(t, key)] : 0;
    return place ? place - 1 : IL_NO_NUMBER;
}

/* Room for one more, in the keys and in an index at most half full. */
static bool numbers_grow(il_numbers *t) {
    const uint32_t cap = t->cap ? 2 * t->cap : 1024;
    uint64_t *keys = t->alloc->alloc(t->alloc->ctx, (size_t)cap * sizeof *keys);
    uint32_t *slots = t->alloc->alloc(t->alloc->ctx, (size_t)cap * 2 * sizeof *slots);
    if (!keys || !slots) {
        t->alloc->free(t->alloc->ctx, keys);
        t->alloc->free(t->alloc->ctx, slots);
        return false;
    }
    memset(slots, 0, (size_t)cap * 2 * sizeof *slots);
    if (t->n) {
        memcpy(keys, t->keys, t->n * sizeof *keys);
    }
    t->alloc->free(t->alloc->ctx, t->keys);
    t->alloc->free(t->alloc->ctx, t->slots);
    t->keys = keys;
    t->slots = slots;
    t->cap = cap;
    for (t->bits = 0; UINT32_C(1) << t->bits < 2 * cap; t->bits++) {
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->slots[numbers_slot(t, t->keys[i])] = i + 1;
    }
    return true;
}

uint32_t il_numbers_of(il_numbers *t, uint64_t key) {
    const uint32_t known = il_numbers_find(t, key);
    if (known != IL_NO_NUMBER) {
        return known;
    }
    if (t->n == IL_NUMBERS_MAX || (t->n == t->cap && !numbers_grow(t))) {
        return IL_NO_NUMBER;
    }
    t->keys[t->n] = key;
    t->slots[numbers_slot(t, key)] = t->n + 1;
    return t->n++;
}
