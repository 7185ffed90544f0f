/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/sent.h"

#include "base/utf8.h"
#include "provenance/decode.h"
#include "provenance/episode_part.h"

/* ---- readings ----------------------------------------------------------------------------------------- */

static int il_sent_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* The byte of `=2D` at `at`; -1: none stands there. */
static int il_sent_printable(il_str text, size_t at) {
    if (text.p[at] != '=' || text.n - at < 3 || il_sent_digit(text.p[at + 1]) > 15 || il_sent_digit(text.p[at + 2]) > 15) {
        return -1;
    }
    return 16 * il_sent_digit(text.p[at + 1]) + il_sent_digit(text.p[at + 2]);
}

/* Words are full of what could be base64, and a call's texts are read while it waits: only signs of an escape are worth it. What encodes a whole value is asked
 * for when the value comes back (memory_sent.c). */
static bool il_sent_escapes(il_str text) {
    return il_str_find(text, IL_STR("\\"), 0) != SIZE_MAX || il_str_find(text, IL_STR("%"), 0) != SIZE_MAX ||
           il_str_find(text, IL_STR("&"), 0) != SIZE_MAX;
}

#define IL_SENT_BLOB_MIN 8u
#define IL_SENT_BLOB_WORD 12u  /* of a part of a word */
#define IL_SENT_BLOB_WORDS 16u /* with more of them, such as an attachment, a text is read as a whole */

/* A text that is nothing but signs of base64 or hex, such as a cursor: what it holds may be base64 again, or JSON. */
static bool il_sent_blob(il_str text) {
    bool blob = text.n >= IL_SENT_BLOB_MIN;
    for (size_t i = 0; i < text.n && blob; i++) {
        const char c = text.p[i];
        blob = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' ||
               c == '_' || c == '=';
    }
    return blob;
}

/* Whether a word has base64 or hex in it: a long row of its signs, not of small letters only. */
static bool il_sent_blob_within(il_str word) {
    size_t row = 0;
    bool other = false, found = false;
    for (size_t i = 0; i < word.n && !found; i++) {
        const char c = word.p[i];
        const bool small = c >= 'a' && c <= 'z', big = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_';
        row = small || big || c == '/' || c == '-' ? row + 1 : 0;
        other = row > 0 && (other || big);
        found = row >= IL_SENT_BLOB_WORD && other;
    }
    return found;
}

/* Full width, zero width, marks: services write names in one form. */
static bool il_sent_wide(il_str text) {
    for (size_t i = 0; i < text.n; i++) {
        if ((uint8_t)text.p[i] >= 0x80) {
            return true;
        }
    }
    return false;
}

/* A text that is only another reading of what was sent: its words and parts, nothing behind it. */
static il_status il_sent_reading(il_sending *s, il_str text, il_error *err) {
    il_sending inner = {.episode = s->episode, .arena = s->arena, .decoded = true};
    return il_sent_leaf(&inner, text, false, err);
}

/* `hides`: something may stand behind escapes or in base64. */
static il_status il_sent_decoded(il_sending *s, il_str text, bool wide, bool hides, il_error *err) {
    il_stream stream;
    bool cut = false, first = !wide; /* normalised it is another text */
    IL_TRY(il_stream_init(&stream, s->arena, text.n, false, err));
    IL_TRY(hides ? il_read(&stream, text, s->arena, &cut, err) : il_stream_put(&stream, text, NULL, err));
    char *reading = cut ? NULL : il_arena_bytes(s->arena, 2 * stream.n + 1);
    if (cut) {
        il_episode_sent_all(s->episode);
        return IL_OK;
    }
    if (reading == NULL) {
        return il_arena_fail(s->arena, err);
    }
    for (size_t at = 0; at < stream.n; at++) {
        size_t n = 0;
        for (; at < stream.n && !il_normal_mark(stream.p[at]); at++) {
            if (il_stream_gap(stream.gaps, at)) {
                reading[n++] = ' ';
            }
            reading[n++] = (char)stream.p[at];
        }
        if (n > 0 && !first) {
            IL_TRY(il_sent_reading(s, (il_str){reading, n}, err));
        }
        first = first && n == 0;
    }
    return IL_OK;
}

/* How many words have base64 or hex in them; `read`: they are decoded, each by itself. */
static il_status il_sent_words(il_sending *s, il_str text, bool read, size_t *n, il_error *err) {
    size_t at = 0;
    il_typed_word w;
    *n = 0;
    while (il_typed_next(text, &at, &w)) {
        const bool within = il_sent_blob_within(w.forms[0].text);
        *n += within ? 1 : 0;
        IL_TRY(within && read ? il_sent_decoded(s, w.forms[0].text, false, true, err) : IL_OK);
    }
    return IL_OK;
}

static il_status il_sent_unescaped(il_sending *s, il_str text, il_error *err) {
    size_t blobs = 0;
    const bool wide = il_sent_wide(text), hides = il_sent_escapes(text) || il_sent_blob(text);
    IL_TRY(hides ? IL_OK : il_sent_words(s, text, false, &blobs, err));
    if (wide || hides || blobs > IL_SENT_BLOB_WORDS) {
        IL_TRY(il_sent_decoded(s, text, wide, hides || blobs > IL_SENT_BLOB_WORDS, err));
    }
    return blobs > 0 && blobs <= IL_SENT_BLOB_WORDS ? il_sent_words(s, text, true, &blobs, err) : IL_OK;
}

/* Quoted-printable, with its soft line ends. */
static il_status il_sent_unquoted(il_sending *s, il_str text, il_error *err) {
    bool found = false;
    il_buf b;
    il_str decoded = {0};
    for (size_t i = 0; i < text.n && !found; i++) {
        found = il_sent_printable(text, i) >= 0;
    }
    if (!found) {
        return IL_OK;
    }
    il_buf_init(&b, s->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < text.n;) {
        const int byte = il_sent_printable(text, i);
        const size_t soft = text.p[i] != '='                                               ? 0
                            : il_str_starts(il_str_part(text, i, text.n), IL_STR("=\r\n")) ? 3
                            : il_str_starts(il_str_part(text, i, text.n), IL_STR("=\n"))   ? 2
                                                                                           : 0;
        if (byte < 0 && soft == 0) {
            il_buf_putc(&b, text.p[i]);
        } else if (byte >= 0) {
            il_buf_putc(&b, (char)byte);
        }
        i += byte >= 0 ? 3 : soft > 0 ? soft : 1;
    }
    IL_TRY(il_buf_done(&b, &decoded, err));
    return il_sent_reading(s, decoded, err);
}

/* ---- numbers of characters ---------------------------------------------------------------------------- */

static const uint32_t il_sent_bases[] = {2, 8, 10, 16};

/* The character of this number; UINT32_MAX: none. */
static uint32_t il_sent_code(il_str run, uint32_t base) {
    uint32_t c = 0;
    for (size_t i = 0; i < run.n; i++) {
        const uint32_t digit = (uint32_t)il_sent_digit(run.p[i]);
        if (digit >= base || c > 0x10ffff) {
            return UINT32_MAX;
        }
        c = c * base + digit;
    }
    return c < '\t' || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? UINT32_MAX : c;
}

/* The numbers of one base are over: what they said. */
static il_status il_sent_codes_end(il_sending *s, size_t base, il_error *err) {
    struct il_sent_codes *c = &s->codes[base];
    il_str text = {0};
    const bool says = c->n >= IL_SENT_TOKEN_MIN;
    if (says) {
        IL_TRY(il_buf_done(&c->text, &text, err));
        IL_TRY(il_sent_reading(s, text, err));
    }
    c->n = 0;
    c->text.n = 0;
    return IL_OK;
}

static il_status il_sent_codes_run(il_sending *s, il_str run, il_error *err) {
    if (run.n == 1 && (run.p[0] == 'U' || run.p[0] == 'u' || run.p[0] == 'x')) {
        return IL_OK; /* `U+0065` */
    }
    const bool marked = run.n > 2 && run.p[0] == '0' && (run.p[1] == 'x' || run.p[1] == 'X');
    for (size_t i = 0; i < sizeof il_sent_bases / sizeof il_sent_bases[0]; i++) {
        struct il_sent_codes *c = &s->codes[i];
        const uint32_t base = il_sent_bases[i];
        const uint32_t code = il_sent_code(marked && base == 16 ? il_str_part(run, 2, run.n) : run, base);
        char point[4];
        if (code == UINT32_MAX) {
            IL_TRY(il_sent_codes_end(s, i, err));
            continue;
        }
        if (c->n++ == 0 && c->text.arena == NULL) {
            il_buf_init(&c->text, s->arena, SIZE_MAX / 2);
        }
        il_buf_put(&c->text, (il_str){point, il_utf8_put(code, point)});
    }
    return IL_OK;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

/* A value can be put together from runs of one call in any order (memory_sent.c). Runs of three signs and more stand for themselves, and so does a whole leaf;
 * shorter ones do with their neighbours only: any row of runs can be cut into long ones, pairs with a short one, and short, any, short. */
static bool il_sent_short(il_str run) { return run.n < IL_SENT_TOKEN_MIN; }

static il_status il_sent_part(il_sending *s, const il_str *runs, size_t n, il_error *err) {
    char text[512];
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (runs[i].n > sizeof text - at) {
            return IL_OK; /* longer than any value that is asked for so */
        }
        memcpy(text + at, runs[i].p, runs[i].n);
        at += runs[i].n;
    }
    return il_episode_sent_part(s->episode, (il_str){text, at}, err);
}

/* `across`: what lies within one leaf was seen to in another order. */
static il_status il_sent_ordered(il_sending *s, struct il_sent_order *o, il_str run, bool across, il_error *err) {
    const il_str row[] = {o->runs[0], o->runs[1], run};
    if (row[1].n > 0 && (il_sent_short(row[1]) || il_sent_short(run)) && (!across || o->leaves[1] != s->leaf)) {
        IL_TRY(il_sent_part(s, row + 1, 2, err));
    }
    if (row[0].n > 0 && il_sent_short(row[0]) && il_sent_short(run) && (!across || o->leaves[0] != s->leaf)) {
        IL_TRY(il_sent_part(s, row, 3, err));
    }
    o->runs[0] = o->runs[1];
    o->leaves[0] = o->leaves[1];
    o->runs[1] = run;
    o->leaves[1] = s->leaf;
    return IL_OK;
}

static il_status il_sent_runs(il_sending *s, il_str text, bool key, il_error *err) {
    il_str only = {0};
    uint32_t n = 0;
    for (size_t i = 0; i < text.n;) {
        const size_t from = i;
        while (i < text.n && il_sent_char(text.p[i])) {
            i++;
        }
        if (i == from) {
            i++;
            continue;
        }
        const il_str run = il_str_part(text, from, i);
        n++;
        only = run;
        IL_TRY(il_sent_ordered(s, &s->orders[key ? 1 : 0], run, false, err));
        IL_TRY(il_sent_ordered(s, &s->orders[2], run, true, err));
        if (!key && !s->decoded) {
            IL_TRY(il_sent_codes_run(s, run, err));
        }
    }
    /* `-e` */
    return n == 1 && il_sent_short(only) && only.n < text.n ? il_sent_part(s, &only, 1, err) : IL_OK;
}

il_status il_sent_leaf(il_sending *s, il_str text, bool key, il_error *err) {
    s->leaf++;
    IL_TRY(il_episode_sent_text(s->episode, text, err));
    IL_TRY(il_sent_runs(s, text, key, err));
    if (s->decoded) {
        return IL_OK;
    }
    IL_TRY(il_sent_unquoted(s, text, err));
    return il_sent_unescaped(s, text, err);
}

il_status il_sent_joined(il_sending *s, il_str text, il_error *err) {
    il_sending inner = {.episode = s->episode, .arena = s->arena};
    IL_TRY(il_episode_sent_text(s->episode, text, err));
    return il_sent_unescaped(&inner, text, err);
}

il_status il_sent_done(il_sending *s, il_error *err) {
    for (size_t i = 0; i < sizeof il_sent_bases / sizeof il_sent_bases[0]; i++) {
        IL_TRY(il_sent_codes_end(s, i, err));
    }
    return IL_OK;
}
