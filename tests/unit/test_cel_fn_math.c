/* SPDX-License-Identifier: Apache-2.0 */
/* The math extension, base64 and optionals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel_fn.h"

#define NAN_ DOUBLE(0.0 / 0.0)
#define INF_ DOUBLE(1 / 0.0)

static void math_extremes(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"math.greatest", {INT(-5)}, INT(-5)},
        {"math.greatest", {INT(1), INT(1)}, INT(1)},
        {"math.greatest", {INT(1), DOUBLE(1)}, INT(1)}, /* the first of equals */
        {"math.greatest", {UINT(1), INT(1), DOUBLE(1)}, UINT(1)},
        {"math.greatest", {INT(3), INT(-3)}, INT(3)},
        {"math.greatest", {INT(INT64_MIN), INT(1)}, INT(1)},
        {"math.greatest", {INT(INT64_MAX), UINT(UINT64_MAX)}, UINT(UINT64_MAX)},
        {"math.greatest", {INT(-3), UINT(3)}, UINT(3)},
        {"math.greatest", {DOUBLE(5.4), INT(10), UINT(3), DOUBLE(-5.0), INT(INT64_MAX)}, INT(INT64_MAX)},
        {"math.greatest", {LIST(DOUBLE(5.4), INT(10), UINT(3), DOUBLE(-5.0))}, INT(10)},
        {"math.greatest", {INF_, INT(INT64_MAX)}, INF_},
        {"math.greatest", {NAN_}, NAN_},
        {"math.greatest", {NAN_, INT(1)}, BAD_VALUE},
        {"math.greatest", {INT(1), NAN_}, BAD_VALUE},
        {"math.greatest", {EMPTY}, BAD_VALUE},
        {"math.greatest", {TEXT("1")}, NO_OVERLOAD},
        {"math.greatest", {INT(1), TEXT("1")}, NO_OVERLOAD},
        {"math.greatest", {LIST(INT(1), NIL)}, NO_OVERLOAD},
        {"math.greatest", {LIST(LIST(INT(1)))}, NO_OVERLOAD},
        {"math.greatest", {LIST(INT(1)), INT(2)}, NO_OVERLOAD},
        {"math.least", {INT(5)}, INT(5)},
        {"math.least", {INT(1), DOUBLE(1)}, INT(1)},
        {"math.least", {INT(5), INT(-7)}, INT(-7)},
        {"math.least", {INT(INT64_MIN), INT(1)}, INT(INT64_MIN)},
        {"math.least", {DOUBLE(-1.797693e308), INT(-1), INT(-5)}, DOUBLE(-1.797693e308)},
        {"math.least", {DOUBLE(5.4), INT(10), UINT(3), DOUBLE(-5.0), INT(7)}, DOUBLE(-5.0)},
        {"math.least", {LIST(UINT(3), UINT(2))}, UINT(2)},
        {"math.least", {LIST(NAN_, INT(1))}, BAD_VALUE},
    };
    FN_ROWS(rows);
}

static void math_whole(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"math.ceil", {DOUBLE(-1.2)}, DOUBLE(-1)},
        {"math.ceil", {DOUBLE(1.2)}, DOUBLE(2)},
        {"math.ceil", {DOUBLE(-0.2)}, DOUBLE(-0.0)},
        {"math.ceil", {INT(1)}, NO_OVERLOAD},
        {"math.floor", {DOUBLE(-1.2)}, DOUBLE(-2)},
        {"math.floor", {DOUBLE(1.2)}, DOUBLE(1)},
        {"math.floor", {INT(1)}, NO_OVERLOAD},
        {"math.round", {DOUBLE(-1.6)}, DOUBLE(-2)},
        {"math.round", {DOUBLE(-1.4)}, DOUBLE(-1)},
        {"math.round", {DOUBLE(-1.5)}, DOUBLE(-2)},
        {"math.round", {DOUBLE(1.5)}, DOUBLE(2)},
        {"math.round", {DOUBLE(0.49999999999999994)}, DOUBLE(0)},
        {"math.round", {DOUBLE(0x1p52 + 1)}, DOUBLE(0x1p52 + 1)},
        {"math.round", {NAN_}, NAN_},
        {"math.round", {INT(1)}, NO_OVERLOAD},
        {"math.trunc", {DOUBLE(-1.2)}, DOUBLE(-1)},
        {"math.trunc", {INF_}, INF_},
        {"math.trunc", {UINT(1)}, NO_OVERLOAD},
        {"math.abs", {UINT(1)}, UINT(1)},
        {"math.abs", {INT(-11)}, INT(11)},
        {"math.abs", {INT(INT64_MIN)}, OVERFLOW},
        {"math.abs", {INT(-INT64_MAX)}, INT(INT64_MAX)},
        {"math.abs", {DOUBLE(-11.5)}, DOUBLE(11.5)},
        {"math.abs", {DOUBLE(-0.0)}, DOUBLE(0.0)},
        {"math.abs", {NAN_}, NAN_},
        {"math.abs", {TEXT("")}, NO_OVERLOAD},
        {"math.sign", {UINT(100)}, UINT(1)},
        {"math.sign", {UINT(0)}, UINT(0)},
        {"math.sign", {INT(-11)}, INT(-1)},
        {"math.sign", {INT(INT64_MIN)}, INT(-1)},
        {"math.sign", {DOUBLE(100.5)}, DOUBLE(1)},
        {"math.sign", {DOUBLE(-32)}, DOUBLE(-1)},
        {"math.sign", {DOUBLE(-0.0)}, DOUBLE(0)},
        {"math.sign", {NAN_}, NAN_},
        {"math.sign", {BOOL(true)}, NO_OVERLOAD},
        {"math.isNaN", {NAN_}, BOOL(true)},
        {"math.isNaN", {INF_}, BOOL(false)},
        {"math.isNaN", {BOOL(true)}, NO_OVERLOAD},
        {"math.isInf", {INF_}, BOOL(true)},
        {"math.isInf", {NAN_}, BOOL(false)},
        {"math.isInf", {INT(1)}, NO_OVERLOAD},
        {"math.isFinite", {DOUBLE(1 / 1.5)}, BOOL(true)},
        {"math.isFinite", {NAN_}, BOOL(false)},
        {"math.isFinite", {DOUBLE(-1 / 0.0)}, BOOL(false)},
        {"math.isFinite", {NIL}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void math_bits(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"math.bitAnd", {INT(1), INT(3)}, INT(1)},
        {"math.bitAnd", {INT(1), INT(-1)}, INT(1)},
        {"math.bitAnd", {UINT(1), UINT(2)}, UINT(0)},
        {"math.bitAnd", {UINT(2), TEXT("")}, NO_OVERLOAD},
        {"math.bitAnd", {UINT(2), INT(2)}, NO_OVERLOAD},
        {"math.bitOr", {INT(4), INT(-2)}, INT(-2)},
        {"math.bitOr", {UINT(1), UINT(4)}, UINT(5)},
        {"math.bitOr", {DOUBLE(1.2), INT(1)}, NO_OVERLOAD},
        {"math.bitXor", {INT(4), INT(-2)}, INT(-6)},
        {"math.bitXor", {UINT(1), UINT(3)}, UINT(2)},
        {"math.bitXor", {EMPTY, LIST(INT(1))}, NO_OVERLOAD},
        {"math.bitNot", {INT(1)}, INT(-2)},
        {"math.bitNot", {INT(INT64_MIN)}, INT(INT64_MAX)},
        {"math.bitNot", {UINT(1)}, UINT(18446744073709551614u)},
        {"math.bitNot", {TEXT("")}, NO_OVERLOAD},
        {"math.bitShiftLeft", {INT(1), INT(2)}, INT(4)},
        {"math.bitShiftLeft", {INT(1), INT(63)}, INT(INT64_MIN)},
        {"math.bitShiftLeft", {INT(1), INT(64)}, INT(0)},
        {"math.bitShiftLeft", {INT(-1), INT(200)}, INT(0)},
        {"math.bitShiftLeft", {INT(-1), INT(2)}, INT(-4)},
        {"math.bitShiftLeft", {UINT(1), INT(200)}, UINT(0)},
        {"math.bitShiftLeft", {UINT(1), INT(-1)}, BAD_VALUE},
        {"math.bitShiftLeft", {UINT(1), INT(INT64_MIN)}, BAD_VALUE},
        {"math.bitShiftLeft", {INT(1), UINT(1)}, NO_OVERLOAD},
        {"math.bitShiftLeft", {DOUBLE(4.3), INT(1)}, NO_OVERLOAD},
        {"math.bitShiftRight", {INT(1024), INT(2)}, INT(256)},
        {"math.bitShiftRight", {INT(-1024), INT(3)}, INT(2305843009213693824)},
        {"math.bitShiftRight", {INT(-1024), INT(64)}, INT(0)},
        {"math.bitShiftRight", {UINT(1024), INT(0)}, UINT(1024)},
        {"math.bitShiftRight", {UINT(1), INT(-1)}, BAD_VALUE},
        {"math.bitShiftRight", {BYTES("123"), INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void base64(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"base64.encode", {BYTES("hello")}, TEXT("aGVsbG8=")},
        {"base64.encode", {BYTES("")}, TEXT("")},
        {"base64.encode", {BYTES("f")}, TEXT("Zg==")},
        {"base64.encode", {BYTES("foobar")}, TEXT("Zm9vYmFy")},
        {"base64.encode", {BYTES("\xff\xfe\xfb\0")}, TEXT("//77AA==")},
        {"base64.encode", {TEXT("hello")}, NO_OVERLOAD},
        {"base64.decode", {TEXT("aGVsbG8=")}, BYTES("hello")},
        {"base64.decode", {TEXT("aGVsbG8")}, BYTES("hello")},
        {"base64.decode", {TEXT("")}, BYTES("")},
        {"base64.decode", {TEXT("Zg==")}, BYTES("f")},
        {"base64.decode", {TEXT("Zg")}, BYTES("f")},
        {"base64.decode", {TEXT("//77AA==")}, BYTES("\xff\xfe\xfb\0")},
        {"base64.decode", {TEXT("aGVs\r\nbG8=\n")}, BYTES("hello")},
        {"base64.decode", {TEXT("aGVsbG9=")}, BYTES("hello")}, /* unused bits */
        {"base64.decode", {TEXT("Zg=")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zg===")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zm9v=")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zm9v====")}, BAD_VALUE},
        {"base64.decode", {TEXT("=")}, BAD_VALUE},
        {"base64.decode", {TEXT("====")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zg==Zg==")}, BAD_VALUE},
        {"base64.decode", {TEXT("Z")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zm9vZ")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zm 9v")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zm-_")}, BAD_VALUE}, /* the alphabet for URLs */
        {"base64.decode", {TEXT("Zm9\0")}, BAD_VALUE},
        {"base64.decode", {TEXT("Zm9\xc3\xa9")}, BAD_VALUE},
        {"base64.decode", {BYTES("Zg==")}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void optionals(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"optional.of", {INT(1)}, SOME(INT(1))},
        {"optional.of", {NIL}, SOME(NIL)},
        {"optional.of", {NONE}, SOME(NONE)},
        {"optional.ofNonZeroValue", {NIL}, NONE},
        {"optional.ofNonZeroValue", {BOOL(false)}, NONE},
        {"optional.ofNonZeroValue", {BOOL(true)}, SOME(BOOL(true))},
        {"optional.ofNonZeroValue", {INT(0)}, NONE},
        {"optional.ofNonZeroValue", {INT(42)}, SOME(INT(42))},
        {"optional.ofNonZeroValue", {UINT(0)}, NONE},
        {"optional.ofNonZeroValue", {DOUBLE(-0.0)}, NONE},
        {"optional.ofNonZeroValue", {NAN_}, SOME(NAN_)},
        {"optional.ofNonZeroValue", {TEXT("")}, NONE},
        {"optional.ofNonZeroValue", {TEXT("\0")}, SOME(TEXT("\0"))},
        {"optional.ofNonZeroValue", {BYTES("")}, NONE},
        {"optional.ofNonZeroValue", {EMPTY}, NONE},
        {"optional.ofNonZeroValue", {LIST(NIL)}, SOME(LIST(NIL))},
        {"optional.ofNonZeroValue", {{.kind = IL_CEL_MAP}}, NONE},
        {"optional.ofNonZeroValue", {STAMP(0, 0)}, NONE},
        {"optional.ofNonZeroValue", {STAMP(0, 1)}, SOME(STAMP(0, 1))},
        {"optional.ofNonZeroValue", {SPAN(0)}, NONE},
        {"optional.ofNonZeroValue", {TYPE(IL_CEL_INT)}, SOME(TYPE(IL_CEL_INT))},
        {".hasValue", {NONE}, BOOL(false)},
        {".hasValue", {SOME(NIL)}, BOOL(true)},
        {".hasValue", {NIL}, NO_OVERLOAD},
        {".value", {SOME(INT(1))}, INT(1)},
        {".value", {NONE}, BAD_VALUE},
        {".value", {INT(1)}, NO_OVERLOAD},
        {".or", {SOME(INT(1)), SOME(INT(2))}, SOME(INT(1))},
        {".or", {NONE, SOME(INT(2))}, SOME(INT(2))},
        {".or", {NONE, NONE}, NONE},
        {".or", {SOME(INT(1)), INT(2)}, NO_OVERLOAD},
        {".or", {INT(1), NONE}, NO_OVERLOAD},
        {".orValue", {SOME(INT(1)), INT(2)}, INT(1)},
        {".orValue", {NONE, INT(42)}, INT(42)},
        {".orValue", {NONE, NONE}, NONE},
        {".orValue", {INT(1), INT(2)}, NO_OVERLOAD},
        {"optional.unwrap", {LIST(SOME(INT(1)), NONE, SOME(NIL))}, LIST(INT(1), NIL)},
        {".unwrapOpt", {LIST(NONE, NONE)}, EMPTY},
        {"optional.unwrap", {EMPTY}, EMPTY},
        {"optional.unwrap", {LIST(SOME(INT(1)), INT(1))}, NO_OVERLOAD},
        {"optional.unwrap", {SOME(INT(1))}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
    fn_run r;
    fn_run_init(&r, 0, 0);
    const il_cel_value none = fn_call(&r, "optional.none", NULL, 0);
    assert_int_equal(none.kind, IL_CEL_OPTIONAL);
    assert_null(none.u.items);
    fn_run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(math_extremes), cmocka_unit_test(math_whole), cmocka_unit_test(math_bits),
        cmocka_unit_test(base64),        cmocka_unit_test(optionals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
