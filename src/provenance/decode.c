/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/decode.h"

#include "base/utf8.h"
#include "provenance/decode_part.h"

/* How much text around an escape is read with it: room for a run in base64 in hex, and then some. */
enum { READ_AROUND = 64 };

size_t il_text_end(const uint8_t *p, size_t n, size_t at) {
    while (at < n) {
        const uint8_t c = p[at];
        if (c >= 0x20 ? c < 0x7f : (c == 0 || (c >= '\t' && c <= '\r'))) {
            at++;
            continue;
        }
        const size_t length = c < 0x80 ? 0 : il_utf8_length(p + at, n - at);
        if (length == 0 || (length == 2 && c == 0xc2 && p[at + 1] < 0xa0)) {
            return at;
        }
        at += length;
    }
    return at;
}

/* ---- escapes --------------------------------------------------------------------------------------- */

typedef struct read_escapes {
    il_reader *r;
    const il_passage *t;
    unsigned level;
    uint8_t *
        out; /* the part that is being written: as long as the passage at most, for an escape is not shorter than what it stands for */
    il_place *places;
    size_t n;
    size_t from, copied, last; /* of the passage: where the part begins, how far it is written, where its latest escape ends */
    bool open;
} read_escapes;

static void escapes_copy(read_escapes *e, size_t to) {
    memcpy(e->out + e->n, e->t->p + e->copied, to - e->copied);
    if (e->places != NULL) {
        for (size_t i = e->copied; i < to; i++) {
            e->places[e->n + i - e->copied] = il_passage_place(e->t, i);
        }
    }
    e->n += to - e->copied;
    e->copied = to;
}

static il_status escapes_close(read_escapes *e) {
    if (!e->open) {
        return IL_OK;
    }
    size_t to = e->last + READ_AROUND < e->t->n ? e->last + READ_AROUND : e->t->n;
    while (to < e->t->n && (e->t->p[to] & 0xc0) == 0x80) {
        to++;
    }
    escapes_copy(e, to);
    e->open = false;
    const il_passage part = {.p = e->out,
                             .n = e->n,
                             .places = e->places,
                             .cut_left = e->from > 0 || e->t->cut_left,
                             .cut_right = to < e->t->n || e->t->cut_right};
    return il_read_passage(e->r, &part, e->level + 1);
}

static il_status escapes_start(read_escapes *e, size_t at) {
    if (e->out == NULL) {
        e->out = (uint8_t *)il_arena_bytes(e->r->scratch, e->t->n);
        e->places = e->r->out->traced ? il_arena_raw(e->r->scratch, e->t->n * sizeof *e->places) : NULL;
        if (e->out == NULL || (e->r->out->traced && e->places == NULL)) {
            return il_arena_fail(e->r->scratch, e->r->err);
        }
    }
    size_t from = at > READ_AROUND ? at - READ_AROUND : 0;
    while (from > 0 && (e->t->p[from] & 0xc0) == 0x80) {
        from--;
    }
    e->from = e->copied = from;
    e->n = 0;
    e->open = true;
    return IL_OK;
}

static il_status read_escapes_of(il_reader *r, const il_passage *t, unsigned level) {
    read_escapes e = {.r = r, .t = t, .level = level};
    uint8_t as[4];
    size_t as_n = 0;
    for (size_t i = 0; (i = il_escape_next(t->p, t->n, i)) < t->n;) {
        const size_t took = il_escape_at(t->p + i, t->n - i, as, &as_n);
        if (took == 0) {
            i++;
            continue;
        }
        if (e.open && i - e.last > (size_t)2 * READ_AROUND) {
            IL_TRY(escapes_close(&e));
        }
        if (!e.open) {
            IL_TRY(escapes_start(&e, i));
        }
        escapes_copy(&e, i);
        for (size_t k = 0; k < as_n; k++) {
            if (e.places != NULL) {
                e.places[e.n] = (il_place){il_passage_place(t, i).from, il_passage_place(t, i + took - 1).to};
            }
            e.out[e.n++] = as[k];
        }
        i += took;
        e.copied = e.last = i;
    }
    return escapes_close(&e);
}

/* ---- a passage ------------------------------------------------------------------------------------- */

il_status il_read_passage(il_reader *r, const il_passage *t, unsigned level) {
    if (level > 0) {
        if (t->n > r->left) {
            r->cut = true;
            return IL_OK;
        }
        r->left -= t->n;
    }
    IL_TRY(il_stream_mark(r->out, t->cut_left ? IL_NORMAL_CUT : IL_NORMAL_END, r->err));
    IL_TRY(il_stream_put(r->out, (il_str){(const char *)t->p, t->n}, t->places, r->err));
    IL_TRY(il_stream_mark(r->out, t->cut_right ? IL_NORMAL_CUT : IL_NORMAL_END, r->err));
    if (level == IL_READ_LEVELS) {
        return IL_OK;
    }
    IL_TRY(read_escapes_of(r, t, level));
    return il_read_blobs(r, t, level);
}

il_status il_read(il_stream *out, il_str text, il_arena *scratch, bool *cut, il_error *err) {
    il_reader r = {.out = out, .scratch = scratch, .left = 4 * text.n + 4096, .err = err};
    const il_passage whole = {.p = (const uint8_t *)text.p, .n = text.n};
    const il_status s = il_read_passage(&r, &whole, 0);
    *cut = r.cut;
    return s;
}
