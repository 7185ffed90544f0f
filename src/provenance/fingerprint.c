/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/fingerprint.h"

static uint16_t print_two_bits(uint8_t c) { return (uint16_t)((c ^ c >> 2 ^ c >> 4) & 3); }

/* Left of it in the high byte, the nearest highest; right of it in the low byte, the nearest lowest. */
uint16_t il_print_sketch(const uint8_t *p, size_t n, size_t at) {
    uint16_t sketch = 0;
    for (size_t k = 0; k < IL_PRINT_AROUND; k++) {
        const uint8_t left = at > k ? p[at - 1 - k] : IL_NORMAL_END;
        const uint8_t right = at + IL_PRINT_BYTES + k < n ? p[at + IL_PRINT_BYTES + k] : IL_NORMAL_END;
        sketch = (uint16_t)(sketch | print_two_bits(left) << (14 - 2 * k) | print_two_bits(right) << 2 * k);
    }
    return sketch;
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
