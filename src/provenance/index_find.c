/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "provenance/index_part.h"
#include "provenance/token.h"

/* FIND_QUERY bytes of a query are looked at; FIND_WORK is what may be done for one: postings visited and bytes compared. More is said, not done. */
enum { FIND_QUERY = 1 << 20, FIND_WORK = 4 << 20, FIND_HITS = 1 << 16, FIND_LINES = 256, FIND_BATCH = 32 };

typedef struct find_line { /* a run that was found: bytes of a query and of a text that go in step */
    uint64_t line;         /* their distance, with the text's place in the index */
    uint32_t until;        /* the byte of the query's stream where it ends */
} find_line;

typedef struct il_finder {
    const il_index *x;
    il_stream q;
    il_arena *arena; /* of the hits */
    il_index_hit *list;
    size_t n, cap;
    uint32_t *latest; /* of each text: its latest hit, plus 1 */
    uint64_t *set;    /* only which groups; NULL: hits */
    size_t nbits, found;
    uint64_t *passed; /* with `set`, of each block of places: all of it is of texts whose groups are found */
    size_t work;
    bool more;
    find_line lines[FIND_LINES];
    il_error *err;
} il_finder;

static void find_worked(il_finder *f, size_t n) { f->work = f->work > n ? f->work - n : 0; }

static bool find_known(const il_finder *f, uint32_t group) {
    return f->set != NULL && (group >= f->nbits || (f->set[group / 64] >> (group % 64) & 1) != 0);
}

/* Whether a hit says nothing that the other, of the same source, does not say. */
static bool find_within(const il_index_hit *a, const il_index_hit *b) {
    return a->at >= b->at && a->at + a->n <= b->at + b->n && (b->compared || !a->compared) && (!b->token || a->token);
}

/* Nothing more is asked of the text, whose group is found: of no block of places that is only its own. */
static void find_pass(il_finder *f, const il_index_text *t) {
    const size_t end = (t + 1 < f->x->texts + f->x->n ? t[1].first : f->x->places) >> IL_INDEX_BLOCK;
    for (size_t b = il_index_blocks(t->first); b < end;) {
        const size_t bit = b % 64, n = end - b < 64 - bit ? end - b : 64 - bit;
        f->passed[b / 64] |= (~UINT64_C(0) >> (64 - n)) << bit;
        b += n;
    }
}

static il_status find_hit(il_finder *f, const il_index_text *t, size_t at, size_t n, bool token, bool compared) {
    if (f->set != NULL) {
        if (!find_known(f, t->group)) {
            f->set[t->group / 64] |= UINT64_C(1) << (t->group % 64);
            f->found++;
        }
        return IL_OK;
    }
    const uint32_t from = f->q.places[at].from, to = f->q.places[at + n - 1].to;
    const il_index_hit hit = {.source = t->source, .at = from, .n = to - from, .token = token, .compared = compared};
    uint32_t *latest = &f->latest[t - f->x->texts];
    if (*latest != 0) { /* most are a part of what was just found in the same text, or more of it */
        il_index_hit *other = &f->list[*latest - 1];
        if (find_within(&hit, other)) {
            return IL_OK;
        }
        if (find_within(other, &hit)) {
            *other = hit;
            return IL_OK;
        }
    }
    if (f->n == f->cap) {
        if (f->n >= FIND_HITS) {
            f->more = true;
            f->work = 0;
            return IL_OK;
        }
        const size_t cap = f->cap == 0 ? 16 : f->cap * 2;
        il_index_hit *list = il_arena_raw(f->arena, cap * sizeof *list);
        if (list == NULL) {
            return il_arena_fail(f->arena, f->err);
        }
        if (f->n > 0) {
            memcpy(list, f->list, f->n * sizeof *list);
        }
        f->list = list;
        f->cap = cap;
    }
    f->list[f->n++] = hit;
    *latest = (uint32_t)f->n;
    return IL_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------ */

/* How many characters are wholly in these bytes of a stream. */
static size_t find_characters(const uint8_t *p, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += (p[i] & 0xc0) != 0x80;
    }
    if (n > 0 && p[n - 1] >= 0x80) { /* the last one may lack bytes that follow */
        size_t lead = n - 1;
        while (lead > 0 && (p[lead] & 0xc0) == 0x80) {
            lead--;
        }
        const size_t want = p[lead] >= 0xf0 ? 4 : p[lead] >= 0xe0 ? 3 : 2;
        count -= (p[lead] & 0xc0) != 0x80 && n - lead < want;
    }
    return count;
}

static il_status find_compare(il_finder *f, const il_index_text *t, uint32_t place, size_t at) {
    const size_t stand = (size_t)(place - t->first) * IL_PRINT_STEP;
    const uint64_t line = (uint64_t)t->first * IL_PRINT_STEP + stand + UINT32_MAX - at;
    find_line *known = &f->lines[line % FIND_LINES];
    if (known->line == line && at < known->until) {
        return IL_OK;
    }
    const uint8_t *q = f->q.p, *p = t->p;
    if (memcmp(q + at, p + stand, IL_PRINT_BYTES) != 0) {
        return IL_OK;
    }
    size_t left = 0, right = IL_PRINT_BYTES;
    while (left < at && left < stand && q[at - left - 1] == p[stand - left - 1] && !il_normal_mark(q[at - left - 1])) {
        left++;
    }
    while (at + right < f->q.n && stand + right < t->n && q[at + right] == p[stand + right] && !il_normal_mark(q[at + right])) {
        right++;
    }
    find_worked(f, left + right);
    /* a character has one byte to four */
    if (left + right < IL_INDEX_RUN ||
        (left + right < (size_t)4 * IL_INDEX_RUN && find_characters(q + at - left, left + right) < IL_INDEX_RUN)) {
        return IL_OK;
    }
    *known = (find_line){.line = line, .until = (uint32_t)(at + right)};
    return find_hit(f, t, at - left, left + right, false, true);
}

/* A text that is not kept: by the sketches alone. */
static il_status find_uncompared(il_finder *f, const il_index_text *t, size_t at, unsigned unlike) {
    const size_t left = il_print_reach(unlike >> 8), right = il_print_reach(unlike);
    size_t from = at, to = at + IL_PRINT_BYTES;
    while (from > 0 && at - from < left && !il_normal_mark(f->q.p[from - 1])) {
        from--;
    }
    while (to < f->q.n && to - at - IL_PRINT_BYTES < right && !il_normal_mark(f->q.p[to])) {
        to++;
    }
    return find_hit(f, t, from, to - from, false, false);
}

static bool find_done(const il_finder *f) { return f->work == 0 || (f->set != NULL && f->found >= f->x->ngroups); }

/* What stands at a place has the key, and a sketch that is alike. */
static il_status find_candidate(il_finder *f, uint32_t place, size_t at, unsigned unlike) {
    if (f->passed != NULL && (f->passed[place >> (IL_INDEX_BLOCK + 6)] >> (place >> IL_INDEX_BLOCK) % 64 & 1) != 0) {
        return IL_OK;
    }
    const il_index_text *t = il_index_text_at(f->x, place);
    find_worked(f, 1);
    if (find_known(f, t->group)) {
        find_pass(f, t);
        return IL_OK;
    }
    return t->p != NULL ? find_compare(f, t, place, at) : find_uncompared(f, t, at, unlike);
}

/* At byte `at` of the query, which has this key, of this bucket. */
static il_status find_at(il_finder *f, size_t at, uint32_t key, const il_posting_bucket *b) {
    const uint16_t sketch = il_print_sketch(f->q.p, f->q.n, at);
    const uint32_t n = il_posting_rows(b), tag = key >> 8;
    uint8_t *const tags = il_posting_tags(&f->x->prints, b);
    find_worked(f, n / IL_POSTING_GROUP + 1);
    for (uint32_t from = 0; from < n; from += IL_POSTING_GROUP) {
        uint32_t same = il_posting_same(tags + (size_t)from * IL_POSTING_TAG, n - from, tag);
        if (same == 0) {
            continue;
        }
        const uint8_t *const sketches = il_posting_sketches(b, tags) + (size_t)from * sizeof sketch;
        for (same &= il_print_alike(sketches, sketch); same != 0; same &= same - 1, same &= same - 1) {
            const size_t i = (size_t)__builtin_ctz(same) / 2;
            uint16_t other;
            if (find_done(f)) {
                return IL_OK;
            }
            memcpy(&other, sketches + i * sizeof other, sizeof other);
            IL_TRY(find_candidate(f, il_posting_place(il_posting_places(b, tags, IL_POSTING_SKETCHED), from + i), at,
                                  (unsigned)(sketch ^ other)));
        }
    }
    return IL_OK;
}

/* So many places at a time, so that their memory is fetched together. */
static il_status find_runs(il_finder *f) {
    const il_postings *prints = &f->x->prints;
    const uint8_t *q = f->q.p;
    const il_posting_bucket *buckets[FIND_BATCH];
    uint32_t keys[FIND_BATCH], asked[FIND_BATCH] = {0};
    const size_t places = prints->total == 0 || f->q.n < IL_PRINT_BYTES ? 0 : f->q.n - IL_PRINT_BYTES + 1;
    for (size_t from = 0; from < places; from += FIND_BATCH) {
        const size_t all = places - from < FIND_BATCH ? places - from : FIND_BATCH;
        uint32_t n = 0;
        for (size_t i = 0; i < all; i++) {
            keys[i] = il_print_key(il_print_load(q + from + i));
            buckets[i] = il_postings_bucket(prints, keys[i]);
            __builtin_prefetch(buckets[i]);
        }
        for (uint32_t i = 0; i < all; i++) { /* the filters let few through */
            asked[n] = i;
            n += il_posting_may(buckets[i], keys[i]);
        }
        for (size_t i = 0; i < n; i++) {
            il_postings_fetch(prints, buckets[asked[i]]);
        }
        for (size_t i = 0; i < n; i++) {
            const uint32_t k = asked[i];
            if (find_done(f)) {
                return IL_OK;
            }
            IL_TRY(il_print_marked(il_print_load(q + from + k)) ? IL_OK : find_at(f, from + k, keys[k], buckets[k]));
        }
    }
    return IL_OK;
}

/* ---- tokens ---------------------------------------------------------------------------------------- */

/* Whether so many bytes have as many characters as a token has. Longer ones are runs. */
static bool find_token_length(const il_finder *f, size_t at, size_t n) {
    if (n < IL_INDEX_TOKEN || n >= (size_t)4 * IL_INDEX_RUN) {
        return false;
    }
    const size_t characters = find_characters(f->q.p + at, n);
    return characters >= IL_INDEX_TOKEN && characters < IL_INDEX_RUN;
}

static il_status find_token(il_finder *f, size_t at, size_t n) {
    il_index_needle needle;
    bool compared;
    uint32_t last = 0;
    bool any = false;
    if (!find_token_length(f, at, n) || !il_index_needle_of(f->x, &f->q, at, n, &needle)) {
        return IL_OK;
    }
    il_posting_walk w = il_postings_walk(&f->x->words, needle.key);
    for (const il_index_text *t; !find_done(f) && (t = il_index_needle_next(f->x, &needle, &w, &f->work, &compared)) != NULL;) {
        if (f->work == 0) {
            break; /* it was not looked at to its end: `more` says so, and a hit would say that it is there */
        }
        if (!any || t->source != last) {
            IL_TRY(find_hit(f, t, at, n, true, compared));
        }
        any = true;
        last = t->source;
    }
    return IL_OK;
}

/* A word with a digit, of which the filter says most often that it is nowhere. */
static il_status find_numbered(il_finder *f, size_t at, size_t n) {
    const uint8_t *p = f->q.p + at;
    return il_postings_may(&f->x->words, il_word_key(il_word_hash(p, n))) && il_word_numbered(p, n) ? find_token(f, at, n)
                                                                                                    : IL_OK;
}

/* Tokens that look like identifiers: with a digit, or of several words; and the one word that is all there is. */
static il_status find_tokens(il_finder *f) {
    const il_stream *q = &f->q;
    il_words w = {.s = q};
    size_t from = 0, to = SIZE_MAX - 1, parts = 0, words = 0; /* of the token at hand */
    bool whole = false;
    while (!find_done(f) && il_words_next(&w)) {
        for (uint32_t i = 0; i < w.n; i++) {
            const size_t starts = w.starts[i], ends = w.ends[i];
            const bool is_whole = il_word_whole(q->p, q->n, q->gaps, starts, ends);
            if (!il_word_joins(q->p, q->gaps, to, starts)) {
                IL_TRY(whole && parts > 1 ? find_token(f, from, to - from) : IL_OK);
                from = starts;
                whole = true;
                parts = 0;
            }
            to = ends;
            whole = whole && is_whole;
            parts++;
            words++;
            IL_TRY(is_whole ? find_numbered(f, starts, ends - starts) : IL_OK);
        }
    }
    if (whole && parts > 1) {
        return find_token(f, from, to - from);
    }
    return words == 1 && whole && !il_word_numbered(q->p + from, to - from) ? find_token(f, from, to - from) : IL_OK;
}

/* ---- the answer ------------------------------------------------------------------------------------ */

static bool find_before(const void *x, const void *y) {
    const il_index_hit *a = x, *b = y;
    if (a->source != b->source) {
        return a->source < b->source;
    }
    return a->at != b->at ? a->at < b->at : a->n != b->n ? a->n > b->n : !a->token && b->token;
}

/* Leaves out what lies within a run of the same source. */
static size_t find_longest(il_index_hit *list, size_t n) {
    size_t kept = 0;
    for (size_t i = 0, run = 0; i < n; i++) {
        if (kept == 0 || list[run].source != list[i].source || !find_within(&list[i], &list[run])) {
            list[kept] = list[i];
            run = kept++;
        }
    }
    return kept;
}

static il_status find_all(il_finder *f, il_str query, il_arena *scratch) {
    bool cut = false;
    if (query.n > FIND_QUERY) {
        query.n = FIND_QUERY;
        f->more = true;
    }
    if (f->x->n == 0) {
        return IL_OK;
    }
    if (f->set != NULL) {
        f->passed = IL_NEW_ARRAY(scratch, uint64_t, il_index_blocks(f->x->places) / 64 + 1);
    } else {
        f->latest = IL_NEW_ARRAY(scratch, uint32_t, f->x->n);
    }
    if (f->set != NULL ? f->passed == NULL : f->latest == NULL) {
        return il_arena_fail(scratch, f->err);
    }
    IL_TRY(il_digest_stream(query, f->set == NULL, scratch, &f->q, &cut, f->err));
    IL_TRY(find_runs(f));
    IL_TRY(find_tokens(f));
    f->more = f->more || cut || f->work == 0;
    return IL_OK;
}

/* What is needed on the way is not charged to the caller's arena. */
static il_status find_go(il_finder *f, il_str query, const il_alloc *alloc) {
    il_arena scratch;
    il_arena_init(&scratch, alloc, SIZE_MAX / 2);
    f->work = FIND_WORK;
    memset(f->lines, 0, sizeof f->lines);
    const il_status s = find_all(f, query, &scratch);
    il_arena_free(&scratch);
    return s;
}

il_status il_index_find(const il_index *x, il_str query, il_arena *scratch, il_index_hits *out, il_error *err) {
    il_finder f = {.x = x, .arena = scratch, .err = err};
    *out = (il_index_hits){0};
    IL_TRY(find_go(&f, query, scratch->alloc));
    il_sort(f.list, f.n, sizeof *f.list, find_before);
    *out = (il_index_hits){.list = f.list, .n = find_longest(f.list, f.n), .more = f.more};
    return IL_OK;
}

il_status il_index_groups(const il_index *x, il_str query, il_arena *scratch, uint64_t *groups, size_t nbits, bool *more,
                          il_error *err) {
    il_finder f = {.x = x, .set = groups, .nbits = nbits, .err = err};
    memset(groups, 0, (nbits + 63) / 64 * sizeof *groups);
    *more = true;
    IL_TRY(find_go(&f, query, scratch->alloc));
    *more = f.more;
    return IL_OK;
}
