/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#define TIME_DAY INT64_C(86400)
enum {
    TIME_OFFSET_MAX = 2 * 86400 - 1,
    TIME_ERA_YEARS = 400,
    TIME_ERA_DAYS = 146097,    /* in 400 years */
    TIME_CENTURY_DAYS = 36524, /* in 100 years that do not begin with a leap year of 400 */
    TIME_FOUR_DAYS = 1460,     /* in four years, without the leap day */
    TIME_YEAR_DAYS = 365,
    TIME_EPOCH_DAYS = 719468 /* from 0000-03-01 to 1970-01-01 */
};

/* Years that begin in March put the leap day at their end: then months have a rhythm of 153 days in five. Months count from March
 * here. */
static int time_month_begin(int month) { return (153 * month + 2) / 5; }

/* Days since 1970-01-01 of a date from year 0 on. */
static int64_t time_days(int32_t year, int month, int day) {
    const int shifted = month > 2 ? month - 3 : month + 9;
    const int64_t y = (int64_t)year - (month <= 2) + TIME_ERA_YEARS,
                  in_era = y % TIME_ERA_YEARS; /* one era more, so that none is below 0 */
    const int64_t day_of_era = in_era * TIME_YEAR_DAYS + in_era / 4 - in_era / 100 + time_month_begin(shifted) + day - 1;
    return (y / TIME_ERA_YEARS - 1) * TIME_ERA_DAYS + day_of_era - TIME_EPOCH_DAYS;
}

static void time_date(int64_t days, il_civil *out) {
    const int64_t shifted = days + TIME_EPOCH_DAYS + TIME_ERA_DAYS, in_era = shifted % TIME_ERA_DAYS;
    /* each correction takes out the leap days that came before */
    const int64_t year =
        (in_era - in_era / TIME_FOUR_DAYS + in_era / TIME_CENTURY_DAYS - in_era / (TIME_ERA_DAYS - 1)) / TIME_YEAR_DAYS;
    const int in_year = (int)(in_era - (year * TIME_YEAR_DAYS + year / 4 - year / 100));
    const int month = (5 * in_year + 2) / 153;
    out->day = (uint8_t)(in_year - time_month_begin(month) + 1);
    out->month = (uint8_t)(month < 10 ? month + 3 : month - 9);
    out->year = (int32_t)((shifted / TIME_ERA_DAYS - 1) * TIME_ERA_YEARS + year + (month >= 10));
    out->yearday = (uint16_t)(days - time_days(out->year, 1, 1));
    out->weekday = (uint8_t)((shifted + 3) % 7); /* day 0 of an era was a Wednesday, and an era is whole weeks */
}

static int time_month_days(int32_t year, int month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % TIME_ERA_YEARS == 0);
    return days[month - 1] + (month == 2 && leap);
}

int il_time_cmp(il_time a, il_time b) {
    if (a.seconds != b.seconds) {
        return a.seconds < b.seconds ? -1 : 1;
    }
    return (a.nanos > b.nanos) - (a.nanos < b.nanos);
}

bool il_time_civil(il_time t, int32_t offset, il_civil *out) {
    *out = (il_civil){0};
    if (!il_time_valid(t) || offset > TIME_OFFSET_MAX || offset < -TIME_OFFSET_MAX) {
        return false;
    }
    const int64_t local = t.seconds + offset - IL_TIME_SECONDS_MIN + 2 * TIME_DAY; /* from two days before year 1: not below 0 */
    const int64_t second = local % TIME_DAY;
    time_date(local / TIME_DAY + IL_TIME_SECONDS_MIN / TIME_DAY - 2, out);
    out->hour = (uint8_t)(second / 3600);
    out->minute = (uint8_t)(second / 60 % 60);
    out->second = (uint8_t)(second % 60);
    return true;
}

bool il_civil_seconds(const il_civil *c, int64_t *seconds) {
    *seconds = 0;
    if (c->year < 1 || c->year > 9999 || c->month < 1 || c->month > 12 || c->day < 1 ||
        c->day > time_month_days(c->year, c->month) || c->hour > 23 || c->minute > 59 || c->second > 59) {
        return false;
    }
    *seconds = time_days(c->year, c->month, c->day) * TIME_DAY + (c->hour * INT64_C(60) + c->minute) * 60 + c->second;
    return true;
}

bool il_time_add(il_time t, int64_t nanos, il_time *out) {
    int64_t seconds = nanos / IL_NANOS_PER_SECOND, rest = nanos % IL_NANOS_PER_SECOND + t.nanos;
    *out = (il_time){0};
    if (!il_time_valid(t)) {
        return false;
    }
    if (rest < 0) {
        rest += IL_NANOS_PER_SECOND;
        seconds--;
    } else if (rest >= IL_NANOS_PER_SECOND) {
        rest -= IL_NANOS_PER_SECOND;
        seconds++;
    }
    const il_time sum = {t.seconds + seconds, (int32_t)rest};
    if (!il_time_valid(sum)) {
        return false;
    }
    *out = sum;
    return true;
}

/* seconds and nanoseconds of one sign to int64 nanoseconds */
static bool time_nanos(int64_t seconds, int64_t nanos, int64_t *out) {
    const int64_t most = INT64_MAX / IL_NANOS_PER_SECOND;
    int64_t sum;
    if (seconds > most || seconds < -most || __builtin_add_overflow(seconds * IL_NANOS_PER_SECOND, nanos, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

bool il_time_sub(il_time a, il_time b, int64_t *nanos) {
    *nanos = 0;
    if (!il_time_valid(a) || !il_time_valid(b)) {
        return false;
    }
    int64_t seconds = a.seconds - b.seconds, rest = (int64_t)a.nanos - b.nanos;
    if (seconds < 0 && rest > 0) { /* INT64_MIN is no multiple of a second: it must not be passed on the way */
        seconds++;
        rest -= IL_NANOS_PER_SECOND;
    } else if (seconds > 0 && rest < 0) {
        seconds--;
        rest += IL_NANOS_PER_SECOND;
    }
    return time_nanos(seconds, rest, nanos);
}

/* Exactly `n` digits at text[*at]. */
static bool time_digits(il_str text, size_t *at, size_t n, int32_t *out) {
    int32_t v = 0;
    if (n > text.n - *at) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char c = text.p[*at + i];
        if (c < '0' || c > '9') {
            return false;
        }
        v = v * 10 + (c - '0');
    }
    *at += n;
    *out = v;
    return true;
}

static bool time_char(il_str text, size_t *at, char c) {
    const bool found = *at < text.n && text.p[*at] == c;
    *at += found;
    return found;
}

/* `hh:mm` */
static bool time_clock(il_str text, size_t *at, int32_t *hour, int32_t *minute) {
    return time_digits(text, at, 2, hour) && time_char(text, at, ':') && time_digits(text, at, 2, minute) && *hour <= 23 &&
           *minute <= 59;
}

static bool time_offset(il_str text, size_t *at, int32_t *seconds) {
    const bool minus = time_char(text, at, '-');
    int32_t hour, minute;
    if (!minus && !time_char(text, at, '+')) {
        return false;
    }
    if (!time_clock(text, at, &hour, &minute)) {
        return false;
    }
    *seconds = (hour * 3600 + minute * 60) * (minus ? -1 : 1);
    return true;
}

bool il_offset_parse(il_str text, int32_t *seconds) {
    const bool sign = il_str_starts(text, IL_STR("+")) || il_str_starts(text, IL_STR("-"));
    int32_t hour, minute, east = 0;
    size_t at = 0;
    *seconds = 0;
    if (il_str_eq(text, IL_STR("UTC"))) {
        return true;
    }
    if (sign ? !time_offset(text, &at, &east) : !time_clock(text, &at, &hour, &minute)) {
        return false;
    }
    if (at != text.n) {
        return false;
    }
    *seconds = sign ? east : hour * 3600 + minute * 60;
    return true;
}

static bool time_fraction(il_str text, size_t *at, int32_t *nanos) {
    int32_t unit = 100000000;
    *nanos = 0;
    const size_t from = *at;
    for (; *at < text.n && text.p[*at] >= '0' && text.p[*at] <= '9'; (*at)++) {
        *nanos += (text.p[*at] - '0') * unit;
        unit /= 10;
    }
    return *at > from && *at - from <= 9;
}

bool il_time_parse(il_str text, il_time *out) {
    int32_t year, month, day, hour, minute, second, nanos = 0, offset = 0;
    size_t at = 0;
    *out = (il_time){0};
    if (!(time_digits(text, &at, 4, &year) && time_char(text, &at, '-') && time_digits(text, &at, 2, &month) &&
          time_char(text, &at, '-') && time_digits(text, &at, 2, &day) && time_char(text, &at, 'T') &&
          time_clock(text, &at, &hour, &minute) && time_char(text, &at, ':') && time_digits(text, &at, 2, &second))) {
        return false;
    }
    if (time_char(text, &at, '.') && !time_fraction(text, &at, &nanos)) {
        return false;
    }
    if ((!time_char(text, &at, 'Z') && !time_offset(text, &at, &offset)) || at != text.n) {
        return false;
    }
    const il_civil c = {.year = year,
                        .month = (uint8_t)month,
                        .day = (uint8_t)day,
                        .hour = (uint8_t)hour,
                        .minute = (uint8_t)minute,
                        .second = (uint8_t)second};
    il_time t = {.nanos = nanos};
    if (!il_civil_seconds(&c, &t.seconds)) {
        return false;
    }
    t.seconds -= offset;
    if (!il_time_valid(t)) {
        return false;
    }
    *out = t;
    return true;
}

static char *time_put(char *to, uint64_t v, unsigned width) {
    for (unsigned i = width; i-- > 0; v /= 10) {
        to[i] = (char)('0' + v % 10);
    }
    return to + width;
}

/* `.5`, or nothing for 0 */
static char *time_put_fraction(char *to, uint32_t nanos) {
    unsigned width = 9;
    if (nanos == 0) {
        return to;
    }
    for (; nanos % 10 == 0; nanos /= 10) {
        width--;
    }
    *to++ = '.';
    return time_put(to, nanos, width);
}

size_t il_time_text(il_time t, char out[IL_TIME_TEXT]) {
    il_civil c;
    if (!il_time_civil(t, 0, &c)) {
        return 0;
    }
    const struct {
        uint32_t v;
        unsigned width;
        char after;
    } parts[] = {{(uint32_t)c.year, 4, '-'}, {c.month, 2, '-'}, {c.day, 2, 'T'}, {c.hour, 2, ':'}, {c.minute, 2, ':'}};
    char *to = out;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        to = time_put(to, parts[i].v, parts[i].width);
        *to++ = parts[i].after;
    }
    to = time_put_fraction(time_put(to, c.second, 2), (uint32_t)t.nanos);
    *to++ = 'Z';
    return (size_t)(to - out);
}
