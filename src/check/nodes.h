/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in the order of their discovery, each with the one that it was first found from: what a search over pairs keeps. A key is 64 bits
 * that the search gives a meaning. Bounds are those of il_space_bounds; all that a search keeps beside its nodes is charged to them too.
 *
 * Threads: one thread for each. */
#pragma once
#include "check/known.h"
#include "check/space.h"

#define IL_NODES_NONE UINT32_MAX

typedef struct il_nodes {
    il_known known; /* `bytes` and `limit` are of all that is charged */
    uint32_t n;
    bool bound_hit; /* something was not added: nothing may be concluded from what was not found */
} il_nodes;

static inline uint64_t il_nodes_key(const il_nodes *s, uint32_t i) { return il_known_key(&s->known, i); }
/* IL_NODES_NONE: a root. */
static inline uint32_t il_nodes_parent(const il_nodes *s, uint32_t i) { return il_known_parent(&s->known, i); }
/* Bytes that may still be charged. */
static inline size_t il_nodes_left(const il_nodes *s) { return s->known.limit - s->known.bytes; }

/* Allocates nothing yet; `bounds` may be NULL, its zeros mean 2^24 keys and 1 GiB. */
void il_nodes_init(il_nodes *s, const il_alloc *alloc, const il_space_bounds *bounds);
void il_nodes_free(il_nodes *s);
/* The place of a key, which is added when it is new (*fresh). Beyond a bound *at is IL_NODES_NONE and the node says bound_hit. IL_E_MEMORY only. */
IL_NODISCARD il_status il_nodes_add(il_nodes *s, uint64_t key, uint32_t parent, uint32_t *at, bool *fresh, il_error *err);
uint32_t il_nodes_find(const il_nodes *s, uint64_t key); /* IL_NODES_NONE when it is not there */
/* Makes room for one more object of `size` bytes in an array of *cap that has n; charged. False, and bound_hit, beyond the bound. */
IL_NODISCARD il_status il_nodes_room(il_nodes *s, void **array, size_t n, size_t *cap, size_t size, bool *within, il_error *err);
/* Gives an array of il_nodes_room back. */
void il_nodes_release(il_nodes *s, void *array, size_t cap, size_t size);
