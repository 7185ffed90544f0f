/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions as such, patterns that are not constant, and bounds for long arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel_fn.h"

static void builtin_is_sorted_and_found(void **state) {
    (void)state;
    size_t n = 0;
    const il_cel_builtin *rows = il_cel_builtins(&n);
    assert_true(n > 80);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(il_cel_builtin_find(rows[i].name, rows[i].receiver), &rows[i]);
        assert_non_null(rows[i].call);
        assert_true(rows[i].noverloads > 0);
        if (i > 0) {
            const int c = il_str_cmp(rows[i - 1].name, rows[i].name);
            assert_true(c < 0 || (c == 0 && !rows[i - 1].receiver && rows[i].receiver));
        }
    }
    assert_null(il_cel_builtin_find(IL_STR("any"), true));
    assert_null(il_cel_builtin_find(IL_STR("charAt"), false));
    assert_null(il_cel_builtin_find(IL_STR("int"), true));
    assert_null(il_cel_builtin_find(IL_STR(""), false));
    assert_null(il_cel_builtin_find(IL_STR("zzz"), true));
    assert_null(il_cel_builtin_find(IL_STR("siz"), true));
    assert_null(il_cel_builtin_find((il_str){"size\0", 5}, true));
}

/* Whether the page says `name(`, and behind a point when it is called on something. */
static bool page_has(il_str page, il_str name, bool receiver) {
    char call[40];
    const int n = snprintf(call, sizeof call, "%c%.*s(", receiver ? '.' : '`', IL_STR_ARG(name));
    return n > 0 && (size_t)n < sizeof call && il_str_find(page, (il_str){call, (size_t)n}, 0) != SIZE_MAX;
}

/* docs/functions.md names every function, and calls none that there is not. */
static void builtin_is_documented(void **state) {
    (void)state;
    static char text[1 << 16];
    FILE *f = fopen(IL_TEST_SOURCE_DIR "/docs/functions.md", "r");
    assert_non_null(f);
    const il_str page = {text, fread(text, 1, sizeof text, f)};
    assert_int_equal(fclose(f), 0);
    assert_true(page.n > 1000 && page.n < sizeof text);
    size_t n = 0;
    const il_cel_builtin *rows = il_cel_builtins(&n);
    for (size_t i = 0; i < n; i++) {
        if (!page_has(page, rows[i].name, rows[i].receiver)) {
            fail_msg("docs/functions.md does not name %.*s", IL_STR_ARG(rows[i].name));
        }
    }
    assert_false(page_has(page, IL_STR("nothing"), false)); /* the instrument can fail */
    /* `name(…)` or `x.name(…)` at the beginning of a code span. */
    size_t calls = 0;
    for (size_t at = il_str_find(page, IL_STR("`"), 0); at != SIZE_MAX; at = il_str_find(page, IL_STR("`"), at + 1)) {
        size_t to = at + 1;
        while (to < page.n && ((page.p[to] | 32) >= 'a' || page.p[to] == '.' || (page.p[to] >= '0' && page.p[to] <= '9')) &&
               page.p[to] != '`') {
            to++;
        }
        if (to < page.n && page.p[to] == '(') {
            const il_str name = il_str_part(page, at + 1, to);
            const bool receiver = name.n > 2 && name.p[1] == '.';
            if (il_cel_builtin_find(receiver ? il_str_part(name, 2, name.n) : name, receiver) == NULL) {
                fail_msg("docs/functions.md calls %.*s", IL_STR_ARG(name));
            }
            calls++;
        }
    }
    assert_true(calls > n);
}

/* A value of each kind, none of which a function may take for what it is not. */
static void builtin_looks_at_kinds(void **state) {
    (void)state;
    static const char octets[32] = {4, 1, 2, 3, 4};
    const il_cel_value all[] = {NIL,
                                BOOL(true),
                                INT(1),
                                UINT(1),
                                DOUBLE(1.5),
                                TEXT("text"),
                                BYTES("\xff"),
                                LIST(INT(1)),
                                MAP(INT(1), INT(2)),
                                STAMP(1, 2),
                                SPAN(3),
                                TYPE(IL_CEL_INT),
                                SOME(INT(1)),
                                NONE,
                                {.kind = IL_CEL_IP, .u = {.p = octets}},
                                {.kind = IL_CEL_CIDR, .u = {.p = octets}},
                                {.kind = IL_CEL_RECORD, .n = 1, .u = {.items = (const il_cel_value[]){INT(1)}}},
                                {.kind = IL_CEL_OPAQUE, .u = {.p = octets}}};
    const size_t nkinds = sizeof all / sizeof *all;
    size_t n = 0, calls = 0, good = 0;
    const il_cel_builtin *rows = il_cel_builtins(&n);
    for (size_t i = 0; i < n; i++) {
        for (uint8_t o = 0; o < rows[i].noverloads; o++) {
            uint32_t nargs = 0;
            while (nargs < 4 && rows[i].overloads[o].params[nargs] != NULL) {
                nargs++;
            }
            for (size_t pick = 0;
                 pick < nkinds * nkinds * nkinds && (pick < nkinds || nargs > 1) && (pick < nkinds * nkinds || nargs > 2);
                 pick++) {
                const il_cel_value args[4] = {all[pick % nkinds], all[pick / nkinds % nkinds], all[pick / nkinds / nkinds],
                                              INT(1)};
                fn_run r;
                fn_run_init(&r, 100000, SIZE_MAX);
                const il_cel_value v = rows[i].call(&r.run, args, nargs);
                calls++;
                good += v.kind != IL_CEL_ERROR;
                bool fits = true; /* the overload's own kinds */
                for (uint32_t a = 0; a < nargs; a++) {
                    const il_cel_type *t = rows[i].overloads[o].params[a];
                    fits = fits && (t->kind == IL_CEL_DYN || t->kind == IL_CEL_PARAM || t->kind == (il_cel_kind)args[a].kind);
                }
                if (fits && rows[i].overloads[o].params[0] != &il_cel_type_dyn && v.kind == IL_CEL_ERROR &&
                    v.fault == IL_CEL_NO_OVERLOAD && !il_str_eq(rows[i].name, IL_STR("join")) &&
                    !il_str_eq(rows[i].name, IL_STR("format")) && !il_str_eq(rows[i].name, IL_STR("optional.unwrap")) &&
                    !il_str_eq(rows[i].name, IL_STR("unwrapOpt"))) {
                    fail_msg("%.*s: an overload of the table is not taken", IL_STR_ARG(rows[i].name));
                }
                if (fits && v.kind != IL_CEL_ERROR && nargs > 0 &&
                    rows[i].overloads[o].params[0]->kind != IL_CEL_LIST) { /* what is in it is not compared here */
                    const il_cel_kind want = rows[i].overloads[o].result->kind;
                    if (want != IL_CEL_DYN && want != IL_CEL_PARAM && want != (il_cel_kind)v.kind) {
                        fail_msg("%.*s: a result of another kind than the table's", IL_STR_ARG(rows[i].name));
                    }
                }
                fn_run_free(&r);
            }
        }
    }
    assert_true(calls > 10000 && good > 500);
}

static void matches_any_pattern(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".matches", {TEXT("hubba"), TEXT("ubb")}, BOOL(true)},   {"matches", {TEXT("hubba"), TEXT("^ubb")}, BOOL(false)},
        {".matches", {TEXT(""), TEXT("")}, BOOL(true)},           {".matches", {TEXT("evil\n"), TEXT("^evil$")}, BOOL(false)},
        {".matches", {TEXT("aa"), TEXT("(a)\\1")}, BAD_VALUE},    {".matches", {TEXT("aa"), TEXT("(a")}, BAD_VALUE},
        {".matches", {TEXT("a\0b"), TEXT("^a\0b$")}, BOOL(true)}, {".matches", {INT(1), TEXT("1")}, NO_OVERLOAD},
        {".matches", {TEXT("1"), BYTES("1")}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

/* Compiling a pattern is paid for, more for a heavier one; and one that no memory is left for is not called wrong. */
static void matches_is_bounded(void **state) {
    (void)state;
    const il_cel_value args[] = {TEXT("text"), TEXT("[a-z]+[0-9]{3}")}, heavy[] = {TEXT("text"), TEXT("([a-z]+[0-9]{9}){99}")};
    fn_run r;
    fn_run_init(&r, 1000000, SIZE_MAX);
    assert_int_equal(fn_call(&r, ".matches", args, 2).kind, IL_CEL_BOOL);
    const int64_t used = 1000000 - r.run.steps;
    r.run.steps = 1000000;
    assert_int_equal(fn_call(&r, ".matches", heavy, 2).kind, IL_CEL_BOOL);
    assert_true(1000000 - r.run.steps > 10 * used);
    r.run.steps = used;
    assert_int_equal(fn_call(&r, ".matches", heavy, 2).fault, IL_CEL_BUDGET);
    assert_true(r.run.steps < 0);
    fn_run_free(&r);
    for (size_t cap = 0; cap < 2000; cap += 100) {
        fn_run_init(&r, 10000, SIZE_MAX);
        il_arena_init(&r.arena, &r.memory.alloc, cap);
        const il_cel_value v = fn_call(&r, ".matches", args, 2);
        assert_true(v.kind == IL_CEL_BOOL || v.fault == IL_CEL_BUDGET);
        assert_true(cap > 0 || v.kind == IL_CEL_ERROR);
        fn_run_free(&r);
    }
}

/* The static bound of each function of texts is above what long texts cost, and they do cost.
 * Of a list as long as a text is long it counts on fewer parts. */
static void builtin_bounds_hold_for_long_texts(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG), *hex = malloc(LONG);
    assert_true(text != NULL && hex != NULL);
    memset(text, '\n', LONG); /* a control character: the longest way to quote it */
    memset(hex, '1', LONG);
    for (uint32_t n = 0; n <= LONG; n = n * 3 + 1) {
        const il_cel_value s = il_cel_of_str((il_str){text, n}), d = il_cel_of_str((il_str){hex, n}),
                           b = il_cel_of_bytes((il_str){hex, n}), nl = TEXT("\n"), none = TEXT(""), two = TEXT("ab"),
                           list[] = {s, d, s};
        const fn_row rows[] = {
            {"size", {s}, INT(n)},
            {".contains", {s, d}, BOOL(n == 0)},
            {".startsWith", {s, s}, BOOL(true)},
            {".endsWith", {s, s}, BOOL(true)},
            {".charAt", {s, INT(n)}, TEXT("")},
            {".indexOf", {s, d}, INT(n == 0 ? 0 : -1)},
            {".lastIndexOf", {s, s, INT(n)}, INT(0)},
            {".substring", {s, INT(0), INT(n)}, s},
            {".trim", {s}, none},
            {".lowerAscii", {s}, s},
            {".reverse", {s}, s},
        };
        FN_ROWS(rows);
        const struct {
            const char *name;
            il_cel_value args[4];
            uint32_t nargs;
        } more[] = {
            {"strings.quote", {s}, 1},
            {".replace", {s, nl, two}, 3},
            {".replace", {s, none, two}, 3},
            {".split", {s, nl}, 2},
            {".split", {s, none}, 2},
            {".join", {il_cel_of_items(IL_CEL_LIST, list, 3), s}, 2},
            {".format", {TEXT("%x%s%%"), il_cel_of_items(IL_CEL_LIST, list, 3)}, 2},
            {"base64.encode", {b}, 1},
            {"base64.decode", {d}, 1},
            {"string", {b}, 1},
            {"int", {d}, 1},
            {"double", {d}, 1},
            {"timestamp", {d}, 1},
            {"ip", {d}, 1},
            {".matches", {d, TEXT("a$")}, 2},
        };
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
            const bool receiver = more[i].name[0] == '.';
            const il_cel_builtin *row = il_cel_builtin_find(il_str_of(more[i].name + receiver), receiver);
            assert_non_null(row);
            uint64_t sizes[4];
            for (uint32_t a = 0; a < more[i].nargs; a++) {
                sizes[a] = more[i].args[a].n;
            }
            const il_cel_bound bound = row->bound(sizes, more[i].nargs);
            fn_run r;
            fn_run_init(&r, 100000000, SIZE_MAX);
            const il_cel_value v = row->call(&r.run, more[i].args, more[i].nargs);
            const uint64_t used = (uint64_t)(100000000 - r.run.steps) + 1;
            if (v.fault == IL_CEL_BUDGET || used > bound.cost || (v.n > bound.size && v.kind != IL_CEL_LIST) || used < n / 64) {
                fail_msg("%s of %u: %zu steps and %u, bound %zu and %zu", more[i].name, n, (size_t)used, v.n, (size_t)bound.cost,
                         (size_t)bound.size);
            }
            /* And it is not so far above that nothing could be allowed. */
            assert_true(bound.cost < 300000);
            fn_run_free(&r);
        }
    }
    free(text);
    free(hex);
}

/* A bound of arguments that have none saturates. */
static void builtin_bounds_saturate(void **state) {
    (void)state;
    size_t n = 0;
    const il_cel_builtin *rows = il_cel_builtins(&n);
    const uint64_t sizes[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, zero[4] = {0};
    for (size_t i = 0; i < n; i++) {
        for (uint32_t nargs = 0; nargs <= 4 && rows[i].bound != NULL; nargs++) {
            const il_cel_bound most = rows[i].bound(sizes, nargs), least = rows[i].bound(zero, nargs);
            assert_true(least.cost >= 1 && least.cost <= most.cost);
            assert_true(least.size <= most.size);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_is_sorted_and_found),
        cmocka_unit_test(builtin_is_documented),
        cmocka_unit_test(builtin_looks_at_kinds),
        cmocka_unit_test(matches_any_pattern),
        cmocka_unit_test(builtin_bounds_hold_for_long_texts),
        cmocka_unit_test(builtin_bounds_saturate),
        cmocka_unit_test(matches_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
