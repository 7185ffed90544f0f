/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "helper_ledger.h"

static void test_store(void **state) {
    (void)state;
    il_ledger *l = ledger_test_open(":memory:", NULL);
    ledger_test_store(l);
    il_ledger_close(l);
}

static void test_apart(void **state) {
    (void)state;
    il_ledger *a = ledger_test_open(":memory:", NULL), *b = ledger_test_open(":memory:", NULL);
    assert_int_equal(ledger_test_commit(a, "s", 0, "x", "begin", NULL), IL_OK);
    assert_int_equal(ledger_test_commit(b, "s", 0, "y", "begin", NULL), IL_OK);
    il_ledger_close(a);
    il_ledger_close(b);
}

typedef struct sum { /* over every column of every row, by way of the chain; and the times of the sessions */
    uint8_t head[IL_DIGEST_BYTES];
    uint64_t rows, changed, numbers;
} sum;

static bool sum_row(void *ctx, const il_ledger_row *row) {
    sum *s = ctx;
    memcpy(s->head, row->hash, sizeof s->head);
    s->rows++;
    s->numbers += row->ticket + row->time_ms;
    return true;
}

static bool sum_session(void *ctx, il_str session, uint64_t version, uint64_t changed_ms) {
    sum *s = ctx;
    s->changed += changed_ms * version + session.n;
    return true;
}

/* The same commits make the same rows and the same errors as in a file, also of numbers that no column holds and of any bytes. */
static void test_as_in_a_file(void **state) {
    (void)state;
    static const uint64_t numbers[] = {0, 1, 77, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    char path[LEDGER_TEST_PATH];
    sum sums[2] = {{.rows = 0}};
    ledger_test_path(path, "ledger.db");
    il_ledger *l[2] = {ledger_test_open(":memory:", NULL), ledger_test_open(path, NULL)};
    for (size_t i = 0; i < 216; i++) {
        const uint64_t expect = i % 6 == 0 ? numbers[i / 6 % 6] : i / 6;
        const il_store_row row = {.kind = {"k\0\xff", i % 4}, .ticket = numbers[i / 6 % 6], .body = {"{\0\xfe}", i % 5}};
        const il_store_change change = {.space = {"session\0", 7 + i % 2},
                                        .key = {"a\0\xff"
                                                "b",
                                                1 + i % 4},
                                        .expect = expect,
                                        .moves = i % 3 != 0,
                                        .state = {"\0\1\2", 1 + i % 3},
                                        .rows = &row,
                                        .nrows = 1};
        il_status status[2];
        il_error err[2] = {{.code = IL_OK}};
        for (size_t k = 0; k < 2; k++) {
            const il_store store = il_ledger_store(l[k]);
            status[k] = store.commit(store.ctx, &change, 1, numbers[i % 6], &err[k]);
        }
        assert_int_equal(status[0], status[1]);
        assert_string_equal(err[0].msg, err[1].msg);
    }
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(il_ledger_rows(l[k], IL_STR(""), sum_row, &sums[k], NULL), IL_OK);
        assert_int_equal(il_ledger_sessions(l[k], sum_session, &sums[k], NULL), IL_OK);
        il_ledger_close(l[k]);
    }
    assert_true(sums[0].rows > 10);
    assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
    ledger_test_clean(path);
}

/* Each allocation of a commit fails once; what was there stays as it was. */
typedef struct failing {
    size_t left;
} failing;

static void *failing_alloc(void *ctx, size_t n) {
    failing *f = ctx;
    if (f->left == 0) {
        return NULL;
    }
    f->left--;
    return malloc(n);
}

static void failing_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static void test_memory_fails(void **state) {
    (void)state;
    failing f = {SIZE_MAX};
    const il_alloc alloc = {failing_alloc, failing_free, &f};
    const il_store_row rows[2] = {{.kind = IL_STR("a"), .body = IL_STR("{}")}, {.kind = IL_STR("b"), .body = IL_STR("{}")}};
    il_ledger *l = NULL;
    char text[16];
    bool chained = false;
    f.left = 0;
    assert_int_equal(il_ledger_open(&alloc, ":memory:", NULL, &l, NULL), IL_E_MEMORY);
    assert_null(l);
    f.left = SIZE_MAX;
    assert_int_equal(il_ledger_open(&alloc, ":memory:", NULL, &l, NULL), IL_OK);
    assert_int_equal(ledger_test_commit(l, "s", 0, "old", "begin", NULL), IL_OK);
    const il_store store = il_ledger_store(l);
    const il_store_change changes[2] = {
        {.space = IL_STR("session"),
         .key = IL_STR("s"),
         .expect = 1,
         .moves = true,
         .state = IL_STR("new"),
         .rows = rows,
         .nrows = 2},
        {.space = IL_STR("session"), .key = IL_STR("t"), .moves = true, .state = IL_STR("t"), .rows = rows, .nrows = 2}};
    size_t tries = 0;
    il_status status;
    do {
        f.left = tries++;
        status = store.commit(store.ctx, changes, 2, 5, NULL);
        f.left = SIZE_MAX;
        if (status != IL_OK) {
            assert_int_equal(status, IL_E_MEMORY);
            assert_int_equal(ledger_test_load(l, "s", text, sizeof text), 1);
            assert_string_equal(text, "old");
            assert_int_equal(ledger_test_rows(l, "", NULL), 1);
        }
    } while (status != IL_OK);
    assert_int_equal(tries, 7); /* four rows, two objects, and the try that passed */
    assert_int_equal(ledger_test_rows(l, "", &chained), 5);
    assert_true(chained);
    il_ledger_close(l);
}

/* Four threads count one session up; each step is won by exactly one of them. */
#define THREADS 4
#define STEPS 200
static void *counting(void *ctx) {
    il_ledger *l = ctx;
    const il_store store = il_ledger_store(l);
    for (int won = 0; won < STEPS;) {
        char text[24];
        size_t n = 0;
        uint64_t version = 0;
        if (store.load(store.ctx, IL_STR("session"), IL_STR("s"), (uint8_t *)text, sizeof text - 1, &n, &version, NULL) !=
            IL_OK) {
            return NULL;
        }
        text[n] = '\0';
        (void)snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
        const il_status status = ledger_test_commit(l, "s", version, text, "step", NULL);
        if (status == IL_OK) {
            won++;
        } else if (status != IL_E_CONFLICT) {
            return NULL;
        }
    }
    return l;
}

static void test_threads(void **state) {
    (void)state;
    il_ledger *l = ledger_test_open(":memory:", NULL);
    pthread_t threads[THREADS];
    char text[24];
    bool chained = false;
    assert_int_equal(ledger_test_commit(l, "s", 0, "0", NULL, NULL), IL_OK);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, counting, l), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    assert_int_equal(ledger_test_load(l, "s", text, sizeof text), THREADS * STEPS + 1);
    assert_int_equal(strtol(text, NULL, 10), THREADS * STEPS);
    assert_int_equal(ledger_test_rows(l, "", &chained), THREADS * STEPS);
    assert_true(chained);
    il_ledger_close(l);
}

static void test_options(void **state) {
    (void)state;
    il_ledger *l = NULL;
    const il_ledger_options unset = {0};
    assert_int_equal(il_ledger_open(il_host_alloc(), ":memory:", &unset, &l, NULL), IL_E_ARGUMENT);
    assert_null(l);
    il_ledger_close(NULL);
}

static bool many_in_order(void *ctx, il_str session, uint64_t version, uint64_t changed_ms) {
    uint32_t *left = ctx;
    char name[16];
    (void)changed_ms;
    (void)snprintf(name, sizeof name, "s%u", (unsigned)--*left);
    assert_true(il_str_eq(session, il_str_of(name)));
    assert_int_equal(version, 2);
    return true;
}

/* A file of many sessions makes as many objects: none is looked for in a list of them all. */
static void test_many(void **state) {
    (void)state;
    enum { MANY = 40000 };
    char name[16], text[16];
    const clock_t before = clock();
    il_ledger *l = ledger_test_open(":memory:", NULL);
    for (uint64_t version = 0; version < 2; version++) {
        for (unsigned i = 0; i < MANY; i++) {
            (void)snprintf(name, sizeof name, "s%u", i);
            assert_int_equal(ledger_test_commit(l, name, version, version ? "two" : "one", NULL, NULL), IL_OK);
        }
    }
    assert_int_equal(ledger_test_load(l, "s123", text, sizeof text), 2);
    assert_string_equal(text, "two");
    uint32_t left = MANY;
    assert_int_equal(il_ledger_sessions(l, many_in_order, &left, NULL), IL_OK);
    assert_int_equal(left, 0);
    il_ledger_close(l);
    assert_true((clock() - before) / CLOCKS_PER_SEC < 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many),         cmocka_unit_test(test_store),
                                       cmocka_unit_test(test_apart),        cmocka_unit_test(test_as_in_a_file),
                                       cmocka_unit_test(test_memory_fails), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
