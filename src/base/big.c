/* SPDX-License-Identifier: Apache-2.0 */
#include "base/big.h"

#include "base/mem.h"

static void big_push(il_big *b, uint32_t word) {
    if (word != 0 && b->n < IL_BIG_WORDS) {
        b->w[b->n++] = word;
    }
}

static void big_trim(il_big *b) {
    while (b->n > 0 && b->w[b->n - 1] == 0) {
        b->n--;
    }
}

void il_big_set(il_big *b, uint64_t v) {
    b->n = 2;
    b->w[0] = (uint32_t)v;
    b->w[1] = (uint32_t)(v >> 32);
    big_trim(b);
}

void il_big_mul_add(il_big *b, uint32_t factor, uint32_t more) {
    uint64_t carry = more;
    for (size_t i = 0; i < b->n; i++) {
        carry += (uint64_t)b->w[i] * factor;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    big_push(b, (uint32_t)carry);
    big_trim(b);
}

void il_big_mul_power5(il_big *b, unsigned power) {
    static const uint32_t small[] = {1,     5,      25,      125,     625,      3125,      15625,
                                     78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125};
    const unsigned step = sizeof small / sizeof *small - 1; /* 5^13 is the last below 2^32 */
    for (; power > step; power -= step) {
        il_big_mul_add(b, small[step], 0);
    }
    il_big_mul_add(b, small[power], 0);
}

void il_big_shift(il_big *b, unsigned bits) {
    const size_t words = bits / 32;
    bits %= 32;
    if (bits > 0) {
        uint32_t low = 0;
        for (size_t i = 0; i < b->n; i++) {
            const uint32_t word = b->w[i];
            b->w[i] = word << bits | low;
            low = word >> (32 - bits);
        }
        big_push(b, low);
    }
    if (words > 0 && words < IL_BIG_WORDS && b->n > 0) {
        const size_t kept = b->n < IL_BIG_WORDS - words ? b->n : IL_BIG_WORDS - words;
        memmove(b->w + words, b->w, kept * sizeof *b->w);
        memset(b->w, 0, words * sizeof *b->w);
        b->n = words + kept;
        big_trim(b);
    }
}

unsigned il_big_bits(const il_big *b) { return b->n == 0 ? 0 : (unsigned)b->n * 32 - (unsigned)__builtin_clz(b->w[b->n - 1]); }

int il_big_cmp(const il_big *a, const il_big *b) {
    if (a->n != b->n) {
        return a->n < b->n ? -1 : 1;
    }
    for (size_t i = a->n; i-- > 0;) {
        if (a->w[i] != b->w[i]) {
            return a->w[i] < b->w[i] ? -1 : 1;
        }
    }
    return 0;
}

int il_big_cmp_sum(const il_big *a, const il_big *b, const il_big *c) {
    if (b->n > a->n) {
        return il_big_cmp_sum(b, a, c);
    }
    if (a->n > c->n) {
        return 1;
    }
    if (a->n + 1 < c->n) {
        return -1;
    }
    il_big sum;
    uint64_t carry = 0;
    for (sum.n = 0; sum.n < a->n; sum.n++) {
        carry += (uint64_t)a->w[sum.n] + (sum.n < b->n ? b->w[sum.n] : 0);
        sum.w[sum.n] = (uint32_t)carry;
        carry >>= 32;
    }
    big_push(&sum, (uint32_t)carry);
    return il_big_cmp(&sum, c);
}

/* Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D, one step: what the two leading words of the dividend and the
 * leading word of a divisor of full length say is at most 2 too much. */
uint32_t il_big_divide(il_big *dividend, const il_big *divisor) {
    const size_t n = divisor->n;
    if (n == 0 || dividend->n < n) {
        return 0;
    }
    uint32_t over = dividend->n > n ? dividend->w[n] : 0; /* the word above the divisor's last */
    const uint64_t guess = ((uint64_t)over << 32 | dividend->w[n - 1]) / divisor->w[n - 1];
    uint32_t q = guess > UINT32_MAX ? UINT32_MAX : (uint32_t)guess;
    uint64_t carry = 0, borrow = 0;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)divisor->w[i] * q;
        const uint64_t difference = (uint64_t)dividend->w[i] - (uint32_t)carry - borrow;
        dividend->w[i] = (uint32_t)difference;
        borrow = difference >> 63;
        carry >>= 32;
    }
    over = over - (uint32_t)carry - (uint32_t)borrow;
    for (int back = 0; back < 2 && over != 0; back++, q--) { /* below 0: add back */
        carry = 0;
        for (size_t i = 0; i < n; i++) {
            carry += (uint64_t)dividend->w[i] + divisor->w[i];
            dividend->w[i] = (uint32_t)carry;
            carry >>= 32;
        }
        over += (uint32_t)carry;
    }
    dividend->n = n;
    big_trim(dividend);
    return q;
}
