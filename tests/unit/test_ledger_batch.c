/* SPDX-License-Identifier: Apache-2.0 */
/* A batch is to its monitor what single commits would be, and to everybody else nothing until its end, or for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_vfs.h"
#include "ledger/batch.h"

typedef struct batch_case {
    char path[LEDGER_TEST_PATH];
    il_ledger *l, *other; /* of another program, as far as SQLite can tell */
    il_ledger_batch b;
    il_store store;
    il_error err;
} batch_case;

static int batch_setup(void **state) {
    static batch_case c;
    const il_ledger_options soon = {.size = sizeof soon, .busy_ms = 30};
    c = (batch_case){0};
    ledger_test_path(c.path, "ledger.db");
    c.l = ledger_test_open(c.path, &soon);
    c.other = ledger_test_open(c.path, &soon);
    c.b.ledger = c.l;
    c.store = il_ledger_batch_store(&c.b);
    *state = &c;
    assert_int_equal(ledger_test_commit(c.l, "s", 0, "0", "begin", &c.err), IL_OK);
    return 0;
}

static int batch_teardown(void **state) {
    batch_case *c = *state;
    (void)vfs_disarm(NULL);
    il_ledger_batch_drop(&c->b);
    il_ledger_close(c->other);
    il_ledger_close(c->l);
    ledger_test_clean(c->path);
    return 0;
}

static il_status batch_put(batch_case *c, const char *key, uint64_t expect, const char *text, const char *kind) {
    const il_store_row row = {.kind = il_str_of(kind ? kind : ""), .ticket = 7, .body = IL_STR("{\"a\":1}")};
    const il_store_change change = {.space = IL_STR(IL_SPACE_SESSION),
                                    .key = il_str_of(key),
                                    .expect = expect,
                                    .moves = text != NULL,
                                    .state = il_str_of(text ? text : ""),
                                    .rows = kind ? &row : NULL,
                                    .nrows = kind ? 1 : 0};
    return c->store.commit(c->store.ctx, &change, 1, 2000 + expect, &c->err);
}

static void batch_is(batch_case *c, const char *key, const char *text, uint64_t version) {
    char got[64] = "";
    size_t n = 0;
    uint64_t v = 0;
    assert_int_equal(
        c->store.load(c->store.ctx, IL_STR(IL_SPACE_SESSION), il_str_of(key), (uint8_t *)got, sizeof got - 1, &n, &v, &c->err),
        IL_OK);
    got[n] = '\0';
    assert_string_equal(got, text);
    assert_int_equal(v, version);
}

static void other_is(batch_case *c, const char *key, const char *text, uint64_t version) {
    char got[64];
    assert_int_equal(ledger_test_load(c->other, key, got, sizeof got), version);
    assert_string_equal(got, text);
}

static void whole(batch_case *c, size_t rows) {
    bool chained = false;
    assert_int_equal(ledger_test_rows(c->other, "", &chained), rows);
    assert_true(chained);
}

static void batch_in_order(void **state) {
    batch_case *c = *state;
    char got[64];
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "0", 1);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    batch_is(c, "s", "1", 2); /* what the one before left */
    assert_int_equal(batch_put(c, "s", 2, NULL, "denied"), IL_OK);
    assert_int_equal(batch_put(c, "s", 1, "x", "b"), IL_E_CONFLICT); /* too late: nothing is written, and nothing is lost */
    assert_int_equal(batch_put(c, "s", 2, "2", "b"), IL_OK);
    other_is(c, "s", "0", 1);
    whole(c, 1);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    other_is(c, "s", "2", 3);
    whole(c, 4);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK); /* there is none */
    assert_int_equal(ledger_test_load(c->l, "s", got, sizeof got), 3);
}

/* Outside of begin and end its store is the ledger's. */
static void batch_off(void **state) {
    batch_case *c = *state;
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    other_is(c, "s", "1", 2);
    batch_is(c, "s", "1", 2);
}

static void batch_several_objects(void **state) {
    batch_case *c = *state;
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "0", 1);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    assert_int_equal(batch_put(c, "t", 0, "0", "begin"), IL_OK);
    batch_is(c, "t", "0", 1);
    assert_int_equal(batch_put(c, "t", 1, "1", "a"), IL_OK);
    batch_is(c, "s", "1", 2);
    assert_int_equal(batch_put(c, "s", 2, "2", "b"), IL_OK);
    assert_int_equal(batch_put(c, "t", 2, "2", "b"), IL_OK);
    batch_is(c, "s", "2", 3);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    other_is(c, "s", "2", 3);
    other_is(c, "t", "2", 3);
    whole(c, 6);
}

/* What a batch knows of an object is asked for again when anybody wrote: another program, or another thread of this one. */
static void batch_others_write(void **state) {
    batch_case *c = *state;
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "0", 1);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    assert_int_equal(ledger_test_commit(c->other, "s", 2, "other", "b", &c->err), IL_OK);
    il_ledger_batch_begin(&c->b);
    assert_int_equal(batch_put(c, "s", 2, "2", "c"), IL_E_CONFLICT);
    batch_is(c, "s", "other", 3);
    assert_int_equal(batch_put(c, "s", 3, "3", "c"), IL_OK);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    assert_int_equal(ledger_test_commit(c->l, "s", 4, "own", "d", &c->err), IL_OK);
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "own", 5);
    assert_int_equal(batch_put(c, "s", 5, "5", "e"), IL_OK);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    other_is(c, "s", "5", 6);
    whole(c, 6);
}

static void batch_dropped(void **state) {
    batch_case *c = *state;
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "0", 1);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    assert_int_equal(ledger_test_commit(c->other, "s", 1, "other", "a", &c->err), IL_E_BUSY); /* it holds the lock */
    il_ledger_batch_drop(&c->b);
    other_is(c, "s", "0", 1);
    assert_int_equal(ledger_test_commit(c->other, "s", 1, "other", "a", &c->err), IL_OK);
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "other", 2);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    whole(c, 2);
}

/* Who does not get the lock in time is refused with all of the batch, which waits once; the next batch asks again. */
static void batch_busy(void **state) {
    batch_case *c = *state;
    il_ledger_batch theirs = {.ledger = c->other};
    const il_store store = il_ledger_batch_store(&theirs);
    char got[64];
    size_t n = 0;
    uint64_t version = 0;
    il_ledger_batch_begin(&theirs);
    assert_int_equal(
        store.load(store.ctx, IL_STR(IL_SPACE_SESSION), IL_STR("s"), (uint8_t *)got, sizeof got, &n, &version, &c->err), IL_OK);
    il_ledger_batch_begin(&c->b);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_E_BUSY);
    assert_int_equal(il_ledger_batch_end(&theirs, &c->err), IL_OK);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_E_BUSY);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_E_BUSY);
    il_ledger_batch_begin(&c->b);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_OK);
    other_is(c, "s", "1", 2);
}

/* A disk that fails at each of its writes: all of the batch is there, or nothing and the end says so. */
static void batch_disk_fails(void **state) {
    batch_case *c = *state;
    uint64_t version = 1;
    size_t rows = 1, failures = 0;
    for (size_t n = 1; n < 40; n++) {
        char text[24];
        vfs_arm(VFS_WRITE, n, false, n % 2 ? VFS_FULL : VFS_ERROR);
        il_ledger_batch_begin(&c->b);
        il_status status = IL_OK;
        for (uint64_t i = 0; i < 3 && status == IL_OK; i++) {
            (void)snprintf(text, sizeof text, "%llu", (unsigned long long)(version + i));
            status = batch_put(c, "s", version + i, text, "a");
        }
        const il_status end = il_ledger_batch_end(&c->b, &c->err);
        bool failed = false;
        (void)vfs_disarm(&failed);
        assert_true(end == IL_OK ? status == IL_OK : end == IL_E_IO);
        failures += end != IL_OK;
        version += end == IL_OK ? 3 : 0;
        rows += end == IL_OK ? 3 : 0;
        assert_true(end == IL_OK || failed); /* nothing else makes it fail */
        char got[64];
        assert_int_equal(ledger_test_load(c->other, "s", got, sizeof got), version);
        whole(c, rows);
    }
    assert_true(failures > 3 && rows > 9); /* both were seen */
}

/* A store that fails half way loses what came before, and nothing more is taken. */
static void batch_lost(void **state) {
    batch_case *c = *state;
    il_ledger_batch_begin(&c->b);
    batch_is(c, "s", "0", 1);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
    c->b.lost = IL_E_IO; /* as a row that could not be written leaves it */
    assert_int_equal(batch_put(c, "s", 2, "2", "b"), IL_E_IO);
    assert_int_equal(il_ledger_batch_end(&c->b, &c->err), IL_E_IO);
    other_is(c, "s", "0", 1);
    assert_int_equal(batch_put(c, "s", 1, "1", "a"), IL_OK);
}

static void batch_in_memory(void **state) {
    (void)state;
    il_ledger *l = ledger_test_open(":memory:", NULL);
    il_error err = {0};
    batch_case c = {.b = {.ledger = l}};
    c.store = il_ledger_batch_store(&c.b);
    il_ledger_batch_begin(&c.b);
    assert_int_equal(batch_put(&c, "s", 0, "0", "begin"), IL_OK);
    batch_is(&c, "s", "0", 1);
    char got[8];
    assert_int_equal(ledger_test_load(l, "s", got, sizeof got), 1); /* at once */
    assert_int_equal(il_ledger_batch_end(&c.b, &err), IL_OK);
    il_ledger_close(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(batch_in_order, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_off, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_several_objects, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_others_write, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_dropped, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_busy, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_disk_fails, batch_setup, batch_teardown),
        cmocka_unit_test_setup_teardown(batch_lost, batch_setup, batch_teardown),
        cmocka_unit_test(batch_in_memory),
    };
    vfs_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
