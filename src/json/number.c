/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

#include "base/double.h"

static const uint8_t *number_digits(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

enum { NUMBER_TOP = 308, NUMBER_EXPONENT_MAX = 1 << 30 };

/* The exponent after `e`, cut at a bound beyond which it decides alone: no text is as long. */
static int64_t number_exponent(const uint8_t *p, const uint8_t *end) {
    const bool minus = p < end && *p == '-';
    int64_t v = 0;
    for (p += p < end && (*p == '-' || *p == '+'); p < end; p++) {
        v = v < NUMBER_EXPONENT_MAX ? v * 10 + (*p - '0') : v;
    }
    return minus ? -v : v;
}

static bool number_finite(const uint8_t *p, const uint8_t *end) {
    double d;
    return il_double_parse((il_str){(const char *)p, (size_t)(end - p)}, &d) && il_double_finite(d);
}

const uint8_t *il_json_number_scan(const uint8_t *p, const uint8_t *end, const char **fault) {
    const uint8_t *const start = p;
    *fault = NULL;
    if (p < end && *p == '-') {
        p++;
    }
    const uint8_t *q = number_digits(p, end);
    if (q == p) {
        *fault = "a digit must follow the minus sign";
        return q;
    }
    if (*p == '0' && q - p > 1) {
        *fault = "a number has no leading zero";
        return p;
    }
    int64_t top = q - p; /* the number is below 10^top */
    p = q;
    if (p < end && *p == '.') {
        q = number_digits(p + 1, end);
        if (q == p + 1) {
            *fault = "a digit must follow the decimal point";
            return q;
        }
        p = q;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const uint8_t *const exponent = ++p;
        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }
        q = number_digits(p, end);
        if (q == p) {
            *fault = "a digit must follow the exponent sign";
            return q;
        }
        p = q;
        top += number_exponent(exponent, p);
    }
    if (top > NUMBER_TOP && !number_finite(start, p)) {
        *fault = "a number is beyond the range of a double; send it as a string";
        return start;
    }
    return p;
}

bool il_json_is_number(il_str s) {
    const char *fault = NULL;
    const uint8_t *p = (const uint8_t *)s.p;
    return s.n > 0 && il_json_number_scan(p, p + s.n, &fault) == p + s.n && fault == NULL;
}
