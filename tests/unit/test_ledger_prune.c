/* SPDX-License-Identifier: Apache-2.0 */
/* il_ledger_prune: what goes, what stays, and that a prune that is interrupted anywhere leaves a whole ledger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_monitor.h"
#include "helper_vfs.h"

#define NOW 1796100000000u

static void real_ledger(char path[LEDGER_TEST_PATH]) {
    ledger_test_path(path, "ledger.db");
    ledger_test_version_1(path);
    il_ledger_close(ledger_test_open(path, NULL));
}

static void whole(il_ledger *l) {
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    assert_int_equal(il_ledger_verify(l, NULL, NULL, &report, NULL), IL_OK);
    assert_int_equal(report.findings, 0);
}

/* `over` is at version 4 with rows 14 to 17. */
static void test_one(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], text[16384];
    uint64_t erased = 99;
    il_error err = {0};
    real_ledger(path);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(il_ledger_prune(l, IL_STR("over"), 3, NOW, &erased, &err), IL_E_CONFLICT);
    assert_int_equal(erased, 0);
    assert_int_equal(il_ledger_prune(l, IL_STR("nobody"), 3, NOW, &erased, &err), IL_E_NOT_FOUND);
    assert_int_equal(il_ledger_prune(l, IL_STR("o\"er"), 3, NOW, &erased, &err), IL_E_ARGUMENT);
    assert_int_equal(ledger_test_number(path, "SELECT count(*) FROM rows WHERE body IS NULL"), 0);
    assert_int_equal(il_ledger_prune(l, IL_STR("over"), 4, NOW, &erased, &err), IL_OK);
    assert_int_equal(erased, 4);
    assert_int_equal(ledger_test_number(path, "SELECT count(*) FROM rows WHERE body IS NULL AND key = 'over'"), 4);
    assert_int_equal(ledger_test_number(path, "SELECT count(*) FROM rows WHERE body IS NULL"), 4);
    assert_int_equal(ledger_test_load(l, "over", text, sizeof text), 4); /* the id is not free */
    whole(l);
    /* A second time there is nothing to do, and nothing is written. */
    const int64_t rows = ledger_test_number(path, "SELECT max(seq) FROM rows");
    assert_int_equal(il_ledger_prune(l, IL_STR("over"), 4, NOW, &erased, &err), IL_OK);
    assert_int_equal(erased, 0);
    assert_int_equal(ledger_test_number(path, "SELECT max(seq) FROM rows"), rows);
    /* Rows that come later (a denial in a session that has ended) can be pruned later. */
    assert_int_equal(ledger_test_commit(l, "over", 4, NULL, "decision", &err), IL_OK);
    whole(l);
    assert_int_equal(il_ledger_prune(l, IL_STR("over"), 4, NOW, &erased, &err), IL_OK);
    assert_int_equal(erased, 1);
    whole(l);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_where(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    il_error err = {0};
    const il_ledger_options look = {.size = sizeof look, .read_only = true};
    il_ledger *l = ledger_test_open(":memory:", NULL);
    assert_int_equal(il_ledger_prune(l, IL_STR("s"), 1, NOW, NULL, &err), IL_E_ARGUMENT);
    il_ledger_close(l);
    real_ledger(path);
    l = ledger_test_open(path, &look);
    assert_int_equal(il_ledger_prune(l, IL_STR("over"), 4, NOW, NULL, &err), IL_E_PERMISSION);
    il_ledger_close(l);
    l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_commit(l, "odd", 0, "no session", "begin", &err), IL_OK);
    assert_int_equal(il_ledger_prune(l, IL_STR("odd"), 1, NOW, NULL, &err), IL_E_DAMAGED);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* More rows than one transaction takes. Then everything before them goes as well, and the trail begins at the last erased row. */
static void test_many(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    uint64_t erased = 0;
    il_error err = {0};
    il_store_row rows[50];
    real_ledger(path);
    il_ledger *l = ledger_test_open(path, NULL);
    const il_store store = il_ledger_store(l);
    for (size_t i = 0; i < 50; i++) {
        rows[i] = (il_store_row){.kind = IL_STR("decision"), .body = IL_STR("{\"layer\":\"fault\"}")};
    }
    const il_store_change change = {.space = IL_STR("session"), .key = IL_STR("over"), .expect = 4, .rows = rows, .nrows = 50};
    for (int i = 0; i < 45; i++) {
        assert_int_equal(store.commit(store.ctx, &change, 1, NOW, &err), IL_OK);
    }
    assert_int_equal(il_ledger_prune(l, IL_STR("over"), 4, NOW, &erased, &err), IL_OK);
    assert_int_equal(erased, 2254);
    whole(l);
    assert_int_equal(ledger_test_number(path, "SELECT count(*) FROM pruned"), 3);
    assert_int_equal(il_ledger_prune(l, IL_STR("demo"), 9, NOW, &erased, &err), IL_OK);
    assert_int_equal(il_ledger_prune(l, IL_STR("other"), 5, NOW, &erased, &err), IL_OK);
    whole(l);
    while (ledger_test_number(path, "SELECT count(*) FROM rows") > 2) { /* a thousand at a time, with each prune */
        assert_int_equal(ledger_test_commit(l, "over", 4, NULL, "decision", &err), IL_OK);
        assert_int_equal(il_ledger_prune(l, IL_STR("over"), 4, NOW, &erased, &err), IL_OK);
        whole(l);
        assert_true(ledger_test_number(path, "SELECT max(n) FROM pruned") < 20);
    }
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* What was erased is not in the file any more, nor in its log, which stays as long as another program has the file open. */
static void test_overwritten(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], command[2 * LEDGER_TEST_PATH + 64];
    real_ledger(path);
    il_ledger *other = ledger_test_open(path, NULL);
    il_ledger *l = ledger_test_open(path, NULL);
    (void)snprintf(command, sizeof command, "grep -q eve@evil.example '%s' '%s-wal'", path, path);
    assert_int_equal(ledger_test_commit(other, "new", 0, "eve@evil.example", "begin", NULL), IL_OK); /* through the log */
    assert_int_equal(system(command), 0);
    ledger_test_sql(path, "DELETE FROM objects WHERE key = 'new'");
    assert_int_equal(il_ledger_prune(l, IL_STR("demo"), 9, NOW, NULL, NULL), IL_OK);
    il_ledger_close(l);
    assert_int_not_equal(system(command), 0);
    assert_int_equal(ledger_test_commit(other, "new", 0, "x", "begin", NULL), IL_OK); /* and goes on */
    il_ledger_close(other);
    ledger_test_clean(path);
}

static void test_interrupted(void **state) {
    (void)state;
    bool lived = false;
    size_t stayed = 0;
    for (long at = 0; !lived && at < 1000; at++) {
        char path[LEDGER_TEST_PATH];
        int status = 0;
        real_ledger(path);
        const pid_t child = fork();
        if (child == 0) {
            vfs_install();
            il_ledger *l = NULL;
            il_status pruned = il_ledger_open(il_host_alloc(), path, NULL, &l, NULL);
            vfs_arm(VFS_WRITE, (size_t)at + 1, false, VFS_GONE);
            pruned = pruned == IL_OK ? il_ledger_prune(l, IL_STR("demo"), 9, NOW, NULL, NULL) : pruned;
            _exit(pruned == IL_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == VFS_GONE_CODE));
        lived = WEXITSTATUS(status) == 0;
        il_ledger *l = ledger_test_open(path, NULL);
        whole(l);
        stayed += ledger_test_number(path, "SELECT count(*) FROM rows WHERE body IS NULL") == 0 &&
                  ledger_test_number(path, "SELECT min(seq) FROM rows") == 1;
        il_ledger_close(l);
        ledger_test_clean(path);
    }
    assert_true(lived && stayed > 3);
}

static void copy(const char *from, const char *to) {
    char command[2 * LEDGER_TEST_PATH + 16];
    (void)snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* A session that was used for long and has ended: more rows than one transaction erases, and each tells its state. Its version. */
static uint64_t long_session(const char *path) {
    static monitor_case c;
    char text[IL_SESSION_STATE_MAX];
    il_monitor *m = NULL;
    const il_begin begin = {.size = sizeof begin};
    const il_outcome done = {.size = sizeof done, .how = IL_OUTCOME_DONE};
    monitor_case_init(&c, monitor_policy);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(monitor_new(&c, c.policy.policy, NULL, il_ledger_store(l), true, &m), IL_OK);
    assert_int_equal(il_monitor_begin(m, IL_STR("long"), &begin, NULL), IL_OK);
    for (int i = 0; i < 550; i++) {
        const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = i < 540 ? IL_STR("n") : IL_STR("u")};
        il_decision d = IL_DECISION_INIT;
        il_settlement s = IL_SETTLEMENT_INIT;
        assert_int_equal(il_monitor_decide(m, IL_STR("long"), &call, &d, NULL), IL_OK);
        assert_int_equal(il_monitor_settle(m, IL_STR("long"), d.ticket, &done, &s, NULL), IL_OK);
    }
    assert_int_equal(il_monitor_end(m, IL_STR("long"), false, NULL), IL_OK);
    const uint64_t version = ledger_test_load(l, "long", text, sizeof text);
    il_monitor_free(m);
    il_ledger_close(l);
    monitor_case_free(&c);
    return version;
}

/* The process dies between two transactions: rows that are left are older than the state that the act tells of. */
static void test_interrupted_between(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], copied[LEDGER_TEST_PATH + 8];
    size_t between = 0;
    bool lived = false;
    ledger_test_path(path, "ledger.db");
    const uint64_t version = long_session(path);
    (void)snprintf(copied, sizeof copied, "%s.copy", path);
    for (size_t at = 1; !lived && at < 2000; at += 37) {
        int status = 0;
        copy(path, copied);
        const pid_t child = fork();
        if (child == 0) {
            vfs_install();
            il_ledger *l = NULL;
            il_status pruned = il_ledger_open(il_host_alloc(), copied, NULL, &l, NULL);
            vfs_arm(VFS_WRITE, at, false, VFS_GONE);
            pruned = pruned == IL_OK ? il_ledger_prune(l, IL_STR("long"), version, NOW, NULL, NULL) : pruned;
            _exit(pruned == IL_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == VFS_GONE_CODE));
        lived = WEXITSTATUS(status) == 0;
        il_ledger *l = ledger_test_open(copied, NULL);
        whole(l);
        if (!lived && ledger_test_number(copied, "SELECT count(*) FROM pruned") == 1) {
            between++;
            assert_int_equal(il_ledger_prune(l, IL_STR("long"), version, NOW, NULL, NULL), IL_OK);
            whole(l);
        }
        il_ledger_close(l);
        (void)remove(copied);
    }
    assert_true(lived && between > 0);
    ledger_test_clean(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one),         cmocka_unit_test(test_where),
                                       cmocka_unit_test(test_many),        cmocka_unit_test(test_overwritten),
                                       cmocka_unit_test(test_interrupted), cmocka_unit_test(test_interrupted_between)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
