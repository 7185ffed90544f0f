/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from a descriptor. The owner may pause it (back-pressure): lines already read are kept and delivered on resume.
 * Threads: the loop's. The descriptor is borrowed; it may block, since it is read only when it is readable. */
#pragma once
#include "net/framer.h"
#include "net/loop.h"

typedef struct il_reader il_reader;
typedef struct il_reader_calls {
    void (*line)(void *ctx, il_str line); /* borrowed until it returns */
    void (*too_long)(void *ctx);
    void (*end)(void *ctx, int error); /* once: end of stream (0) or errno; ENOMEM when a line did not fit into memory */
} il_reader_calls;

/* Starts paused. `last` says whether text after the last LF is delivered as a line. Free it outside of its own callbacks. */
IL_NODISCARD il_status il_reader_new(const il_alloc *alloc, il_loop *loop, int fd, size_t max_line, bool last,
                                     const il_reader_calls *calls, void *ctx, il_reader **out, il_error *err);
void il_reader_free(il_reader *r);
void il_reader_pause(il_reader *r);
void il_reader_resume(il_reader *r);
bool il_reader_ended(const il_reader *r);
/* Whether the other side writes no more, although what it wrote may not all be read. */
bool il_reader_hung(const il_reader *r);
