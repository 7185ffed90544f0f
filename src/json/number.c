/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

static const uint8_t *number_digits(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

const uint8_t *il_json_number_scan(const uint8_t *p, const uint8_t *end, const char **fault) {
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
        p++;
        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }
        q = number_digits(p, end);
        if (q == p) {
            *fault = "a digit must follow the exponent sign";
            return q;
        }
        p = q;
    }
    return p;
}

bool il_json_is_number(il_str s) {
    const char *fault = NULL;
    const uint8_t *p = (const uint8_t *)s.p;
    return s.n > 0 && il_json_number_scan(p, p + s.n, &fault) == p + s.n && fault == NULL;
}
