/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/posting.h"

#include "base/mem.h"

enum {
    GROUP = IL_POSTING_GROUP,
    CHUNK = 1 << IL_POSTING_CHUNK,
    CHUNK_LEAST = 16,
    AHEAD = 32,     /* postings whose memory is fetched together */
    SPLIT_AHEAD = 4 /* and buckets that are divided soon; there are as many more */
};

/* For each size of a row a function of its own. */
#define IL_POSTING_INLINE static inline __attribute__((always_inline))

void il_postings_init(il_postings *p, const il_alloc *alloc, size_t row) {
    *p = (il_postings){.alloc = alloc, .max = SIZE_MAX, .row = row};
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

_Static_assert(IL_POSTING_CLASSES == 37 && 4 << (36 - 4) / 4 == CHUNK, "the largest class is a chunk");

/* The largest class of at most so many groups. */
static uint32_t class_within(uint32_t groups) {
    if (groups < 4) {
        return groups;
    }
    const uint32_t high = 31 - (uint32_t)__builtin_clz(groups);
    return 4 * (high - 1) + (groups >> (high - 2) & 3);
}

static il_status chunk_new(il_postings *p, uint32_t groups, uint32_t *out, il_error *err) {
    uint32_t slot = groups > CHUNK ? 0 : p->nchunks; /* a larger one takes the number of one that is gone */
    void *chunk;
    while (slot < p->nchunks && p->chunks[slot] != NULL) {
        slot++;
    }
    if (slot == p->chunks_cap) {
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
    IL_TRY(postings_take(p, (size_t)groups * GROUP * p->row, &chunk, err));
    p->chunks[slot] = chunk;
    p->nchunks += slot == p->nchunks;
    *out = slot << IL_POSTING_CHUNK;
    return IL_OK;
}

static uint8_t *postings_groups(const il_postings *p, uint32_t block) {
    return p->chunks[block >> IL_POSTING_CHUNK] + (size_t)(block & (CHUNK - 1)) * GROUP * p->row;
}

/* Gives back so many groups. */
static void groups_free(il_postings *p, uint32_t block, uint32_t groups) {
    while (groups > 0) {
        const uint32_t class = class_within(groups);
        memcpy(postings_groups(p, block), &p->free[class], sizeof p->free[class]);
        p->free[class] = block + 1;
        p->has_free |= UINT64_C(1) << class;
        block += il_posting_groups(class);
        groups -= il_posting_groups(class);
    }
}

static void block_free(il_postings *p, uint32_t block, uint32_t class) {
    if (class < IL_POSTING_CLASSES) {
        groups_free(p, block, il_posting_groups(class));
        return;
    }
    uint8_t **chunk = &p->chunks[block >> IL_POSTING_CHUNK];
    postings_give(p, *chunk, (size_t)il_posting_groups(class) * GROUP * p->row);
    *chunk = NULL;
}

static uint32_t block_take(il_postings *p, uint32_t class) {
    const uint32_t block = p->free[class] - 1;
    memcpy(&p->free[class], postings_groups(p, block), sizeof p->free[class]);
    if (p->free[class] == 0) {
        p->has_free &= ~(UINT64_C(1) << class);
    }
    return block;
}

static il_status block_new(il_postings *p, uint32_t class, uint32_t *out, il_error *err) {
    const uint32_t groups = il_posting_groups(class);
    if (class >= IL_POSTING_CLASSES) {
        return chunk_new(p, groups, out, err);
    }
    const uint64_t larger = p->has_free & ~UINT64_C(0) << (class + 3);
    if (p->free[class] != 0) {
        *out = block_take(p, class);
        return IL_OK;
    }
    if (larger != 0) {
        const uint32_t from = (uint32_t)__builtin_ctzll(larger);
        *out = block_take(p, from);
        groups_free(p, *out + groups, il_posting_groups(from) - groups);
        return IL_OK;
    }
    if (p->fresh_end - p->fresh < groups) {
        const uint32_t half = p->nchunks < 7 ? (uint32_t)CHUNK_LEAST << p->nchunks : (uint32_t)CHUNK,
                       size = half > groups ? half : CHUNK;
        const uint32_t from = p->fresh, end = p->fresh_end;
        uint32_t chunk;
        IL_TRY(chunk_new(p, size, &chunk, err));
        groups_free(p, from, end - from);
        p->fresh = chunk;
        p->fresh_end = chunk + size;
    }
    *out = p->fresh;
    p->fresh += groups;
    return IL_OK;
}

void il_postings_free(il_postings *p) {
    for (uint32_t i = 0; i < p->nchunks; i++) {
        p->alloc->free(p->alloc->ctx, p->chunks[i]);
    }
    p->alloc->free(p->alloc->ctx, p->chunks);
    p->alloc->free(p->alloc->ctx, p->buckets);
    il_postings_init(p, p->alloc, p->row);
}

/* ---- buckets ---------------------------------------------------------------------------------------- */

static uint32_t bucket_class(const il_posting_bucket *b) { return b->n_class & 0xff; }

/* A larger block for a bucket that is full. */
static il_status bucket_grow(il_postings *p, il_posting_bucket *b, il_error *err) {
    const uint32_t class = bucket_class(b) + 1;
    uint32_t block;
    IL_TRY(block_new(p, class, &block, err));
    if (class > 1) {
        uint8_t *const from = il_posting_tags(p, b), *const to = postings_groups(p, block);
        const size_t n = il_posting_rows(b);
        il_posting_bucket grown = {.n_class = class};
        memcpy(to, from, n * IL_POSTING_TAG);
        if (p->row == IL_POSTING_SKETCHED) {
            memcpy(il_posting_sketches(&grown, to), il_posting_sketches(b, from), n * sizeof(uint16_t));
        }
        memcpy(il_posting_places(&grown, to, p->row), il_posting_places(b, from, p->row), n * IL_POSTING_PLACE);
        block_free(p, b->block, class - 1);
    }
    b->block = block;
    b->n_class++;
    return IL_OK;
}

/* Where the parts of a block's rows are. */
typedef struct block_parts {
    uint8_t *tags, *sketches, *places;
} block_parts;
static inline block_parts parts_of(const il_posting_bucket *b, uint8_t *tags, size_t row) {
    return (block_parts){tags, il_posting_sketches(b, tags), il_posting_places(b, tags, row)};
}

/* Writes row i; `row` is known where it is compiled. */
static inline void row_put(const block_parts *to, size_t row, size_t i, uint16_t tag, uint16_t sketch, uint32_t place) {
    uint8_t *p = to->places + i * IL_POSTING_PLACE;
    memcpy(to->tags + i * IL_POSTING_TAG, &tag, sizeof tag);
    if (row == IL_POSTING_SKETCHED) {
        memcpy(to->sketches + i * sizeof sketch, &sketch, sizeof sketch);
    }
    p[0] = (uint8_t)place;
    p[1] = (uint8_t)(place >> 8);
    p[2] = (uint8_t)(place >> 16);
}

static inline void bucket_may(il_posting_bucket *b, uint32_t key) {
    uint32_t word;
    const uint64_t bits = il_posting_bits(key, &word);
    b->filter[word] |= bits;
}

static inline uint16_t row_two(const uint8_t *p, size_t i) {
    uint16_t two;
    memcpy(&two, p + i * sizeof two, sizeof two);
    return two;
}

/* How many of n tags have this bit. */
static uint32_t tags_count(const uint8_t *tags, uint32_t n, uint32_t bit) {
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += (row_two(tags, i) & bit) != 0;
    }
    return count;
}

/* Puts rows into the blocks of two buckets, which are as large as is to be. */
IL_POSTING_INLINE void rows_part(const block_parts *from, size_t row, uint32_t n, uint32_t bit, il_posting_bucket *const to[2],
                                 uint8_t *const into[2]) {
    const block_parts both[2] = {parts_of(to[0], into[0], row), parts_of(to[1], into[1], row)};
    size_t go = 0, stay = 0;
    for (size_t i = 0; i < n; i++) {
        const uint16_t tag = row_two(from->tags, i), sketch = row == IL_POSTING_SKETCHED ? row_two(from->sketches, i) : 0;
        const bool goes = (tag & bit) != 0;
        bucket_may(to[goes], (uint32_t)tag << 8);
        row_put(&both[goes], row, goes ? go : stay, tag, sketch, il_posting_place(from->places, i));
        go += goes;
        stay += !goes;
    }
}

/* The smallest class that has so many rows. */
static uint32_t class_of(uint32_t rows) {
    const uint32_t groups = (rows + GROUP - 1) / GROUP, class = class_within(groups);
    return class + (il_posting_groups(class) < groups);
}

/* Divides the bucket that is next by one more bit of its keys. False: there is no memory for it. */
static bool buckets_split(il_postings *p) {
    il_posting_bucket *from = &p->buckets[p->nbuckets - p->low], *to = &p->buckets[p->nbuckets];
    const uint32_t n = il_posting_rows(from), bit = p->low / IL_POSTING_FIRST, was = from->block, old = bucket_class(from);
    if (n > 0) {
        uint8_t *const tags = il_posting_tags(p, from);
        const block_parts parts = parts_of(from, tags, p->row);
        const uint32_t other = tags_count(tags, n, bit), class[2] = {class_of(n - other), class_of(other)};
        il_posting_bucket *const both[2] = {from, to};
        uint32_t block[2] = {0, 0};
        uint8_t *into[2] = {tags, tags}; /* of a side that has none nothing is written */
        for (size_t side = 0; side < 2; side++) {
            if (class[side] > 0 && block_new(p, class[side], &block[side], NULL) != IL_OK) {
                if (side == 1 && class[0] > 0) {
                    block_free(p, block[0], class[0]);
                }
                return false;
            }
            into[side] = class[side] > 0 ? postings_groups(p, block[side]) : tags;
        }
        *from = (il_posting_bucket){.block = block[0], .n_class = (n - other) << 8 | class[0]};
        *to = (il_posting_bucket){.block = block[1], .n_class = other << 8 | class[1]};
        if (p->row == IL_POSTING_SKETCHED) {
            rows_part(&parts, IL_POSTING_SKETCHED, n, bit, both, into);
        } else {
            rows_part(&parts, IL_POSTING_PLAIN, n, bit, both, into);
        }
        block_free(p, was, old);
    }
    p->nbuckets++;
    p->low = p->nbuckets == 2 * p->low ? p->nbuckets : p->low;
    return true;
}

/* Room for more buckets. */
static il_status buckets_widen(il_postings *p, il_error *err) {
    const uint32_t cap = p->cap == 0 ? IL_POSTING_FIRST : p->cap + p->cap / 4;
    void *buckets;
    IL_TRY(postings_take(p, cap * sizeof *p->buckets, &buckets, err));
    memset(buckets, 0, cap * sizeof *p->buckets);
    if (p->cap > 0) {
        memcpy(buckets, p->buckets, p->cap * sizeof *p->buckets);
        postings_give(p, p->buckets, p->cap * sizeof *p->buckets);
    } else {
        p->nbuckets = p->low = cap;
    }
    p->buckets = buckets;
    p->cap = cap;
    return IL_OK;
}

/* ---- adding and asking ------------------------------------------------------------------------------- */

void il_postings_drop(il_postings *p, uint32_t key) {
    il_posting_bucket *b = &p->buckets[il_postings_bucket(p, key) - p->buckets];
    b->n_class -= 1u << 8;
    p->total--;
}

IL_POSTING_INLINE il_status postings_put(il_postings *p, size_t row, il_posting_bucket *b, const il_posting *posting,
                                         il_error *err) {
    const uint32_t n = il_posting_rows(b);
    if (n % GROUP == 0 && n / GROUP == il_posting_groups(bucket_class(b))) {
        IL_TRY(bucket_grow(p, b, err));
    }
    uint8_t *const tags = p->chunks[b->block >> IL_POSTING_CHUNK] + (size_t)(b->block & (CHUNK - 1)) * GROUP * row;
    const block_parts parts = parts_of(b, tags, row);
    row_put(&parts, row, n, (uint16_t)(posting->key >> 8), posting->more, posting->place);
    b->n_class += 1u << 8;
    bucket_may(b, posting->key);
    return IL_OK;
}

/* Has the processor fetch what a bucket holds, all of which is about to be read. */
static inline void bucket_ahead(const il_postings *p, const il_posting_bucket *b, size_t row) {
    if (bucket_class(b) > 0) {
        const uint8_t *block = il_posting_tags(p, b);
        const size_t n = (size_t)il_posting_groups(bucket_class(b)) * GROUP * row;
        for (size_t at = 0; at < n; at += 64) {
            __builtin_prefetch(block + at);
        }
    }
}

/* Room for so many more where there is memory for it: else buckets are longer. */
static void postings_spread(il_postings *p, size_t n) {
    while (p->total + n > (size_t)p->nbuckets * IL_POSTING_LOAD && (p->nbuckets < p->cap || buckets_widen(p, NULL) == IL_OK) &&
           buckets_split(p)) {
        const il_posting_bucket *next = &p->buckets[p->nbuckets - p->low];
        __builtin_prefetch(next + SPLIT_AHEAD);
        bucket_ahead(p, next + SPLIT_AHEAD / 2, p->row);
    }
}

/* Has the processor fetch the buckets of so many. */
static void postings_ahead(const il_postings *p, const il_posting *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(il_postings_bucket(p, list[i].key));
    }
}

/* AHEAD of them at most, whose buckets are at hand. */
IL_POSTING_INLINE il_status postings_few(il_postings *p, size_t row, const il_posting *list, size_t n, il_error *err) {
    il_posting_bucket *at[AHEAD];
    for (size_t i = 0; i < n; i++) {
        at[i] = &p->buckets[il_postings_bucket(p, list[i].key) - p->buckets];
        const size_t have = il_posting_rows(at[i]);
        if (have % GROUP == 0) { /* most likely it gets a larger block */
            bucket_ahead(p, at[i], row);
        } else {
            uint8_t *const tags = il_posting_tags(p, at[i]);
            __builtin_prefetch(tags + have * IL_POSTING_TAG);
            __builtin_prefetch(il_posting_places(at[i], tags, row) + have * IL_POSTING_PLACE);
            if (row == IL_POSTING_SKETCHED) {
                __builtin_prefetch(il_posting_sketches(at[i], tags) + have * sizeof(uint16_t));
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        const il_status s = postings_put(p, row, at[i], &list[i], err);
        if (s != IL_OK) {
            while (i > 0) {
                at[--i]->n_class -= 1u << 8;
            }
            return s;
        }
    }
    p->total += n;
    return IL_OK;
}

il_status il_postings_add(il_postings *p, const il_posting *list, size_t n, il_error *err) {
    if (n >= IL_POSTING_PLACES - p->total) {
        return il_error_set(err, IL_E_LIMIT, "the content index is full");
    }
    if (p->cap == 0 && n > 0) {
        IL_TRY(buckets_widen(p, err));
    }
    postings_ahead(p, list, n < AHEAD ? n : AHEAD);
    for (size_t i = 0; i < n; i += AHEAD) {
        const size_t few = n - i < AHEAD ? n - i : AHEAD, rest = n - i - few;
        postings_spread(p, few);
        postings_ahead(p, list + i + few, rest < AHEAD ? rest : AHEAD);
        const il_status s = p->row == IL_POSTING_SKETCHED ? postings_few(p, IL_POSTING_SKETCHED, list + i, few, err)
                                                          : postings_few(p, IL_POSTING_PLAIN, list + i, few, err);
        if (s != IL_OK) {
            while (i > 0) {
                il_postings_drop(p, list[--i].key);
            }
            return s;
        }
    }
    return IL_OK;
}

il_posting_walk il_postings_walk(const il_postings *p, uint32_t key) {
    il_posting_walk w = {.key = key};
    const il_posting_bucket *b = p->total > 0 ? il_postings_bucket(p, key) : NULL;
    if (b != NULL && il_posting_rows(b) > 0) {
        uint8_t *const tags = il_posting_tags(p, b);
        w.tags = tags;
        w.sketches = p->row == IL_POSTING_SKETCHED ? il_posting_sketches(b, tags) : NULL;
        w.places = il_posting_places(b, tags, p->row);
        w.n = il_posting_rows(b);
        w.same = il_posting_same(tags, w.n, key >> 8);
    }
    return w;
}

bool il_posting_next(il_posting_walk *w, il_posting *out) {
    while (w->same == 0) {
        if (w->n - w->at <= GROUP) {
            return false;
        }
        w->at += GROUP;
        w->same = il_posting_same(w->tags + (size_t)w->at * IL_POSTING_TAG, w->n - w->at, w->key >> 8);
    }
    const size_t i = w->at + (size_t)__builtin_ctz(w->same) / 2;
    w->same &= ~(3u << 2 * (i - w->at));
    *out = (il_posting){
        .key = w->key, .more = w->sketches != NULL ? row_two(w->sketches, i) : 0, .place = il_posting_place(w->places, i)};
    return true;
}
