/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/fingerprint.h"

uint16_t il_print_sketch_end(const uint8_t *p, size_t n, size_t at) {
    uint8_t around[2 * IL_PRINT_AROUND];
    for (size_t k = 0; k < IL_PRINT_AROUND; k++) {
        around[IL_PRINT_AROUND - 1 - k] = at > k ? p[at - 1 - k] : IL_NORMAL_END;
        around[IL_PRINT_AROUND + k] = at + IL_PRINT_BYTES + k < n ? p[at + IL_PRINT_BYTES + k] : IL_NORMAL_END;
    }
    const uint64_t eight = il_load8(around);
    return (uint16_t)(il_print_two_bits((uint32_t)eight) << 8 | il_print_two_bits((uint32_t)(eight >> 32)));
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
