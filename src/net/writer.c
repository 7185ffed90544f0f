/* SPDX-License-Identifier: Apache-2.0 */
#include "net/writer.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

#define WRITER_KEEP ((size_t)1 << 20) /* a buffer above this is given back when it is empty */

struct il_writer {
    const il_alloc *alloc;
    struct event *event;
    il_writer_calls calls;
    void *ctx;
    int fd, flags; /* flags: of the descriptor before us, -1 when they were left alone */
    char *p;
    size_t start, end, cap, high, max;
    bool full, dead, told;
    int error;
};

static void writer_fail(il_writer *w, int error) {
    w->dead = true;
    w->error = error;
    w->start = w->end = 0;
    event_active(w->event, EV_WRITE, 0); /* the owner hears of it from the loop */
}

/* Writes once. False when the descriptor is dead. */
static bool writer_write(il_writer *w, const char *p, size_t n, size_t *done) {
    *done = 0;
    const ssize_t got = write(w->fd, p, n);
    if (got >= 0) {
        *done = (size_t)got;
        return true;
    }
    if (errno == EINTR || errno == EAGAIN) {
        return true;
    }
    writer_fail(w, errno);
    return false;
}

static void writer_mark(il_writer *w) {
    const size_t waiting = w->end - w->start;
    if (!w->full && waiting > w->high) {
        w->full = true;
        w->calls.full(w->ctx, true);
    } else if (w->full && waiting <= w->high / 2) {
        w->full = false;
        w->calls.full(w->ctx, false);
    }
}

static void writer_on_event(evutil_socket_t fd, short what, void *ctx) {
    il_writer *w = ctx;
    (void)fd;
    (void)what;
    if (w->dead) {
        (void)event_del(w->event);
        if (!w->told) {
            w->told = true;
            w->calls.failed(w->ctx, w->error);
        }
        return;
    }
    size_t done = 0;
    if (w->end > w->start && !writer_write(w, w->p + w->start, w->end - w->start, &done)) {
        return;
    }
    w->start += done;
    if (w->start == w->end) {
        w->start = w->end = 0;
        (void)event_del(w->event);
        if (w->cap > WRITER_KEEP) {
            w->alloc->free(w->alloc->ctx, w->p);
            w->p = NULL;
            w->cap = 0;
        }
    }
    writer_mark(w);
}

il_status il_writer_new(const il_alloc *alloc, il_loop *loop, int fd, size_t high, size_t max, const il_writer_calls *calls,
                        void *ctx, il_writer **out, il_error *err) {
    *out = NULL;
    il_writer *w = alloc->alloc(alloc->ctx, sizeof *w);
    if (w == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for a writer");
    }
    *w = (il_writer){.alloc = alloc, .calls = *calls, .ctx = ctx, .fd = fd, .flags = -1, .high = high, .max = max};
    w->event = event_new(il_loop_base(loop), fd, EV_WRITE | EV_PERSIST, writer_on_event, w);
    if (w->event == NULL) {
        alloc->free(alloc->ctx, w);
        return il_error_set(err, IL_E_MEMORY, "out of memory for a writer");
    }
    const int flags = fcntl(fd, F_GETFL);
    if (flags != -1 && (flags & O_NONBLOCK) == 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) {
        w->flags = flags; /* a terminal or file is shared with our parent, who wants its mode back */
    }
    *out = w;
    return IL_OK;
}

void il_writer_free(il_writer *w) {
    if (w != NULL) {
        if (w->flags != -1) {
            (void)fcntl(w->fd, F_SETFL, w->flags);
        }
        event_free(w->event);
        w->alloc->free(w->alloc->ctx, w->p);
        w->alloc->free(w->alloc->ctx, w);
    }
}

static il_status writer_queue(il_writer *w, il_str rest, il_error *err) {
    if (w->start > 0 && w->cap - w->end < rest.n) {
        memmove(w->p, w->p + w->start, w->end - w->start);
        w->end -= w->start;
        w->start = 0;
    }
    if (w->cap - w->end < rest.n) {
        const size_t want = w->end + rest.n > 2 * w->cap ? w->end + rest.n : 2 * w->cap;
        char *grown = w->alloc->alloc(w->alloc->ctx, want);
        if (grown == NULL) {
            return il_error_set(err, IL_E_MEMORY, "out of memory for a message that waits");
        }
        if (w->end > 0) {
            memcpy(grown, w->p, w->end);
        }
        w->alloc->free(w->alloc->ctx, w->p);
        w->p = grown;
        w->cap = want;
    }
    memcpy(w->p + w->end, rest.p, rest.n);
    w->end += rest.n;
    return IL_OK;
}

il_status il_writer_put(il_writer *w, il_str message, il_error *err) {
    if (w->dead) {
        return il_error_set(err, IL_E_IO, "the other side does not read any more");
    }
    const size_t waiting = w->end - w->start;
    if (message.n > w->max || waiting > w->max - message.n) {
        return il_error_set(err, IL_E_LIMIT, "more than %zu bytes wait to be written", w->max);
    }
    size_t done = 0;
    if (waiting == 0 && !writer_write(w, message.p, message.n, &done)) {
        return il_error_set(err, IL_E_IO, "the other side does not read any more");
    }
    if (done < message.n) {
        IL_TRY(writer_queue(w, il_str_part(message, done, message.n), err));
        if (event_add(w->event, NULL) != 0) {
            writer_fail(w, EIO);
            return il_error_set(err, IL_E_IO, "cannot wait for the descriptor");
        }
        writer_mark(w);
    }
    return IL_OK;
}

size_t il_writer_waiting(const il_writer *w) { return w->end - w->start; }
