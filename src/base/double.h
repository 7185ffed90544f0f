/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles as text and back, and rounding to whole numbers. Every answer is exact and the same everywhere: no locale, no stdio, no
 * libm. Pure; nothing allocates but what is written into an il_buf. */
#pragma once
#include "base/buf.h"
#include "base/str.h"

static inline uint64_t il_double_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}
static inline double il_double_of_bits(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static inline bool il_double_negative(double d) { return il_double_bits(d) >> 63 != 0; } /* also of -0 and NaN */
static inline bool il_double_finite(double d) { return (il_double_bits(d) >> 52 & 0x7ff) != 0x7ff; }
static inline bool il_double_nan(double d) { return (il_double_bits(d) & UINT64_MAX >> 1) > UINT64_C(0x7ff) << 52; }
static inline bool il_double_infinite(double d) { return (il_double_bits(d) & UINT64_MAX >> 1) == UINT64_C(0x7ff) << 52; }

/* To a whole number: towards -inf, +inf, 0, and to the nearest with halves away from 0. The sign of 0, NaN and infinities stay. */
double il_double_floor(double d);
double il_double_ceil(double d);
double il_double_trunc(double d);
double il_double_round(double d);

/* Decimal text to the nearest double, ties to even: an optional sign, digits with at most one point among, before or after them,
 * an optional exponent (`e` or `E`, optional sign, digits); nothing else, no space. False: the text is none (*out is 0). What is
 * beyond the range is read as an infinity of its sign, which no text of the grammar means otherwise: callers that refuse overflow
 * ask il_double_infinite. Linear in the length of the text. */
bool il_double_parse(il_str text, double *out);
/* The words that are no decimal text, as Go's strconv reads them, in any letter case: `nan`, and `inf` and `infinity` with an
 * optional sign. */
bool il_double_parse_word(il_str text, double *out);

/* The shortest decimal digits that read back as |d|, and of those the nearest to it (ties: the even one): 0.d1d2... x 10^point.
 * No zeros at the ends. Returns how many, at most IL_DOUBLE_DIGITS; 0 for zero, infinities and NaN (*point is 0). */
enum { IL_DOUBLE_DIGITS = 17 };
size_t il_double_digits(double d, char digits[IL_DOUBLE_DIGITS], int *point);

typedef enum il_double_form {
    IL_DOUBLE_SHORT, /* as Go's %g with precision -1, which CEL's string(double) is: `1e+06`, `0.0001`, `1e-05` */
    IL_DOUBLE_PLAIN, /* as Go's %f with precision -1: never an exponent */
    IL_DOUBLE_JSON   /* as ECMAScript and RFC 8785 write it: `1000000`, `1e+21`, `1e-7`, `0` for -0 */
} il_double_form;
/* The shortest text that reads back. NaN and infinities are `NaN`, `+Inf` and `-Inf` in the short form, `NaN`, `Infinity` and
 * `-Infinity` in the others (JSON has no text for them: ask il_double_finite first). Returns the bytes written; no NUL. */
enum { IL_DOUBLE_TEXT = 352 };
size_t il_double_text(double d, il_double_form form, char out[IL_DOUBLE_TEXT]);

/* As printf's %.*f and %.*e: the exact value rounded at that digit, ties to even. NaN and infinities as in the plain form. */
void il_double_fixed(il_buf *b, double d, uint32_t precision);
void il_double_exponent(il_buf *b, double d, uint32_t precision);
