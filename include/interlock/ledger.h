/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: sessions and the hash-chained audit trail, in memory or in SQLite.
 *
 * Threads: a ledger may be used from several threads (it locks), a SQLite one from several processes. */
#pragma once
#include "interlock/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct il_ledger il_ledger;

typedef enum il_durability {
    IL_DURABLE_NORMAL = 0,
    IL_DURABLE_FULL = 1
} il_durability; /* survives kill -9; survives power loss */

typedef struct il_ledger_options {
    size_t size; /* sizeof(il_ledger_options) */
    il_durability durability;
    uint32_t busy_ms;  /* how long to wait for another process; 0: 5,000 */
    bool must_exist;   /* do not create */
    bool read_only;    /* for commands that only look */
    bool make_folders; /* make those above the path as well, mode 0700: for a path that nobody typed */
} il_ledger_options;

/* Opens or creates; `:memory:` is a store that dies with the process. The file is made with mode 0600. A folder that is
 * missing is IL_E_NOT_FOUND unless `make_folders` is set: a misspelt path must not begin a clean session.
 * Refused: IL_E_PERMISSION (group- or world-writable, read-only), IL_E_DAMAGED (not SQLite, somebody else's, truncated), IL_E_VERSION (newer), IL_E_IO. */
IL_API IL_NODISCARD il_status il_ledger_open(const il_alloc *alloc, const char *path, const il_ledger_options *options,
                                             il_ledger **out, il_error *err);
IL_API void il_ledger_close(il_ledger *l);
IL_API il_store il_ledger_store(il_ledger *l);

typedef struct il_ledger_row {
    uint64_t seq; /* from 1, of the whole ledger */
    uint64_t time_ms;
    il_str space, key, kind, body; /* borrowed during the visit; key: the session's id when space is `session` */
    uint64_t ticket;
    uint8_t hash[IL_DIGEST_BYTES];
} il_ledger_row;
/* Visits rows in order; all of them when `session` is empty. The visitor returns false to stop; it runs under the ledger's lock and must not use it. */
typedef bool (*il_ledger_visit)(void *ctx, const il_ledger_row *row);
IL_API IL_NODISCARD il_status il_ledger_rows(il_ledger *l, il_str session, il_ledger_visit visit, void *ctx, il_error *err);
/* Visits session ids, the most recently changed first, likewise under the lock. */
typedef bool (*il_ledger_visit_session)(void *ctx, il_str session, uint64_t version, uint64_t changed_ms);
IL_API IL_NODISCARD il_status il_ledger_sessions(il_ledger *l, il_ledger_visit_session visit, void *ctx, il_error *err);

#ifdef __cplusplus
}
#endif
