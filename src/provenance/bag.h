/* SPDX-License-Identifier: Apache-2.0 */
/* A map from marks to numbers that only grows; a mark may have many numbers. Keys are hashes, so no attacker chooses where they fall. */
#pragma once
#include "base/error.h"
#include "provenance/mark.h"

typedef struct il_bag_entry {
    uint8_t mark[IL_MARK_BYTES];
    uint32_t value, next; /* the entry before it with the same slot, plus 1; 0: none */
} il_bag_entry;
typedef struct il_bag {
    const il_alloc *alloc;
    il_bag_entry *entries;
    uint32_t *slots; /* entry plus 1; a power of two of them */
    uint32_t n, cap, nslots;
} il_bag;

void il_bag_init(il_bag *b, const il_alloc *alloc);
void il_bag_free(il_bag *b);
IL_NODISCARD il_status il_bag_add(il_bag *b, const uint8_t mark[IL_MARK_BYTES], uint32_t value, il_error *err);
/* The newest entry of the mark, or the next older one behind `after` (an entry of it); NULL: none. */
const il_bag_entry *il_bag_find(const il_bag *b, const uint8_t mark[IL_MARK_BYTES], const il_bag_entry *after);
size_t il_bag_bytes(const il_bag *b);

/* Makes room for one more in an array of `size`-byte things; what is there stays. IL_E_LIMIT above 2^31 things. */
IL_NODISCARD il_status il_grow(const il_alloc *alloc, void **array, uint32_t n, uint32_t *cap, size_t size, il_error *err);
