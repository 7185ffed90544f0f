/* SPDX-License-Identifier: Apache-2.0 */
/* What patterns match, how they are searched for, and what that costs. test_regex_re2.c asks RE2 about the same, where it is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/regex_part.h"
#include "helper_memory.h"

typedef struct row {
    const char *pattern;
    il_str text;
    bool matches;
} row;
#define ROW(pattern, text, matches) \
    { pattern, {text, sizeof(text) - 1}, matches }

static il_regex *compile(il_arena *arena, test_memory *m, const char *pattern) {
    il_regex *re = NULL;
    il_error err = {0};
    test_memory_init(m, SIZE_MAX);
    il_arena_init(arena, &m->alloc, (size_t)8 << 20);
    if (il_regex_compile(arena, il_str_of(pattern), &re, &err) != IL_OK) {
        fail_msg("%s: %u: %s", pattern, err.col, err.msg);
    }
    return re;
}

static void run_rows(const row *rows, size_t n) {
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        test_memory m;
        il_arena arena;
        const il_regex *re = compile(&arena, &m, rows[i].pattern);
        const size_t calls = m.calls;
        const int quick = il_regex_search(re, rows[i].text, NULL), sets = il_regex_search_sets(re, rows[i].text, NULL);
        assert_int_equal(m.calls, calls);
        if (quick != rows[i].matches || sets != rows[i].matches) {
            print_error("%s on `%s`: %d, by sets %d\n", rows[i].pattern, rows[i].text.p, quick, sets);
            wrong++;
        }
        il_arena_free(&arena);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(wrong, 0);
}
#define RUN(rows) run_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_pieces(void **state) {
    (void)state;
    static const row rows[] = {
        ROW("", "", true),
        ROW("", "x", true),
        ROW("b", "abc", true),
        ROW("d", "abc", false),
        ROW("a|", "", true),
        ROW("a||b", "x", true),
        ROW("()", "", true),
        ROW("ab*c", "ac", true),
        ROW("ab*c", "abbbc", true),
        ROW("ab+c", "ac", false),
        ROW("ab?c", "abbc", false),
        ROW("ab{2}c", "abc", false),
        ROW("ab{2}c", "abbc", true),
        ROW("ab{2,}c", "abbbbc", true),
        ROW("ab{2,}c", "abc", false),
        ROW("ab{1,2}c", "abbbc", false),
        ROW("ab{0}c", "ac", true),
        ROW("ab{0}c", "abc", false),
        ROW("a{,2}", "aa", false), /* braces that count nothing are characters */
        ROW("a{,2}", "a{,2}", true),
        ROW("a{", "a{", true),
        ROW("{", "{", true),
        ROW("}", "}", true),
        ROW("a{01}", "a{01}", true),
        ROW("x{1}", "x", true),
        ROW("(?:x{2}){3}", "xxxxxx", true),
        ROW("(?:x{2}){3}", "xxxxx", false),
        ROW("(?:a*)*b", "b", true),
        ROW("(?:a*)+b", "aab", true),
        ROW("(?:a+)?b", "b", true),
        ROW("a*?b", "aab", true),
        ROW("(?U)a+?b", "aab", true),
        ROW("(?P<n>a)(?<m>b)", "ab", true),
        ROW("(?P<\xc3\xa9t\xc3\xa9_1>a)", "a", true),
        ROW("a.c", "a\nc", false),
        ROW("(?s)a.c", "a\nc", true),
        ROW("(?s:a.)(?-s:.)", "a\n\n", false),
        ROW("a.c",
            "a\xf0\x9f\x98\x80"
            "c",
            true),
        ROW("^.$", "\xe2\x82\xac", true),
        ROW("^..$", "\xe2\x82\xac", false),
        ROW("a\\x{0}b", "a\0b", true),
        ROW("a\\0b", "a\0b", true),
        ROW("\\101\\x42\\x{43}", "ABC", true),
        ROW("\\a\\f\\t\\n\\r\\v", "\a\f\t\n\r\v", true),
        ROW("\\Qa.b*\\Ec", "a.b*c", true),
        ROW("\\Qa.b*\\Ec", "axb*c", false),
        ROW("\\Qa\\", "a\\", true),
        ROW("\\Qab\\E+", "abbb", true),
        ROW("\\_\\-\\.\\/\\\"", "_-./\"", true),
        ROW("\\x{10FFFF}", "\xf4\x8f\xbf\xbf", true),
        ROW("@evil\\.com$", "ok@example.com\0@evil.com", true),
    };
    RUN(rows);
}

static void test_classes(void **state) {
    (void)state;
    static const row rows[] = {
        ROW("^[abc]$", "b", true),
        ROW("^[abc]$", "d", false),
        ROW("^[^abc]$", "d", true),
        ROW("^[^abc]$", "\n", true),
        ROW("^[]a]$", "]", true),
        ROW("^[^]a]$", "]", false),
        ROW("^[a\\]]$", "]", true),
        ROW("^[-a]$", "-", true),
        ROW("^[a-]$", "-", true),
        ROW("^[a-c-e]$", "-", true),
        ROW("^[a-c-e]$", "d", false),
        ROW("^[--/]$", ".", true),
        ROW("^[\\d-z]$", "-", true),
        ROW("^[\\n]$", "\n", true),
        ROW("^[[:alpha:]]$", "Q", true),
        ROW("^[[:alpha:]]$", "\xc3\xa9", false),
        ROW("^[[:^alpha:]]$", "\xc3\xa9", true),
        ROW("^[[:word:].]$", "_", true),
        ROW("^[[:]$", ":", true),
        ROW("^[[:a]$", "[", true),
        ROW("^\\d$", "\xd9\xa3", false),
        ROW("^\\D$", "\xd9\xa3", true),
        ROW("^\\s$", "\v", false), /* as Perl 5.16: \s has no vertical tab, [:space:] does */
        ROW("^[[:space:]]$", "\v", true),
        ROW("^[^\\s\\S]$", "a", false),
        ROW("^\\pL$", "\xce\xa9", true),
        ROW("^\\p{Greek}$", "\xce\xa9", true),
        ROW("^\\p{^Greek}$", "\xce\xa9", false),
        ROW("^\\P{^Greek}$", "\xce\xa9", true),
        ROW("^\\P{Lu}$", "\xce\xa9", false),
        ROW("^[\\p{Lu}\\pN]+$", "\xce\xa9\xe2\x85\xa4", true),
        ROW("^\\p{Any}$", "\xf0\x9f\x98\x80", true),
        ROW("^[^\\x00-\\x{10FFFF}]?$", "", true),
        ROW("[^\\x00-\\x{10FFFF}]", "a", false),
        ROW("^[\xc3\xa0-\xc3\xb6]$", "\xc3\xa9", true),
        ROW("^[\\x{7f}-\\x{800}]+$", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80", true),
        ROW("^[\\x{7f}-\\x{800}]+$", "\xe0\xa0\x81", false),
    };
    RUN(rows);
}

static void test_case(void **state) {
    (void)state;
    static const row rows[] = {
        ROW("(?i)Example", "eXAMPLE", true),     ROW("(?i)a(?-i)b", "AB", false),
        ROW("(?i)a(?-i)b", "Ab", true),          ROW("(?:(?i)a)b", "Ab", true),
        ROW("(?:(?i)a)b", "AB", false),          ROW("(?i:a)|b", "A", true),
        ROW("(?i)k", "\xe2\x84\xaa", true), /* the Kelvin sign */
        ROW("(?i)\xc5\xbf", "S", true),     /* long s */
        ROW("(?i)[a-z]", "\xe2\x84\xaa", true),  ROW("(?i)[^k]", "\xe2\x84\xaa", false),
        ROW("(?i)\\w", "\xe2\x84\xaa", true),    ROW("(?i)\\W", "\xe2\x84\xaa", false),
        ROW("\\w", "\xe2\x84\xaa", false),       ROW("(?i)\xcf\x83", "\xcf\x82", true), /* the two small sigmas */
        ROW("(?i)^\xc3\xa9$", "\xc3\x89", true), ROW("(?i)\xc3\x9f", "ss", false),      /* simple folding only */
        ROW("(?i)^\\p{Lu}$", "a", true),         ROW("(?i)^\\P{Lu}$", "a", false),
    };
    RUN(rows);
}

static void test_assertions(void **state) {
    (void)state;
    static const row rows[] = {
        ROW("^evil$", "evil\n", false),
        ROW("(?m)^evil$", "evil\n", true),
        ROW("(?m)^b", "a\nb", true),
        ROW("^b", "a\nb", false),
        ROW("(?m)a$", "a\nb", true),
        ROW("(?m)\\Ab", "a\nb", false),
        ROW("(?m)a\\z", "a\nb", false),
        ROW("\\Aa\\z", "a", true),
        ROW("^$", "", true),
        ROW("^$", "\n", false),
        ROW("(?m)^$", "a\n", true),
        ROW("(?m)^$", "a", false),
        ROW("a^b", "ab", false),
        ROW("a$b", "ab", false),
        ROW("(?m)a$\\n^b", "a\nb", true),
        ROW("\\bword\\b", "a word.", true),
        ROW("\\bword\\b", "swords", false),
        ROW("\\bword\\b", "word", true),
        ROW("\\Bord", "word", true),
        ROW("\\B", "a", false),
        ROW("\\B", "", true),
        ROW("\\b", "", false),
        ROW("\xc3\xa9\\b", "\xc3\xa9", false), /* the border is between ASCII words */
        ROW("^*a", "ba", true),
        ROW("(?:^)+a", "ba", false),
        ROW("(?:$^)*", "x", true),
        ROW("$^", "", true),
        ROW("$^", "x", false),
        ROW("(?m)$\\b^", "x", false),
        ROW("(?:\\b|a)+b", "cab", true),
        ROW("(^a|b)c", "abc", true),
        ROW("(^a|b)c", "aac", false),
    };
    RUN(rows);
}

static void test_shapes(void **state) {
    (void)state;
    static const struct {
        const char *pattern;
        il_regex_how how;
        const char *prefix;
    } rows[] = {
        {"", IL_REGEX_ALWAYS, ""},
        {"(?:|a)", IL_REGEX_BY_TABLE, ""},
        {"abc", IL_REGEX_CONTAINS, "abc"},
        {"^abc", IL_REGEX_STARTS, "abc"},
        {"abc$", IL_REGEX_ENDS, "abc"},
        {"^abc$", IL_REGEX_EQUALS, "abc"},
        {"abc[de]", IL_REGEX_BY_TABLE, "abc"},
        {"^abc[de]", IL_REGEX_BY_TABLE, "abc"},
        {"abcdefghijklmnopqrstuvwxyz[de]", IL_REGEX_BY_TABLE, "abcdefghijklmnopqrstuvwxyz"},
        {"abcdefghijklmnopqrstuvwxyzabcdefghij", IL_REGEX_CONTAINS, "abcdefghijklmnopqrstuvwxyzabcdefghij"},
        {"(?i)abc", IL_REGEX_BY_TABLE, ""},
        {"^https://([a-z0-9-]+\\.)*example\\.com/", IL_REGEX_BY_TABLE, "https://"},
        {"x[ab]*a[ab]{14}c", IL_REGEX_BY_SETS, "x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_memory m;
        il_arena arena;
        const il_regex *re = compile(&arena, &m, rows[i].pattern);
        if (re->how != rows[i].how || !il_str_eq(re->prefix, il_str_of(rows[i].prefix))) {
            fail_msg("%s: %d, prefix `%.*s`", rows[i].pattern, (int)re->how, IL_STR_ARG(re->prefix));
        }
        il_arena_free(&arena);
    }
    static const row texts[] = {
        ROW("abc", "ababc", true),
        ROW("abc[de]", "abcabcabce", true),
        ROW("abc[de]", "ababcababc", false),
        ROW("abca[de]", "abcabcad", true),
        ROW("abc(?:d|$)", "xabcxabc", true),
        ROW("aab[de]", "aaabd", true),
        ROW("abcdefghijklmnopqrstuvwxyzabcdefghij", "abcdefghijklmnopqrstuvwxabcdefghijklmnopqrstuvwxyzabcdefghij", true),
        ROW("abcdefghijklmnopqrstuvwxyzabcdefghij", "abcdefghijklmnopqrstuvwxabcdefghijklmnopqrstuvwxyzabcdefghi", false),
        ROW("^foo(|bar)$", "foo", true),
        ROW("^foo(|bar)", "fo", false),
        ROW("x[ab]*a[ab]{14}c", "xxabaaaabbbbaaaabbbbc", true),
        ROW("x[ab]*a[ab]{14}c", "aaaabbbbaaaabbbbc", false),
        ROW("^https://([a-z0-9-]+\\.)*example\\.com/", "https://a.b.example.com/x", true),
        ROW("^https://([a-z0-9-]+\\.)*example\\.com/", "https://example.com.evil.org/", false),
        ROW("^https://([a-z0-9-]+\\.)*example\\.com/", "https://evil.org/https://example.com/", false),
        ROW("^https://example.com/", "https://exampleXcom/", true),
    };
    RUN(texts);
}

/* The work of a search grows as its text does, whatever the pattern and the text. */
static void test_linear(void **state) {
    (void)state;
    static const char *const patterns[] = {"^(a+)+$",
                                           "(a+)+$",
                                           "(a|aa)+$",
                                           "^(a|a?)+$",
                                           "(.*)*b",
                                           "(?:a?){200}a{200}b",
                                           "a*a*a*a*a*b",
                                           "(x+x+)+y",
                                           "a{200}b",
                                           ".*.*.*.*=.*",
                                           "(?:(?:a{1,10}){1,10}){1,10}b",
                                           "x[ab]*a[ab]{14}c"};
    enum { BYTES = 100000 };
    char *text = malloc(BYTES);
    assert_non_null(text);
    memset(text, 'a', BYTES);
    text[BYTES - 1] = '!';
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        test_memory m;
        il_arena arena;
        const il_regex *re = compile(&arena, &m, patterns[i]);
        const size_t calls = m.calls;
        const int64_t whole = (int64_t)il_regex_weight(re) * (BYTES / 64 + 1);
        int64_t steps = whole, sets = INT64_MAX;
        assert_int_equal(il_regex_search(re, (il_str){text, BYTES}, &steps), 0);
        assert_int_equal(il_regex_search_sets(re, (il_str){text + BYTES - BYTES / 10, BYTES / 10}, &sets), 0);
        assert_true(steps >= 0);
        assert_true(INT64_MAX - sets <= 5 * (int64_t)il_regex_set_cost(&re->program) * (BYTES / 640 + 1));
        assert_int_equal(m.calls, calls);
        il_arena_free(&arena);
    }
    free(text);
}

/* One step too few is told from an answer, for every way to search; with what the weight says there is always an answer. */
static void test_budget(void **state) {
    (void)state;
    static const char *const patterns[] = {"",        "b", "^b", "b$", "^b$", "a(b|c)", "x[ab]*a[ab]{14}c", "\\pL+\\s\\pL+$",
                                           "(?m)^\\b"};
    static const size_t lengths[] = {0, 1, 2, 62, 63, 64, 65, 127, 128, 1000};
    char text[1000];
    memset(text, 'a', sizeof text);
    text[0] = 'x';
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        test_memory m;
        il_arena arena;
        const il_regex *re = compile(&arena, &m, patterns[i]);
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            const il_str t = {text, lengths[k]};
            const int answer = il_regex_search(re, t, NULL);
            const int64_t most = (int64_t)il_regex_weight(re) * ((int64_t)t.n / 64 + 1);
            int64_t steps = most;
            assert_int_equal(il_regex_search(re, t, &steps), answer);
            assert_true(answer >= 0 && steps >= 0 && steps < most);
            int64_t exact = most - steps, short_of = exact - 1, none = 0, negative = -5;
            assert_int_equal(il_regex_search(re, t, &exact), answer);
            assert_int_equal(exact, 0);
            assert_int_equal(il_regex_search(re, t, &short_of), IL_REGEX_SPENT);
            assert_int_equal(short_of, 0);
            assert_int_equal(il_regex_search(re, t, &none), IL_REGEX_SPENT);
            assert_int_equal(il_regex_search(re, t, &negative), IL_REGEX_SPENT);
            assert_int_equal(negative, 0);
        }
        il_arena_free(&arena);
    }
}

/* Compiling for one search has no table, answers alike, and costs what it takes from its budget: with one step less it is refused. */
static void test_once(void **state) {
    (void)state;
    static const char *const patterns[] = {"",
                                           "abc",
                                           "^https://([a-z0-9-]+\\.)*example\\.com/",
                                           "(?i)\\p{Greek}[^\\W]k",
                                           "(?:a{1,9}){50}",
                                           "(?:()|()){1000}",
                                           "[[:alpha:]-\\pN]{10}",
                                           "\\bx\\b"};
    static const char *const texts[] = {"",
                                        "abc",
                                        "https://x.example.com/",
                                        "\xcf\x83\x61k",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                        "0123456789a",
                                        "y x"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        test_memory m;
        il_arena arena;
        const il_regex *re = compile(&arena, &m, patterns[i]);
        il_regex *once = NULL;
        il_error err = {0};
        int64_t steps = 1 << 20;
        assert_int_equal(il_regex_compile_once(&arena, il_str_of(patterns[i]), &steps, &once, &err), IL_OK);
        assert_true(once->how != IL_REGEX_BY_TABLE && steps >= 0);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            assert_int_equal(il_regex_search(once, il_str_of(texts[k]), NULL), il_regex_search(re, il_str_of(texts[k]), NULL));
        }
        const int64_t cost = (1 << 20) - steps;
        for (int64_t less = 1; less <= cost; less += 1 + cost / 50) {
            int64_t few = cost - less;
            il_regex *none = NULL;
            assert_int_equal(il_regex_compile_once(&arena, il_str_of(patterns[i]), &few, &none, &err), IL_E_LIMIT);
            assert_true(none == NULL && few == 0 && err.line == 1 && err.col > 0);
        }
        int64_t exact = cost;
        assert_int_equal(il_regex_compile_once(&arena, il_str_of(patterns[i]), &exact, &once, &err), IL_OK);
        assert_int_equal(exact, 0);
        il_arena_free(&arena);
    }
}

/* Bytes that are not UTF-8 do no harm. */
static void test_bytes(void **state) {
    (void)state;
    static const char *const patterns[] = {"\\pL.$", "^[^a]\\b", "(?i)\xc3\xa9", "x[ab]*a[ab]{14}c", "."};
    char text[64];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        test_memory m;
        il_arena arena;
        const il_regex *re = compile(&arena, &m, patterns[i]);
        for (unsigned round = 0; round < 2000; round++) {
            for (size_t k = 0; k < sizeof text; k++) {
                random = random * 1664525u + 1013904223u;
                text[k] = (char)((random >> 24) | (round % 2 != 0 ? 0x80u : 0u));
            }
            const il_str t = {text, round % sizeof text};
            assert_int_equal(il_regex_search(re, t, NULL), il_regex_search_sets(re, t, NULL));
        }
        il_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_classes), cmocka_unit_test(test_case),
        cmocka_unit_test(test_assertions), cmocka_unit_test(test_shapes),  cmocka_unit_test(test_linear),
        cmocka_unit_test(test_budget),     cmocka_unit_test(test_bytes),   cmocka_unit_test(test_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
