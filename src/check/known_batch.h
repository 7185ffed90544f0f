/* SPDX-License-Identifier: Apache-2.0 */
/* Adding to what is known by several threads at once, so that the nodes come out as if one had added everything in order. A round:
 *
 *     il_known_batch_push(...)          each thread into batches of its own, while nobody adds; batches are in the order of discovery
 *     il_known_batches_fit(...)         one thread; false: no such round, it adds one by one
 *     il_known_batches_claim(...)       each thread with a number of its own: it decides about the keys that it owns
 *     il_known_batches_number(...)      one thread: places for what is new
 *     il_known_batch_write(...)         each batch by one thread
 *
 * Who asks has all threads wait for one another in between. */
#pragma once
#include "check/known.h"

#define IL_KNOWN_OWNERS 64u   /* threads that claim, at most */
#define IL_KNOWN_BATCHES 256u /* of one round, at most */

typedef struct il_known_found {
    uint64_t key;
    uint32_t parent;
    uint32_t slot; /* of what is new, in an index of places */
} il_known_found;

typedef struct il_known_batch {
    il_known_found *found;
    uint8_t *owner; /* of each: which thread decides about the key */
    uint8_t *mark;  /* its owner's while they claim: whether the step to it is an adversary's write, whether it is new */
    uint32_t n, room;
    uint32_t fresh[IL_KNOWN_OWNERS]; /* new ones, by owner */
    uint32_t base;                   /* place of the first new one */
    bool wide;                       /* a key is wider than was said */
} il_known_batch;

/* For `owners` threads. false: memory ran out. */
bool il_known_batch_push(il_known_batch *b, const il_known *s, uint32_t owners, uint64_t key, uint32_t parent, bool write);
void il_known_batch_free(il_known_batch *b, const il_alloc *alloc);
/* Writes on the way to the i-th: its parent's, and the step's own. */
uint16_t il_known_batch_writes(const il_known_batch *b, const il_known *s, uint32_t i);

/* Whether all `n` batches fit as they are: no bound could be met on the way and the set need not grow. */
bool il_known_batches_fit(const il_known *s, const il_known_batch *all, uint32_t n);
/* `late` as in il_known_add(). */
void il_known_batches_claim(il_known *s, il_known_batch *all, uint32_t n, uint32_t owner, uint32_t owners, uint32_t late);
/* IL_KNOWN_NEW, or IL_KNOWN_MEMORY. */
il_known_added il_known_batches_number(il_known *s, il_known_batch *all, uint32_t n, uint32_t owners, uint32_t late);
void il_known_batch_write(il_known *s, const il_known_batch *all, uint32_t at);
