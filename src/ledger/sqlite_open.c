/* SPDX-License-Identifier: Apache-2.0 */
/* Making, opening and closing a SQLite ledger, in WAL mode. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ledger/sqlite.h"

#define SQLITE_BUSY_MS 5000
#define SQLITE_BUSY_MS_MAX 600000
#define SQLITE_FORGET_MS 300
#define SQLITE_NAP_US 100 /* between two looks at a lock, then longer */
#define SQLITE_NAP_US_MAX 2000

static const char *const sqlite_text[Q_COUNT] = {
    [Q_LOAD] = "SELECT state, version FROM objects WHERE space = ?1 AND key = ?2",
    [Q_APPLICATION] = "PRAGMA application_id",
    [Q_VERSION] = "PRAGMA user_version",
    [Q_LAST] = "SELECT seq, hash FROM rows ORDER BY seq DESC LIMIT 1",
    [Q_BEGIN] = "BEGIN IMMEDIATE",
    [Q_COMMIT] = "COMMIT",
    [Q_ROLLBACK] = "ROLLBACK",
    [Q_STORED] = "SELECT version FROM objects WHERE space = ?1 AND key = ?2",
    [Q_CREATE] = ("INSERT INTO objects(space, key, version, state, changed_ms) VALUES(?1, ?2, 1, ?3, ?4) "
                  "ON CONFLICT(space, key) DO NOTHING"),
    [Q_UPDATE] = "UPDATE objects SET version = ?6, state = ?3, changed_ms = ?4 WHERE space = ?1 AND key = ?2 AND version = ?5",
    [Q_APPEND] = ("INSERT INTO rows(seq, time_ms, space, key, kind, ticket, body, body_hash, hash) "
                  "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
};

static il_status sqlite_load(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    atomic_fetch_add(&l->loads, 1);
    pthread_mutex_lock(&l->lock);
    il_status status = il_sqlite_object_locked(l, space, key, buf, cap, n, version, err);
    pthread_mutex_unlock(&l->lock);
    atomic_fetch_sub(&l->loads, 1);
    return status;
}

static void sqlite_take_turn(il_ledger *base, il_str space, il_str key) {
    il_turns_take(&((il_sqlite *)base)->turns, space, key);
}

static void sqlite_end_turn(il_ledger *base, il_str space, il_str key) { il_turns_end(&((il_sqlite *)base)->turns, space, key); }

static il_status sqlite_object(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                               il_error *err) {
    return il_sqlite_object_locked((il_sqlite *)base, space, key, buf, cap, n, version, err);
}

static il_status sqlite_hold(il_ledger *base, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    pthread_mutex_lock(&l->lock);
    il_status status = il_sqlite_same_file(l, err);
    if (status == IL_OK) {
        int code = sqlite3_exec(l->db, "BEGIN", NULL, NULL, NULL); /* reads: a picture that others do not change */
        status = code == SQLITE_OK ? IL_OK : il_sqlite_fail(l, code, err);
        if (status == IL_OK) {
            l->version_known = false; /* asked for again inside, which also is what begins the picture */
            status = il_sqlite_same_version(l, err);
            if (status != IL_OK) {
                (void)sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
            }
        }
    }
    if (status != IL_OK) {
        pthread_mutex_unlock(&l->lock);
    }
    return status;
}

static void sqlite_release(il_ledger *base) {
    il_sqlite *l = (il_sqlite *)base;
    (void)sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
    pthread_mutex_unlock(&l->lock);
}

/* What was erased still stands in the log's older pages, and the log goes only with the last program that has the file open. Emptying it keeps
 * writers out while somebody reads, so the wait is short; who prunes next tries again. */
static void sqlite_forget(il_sqlite *l) {
    l->busy_ms = SQLITE_FORGET_MS;
    (void)sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static void sqlite_close(il_ledger *base) {
    il_sqlite *l = (il_sqlite *)base;
    il_sqlite_checkpoint_free(l);
    if (l->erased) {
        sqlite_forget(l);
    }
    for (int q = 0; q < Q_COUNT; q++) {
        sqlite3_finalize(l->query[q]);
    }
    sqlite3_close(l->db);
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->queue_lock);
    pthread_cond_destroy(&l->settled);
    il_turns_free(&l->turns);
    l->base.alloc->free(l->base.alloc->ctx, l);
}

/* The file under its name, unless one is there by now. Moved, because a link would give it two names for a moment, or for good when we are killed. */
static il_status sqlite_name(const char *made, const char *path, il_error *err) {
    int code = renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE);
    if (code != 0 && (errno == EINVAL || errno == ENOSYS)) {
        code = link(made, path); /* a file system that cannot */
    }
    return code == 0 || errno == EEXIST ? IL_OK
                                        : il_error_set(err, IL_E_IO, "cannot make ledger `%s`: %s", path, strerror(errno));
}

/* All of it in the file, so that nothing is left to its log; closing would keep silent of what it cannot write. */
static int sqlite_write_schema(const char *made) {
    sqlite3 *db = NULL;
    int left = -1;
    int code = sqlite3_open_v2(made, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(db, il_sqlite_schema, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &left, NULL);
        code = code == SQLITE_OK && left != 0 ? SQLITE_IOERR : code;
    }
    const int closed = sqlite3_close(db);
    return code != SQLITE_OK ? code : closed;
}

static void sqlite_unmake(char *made, size_t n) {
    static const char *const files[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        memcpy(made + n, files[i], strlen(files[i]) + 1);
        (void)unlink(made);
    }
}

/* Makes a whole, closed ledger beside `path` and moves it there: whoever else starts at the same moment sees all of it or none. */
static il_status sqlite_create(const char *path, bool make_folders, il_error *err) {
    char made[4200];
    IL_TRY(il_ledger_file_folders(path, make_folders, err));
    int n = snprintf(made, sizeof made - sizeof "-journal", "%s.new.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof made - sizeof "-journal") {
        return il_error_set(err, IL_E_LIMIT, "the ledger's path is too long");
    }
    int fd = mkostemp(made, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) {
        return il_error_set(err, errno == EACCES || errno == EROFS || errno == ENOTDIR ? IL_E_PERMISSION : IL_E_IO,
                            "cannot make ledger `%s`: %s", path, strerror(errno));
    }
    close(fd);
    const int code = sqlite_write_schema(made);
    const il_status status =
        code == SQLITE_OK ? sqlite_name(made, path, err)
                          : il_error_set(err, il_sqlite_status(code), "cannot make ledger `%s`: %s", path, sqlite3_errstr(code));
    sqlite_unmake(made, (size_t)n);
    return status;
}

static il_status sqlite_cut_short(const il_sqlite *l, il_error *err) {
    return il_error_set(err, IL_E_DAMAGED, "ledger `%s` is cut short; restore it from a copy, or name another with --ledger",
                        l->path);
}

static bool sqlite_has_wal(const il_sqlite *l) {
    struct stat st;
    const char *wal = sqlite3_filename_wal(sqlite3_db_filename(l->db, "main"));
    return wal && stat(wal, &st) == 0 && st.st_size > 0;
}

/* Before SQLite itself looks at the file. Through its own handle: a file descriptor of ours would, when closed, drop the locks that another
 * ledger of this process holds on the same file (POSIX).
 *
 * *shorter: the file is shorter than its header says, and a log lies beside it. A checkpoint writes the first page before the last one, so that is
 * what another program's checkpoint looks like, or one that a full disk or a kill ended; the log still holds the pages. */
static il_status sqlite_header(const il_sqlite *l, bool *shorter, il_error *err) {
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
        return il_error_set(err, il_sqlite_status(code), "ledger `%s`: %s", l->path, sqlite3_errstr(code));
    }
    IL_TRY(il_ledger_file_header(l->path, header, size < 0 ? 0 : (uint64_t)size, shorter, err));
    return *shorter && !wal && !sqlite_has_wal(l) ? sqlite_cut_short(l, err) : IL_OK;
}

/* Reads every page, in the file and in the log. */
static il_status sqlite_whole(const il_sqlite *l, il_error *err) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(l->db, "PRAGMA quick_check(1)", -1, &s, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    bool whole = code == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;
    sqlite3_finalize(s);
    if (code != SQLITE_ROW && il_sqlite_status(code) != IL_E_DAMAGED) {
        return il_sqlite_fail(l, code, err);
    }
    return whole ? IL_OK : sqlite_cut_short(l, err);
}

static uint64_t sqlite_clock_ms(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* SQLite's own way sleeps up to a tenth of a second between two looks, and under load whoever sleeps longest loses every time: a commit takes
 * some ten microseconds, so naps are short. */
static int sqlite_busy(void *ctx, int looks) {
    il_sqlite *l = ctx;
    const uint64_t now = sqlite_clock_ms();
    long nap = (long)SQLITE_NAP_US * (looks + 1);
    if (looks == 0) {
        l->busy_since = now;
    }
    if (now - l->busy_since >= l->busy_ms) {
        return 0;
    }
    if (looks >= SQLITE_NAP_US_MAX / SQLITE_NAP_US) {
        nap = SQLITE_NAP_US_MAX;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = nap * 1000}, NULL);
    return 1;
}

static il_status sqlite_connect(il_sqlite *l, const il_ledger_options *options, bool *shorter, il_error *err) {
    int flags = (options->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(l->path, &l->db, flags, NULL);
    if (code == SQLITE_OK) {
        IL_TRY(sqlite_header(l, shorter, err));
        (void)sqlite3_busy_handler(l->db, sqlite_busy, l);
        /* A writer touches few pages of a ledger, however long: half a MiB of them in memory (-KiB) is as quick as SQLite's two.
         * What is erased is overwritten, and no copy of it stays where a row was moved from, or in the tables that an upgrade drops. Many builds of
         * SQLite do so anyway. */
        code = sqlite3_exec(
            l->db,
            options->read_only
                ? "PRAGMA trusted_schema = OFF;"
                : "PRAGMA trusted_schema = OFF; PRAGMA cache_size = -512; PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL;",
            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK && !options->read_only) {
        code = sqlite3_exec(
            l->db, options->durability == IL_DURABLE_FULL ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = NORMAL;", NULL,
            NULL, NULL);
        il_sqlite_checkpoint_watch(l);
    }
    return code == SQLITE_OK ? IL_OK : il_sqlite_fail(l, code, err);
}

static il_status sqlite_prepare(il_sqlite *l, il_error *err) {
    const int n = l->read_only ? Q_READS : Q_COUNT;
    for (int q = 0; q < n; q++) {
        int code = sqlite3_prepare_v3(l->db, sqlite_text[q], -1, SQLITE_PREPARE_PERSISTENT, &l->query[q], NULL);
        if (code != SQLITE_OK) {
            return il_sqlite_fail(l, code, err);
        }
    }
    return IL_OK;
}

/* The format of a ledger that is only read. */
static il_status sqlite_reads(il_sqlite *l, il_error *err) {
    int64_t version = 0;
    int code = sqlite3_step(l->query[Q_VERSION]);
    if (code == SQLITE_ROW) {
        version = sqlite3_column_int64(l->query[Q_VERSION], 0);
    }
    sqlite3_reset(l->query[Q_VERSION]);
    if (code != SQLITE_ROW) {
        return il_sqlite_fail(l, code, err);
    }
    l->base.version = version == 1 ? 1 : IL_LEDGER_USER_VERSION;
    return IL_OK;
}

static il_status sqlite_set_up(il_sqlite *l, const il_ledger_options *options, il_error *err) {
    bool shorter = false;
    il_sqlite_head head;
    IL_TRY(sqlite_connect(l, options, &shorter, err));
    if (shorter) {
        IL_TRY(sqlite_whole(l, err));
    }
    if (!l->read_only) {
        IL_TRY(il_sqlite_upgrade(l, err));
    }
    IL_TRY(sqlite_prepare(l, err));
    if (l->read_only) {
        IL_TRY(sqlite_reads(l, err));
    }
    IL_TRY(il_sqlite_same_version(l, err));
    IL_TRY(il_sqlite_last(l, &head, err));    /* reads the newest pages: a torn file shows here and not in the first decision */
    l->version_known = l->head_known = false; /* each was read for itself, not as one picture */
    return IL_OK;
}

static bool sqlite_locks(il_sqlite *l, const il_ledger_options *options) {
    if (pthread_mutex_init(&l->lock, NULL) != 0) {
        return false;
    }
    if (pthread_mutex_init(&l->queue_lock, NULL) != 0) {
        pthread_mutex_destroy(&l->lock);
        return false;
    }
    if (pthread_cond_init(&l->settled, NULL) != 0) {
        pthread_mutex_destroy(&l->lock);
        pthread_mutex_destroy(&l->queue_lock);
        return false;
    }
    if (!il_turns_init(&l->turns)) {
        pthread_mutex_destroy(&l->lock);
        pthread_mutex_destroy(&l->queue_lock);
        pthread_cond_destroy(&l->settled);
        return false;
    }
    if (!il_sqlite_checkpoint_init(l, options)) {
        pthread_mutex_destroy(&l->lock);
        pthread_mutex_destroy(&l->queue_lock);
        pthread_cond_destroy(&l->settled);
        il_turns_free(&l->turns);
        return false;
    }
    return true;
}

il_status il_ledger_sqlite_open(const il_alloc *alloc, const char *path, const il_ledger_options *options, il_ledger **out,
                                il_error *err) {
    static const il_ledger_kind kind = {.load = sqlite_load,
                                        .commit = il_sqlite_commit,
                                        .take_turn = sqlite_take_turn,
                                        .end_turn = sqlite_end_turn,
                                        .batch_begin = il_sqlite_batch_begin,
                                        .batch_load = il_sqlite_batch_load,
                                        .batch_commit = il_sqlite_batch_commit,
                                        .batch_end = il_sqlite_batch_end,
                                        .hold = sqlite_hold,
                                        .release = sqlite_release,
                                        .rows = il_sqlite_rows,
                                        .sessions = il_sqlite_sessions,
                                        .object = sqlite_object,
                                        .count = il_sqlite_count,
                                        .pruned = il_sqlite_pruned,
                                        .prune = il_sqlite_prune,
                                        .close = sqlite_close};
    struct stat st;
    IL_TRY(il_ledger_file_place(path, err));
    il_status status = il_ledger_file_check(path, options->read_only, &st, err);
    if (status == IL_E_NOT_FOUND && !options->must_exist && !options->read_only) {
        IL_TRY(sqlite_create(path, options->make_folders, err));
        status = il_ledger_file_check(path, options->read_only, &st, err);
    }
    IL_TRY(status);
    size_t n = strlen(path) + 1;
    il_sqlite *l = alloc->alloc(alloc->ctx, sizeof *l + n);
    if (!l) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *l = (il_sqlite){
        .base = {.kind = &kind, .alloc = alloc, .sha256 = options->sha256, .version = IL_LEDGER_USER_VERSION},
        .read_only = options->read_only,
        .full = options->durability == IL_DURABLE_FULL,
        .busy_ms = !options->busy_ms                       ? SQLITE_BUSY_MS
                   : options->busy_ms > SQLITE_BUSY_MS_MAX ? SQLITE_BUSY_MS_MAX
                                                           : options->busy_ms,
        .file = st,
    };
    memcpy(l->path, path, n);
    if (!sqlite_locks(l, options)) {
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
