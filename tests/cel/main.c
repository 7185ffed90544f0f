/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one test a line, writes one answer a line (vector.h). */
#include <stdio.h>
#include <stdlib.h>

#include "vector.h"
#include "json/node.h"

enum { MAIN_LINE = 16 << 20 };

static void *main_get(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}
static void main_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

int main(void) {
    const il_alloc alloc = {main_get, main_put, NULL};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n = 0;
    while ((n = getline(&line, &cap, stdin)) > 0 && n < MAIN_LINE) {
        il_json_doc *doc = NULL;
        il_error err = {0};
        il_arena arena;
        il_buf out;
        il_str text = {NULL, 0};
        il_arena_init(&arena, &alloc, (size_t)64 << 20);
        il_buf_init(&out, &arena, (size_t)32 << 20);
        il_status s = il_json_doc_new(&alloc, (il_str){line, (size_t)n}, NULL, &doc, &err);
        if (s == IL_OK) {
            s = vector_run(&alloc, il_json_doc_root(doc), &out, &err);
        }
        if (s == IL_OK) {
            s = il_buf_done(&out, &text, &err);
        }
        if (s != IL_OK) {
            printf("{\"failed\":\"%s\"}\n", err.msg);
        } else {
            printf("%.*s\n", IL_STR_ARG(text));
        }
        il_json_doc_free(doc);
        il_arena_free(&arena);
    }
    free(line);
    return 0;
}
