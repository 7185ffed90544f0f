/* SPDX-License-Identifier: Apache-2.0 */
/* Sixty-four bytes at a time: of each whether it is of a class, as one bit. Classes are found of sixteen bytes at once, in the vectors that gcc and clang make of
 * whatever a processor has. */
#pragma once
#include "base/mem.h"
#include "provenance/normal.h"

enum { IL_BLOCK = 64, IL_BLOCK_PART = 16 };

/* Sixteen bytes; of a comparison each has all bits or none. */
typedef uint8_t il_sixteen __attribute__((vector_size(IL_BLOCK_PART)));
#define IL_SIXTEEN(comparison) ((il_sixteen)(comparison))

static inline il_sixteen il_sixteen_load(const uint8_t *p) {
    il_sixteen out;
    memcpy(&out, p, sizeof out);
    return out;
}
/* Bit i: byte i has all bits, not none. */
static inline uint64_t il_sixteen_bits(il_sixteen flags) {
#ifdef __SSE2__ /* every x86-64 has it: one instruction for what stands below, which gives the same */
    typedef char sixteen_chars __attribute__((vector_size(IL_BLOCK_PART)));
    return (uint16_t)__builtin_ia32_pmovmskb128((sixteen_chars)flags);
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), gather = UINT64_C(0x0102040810204080);
    uint8_t p[IL_BLOCK_PART];
    memcpy(p, &flags, sizeof p);
    return (il_load8(p) & ones) * gather >> 56 | ((il_load8(p + 8) & ones) * gather >> 56) << 8;
#endif
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
