/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints of a stream. Each stands for the 8 bytes from a place on that is a multiple of 5, so that every run of 12 bytes (and so of 12 characters)
 * holds one wherever it lies; a query is asked for at every place, not only at each fifth. With each goes a sketch of the four bytes before and the four behind
 * it, two bits a byte: a run of 12 around both reaches over at least four of these eight in one piece, so most that share but 8 bytes are told apart without looking
 * at the text. */
#pragma once
#include "provenance/index.h"
#include "provenance/normal.h"

enum { IL_PRINT_BYTES = 8, IL_PRINT_STEP = 5, IL_PRINT_AROUND = 4 };
_Static_assert(IL_PRINT_BYTES + IL_PRINT_STEP - 1 == IL_INDEX_RUN && IL_PRINT_BYTES + IL_PRINT_AROUND == IL_INDEX_RUN,
               "a run holds a fingerprint");

/* Whether one of the bytes is a mark between readings: 0xfe or 0xff. */
static inline bool il_print_marked(uint64_t bytes) {
    const uint64_t low = ~bytes & UINT64_C(0xfefefefefefefefe); /* zero bytes are marks */
    return ((low - UINT64_C(0x0101010101010101)) & ~low & UINT64_C(0x8080808080808080)) != 0;
}
static inline uint32_t il_print_key(uint64_t bytes) {
    bytes *= UINT64_C(0x9e3779b97f4a7c15);
    bytes ^= bytes >> 32;
    bytes *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(bytes >> 32);
}
/* Two bits of each of four bytes, the first lowest. */
static inline uint32_t il_print_two_bits(uint32_t four) {
    const uint32_t two = (four ^ four >> 2 ^ four >> 4) & 0x03030303;
    return (two | two >> 6 | two >> 12 | two >> 18) & 0xff;
}
uint16_t il_print_sketch_end(const uint8_t *p, size_t n, size_t at); /* il_print_sketch near either end */
/* The sketch of the fingerprint at byte `at` of n: left of it in the high byte, the nearest highest; right of it in the low byte, the nearest lowest. */
static inline uint16_t il_print_sketch(const uint8_t *p, size_t n, size_t at) {
    if (at < IL_PRINT_AROUND || at + IL_PRINT_BYTES + IL_PRINT_AROUND > n) {
        return il_print_sketch_end(p, n, at);
    }
    const uint32_t left = (uint32_t)il_load8(p + at - IL_PRINT_AROUND),
                   right = (uint32_t)(il_load8(p + at + IL_PRINT_AROUND) >> 32);
    return (uint16_t)(il_print_two_bits(left) << 8 | il_print_two_bits(right));
}
/* Whether the two may lie in one run of 12, by their sketches. */
static inline bool il_print_alike(uint16_t a, uint16_t b) {
    const unsigned unlike = (unsigned)(a ^ b); /* none, one, .. four bytes to the left, and the others to the right */
    return (unlike & 0x00ff) == 0 || (unlike & 0xc03f) == 0 || (unlike & 0xf00f) == 0 || (unlike & 0xfc03) == 0 ||
           (unlike & 0xff00) == 0;
}
/* How many bytes to its left and to its right are alike. */
void il_print_reach(uint16_t a, uint16_t b, uint32_t *left, uint32_t *right);
