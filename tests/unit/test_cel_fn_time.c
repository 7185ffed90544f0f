/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of timestamps and durations, in zones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel_fn.h"

/* 2009-02-13T23:31:30Z, and 2009-02-13T02:00:00Z, as in the tests of cel-spec. */
#define THEN STAMP(1234567890, 0)
#define EARLY STAMP(1234490400, 0)

static void time_in_utc(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".getDate", {THEN}, INT(13)},
        {".getDayOfMonth", {THEN}, INT(12)},
        {".getDayOfWeek", {THEN}, INT(5)},
        {".getDayOfYear", {THEN}, INT(43)},
        {".getFullYear", {THEN}, INT(2009)},
        {".getHours", {THEN}, INT(23)},
        {".getMinutes", {THEN}, INT(31)},
        {".getMonth", {THEN}, INT(1)},
        {".getSeconds", {THEN}, INT(30)},
        {".getMilliseconds", {STAMP(1234567880, 123456789)}, INT(123)},
        {".getFullYear", {STAMP(-62135596800, 0)}, INT(1)},
        {".getFullYear", {STAMP(253402300799, 999999999)}, INT(9999)},
        {".getMilliseconds", {STAMP(253402300799, 999999999)}, INT(999)},
        {".getSeconds", {STAMP(-1, 999999999)}, INT(59)},
        {".getDayOfWeek", {STAMP(0, 0)}, INT(4)},
        {".getDayOfWeek", {STAMP(-345600, 0)}, INT(0)}, /* a Sunday in 1969 */
        {".getDate", {SPAN(0)}, NO_OVERLOAD},
        {".getMonth", {SPAN(0)}, NO_OVERLOAD},
        {".getFullYear", {SPAN(0)}, NO_OVERLOAD},
        {".getFullYear", {TEXT("2009-02-13T23:31:30Z")}, NO_OVERLOAD},
        {".getHours", {INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void time_at_an_offset(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".getDayOfMonth", {THEN, TEXT("+11:00")}, INT(13)},
        {".getDayOfMonth", {EARLY, TEXT("-02:30")}, INT(11)},
        {".getDayOfWeek", {THEN, TEXT("UTC")}, INT(5)},
        {".getFullYear", {THEN, TEXT("-09:30")}, INT(2009)},
        {".getHours", {THEN, TEXT("02:00")}, INT(1)},
        {".getMonth", {THEN, TEXT("UTC")}, INT(1)},
        {".getSeconds", {THEN, TEXT("-00:00")}, INT(30)},
        {".getMinutes", {THEN, TEXT("-09:30")}, INT(1)},
        {".getMilliseconds", {STAMP(0, 5000000), TEXT("+05:45")}, INT(5)},
        {".getFullYear", {STAMP(253402300799, 0), TEXT("+01:00")}, INT(10000)},
        {".getFullYear", {STAMP(-62135596800, 0), TEXT("-01:00")}, INT(0)},
        {".getHours", {THEN, TEXT("")}, BAD_VALUE},
        {".getHours", {THEN, TEXT("25:00")}, BAD_VALUE},
        {".getHours", {THEN, TEXT("99999999:00")}, BAD_VALUE},
        {".getHours", {THEN, TEXT("Europe/Vienna")}, BAD_VALUE}, /* there is no host here */
        {".getHours", {THEN, INT(1)}, NO_OVERLOAD},
        {".getHours", {SPAN(1), TEXT("UTC")}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

/* The host's zones: `Far/East` is two hours east, an hour more from 2009 on. */
static bool time_zone(void *ctx, il_str zone, int64_t seconds, int32_t *east) {
    ++*(int *)ctx;
    *east = seconds >= 1230768000 ? 10800 : 7200;
    if (il_str_eq(zone, IL_STR("Far/Away"))) {
        *east = 1 << 30;
    }
    return il_str_starts(zone, IL_STR("Far/"));
}

static void time_in_a_zone_of_the_host(void **state) {
    (void)state;
    int asked = 0;
    const il_cel_env env = {.size = sizeof env, .zone = time_zone, .zone_ctx = &asked};
    const il_cel_program program = {.env = &env};
    fn_run r;
    fn_run_init(&r, 1000, SIZE_MAX);
    r.run.program = &program;
    const il_cel_value east[] = {THEN, TEXT("Far/East")}, before[] = {STAMP(0, 0), TEXT("Far/East")},
                       none[] = {THEN, TEXT("Mars")}, away[] = {THEN, TEXT("Far/Away")}, utc[] = {THEN, TEXT("UTC")};
    assert_int_equal(fn_call(&r, ".getHours", east, 2).u.i, 2);
    assert_int_equal(fn_call(&r, ".getDate", east, 2).u.i, 14);
    assert_int_equal(fn_call(&r, ".getHours", before, 2).u.i, 2);
    assert_int_equal(asked, 3);
    assert_int_equal(fn_call(&r, ".getHours", none, 2).fault, IL_CEL_BAD_VALUE);
    assert_int_equal(fn_call(&r, ".getHours", away, 2).fault, IL_CEL_BAD_VALUE);
    assert_int_equal(fn_call(&r, ".getHours", utc, 2).u.i, 23);
    assert_int_equal(asked, 5);
    r.run.steps = 7; /* a look-up is charged before */
    assert_int_equal(fn_call(&r, ".getHours", east, 2).fault, IL_CEL_BUDGET);
    assert_int_equal(asked, 5);
    fn_run_free(&r);
}

static void time_of_durations(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".getHours", {SPAN(INT64_C(10000000000000))}, INT(2)},
        {".getMinutes", {SPAN(INT64_C(3730000000000))}, INT(62)},
        {".getSeconds", {SPAN(INT64_C(3730000000000))}, INT(3730)},
        {".getMilliseconds", {SPAN(INT64_C(123321456789))}, INT(321)},
        {".getMilliseconds", {SPAN(INT64_C(1234000000))}, INT(234)},
        {".getMilliseconds", {SPAN(-INT64_C(1234000000))}, INT(-234)},
        {".getSeconds", {SPAN(-INT64_C(1999999999))}, INT(-1)},
        {".getHours", {SPAN(INT64_MIN)}, INT(-2562047)},
        {".getHours", {SPAN(0)}, INT(0)},
    };
    FN_ROWS(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_in_utc),
        cmocka_unit_test(time_at_an_offset),
        cmocka_unit_test(time_in_a_zone_of_the_host),
        cmocka_unit_test(time_of_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
