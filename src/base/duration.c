/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of time.h. */
#include "base/time.h"

#define DURATION_MOST (UINT64_C(1) << 63) /* the size of INT64_MIN, which a minus sign makes of it */

static bool duration_digit(il_str text, size_t at) { return at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; }

/* The unit at text[*at] in nanoseconds; 0 when there is none. */
static uint64_t duration_unit(il_str text, size_t *at) {
    static const struct {
        const char *name;
        uint64_t nanos;
    } units[] = {{"h", UINT64_C(3600000000000)},
                 {"ms", 1000000},
                 {"m", UINT64_C(60000000000)},
                 {"s", 1000000000},
                 {"us", 1000},
                 {"\xc2\xb5s", 1000}, /* the micro sign */
                 {"\xce\xbcs", 1000}, /* the Greek letter */
                 {"ns", 1}};
    const il_str rest = il_str_part(text, *at, text.n);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const il_str name = il_str_of(units[i].name);
        if (il_str_starts(rest, name)) {
            *at += name.n;
            return units[i].nanos;
        }
    }
    return 0;
}

/* 0.d1d2... of a unit, cut to whole nanoseconds: from the last digit on, for (d * unit + v) / 10 is cut to the same whether or
 * not v was cut before. */
static uint64_t duration_fraction(il_str digits, uint64_t unit) {
    uint64_t v = 0;
    for (size_t i = digits.n; i-- > 0;) {
        v = ((uint64_t)(digits.p[i] - '0') * unit + v) / 10;
    }
    return v;
}

/* One number with its unit at text[*at]; false when there is none or it is above DURATION_MOST. */
static bool duration_part(il_str text, size_t *at, uint64_t *out) {
    const size_t from = *at;
    uint64_t whole = 0;
    for (; duration_digit(text, *at); (*at)++) {
        if (whole > DURATION_MOST / 10) {
            return false;
        }
        whole = whole * 10 + (uint64_t)(text.p[*at] - '0');
    }
    size_t digits = *at - from;
    il_str fraction = {0};
    if (*at < text.n && text.p[*at] == '.') {
        const size_t begin = ++*at;
        while (duration_digit(text, *at)) {
            (*at)++;
        }
        fraction = il_str_part(text, begin, *at);
        digits += fraction.n;
    }
    const uint64_t unit = digits > 0 ? duration_unit(text, at) : 0;
    if (unit == 0 || whole > DURATION_MOST / unit) {
        return false;
    }
    *out = whole * unit + duration_fraction(fraction, unit);
    return *out <= DURATION_MOST;
}

bool il_duration_parse(il_str text, int64_t *nanos) {
    const bool minus = il_str_starts(text, IL_STR("-"));
    size_t at = minus || il_str_starts(text, IL_STR("+"));
    uint64_t sum = 0, part;
    *nanos = 0;
    if (il_str_eq(il_str_part(text, at, text.n), IL_STR("0"))) {
        return true;
    }
    do {
        if (!duration_part(text, &at, &part)) {
            return false;
        }
        if (part > DURATION_MOST - sum) {
            return false;
        }
        sum += part;
    } while (at < text.n);
    if (!minus && sum == DURATION_MOST) {
        return false;
    }
    *nanos = minus && sum > 0 ? -(int64_t)(sum - 1) - 1 : (int64_t)sum;
    return true;
}

size_t il_duration_text(int64_t nanos, char out[IL_DURATION_TEXT]) {
    const uint64_t size = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos, second = (uint64_t)IL_NANOS_PER_SECOND;
    uint64_t rest = size % second, unit = 1;
    char *to = out;
    if (nanos < 0) {
        *to++ = '-';
    }
    while (size / second / unit >= 10) {
        unit *= 10;
    }
    for (; unit > 0; unit /= 10) {
        *to++ = (char)('0' + size / second / unit % 10);
    }
    if (rest > 0) {
        *to++ = '.';
    }
    for (; rest > 0; rest = rest * 10 % second) {
        *to++ = (char)('0' + rest * 10 / second);
    }
    *to++ = 's';
    return (size_t)(to - out);
}
