/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/str.h"
#include "helper_memory.h"
#include "mcp/roster.h"

static const il_str roster_first = {NULL, 0};

static il_rostered roster_put(il_roster *r, il_str cursor, const char *key, const char *name) {
    il_rostered how = IL_ROSTERED_NEW;
    assert_int_equal(il_roster_add(r, cursor, il_str_of(key), il_str_of(name), &how, NULL), IL_OK);
    return how;
}

static bool roster_no(const il_roster *r, const char *key) { return il_roster_refuses(r, il_str_of(key)); }

static void roster_pages(void **state) {
    (void)state;
    test_memory m;
    il_roster r;
    test_memory_init(&m, SIZE_MAX);
    il_roster_init(&r, &m.alloc);
    assert_false(roster_no(&r, "a"));
    for (int again = 0; again < 3; again++) {
        il_roster_page(&r, roster_first);
        assert_int_equal(roster_put(&r, roster_first, "a", "a"), IL_ROSTERED_NEW);
        assert_int_equal(roster_put(&r, roster_first, "a", "a"), IL_ROSTERED_AGAIN);
        il_roster_page(&r, IL_STR("")); /* an empty cursor is not the first page */
        assert_int_equal(roster_put(&r, IL_STR(""), "a", "a"), IL_ROSTERED_AGAIN);
        assert_int_equal(roster_put(&r, IL_STR(""), "b", "b"), IL_ROSTERED_NEW);
        il_roster_page(&r, IL_STR("2"));
        assert_int_equal(roster_put(&r, IL_STR("2"), "b", "b"), IL_ROSTERED_AGAIN);
        il_roster_page(&r, IL_STR("")); /* one page again */
        assert_int_equal(roster_put(&r, IL_STR(""), "b", "b"), IL_ROSTERED_NEW);
        assert_int_equal(roster_put(&r, IL_STR(""), "a", "a"), IL_ROSTERED_AGAIN);
        assert_false(roster_no(&r, "a") || roster_no(&r, "b"));
    }
    il_roster_free(&r);
    assert_int_equal(m.live, 0);
}

static void roster_clashes(void **state) {
    (void)state;
    test_memory m;
    il_roster r;
    test_memory_init(&m, SIZE_MAX);
    il_roster_init(&r, &m.alloc);
    il_roster_page(&r, roster_first);
    assert_int_equal(roster_put(&r, roster_first, "k", "fi1e"), IL_ROSTERED_NEW);
    assert_int_equal(roster_put(&r, roster_first, "x", "x"), IL_ROSTERED_NEW);
    assert_int_equal(roster_put(&r, roster_first, "k", "file"), IL_ROSTERED_CLASH);
    assert_true(roster_no(&r, "k") && !roster_no(&r, "x"));
    for (int i = 0; i < 2; i++) { /* it stays so, whatever is listed later */
        il_roster_page(&r, roster_first);
        assert_true(roster_no(&r, "k"));
        assert_int_equal(roster_put(&r, roster_first, "k", i == 0 ? "file" : "fi1e"), IL_ROSTERED_REFUSED);
    }
    assert_int_equal(roster_put(&r, roster_first, "y", "y"), IL_ROSTERED_NEW);
    il_roster_refuse(&r, IL_STR("y"));
    il_roster_refuse(&r, IL_STR("never seen"));
    assert_true(roster_no(&r, "y") && !roster_no(&r, "never seen"));
    il_roster_free(&r);
    assert_int_equal(m.live, 0);
}

static void roster_bounds(void **state) {
    (void)state;
    test_memory m;
    il_roster r;
    char name[16];
    test_memory_init(&m, SIZE_MAX);
    il_roster_init(&r, &m.alloc);
    for (int again = 0; again < 2; again++) {
        il_roster_page(&r, roster_first);
        for (int i = 0; i < IL_ROSTER_MAX; i++) {
            (void)snprintf(name, sizeof name, "n%d", i);
            assert_int_equal(roster_put(&r, roster_first, name, name), IL_ROSTERED_NEW);
        }
        assert_false(roster_no(&r, "more"));
        assert_int_equal(roster_put(&r, roster_first, "more", "more"), IL_ROSTERED_FULL);
        assert_true(roster_no(&r, "more") && roster_no(&r, "others") && !roster_no(&r, "n7"));
    }
    il_roster_page(&r, roster_first); /* a shorter list, and all is well again */
    assert_int_equal(roster_put(&r, roster_first, "more", "more"), IL_ROSTERED_NEW);
    assert_false(roster_no(&r, "more") || roster_no(&r, "n7"));
    il_roster_free(&r);
    assert_int_equal(m.live, 0);
}

static void roster_without_memory(void **state) {
    (void)state;
    for (size_t left = 0; left < 3; left++) {
        test_memory m;
        il_roster r;
        il_status st = IL_OK;
        char name[16];
        test_memory_init(&m, left);
        il_roster_init(&r, &m.alloc);
        for (int i = 0; i < 200 && st == IL_OK; i++) {
            il_rostered how;
            (void)snprintf(name, sizeof name, "n%d", i);
            st = il_roster_add(&r, roster_first, il_str_of(name), il_str_of(name), &how, NULL);
        }
        assert_int_equal(st, IL_E_MEMORY);
        il_roster_free(&r);
        assert_int_equal(m.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roster_pages),
        cmocka_unit_test(roster_clashes),
        cmocka_unit_test(roster_bounds),
        cmocka_unit_test(roster_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
