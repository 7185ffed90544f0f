/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/digest.h"

#include "provenance/decode.h"
#include "provenance/index.h"
#include "provenance/token.h"

enum {
    DIGEST_VERSION = 3,
    DIGEST_SEEN_LEAST = 256,
    DIGEST_SEEN_MOST = 1 << 16,
    DIGEST_WORDS_SEEN = 4096,
    DIGEST_LONG = 0xff, /* words of so many bytes are never taken for known */
    DIGEST_PRINT = 5,   /* bytes of a row */
    DIGEST_WORD = 3,    /* behind its place */
    DIGEST_VARINT = 5   /* bytes at most */
};

il_status il_digest_stream(il_str text, bool traced, il_arena *arena, il_stream *out, bool *cut, il_error *err) {
    IL_TRY(il_stream_init(out, arena, (text.n < IL_DIGEST_TEXT ? text.n : IL_DIGEST_TEXT) + text.n / 8 + 64, traced, err));
    const bool longer = text.n > IL_DIGEST_TEXT;
    IL_TRY(il_read(out, (il_str){text.p, longer ? IL_DIGEST_TEXT : text.n}, arena, cut, err));
    *cut = *cut || longer;
    return IL_OK;
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* Places of a stream that may have a fingerprint. */
static uint32_t digest_places(uint32_t stream) {
    return stream < IL_PRINT_BYTES ? 0 : (stream - IL_PRINT_BYTES) / IL_PRINT_STEP + 1;
}

/* Whether the fingerprints at both and what is around them are equal: there is so much around b, and a is before it. */
static inline bool digest_same(const uint8_t *p, size_t a, size_t b) {
    const uint8_t *x = p + a - IL_PRINT_AROUND, *y = p + b - IL_PRINT_AROUND;
    return ((il_load8(x) ^ il_load8(y)) | (il_load8(x + 8) ^ il_load8(y + 8)) | (uint64_t)(x[16] ^ y[16])) == 0;
}
_Static_assert(2 * IL_PRINT_AROUND + IL_PRINT_BYTES == 17, "what digest_same compares");

/* Eight bytes, the lowest first: one store. */
static inline void digest_put8(uint8_t *p, uint64_t v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
    p[4] = (uint8_t)(v >> 32);
    p[5] = (uint8_t)(v >> 40);
    p[6] = (uint8_t)(v >> 48);
    p[7] = (uint8_t)(v >> 56);
}

/* Whether the fingerprint of this key and sketch at byte `at` was in the text before; `slot` says where one with them was last, or gets that it is here. */
static inline bool digest_known(const il_stream *s, uint64_t *slot, uint32_t key, uint16_t sketch, size_t at) {
    const uint64_t mark = (uint64_t)(key >> 8 << 16 | sketch) << 32, was = *slot;
    if ((was & ~(uint64_t)UINT32_MAX) == mark) { /* most likely */
        const size_t before = (size_t)(was & UINT32_MAX);
        if (before != 0 && digest_same(s->p, before, at)) {
            return true;
        }
    }
    *slot = mark | at;
    return false;
}
_Static_assert(DIGEST_SEEN_LEAST >= 1 << 8, "what a mark lacks of a key says the slot");

/* The row of one place, or none: how many bytes it has. Writes eight. */
static inline __attribute__((always_inline)) size_t digest_row(const il_stream *s, size_t place, uint64_t *seen, size_t mask,
                                                               bool inner, uint8_t *row) {
    const size_t at = place * IL_PRINT_STEP;
    const uint64_t bytes = il_print_load(s->p + at);
    if (il_print_marked(bytes)) {
        return 0;
    }
    const uint32_t key = il_print_key(bytes);
    const uint16_t sketch = inner ? il_print_sketch_of(il_load8(s->p + at - 8), il_load8(s->p + at + IL_PRINT_BYTES))
                                  : il_print_sketch(s->p, s->n, at);
    const bool around = inner || (at >= IL_PRINT_STEP && at + IL_PRINT_BYTES + IL_PRINT_AROUND <= s->n);
    digest_put8(row, (uint64_t)sketch << 24 | key);
    return around && digest_known(s, &seen[key & mask], key, sketch, at) ? 0 : DIGEST_PRINT;
}

/* The rows of all places, `seen` of a power of two that is above `mask`; `there` and the rows behind it have room for all and three bytes more. What is known is written as well,
 * and over it the next. */
static uint32_t digest_rows(const il_stream *s, size_t places, uint64_t *seen, size_t mask, uint8_t *there, uint8_t *row) {
    const uint8_t *const first = row;
    size_t place = 0;
    for (; place < places; there++) {
        const size_t end = places - place < 8 ? places : place + 8;
        const bool inner = place >= 8 && (end - 1) * IL_PRINT_STEP + IL_PRINT_BYTES + 8 <= s->n;
        uint32_t bits = 0;
        for (uint32_t bit = 1; place < end; place++, bit <<= 1) {
            const size_t bytes =
                inner ? digest_row(s, place, seen, mask, true, row) : digest_row(s, place, seen, mask, false, row);
            bits |= bytes != 0 ? bit : 0;
            row += bytes;
        }
        *there = (uint8_t)bits;
    }
    return (uint32_t)((size_t)(row - first) / DIGEST_PRINT);
}

static il_status digest_prints(const il_stream *s, il_arena *scratch, il_buf *out, uint32_t *n, il_error *err) {
    const size_t places = digest_places((uint32_t)s->n), bits = (places + 7) / 8;
    size_t seen_n = DIGEST_SEEN_LEAST;
    *n = 0;
    while (seen_n < places && seen_n < DIGEST_SEEN_MOST) {
        seen_n *= 2;
    }
    uint64_t *seen = IL_NEW_ARRAY(scratch, uint64_t, seen_n);
    if (seen == NULL) {
        return il_arena_fail(scratch, err);
    }
    uint8_t *there = (uint8_t *)il_buf_room(out, bits + places * DIGEST_PRINT + 8);
    if (there == NULL) {
        return IL_OK; /* il_index_digest says so */
    }
    *n = digest_rows(s, places, seen, seen_n - 1, there, there + bits);
    out->n += bits + (size_t)*n * DIGEST_PRINT;
    return IL_OK;
}

typedef struct digest_words {
    const il_stream *s;
    uint64_t *
        seen; /* words: a length and bits of a hash, and where the window has it first; two places for each, the later one first */
    size_t mask;      /* of a pair of places */
    size_t begins;    /* where the window begins */
    uint64_t before;  /* hash of the word before, if it is whole */
    size_t from, end; /* and where that begins and ends */
    bool whole;
    uint32_t place, n;
    uint8_t *row;
} digest_words;

/* A row for the bytes [from, to), of which the last word begins at `at`, unless the window had them: they are compared, for who writes a text may know which words have equal hashes. */
static inline __attribute__((always_inline)) void digest_once(digest_words *d, const uint8_t *p, uint64_t hash, size_t from,
                                                              size_t to, uint32_t place) {
    const size_t length = to - from < DIGEST_LONG ? to - from : DIGEST_LONG;
    const uint32_t mark = (uint32_t)length << 24 | il_word_key(hash), step = place - d->place;
    uint64_t *const two = &d->seen[hash & d->mask];
    const uint64_t later = two[0], earlier = two[1];
    const bool first = later >> 32 == mark;
    const uint64_t may = first ? later : earlier;
    const size_t was = (size_t)(may & UINT32_MAX);
    bool known = (may >> 32 == mark) & (was >= d->begins) & il_word_alike(p + was, p + from, length);
    if (length > 16) {
        known = known && length < DIGEST_LONG && memcmp(p + was, p + from, length) == 0;
    }
    /* by masks: nobody can foretell which words are known, so there is no branch on it */
    const uint64_t fresh = (uint64_t)known - 1, here = (uint64_t)mark << 32 | from;
    two[0] = may ^ ((may ^ here) & fresh);
    two[1] = later ^ ((later ^ earlier) & (0 - (uint64_t)(known & first)));
    if (step >= 0x80) {
        if (known) {
            return;
        }
        for (uint32_t rest = step; rest >= 0x80; rest >>= 7) {
            *d->row++ = (uint8_t)(rest | 0x80);
        }
    }
    d->row[0] = (uint8_t)(step < 0x80 ? step : step >> 7 * ((31 - (uint32_t)__builtin_clz(step)) / 7));
    d->row[1] = (uint8_t)il_word_key(hash);
    d->row[2] = (uint8_t)(il_word_key(hash) >> 8);
    d->row[3] = (uint8_t)(il_word_key(hash) >> 16);
    d->row += fresh & (1 + DIGEST_WORD);
    d->place += step & (uint32_t)fresh;
    d->n += !known;
}

/* A word, and behind one that is joined to the one before it, the two with what joins them: where a token has common words, their pair is rare. */
static inline __attribute__((always_inline)) void digest_take(digest_words *d, const uint8_t *p, const uint8_t *gaps,
                                                              size_t stream, bool cuts, size_t from, size_t to, uint64_t hash) {
    const uint32_t place = (uint32_t)from / IL_PRINT_STEP;
    if (from >= d->begins + IL_DIGEST_WORDS) {
        d->begins = from;
    }
    if (cuts && !il_word_whole(p, stream, gaps, from, to)) {
        d->whole = false;
        return;
    }
    digest_once(d, p, hash, from, to, place);
    if (d->whole & (from == d->end + 1) & il_word_joint(p[d->end]) && il_word_joins(p, gaps, d->end, from)) {
        digest_once(d, p, il_word_pair(d->before, p[d->end], hash), d->from, to, place);
    }
    d->before = hash;
    d->from = from;
    d->end = to;
    d->whole = true;
}

/* Whether a reading begins or ends in the middle of something. */
static bool digest_cuts(const il_stream *s) {
    uint8_t room[IL_BLOCK];
    for (size_t at = 0; at < s->n; at += IL_BLOCK) {
        const uint8_t *p = il_block_at(s->p, s->n, at, room);
        il_sixteen any = {0};
        for (unsigned part = 0; part < IL_BLOCK; part += IL_BLOCK_PART) {
            any |= IL_SIXTEEN(il_sixteen_load(p + part) == IL_NORMAL_CUT);
        }
        if (il_sixteen_bits(any) != 0) {
            return true;
        }
    }
    return false;
}

static il_status digest_words_of(const il_stream *s, il_arena *scratch, il_buf *out, uint32_t *n, il_error *err) {
    digest_words d = {.s = s};
    il_words w = {.s = s};
    size_t seen_n = DIGEST_SEEN_LEAST;
    while (seen_n < s->n / 8 && seen_n < DIGEST_WORDS_SEEN) {
        seen_n *= 2;
    }
    const bool cuts = digest_cuts(s);
    d.mask = seen_n - 2;
    d.seen = IL_NEW_ARRAY(scratch, uint64_t, seen_n);
    if (d.seen == NULL) {
        return il_arena_fail(scratch, err);
    }
    while (il_words_next(&w)) {
        uint8_t *const rows = (uint8_t *)il_buf_room(out, (size_t)2 * (w.n + 1) * (DIGEST_VARINT + DIGEST_WORD));
        if (rows == NULL) {
            break; /* il_index_digest says so */
        }
        digest_words own = d; /* nothing that is written is it */
        uint64_t hashes[IL_WORDS + IL_BLOCK + 1];
        own.row = rows;
        for (uint32_t i = 0; i < w.n; i++) {
            hashes[i] = il_word_hash(s->p + w.starts[i], w.ends[i] - w.starts[i]);
        }
        for (uint32_t i = 0; i < w.n; i++) {
            digest_take(&own, s->p, s->gaps, s->n, cuts, w.starts[i], w.ends[i], hashes[i]);
        }
        out->n += (size_t)(own.row - rows);
        d = own;
    }
    *n = d.n;
    return IL_OK;
}

static void digest_patch(il_buf *b, size_t at, uint32_t v) {
    for (unsigned i = 0; !b->failed && i < 4; i++) {
        b->p[at + i] = (char)(v >> 8 * i);
    }
}

/* What il_index_add keeps of a stream: it, and its gaps. Nothing where there is no room for it: then the text is as one that nobody has any more. */
static il_status digest_keep(const il_stream *s, il_arena *arena, il_str *kept, il_error *err) {
    const size_t gaps = il_digest_gaps(s->n);
    char *p = il_arena_bytes(arena, s->n + gaps);
    *kept = (il_str){NULL, 0};
    if (p == NULL) {
        return arena->capped ? IL_OK : il_arena_fail(arena, err);
    }
    memcpy(p, s->p, s->n);
    memcpy(p + s->n, s->gaps, gaps);
    *kept = (il_str){p, s->n + gaps};
    return IL_OK;
}

il_status il_index_digest(il_str text, il_buf *out, il_str *kept, il_error *err) {
    il_arena scratch;
    il_stream s;
    bool cut = false;
    uint32_t prints = 0, words = 0;
    il_arena_init(&scratch, out->arena->alloc, SIZE_MAX / 2);
    il_status status = il_digest_stream(text, false, &scratch, &s, &cut, err);
    if (status == IL_OK && kept != NULL) {
        status = digest_keep(&s, out->arena, kept, err);
    }
    if (status == IL_OK) {
        il_buf_u8(out, DIGEST_VERSION);
        il_buf_u8(out, cut);
        il_buf_u32(out, (uint32_t)s.n);
        const size_t counts = out->n;
        il_buf_u32(out, 0);
        il_buf_u32(out, 0);
        status = digest_prints(&s, &scratch, out, &prints, err);
        status = status == IL_OK ? digest_words_of(&s, &scratch, out, &words, err) : status;
        digest_patch(out, counts, prints);
        digest_patch(out, counts + 4, words);
    }
    il_arena_free(&scratch);
    if (status == IL_OK && out->failed) {
        return il_error_set(err, out->why, "no room for the digest of a text");
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------- */

static uint32_t digest_key_at(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16; }

static void digest_next_prints(il_digest_part *part, uint32_t first, il_posting *out, size_t n) {
    const uint8_t *p = part->p, *const places = part->places;
    uint32_t place = part->place, bits = n > 0 ? (uint32_t)places[place / 8] >> place % 8 : 0;
    for (size_t i = 0; i < n; i++, p += DIGEST_PRINT) {
        while (bits == 0) {
            place = (place / 8 + 1) * 8;
            bits = places[place / 8];
        }
        const uint32_t skip = (uint32_t)__builtin_ctz(bits);
        place += skip;
        out[i] = (il_posting){.key = digest_key_at(p), .more = (uint16_t)(p[3] | p[4] << 8), .place = first + place};
        bits >>= skip;
        bits >>= 1;
        place++;
        if (place % 8 == 0 && i + 1 < n) {
            bits = places[place / 8];
        }
    }
    part->p = p;
    part->place = place;
}

/* A step of more than one byte. */
static const uint8_t *digest_step(const uint8_t *p, uint32_t *place) {
    unsigned bits = 0;
    for (; (*p & 0x80) != 0; p++, bits += 7) {
        *place += (uint32_t)(*p & 0x7f) << bits;
    }
    *place += (uint32_t)*p << bits;
    return p + 1;
}

static void digest_next_words(il_digest_part *part, uint32_t first, il_posting *out, size_t n) {
    const uint8_t *p = part->p;
    uint32_t place = part->place;
    for (size_t i = 0; i < n; i++, p += DIGEST_WORD) {
        if (*p < 0x80) { /* most are */
            place += *p++;
        } else {
            p = digest_step(p, &place);
        }
        out[i] = (il_posting){.key = digest_key_at(p), .place = first + place};
    }
    part->p = p;
    part->place = place;
}

size_t il_digest_next(il_digest_part *part, uint32_t first, il_posting *out, size_t max) {
    const size_t n = part->n < max ? part->n : max;
    if (part->places != NULL) {
        digest_next_prints(part, first, out, n);
    } else {
        digest_next_words(part, first, out, n);
    }
    part->n -= (uint32_t)n;
    return n;
}

/* As many bits as there are rows, and none of a place that is not. */
static bool digest_prints_open(il_cursor *c, il_digest_part *part, uint32_t n, uint32_t stream) {
    const uint32_t places = digest_places(stream);
    const il_str bits = il_cursor_bytes(c, (places + 7) / 8);
    const il_str rows = il_cursor_bytes(c, (size_t)n * DIGEST_PRINT);
    uint32_t count = 0;
    if (c->failed) {
        return false;
    }
    for (size_t i = 0; i < bits.n; i++) {
        uint32_t ones = (uint8_t)bits.p[i]; /* __builtin_popcount may be a call, and there is nothing to call */
        ones -= ones >> 1 & 0x55;
        ones = (ones & 0x33) + (ones >> 2 & 0x33);
        count += (ones + (ones >> 4)) & 0x0f;
    }
    *part = (il_digest_part){.p = (const uint8_t *)rows.p, .places = (const uint8_t *)bits.p, .n = n};
    return count == n && (places % 8 == 0 || (uint8_t)bits.p[bits.n - 1] >> places % 8 == 0);
}

/* Places grow, and each is written as short as can be, so that the same rows are the same bytes. */
static bool digest_words_open(il_cursor *c, il_digest_part *part, uint32_t n, uint32_t stream) {
    const uint8_t *p = c->p + c->at, *const end = c->p + c->n;
    uint64_t place = 0;
    *part = (il_digest_part){.p = p, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        unsigned bits = 0;
        if (end - p > DIGEST_WORD && *p < 0x80) { /* most are: that it is not too far is asked of the last */
            place += *p;
            p += 1 + DIGEST_WORD;
            continue;
        }
        do {
            if (bits == 7 * DIGEST_VARINT - 7 || end - p < 1 + DIGEST_WORD) {
                return false;
            }
            place += (uint64_t)(*p & 0x7f) << bits;
            bits += 7;
        } while ((*p++ & 0x80) != 0);
        if (bits > 7 && p[-1] == 0) {
            return false;
        }
        p += DIGEST_WORD;
    }
    c->at = (size_t)(p - c->p);
    return n == 0 || place * IL_PRINT_STEP < stream;
}

il_status il_digest_open(il_str bytes, il_digest *out, il_error *err) {
    il_cursor c = {.p = (const uint8_t *)bytes.p, .n = bytes.n};
    const uint8_t version = il_cursor_u8(&c), cut = il_cursor_u8(&c);
    out->stream = il_cursor_u32(&c);
    const uint32_t prints = il_cursor_u32(&c), words = il_cursor_u32(&c);
    out->cut = cut != 0;
    if (c.failed || version != DIGEST_VERSION || cut > 1 || !digest_prints_open(&c, &out->prints, prints, out->stream) ||
        !digest_words_open(&c, &out->words, words, out->stream) || c.at != c.n) {
        return il_error_set(err, IL_E_DAMAGED, "these bytes are no digest of a text");
    }
    return IL_OK;
}
