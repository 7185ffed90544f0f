/* SPDX-License-Identifier: Apache-2.0 */
#include "base/big.h"
#include "base/double.h"

#define DOUBLE_FRACTION_MASK (UINT64_MAX >> 12)
enum {
    DOUBLE_EXACT = 767, /* digits, at most, of a double's exact value */
    DOUBLE_PART = 9     /* digits at a time */
};

/* |d| = m x 2^e, m not 0. */
static uint64_t double_parts(double d, int *e) {
    const uint64_t bits = il_double_bits(d), fraction = bits & DOUBLE_FRACTION_MASK;
    const int biased = (int)(bits >> 52 & 0x7ff);
    *e = (biased == 0 ? 1 : biased) - 1075;
    return biased == 0 ? fraction : fraction | UINT64_C(1) << 52;
}

/* |d| = number / divisor x 10^point. `margin` is half the way to the next double above, in the measure of number; to the one
 * below it is half of that when `wide`, for a power of two is nearer to what is below it. */
typedef struct double_ratio {
    il_big number, divisor, margin;
    bool wide, even; /* even: the ends of the way read back as d */
    int point;
} double_ratio;

/* floor(log10(2^e)) + 1 for a double's e: 78913 / 2^18 is log10(2), exactly enough. */
static int double_estimate(int e) {
    const int scaled = e * 78913;
    return (scaled >= 0 ? scaled >> 18 : -((-scaled + (1 << 18) - 1) >> 18)) + 1;
}

/* Steele and White, and Dybvig (Printing Floating-Point Numbers Quickly and Accurately, 1996), without point yet. */
static void double_ratio_of(double d, double_ratio *r) {
    int e;
    const uint64_t m = double_parts(d, &e);
    r->even = m % 2 == 0;
    r->wide = m == UINT64_C(1) << 52 && e > -1074;
    il_big_set(&r->number, m << (r->wide ? 2 : 1));
    il_big_set(&r->divisor, 1);
    il_big_set(&r->margin, r->wide ? 2 : 1);
    il_big_shift(&r->divisor, r->wide ? 2 : 1);
    if (e >= 0) {
        il_big_shift(&r->number, (unsigned)e);
        il_big_shift(&r->margin, (unsigned)e);
    } else {
        il_big_shift(&r->divisor, (unsigned)-e);
    }
    r->point = double_estimate(e + 63 - __builtin_clzll(m));
    const unsigned power = (unsigned)(r->point < 0 ? -r->point : r->point);
    if (r->point >= 0) {
        il_big_mul_power5(&r->divisor, power);
        il_big_shift(&r->divisor, power);
    } else {
        il_big_mul_power5(&r->number, power);
        il_big_shift(&r->number, power);
        il_big_mul_power5(&r->margin, power);
        il_big_shift(&r->margin, power);
    }
}

/* Whether what is left of d reaches to the half way above: the digits so far, and one more at the end, read back as d. */
static bool double_high(const double_ratio *r) {
    return il_big_cmp_sum(&r->number, &r->margin, &r->divisor) > (r->even ? -1 : 0);
}

/* Whether it does below: the digits so far read back as d. */
static bool double_low(const double_ratio *r) {
    const int order = r->wide ? il_big_cmp_sum(&r->number, &r->number, &r->margin) : il_big_cmp(&r->number, &r->margin);
    return order < (r->even ? 1 : 0);
}

static void double_point_up(double_ratio *r) {
    il_big_mul_add(&r->divisor, 10, 0);
    r->point++;
}

/* Makes the divisor whole words long, for il_big_divide. */
static void double_align(double_ratio *r) {
    const unsigned align = (32 - il_big_bits(&r->divisor) % 32) % 32;
    il_big_shift(&r->number, align);
    il_big_shift(&r->divisor, align);
    il_big_shift(&r->margin, align);
}

/* A whole number below 2^53: all its digits are needed, for numbers with fewer are at least 1 away. Digits from its first to its
 * last that is not 0. */
static size_t double_digits_whole(uint64_t v, char digits[IL_DOUBLE_DIGITS], int *point) {
    size_t n = 0, last = 0;
    uint64_t unit = 1;
    while (v / unit >= 10) {
        unit *= 10;
    }
    for (; unit > 0; unit /= 10) {
        digits[n++] = (char)('0' + v / unit % 10);
        last = digits[n - 1] != '0' ? n : last;
    }
    *point = (int)n;
    return last;
}

size_t il_double_digits(double d, char digits[IL_DOUBLE_DIGITS], int *point) {
    *point = 0;
    if (!il_double_finite(d) || d == 0) {
        return 0;
    }
    const double size = d < 0 ? -d : d;
    if (size < 9007199254740992.0 && il_double_trunc(size) == size) {
        return double_digits_whole((uint64_t)size, digits, point);
    }
    double_ratio r;
    double_ratio_of(d, &r);
    if (double_high(&r)) { /* 1 x 10^point reads back as d, or d is not below it */
        double_point_up(&r);
    }
    double_align(&r);
    *point = r.point;
    for (size_t n = 0; n < IL_DOUBLE_DIGITS; n++) {
        il_big_mul_add(&r.number, 10, 0);
        il_big_mul_add(&r.margin, 10, 0);
        const uint32_t digit = il_big_divide(&r.number, &r.divisor);
        digits[n] = (char)('0' + digit);
        const bool low = double_low(&r), high = double_high(&r);
        if (!low && !high) {
            continue;
        }
        const int half = il_big_cmp_sum(&r.number, &r.number, &r.divisor);
        if (high && (!low || half > 0 || (half == 0 && digit % 2 != 0))) {
            digits[n]++; /* never of a 9: then the digit before would have been the last */
        }
        return n + 1;
    }
    return IL_DOUBLE_DIGITS;
}

/* A text that is not a number, or the sign of one. */
static size_t double_word(double d, bool brief, char *out) {
    const char *word = "";
    if (il_double_nan(d)) {
        word = "NaN";
    } else if (il_double_infinite(d)) {
        word = il_double_negative(d) ? (brief ? "-Inf" : "-Infinity") : (brief ? "+Inf" : "Infinity");
    } else if (il_double_negative(d)) {
        word = "-";
    }
    const il_str text = il_str_of(word);
    memcpy(out, text.p, text.n);
    return text.n;
}
enum { DOUBLE_WORD = 9 };

static char *double_zeros(char *to, size_t n) {
    memset(to, '0', n);
    return to + n;
}

/* `e`, the sign, and at least `least` digits. */
static char *double_power(char *to, int exponent, unsigned least) {
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    const unsigned v = (unsigned)(exponent < 0 ? -exponent : exponent); /* below 1000 */
    if (v >= 100) {
        *to++ = (char)('0' + v / 100);
    }
    if (v >= 10 || least > 1) {
        *to++ = (char)('0' + v / 10 % 10);
    }
    *to++ = (char)('0' + v % 10);
    return to;
}

size_t il_double_text(double d, il_double_form form, char out[IL_DOUBLE_TEXT]) {
    char digits[IL_DOUBLE_DIGITS], *to = out;
    int point;
    if (!il_double_finite(d)) {
        return double_word(d, form == IL_DOUBLE_SHORT, out);
    }
    const size_t n = il_double_digits(d, digits, &point);
    if (il_double_negative(d) && !(n == 0 && form == IL_DOUBLE_JSON)) {
        *to++ = '-';
    }
    if (n == 0) {
        *to++ = '0';
        return (size_t)(to - out);
    }
    bool power = false;
    switch (form) {
    case IL_DOUBLE_SHORT:
        power = point < -3 || point > 6;
        break;
    case IL_DOUBLE_PLAIN:
        break;
    case IL_DOUBLE_JSON:
        power = point < -5 || point > 21;
        break;
    }
    if (power) {
        *to++ = digits[0];
        if (n > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, n - 1);
            to += n - 1;
        }
        return (size_t)(double_power(to, point - 1, form == IL_DOUBLE_SHORT ? 2 : 1) - out);
    }
    const size_t whole = point <= 0 ? 0 : (size_t)point < n ? (size_t)point : n; /* digits before the point */
    memcpy(to, digits, whole);
    to = point <= 0 ? double_zeros(to, 1) : double_zeros(to + whole, (size_t)point - whole);
    if (whole < n) {
        *to++ = '.';
        to = double_zeros(to, point < 0 ? (size_t)-point : 0);
        memcpy(to, digits + whole, n - whole);
        to += n - whole;
    }
    return (size_t)(to - out);
}

/* The digits of a rounded number; zeros follow. */
typedef struct double_rounded {
    char digits[DOUBLE_EXACT + DOUBLE_PART];
    size_t n;
    int point;
} double_rounded;

static void double_round_up(double_rounded *r) {
    size_t i = r->n;
    while (i > 0 && r->digits[i - 1] == '9') {
        i--;
    }
    r->n = i;
    if (i > 0) {
        r->digits[i - 1]++;
    } else {
        r->digits[r->n++] = '1';
        r->point++;
    }
}

/* The exact value, rounded `precision` digits after the point (`fixed`) or after the first digit. */
static void double_exact(double d, bool fixed, uint32_t precision, double_rounded *out) {
    static const uint32_t unit[DOUBLE_PART + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    out->n = 0;
    out->point = 0;
    if (d == 0) {
        return;
    }
    double_ratio r;
    double_ratio_of(d, &r);
    if (il_big_cmp(&r.number, &r.divisor) >= 0) {
        double_point_up(&r);
    }
    double_align(&r);
    out->point = r.point;
    const int64_t wanted = fixed ? (int64_t)r.point + precision : (int64_t)precision + 1;
    if (wanted < 0) {
        return; /* below half of the last digit */
    }
    while (r.number.n > 0 && out->n < DOUBLE_EXACT && (int64_t)out->n < wanted) {
        const int64_t rest = wanted - (int64_t)out->n;
        const size_t part = rest < DOUBLE_PART ? (size_t)rest : DOUBLE_PART;
        il_big_mul_add(&r.number, unit[part], 0);
        uint32_t v = il_big_divide(&r.number, &r.divisor);
        for (size_t i = part; i-- > 0; v /= 10) {
            out->digits[out->n + i] = (char)('0' + v % 10);
        }
        out->n += part;
    }
    const int half = il_big_cmp_sum(&r.number, &r.number, &r.divisor);
    if (half > 0 || (half == 0 && out->n > 0 && out->digits[out->n - 1] % 2 != 0)) {
        double_round_up(out);
    }
}

/* Digits [from, from + n), of which those before the first and after the last are 0. */
static char *double_put(char *to, const double_rounded *r, int64_t from, size_t n) {
    const size_t zeros = from >= 0 ? 0 : (uint64_t)-from < n ? (size_t)-from : n;
    to = double_zeros(to, zeros);
    n -= zeros;
    const size_t begin = from < 0 ? 0 : (uint64_t)from < r->n ? (size_t)from : r->n;
    const size_t some = n < r->n - begin ? n : r->n - begin;
    memcpy(to, r->digits + begin, some);
    return double_zeros(to + some, n - some);
}

/* A word, or the sign of a number. False when there is nothing more to write. */
static bool double_begin(il_buf *b, double d, uint32_t precision) {
    char word[DOUBLE_WORD];
    il_buf_put(b, (il_str){word, double_word(d, false, word)});
    if (precision > UINT32_MAX / 2) {
        il_buf_fail(b, IL_E_LIMIT);
    }
    return il_double_finite(d) && !b->failed;
}

/* The digits after the point, and the point. */
static char *double_fraction(char *to, const double_rounded *r, int64_t from, uint32_t precision) {
    if (precision == 0) {
        return to;
    }
    *to++ = '.';
    return double_put(to, r, from, precision);
}

void il_double_fixed(il_buf *b, double d, uint32_t precision) {
    if (!double_begin(b, d, precision)) {
        return;
    }
    double_rounded r;
    double_exact(d, true, precision, &r);
    const size_t whole = r.point > 0 ? (size_t)r.point : 1;
    const size_t bytes = whole + (precision > 0) + precision;
    char *to = il_buf_room(b, bytes);
    if (to == NULL) {
        return;
    }
    to = r.point > 0 ? double_put(to, &r, 0, whole) : double_zeros(to, 1);
    (void)double_fraction(to, &r, r.point, precision);
    b->n += bytes;
}

void il_double_exponent(il_buf *b, double d, uint32_t precision) {
    if (!double_begin(b, d, precision)) {
        return;
    }
    double_rounded r;
    char power[8];
    double_exact(d, false, precision, &r);
    const size_t tail = (size_t)(double_power(power, r.n > 0 ? r.point - 1 : 0, 2) - power);
    const size_t bytes = (size_t)1 + (precision > 0) + precision + tail;
    char *to = il_buf_room(b, bytes);
    if (to == NULL) {
        return;
    }
    to = double_put(to, &r, 0, 1);
    to = double_fraction(to, &r, 1, precision);
    memcpy(to, power, tail);
    b->n += bytes;
}
