/* SPDX-License-Identifier: Apache-2.0 */
/* The same patterns and texts as RE2: who refuses what, and every answer, by the quickest way and by sets alone. Random ones come from a
 * seed that is printed; IL_TEST_SEED repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#ifndef IL_HAVE_RE2
int main(void) {
    puts("skipped: RE2 is not installed (libre2-dev), or there is no C++ compiler");
    return 77;
}
#else

#include "cel/regex_part.h"
#include "helper_memory.h"
#include "oracle_re2.h"

static struct {
    uint64_t random;
    size_t patterns, accepted, comparisons, matches, by_sets, forgotten;
    size_t ours_only, limits; /* patterns that only one side takes, for a reason that stands in expected() */
} run;

static uint64_t next_random(void) {
    run.random ^= run.random << 13;
    run.random ^= run.random >> 7;
    run.random ^= run.random << 17;
    return run.random;
}
static size_t below(size_t n) { return (size_t)(next_random() >> 11) % n; }

typedef struct text {
    char p[4096];
    size_t n;
} text;

static void put(text *t, const char *s) {
    const size_t n = strlen(s);
    if (t->n + n <= sizeof t->p) {
        memcpy(t->p + t->n, s, n);
        t->n += n;
    }
}

static void show(const char *what, il_str s) {
    print_error("%s `", what);
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        print_error(c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    print_error("`\n");
}

/* Whether a difference in what is taken is one that is wanted. */
static bool expected(il_str pattern, const il_error *err, bool ours, const char *theirs) {
    if (ours) {
        run.ours_only++;
        return il_str_find(pattern, IL_STR("(?<"), 0) != SIZE_MAX ||
               strstr(theirs, "too large") != NULL; /* newer RE2s have (?<name> */
    }
    run.limits++;
    return strstr(err->msg, "`\\C`") != NULL || (err->code == IL_E_LIMIT && strstr(err->msg, "instructions") != NULL);
}

typedef struct pair {
    il_arena arena;
    il_regex *ours;
    oracle_re2 *theirs;
} pair;

/* True when both have it. */
static bool pair_new(pair *p, const il_alloc *alloc, il_str pattern) {
    il_error err = {0};
    char why[200] = "";
    il_arena_init(&p->arena, alloc, (size_t)64 << 20);
    const il_status status = il_regex_compile(&p->arena, pattern, &p->ours, &err);
    p->theirs = oracle_re2_new(pattern.p, pattern.n, why);
    run.patterns++;
    if ((status == IL_OK) != (p->theirs != NULL) && !expected(pattern, &err, status == IL_OK, why)) {
        show("pattern", pattern);
        fail_msg("ours: %s %s; RE2: %s", il_status_name(status), err.msg, p->theirs != NULL ? "fine" : why);
    }
    if (status != IL_OK) {
        assert_true(p->ours == NULL && err.line == 1 && err.col >= 1 && err.offset <= pattern.n);
    } else {
        run.by_sets += p->ours->how == IL_REGEX_BY_SETS;
    }
    run.accepted += status == IL_OK && p->theirs != NULL;
    return status == IL_OK && p->theirs != NULL;
}

static void pair_free(pair *p) {
    il_arena_free(&p->arena);
    oracle_re2_free(p->theirs);
}

/* Whether the three answers are one, and the cost is what the weight says at most. */
static bool agree(const pair *p, il_str t) {
    const int64_t most = (int64_t)il_regex_weight(p->ours) * ((int64_t)t.n / 64 + 1);
    int64_t steps = most;
    const int theirs = oracle_re2_search(p->theirs, t.p, t.n);
    run.comparisons++;
    run.matches += theirs == 1;
    return il_regex_search(p->ours, t, &steps) == theirs && steps >= 0 && il_regex_search_sets(p->ours, t, NULL) == theirs;
}

/* Debian's RE2 puts alternatives that begin with one letter together and forgets that only some of them fold case: `a|(?i:a)` does not
 * match `A` there. With an empty group before each alternative it does not put them together; when that answer is ours, the difference is this one. */
static bool forgets_case(const pair *p, il_str pattern, il_str t) {
    char again[4096], why[200] = "";
    size_t n = 0;
    if (il_str_find(pattern, IL_STR("|"), 0) == SIZE_MAX || il_str_find(pattern, IL_STR("i"), 0) == SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < pattern.n && n < sizeof again - 8; i++) {
        again[n++] = pattern.p[i];
        if (pattern.p[i] == '|') {
            memcpy(again + n, "(?:)", 4);
            n += 4;
        }
    }
    oracle_re2 *apart = oracle_re2_new(again, n, why);
    const bool same = apart != NULL && oracle_re2_search(apart, t.p, t.n) == il_regex_search(p->ours, t, NULL) &&
                      il_regex_search_sets(p->ours, t, NULL) == il_regex_search(p->ours, t, NULL);
    oracle_re2_free(apart);
    run.forgotten += same;
    return same && run.forgotten * 1000 <= run.comparisons + 5000; /* rare, or it is something else */
}

static void compare(const pair *p, il_str pattern, il_str t) {
    if (!agree(p, t) && !forgets_case(p, pattern, t)) {
        show("pattern", pattern);
        show("text", t);
        fail_msg("quick %d, sets %d, RE2 %d", il_regex_search(p->ours, t, NULL), il_regex_search_sets(p->ours, t, NULL),
                 oracle_re2_search(p->theirs, t.p, t.n));
    }
}

static const char *const atoms[] = {"a",
                                    "a",
                                    "a",
                                    "b",
                                    "b",
                                    "c",
                                    "A",
                                    "K",
                                    "k",
                                    "s",
                                    "_",
                                    "-",
                                    "0",
                                    "7",
                                    " ",
                                    "\n",
                                    "\xc3\xa9",
                                    "\xc3\x89",
                                    "\xe2\x84\xaa",
                                    "\xc5\xbf",
                                    "\xf0\x9f\x98\x80",
                                    "\xce\xa3",
                                    "\xcf\x82",
                                    "/",
                                    "."};
static const char *const points[] = {
    "a", "b", "A", "k", "\xc3\xa9", "\\n", "\\.", "\\x{212A}", "\\141", "\\x61", "\xf0\x9f\x98\x80", "\\$", "_", "\\-"};
static const char *const classes[] = {".",
                                      "\\d",
                                      "\\w",
                                      "\\s",
                                      "\\D",
                                      "\\W",
                                      "\\S",
                                      "[abc]",
                                      "[^a]",
                                      "[a-c]",
                                      "[^a-z]",
                                      "[[:alpha:]]",
                                      "[^[:space:]]",
                                      "[[:^digit:]b]",
                                      "\\pL",
                                      "\\p{Greek}",
                                      "\\P{Lu}",
                                      "\\p{^Ll}",
                                      "[\\pN_]",
                                      "[\\W]",
                                      "[^\\W]",
                                      "[^\\D\\S]",
                                      "[k-s]",
                                      "[\\x{80}-\\x{7ff}]",
                                      "[\xc3\xa0-\xc3\xb6]",
                                      "[^\\x00-\\x{10FFFF}]",
                                      "(?s:.)",
                                      "[]a]",
                                      "[^]a]",
                                      "[a-]",
                                      "[-a]",
                                      "[\\]]",
                                      "[K-S]",
                                      "[^k]"};
static const char *const assertions[] = {"^", "$", "\\b", "\\B", "\\A", "\\z", "(?m:^)", "(?m:$)"};
static const char *const repeats[] = {"*",     "+",   "?",    "{2}", "{0,2}", "{1,3}", "{2,}",   "{0}",
                                      "{0,1}", "{1}", "{,2}", "*?",  "+?",    "??",    "{1,2}?", "{3,}"};
static const char *const groups[] = {"(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?-i:", "(?i-s:", "(?ims:"};
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define ANY(a) ((a)[below(COUNT(a))])

static void put_item(text *t, unsigned depth);
static void put_branches(text *t, unsigned depth) {
    for (unsigned branches = 1u + (below(3) == 0) + (below(8) == 0); branches > 0; branches--) {
        for (size_t items = below(4); items > 0; items--) {
            put_item(t, depth);
        }
        put(t, branches > 1 ? "|" : "");
    }
}
static void put_item(text *t, unsigned depth) {
    switch (below(depth > 0 ? 9 : 6)) {
    case 0:
    case 1:
        put(t, ANY(points));
        break;
    case 2:
        put(t, ANY(classes));
        break;
    case 3:
        put(t, ANY(assertions));
        break;
    case 4:
        put(t, below(6) == 0 ? "(?i)" : ANY(points));
        break;
    case 5:
        put(t, ANY(points));
        break;
    default:
        put(t, ANY(groups));
        put_branches(t, depth - 1);
        put(t, ")");
    }
    if (below(3) == 0) {
        put(t, ANY(repeats));
    }
}

/* Anything that means something, in any order. */
static const char *const tokens[] = {"a",
                                     "b",
                                     "(",
                                     ")",
                                     "(",
                                     ")",
                                     "[",
                                     "]",
                                     "[^",
                                     "*",
                                     "+",
                                     "?",
                                     "{",
                                     "}",
                                     "{2",
                                     ",",
                                     "{2}",
                                     "{1,2}",
                                     "{2,1}",
                                     "{1001}",
                                     "{1000}",
                                     "{01}",
                                     "|",
                                     "^",
                                     "$",
                                     ".",
                                     "\\",
                                     "\\\\",
                                     "\\d",
                                     "\\pN",
                                     "\\p{Lu}",
                                     "\\p{",
                                     "\\P{^Greek}",
                                     "\\pX",
                                     "\\p{Foo}",
                                     "\\Q",
                                     "\\E",
                                     "\\x",
                                     "\\x{",
                                     "\\x41",
                                     "\\x{41}",
                                     "\\x{110000}",
                                     "\\0",
                                     "\\1",
                                     "\\8",
                                     "\\12",
                                     "\\777",
                                     "\\b",
                                     "\\B",
                                     "\\A",
                                     "\\z",
                                     "\\Z",
                                     "\\C",
                                     "\\G",
                                     "\\_",
                                     "\\-",
                                     "\\e",
                                     "\\a",
                                     "\\v",
                                     "\\\xc3\xa9",
                                     "(?",
                                     "(?i",
                                     "(?i)",
                                     "(?-",
                                     "(?-i)",
                                     "(?i-)",
                                     "(?--i)",
                                     "(?:",
                                     "(?P<n>",
                                     "(?P<n",
                                     "(?P<m>",
                                     "(?P=n)",
                                     "(?P>",
                                     "(?=",
                                     "(?!",
                                     "(?<=",
                                     "(?<!",
                                     "(?<n>",
                                     "(?>",
                                     "(?#",
                                     "(?P<\xc3\xa9>",
                                     "(?P<->",
                                     "(?P<>",
                                     "(?z)",
                                     "(?U)",
                                     "[[:alpha:]]",
                                     "[:",
                                     ":]",
                                     "[:alpha:]",
                                     "[[:foo:]]",
                                     "[[:^alpha:]]",
                                     "[:word:]",
                                     "[\\d-z]",
                                     "[a-\\d]",
                                     "[z-a]",
                                     "[a-b-c]",
                                     "[--a]",
                                     "-",
                                     "0",
                                     "1",
                                     "\xc3\xa9",
                                     "\n",
                                     "k",
                                     "[a",
                                     "\\pL",
                                     "[[.a.]]",
                                     "[a&&b]",
                                     "\\x{d800}",
                                     "\\x{ FF}",
                                     "(?i)K",
                                     "++",
                                     "*?",
                                     "+?",
                                     "??",
                                     "{2}?",
                                     "**"};

static void put_text(text *t) {
    t->n = 0;
    for (size_t n = below(5) == 0 ? below(40) : below(9); n > 0; n--) {
        if (below(40) == 0 && t->n < sizeof t->p) {
            t->p[t->n++] = '\0';
        }
        put(t, ANY(atoms));
    }
}

/* In one of the builds that run this, and not in those that look for other things. */
static bool thorough(void) { return getenv("IL_TEST_THOROUGH") != NULL; }

/* Random patterns of one kind until `until` comparisons were made. */
static void random_patterns(bool soup, size_t until) {
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    while (run.comparisons < until) {
        text pattern = {.n = 0}, t;
        pair p = {0};
        if (soup) {
            for (size_t n = 1 + below(below(4) == 0 ? 12 : 5); n > 0; n--) {
                put(&pattern, ANY(tokens));
            }
        } else {
            put_branches(&pattern, 3);
        }
        const il_str text_of = {pattern.p, pattern.n};
        if (pair_new(&p, &m.alloc, text_of)) {
            for (unsigned i = 0; i < 24; i++) {
                put_text(&t);
                compare(&p, text_of, (il_str){t.p, t.n});
            }
        }
        pair_free(&p);
    }
    assert_int_equal(m.live, 0);
}

static void test_random(void **state) {
    (void)state;
    const char *seed = getenv("IL_TEST_SEED");
    run.random = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 2654435761u;
    run.random |= run.random == 0;
    print_message("IL_TEST_SEED=%llu\n", (unsigned long long)run.random);
    const size_t goal = thorough() ? 400000 : 60000;
    random_patterns(false, goal * 3 / 4);
    const size_t grown = run.accepted;
    random_patterns(true, goal);
    print_message("%zu patterns (%zu + %zu taken by both, %zu only by us, %zu beyond our limits, %zu by sets), %zu comparisons, "
                  "%zu match\n",
                  run.patterns, grown, run.accepted - grown, run.ours_only, run.limits, run.by_sets, run.comparisons,
                  run.matches);
    assert_true(run.comparisons >= goal && run.matches > run.comparisons / 10 && run.matches < run.comparisons * 9 / 10);
}

/* A pattern that differs a little from the one that RE2 has is noticed. */
static void test_control(void **state) {
    (void)state;
    static const char *const twins[][2] = {
        {"a+b", "a*b"}, {"\\bk", "(?i)\\bk"}, {"^a", "(?m)^a"}, {"(?s)a.", "a."}, {"\\W", "(?i)\\W"}};
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    for (size_t i = 0; i < COUNT(twins); i++) {
        pair first = {0}, second = {0};
        size_t differ = 0;
        assert_true(pair_new(&first, &m.alloc, il_str_of(twins[i][0])) && pair_new(&second, &m.alloc, il_str_of(twins[i][1])));
        const pair crossed = {.ours = first.ours, .theirs = second.theirs};
        for (unsigned k = 0; k < 2000; k++) {
            text t;
            put_text(&t);
            differ += !agree(&crossed, (il_str){t.p, t.n});
        }
        assert_true(differ > 0 && differ < 2000);
        pair_free(&first);
        pair_free(&second);
    }
}

static size_t utf8_of(uint32_t c, char *p) {
    if (c < 0x80) {
        p[0] = (char)c;
        return 1;
    }
    const size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    for (size_t i = more; i > 0; i--, c >>= 6) {
        p[i] = (char)(0x80 | (c & 0x3f));
    }
    p[0] = (char)(lead[more] | c);
    return more + 1;
}

/* Every code point against one class. */
static void all_points(const char *class) {
    test_memory m;
    pair p = {0};
    char t[8];
    test_memory_init(&m, SIZE_MAX);
    const il_str pattern = {class, strlen(class)};
    assert_true(pair_new(&p, &m.alloc, pattern));
    for (uint32_t c = 0; c <= 0x10ffff; c += c == 0xd7ff ? 0x801 : 1) {
        const size_t n = utf8_of(c, t);
        if (il_regex_search(p.ours, (il_str){t, n}, NULL) != oracle_re2_search(p.theirs, t, n)) {
            fail_msg("%s: U+%04X differs", class, c);
        }
    }
    pair_free(&p);
}

static void test_all_points(void **state) {
    (void)state;
    static const char *const some[] = {"\\w",
                                       "(?i)\\w",
                                       "(?i)\\W",
                                       "(?i)[^\\W]",
                                       ".",
                                       "[^\\x{80}-\\x{ffff}]",
                                       "(?i)[k-s]",
                                       "(?i)\\p{Lu}",
                                       "(?i)\\P{Lu}",
                                       "(?i)\\p{^Greek}",
                                       "(?i)[\\P{Ll}]",
                                       "(?i)[^\\P{Ll}]",
                                       "\\pL",
                                       "\\PN",
                                       "\\p{Any}",
                                       "(?i)\\pL"};
    for (size_t i = 0; i < (thorough() ? COUNT(some) : 3); i++) {
        all_points(some[i]);
    }
}

/* Where ideographs, Hangul, private use and what is not assigned lie in large blocks. */
static bool coarse(uint32_t c) {
    return (c >= 0x3500 && c < 0x9f00) || (c >= 0xad00 && c < 0xd700) || (c >= 0xe000 && c < 0xf800) ||
           (c >= 0x17100 && c < 0x18700) || (c >= 0x20000 && c < 0xe0000) || c >= 0xe0200;
}

/* All categories and scripts. */
static void test_names(void **state) {
    (void)state;
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    const char *categories = il_regex_category_names + 2, *scripts = il_regex_script_names;
    size_t names = 0;
    while (*categories != '\0' || *scripts != '\0') {
        char pattern[80];
        if (*categories != '\0') {
            snprintf(pattern, sizeof pattern, "\\p{%.2s}", categories);
            categories += 2;
        } else {
            const size_t n = strcspn(scripts, " ");
            snprintf(pattern, sizeof pattern, "\\p{%.*s}", (int)n, scripts);
            scripts += n + 1;
        }
        pair p = {0};
        assert_true(pair_new(&p, &m.alloc, (il_str){pattern, strlen(pattern)}));
        char t[8];
        const uint32_t step = thorough() ? 1 : 7;
        for (uint32_t c = 0; c <= 0x10ffff; c += coarse(c) ? 61 : step) {
            const size_t n = utf8_of(c, t); /* a surrogate too: as bytes like any other */
            if (il_regex_search(p.ours, (il_str){t, n}, NULL) != oracle_re2_search(p.theirs, t, n)) {
                fail_msg("%s: U+%04X differs", pattern, c);
            }
        }
        pair_free(&p);
        names++;
    }
    assert_true(names > 180);
    assert_int_equal(m.live, 0);
}

/* Each point alone, without regard to case: what it matches is its orbit. */
static void test_folding(void **state) {
    (void)state;
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    size_t folded = 0;
    for (uint32_t c = 0; c < 0x1f000; c += c == 0xd7ff ? 0x801 : 1) {
        il_regex_class class = {0};
        il_arena arena;
        il_arena_init(&arena, &m.alloc, 65536);
        assert_true(il_regex_class_add(&arena, &class, c, c) && il_regex_class_fold(&arena, &class));
        if (class.n > 1 || class.r[0].lo != class.r[0].hi) {
            char pattern[32] = "(?i)", t[8];
            const size_t n = 4 + utf8_of(c, pattern + 4);
            oracle_re2 *theirs = oracle_re2_new(pattern, n, NULL);
            assert_non_null(theirs);
            for (size_t i = 0; i < class.n; i++) {
                for (uint32_t k = class.r[i].lo; k <= class.r[i].hi; k++) {
                    assert_int_equal(oracle_re2_search(theirs, t, utf8_of(k, t)), 1);
                }
            }
            oracle_re2_free(theirs);
            folded++;
        }
        il_arena_free(&arena);
    }
    assert_true(folded > 2700);
}

static void test_long(void **state) {
    (void)state;
    static const char *const patterns[] = {"(a+)+$",
                                           "^(a+)+$",
                                           "[ab]*a[ab]{12}c",
                                           "x{500}",
                                           "(?:a?){300}a{300}",
                                           "^https://([a-z0-9-]+\\.)*example\\.com/",
                                           ".*.*.*=.*",
                                           "^[a-z]{1,63}$",
                                           "\\bword\\b",
                                           "(?i)needle",
                                           "needle",
                                           "aaaaaaaaaaaaaaaaab",
                                           "\\pL+\\s\\pL+$"};
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    char *t = malloc(20000);
    assert_non_null(t);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        const il_str pattern = {patterns[i], strlen(patterns[i])};
        pair p = {0};
        assert_true(pair_new(&p, &m.alloc, pattern));
        for (unsigned k = 0; k < 4; k++) {
            const size_t n = 1000 + below(3000);
            for (size_t j = 0; j < n; j++) {
                t[j] = (char)(k == 0 ? 'a' : "ab ="[below(k + 1)]);
            }
            compare(&p, pattern, (il_str){t, n});
            t[n - 1] = '!';
            compare(&p, pattern, (il_str){t, n});
            memcpy(t + n / 2, "xneedle word https://x.example.com/", 35);
            compare(&p, pattern, (il_str){t, n});
        }
        pair_free(&p);
    }
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),     cmocka_unit_test(test_control),
                                       cmocka_unit_test(test_all_points), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_folding),    cmocka_unit_test(test_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
