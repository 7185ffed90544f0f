/* SPDX-License-Identifier: Apache-2.0 */
#include "base/big.h"
#include "base/double.h"

enum {
    /* The text of a number half-way between two doubles has at most 767 digits: of a longer text it matters only whether the rest
     * is 0. */
    DOUBLE_DIGITS = 768,
    DOUBLE_MANTISSA = 19, /* digits that 64 bits hold */
    /* 0.d x 10^point is infinite above the first, and 0 below the second (half of the least double is 2.47e-324). */
    DOUBLE_POINT_MAX = 309,
    DOUBLE_POINT_MIN = -323
};
#define DOUBLE_EXPONENT_CUT INT64_C(1000000000000000) /* no text is as long */

/* 0.d1d2... x 10^point: the significant digits, zeros at their end included. */
typedef struct double_decimal {
    bool minus;
    const char *first, *end; /* of the digits in the text; a point may lie among them */
    size_t n;                /* digits */
    bool more;               /* one after the first DOUBLE_MANTISSA is not 0 */
    uint64_t mantissa;       /* the first DOUBLE_MANTISSA of them */
    int64_t point;
} double_decimal;

static bool double_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits and at most one point; false when there is no digit. */
static bool double_scan_digits(double_decimal *d, const char **at, const char *end) {
    const char *p = *at;
    bool any = false, point = false;
    for (; p < end && (double_digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        if (d->n == 0 && *p == '0') {
            d->point -= point;
            continue;
        }
        if (d->n == 0) {
            d->first = p;
        }
        if (d->n < DOUBLE_MANTISSA) {
            d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
        } else {
            d->more |= *p != '0';
        }
        d->n++;
        d->point += !point;
    }
    d->end = p;
    *at = p;
    return any;
}

static bool double_scan(il_str text, double_decimal *d) {
    const char *p = text.p, *const end = text.n > 0 ? p + text.n : p;
    *d = (double_decimal){0};
    if (p < end && (*p == '-' || *p == '+')) {
        d->minus = *p++ == '-';
    }
    if (!double_scan_digits(d, &p, end)) {
        return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool minus = false;
        if (p < end && (*p == '-' || *p == '+')) {
            minus = *p++ == '-';
        }
        if (p == end) {
            return false;
        }
        int64_t exponent = 0;
        for (; p < end && double_digit(*p); p++) {
            exponent = exponent < DOUBLE_EXPONENT_CUT ? exponent * 10 + (*p - '0') : exponent;
        }
        d->point += minus ? -exponent : exponent;
    }
    return p == end;
}

/* Clinger's fast path: two exact doubles, and one operation that rounds once. Where doubles are computed with more bits, it would
 * round twice. */
static bool double_short(const double_decimal *d, double *out) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t mantissa = d->mantissa;
    int64_t exponent = d->point - (int64_t)(d->n < DOUBLE_MANTISSA ? d->n : DOUBLE_MANTISSA);
    if (__FLT_EVAL_METHOD__ != 0 || d->more) {
        return false;
    }
    for (; mantissa >> 53 != 0 && mantissa % 10 == 0; mantissa /= 10) {
        exponent++;
    }
    if (mantissa >> 53 != 0 || exponent > 22 || exponent < -22) {
        return false;
    }
    *out = exponent < 0 ? (double)mantissa / power[-exponent] : (double)mantissa * power[exponent];
    return true;
}

/* q x 2^exponent (and a little more, if `sticky`) to the nearest, ties to even; q has its 63rd or 64th bit set. */
static double double_assemble(uint64_t q, bool sticky, int exponent) {
    if (q >> 63 == 0) {
        q <<= 1; /* the bit below is far from where it rounds: `sticky` says enough */
        exponent--;
    }
    const int top = exponent + 63; /* q is 1.f x 2^top */
    if (top > 1023) {
        return il_double_of_bits(UINT64_C(0x7ff) << 52);
    }
    const int cut = top >= -1022 ? 11 : 11 - 1022 - top; /* subnormals have fewer bits */
    if (cut > 64) {
        return 0;
    }
    uint64_t kept = cut < 64 ? q >> cut : 0;
    const uint64_t rest = cut < 64 ? q << (64 - cut) : q, half = UINT64_C(1) << 63;
    kept += rest > half || (rest == half && (sticky || (kept & 1) != 0));
    /* a normal number's first bit adds 1 to the exponent, and so does a carry */
    return il_double_of_bits(top >= -1022 ? ((uint64_t)(top + 1022) << 52) + kept : kept);
}

/* The digits as a whole number, at most one after the first DOUBLE_DIGITS, which stands for all the rest. Returns how many they
 * are. */
static size_t double_whole(const double_decimal *d, il_big *out) {
    if (!d->more) {
        il_big_set(out, d->mantissa);
        return d->n < DOUBLE_MANTISSA ? d->n : DOUBLE_MANTISSA;
    }
    static const uint32_t unit[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    size_t n = 0;
    unsigned part = 0;
    uint32_t v = 0;
    bool rest = false;
    il_big_set(out, 0);
    for (const char *p = d->first; p < d->end; p++) {
        if (*p == '.') {
            continue;
        }
        if (n == DOUBLE_DIGITS) {
            rest |= *p != '0';
            continue;
        }
        v = v * 10 + (uint32_t)(*p - '0');
        n++;
        if (++part == 9) {
            il_big_mul_add(out, unit[part], v);
            part = 0;
            v = 0;
        }
    }
    il_big_mul_add(out, unit[part], v);
    if (rest) {
        il_big_mul_add(out, 10, 1);
        n++;
    }
    return n;
}

static double double_long(const double_decimal *d) {
    if (d->point > DOUBLE_POINT_MAX) {
        return il_double_of_bits(UINT64_C(0x7ff) << 52);
    }
    if (d->point < DOUBLE_POINT_MIN) {
        return 0;
    }
    il_big number, divisor;
    const int exponent = (int)d->point - (int)double_whole(d, &number);
    il_big_set(&divisor, 1);
    il_big_mul_power5(exponent < 0 ? &divisor : &number, (unsigned)(exponent < 0 ? -exponent : exponent));
    /* number / divisor x 2^exponent: shifted until the quotient has 31 or 32 bits and the divisor whole words; then twice 32 bits
     * of it */
    const int shift = (int)il_big_bits(&divisor) - (int)il_big_bits(&number) + 31;
    il_big_shift(shift > 0 ? &number : &divisor, (unsigned)(shift > 0 ? shift : -shift));
    const unsigned align = (32 - il_big_bits(&divisor) % 32) % 32;
    il_big_shift(&number, align);
    il_big_shift(&divisor, align);
    uint64_t q = il_big_divide(&number, &divisor);
    il_big_shift(&number, 32);
    q = q << 32 | il_big_divide(&number, &divisor);
    return double_assemble(q, number.n > 0, exponent - shift - 32);
}

bool il_double_parse(il_str text, double *out) {
    double_decimal d;
    *out = 0;
    if (!double_scan(text, &d)) {
        return false;
    }
    double v = 0;
    if (d.n > 0 && !double_short(&d, &v)) {
        v = double_long(&d);
    }
    *out = d.minus ? -v : v;
    return true;
}

bool il_double_parse_word(il_str text, double *out) {
    *out = 0;
    if (il_str_eq_nocase(text, IL_STR("nan"))) {
        *out = il_double_of_bits(UINT64_C(0x7ff8) << 48);
        return true;
    }
    const bool minus = il_str_starts(text, IL_STR("-"));
    if (minus || il_str_starts(text, IL_STR("+"))) {
        text = il_str_part(text, 1, text.n);
    }
    if (!il_str_eq_nocase(text, IL_STR("inf")) && !il_str_eq_nocase(text, IL_STR("infinity"))) {
        return false;
    }
    *out = il_double_of_bits((minus ? UINT64_C(0xfff) : UINT64_C(0x7ff)) << 52);
    return true;
}
