/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar against glibc's, every day from year 1 to 9999; texts against tables and round trips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/time.h"
#include "helper_json.h"

static size_t rounds(size_t some) { return getenv("IL_TEST_THOROUGH") != NULL ? some * 10 : some; }

static bool civil_is(const il_civil *c, const struct tm *t) {
    return c->year == t->tm_year + 1900 && c->month == t->tm_mon + 1 && c->day == t->tm_mday && c->hour == t->tm_hour &&
           c->minute == t->tm_min && c->second == t->tm_sec && c->weekday == t->tm_wday && c->yearday == t->tm_yday;
}

/* Whether a moment's calendar fields are those that glibc gives. */
static bool agrees(il_time t, int32_t offset) {
    il_civil c;
    struct tm tm;
    const time_t local = t.seconds + offset;
    return il_time_civil(t, offset, &c) && gmtime_r(&local, &tm) != NULL && civil_is(&c, &tm);
}

static void calendar_every_day(void **state) {
    (void)state;
    test_random r = {test_random_seed("time")};
    size_t days = 0;
    for (int64_t s = IL_TIME_SECONDS_MIN; s <= IL_TIME_SECONDS_MAX; s += 86400, days++) {
        const il_time t = {s + test_random_below(&r, 86400), 0};
        il_civil c;
        int64_t back;
        if (!agrees(t, 0) || !il_time_civil(t, 0, &c) || !il_civil_seconds(&c, &back) || back != t.seconds) {
            fail_msg("%lld", (long long)t.seconds);
        }
    }
    assert_int_equal(days, 3652059); /* as Python's date.max.toordinal() counts them */
    static const il_time ends[] = {{IL_TIME_SECONDS_MIN, 0}, {IL_TIME_SECONDS_MAX, 999999999}};
    for (size_t i = 0; i < 2; i++) {
        for (int32_t offset = -172799; offset < 172800; offset += 997) { /* into year 0, and 10000 */
            assert_true(agrees(ends[i], offset));
        }
    }
    assert_false(agrees((il_time){IL_TIME_SECONDS_MIN - 1, 0}, 0));
    assert_false(agrees((il_time){IL_TIME_SECONDS_MAX + 1, 0}, 0));
    assert_false(agrees((il_time){0, -1}, 0));
    assert_false(agrees((il_time){0, 1000000000}, 0));
    assert_false(agrees((il_time){0, 0}, 172800));
    assert_false(agrees((il_time){0, 0}, -172800));
    assert_false(agrees((il_time){0, 0}, INT32_MIN));
    /* the judge sees a day too many */
    il_civil c;
    struct tm tm = {.tm_year = 70, .tm_mday = 2, .tm_wday = 5, .tm_yday = 1};
    assert_true(il_time_civil((il_time){0}, 0, &c));
    assert_false(civil_is(&c, &tm));
}

/* Every date and time of day that no calendar has: glibc's timegm carries such fields on, and gives others back. */
static void calendar_refuses(void **state) {
    (void)state;
    static const int32_t years[] = {1, 4, 100, 400, 1582, 1900, 1972, 2000, 2023, 2024, 2100, 9999};
    for (size_t y = 0; y < sizeof years / sizeof *years; y++) {
        for (int month = 0; month <= 13; month++) {
            for (int day = 0; day <= 32; day++) {
                struct tm tm = {.tm_year = years[y] - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = 12};
                const time_t want = timegm(&tm);
                const bool is = tm.tm_year == years[y] - 1900 && tm.tm_mon == month - 1 && tm.tm_mday == day;
                const il_civil c = {.year = years[y], .month = (uint8_t)month, .day = (uint8_t)day, .hour = 12};
                int64_t got;
                assert_int_equal(il_civil_seconds(&c, &got), is);
                assert_true(!is || got == want);
            }
        }
    }
    static const il_civil edges[] = {
        {.year = 2000, .month = 1, .day = 1, .hour = 23, .minute = 59, .second = 59}, /* the only one that is */
        {.year = 2000, .month = 1, .day = 1, .hour = 24},
        {.year = 2000, .month = 1, .day = 1, .minute = 60},
        {.year = 2000, .month = 1, .day = 1, .second = 60},
        {.year = 0, .month = 1, .day = 1},
        {.year = 10000, .month = 1, .day = 1},
        {.year = -1, .month = 1, .day = 1},
        {.year = INT32_MAX, .month = 1, .day = 1},
        {.year = 2000, .month = 255, .day = 1},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        int64_t s;
        assert_int_equal(il_civil_seconds(&edges[i], &s), i == 0);
    }
}

static void time_parses(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } good[] = {{"2009-02-13T23:31:30Z", "2009-02-13T23:31:30Z"},
                {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
                {"2023-02-03T23:31:20+00:00", "2023-02-03T23:31:20Z"},
                {"2023-02-03T23:31:20-00:00", "2023-02-03T23:31:20Z"},
                {"2023-02-03T23:31:20+01:30", "2023-02-03T22:01:20Z"},
                {"2023-02-03T23:31:20-23:59", "2023-02-04T23:30:20Z"},
                {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
                {"2000-02-29T23:59:59.5Z", "2000-02-29T23:59:59.5Z"},
                {"2009-02-13T23:31:20.123456789Z", "2009-02-13T23:31:20.123456789Z"},
                {"2009-02-13T23:31:20.100000000Z", "2009-02-13T23:31:20.1Z"},
                {"2009-02-13T23:31:20.000000001Z", "2009-02-13T23:31:20.000000001Z"},
                {"2009-02-13T23:31:20.0Z", "2009-02-13T23:31:20Z"},
                {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
                {"0001-01-01T00:00:00-00:01", "0001-01-01T00:01:00Z"},
                {"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"},
                {"9999-12-31T23:59:59+23:59", "9999-12-31T00:00:59Z"}};
    static const char *const bad[] = {"",
                                      "2023",
                                      "2023-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2023-02-30T00:00:00Z",
                                      "2023-04-31T00:00:00Z",
                                      "2023-13-01T00:00:00Z",
                                      "2023-00-01T00:00:00Z",
                                      "2023-01-00T00:00:00Z",
                                      "2023-01-32T00:00:00Z",
                                      "2023-01-01T24:00:00Z",
                                      "2023-01-01T23:60:00Z",
                                      "2016-12-31T23:59:60Z",
                                      "0000-01-01T00:00:00Z",
                                      "10000-01-01T00:00:00Z",
                                      "0001-01-01T00:00:00+00:01",
                                      "9999-12-31T23:59:59-00:01",
                                      "2023-01-01t00:00:00Z",
                                      "2023-01-01T00:00:00z",
                                      "2023-01-01 00:00:00Z",
                                      "2023-01-01T00:00:00",
                                      "2023-01-01T00:00Z",
                                      "2023-01-01",
                                      "2023-1-01T00:00:00Z",
                                      "2023-01-1T00:00:00Z",
                                      "2023-01-01T0:00:00Z",
                                      "2023-01-01T00:0:00Z",
                                      "2023-01-01T00:00:0Z",
                                      "23-01-01T00:00:00Z",
                                      "+2023-01-01T00:00:00Z",
                                      "-2023-01-01T00:00:00Z",
                                      " 2023-01-01T00:00:00Z",
                                      "2023-01-01T00:00:00Z ",
                                      "2023-01-01T00:00:00ZZ",
                                      "2023-01-01T00:00:00.Z",
                                      "2023-01-01T00:00:00,5Z",
                                      "2023-01-01T00:00:00.1234567890Z",
                                      "2023-01-01T00:00:00.5",
                                      "2023-01-01T00:00:00+24:00",
                                      "2023-01-01T00:00:00+00:60",
                                      "2023-01-01T00:00:00+0000",
                                      "2023-01-01T00:00:00+00",
                                      "2023-01-01T00:00:00+1:00",
                                      "2023-01-01T00:00:00+00:00Z",
                                      "2023-01-01T00:00:00 +00:00",
                                      "2023/01/01T00:00:00Z",
                                      "20230101T000000Z",
                                      "2023-W01-1T00:00:00Z",
                                      "2023-001T00:00:00Z",
                                      "2023-01-01T00:00:00\xe2\x88\x92\x30\x31:00"};
    char out[IL_TIME_TEXT];
    il_time t;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!il_time_parse(il_str_of(good[i].text), &t)) {
            fail_msg("%s is refused", good[i].text);
        }
        const size_t n = il_time_text(t, out);
        const il_str got = {out, n};
        if (!il_str_eq(got, il_str_of(good[i].want))) {
            fail_msg("%s: got %.*s", good[i].text, (int)got.n, got.p);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (il_time_parse(il_str_of(bad[i]), &t)) {
            fail_msg("%s is accepted", bad[i]);
        }
    }
    assert_false(il_time_parse((il_str){"2009-02-13T23:31:30Z\0", 21}, &t));
    assert_false(il_time_parse((il_str){NULL, 0}, &t));
    assert_int_equal(il_time_text((il_time){IL_TIME_SECONDS_MAX + 1, 0}, out), 0);
    assert_true(il_time_parse(IL_STR("2009-02-13T23:31:30Z"), &t) && t.seconds == 1234567890 && t.nanos == 0);
    assert_true(il_time_parse(IL_STR("0001-01-01T00:00:00Z"), &t) && t.seconds == IL_TIME_SECONDS_MIN);
    assert_true(il_time_parse(IL_STR("1969-12-31T23:59:59.25Z"), &t) && t.seconds == -1 && t.nanos == 250000000);
}

static void time_round_trip(void **state) {
    (void)state;
    test_random r = {test_random_seed("time, texts")};
    for (size_t i = 0; i < rounds(50000); i++) {
        const uint64_t high = test_random_below(&r, 1u << 31), low = test_random_below(&r, 1u << 31);
        const uint64_t span = (uint64_t)(IL_TIME_SECONDS_MAX - IL_TIME_SECONDS_MIN) + 1;
        uint32_t unit = 1;
        for (uint32_t k = test_random_below(&r, 10); k > 0; k--) {
            unit *= 10;
        }
        const il_time t = {IL_TIME_SECONDS_MIN + (int64_t)((high << 31 | low) % span),
                           (int32_t)(test_random_below(&r, 1000000000) / unit * (uint64_t)unit)};
        char out[IL_TIME_TEXT], want[128], date[96];
        const size_t n = il_time_text(t, out);
        il_time back;
        assert_true(il_time_parse((il_str){out, n}, &back) && il_time_cmp(t, back) == 0);
        struct tm tm;
        const time_t seconds = t.seconds;
        assert_non_null(gmtime_r(&seconds, &tm));
        snprintf(date, sizeof date, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec);
        int len = snprintf(want, sizeof want, "%s.%09d", date, t.nanos);
        while (want[len - 1] == '0' && t.nanos != 0) {
            len--;
        }
        snprintf(want + (t.nanos == 0 ? (int)strlen(date) : len), 2, "Z");
        assert_true(il_str_eq((il_str){out, n}, il_str_of(want)));
    }
}

/* In 128 bits, which the test may use and the core may not. */
__extension__ typedef __int128 wide;
static wide wide_of(il_time t) { return (wide)t.seconds * IL_NANOS_PER_SECOND + t.nanos; }

static void time_arithmetic(void **state) {
    (void)state;
    test_random r = {test_random_seed("time, arithmetic")};
    const il_time first = {IL_TIME_SECONDS_MIN, 0}, last = {IL_TIME_SECONDS_MAX, 999999999};
    size_t outside = 0, inside = 0;
    for (size_t i = 0; i < rounds(50000); i++) {
        il_time t[2];
        for (size_t k = 0; k < 2; k++) {
            const int64_t near = (int64_t)test_random_below(&r, 3) - 1;
            t[k].seconds = test_random_below(&r, 4) == 0
                               ? (near < 0 ? IL_TIME_SECONDS_MIN : IL_TIME_SECONDS_MAX) + -near * test_random_below(&r, 5)
                           : test_random_below(&r, 2) == 0 ? (int64_t)test_random_below(&r, 1u << 31) - (1 << 30)
                                                           : (int64_t)test_random_below(&r, 1u << 31) * 146 - 62135596800 + 10;
            t[k].nanos = (int32_t)(test_random_below(&r, 3) == 0 ? near * 999999999 * near : test_random_below(&r, 1000000000));
            if (!il_time_valid(t[k])) {
                t[k] = last;
            }
        }
        int64_t nanos = 0;
        const wide difference = wide_of(t[0]) - wide_of(t[1]);
        const bool fits = difference <= INT64_MAX && difference >= INT64_MIN;
        assert_int_equal(il_time_sub(t[0], t[1], &nanos), fits);
        assert_true(nanos == (fits ? difference : 0));
        assert_true((il_time_cmp(t[0], t[1]) > 0) == (difference > 0) && (il_time_cmp(t[0], t[1]) < 0) == (difference < 0));
        const int64_t step = fits                            ? nanos
                             : test_random_below(&r, 2) == 0 ? INT64_MIN + (int64_t)test_random_below(&r, 3)
                                                             : INT64_MAX;
        il_time sum = {1, 1};
        const wide at = wide_of(t[0]) + step;
        const bool is = at >= wide_of(first) && at <= wide_of(last);
        assert_int_equal(il_time_add(t[0], step, &sum), is);
        assert_true(is ? wide_of(sum) == at && il_time_valid(sum) : sum.seconds == 0 && sum.nanos == 0);
        outside += !is;
        inside += is;
    }
    assert_true(outside > 1000 && inside > 1000);
    /* the ends of int64 */
    static const struct {
        il_time a, b;
        bool is;
        int64_t nanos;
    } edges[] = {{{9223372036, 854775807}, {0, 0}, true, INT64_MAX},
                 {{9223372036, 854775808}, {0, 0}, false, 0},
                 {{-9223372037, 145224192}, {0, 0}, true, INT64_MIN},
                 {{-9223372037, 145224191}, {0, 0}, false, 0},
                 {{0, 0}, {9223372036, 854775808}, true, INT64_MIN}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        int64_t nanos = 0;
        assert_int_equal(il_time_sub(edges[i].a, edges[i].b, &nanos), edges[i].is);
        assert_true(nanos == edges[i].nanos);
    }
    il_time sum;
    int64_t nanos;
    assert_false(il_time_add((il_time){0, -1}, 0, &sum));
    assert_false(il_time_sub((il_time){0, 0}, (il_time){INT64_MIN, 0}, &nanos));
}

static void duration_parses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+0", 0},
                {"0s", 0},
                {"1s", 1000000000},
                {"1h2m3.5s", 3723500000000},
                {"-1.5h", -5400000000000},
                {"+5s", 5000000000},
                {"1ms", 1000000},
                {"1us", 1000},
                {"1\xc2\xb5s", 1000},
                {"1\xce\xbcs", 1000},
                {"1ns", 1},
                {"-1ns", -1},
                {".5s", 500000000},
                {"5.s", 5000000000},
                {"1.0s", 1000000000},
                {"-1m30s", -90000000000},
                {"1s1s", 2000000000},
                {"3s2h", 7203000000000},
                {"1h45m47s", 6347000000000},
                {"1000000s", 1000000000000000},
                {"1.9ns", 1},
                {"-1.9ns", -1},
                {"0.0000000019s", 1},
                {"0.9999999999999999999999999s", 999999999},
                {"0.00000000027777777777777777778h", 1000},
                {"0.00000000027777777777777777777h", 999},
                {"0.333333333333333333333h", 1199999999999},
                {"9223372036854775807ns", INT64_MAX},
                {"-9223372036854775807ns", -INT64_MAX},
                {"-9223372036854775808ns", INT64_MIN},
                {"9223372036.854775807s", INT64_MAX},
                {"-9223372036.854775808s", INT64_MIN},
                {"9223372036s854775807ns", INT64_MAX},
                {"2562047h47m16.854775807s", INT64_MAX},
                {"000000000000000000000000000001s", 1000000000}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      "1",
                                      "-1",
                                      "00",
                                      "1.5",
                                      ".s",
                                      "s",
                                      "-s",
                                      "1s ",
                                      " 1s",
                                      "1 s",
                                      "--1s",
                                      "+-1s",
                                      "1s-1s",
                                      "1d",
                                      "1w",
                                      "1S",
                                      "1H",
                                      "1x",
                                      "1mx",
                                      "1hm",
                                      "1.2.3s",
                                      "1e3s",
                                      "1,5s",
                                      "1sec",
                                      "1\xc2s",
                                      "9223372036854775808ns",
                                      "-9223372036854775809ns",
                                      "9223372036.854775808s",
                                      "-9223372036.854775809s",
                                      "320000000000s",
                                      "-320000000000s",
                                      "18446744073709551616ns",
                                      "1000000000000000000000000s",
                                      "9223372036s854775808ns",
                                      "2562048h",
                                      "9223372036854775807ns1ns",
                                      "-9223372036854775808ns1ns",
                                      "-9223372036854775808ns9223372036854775808ns",
                                      "5124095.576h",
                                      "1s0",
                                      "0.s.",
                                      "nan",
                                      "inf",
                                      "PT1S"};
    int64_t nanos;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!il_duration_parse(il_str_of(good[i].text), &nanos) || nanos != good[i].want) {
            fail_msg("%s: got %lld", good[i].text, (long long)nanos);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (il_duration_parse(il_str_of(bad[i]), &nanos)) {
            fail_msg("%s is accepted", bad[i]);
        }
        assert_true(nanos == 0);
    }
    assert_false(il_duration_parse((il_str){"1s\0", 3}, &nanos));
    assert_false(il_duration_parse((il_str){NULL, 0}, &nanos));
}

static void duration_texts(void **state) {
    (void)state;
    static const struct {
        int64_t nanos;
        const char *want;
    } cases[] = {{0, "0s"},
                 {1, "0.000000001s"},
                 {-1, "-0.000000001s"},
                 {1500000000, "1.5s"},
                 {-1500000000, "-1.5s"},
                 {1000000000000000, "1000000s"},
                 {6347000000000, "6347s"},
                 {1234567890, "1.23456789s"},
                 {100, "0.0000001s"},
                 {INT64_MAX, "9223372036.854775807s"},
                 {INT64_MIN, "-9223372036.854775808s"}};
    char out[IL_DURATION_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = il_duration_text(cases[i].nanos, out);
        assert_true(il_str_eq((il_str){out, n}, il_str_of(cases[i].want)));
    }
    test_random r = {test_random_seed("duration")};
    for (size_t i = 0; i < rounds(50000); i++) {
        uint64_t bits = 0;
        for (int k = 0; k < 4; k++) {
            bits = bits << 16 | test_random_below(&r, 1u << 16);
        }
        const int64_t nanos = (int64_t)bits / (int64_t)(UINT64_C(1) << test_random_below(&r, 60));
        int64_t back;
        char text[128];
        const size_t len = il_duration_text(nanos, out);
        assert_true(il_duration_parse((il_str){out, len}, &back) && back == nanos);
        /* the same in several units */
        const uint64_t size = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos;
        const int n = snprintf(text, sizeof text, "%s%lluh%llum%llus%llums%lluus%lluns", nanos < 0 ? "-" : "",
                               (unsigned long long)(size / 3600000000000), (unsigned long long)(size / 60000000000 % 60),
                               (unsigned long long)(size / 1000000000 % 60), (unsigned long long)(size / 1000000 % 1000),
                               (unsigned long long)(size / 1000 % 1000), (unsigned long long)(size % 1000));
        assert_true(il_duration_parse((il_str){text, (size_t)n}, &back) && back == nanos);
    }
}

static void offset_parses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int32_t want;
    } good[] = {{"UTC", 0},        {"+00:00", 0},     {"-00:00", 0},      {"00:00", 0},      {"02:00", 7200},
                {"+11:00", 39600}, {"-02:30", -9000}, {"-09:30", -34200}, {"+23:59", 86340}, {"-23:59", -86340}};
    static const char *const bad[] = {"",        "utc",           "Z",         "GMT",
                                      "UTC+1",   "+1:00",         "1:00",      "+0100",
                                      "+01",     "+24:00",        "+00:60",    "24:00",
                                      "+01:00 ", " +01:00",       "+01:00:00", "--01:00",
                                      "+-1:00",  "Europe/Berlin", "+ab:cd",    "\xe2\x88\x92\x30\x31:00"};
    int32_t s;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(il_offset_parse(il_str_of(good[i].text), &s) && s == good[i].want);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (il_offset_parse(il_str_of(bad[i]), &s)) {
            fail_msg("%s is accepted", bad[i]);
        }
        assert_int_equal(s, 0);
    }
    il_civil c; /* 2009-02-13T02:00 in Newfoundland is the day before */
    assert_true(il_offset_parse(IL_STR("-02:30"), &s) && il_time_civil((il_time){1234490400, 0}, s, &c) && c.day == 12 &&
                c.hour == 23 && c.minute == 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calendar_every_day), cmocka_unit_test(calendar_refuses), cmocka_unit_test(time_parses),
        cmocka_unit_test(time_round_trip),    cmocka_unit_test(time_arithmetic),  cmocka_unit_test(duration_parses),
        cmocka_unit_test(duration_texts),     cmocka_unit_test(offset_parses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
