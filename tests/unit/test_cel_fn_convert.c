/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions: ranges, texts and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel_fn.h"

static void convert_int(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"int", {INT(INT64_MIN)}, INT(INT64_MIN)},
        {"int", {UINT(42)}, INT(42)},
        {"int", {UINT(INT64_MAX)}, INT(INT64_MAX)},
        {"int", {UINT((uint64_t)INT64_MAX + 1)}, OVERFLOW},
        {"int", {UINT(UINT64_MAX)}, OVERFLOW},
        {"int", {DOUBLE(-123.456)}, INT(-123)},
        {"int", {DOUBLE(1.9)}, INT(1)},
        {"int", {DOUBLE(-7.9)}, INT(-7)},
        {"int", {DOUBLE(-0.0)}, INT(0)},
        {"int", {DOUBLE(36028797018963968.0)}, INT(36028797018963968)},
        {"int", {DOUBLE(0x1.fffffffffffffp62)}, INT(INT64_C(9223372036854774784))},
        {"int", {DOUBLE(-0x1.fffffffffffffp62)}, INT(INT64_C(-9223372036854774784))},
        {"int", {DOUBLE(0x1p63)}, OVERFLOW},
        {"int", {DOUBLE(-0x1p63)}, OVERFLOW},
        {"int", {DOUBLE(1e99)}, OVERFLOW},
        {"int", {DOUBLE(0.0 / 0.0)}, OVERFLOW},
        {"int", {DOUBLE(1 / 0.0)}, OVERFLOW},
        {"int", {DOUBLE(-1 / 0.0)}, OVERFLOW},
        {"int", {TEXT("987")}, INT(987)},
        {"int", {TEXT("-987")}, INT(-987)},
        {"int", {TEXT("+987")}, INT(987)},
        {"int", {TEXT("0007")}, INT(7)},
        {"int", {TEXT("-0")}, INT(0)},
        {"int", {TEXT("9223372036854775807")}, INT(INT64_MAX)},
        {"int", {TEXT("9223372036854775808")}, OVERFLOW},
        {"int", {TEXT("-9223372036854775808")}, INT(INT64_MIN)},
        {"int", {TEXT("-9223372036854775809")}, OVERFLOW},
        {"int", {TEXT("99999999999999999999999999")}, OVERFLOW},
        {"int", {TEXT("99999999999999999999999999x")}, BAD_VALUE},
        {"int", {TEXT("")}, BAD_VALUE},
        {"int", {TEXT("-")}, BAD_VALUE},
        {"int", {TEXT("+-1")}, BAD_VALUE},
        {"int", {TEXT(" 1")}, BAD_VALUE},
        {"int", {TEXT("1\0")}, BAD_VALUE},
        {"int", {TEXT("1_000")}, BAD_VALUE},
        {"int", {TEXT("0x10")}, BAD_VALUE},
        {"int", {TEXT("1.0")}, BAD_VALUE},
        {"int", {TEXT("\xd9\xa1")}, BAD_VALUE}, /* an Arabic 1 */
        {"int", {STAMP(1095379199, 999999999)}, INT(1095379199)},
        {"int", {STAMP(-1, 500000000)}, INT(-1)},
        {"int", {SPAN(1)}, NO_OVERLOAD},
        {"int", {BOOL(true)}, NO_OVERLOAD},
        {"int", {NIL}, NO_OVERLOAD},
        {"int", {BYTES("1")}, NO_OVERLOAD},
        {"uint", {UINT(UINT64_MAX)}, UINT(UINT64_MAX)},
        {"uint", {INT(1729)}, UINT(1729)},
        {"uint", {INT(INT64_MAX)}, UINT(INT64_MAX)},
        {"uint", {INT(-1)}, OVERFLOW},
        {"uint", {INT(INT64_MIN)}, OVERFLOW},
        {"uint", {DOUBLE(25.5)}, UINT(25)},
        {"uint", {DOUBLE(-0.0)}, UINT(0)},
        {"uint", {DOUBLE(-0.5)}, OVERFLOW},
        {"uint", {DOUBLE(0x1p63)}, UINT(UINT64_C(1) << 63)},
        {"uint", {DOUBLE(0x1.fffffffffffffp63)}, UINT(UINT64_C(18446744073709549568))},
        {"uint", {DOUBLE(0x1p64)}, OVERFLOW},
        {"uint", {DOUBLE(6.022e23)}, OVERFLOW},
        {"uint", {DOUBLE(0.0 / 0.0)}, OVERFLOW},
        {"uint", {TEXT("300")}, UINT(300)},
        {"uint", {TEXT("18446744073709551615")}, UINT(UINT64_MAX)},
        {"uint", {TEXT("18446744073709551616")}, OVERFLOW},
        {"uint", {TEXT("-1")}, BAD_VALUE},
        {"uint", {TEXT("+1")}, BAD_VALUE},
        {"uint", {TEXT("1u")}, BAD_VALUE},
        {"uint", {TEXT("")}, BAD_VALUE},
        {"uint", {STAMP(1, 0)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void convert_double(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"double", {DOUBLE(5.5)}, DOUBLE(5.5)},
        {"double", {INT(-1000000000000000)}, DOUBLE(-1e15)},
        {"double", {INT(INT64_MAX)}, DOUBLE(0x1p63)},
        {"double", {UINT(UINT64_MAX)}, DOUBLE(0x1p64)},
        {"double", {INT(9007199254740993)}, DOUBLE(9007199254740992.0)}, /* ties to even */
        {"double", {TEXT("0")}, DOUBLE(0.0)},
        {"double", {TEXT("-0.0")}, DOUBLE(-0.0)},
        {"double", {TEXT("123.456")}, DOUBLE(123.456)},
        {"double", {TEXT("6.02214e23")}, DOUBLE(6.02214e23)},
        {"double", {TEXT("-5.43e-21")}, DOUBLE(-5.43e-21)},
        {"double", {TEXT("1e308")}, DOUBLE(1e308)},
        {"double", {TEXT("1e309")}, OVERFLOW},
        {"double", {TEXT("-1e309")}, OVERFLOW},
        {"double", {TEXT("1e-400")}, DOUBLE(0.0)},
        {"double", {TEXT("NaN")}, DOUBLE(0.0 / 0.0)},
        {"double", {TEXT("Infinity")}, DOUBLE(1 / 0.0)},
        {"double", {TEXT("-Infinity")}, DOUBLE(-1 / 0.0)},
        {"double", {TEXT("+Inf")}, DOUBLE(1 / 0.0)},
        {"double", {TEXT("")}, BAD_VALUE},
        {"double", {TEXT("1.2.3")}, BAD_VALUE},
        {"double", {TEXT(" 1")}, BAD_VALUE},
        {"double", {TEXT("1\0")}, BAD_VALUE},
        {"double", {TEXT("infinite")}, BAD_VALUE},
        {"double", {BOOL(true)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void convert_text(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"string", {TEXT("hello")}, TEXT("hello")},
        {"string", {BOOL(true)}, TEXT("true")},
        {"string", {BOOL(false)}, TEXT("false")},
        {"string", {INT(0)}, TEXT("0")},
        {"string", {INT(123)}, TEXT("123")},
        {"string", {INT(-456)}, TEXT("-456")},
        {"string", {INT(INT64_MIN)}, TEXT("-9223372036854775808")},
        {"string", {INT(INT64_MAX)}, TEXT("9223372036854775807")},
        {"string", {UINT(9876)}, TEXT("9876")},
        {"string", {UINT(UINT64_MAX)}, TEXT("18446744073709551615")},
        {"string", {DOUBLE(123.456)}, TEXT("123.456")},
        {"string", {DOUBLE(-4.5e-3)}, TEXT("-0.0045")},
        {"string", {DOUBLE(1)}, TEXT("1")},
        {"string", {DOUBLE(1e21)}, TEXT("1e+21")},
        {"string", {DOUBLE(-0.0)}, TEXT("-0")},
        {"string", {DOUBLE(0.0 / 0.0)}, TEXT("NaN")},
        {"string", {DOUBLE(1 / 0.0)}, TEXT("+Inf")},
        {"string", {BYTES("abc")}, TEXT("abc")},
        {"string", {BYTES("\303\277")}, TEXT("\303\277")},
        {"string", {BYTES("")}, TEXT("")},
        {"string", {BYTES("\000\xff")}, BAD_VALUE},
        {"string", {BYTES("\xed\xa0\x80")}, BAD_VALUE}, /* a surrogate */
        {"string", {STAMP(1234567890, 0)}, TEXT("2009-02-13T23:31:30Z")},
        {"string", {STAMP(253402300799, 999999999)}, TEXT("9999-12-31T23:59:59.999999999Z")},
        {"string", {SPAN(INT64_C(1000000000000000))}, TEXT("1000000s")},
        {"string", {SPAN(INT64_MIN)}, TEXT("-9223372036.854775808s")},
        {"string", {TYPE(IL_CEL_INT)}, TEXT("int")},
        {"string", {NIL}, NO_OVERLOAD},
        {"string", {EMPTY}, NO_OVERLOAD},
        {"string", {NONE}, NO_OVERLOAD},
        {"bytes", {TEXT("\xc3\xbf")}, BYTES("\xc3\xbf")},
        {"bytes", {TEXT("")}, BYTES("")},
        {"bytes", {BYTES("\xff\0")}, BYTES("\xff\0")},
        {"bytes", {INT(1)}, NO_OVERLOAD},
        {"bool", {BOOL(true)}, BOOL(true)},
        {"bool", {TEXT("1")}, BOOL(true)},
        {"bool", {TEXT("t")}, BOOL(true)},
        {"bool", {TEXT("true")}, BOOL(true)},
        {"bool", {TEXT("TRUE")}, BOOL(true)},
        {"bool", {TEXT("True")}, BOOL(true)},
        {"bool", {TEXT("0")}, BOOL(false)},
        {"bool", {TEXT("f")}, BOOL(false)},
        {"bool", {TEXT("false")}, BOOL(false)},
        {"bool", {TEXT("FALSE")}, BOOL(false)},
        {"bool", {TEXT("False")}, BOOL(false)},
        {"bool", {TEXT("TrUe")}, BAD_VALUE},
        {"bool", {TEXT("FaLsE")}, BAD_VALUE},
        {"bool", {TEXT("T")}, BAD_VALUE},
        {"bool", {TEXT("")}, BAD_VALUE},
        {"bool", {TEXT("true\0")}, BAD_VALUE},
        {"bool", {INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void convert_types(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"type", {BOOL(true)}, TYPE(IL_CEL_BOOL)},
        {"type", {NIL}, TYPE(IL_CEL_NULL)},
        {"type", {EMPTY}, TYPE(IL_CEL_LIST)},
        {"type", {MAP(INT(1), INT(2))}, TYPE(IL_CEL_MAP)},
        {"type", {STAMP(0, 0)}, TYPE(IL_CEL_TIMESTAMP)},
        {"type", {SPAN(0)}, TYPE(IL_CEL_DURATION)},
        {"type", {NONE}, TYPE(IL_CEL_OPTIONAL)},
        {"type", {TYPE(IL_CEL_INT)}, TYPE(IL_CEL_TYPE)},
        {"dyn", {INT(1)}, INT(1)},
        {"dyn", {LIST(INT(1), TEXT("one"))}, LIST(INT(1), TEXT("one"))},
    };
    FN_ROWS(rows);
}

static void convert_times(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"timestamp", {STAMP(5, 6)}, STAMP(5, 6)},
        {"timestamp", {INT(0)}, STAMP(0, 0)},
        {"timestamp", {INT(1)}, STAMP(1, 0)},
        {"timestamp", {INT(-62135596800)}, STAMP(-62135596800, 0)},
        {"timestamp", {INT(-62135596801)}, OVERFLOW},
        {"timestamp", {INT(253402300799)}, STAMP(253402300799, 0)},
        {"timestamp", {INT(253402300800)}, OVERFLOW},
        {"timestamp", {INT(INT64_MIN)}, OVERFLOW},
        {"timestamp", {TEXT("2009-02-13T23:31:30Z")}, STAMP(1234567890, 0)},
        {"timestamp", {TEXT("2023-02-03T23:31:20+00:00")}, STAMP(1675467080, 0)},
        {"timestamp", {TEXT("2009-02-13T23:31:20.123456789Z")}, STAMP(1234567880, 123456789)},
        {"timestamp", {TEXT("0000-01-01T00:00:00Z")}, BAD_VALUE},
        {"timestamp", {TEXT("10000-01-01T00:00:00Z")}, BAD_VALUE},
        {"timestamp", {TEXT("2023-02-29T00:00:00Z")}, BAD_VALUE},
        {"timestamp", {TEXT("2009-02-13")}, BAD_VALUE},
        {"timestamp", {TEXT("")}, BAD_VALUE},
        {"timestamp", {UINT(1)}, NO_OVERLOAD},
        {"timestamp", {DOUBLE(1)}, NO_OVERLOAD},
        {"duration", {SPAN(7)}, SPAN(7)},
        {"duration", {TEXT("100s")}, SPAN(INT64_C(100000000000))},
        {"duration", {TEXT("1h45m47s")}, SPAN(INT64_C(6347000000000))},
        {"duration", {TEXT("-1.5h")}, SPAN(INT64_C(-5400000000000))},
        {"duration", {TEXT("-320000000000s")}, BAD_VALUE},
        {"duration", {TEXT("320000000000s")}, BAD_VALUE},
        {"duration", {TEXT("1")}, BAD_VALUE},
        {"duration", {TEXT("")}, BAD_VALUE},
        {"duration", {INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convert_int),   cmocka_unit_test(convert_double), cmocka_unit_test(convert_text),
        cmocka_unit_test(convert_types), cmocka_unit_test(convert_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
