/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the SQLite ledger share. Functions named _locked are called with l->lock held. */
#pragma once
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "ledger/file.h"
#include "ledger/ledger.h"
#include "ledger/turns.h"

/* Queries that are kept prepared. A ledger that is only read prepares those up to Q_READS. */
typedef enum il_sqlite_query {
    Q_LOAD,
    Q_APPLICATION,
    Q_VERSION,
    Q_LAST,
    Q_READS,
    Q_BEGIN = Q_READS,
    Q_COMMIT,
    Q_ROLLBACK,
    Q_STORED,
    Q_CREATE,
    Q_UPDATE,
    Q_APPEND,
    Q_COUNT
} il_sqlite_query;

typedef struct il_sqlite_waiter il_sqlite_waiter; /* a commit that waits for its transaction */

/* The object that was committed last by a batch, so that the next load needs no query. It is the file's as long as nobody else wrote since, which is asked of
 * SQLite inside each transaction. */
typedef struct il_sqlite_object {
    bool known;
    bool moved;      /* in this transaction; written at its end, once */
    uint64_t stored; /* version in the file */
    uint64_t version, changed_ms;
    size_t nspace, nkey, n;
    char space[IL_LEDGER_KEY_MAX], key[IL_LEDGER_KEY_MAX];
    uint8_t state[IL_SESSION_STATE_MAX];
} il_sqlite_object;

typedef struct il_sqlite_head { /* the end of the chain */
    uint64_t seq;
    uint8_t hash[IL_DIGEST_BYTES];
} il_sqlite_head;

typedef struct il_sqlite_checkpoint { /* sqlite_checkpoint.c */
    bool apart;                       /* by a thread, which starts when it is first needed */
    void (*warn)(void *ctx, const char *text);
    void *warn_ctx;
    dev_t device; /* and inode of the file that was opened; set once */
    ino_t inode;
    bool started; /* under the ledger's lock, as is `pages` */
    pthread_t thread;
    pthread_mutex_t lock; /* taken after the ledger's; all below */
    pthread_cond_t wake;
    bool wanted, ends;
    int pages, copied, next; /* of the log: as it was last, in the file, and when to try again */
    int code, told;          /* what failed in the thread, to be told; and what was told */
} il_sqlite_checkpoint;

typedef struct il_sqlite {
    il_ledger base;
    pthread_mutex_t lock; /* the connection, and all below up to the queue */
    sqlite3 *db;
    sqlite3_stmt *query[Q_COUNT];
    bool read_only, full;         /* full: the durability */
    bool erased;                  /* a prune was done through it */
    uint64_t busy_ms, busy_since; /* how long to wait for others; when this wait began, by the steady clock */
    struct stat file;             /* as it was when last used: another file under the same name is not our ledger */
    /* What SQLite said last of the file's content; while it says the same, nobody else wrote: our version and the head are as they were. */
    uint32_t data_version;
    bool version_known, head_known;
    il_sqlite_head head;
    il_sqlite_object object;
    il_sqlite_head batch;       /* the end of the chain as the open batch leaves it */
    pthread_mutex_t queue_lock; /* taken after lock, never before it */
    pthread_cond_t settled;
    il_sqlite_waiter *first, *last;
    bool led; /* a thread commits for those who wait */
    il_turns turns;
    il_sqlite_checkpoint checkpoint;
    atomic_uint loads; /* that run or wait for the connection; each is likely to be followed by a commit */
    char path[];
} il_sqlite;

extern const char il_sqlite_schema[]; /* tables and indexes of a new ledger */

il_status il_sqlite_status(int code);
il_status il_sqlite_fail(const il_sqlite *l, int code, il_error *err);
/* Steps a prepared query that returns no row. */
int il_sqlite_run(il_sqlite *l, il_sqlite_query q);
int il_sqlite_bind(sqlite3_stmt *s, int at, il_str v);
int il_sqlite_bind_name(sqlite3_stmt *s, il_str space, il_str key); /* ?1 and ?2 */
/* What comes behind every key (ASCII) that begins so. */
int il_sqlite_bind_after(sqlite3_stmt *s, int at, il_str prefix);
int il_sqlite_bind_u64(sqlite3_stmt *s, int at, uint64_t v); /* at most INT64_MAX */
int il_sqlite_bind_digest(sqlite3_stmt *s, int at, const uint8_t digest[IL_DIGEST_BYTES]);
/* The nine columns of a row, in the order of `rows`. */
bool il_sqlite_bind_row(sqlite3_stmt *s, const il_ledger_row *row);
il_str il_sqlite_column(sqlite3_stmt *s, int at);
/* false unless the column holds one. */
bool il_sqlite_digest(sqlite3_stmt *s, int at, uint8_t out[IL_DIGEST_BYTES]);

/* The file under our name is still the one that we opened, and still writable. */
IL_NODISCARD il_status il_sqlite_same_file(il_sqlite *l, il_error *err);
/* Inside a transaction: still ours and of our version; forgets the head when somebody else wrote. */
IL_NODISCARD il_status il_sqlite_same_version(il_sqlite *l, il_error *err);
/* Inside a transaction: the last row. */
IL_NODISCARD il_status il_sqlite_last(il_sqlite *l, il_sqlite_head *out, il_error *err);

/* A write transaction: begins, checks file and version. Its end: commits when `status` is IL_OK, else rolls back; returns the first failure. */
IL_NODISCARD il_status il_sqlite_begin(il_sqlite *l, il_error *err);
IL_NODISCARD il_status il_sqlite_end(il_sqlite *l, il_status status, il_error *err);
/* Appends rows to the chain from *head, which moves. */
IL_NODISCARD il_status il_sqlite_append(il_sqlite *l, il_sqlite_head *head, const il_store_change *change, uint64_t now_ms,
                                        il_error *err);

/* One commit inside a transaction. All comparisons come before the first write, so a conflict has written nothing. */
IL_NODISCARD il_status il_sqlite_changes(il_sqlite *l, il_sqlite_head *head, const il_store_change *changes, size_t n,
                                         uint64_t now_ms, il_error *err);
/* Writes an object that was at version `expect` as `version`, unless it has moved since. */
IL_NODISCARD il_status il_sqlite_move(il_sqlite *l, const il_store_change *change, uint64_t version, uint64_t now_ms,
                                      il_error *err);

bool il_sqlite_checkpoint_init(il_sqlite *l,
                               const il_ledger_options *options); /* false: no locks to be had, and nothing to free */
void il_sqlite_checkpoint_watch(il_sqlite *l);                    /* the connection's commits, from here on */
void il_sqlite_checkpoint_free(il_sqlite *l);

/* 1 to IL_LEDGER_USER_VERSION, in one transaction. Nothing to do when another process was faster. */
IL_NODISCARD il_status il_sqlite_upgrade(il_sqlite *l, il_error *err);

/* The ledger's functions (il_ledger_kind). */
IL_NODISCARD il_status il_sqlite_commit(il_ledger *base, const il_store_change *changes, size_t n, uint64_t now_ms,
                                        il_error *err);
IL_NODISCARD il_status il_sqlite_batch_begin(il_ledger *base, il_error *err);
IL_NODISCARD il_status il_sqlite_batch_load(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n,
                                            uint64_t *version, il_error *err);
IL_NODISCARD il_status il_sqlite_batch_commit(il_ledger *base, const il_store_change *changes, size_t n, uint64_t now_ms,
                                              il_error *err);
IL_NODISCARD il_status il_sqlite_batch_end(il_ledger *base, il_status status, il_error *err);
/* One object of a file that was asked for by il_sqlite_same_file; the second asks by itself. */
IL_NODISCARD il_status il_sqlite_object_read(il_sqlite *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n,
                                             uint64_t *version, il_error *err);
IL_NODISCARD il_status il_sqlite_object_locked(il_sqlite *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n,
                                               uint64_t *version, il_error *err);
IL_NODISCARD il_status il_sqlite_rows(il_ledger *base, il_str session, uint64_t after, il_ledger_visit visit, void *ctx,
                                      il_error *err);
IL_NODISCARD il_status il_sqlite_sessions(il_ledger *base, il_ledger_visit_session visit, void *ctx, il_error *err);
IL_NODISCARD il_status il_sqlite_count(il_ledger *base, il_str space, il_str prefix, uint64_t *n, il_error *err);
IL_NODISCARD il_status il_sqlite_pruned(il_ledger *base, il_str session, il_ledger_visit_pruned visit, void *ctx, il_error *err);
IL_NODISCARD il_status il_sqlite_prune(il_ledger *base, il_str session, uint64_t version, uint64_t now_ms, uint64_t *erased,
                                       il_error *err);
