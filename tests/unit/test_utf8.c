/* SPDX-License-Identifier: Apache-2.0 */
/* Code points counted and found in blocks, against one byte after the other. (il_utf8_length and il_str_utf8: test_str.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "helper_json.h"

enum { BYTES = 40000 };

static void utf8_put_and_point(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char out[4] = {0};
        const size_t n = il_utf8_put(c, out);
        assert_int_equal(n, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        if (c >= 0xd800 && c <= 0xdfff) {
            assert_int_equal(il_utf8_length((const unsigned char *)out, n), 0);
        } else {
            assert_int_equal(il_utf8_length((const unsigned char *)out, n), n);
            assert_int_equal(il_utf8_point((const unsigned char *)out, n), c);
            assert_int_equal(il_utf8_count((il_str){out, n}), 1);
        }
    }
}

static size_t slow_count(il_str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += (s.p[i] & 0xc0) != 0x80;
    }
    return n;
}

static size_t slow_offset(il_str s, size_t n) {
    for (size_t i = 0; i < s.n; i++) {
        if ((s.p[i] & 0xc0) != 0x80 && n-- == 0) {
            return i;
        }
    }
    return n == 0 ? s.n : SIZE_MAX;
}

/* Text of `mix`: 0 all ASCII, 1 mixed, 2 all of four bytes, 3 any bytes at all. */
static size_t fill(test_random *r, char *out, size_t cap, uint32_t mix) {
    size_t n = 0;
    while (cap - n >= 4) {
        if (mix == 3) {
            out[n++] = (char)test_random_below(r, 256);
            continue;
        }
        const uint32_t way = mix == 0 ? 0 : mix == 2 ? 3 : test_random_below(r, 4);
        static const uint32_t from[] = {0, 0x80, 0xe000, 0x10000}, span[] = {0x80, 0x780, 0x2000, 0x100000};
        n += il_utf8_put(from[way] + test_random_below(r, span[way]), out + n);
    }
    return n;
}

static void utf8_counts(void **state) {
    (void)state;
    test_random r = {test_random_seed("utf8")};
    char *text = malloc(BYTES + 64);
    assert_non_null(text);
    for (uint32_t mix = 0; mix < 4; mix++) {
        const size_t n = fill(&r, text, BYTES, mix);
        for (size_t len = 0; len < 700; len++) { /* every length around a block, at every alignment */
            const il_str s = {text + len % 64, len};
            assert_int_equal(il_utf8_count(s), slow_count(s));
        }
        for (size_t i = 0; i < 200; i++) {
            const size_t from = test_random_below(&r, (uint32_t)n);
            const il_str s = {text + from, test_random_below(&r, (uint32_t)(n - from) + 1)};
            const size_t count = slow_count(s);
            assert_int_equal(il_utf8_count(s), count);
            const size_t at[] = {
                0, 1, count / 2, count - (count > 0), count, count + 1, test_random_below(&r, (uint32_t)count + 2)};
            for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
                assert_true(il_utf8_offset(s, at[k]) == slow_offset(s, at[k]));
            }
        }
        const il_str whole = {text, n};
        assert_int_equal(il_utf8_count(whole), slow_count(whole));
        assert_true(il_utf8_offset(whole, SIZE_MAX) == SIZE_MAX);
    }
    /* blocks whose lanes are full: nothing carries into the next lane */
    memset(text, 'a', BYTES);
    assert_int_equal(il_utf8_count((il_str){text, BYTES}), BYTES);
    memset(text, 0x80, BYTES);
    assert_int_equal(il_utf8_count((il_str){text, BYTES}), 0);
    text[BYTES - 1] = 'a';
    assert_int_equal(il_utf8_offset((il_str){text, BYTES}, 0), BYTES - 1);
    free(text);
    assert_int_equal(il_utf8_count((il_str){NULL, 0}), 0);
    assert_int_equal(il_utf8_offset((il_str){NULL, 0}, 0), 0);
    assert_true(il_utf8_offset((il_str){NULL, 0}, 1) == SIZE_MAX);
}

static void utf8_parts(void **state) {
    (void)state;
    const il_str text = IL_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"); /* one of each length */
    static const size_t offsets[] = {0, 1, 3, 6, 10, 11};
    il_str part;
    for (size_t from = 0; from < 8; from++) {
        for (size_t to = 0; to < 8; to++) {
            part = (il_str){"untouched", 9};
            const bool is = from <= to && to <= 5;
            assert_int_equal(il_utf8_part(text, from, to, &part), is);
            if (is) {
                assert_true(part.p == text.p + offsets[from] && part.n == offsets[to] - offsets[from]);
            } else {
                assert_int_equal(part.n, 9);
            }
        }
    }
    assert_true(il_utf8_part((il_str){NULL, 0}, 0, 0, &part) && part.n == 0);
    assert_false(il_utf8_part((il_str){NULL, 0}, 0, 1, &part));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(utf8_put_and_point), cmocka_unit_test(utf8_counts),
                                       cmocka_unit_test(utf8_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
