/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_vfs.h"

static void test_store(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, NULL);
    ledger_test_store(l);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_full(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    const il_ledger_options options = {.size = sizeof options, .durability = IL_DURABLE_FULL};
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, &options);
    ledger_test_store(l);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* Folders are made when that was asked for, for their owner alone, and so is the file. */
static void test_created(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], folder[LEDGER_TEST_PATH];
    struct stat st;
    const il_ledger_options make = {.size = sizeof make, .make_folders = true};
    il_ledger *l = NULL;
    il_error err = {0};
    ledger_test_path(path, "a/b/ledger.db");
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - strlen("/b/ledger.db")), path);
    assert_int_equal(il_ledger_open(il_host_alloc(), path, NULL, &l, &err), IL_E_NOT_FOUND);
    assert_non_null(strstr(err.msg, folder));
    assert_int_not_equal(access(folder, F_OK), 0);
    const mode_t mask = umask(0);
    l = ledger_test_open(path, &make);
    (void)umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - strlen("/ledger.db")), path);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_reopen(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], text[16];
    bool chained = false;
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_commit(l, "s", 0, "one", "begin", NULL), IL_OK);
    il_ledger_close(l);
    l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_load(l, "s", text, sizeof text), 1);
    assert_string_equal(text, "one");
    assert_int_equal(ledger_test_commit(l, "s", 1, "two", "decision", NULL), IL_OK);
    assert_int_equal(ledger_test_rows(l, "", &chained), 2);
    assert_true(chained);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* What a commit returned for is there after kill -9, without a close. */
static void test_killed(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], text[16];
    int said[2], status = 0;
    char byte = 0;
    bool chained = false;
    ledger_test_path(path, "ledger.db");
    assert_int_equal(pipe(said), 0);
    const pid_t child = fork();
    if (child == 0) {
        il_ledger *l = NULL;
        if (il_ledger_open(il_host_alloc(), path, NULL, &l, NULL) == IL_OK &&
            ledger_test_commit(l, "s", 0, "one", "begin", NULL) == IL_OK &&
            ledger_test_commit(l, "s", 1, "two", "decision", NULL) == IL_OK) {
            (void)!write(said[1], "x", 1);
        }
        (void)pause();
        _exit(9);
    }
    assert_true(child > 0);
    (void)close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(said[0]);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_load(l, "s", text, sizeof text), 2);
    assert_string_equal(text, "two");
    assert_int_equal(ledger_test_rows(l, "", &chained), 2);
    assert_true(chained);
    il_ledger_close(l);
    ledger_test_clean(path);
}

#define PROCESSES 8
#define STEPS 15

/* Counts the session up STEPS times; 0 when every step was won once and nothing but conflicts came between. */
static int counting(const char *path) {
    il_ledger *l = NULL;
    il_error err = {0};
    const il_ledger_options make = {.size = sizeof make, .make_folders = true};
    if (il_ledger_open(il_host_alloc(), path, &make, &l, &err) != IL_OK) {
        (void)fprintf(stderr, "open: %s\n", err.msg);
        return 1;
    }
    const il_store store = il_ledger_store(l);
    for (int won = 0; won < STEPS;) {
        char text[24] = "0";
        size_t n = 1;
        uint64_t version = 0;
        il_status status =
            store.load(store.ctx, IL_STR("session"), IL_STR("s"), (uint8_t *)text, sizeof text - 1, &n, &version, &err);
        if (status == IL_OK || status == IL_E_NOT_FOUND) {
            text[n] = '\0';
            (void)snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
            status = ledger_test_commit(l, "s", version, text, "step", &err);
        }
        if (status != IL_OK && status != IL_E_CONFLICT) {
            (void)fprintf(stderr, "step: %s\n", err.msg);
            return 2;
        }
        won += status == IL_OK;
    }
    il_ledger_close(l);
    return 0;
}

/* Eight processes begin at the same moment on a ledger that is not there, and count one session up together. */
static void test_processes(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], text[24];
    int go[2];
    pid_t children[PROCESSES];
    bool chained = false;
    ledger_test_path(path, "deep/ledger.db");
    assert_int_equal(pipe(go), 0);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char byte;
            (void)close(go[1]);
            (void)!read(go[0], &byte, 1); /* ends when the parent closes */
            _exit(counting(path));
        }
        assert_true(children[i] > 0);
    }
    (void)close(go[0]);
    (void)close(go[1]);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_load(l, "s", text, sizeof text), PROCESSES * STEPS);
    assert_int_equal(strtol(text, NULL, 10), PROCESSES * STEPS);
    assert_int_equal(ledger_test_rows(l, "", &chained), PROCESSES * STEPS);
    assert_true(chained);
    il_ledger_close(l);
    /* Nothing half-made stays behind. */
    char command[LEDGER_TEST_PATH + 32];
    (void)snprintf(command, sizeof command, "ls '%.*s' | grep -q new", (int)(strlen(path) - strlen("/ledger.db")), path);
    assert_int_not_equal(system(command), 0);
    ledger_test_clean(path);
}

/* Two ledgers on one file in one process, one of them closed: the other's locks and work stay. */
static void test_twice(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], text[16];
    ledger_test_path(path, "ledger.db");
    il_ledger *a = ledger_test_open(path, NULL), *b = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_commit(a, "s", 0, "one", "begin", NULL), IL_OK);
    assert_int_equal(ledger_test_load(b, "s", text, sizeof text), 1);
    assert_int_equal(ledger_test_commit(b, "s", 1, "two", "decision", NULL), IL_OK);
    assert_int_equal(ledger_test_commit(a, "s", 1, "late", "decision", NULL), IL_E_CONFLICT);
    il_ledger_close(b);
    il_ledger *c = ledger_test_open(path, NULL);
    il_ledger_close(c);
    /* Another process comes and goes; if our locks were lost, it would take the log away as the last to leave. */
    char command[LEDGER_TEST_PATH + 128], log[LEDGER_TEST_PATH + 8];
    (void)snprintf(command, sizeof command,
                   "python3 -c \"import sqlite3; d=sqlite3.connect('%s'); d.execute('update objects set version = 3'); "
                   "d.commit(); d.close()\"",
                   path);
    assert_int_equal(system(command), 0);
    (void)snprintf(log, sizeof log, "%s-wal", path);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(ledger_test_commit(a, "s", 3, "four", "decision", NULL), IL_OK);
    assert_int_equal(ledger_test_rows(a, "", NULL), 3);
    il_ledger_close(a);
    ledger_test_clean(path);
}

static void test_read_only(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], text[16];
    const il_ledger_options look = {.size = sizeof look, .read_only = true}, there = {.size = sizeof there, .must_exist = true};
    il_ledger *l = NULL;
    il_error err = {0};
    ledger_test_path(path, "ledger.db");
    assert_int_equal(il_ledger_open(il_host_alloc(), path, &look, &l, &err), IL_E_NOT_FOUND);
    assert_int_equal(il_ledger_open(il_host_alloc(), path, &there, &l, &err), IL_E_NOT_FOUND);
    assert_int_not_equal(access(path, F_OK), 0);
    il_ledger *writer = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_commit(writer, "s", 0, "one", "begin", NULL), IL_OK);
    /* While somebody writes, and after. */
    for (int i = 0; i < 2; i++) {
        l = ledger_test_open(path, &look);
        assert_int_equal(ledger_test_load(l, "s", text, sizeof text), 1);
        assert_int_equal(ledger_test_rows(l, "", NULL), 1);
        assert_int_equal(ledger_test_commit(l, "s", 1, "two", "decision", &err), IL_E_PERMISSION);
        il_ledger_close(l);
        if (i == 0) {
            il_ledger_close(writer);
        }
    }
    ledger_test_clean(path);
}

/* Another process holds the write lock: an error within the time that was asked for, not a wait without end. */
static void test_busy(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], command[LEDGER_TEST_PATH + 256];
    const il_ledger_options options = {.size = sizeof options, .busy_ms = 50};
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, &options);
    (void)snprintf(command, sizeof command,
                   "python3 -c \"import sqlite3,sys,time\nd=sqlite3.connect('%s',isolation_level=None)\nd.execute('BEGIN "
                   "IMMEDIATE')\nprint('held',flush=True)\nsys.stdin.read()\"",
                   path);
    int in[2], out[2];
    char byte;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)close(in[1]);
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(9);
    }
    (void)close(out[1]);
    assert_int_equal(read(out[0], &byte, 1), 1);
    assert_int_equal(ledger_test_commit(l, "s", 0, "one", "begin", NULL), IL_E_BUSY);
    (void)close(in[1]);
    (void)close(in[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(ledger_test_commit(l, "s", 0, "one", "begin", NULL), IL_OK);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void copy_file(const char *from, const char *to) {
    char command[2 * LEDGER_TEST_PATH + 64];
    (void)snprintf(command, sizeof command, "cp -p '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* A checkpoint that a full disk or a kill ended after its first page: the file is shorter than its header says and the log holds the rest. It
 * opens, with every row; without the log it is refused. */
static void test_half_checkpoint(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], half[LEDGER_TEST_PATH], wal[LEDGER_TEST_PATH + 8], half_wal[LEDGER_TEST_PATH + 8], text[16];
    bool chained = false;
    ledger_test_path(path, "ledger.db");
    (void)snprintf(half, sizeof half, "%.*s", (int)(strlen(path) - strlen("ledger.db")), path);
    (void)strncat(half, "half.db", sizeof half - strlen(half) - 1);
    (void)snprintf(wal, sizeof wal, "%s-wal", path);
    (void)snprintf(half_wal, sizeof half_wal, "%s-wal", half);
    il_ledger *l = ledger_test_open(path, NULL);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(ledger_test_commit(l, "s", i, "some state", "decision", NULL), IL_OK);
    }
    copy_file(path, half);
    copy_file(wal, half_wal);
    il_ledger_close(l);
    /* The first page, as the checkpoint that ended well wrote it. */
    char command[2 * LEDGER_TEST_PATH + 128];
    (void)snprintf(command, sizeof command, "dd if='%s' of='%s' bs=4096 count=1 conv=notrunc status=none", path, half);
    assert_int_equal(system(command), 0);
    struct stat st, whole;
    assert_int_equal(stat(half, &st), 0);
    assert_int_equal(stat(path, &whole), 0);
    assert_true(st.st_size < whole.st_size);
    l = ledger_test_open(half, NULL);
    assert_int_equal(ledger_test_load(l, "s", text, sizeof text), 100);
    assert_int_equal(ledger_test_rows(l, "", &chained), 100);
    assert_true(chained);
    il_ledger_close(l);
    assert_int_equal(truncate(half, whole.st_size / 2), 0);
    const il_ledger_options options = {.size = sizeof options};
    il_error err = {0};
    assert_int_equal(il_ledger_open(il_host_alloc(), half, &options, &l, &err), IL_E_DAMAGED);
    assert_non_null(strstr(err.msg, "cut short"));
    ledger_test_clean(path);
}

static int entries(const char *path) {
    char command[LEDGER_TEST_PATH + 32], line[16];
    (void)snprintf(command, sizeof command, "ls -A \"$(dirname '%s')\" | wc -l", path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(pclose(f), 0);
    return atoi(line);
}

/* Each operation of making a ledger fails once. Nothing is left of it, and it is made when the cause is gone. */
static void test_created_on_a_failing_disk(void **state) {
    (void)state;
    static const unsigned operations[] = {VFS_WRITE, VFS_SYNC, VFS_TRUNCATE, VFS_SIZE, VFS_READ, VFS_SHM, VFS_OPEN, VFS_DELETE};
    size_t refused = 0;
    vfs_install();
    for (size_t i = 0; i < 2 * sizeof operations / sizeof operations[0]; i++) {
        bool fired = true;
        for (size_t at = 1; fired; at++) {
            char path[LEDGER_TEST_PATH];
            il_ledger *l = NULL;
            ledger_test_path(path, "ledger.db");
            vfs_arm(operations[i / 2], at, i % 2 != 0, VFS_FULL);
            const il_status status = il_ledger_open(il_host_alloc(), path, NULL, &l, NULL);
            (void)vfs_disarm(&fired);
            assert_true(fired || status == IL_OK);
            refused += status != IL_OK;
            il_ledger_close(l);
            if (access(path, F_OK) != 0) {
                assert_int_equal(entries(path), 0);
            }
            l = ledger_test_open(path, NULL);
            assert_int_equal(ledger_test_commit(l, "s", 0, "x", "begin", NULL), IL_OK);
            il_ledger_close(l);
            assert_int_equal(entries(path), 1);
            ledger_test_clean(path);
        }
    }
    assert_true(refused > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_store),
                                       cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_created),
                                       cmocka_unit_test(test_reopen),
                                       cmocka_unit_test(test_killed),
                                       cmocka_unit_test(test_processes),
                                       cmocka_unit_test(test_twice),
                                       cmocka_unit_test(test_read_only),
                                       cmocka_unit_test(test_busy),
                                       cmocka_unit_test(test_half_checkpoint),
                                       cmocka_unit_test(test_created_on_a_failing_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
