/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

/* A value as text: `true`, `7`, `'x'`, `[1, 2]`, `error overflow`. */
static void show(char *to, size_t cap, il_cel_value v) {
    static const char *const faults[] = {"none", "type", "overflow", "divide", "missing", "unset", "value", "unknown", "budget"};
    size_t n = 0;
    if (v.kind == IL_CEL_ERROR) {
        snprintf(to, cap, "error %s", faults[v.fault]);
    } else if (v.kind == IL_CEL_NULL) {
        snprintf(to, cap, "null");
    } else if (v.kind == IL_CEL_BOOL) {
        snprintf(to, cap, "%s", v.u.b ? "true" : "false");
    } else if (v.kind == IL_CEL_INT) {
        snprintf(to, cap, "%lld", (long long)v.u.i);
    } else if (v.kind == IL_CEL_STRING) {
        snprintf(to, cap, "'%.*s'", (int)v.n, v.u.p);
    } else if (v.kind == IL_CEL_LIST) {
        n += (size_t)snprintf(to, cap, "[");
        for (uint32_t i = 0; i < v.n && n < cap; i++) {
            char item[128];
            show(item, sizeof item, v.u.items[i]);
            n += (size_t)snprintf(to + n, cap - n, "%s%s", i > 0 ? ", " : "", item);
        }
        snprintf(to + n, cap - n, "]");
    } else {
        snprintf(to, cap, "kind %d", v.kind);
    }
}

typedef struct row {
    const char *expr, *value;
} row;

static void run_rows(const row *rows, size_t n) {
    il_cel_value vars[CEL_NVARS];
    cel_values(vars);
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        cel_case c;
        char got[512];
        cel_case_init(&c);
        if (cel_compile(&c, rows[i].expr, &cel_env, IL_CEL_NULL) != IL_OK) {
            snprintf(got, sizeof got, "%u:%u %s", c.err.line, c.err.col, c.err.msg);
        } else {
            show(got, sizeof got, cel_eval(&c, vars));
        }
        if (strcmp(got, rows[i].value) != 0) {
            print_error("%s\n  want %s\n  got  %s\n", rows[i].expr, rows[i].value, got);
            wrong++;
        }
        cel_case_free(&c);
    }
    assert_int_equal(wrong, 0);
}
#define RUN(rows) run_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_values(void **state) {
    (void)state;
    static const row rows[] = {
        {"true", "true"},
        {"null", "null"},
        {"-7", "-7"},
        {"0xff", "255"},
        {"'a' + \"b\"", "'ab'"},
        {"'' + 'x' + ''", "'x'"},
        {"[1, 2] + [3]", "[1, 2, 3]"},
        {"[] + [i]", "[7]"},
        {"[i, j]", "[7, -3]"},
        {"[]", "[]"},
        {"b ? 1 : 2", "1"},
        {"b2 ? 1 : 2", "2"},
        {"r.word", "'held'"},
        {"rs[1].i", "2"},
        {"lists[1][0]", "2"},
        {"r.ints[0]", "4"},
        {"[[i]][0][0]", "7"},
        {"(b ? r : rs[1]).s", "'one'"},
        {"sum * 2", "8"},
        {"-sum", "-4"},
        {"both || yes", "true"},
        {"names.exists(hides, hides == 'b')", "true"},
        {".s", "'text'"},
        {"names.exists(s, .s == 'text' && s == 'a')", "true"},
        {"names.exists(s, hides == 'text')", "true"},
    };
    RUN(rows);
}

static void test_arithmetic(void **state) {
    (void)state;
    static const row rows[] = {
        {"7 + 3 * 2 - 4 / 3 % 2", "12"},
        {"10 - 4 - 3", "3"},
        {"100 / 10 / 5", "2"},
        {"-7 / 2", "-3"},
        {"-7 % 2", "-1"},
        {"7 % -2", "1"},
        {"9223372036854775807 + 1", "error overflow"},
        {"9223372036854775806 + 1", "9223372036854775807"},
        {"-9223372036854775808 - 1", "error overflow"},
        {"-9223372036854775807 - 1", "-9223372036854775808"},
        {"-(-9223372036854775808)", "error overflow"},
        {"--9223372036854775808", "error overflow"},
        {"-(9223372036854775807)", "-9223372036854775807"},
        {"-9223372036854775808 / -1", "error overflow"},
        {"-9223372036854775808 % -1", "error overflow"},
        {"5 % -1", "0"},
        {"1 / 0", "error divide"},
        {"1 % 0", "error divide"},
        {"0 / 5", "0"},
        {"9223372036854775807 * 1", "9223372036854775807"},
        {"4611686018427387904 * 2", "error overflow"},
        {"4611686018427387904 * -2", "-9223372036854775808"},
        {"-4611686018427387904 * 2", "-9223372036854775808"},
        {"-4611686018427387905 * 2", "error overflow"},
        {"-9223372036854775808 * -1", "error overflow"},
        {"-9223372036854775808 * 1", "-9223372036854775808"},
        {"-9223372036854775808 * 0", "0"},
        {"3037000500 * 3037000500", "error overflow"},
        {"3037000499 * 3037000499", "9223372030926249001"},
    };
    RUN(rows);
}

static void test_comparison(void **state) {
    (void)state;
    static const row rows[] = {
        {"1 < 2 == true", "true"},
        {"false < true", "true"},
        {"true <= false", "false"},
        {"2 >= 2", "true"},
        {"3 > 3", "false"},
        {"'a' < 'b'", "true"},
        {"'a' < 'aa'", "true"},
        {"'' < 'a'", "true"},
        {"'\\uFFFD' < '\\U0001F600'", "true"},
        {"'B' < 'a'", "true"},
        {"'a\\0000' == 'a'", "false"},
        {"'a\\000b' == 'a\\000c'", "false"},
        {"[1, 2] == [1, 2]", "true"},
        {"[1, 2] == [1, 2, 3]", "false"},
        {"[i] == [7]", "true"},
        {"[[1], [2, 3]] == lists", "true"},
        {"null == null", "true"},
        {"[1, 'a'] == ['a', 1]", "false"},
        {"word == 'fresh'", "true"},
        {"word != 'held'", "true"},
        {"'held' == r.word", "true"},
        {"r == rs[0]", "true"},
        {"r == rs[1]", "false"},
        {"rs[1] == rs[1]", "true"},
        {"r.word == rs[1].word", "false"},
        {"1 in [3, 2, 1]", "true"},
        {"i in [1, i]", "true"},
        {"j in ints", "false"},
        {"'b' in names", "true"},
        {"word in ['none', 'held']", "false"},
        {"word in words", "false"},
        {"1 in []", "false"},
        {"[1] in lists", "true"},
        {"1 in [1, 'a']", "true"},
        {"i > j && j < 0", "true"},
    };
    RUN(rows);
}

/* What absorbs an error and what does not (langdef: logical operators, macros). `any` is a variable without a value. */
static void test_absorption(void **state) {
    (void)state;
    static const row rows[] = {
        {"any || true", "true"},
        {"true || any", "true"},
        {"any && false", "false"},
        {"false && any", "false"},
        {"any || false", "error unset"},
        {"false || any", "error unset"},
        {"any && true", "error unset"},
        {"true && any", "error unset"},
        {"any || any", "error unset"},
        {"1 / 0 == 1 || any", "error divide"},
        {"any || 1 / 0 == 1", "error unset"},
        {"b && any && 1 / 0 > 0 && b2", "false"},
        {"b2 || any || 1 / 0 > 0 || b", "true"},
        {"[1][5] == 1 || b", "true"},
        /* the right side of `or` and `orValue`, in the machine (with a variable) and folded */
        {"optional.of(i).orValue(1 / 0)", "7"},
        {"optional.of(1).orValue(1 / 0)", "1"},
        {"optional.of(i).or(optional.of(1 / 0)).value()", "7"},
        {"[i][?5].orValue(i / 0)", "error divide"},
        {"[i][?5].orValue(i + 1)", "8"},
        {"[i][?5].or(optional.of(j)).value()", "-3"},
        {"[i][?5].or(optional.none()).orValue(9)", "9"},
        {"[i][?5].or([i][?6]).or([i][?0]).value()", "7"},
        {"optional.of(1 / 0).orValue(i)", "error divide"},
        {"any.orValue(1) == 1", "error unset"},
        {"dyn(i).orValue(1)", "error type"},
        {"[i][?5].or(dyn(i)).orValue(1)", "error type"},
        {"[1, 2].map(x, [i][?x].orValue(x * 2))", "[2, 4]"},
        {"[0, 1].exists(x, [i][?x].orValue(1 / 0) == 7)", "true"},
        {"!any", "error unset"},
        {"any ? 1 : 2", "error unset"},
        {"b ? 1 : 1 / 0", "1"},
        {"b2 ? 1 / 0 : 2", "2"},
        {"1 / 0 > 0 ? 1 : 2", "error divide"},
        {"any == any", "error unset"},
        {"any == 1 || b", "true"},
        {"[any] == [1]", "error unset"},
        {"any in [1]", "error unset"},
        {"1 in [1, 1 / 0]", "error divide"},
        {"1 in any", "error unset"},
        {"ints.exists(x, 1 / (x - 1) > 0)", "true"},
        {"ints.exists(x, 1 / (x - 1) > 5)", "error divide"},
        {"ints.all(x, 1 / (x - 1) > 0)", "false"},
        {"ints.all(x, 6 / (x - 2) != 0)", "error divide"},
        {"ints.all(x, x > 0)", "true"},
        {"ints.exists(x, x > 3)", "false"},
        {"[].all(x, x)", "true"},
        {"[].exists(x, x)", "false"},
        {"any.exists(x, true)", "error unset"},
        {"rs.exists(t, t.b)", "true"},
        {"rs.all(t, t.b)", "error unset"},
        {"rs.exists(t, t.b && t.i == 2)", "error unset"},
        {"rs.exists(t, t.b && t.i == 3)", "false"},
        {"rs[1].b", "error unset"},
        {"rs[1].b || b", "true"},
        {"ints[3]", "error missing"},
        {"ints[-1]", "error missing"},
        {"[1, 'a'].exists(x, x == 'a')", "true"},
        {"[1, 'a'].exists(x, x > 5)", "error type"},
        {"[true, 1].all(x, x)", "error type"},
        {"[1, false].all(x, x)", "false"},
        {"[1, true].exists(x, x)", "true"},
        {"[1, 'a'][0] + 1", "2"},
        {"[1, 'a'][1] + 1", "error type"},
        {"[1, 'a'][1] || b", "true"},
        {"[1, 'a'][1] && b", "error type"},
        {"[1, 'a'][1] ? 1 : 2", "error type"},
        {"-[1, 'a'][1]", "error type"},
        {"![1, 'a'][1]", "error type"},
        {"[1, 'a'][1] < [1, 'a'][0]", "error type"},
        {"[1, [2]][1][0]", "2"},
        {"[1, [2]][0][0]", "error type"},
        {"1 in [1, [2]][0]", "error type"},
        {"[1, [2]][0].exists(x, true)", "error type"},
        {"lists.exists(l, l.all(x, x > 1))", "true"},
        {"lists.all(l, l.exists(x, x == 1 || x == 3))", "true"},
    };
    RUN(rows);
}

/* The spine of every guard: no memory, and the same answer for operands in either order. */
static void test_no_memory(void **state) {
    (void)state;
    static const char *const none[] = {"b && i in [1, 2, i] || word in ['none']",
                                       "r.word == 'held' ? 'a' : 'b'",
                                       "ints.exists(x, x in [i, j])",
                                       "rs.all(t, t.i > 0)",
                                       "[1, 2, 3].exists(x, x == 3)",
                                       "'a' + ''"};
    il_cel_value vars[CEL_NVARS];
    cel_values(vars);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, none[i], &cel_env, IL_CEL_NULL), IL_OK);
        assert_int_not_equal(il_cel_eval(c.program, vars, NULL).kind, IL_CEL_ERROR);
        cel_case_free(&c);
    }
    static const char *const some[] = {"[i, j] == ints", "'a' + s == s", "ints + ints == ints", "([i] == ints || b) && b"};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, some[i], &cel_env, IL_CEL_BOOL), IL_OK);
        il_cel_value v = il_cel_eval(c.program, vars, NULL);
        assert_int_equal(v.kind, IL_CEL_ERROR);
        assert_int_equal(v.fault, IL_CEL_BUDGET); /* not absorbed by `|| b` */
        assert_false(il_cel_true(v));
        assert_int_equal(il_cel_eval(c.program, vars, &c.arena).kind, IL_CEL_BOOL);
        cel_case_free(&c);
    }
}

static void test_budget(void **state) {
    (void)state;
    /* Lists longer than the static bound assumes: the run-time count stops them, and nothing absorbs that. */
    enum { LONG = 5000 };
    il_cel_value vars[CEL_NVARS], *items = calloc(LONG, sizeof *items);
    assert_non_null(items);
    cel_values(vars);
    for (int i = 0; i < LONG; i++) {
        items[i] = il_cel_of_int(i);
    }
    vars[CEL_INTS].n = LONG;
    vars[CEL_INTS].u.items = items;
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "ints.all(x, ints.exists(y, x + y < 0)) || b", &cel_env, IL_CEL_BOOL), IL_OK);
    assert_true(il_cel_true(cel_eval(&c, vars))); /* the first x settles it */
    assert_int_equal(cel_compile(&c, "ints.exists(x, ints.exists(y, x + y < 0)) || b", &cel_env, IL_CEL_BOOL), IL_OK);
    il_cel_value v = cel_eval(&c, vars);
    assert_int_equal(v.kind, IL_CEL_ERROR);
    assert_int_equal(v.fault, IL_CEL_BUDGET);
    cel_case_free(&c);
    free(items);
}

static void test_equal(void **state) {
    (void)state;
    il_cel_value one = il_cel_of_int(1), yes = il_cel_of_bool(true), nothing = {0};
    assert_true(il_cel_equal(one, one));
    assert_false(il_cel_equal(one, yes));
    assert_false(il_cel_equal(il_cel_of_str((il_str){NULL, 0}), nothing));
    assert_true(il_cel_equal(il_cel_of_str((il_str){NULL, 0}), il_cel_of_str(IL_STR(""))));
    /* A list that holds itself has no end: not equal, and no crash. */
    il_cel_value loop[1] = {{.kind = IL_CEL_LIST, .n = 1}}, other[1] = {{.kind = IL_CEL_LIST, .n = 1}};
    loop[0].u.items = loop;
    other[0].u.items = other;
    assert_false(il_cel_equal(loop[0], other[0]));
}

/* Values that are not what was declared: errors, never a read past the end. */
static void test_wrong_values(void **state) {
    (void)state;
    static const char *const exprs[] = {"r.word == 'held'", "r.i + 1 > 0", "ints.exists(x, x > 0)",
                                        "ints[0] > 0",      "b && i > 0",  "rs[0].s < 'a'"};
    il_cel_value vars[CEL_NVARS];
    for (size_t i = 0; i < sizeof exprs / sizeof exprs[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, exprs[i], &cel_env, IL_CEL_BOOL), IL_OK);
        for (size_t v = 0; v < CEL_NVARS; v++) {
            vars[v] = il_cel_of_str(IL_STR("?"));
        }
        assert_int_equal(cel_eval(&c, vars).kind, IL_CEL_ERROR);
        for (size_t v = 0; v < CEL_NVARS; v++) {
            vars[v] = (il_cel_value){.kind = IL_CEL_RECORD}; /* a record with fewer fields than declared */
        }
        assert_int_equal(cel_eval(&c, vars).kind, IL_CEL_ERROR);
        cel_case_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_arithmetic),   cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_absorption), cmocka_unit_test(test_no_memory),    cmocka_unit_test(test_budget),
        cmocka_unit_test(test_equal),      cmocka_unit_test(test_wrong_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
