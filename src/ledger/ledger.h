/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of ledger behind one handle. Each kind holds its own lock. */
#pragma once
#include "base/error.h"
#include "base/sha256.h"
#include "base/str.h"
#include "interlock/ledger.h"

typedef struct il_ledger_kind {
    il_status (*load)(il_ledger *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                      il_error *err);
    il_status (*commit)(il_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err);
    il_status (*rows)(il_ledger *l, il_str session, il_ledger_visit visit, void *ctx, il_error *err);
    il_status (*sessions)(il_ledger *l, il_ledger_visit_session visit, void *ctx, il_error *err);
    void (*close)(il_ledger *l);
} il_ledger_kind;

/* First member of each kind's own struct. */
struct il_ledger {
    const il_ledger_kind *kind;
    const il_alloc *alloc;
};

IL_NODISCARD il_status il_ledger_memory_open(const il_alloc *alloc, il_ledger **out, il_error *err);
IL_NODISCARD il_status il_ledger_sqlite_open(const il_alloc *alloc, const char *path, const il_ledger_options *options,
                                             il_ledger **out, il_error *err);

/* Hash of a row: SHA-256 over the hash of the row before (zeros for the first) and every column, each with its length, so that no two rows
 * are spelt alike. */
void il_chain_hash(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row, uint8_t out[IL_DIGEST_BYTES]);
