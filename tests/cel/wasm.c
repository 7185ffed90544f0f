/* SPDX-License-Identifier: Apache-2.0 */
/* The same for WebAssembly: vector_take gives room for a test's text, vector_answer the address of its answer, which ends with a NUL. */
#include "vector.h"
#include "json/node.h"

#define WASM_HEAP_BYTES (96u << 20)
#define WASM_EXPORT __attribute__((visibility("default")))

static _Alignas(16) uint8_t wasm_heap[WASM_HEAP_BYTES];
static size_t wasm_used;

WASM_EXPORT void *vector_take(size_t n);
WASM_EXPORT const char *vector_answer(const char *text, size_t n);

/* Given back as a whole by the next test. */
static void *wasm_get(void *ctx, size_t n) {
    size_t need = (n + 15u) & ~(size_t)15u;
    (void)ctx;
    if (need < n || need > WASM_HEAP_BYTES - wasm_used) {
        return NULL;
    }
    void *p = wasm_heap + wasm_used;
    wasm_used += need;
    return p;
}
static void wasm_put(void *ctx, void *p) {
    (void)ctx;
    (void)p;
}

void *vector_take(size_t n) {
    wasm_used = 0;
    return wasm_get(NULL, n);
}

const char *vector_answer(const char *text, size_t n) {
    static const il_alloc alloc = {wasm_get, wasm_put, NULL};
    il_json_doc *doc = NULL;
    il_error err = {0};
    il_arena arena;
    il_buf out;
    il_str answer;
    il_arena_init(&arena, &alloc, (size_t)16 << 20);
    il_buf_init(&out, &arena, (size_t)8 << 20);
    if (il_json_doc_new(&alloc, (il_str){text, n}, NULL, &doc, &err) != IL_OK ||
        vector_run(&alloc, il_json_doc_root(doc), &out, &err) != IL_OK) {
        return "{\"failed\":true}";
    }
    il_buf_putc(&out, 0);
    return il_buf_done(&out, &answer, &err) == IL_OK ? answer.p : "{\"failed\":true}";
}
