/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints of a stream. Each stands for the 7 bytes from a place on that is a multiple of 6, so that every run of 12 bytes (and so of 12 characters)
 * holds one wherever it lies; a query is asked for at every place, not only at each sixth. With each goes a sketch of the five bytes before and the five behind
 * it: two bits of each of the nearest three, one of each of the others. A run of 12 around both reaches over at least five of these ten in one piece, so most that share
 * but 7 bytes are told apart without looking at the text. */
#pragma once
#include "provenance/index.h"
#include "provenance/normal.h"
#include "provenance/posting.h"

enum { IL_PRINT_BYTES = 7, IL_PRINT_STEP = 6, IL_PRINT_AROUND = 5 };
_Static_assert(IL_PRINT_BYTES + IL_PRINT_STEP - 1 == IL_INDEX_RUN && IL_PRINT_BYTES + IL_PRINT_AROUND == IL_INDEX_RUN,
               "a run holds a fingerprint");

/* The bytes of the fingerprint at p, as a number: the byte behind them is not in it. */
static inline uint64_t il_print_load(const uint8_t *p) { return il_load8(p) << 8; }
/* Whether one of the bytes is a mark between readings: 0xfe or 0xff. */
static inline bool il_print_marked(uint64_t bytes) {
    const uint64_t low = ~bytes & UINT64_C(0xfefefefefefefefe); /* zero bytes are marks */
    return ((low - UINT64_C(0x0101010101010101)) & ~low & UINT64_C(0x8080808080808080)) != 0;
}
static inline uint32_t il_print_key(uint64_t bytes) {
    bytes *= UINT64_C(0x9e3779b97f4a7c15);
    bytes ^= bytes >> 32;
    bytes *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(bytes >> (64 - IL_POSTING_KEY));
}
/* The sketch of five bytes: the nearest lowest in `five`, highest in what comes out. One product moves each byte's bits to their place. */
static inline uint32_t il_print_side(uint64_t five) {
    const uint64_t bits = (five ^ five >> 2 ^ five >> 4) & UINT64_C(0x0101030303);
    return (uint32_t)(bits * (UINT64_C(1) << 38 | UINT64_C(1) << 28 | UINT64_C(1) << 18 | UINT64_C(1) << 9 | 1) >> 32) & 0xff;
}
/* Of the eight bytes before it and the eight behind it. */
static inline uint16_t il_print_sketch_of(uint64_t before, uint64_t behind) {
    return (uint16_t)(il_print_side(__builtin_bswap64(before)) << 8 | il_print_side(behind));
}
uint16_t il_print_sketch_end(const uint8_t *p, size_t n, size_t at); /* il_print_sketch near either end */
/* The sketch of the fingerprint at byte `at` of n: what is left of it in the high byte. */
static inline uint16_t il_print_sketch(const uint8_t *p, size_t n, size_t at) {
    return at < 8 || at + IL_PRINT_BYTES + 8 > n ? il_print_sketch_end(p, n, at)
                                                 : il_print_sketch_of(il_load8(p + at - 8), il_load8(p + at + IL_PRINT_BYTES));
}
/* How many bytes from the nearest on may be alike, of what is unlike on one side. */
static inline uint32_t il_print_reach(unsigned unlike) {
    return (unlike & 0xff) == 0   ? 5
           : (unlike & 0xfe) == 0 ? 4
           : (unlike & 0xfc) == 0 ? 3
           : (unlike & 0xf0) == 0 ? 2
                                  : (unlike & 0xc0) == 0;
}
/* Which of eight sketches may lie in one run of 12 with this one, as il_posting_same says it. Six ways to have five bytes in one piece. */
static inline uint32_t il_print_alike(const uint8_t *sketches, uint16_t sketch) {
    typedef uint16_t print_eight __attribute__((vector_size(IL_BLOCK_PART)));
    print_eight u;
    memcpy(&u, sketches, sizeof u);
    u ^= sketch;
    return (uint32_t)il_sixteen_bits((il_sixteen)((u & 0x00ff) == 0) | (il_sixteen)((u & 0xc0fe) == 0) |
                                     (il_sixteen)((u & 0xf0fc) == 0) | (il_sixteen)((u & 0xfcf0) == 0) |
                                     (il_sixteen)((u & 0xfec0) == 0) | (il_sixteen)((u & 0xff00) == 0));
}
