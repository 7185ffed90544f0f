/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/posting.h"

#include "base/mem.h"

enum {
    LINE = IL_POSTING_LINE,
    PARTS = IL_POSTING_PARTS,
    CHUNK = 1 << IL_POSTING_CHUNK,
    CHUNK_LEAST = 16,
    AHEAD = 64, /* postings whose memory is fetched together */
    DIVIDE = 8  /* and how many buckets are divided with them, once it is time */
};

/* For each kind of line a function of its own. */
#define IL_POSTING_INLINE static inline __attribute__((always_inline))

void il_postings_init(il_postings *p, const il_alloc *alloc, size_t rows) {
    *p = (il_postings){.alloc = alloc, .max = SIZE_MAX, .rows = rows};
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static il_status postings_take(il_postings *p, size_t n, void **out, il_error *err) {
    *out = NULL;
    if (n > p->max || p->bytes > p->max - n) {
        return il_error_set(err, IL_E_LIMIT, "the content index is full");
    }
    *out = p->alloc->alloc(p->alloc->ctx, n);
    if (*out == NULL) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    p->bytes += n;
    return IL_OK;
}

static void postings_give(il_postings *p, void *memory, size_t n) {
    if (memory != NULL) {
        p->alloc->free(p->alloc->ctx, memory);
        p->bytes -= n;
    }
}

/* So many lines, at the beginning of a line of a cache. The byte before them says where their memory begins. */
static il_status lines_take(il_postings *p, size_t lines, void **out, il_error *err) {
    void *memory;
    IL_TRY(postings_take(p, (lines + 1) * LINE, &memory, err));
    const size_t over = LINE - (uintptr_t)memory % LINE;
    uint8_t *const at = (uint8_t *)memory + over;
    at[-1] = (uint8_t)over;
    *out = at;
    return IL_OK;
}

static void *lines_memory(void *lines) {
    uint8_t *const at = lines;
    return at == NULL ? NULL : at - at[-1];
}

static uint32_t chunk_lines(uint32_t chunk) { return chunk < 6 ? (uint32_t)CHUNK_LEAST << chunk : (uint32_t)CHUNK; }

static il_status chunk_new(il_postings *p, il_error *err) {
    void *chunk;
    if (p->nchunks == p->chunks_cap) {
        const uint32_t cap = p->chunks_cap == 0 ? 8 : 2 * p->chunks_cap;
        void *chunks;
        IL_TRY(postings_take(p, cap * sizeof *p->chunks, &chunks, err));
        if (p->nchunks > 0) {
            memcpy(chunks, p->chunks, p->nchunks * sizeof *p->chunks);
        }
        postings_give(p, p->chunks, p->chunks_cap * sizeof *p->chunks);
        p->chunks = chunks;
        p->chunks_cap = cap;
    }
    const uint32_t lines = chunk_lines(p->nchunks);
    IL_TRY(lines_take(p, lines, &chunk, err));
    p->chunks[p->nchunks] = chunk;
    p->fresh = p->nchunks++ << IL_POSTING_CHUNK;
    p->fresh_end = p->fresh + lines;
    return IL_OK;
}

static void line_link(il_postings *p, uint32_t line, uint32_t next) {
    memcpy(il_posting_line(p, line) + (LINE - sizeof next), &next, sizeof next);
}

static void line_free(il_postings *p, uint32_t line) {
    line_link(p, line, p->free);
    p->free = line;
    p->nfree++;
}

static il_status line_new(il_postings *p, uint32_t *out, il_error *err) {
    if (p->nfree > 0) {
        *out = p->free;
        p->free = il_posting_next_line(il_posting_line(p, p->free));
        p->nfree--;
        return IL_OK;
    }
    if (p->fresh == p->fresh_end) {
        IL_TRY(chunk_new(p, err));
    }
    *out = p->fresh++;
    return IL_OK;
}

/* Makes sure that the next so many lines are there. */
static bool lines_reserve(il_postings *p, uint32_t n) {
    if (p->nfree + (p->fresh_end - p->fresh) >= n) {
        return true;
    }
    while (p->fresh < p->fresh_end) {
        line_free(p, p->fresh++);
    }
    return chunk_new(p, NULL) == IL_OK;
}

void il_postings_free(il_postings *p) {
    for (uint32_t i = 0; i < p->nchunks; i++) {
        p->alloc->free(p->alloc->ctx, lines_memory(p->chunks[i]));
    }
    p->alloc->free(p->alloc->ctx, p->chunks);
    p->alloc->free(p->alloc->ctx, lines_memory(p->buckets));
    il_postings_init(p, p->alloc, p->rows);
}

/* ---- buckets ---------------------------------------------------------------------------------------- */

/* Writes row i of a line; `rows` is known where it is compiled. */
IL_POSTING_INLINE void row_put(uint8_t *line, size_t rows, size_t i, uint16_t tag, uint16_t sketch, uint32_t place) {
    uint8_t *p = il_posting_places(line, rows) + i * IL_POSTING_PLACE;
    memcpy(line + i * IL_POSTING_TAG, &tag, sizeof tag);
    if (rows == IL_POSTING_SKETCHED) {
        memcpy(il_posting_sketches(line) + i * sizeof sketch, &sketch, sizeof sketch);
    }
    p[0] = (uint8_t)place; /* one store of four bytes: the next row is not there yet, nor is what says the next line */
    p[1] = (uint8_t)(place >> 8);
    p[2] = (uint8_t)(place >> 16);
    p[3] = (uint8_t)(place >> 24);
}

static inline uint16_t row_two(const uint8_t *p, size_t i) {
    uint16_t two;
    memcpy(&two, p + i * sizeof two, sizeof two);
    return two;
}

/* One more line for a bucket whose last is full. */
static il_status bucket_line(il_postings *p, il_posting_bucket *b, il_error *err) {
    uint32_t line;
    IL_TRY(line_new(p, &line, err));
    if (b->lines++ > 0) {
        line_link(p, b->last, line);
    } else {
        b->first = line;
    }
    b->last = line;
    b->left = (uint32_t)p->rows;
    return IL_OK;
}

IL_POSTING_INLINE il_status bucket_put(il_postings *p, size_t rows, il_posting_bucket *b, const il_posting *posting,
                                       il_error *err) {
    uint32_t word;
    const uint64_t bits = il_posting_bits(posting->key, &word);
    if (b->left == 0) {
        IL_TRY(bucket_line(p, b, err));
    }
    row_put(il_posting_line(p, b->last), rows, rows - b->left, (uint16_t)(posting->key >> 8), posting->more, posting->place);
    b->filter[word] |= bits;
    b->left--;
    return IL_OK;
}

/* Moves the rows of `from` to the parts by two more bits of their keys. There are as many lines as they may need beyond those that they come from. */
IL_POSTING_INLINE void bucket_part(il_postings *p, size_t rows, const il_posting_bucket *from,
                                   il_posting_bucket *const parts[PARTS], uint32_t unit) {
    uint8_t line[LINE];
    uint32_t at = from->first;
    for (uint32_t n = il_postings_rows(p, from); n > 0;) {
        const uint32_t here = n < rows ? n : (uint32_t)rows;
        memcpy(line, il_posting_line(p, at), sizeof line);
        line_free(p, at);
        n -= here;
        if (n > 0) {
            at = il_posting_next_line(line);
            __builtin_prefetch(il_posting_line(p, at));
        }
        for (size_t i = 0; i < here; i++) {
            const uint16_t tag = row_two(line, i);
            const il_posting row = {.key = (uint32_t)tag << 8,
                                    .more = rows == IL_POSTING_SKETCHED ? row_two(il_posting_sketches(line), i) : 0,
                                    .place = il_posting_place(il_posting_places(line, rows), i)};
            (void)bucket_put(p, rows, parts[tag / unit % PARTS], &row, NULL);
        }
    }
}

/* Divides the bucket that is next. False: there is no memory for it. */
static bool bucket_divide(il_postings *p) {
    il_posting_bucket *parts[PARTS];
    const il_posting_bucket from = p->buckets[p->divided];
    if (!lines_reserve(p, PARTS)) {
        return false;
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        parts[i] = &p->buckets[p->divided + i * p->low];
        *parts[i] = (il_posting_bucket){0};
    }
    if (p->rows == IL_POSTING_SKETCHED) {
        bucket_part(p, IL_POSTING_SKETCHED, &from, parts, p->low / IL_POSTING_FIRST);
    } else {
        bucket_part(p, IL_POSTING_PLAIN, &from, parts, p->low / IL_POSTING_FIRST);
    }
    if (++p->divided == p->low) {
        p->low *= PARTS;
        p->divided = 0;
    }
    return true;
}

/* Room for so many buckets. */
static il_status buckets_widen(il_postings *p, uint32_t cap, il_error *err) {
    void *buckets;
    IL_TRY(lines_take(p, cap, &buckets, err));
    memset(buckets, 0, cap * sizeof *p->buckets);
    if (p->cap > 0) {
        memcpy(buckets, p->buckets, p->cap * sizeof *p->buckets);
        postings_give(p, lines_memory(p->buckets), ((size_t)p->cap + 1) * LINE);
    } else {
        p->low = cap;
    }
    p->buckets = buckets;
    p->cap = cap;
    return IL_OK;
}

/* ---- adding and asking ------------------------------------------------------------------------------- */

void il_postings_drop(il_postings *p, uint32_t key) {
    il_posting_bucket *b = &p->buckets[il_postings_bucket(p, key) - p->buckets];
    b->left++;
    p->total--;
    if (b->left < p->rows) {
        return;
    }
    uint32_t before = b->first;
    line_free(p, b->last);
    b->lines--;
    for (uint32_t lines = b->lines; lines > 1; lines--) {
        before = il_posting_next_line(il_posting_line(p, before));
    }
    b->last = before;
    b->left = 0;
}

/* Divides buckets where it is time and there is memory for it: else they are longer. */
static void postings_spread(il_postings *p) {
    const bool begun = p->divided > 0;
    if (!begun && p->total < (size_t)p->low * IL_POSTING_LOAD) {
        return;
    }
    if (p->cap == p->low && buckets_widen(p, PARTS * p->low, NULL) != IL_OK) {
        return;
    }
    for (unsigned i = 0; i < DIVIDE && (i == 0 || p->divided > 0) && bucket_divide(p); i++) {
        const il_posting_bucket *next = &p->buckets[p->divided];
        __builtin_prefetch(next + 1);
        if (next->lines > 0) {
            __builtin_prefetch(il_posting_line(p, next->first));
        }
    }
}

/* AHEAD of them at most: how many were added. First all buckets are fetched, then all lines. */
IL_POSTING_INLINE il_status postings_few(il_postings *p, size_t rows, const il_posting *list, size_t n, size_t *done,
                                         il_error *err) {
    il_posting_bucket *at[AHEAD];
    for (size_t i = 0; i < n; i++) {
        at[i] = &p->buckets[il_postings_bucket(p, list[i].key) - p->buckets];
        __builtin_prefetch(at[i], 1);
    }
    for (size_t i = 0; i < n; i++) {
        if (at[i]->left > 0) {
            __builtin_prefetch(il_posting_line(p, at[i]->last), 1);
        }
    }
    for (size_t i = 0; i < n; i++, ++*done) {
        IL_TRY(bucket_put(p, rows, at[i], &list[i], err));
    }
    return IL_OK;
}

il_status il_postings_add(il_postings *p, const il_posting *list, size_t n, il_error *err) {
    if (n >= IL_POSTING_PLACES - p->total) {
        return il_error_set(err, IL_E_LIMIT, "the content index is full");
    }
    if (p->cap == 0 && n > 0) {
        IL_TRY(buckets_widen(p, IL_POSTING_FIRST, err));
    }
    for (size_t i = 0; i < n; i += AHEAD) {
        const size_t few = n - i < AHEAD ? n - i : AHEAD;
        size_t done = 0;
        postings_spread(p);
        const il_status s = p->rows == IL_POSTING_SKETCHED ? postings_few(p, IL_POSTING_SKETCHED, list + i, few, &done, err)
                                                           : postings_few(p, IL_POSTING_PLAIN, list + i, few, &done, err);
        p->total += done;
        if (s != IL_OK) {
            for (done += i; done > 0;) {
                il_postings_drop(p, list[--done].key);
            }
            return s;
        }
    }
    return IL_OK;
}

static uint32_t walk_same(const il_posting_walk *w) {
    return il_posting_same(w->line + (size_t)w->at * IL_POSTING_TAG, w->n, w->key >> 8);
}

il_posting_walk il_postings_walk(const il_postings *p, uint32_t key) {
    il_posting_walk w = {.of = p, .key = key};
    const il_posting_bucket *b = p->total > 0 ? il_postings_bucket(p, key) : NULL;
    if (b != NULL && b->lines > 0) {
        w.line = il_posting_line(p, b->first);
        w.n = il_postings_rows(p, b);
        w.same = walk_same(&w);
    }
    return w;
}

bool il_posting_next(il_posting_walk *w, il_posting *out) {
    const size_t rows = w->of->rows;
    while (w->same == 0) {
        const uint32_t here = (uint32_t)rows - w->at, group = here < IL_POSTING_GROUP ? here : IL_POSTING_GROUP;
        if (w->n <= group) {
            return false;
        }
        w->n -= group;
        w->at += group;
        if (w->at == rows) {
            w->at = 0;
            w->line = il_posting_line(w->of, il_posting_next_line(w->line));
        }
        const uint32_t rest = (uint32_t)rows - w->at;
        w->same = walk_same(w);
        w->same &= rest < IL_POSTING_GROUP ? (1u << 2 * rest) - 1 : UINT32_MAX;
    }
    const size_t i = w->at + (size_t)__builtin_ctz(w->same) / 2;
    w->same &= ~(3u << 2 * (i - w->at));
    *out = (il_posting){.key = w->key,
                        .more = rows == IL_POSTING_SKETCHED ? row_two(il_posting_sketches(w->line), i) : 0,
                        .place = il_posting_place(il_posting_places(w->line, rows), i)};
    return true;
}
