/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_memory.h"

#include <stdlib.h>

static void *memory_get(void *ctx, size_t n) {
    test_memory *m = ctx;
    m->calls++;
    m->largest = n > m->largest ? n : m->largest;
    if (m->left == 0) {
        m->left = m->once ? SIZE_MAX : 0;
        m->failed = true;
        return NULL;
    }
    if (m->left != SIZE_MAX) {
        m->left--;
    }
    void *p = malloc(n == 0 ? 1 : n);
    m->live += p != NULL;
    return p;
}

static void memory_free(void *ctx, void *p) {
    test_memory *m = ctx;
    m->live -= p != NULL;
    free(p);
}

void test_memory_init(test_memory *m, size_t left) { *m = (test_memory){.alloc = {memory_get, memory_free, m}, .left = left}; }
