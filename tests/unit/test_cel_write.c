/* SPDX-License-Identifier: Apache-2.0 */
/* Values as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/double.h"
#include "base/ip.h"
#include "base/utf8.h"
#include "cel/lex.h"
#include "cel/value.h"
#include "helper_cel_fn.h"

static il_str write_text(fn_run *r, const il_cel_value *v) {
    il_buf b;
    il_str s;
    il_buf_init(&b, &r->arena, (size_t)1 << 20);
    il_cel_write(v, &b);
    return il_buf_done(&b, &s, NULL) == IL_OK ? s : IL_STR("failed");
}

static void write_values(void **state) {
    (void)state;
    static const il_ip ip = {4, {127, 0, 0, 1}};
    static const il_cidr cidr = {{6, {0x20, 0x01, 0x0d, 0xb8}}, 32};
    const struct {
        il_cel_value v;
        const char *text;
    } rows[] = {
        {NIL, "null"},
        {BOOL(true), "true"},
        {BOOL(false), "false"},
        {INT(0), "0"},
        {INT(INT64_MIN), "-9223372036854775808"},
        {UINT(UINT64_MAX), "18446744073709551615u"},
        {DOUBLE(1), "1.0"},
        {DOUBLE(-0.0), "-0.0"},
        {DOUBLE(0.1), "0.1"},
        {DOUBLE(1e21), "1e+21"},
        {DOUBLE(5e-324), "5e-324"},
        {DOUBLE(0.0 / 0.0), "double('NaN')"},
        {DOUBLE(1 / 0.0), "double('Infinity')"},
        {DOUBLE(-1 / 0.0), "double('-Infinity')"},
        {TEXT(""), "''"},
        {TEXT("it's \"quoted\" \\"), "'it\\'s \"quoted\" \\\\'"},
        {TEXT("\a\b\t\n\v\f\r\0\x1f\x7f"), "'\\a\\b\\t\\n\\v\\f\\r\\x00\\x1f\\x7f'"},
        {TEXT("\xc2\x80\xc2\x9f\xc2\xa0\xe2\x80\xa8\xf0\x9f\x98\x80"), "'\\u0080\\u009f\xc2\xa0\\u2028\xf0\x9f\x98\x80'"},
        {BYTES("a\xff\xc3\xa9'\n"), "b'a\\xff\\xc3\\xa9\\'\\n'"},
        {EMPTY, "[]"},
        {LIST(INT(1), TEXT("a"), LIST(NIL)), "[1, 'a', [null]]"},
        {{.kind = IL_CEL_MAP}, "{}"},
        {MAP(BOOL(true), INT(1), INT(-2), EMPTY, TEXT("k"), NIL), "{true: 1, -2: [], 'k': null}"},
        {STAMP(1234567890, 500000000), "timestamp('2009-02-13T23:31:30.5Z')"},
        {SPAN(-1500000000), "duration('-1.5s')"},
        {TYPE(IL_CEL_INT), "int"},
        {TYPE(IL_CEL_TIMESTAMP), "google.protobuf.Timestamp"},
        {NONE, "optional.none()"},
        {SOME(SOME(INT(1))), "optional.of(optional.of(1))"},
        {{.kind = IL_CEL_IP, .u = {.p = (const char *)(const void *)&ip}}, "ip('127.0.0.1')"},
        {{.kind = IL_CEL_CIDR, .u = {.p = (const char *)(const void *)&cidr}}, "cidr('2001:db8::/32')"},
        {{.kind = IL_CEL_RECORD, .n = 3, .u = {.items = NULL}}, "<record of 3>"},
        {{.kind = IL_CEL_OPAQUE}, "<host's value>"},
        {BAD(IL_CEL_BAD_VALUE), "<error>"},
        {LIST(BAD(IL_CEL_UNSET)), "[<error>]"},
    };
    fn_run r;
    fn_run_init(&r, 0, SIZE_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const il_str s = write_text(&r, &rows[i].v);
        if (!il_str_eq(s, il_str_of(rows[i].text))) {
            fail_msg("row %zu: %.*s, not %s", i, IL_STR_ARG(s), rows[i].text);
        }
    }
    fn_run_free(&r);
}

/* Every code point in a string, and every octet in bytes, reads back as itself. */
static void write_text_reads_back(void **state) {
    (void)state;
    fn_run r;
    for (uint32_t block = 0; block < 0x110000; block += 0x1000) {
        char text[0x1000 * 4];
        size_t n = 0;
        for (uint32_t c = block; c < block + 0x1000; c++) {
            if (c < 0x20000 ? c < 0xd800 || c > 0xdfff : (c & 0xfff) < 2) {
                n += il_utf8_put(c, text + n);
            }
        }
        for (int bytes = 0; bytes < 2; bytes++) {
            fn_run_init(&r, 0, SIZE_MAX);
            const il_cel_value v = bytes ? il_cel_of_bytes((il_str){text, n}) : il_cel_of_str((il_str){text, n});
            const il_cel_source src = {write_text(&r, &v), 1, 1};
            il_cel_lexer lex = {&src, 0};
            il_cel_token t;
            il_str back;
            assert_int_equal(il_cel_lex(&lex, &t, NULL), IL_OK);
            assert_int_equal(t.kind, bytes ? IL_CEL_T_BYTES : IL_CEL_T_STRING);
            assert_int_equal(t.n, src.text.n);
            assert_int_equal(il_cel_unescape(&src, &t, &r.arena, &back, NULL), IL_OK);
            if (!il_str_eq(back, (il_str){text, n})) {
                fail_msg("block %x, %s", block, bytes ? "bytes" : "string");
            }
            fn_run_free(&r);
        }
    }
}

static void write_doubles_read_back(void **state) {
    (void)state;
    uint64_t random = 88172645463325252u;
    fn_run r;
    fn_run_init(&r, 0, SIZE_MAX);
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const double d = il_double_of_bits(random);
        if (!il_double_finite(d)) {
            continue;
        }
        const il_cel_value v = il_cel_of_double(d);
        const il_str s = write_text(&r, &v);
        double back;
        assert_true(il_double_parse(s, &back));
        assert_int_equal(il_double_bits(back), random);
        bool is_double = false;
        for (size_t k = 0; k < s.n; k++) {
            is_double = is_double || s.p[k] == '.' || s.p[k] == 'e';
        }
        assert_true(is_double);
    }
    fn_run_free(&r);
}

static void write_is_bounded(void **state) {
    (void)state;
    static il_cel_value deep[2000];
    deep[0] = il_cel_of_int(1);
    for (int i = 1; i < 2000; i++) {
        deep[i] = il_cel_of_items(i % 2 ? IL_CEL_LIST : IL_CEL_OPTIONAL, &deep[i - 1], 1);
    }
    fn_run r;
    fn_run_init(&r, 0, SIZE_MAX);
    il_buf b;
    il_str s;
    il_buf_init(&b, &r.arena, (size_t)1 << 20);
    il_cel_write(&deep[1999], &b);
    assert_int_equal(il_buf_done(&b, &s, NULL), IL_E_LIMIT);
    il_buf_init(&b, &r.arena, (size_t)1 << 20);
    il_cel_write(&deep[500], &b);
    assert_int_equal(il_buf_done(&b, &s, NULL), IL_OK);

    il_cel_value twice[40][2]; /* 2^39 items: the buffer is full long before */
    twice[0][0] = twice[0][1] = il_cel_of_int(1);
    for (int i = 1; i < 40; i++) {
        twice[i][0] = twice[i][1] = il_cel_of_items(IL_CEL_LIST, twice[i - 1], 2);
    }
    il_buf_init(&b, &r.arena, (size_t)1 << 16);
    il_cel_write(&twice[39][0], &b);
    assert_int_equal(il_buf_done(&b, &s, NULL), IL_E_LIMIT);
    fn_run_free(&r);
    for (size_t left = 0; left < 3; left++) {
        const il_cel_value v = LIST(TEXT("a text of some length"), INT(1));
        fn_run_init(&r, 0, left);
        il_buf_init(&b, &r.arena, (size_t)1 << 16);
        il_cel_write(&v, &b);
        assert_int_equal(il_buf_done(&b, &s, NULL), left == 0 ? IL_E_MEMORY : IL_OK);
        fn_run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_values),
        cmocka_unit_test(write_text_reads_back),
        cmocka_unit_test(write_doubles_read_back),
        cmocka_unit_test(write_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
