/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of ledger behind one handle. Each kind holds its own lock. */
#pragma once
#include "base/error.h"
#include "base/sha256.h"
#include "base/str.h"
#include "interlock/ledger.h"

#define IL_LEDGER_KEY_MAX 128 /* bytes of an object's space or key */

/* One act of pruning: which session, as it was then. Chained by hash like the rows, apart from them, because the rows of an old act may
 * themselves be deleted; the latest `prune` row holds the last hash. */
typedef struct il_ledger_pruned {
    uint64_t n; /* from 1 */
    il_str space, key;
    uint64_t version, through, state;    /* of the object; the last row that was erased; the packed machine state then */
    uint8_t state_hash[IL_DIGEST_BYTES]; /* of the object's bytes */
    uint8_t hash[IL_DIGEST_BYTES];
} il_ledger_pruned;
typedef bool (*il_ledger_visit_pruned)(void *ctx, const il_ledger_pruned *p);

typedef struct il_ledger_kind {
    il_status (*load)(il_ledger *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                      il_error *err);
    il_status (*commit)(il_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err);
    /* Threads of this process that work on one object, one after the other; NULL where that gains nothing. */
    void (*take_turn)(il_ledger *l, il_str space, il_str key);
    void (*end_turn)(il_ledger *l, il_str space, il_str key);
    /* Commits of one thread in one transaction (batch.h), which is what only its three calls in between use; NULL where a commit costs next to nothing.
     * The end commits when `status` is IL_OK, else rolls back; returns the first failure. */
    il_status (*batch_begin)(il_ledger *l, il_error *err);
    il_status (*batch_load)(il_ledger *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                            il_error *err);
    il_status (*batch_commit)(il_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err);
    il_status (*batch_end)(il_ledger *l, il_status status, il_error *err);
    /* One unchanging picture of the ledger until release; the functions below are called in between. */
    il_status (*hold)(il_ledger *l, il_error *err);
    void (*release)(il_ledger *l);
    il_status (*rows)(il_ledger *l, il_str session, uint64_t after, il_ledger_visit visit, void *ctx, il_error *err);
    il_status (*sessions)(il_ledger *l, il_ledger_visit_session visit, void *ctx, il_error *err);
    il_status (*object)(il_ledger *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                        il_error *err);
    /* How many objects of this space there are whose key begins so. */
    il_status (*count)(il_ledger *l, il_str space, il_str prefix, uint64_t *n, il_error *err);
    /* Acts of pruning in order; of one session only when it is not empty, then the latest first. */
    il_status (*pruned)(il_ledger *l, il_str session, il_ledger_visit_pruned visit, void *ctx, il_error *err);
    il_status (*prune)(il_ledger *l, il_str session, uint64_t version, uint64_t now_ms, uint64_t *erased, il_error *err);
    void (*close)(il_ledger *l);
} il_ledger_kind;

/* First member of each kind's own struct. */
struct il_ledger {
    const il_ledger_kind *kind;
    const il_alloc *alloc;
    il_sha256_blocks sha256;
    uint32_t version; /* of the format */
    uint64_t dropped; /* rows before the first one that was kept; under the kind's lock */
    uint8_t dropped_hash[IL_DIGEST_BYTES];
};

IL_NODISCARD il_status il_ledger_memory_open(const il_alloc *alloc, const il_ledger_options *options, il_ledger **out,
                                             il_error *err);
IL_NODISCARD il_status il_ledger_sqlite_open(const il_alloc *alloc, const char *path, const il_ledger_options *options,
                                             il_ledger **out, il_error *err);

/* Numbers are at most what SQLite holds, in every kind of ledger: the same commits, the same rows. */
static inline uint64_t il_ledger_number(uint64_t v) { return v > INT64_MAX ? INT64_MAX : v; }

/* What every kind of ledger asks of a commit: IL_E_ARGUMENT. */
IL_NODISCARD il_status il_ledger_changes_ok(const il_store_change *changes, size_t n, il_error *err);

/* Hash of a row: SHA-256 over the hash of the row before (zeros for the first) and every column, each with its length, so that no two rows
 * are spelt alike; row->body_hash stands for the body, so that the body can go. */
void il_chain_hash(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row, il_sha256_blocks blocks,
                   uint8_t out[IL_DIGEST_BYTES]);
/* As version 1 had it: over the body itself. */
void il_chain_hash_1(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row, il_sha256_blocks blocks,
                     uint8_t out[IL_DIGEST_BYTES]);
void il_chain_body(il_str body, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES]);
void il_chain_pruned(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_pruned *p, il_sha256_blocks blocks,
                     uint8_t out[IL_DIGEST_BYTES]);
