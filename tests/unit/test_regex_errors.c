/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused: where, in which words, and that little memory and time is spent on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/regex.h"
#include "helper_memory.h"

typedef struct row {
    const char *pattern;
    il_status status;
    uint32_t col;
    size_t offset;
    const char *says;
} row;

static void run_rows(const row *rows, size_t n) {
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        test_memory m;
        il_arena arena;
        il_regex *re = NULL;
        il_error err = {0};
        test_memory_init(&m, SIZE_MAX);
        il_arena_init(&arena, &m.alloc, (size_t)8 << 20);
        const il_status status = il_regex_compile(&arena, il_str_of(rows[i].pattern), &re, &err);
        if (status != rows[i].status || re != NULL || err.code != status || err.line != 1 || err.col != rows[i].col ||
            err.offset != rows[i].offset || strcmp(err.msg, rows[i].says) != 0) {
            print_error("%s\n  want %s %u %zu %s\n  got  %s %u %zu %s\n", rows[i].pattern, il_status_name(rows[i].status),
                        rows[i].col, rows[i].offset, rows[i].says, il_status_name(status), err.col, err.offset, err.msg);
            wrong++;
        }
        il_arena_free(&arena);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(wrong, 0);
}
#define REFUSED(rows) run_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_syntax(void **state) {
    (void)state;
    static const row rows[] = {
        {"a(b", IL_E_SYNTAX, 2, 1, "missing `)` for the group that begins here"},
        {"\xc3\xa9(b", IL_E_SYNTAX, 2, 2, "missing `)` for the group that begins here"},
        {"(?:a", IL_E_SYNTAX, 1, 0, "missing `)` for the group that begins here"},
        {"(?i", IL_E_SYNTAX, 1, 0, "missing `)` for the group that begins here"},
        {"ab)", IL_E_SYNTAX, 3, 2, "`)` without `(`; write `\\)` for a parenthesis"},
        {"a[bc", IL_E_SYNTAX, 2, 1, "missing `]`; write `\\[` for a bracket"},
        {"[]", IL_E_SYNTAX, 1, 0, "missing `]`; write `\\[` for a bracket"},
        {"[a-", IL_E_SYNTAX, 1, 0, "missing `]`; write `\\[` for a bracket"},
        {"[z-a]", IL_E_SYNTAX, 2, 1, "range `z-a` is backwards"},
        {"[a-\\d]", IL_E_SYNTAX, 4, 3, "unknown escape `\\d`"},
        {"[[:foo:]]", IL_E_SYNTAX, 2, 1, "unknown class `[:foo:]`; there are `alpha`, `digit`, `alnum`, `space`, `punct`, ..."},
        {"[[:\\d:]]", IL_E_SYNTAX, 2, 1, "unknown class `[:\\d:]`; there are `alpha`, `digit`, `alnum`, `space`, `punct`, ..."},
        {"*a", IL_E_SYNTAX, 1, 0, "nothing before `*` that could repeat; write `\\*` for the character"},
        {"a|+", IL_E_SYNTAX, 3, 2, "nothing before `+` that could repeat; write `\\+` for the character"},
        {"({2})", IL_E_SYNTAX, 2, 1, "nothing before `{2}` that could repeat; write `\\{` for the character"},
        {"a**", IL_E_SYNTAX, 3, 2, "`*` repeats a repetition; put that in `(?:...)`"},
        {"a*?+", IL_E_SYNTAX, 4, 3, "`+` repeats a repetition; put that in `(?:...)`"},
        {"x{2}{3}", IL_E_SYNTAX, 5, 4, "`{3}` repeats a repetition; put that in `(?:...)`"},
        {"a{3,2}", IL_E_SYNTAX, 2, 1, "the counts of `{3,2}` are backwards"},
        {"a\\", IL_E_SYNTAX, 2, 1, "nothing after `\\`; write `\\\\` for a backslash"},
        {"\\y", IL_E_SYNTAX, 1, 0, "unknown escape `\\y`"},
        {"a\\Z", IL_E_SYNTAX, 2, 1, "unknown escape `\\Z`"},
        {"\\\xc3\xa9", IL_E_SYNTAX, 1, 0, "unknown escape `\\\xc3\xa9`"},
        {"[\\b]", IL_E_SYNTAX, 2, 1, "unknown escape `\\b`"},
        {"\\x4", IL_E_SYNTAX, 1, 0, "`\\x` takes two hexadecimal digits, or `{`, hexadecimal digits and `}`"},
        {"\\x{}", IL_E_SYNTAX, 1, 0, "`\\x` takes two hexadecimal digits, or `{`, hexadecimal digits and `}`"},
        {"\\x{41", IL_E_SYNTAX, 1, 0, "`\\x` takes two hexadecimal digits, or `{`, hexadecimal digits and `}`"},
        {"\\x{110000}", IL_E_SYNTAX, 1, 0, "`\\x{...}` beyond 10FFFF, the last code point"},
        {"\\p", IL_E_SYNTAX, 1, 0, "nothing after `\\p`; a name belongs there, as in `\\p{Greek}`"},
        {"\\p{Greek", IL_E_SYNTAX, 1, 0, "missing `}` after `\\p{`"},
        {"\\p{greek}", IL_E_SYNTAX, 1, 0,
         "`greek` is no Unicode category or script; there are for example `Lu`, `N`, `Greek`, `Any`"},
        {"\\PX", IL_E_SYNTAX, 1, 0, "`X` is no Unicode category or script; there are for example `Lu`, `N`, `Greek`, `Any`"},
        {"\\p{Cn}", IL_E_SYNTAX, 1, 0, "`Cn` is no Unicode category or script; there are for example `Lu`, `N`, `Greek`, `Any`"},
        {"\\p{}", IL_E_SYNTAX, 1, 0, "`` is no Unicode category or script; there are for example `Lu`, `N`, `Greek`, `Any`"},
        {"(?P<n", IL_E_SYNTAX, 1, 0, "missing `>` behind the name of the group"},
        {"(?P<>a)", IL_E_SYNTAX, 5, 4, "`` is no name of a group; letters, digits and `_` make one"},
        {"(?<a-b>a)", IL_E_SYNTAX, 4, 3, "`a-b` is no name of a group; letters, digits and `_` make one"},
        {"(?P<n>a)(?P<n>b)", IL_E_SYNTAX, 13, 12, "there is already a group named `n`"},
        {"(?z)", IL_E_SYNTAX, 1, 0, "unknown group `(?z`; there are `(?:`, `(?P<name>` and the flags `i m s U`"},
        {"(?i-)a", IL_E_SYNTAX, 1, 0, "unknown group `(?i-)`; there are `(?:`, `(?P<name>` and the flags `i m s U`"},
        {"(?#a)", IL_E_SYNTAX, 1, 0, "unknown group `(?#`; there are `(?:`, `(?P<name>` and the flags `i m s U`"},
        {"a\xff", IL_E_SYNTAX, 2, 1, "the pattern is not valid UTF-8"},
    };
    REFUSED(rows);
}

static void test_unsupported(void **state) {
    (void)state;
    static const row rows[] = {
        {"(a)\\1", IL_E_INVALID, 4, 3, "backreference `\\1` is not supported"},
        {"\\8", IL_E_INVALID, 1, 0, "backreference `\\8` is not supported"},
        {"(?P<n>a)(?P=n)", IL_E_INVALID, 9, 8, "backreference `(?P=` is not supported"},
        {"a(?=b)", IL_E_INVALID, 2, 1, "look-around `(?=` is not supported"},
        {"a(?!b)", IL_E_INVALID, 2, 1, "look-around `(?!` is not supported"},
        {"(?<=b)a", IL_E_INVALID, 1, 0, "look-around `(?<=` is not supported"},
        {"(?<!b)a", IL_E_INVALID, 1, 0, "look-around `(?<!` is not supported"},
        {"(?>a)", IL_E_INVALID, 1, 0, "atomic group `(?>` is not supported"},
        {"a\\C", IL_E_INVALID, 2, 1, "`\\C`, any byte, is not supported; `(?s:.)` is any character"},
        {"a++", IL_E_SYNTAX, 3, 2, "`+` repeats a repetition; put that in `(?:...)`"},
    };
    REFUSED(rows);
}

static void test_limits(void **state) {
    (void)state;
    static const row rows[] = {
        {"a{1001}", IL_E_LIMIT, 2, 1, "repeat `{1001}` above 1000"},
        {"a{2000,}", IL_E_LIMIT, 2, 1, "repeat `{2000,}` above 1000"},
        {"((a{10}){10}){11}", IL_E_LIMIT, 14, 13, "nested repeats make more than 1000"},
        {"(?:(?:a{100}b){5}){0,3}", IL_E_LIMIT, 19, 18, "nested repeats make more than 1000"},
        {"\\pL{500}", IL_E_LIMIT, 1, 0,
         "the pattern needs more than 32768 instructions; use smaller repeats or fewer Unicode classes"},
    };
    REFUSED(rows);
}

/* Patterns that would be large: refused or compiled, but within memory and time of their length. */
static void test_bombs(void **state) {
    (void)state;
    static const struct {
        const char *begin, *middle, *end;
        size_t times;
        il_status status;
    } rows[] = {
        {"", "(", "", 16000, IL_E_LIMIT},
        {"", "(", ")", 16000, IL_E_LIMIT},
        {"", "(?:a{1000}", "", 1600, IL_E_LIMIT},
        {"", "a{1000}", "", 2300, IL_E_LIMIT},
        {"(?:", "()", "){1000}", 8000, IL_OK},
        {"(?:", "(|)", "){1000}", 5000, IL_OK},
        {"(?:", "\\b", "){1000}", 8000, IL_E_LIMIT},
        {"", "\\pL", "", 5400, IL_E_LIMIT},
        {"", "[\\pL\\pN]", "", 1800, IL_E_LIMIT},
        {"[", "\\pL\\P{Lu}", "]", 1600, IL_E_LIMIT},
        {"(?i)[", "\\P{Lu}", "]", 2300, IL_E_LIMIT},
        {"(?i)", "\\W", "", 8000, IL_E_LIMIT},
        {"(?i)", "k", "", 16000, IL_E_LIMIT},
        {"(?i)", "k", "", 8000, IL_OK},
        {"", "a|", "", 8000, IL_OK},
        {"", "a?", "", 8000, IL_OK},
        {"", ".*", "", 4000, IL_OK},
        {"a", "(?i)*", "", 3200, IL_OK},
        {"a", "(?i){2}", "", 2300, IL_E_LIMIT},
        {"a", "(?i){0}", "", 2300, IL_E_LIMIT},
        {"", "(?P<n", ">a)", 3000, IL_E_SYNTAX},
        {"", "x", "", 16385, IL_E_LIMIT},
        {"", "x", "", 16384, IL_OK},
        {"(", "a|b|", "c){1000}", 4000, IL_E_LIMIT},
        {"[ab]*a", "[ab]", "", 4000, IL_OK},
        {"", "\\bx\\b|", "", 2500, IL_OK},
    };
    char *pattern = malloc(64 * 1024);
    assert_non_null(pattern);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = 0;
        test_memory m;
        il_arena arena;
        il_regex *re = NULL;
        il_error err = {0};
        test_memory_init(&m, SIZE_MAX);
        il_arena_init(&arena, &m.alloc, (size_t)1 << 20);
        memcpy(pattern, rows[i].begin, strlen(rows[i].begin));
        n += strlen(rows[i].begin);
        for (size_t k = 0; k < rows[i].times; k++) {
            memcpy(pattern + n, rows[i].middle, strlen(rows[i].middle));
            n += strlen(rows[i].middle);
        }
        memcpy(pattern + n, rows[i].end, strlen(rows[i].end));
        n += strlen(rows[i].end);
        const il_status status = il_regex_compile(&arena, (il_str){pattern, n}, &re, &err);
        if (status != rows[i].status || (status != IL_OK && (err.line != 1 || err.col < 1 || err.msg[0] == '\0'))) {
            fail_msg("%s%s...: %s %u %s", rows[i].begin, rows[i].middle, il_status_name(status), err.col, err.msg);
        }
        assert_true((status == IL_OK) == (re != NULL));
        il_arena_free(&arena);
        assert_int_equal(m.live, 0);
    }
    free(pattern);
}

/* Every allocation fails once, then all from it on: a refusal for want of memory, nothing kept, and never a wrong answer. */
static void test_memory_fails(void **state) {
    (void)state;
    static const char *const patterns[] = {"^https://([a-z0-9-]+\\.)*example\\.com/",
                                           "(?i)[\\pL\\d]+|\\P{Greek}{3}",
                                           "(?P<a>x)(?P<b>y{2,3})$",
                                           "x[ab]*a[ab]{14}c",
                                           "\\pL{10}",
                                           "[ab]*[^c]{300}"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        for (unsigned once = 0; once < 2; once++) {
            bool done = false;
            size_t failures = 0;
            for (size_t n = 0; !done; n++) {
                test_memory m;
                il_arena arena;
                il_regex *re = NULL;
                il_error err = {0};
                test_memory_init(&m, n);
                m.once = once != 0;
                il_arena_init(&arena, &m.alloc, (size_t)8 << 20);
                const il_status status = il_regex_compile(&arena, il_str_of(patterns[i]), &re, &err);
                done = !m.failed;
                failures += m.failed;
                if (m.failed ? status != IL_E_MEMORY || re != NULL || err.code != status : status != IL_OK) {
                    fail_msg("%s, allocation %zu: %s %s", patterns[i], n, il_status_name(status), err.msg);
                }
                il_arena_free(&arena);
                assert_int_equal(m.live, 0);
            }
            assert_true(failures >= 3);
        }
    }
}

/* The caller's arena is the bound of what is kept. */
static void test_arena_cap(void **state) {
    (void)state;
    bool fits = false;
    for (size_t cap = 0; !fits; cap += 64) {
        test_memory m;
        il_arena arena;
        il_regex *re = NULL;
        il_error err = {0};
        test_memory_init(&m, SIZE_MAX);
        il_arena_init(&arena, &m.alloc, cap);
        const il_status status = il_regex_compile(&arena, IL_STR("^a[bc]+d"), &re, &err);
        fits = status == IL_OK;
        assert_true(fits ? re != NULL : status == IL_E_LIMIT && re == NULL && err.msg[0] != '\0');
        il_arena_free(&arena);
        assert_int_equal(m.live, 0);
        assert_true(cap < 4096);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_syntax),       cmocka_unit_test(test_unsupported),
                                       cmocka_unit_test(test_limits),       cmocka_unit_test(test_bombs),
                                       cmocka_unit_test(test_memory_fails), cmocka_unit_test(test_arena_cap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
