/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite ledger's handle: its file and version are still ours, one object is read. */
#include "ledger/sqlite.h"

#include <string.h>
#include <unistd.h>

il_status il_sqlite_status(int code) {
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

il_status il_sqlite_fail(const il_sqlite *l, int code, il_error *err) {
    return il_error_set(err, il_sqlite_status(code), "ledger `%s`: %s", l->path,
                        l->db ? sqlite3_errmsg(l->db) : sqlite3_errstr(code));
}

int il_sqlite_run(il_sqlite *l, il_sqlite_query q) {
    int code = sqlite3_step(l->query[q]);
    int reset = sqlite3_reset(l->query[q]);
    return code == SQLITE_DONE ? SQLITE_OK : reset != SQLITE_OK ? reset : code;
}

int il_sqlite_bind(sqlite3_stmt *s, int at, il_str v) {
    return sqlite3_bind_text64(s, at, v.p ? v.p : "", v.n, SQLITE_STATIC, SQLITE_UTF8);
}

int il_sqlite_bind_name(sqlite3_stmt *s, il_str space, il_str key) {
    int code = il_sqlite_bind(s, 1, space);
    return code != SQLITE_OK ? code : il_sqlite_bind(s, 2, key);
}

int il_sqlite_bind_after(sqlite3_stmt *s, int at, il_str prefix) {
    char after[IL_LEDGER_KEY_MAX];
    size_t n = prefix.n < sizeof after ? prefix.n : sizeof after;
    if (n == 0) {
        return sqlite3_bind_text(s, at, "\x7f", 1, SQLITE_STATIC);
    }
    memcpy(after, prefix.p, n);
    after[n - 1]++;
    return sqlite3_bind_text(s, at, after, (int)n, SQLITE_TRANSIENT);
}

int il_sqlite_bind_u64(sqlite3_stmt *s, int at, uint64_t v) { return sqlite3_bind_int64(s, at, (int64_t)il_ledger_number(v)); }

int il_sqlite_bind_digest(sqlite3_stmt *s, int at, const uint8_t digest[IL_DIGEST_BYTES]) {
    return sqlite3_bind_blob(s, at, digest, IL_DIGEST_BYTES, SQLITE_STATIC);
}

bool il_sqlite_bind_row(sqlite3_stmt *s, const il_ledger_row *row) {
    return il_sqlite_bind_u64(s, 1, row->seq) == SQLITE_OK && il_sqlite_bind_u64(s, 2, row->time_ms) == SQLITE_OK &&
           il_sqlite_bind(s, 3, row->space) == SQLITE_OK && il_sqlite_bind(s, 4, row->key) == SQLITE_OK &&
           il_sqlite_bind(s, 5, row->kind) == SQLITE_OK && il_sqlite_bind_u64(s, 6, row->ticket) == SQLITE_OK &&
           il_sqlite_bind(s, 7, row->body) == SQLITE_OK && il_sqlite_bind_digest(s, 8, row->body_hash) == SQLITE_OK &&
           il_sqlite_bind_digest(s, 9, row->hash) == SQLITE_OK;
}

il_str il_sqlite_column(sqlite3_stmt *s, int at) {
    const char *p = (const char *)sqlite3_column_text(s, at);
    int n = sqlite3_column_bytes(s, at);
    return (il_str){p ? p : "", p && n > 0 ? (size_t)n : 0};
}

bool il_sqlite_digest(sqlite3_stmt *s, int at, uint8_t out[IL_DIGEST_BYTES]) {
    const void *stored = sqlite3_column_blob(s, at);
    if (!stored || sqlite3_column_bytes(s, at) != IL_DIGEST_BYTES) {
        return false;
    }
    memcpy(out, stored, IL_DIGEST_BYTES);
    return true;
}

il_status il_sqlite_same_file(il_sqlite *l, il_error *err) {
    struct stat st;
    const il_status status = il_ledger_file_check(l->path, l->read_only, &st, err);
    if (status == IL_E_NOT_FOUND) { /* which would say that the object is not there */
        return il_error_set(err, IL_E_IO, "ledger `%s` was removed", l->path);
    }
    IL_TRY(status);
    if (st.st_dev != l->file.st_dev || st.st_ino != l->file.st_ino) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` was replaced by another file", l->path);
    }
    /* Nothing here ever shrinks it, so a shorter file lost pages. */
    if (st.st_size < l->file.st_size) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` was cut short", l->path);
    }
    l->file = st;
    return IL_OK;
}

/* A number from the database's header. */
static int sqlite_number(il_sqlite *l, il_sqlite_query q, int64_t *out) {
    sqlite3_stmt *s = l->query[q];
    int code = sqlite3_step(s);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    int reset = sqlite3_reset(s);
    return code == SQLITE_ROW ? SQLITE_OK : reset != SQLITE_OK ? reset : SQLITE_CORRUPT;
}

il_status il_sqlite_same_version(il_sqlite *l, il_error *err) {
    unsigned data = 0;
    int64_t id, version;
    /* Moves with every change of the file, whoever made it, as the transaction sees it. */
    int code = sqlite3_file_control(l->db, "main", SQLITE_FCNTL_DATA_VERSION, &data);
    if (code == SQLITE_OK && l->version_known && data == l->data_version) {
        return IL_OK;
    }
    l->version_known = l->head_known = l->object.known = false;
    code = code == SQLITE_OK ? sqlite_number(l, Q_APPLICATION, &id) : code;
    code = code == SQLITE_OK ? sqlite_number(l, Q_VERSION, &version) : code;
    if (code != SQLITE_OK) {
        return il_sqlite_fail(l, code, err);
    }
    if (id != IL_LEDGER_APPLICATION_ID) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` is no longer ours", l->path);
    }
    if (version != (int64_t)l->base.version) {
        return il_error_set(err, IL_E_VERSION, "ledger `%s` now has version %lld; start this program again", l->path,
                            (long long)version);
    }
    l->data_version = data;
    l->version_known = true;
    return IL_OK;
}

il_status il_sqlite_last(il_sqlite *l, il_sqlite_head *out, il_error *err) {
    sqlite3_stmt *s = l->query[Q_LAST];
    il_status status = IL_OK;
    if (l->head_known) {
        *out = l->head;
        return IL_OK;
    }
    int code = sqlite3_step(s);
    *out = (il_sqlite_head){0};
    if (code == SQLITE_ROW) {
        out->seq = (uint64_t)sqlite3_column_int64(s, 0);
        if (!il_sqlite_digest(s, 1, out->hash) || out->seq == 0 || out->seq >= INT64_MAX) {
            status =
                il_error_set(err, IL_E_DAMAGED, "the last row of ledger `%s` is damaged; see interlock ledger verify", l->path);
        }
    } else if (code != SQLITE_DONE) {
        status = il_sqlite_fail(l, code, err);
    }
    sqlite3_reset(s);
    l->head = *out;
    l->head_known = status == IL_OK;
    return status;
}

static il_status sqlite_take(const il_sqlite *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    sqlite3_stmt *s = l->query[Q_LOAD];
    const void *state = sqlite3_column_blob(s, 0);
    int bytes = sqlite3_column_bytes(s, 0);
    int64_t stored = sqlite3_column_int64(s, 1);
    if (bytes <= 0 || !state || stored <= 0) {
        return il_error_set(err, IL_E_DAMAGED, "%.*s `%.*s` has no state in ledger `%s`", IL_STR_ARG(space), IL_STR_ARG(key),
                            l->path);
    }
    *n = (size_t)bytes;
    if (*n > cap) {
        return il_error_set(err, IL_E_LIMIT, "%.*s `%.*s` needs %d bytes", IL_STR_ARG(space), IL_STR_ARG(key), bytes);
    }
    memcpy(buf, state, *n);
    *version = (uint64_t)stored;
    return IL_OK;
}

il_status il_sqlite_object_read(il_sqlite *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                                il_error *err) {
    sqlite3_stmt *s = l->query[Q_LOAD];
    int code = il_sqlite_bind_name(s, space, key);
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    il_status status = code == SQLITE_ROW || code == SQLITE_DONE ? IL_OK : il_sqlite_fail(l, code, err);
    if (status == IL_OK) { /* while the query is open: of the picture that it read */
        status = il_sqlite_same_version(l, err);
    }
    if (status == IL_OK) {
        status = code == SQLITE_ROW ? sqlite_take(l, space, key, buf, cap, n, version, err)
                                    : il_error_set(err, IL_E_NOT_FOUND, "no %.*s `%.*s`", IL_STR_ARG(space), IL_STR_ARG(key));
    }
    sqlite3_reset(s);
    return status;
}

il_status il_sqlite_object_locked(il_sqlite *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                                  il_error *err) {
    IL_TRY(il_sqlite_same_file(l, err));
    return il_sqlite_object_read(l, space, key, buf, cap, n, version, err);
}
