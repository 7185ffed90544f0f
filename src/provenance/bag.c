/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/bag.h"

il_status il_grow(const il_alloc *alloc, void **array, uint32_t n, uint32_t *cap, size_t size, il_error *err) {
    if (n < *cap) {
        return IL_OK;
    }
    if (*cap > UINT32_MAX / 4) {
        return il_error_set(err, IL_E_LIMIT, "a session knows too much");
    }
    const uint32_t more = *cap == 0 ? 16 : 2 * *cap;
    void *p = (size_t)more > SIZE_MAX / size ? NULL : alloc->alloc(alloc->ctx, (size_t)more * size);
    if (p == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    if (n > 0) {
        memcpy(p, *array, (size_t)n * size);
    }
    alloc->free(alloc->ctx, *array);
    *array = p;
    *cap = more;
    return IL_OK;
}

void il_bag_init(il_bag *b, const il_alloc *alloc) { *b = (il_bag){.alloc = alloc}; }

void il_bag_free(il_bag *b) {
    b->alloc->free(b->alloc->ctx, b->entries);
    b->alloc->free(b->alloc->ctx, b->slots);
    *b = (il_bag){.alloc = b->alloc};
}

static uint32_t il_bag_slot(const il_bag *b, const uint8_t *mark) {
    const uint32_t h = (uint32_t)mark[0] | (uint32_t)mark[1] << 8 | (uint32_t)mark[2] << 16 | (uint32_t)mark[3] << 24;
    return h & (b->nslots - 1);
}

static il_status il_bag_widen(il_bag *b, il_error *err) {
    const uint32_t n = b->nslots == 0 ? 32 : 2 * b->nslots;
    uint32_t *slots = b->alloc->alloc(b->alloc->ctx, (size_t)n * sizeof *slots);
    if (slots == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memset(slots, 0, (size_t)n * sizeof *slots);
    b->alloc->free(b->alloc->ctx, b->slots);
    b->slots = slots;
    b->nslots = n;
    for (uint32_t i = 0; i < b->n; i++) { /* oldest first, so that the newest stays in front */
        uint32_t *slot = &slots[il_bag_slot(b, b->entries[i].mark)];
        b->entries[i].next = *slot;
        *slot = i + 1;
    }
    return IL_OK;
}

il_status il_bag_add(il_bag *b, const uint8_t mark[IL_MARK_BYTES], uint32_t value, il_error *err) {
    void *entries = b->entries;
    IL_TRY(il_grow(b->alloc, &entries, b->n, &b->cap, sizeof *b->entries, err));
    b->entries = entries;
    if (b->n >= b->nslots) {
        IL_TRY(il_bag_widen(b, err));
    }
    il_bag_entry *e = &b->entries[b->n];
    uint32_t *slot = &b->slots[il_bag_slot(b, mark)];
    memcpy(e->mark, mark, IL_MARK_BYTES);
    e->value = value;
    e->next = *slot;
    *slot = ++b->n;
    return IL_OK;
}

const il_bag_entry *il_bag_find(const il_bag *b, const uint8_t mark[IL_MARK_BYTES], const il_bag_entry *after) {
    uint32_t at = after != NULL ? after->next : b->nslots > 0 ? b->slots[il_bag_slot(b, mark)] : 0;
    while (at > 0 && memcmp(b->entries[at - 1].mark, mark, IL_MARK_BYTES) != 0) {
        at = b->entries[at - 1].next;
    }
    return at > 0 ? &b->entries[at - 1] : NULL;
}

size_t il_bag_bytes(const il_bag *b) { return (size_t)b->cap * sizeof *b->entries + (size_t)b->nslots * sizeof *b->slots; }
