/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator with a hard cap: one request is one arena, reset after the decision; a policy is one frozen arena.
 * Threads: one writer; what was allocated may be read from anywhere once writing has ended. */
#pragma once
#include "interlock/base.h"

typedef struct il_arena_block il_arena_block;
struct il_arena {
    const il_alloc *alloc; /* borrowed; outlives the arena */
    il_arena_block *head;
    size_t used, cap; /* bytes handed out with their padding, and the most that may be */
    size_t first;     /* bytes of the first block */
    bool capped;      /* why the last request failed: the cap, not the allocator */
};

/* Allocates nothing yet. `cap_bytes` bounds the sum of all requests, padding included. */
void il_arena_init(il_arena *a, const il_alloc *alloc, size_t cap_bytes);
/* Before the first allocation: how much will be needed in all, most likely, so that it is one block. */
void il_arena_expect(il_arena *a, size_t bytes);
/* `n` zeroed bytes aligned for any object; NULL when memory or the cap ran out (il_arena_fail says which). n may be 0. */
IL_NODISCARD void *il_arena_get(il_arena *a, size_t n);
/* As il_arena_get, not zeroed: for what is written whole at once. */
IL_NODISCARD void *il_arena_raw(il_arena *a, size_t n);
/* As il_arena_get for count objects of `size` bytes, overflow checked. */
IL_NODISCARD void *il_arena_array(il_arena *a, size_t count, size_t size);
/* `n` bytes for text: neither zeroed nor aligned. NULL as il_arena_get. */
IL_NODISCARD char *il_arena_bytes(il_arena *a, size_t n);
/* Makes the latest allocation larger where it is, new bytes uninitialised; false (nothing changed) when that is not possible. */
bool il_arena_extend(il_arena *a, const void *p, size_t old_n, size_t new_n);
/* A copy that lives as long as the arena, NUL-terminated for convenience. */
IL_NODISCARD il_status il_arena_copy(il_arena *a, il_str s, il_str *out, il_error *err);
/* Fills err after a NULL: IL_E_LIMIT when the cap was the reason, else IL_E_MEMORY. Seen as what it is, like il_error_set. */
il_status il_arena_fail(const il_arena *a, il_error *err);
#define il_arena_fail(a, err) ((void)(il_arena_fail)((a), (err)), (il_status)((a)->capped ? IL_E_LIMIT : IL_E_MEMORY))
/* What il_arena_init made, not il_arena_new. */
void il_arena_free(il_arena *a);

#define IL_NEW(arena, type) ((type *)il_arena_get((arena), sizeof(type)))
#define IL_NEW_ARRAY(arena, type, count) ((type *)il_arena_array((arena), (count), sizeof(type)))
