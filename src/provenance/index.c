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
    il_postings_init(&x->prints, &x->alloc, IL_POSTING_SKETCHED);
    il_postings_init(&x->words, &x->alloc, IL_POSTING_PLAIN);
    *out = x;
    return IL_OK;
}

static void index_forget(il_index *x, il_index_text *t) {
    if (t->p != NULL) {
        x->alloc.free(x->alloc.ctx, t->p);
        t->p = NULL;
        x->kept--;
        x->kept_bytes -= t->n + il_digest_gaps(t->n);
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
    x->alloc.free(x->alloc.ctx, x->blocks);
    x->alloc.free(x->alloc.ctx, x->groups);
    x->alloc.free(x->alloc.ctx, x);
}

bool il_index_complete(const il_index *x) { return !x->incomplete; }

/* Of what says where texts are. */
static size_t index_table(const il_index *x) {
    return x->cap * sizeof *x->texts + x->blocks_cap * sizeof *x->blocks + x->groups_cap * sizeof *x->groups;
}

il_index_size il_index_measure(const il_index *x) {
    return (il_index_size){
        .texts = x->kept, .text_bytes = x->kept_bytes, .index_bytes = x->prints.bytes + x->words.bytes + index_table(x)};
}

const il_index_text *il_index_text_at(const il_index *x, uint32_t place) {
    const size_t block = place >> IL_INDEX_BLOCK;
    size_t from = x->blocks[block], to = block + 1 < il_index_blocks(x->places) ? x->blocks[block + 1] + 1 : x->n;
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

enum { INDEX_BATCH = 256, INDEX_TEXTS = 16 };

static il_status index_grow(il_index *x, void **array, size_t have, size_t cap, size_t size, il_error *err) {
    void *p = x->alloc.alloc(x->alloc.ctx, cap * size);
    if (p == NULL) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    if (have > 0) {
        memcpy(p, *array, have * size);
    }
    x->alloc.free(x->alloc.ctx, *array);
    *array = p;
    return IL_OK;
}

/* Room for one more text, of so many places; *fits is false where the limit has none. */
static il_status index_room(il_index *x, uint32_t places, uint32_t group, bool *fits, il_error *err) {
    const size_t blocks = il_index_blocks(x->places + places), have = x->prints.bytes + x->words.bytes;
    const size_t texts = x->n < x->cap ? x->cap : x->cap + x->cap / 2 + INDEX_TEXTS;
    const size_t wide = blocks <= x->blocks_cap ? x->blocks_cap : blocks + x->blocks_cap / 2 + INDEX_TEXTS;
    const size_t groups = group / 64 < x->groups_cap ? x->groups_cap : (size_t)group / 64 + 1 + x->groups_cap / 2;
    const size_t bytes = texts * sizeof *x->texts + wide * sizeof *x->blocks + groups * sizeof *x->groups;
    *fits = have <= x->index_max && bytes <= x->index_max - have;
    if (*fits && texts > x->cap) {
        void *p = x->texts;
        IL_TRY(index_grow(x, &p, x->n, texts, sizeof *x->texts, err));
        x->texts = p;
        x->cap = texts;
    }
    if (*fits && wide > x->blocks_cap) {
        void *p = x->blocks;
        IL_TRY(index_grow(x, &p, il_index_blocks(x->places), wide, sizeof *x->blocks, err));
        x->blocks = p;
        x->blocks_cap = wide;
    }
    if (*fits && groups > x->groups_cap) {
        void *p = x->groups;
        IL_TRY(index_grow(x, &p, x->groups_cap, groups, sizeof *x->groups, err));
        x->groups = p;
        memset(x->groups + x->groups_cap, 0, (groups - x->groups_cap) * sizeof *x->groups);
        x->groups_cap = groups;
    }
    return IL_OK;
}

/* The first `n` rows of a part are taken out again. */
static void index_undo(il_postings *p, il_digest_part part, size_t n) {
    il_posting rows[INDEX_BATCH];
    while (n > 0) {
        const size_t got = il_digest_next(&part, 0, rows, n < INDEX_BATCH ? n : INDEX_BATCH);
        for (size_t i = 0; i < got; i++) {
            il_postings_drop(p, rows[i].key);
        }
        n -= got;
    }
}

/* All rows of a part, or none. */
static il_status index_rows(il_index *x, il_postings *p, const il_digest_part *rows, il_error *err) {
    il_posting list[INDEX_BATCH];
    il_digest_part part = *rows;
    const size_t others = x->prints.bytes + x->words.bytes - p->bytes + index_table(x);
    p->max = others < x->index_max ? x->index_max - others : 0;
    while (part.n > 0) {
        const size_t done = rows->n - part.n, n = il_digest_next(&part, x->places, list, INDEX_BATCH);
        const il_status s = il_postings_add(p, list, n, err);
        if (s != IL_OK) {
            index_undo(p, *rows, done);
            return s;
        }
    }
    return IL_OK;
}

static void index_text(il_index *x, const il_index_text *t, uint32_t places) {
    for (size_t b = il_index_blocks(t->first); b < il_index_blocks(t->first + places); b++) {
        x->blocks[b] = (uint32_t)x->n;
    }
    x->texts[x->n++] = *t;
    x->places += places;
    if (t->p != NULL) {
        x->kept++;
        x->kept_bytes += t->n + il_digest_gaps(t->n);
        while (x->kept_bytes > x->text_max) {
            x->incomplete = true;
            index_forget(x, &x->texts[x->oldest++]);
        }
    }
}

/* `t->p` stays NULL when there is nothing to keep, or too much. */
static il_status index_keep(il_index *x, il_str kept, il_index_text *t, il_error *err) {
    if (kept.n == 0) {
        return IL_OK;
    }
    if (kept.n != t->n + il_digest_gaps(t->n)) {
        return il_error_set(err, IL_E_ARGUMENT, "the digest is not that of the text");
    }
    if (kept.n <= x->text_max) {
        t->p = x->alloc.alloc(x->alloc.ctx, kept.n);
        if (t->p == NULL) {
            return il_error_set(err, IL_E_MEMORY, "no memory to keep a text");
        }
        memcpy(t->p, kept.p, kept.n);
    }
    return IL_OK;
}

il_status il_index_add(il_index *x, uint32_t source, uint32_t group, il_str digest, il_str kept, il_error *err) {
    il_digest d;
    bool fits = false;
    IL_TRY(il_digest_open(digest, &d, err));
    if (x->n > 0 && source < x->last) {
        return il_error_set(err, IL_E_ARGUMENT, "source %u comes after source %u", source, x->last);
    }
    il_index_text t = {.first = x->places, .source = source, .group = group, .n = d.stream};
    const uint32_t places = d.stream / IL_PRINT_STEP + 1;
    if (places <= IL_POSTING_PLACES - x->places) {
        IL_TRY(index_room(x, places, group, &fits, err));
    }
    IL_TRY(fits ? index_keep(x, kept, &t, err) : IL_OK);
    il_status s = fits ? index_rows(x, &x->prints, &d.prints, err) : IL_E_LIMIT;
    if (s == IL_OK) {
        s = index_rows(x, &x->words, &d.words, err);
        if (s != IL_OK) {
            index_undo(&x->prints, d.prints, d.prints.n);
        }
    }
    if (s != IL_OK) {
        x->alloc.free(x->alloc.ctx, t.p);
        x->incomplete = x->incomplete || s == IL_E_LIMIT;
        return s == IL_E_LIMIT ? IL_OK : s;
    }
    /* Of a text that nobody has here more is found than it says, never less (il_index_names, il_index_find). When texts no longer fit does not depend on which of them
     * are here, or it would be another answer after a restart. */
    x->given += t.n + il_digest_gaps(t.n);
    x->incomplete = x->incomplete || d.cut || x->given > x->text_max;
    x->ngroups += (x->groups[group / 64] >> group % 64 & 1) == 0;
    x->groups[group / 64] |= UINT64_C(1) << group % 64;
    x->last = source;
    index_text(x, &t, places);
    return IL_OK;
}
