/* SPDX-License-Identifier: Apache-2.0 */
/* Sixty-four bytes at a time: of each whether it is of a class, as one bit. The classes are found in loops over sixteen bytes without a branch, which compilers make
 * instructions on all sixteen. */
#pragma once
#include "base/mem.h"
#include "provenance/normal.h"

enum { IL_BLOCK = 64, IL_BLOCK_PART = 16 };

/* What a loop has for each byte: all bits or none. */
#define IL_BLOCK_IF(condition) ((uint8_t)((condition) ? 0xff : 0))

/* Part `part` of a block's bits: bit i is the lowest bit of byte i. */
static inline uint64_t il_block_bits(const uint8_t flags[IL_BLOCK_PART], unsigned part) {
    const uint64_t ones = UINT64_C(0x0101010101010101), gather = UINT64_C(0x0102040810204080);
    const uint64_t low = (il_load8(flags) & ones) * gather >> 56, high = (il_load8(flags + 8) & ones) * gather >> 56;
    return (low | high << 8) << IL_BLOCK_PART * part;
}
/* The block at `at` of n bytes, as it stands or, where they end sooner, in `room`, with zeros behind. */
static inline const uint8_t *il_block_at(const uint8_t *p, size_t n, size_t at, uint8_t room[IL_BLOCK]) {
    if (n - at >= IL_BLOCK) {
        return p + at;
    }
    memset(room, 0, IL_BLOCK);
    memcpy(room, p + at, n - at);
    return room;
}
