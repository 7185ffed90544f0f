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

il_status il_sent_readings(il_episode *e, il_str text, il_arena *arena, il_error *err) {
    il_stream s;
    bool cut = false, first = true;
    if (!il_sent_escapes(text)) {
        return IL_OK;
    }
    IL_TRY(il_stream_init(&s, arena, text.n, false, err));
    IL_TRY(il_read(&s, text, arena, &cut, err));
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
