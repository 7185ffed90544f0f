/* SPDX-License-Identifier: Apache-2.0 */
/* An SQL text. What is understood has each table once; and SQLite, asked what it would do (its authorizer, nothing runs), touches no table that is not named, writes none
 * that is not named as written, and does nothing else that would change anything. */
#include "base/str.h"
#include "fuzz.h"
#include "policy/sql.h"

#include <sqlite3.h>
#include <string.h>

static const il_sql *fuzz_sql; /* what was read of the text that is being prepared */

static bool fuzz_known(const char *name, bool written) {
    for (size_t i = 0; i < fuzz_sql->ntables; i++) {
        const il_sql_table *t = &fuzz_sql->tables[i];
        if (il_str_eq_nocase(t->name, il_str_of(name)) && (!written || t->written)) {
            return true;
        }
    }
    return false;
}

static int fuzz_authorize(void *ctx, int action, const char *a, const char *b, const char *database, const char *trigger) {
    (void)ctx, (void)b, (void)database, (void)trigger;
    switch (action) {
    case SQLITE_READ:
        FUZZ_CHECK(a == NULL || a[0] == '\0' || fuzz_known(a, false));
        return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        FUZZ_CHECK(fuzz_known(a, true));
        return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        FUZZ_CHECK(b != NULL && sqlite3_stricmp(b, "load_extension") != 0 && sqlite3_stricmp(b, "fts3_tokenizer") != 0);
        return SQLITE_OK;
    default:
        FUZZ_CHECK(action == SQLITE_SELECT); /* something else than reading and writing rows */
        return SQLITE_DENY;
    }
}

static void fuzz_ask(const char *text, size_t n) {
    static sqlite3 *db;
    if (db == NULL) {
        FUZZ_CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
        FUZZ_CHECK(sqlite3_exec(db,
                                "create table a(x, y, z); create table b(x, y); create table c(x); create table users(id, name, "
                                "mail); create table orders(id, user, total);"
                                "create table secrets(k, v); create table logs(at, text)",
                                NULL, NULL, NULL) == SQLITE_OK);
        FUZZ_CHECK(sqlite3_set_authorizer(db, fuzz_authorize, NULL) == SQLITE_OK);
    }
    for (const char *at = text, *end = text + n; at < end && *at != '\0';) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, at, (int)(end - at), &statement, &at) != SQLITE_OK) {
            break; /* SQLite cannot read it: another database may */
        }
        (void)sqlite3_finalize(statement);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    il_arena arena;
    il_sql sql;
    il_arena_init(&arena, &alloc, (size_t)8 << 20);
    FUZZ_CHECK(il_sql_read((il_str){(const char *)data, size}, &arena, &sql, NULL) == IL_OK || size > (size_t)4 << 20);
    FUZZ_CHECK(sql.understood ? sql.why[0] == '\0' : sql.why[0] != '\0' && sql.ntables == 0);
    for (size_t i = 0; i < sql.ntables; i++) {
        FUZZ_CHECK(sql.tables[i].read || sql.tables[i].written);
        for (size_t k = 0; k < i; k++) {
            FUZZ_CHECK(!il_str_eq(sql.tables[i].name, sql.tables[k].name) ||
                       !il_str_eq(sql.tables[i].schema, sql.tables[k].schema));
        }
    }
    if (sql.understood && size < 4096) {
        fuzz_sql = &sql;
        fuzz_ask((const char *)data, size);
    }
    il_arena_free(&arena);
    il_arena_init(&arena, &alloc, 20000); /* memory ends early: an error, and nothing is understood */
    il_error err = {0};
    if (il_sql_read((il_str){(const char *)data, size}, &arena, &sql, &err) != IL_OK) {
        FUZZ_CHECK(!sql.understood && err.msg[0] != '\0');
    }
    il_arena_free(&arena);
    return 0;
}
