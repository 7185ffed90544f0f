/* SPDX-License-Identifier: Apache-2.0 */
/* Explores a machine with the step that `machine export --c` wrote: `STATES EDGES`, or `FAULT` as soon as a step is one. No table is read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int machine_step(uint64_t state, uint32_t symbol, uint64_t *next, unsigned *reason);

#define SLOTS (1u << 20)
static uint64_t queue[SLOTS], slots[SLOTS]; /* a slot holds its state plus 1 */

/* Whether it was new. */
static int put(uint64_t state) {
    uint32_t at = (uint32_t)((state * UINT64_C(0x9E3779B97F4A7C15)) >> 44);
    for (; slots[at] != 0 && slots[at] != state + 1; at = (at + 1) % SLOTS) {
    }
    int fresh = slots[at] == 0;
    slots[at] = state + 1;
    return fresh;
}

int main(void) {
    uint32_t n = (uint32_t)put(0); /* every machine begins in state 0 */
    unsigned long edges = 0;
    for (uint32_t i = 0; i < n && n < SLOTS / 2; i++) {
        uint64_t next = 0;
        unsigned reason = 0;
        for (uint32_t s = 0; reason != 254; s++) { /* no such symbol */
            int verdict = machine_step(queue[i], s, &next, &reason);
            if (verdict == 3) {
                return puts("FAULT") < 0;
            }
            edges += verdict == 1;
            if (verdict == 1 && put(next)) {
                queue[n++] = next;
            }
        }
    }
    printf("%u %lu\n", n, edges);
    return 0;
}
