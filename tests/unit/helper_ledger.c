/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_ledger.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/ledger.h"

void ledger_test_path(char path[LEDGER_TEST_PATH], const char *name) {
    const char *tmp = getenv("TMPDIR");
    char folder[128];
    assert_true(snprintf(folder, sizeof folder, "%s/il-ledger-XXXXXX", tmp ? tmp : "/tmp") < (int)sizeof folder);
    assert_non_null(mkdtemp(folder));
    assert_true(snprintf(path, LEDGER_TEST_PATH, "%s/%s", folder, name) < LEDGER_TEST_PATH);
}

void ledger_test_clean(const char *path) {
    char command[LEDGER_TEST_PATH + 64];
    const char *end = strstr(path, "il-ledger-");
    assert_non_null(end);
    end = strchr(end, '/');
    assert_true(snprintf(command, sizeof command, "chmod -R u+w '%.*s' && rm -rf '%.*s'", (int)(end - path), path,
                         (int)(end - path), path) < (int)sizeof command);
    assert_int_equal(system(command), 0);
}

il_ledger *ledger_test_open(const char *path, const il_ledger_options *options) {
    il_ledger *l = NULL;
    il_error err = {0};
    const il_status status = il_ledger_open(il_host_alloc(), path, options, &l, &err);
    if (status != IL_OK) {
        fail_msg("open %s: %s", path, err.msg);
    }
    assert_non_null(l);
    return l;
}

il_status ledger_test_commit(il_ledger *l, const char *key, uint64_t expect, const char *state, const char *kind, il_error *err) {
    const il_store store = il_ledger_store(l);
    const il_store_row row = {.kind = il_str_of(kind ? kind : ""), .ticket = 7, .body = IL_STR("{\"a\":1}")};
    const il_store_change change = {.space = IL_STR(IL_SPACE_SESSION),
                                    .key = il_str_of(key),
                                    .expect = expect,
                                    .moves = state != NULL,
                                    .state = il_str_of(state ? state : ""),
                                    .rows = kind ? &row : NULL,
                                    .nrows = kind ? 1 : 0};
    return store.commit(store.ctx, &change, 1, 1000 + expect, err);
}

uint64_t ledger_test_load(il_ledger *l, const char *key, char *state, size_t cap) {
    const il_store store = il_ledger_store(l);
    uint64_t version = 0;
    size_t n = 0;
    il_error err = {0};
    const il_status status =
        store.load(store.ctx, IL_STR(IL_SPACE_SESSION), il_str_of(key), (uint8_t *)state, cap - 1, &n, &version, &err);
    if (status != IL_OK) {
        fail_msg("load %s: %s", key, err.msg);
    }
    state[n] = '\0';
    return version;
}

typedef struct ledger_count {
    size_t n;
    bool chained;
    uint64_t seq;
    uint8_t hash[IL_DIGEST_BYTES];
} ledger_count;

static bool ledger_count_row(void *ctx, const il_ledger_row *row) {
    ledger_count *c = ctx;
    uint8_t hash[IL_DIGEST_BYTES];
    il_chain_hash(c->hash, row, NULL, hash);
    c->chained = c->chained && row->seq == c->seq + 1 && memcmp(hash, row->hash, sizeof hash) == 0;
    memcpy(c->hash, row->hash, sizeof hash);
    c->seq = row->seq;
    c->n++;
    return true;
}

size_t ledger_test_rows(il_ledger *l, const char *session, bool *chained) {
    ledger_count c = {.chained = true};
    il_error err = {0};
    if (il_ledger_rows(l, il_str_of(session), ledger_count_row, &c, &err) != IL_OK) {
        fail_msg("rows: %s", err.msg);
    }
    if (chained) {
        *chained = c.chained;
    }
    return c.n;
}

static void ledger_test_basics(il_ledger *l) {
    const il_store store = il_ledger_store(l);
    char state[64];
    uint8_t small[2];
    size_t n = 0;
    uint64_t version = 0;
    il_error err = {0};
    assert_int_equal(store.size, sizeof(il_store));
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("a"), small, sizeof small, &n, &version, &err),
                     IL_E_NOT_FOUND);
    assert_int_equal(ledger_test_commit(l, "a", 0, "one", "begin", &err), IL_OK);
    assert_int_equal(ledger_test_load(l, "a", state, sizeof state), 1);
    assert_string_equal(state, "one");
    assert_int_equal(ledger_test_commit(l, "a", 1, "twotwo", NULL, &err), IL_OK);
    assert_int_equal(ledger_test_load(l, "a", state, sizeof state), 2);
    assert_string_equal(state, "twotwo");
    /* Too small a buffer: the needed size, and not a byte of the state. */
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("a"), small, sizeof small, &n, &version, &err), IL_E_LIMIT);
    assert_int_equal(n, 6);
    /* The space is part of the name. */
    assert_int_equal(store.load(store.ctx, IL_STR("grant"), IL_STR("a"), (uint8_t *)state, sizeof state, &n, &version, &err),
                     IL_E_NOT_FOUND);
}

static void ledger_test_conflicts(il_ledger *l) {
    char state[64];
    il_error err = {0};
    assert_int_equal(ledger_test_commit(l, "a", 1, "late", "decision", &err), IL_E_CONFLICT);
    assert_int_equal(ledger_test_commit(l, "a", 0, "again", "begin", &err), IL_E_CONFLICT);
    assert_int_equal(ledger_test_commit(l, "a", 3, "early", "decision", &err), IL_E_CONFLICT);
    assert_int_equal(ledger_test_commit(l, "none", 1, "x", "decision", &err), IL_E_CONFLICT);
    assert_int_equal(ledger_test_load(l, "a", state, sizeof state), 2);
    assert_string_equal(state, "twotwo");
    assert_int_equal(ledger_test_rows(l, "", NULL), 1);
    /* Rows without a move: the bytes and the version stay, a stale version is still refused. */
    assert_int_equal(ledger_test_commit(l, "a", 2, NULL, "decision", &err), IL_OK);
    assert_int_equal(ledger_test_load(l, "a", state, sizeof state), 2);
    assert_int_equal(ledger_test_commit(l, "a", 1, NULL, "decision", &err), IL_E_CONFLICT);
    assert_int_equal(ledger_test_rows(l, "", NULL), 2);
}

/* Several objects in one commit: all of it, or nothing. */
static void ledger_test_together(il_ledger *l) {
    const il_store store = il_ledger_store(l);
    const il_store_row row = {.kind = IL_STR("begin"), .body = IL_STR("{}")};
    char state[64];
    il_error err = {0};
    il_store_change changes[3] = {
        {.space = IL_STR("session"), .key = IL_STR("a"), .expect = 2},
        {.space = IL_STR("session"), .key = IL_STR("child"), .moves = true, .state = IL_STR("c"), .rows = &row, .nrows = 1},
        {.space = IL_STR("session"),
         .key = IL_STR("b"),
         .expect = 5,
         .moves = true,
         .state = IL_STR("b"),
         .rows = &row,
         .nrows = 1},
    };
    size_t n;
    uint64_t version;
    assert_int_equal(store.commit(store.ctx, changes, 3, 2000, &err), IL_E_CONFLICT);
    assert_int_equal(
        store.load(store.ctx, IL_STR("session"), IL_STR("child"), (uint8_t *)state, sizeof state, &n, &version, &err),
        IL_E_NOT_FOUND);
    assert_int_equal(ledger_test_rows(l, "", NULL), 2);
    changes[2].expect = 0;
    changes[0].expect = 1; /* the one that is only checked has moved */
    assert_int_equal(store.commit(store.ctx, changes, 3, 2000, &err), IL_E_CONFLICT);
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("b"), (uint8_t *)state, sizeof state, &n, &version, &err),
                     IL_E_NOT_FOUND);
    changes[0].expect = 2;
    assert_int_equal(store.commit(store.ctx, changes, 3, 2000, &err), IL_OK);
    assert_int_equal(ledger_test_load(l, "child", state, sizeof state), 1);
    assert_int_equal(ledger_test_load(l, "b", state, sizeof state), 1);
    assert_int_equal(ledger_test_load(l, "a", state, sizeof state), 2);
    /* An object that is named twice has no single version. */
    il_store_change twice[2] = {
        {.space = IL_STR("session"), .key = IL_STR("b"), .expect = 1, .moves = true, .state = IL_STR("x")},
        {.space = IL_STR("session"), .key = IL_STR("b"), .expect = 1, .moves = true, .state = IL_STR("y")}};
    assert_int_equal(store.commit(store.ctx, twice, 2, 2000, &err), IL_E_ARGUMENT);
    assert_int_equal(ledger_test_load(l, "b", state, sizeof state), 1);
    assert_string_equal(state, "b");
}

static bool ledger_test_next(void *ctx, const il_ledger_row *row) {
    uint64_t *seq = ctx;
    assert_int_equal(row->seq, *seq + 1);
    *seq = row->seq;
    return false; /* one at a time */
}

/* Who follows a ledger asks for what is behind the row that it saw last. */
static void ledger_test_after(il_ledger *l) {
    uint64_t seq = 0;
    il_error err = {0};
    const size_t all = ledger_test_rows(l, "", NULL);
    assert_true(all > 2);
    for (size_t i = 0; i < all; i++) {
        assert_int_equal(il_ledger_rows_after(l, seq, ledger_test_next, &seq, &err), IL_OK);
        assert_int_equal(seq, i + 1);
    }
    assert_int_equal(il_ledger_rows_after(l, seq, ledger_test_next, &seq, &err), IL_OK);
    assert_int_equal(il_ledger_rows_after(l, UINT64_MAX, ledger_test_next, &seq, &err), IL_OK);
    assert_int_equal(seq, all);
}

static void ledger_test_arguments(il_ledger *l) {
    static const char long_key[130] = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
                                      "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";
    il_error err = {0};
    assert_int_equal(strlen(long_key), 129);
    assert_int_equal(ledger_test_commit(l, "", 0, "x", NULL, &err), IL_E_ARGUMENT);
    assert_int_equal(ledger_test_commit(l, long_key, 0, "x", NULL, &err), IL_E_ARGUMENT);
    assert_int_equal(ledger_test_commit(l, long_key + 1, 0, "x", NULL, &err), IL_OK);
    assert_int_equal(ledger_test_commit(l, "empty", 0, "", NULL, &err), IL_E_ARGUMENT);
}

typedef struct ledger_order {
    char keys[256];
} ledger_order;

static bool ledger_order_visit(void *ctx, il_str session, uint64_t version, uint64_t changed_ms) {
    ledger_order *o = ctx;
    assert_true(version > 0 && changed_ms > 0);
    if (session.n == 1) { /* the long one is of another test */
        strncat(o->keys, session.p, 1);
    }
    return session.p[0] != 'z';
}

static bool ledger_order_row(void *ctx, const il_ledger_row *row) {
    size_t *left = ctx;
    assert_true(row->seq > 0 && row->time_ms > 0 && row->kind.n > 0);
    return --*left > 0;
}

static void ledger_test_visits(il_ledger *l) {
    il_error err = {0};
    ledger_order order = {""};
    size_t left = 1;
    bool chained = false;
    const il_store store = il_ledger_store(l);
    const il_store_change z = {.space = IL_STR("session"), .key = IL_STR("z"), .moves = true, .state = IL_STR("z")};
    const il_store_change y = {.space = IL_STR("session"), .key = IL_STR("y"), .moves = true, .state = IL_STR("y")};
    assert_int_equal(store.commit(store.ctx, &z, 1, 9000, &err), IL_OK);
    assert_int_equal(store.commit(store.ctx, &y, 1, 9001, &err), IL_OK);
    assert_int_equal(il_ledger_sessions(l, ledger_order_visit, &order, &err), IL_OK);
    assert_string_equal(order.keys, "yz"); /* newest first, and stopped at z */
    assert_int_equal(il_ledger_rows(l, IL_STR(""), ledger_order_row, &left, &err), IL_OK);
    assert_int_equal(left, 0); /* stopped after one */
    assert_int_equal(ledger_test_rows(l, "child", NULL), 1);
    assert_int_equal(ledger_test_rows(l, "nobody", NULL), 0);
    assert_true(ledger_test_rows(l, "", &chained) > 2);
    assert_true(chained);
}

void ledger_test_store(il_ledger *l) {
    ledger_test_basics(l);
    ledger_test_conflicts(l);
    ledger_test_together(l);
    ledger_test_after(l);
    ledger_test_arguments(l);
    ledger_test_visits(l);
}

void ledger_test_sql(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    char *why = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s: %s", sql, why);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int64_t ledger_test_number(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    const int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return n;
}

void ledger_test_version_1(const char *path) {
    FILE *f = fopen("tests/data/ledger/version-1.sql", "r");
    static char text[64 << 10];
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    assert_int_equal(fclose(f), 0);
    assert_true(n > 1000 && n < sizeof text - 1);
    text[n] = '\0';
    ledger_test_sql(path, "PRAGMA journal_mode = WAL");
    ledger_test_sql(path, text);
    assert_int_equal(chmod(path, 0600), 0);
}
