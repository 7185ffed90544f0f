/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/fingerprint.h"

/* Two bits of each of four bytes, the first lowest. */
static uint32_t print_two_bits(uint32_t four) {
    const uint32_t two = (four ^ four >> 2 ^ four >> 4) & 0x03030303;
    return (two | two >> 6 | two >> 12 | two >> 18) & 0xff;
}

static uint32_t print_four(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

/* Left of it in the high byte, the nearest highest; right of it in the low byte, the nearest lowest. */
uint16_t il_print_sketch(const uint8_t *p, size_t n, size_t at) {
    if (at >= IL_PRINT_AROUND && at + IL_PRINT_BYTES + IL_PRINT_AROUND <= n) {
        return (uint16_t)(print_two_bits(print_four(p + at - IL_PRINT_AROUND)) << 8 | print_two_bits(print_four(p + at + IL_PRINT_BYTES)));
    }
    uint8_t around[2 * IL_PRINT_AROUND];
    for (size_t k = 0; k < IL_PRINT_AROUND; k++) {
        around[IL_PRINT_AROUND - 1 - k] = at > k ? p[at - 1 - k] : IL_NORMAL_END;
        around[IL_PRINT_AROUND + k] = at + IL_PRINT_BYTES + k < n ? p[at + IL_PRINT_BYTES + k] : IL_NORMAL_END;
    }
    return (uint16_t)(print_two_bits(print_four(around)) << 8 | print_two_bits(print_four(around + IL_PRINT_AROUND)));
}

void il_print_reach(uint16_t a, uint16_t b, uint32_t *left, uint32_t *right) {
    const uint16_t unlike = a ^ b;
    *left = *right = 0;
    while (*left < IL_PRINT_AROUND && (unlike >> (14 - 2 * *left) & 3) == 0) {
        ++*left;
    }
    while (*right < IL_PRINT_AROUND && (unlike >> 2 * *right & 3) == 0) {
        ++*right;
    }
}
