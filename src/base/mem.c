/* SPDX-License-Identifier: Apache-2.0 */
/* The four functions that compilers call on their own, for the freestanding build only: a hosted C library has better ones. */
#include "base/mem.h"

#ifdef __wasm__
#ifndef __wasm_bulk_memory__
#error "these three would call themselves: compile with -mbulk-memory (cmake/wasm32.cmake)"
#endif

/* One instruction each. */
void *memcpy(void *restrict to, const void *restrict from, size_t n) { return __builtin_memcpy(to, from, n); }
void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
void *memset(void *to, int byte, size_t n) { return __builtin_memset(to, byte, n); }

/* Without the attribute clang would recognise the loop and call the very function that it stands in. */
__attribute__((no_builtin)) int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a;
    const unsigned char *y = b;
    for (size_t i = 0; i < n; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

#endif
