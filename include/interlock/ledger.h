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
    uint32_t busy_ms;   /* how long to wait for another process; 0: 5,000 */
    bool must_exist;    /* do not create */
    bool read_only;     /* for commands that only look */
    bool make_folders;  /* make those above the path as well, mode 0700: for a path that nobody typed */
    uint64_t keep_rows; /* of a ledger in memory: only the latest so many; 0: all. A file keeps its rows until they are pruned */
    /* Of a file: what was committed is copied from SQLite's log into the file by a thread of the ledger's own, which starts when it is first needed, instead of
     * by a commit now and then, which waits for the disk. */
    bool checkpoint_thread;
    /* Told when that copying fails (NULL: nobody is), once until it works again; the log grows meanwhile, and nothing is lost. Called by a commit, or by
     * il_ledger_close; must not use the ledger. */
    void (*warn)(void *ctx, const char *text);
    void *warn_ctx;
    il_sha256_blocks sha256; /* for the chain; NULL: the library's own */
} il_ledger_options;

/* Opens or creates; `:memory:` is a store that dies with the process. The file is made with mode 0600. A folder that is
 * missing is IL_E_NOT_FOUND unless `make_folders` is set: a misspelt path must not begin a clean session.
 * A ledger of an older version is upgraded in one transaction when it is opened for writing (IL_E_DAMAGED when its chain is broken), and read as it is
 * when opened for reading. Several threads that commit at once are committed in one transaction.
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
    bool erased;                        /* pruned: the body is gone, its hash stays */
    uint8_t body_hash[IL_DIGEST_BYTES]; /* zeros in a ledger of version 1 */
    uint8_t hash[IL_DIGEST_BYTES];
} il_ledger_row;
/* Visits rows in order; all of them when `session` is empty. The visitor returns false to stop; it runs under the ledger's lock and must not use it. */
typedef bool (*il_ledger_visit)(void *ctx, const il_ledger_row *row);
IL_API IL_NODISCARD il_status il_ledger_rows(il_ledger *l, il_str session, il_ledger_visit visit, void *ctx, il_error *err);
/* As il_ledger_rows, of the whole ledger, those behind row number `after` (0: all): for who follows a ledger that others write. IL_E_BUSY (locked past
 * the waiting time: rows may have been visited already, so go on behind the last one seen), IL_E_DAMAGED (rows out of order or not readable), IL_E_IO. */
IL_API IL_NODISCARD il_status il_ledger_rows_after(il_ledger *l, uint64_t after, il_ledger_visit visit, void *ctx, il_error *err);
/* Visits session ids, the most recently changed first (those of one millisecond in any order), likewise under the lock. */
typedef bool (*il_ledger_visit_session)(void *ctx, il_str session, uint64_t version, uint64_t changed_ms);
IL_API IL_NODISCARD il_status il_ledger_sessions(il_ledger *l, il_ledger_visit_session visit, void *ctx, il_error *err);

/* How many rows a ledger in memory let go (keep_rows); 0 for a file. Takes the ledger's lock: not from inside a visit. */
IL_API uint64_t il_ledger_dropped(il_ledger *l);

/* Erases the bodies of a session's rows; their hashes stay, so that the chain still verifies whole. For a session that has ended, which the caller
 * saw at `version` (IL_E_CONFLICT when it moved since). Its object stays: a retired id is not reborn. Rows at the ledger's beginning that are all
 * erased are deleted but for the last one, which a row of kind `prune` names. What was erased is overwritten in the file; the file's log, which may
 * still hold it, is emptied by il_ledger_close, unless another program reads just then. Works in transactions of a thousand rows, so that others are not kept
 * waiting. *erased (may be NULL): rows whose body went. IL_E_ARGUMENT for a ledger in memory, IL_E_DAMAGED for a session that does not decode. */
IL_API IL_NODISCARD il_status il_ledger_prune(il_ledger *l, il_str session, uint64_t version, uint64_t now_ms, uint64_t *erased,
                                              il_error *err);

typedef struct il_ledger_finding { /* borrowed during the visit */
    uint64_t row;                  /* 0: about no single row */
    il_str session;                /* empty: about the whole ledger */
    const char *what;              /* a word that stays the same, see docs/ledger.md */
    const char *message, *advice;
} il_ledger_finding;
typedef void (*il_ledger_visit_finding)(void *ctx, const il_ledger_finding *f);
typedef struct il_ledger_report {
    size_t size;
    uint32_t version; /* of the ledger's format */
    uint64_t rows, erased, sessions, findings;
    uint64_t first, last;          /* sequence numbers of the rows that are there; 0: none */
    uint8_t head[IL_DIGEST_BYTES]; /* hash of the last row */
} il_ledger_report;
#define IL_LEDGER_REPORT_INIT \
    { .size = sizeof(il_ledger_report) }
/* Checks the whole ledger: the chain, each body against its hash, each session's rows against each other and against its state. IL_OK however many
 * findings there are; `visit` gets each of them, under the ledger's lock. Denials cut off at the end move no state and leave no trace: compare
 * `last` and `head` with what was kept elsewhere. IL_E_ARGUMENT without `size`, IL_E_MEMORY, IL_E_IO or IL_E_BUSY when it could not look to the end:
 * then nothing is said of the ledger, whatever *out holds. */
IL_API IL_NODISCARD il_status il_ledger_verify(il_ledger *l, il_ledger_visit_finding visit, void *ctx, il_ledger_report *out,
                                               il_error *err);

#ifdef __cplusplus
}
#endif
