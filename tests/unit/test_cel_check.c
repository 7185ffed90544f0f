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
    uint32_t line, col, span;
    const char *says;
} row;

static void run_rows(const row *rows, size_t n, il_cel_kind want, il_status status) {
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        cel_case c;
        cel_case_init(&c);
        il_status s = cel_compile(&c, rows[i].text, &cel_env, want);
        if (s != status || c.err.line != rows[i].line || c.err.col != rows[i].col || c.err.span != rows[i].span ||
            strcmp(c.err.msg, rows[i].says) != 0) {
            print_error("%s\n  want %u:%u+%u %s\n  got  %u:%u+%u %s (%s)\n", rows[i].text, rows[i].line, rows[i].col,
                        rows[i].span, rows[i].says, c.err.line, c.err.col, c.err.span, c.err.msg, il_status_name(s));
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
        {"b && wrod == 'held'", 1, 6, 4, "undeclared name `wrod`; did you mean `word`?"},
        {"bothh", 1, 1, 5, "undeclared name `bothh`; did you mean `both`?"},
        {"ints.exists(item, itme > 1)", 1, 19, 4, "undeclared name `itme`; did you mean `item`?"},
        {"zzzzzz", 1, 1, 6, "undeclared name `zzzzzz`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."},
        {"b == True", 1, 6, 4, "undeclared name `True`; did you mean `true`?"},
        {"any == None", 1, 8, 4, "undeclared name `None`; did you mean `null`?"},
        {"r.wrod == 'held'", 1, 3, 4, "no field `wrod` in `rec`; did you mean `word`?"},
        {"r.x", 1, 3, 1, "no field `x` in `rec`; there are `b`, `i`, `s`, `word`, `ints`"},
        {"r.missing", 1, 3, 7, "no field `missing` in `rec`; there are `b`, `i`, `s`, `word`, `ints`"},
        {"r.`w-rd`", 1, 3, 6, "no field `w-rd` in `rec`; did you mean `word`?"},
        {"'ä' == 'ö' && r.wrod == s", 1, 17, 4, "no field `wrod` in `rec`; did you mean `word`?"},
        {"has(r.wrod)", 1, 7, 4, "no field `wrod` in `rec`; did you mean `word`?"},
        {"r.?wrod.hasValue()", 1, 4, 4, "no field `wrod` in `rec`; did you mean `word`?"},
        {"rs.exists(t,\n  t.wodr == 'none')", 2, 5, 4, "no field `wodr` in `rec`; did you mean `word`?"},
        {"rs[0].i2", 1, 7, 2, "no field `i2` in `rec`; did you mean `i`?"},
        {"s.length > 1", 1, 3, 6, "no field `length` in a `string`; did you mean `size()`?"},
        {"s.size > 1", 1, 3, 4, "no field `size` in a `string`; did you mean `size()`?"},
        {"i.x", 1, 3, 1, "no field `x` in a `int`"},
        {"{1: 2}.x", 1, 8, 1, "no field `x` in a `map(int, int)`"},
        {"wrong", 17, 5, 1, "no overload `int + string`; did you mean `string(i)`?"},
        {"{s: 1, wrod: 2}", 1, 8, 4, "undeclared name `wrod`; a key that is a text is quoted: `'wrod'`"},
        {"{'a': wrod}", 1, 7, 4, "undeclared name `wrod`; did you mean `word`?"},
        {"type(any) == timestamp", 1, 14, 9, "undeclared name `timestamp`; did you mean `google.protobuf.Timestamp`?"},
        {"ints.map(n, v, v + 1)", 1, 13, 1,
         "undeclared name `v`; `map` has one variable: for index and item write `transformList(n, v, ...)`"},
        {"ints.exists(x, true) && x", 1, 25, 1,
         "undeclared name `x`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."},
        {"ints.exists(x, hides == x)", 1, 22, 2, "no overload `string == int`"},
    };
    REFUSED(rows, IL_CEL_NULL);
}

static void test_calls(void **state) {
    (void)state;
    static const row rows[] = {
        {"s.endswith('a')", 1, 3, 8, "unknown function `endswith`; did you mean `endsWith`?"},
        {"s.frobnicate()", 1, 3, 10, "unknown function `frobnicate`"},
        {"frobnicate(zzz)", 1, 1, 10, "unknown function `frobnicate`"},
        {"siez(s)", 1, 1, 4, "unknown function `siez`; did you mean `size`?"},
        {"ints.any(x, x > 1)", 1, 6, 3, "`any` is not a macro; did you mean `exists`?"},
        {"ints.exist(x, x > 1)", 1, 6, 5, "unknown function `exist`; did you mean `exists`?"},
        {"exists(ints, true)", 1, 1, 6, "`exists` stands after a list: `list.exists(x, x == 1)`"},
        {"not(b)", 1, 1, 3, "unknown function `not`; did you mean `!`?"},
        {"len(s)", 1, 1, 3, "unknown function `len`; did you mean `size`?"},
        {"s.toLowerCase()", 1, 3, 11, "unknown function `toLowerCase`; did you mean `lowerAscii`?"},
        {"startsWith(s, 'a')", 1, 1, 10, "`startsWith` is called on a value; write `x.startsWith(...)`"},
        {"s.timestamp()", 1, 3, 9, "`timestamp` is not called on a value; write `timestamp(...)`"},
        {"math.gratest(1, 2)", 1, 1, 12, "unknown function `math.gratest`; did you mean `math.greatest`?"},
        {"optional.zzz(1)", 1, 1, 12, "unknown function `optional.zzz`"},
        {"s.startsWith()", 1, 3, 10, "`startsWith` takes 1 argument, got 0"},
        {"s.startsWith('a', 'b')", 1, 3, 10, "`startsWith` takes 1 argument, got 2"},
        {"s.substring()", 1, 3, 9, "`substring` takes 1 to 2 arguments, got 0"},
        {"math.abs('a')", 1, 1, 8,
         "no overload `math.abs(string)`; there are `math.abs(int)`, `math.abs(uint)`, `math.abs(double)`"},
        {"1 + (math.abs(1, 2))", 1, 6, 8, "`math.abs` takes 1 argument, got 2"},
        {"now()", 1, 1, 3, "unknown function `now`; an expression has no clock; the host gives the time as a variable"},
        {"regex('a')", 1, 1, 5, "unknown function `regex`; a pattern is a text: `x.matches('^[a-z]+$')`"},
        {"s.test('a')", 1, 3, 4, "unknown function `test`; a pattern is a text: `x.matches('^[a-z]+$')`"},
        {"cidr('10.0.0.0/8').contains(ip(s))", 1, 20, 8, "a range has no `contains`; did you mean `containsIP`?"},
        {"cidr('10.0.0.0/8').contains(cidr(s))", 1, 20, 8, "a range has no `contains`; did you mean `containsCIDR`?"},
        {"math.greatest()", 1, 1, 13, "`math.greatest` takes at least 1 argument, got 0"},
        {"s.startsWith(1)", 1, 3, 10, "no overload `string.startsWith(int)`; there is `string.startsWith(string)`"},
        {"size(1)", 1, 1, 4, "no overload `size(int)`; there are `size(string)`, `size(bytes)`, `size(list(dyn))`, ..."},
        {"ints.contains(1)", 1, 6, 8, "a list has no `contains`; did you mean `1 in ints`?"},
    };
    REFUSED(rows, IL_CEL_NULL);
    cel_case c;
    cel_case_init(&c);
    const il_cel_limits interbolt = {.size = sizeof interbolt, .list_contains = true};
    assert_int_equal(
        il_cel_compile(&c.arena, IL_STR("ints.contains(1)"), 1, 1, &cel_env, IL_CEL_BOOL, &interbolt, &c.program, &c.err), IL_OK);
    assert_int_equal(
        il_cel_compile(&c.arena, IL_STR("ints.contains('a')"), 1, 1, &cel_env, IL_CEL_BOOL, &interbolt, &c.program, &c.err),
        IL_E_INVALID);
    cel_case_free(&c);
}

static void test_overloads(void **state) {
    (void)state;
    static const row rows[] = {
        {"i >= '3'", 1, 3, 2, "no overload `int >= string`; did you mean `3`?"},
        {"s == 3", 1, 3, 2, "no overload `string == int`"},
        {"b != null", 1, 3, 2, "no overload `bool != null_type`"},
        {"i + s", 1, 3, 1, "no overload `int + string`; did you mean `string(i)`?"},
        {"s + i", 1, 3, 1, "no overload `string + int`; did you mean `string(i)`?"},
        {"'a' + 1", 1, 5, 1, "no overload `string + int`; did you mean `string(1)`?"},
        {"s + ints", 1, 3, 1, "no overload `string + list(int)`"},
        {"s + (1 +\n 2)", 1, 3, 1, "no overload `string + int`; write `string(...)` around the other"},
        {"ip(s) in cidr(s)", 1, 7, 2, "no overload `net.IP in net.CIDR`; did you mean `cidr(s).containsIP(ip(s))`?"},
        {"s - s", 1, 3, 1, "no overload `string - string`"},
        {"b * 2", 1, 3, 1, "no overload `bool * int`"},
        {"1.0 % 2.0", 1, 5, 1, "no overload `double % double`"},
        {"i == 1u", 1, 3, 2, "no overload `int == uint`; convert one of them"},
        {"i < 1.5", 1, 3, 1, "no overload `int < double`; convert one of them"},
        {"ints + names", 1, 6, 1, "no overload `list(int) + list(string)`"},
        {"ints == names", 1, 6, 2, "no overload `list(int) == list(string)`"},
        {"ints < ints", 1, 6, 1, "no overload `list(int) < list(int)`"},
        {"-s", 1, 1, 1, "no overload `-string`"},
        {"!i", 1, 1, 1, "no overload `!int`; did you mean `i == 0`?"},
        {"!(i + 1)", 1, 1, 1, "no overload `!int`; did you mean `x == 0`?"},
        {"!ints", 1, 1, 1, "no overload `!list(int)`; did you mean `size(ints) == 0`?"},
        {"!r.?b", 1, 1, 1, "no overload `!optional_type(bool)`; did you mean `!r.?b.hasValue()`?"},
        {"'a' in s", 1, 5, 2, "no overload `string in string`; for texts there is `contains`"},
        {"1 in names", 1, 3, 2, "no overload `int in list(string)`"},
        {"s in r", 1, 3, 2, "no overload `string in rec`"},
        {"b && i", 1, 6, 1, "bool expected by `&&`, got `int`; did you mean `i > 0`?"},
        {"s || b", 1, 1, 1, "bool expected by `||`, got `string`; compare it with a text"},
        {"b && (i + 1) && b2", 1, 7, 5, "bool expected by `&&`, got `int`; did you mean `i + 1 > 0`?"},
        {"b && names.map(n, n)", 1, 6, 15,
         "bool expected by `&&`, got `list(string)`; did you mean `size(names.map(n, n)) > 0`?"},
        {"i ? 1 : 2", 1, 1, 1, "bool expected by `?:`, got `int`; did you mean `i > 0`?"},
        {"b ? 1 : 'a'", 1, 3, 1, "the arms of `?:` differ: `int` and `string`"},
        {"b ? [1] : ['a']", 1, 3, 1, "the arms of `?:` differ: `list(int)` and `list(string)`"},
        {"s[0]", 1, 2, 1, "no overload `string[int]`; a character of a string is `charAt(i)`"},
        {"ints['a']", 1, 5, 1, "no overload `list(int)[string]`; an index is an int"},
        {"r['b']", 1, 2, 1, "no overload `rec[string]`; write `.name`"},
        {"s.exists(c, true)", 1, 3, 6, "`exists` needs a list or a map, got `string`"},
        {"r.all(f, true)", 1, 3, 3, "`all` needs a list or a map, got `rec`"},
        {"s.map(c, c)", 1, 3, 3, "`map` needs a list or a map, got `string`"},
        {"s.transformList(i, c, c)", 1, 3, 13, "`transformList` needs a list or a map, got `string`"},
        {"ints.exists(x, x)", 1, 16, 1, "bool expected by `exists`, got `int`; did you mean `x > 0`?"},
        {"ints.exists_one(x, x)", 1, 20, 1, "bool expected by `exists_one`, got `int`; did you mean `x > 0`?"},
        {"ints.all(x, x + 1)", 1, 13, 5, "bool expected by `all`, got `int`; did you mean `x + 1 > 0`?"},
        {"ints.map(x, x, x)", 1, 13, 1, "bool expected by `map`, got `int`; did you mean `x > 0`?"},
        {"s.optMap(x, x)", 1, 3, 6, "`optMap` needs an optional, got `string`"},
        {"optional.of(s).optFlatMap(x, x)", 1, 30, 1, "`optFlatMap` ends with an optional, got `string`"},
        {"[?s]", 1, 3, 1, "an optional expected after `?`, got `string`; write it without `?`"},
        {"{'a': 1, 1.5: 2}", 1, 10, 3, "a key of a map is an int, uint, bool or string, not `double`"},
        {"r == s", 1, 3, 2, "no overload `rec == string`"},
        {"{1: 2}.transformMapEntry(k, v, 1)", 1, 32, 1, "`transformMapEntry` ends with a map, got `int`; write `{key: value}`"},
        {"{1: 2}.transformMapEntry(k, v, v > 1, ints)", 1, 39, 4,
         "`transformMapEntry` ends with a map, got `list(int)`; write `{key: value}`"},
    };
    REFUSED(rows, IL_CEL_NULL);
    static const row kinds[] = {
        {"names", 1, 1, 5, "must be `bool`, is `list(string)`; did you mean `size(names) > 0`?"},
        {"i + 1", 1, 1, 5, "must be `bool`, is `int`; did you mean `i + 1 > 0`?"},
        {"  r", 1, 3, 1, "must be `bool`, is `rec`"},
        {"s", 1, 1, 1, "must be `bool`, is `string`; compare it with a text"},
        {"null", 1, 1, 4, "must be `bool`, is `null_type`"},
        {"r.?b", 1, 1, 4, "must be `bool`, is `optional_type(bool)`; did you mean `r.?b.hasValue()`?"},
        {"[1,\n2]", 1, 1, 3, "must be `bool`, is `list(int)`; ask for its `size()`"},
    };
    REFUSED(kinds, IL_CEL_BOOL);
    static const row strings[] = {{"b", 1, 1, 1, "must be `string`, is `bool`"},
                                  {"b ? 1 : 2", 1, 1, 9, "must be `string`, is `int`"}};
    REFUSED(strings, IL_CEL_STRING);
    static const row lists[] = {{"b", 1, 1, 1, "must be `list`, is `bool`"}};
    REFUSED(lists, IL_CEL_LIST);
    static const row maps[] = {{"b", 1, 1, 1, "must be `map`, is `bool`"}};
    REFUSED(maps, IL_CEL_MAP);
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "b", &cel_env, IL_CEL_ERROR), IL_E_ARGUMENT);
    assert_int_equal(cel_compile(&c, "r", &cel_env, IL_CEL_RECORD), IL_E_ARGUMENT);
    cel_case_free(&c);
}

static void test_never_equal(void **state) {
    (void)state;
    static const row rows[] = {
        {"word == 'frsh'", 1, 9, 6, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `fresh`?"},
        {"'Held' != word", 1, 1, 6, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"b && r.word == 'other'", 1, 16, 7, "never equal: `r.word` is one of `none`, `fresh`, `held`"},
        {"words.exists(w, w == 'nune')", 1, 22, 6, "never equal: `w` is one of `none`, `fresh`, `held`; did you mean `none`?"},
        {"word in ['none', 'helt']", 1, 18, 6, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"word in ['none', s, 'helt']", 1, 21, 6, "never equal: `word` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"'helt' in words", 1, 1, 6, "never equal: `words` is one of `none`, `fresh`, `held`; did you mean `held`?"},
        {"(b ? 'bound' : 'foreign') == 'none'", 1, 30, 6, "never equal: the other side is one of `bound`, `foreign`"},
        {"(b ? 'bound' : word) == 'foreign'", 1, 25, 9, "never equal: the other side is one of `bound`, `none`, `fresh`, `held`"},
        {"(b ? [] : words)[0] == 'zzz'", 1, 24, 5, "never equal: the other side is one of `none`, `fresh`, `held`"},
        {"optional.of(word).value() == 'nune'", 1, 30, 6,
         "never equal: the other side is one of `none`, `fresh`, `held`; did you mean `none`?"},
        {"{'k': word}['k'] == 'nune'", 1, 21, 6,
         "never equal: the other side is one of `none`, `fresh`, `held`; did you mean `none`?"},
        {"(b ? 'x' : 'y') == word", 1, 17, 2, "never equal: the other side and `word` have no word in common"},
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

/* A text that is read while evaluating, and cannot be: also where logic would forget the error. */
static void test_texts(void **state) {
    (void)state;
    static const row rows[] = {
        {"b || timestamp('x') == timestamp(0)", 1, 16, 3,
         "`'x'` is no timestamp; write one such as `2024-05-01T12:00:00Z` or `2024-05-01T12:00:00.5+02:00`"},
        {"duration('1 h')", 1, 10, 5,
         "`'1 h'` is no duration; write one such as `1h30m`, `90s` or `250ms`, of at most 292 years"},
        {"ip('10.0.0.256')", 1, 4, 12, "`'10.0.0.256'` is no IP address; write one such as `10.0.0.1` or `2001:db8::1`"},
        {"cidr('10.0.0.0')", 1, 6, 10,
         "`'10.0.0.0'` is no range of addresses; write one such as `10.0.0.0/8` or `2001:db8::/32`"},
        {"cidr(s).containsIP('x')", 1, 20, 3, "`'x'` is no IP address; write one such as `10.0.0.1` or `2001:db8::1`"},
        {"cidr(s).containsCIDR('x')", 1, 22, 3,
         "`'x'` is no range of addresses; write one such as `10.0.0.0/8` or `2001:db8::/32`"},
        {"int('1.5')", 1, 5, 5, "`'1.5'` is no int; write digits, as in `-12`"},
        {"uint('-1')", 1, 6, 4, "`'-1'` is no uint; write digits, as in `12`"},
        {"int('9223372036854775808')", 1, 5, 21,
         "`'9223372036854775808'` is out of range; an int is from -9223372036854775808 to 9223372036854775807"},
        {"double('1,5')", 1, 8, 5, "`'1,5'` is no double; write one such as `1.5`, `1e3` or `Infinity`"},
        {"bool('yes')", 1, 6, 5, "`'yes'` is no bool; write `true` or `false`"},
        {"int('a very long text that is nothing that anybody would want to read twice')", 1, 5, 72,
         "this text is no int; write digits, as in `-12`"},
    };
    REFUSED(rows, IL_CEL_NULL);
    static const char *const fine[] = {"timestamp('2024-05-01T12:00:00Z') < timestamp(s)",
                                       "isIP('x')",
                                       "int(s) == int('-5')",
                                       "cidr(s).containsIP('10.0.0.1')",
                                       "uint(-1)",
                                       "bool('True') || int(any) > 1"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, fine[i], &cel_env, IL_CEL_NULL), IL_OK);
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
        {"b && ints.all(a, ints.all(b, ints.all(c, a + b > c)))", 1, 6, 48,
         "worst-case cost of this `all` is 6450849803 steps, over 10000000; nest fewer loops or build shorter texts and lists"},
        /* the part that is too much alone, not all that is around it */
        {"ints.all(a, ints.map(b, ints.map(c, [a, b, c, a, b])).size() > 3)", 1, 13, 41,
         "worst-case cost of this `map` is 13641738 steps, over 10000000; nest fewer loops or build shorter texts and lists"},
        /* two of which nothing is known: each may be a long text */
        {"any.exists(x, any.exists(y, x == y))", 1, 1, 36,
         "worst-case cost of this `exists` is 5372909575 steps, over 10000000; it compares values that may be long texts: "
         "compare with a literal, or "
         "declare the items"},
        /* growth of what a loop makes: 1,024 texts of 128 KiB each */
        {"names.map(x, x + x).map(x, x + x).exists(x, x == s)", 1, 1, 33,
         "worst-case cost of this `map` is 25176073 steps, over 10000000; nest fewer loops or build shorter texts and lists"},
    };
    run_rows(rows, sizeof rows / sizeof rows[0], IL_CEL_BOOL, IL_E_LIMIT);
    static const char deep[] =
        "[0,1].all(a,[0,1].all(b,[0,1].all(c,[0,1].all(d,[0,1].all(e,[0,1].all(f,[0,1].all(g,[0,1].all(h,[0,1].all(i,[0,1].all("
        "j,[0,1].all(k,"
        "[0,1].all(l,[0,1].all(m,[0,1].all(n,[0,1].all(o,[0,1].all(p,[0,1].all(q,[0,1].all(r,[0,1].all(s,[0,1].all(t,[0,1].all("
        "u,[0,1].all(v,"
        "[0,1].all(w,[0,1].all(x,true))))))))))))))))))))))))";
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, deep, &cel_env, IL_CEL_BOOL), IL_E_LIMIT);
    assert_non_null(strstr(c.err.msg, "worst-case cost of this `all`"));
    assert_int_equal(cel_compile(&c, "ints.all(a, ints.all(b, a + b > 0))", &cel_env, IL_CEL_BOOL), IL_OK);
    assert_int_equal(cel_compile(&c, "[1, 2].all(a, [1, 2].all(b, [1, 2].all(c, a + b > c)))", &cel_env, IL_CEL_BOOL), IL_OK);
    assert_int_equal(
        cel_compile(&c, "words.exists(w, w in ['none', 'held'] && names.exists(n, n.startsWith('a')))", &cel_env, IL_CEL_BOOL),
        IL_OK);
    /* Only one arm is paid for, and what the host promises of its values counts. */
    static const il_cel_type few = {.kind = IL_CEL_LIST, .element = &il_cel_type_string, .most = 4};
    static const il_cel_field vars[] = {{{"few", 3}, &few}};
    const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1};
    assert_int_equal(cel_compile(&c, "few.all(a, few.all(b, few.all(c, a + b > c)))", &env, IL_CEL_BOOL), IL_OK);
    const uint64_t one = c.program->root->cost, weight = c.program->root->weight;
    assert_int_equal(
        cel_compile(&c, "1 < 2 ? few.all(a, few.all(b, few.all(c, a + b > c))) : few.all(a, few.all(b, few.all(c, a + b > c)))",
                    &env, IL_CEL_BOOL),
        IL_OK);
    assert_int_equal(c.program->root->cost, one + weight + 4);
    const il_cel_limits tight = {.size = sizeof tight, .cost = 8};
    assert_int_equal(il_cel_compile(&c.arena, IL_STR("1 + 2 == 3"), 1, 1, NULL, IL_CEL_BOOL, &tight, &c.program, &c.err), IL_OK);
    assert_int_equal(il_cel_compile(&c.arena, IL_STR("1 + 2 == 3 || 1 < 2"), 1, 1, NULL, IL_CEL_BOOL, &tight, &c.program, &c.err),
                     IL_E_LIMIT);
    assert_string_equal(c.err.msg,
                        "worst-case cost of this `||` is 9 steps, over 8; nest fewer loops or build shorter texts and lists");
    cel_case_free(&c);
}

static void test_saturation(void **state) {
    (void)state;
    const uint64_t max = UINT64_MAX, half = (uint64_t)1 << 32;
    assert_true(il_cel_cost_add(max, 1) == max && il_cel_cost_add(max - 1, 1) == max && il_cel_cost_add(2, 3) == 5);
    assert_true(il_cel_cost_mul(0, max) == 0 && il_cel_cost_mul(max, 1) == max && il_cel_cost_mul(1, max) == max);
    assert_true(il_cel_cost_mul(max, 2) == max && il_cel_cost_mul(half, half) == max &&
                il_cel_cost_mul(half, half - 1) == max - half + 1);
    assert_true(il_cel_cost_mul(half + 1, 3) == 3 * half + 3 && il_cel_cost_mul(max / 3, 3) == max &&
                il_cel_cost_mul(max / 3 + 1, 3) == max);
    /* Against the compiler's own, over factors of every size. */
    for (unsigned i = 0; i < 64; i++) {
        for (unsigned j = 0; j < 64; j++) {
            const uint64_t a = ((uint64_t)1 << i) | (i * 7919), b = ((uint64_t)1 << j) | (j * 104729);
            uint64_t product = 0, sum = 0;
            const bool times = __builtin_mul_overflow(a, b, &product), plus = __builtin_add_overflow(a, b, &sum);
            assert_true(il_cel_cost_mul(a, b) == (times ? max : product));
            assert_true(il_cel_cost_add(a, b) == (plus ? max : sum));
        }
    }
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
        cmocka_unit_test(test_names),       cmocka_unit_test(test_calls),      cmocka_unit_test(test_overloads),
        cmocka_unit_test(test_never_equal), cmocka_unit_test(test_dyn),        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_long_names),  cmocka_unit_test(test_saturation), cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
