/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "helper_memory.h"

typedef struct buf_case {
    test_memory m;
    il_arena a;
    il_buf b;
    il_str out;
    il_error err;
} buf_case;

static void buf_case_init(buf_case *c, size_t cap, size_t max) {
    memset(c, 0, sizeof *c);
    test_memory_init(&c->m, SIZE_MAX);
    il_arena_init(&c->a, &c->m.alloc, cap);
    il_buf_init(&c->b, &c->a, max);
}

static void buf_case_free(buf_case *c) {
    il_arena_free(&c->a);
    assert_int_equal(c->m.live, 0);
}

static void buf_writes_text_and_numbers(void **state) {
    (void)state;
    buf_case c;
    buf_case_init(&c, 1 << 20, SIZE_MAX);
    il_buf_put(&c.b, IL_STR("ab"));
    il_buf_put(&c.b, (il_str){NULL, 0});
    il_buf_putc(&c.b, '-');
    il_buf_puts(&c.b, "cd ");
    il_buf_putu(&c.b, 0);
    il_buf_putc(&c.b, ' ');
    il_buf_putu(&c.b, UINT64_MAX);
    il_buf_putc(&c.b, ' ');
    il_buf_puti(&c.b, INT64_MIN);
    il_buf_putc(&c.b, ' ');
    il_buf_puti(&c.b, INT64_MAX);
    il_buf_putc(&c.b, ' ');
    il_buf_hex(&c.b, "\x00\xff\x1a", 3);
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_OK);
    assert_true(il_str_eq(c.out, IL_STR("ab-cd 0 18446744073709551615 -9223372036854775808 9223372036854775807 00ff1a")));
    buf_case_free(&c);
}

static void buf_empty_is_fine(void **state) {
    (void)state;
    buf_case c;
    buf_case_init(&c, 0, 0);
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_OK);
    assert_int_equal(c.out.n, 0);
    assert_non_null(c.out.p);
    buf_case_free(&c);
}

static void buf_grows_with_others_in_the_arena(void **state) {
    (void)state;
    buf_case c;
    buf_case_init(&c, 1 << 22, SIZE_MAX);
    for (uint32_t i = 0; i < 20000; i++) {
        il_buf_u32(&c.b, i);
        if (i % 1000 == 0) {
            assert_non_null(il_arena_get(&c.a, 1)); /* growth in place is not possible */
        }
    }
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_OK);
    il_cursor r = {.p = (const uint8_t *)c.out.p, .n = c.out.n};
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(il_cursor_u32(&r), i);
    }
    assert_int_equal(r.at, r.n);
    assert_false(r.failed);
    buf_case_free(&c);
}

static void buf_max_is_exact_and_sticks(void **state) {
    (void)state;
    buf_case c;
    buf_case_init(&c, 1 << 20, 5);
    il_buf_puts(&c.b, "abcde");
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_OK);
    assert_int_equal(c.out.n, 5);
    il_buf_puts(&c.b, "xyz");
    il_buf_puts(&c.b, "");
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_E_LIMIT);
    assert_int_equal(c.err.code, IL_E_LIMIT);
    assert_null(c.out.p);
    assert_int_equal(c.b.n, 5); /* no part of a failed write */
    il_buf_fail(&c.b, IL_E_INVALID);
    assert_int_equal(il_buf_done(&c.b, &c.out, NULL), IL_E_LIMIT); /* the first reason stays */
    buf_case_free(&c);
}

static void buf_reports_arena_cap_and_memory(void **state) {
    (void)state;
    buf_case c;
    buf_case_init(&c, 1000, SIZE_MAX);
    for (int i = 0; i < 1000; i++) {
        il_buf_putc(&c.b, 'a'); /* doubling passes the cap, the exact size does not */
    }
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_OK);
    assert_int_equal(c.out.n, 1000);
    il_buf_putc(&c.b, 'a');
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_E_LIMIT);
    buf_case_free(&c);

    buf_case_init(&c, 1 << 20, SIZE_MAX);
    c.m.left = 0;
    il_buf_putc(&c.b, 'a');
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_E_MEMORY);
    assert_int_equal(c.err.code, IL_E_MEMORY);
    buf_case_free(&c);

    buf_case_init(&c, 1 << 20, SIZE_MAX);
    assert_null(il_buf_room(&c.b, SIZE_MAX));
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_E_LIMIT);
    buf_case_init(&c, 1 << 20, SIZE_MAX);
    il_buf_fail(&c.b, IL_E_INVALID);
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_E_INVALID);
    buf_case_free(&c);
}

static void cursor_reads_what_buf_wrote(void **state) {
    (void)state;
    buf_case c;
    buf_case_init(&c, 1 << 20, SIZE_MAX);
    il_buf_u8(&c.b, 0x12);
    il_buf_u16(&c.b, 0x3456);
    il_buf_u32(&c.b, 0x789abcde);
    il_buf_u64(&c.b, UINT64_C(0xf0e1d2c3b4a59687));
    il_buf_puts(&c.b, "end");
    assert_int_equal(il_buf_done(&c.b, &c.out, &c.err), IL_OK);
    assert_memory_equal(c.out.p,
                        "\x12\x56\x34\xde\xbc\x9a\x78\x87\x96\xa5\xb4\xc3\xd2\xe1\xf0"
                        "end",
                        18);
    il_cursor r = {.p = (const uint8_t *)c.out.p, .n = c.out.n};
    assert_int_equal(il_cursor_u8(&r), 0x12);
    assert_int_equal(il_cursor_u16(&r), 0x3456);
    assert_int_equal(il_cursor_u32(&r), 0x789abcde);
    assert_true(il_cursor_u64(&r) == UINT64_C(0xf0e1d2c3b4a59687));
    assert_true(il_str_eq(il_cursor_bytes(&r, 3), IL_STR("end")));
    assert_int_equal(il_cursor_bytes(&r, 0).n, 0);
    assert_false(r.failed);
    assert_int_equal(il_cursor_u8(&r), 0);
    assert_true(r.failed);
    buf_case_free(&c);
}

static void cursor_never_reads_past_the_end(void **state) {
    (void)state;
    static const uint8_t bytes[7] = {1, 2, 3, 4, 5, 6, 7};
    il_cursor r = {.p = bytes, .n = 7};
    assert_true(il_cursor_u64(&r) == 0);
    assert_true(r.failed);
    assert_int_equal(r.at, 0);
    assert_int_equal(il_cursor_u8(&r), 0); /* failure sticks though a byte is there */
    r = (il_cursor){.p = bytes, .n = 7};
    assert_int_equal(il_cursor_bytes(&r, SIZE_MAX).n, 0);
    assert_true(r.failed);
    r = (il_cursor){.p = bytes, .n = 7, .at = 6};
    assert_int_equal(il_cursor_u16(&r), 0);
    assert_true(r.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf_writes_text_and_numbers),        cmocka_unit_test(buf_empty_is_fine),
        cmocka_unit_test(buf_grows_with_others_in_the_arena), cmocka_unit_test(buf_max_is_exact_and_sticks),
        cmocka_unit_test(buf_reports_arena_cap_and_memory),   cmocka_unit_test(cursor_reads_what_buf_wrote),
        cmocka_unit_test(cursor_never_reads_past_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
