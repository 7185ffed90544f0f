/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the host for the core in WebAssembly: gives it memory. Everything else the smoke test calls is
 * the public API, exported as it is. */
#include "interlock/machine.h"

#define HOST_HEAP_BYTES (8u << 20)

static _Alignas(16) uint8_t host_heap[HOST_HEAP_BYTES];
static size_t host_used;
static il_error host_err;

__attribute__((visibility("default"))) void *host_take(size_t n);
__attribute__((visibility("default"))) const il_machine *host_open(const uint8_t *table, size_t table_bytes,
                                                                   const uint8_t *certificate, size_t certificate_bytes);
__attribute__((visibility("default"))) const char *host_message(void);
__attribute__((visibility("default"))) uint32_t host_code(void);

/* Never given back: a smoke test is short. */
void *host_take(size_t n) {
    size_t need = (n + 15u) & ~(size_t)15u;
    if (need < n || need > HOST_HEAP_BYTES - host_used)
        return NULL;
    void *p = host_heap + host_used;
    host_used += need;
    return p;
}

static void *host_alloc(void *ctx, size_t n) {
    (void)ctx;
    return host_take(n);
}

static void host_free(void *ctx, void *p) {
    (void)ctx;
    (void)p;
}

const il_machine *host_open(const uint8_t *table, size_t table_bytes, const uint8_t *certificate, size_t certificate_bytes) {
    static const il_alloc alloc = {host_alloc, host_free, NULL};
    il_machine *m = NULL;
    host_err = (il_error){0};
    if (il_machine_open(&alloc, (il_str){(const char *)table, table_bytes},
                        (il_str){(const char *)certificate, certificate_bytes}, &m, &host_err) != IL_OK)
        return NULL;
    return m;
}

const char *host_message(void) { return host_err.msg; }

uint32_t host_code(void) { return (uint32_t)host_err.code; }
