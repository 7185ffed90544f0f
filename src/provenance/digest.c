/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/digest.h"

#include "provenance/decode.h"
#include "provenance/index.h"
#include "provenance/token.h"

enum {
    DIGEST_VERSION = 1,
    DIGEST_SEEN_LEAST = 256,
    DIGEST_SEEN_MOST = 1 << 16,
    DIGEST_WORDS_SEEN = 4096,
    DIGEST_ROW = 11 /* bytes at most */
};

il_status il_digest_stream(il_str text, bool traced, il_arena *arena, il_stream *out, bool *cut, il_error *err) {
    IL_TRY(il_stream_init(out, arena, (text.n < IL_DIGEST_TEXT ? text.n : IL_DIGEST_TEXT) + text.n / 8 + 64, traced, err));
    const bool longer = text.n > IL_DIGEST_TEXT;
    IL_TRY(il_read(out, (il_str){text.p, longer ? IL_DIGEST_TEXT : text.n}, arena, cut, err));
    *cut = *cut || longer;
    return IL_OK;
}

/* ---- writing --------------------------------------------------------------------------------------- */

static void digest_row(il_buf *b, uint32_t *place, uint32_t at, uint32_t key, uint16_t more) {
    uint8_t *p = (uint8_t *)il_buf_room(b, DIGEST_ROW);
    uint32_t step = at - *place;
    size_t n = 0;
    *place = at;
    if (p == NULL) {
        return;
    }
    for (; step >= 0x80; step >>= 7) {
        p[n++] = (uint8_t)(step | 0x80);
    }
    p[n++] = (uint8_t)step;
    p += n;
    p[0] = (uint8_t)key;
    p[1] = (uint8_t)(key >> 8);
    p[2] = (uint8_t)(key >> 16);
    p[3] = (uint8_t)(key >> 24);
    p[4] = (uint8_t)more;
    p[5] = (uint8_t)(more >> 8);
    b->n += n + 6;
}

static bool digest_same(const il_stream *s, size_t a, size_t b) {
    const size_t back = IL_PRINT_AROUND, on = IL_PRINT_BYTES + IL_PRINT_AROUND;
    return a >= back && b + on <= s->n && memcmp(s->p + a - back, s->p + b - back, back + on) == 0;
}

static il_status digest_prints(const il_stream *s, il_arena *scratch, il_buf *out, uint32_t *n, il_error *err) {
    size_t seen_n = DIGEST_SEEN_LEAST;
    uint32_t place = 0;
    *n = 0;
    while (seen_n < s->n / IL_PRINT_STEP && seen_n < DIGEST_SEEN_MOST) {
        seen_n *= 2;
    }
    uint32_t *seen = IL_NEW_ARRAY(scratch, uint32_t, seen_n);
    if (seen == NULL) {
        return il_arena_fail(scratch, err);
    }
    for (size_t at = 0; at + IL_PRINT_BYTES <= s->n; at += IL_PRINT_STEP) {
        const uint64_t bytes = il_load8(s->p + at);
        if (il_print_marked(bytes)) {
            continue;
        }
        const uint32_t key = il_print_key(bytes);
        uint32_t *slot = &seen[key & (seen_n - 1)];
        if (*slot != 0 && digest_same(s, *slot - 1, at)) {
            continue;
        }
        *slot = (uint32_t)at + 1;
        digest_row(out, &place, (uint32_t)(at / IL_PRINT_STEP), key, il_print_sketch(s->p, s->n, at));
        ++*n;
    }
    return IL_OK;
}

typedef struct digest_seen { /* which hashes a block has had: open addressing, 0 none */
    uint64_t *slots;
    size_t n, nslots; /* a power of two */
} digest_seen;

static bool digest_first(digest_seen *seen, uint64_t hash) {
    size_t i = (size_t)(hash >> 8) & (seen->nslots - 1);
    while (seen->slots[i] != 0) {
        if (seen->slots[i] == hash) {
            return false;
        }
        i = (i + 1) & (seen->nslots - 1);
    }
    seen->slots[i] = hash;
    seen->n++;
    return true;
}

/* Words, and behind a word that is joined to the one before it, the two with what joins them: where a token has common words, their pair is rare. */
static il_status digest_words(const il_stream *s, il_arena *scratch, il_buf *out, uint32_t *n, il_error *err) {
    digest_seen seen = {.nslots = DIGEST_SEEN_LEAST};
    while (seen.nslots < s->n && seen.nslots < DIGEST_WORDS_SEEN) {
        seen.nslots *= 2;
    }
    seen.slots = IL_NEW_ARRAY(scratch, uint64_t, seen.nslots);
    uint32_t place = 0;
    size_t at = 0, block = 0;
    il_word w, before = {0};
    *n = 0;
    if (seen.slots == NULL) {
        return il_arena_fail(scratch, err);
    }
    for (; il_word_next(s->p, s->n, s->gaps, &at, &w); before = w) {
        if (w.at >= block + IL_DIGEST_WORDS || seen.n > seen.nslots / 2) {
            memset(seen.slots, 0, seen.nslots * sizeof *seen.slots);
            block = w.at;
            seen.n = 0;
        }
        const bool joined = il_word_joined(s->p, s->gaps, &before, &w);
        for (uint32_t pair = 0; pair < 1 + (uint32_t)joined; pair++) {
            const uint32_t from = pair == 0 ? w.at : before.at;
            const uint64_t hash = il_word_hash(s->p + from, w.at + w.n - from) << 1 | 1;
            if (w.whole && (pair == 0 || before.whole) && digest_first(&seen, hash)) {
                digest_row(out, &place, w.at / IL_PRINT_STEP, (uint32_t)(hash >> 17), (uint16_t)(hash >> 1));
                ++*n;
            }
        }
    }
    return IL_OK;
}

static void digest_patch(il_buf *b, size_t at, uint32_t v) {
    for (unsigned i = 0; !b->failed && i < 4; i++) {
        b->p[at + i] = (char)(v >> 8 * i);
    }
}

il_status il_index_digest(il_str text, il_buf *out, il_error *err) {
    il_arena scratch;
    il_stream s;
    bool cut = false;
    uint32_t prints = 0, words = 0;
    il_arena_init(&scratch, out->arena->alloc, SIZE_MAX / 2);
    il_status status = il_digest_stream(text, false, &scratch, &s, &cut, err);
    if (status == IL_OK) {
        il_buf_u8(out, DIGEST_VERSION);
        il_buf_u8(out, cut);
        il_buf_u32(out, (uint32_t)s.n);
        const size_t counts = out->n;
        il_buf_u32(out, 0);
        il_buf_u32(out, 0);
        status = digest_prints(&s, &scratch, out, &prints, err);
        status = status == IL_OK ? digest_words(&s, &scratch, out, &words, err) : status;
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

bool il_digest_next_long(il_digest_part *part, il_posting *out) {
    const uint8_t *p = part->at.p + part->at.at;
    const size_t left = part->at.n - part->at.at;
    uint32_t step = 0;
    size_t n = 0;
    do {
        if (n == 4 || n + 7 > left) {
            part->at.failed = true;
            return false;
        }
        step |= (uint32_t)(p[n] & 0x7f) << 7 * n;
    } while ((p[n++] & 0x80) != 0);
    il_digest_row(part, p + n, n, step, out);
    return true;
}

/* The rows are where they may be; moves `at` behind them. */
static bool digest_rows(il_cursor *at, il_digest_part *part, uint32_t n, uint32_t stream, size_t least, bool twice) {
    *part = (il_digest_part){.at = *at, .n = n};
    il_digest_part walk = *part;
    il_posting row;
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        const size_t from = walk.at.at;
        if (!il_digest_next(&walk, &row)) {
            return false;
        }
        const size_t step_n = walk.at.at - from - 6; /* as short as can be, so that the same rows are the same bytes */
        if ((step_n > 1 && walk.at.p[from + step_n - 1] == 0) || row.place < last || (!twice && i > 0 && row.place == last) ||
            (size_t)row.place * IL_PRINT_STEP + least > stream) {
            return false;
        }
        last = row.place;
    }
    *at = walk.at;
    return true;
}

il_status il_digest_open(il_str bytes, il_digest *out, il_error *err) {
    il_cursor c = {.p = (const uint8_t *)bytes.p, .n = bytes.n};
    const uint8_t version = il_cursor_u8(&c), cut = il_cursor_u8(&c);
    out->stream = il_cursor_u32(&c);
    const uint32_t prints = il_cursor_u32(&c), words = il_cursor_u32(&c);
    out->cut = cut != 0;
    if (c.failed || version != DIGEST_VERSION || cut > 1 ||
        !digest_rows(&c, &out->prints, prints, out->stream, IL_PRINT_BYTES, false) ||
        !digest_rows(&c, &out->words, words, out->stream, 1, true) || c.at != c.n) {
        return il_error_set(err, IL_E_DAMAGED, "these bytes are no digest of a text");
    }
    return IL_OK;
}
