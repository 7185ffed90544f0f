/* SPDX-License-Identifier: Apache-2.0 */
/* The negative control of scripts/fuzz: a fault that is planted where only coverage leads. Must be found, or fuzzing shows nothing. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool planted = false;
    if (size > 5 && data[0] == 'f') {
        if (data[1] == 'a' && data[2] == 'u') {
            planted = data[3] == 'l' && data[4] == 't';
        }
    }
    FUZZ_CHECK(!planted);
    return 0;
}
