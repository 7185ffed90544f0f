/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a ledger, and the way to them from version 1. */
#include <string.h>

#include "ledger/sqlite.h"

#define SCHEMA_NUMBER(x) SCHEMA_NUMBER_(x)
#define SCHEMA_NUMBER_(x) #x

/* Objects have a number of their own, so that a state of up to a page stays on one page and its change writes that page alone. `body` is NULL
 * once a row was pruned. */
#define SCHEMA_TABLES                                                                                                \
    "CREATE TABLE objects(id INTEGER PRIMARY KEY, space TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL," \
    " state BLOB NOT NULL, changed_ms INTEGER NOT NULL, UNIQUE(space, key)) STRICT;"                                 \
    "CREATE TABLE rows(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, space TEXT NOT NULL, key TEXT NOT NULL,"   \
    " kind TEXT NOT NULL, ticket INTEGER NOT NULL, body TEXT, body_hash BLOB NOT NULL, hash BLOB NOT NULL) STRICT;"  \
    "CREATE TABLE pruned(n INTEGER PRIMARY KEY, space TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL,"   \
    " through INTEGER NOT NULL, state INTEGER NOT NULL, state_hash BLOB NOT NULL, hash BLOB NOT NULL) STRICT;"       \
    "PRAGMA user_version = " SCHEMA_NUMBER(IL_LEDGER_USER_VERSION) ";"
#define SCHEMA_INDEXES                            \
    "CREATE INDEX rows_by_key ON rows(key, seq);" \
    "CREATE INDEX pruned_by_key ON pruned(key);"

/* WAL from the start: to switch later needs the file for oneself, which fails when several programs begin at once. */
const char il_sqlite_schema[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA application_id = " SCHEMA_NUMBER(IL_LEDGER_APPLICATION_ID) ";" SCHEMA_TABLES SCHEMA_INDEXES;

/* Renaming leaves the old tables' text in place until they are dropped, and drops their index with them. */
static const char schema_from_1[] =
    "ALTER TABLE objects RENAME TO objects_1;"
    "ALTER TABLE rows RENAME TO rows_1;" SCHEMA_TABLES
    "INSERT INTO objects(space, key, version, state, changed_ms) SELECT space, key, version, state, changed_ms FROM objects_1;";
static const char schema_without_1[] = "DROP TABLE objects_1; DROP TABLE rows_1;" SCHEMA_INDEXES;

static const char schema_append[] = "INSERT INTO rows(seq, time_ms, space, key, kind, ticket, body, body_hash, hash) "
                                    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

typedef struct schema_chain { /* both chains while they are walked */
    uint64_t rows;
    uint8_t old[IL_DIGEST_BYTES], new[IL_DIGEST_BYTES];
} schema_chain;

static il_status schema_exec(il_sqlite *l, const char *text, il_error *err) {
    int code = sqlite3_exec(l->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? IL_OK : il_sqlite_fail(l, code, err);
}

static il_status schema_append_row(il_sqlite *l, sqlite3_stmt *to, schema_chain *c, il_ledger_row *row, il_error *err) {
    il_chain_body(row->body, l->base.sha256, row->body_hash);
    il_chain_hash(c->new, row, l->base.sha256, c->new);
    memcpy(row->hash, c->new, sizeof row->hash);
    int code = il_sqlite_bind_row(to, row) ? sqlite3_step(to) : sqlite3_errcode(l->db);
    sqlite3_reset(to);
    return code == SQLITE_DONE ? IL_OK : il_sqlite_fail(l, code, err);
}

/* A row of version 1, judged by the chain that it had: what was changed under that chain is not to be sealed by a new one. */
static il_status schema_row(il_sqlite *l, sqlite3_stmt *from, sqlite3_stmt *to, schema_chain *c, il_error *err) {
    uint8_t stored[IL_DIGEST_BYTES], hash[IL_DIGEST_BYTES];
    il_ledger_row row = {.seq = (uint64_t)sqlite3_column_int64(from, 0),
                         .time_ms = (uint64_t)sqlite3_column_int64(from, 1),
                         .space = il_sqlite_column(from, 2),
                         .key = il_sqlite_column(from, 3),
                         .kind = il_sqlite_column(from, 4),
                         .ticket = (uint64_t)sqlite3_column_int64(from, 5),
                         .body = il_sqlite_column(from, 6)};
    il_chain_hash_1(c->old, &row, l->base.sha256, hash);
    if (row.seq != c->rows + 1 || !il_sqlite_digest(from, 7, stored) || !il_digest_eq(stored, hash)) {
        return il_error_set(err, IL_E_DAMAGED,
                            "ledger `%s` has version 1 and is not upgraded, because its chain breaks at row %llu; keep it, and "
                            "restore a copy or name another with --ledger",
                            l->path, (unsigned long long)c->rows + 1);
    }
    memcpy(c->old, hash, sizeof hash);
    c->rows++;
    return schema_append_row(l, to, c, &row, err);
}

static il_status schema_rows(il_sqlite *l, sqlite3_stmt *from, sqlite3_stmt *to, schema_chain *c, il_error *err) {
    int code;
    uint64_t last_ms = 0;
    char head[IL_DIGEST_HEX], body[160];
    while ((code = sqlite3_step(from)) == SQLITE_ROW) {
        IL_TRY(schema_row(l, from, to, c, err));
        last_ms = (uint64_t)sqlite3_column_int64(from, 1);
    }
    if (code != SQLITE_DONE) {
        return il_sqlite_fail(l, code, err);
    }
    il_digest_hex(c->old, head);
    (void)il_format(body, sizeof body, "{\"from\":1,\"head\":\"%s\",\"rows\":%llu,\"v\":1}", head, (unsigned long long)c->rows);
    /* The time is the last row's: there is no clock here. */
    il_ledger_row row = {.seq = c->rows + 1,
                         .time_ms = last_ms,
                         .space = IL_STR(IL_SPACE_LEDGER),
                         .key = IL_STR(IL_SPACE_LEDGER),
                         .kind = IL_STR("upgrade"),
                         .body = il_str_of(body)};
    return schema_append_row(l, to, c, &row, err);
}

static il_status schema_move(il_sqlite *l, il_error *err) {
    sqlite3_stmt *from = NULL, *to = NULL;
    schema_chain c = {0};
    IL_TRY(schema_exec(l, schema_from_1, err));
    int code = sqlite3_prepare_v2(l->db, "SELECT seq, time_ms, space, key, kind, ticket, body, hash FROM rows_1 ORDER BY seq", -1,
                                  &from, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(l->db, schema_append, -1, &to, NULL);
    }
    il_status status = code == SQLITE_OK ? schema_rows(l, from, to, &c, err) : il_sqlite_fail(l, code, err);
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    IL_TRY(status);
    return schema_exec(l, schema_without_1, err);
}

static il_status schema_version(il_sqlite *l, int64_t *version, il_error *err) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(l->db, "PRAGMA user_version", -1, &s, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        *version = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    return code == SQLITE_ROW ? IL_OK : il_sqlite_fail(l, code, err);
}

il_status il_sqlite_upgrade(il_sqlite *l, il_error *err) {
    int64_t version = 0;
    IL_TRY(schema_version(l, &version, err));
    if (version != 1) {
        return IL_OK;
    }
    int code = sqlite3_exec(l->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        return il_sqlite_fail(l, code, err);
    }
    il_status status = schema_version(l, &version, err);
    if (status == IL_OK && version == 1) {
        status = schema_move(l, err);
    }
    if (status == IL_OK) {
        status = schema_exec(l, "COMMIT", err);
    }
    if (status != IL_OK && !sqlite3_get_autocommit(l->db)) {
        (void)sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}
