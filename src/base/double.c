/* SPDX-License-Identifier: Apache-2.0 */
#include "base/double.h"

enum { DOUBLE_BIAS = 1023, DOUBLE_FRACTION = 52 };

/* The bits of the fraction are cut; below 2^52 the sums of the others are exact, for both sides are whole or a half is. */
double il_double_trunc(double d) {
    const uint64_t bits = il_double_bits(d);
    const int exponent = (int)(bits >> DOUBLE_FRACTION & 0x7ff) - DOUBLE_BIAS;
    if (exponent >= DOUBLE_FRACTION) {
        return d; /* whole, infinite or NaN */
    }
    const uint64_t below_one = exponent < 0 ? UINT64_MAX >> 1 : UINT64_MAX >> (12 + exponent);
    return il_double_of_bits(bits & ~below_one);
}

double il_double_floor(double d) {
    const double whole = il_double_trunc(d);
    return whole > d ? whole - 1 : whole;
}

double il_double_ceil(double d) {
    const double whole = il_double_trunc(d);
    return whole < d ? whole + 1 : whole;
}

double il_double_round(double d) {
    const double whole = il_double_trunc(d), rest = d - whole;
    return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole;
}
