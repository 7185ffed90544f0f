/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

typedef struct row {
    const char *text;
    uint32_t line, col;
    const char *says;
} row;

static void run_rows(const row *rows, size_t n, il_cel_kind want, il_status status) {
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        cel_case c;
        cel_case_init(&c);
        il_status s = cel_compile(&c, rows[i].text, &cel_env, want);
        if (s != status || c.err.line != rows[i].line || c.err.col != rows[i].col || strcmp(c.err.msg, rows[i].says) != 0) {
            print_error("%s\n  want %u:%u %s\n  got  %u:%u %s (%s)\n", rows[i].text, rows[i].line, rows[i].col, rows[i].says,
                        c.err.line, c.err.col, c.err.msg, il_status_name(s));
            wrong++;
        }
        assert_true(s == IL_OK || c.program == NULL);
        cel_case_free(&c);
    }
    assert_int_equal(wrong, 0);
}
#define REFUSED(rows, want) run_rows((rows), sizeof(rows) / sizeof((rows)[0]), (want), IL_E_INVALID)

static void test_names(void **state) {
    (void)state;
    static const row rows[] = {
        {"b && wrod == 'held'", 1, 6, "undeclared name `wrod`; did you mean `word`?"},
        {"bothh", 1, 1, "undeclared name `bothh`; did you mean `both`?"},
        {"ints.exists(item, itme > 1)", 1, 19, "undeclared name `itme`; did you mean `item`?"},
        {"zzzzzz", 1, 1, "undeclared name `zzzzzz`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."},
        {"r.wrod == 'held'", 1, 3, "no field `wrod` in `rec`; did you mean `word`?"},
        {"r.x", 1, 3, "no field `x` in `rec`; there are `b`, `i`, `s`, `word`, `ints`"},
        {"r.missing", 1, 3, "no field `missing` in `rec`; there are `b`, `i`, `s`, `word`, `ints`"},
        {"rs.exists(t,\n  t.wodr == 'none')", 2, 5, "no field `wodr` in `rec`; did you mean `word`?"},
        {"rs[0].i2", 1, 7, "no field `i2` in `rec`; did you mean `i`?"},
        {"s.length > 1", 1, 3, "no field `length` in a `string`; did you mean `size()`?"},
        {"i.x", 1, 3, "no field `x` in a `int`"},
        {"any.x", 1, 5, "a field of a `dyn` value is not supported yet"},
        {"wrong", 17, 5, "no overload `int + string`"},
        {"ints.exists(x, true) && x", 1, 25,
         "undeclared name `x`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."},
        {"int == 1", 1, 1, "the type `int` as a value is not supported yet"},
    };
    REFUSED(rows, IL_CEL_NULL);
}

static void test_calls(void **state) {
    (void)state;
    static const row rows[] = {
        {"size(s) > 1", 1, 1, "the function `size` is not supported yet"},
        {"s.startsWith('a')", 1, 3, "the function `startsWith` is not supported yet"},
        {"s.endswith('a')", 1, 3, "unknown function `endswith`; did you mean `endsWith`?"},
        {"s.frobnicate()", 1, 3, "unknown function `frobnicate`"},
        {"ints.any(x, x > 1)", 1, 6, "`any` is not a macro; did you mean `exists`?"},
        {"ints.exist(x, x > 1)", 1, 6, "unknown function `exist`; did you mean `exists`?"},
        {"ints.map(x, x + 1) == ints", 1, 6, "the function `map` is not supported yet"},
        {"has(r.b)", 1, 1, "the function `has` is not supported yet"},
        {"exists(ints, true)", 1, 1, "`exists` stands after a list: `list.exists(x, x == 1)`"},
        {"not(b)", 1, 1, "unknown function `not`; did you mean `!`?"},
        {"1.5 > 1.0", 1, 1, "a literal of type `double` is not supported yet"},
        {"i == 1u", 1, 6, "a literal of type `uint` is not supported yet"},
        {"b'x' == b'x'", 1, 1, "a literal of type `bytes` is not supported yet"},
        {"{'a': 1}['a'] == 1", 1, 1, "a map is not supported yet"},
    };
    REFUSED(rows, IL_CEL_NULL);
}

static void test_overloads(void **state) {
    (void)state;
    static const row rows[] = {
        {"i >= '3'", 1, 3, "no overload `int >= string`"},
        {"s == 3", 1, 3, "no overload `string == int`"},
        {"b != null", 1, 3, "no overload `bool != null`"},
        {"i + s", 1, 3, "no overload `int + string`"},
        {"s - s", 1, 3, "no overload `string - string`"},
        {"b * 2", 1, 3, "no overload `bool * int`"},
        {"ints + names", 1, 6, "no overload `list(int) + list(string)`"},
        {"ints == names", 1, 6, "no overload `list(int) == list(string)`"},
        {"ints < ints", 1, 6, "no overload `list(int) < list(int)`"},
        {"-s", 1, 1, "no overload `-string`"},
        {"!i", 1, 1, "no overload `!int`"},
        {"'a' in s", 1, 5, "no overload `string in string`; `in` takes a list on its right"},
        {"1 in names", 1, 3, "no overload `int in list(string)`"},
        {"s in r", 1, 3, "no overload `string in rec`"},
        {"b && i", 1, 6, "bool expected by `&&`, got `int`"},
        {"s || b", 1, 1, "bool expected by `||`, got `string`"},
        {"b && (i + 1) && b2", 1, 7, "bool expected by `&&`, got `int`"},
        {"i ? 1 : 2", 1, 1, "bool expected by `?:`, got `int`"},
        {"b ? 1 : 'a'", 1, 3, "the arms of `?:` differ: `int` and `string`"},
        {"b ? [1] : ['a']", 1, 3, "the arms of `?:` differ: `list(int)` and `list(string)`"},
        {"s[0]", 1, 2, "no overload `string[int]`"},
        {"ints['a']", 1, 5, "no overload `list(int)[string]`"},
        {"r['b']", 1, 2, "no overload `rec[string]`"},
        {"s.exists(c, true)", 1, 3, "`exists` needs a list, got `string`"},
        {"r.all(f, true)", 1, 3, "`all` needs a list, got `rec`"},
        {"ints.exists(x, x)", 1, 16, "bool expected by `exists`, got `int`"},
        {"ints.all(x, x + 1)", 1, 13, "bool expected by `all`, got `int`"},
        {"r == s", 1, 3, "no overload `rec == string`"},
    };
    REFUSED(rows, IL_CEL_NULL);
    static const row kinds[] = {
        {"names", 1, 1, "must be `bool`, is `list(string)`; compare it with `[]`"},
        {"i + 1", 1, 1, "must be `bool`, is `int`; compare it with something"},
        {"  r", 1, 3, "must be `bool`, is `rec`"},
        {"s", 1, 1, "must be `bool`, is `string`"},
        {"null", 1, 1, "must be `bool`, is `null`"},
    };
    REFUSED(kinds, IL_CEL_BOOL);
    static const row strings[] = {{"b", 1, 1, "must be `string`, is `bool`"}, {"b ? 1 : 2", 1, 1, "must be `string`, is `int`"}};
    REFUSED(strings, IL_CEL_STRING);
    static const row lists[] = {{"b", 1, 1, "must be `list`, is `bool`"}};
    REFUSED(lists, IL_CEL_LIST);
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "b", &cel_env, IL_CEL_ERROR), IL_E_ARGUMENT);
    assert_int_equal(cel_compile(&c, "r", &cel_env, IL_CEL_RECORD), IL_E_ARGUMENT);
    cel_case_free(&c);
}

static void test_never_equal(void **state) {
    (void)state;
    static const row rows[] = {
        {"word == 'frsh'", 1, 9, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `fresh`?"},
        {"'Held' != word", 1, 1, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"b && r.word == 'other'", 1, 16, "never equal: `r.word` is one of `none`, `fresh`, `held`"},
        {"words.exists(w, w == 'nune')", 1, 22, "never equal: `w` is one of `none`, `fresh`, `held`; did you mean `none`?"},
        {"word in ['none', 'helt']", 1, 18, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"word in ['none', s, 'helt']", 1, 21, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"'helt' in words", 1, 1, "never equal: `words` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"(b ? 'bound' : 'foreign') == 'none'", 1, 30, "never equal: the other side is one of `bound`, `foreign`"},
        {"(b ? 'bound' : word) == 'foreign'", 1, 25, "never equal: the other side is one of `bound`, `none`, `fresh`, `held`"},
        {"(b ? 'x' : 'y') == word", 1, 17, "never equal: the other side and `word` have no word in common"},
    };
    REFUSED(rows, IL_CEL_BOOL);
    static const char *const fine[] = {
        "word == 'none' || word != 'held'",
        "word == s",
        "s == 'anything'",
        "'a' == 'b'",
        "r.word == word",
        "(b ? 'none' : word) == 'none'",
        "(b ? 'none' : 'x') == word",
        "word in ['none', 'held']",
        "word in ['none', s]",
        "s in words",
        "'held' in words",
        "word < 'zzz'",
        "word in words",
        "(b ? word : s) == 'zzz'",
        "[word, 'zzz'][0] == 'zzz'",
        "(words + ['zzz'])[0] == 'zzz'",
        "(b ? words : ['zzz'])[0] == 'zzz'",
        "(b ? [] : words)[0] == 'zzz'",
        "word + 'x' == 'zzz'",
        "[[word], ['zzz']][1][0] == 'zzz'",
    };
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        if (cel_compile(&c, fine[i], &cel_env, IL_CEL_BOOL) != IL_OK) {
            print_error("%s\n  %u:%u %s\n", fine[i], c.err.line, c.err.col, c.err.msg);
            fail();
        }
        cel_case_free(&c);
    }
}

/* What the checker lets through unjudged is judged at run time. */
static void test_dyn(void **state) {
    (void)state;
    static const char *const fine[] = {"any == 1",    "any && b",      "any ? 1 : any", "[1, 'a', 3].exists(x, x == 'a')",
                                       "any + 1 > 2", "any[0] == any", "any in any",    "any.exists(x, x)",
                                       "-any < 3",    "!any",          "[] == ints",    "b ? [] : ints",
                                       "any"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, fine[i], &cel_env, IL_CEL_NULL), IL_OK);
        cel_case_free(&c);
    }
}

static void test_cost(void **state) {
    (void)state;
    static const row rows[] = {
        {"ints.all(a, ints.all(b, ints.all(c, a + b > c)))", 1, 6,
         "worst-case cost of this `all` is over 10000000 steps; nest fewer loops"},
        {"[0,1].all(a,[0,1].all(b,[0,1].all(c,[0,1].all(d,[0,1].all(e,[0,1].all(f,[0,1].all(g,[0,1].all(h,[0,1].all(i,[0,1].all("
         "j,[0,1].all(k,"
         "[0,1].all(l,[0,1].all(m,[0,1].all(n,[0,1].all(o,[0,1].all(p,[0,1].all(q,[0,1].all(r,[0,1].all(s,[0,1].all(t,[0,1].all("
         "u,[0,1].all(v,"
         "[0,1].all(w,[0,1].all(x,true))))))))))))))))))))))))",
         1, 19, "worst-case cost of this `all` is over 10000000 steps; nest fewer loops"},
    };
    run_rows(rows, 1, IL_CEL_BOOL, IL_E_LIMIT);
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, rows[1].text, &cel_env, IL_CEL_BOOL), IL_E_LIMIT);
    assert_non_null(strstr(c.err.msg, "worst-case cost"));
    assert_int_equal(cel_compile(&c, "ints.all(a, ints.all(b, a + b > 0))", &cel_env, IL_CEL_BOOL), IL_OK);
    assert_int_equal(cel_compile(&c, "[1, 2].all(a, [1, 2].all(b, [1, 2].all(c, a + b > c)))", &cel_env, IL_CEL_BOOL), IL_OK);
    cel_case_free(&c);
}

/* A name of 10,000 letters must not break a message. */
static void test_long_names(void **state) {
    (void)state;
    char text[10001];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, text, &cel_env, IL_CEL_BOOL), IL_E_INVALID);
    assert_true(strlen(c.err.msg) < IL_ERROR_MSG_BYTES);
    text[1] = '.';
    text[0] = 'r';
    assert_int_equal(cel_compile(&c, text, &cel_env, IL_CEL_BOOL), IL_E_INVALID);
    text[1] = '(';
    assert_int_equal(cel_compile(&c, text, &cel_env, IL_CEL_BOOL), IL_E_SYNTAX);
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),       cmocka_unit_test(test_calls), cmocka_unit_test(test_overloads),
        cmocka_unit_test(test_never_equal), cmocka_unit_test(test_dyn),   cmocka_unit_test(test_cost),
        cmocka_unit_test(test_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
