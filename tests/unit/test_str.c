/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/utf8.h"
#include "helper_json.h"

static il_str S(const char *z) { return il_str_of(z); }

static void str_compares_bytes(void **state) {
    (void)state;
    assert_true(il_str_eq(S("abc"), S("abc")));
    assert_false(il_str_eq(S("abc"), S("ab")));
    assert_true(il_str_eq((il_str){NULL, 0}, S("")));
    assert_int_equal(il_str_cmp(S("a"), S("b")), -1);
    assert_int_equal(il_str_cmp(S("b"), S("a")), 1);
    assert_int_equal(il_str_cmp(S("a"), S("ab")), -1);
    assert_int_equal(il_str_cmp(S("ab"), S("a")), 1);
    assert_int_equal(il_str_cmp(S("ab"), S("ab")), 0);
    assert_int_equal(il_str_cmp((il_str){NULL, 0}, S("")), 0);
    assert_int_equal(il_str_cmp(S("\xc3\xa9"), S("z")), 1); /* unsigned bytes */
    assert_int_equal(il_str_cmp((il_str){"a\0b", 3}, (il_str){"a\0c", 3}), -1);
}

static void str_prefix_suffix_part(void **state) {
    (void)state;
    assert_true(il_str_starts(S("abc"), S("ab")));
    assert_true(il_str_starts(S("abc"), (il_str){NULL, 0}));
    assert_false(il_str_starts(S("ab"), S("abc")));
    assert_true(il_str_ends(S("abc"), S("bc")));
    assert_true(il_str_ends(S("abc"), S("")));
    assert_false(il_str_ends(S("abc"), S("ab")));
    assert_false(il_str_ends(S("bc"), S("abc")));
    assert_true(il_str_eq(il_str_part(S("abcdef"), 1, 3), S("bc")));
    assert_true(il_str_eq(il_str_part(S("abc"), 1, SIZE_MAX), S("bc")));
    assert_int_equal(il_str_part(S("abc"), 3, 9).n, 0);
    assert_int_equal(il_str_part(S("abc"), SIZE_MAX, SIZE_MAX).n, 0);
    assert_int_equal(il_str_part(S("abc"), 2, 1).n, 0);
    assert_int_equal(S(NULL).n, 0);
}

static void str_finds(void **state) {
    (void)state;
    assert_int_equal(il_str_find(S("abcabc"), S("ca"), 0), 2);
    assert_int_equal(il_str_find(S("abcabc"), S("abc"), 1), 3);
    assert_true(il_str_find(S("abcabc"), S("abc"), 4) == SIZE_MAX);
    assert_int_equal(il_str_find(S("abc"), S(""), 3), 3);
    assert_true(il_str_find(S("abc"), S(""), 4) == SIZE_MAX);
    assert_true(il_str_find(S("ab"), S("abc"), 0) == SIZE_MAX);
    assert_true(il_str_find(S(""), S("a"), 0) == SIZE_MAX);
    assert_true(il_str_find(S("abab"), S("ba"), 2) == SIZE_MAX);
    assert_int_equal(il_str_find_last(S("abcabc"), S("abc")), 3);
    assert_int_equal(il_str_find_last(S("abcabd"), S("abc")), 0);
    assert_int_equal(il_str_find_last(S("aaa"), S("aa")), 1);
    assert_int_equal(il_str_find_last(S("abc"), S("")), 3);
    assert_int_equal(il_str_find_last(S(""), S("")), 0);
    assert_int_equal(il_str_find_last((il_str){NULL, 0}, (il_str){NULL, 0}), 0);
    assert_true(il_str_find_last(S("ab"), S("abc")) == SIZE_MAX);
    assert_true(il_str_find_last(S("abc"), S("d")) == SIZE_MAX);
}

/* Against the obvious search: periodic and broken needles of up to 39 bytes over texts of two letters, where repeats and
 * borders are many. */
static void str_finds_long_needles(void **state) {
    (void)state;
    uint32_t random = 1;
    size_t found = 0;
    for (int round = 0; round < 60000; round++) {
        char text[96], needle[40];
        random = random * 1664525u + 1013904223u;
        const size_t n = random >> 8 & 63, m = 1 + (random >> 16) % 39, unit = 1 + (random >> 24) % 7;
        for (size_t i = 0; i < sizeof needle; i++) {
            random = random * 1664525u + 1013904223u;
            needle[i] = i < unit || (random >> 24) < 4 ? (char)('a' + (random >> 30 & 1)) : needle[i - unit];
        }
        for (size_t i = 0; i < n + 32; i++) { /* runs of the needle, with errors */
            random = random * 1664525u + 1013904223u;
            text[i] =
                (random >> 24) < 6 ? (char)('a' + (random >> 30 & 1)) : needle[(i + (random >> 20 & 1)) % (i < n ? unit : m)];
        }
        const il_str s = {text, n + 32}, x = {needle, m};
        size_t first = SIZE_MAX, last = SIZE_MAX;
        const size_t from = round % 3 == 0 ? n / 2 : 0;
        for (size_t i = 0; m <= s.n && i <= s.n - m; i++) {
            if (memcmp(text + i, needle, m) == 0) {
                first = first == SIZE_MAX && i >= from ? i : first;
                last = i;
            }
        }
        found += first != SIZE_MAX && m > 16;
        if (il_str_find(s, x, from) != first || il_str_find_last(s, x) != last) {
            fail_msg("%.*s in %.*s from %zu", (int)m, needle, (int)s.n, text, from);
        }
    }
    assert_true(found > 1000);
}

/* A quadratic search would take minutes. */
static void str_find_is_linear(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    char *text = malloc(2 * N);
    assert_non_null(text);
    memset(text, 'a', 2 * N);
    text[N / 2] = 'b'; /* the needle has it in the middle, or at an end */
    for (int shape = 0; shape < 3; shape++) {
        const il_str needle = {shape == 0 ? text + 1 : shape == 1 ? text + N / 2 - N / 4 : text + N / 2, N / 2};
        assert_true(il_str_find((il_str){text + N, N}, needle, 0) == SIZE_MAX);
        assert_true(il_str_find_last((il_str){text + N, N}, needle) == SIZE_MAX);
    }
    assert_int_equal(il_str_find((il_str){text, N}, (il_str){text + N / 4, N / 2}, 0), N / 4);
    assert_int_equal(il_str_find_last((il_str){text + N / 2 + 1, N}, (il_str){text + N, N / 2}), N / 2);
    free(text);
}

static void str_nocase_is_ascii_only(void **state) {
    (void)state;
    assert_true(il_str_eq_nocase(S("AbZ"), S("aBz")));
    assert_false(il_str_eq_nocase(S("ab"), S("abc")));
    assert_false(il_str_eq_nocase(S("@"), S("`"))); /* 32 apart, but no letters */
    assert_false(il_str_eq_nocase(S("["), S("{")));
    assert_false(il_str_eq_nocase(S("\xc3\x89"), S("\xc3\xa9")));
}

/* The distance by its recursive definition: slow, and obviously right. */
static unsigned slow_distance(il_str a, il_str b) {
    if (a.n == 0 || b.n == 0) {
        return (unsigned)(a.n + b.n);
    }
    const il_str a1 = il_str_part(a, 0, a.n - 1);
    const il_str b1 = il_str_part(b, 0, b.n - 1);
    unsigned best = slow_distance(a1, b1) + (a.p[a.n - 1] != b.p[b.n - 1]);
    const unsigned del = slow_distance(a1, b) + 1;
    const unsigned ins = slow_distance(a, b1) + 1;
    best = del < best ? del : best;
    best = ins < best ? ins : best;
    if (a.n > 1 && b.n > 1 && a.p[a.n - 1] == b.p[b.n - 2] && a.p[a.n - 2] == b.p[b.n - 1]) {
        const unsigned swap = slow_distance(il_str_part(a, 0, a.n - 2), il_str_part(b, 0, b.n - 2)) + 1;
        best = swap < best ? swap : best;
    }
    return best;
}

static void str_distance_is_the_definition(void **state) {
    (void)state;
    test_random r = {test_random_seed("distance")};
    for (int i = 0; i < 300; i++) {
        char x[7];
        char y[7];
        const il_str a = {x, test_random_below(&r, 7)};
        const il_str b = {y, test_random_below(&r, 7)};
        for (size_t j = 0; j < 7; j++) {
            x[j] = (char)('a' + test_random_below(&r, 3));
            y[j] = (char)('a' + test_random_below(&r, 3));
        }
        assert_int_equal(il_str_distance(a, b), slow_distance(a, b));
    }
    assert_int_equal(il_str_distance(S("egres"), S("egress")), 1);
    assert_int_equal(il_str_distance(S("sensitvie"), S("sensitive")), 1);
    assert_int_equal(il_str_distance(S("0123456789012345678901234567890x"), S("")), 32);
    assert_true(il_str_distance(S("0123456789012345678901234567890xy"), S("a")) == UINT_MAX);
    assert_true(il_str_distance(S("a"), S("0123456789012345678901234567890xy")) == UINT_MAX);
}

/* RFC 3629 by decoding and encoding again. */
static bool slow_utf8(const unsigned char *p, size_t n, size_t *bad) {
    for (size_t i = 0; i < n;) {
        *bad = i;
        const unsigned char c = p[i];
        const size_t len = c < 0x80 ? 1 : (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : (c & 0xf8) == 0xf0 ? 4 : 0;
        if (len == 0 || n - i < len) {
            return false;
        }
        uint32_t v = len == 1 ? c : c & (0x7fu >> len);
        for (size_t k = 1; k < len; k++) {
            if ((p[i + k] & 0xc0) != 0x80) {
                return false;
            }
            v = v << 6 | (p[i + k] & 0x3fu);
        }
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff)) {
            return false;
        }
        i += len;
    }
    return true;
}

static void str_utf8_of_every_three_byte_string(void **state) {
    (void)state;
    /* Each first and second byte, and third and fourth from the borders of every class. */
    static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xf0, 0xff};
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            for (size_t c = 0; c < sizeof edges; c++) {
                for (size_t d = 0; d < sizeof edges; d++) {
                    const unsigned char p[4] = {(unsigned char)a, (unsigned char)b, edges[c], edges[d]};
                    size_t mine = 99;
                    size_t theirs = 99;
                    const bool good = slow_utf8(p, 4, &theirs);
                    if (il_str_utf8((il_str){(const char *)p, 4}, &mine) != good || (!good && mine != theirs)) {
                        fail_msg("%02x %02x %02x %02x: %d at %zu, expected %d at %zu", a, b, edges[c], edges[d], !good, mine,
                                 good, theirs);
                    }
                }
            }
        }
    }
}

static void str_utf8_in_long_text(void **state) {
    (void)state;
    char text[100];
    for (size_t at = 0; at < 64; at++) {
        for (size_t n = at + 1; n < 80; n += 7) {
            size_t bad = 99;
            memset(text, 'a', sizeof text);
            assert_true(il_str_utf8((il_str){text, n}, &bad));
            text[at] = (char)0xff;
            assert_false(il_str_utf8((il_str){text, n}, &bad));
            assert_int_equal(bad, at);
            assert_false(il_str_utf8((il_str){text, n}, NULL));
        }
    }
    assert_true(il_str_utf8((il_str){NULL, 0}, NULL));
}

static void str_int_is_exact(void **state) {
    (void)state;
    int64_t v = 42;
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"7", true, 7},
        {"-7", true, -7},
        {"007", true, 7},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"0x10", false, 0},
        {"--1", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999999", false, 0},
        {"9007199254740993", true, INT64_C(9007199254740993)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        v = 42;
        assert_int_equal(il_str_int(S(cases[i].text), &v), cases[i].ok);
        assert_true(v == (cases[i].ok ? cases[i].value : 42));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(str_compares_bytes),
        cmocka_unit_test(str_prefix_suffix_part),
        cmocka_unit_test(str_finds),
        cmocka_unit_test(str_finds_long_needles),
        cmocka_unit_test(str_find_is_linear),
        cmocka_unit_test(str_nocase_is_ascii_only),
        cmocka_unit_test(str_distance_is_the_definition),
        cmocka_unit_test(str_utf8_of_every_three_byte_string),
        cmocka_unit_test(str_utf8_in_long_text),
        cmocka_unit_test(str_int_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
