/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "provenance/index_part.h"
#include "provenance/token.h"

/* FIND_QUERY bytes of a query are looked at; FIND_WORK is what may be done for one: postings visited and bytes compared. More is said, not done. */
enum { FIND_QUERY = 1 << 20, FIND_WORK = 4 << 20, FIND_HITS = 1 << 16, FIND_LINES = 256, FIND_BATCH = 64, FIND_ROWS = 512 };

typedef struct find_line { /* a run that was found: bytes of a query and of a text that go in step */
    uint64_t line;         /* their distance, with the text's place in the index */
    uint32_t from, until;  /* the bytes of the query's stream where it begins and ends */
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
    for (size_t b = il_index_blocks(t->first); f->passed != NULL && b < end;) {
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
    if (known->line == line && at >= known->from && at < known->until) {
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
    *known = (find_line){.line = line, .from = (uint32_t)(at - left), .until = (uint32_t)(at + right)};
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

typedef struct find_chain { /* a bucket that may have the key of a place of the query */
    uint8_t *line;          /* that is next */
    uint32_t n;             /* rows from there on */
    uint16_t tag, sketch, of;
} find_chain;
typedef struct find_row { /* of which key and sketch are alike */
    uint32_t place;
    uint16_t unlike, next; /* the next one of its place of the query, plus 1 */
} find_row;
typedef struct find_batch { /* places of a query, asked together so that their memory is fetched together */
    size_t from;            /* the first */
    uint32_t n;             /* chains to come */
    uint32_t nrows;
    find_chain chains[FIND_BATCH];
    uint16_t first[FIND_BATCH], last[FIND_BATCH]; /* row of each place, plus 1 */
    find_row rows[FIND_ROWS];
} find_batch;

/* The rows that were found, place by place. */
static il_status find_candidates(il_finder *f, find_batch *b) {
    for (size_t of = 0; b->nrows > 0 && of < FIND_BATCH; of++) {
        for (uint32_t i = b->first[of]; i > 0 && !find_done(f); i = b->rows[i - 1].next) {
            IL_TRY(find_candidate(f, b->rows[i - 1].place, b->from + of, b->rows[i - 1].unlike));
        }
        b->first[of] = 0;
    }
    b->nrows = 0;
    return IL_OK;
}

/* What a line has of its chain's key. */
static inline void find_line_rows(find_batch *b, const find_chain *c, uint32_t n) {
    uint8_t *const sketches = il_posting_sketches(c->line), *const places = il_posting_places(c->line, IL_POSTING_SKETCHED);
    uint32_t same = il_posting_same(c->line, n, c->tag);
    if (same == 0) {
        return;
    }
    for (same &= il_print_alike(sketches, c->sketch); same != 0; same &= same - 1, same &= same - 1) {
        const size_t i = (size_t)__builtin_ctz(same) / 2;
        uint16_t other;
        memcpy(&other, sketches + i * sizeof other, sizeof other);
        b->rows[b->nrows++] =
            (find_row){.place = il_posting_place(places, i), .unlike = (uint16_t)(c->sketch ^ other), .next = 0};
        const uint16_t row = (uint16_t)b->nrows;
        if (b->first[c->of] == 0) {
            b->first[c->of] = row;
        } else {
            b->rows[b->last[c->of] - 1].next = row;
        }
        b->last[c->of] = row;
    }
}

/* One line of each chain at a time. */
static il_status find_chains(il_finder *f, find_batch *b) {
    while (b->n > 0 && !find_done(f)) {
        uint32_t left = 0;
        find_worked(f, b->n);
        if (b->nrows + b->n * IL_POSTING_SKETCHED > FIND_ROWS) {
            IL_TRY(find_candidates(f, b));
        }
        for (uint32_t i = 0; i < b->n; i++) {
            find_chain c = b->chains[i];
            const uint32_t n = c.n < IL_POSTING_SKETCHED ? c.n : IL_POSTING_SKETCHED;
            find_line_rows(b, &c, n);
            c.n -= n;
            if (c.n > 0) {
                c.line = il_posting_line(&f->x->prints, il_posting_next_line(c.line));
                __builtin_prefetch(c.line);
                b->chains[left++] = c;
            }
        }
        b->n = left;
    }
    return find_candidates(f, b);
}
_Static_assert(FIND_ROWS >= FIND_BATCH * IL_POSTING_SKETCHED, "there is room for a line of each chain");

static il_status find_runs(il_finder *f) {
    const il_postings *prints = &f->x->prints;
    const uint8_t *q = f->q.p;
    const il_posting_bucket *buckets[FIND_BATCH];
    uint32_t keys[FIND_BATCH];
    find_batch b;
    const size_t places = prints->total == 0 || f->q.n < IL_PRINT_BYTES ? 0 : f->q.n - IL_PRINT_BYTES + 1;
    memset(b.first, 0, sizeof b.first);
    memset(b.last, 0, sizeof b.last);
    b.nrows = 0;
    for (size_t from = 0; from < places && !find_done(f); from += FIND_BATCH) {
        const size_t n = places - from < FIND_BATCH ? places - from : FIND_BATCH;
        b.from = from;
        b.n = 0;
        for (size_t i = 0; i < n; i++) {
            keys[i] = il_print_key(il_print_load(q + from + i));
            buckets[i] = il_postings_bucket(prints, keys[i]);
            __builtin_prefetch(buckets[i]);
        }
        for (size_t i = 0; i < n; i++) { /* the filters let few through */
            if (buckets[i]->lines > 0 && il_posting_may(buckets[i], keys[i]) && !il_print_marked(il_print_load(q + from + i))) {
                find_chain *c = &b.chains[b.n++];
                *c = (find_chain){.line = il_posting_line(prints, buckets[i]->first),
                                  .n = il_postings_rows(prints, buckets[i]),
                                  .tag = (uint16_t)(keys[i] >> 8),
                                  .sketch = il_print_sketch(q, f->q.n, from + i),
                                  .of = (uint16_t)i};
                __builtin_prefetch(c->line);
            }
        }
        IL_TRY(find_chains(f, &b));
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
