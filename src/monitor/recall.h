/* SPDX-License-Identifier: Apache-2.0 */
/* What a session knows, in hand: the fold over its episodes (provenance/memory.h), with the chain by which it is told from what another history left.
 *
 * Each episode is an object of its own (space IL_SPACE_MEMORY, il_recall_key), written in the transaction of what made it, never changed. The session counts them and
 * holds the end of their chain: SHA-256 over the end before (zeros for the first) and the episode's bytes. So a memory that was made of other bytes, by a transaction
 * that was rolled back or in a ledger that was restored, is not taken for this session's, and an episode that was changed is found.
 *
 * Threads: one at a time, as the memory that it holds. */
#pragma once
#include "base/sha256.h"
#include "interlock/monitor.h"
#include "provenance/memory.h"

/* The longest episode. A result with more to remember is withheld. */
#define IL_RECALL_EPISODE_MAX ((size_t)64 << 20)

struct il_recall {
    il_alloc alloc;
    il_memory *memory;
    uint8_t end[IL_DIGEST_BYTES]; /* of the chain, at il_memory_episodes(memory) */
};

IL_NODISCARD il_status il_recall_new(const il_alloc *alloc, il_recall **out, il_error *err);
/* The end of the chain with one episode more. */
void il_recall_next(const uint8_t before[IL_DIGEST_BYTES], il_str episode, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES]);
/* Folds in the next episode; a failure leaves it of no more use than to be freed. */
IL_NODISCARD il_status il_recall_add(il_recall *r, il_str episode, const il_str *texts, size_t ntexts, il_sha256_blocks blocks,
                                     il_error *err);

/* Under which key episode `number` of a session stands. */
#define IL_RECALL_KEY_BYTES 56
typedef struct il_recall_key {
    char text[IL_RECALL_KEY_BYTES];
    size_t n;
} il_recall_key;
/* What the keys of a session's episodes begin with: 32 hexadecimal digits and a dot. */
il_recall_key il_recall_prefix(il_str session);
il_recall_key il_recall_key_of(const il_recall_key *prefix, uint64_t number);
