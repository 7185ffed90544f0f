/* SPDX-License-Identifier: Apache-2.0 */
/* The server as a process: ended with all that it started when we end (keeper.h), stdin and stdout as lines, stderr to our log.
 * Threads: the loop's. */
#pragma once
#include "net/log.h"
#include "net/loop.h"

typedef struct il_upstream il_upstream;
typedef struct il_upstream_calls {
    void (*line)(void *ctx, il_str line);
    void (*too_long)(void *ctx);
    void (*full)(void *ctx, bool full);       /* it does not read: pause what feeds it */
    void (*gone)(void *ctx, const char *why); /* once, unless it was stopped: after the last line that it wrote */
    void (*stopped)(void *ctx);               /* once, after il_upstream_stop: nothing is left of it, or given up */
} il_upstream_calls;

typedef struct il_upstream_config {
    il_str name;              /* for log lines; borrowed */
    char *const *command;     /* NULL-terminated; found by PATH */
    size_t max_line;          /* of its stdout */
    size_t high, max_waiting; /* bytes that wait for it: pause above the first, an error above the second */
    il_log *log;
} il_upstream_config;

/* Starts it with its output paused. IL_E_NOT_FOUND or IL_E_IO with the reason when the command cannot be run. `INTERLOCK_*` is taken out of its
 * environment: where ledger and policy are is not its business. */
IL_NODISCARD il_status il_upstream_start(const il_alloc *alloc, il_loop *loop, const il_upstream_config *config,
                                         const il_upstream_calls *calls, void *ctx, il_upstream **out, il_error *err);
IL_NODISCARD il_status il_upstream_put(il_upstream *u, il_str line, il_error *err);
void il_upstream_pause(il_upstream *u);
void il_upstream_resume(il_upstream *u);
/* Closes its stdin, then SIGTERM after a second, SIGKILL half a second later. Its output is not delivered any more. */
void il_upstream_stop(il_upstream *u);
/* From here on a stop, also one that is under way, waits a fifth of a second instead of each of these times. */
void il_upstream_hurry(il_upstream *u);
/* SIGKILL now, without waiting. */
void il_upstream_kill(il_upstream *u);
void il_upstream_free(il_upstream *u);
