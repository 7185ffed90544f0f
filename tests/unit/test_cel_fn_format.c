/* SPDX-License-Identifier: Apache-2.0 */
/* string.format. The answers are those of the tests of cel-spec, section format, and of cel-go where it has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel_fn.h"

#define FORMAT(want, f, ...) \
    { ".format", {TEXT(f), LIST(__VA_ARGS__)}, want }
#define NAN_ DOUBLE(0.0 / 0.0)
#define INF_ DOUBLE(1 / 0.0)

static void format_texts(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".format", {TEXT("no substitution"), EMPTY}, TEXT("no substitution")},
        {".format", {TEXT(""), EMPTY}, TEXT("")},
        FORMAT(TEXT("str is filler and some more"), "str is %s and some more", TEXT("filler")),
        {".format", {TEXT("%% and also %%"), EMPTY}, TEXT("% and also %")},
        FORMAT(TEXT("%text%"), "%%%s%%", TEXT("text")),
        FORMAT(TEXT("1 2, A B"), "%d %d, %s %s", INT(1), INT(2), TEXT("A"), TEXT("B")),
        FORMAT(TEXT("null"), "%s", NIL),
        FORMAT(TEXT("999999999999"), "%s", INT(999999999999)),
        FORMAT(TEXT("-9223372036854775808"), "%s", INT(INT64_MIN)),
        FORMAT(TEXT("18446744073709551615"), "%s", UINT(UINT64_MAX)),
        FORMAT(TEXT("xyz"), "%s", BYTES("xyz")),
        FORMAT(BAD_VALUE, "%s", BYTES("\xff")),
        FORMAT(TEXT("string"), "%s", TYPE(IL_CEL_STRING)),
        FORMAT(TEXT("2023-02-03T23:31:20Z"), "%s", STAMP(1675467080, 0)),
        FORMAT(TEXT("6347s"), "%s", SPAN(INT64_C(6347000000000))),
        FORMAT(TEXT("56.8"), "%s", DOUBLE(56.8)),
        FORMAT(TEXT("1000000000000000000000"), "%s", DOUBLE(1e21)),
        FORMAT(TEXT("NaN"), "%s", NAN_),
        FORMAT(TEXT("true, false"), "%s, %s", BOOL(true), BOOL(false)),
        FORMAT(TEXT("a\0b"), "%s", TEXT("a\0b")),
        FORMAT(TEXT("[]"), "%s", EMPTY),
        {".format", {TEXT("%s"), LIST({.kind = IL_CEL_MAP})}, TEXT("{}")},
        FORMAT(TEXT("[abc, 3.14, null, [9, 8], 2023-02-03T23:31:20Z]"), "%s",
               LIST(TEXT("abc"), DOUBLE(3.14), NIL, LIST(INT(9), INT(8)), STAMP(1675467080, 0))),
        FORMAT(TEXT("[NaN, Infinity, -Infinity]"), "%s", LIST(NAN_, INF_, DOUBLE(-1 / 0.0))),
        FORMAT(TEXT("{key1: xyz, key2: 7200s, key4: true}"), "%s",
               MAP(TEXT("key1"), BYTES("xyz"), TEXT("key2"), SPAN(INT64_C(7200000000000)), TEXT("key4"), BOOL(true))),
        /* by the texts of the keys, whatever their kinds */
        FORMAT(TEXT("{6: 422s, strKey: x, true: 42}"), "%s",
               MAP(BOOL(true), INT(42), INT(6), SPAN(INT64_C(422000000000)), TEXT("strKey"), TEXT("x"))),
        FORMAT(TEXT("{1: value1, 2: value2, true: NaN}"), "%s",
               MAP(BOOL(true), NAN_, INT(1), TEXT("value1"), UINT(2), TEXT("value2"))),
        FORMAT(TEXT("{-1: 0, 10: 0, 2: 0}"), "%s", MAP(INT(-1), INT(0), INT(2), INT(0), INT(10), INT(0))),
        FORMAT(TEXT("{1: a, 1: b}"), "%s", MAP(INT(1), TEXT("a"), TEXT("1"), TEXT("b"))),
        FORMAT(NO_OVERLOAD, "%s", NONE),
        FORMAT(NO_OVERLOAD, "%s", LIST(NONE)),
        FORMAT(TEXT("x"), "%s", TEXT("x"), TEXT("not looked at")),
    };
    FN_ROWS(rows);
}

static void format_numbers(void **state) {
    (void)state;
    const fn_row rows[] = {
        FORMAT(TEXT("64"), "%d", UINT(64)),
        FORMAT(TEXT("-9223372036854775808"), "%d", INT(INT64_MIN)),
        FORMAT(TEXT("NaN"), "%d", NAN_),
        FORMAT(TEXT("Infinity"), "%d", INF_),
        FORMAT(TEXT("-Infinity"), "%d", DOUBLE(-1 / 0.0)),
        FORMAT(TEXT("2.5"), "%d", DOUBLE(2.5)),
        FORMAT(TEXT("101"), "%b", INT(5)),
        FORMAT(TEXT("-101"), "%b", INT(-5)),
        FORMAT(TEXT("-1000000000000000000000000000000000000000000000000000000000000000"), "%b", INT(INT64_MIN)),
        FORMAT(TEXT("1000000"), "%b", UINT(64)),
        FORMAT(TEXT("1"), "%b", BOOL(true)),
        FORMAT(TEXT("0"), "%b", BOOL(false)),
        FORMAT(TEXT("13"), "%o", INT(11)),
        FORMAT(TEXT("177777"), "%o", UINT(65535)),
        FORMAT(TEXT("1e is 20 in hexadecimal"), "%x is 20 in hexadecimal", INT(30)),
        FORMAT(TEXT("-1E"), "%X", INT(-30)),
        FORMAT(TEXT("1770"), "%X", UINT(6000)),
        FORMAT(TEXT("48656c6c6f20776f726c6421"), "%x", TEXT("Hello world!")),
        FORMAT(TEXT("48656C6C6F20776F726C6421"), "%X", TEXT("Hello world!")),
        FORMAT(TEXT("ff00"), "%x", BYTES("\xff\0")),
        FORMAT(TEXT(""), "%x", TEXT("")),
        FORMAT(TEXT("2.718280"), "%f", DOUBLE(2.71828)),
        FORMAT(TEXT("2.000000"), "%f", INT(2)),
        FORMAT(TEXT("3.000000"), "%f", UINT(3)),
        FORMAT(TEXT("NaN"), "%f", NAN_),
        FORMAT(TEXT("Infinity"), "%f", INF_),
        FORMAT(TEXT("2.718280e+00"), "%e", DOUBLE(2.71828)),
        FORMAT(TEXT("2.000000e+00"), "%e", INT(2)),
        FORMAT(TEXT("-Infinity"), "%e", DOUBLE(-1 / 0.0)),
        FORMAT(TEXT("1.052033e+03"), "%.6e", DOUBLE(1052.032911275)),
        FORMAT(TEXT("1.234"), "%.3f", DOUBLE(1.2345)),
        FORMAT(TEXT("2"), "%.0f", DOUBLE(2.5)),
        FORMAT(TEXT("2"), "%.0f", DOUBLE(1.5)),
        FORMAT(TEXT("-123.500"), "%.3f", DOUBLE(-123.4999)),
        FORMAT(TEXT("-1.20000"), "%.5f", DOUBLE(-1.2)),
        FORMAT(TEXT("whole"), "%.3s", TEXT("whole")),
    };
    FN_ROWS(rows);
}

static void format_errors(void **state) {
    (void)state;
    const fn_row rows[] = {
        FORMAT(BAD_VALUE, "%a", INT(1)),
        FORMAT(BAD_VALUE, "double is %E", DOUBLE(0.5)),
        FORMAT(BAD_VALUE, "%d %d %d", INT(0), INT(1)),
        {".format", {TEXT("%s"), EMPTY}, BAD_VALUE},
        FORMAT(BAD_VALUE, "%", INT(1)),
        FORMAT(BAD_VALUE, "100%", INT(1)),
        FORMAT(BAD_VALUE, "%.", INT(1)),
        FORMAT(BAD_VALUE, "%.f", DOUBLE(1)),
        FORMAT(BAD_VALUE, "%.3", DOUBLE(1)),
        FORMAT(BAD_VALUE, "%.1001f", DOUBLE(1)),
        FORMAT(BAD_VALUE, "%.99999999999999999999f", DOUBLE(1)),
        FORMAT(BAD_VALUE, "%.-1f", DOUBLE(1)),
        FORMAT(BAD_VALUE, "% s", INT(1)),
        FORMAT(BAD_VALUE, "%5d", INT(1)),
        FORMAT(NO_OVERLOAD, "string is %b", TEXT("abc")),
        FORMAT(NO_OVERLOAD, "%d", SPAN(1)),
        FORMAT(NO_OVERLOAD, "%d", BOOL(true)),
        FORMAT(NO_OVERLOAD, "octal: %o", TEXT("a string")),
        FORMAT(NO_OVERLOAD, "double is %x", DOUBLE(0.5)),
        FORMAT(NO_OVERLOAD, "null: %d", NIL),
        FORMAT(NO_OVERLOAD, "null: %e", NIL),
        FORMAT(NO_OVERLOAD, "null: %f", NIL),
        FORMAT(NO_OVERLOAD, "null: %x", NIL),
        FORMAT(NO_OVERLOAD, "null: %X", NIL),
        FORMAT(NO_OVERLOAD, "null: %b", NIL),
        FORMAT(NO_OVERLOAD, "null: %o", NIL),
        {".format", {INT(1), EMPTY}, NO_OVERLOAD},
        {".format", {TEXT("%s"), TEXT("x")}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

/* A thousand digits of a fraction are the most; a list deeper than any JSON text is refused; a long text pays for itself. */
static void format_growth_is_bounded(void **state) {
    (void)state;
    fn_run r;
    fn_run_init(&r, 1000000, SIZE_MAX);
    const il_cel_value digits[] = {TEXT("%.1000f"), LIST(DOUBLE(0.1))};
    assert_int_equal(fn_call(&r, ".format", digits, 2).n, 1002);
    r.run.steps = 15;
    assert_int_equal(fn_call(&r, ".format", digits, 2).fault, IL_CEL_BUDGET);

    il_cel_value deep[600];
    deep[0] = il_cel_of_items(IL_CEL_LIST, NULL, 0);
    for (int i = 1; i < 600; i++) {
        deep[i] = il_cel_of_items(IL_CEL_LIST, &deep[i - 1], 1);
    }
    r.run.steps = 1000000;
    const il_cel_value all[] = {TEXT("%s"), LIST(deep[599])}, fewer[] = {TEXT("%s"), LIST(deep[500])};
    assert_int_equal(fn_call(&r, ".format", fewer, 2).n, 1002);
    assert_int_equal(fn_call(&r, ".format", all, 2).fault, IL_CEL_BUDGET);

    enum { MANY = 3000 }; /* one list many times over: 2^n would be possible with few nodes */
    il_cel_value twice[40][2];
    twice[0][0] = twice[0][1] = il_cel_of_int(1);
    for (int i = 1; i < 40; i++) {
        twice[i][0] = twice[i][1] = il_cel_of_items(IL_CEL_LIST, twice[i - 1], 2);
    }
    r.run.steps = MANY;
    const il_cel_value doubled[] = {TEXT("%s"), LIST(twice[39][0])};
    assert_int_equal(fn_call(&r, ".format", doubled, 2).fault, IL_CEL_BUDGET);

    /* Maps are sorted in n log n. */
    enum { ENTRIES = 20000 };
    il_cel_value *entries = malloc(ENTRIES * 2 * sizeof *entries);
    assert_non_null(entries);
    for (int i = 0; i < ENTRIES; i++) {
        entries[2 * i] = il_cel_of_int(i);
        entries[2 * i + 1] = il_cel_of_int(i);
    }
    r.run.steps = 10000000;
    const il_cel_value map[] = {TEXT("%s"), LIST(il_cel_of_items(IL_CEL_MAP, entries, ENTRIES))};
    const il_cel_value shown = fn_call(&r, ".format", map, 2);
    assert_int_equal(shown.kind, IL_CEL_STRING);
    assert_memory_equal(shown.u.p, "{0: 0, 1: 1, 10: 10, 100: 100, 1000: 1000, 10000: 10000, 10001: 10001", 69);
    assert_true(r.run.steps < 10000000 - ENTRIES);
    free(entries);
    fn_run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_texts),
        cmocka_unit_test(format_numbers),
        cmocka_unit_test(format_errors),
        cmocka_unit_test(format_growth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
