/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the host for the core in WebAssembly: gives it memory, and a way to numbers and text, which JavaScript knows too. Everything else
 * the smoke test calls is the public API, exported as it is. */
#include "base/double.h"
#include "base/time.h"
#include "base/utf8.h"
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
__attribute__((visibility("default"))) uint32_t host_number_text(double d, char *out);
__attribute__((visibility("default"))) double host_number(const char *text, size_t n);
__attribute__((visibility("default"))) double host_time(const char *text, size_t n);
__attribute__((visibility("default"))) uint32_t host_points(const char *text, size_t n);

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

/* The text of a number as JSON has it: IL_DOUBLE_TEXT bytes at `out`. */
uint32_t host_number_text(double d, char *out) { return (uint32_t)il_double_text(d, IL_DOUBLE_JSON, out); }

/* NaN: not a number. */
double host_number(const char *text, size_t n) {
    double d;
    return il_double_parse((il_str){text, n}, &d) ? d : il_double_of_bits(UINT64_C(0x7ff8) << 48);
}

/* Milliseconds since 1970, as Date has them; NaN: not a time. */
double host_time(const char *text, size_t n) {
    il_time t;
    if (!il_time_parse((il_str){text, n}, &t)) {
        return il_double_of_bits(UINT64_C(0x7ff8) << 48);
    }
    return (double)t.seconds * 1000 + (double)(t.nanos / 1000000);
}

uint32_t host_points(const char *text, size_t n) { return (uint32_t)il_utf8_count((il_str){text, n}); }
