/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

static const uint8_t *number_digits(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

/* 2^1024 - 2^970, the least value that rounds to infinity (IEEE 754-2019 section 4.3.1): 309 digits, so its first one stands at 10^308. */
static const char number_infinite[] =
    "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
    "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
    "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904"
    "174497792";
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

/* Whether a number of the grammar rounds to a finite double: decided on its digits, exactly. */
static bool number_finite(const uint8_t *p, const uint8_t *end) {
    int64_t top = -1; /* the power of ten at which the first digit that is not 0 stands */
    size_t seen = 0;  /* digits from there on */
    int order = 0;    /* of them, against number_infinite */
    bool point = false;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            point = true;
        } else if (*p != '-') {
            const bool counts = seen > 0 || *p != '0';
            top += point ? -(int)!counts : (int)counts;
            if (counts) {
                const int bound = seen < sizeof number_infinite - 1 ? number_infinite[seen] : '0';
                order = order != 0 ? order : *p - bound;
                seen++;
            }
        }
    }
    if (seen == 0) {
        return true; /* 0, whatever the exponent */
    }
    if (p < end) {
        top += number_exponent(p + 1, end);
    }
    /* fewer digits than the bound has are followed by zeros, and its last is none */
    return top < NUMBER_TOP || (top == NUMBER_TOP && (order < 0 || (order == 0 && seen < sizeof number_infinite - 1)));
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
    p = q;
    if (p < end && *p == '.') {
        q = number_digits(p + 1, end);
        if (q == p + 1) {
            *fault = "a digit must follow the decimal point";
            return q;
        }
        p = q;
    }
    bool large = p - start > NUMBER_TOP; /* else it is below 10^308 unless it has an exponent */
    if (p < end && (*p == 'e' || *p == 'E')) {
        large = true;
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
    if (large && !number_finite(start, p)) {
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
