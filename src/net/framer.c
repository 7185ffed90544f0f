/* SPDX-License-Identifier: Apache-2.0 */
#include "net/framer.h"

#include <string.h>

#include "base/error.h"

#define FRAMER_CHUNK ((size_t)64 << 10) /* the most one read brings */
#define FRAMER_KEEP ((size_t)1 << 20)   /* a buffer above this is given back when it is empty */

void il_framer_init(il_framer *f, const il_alloc *alloc, size_t max) { *f = (il_framer){.alloc = alloc, .max = max}; }

void il_framer_free(il_framer *f) {
    f->alloc->free(f->alloc->ctx, f->p);
    f->p = NULL;
    f->start = f->scanned = f->end = f->cap = 0;
}

il_status il_framer_room(il_framer *f, char **p, size_t *n, il_error *err) {
    if (f->start == f->end && f->cap > FRAMER_KEEP) {
        il_framer_free(f);
    }
    if (f->start > 0) {
        memmove(f->p, f->p + f->start, f->end - f->start);
        f->scanned -= f->start;
        f->end -= f->start;
        f->start = 0;
    }
    if (f->cap - f->end < FRAMER_CHUNK) {
        /* Bounded: at most max + CR + LF + one chunk are live, since next() drops what is longer. */
        const size_t want = f->end + FRAMER_CHUNK > 2 * f->cap ? f->end + FRAMER_CHUNK : 2 * f->cap;
        char *grown = f->alloc->alloc(f->alloc->ctx, want);
        if (grown == NULL) {
            return il_error_set(err, IL_E_MEMORY, "out of memory for a line");
        }
        if (f->end > 0) {
            memcpy(grown, f->p, f->end);
        }
        f->alloc->free(f->alloc->ctx, f->p);
        f->p = grown;
        f->cap = want;
    }
    *p = f->p + f->end;
    *n = FRAMER_CHUNK;
    return IL_OK;
}

void il_framer_fed(il_framer *f, size_t n) { f->end += n; }

static il_str framer_line(const il_framer *f, size_t to) {
    il_str line = {f->p + f->start, to - f->start};
    if (line.n > 0 && line.p[line.n - 1] == '\r') {
        line.n--;
    }
    return line;
}

il_frame il_framer_next(il_framer *f, il_str *line) {
    *line = (il_str){NULL, 0};
    for (;;) {
        const char *lf = f->end > f->scanned ? memchr(f->p + f->scanned, '\n', f->end - f->scanned) : NULL;
        if (lf == NULL) {
            f->scanned = f->end;
            if (f->skipping) {
                f->start = f->end;
            } else if (f->end - f->start > f->max + 1) { /* one more may be the CR */
                f->skipping = true;
                f->start = f->end;
                return IL_FRAME_TOO_LONG;
            }
            return IL_FRAME_NONE;
        }
        const size_t at = (size_t)(lf - f->p);
        const bool skipped = f->skipping;
        const il_str found = framer_line(f, at);
        f->skipping = false;
        f->start = f->scanned = at + 1;
        if (skipped) {
            continue; /* the end of a line that was reported before */
        }
        if (found.n > f->max) {
            return IL_FRAME_TOO_LONG;
        }
        *line = found;
        return IL_FRAME_LINE;
    }
}

bool il_framer_rest(il_framer *f, il_str *line) {
    *line = (il_str){NULL, 0};
    if (f->skipping || f->start == f->end) {
        return false;
    }
    *line = framer_line(f, f->end);
    f->start = f->scanned = f->end;
    return line->n <= f->max;
}
