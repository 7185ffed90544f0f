/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

static void *probe_get(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}
static void probe_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}
const il_alloc probe_alloc = {probe_get, probe_put, NULL};

_Noreturn void probe_stop(const char *what) {
    (void)fprintf(stderr, "probe: %s\n", what);
    exit(2);
}

static int probe_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

il_str probe_bytes(char *hex) {
    size_t n = 0;
    while (probe_digit(hex[2 * n]) >= 0) {
        hex[n] = (char)(probe_digit(hex[2 * n]) << 4 | probe_digit(hex[2 * n + 1]));
        n++;
    }
    return (il_str){hex, n};
}
