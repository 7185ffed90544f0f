/* SPDX-License-Identifier: Apache-2.0 */
#include "net/reader.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "net/loop.h"

/* Of lines in one go; then signals, timers and the other side have their turn. One read can bring a thousand lines, and each may wait for the disk. */
#define READER_TURN_MS 20

struct il_reader {
    const il_alloc *alloc;
    struct event *event;
    il_framer framer;
    il_reader_calls calls;
    void *ctx;
    int fd;
    il_timer *again; /* the next turn, when lines were kept */
    bool paused, last, behind;
    bool eof, ended; /* no more bytes; the owner was told */
    int error;
};

static void reader_end(il_reader *r) {
    if (!r->ended) {
        r->ended = true;
        il_timer_clear(r->again);
        (void)event_del(r->event);
        r->calls.end(r->ctx, r->error);
    }
}

static void reader_deliver(il_reader *r) {
    const uint64_t began = il_loop_now_ms();
    il_str line;
    while (!r->paused && !r->ended) {
        if (il_loop_now_ms() - began > READER_TURN_MS) {
            r->behind = true; /* an event made active here would run before anything else is looked at */
            il_timer_set(r->again, 0);
            return;
        }
        switch (il_framer_next(&r->framer, &line)) {
        case IL_FRAME_LINE:
            r->calls.line(r->ctx, line);
            continue;
        case IL_FRAME_TOO_LONG:
            r->calls.too_long(r->ctx);
            continue;
        case IL_FRAME_NONE:
            break;
        }
        if (r->eof) {
            if (r->last && r->error == 0 && il_framer_rest(&r->framer, &line)) {
                r->calls.line(r->ctx, line);
                continue; /* the callback may have paused us */
            }
            reader_end(r);
        }
        return;
    }
}

static void reader_on_event(evutil_socket_t fd, short what, void *ctx) {
    il_reader *r = ctx;
    (void)fd;
    if (r->paused || r->ended) {
        return;
    }
    const bool behind = r->behind;
    r->behind = false;
    if ((what & EV_READ) != 0 && !r->eof && !behind) {
        char *room = NULL;
        size_t n = 0;
        if (il_framer_room(&r->framer, &room, &n, NULL) != IL_OK) {
            r->eof = true;
            r->error = ENOMEM;
        } else {
            const ssize_t got = read(r->fd, room, n);
            if (got > 0) {
                il_framer_fed(&r->framer, (size_t)got);
            } else if (got == 0) {
                r->eof = true;
            } else if (errno != EINTR && errno != EAGAIN) {
                r->eof = true;
                r->error = errno;
            }
        }
    }
    reader_deliver(r);
}

static void reader_on_again(void *ctx) { reader_on_event(-1, 0, ctx); }

il_status il_reader_new(const il_alloc *alloc, il_loop *loop, int fd, size_t max_line, bool last, const il_reader_calls *calls,
                        void *ctx, il_reader **out, il_error *err) {
    *out = NULL;
    il_reader *r = alloc->alloc(alloc->ctx, sizeof *r);
    if (r == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for a reader");
    }
    *r = (il_reader){.alloc = alloc, .calls = *calls, .ctx = ctx, .fd = fd, .paused = true, .last = last};
    il_framer_init(&r->framer, alloc, max_line);
    r->event = event_new(il_loop_base(loop), fd, EV_READ | EV_PERSIST, reader_on_event, r);
    if (r->event == NULL) {
        alloc->free(alloc->ctx, r);
        return il_error_set(err, IL_E_MEMORY, "out of memory for a reader");
    }
    const il_status st = il_timer_new(loop, reader_on_again, r, &r->again, err);
    if (st != IL_OK) {
        il_reader_free(r);
        return st;
    }
    *out = r;
    return IL_OK;
}

void il_reader_free(il_reader *r) {
    if (r != NULL) {
        il_timer_free(r->again);
        event_free(r->event);
        il_framer_free(&r->framer);
        r->alloc->free(r->alloc->ctx, r);
    }
}

void il_reader_pause(il_reader *r) {
    if (!r->paused) {
        r->paused = true;
        il_timer_clear(r->again);
        (void)event_del(r->event);
    }
}

void il_reader_resume(il_reader *r) {
    if (r->paused && !r->ended) {
        r->paused = false;
        if (event_add(r->event, NULL) != 0) {
            r->eof = true;
            r->error = errno != 0 ? errno : EIO;
        }
        event_active(r->event, 0, 0); /* lines that were kept are delivered from the loop, not from inside this call */
    }
}

bool il_reader_ended(const il_reader *r) { return r->ended; }

bool il_reader_hung(const il_reader *r) {
    struct pollfd p = {.fd = r->fd, .events = POLLRDHUP};
    return r->eof || (poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLRDHUP)) != 0);
}
