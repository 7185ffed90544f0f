/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/normal.h"

#include "base/utf8.h"
#include "provenance/block.h"
#include "provenance/normal_part.h"

/* Hangul syllables decompose by rule (Unicode, 3.12). */
enum {
    HANGUL = 0xac00,
    HANGUL_LAST = 0xd7a3,
    HANGUL_L = 0x1100,
    HANGUL_V = 0x1161,
    HANGUL_T = 0x11a7,
    HANGUL_VS = 21,
    HANGUL_TS = 28
};

static uint16_t normal_value(uint32_t point) {
    if (point > IL_NORMAL_LAST) { /* ideographs stay; tags and variation selectors, and what is no character, fall away */
        return point < 0xe0000 ? IL_NORMAL_WORD : IL_NORMAL_NONE;
    }
    return il_normal_blocks[(size_t)il_normal_index[point / IL_NORMAL_BLOCK] * IL_NORMAL_BLOCK + point % IL_NORMAL_BLOCK];
}

const uint8_t *il_normal_point(uint32_t point, uint8_t own[12], size_t *n, bool *space) {
    *space = false;
    *n = 0;
    if (point < 0x80) {
        own[0] = il_normal_bytes[point];
        *space = own[0] == 1;
        *n = own[0] > 2;
        return own;
    }
    if (point >= HANGUL && point <= HANGUL_LAST) {
        const uint32_t s = point - HANGUL, t = s % HANGUL_TS;
        *n = il_utf8_put(HANGUL_L + s / (HANGUL_VS * HANGUL_TS), (char *)own);
        *n += il_utf8_put(HANGUL_V + s / HANGUL_TS % HANGUL_VS, (char *)own + *n);
        *n += t == 0 ? 0 : il_utf8_put(HANGUL_T + t, (char *)own + *n);
        return own;
    }
    const uint16_t value = normal_value(point);
    if (value == IL_NORMAL_NONE || value == IL_NORMAL_SPACE) {
        *space = value == IL_NORMAL_SPACE;
        return own;
    }
    if (value >= IL_NORMAL_TEXT) {
        const uint8_t *text = il_normal_pool + (value - IL_NORMAL_TEXT);
        *n = *text;
        return text + 1;
    }
    *n = il_utf8_put(point, (char *)own);
    return own;
}

bool il_normal_word_wide(const uint8_t *p, size_t n, size_t at) {
    if (il_normal_mark(p[at])) {
        return false;
    }
    while (at > 0 && (p[at] & 0xc0) == 0x80) {
        at--;
    }
    const size_t length = il_utf8_length(p + at, n - at);
    return length > 0 && normal_value(il_utf8_point(p + at, length)) == IL_NORMAL_WORD;
}

/* ---- the stream ------------------------------------------------------------------------------------ */

static il_status stream_room(il_stream *s, size_t more, il_error *err) {
    if (more <= s->cap - s->n) { /* a cap of 0 has no room for IL_STREAM_BEYOND either */
        return IL_OK;
    }
    size_t cap = s->cap + s->cap / 2;
    if (cap < s->n + more) {
        cap = s->n + more;
    }
    cap = (cap + 63) & ~(size_t)63;
    uint8_t *p = (uint8_t *)il_arena_bytes(s->arena, cap + IL_STREAM_BEYOND);
    uint8_t *gaps = il_arena_get(s->arena, cap / 8 + 1 + IL_STREAM_BEYOND);
    il_place *places = s->traced ? il_arena_raw(s->arena, cap * sizeof *places) : NULL;
    if (p == NULL || gaps == NULL || (s->traced && places == NULL)) {
        return il_arena_fail(s->arena, err);
    }
    if (s->n > 0) {
        memcpy(p, s->p, s->n);
        memcpy(gaps, s->gaps, s->n / 8 + 1);
        if (places != NULL) {
            memcpy(places, s->places, s->n * sizeof *places);
        }
    }
    memset(p + cap, 0, IL_STREAM_BEYOND);
    s->p = p;
    s->gaps = gaps;
    s->places = places;
    s->cap = cap;
    return IL_OK;
}

il_status il_stream_init(il_stream *s, il_arena *arena, size_t expect, bool traced, il_error *err) {
    *s = (il_stream){.arena = arena, .traced = traced};
    return stream_room(s, expect + 1, err);
}

il_status il_stream_mark(il_stream *s, uint8_t mark, il_error *err) {
    IL_TRY(stream_room(s, 1, err));
    if (s->traced) {
        s->places[s->n] = (il_place){0, 0};
    }
    s->p[s->n++] = mark;
    return IL_OK;
}

static void stream_byte(il_stream *s, uint8_t byte, il_place place) {
    if (s->traced) {
        s->places[s->n] = place;
    }
    s->p[s->n++] = byte;
}

/* White space stands before the byte that comes next. */
static void stream_gap(il_stream *s) { s->gaps[s->n / 8] = (uint8_t)(s->gaps[s->n / 8] | 1 << s->n % 8); }

/* The character at byte i that is not ASCII. Returns how many bytes it has in the text. */
static size_t stream_wide(il_stream *s, const uint8_t *p, size_t n, il_place place) {
    const size_t length = il_utf8_length(p, n);
    uint8_t own[12];
    size_t bytes;
    bool space;
    const uint8_t *as = il_normal_point(length > 0 ? il_utf8_point(p, length) : *p, own, &bytes, &space);
    if (space) {
        stream_gap(s);
    }
    for (size_t k = 0; k < bytes; k++) {
        if (as[k] == ' ') {
            stream_gap(s);
        } else {
            stream_byte(s, as[k], place);
        }
    }
    return length > 0 ? length : 1;
}

/* Eight bytes are ASCII. */
static inline bool stream_plain(const uint8_t *p) { return (il_load8(p) & UINT64_C(0x8080808080808080)) == 0; }

/* Lower case, of ASCII. */
static il_sixteen stream_folded(il_sixteen c) { return c | (IL_SIXTEEN(c - 'A' < 26) & 0x20); }

typedef struct stream_block { /* of 64 bytes, a bit each */
    uint64_t spaces, others;  /* others: what is not ASCII, or falls away */
} stream_block;

static inline stream_block stream_classes(const uint8_t *p) {
    stream_block b = {0};
    for (unsigned at = 0; at < IL_BLOCK; at += IL_BLOCK_PART) {
        const il_sixteen c = il_sixteen_load(p + at),
                         space = IL_SIXTEEN(c == ' ') | IL_SIXTEEN(c == '+') | IL_SIXTEEN(c - '\t' < 5);
        b.spaces |= il_sixteen_bits(space) << at;
        b.others |= il_sixteen_bits(IL_SIXTEEN(c - ' ' >= 0x7f - ' ') & ~space) << at;
    }
    return b;
}

/* Moves what stands between white space, `keep` of a block, to byte k of the stream. Returns the byte behind it. */
static inline size_t stream_runs(uint8_t *out, uint8_t *gaps, size_t k, const uint8_t *from, uint64_t keep) {
    while (keep != 0) {
        const unsigned at = (unsigned)__builtin_ctzll(keep);
        const uint64_t rest = ~(keep >> at);
        const unsigned run = rest != 0 ? (unsigned)__builtin_ctzll(rest) : IL_BLOCK;
        gaps[k / 8] = (uint8_t)(gaps[k / 8] | (at > 0) << k % 8);
        for (unsigned part = 0; part < run; part += IL_BLOCK_PART) {
            const il_sixteen c = stream_folded(il_sixteen_load(from + at + part));
            memcpy(out + k + part, &c, sizeof c);
        }
        k += run;
        keep = at + run < IL_BLOCK ? keep & ~UINT64_C(0) << (at + run) : 0;
    }
    return k;
}

/* As stream_ascii, 64 bytes at a time and without places. There is room for one part more. */
static size_t stream_fast(il_stream *s, const uint8_t *p, size_t n, size_t i) {
    uint8_t room[IL_BLOCK + IL_BLOCK_PART] = {0}, *const gaps = s->gaps;
    size_t k = s->n, end = IL_BLOCK;
    for (; end == IL_BLOCK && i < n; i += end) {
        const uint8_t *from = p + i;
        if (n - i < sizeof room) {
            memcpy(room, from, n - i < IL_BLOCK ? n - i : IL_BLOCK);
            from = room;
        }
        const stream_block b = stream_classes(from);
        const uint64_t others = n - i < IL_BLOCK ? b.others | ~UINT64_C(0) << (n - i) : b.others;
        end = others != 0 ? (size_t)__builtin_ctzll(others) : IL_BLOCK;
        if (end == 0) {
            break;
        }
        const uint64_t within = ~UINT64_C(0) >> (IL_BLOCK - end);
        k = stream_runs(s->p, gaps, k, from, ~b.spaces & within);
        gaps[k / 8] = (uint8_t)(gaps[k / 8] | (b.spaces >> (end - 1) & 1) << k % 8);
    }
    s->n = k;
    return i;
}

/* ASCII from byte i on, as far as it goes; returns where it ends. There is room. */
static size_t stream_ascii(il_stream *s, const uint8_t *p, size_t n, size_t i, const il_place *places) {
    uint8_t *const out = s->p, *const gaps = s->gaps;
    size_t k = s->n;
    for (; i < n; i++) {
        const uint8_t as = il_normal_bytes[p[i]];
        out[k] = as;
        if (as > 2) {
            if (s->places != NULL) {
                s->places[k] = places != NULL ? places[i] : (il_place){(uint32_t)i, (uint32_t)i + 1};
            }
            k++;
        } else if (as == 1) { /* before whatever comes next, be it a mark */
            gaps[k / 8] = (uint8_t)(gaps[k / 8] | 1 << k % 8);
        } else if (as == 2) {
            break;
        }
    }
    s->n = k;
    return i;
}

il_status il_stream_put(il_stream *s, il_str text, const il_place *places, il_error *err) {
    const uint8_t *p = (const uint8_t *)text.p;
    for (size_t i = 0; i < text.n;) {
        IL_TRY(stream_room(s, text.n - i + 256, err)); /* the longest text of the pool, and one byte for each that follows */
        if (s->places == NULL && i + 8 <= text.n && stream_plain(p + i)) {
            i = stream_fast(s, p, text.n, i);
        }
        i = stream_ascii(s, p, s->places == NULL && i + IL_BLOCK_PART < text.n ? i + IL_BLOCK_PART : text.n, i, places);
        if (i < text.n && p[i] >= 0x80) {
            il_place place = places != NULL ? places[i] : (il_place){(uint32_t)i, (uint32_t)i + 1};
            const size_t length = il_utf8_length(p + i, text.n - i);
            if (length > 1) {
                place.to = places != NULL ? places[i + length - 1].to : (uint32_t)(i + length);
            }
            i += stream_wide(s, p + i, text.n - i, place);
        }
    }
    return IL_OK;
}
