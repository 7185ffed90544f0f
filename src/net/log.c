/* SPDX-License-Identifier: Apache-2.0 */
#include "net/log.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hidden.h"
#include "base/utf8.h"

static const char *const log_names[] = {"error", "warn", "info", "debug"};

bool il_log_level_of(il_str name, il_log_level *out) {
    for (size_t i = 0; i < sizeof log_names / sizeof *log_names; i++) {
        if (il_str_eq(name, il_str_of(log_names[i]))) {
            *out = (il_log_level)i;
            return true;
        }
    }
    return false;
}

size_t il_log_escape(char *out, size_t cap, il_str text) {
    if (cap == 0) {
        return 0;
    }
    size_t n = 0;
    for (size_t at = 0; at < text.n;) {
        char piece[16];
        const unsigned char *p = (const unsigned char *)text.p + at;
        size_t used = il_utf8_length(p, text.n - at);
        const uint32_t point = used > 0 ? il_utf8_point(p, used) : 0;
        int len;
        if (used == 0) {
            len = snprintf(piece, sizeof piece, "\\x%02x", (unsigned)(unsigned char)text.p[at]);
            used = 1;
        } else if (il_point_control(point) || il_point_hidden(point)) { /* a terminal or an eye could be fooled */
            len = snprintf(piece, sizeof piece, point < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)point);
        } else {
            memcpy(piece, text.p + at, used);
            len = (int)used;
        }
        const size_t left = at + used < text.n ? 3 : 0; /* room for the dots unless this is the last piece */
        if (n + (size_t)len + left + 1 > cap) {
            for (int dots = 0; dots < 3 && n + 1 < cap; dots++) {
                out[n++] = '.';
            }
            break;
        }
        memcpy(out + n, piece, (size_t)len);
        n += (size_t)len;
        at += used;
    }
    out[n] = '\0';
    return n;
}

/* The escaped text again as the inside of a JSON string: backslashes and quotes are all that is left to escape. */
static size_t log_quote(char *out, size_t cap, const char *text) {
    size_t n = 0;
    for (; *text != '\0' && n + 2 < cap; text++) {
        if (*text == '"' || *text == '\\') {
            out[n++] = '\\';
        }
        out[n++] = *text;
    }
    return n;
}

/* One line, of a text that is escaped; false: the other end does not take it now. */
static bool log_put(const il_log *log, il_log_level level, const char *text) {
    char line[2 * IL_LOG_LINE];
    size_t n;
    if (log->json) {
        n = (size_t)snprintf(line, sizeof line, "{\"program\":\"interlock\",\"level\":\"%s\",\"text\":\"", log_names[level]);
        n += log_quote(line + n, IL_LOG_LINE - 8 - n, text);
        n += (size_t)snprintf(line + n, sizeof line - n, "\"}\n");
    } else {
        n = (size_t)snprintf(line, sizeof line, "interlock: %s: %s\n", log_names[level], text);
    }
    /* A pipe that reports POLLOUT takes PIPE_BUF (4096) bytes at once, which is more than a line. */
    struct pollfd ready = {.fd = log->fd, .events = POLLOUT};
    return poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0 && write(log->fd, line, n) == (ssize_t)n;
}

/* What was dropped is said first: a reader that fell behind must see that something is missing. */
static bool log_gap(il_log *log) {
    if (log->dropped == 0) {
        return true;
    }
    char text[96];
    (void)snprintf(text, sizeof text, "stderr was not read: lines left out: %lu", log->dropped);
    if (!log_put(log, IL_LOG_WARN, text)) {
        return false;
    }
    log->dropped = 0;
    return true;
}

void il_log_write(il_log *log, il_log_level level, const char *fmt, ...) {
    if (log == NULL || level > log->level) {
        return;
    }
    char raw[IL_LOG_LINE], text[IL_LOG_LINE - 64];
    va_list args;
    va_start(args, fmt);
    int got = vsnprintf(raw, sizeof raw, fmt, args);
    va_end(args);
    if (got < 0) {
        return;
    }
    (void)il_log_escape(text, log->json ? sizeof text / 2 : sizeof text, il_str_of(raw));
    if (!log_gap(log) || !log_put(log, level, text)) {
        log->dropped++;
    }
}
