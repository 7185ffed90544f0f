/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nodes.h"

#include "base/error.h"
#include "base/mem.h"

#define IL_NODES_KEYS (1u << 24)
#define IL_NODES_BYTES ((size_t)1 << 30)
#define IL_NODES_NODE_BYTES (8u + 4u + 2u * 4u) /* key, parent, two index slots */

void il_nodes_init(il_nodes *s, const il_alloc *alloc, const il_space_bounds *bounds) {
    *s = (il_nodes){.alloc = alloc};
    s->max = bounds && bounds->states ? bounds->states : IL_NODES_KEYS;
    s->max_bytes = bounds && bounds->bytes ? bounds->bytes : IL_NODES_BYTES;
}

void il_nodes_free(il_nodes *s) {
    if (s->alloc) {
        s->alloc->free(s->alloc->ctx, s->keys);
        s->alloc->free(s->alloc->ctx, s->parent);
        s->alloc->free(s->alloc->ctx, s->slots);
    }
    *s = (il_nodes){0};
}

static uint32_t nodes_slot(const il_nodes *s, uint64_t key) {
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - s->bits));
    while (s->slots[at] && s->keys[s->slots[at] - 1] != key) {
        at = (at + 1) & ((UINT32_C(1) << s->bits) - 1);
    }
    return at;
}

uint32_t il_nodes_find(const il_nodes *s, uint64_t key) {
    uint32_t place = s->n == 0 ? 0 : s->slots[nodes_slot(s, key)];
    return place == 0 ? IL_NODES_NONE : place - 1;
}

static void *nodes_move(const il_nodes *s, void *old, size_t old_bytes, size_t new_bytes) {
    void *p = s->alloc->alloc(s->alloc->ctx, new_bytes);
    if (p && old_bytes > 0) {
        memcpy(p, old, old_bytes);
    }
    if (p) {
        s->alloc->free(s->alloc->ctx, old);
    }
    return p;
}

static bool nodes_grow(il_nodes *s, uint32_t cap) {
    uint64_t *keys = nodes_move(s, s->keys, (size_t)s->n * sizeof *keys, (size_t)cap * sizeof *keys);
    if (!keys) {
        return false;
    }
    s->keys = keys;
    uint32_t *parent = nodes_move(s, s->parent, (size_t)s->n * sizeof *parent, (size_t)cap * sizeof *parent);
    if (!parent) {
        return false;
    }
    s->parent = parent;
    uint32_t *slots = s->alloc->alloc(s->alloc->ctx, (size_t)cap * 2 * sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(slots, 0, (size_t)cap * 2 * sizeof *slots);
    s->alloc->free(s->alloc->ctx, s->slots);
    s->slots = slots;
    for (s->bits = 0; UINT64_C(1) << s->bits < (uint64_t)cap * 2; s->bits++) {
    }
    for (uint32_t i = 0; i < s->n; i++) {
        slots[nodes_slot(s, s->keys[i])] = i + 1;
    }
    s->bytes += (size_t)(cap - s->cap) * IL_NODES_NODE_BYTES;
    s->cap = cap;
    return true;
}

il_status il_nodes_add(il_nodes *s, uint64_t key, uint32_t parent, uint32_t *at, bool *fresh, il_error *err) {
    uint32_t known = il_nodes_find(s, key);
    *fresh = false;
    *at = known;
    if (known != IL_NODES_NONE) {
        return IL_OK;
    }
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 256; /* a power of two */
        if (s->n >= s->max || s->cap > (UINT32_C(1) << 29) ||
            (size_t)(cap - s->cap) * IL_NODES_NODE_BYTES > s->max_bytes - s->bytes) {
            s->bound_hit = true;
            return IL_OK;
        }
        if (!nodes_grow(s, cap)) {
            return il_error_set(err, IL_E_MEMORY, "no memory for more pairs of states");
        }
    } else if (s->n >= s->max) {
        s->bound_hit = true;
        return IL_OK;
    }
    s->keys[s->n] = key;
    s->parent[s->n] = parent;
    s->slots[nodes_slot(s, key)] = s->n + 1;
    *at = s->n++;
    *fresh = true;
    return IL_OK;
}

il_status il_nodes_room(il_nodes *s, void **array, size_t n, size_t *cap, size_t size, bool *within, il_error *err) {
    *within = true;
    if (n < *cap) {
        return IL_OK;
    }
    size_t more = *cap ? *cap : 256;
    if (more > (s->max_bytes - s->bytes) / size) {
        s->bound_hit = true;
        *within = false;
        return IL_OK;
    }
    void *p = nodes_move(s, *array, n * size, (*cap + more) * size);
    if (!p) {
        return il_error_set(err, IL_E_MEMORY, "no memory for more pairs of states");
    }
    *array = p;
    *cap += more;
    s->bytes += more * size;
    return IL_OK;
}

void il_nodes_release(il_nodes *s, void *array, size_t cap, size_t size) {
    if (s->alloc) {
        s->alloc->free(s->alloc->ctx, array);
        s->bytes -= cap * size;
    }
}
