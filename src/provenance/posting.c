/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/posting.h"

#include "base/mem.h"

/* YOUNG postings are a table at most. A run has BUCKET postings a bucket, and at least YOUNG_BITS bits of buckets: the other 16 bits of the key are in the row. */
enum {
    YOUNG = 1 << 14,
    YOUNG_LEAST = 64,
    YOUNG_BITS = IL_POSTING_KEY - 16,
    BUCKET = 16,
    FANOUT = 4,
    FILTER_LEAST = 10,
    FILTER_EACH = 2
};
_Static_assert(YOUNG / BUCKET == 1 << YOUNG_BITS, "the smallest run has all its buckets");

static uint32_t posting_key(uint32_t key) { return key & ((UINT32_C(1) << IL_POSTING_KEY) - 1); }

/* ---- runs ------------------------------------------------------------------------------------------ */

enum { RUN_TAG = 2, RUN_REST = IL_POSTING_BYTES - RUN_TAG, RUN_BEYOND = 8 };

static inline uint64_t run_load(const uint8_t *p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static void run_put(const il_posting_run *r, size_t i, const il_posting *posting) {
    uint8_t *tag = r->tags + RUN_TAG * i, *rest = r->tags + RUN_TAG * r->n + RUN_REST * i;
    tag[0] = (uint8_t)posting->key;
    tag[1] = (uint8_t)(posting->key >> 8);
    rest[0] = (uint8_t)posting->more;
    rest[1] = (uint8_t)(posting->more >> 8);
    rest[2] = (uint8_t)posting->place;
    rest[3] = (uint8_t)(posting->place >> 8);
    rest[4] = (uint8_t)(posting->place >> 16);
}

/* Of row i, which is in this bucket. The bucket has the first bits of the key, the tag the last 16, and both have those between. */
static il_posting run_get(const il_posting_run *r, size_t i, size_t bucket) {
    const uint64_t rest = run_load(r->tags + RUN_TAG * r->n + RUN_REST * i);
    const uint32_t first = (uint32_t)(bucket >> (r->bits - YOUNG_BITS)) << 16;
    const uint8_t *tag = r->tags + RUN_TAG * i;
    return (il_posting){.key = first | (uint32_t)(tag[0] | tag[1] << 8),
                        .more = (uint16_t)rest,
                        .place = (uint32_t)(rest >> 16) & (IL_POSTING_PLACES - 1)};
}

/* The first of rows [at, end) with this tag; end when there is none. Four at a time. */
static uint32_t run_seek(const il_posting_run *r, uint32_t at, uint32_t end, uint32_t tag) {
    const uint64_t ones = UINT64_C(0x0001000100010001), want = ones * (tag & 0xffff);
    for (; at < end; at += 4) {
        const uint64_t unlike = run_load(r->tags + (size_t)RUN_TAG * at) ^ want;
        const uint64_t zero = (unlike - ones) & ~unlike & (ones << 15); /* the lowest one set is right */
        if (zero != 0) {
            at += (uint32_t)__builtin_ctzll(zero) / 16;
            return at < end ? at : end;
        }
    }
    return end;
}

static unsigned run_bits(size_t n) {
    unsigned bits = YOUNG_BITS;
    while (bits < IL_POSTING_KEY && (n >> bits) >= (size_t)2 * BUCKET) {
        bits++;
    }
    return bits;
}

static size_t run_bytes(size_t n) {
    return n * IL_POSTING_BYTES + RUN_BEYOND + (((size_t)1 << run_bits(n)) + 1) * sizeof(uint32_t);
}

static void run_free(const il_postings *p, il_posting_run *r) {
    p->alloc->free(p->alloc->ctx, r->tags);
    p->alloc->free(p->alloc->ctx, r->buckets);
    *r = (il_posting_run){0};
}

static bool run_new(const il_postings *p, size_t n, il_posting_run *r) {
    *r = (il_posting_run){.n = n, .bits = run_bits(n)};
    r->tags = p->alloc->alloc(p->alloc->ctx, n * IL_POSTING_BYTES + RUN_BEYOND);
    r->buckets = p->alloc->alloc(p->alloc->ctx, (((size_t)1 << r->bits) + 1) * sizeof *r->buckets);
    if (r->tags == NULL || r->buckets == NULL) {
        run_free(p, r);
        return false;
    }
    memset(r->buckets, 0, (((size_t)1 << r->bits) + 1) * sizeof *r->buckets);
    memset(r->tags + n * IL_POSTING_BYTES, 0, RUN_BEYOND);
    return true;
}

static size_t run_bucket(const il_posting_run *r, uint32_t key) { return posting_key(key) >> (IL_POSTING_KEY - r->bits); }

/* First every posting is counted, then each is put. `buckets[b + 1]` counts, then says where the next of bucket b goes. */
static void run_counted(il_posting_run *r) {
    uint32_t at = 0;
    for (size_t b = 0; b < (size_t)1 << r->bits; b++) {
        const uint32_t n = r->buckets[b + 1];
        r->buckets[b + 1] = at;
        at += n;
    }
}
static void run_add(il_posting_run *r, const il_posting *posting) {
    run_put(r, r->buckets[run_bucket(r, posting->key) + 1]++, posting);
}

/* Of the rows of another run. */
static void run_pour(il_posting_run *to, const il_posting_run *from, bool count) {
    for (size_t b = 0; b < (size_t)1 << from->bits; b++) {
        for (uint32_t i = from->buckets[b]; i < from->buckets[b + 1]; i++) {
            const uint8_t *tag = from->tags + RUN_TAG * (size_t)i;
            if (count) {
                to->buckets[run_bucket(to, (uint32_t)(b >> (from->bits - YOUNG_BITS)) << 16 | (uint32_t)(tag[0] | tag[1] << 8)) +
                            1]++;
                continue;
            }
            const il_posting posting = run_get(from, i, b);
            run_add(to, &posting);
        }
    }
}

/* ---- the filter ------------------------------------------------------------------------------------- */

static void filter_set(il_postings *p, uint32_t key) {
    const uint32_t bit = posting_key(key) >> (IL_POSTING_KEY - p->filter_bits);
    p->filter[bit / 8] = (uint8_t)(p->filter[bit / 8] | 1 << bit % 8);
}

/* Bucket by bucket, so that its bits are set in their order. */
static void filter_run(il_postings *p, const il_posting_run *run) {
    for (size_t b = 0; p->filter != NULL && b < (size_t)1 << run->bits; b++) {
        for (uint32_t i = run->buckets[b]; i < run->buckets[b + 1]; i++) {
            filter_set(p, run_get(run, i, b).key);
        }
    }
}

static unsigned filter_want(size_t total) {
    unsigned bits = FILTER_LEAST;
    while (bits < IL_POSTING_KEY && (size_t)1 << bits < total * FILTER_EACH) {
        bits++;
    }
    return bits;
}

/* A larger one when there are more keys. Without memory the old one stays, which says less. */
static void filter_grow(il_postings *p, size_t total) {
    const unsigned bits = filter_want(total);
    if (!p->filtered || (p->filter != NULL && bits <= p->filter_bits) || (p->filter == NULL && p->nruns > 0)) {
        return;
    }
    uint8_t *filter = p->alloc->alloc(p->alloc->ctx, (size_t)1 << (bits - 3));
    if (filter == NULL) {
        return;
    }
    memset(filter, 0, (size_t)1 << (bits - 3));
    p->alloc->free(p->alloc->ctx, p->filter);
    p->filter = filter;
    p->filter_bits = bits;
    for (size_t r = 0; r < p->nruns; r++) {
        filter_run(p, &p->runs[r]);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------ */

void il_postings_init(il_postings *p, const il_alloc *alloc, bool filtered) {
    *p = (il_postings){.alloc = alloc, .filtered = filtered};
}

static void postings_forget(il_postings *p) {
    p->alloc->free(p->alloc->ctx, p->list);
    p->alloc->free(p->alloc->ctx, p->before);
    p->alloc->free(p->alloc->ctx, p->heads);
    p->list = NULL;
    p->before = p->heads = NULL;
    p->n = p->cap = p->linked = p->nheads = 0;
}

void il_postings_free(il_postings *p) {
    postings_forget(p);
    for (size_t r = 0; r < p->nruns; r++) {
        run_free(p, &p->runs[r]);
    }
    run_free(p, &p->coming);
    p->alloc->free(p->alloc->ctx, p->filter);
    *p = (il_postings){.alloc = p->alloc};
}

static void postings_link(il_postings *p, size_t i) {
    uint32_t *head = &p->heads[p->list[i].key & (p->nheads - 1)];
    p->before[i] = *head;
    *head = (uint32_t)i + 1;
}

/* Room for `need` in the list, and in the table unless they become a run at once. */
static bool postings_room(il_postings *p, size_t need, bool table) {
    size_t cap = p->cap, heads = p->nheads;
    while (cap < need) {
        cap = !table ? need : cap == 0 ? YOUNG_LEAST : cap * 2;
    }
    while (table && heads < cap) {
        heads = cap;
    }
    il_posting *list = cap > p->cap ? p->alloc->alloc(p->alloc->ctx, cap * sizeof *list) : p->list;
    uint32_t *before = table && cap > p->linked ? p->alloc->alloc(p->alloc->ctx, cap * sizeof *before) : p->before;
    uint32_t *head = heads > p->nheads ? p->alloc->alloc(p->alloc->ctx, heads * sizeof *head) : p->heads;
    if (list == NULL || (table && (before == NULL || head == NULL))) {
        p->alloc->free(p->alloc->ctx, list == p->list ? NULL : list);
        p->alloc->free(p->alloc->ctx, before == p->before ? NULL : before);
        p->alloc->free(p->alloc->ctx, head == p->heads ? NULL : head);
        return false;
    }
    if (list != p->list) {
        if (p->n > 0) {
            memcpy(list, p->list, p->n * sizeof *list);
        }
        p->alloc->free(p->alloc->ctx, p->list);
        p->list = list;
        p->cap = cap;
    }
    if (before != p->before) {
        if (p->n > 0) {
            memcpy(before, p->before, p->n * sizeof *before);
        }
        p->alloc->free(p->alloc->ctx, p->before);
        p->before = before;
        p->linked = cap;
    }
    if (head != p->heads) {
        p->alloc->free(p->alloc->ctx, p->heads);
        memset(head, 0, heads * sizeof *head);
        p->heads = head;
        p->nheads = heads;
        for (size_t i = 0; i < p->n; i++) {
            postings_link(p, i);
        }
    }
    return true;
}

il_status il_postings_reserve(il_postings *p, size_t more, il_error *err) {
    const size_t need = p->n + more;
    if (more == 0) {
        return IL_OK;
    }
    const bool becomes = need > YOUNG;
    if (becomes && !run_new(p, need, &p->coming)) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    if (!postings_room(p, need, !becomes)) {
        run_free(p, &p->coming);
        return il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    if (becomes) {
        filter_grow(p, p->total + more);
    }
    return IL_OK;
}

void il_postings_add(il_postings *p, il_posting posting) {
    p->list[p->n++] = posting;
    p->total++;
    if (p->coming.tags == NULL) {
        postings_link(p, p->n - 1);
    }
}

/* The last runs become one when there are four that are not much larger than the last; sooner where there is no room for more of them. */
static void postings_merge(il_postings *p) {
    size_t first = p->nruns, n = 0;
    il_posting_run to;
    while (first > 0 && p->runs[first - 1].n < (size_t)FANOUT * p->runs[p->nruns - 1].n) {
        n += p->runs[--first].n;
    }
    if (p->nruns == IL_POSTING_RUNS) { /* only where merging has failed for want of memory, or sizes fall and fall */
        for (first = p->nruns, n = 0; first > 0; n += p->runs[first].n) {
            first--;
        }
    } else if (p->nruns - first < FANOUT) {
        return;
    }
    if (!run_new(p, n, &to)) {
        return;
    }
    for (size_t r = first; r < p->nruns; r++) {
        run_pour(&to, &p->runs[r], true);
    }
    run_counted(&to);
    for (size_t r = first; r < p->nruns; r++) {
        run_pour(&to, &p->runs[r], false);
        run_free(p, &p->runs[r]);
    }
    p->runs[first] = to;
    p->nruns = first + 1;
}

void il_postings_commit(il_postings *p) {
    if (p->coming.tags == NULL) {
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        p->coming.buckets[run_bucket(&p->coming, p->list[i].key) + 1]++;
    }
    run_counted(&p->coming);
    for (size_t i = 0; i < p->n; i++) {
        run_add(&p->coming, &p->list[i]);
    }
    filter_run(p, &p->coming);
    p->runs[p->nruns++] = p->coming;
    p->coming = (il_posting_run){0};
    postings_forget(p);
    postings_merge(p);
}

void il_postings_cancel(il_postings *p) { run_free(p, &p->coming); }

size_t il_postings_bytes(const il_postings *p) {
    size_t bytes = p->cap * sizeof *p->list + p->linked * sizeof *p->before + p->nheads * sizeof *p->heads;
    for (size_t r = 0; r < p->nruns; r++) {
        bytes += run_bytes(p->runs[r].n);
    }
    return bytes + (p->filter != NULL ? (size_t)1 << (p->filter_bits - 3) : 0);
}

size_t il_postings_bytes_with(const il_postings *p, size_t more) {
    const size_t need = p->n + more, filter = p->filtered ? (size_t)1 << (filter_want(p->total + more) - 3) : 0;
    const size_t young = 2 * (need < YOUNG_LEAST ? YOUNG_LEAST : need) * (sizeof(il_posting) + 2 * sizeof(uint32_t));
    return il_postings_bytes(p) + (need > YOUNG ? run_bytes(need) : young > p->cap * sizeof *p->list ? young : 0) + filter;
}

/* False: no run has this key. */
static bool postings_may(const il_postings *p, uint32_t key) {
    const uint32_t bit = posting_key(key) >> (IL_POSTING_KEY - p->filter_bits);
    return p->filter == NULL || (p->filter[bit / 8] >> (bit % 8) & 1) != 0;
}

il_posting_walk il_postings_walk(const il_postings *p, uint32_t key) {
    return (il_posting_walk){.in = p,
                             .key = posting_key(key),
                             .young = p->nheads == 0 ? 0 : p->heads[key & (p->nheads - 1)],
                             .left = postings_may(p, key) ? p->nruns : 0};
}

bool il_posting_next(il_posting_walk *w, il_posting *out) {
    while (w->young != 0) {
        const uint32_t i = w->young - 1;
        w->young = w->in->before[i];
        if (posting_key(w->in->list[i].key) == w->key) {
            *out = w->in->list[i];
            return true;
        }
    }
    for (;;) {
        if (w->at < w->end) {
            w->at = run_seek(w->run, w->at, w->end, w->key);
        }
        if (w->at < w->end) {
            const uint64_t rest = run_load(w->run->tags + RUN_TAG * w->run->n + (size_t)RUN_REST * w->at++);
            *out = (il_posting){.key = w->key, .more = (uint16_t)rest, .place = (uint32_t)(rest >> 16) & (IL_POSTING_PLACES - 1)};
            return true;
        }
        if (w->left == 0) {
            return false;
        }
        w->run = &w->in->runs[--w->left];
        const size_t b = run_bucket(w->run, w->key);
        w->at = w->run->buckets[b];
        w->end = w->run->buckets[b + 1];
    }
}
