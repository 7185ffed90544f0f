/* SPDX-License-Identifier: Apache-2.0 */
/* What every harness shares. A harness is LLVMFuzzerTestOneInput(): it asserts what must hold for any input, and aborts when it
 * does not. */
#pragma once
#include "interlock/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stops the run: an assertion of a harness failed. Not assert(), which release builds leave out. */
static inline _Noreturn void fuzz_stop(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

#define FUZZ_CHECK(cond)                          \
    do {                                          \
        if (!(cond)) {                            \
            fuzz_stop(__FILE__, __LINE__, #cond); \
        }                                         \
    } while (0)

static inline void *fuzz_get(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}

static inline void fuzz_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

/* An allocator over malloc. */
static inline il_alloc fuzz_alloc(void) { return (il_alloc){fuzz_get, fuzz_put, NULL}; }

/* What is left of the input for a harness that takes it apart; zeros behind its end. */
typedef struct fuzz_input {
    const uint8_t *p;
    size_t n;
} fuzz_input;

static inline uint8_t fuzz_u8(fuzz_input *in) {
    if (in->n == 0) {
        return 0;
    }
    in->n--;
    return *in->p++;
}

static inline uint64_t fuzz_u64(fuzz_input *in) {
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        v |= (uint64_t)fuzz_u8(in) << (8 * i);
    }
    return v;
}

/* At most `n` bytes, borrowed. */
static inline il_str fuzz_bytes(fuzz_input *in, size_t n) {
    const il_str s = {(const char *)in->p, n < in->n ? n : in->n};
    in->p += s.n;
    in->n -= s.n;
    return s;
}
