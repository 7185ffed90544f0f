/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "base/mem.h"

static void sort_swap(unsigned char *a, unsigned char *b, size_t width) {
    unsigned char kept[64];
    for (size_t done = 0; done < width;) {
        const size_t n = width - done < sizeof kept ? width - done : sizeof kept;
        memcpy(kept, a + done, n);
        memcpy(a + done, b + done, n);
        memcpy(b + done, kept, n);
        done += n;
    }
}

/* Restores the heap below `at`: no item stands before one of those under it. */
static void sort_sink(unsigned char *items, size_t at, size_t n, size_t width, il_sort_before *before) {
    while (at < n / 2) {
        size_t child = 2 * at + 1;
        child += child + 1 < n && before(items + child * width, items + (child + 1) * width);
        if (!before(items + at * width, items + child * width)) {
            return;
        }
        sort_swap(items + at * width, items + child * width, width);
        at = child;
    }
}

void il_sort(void *items, size_t n, size_t width, il_sort_before *before) {
    unsigned char *bytes = items;
    for (size_t i = n / 2; i-- > 0;) {
        sort_sink(bytes, i, n, width, before);
    }
    for (size_t i = n; i-- > 1;) {
        sort_swap(bytes, bytes + i * width, width);
        sort_sink(bytes, 0, i, width, before);
    }
}
