/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for 64-bit keys, from 0 in the order in which they are met: what a product packs in place of states that are too wide for it. */
#pragma once
#include "interlock/base.h"

typedef struct il_numbers {
    const il_alloc *alloc;
    uint64_t *keys; /* n entries, by number */
    uint32_t n, cap;
    uint32_t *slots, bits; /* open addressing: number plus 1, 0 empty */
} il_numbers;

#define IL_NO_NUMBER UINT32_MAX
#define IL_NUMBERS_MAX (UINT32_C(1) << 24)

void il_numbers_init(il_numbers *t, const il_alloc *alloc);
void il_numbers_free(il_numbers *t);
/* IL_NO_NUMBER when the key has none. */
uint32_t il_numbers_find(const il_numbers *t, uint64_t key);
/* Its number, a new one if need be; IL_NO_NUMBER when memory ran out or there are IL_NUMBERS_MAX. */
uint32_t il_numbers_of(il_numbers *t, uint64_t key);
