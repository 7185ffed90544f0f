/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that commit at once: they share transactions, a conflict of one is its own, a failure of the disk is everybody's. */
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_vfs.h"

#define THREADS 8
#define STEPS 60

typedef struct together {
    il_ledger *l;
    pthread_barrier_t start;
    atomic_uint won, conflicts, failed;
    const char *key; /* NULL: each thread its own session */
} together;

typedef struct worker {
    together *all;
    pthread_t thread;
    char key[16];
} worker;

static void *count_up(void *ctx) {
    worker *w = ctx;
    together *t = w->all;
    const il_store store = il_ledger_store(t->l);
    (void)pthread_barrier_wait(&t->start);
    for (int won = 0; won < STEPS;) {
        char text[24] = "0";
        size_t n = 1;
        uint64_t version = 0;
        il_error err = {0};
        il_status status =
            store.load(store.ctx, IL_STR("session"), il_str_of(w->key), (uint8_t *)text, sizeof text - 1, &n, &version, &err);
        if (status == IL_OK || status == IL_E_NOT_FOUND) {
            text[n] = '\0';
            (void)snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
            status = ledger_test_commit(t->l, w->key, version, text, "step", &err);
        }
        won += status == IL_OK;
        if (status == IL_OK) {
            atomic_fetch_add(&t->won, 1);
        } else if (status == IL_E_CONFLICT) {
            atomic_fetch_add(&t->conflicts, 1);
        } else {
            atomic_fetch_add(&t->failed, 1);
            if (atomic_load(&t->failed) > 100 * THREADS) {
                break;
            }
        }
    }
    return NULL;
}

static void run(together *t) {
    worker workers[THREADS];
    assert_int_equal(pthread_barrier_init(&t->start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].all = t;
        (void)snprintf(workers[i].key, sizeof workers[i].key, "%s", t->key ? t->key : "");
        if (!t->key) {
            (void)snprintf(workers[i].key, sizeof workers[i].key, "s%d", i);
        }
        assert_int_equal(pthread_create(&workers[i].thread, NULL, count_up, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    (void)pthread_barrier_destroy(&t->start);
}

/* Each thread its own session: nobody has a conflict. One session: every step is won once. */
static void test_threads(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        char path[LEDGER_TEST_PATH], text[24];
        bool chained = false;
        together t = {.key = shared ? "s" : NULL};
        const il_ledger_options full = {.size = sizeof full, .durability = IL_DURABLE_FULL};
        ledger_test_path(path, "ledger.db");
        t.l = ledger_test_open(path, &full);
        run(&t);
        assert_int_equal(t.won, THREADS * STEPS);
        assert_int_equal(t.failed, 0);
        if (!shared) {
            assert_int_equal(t.conflicts, 0);
        }
        assert_int_equal(ledger_test_load(t.l, shared ? "s" : "s3", text, sizeof text), shared ? THREADS * STEPS : STEPS);
        assert_int_equal(strtol(text, NULL, 10), shared ? THREADS * STEPS : STEPS);
        assert_int_equal(ledger_test_rows(t.l, "", &chained), THREADS * STEPS);
        assert_true(chained);
        il_ledger_close(t.l);
        ledger_test_clean(path);
    }
}

/* The lock is held elsewhere until several wait: they are committed together, those with a stale version alone get a conflict. */
typedef struct waiting {
    il_ledger *l;
    uint64_t expect;
    char key[16];
    pthread_t thread;
    il_status status;
} waiting;

static void *wait_and_commit(void *ctx) {
    waiting *w = ctx;
    w->status = ledger_test_commit(w->l, w->key, w->expect, "new", "step", NULL);
    return NULL;
}

static void test_conflict_is_ones_own(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    waiting w[6];
    bool chained = false;
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, NULL), *other = ledger_test_open(path, NULL);
    for (int i = 0; i < 6; i++) {
        w[i] = (waiting){.l = l, .expect = i % 2 ? 7 : 0};
        (void)snprintf(w[i].key, sizeof w[i].key, "k%d", i);
        assert_int_equal(pthread_create(&w[i].thread, NULL, wait_and_commit, &w[i]), 0);
    }
    for (int i = 0; i < 20; i++) { /* a writer beside them */
        assert_int_equal(ledger_test_commit(other, "o", (uint64_t)i, "x", "step", NULL), IL_OK);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        assert_int_equal(w[i].status, i % 2 ? IL_E_CONFLICT : IL_OK);
    }
    assert_int_equal(ledger_test_rows(l, "", &chained), 23);
    assert_true(chained);
    il_ledger_close(other);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* Somebody holds the lock until several wait, and two of them cannot be written: the others are, in a transaction without them. */
static void test_failure_is_ones_own(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    waiting w[6];
    bool chained = false;
    sqlite3 *holder = NULL;
    ledger_test_path(path, "ledger.db");
    il_ledger *l = ledger_test_open(path, NULL);
    ledger_test_sql(
        path, "CREATE TRIGGER no BEFORE INSERT ON objects WHEN NEW.key IN ('k2', 'k4') BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_int_equal(sqlite3_open(path, &holder), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < 6; i++) {
        w[i] = (waiting){.l = l, .expect = i == 5 ? 7 : 0};
        (void)snprintf(w[i].key, sizeof w[i].key, "k%d", i);
        assert_int_equal(pthread_create(&w[i].thread, NULL, wait_and_commit, &w[i]), 0);
        (void)usleep(20000); /* the first waits for the lock, the rest behind it */
    }
    assert_int_equal(sqlite3_exec(holder, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        assert_int_equal(w[i].status, i == 2 || i == 4 ? IL_E_IO : i == 5 ? IL_E_CONFLICT : IL_OK);
    }
    assert_int_equal(ledger_test_rows(l, "", &chained), 3);
    assert_true(chained);
    il_ledger_close(l);
    ledger_test_clean(path);
}

/* Two connections in turn: each sees that the other moved the chain. */
static void test_turns(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    bool chained = false;
    ledger_test_path(path, "ledger.db");
    il_ledger *l[2] = {ledger_test_open(path, NULL), ledger_test_open(path, NULL)};
    for (uint64_t i = 0; i < 40; i++) {
        assert_int_equal(ledger_test_commit(l[i % 3 == 0], "s", i, "state", "step", NULL), IL_OK);
        assert_int_equal(ledger_test_commit(l[i % 2], "s", i, "late", "step", NULL), IL_E_CONFLICT);
    }
    assert_int_equal(ledger_test_rows(l[0], "", &chained), 40);
    assert_true(chained);
    il_ledger_close(l[0]);
    il_ledger_close(l[1]);
    ledger_test_clean(path);
}

/* Every write of a run fails once. A commit that failed left nothing, the next one works, and the chain stays whole. */
static void test_failing_writes(void **state) {
    (void)state;
    bool fired = true;
    size_t failures = 0;
    vfs_install();
    for (long at = 0; fired && at < 500; at++) {
        char path[LEDGER_TEST_PATH], text[24];
        bool chained = false;
        uint64_t version = 0;
        const il_ledger_options full = {.size = sizeof full, .durability = IL_DURABLE_FULL};
        ledger_test_path(path, "ledger.db");
        il_ledger *l = ledger_test_open(path, &full);
        vfs_arm(VFS_WRITE, (size_t)at + 1, false, VFS_ERROR);
        for (int i = 0; i < 5; i++) {
            il_error err = {0};
            const il_status status = ledger_test_commit(l, "s", version, "state", "step", &err);
            assert_true(status == IL_OK || status == IL_E_IO);
            failures += status != IL_OK;
            version += status == IL_OK;
        }
        (void)vfs_disarm(&fired);
        assert_true(!fired || version >= 4);
        assert_int_equal(ledger_test_commit(l, "s", version, "state", "step", NULL), IL_OK);
        assert_int_equal(ledger_test_load(l, "s", text, sizeof text), version + 1);
        assert_int_equal(ledger_test_rows(l, "", &chained), version + 1);
        assert_true(chained);
        il_ledger_close(l);
        ledger_test_clean(path);
    }
    assert_false(fired); /* the last round had no such write any more */
    assert_true(failures > 5);
}

/* Threads on a disk that fails once: all of that transaction fail, nobody else does, and nothing is half there. */
static void test_failing_together(void **state) {
    (void)state;
    vfs_install();
    for (long at = 3; at < 40; at += 4) {
        char path[LEDGER_TEST_PATH];
        bool chained = false;
        together t = {0};
        bool fired = false;
        ledger_test_path(path, "ledger.db");
        t.l = ledger_test_open(path, NULL);
        vfs_arm(VFS_WRITE, (size_t)at + 1, false, VFS_ERROR);
        run(&t);
        (void)vfs_disarm(&fired);
        assert_true(fired);
        assert_true(t.failed >= 1 && t.failed <= THREADS);
        assert_int_equal(t.won, THREADS * STEPS);
        assert_int_equal(ledger_test_rows(t.l, "", &chained), THREADS * STEPS);
        assert_true(chained);
        il_ledger_close(t.l);
        ledger_test_clean(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads), cmocka_unit_test(test_conflict_is_ones_own), cmocka_unit_test(test_failure_is_ones_own),
        cmocka_unit_test(test_turns),   cmocka_unit_test(test_failing_writes),       cmocka_unit_test(test_failing_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
