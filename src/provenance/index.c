/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/index.h"

#include "provenance/index_part.h"

enum { INDEX_TEXT_BYTES = 16 << 20, INDEX_INDEX_BYTES = 64 << 20 };

il_status il_index_new(const il_alloc *alloc, const il_index_limits *limits, il_index **out, il_error *err) {
    *out = NULL;
    if (limits != NULL && limits->size != sizeof *limits) {
        return il_error_set(err, IL_E_ARGUMENT, "il_index_limits.size is not that of this library");
    }
    il_index *x = alloc->alloc(alloc->ctx, sizeof *x);
    if (x == NULL) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    *x = (il_index){.alloc = *alloc,
                    .text_max = limits != NULL && limits->text_bytes != 0 ? limits->text_bytes : INDEX_TEXT_BYTES,
                    .index_max = limits != NULL && limits->index_bytes != 0 ? limits->index_bytes : INDEX_INDEX_BYTES};
    il_postings_init(&x->prints, &x->alloc, true);
    il_postings_init(&x->words, &x->alloc, false);
    *out = x;
    return IL_OK;
}

static void index_forget(il_index *x, il_index_text *t) {
    if (t->p != NULL) {
        x->alloc.free(x->alloc.ctx, t->p);
        t->p = NULL;
        x->kept--;
        x->kept_bytes -= t->n + t->gaps_n;
    }
}

void il_index_free(il_index *x) {
    if (x == NULL) {
        return;
    }
    for (size_t i = 0; i < x->n; i++) {
        index_forget(x, &x->texts[i]);
    }
    il_postings_free(&x->prints);
    il_postings_free(&x->words);
    x->alloc.free(x->alloc.ctx, x->texts);
    x->alloc.free(x->alloc.ctx, x);
}

bool il_index_complete(const il_index *x) { return !x->incomplete; }

il_index_size il_index_measure(const il_index *x) {
    return (il_index_size){.texts = x->kept,
                           .text_bytes = x->kept_bytes,
                           .index_bytes =
                               il_postings_bytes(&x->prints) + il_postings_bytes(&x->words) + x->cap * sizeof *x->texts};
}

const il_index_text *il_index_text_at(const il_index *x, uint32_t place) {
    size_t from = 0, to = x->n;
    while (to - from > 1) {
        const size_t middle = from + (to - from) / 2;
        if (x->texts[middle].first <= place) {
            from = middle;
        } else {
            to = middle;
        }
    }
    return &x->texts[from];
}

/* ---- adding ---------------------------------------------------------------------------------------- */

/* The stream of the text as it is kept; `t->p` stays NULL when it is too large. */
static il_status index_keep(il_index *x, il_str text, il_index_text *t, il_error *err) {
    il_arena scratch;
    il_stream s;
    bool cut = false;
    il_arena_init(&scratch, &x->alloc, SIZE_MAX / 2);
    il_status status = il_digest_stream(text, false, &scratch, &s, &cut, err);
    if (status == IL_OK && s.n != t->n) {
        status = il_error_set(err, IL_E_ARGUMENT, "the digest is not that of the text");
    }
    if (status == IL_OK && t->n + t->gaps_n <= x->text_max) {
        t->p = x->alloc.alloc(x->alloc.ctx, t->n + t->gaps_n);
        if (t->p == NULL) {
            status = il_error_set(err, IL_E_MEMORY, "no memory to keep a text");
        } else {
            memcpy(t->p, s.p, t->n);
            memcpy(t->p + t->n, s.gaps, t->gaps_n);
        }
    }
    il_arena_free(&scratch);
    return status;
}

static il_status index_room(il_index *x, il_error *err) {
    if (x->n < x->cap) {
        return IL_OK;
    }
    const size_t cap = x->cap + x->cap / 2 + 16;
    il_index_text *texts = x->alloc.alloc(x->alloc.ctx, cap * sizeof *texts);
    if (texts == NULL) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    if (x->n > 0) {
        memcpy(texts, x->texts, x->n * sizeof *texts);
    }
    x->alloc.free(x->alloc.ctx, x->texts);
    x->texts = texts;
    x->cap = cap;
    return IL_OK;
}

static void index_insert(il_index *x, const il_digest *d, const il_index_text *t) {
    il_posting row;
    for (il_digest_part part = d->prints; il_digest_next(&part, &row);) {
        row.place += t->first;
        il_postings_add(&x->prints, row);
    }
    for (il_digest_part part = d->words; il_digest_next(&part, &row);) {
        row.place += t->first;
        il_postings_add(&x->words, row);
    }
    il_postings_commit(&x->prints);
    il_postings_commit(&x->words);
    x->texts[x->n++] = *t;
    x->places = t->first + t->n / IL_PRINT_STEP + 1;
    if (t->p != NULL) {
        x->kept++;
        x->kept_bytes += t->n + t->gaps_n;
        while (x->kept_bytes > x->text_max) {
            x->incomplete = true;
            index_forget(x, &x->texts[x->oldest++]);
        }
    }
}

il_status il_index_add(il_index *x, uint32_t source, il_str digest, il_str text, il_error *err) {
    il_digest d;
    IL_TRY(il_digest_open(digest, &d, err));
    if (x->n > 0 && source < x->last) {
        return il_error_set(err, IL_E_ARGUMENT, "source %u comes after source %u", source, x->last);
    }
    il_index_text t = {.first = x->places, .source = source, .n = d.stream, .gaps_n = d.stream / 8 + 1};
    const size_t bytes = il_postings_bytes_with(&x->prints, d.prints.n) + il_postings_bytes_with(&x->words, d.words.n) +
                         (x->cap + x->cap / 2 + 16) * sizeof *x->texts;
    if (bytes > x->index_max || d.stream / IL_PRINT_STEP + 1 > IL_POSTING_PLACES - x->places) {
        x->incomplete = true;
        return IL_OK;
    }
    IL_TRY(index_room(x, err));
    if (text.n > 0) {
        IL_TRY(index_keep(x, text, &t, err));
    }
    il_status s = il_postings_reserve(&x->prints, d.prints.n, err);
    s = s == IL_OK ? il_postings_reserve(&x->words, d.words.n, err) : s;
    if (s != IL_OK) {
        il_postings_cancel(&x->prints);
        x->alloc.free(x->alloc.ctx, t.p);
        return s;
    }
    /* Of a text that nobody has here more is found than it says, never less (il_index_names, il_index_find). When texts no longer fit does not depend on which of them
     * are here, or it would be another answer after a restart. */
    x->given += t.n + t.gaps_n;
    x->incomplete = x->incomplete || d.cut || x->given > x->text_max;
    x->sources += x->n == 0 || source != x->last;
    x->last = source;
    index_insert(x, &d, &t);
    return IL_OK;
}
