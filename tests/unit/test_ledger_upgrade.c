/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger of version 1 (tests/data/ledger/version-1.sql, written by a gateway of that time) becomes one of version 2, wholly or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "helper_ledger.h"
#include "helper_vfs.h"

#define OLD_ROWS 22
#define OLD_HEAD "2f67f0a2a932f5fe201a1bb27332b985602e738f515e1a5d5ec2a534820edf50"

static void old_ledger(char path[LEDGER_TEST_PATH]) {
    ledger_test_path(path, "ledger.db");
    ledger_test_version_1(path);
}

/* A number that the file answers to a question of SQL. */
static int64_t asks(const char *path, const char *sql) { return ledger_test_number(path, sql); }

static size_t findings(il_ledger *l) {
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    assert_int_equal(il_ledger_verify(l, NULL, NULL, &report, NULL), IL_OK);
    return (size_t)report.findings;
}

typedef struct upgrade_row {
    size_t n;
    char body[256];
} upgrade_row;

static bool upgrade_visit(void *ctx, const il_ledger_row *row) {
    upgrade_row *u = ctx;
    if (il_str_eq(row->kind, IL_STR("upgrade"))) {
        u->n++;
        (void)snprintf(u->body, sizeof u->body, "%.*s", IL_STR_ARG(row->body));
    }
    return true;
}

static void whole_2(const char *path) {
    upgrade_row u = {0};
    bool chained = false;
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_rows(l, "", &chained), OLD_ROWS + 1);
    assert_true(chained);
    assert_int_equal(findings(l), 0);
    assert_int_equal(il_ledger_rows(l, IL_STR(""), upgrade_visit, &u, NULL), IL_OK);
    assert_int_equal(u.n, 1);
    assert_string_equal(u.body, "{\"from\":1,\"head\":\"" OLD_HEAD "\",\"rows\":22,\"v\":1}");
    il_ledger_close(l);
    assert_int_equal(asks(path, "PRAGMA user_version"), 2);
}

static void whole_1(const char *path) {
    assert_int_equal(asks(path, "PRAGMA user_version"), 1);
    assert_int_equal(asks(path, "SELECT count(*) FROM rows"), OLD_ROWS);
    assert_int_equal(asks(path, "SELECT count(*) FROM objects"), 3);
    assert_int_equal(asks(path, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"), 2);
    assert_int_equal(asks(path, "SELECT lower(hex(hash)) = '" OLD_HEAD "' FROM rows ORDER BY seq DESC LIMIT 1"), 1);
}

static void test_upgrade(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    uint8_t bytes[IL_SESSION_STATE_MAX];
    size_t n = 0;
    uint64_t version = 0;
    old_ledger(path);
    whole_1(path);
    whole_2(path);
    whole_2(path); /* and once only */
    il_ledger *l = ledger_test_open(path, NULL);
    const il_store store = il_ledger_store(l);
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("demo"), bytes, sizeof bytes, &n, &version, NULL), IL_OK);
    assert_int_equal(version, 9);
    assert_int_equal(ledger_test_rows(l, "demo", NULL), 13);
    assert_int_equal(ledger_test_commit(l, "demo", 9, "new", "decision", NULL), IL_OK);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* Reading leaves it as it is, and can verify it. */
static void test_read_only(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    uint8_t bytes[IL_SESSION_STATE_MAX];
    char head[IL_DIGEST_HEX];
    size_t n = 0;
    uint64_t version = 0;
    const il_ledger_options look = {.size = sizeof look, .read_only = true};
    old_ledger(path);
    il_ledger *l = ledger_test_open(path, &look);
    const il_store store = il_ledger_store(l);
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("over"), bytes, sizeof bytes, &n, &version, NULL), IL_OK);
    assert_int_equal(ledger_test_rows(l, "over", NULL), 4);
    assert_int_equal(il_ledger_verify(l, NULL, NULL, &report, NULL), IL_OK);
    assert_int_equal(report.version, 1);
    assert_int_equal(report.findings, 0);
    assert_int_equal(report.rows, OLD_ROWS);
    il_digest_hex(report.head, head);
    assert_string_equal(head, OLD_HEAD);
    il_ledger_close(l);
    whole_1(path);
    /* The control: a row that was changed is found in version 1 as well. */
    ledger_test_sql(path, "UPDATE rows SET body = replace(body, 'allow', 'block') WHERE seq = 2");
    l = ledger_test_open(path, &look);
    assert_true(findings(l) > 0);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* What was changed under the old chain does not get a new one. */
static void test_broken(void **state) {
    (void)state;
    static const char *const edits[] = {"UPDATE rows SET body = replace(body, 'allow', 'block') WHERE seq = 2",
                                        "DELETE FROM rows WHERE seq = 5", "UPDATE rows SET hash = zeroblob(32) WHERE seq = 22"};
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char path[LEDGER_TEST_PATH];
        il_ledger *l = NULL;
        il_error err = {0};
        old_ledger(path);
        ledger_test_sql(path, edits[i]);
        assert_int_equal(il_ledger_open(il_host_alloc(), path, NULL, &l, &err), IL_E_DAMAGED);
        assert_non_null(strstr(err.msg, "not upgraded"));
        assert_int_equal(asks(path, "PRAGMA user_version"), 1);
        ledger_test_clean(path);
    }
}

static void test_newer(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    il_ledger *l = NULL;
    old_ledger(path);
    ledger_test_sql(path, "PRAGMA user_version = 3");
    assert_int_equal(il_ledger_open(il_host_alloc(), path, NULL, &l, NULL), IL_E_VERSION);
    ledger_test_clean(path);
}

/* Opens in a process of its own that dies at write number `at`; whether it lived to the end. */
static bool opens(const char *path, long at) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        il_ledger *l = NULL;
        vfs_install();
        vfs_arm(VFS_WRITE, (size_t)at + 1, false, VFS_GONE);
        if (il_ledger_open(il_host_alloc(), path, NULL, &l, NULL) != IL_OK) {
            _exit(8);
        }
        il_ledger_close(l);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == VFS_GONE_CODE);
    return WEXITSTATUS(status) == 0;
}

/* At each write of the upgrade the process ends. What is there then is version 1 whole, or version 2 whole. */
static void test_interrupted(void **state) {
    (void)state;
    bool lived = false;
    size_t kept = 0, moved = 0;
    for (long at = 0; !lived && at < 1000; at++) {
        char path[LEDGER_TEST_PATH];
        old_ledger(path);
        lived = opens(path, at);
        if (asks(path, "PRAGMA user_version") == 1) {
            assert_false(lived);
            whole_1(path);
            kept++;
        } else {
            moved++;
        }
        whole_2(path);
        ledger_test_clean(path);
    }
    assert_true(lived);
    assert_true(kept > 10 && moved > 1);
}

/* Two processes open it at the same moment: one upgrades, the other finds it done. */
static void test_two(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        char path[LEDGER_TEST_PATH];
        int go[2];
        pid_t children[4];
        old_ledger(path);
        assert_int_equal(pipe(go), 0);
        for (size_t i = 0; i < 4; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                char byte;
                il_ledger *l = NULL;
                il_error err = {0};
                (void)close(go[1]);
                (void)!read(go[0], &byte, 1);
                if (il_ledger_open(il_host_alloc(), path, NULL, &l, &err) != IL_OK) {
                    (void)fprintf(stderr, "open: %s\n", err.msg);
                    _exit(1);
                }
                il_ledger_close(l);
                _exit(0);
            }
        }
        (void)close(go[0]);
        (void)close(go[1]);
        for (size_t i = 0; i < 4; i++) {
            int status = 0;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        whole_2(path);
        ledger_test_clean(path);
    }
}

/* Who had it open for reading meanwhile is told, and nothing wrong is read. */
static void test_meanwhile(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    uint8_t bytes[IL_SESSION_STATE_MAX];
    size_t n = 0;
    uint64_t version = 0;
    il_error err = {0};
    const il_ledger_options look = {.size = sizeof look, .read_only = true};
    old_ledger(path);
    il_ledger *reader = ledger_test_open(path, &look);
    il_ledger *writer = ledger_test_open(path, NULL);
    const il_store store = il_ledger_store(reader);
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("demo"), bytes, sizeof bytes, &n, &version, &err),
                     IL_E_VERSION);
    assert_int_equal(ledger_test_rows(writer, "", NULL), OLD_ROWS + 1);
    il_ledger_close(reader);
    il_ledger_close(writer);
    ledger_test_clean(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upgrade),   cmocka_unit_test(test_read_only),   cmocka_unit_test(test_broken),
        cmocka_unit_test(test_newer),     cmocka_unit_test(test_interrupted), cmocka_unit_test(test_two),
        cmocka_unit_test(test_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
