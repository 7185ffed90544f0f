/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers large enough to convert any double exactly, and no larger: on the stack, without allocation. For
 * src/base/double*.c only; their callers bound what they compute, and what would not fit is dropped, never written past the end. */
#pragma once
#include "interlock/base.h"

/* The largest: 769 decimal digits shifted by 64 bits and once more by up to 31 (double_parse.c), in words of 32 bits. */
enum { IL_BIG_WORDS = 88 };
typedef struct il_big {
    size_t n;                 /* words in use: the last is not 0; none is the number 0 */
    uint32_t w[IL_BIG_WORDS]; /* little end first */
} il_big;

void il_big_set(il_big *b, uint64_t v);
void il_big_mul_add(il_big *b, uint32_t factor, uint32_t more);
void il_big_mul_power5(il_big *b, unsigned power);
void il_big_shift(il_big *b, unsigned bits); /* to the left */
unsigned il_big_bits(const il_big *b);       /* its length; 0 for 0 */
/* <0, 0 or >0. */
int il_big_cmp(const il_big *a, const il_big *b);
/* a + b against c. */
int il_big_cmp_sum(const il_big *a, const il_big *b, const il_big *c);
/* Returns dividend / divisor and leaves the rest in *dividend. The quotient must be below 2^32 and the divisor's length a
 * multiple of 32 bits. */
uint32_t il_big_divide(il_big *dividend, const il_big *divisor);
