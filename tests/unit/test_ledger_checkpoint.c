/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that copies the log into the file: the log stays short although commits never stop, what fails is told once and loses nothing, and a ledger
 * can be closed at any moment. Runs under ThreadSanitizer too (pthread_create is in sqlite_checkpoint.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_vfs.h"
#include "ledger/batch.h"

#define CHECKPOINT_BODY ((size_t)60000) /* some fifteen pages a row */
#define MB ((size_t)1 << 20)

typedef struct told {
    size_t n;
    char text[256];
} told;

static void warn(void *ctx, const char *text) {
    told *t = ctx;
    t->n++;
    (void)snprintf(t->text, sizeof t->text, "%s", text);
}

static size_t log_bytes(const char *path) {
    char wal[LEDGER_TEST_PATH + 8];
    struct stat st;
    (void)snprintf(wal, sizeof wal, "%s-wal", path);
    return stat(wal, &st) == 0 ? (size_t)st.st_size : 0;
}

static void commit(il_ledger *l, uint64_t version) {
    static char body[CHECKPOINT_BODY + 3];
    il_error err = {0};
    memset(body, 'x', sizeof body);
    body[0] = body[sizeof body - 1] = '"';
    const il_store store = il_ledger_store(l);
    const il_store_row row = {.kind = IL_STR("a"), .ticket = 1, .body = {body, sizeof body}};
    const il_store_change change = {.space = IL_STR(IL_SPACE_SESSION),
                                    .key = IL_STR("s"),
                                    .expect = version,
                                    .moves = true,
                                    .state = IL_STR("state"),
                                    .rows = &row,
                                    .nrows = 1};
    if (store.commit(store.ctx, &change, 1, 1000, &err) != IL_OK) {
        fail_msg("commit %llu: %s", (unsigned long long)version, err.msg);
    }
}

static il_ledger *checkpoint_open(char path[LEDGER_TEST_PATH], bool apart, told *t) {
    const il_ledger_options options = {.size = sizeof options, .checkpoint_thread = apart, .warn = warn, .warn_ctx = t};
    ledger_test_path(path, "ledger.db");
    *t = (told){0};
    return ledger_test_open(path, &options);
}

static void checkpoint_close(il_ledger *l, const char *path, size_t rows) {
    bool chained = false;
    il_ledger_close(l);
    l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_rows(l, "", &chained), rows);
    assert_true(chained);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* Commits without a pause, 60 KB each. */
static void log_is_bounded(bool apart, uint64_t commits, size_t most) {
    char path[LEDGER_TEST_PATH];
    told t;
    size_t longest = 0;
    il_ledger *l = checkpoint_open(path, apart, &t);
    for (uint64_t i = 0; i < commits; i++) {
        commit(l, i);
        const size_t n = log_bytes(path);
        longest = n > longest ? n : longest;
    }
    assert_int_equal(t.n, 0);
    assert_true(longest > 15 * MB); /* it does not copy all the time */
    if (longest > most) {
        fail_msg("the log had %zu MB", longest / MB);
    }
    checkpoint_close(l, path, commits);
}

static void bounded_by_the_thread(void **state) {
    (void)state;
    log_is_bounded(true, 2400, 135 * MB);
}

static void bounded_by_commits(void **state) {
    (void)state;
    log_is_bounded(false, 700, 20 * MB);
}

/* The disk does not do what only a checkpoint asks of it under NORMAL: commits go on, and it is said once, until it works and fails again. */
static void failure_is_told(bool apart) {
    char path[LEDGER_TEST_PATH];
    told t;
    il_ledger *l = checkpoint_open(path, apart, &t);
    uint64_t i = 0;
    commit(l, i++); /* begins the log, which waits for the disk */
    vfs_arm(VFS_SYNC, 1, true, VFS_ERROR);
    for (; i < 600; i++) {
        commit(l, i);
    }
    bool failed = false;
    (void)vfs_disarm(&failed);
    assert_true(failed);
    assert_int_equal(t.n, 1);
    assert_non_null(strstr(t.text, "its log cannot be copied into it and grows"));
    checkpoint_close(l, path, i);
}

static void failure_in_the_thread(void **state) {
    (void)state;
    failure_is_told(true);
}

static void failure_in_a_commit(void **state) {
    (void)state;
    failure_is_told(false);
}

static void closed_at_any_moment(void **state) {
    (void)state;
    for (uint64_t commits = 255; commits < 320; commits += 16) { /* the thread starts at about 267 */
        char path[LEDGER_TEST_PATH];
        told t;
        il_ledger *l = checkpoint_open(path, true, &t);
        for (uint64_t i = 0; i < commits; i++) {
            commit(l, i);
        }
        checkpoint_close(l, path, commits);
        assert_int_equal(t.n, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_by_the_thread), cmocka_unit_test(bounded_by_commits),   cmocka_unit_test(failure_in_the_thread),
        cmocka_unit_test(failure_in_a_commit),   cmocka_unit_test(closed_at_any_moment),
    };
    vfs_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
