/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/fingerprint.h"

uint16_t il_print_sketch_end(const uint8_t *p, size_t n, size_t at) {
    uint8_t before[8], behind[8];
    for (size_t k = 0; k < 8; k++) {
        before[7 - k] = at > k ? p[at - 1 - k] : IL_NORMAL_END;
        behind[k] = at + IL_PRINT_BYTES + k < n ? p[at + IL_PRINT_BYTES + k] : IL_NORMAL_END;
    }
    return il_print_sketch_of(il_load8(before), il_load8(behind));
}
