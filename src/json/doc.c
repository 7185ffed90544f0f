/* SPDX-License-Identifier: Apache-2.0 */
#include "json/node.h"

struct il_json_doc {
    il_alloc alloc;
    il_arena arena;
    il_json *root;
};

il_status il_json_doc_new(const il_alloc *alloc, il_str text, const il_json_limits *limits, il_json_doc **out, il_error *err) {
    *out = NULL;
    il_json_limits filled;
    IL_TRY(il_json_limits_fill(limits, &filled, err));
    il_json_doc *doc = alloc->alloc(alloc->ctx, sizeof *doc);
    if (doc == NULL) {
        return il_error_at(err, IL_E_MEMORY, 1, 1, 0, "out of memory");
    }
    doc->alloc = *alloc;
    doc->root = NULL;
    il_arena_init(&doc->arena, &doc->alloc, filled.memory);
    const il_status status = il_json_parse(&doc->arena, text, &filled, &doc->root, err);
    if (status != IL_OK) {
        il_json_doc_free(doc);
        return status;
    }
    *out = doc;
    return IL_OK;
}

void il_json_doc_free(il_json_doc *doc) {
    if (doc != NULL) {
        const il_alloc alloc = doc->alloc;
        il_arena_free(&doc->arena);
        alloc.free(alloc.ctx, doc);
    }
}

const il_json *il_json_doc_root(const il_json_doc *doc) { return doc == NULL ? NULL : doc->root; }

il_status il_json_text_new(const il_alloc *alloc, const il_json *v, il_json_order order, char **text, size_t *n, il_error *err) {
    *text = NULL;
    *n = 0;
    il_arena arena;
    il_buf b;
    il_str written;
    il_arena_init(&arena, alloc, SIZE_MAX);
    il_buf_init(&b, &arena, SIZE_MAX - 1);
    il_json_write(&b, v, order);
    il_status status = il_buf_done(&b, &written, err);
    if (status == IL_OK) {
        *text = alloc->alloc(alloc->ctx, written.n + 1);
        if (*text == NULL) {
            status = il_error_set(err, IL_E_MEMORY, "out of memory");
        } else {
            memcpy(*text, written.p, written.n);
            (*text)[written.n] = '\0';
            *n = written.n;
        }
    }
    il_arena_free(&arena);
    return status;
}
