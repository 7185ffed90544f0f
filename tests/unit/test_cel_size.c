/* SPDX-License-Identifier: Apache-2.0 */
/* `size(x) > k` and its like, which are decided without counting where the bytes of a text tell: the same as counting, and the same errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "helper_cel.h"

static const il_cel_field vars[] = {{{"x", 1}, NULL}};
static const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1};

static il_cel_value answer(const char *source, il_cel_value x) {
    cel_case c;
    cel_case_init(&c);
    if (cel_compile(&c, source, &env, IL_CEL_NULL) != IL_OK) {
        fail_msg("%s: %s", source, c.err.msg);
    }
    il_cel_value v = il_cel_eval(c.program, &x, NULL);
    cel_case_free(&c);
    return v;
}

static void assert_orders(il_cel_value x, int64_t size) {
    for (int64_t k = size > 1 ? size - 2 : -1; k <= size + 2; k++) {
        const struct {
            const char *before, *after;
            bool truth;
        } forms[] = {
            {"size(x) > ", "", size > k},   {"x.size() >= ", "", size >= k}, {"size(x) < ", "", size < k},
            {"size(x) <= ", "", size <= k}, {"", " < size(x)", size > k},    {"", " <= size(x)", size >= k},
            {"", " > size(x)", size < k},   {"", " >= size(x)", size <= k},
        };
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            char source[64];
            (void)snprintf(source, sizeof source, "%s%d%s", forms[i].before, (int)k, forms[i].after);
            il_cel_value v = answer(source, x);
            if (v.kind != IL_CEL_BOOL || v.u.b != forms[i].truth) {
                fail_msg("%s with a size of %d", source, (int)size);
            }
        }
    }
}

static void test_texts(void **state) {
    (void)state;
    static const char *const points[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t n = 0; n < 40; n += n < 6 ? 1 : 11) {
            char text[256];
            size_t bytes = 0;
            for (size_t i = 0; i < n; i++) { /* every other an `a` */
                const char *p = points[i % 2 == 0 ? kind : 0];
                memcpy(text + bytes, p, strlen(p));
                bytes += strlen(p);
            }
            assert_orders(il_cel_of_str((il_str){text, bytes}), (int64_t)n);
        }
    }
}

static void test_lists_and_maps(void **state) {
    (void)state;
    il_cel_value items[6];
    for (size_t i = 0; i < 6; i++) {
        items[i] = il_cel_of_int((int64_t)i);
    }
    assert_orders(il_cel_of_items(IL_CEL_LIST, items, 0), 0);
    assert_orders(il_cel_of_items(IL_CEL_LIST, items, 6), 6);
    assert_orders(il_cel_of_items(IL_CEL_MAP, items, 3), 3);
    assert_orders(il_cel_of_bytes((il_str){"\xc3\xa9", 2}), 2);
}

static void test_errors(void **state) {
    (void)state;
    il_cel_value v = answer("size(x) > 1", il_cel_of_int(7));
    assert_true(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_NO_OVERLOAD);
    v = answer("1 < size(x)", il_cel_of(IL_CEL_ERROR, 0));
    assert_true(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_UNSET);
    v = answer("size(x.y) > 1 || true", il_cel_of_int(7));
    assert_true(il_cel_true(v));
}

/* Wherever the first and the last byte that is no ASCII stand, in texts around the sizes that are counted by blocks. */
static void test_count(void **state) {
    (void)state;
    char text[420];
    for (size_t n = 100; n <= 418; n += n % 64 < 62 ? 13 : 1) {
        memset(text, 'a', sizeof text);
        assert_int_equal(il_utf8_count((il_str){text, n}), n);
        for (size_t at = 0; at + 2 <= n; at++) {
            memcpy(text + at, "\xc3\xa9", 2);
            assert_int_equal(il_utf8_count((il_str){text, n}), n - 1);
            if (at + 4 <= n) {
                memcpy(text + n - 2, "\xc3\xa9", 2);
                assert_int_equal(il_utf8_count((il_str){text, n}), n - 2);
            }
            memset(text, 'a', sizeof text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_lists_and_maps),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
