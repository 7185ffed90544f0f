/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "interlock/host.h"

static void *host_alloc(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n ? n : 1);
}

static void host_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

const il_alloc *il_host_alloc(void) {
    static const il_alloc alloc = {host_alloc, host_free, NULL};
    return &alloc;
}
