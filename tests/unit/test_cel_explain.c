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

static const il_cel_type rec_type = {
    .kind = IL_CEL_RECORD, .fields = (const il_cel_field[]){{{"f", 1}, &il_cel_type_int}}, .nfields = 1, .name = {"rec", 3}};
static const il_cel_field vars_of[] = {{{"args", 4}, &il_cel_type_json},
                                       {{"n", 1}, &il_cel_type_int},
                                       {{"r", 1}, &rec_type},
                                       {{"any", 3}, NULL},
                                       {{"xs", 2}, &il_cel_type_list}};

static il_cel_value fail_host(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    (void)args;
    (void)nargs;
    return il_cel_of_fault(IL_CEL_BAD_VALUE);
}
static const il_cel_type *const one_int[] = {&il_cel_type_int};
static const il_cel_function functions[] = {
    {.name = {"shop.price", 10}, .params = one_int, .nparams = 1, .result = &il_cel_type_int, .call = fail_host},
    {.name = {"unmade", 6}, .params = one_int, .nparams = 1, .result = &il_cel_type_int},
};
static const il_cel_let lets[] = {{{"half", 4}, {"n / 0", 5}, 40, 7}};
static const il_cel_env env = {
    .size = sizeof env, .vars = vars_of, .nvars = 5, .functions = functions, .nfunctions = 2, .lets = lets, .nlets = 1};

static void test_explain(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
        bool unchecked;
    } rows[] = {
        {"args.bcc == 'x'", "1:6 no such key `bcc`", false},
        {"true &&\n  args.to.bcc == 1", "2:11 `.bcc` of a value that has no fields", false},
        {"args['bcc'] == 'x'", "1:6 no such key `bcc`", false},
        {"xs[7] == 1", "1:3 no index 7 in a list of 1; the first is 0", false},
        {"xs[-1] == 1", "1:3 no index -1 in a list of 1; the first is 0", false},
        {"[][9999999999] == 1", "1:3 no index above 2147483647 in a list of 0", false},
        {"xs[dyn(3u)] == 1", "1:3 no index 3 in a list of 1; the first is 0", false},
        {"xs[dyn(-4.0)] == 1", "1:3 no index -4 in a list of 1; the first is 0", false},
        {"{1: 2}[n] == 1", "1:7 no such key or index", false},
        {"xs[0.5] == 1", "1:3 an index must be a whole number", true},
        {"n / 0 == 1", "1:3 division by zero", false},
        {"9223372036854775807 + n == 1", "1:21 the result of `+` is out of range", false},
        {"-(n * 9223372036854775807) == 1", "1:5 the result of `*` is out of range", false},
        {"any == 1 || false", "1:1 `any` has no value yet", false},
        {"n == 1 || n == 2 || any", "1:21 `any` has no value yet", false},
        {"n > 1 && n == 5 && args", "1:20 `args` is of another kind than is needed here", true},
        {"[1, 2, any] == []", "1:8 `any` has no value yet", false},
        {"1 == any && true", "1:6 `any` has no value yet", false},
        {"any || false", "1:1 `any` has no value yet", false},
        {"r.f + 1 == 2", "1:3 `f` has no value yet", false},
        {"r.f == 2", "1:3 `f` has no value yet", false},
        {"half == 1", "40:9 division by zero", false},
        {"args.n || false", "1:8 `||` got a value of another kind than it takes", false},
        {"args.n ? 1 : 2", "1:8 `?:` got a value of another kind than it takes", false},
        {"args.n < 'a'", "1:8 no overload of `<` for these kinds of values", false},
        {"duration(args.to) == duration('1s')",
         "1:1 `duration`: this text is no duration; write one such as `1h30m`, `90s` or `250ms`, of at most 292 years", false},
        {"timestamp(args.to)",
         "1:1 `timestamp`: this text is no timestamp; write one such as `2024-05-01T12:00:00Z` or `2024-05-01T12:00:00.5+02:00`",
         false},
        {"int(string(args.to))", "1:1 `int`: this text is no int; write digits, as in `-12`", false},
        {"bool(args.to)", "1:1 `bool`: this text is no bool; write `true` or `false`", false},
        {"ip(args.to)", "1:1 `ip`: this text is no IP address; write one such as `10.0.0.1` or `2001:db8::1`", false},
        {"uint(n - 6)", "1:1 the result of `uint` is out of range; a uint is from 0 to 18446744073709551615", false},
        {"'%y'.format([n])",
         "1:6 `format`: the format asks for more than the list has, or has a verb that is none; there are `%s %d %f %e %b %o %x "
         "%X`",
         false},
        {"'abc'.substring(n)", "1:7 `substring`: an index is outside of the text, or the end stands before the beginning", false},
        {"'abc'.charAt(n)", "1:7 `charAt`: an index is outside of the text", false},
        {"'abc'.indexOf('c', n)", "1:7 `indexOf`: an index is outside of the text", false},
        {"timestamp(0).getHours(string(args.to))",
         "1:14 `getHours`: this time zone is not known; write one such as `Europe/Vienna` or `+02:00`", false},
        {"optional.none().value()", "1:17 `value`: the optional has no value; write `orValue(...)`, or ask `hasValue()` first",
         false},
        {"math.abs(args.to)", "1:1 no overload of `math.abs` for these kinds of values", false},
        {"{args.to: 1, 'bob': 2}.x == 1", "1:1 a key is repeated", false},
        {"[?dyn(1)] == []", "1:3 what is written with `?` must be an optional", true},
        {"dyn(1).optMap(x, x)", "1:8 `optMap` needs an optional", true},
        {"shop.price(n) == 1", "1:1 `shop.price` cannot take this value", false},
        {"unmade(n) == 1", "1:1 unknown function `unmade`", false},
        {"nothing == 1", "1:1 undeclared name `nothing`", true},
        {"nofunction(1)", "1:1 unknown function `nofunction`", true},
        {"xs.map(x, x + 1)", "1:13 no overload of `+` for these kinds of values", false},
        {"xs.exists(x, x.y)", "1:16 `.y` of a value that has no fields", false},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        char got[400], copy[200];
        il_json *doc = NULL;
        il_error why = {0};
        cel_case_init(&c);
        assert_int_equal(il_json_parse(&c.arena, IL_STR("{\"to\":\"bob\",\"n\":5}"), NULL, &doc, NULL), IL_OK);
        const il_cel_value item = il_cel_of_str(IL_STR("a")), unset[1] = {{0}};
        const il_cel_value vars[] = {il_cel_of_json(doc),
                                     il_cel_of_int(5),
                                     il_cel_of_items(IL_CEL_RECORD, unset, 1),
                                     {0},
                                     il_cel_of_items(IL_CEL_LIST, &item, 1)};
        const il_cel_limits limits = {.size = sizeof limits, .unchecked = rows[i].unchecked};
        (void)snprintf(copy, sizeof copy, "%s", rows[i].text);
        if (il_cel_compile(&c.arena, il_str_of(copy), 1, 1, &env, IL_CEL_NULL, &limits, &c.program, &c.err) != IL_OK) {
            (void)snprintf(got, sizeof got, "refused: %u:%u %s", c.err.line, c.err.col, c.err.msg);
        } else {
            memset(copy, '#', sizeof copy); /* the program has its own */
            il_cel_value v = il_cel_eval(c.program, vars, &c.arena);
            il_cel_explain(c.program, v, &why);
            (void)snprintf(got, sizeof got, "%u:%u %s", why.line, why.col, why.msg);
        }
        if (strcmp(got, rows[i].want) != 0) {
            print_error("%s\n  want %s\n  got  %s\n", rows[i].text, rows[i].want, got);
            wrong++;
        }
        cel_case_free(&c);
    }
    assert_int_equal(wrong, 0);
}

/* Errors of elsewhere, and what is none: something is said, and nothing is read that is not there. */
static void test_foreign(void **state) {
    (void)state;
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "1 + 1", &env, IL_CEL_INT), IL_OK);
    for (unsigned fault = IL_CEL_NO_FAULT; fault <= IL_CEL_BUDGET + 1; fault++) {
        const uint32_t places[] = {0, 1, 2, 1000, UINT32_MAX};
        for (size_t i = 0; i < 5; i++) {
            il_error why = {0};
            il_cel_value e = il_cel_of_fault((il_cel_fault)fault);
            e.n = places[i];
            e.spare = (uint8_t)i;
            il_cel_explain(c.program, e, &why);
            assert_true(why.msg[0] != 0);
            assert_int_equal(why.code, fault == IL_CEL_BUDGET ? IL_E_LIMIT : IL_E_INVALID);
            il_cel_explain(c.program, e, NULL);
        }
    }
    il_error why = {0};
    il_cel_explain(c.program, il_cel_of_int(1), &why);
    assert_int_equal(why.code, IL_E_ARGUMENT);
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_explain), cmocka_unit_test(test_foreign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
