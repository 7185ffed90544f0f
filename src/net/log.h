/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on stderr: `interlock: level: text`, or one JSON object a line. Call arguments are never logged above debug.
 *
 * A line is at most IL_LOG_LINE bytes and one write. When the reader of the other end does not read, lines are dropped
 * and counted rather than waited for: a full stderr must not stop a decision. How many is said before the next line that is taken.
 * Threads: one writer. */
#pragma once
#include "interlock/base.h"

#define IL_LOG_LINE 2048

typedef enum il_log_level { IL_LOG_ERROR = 0, IL_LOG_WARN, IL_LOG_INFO, IL_LOG_DEBUG } il_log_level;

typedef struct il_log {
    int fd;
    il_log_level level; /* what is less grave is not written */
    bool json;
    unsigned long dropped; /* not written, and not yet said */
} il_log;

/* `error`, `warn`, `info`, `debug`; false for anything else. */
bool il_log_level_of(il_str name, il_log_level *out);
/* Writes one line. Control characters, DEL, C1, direction marks and invalid UTF-8 are written as \xNN or \uNNNN. */
IL_PRINTF(3, 4) void il_log_write(il_log *log, il_log_level level, const char *fmt, ...);
/* Escapes `text` into out (cap bytes with the NUL), cut at a character with `...` where it does not fit; returns the bytes written. */
size_t il_log_escape(char *out, size_t cap, il_str text);
