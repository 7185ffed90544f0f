/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/block.h"
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

/* A hexadecimal digit: A is 0 in base64, and 10 here. */
static uint32_t blob_digit(uint8_t c) {
    const uint32_t v = blob_values[c] & 0x3f;
    return v >= 52 ? v - 52 : v >= 26 ? v - 26 + 10 : v + 10;
}

/* Six (base64) or four bits (hex) a character from character `from` on; what is left over at the end is no byte. */
static void blob_decode(const il_passage *t, size_t from, size_t to, unsigned bits, blob_decoded *out) {
    uint32_t value = 0;
    unsigned have = 0;
    size_t n = 0, first = from;
    for (size_t i = from; i < to; i++) {
        const uint32_t v = bits == 4 ? blob_digit(t->p[i]) : blob_values[t->p[i]] & 0x3f;
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

/* Of a byte, what may follow it in a text: ASCII (bit 0), a byte that goes on with a character (1), one that begins a longer one (2); no bit: it is in no text. Bits 4
 * to 6: which of the three it is. */
/* clang-format off */
static const uint8_t blob_follows[256] = {
    0x15, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x15, 0x15, 0x15, 0x15, 0x15, 0x10, 0x10,
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15,
    0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15,
    0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15,
    0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15,
    0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15,
    0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x15, 0x10,
    0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27,
    0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27,
    0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27,
    0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27, 0x27,
    0x40, 0x40, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42,
    0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42,
    0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42,
    0x42, 0x42, 0x42, 0x42, 0x42, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
};
/* clang-format on */

/* Whether four characters of base64 give three bytes that can stand in a text one after the other. */
static bool blob_quad(const uint8_t *p) {
    const uint32_t v = (uint32_t)(blob_values[p[0]] & 0x3f) << 18 | (uint32_t)(blob_values[p[1]] & 0x3f) << 12 |
                       (uint32_t)(blob_values[p[2]] & 0x3f) << 6 | (uint32_t)(blob_values[p[3]] & 0x3f);
    const uint32_t a = blob_follows[v >> 16], b = blob_follows[v >> 8 & 0xff], c = blob_follows[v & 0xff];
    return (a & b >> 4) != 0 && (b & c >> 4) != 0 && (c & 7) != 0;
}

/* Whether all of it may be a text: false for most that is none, before anything is decoded. */
static bool blob_may(const il_passage *t, unsigned bits) {
    unsigned before = 5; /* a text begins with ASCII or a longer character */
    if (bits == 6) {
        for (size_t i = 0; i + 4 <= t->n; i += 4) {
            if (!blob_quad(t->p + i)) {
                return false;
            }
        }
        return true;
    }
    for (size_t i = 0; i + 2 <= t->n; i += 2) {
        const unsigned as = blob_follows[blob_digit(t->p[i]) << 4 | blob_digit(t->p[i + 1])];
        if ((before & as >> 4) == 0) {
            return false;
        }
        before = as;
    }
    return (before & 7) != 0;
}

/* The whole of it, when it decodes to text. */
static il_status blob_whole(il_reader *r, const il_passage *t, unsigned bits, unsigned level, bool *is) {
    blob_decoded d;
    *is = false;
    if ((bits == 6 && (t->n < BLOB_LEAST || !blob_begins(t->p))) || !blob_may(t, bits)) {
        return IL_OK;
    }
    IL_TRY(blob_room(r, t->n, &d));
    blob_decode(t, 0, t->n, bits, &d);
    if (d.n < 3 || il_text_end(d.p, d.n, 0) < d.n || blob_visible(d.p, 0, d.n) < 3) {
        return IL_OK;
    }
    *is = true;
    const bool rest = bits == 6 ? t->n % 4 == 1 : t->n % 2 == 1;
    return blob_read(r, &d, 0, d.n, t->cut_left, t->cut_right || rest, level);
}

/* The texts in characters [from, to) of it, which are decoded. */
static il_status blob_texts(il_reader *r, const il_passage *t, size_t from, size_t to, unsigned bits, unsigned level) {
    blob_decoded d;
    IL_TRY(blob_room(r, to - from, &d));
    blob_decode(t, from, to, bits, &d);
    for (size_t i = 0; i < d.n;) {
        const size_t end = il_text_end(d.p, d.n, i);
        if (end - i >= IL_READ_PART && blob_visible(d.p, i, end) >= IL_READ_PART) {
            IL_TRY(blob_read(r, &d, i, end, true, true, level));
        }
        i = end + 1;
    }
    return IL_OK;
}

/* The texts in base64 from character `from` on. One of IL_READ_PART bytes has three fours in it that lie side by side and are text, so that most of it is told by a look at each
 * third; what is text there is decoded with the fours around it, in which it may begin and end. */
static il_status blob_aligned(il_reader *r, const il_passage *t, size_t from, unsigned level) {
    const size_t n = (t->n - from) / 4;
    const uint8_t *p = t->p + from;
    for (size_t k = 2; k < n;) {
        if (!blob_quad(p + 4 * k)) {
            k += 3;
            continue;
        }
        size_t first = k, last = k;
        while (first > 0 && blob_quad(p + 4 * (first - 1))) {
            first--;
        }
        while (last + 1 < n && blob_quad(p + 4 * (last + 1))) {
            last++;
        }
        if (last - first >= 2) {
            const size_t left = first > 0 ? first - 1 : 0;
            IL_TRY(blob_texts(r, t, from + 4 * left, last + 2 < n ? from + 4 * (last + 2) : t->n, 6, level));
        }
        k = last + 4; /* the next but one after that is no text */
    }
    return IL_OK;
}

/* The texts in it, at each alignment. */
static il_status blob_parts(il_reader *r, const il_passage *t, unsigned bits, unsigned level) {
    for (size_t from = 0; from < (bits == 6 ? 4u : 2u); from++) {
        IL_TRY(bits == 6 ? blob_aligned(r, t, from, level) : blob_texts(r, t, from, t->n, bits, level));
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

/* ---- where runs are --------------------------------------------------------------------------------- */

typedef struct blob_block { /* of 64 bytes, a bit each */
    uint64_t any;           /* of base64 */
    uint64_t hex, marks;    /* a hexadecimal digit; neither letter nor digit */
    uint64_t first;         /* a text in base64 may begin with it: blob_begins knows more */
} blob_block;

static inline blob_block blob_classes(const uint8_t *p) {
    blob_block b = {0};
    for (unsigned at = 0; at < IL_BLOCK; at += IL_BLOCK_PART) {
        const il_sixteen c = il_sixteen_load(p + at), letter = (c | 0x20) - 'a';
        const il_sixteen number = IL_SIXTEEN(c - '0' < 10),
                         mark = IL_SIXTEEN(c == '+') | IL_SIXTEEN(c == '/') | IL_SIXTEEN(c == '-') | IL_SIXTEEN(c == '_');
        const il_sixteen any = mark | number | IL_SIXTEEN(letter < 26), hex = number | IL_SIXTEEN(letter < 6);
        const il_sixteen first = mark | number | IL_SIXTEEN(c == 'A') | IL_SIXTEEN(c == 'C') | IL_SIXTEEN(c == 'D') |
                                 IL_SIXTEEN(c - 'I' < 18) | IL_SIXTEEN(c - 'a' < 6) | IL_SIXTEEN(c - 'w' < 4);
        b.any |= il_sixteen_bits(any) << at;
        b.hex |= il_sixteen_bits(hex) << at;
        b.marks |= il_sixteen_bits(mark) << at;
        b.first |= il_sixteen_bits(first) << at;
    }
    return b;
}

/* Of this and the next block's bits, as they stand `by` further on. */
static uint64_t blob_on(uint64_t bits, uint64_t next, unsigned by) { return bits >> by | next << (64 - by); }

/* Where in this block a run may begin a text: at its first character, where four follow one another. `before`: the byte before the block is of base64. */
static uint64_t blob_starts(const blob_block *b, const blob_block *next, uint64_t before) {
    const uint64_t two = b->any & blob_on(b->any, next->any, 1), two_next = next->any & next->any >> 1;
    return two & blob_on(two, two_next, 2) & b->first & ~(b->any << 1 | before);
}

/* Where else a run is worth a look: at a mark, where six hexadecimal digits begin, where BLOB_LONG characters begin. */
static uint64_t blob_others(const blob_block *b, const blob_block *next) {
    const uint64_t two = b->any & blob_on(b->any, next->any, 1), two_next = next->any & next->any >> 1;
    const uint64_t four = two & blob_on(two, two_next, 2), four_next = two_next & two_next >> 2;
    const uint64_t eight = four & blob_on(four, four_next, 4), eight_next = four_next & four_next >> 4;
    const uint64_t hex = b->hex & blob_on(b->hex, next->hex, 1), hex_next = next->hex & next->hex >> 1;
    return b->marks | (eight & blob_on(eight, eight_next, 8)) | (hex & blob_on(hex, hex_next, 2) & blob_on(hex, hex_next, 4));
}

/* The run in which byte i is, which does not begin before `from`; *end is where it ends. */
static il_status blob_around(il_reader *r, const il_passage *t, size_t from, size_t i, size_t *end, unsigned level) {
    uint8_t marks = 0;
    bool is;
    while (i > from && blob_values[t->p[i - 1]] != BLOB_NONE) {
        i--;
    }
    *end = blob_end(t, i, &marks);
    if (*end - i >= BLOB_LONG && blob_next_line(t, *end) != SIZE_MAX) {
        return blob_joined(r, t, i, end, level);
    }
    if (*end - i < BLOB_LEAST) {
        return IL_OK;
    }
    const il_passage run = blob_part(t, i, *end);
    return blob_run(r, &run, level, &is);
}

il_status il_read_blobs(il_reader *r, const il_passage *t, unsigned level) {
    uint8_t room[IL_BLOCK];
    size_t done = 0; /* runs up to there were read */
    uint64_t before = 0;
    if (t->n < BLOB_LEAST) {
        return IL_OK;
    }
    blob_block b = blob_classes(il_block_at(t->p, t->n, 0, room));
    for (size_t at = 0; at < t->n; at += IL_BLOCK) {
        blob_block next = {0};
        if (at + IL_BLOCK < t->n) {
            next = blob_classes(il_block_at(t->p, t->n, at + IL_BLOCK, room));
        }
        const uint64_t others = blob_others(&b, &next);
        for (uint64_t todo = others | blob_starts(&b, &next, before); todo != 0; todo &= todo - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(todo);
            const size_t i = at + bit;
            if (i >= done && ((others >> bit & 1) != 0 || (blob_begins(t->p + i) && blob_quad(t->p + i)))) {
                IL_TRY(blob_around(r, t, done, i, &done, level));
            }
        }
        before = b.any >> 63;
        b = next;
    }
    return IL_OK;
}
