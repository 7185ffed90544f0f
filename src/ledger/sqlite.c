/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite store, in WAL mode. One commit is one transaction: compare the version, write the state, append the rows. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/file.h"
#include "ledger/ledger.h"

#define SQLITE_TEXT_OF(x) SQLITE_TEXT_OF_(x)
#define SQLITE_TEXT_OF_(x) #x

/* Queries that are kept prepared. */
typedef enum sqlite_query {
    Q_BEGIN,
    Q_COMMIT,
    Q_ROLLBACK,
    Q_VERSION,
    Q_LOAD,
    Q_STORED,
    Q_CREATE,
    Q_UPDATE,
    Q_LAST,
    Q_APPEND,
    Q_COUNT
} sqlite_query;

static const char *const sqlite_text[Q_COUNT] = {
    [Q_BEGIN] = "BEGIN IMMEDIATE",
    [Q_COMMIT] = "COMMIT",
    [Q_ROLLBACK] = "ROLLBACK",
    [Q_VERSION] = "SELECT a.application_id, u.user_version FROM pragma_application_id a, pragma_user_version u",
    [Q_LOAD] = "SELECT state, version FROM objects WHERE space = ?1 AND key = ?2",
    [Q_STORED] = "SELECT version FROM objects WHERE space = ?1 AND key = ?2",
    [Q_CREATE] = "INSERT INTO objects(space, key, version, state, changed_ms) VALUES(?1, ?2, 1, ?3, ?4)",
    [Q_UPDATE] =
        "UPDATE objects SET version = version + 1, state = ?3, changed_ms = ?4 WHERE space = ?1 AND key = ?2 AND version = ?5",
    [Q_LAST] = "SELECT seq, hash FROM rows ORDER BY seq DESC LIMIT 1",
    [Q_APPEND] = "INSERT INTO rows(seq, time_ms, space, key, kind, ticket, body, hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
};

/* WAL from the start: to switch later needs the file for oneself, which fails when several programs begin at once. */
/* clang-format off */
static const char sqlite_schema[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA application_id = " SQLITE_TEXT_OF(IL_LEDGER_APPLICATION_ID) ";"
    "PRAGMA user_version = " SQLITE_TEXT_OF(IL_LEDGER_USER_VERSION) ";"
    "CREATE TABLE objects(space TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, state BLOB NOT NULL,"
    " changed_ms INTEGER NOT NULL, PRIMARY KEY(space, key)) WITHOUT ROWID, STRICT;"
    "CREATE TABLE rows(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, space TEXT NOT NULL, key TEXT NOT NULL,"
    " kind TEXT NOT NULL, ticket INTEGER NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT;"
    "CREATE INDEX rows_by_object ON rows(space, key, seq);";
/* clang-format on */

typedef struct sqlite_ledger {
    il_ledger base;
    pthread_mutex_t lock;
    sqlite3 *db;
    sqlite3_stmt *query[Q_COUNT];
    bool read_only;
    struct stat file; /* as it was when opened: another file under the same name is not our ledger */
    char path[];
} sqlite_ledger;

static il_status sqlite_status(int code) {
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return IL_E_BUSY;
    case SQLITE_ERROR: /* our queries do not fit its tables */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return IL_E_DAMAGED;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return IL_E_PERMISSION;
    case SQLITE_NOMEM:
        return IL_E_MEMORY;
    case SQLITE_TOOBIG:
        return IL_E_LIMIT;
    default:
        return IL_E_IO;
    }
}

static il_status sqlite_fail(const sqlite_ledger *l, int code, il_error *err) {
    return il_error_set(err, sqlite_status(code), "ledger `%s`: %s", l->path,
                        l->db ? sqlite3_errmsg(l->db) : sqlite3_errstr(code));
}

/* Steps a prepared query that returns no row. */
static int sqlite_run(sqlite_ledger *l, sqlite_query q) {
    int code = sqlite3_step(l->query[q]);
    int reset = sqlite3_reset(l->query[q]);
    return code == SQLITE_DONE ? SQLITE_OK : reset != SQLITE_OK ? reset : code;
}

static int sqlite_bind(sqlite3_stmt *s, int at, il_str v) {
    return sqlite3_bind_text64(s, at, v.p ? v.p : "", v.n, SQLITE_STATIC, SQLITE_UTF8);
}

static int sqlite_bind_name(sqlite3_stmt *s, il_str space, il_str key) {
    int code = sqlite_bind(s, 1, space);
    return code != SQLITE_OK ? code : sqlite_bind(s, 2, key);
}

static int64_t sqlite_i64(uint64_t v) { return v > INT64_MAX ? INT64_MAX : (int64_t)v; }

/* The file under our name is still the one that we opened, and still writable. */
static il_status sqlite_same_file(sqlite_ledger *l, il_error *err) {
    struct stat st;
    IL_TRY(il_ledger_file_check(l->path, l->read_only, &st, err));
    if (st.st_dev != l->file.st_dev || st.st_ino != l->file.st_ino) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` was replaced by another file", l->path);
    }
    /* Nothing here ever shrinks it, so a shorter file lost pages. */
    if (st.st_size < l->file.st_size) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` was cut short", l->path);
    }
    l->file.st_size = st.st_size;
    return IL_OK;
}

/* Inside a transaction: still ours and of our version. */
static il_status sqlite_same_version(sqlite_ledger *l, il_error *err) {
    sqlite3_stmt *s = l->query[Q_VERSION];
    int code = sqlite3_step(s);
    int64_t id = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0,
            version = code == SQLITE_ROW ? sqlite3_column_int64(s, 1) : 0;
    int reset = sqlite3_reset(s);
    if (code != SQLITE_ROW) {
        return sqlite_fail(l, reset != SQLITE_OK ? reset : SQLITE_CORRUPT, err);
    }
    if (id != IL_LEDGER_APPLICATION_ID) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` is no longer ours", l->path);
    }
    if (version != IL_LEDGER_USER_VERSION) {
        return il_error_set(err, IL_E_VERSION, "ledger `%s` now has version %lld, this program writes %d", l->path,
                            (long long)version, IL_LEDGER_USER_VERSION);
    }
    return IL_OK;
}

static il_status sqlite_load_locked(sqlite_ledger *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n,
                                    uint64_t *version, il_error *err) {
    sqlite3_stmt *s = l->query[Q_LOAD];
    il_status status = IL_OK;
    IL_TRY(sqlite_same_file(l, err));
    IL_TRY(sqlite_same_version(l, err));
    int code = sqlite_bind_name(s, space, key);
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    if (code == SQLITE_ROW) {
        const void *state = sqlite3_column_blob(s, 0);
        int bytes = sqlite3_column_bytes(s, 0);
        int64_t stored = sqlite3_column_int64(s, 1);
        if (bytes <= 0 || !state || stored <= 0) {
            status = il_error_set(err, IL_E_DAMAGED, "%.*s `%.*s` has no state in ledger `%s`", IL_STR_ARG(space),
                                  IL_STR_ARG(key), l->path);
        } else if ((*n = (size_t)bytes) > cap) {
            status = il_error_set(err, IL_E_LIMIT, "%.*s `%.*s` needs %d bytes", IL_STR_ARG(space), IL_STR_ARG(key), bytes);
        } else {
            memcpy(buf, state, (size_t)bytes);
            *version = (uint64_t)stored;
        }
    } else if (code == SQLITE_DONE) {
        status = il_error_set(err, IL_E_NOT_FOUND, "no %.*s `%.*s`", IL_STR_ARG(space), IL_STR_ARG(key));
    } else {
        status = sqlite_fail(l, code, err);
    }
    sqlite3_reset(s);
    return status;
}

static il_status sqlite_load(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    sqlite_ledger *l = (sqlite_ledger *)base;
    pthread_mutex_lock(&l->lock);
    il_status status = sqlite_load_locked(l, space, key, buf, cap, n, version, err);
    pthread_mutex_unlock(&l->lock);
    return status;
}

static il_status sqlite_compare(sqlite_ledger *l, const il_store_change *change, il_error *err) {
    sqlite3_stmt *s = l->query[Q_STORED];
    int code = sqlite_bind_name(s, change->space, change->key);
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    uint64_t version = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return sqlite_fail(l, code, err);
    }
    if (version != change->expect) {
        return il_error_set(err, IL_E_CONFLICT, "%.*s `%.*s` was changed in between", IL_STR_ARG(change->space),
                            IL_STR_ARG(change->key));
    }
    return IL_OK;
}

static il_status sqlite_move(sqlite_ledger *l, const il_store_change *change, uint64_t now_ms, il_error *err) {
    sqlite_query q = change->expect ? Q_UPDATE : Q_CREATE;
    sqlite3_stmt *s = l->query[q];
    if (sqlite_bind_name(s, change->space, change->key) != SQLITE_OK ||
        sqlite3_bind_blob64(s, 3, change->state.p, change->state.n, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_int64(s, 4, sqlite_i64(now_ms)) != SQLITE_OK ||
        (change->expect && sqlite3_bind_int64(s, 5, sqlite_i64(change->expect)) != SQLITE_OK)) {
        return sqlite_fail(l, sqlite3_errcode(l->db), err);
    }
    int code = sqlite_run(l, q);
    if (code != SQLITE_OK) {
        return sqlite_fail(l, code, err);
    }
    if (sqlite3_changes(l->db) != 1) {
        return il_error_set(err, IL_E_CONFLICT, "%.*s `%.*s` was changed in between", IL_STR_ARG(change->space),
                            IL_STR_ARG(change->key));
    }
    return IL_OK;
}

static il_status sqlite_last(sqlite_ledger *l, uint64_t *seq, uint8_t hash[IL_DIGEST_BYTES], il_error *err) {
    sqlite3_stmt *s = l->query[Q_LAST];
    il_status status = IL_OK;
    int code = sqlite3_step(s);
    *seq = 0;
    memset(hash, 0, IL_DIGEST_BYTES);
    if (code == SQLITE_ROW) {
        *seq = (uint64_t)sqlite3_column_int64(s, 0);
        const void *stored = sqlite3_column_blob(s, 1);
        if (sqlite3_column_bytes(s, 1) != IL_DIGEST_BYTES || !stored || *seq == 0 || *seq >= INT64_MAX) {
            status = il_error_set(err, IL_E_DAMAGED, "the last row of ledger `%s` is damaged", l->path);
        } else {
            memcpy(hash, stored, IL_DIGEST_BYTES);
        }
    } else if (code != SQLITE_DONE) {
        status = sqlite_fail(l, code, err);
    }
    sqlite3_reset(s);
    return status;
}

static il_status sqlite_append(sqlite_ledger *l, const il_store_change *change, uint64_t now_ms, il_error *err) {
    sqlite3_stmt *s = l->query[Q_APPEND];
    uint64_t seq;
    uint8_t hash[IL_DIGEST_BYTES];
    if (change->nrows == 0) {
        return IL_OK;
    }
    IL_TRY(sqlite_last(l, &seq, hash, err));
    for (size_t i = 0; i < change->nrows; i++) {
        const il_store_row *from = &change->rows[i];
        il_ledger_row row = {.seq = seq + 1,
                             .time_ms = (uint64_t)sqlite_i64(now_ms),
                             .space = change->space,
                             .key = change->key,
                             .kind = from->kind,
                             .body = from->body,
                             .ticket = from->ticket};
        il_chain_hash(hash, &row, row.hash);
        memcpy(hash, row.hash, sizeof hash);
        seq++;
        if (sqlite3_bind_int64(s, 1, sqlite_i64(row.seq)) != SQLITE_OK ||
            sqlite3_bind_int64(s, 2, sqlite_i64(row.time_ms)) != SQLITE_OK || sqlite_bind(s, 3, row.space) != SQLITE_OK ||
            sqlite_bind(s, 4, row.key) != SQLITE_OK || sqlite_bind(s, 5, row.kind) != SQLITE_OK ||
            sqlite3_bind_int64(s, 6, sqlite_i64(row.ticket)) != SQLITE_OK || sqlite_bind(s, 7, row.body) != SQLITE_OK ||
            sqlite3_bind_blob(s, 8, row.hash, IL_DIGEST_BYTES, SQLITE_STATIC) != SQLITE_OK) {
            return sqlite_fail(l, sqlite3_errcode(l->db), err);
        }
        int code = sqlite_run(l, Q_APPEND);
        if (code != SQLITE_OK) {
            return sqlite_fail(l, code, err);
        }
    }
    return IL_OK;
}

static il_status sqlite_changes(sqlite_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    IL_TRY(sqlite_same_version(l, err));
    for (size_t i = 0; i < n; i++) {
        IL_TRY(sqlite_compare(l, &changes[i], err));
    }
    for (size_t i = 0; i < n; i++) {
        if (changes[i].moves) {
            IL_TRY(sqlite_move(l, &changes[i], now_ms, err));
        }
        IL_TRY(sqlite_append(l, &changes[i], now_ms, err));
    }
    return IL_OK;
}

static il_status sqlite_commit_locked(sqlite_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms,
                                      il_error *err) {
    if (l->read_only) {
        return il_error_set(err, IL_E_PERMISSION, "ledger `%s` was opened for reading", l->path);
    }
    IL_TRY(sqlite_same_file(l, err));
    int code = sqlite_run(l, Q_BEGIN);
    if (code != SQLITE_OK) {
        return sqlite_fail(l, code, err);
    }
    il_status status = sqlite_changes(l, changes, n, now_ms, err);
    if (status == IL_OK) {
        code = sqlite_run(l, Q_COMMIT);
        if (code == SQLITE_OK) {
            return IL_OK;
        }
        status = sqlite_fail(l, code, err);
    }
    /* SQLite may have rolled back by itself; what matters is that no transaction stays open. */
    if (!sqlite3_get_autocommit(l->db)) {
        (void)sqlite_run(l, Q_ROLLBACK);
    }
    return status;
}

static il_status sqlite_commit(il_ledger *base, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    sqlite_ledger *l = (sqlite_ledger *)base;
    pthread_mutex_lock(&l->lock);
    il_status status = sqlite_commit_locked(l, changes, n, now_ms, err);
    pthread_mutex_unlock(&l->lock);
    return status;
}

static il_str sqlite_column(sqlite3_stmt *s, int at) {
    const char *p = (const char *)sqlite3_column_text(s, at);
    int n = sqlite3_column_bytes(s, at);
    return (il_str){p ? p : "", p && n > 0 ? (size_t)n : 0};
}

static il_status sqlite_rows(il_ledger *base, il_str session, il_ledger_visit visit, void *ctx, il_error *err) {
    sqlite_ledger *l = (sqlite_ledger *)base;
    sqlite3_stmt *s = NULL;
    il_status status = IL_OK;
    pthread_mutex_lock(&l->lock);
    int code = sqlite3_prepare_v2(
        l->db,
        session.n
            ? "SELECT seq, time_ms, space, key, kind, ticket, body, hash FROM rows WHERE space = ?1 AND key = ?2 ORDER BY seq"
            : "SELECT seq, time_ms, space, key, kind, ticket, body, hash FROM rows ORDER BY seq",
        -1, &s, NULL);
    if (code == SQLITE_OK && session.n) {
        code = sqlite_bind_name(s, IL_STR(IL_SPACE_SESSION), session);
    }
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        if (code != SQLITE_ROW) {
            break;
        }
        il_ledger_row row = {.seq = (uint64_t)sqlite3_column_int64(s, 0),
                             .time_ms = (uint64_t)sqlite3_column_int64(s, 1),
                             .space = sqlite_column(s, 2),
                             .key = sqlite_column(s, 3),
                             .kind = sqlite_column(s, 4),
                             .ticket = (uint64_t)sqlite3_column_int64(s, 5),
                             .body = sqlite_column(s, 6)};
        const void *hash = sqlite3_column_blob(s, 7);
        if (!hash || sqlite3_column_bytes(s, 7) != IL_DIGEST_BYTES) {
            status = il_error_set(err, IL_E_DAMAGED, "row %llu of ledger `%s` has no hash", (unsigned long long)row.seq, l->path);
            break;
        }
        memcpy(row.hash, hash, IL_DIGEST_BYTES);
        if (!visit(ctx, &row)) {
            break;
        }
    }
    if (status == IL_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        status = sqlite_fail(l, code, err);
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&l->lock);
    return status;
}

static il_status sqlite_sessions(il_ledger *base, il_ledger_visit_session visit, void *ctx, il_error *err) {
    sqlite_ledger *l = (sqlite_ledger *)base;
    sqlite3_stmt *s = NULL;
    il_status status = IL_OK;
    pthread_mutex_lock(&l->lock);
    int code = sqlite3_prepare_v2(
        l->db, "SELECT key, version, changed_ms FROM objects WHERE space = '" IL_SPACE_SESSION "' ORDER BY changed_ms DESC, key",
        -1, &s, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(s)) == SQLITE_ROW) {
            if (!visit(ctx, sqlite_column(s, 0), (uint64_t)sqlite3_column_int64(s, 1), (uint64_t)sqlite3_column_int64(s, 2))) {
                code = SQLITE_DONE;
                break;
            }
        }
    }
    if (code != SQLITE_DONE) {
        status = sqlite_fail(l, code, err);
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&l->lock);
    return status;
}

static void sqlite_close(il_ledger *base) {
    sqlite_ledger *l = (sqlite_ledger *)base;
    for (int q = 0; q < Q_COUNT; q++) {
        sqlite3_finalize(l->query[q]);
    }
    sqlite3_close(l->db);
    pthread_mutex_destroy(&l->lock);
    l->base.alloc->free(l->base.alloc->ctx, l);
}

/* Makes a whole, closed ledger beside `path` and links it there: whoever else starts at the same moment sees all of it or none. */
static il_status sqlite_create(const char *path, bool make_folders, il_error *err) {
    char made[4200];
    sqlite3 *db = NULL;
    IL_TRY(il_ledger_file_folders(path, make_folders, err));
    int n = snprintf(made, sizeof made, "%s.new.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof made) {
        return il_error_set(err, IL_E_LIMIT, "the ledger's path is too long");
    }
    int fd = mkostemp(made, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) {
        return il_error_set(err, errno == EACCES || errno == EROFS || errno == ENOTDIR ? IL_E_PERMISSION : IL_E_IO,
                            "cannot make ledger `%s`: %s", path, strerror(errno));
    }
    close(fd);
    int code = sqlite3_open_v2(made, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(db, sqlite_schema, NULL, NULL, NULL);
    }
    il_status status = code == SQLITE_OK
                           ? IL_OK
                           : il_error_set(err, sqlite_status(code), "cannot make ledger `%s`: %s", path, sqlite3_errstr(code));
    if (sqlite3_close(db) != SQLITE_OK && status == IL_OK) {
        status = il_error_set(err, IL_E_IO, "cannot make ledger `%s`", path);
    }
    if (status == IL_OK && link(made, path) != 0 && errno != EEXIST) {
        status = il_error_set(err, IL_E_IO, "cannot make ledger `%s`: %s", path, strerror(errno));
    }
    unlink(made);
    return status;
}

static il_status sqlite_cut_short(const sqlite_ledger *l, il_error *err) {
    return il_error_set(err, IL_E_DAMAGED, "ledger `%s` is cut short; restore it from a copy, or name another with --ledger",
                        l->path);
}

static bool sqlite_has_wal(const sqlite_ledger *l) {
    struct stat st;
    const char *wal = sqlite3_filename_wal(sqlite3_db_filename(l->db, "main"));
    return wal && stat(wal, &st) == 0 && st.st_size > 0;
}

/* Before SQLite itself looks at the file. Through its own handle: a file descriptor of ours would, when closed, drop the locks that another
 * ledger of this process holds on the same file (POSIX).
 *
 * *shorter: the file is shorter than its header says, and a log lies beside it. A checkpoint writes the first page before the last one, so that is
 * what another program's checkpoint looks like, or one that a full disk or a kill ended; the log still holds the pages. */
static il_status sqlite_header(const sqlite_ledger *l, bool *shorter, il_error *err) {
    uint8_t header[IL_LEDGER_HEADER_BYTES] = {0};
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    bool wal = sqlite_has_wal(l); /* before: who finishes may take it away */
    int code = sqlite3_file_control(l->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK && (!file || !file->pMethods)) {
        code = SQLITE_CANTOPEN;
    }
    if (code == SQLITE_OK) {
        code = file->pMethods->xFileSize(file, &size);
    }
    if (code == SQLITE_OK && size >= IL_LEDGER_HEADER_BYTES) {
        code = file->pMethods->xRead(file, header, IL_LEDGER_HEADER_BYTES, 0);
    }
    if (code != SQLITE_OK) {
        return il_error_set(err, sqlite_status(code), "ledger `%s`: %s", l->path, sqlite3_errstr(code));
    }
    IL_TRY(il_ledger_file_header(l->path, header, size < 0 ? 0 : (uint64_t)size, shorter, err));
    return *shorter && !wal && !sqlite_has_wal(l) ? sqlite_cut_short(l, err) : IL_OK;
}

/* Reads every page, in the file and in the log. */
static il_status sqlite_whole(const sqlite_ledger *l, il_error *err) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(l->db, "PRAGMA quick_check(1)", -1, &s, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    bool whole = code == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;
    sqlite3_finalize(s);
    if (code != SQLITE_ROW && sqlite_status(code) != IL_E_DAMAGED) {
        return sqlite_fail(l, code, err);
    }
    return whole ? IL_OK : sqlite_cut_short(l, err);
}

static il_status sqlite_set_up(sqlite_ledger *l, const il_ledger_options *options, il_error *err) {
    bool shorter = false;
    int flags = (options->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(l->path, &l->db, flags, NULL);
    if (code == SQLITE_OK) {
        IL_TRY(sqlite_header(l, &shorter, err));
        sqlite3_busy_timeout(l->db, options->busy_ms ? (int)(options->busy_ms > 600000 ? 600000 : options->busy_ms) : 5000);
        code = sqlite3_exec(l->db,
                            options->read_only ? "PRAGMA trusted_schema = OFF;"
                                               : "PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL;",
                            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK && !options->read_only) {
        code = sqlite3_exec(
            l->db, options->durability == IL_DURABLE_FULL ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = NORMAL;", NULL,
            NULL, NULL);
    }
    for (int q = 0; q < Q_COUNT && code == SQLITE_OK; q++) {
        code = sqlite3_prepare_v3(l->db, sqlite_text[q], -1, SQLITE_PREPARE_PERSISTENT, &l->query[q], NULL);
    }
    if (code != SQLITE_OK) {
        return sqlite_fail(l, code, err);
    }
    uint64_t seq;
    uint8_t hash[IL_DIGEST_BYTES];
    if (shorter) {
        IL_TRY(sqlite_whole(l, err));
    }
    IL_TRY(sqlite_same_version(l, err));
    return sqlite_last(l, &seq, hash, err); /* reads the newest pages: a torn file shows here and not in the first decision */
}

il_status il_ledger_sqlite_open(const il_alloc *alloc, const char *path, const il_ledger_options *options, il_ledger **out,
                                il_error *err) {
    static const il_ledger_kind kind = {sqlite_load, sqlite_commit, sqlite_rows, sqlite_sessions, sqlite_close};
    struct stat st;
    il_status status = il_ledger_file_check(path, options->read_only, &st, err);
    if (status == IL_E_NOT_FOUND && !options->must_exist && !options->read_only) {
        IL_TRY(sqlite_create(path, options->make_folders, err));
        status = il_ledger_file_check(path, options->read_only, &st, err);
    }
    IL_TRY(status);
    size_t n = strlen(path) + 1;
    sqlite_ledger *l = alloc->alloc(alloc->ctx, sizeof *l + n);
    if (!l) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *l = (sqlite_ledger){.base = {&kind, alloc}, .read_only = options->read_only, .file = st};
    memcpy(l->path, path, n);
    if (pthread_mutex_init(&l->lock, NULL) != 0) {
        alloc->free(alloc->ctx, l);
        return il_error_set(err, IL_E_INTERNAL, "no mutex to be had");
    }
    status = sqlite_set_up(l, options, err);
    if (status != IL_OK) {
        sqlite_close(&l->base);
        return status;
    }
    *out = &l->base;
    return IL_OK;
}
