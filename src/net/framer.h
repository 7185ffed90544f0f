/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a byte stream into lines with a hard cap that holds while reading, not after.
 *
 *     char *room; size_t n;
 *     il_framer_room(&f, &room, &n, &err);  got = read(fd, room, n);  il_framer_fed(&f, got);
 *     while ((kind = il_framer_next(&f, &line)) != IL_FRAME_NONE) ... */
#pragma once
#include "interlock/base.h"

typedef enum il_frame { IL_FRAME_NONE = 0, IL_FRAME_LINE, IL_FRAME_TOO_LONG } il_frame;

typedef struct il_framer {
    const il_alloc *alloc;
    char *p;
    size_t start, scanned, end, cap; /* live bytes are [start, end); no LF in [start, scanned) */
    size_t max;                      /* bytes of a line without its end */
    bool skipping;                   /* inside a line that was too long */
} il_framer;

/* Allocates nothing yet. */
void il_framer_init(il_framer *f, const il_alloc *alloc, size_t max);
void il_framer_free(il_framer *f);
/* Room for the next bytes; invalidates lines handed out. IL_E_MEMORY. */
IL_NODISCARD il_status il_framer_room(il_framer *f, char **p, size_t *n, il_error *err);
void il_framer_fed(il_framer *f, size_t n);
/* The next whole line without its LF and without one CR before it, borrowed until the next il_framer_room. A line above
 * the cap is reported once as IL_FRAME_TOO_LONG, as soon as it is, and skipped up to its end. */
il_frame il_framer_next(il_framer *f, il_str *line);
/* At the end of the stream: what came after the last LF. False when there is nothing. */
bool il_framer_rest(il_framer *f, il_str *line);
