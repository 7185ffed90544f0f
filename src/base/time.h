/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar: moments from year 1 to 9999 (proleptic Gregorian, UTC, no leap seconds), RFC 3339, durations, fixed offsets.
 * Pure; no clock. */
#pragma once
#include "base/str.h"

/* seconds since 1970-01-01T00:00:00Z, and 0..999,999,999 nanoseconds after them */
typedef struct il_time {
    int64_t seconds;
    int32_t nanos;
} il_time;
#define IL_TIME_SECONDS_MIN INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define IL_TIME_SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */
#define IL_NANOS_PER_SECOND INT64_C(1000000000)

typedef struct il_civil {
    int32_t year;
    uint8_t month, day;           /* from 1 */
    uint8_t hour, minute, second; /* from 0 */
    uint8_t weekday;              /* 0 is Sunday */
    uint16_t yearday;             /* from 0 */
} il_civil;

static inline bool il_time_valid(il_time t) {
    return t.seconds >= IL_TIME_SECONDS_MIN && t.seconds <= IL_TIME_SECONDS_MAX && t.nanos >= 0 && t.nanos < IL_NANOS_PER_SECOND;
}
/* <0, 0 or >0. */
int il_time_cmp(il_time a, il_time b);
/* Calendar fields at an offset of `offset` seconds east of UTC (0: UTC). The local year may be 0 or 10000. False unless t is
 * valid and |offset| is below two days. */
bool il_time_civil(il_time t, int32_t offset, il_civil *out);
/* The seconds of a date and time of day, UTC; weekday and yearday are not looked at. False for what no calendar has (February
 * 29th of 2023, 24:00, a 61st second) and outside years 1 to 9999. */
bool il_civil_seconds(const il_civil *c, int64_t *seconds);
/* t + nanos; false outside years 1 to 9999. */
bool il_time_add(il_time t, int64_t nanos, il_time *out);
/* a - b in nanoseconds; false when that is no int64. */
bool il_time_sub(il_time a, il_time b, int64_t *nanos);

/* RFC 3339: `2009-02-13T23:31:30.5+01:00`. Upper-case `T` and `Z` only, two-digit fields, a fraction of 1 to 9 digits after `.`,
 * offsets below 24:00; no 24:00 and no leap second. As cel-go reads it (Go's time.RFC3339), but Go also takes a comma before the
 * fraction, more digits (dropped) and one-digit hours: these are refused. False too when the moment in UTC is outside years 1 to
 * 9999. */
bool il_time_parse(il_str text, il_time *out);
/* In UTC with `Z`, the fraction without zeros at its end. Returns the bytes written, no NUL; 0 for a time that is not valid. */
enum { IL_TIME_TEXT = 30 };
size_t il_time_text(il_time t, char out[IL_TIME_TEXT]);

/* A signed sequence of decimal numbers with units `h m s ms us µs μs ns`, as Go's time.ParseDuration: `1h2m3.5s`, `-1.5h`, `.5s`,
 * `0`. What is below a nanosecond is cut. False on any other text and when the sum is no int64 of nanoseconds. */
bool il_duration_parse(il_str text, int64_t *nanos);
/* Seconds with the shortest fraction, as CEL's string(duration): `1.5s`, `-0.000000001s`, `0s`. Returns the bytes written, no
 * NUL. */
enum { IL_DURATION_TEXT = 24 };
size_t il_duration_text(int64_t nanos, char out[IL_DURATION_TEXT]);

/* `UTC`, `+hh:mm`, `-hh:mm` and `hh:mm` (east), below 24:00, to seconds east of UTC. False: another text, such as the name of a
 * zone. */
bool il_offset_parse(il_str text, int32_t *seconds);
