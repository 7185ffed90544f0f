/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/decode_part.h"

/* BLOB_LONG: from here on a run is looked at over line ends and at each alignment: 12 bytes in base64. */
enum { BLOB_LEAST = 4, BLOB_HEX_LEAST = 6, BLOB_LONG = 16, BLOB_NONE = 0xff };

/* Six bits of a character of base64 or base64url; bit 6: a hexadecimal digit; bit 7: neither letter nor digit. */
#define H 0x40
#define S 0x80
#define X BLOB_NONE
/* clang-format off */
static const uint8_t blob_values[256] = {
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, 62|S, X, 62|S, X, 63|S,
    52|H, 53|H, 54|H, 55|H, 56|H, 57|H, 58|H, 59|H, 60|H, 61|H, X, X, X, X, X, X,
    X, 0|H, 1|H, 2|H, 3|H, 4|H, 5|H, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, X, X, X, X, 63|S,
    X, 26|H, 27|H, 28|H, 29|H, 30|H, 31|H, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
};
/* clang-format on */
#undef H
#undef S
#undef X

static bool blob_hex(uint8_t c) { return blob_values[c] != BLOB_NONE && (blob_values[c] & 0x40) != 0; }

typedef struct blob_decoded {
    uint8_t *p;
    il_place *places;
    size_t n;
} blob_decoded;

static il_status blob_room(il_reader *r, size_t n, blob_decoded *out) {
    out->p = (uint8_t *)il_arena_bytes(r->scratch, n + 3);
    out->places = r->out->traced ? il_arena_raw(r->scratch, (n + 3) * sizeof *out->places) : NULL;
    return out->p == NULL || (r->out->traced && out->places == NULL) ? il_arena_fail(r->scratch, r->err) : IL_OK;
}

/* Six (base64) or four bits (hex) a character from character `from` on; what is left over at the end is no byte. */
static void blob_decode(const il_passage *t, size_t from, unsigned bits, blob_decoded *out) {
    uint32_t value = 0;
    unsigned have = 0;
    size_t n = 0, first = from;
    for (size_t i = from; i < t->n; i++) {
        uint32_t v = blob_values[t->p[i]] & 0x3f;
        if (bits == 4) { /* A is 0 in base64, and 10 here */
            v = v >= 52 ? v - 52 : v >= 26 ? v - 26 + 10 : v + 10;
        }
        if (have == 0) {
            first = i;
        }
        value = value << bits | v;
        have += bits;
        if (have >= 8) {
            have -= 8;
            if (out->places != NULL) {
                out->places[n] = (il_place){il_passage_place(t, first).from, il_passage_place(t, i).to};
            }
            out->p[n++] = (uint8_t)(value >> have);
            first = i;
        }
    }
    out->n = n;
}

/* How many characters are to be seen. */
static size_t blob_visible(const uint8_t *p, size_t from, size_t to) {
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        n += p[i] > 0x20 && (p[i] & 0xc0) != 0x80;
    }
    return n;
}

static il_status blob_read(il_reader *r, const blob_decoded *d, size_t from, size_t to, bool cut_left, bool cut_right,
                           unsigned level) {
    const il_passage part = {.p = d->p + from,
                             .n = to - from,
                             .places = d->places != NULL ? d->places + from : NULL,
                             .cut_left = cut_left,
                             .cut_right = cut_right};
    return il_read_passage(r, &part, level + 1);
}

/* Whether its first bytes may begin a text: most words are told from base64 by it. At least four characters of base64. */
static bool blob_begins(const uint8_t *p) {
    const uint32_t two = (uint32_t)(blob_values[p[0]] & 0x3f) << 6 | (uint32_t)(blob_values[p[1]] & 0x3f);
    const uint32_t first = two >> 4;
    if (first >= 0x7f ? first < 0xc2 : first < 0x20 && first != 0 && !(first >= '\t' && first <= '\r')) {
        return false;
    }
    const uint32_t three = two << 12 | (uint32_t)(blob_values[p[2]] & 0x3f) << 6 | (uint32_t)(blob_values[p[3]] & 0x3f);
    for (unsigned shift = 0; shift < 16; shift += 8) {
        const uint8_t byte = (uint8_t)(three >> shift);
        if (byte < 0x20 ? byte != 0 && !(byte >= '\t' && byte <= '\r') : byte == 0x7f) {
            return false;
        }
    }
    return true;
}

/* The whole of it, when it decodes to text. */
static il_status blob_whole(il_reader *r, const il_passage *t, unsigned bits, unsigned level, bool *is) {
    blob_decoded d;
    *is = false;
    if (bits == 6 && (t->n < BLOB_LEAST || !blob_begins(t->p))) {
        return IL_OK;
    }
    IL_TRY(blob_room(r, t->n, &d));
    blob_decode(t, 0, bits, &d);
    if (d.n < 3 || il_text_end(d.p, d.n, 0) < d.n || blob_visible(d.p, 0, d.n) < 3) {
        return IL_OK;
    }
    *is = true;
    const bool rest = bits == 6 ? t->n % 4 == 1 : t->n % 2 == 1;
    return blob_read(r, &d, 0, d.n, t->cut_left, t->cut_right || rest, level);
}

/* The texts in it, at each alignment. */
static il_status blob_parts(il_reader *r, const il_passage *t, unsigned bits, unsigned level) {
    blob_decoded d;
    for (size_t from = 0; from < (bits == 6 ? 4u : 2u); from++) {
        IL_TRY(blob_room(r, t->n, &d));
        blob_decode(t, from, bits, &d);
        for (size_t i = 0; i < d.n;) {
            const size_t end = il_text_end(d.p, d.n, i);
            if (end - i >= IL_READ_PART && blob_visible(d.p, i, end) >= IL_READ_PART) {
                IL_TRY(blob_read(r, &d, i, end, true, true, level));
            }
            i = end + 1;
        }
    }
    return IL_OK;
}

/* A run of hexadecimal digits. */
static il_status blob_hexadecimal(il_reader *r, const il_passage *t, unsigned level) {
    bool is;
    IL_TRY(blob_whole(r, t, 4, level, &is));
    return is || t->n < (size_t)2 * IL_READ_PART ? IL_OK : blob_parts(r, t, 4, level);
}

static il_passage blob_part(const il_passage *t, size_t from, size_t to) {
    return (il_passage){
        .p = t->p + from, .n = to - from, .places = t->places != NULL ? t->places + from : NULL, .base = t->base + from};
}

/* The parts between `/`, `-`, `_` and `+`: each may be base64 of its own, as in a path. */
static il_status blob_pieces(il_reader *r, const il_passage *t, unsigned level) {
    for (size_t i = 0; i < t->n;) {
        size_t end = i;
        while (end < t->n && (blob_values[t->p[end]] & 0x80) == 0) {
            end++;
        }
        if (end - i >= BLOB_LEAST && end - i < t->n && (end - i) % 4 != 1) {
            bool is;
            const il_passage piece = blob_part(t, i, end);
            IL_TRY(blob_whole(r, &piece, 6, level, &is));
        }
        i = end + 1;
    }
    return IL_OK;
}

/* A run of six has its last digit where a run could end at the earliest: most characters are not looked at. */
static il_status blob_hexadecimals(il_reader *r, const il_passage *t, unsigned level) {
    for (size_t from = 0; from + BLOB_HEX_LEAST <= t->n;) {
        size_t i = from + BLOB_HEX_LEAST;
        while (i > from && blob_hex(t->p[i - 1])) {
            i--;
        }
        if (i > from) {
            from = i;
            continue;
        }
        i = from + BLOB_HEX_LEAST;
        while (i < t->n && blob_hex(t->p[i])) {
            i++;
        }
        const il_passage hex = blob_part(t, from, i);
        IL_TRY(blob_hexadecimal(r, &hex, level));
        from = i + 1;
    }
    return IL_OK;
}

/* A run of characters of base64; *is: all of it was text. */
static il_status blob_run(il_reader *r, const il_passage *t, unsigned level, bool *is) {
    *is = false;
    IL_TRY(blob_hexadecimals(r, t, level));
    if (t->n >= BLOB_LONG || t->n % 4 != 1) {
        IL_TRY(blob_whole(r, t, 6, level, is));
    }
    if (*is) {
        return IL_OK;
    }
    IL_TRY(blob_pieces(r, t, level));
    return t->n >= BLOB_LONG ? blob_parts(r, t, 6, level) : IL_OK;
}

/* The first character of base64 behind a line end (with indentation) at `at`; SIZE_MAX when there is none. */
static size_t blob_next_line(const il_passage *t, size_t at) {
    bool broken = false;
    while (at < t->n && (t->p[at] == '\n' || t->p[at] == '\r' || t->p[at] == ' ' || t->p[at] == '\t')) {
        broken = broken || t->p[at] == '\n' || t->p[at] == '\r';
        at++;
    }
    return broken && at < t->n && blob_values[t->p[at]] != BLOB_NONE ? at : SIZE_MAX;
}

static size_t blob_end(const il_passage *t, size_t at, uint8_t *marks) {
    for (; at < t->n; at++) {
        const uint8_t value = blob_values[t->p[at]];
        if (value == BLOB_NONE) {
            break;
        }
        *marks |= value;
    }
    return at;
}

/* A run that goes on over line ends, from `from` to *end: without them. Where that is not wholly text, its lines are also read one by one: they may be base64
 * of their own, or the last may be something else. */
static il_status blob_joined(il_reader *r, const il_passage *t, size_t from, size_t *end, unsigned level) {
    blob_decoded d;
    bool is;
    uint8_t marks = 0;
    size_t to = *end;
    IL_TRY(blob_room(r, t->n - from, &d));
    d.n = 0;
    for (size_t at = from, next = from; next != SIZE_MAX; at = next) {
        to = blob_end(t, at, &marks);
        for (size_t i = at; i < to; i++) {
            if (d.places != NULL) {
                d.places[d.n] = il_passage_place(t, i);
            }
            d.p[d.n++] = t->p[i];
        }
        next = to - at >= BLOB_LONG ? blob_next_line(t, to) : SIZE_MAX;
    }
    *end = to;
    const il_passage run = {.p = d.p, .n = d.n, .places = d.places};
    IL_TRY(blob_run(r, &run, level, &is));
    for (size_t at = from; !is && at < to;) {
        const size_t line = blob_end(t, at, &marks);
        if (line - at >= BLOB_LEAST) {
            const il_passage own = blob_part(t, at, line);
            bool whole;
            IL_TRY(blob_hexadecimals(r, &own, level));
            IL_TRY(blob_whole(r, &own, 6, level, &whole));
        }
        at = blob_next_line(t, line);
    }
    return IL_OK;
}

/* Whether a short run may be read in any way: by its first characters, as hex, or in pieces. */
static bool blob_likely(const uint8_t *p, size_t n, uint8_t marks) {
    for (size_t i = BLOB_HEX_LEAST - 1; i < n; i += BLOB_HEX_LEAST) {
        if ((blob_values[p[i]] & 0x40) != 0) {
            return true;
        }
    }
    return (marks & 0x80) != 0 || blob_begins(p);
}

il_status il_read_blobs(il_reader *r, const il_passage *t, unsigned level) {
    bool is;
    for (size_t i = 0; i < t->n;) {
        uint8_t marks = 0;
        size_t end = blob_end(t, i, &marks);
        if (end - i >= BLOB_LONG && blob_next_line(t, end) != SIZE_MAX) {
            IL_TRY(blob_joined(r, t, i, &end, level));
        } else if (end - i >= BLOB_LONG || (end - i >= BLOB_LEAST && blob_likely(t->p + i, end - i, marks))) {
            const il_passage run = blob_part(t, i, end);
            IL_TRY(blob_run(r, &run, level, &is));
        }
        i = end + 1;
    }
    return IL_OK;
}
