/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/sent.h"

#include "base/str.h"
#include "provenance/decode.h"

/* Words are full of what could be base64, and a call's texts are read while it waits: only signs of an escape are worth it. What encodes a whole value is asked
 * for when the value comes back (memory_sent.c). */
static bool il_sent_escapes(il_str text) {
    return il_str_find(text, IL_STR("\\"), 0) != SIZE_MAX || il_str_find(text, IL_STR("%"), 0) != SIZE_MAX ||
           il_str_find(text, IL_STR("&"), 0) != SIZE_MAX;
}

#define IL_SENT_BLOB_MIN 8u
#define IL_SENT_BLOB_MAX 4096u

/* A text that is nothing but signs of base64 or hex, such as a cursor: what it holds may be base64 again, or JSON. */
static bool il_sent_blob(il_str text) {
    bool blob = text.n >= IL_SENT_BLOB_MIN && text.n <= IL_SENT_BLOB_MAX;
    for (size_t i = 0; i < text.n && blob; i++) {
        const char c = text.p[i];
        blob = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' ||
               c == '_' || c == '=';
    }
    return blob;
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

il_status il_sent_readings(il_episode *e, il_str text, il_arena *arena, il_error *err) {
    il_stream s;
    const bool wide = il_sent_wide(text), hides = il_sent_escapes(text) || il_sent_blob(text);
    bool cut = false, first = !wide; /* normalised it is another text */
    if (!wide && !hides) {
        return IL_OK;
    }
    IL_TRY(il_stream_init(&s, arena, text.n, false, err));
    IL_TRY(hides ? il_read(&s, text, arena, &cut, err) : il_stream_put(&s, text, NULL, err));
    char *reading = cut ? NULL : il_arena_bytes(arena, 2 * s.n + 1);
    if (cut) {
        il_episode_sent_all(e);
        return IL_OK;
    }
    if (reading == NULL) {
        return il_arena_fail(arena, err);
    }
    for (size_t at = 0; at < s.n; at++) {
        size_t n = 0;
        for (; at < s.n && !il_normal_mark(s.p[at]); at++) {
            if (il_stream_gap(s.gaps, at)) {
                reading[n++] = ' ';
            }
            reading[n++] = (char)s.p[at];
        }
        if (n > 0 && !first) {
            IL_TRY(il_episode_sent_text(e, (il_str){reading, n}, err));
        }
        first = first && n == 0;
    }
    return IL_OK;
}
