/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers that must be refused, at start and while running. */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "ledger/file.h"

static void write_file(const char *path, const void *p, size_t n) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void poke(const char *path, off_t at, const void *p, size_t n) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, p, n, at), (ssize_t)n);
    assert_int_equal(close(fd), 0);
}

/* A closed ledger with one session. */
static void make(char path[LEDGER_TEST_PATH]) {
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(ledger_test_commit(l, "s", 0, "one", "begin", NULL), IL_OK);
    il_ledger_close(l);
}

static off_t size_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* Opening fails with `want`, the message has `word`, and the file is as it was. */
static void refused(const char *path, il_status want, const char *word) {
    static const il_ledger_options looks[2] = {{.size = sizeof(il_ledger_options)},
                                               {.size = sizeof(il_ledger_options), .read_only = true}};
    const off_t before = size_of(path);
    for (size_t i = 0; i < 2; i++) {
        il_ledger *l = NULL;
        il_error err = {0};
        assert_int_equal(il_ledger_open(il_host_alloc(), path, &looks[i], &l, &err), want);
        assert_null(l);
        if (!strstr(err.msg, word) || !strstr(err.msg, path)) {
            fail_msg("`%s` does not say `%s`", err.msg, word);
        }
    }
    assert_int_equal(size_of(path), before);
}

static void test_foreign(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], junk[4096], command[2 * LEDGER_TEST_PATH + 128];
    memset(junk, 'j', sizeof junk);
    ledger_test_path(path, "ledger.db");
    write_file(path, "", 0);
    refused(path, IL_E_DAMAGED, "not a ledger");
    write_file(path, junk, 50);
    refused(path, IL_E_DAMAGED, "not a ledger");
    write_file(path, junk, sizeof junk);
    refused(path, IL_E_DAMAGED, "not a ledger");
    assert_int_equal(unlink(path), 0);
    (void)snprintf(
        command, sizeof command,
        "python3 -c \"import sqlite3; d=sqlite3.connect('%s'); d.execute('create table t(a)'); d.commit()\"; chmod 600 '%s'",
        path, path);
    assert_int_equal(system(command), 0);
    refused(path, IL_E_DAMAGED, "another program");
    /* Our mark on tables that are not ours. */
    const uint8_t ours[4] = {0x49, 0x4c, 0x4b, 0x31}, one[4] = {0, 0, 0, 1};
    poke(path, 68, ours, sizeof ours);
    poke(path, 60, one, sizeof one);
    refused(path, IL_E_DAMAGED, "no such table");
    ledger_test_clean(path);
}

static void test_truncated(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    make(path);
    const off_t whole = size_of(path);
    assert_true(whole >= 8192);
    for (off_t keep = whole - 1; keep > 0; keep -= 1000) {
        assert_int_equal(truncate(path, keep), 0);
        refused(path, IL_E_DAMAGED, "cut short");
    }
    ledger_test_clean(path);
}

static void test_damaged(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], junk[4096];
    memset(junk, 0x5a, sizeof junk);
    make(path);
    poke(path, 4096, junk, sizeof junk); /* the page of a table */
    il_ledger *l = NULL;
    il_error err = {0};
    il_status status = il_ledger_open(il_host_alloc(), path, NULL, &l, &err);
    if (status == IL_OK) { /* it may be the page of the objects, which opening does not read */
        char text[16];
        size_t n;
        uint64_t version;
        const il_store store = il_ledger_store(l);
        status = store.load(store.ctx, IL_STR("session"), IL_STR("s"), (uint8_t *)text, sizeof text, &n, &version, &err);
    }
    assert_int_equal(status, IL_E_DAMAGED);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_newer(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    const uint8_t three[4] = {0, 0, 0, 3}, zero[4] = {0, 0, 0, 0};
    make(path);
    poke(path, 60, three, sizeof three);
    refused(path, IL_E_VERSION, "version 3");
    poke(path, 60, zero, sizeof zero);
    refused(path, IL_E_VERSION, "version 0");
    ledger_test_clean(path);
}

static void test_permissions(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    il_ledger *l = NULL;
    il_error err = {0};
    make(path);
    assert_int_equal(chmod(path, 0620), 0);
    refused(path, IL_E_PERMISSION, "written by others");
    assert_int_equal(chmod(path, 0602), 0);
    refused(path, IL_E_PERMISSION, "written by others");
    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(il_ledger_open(il_host_alloc(), path, NULL, &l, &err), IL_E_PERMISSION);
    assert_non_null(strstr(err.msg, "read-only"));
    const il_ledger_options look = {.size = sizeof look, .read_only = true};
    l = ledger_test_open(path, &look); /* looking needs no right to write */
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_places(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], inner[LEDGER_TEST_PATH + 16];
    il_ledger *l = NULL;
    il_error err = {0};
    ledger_test_path(path, "ledger.db");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(il_ledger_open(il_host_alloc(), path, NULL, &l, &err), IL_E_DAMAGED);
    assert_non_null(strstr(err.msg, "regular file"));
    assert_int_equal(il_ledger_open(il_host_alloc(), "/", NULL, &l, &err), IL_E_DAMAGED);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(il_ledger_open(il_host_alloc(), path, NULL, &l, &err), IL_E_DAMAGED);
    assert_int_equal(unlink(path), 0);
    write_file(path, "x", 1);
    (void)snprintf(inner, sizeof inner, "%s/ledger.db", path);
    assert_int_equal(il_ledger_open(il_host_alloc(), inner, NULL, &l, &err),
                     IL_E_PERMISSION); /* a file where a folder should be */
    assert_null(l);
    ledger_test_clean(path);
}

/* SQLite takes such a name for an address, and would open another file than the one that was looked at. */
static void test_address(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], folder[LEDGER_TEST_PATH], before[4096];
    il_ledger *l = NULL;
    il_error err = {0};
    assert_non_null(getcwd(before, sizeof before));
    make(path);
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - strlen("/ledger.db")), path);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(chmod("ledger.db", 0666), 0);
    write_file("file:ledger.db", "x", 1);
    assert_int_equal(chmod("file:ledger.db", 0600), 0);
    assert_int_equal(il_ledger_open(il_host_alloc(), "file:ledger.db", NULL, &l, &err), IL_E_ARGUMENT);
    assert_non_null(strstr(err.msg, "./"));
    assert_int_equal(il_ledger_open(il_host_alloc(), "./file:ledger.db", NULL, &l, &err), IL_E_DAMAGED); /* that is one byte */
    assert_null(l);
    assert_int_equal(chdir(before), 0);
    ledger_test_clean(path);
}

/* A file that is mounted alone has its log in another folder than the rest of the world. 0: refused; 77: nothing may be mounted here. */
static int mounted(const char *path, const char *at) {
    il_ledger *l = NULL;
    il_error err = {0};
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, at, NULL, MS_BIND, NULL) != 0) {
        return 77;
    }
    const il_status status = il_ledger_open(il_host_alloc(), at, NULL, &l, &err);
    return status == IL_E_PERMISSION && strstr(err.msg, "folder") ? 0 : 1;
}

static void test_mounted_alone(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], at[LEDGER_TEST_PATH];
    int status = 0;
    make(path);
    ledger_test_path(at, "ledger.db");
    write_file(at, "", 0);
    const pid_t child = fork();
    if (child == 0) {
        _exit(mounted(path, at));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    ledger_test_clean(path);
    ledger_test_clean(at);
    if (WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_int_equal(status, 0);
}

/* While it is open: each of these turns every later use into an error, so that each decision is a fault. */
static void fails(il_ledger *l, il_status want) {
    const il_store store = il_ledger_store(l);
    uint8_t text[16];
    size_t n;
    uint64_t version;
    il_error err = {0};
    assert_int_equal(store.load(store.ctx, IL_STR("session"), IL_STR("s"), text, sizeof text, &n, &version, &err), want);
    assert_int_equal(ledger_test_commit(l, "s", 1, "two", "decision", &err), want);
    assert_int_not_equal(err.msg[0], 0);
}

static void test_replaced_open(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], other[LEDGER_TEST_PATH];
    make(path);
    make(other);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(rename(other, path), 0);
    fails(l, IL_E_DAMAGED);
    il_ledger_close(l);
    ledger_test_clean(path);
    ledger_test_clean(other);
}

static void test_removed_open(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    make(path);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(unlink(path), 0);
    fails(l, IL_E_IO); /* not that there is no such session */
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_truncated_open(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    make(path);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(truncate(path, size_of(path) / 2), 0);
    fails(l, IL_E_DAMAGED);
    assert_int_equal(truncate(path, 0), 0);
    fails(l, IL_E_DAMAGED);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_read_only_open(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    make(path);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(chmod(path, 0400), 0);
    fails(l, IL_E_PERMISSION);
    assert_int_equal(chmod(path, 0622), 0);
    fails(l, IL_E_PERMISSION);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(ledger_test_commit(l, "s", 1, "two", "decision", NULL), IL_OK); /* put right, it goes on */
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* Under each name SQLite would keep a log of its own: who writes under one of them does not see the other. */
static void test_second_name(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], other[LEDGER_TEST_PATH + 8];
    struct stat st;
    const il_ledger_options look = {.size = sizeof look, .read_only = true};
    il_ledger *l2 = NULL;
    il_error err = {0};
    make(path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_nlink, 1);
    (void)snprintf(other, sizeof other, "%s.other", path);
    il_ledger *l = ledger_test_open(path, NULL);
    assert_int_equal(link(path, other), 0);
    fails(l, IL_E_PERMISSION);
    assert_int_equal(il_ledger_open(il_host_alloc(), other, NULL, &l2, &err), IL_E_PERMISSION);
    assert_non_null(strstr(err.msg, "second name"));
    il_ledger_close(ledger_test_open(other, &look)); /* copies share what did not change between them */
    assert_int_equal(unlink(other), 0);
    assert_int_equal(ledger_test_commit(l, "s", 1, "two", "decision", NULL), IL_OK);
    il_ledger_close(l);
    ledger_test_clean(path);
}

static void test_newer_open(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], command[LEDGER_TEST_PATH + 128];
    make(path);
    il_ledger *l = ledger_test_open(path, NULL);
    (void)snprintf(command, sizeof command,
                   "python3 -c \"import sqlite3; d=sqlite3.connect('%s'); d.execute('pragma user_version=3'); d.commit()\"",
                   path);
    assert_int_equal(system(command), 0);
    fails(l, IL_E_VERSION);
    il_ledger_close(l);
    ledger_test_clean(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign),        cmocka_unit_test(test_truncated),     cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_newer),          cmocka_unit_test(test_permissions),   cmocka_unit_test(test_places),
        cmocka_unit_test(test_replaced_open),  cmocka_unit_test(test_removed_open),  cmocka_unit_test(test_truncated_open),
        cmocka_unit_test(test_read_only_open), cmocka_unit_test(test_newer_open),    cmocka_unit_test(test_second_name),
        cmocka_unit_test(test_address),        cmocka_unit_test(test_mounted_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
