/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "helper_memory.h"

static void arena_memory_is_zeroed_and_aligned(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 1 << 20);
    assert_int_equal(m.calls, 0);
    for (size_t n = 0; n < 300; n++) {
        assert_non_null(il_arena_bytes(&a, n % 7)); /* disturbs the alignment */
        unsigned char *p = il_arena_get(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(p[i], 0);
        }
        memset(p, 0xff, n);
    }
    il_arena_free(&a);
    assert_int_equal(m.live, 0);
}

static void arena_reused_memory_is_zeroed(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 1 << 20);
    memset(il_arena_get(&a, 1000), 0xff, 1000);
    il_arena_reset(&a);
    const unsigned char *p = il_arena_get(&a, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(p[i], 0);
    }
    il_arena_free(&a);
}

static void arena_cap_is_hard(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    il_error err = {0};
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 1000);
    assert_non_null(il_arena_bytes(&a, 1000));
    assert_null(il_arena_bytes(&a, 1));
    assert_int_equal(il_arena_fail(&a, &err), IL_E_LIMIT);
    assert_int_equal(err.code, IL_E_LIMIT);
    assert_null(il_arena_get(&a, 0)); /* even empty requests end at the cap */
    assert_true(m.largest < 1000 + 200);
    il_arena_reset(&a);
    assert_non_null(il_arena_get(&a, 900));
    assert_null(il_arena_get(&a, 200));
    assert_int_equal(a.used <= a.cap, true);
    il_arena_free(&a);
    il_arena_init(&a, &m.alloc, 0);
    assert_null(il_arena_get(&a, 1));
    assert_int_equal(il_arena_fail(&a, &err), IL_E_LIMIT);
    il_arena_free(&a);
    assert_int_equal(m.live, 0);
}

static void arena_many_small_requests_end_at_the_cap(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 100000);
    size_t n = 0;
    while (il_arena_get(&a, n % 3) != NULL) {
        n++;
        assert_true(n < 100001);
    }
    assert_true(n > 5000);
    assert_true(a.used <= 100000);
    il_arena_free(&a);
}

static void arena_sizes_do_not_overflow(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    il_error err = {0};
    il_str out;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, SIZE_MAX);
    assert_null(il_arena_array(&a, SIZE_MAX / 2, 3));
    assert_int_equal(il_arena_fail(&a, &err), IL_E_LIMIT);
    assert_null(il_arena_get(&a, SIZE_MAX));
    assert_non_null(il_arena_get(&a, 100));
    assert_null(il_arena_get(&a, SIZE_MAX - 50));
    assert_int_equal(il_arena_copy(&a, (il_str){"", SIZE_MAX}, &out, &err), IL_E_LIMIT);
    assert_null(out.p);
    assert_non_null(il_arena_array(&a, 3, 5));
    il_arena_free(&a);
    assert_int_equal(m.live, 0);
}

static void arena_says_when_the_allocator_failed(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    il_error err = {0};
    test_memory_init(&m, 1);
    il_arena_init(&a, &m.alloc, 1 << 20);
    assert_non_null(il_arena_get(&a, 10));
    assert_null(il_arena_get(&a, 10000));
    assert_int_equal(il_arena_fail(&a, &err), IL_E_MEMORY);
    assert_non_null(il_arena_get(&a, 10)); /* what is left of the block is still there */
    il_arena_free(&a);
    assert_int_equal(m.live, 0);
}

static void arena_copies_with_a_nul(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    il_str out;
    char text[] = "a\0b";
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 1 << 20);
    assert_int_equal(il_arena_copy(&a, (il_str){text, 3}, &out, NULL), IL_OK);
    text[0] = 'x';
    assert_int_equal(out.n, 3);
    assert_memory_equal(out.p, "a\0b\0", 4);
    assert_int_equal(il_arena_copy(&a, (il_str){NULL, 0}, &out, NULL), IL_OK);
    assert_int_equal(out.n, 0);
    assert_string_equal(out.p, "");
    il_arena_free(&a);
}

static void arena_extends_only_the_latest(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 3000);
    char *first = il_arena_bytes(&a, 10);
    assert_true(il_arena_extend(&a, first, 10, 20));
    assert_int_equal(a.used, 20);
    char *second = il_arena_bytes(&a, 5);
    assert_ptr_equal(second, first + 20);
    assert_false(il_arena_extend(&a, first, 20, 30));
    assert_false(il_arena_extend(&a, second, 5, 4));
    assert_false(il_arena_extend(&a, second, 5, 3000));
    assert_false(il_arena_extend(&a, NULL, 0, 5));
    assert_int_equal(a.used, 25);
    assert_true(il_arena_extend(&a, second, 5, 5 + 3000 - 25));
    assert_int_equal(a.used, 3000);
    il_arena_free(&a);
}

static void arena_reset_keeps_one_block(void **state) {
    (void)state;
    test_memory m;
    il_arena a;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 1 << 24);
    for (int i = 0; i < 100; i++) {
        assert_non_null(il_arena_get(&a, 1000));
    }
    assert_true(m.live > 1);
    il_arena_reset(&a);
    assert_int_equal(m.live, 1);
    assert_int_equal(a.used, 0);
    const size_t calls = m.calls;
    for (int i = 0; i < 50; i++) {
        assert_non_null(il_arena_get(&a, 1000)); /* the largest block was kept */
    }
    assert_int_equal(m.calls, calls);
    assert_non_null(il_arena_get(&a, 3 << 20)); /* larger than the block that comes after it */
    assert_non_null(il_arena_get(&a, 1000));
    assert_non_null(il_arena_get(&a, 900000));
    assert_non_null(il_arena_get(&a, 900000));
    il_arena_reset(&a);
    assert_int_equal(m.live, 1);
    const size_t kept = m.calls;
    assert_non_null(il_arena_get(&a, 900000)); /* of those that are no larger than a step, the largest */
    assert_int_equal(m.calls, kept);
    il_arena_reset(&a);
    il_arena_free(&a);
    assert_non_null(il_arena_get(&a, 3 << 20));
    il_arena_reset(&a); /* made for one large request: it is given back */
    assert_int_equal(m.live, 0);
    assert_non_null(il_arena_get(&a, 1000));
    il_arena_free(&a);
    assert_int_equal(m.live, 0);
    il_arena_reset(&a); /* an arena without blocks */
    il_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(arena_reused_memory_is_zeroed),
        cmocka_unit_test(arena_cap_is_hard),
        cmocka_unit_test(arena_many_small_requests_end_at_the_cap),
        cmocka_unit_test(arena_sizes_do_not_overflow),
        cmocka_unit_test(arena_says_when_the_allocator_failed),
        cmocka_unit_test(arena_copies_with_a_nul),
        cmocka_unit_test(arena_extends_only_the_latest),
        cmocka_unit_test(arena_reset_keeps_one_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
