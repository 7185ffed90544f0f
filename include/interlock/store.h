/* SPDX-License-Identifier: Apache-2.0 */
/* Where sessions and the audit trail live: load, and compare-and-commit. The monitor is written against this; the host's library brings a
 * memory and a SQLite store (ledger.h), and anybody may bring another.
 *
 * A commit is one transaction, durable before it returns IL_OK: either the new state and all rows are there or nothing is.
 * Both functions may be called from several threads at once when the monitor is. */
#pragma once
#include "interlock/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest state that a session can have, in bytes. */
#define IL_SESSION_BYTES_MAX 8192

typedef struct il_store_row { /* one line of the audit trail; borrowed */
    il_str kind;     /* `begin`, `decision`, `settle`, `request`, `approve`, `refuse`, `lapse`, `quarantine`, `end` */
    uint64_t ticket; /* 0: none */
    il_str body;     /* canonical JSON object, see docs/schemas */
} il_store_row;

typedef struct il_store_change {
    il_str session;
    uint64_t expect;   /* version that was loaded; 0: the session must not exist */
    bool moves;        /* false: keep the state bytes and the version, only check `expect` and add the rows */
    il_str state;
    const il_store_row *rows;
    size_t nrows;
    uint64_t now_ms;   /* wall clock of the rows, milliseconds since 1970 */
} il_store_change;

typedef struct il_store {
    void *ctx;
    /* Copies the state into buf (cap bytes) and says its version (from 1). IL_E_NOT_FOUND when there is no such session. */
    il_status (*load)(void *ctx, il_str session, uint8_t *buf, size_t cap, size_t *n, uint64_t *version, il_error *err);
    /* IL_E_CONFLICT when the stored version is not `expect` (nothing was written); *version gets the version now stored. */
    il_status (*commit)(void *ctx, const il_store_change *change, uint64_t *version, il_error *err);
} il_store;

#ifdef __cplusplus
}
#endif
