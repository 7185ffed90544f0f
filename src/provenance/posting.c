/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/posting.h"

#include "base/mem.h"

enum {
    GROUP = IL_POSTING_GROUP,
    PLACE_BYTES = 3,
    CHUNK = 1 << IL_POSTING_CHUNK,
    CHUNK_LEAST = 16,
    FILTER_LEAST = 10,
    FILTER_EACH = 2,
    AHEAD = 32 /* postings whose memory is fetched together */
};

#define GROUP_BYTES(width) ((size_t)GROUP * (2 + (width) + PLACE_BYTES))

void il_postings_init(il_postings *p, const il_alloc *alloc, unsigned more_bytes, bool filtered) {
    *p = (il_postings){.alloc = alloc,
                       .max = SIZE_MAX,
                       .more_bytes = more_bytes,
                       .group_bytes = (unsigned)GROUP_BYTES(more_bytes),
                       .filtered = filtered};
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

/* Groups of a class. */
static uint32_t class_size(uint32_t class) { return class < 4 ? class : (4 + (class & 3)) << ((class - 4) / 4); }
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
    IL_TRY(postings_take(p, (size_t)groups * p->group_bytes, &chunk, err));
    p->chunks[slot] = chunk;
    p->nchunks += slot == p->nchunks;
    *out = slot << IL_POSTING_CHUNK;
    return IL_OK;
}

static uint8_t *postings_groups(const il_postings *p, uint32_t block) {
    return p->chunks[block >> IL_POSTING_CHUNK] + (size_t)(block & (CHUNK - 1)) * p->group_bytes;
}

/* Gives back so many groups. */
static void groups_free(il_postings *p, uint32_t block, uint32_t groups) {
    while (groups > 0) {
        const uint32_t class = class_within(groups);
        memcpy(postings_groups(p, block), &p->free[class], sizeof p->free[class]);
        p->free[class] = block + 1;
        p->has_free |= UINT64_C(1) << class;
        block += class_size(class);
        groups -= class_size(class);
    }
}

static void block_free(il_postings *p, uint32_t block, uint32_t class) {
    if (class < IL_POSTING_CLASSES) {
        groups_free(p, block, class_size(class));
        return;
    }
    uint8_t **chunk = &p->chunks[block >> IL_POSTING_CHUNK];
    postings_give(p, *chunk, (size_t)class_size(class) * p->group_bytes);
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
    const uint32_t groups = class_size(class);
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
        groups_free(p, *out + groups, class_size(from) - groups);
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
    p->alloc->free(p->alloc->ctx, p->filter);
    il_postings_init(p, p->alloc, p->more_bytes, p->filtered);
}

/* ---- buckets ---------------------------------------------------------------------------------------- */

static uint32_t bucket_n(const il_posting_bucket *b) { return b->n_class >> 8; }
static uint32_t bucket_class(const il_posting_bucket *b) { return b->n_class & 0xff; }

/* A larger block for a bucket that is full. */
static il_status bucket_grow(il_postings *p, il_posting_bucket *b, il_error *err) {
    const uint32_t class = bucket_class(b) + 1;
    uint32_t block;
    IL_TRY(block_new(p, class, &block, err));
    if (class > 1) {
        memcpy(postings_groups(p, block), il_posting_groups(p, b), (size_t)class_size(class - 1) * p->group_bytes);
        block_free(p, b->block, class - 1);
    }
    b->block = block;
    b->n_class++;
    return IL_OK;
}

/* Row n of a block. Of `more` the memory has the bytes as the processor has them, so that eight are compared at once. `width`: as il_postings.more_bytes, known where it
 * is compiled. */
static inline void bucket_put(uint8_t *groups, size_t width, uint32_t n, uint32_t tag, uint16_t more, uint32_t place) {
    uint8_t *g = groups + (size_t)(n / GROUP) * GROUP_BYTES(width);
    const size_t i = n % GROUP;
    g[i] = (uint8_t)(tag >> 8);
    g[GROUP + i] = (uint8_t)tag;
    if (width == 2) {
        memcpy(g + 2 * GROUP + 2 * i, &more, 2);
    }
    g += (2 + width) * GROUP + PLACE_BYTES * i;
    g[0] = (uint8_t)place;
    g[1] = (uint8_t)(place >> 8);
    g[2] = (uint8_t)(place >> 16);
}

/* Of the eight bytes, how many have the bit. */
static inline uint32_t bits_of(const uint8_t *eight, uint32_t bit) {
    const uint64_t ones =
        il_load8(eight) >> __builtin_ctz(bit) & UINT64_C(0x0101010101010101); /* the product adds the bytes up in the highest */
    return (uint32_t)(ones * UINT64_C(0x0101010101010101) >> 56);
}

/* How many rows have this bit of their tags. */
static uint32_t bucket_count(const uint8_t *groups, size_t bytes, uint32_t n, uint32_t bit) {
    const size_t half = bit < 256 ? GROUP : 0;
    uint32_t count = 0, i = 0;
    bit = bit < 256 ? bit : bit >> 8;
    for (; i + GROUP <= n; i += GROUP, groups += bytes) {
        count += bits_of(groups + half, bit);
    }
    for (size_t k = 0; k < n - i; k++) {
        count += (groups[half + k] & bit) != 0;
    }
    return count;
}

/* Puts the rows of a block into two. */
static inline void bucket_part(const uint8_t *g, size_t width, uint32_t n, uint32_t bit, uint8_t *const into[2]) {
    uint32_t at[2] = {0, 0};
    for (uint32_t i = 0; i < n; i += GROUP, g += GROUP_BYTES(width)) {
        const uint8_t *place = g + (2 + width) * GROUP;
        for (size_t k = 0; k < GROUP && k < n - i; k++, place += PLACE_BYTES) {
            const uint32_t tag = (uint32_t)g[k] << 8 | g[GROUP + k];
            const size_t side = (tag & bit) != 0;
            uint16_t more = 0;
            if (width == 2) {
                memcpy(&more, g + 2 * GROUP + 2 * k, 2);
            }
            bucket_put(into[side], width, at[side]++, tag, more,
                       (uint32_t)place[0] | (uint32_t)place[1] << 8 | (uint32_t)place[2] << 16);
        }
    }
}

/* The smallest class that has so many rows. */
static uint32_t class_of(uint32_t rows) {
    const uint32_t groups = (rows + GROUP - 1) / GROUP, class = class_within(groups);
    return class + (class_size(class) < groups);
}

/* Divides the bucket that is next by one more bit of its keys. Without memory it stays, and its buckets are longer. */
static void buckets_split(il_postings *p) {
    il_posting_bucket *from = &p->buckets[p->nbuckets - p->low], *to = &p->buckets[p->nbuckets];
    const uint32_t n = bucket_n(from), bit = p->low / IL_POSTING_FIRST;
    if (n > 0) {
        const uint8_t *const groups = il_posting_groups(p, from);
        const uint32_t other = bucket_count(groups, p->group_bytes, n, bit), class[2] = {class_of(n - other), class_of(other)};
        uint32_t block[2] = {0, 0};
        uint8_t *into[2] = {NULL, NULL};
        for (size_t side = 0; side < 2; side++) {
            if (class[side] > 0 && block_new(p, class[side], &block[side], NULL) != IL_OK) {
                if (side == 1 && class[0] > 0) {
                    block_free(p, block[0], class[0]);
                }
                return;
            }
            into[side] = class[side] > 0 ? postings_groups(p, block[side]) : NULL;
        }
        if (p->more_bytes == 2) {
            bucket_part(groups, 2, n, bit, into);
        } else {
            bucket_part(groups, 0, n, bit, into);
        }
        block_free(p, from->block, bucket_class(from));
        *from = (il_posting_bucket){.block = block[0], .n_class = (n - other) << 8 | class[0]};
        *to = (il_posting_bucket){.block = block[1], .n_class = other << 8 | class[1]};
    }
    p->nbuckets++;
    p->low = p->nbuckets == 2 * p->low ? p->nbuckets : p->low;
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

/* ---- the filter ------------------------------------------------------------------------------------- */

static inline void filter_set(const il_postings *p, uint32_t key) {
    const uint32_t bit = key >> (IL_POSTING_KEY - p->filter_bits);
    p->filter[bit / 8] = (uint8_t)(p->filter[bit / 8] | 1 << bit % 8);
}

/* A larger one when there are more keys. Without memory the old one stays, which says less. */
static void filter_grow(il_postings *p, size_t total) {
    unsigned bits = p->filter == NULL ? FILTER_LEAST : p->filter_bits;
    void *filter;
    while (bits < IL_POSTING_KEY && (size_t)1 << bits < total * FILTER_EACH) {
        bits++;
    }
    if ((p->filter != NULL && bits == p->filter_bits) || (p->filter == NULL && p->total > 0) ||
        postings_take(p, (size_t)1 << (bits - 3), &filter, NULL) != IL_OK) {
        return;
    }
    memset(filter, 0, (size_t)1 << (bits - 3));
    postings_give(p, p->filter, p->filter == NULL ? 0 : (size_t)1 << (p->filter_bits - 3));
    p->filter = filter;
    p->filter_bits = bits;
    for (uint32_t b = 0; b < p->nbuckets; b++) {
        const uint32_t n = bucket_n(&p->buckets[b]);
        const uint8_t *g = n > 0 ? il_posting_groups(p, &p->buckets[b]) : NULL;
        for (uint32_t i = 0; i < n; i++) {
            const uint8_t *tag = g + (size_t)(i / GROUP) * p->group_bytes + i % GROUP;
            filter_set(p, (uint32_t)tag[0] << 16 | (uint32_t)tag[GROUP] << 8 | (b & (IL_POSTING_FIRST - 1)));
        }
    }
}

/* ---- adding and asking ------------------------------------------------------------------------------- */

void il_postings_drop(il_postings *p, uint32_t key) {
    il_posting_bucket *b = &p->buckets[il_postings_bucket(p, key) - p->buckets];
    b->n_class -= 1u << 8;
    p->total--;
}

static inline il_status postings_put(il_postings *p, size_t width, const il_posting *posting, il_error *err) {
    il_posting_bucket *b = &p->buckets[il_postings_bucket(p, posting->key) - p->buckets];
    const uint32_t n = bucket_n(b);
    if (n % GROUP == 0 && n / GROUP == class_size(bucket_class(b))) {
        IL_TRY(bucket_grow(p, b, err));
    }
    uint8_t *groups = p->chunks[b->block >> IL_POSTING_CHUNK] + (size_t)(b->block & (CHUNK - 1)) * GROUP_BYTES(width);
    bucket_put(groups, width, n, posting->key >> 8, posting->more, posting->place);
    b->n_class += 1u << 8;
    p->total++;
    return IL_OK;
}

/* Has the processor fetch what the next additions will touch. */
static void postings_ahead(const il_postings *p, const il_posting *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(il_postings_bucket(p, list[i].key));
        if (p->filter != NULL) {
            __builtin_prefetch(&p->filter[list[i].key >> (IL_POSTING_KEY + 3 - p->filter_bits)]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const il_posting_bucket *b = il_postings_bucket(p, list[i].key);
        if (bucket_class(b) > 0) {
            __builtin_prefetch(il_posting_groups(p, b) + bucket_n(b) / GROUP * p->group_bytes);
        }
    }
}

static inline il_status postings_all(il_postings *p, size_t width, const il_posting *list, size_t n, il_error *err) {
    for (size_t i = 0; i < n; i++) {
        if (i % AHEAD == 0) {
            postings_ahead(p, list + i, n - i < AHEAD ? n - i : AHEAD);
        }
        const il_status s = postings_put(p, width, &list[i], err);
        if (s != IL_OK) {
            while (i > 0) {
                il_postings_drop(p, list[--i].key);
            }
            return s;
        }
        if (p->filter != NULL) {
            filter_set(p, list[i].key);
        }
        if (p->total > (size_t)p->nbuckets * IL_POSTING_LOAD && (p->nbuckets < p->cap || buckets_widen(p, NULL) == IL_OK)) {
            buckets_split(p);
        }
    }
    return IL_OK;
}

il_status il_postings_add(il_postings *p, const il_posting *list, size_t n, il_error *err) {
    if (n >= IL_POSTING_PLACES - p->total) {
        return il_error_set(err, IL_E_LIMIT, "the content index is full");
    }
    if (p->cap == 0 && n > 0) {
        IL_TRY(buckets_widen(p, err));
    }
    if (p->filtered && n > 0) {
        filter_grow(p, p->total + n);
    }
    return p->more_bytes == 2 ? postings_all(p, 2, list, n, err) : postings_all(p, 0, list, n, err);
}

il_posting_walk il_postings_walk(const il_postings *p, uint32_t key) {
    il_posting_walk w = {.in = p, .key = key};
    if (p->total > 0) {
        const il_posting_bucket *b = il_postings_bucket(p, key);
        w.left = bucket_n(b);
        if (w.left > 0) {
            w.group = il_posting_groups(p, b);
            w.same = il_posting_same(w.group, w.left, key);
        }
    }
    return w;
}

bool il_posting_next(il_posting_walk *w, il_posting *out) {
    while (w->same == 0) {
        if (w->left <= GROUP) {
            return false;
        }
        w->left -= GROUP;
        w->group += w->in->group_bytes;
        w->same = il_posting_same(w->group, w->left, w->key);
    }
    const size_t i = (size_t)__builtin_ctzll(w->same) / 8;
    w->same &= w->same - 1;
    *out = (il_posting){.key = w->key, .place = il_posting_place(w->in, w->group, i)};
    if (w->in->more_bytes == 2) {
        memcpy(&out->more, il_posting_mores(w->group) + 2 * i, 2);
    }
    return true;
}
