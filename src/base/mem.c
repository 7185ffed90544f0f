/* SPDX-License-Identifier: Apache-2.0 */
/* The four functions that compilers call on their own, for the freestanding build only: a hosted C library has better ones. */
#include "base/mem.h"

#ifdef __wasm__

/* Without the attribute clang would recognise each loop and call the very function that it stands in. */
#define MEM_AS_WRITTEN __attribute__((no_builtin))

MEM_AS_WRITTEN void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < n; i++) {
        t[i] = f[i];
    }
    return to;
}

MEM_AS_WRITTEN void *memmove(void *to, const void *from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if ((uintptr_t)t < (uintptr_t)f) {
        for (size_t i = 0; i < n; i++) {
            t[i] = f[i];
        }
    } else {
        for (size_t i = n; i > 0; i--) {
            t[i - 1] = f[i - 1];
        }
    }
    return to;
}

MEM_AS_WRITTEN void *memset(void *to, int byte, size_t n) {
    unsigned char *t = to;
    for (size_t i = 0; i < n; i++) {
        t[i] = (unsigned char)byte;
    }
    return to;
}

MEM_AS_WRITTEN int memcmp(const void *a, const void *b, size_t n) {
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
