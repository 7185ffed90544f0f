/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/index_part.h"

enum { NAMES_WORK = 4 << 20 };

static il_status names_of(const il_index *x, const il_stream *s, bool (*counts)(void *ctx, uint32_t source), void *ctx,
                          bool *out) {
    il_index_needle needle;
    size_t work = NAMES_WORK;
    bool compared;
    if (!il_index_needle_of(x, s, 0, s->n, &needle)) {
        return IL_OK; /* nothing that could be told: *out is true */
    }
    il_posting_walk w = il_postings_walk(&x->words, needle.key);
    for (const il_index_text *t; (t = il_index_needle_next(x, &needle, &w, &work, &compared)) != NULL;) {
        if (counts(ctx, t->source)) {
            return IL_OK;
        }
    }
    *out = false;
    return IL_OK;
}

il_status il_index_names(const il_index *x, il_str value, bool (*counts)(void *ctx, uint32_t source), void *ctx, bool *out,
                         il_error *err) {
    il_arena scratch;
    il_stream s;
    *out = true;
    if (x->n == 0) {
        *out = false;
        return IL_OK;
    }
    il_arena_init(&scratch, &x->alloc, SIZE_MAX / 2);
    il_status status = il_stream_init(&s, &scratch, value.n, false, err);
    status = status == IL_OK ? il_stream_put(&s, value, NULL, err) : status;
    status = status == IL_OK ? names_of(x, &s, counts, ctx, out) : status;
    il_arena_free(&scratch);
    return status;
}
