/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to a descriptor: each is one write while nothing waits; what the descriptor does not take is queued, bounded.
 * Threads: the loop's. The descriptor is borrowed, and set non-blocking until il_writer_free sets it back. */
#pragma once
#include "net/loop.h"

typedef struct il_writer il_writer;
typedef struct il_writer_calls {
    void (*full)(void *ctx, bool full);   /* true above the high mark, false below the low one: pause and resume the other side */
    void (*failed)(void *ctx, int error); /* once; never from inside il_writer_put */
} il_writer_calls;

IL_NODISCARD il_status il_writer_new(const il_alloc *alloc, il_loop *loop, int fd, size_t high, size_t max,
                                     const il_writer_calls *calls, void *ctx, il_writer **out, il_error *err);
void il_writer_free(il_writer *w);
/* IL_E_LIMIT when `max` queued bytes would be exceeded, IL_E_IO after a failure, IL_E_MEMORY. */
IL_NODISCARD il_status il_writer_put(il_writer *w, il_str message, il_error *err);
size_t il_writer_waiting(const il_writer *w);
