/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

typedef struct loop_watch {
    struct event *event;
    il_loop_call call;
    void *ctx;
} loop_watch;

struct il_loop {
    const il_alloc *alloc;
    struct event_base *base;
    size_t nsignals;
    loop_watch signals[IL_LOOP_SIGNALS];
};

struct il_timer {
    const il_alloc *alloc;
    struct event *event;
    il_loop_call call;
    void *ctx;
};

struct il_watch {
    const il_alloc *alloc;
    struct event *event;
    il_loop_call call;
    void *ctx;
};

il_status il_loop_new(const il_alloc *alloc, bool any_fd, il_loop **out, il_error *err) {
    *out = NULL;
    il_loop *loop = alloc->alloc(alloc->ctx, sizeof *loop);
    struct event_config *config = event_config_new();
    if (loop == NULL || config == NULL) {
        alloc->free(alloc->ctx, loop);
        if (config != NULL) {
            event_config_free(config);
        }
        return il_error_set(err, IL_E_MEMORY, "out of memory for the event loop");
    }
    memset(loop, 0, sizeof *loop);
    loop->alloc = alloc;
    if (any_fd) {
        (void)event_config_require_features(config, EV_FEATURE_FDS);
    }
    errno = 0;
    loop->base = event_base_new_with_config(config);
    const bool memory = errno == ENOMEM;
    event_config_free(config);
    if (loop->base == NULL) {
        alloc->free(alloc->ctx, loop);
        return memory ? il_error_set(err, IL_E_MEMORY, "out of memory for the event loop")
                      : il_error_set(err, IL_E_IO, "no event method for these descriptors");
    }
    *out = loop;
    return IL_OK;
}

void il_loop_free(il_loop *loop) {
    if (loop == NULL) {
        return;
    }
    for (size_t i = 0; i < loop->nsignals; i++) {
        event_free(loop->signals[i].event);
    }
    event_base_free(loop->base);
    loop->alloc->free(loop->alloc->ctx, loop);
}

il_status il_loop_run(il_loop *loop, il_error *err) {
    if (event_base_dispatch(loop->base) < 0) {
        return il_error_set(err, IL_E_IO, "the event loop failed");
    }
    return IL_OK;
}

void il_loop_stop(il_loop *loop) { (void)event_base_loopbreak(loop->base); }

struct event_base *il_loop_base(il_loop *loop) {
    return loop->base;
}

uint64_t il_loop_now_ms(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

bool il_loop_odd_fd(int fd) {
    struct stat s;
    return fstat(fd, &s) != 0 || !(S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode));
}

static void loop_on_signal(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    const loop_watch *watch = ctx;
    watch->call(watch->ctx);
}

il_status il_loop_signal(il_loop *loop, int signal, il_loop_call call, void *ctx, il_error *err) {
    if (loop->nsignals == IL_LOOP_SIGNALS) {
        return il_error_set(err, IL_E_LIMIT, "too many signals are watched");
    }
    loop_watch *watch = &loop->signals[loop->nsignals];
    watch->call = call;
    watch->ctx = ctx;
    watch->event = evsignal_new(loop->base, signal, loop_on_signal, watch);
    if (watch->event == NULL || evsignal_add(watch->event, NULL) != 0) {
        if (watch->event != NULL) {
            event_free(watch->event);
        }
        return il_error_set(err, IL_E_MEMORY, "cannot watch signal %d", signal);
    }
    loop->nsignals++;
    return IL_OK;
}

static void loop_on_timer(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    const il_timer *timer = ctx;
    timer->call(timer->ctx);
}

il_status il_timer_new(il_loop *loop, il_loop_call call, void *ctx, il_timer **out, il_error *err) {
    *out = NULL;
    il_timer *timer = loop->alloc->alloc(loop->alloc->ctx, sizeof *timer);
    if (timer == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for a timer");
    }
    *timer = (il_timer){.alloc = loop->alloc, .call = call, .ctx = ctx};
    timer->event = evtimer_new(loop->base, loop_on_timer, timer);
    if (timer->event == NULL) {
        loop->alloc->free(loop->alloc->ctx, timer);
        return il_error_set(err, IL_E_MEMORY, "out of memory for a timer");
    }
    /* libevent keeps the room that a timer once had, so that setting it later needs no memory. */
    il_timer_set(timer, 3600000);
    il_timer_clear(timer);
    *out = timer;
    return IL_OK;
}

void il_timer_set(il_timer *timer, uint64_t in_ms) {
    const struct timeval in = {.tv_sec = (time_t)(in_ms / 1000u), .tv_usec = (suseconds_t)(in_ms % 1000u) * 1000};
    if (evtimer_add(timer->event, &in) != 0) {
        event_active(timer->event, EV_TIMEOUT, 0); /* too early is the safe side */
    }
}

void il_timer_turn(il_timer *timer) { event_active(timer->event, EV_TIMEOUT, 0); } /* behind those that are active already */

void il_timer_clear(il_timer *timer) { (void)evtimer_del(timer->event); }

bool il_timer_is_set(const il_timer *timer) { return evtimer_pending(timer->event, NULL) != 0; }

void il_timer_free(il_timer *timer) {
    if (timer != NULL) {
        event_free(timer->event);
        timer->alloc->free(timer->alloc->ctx, timer);
    }
}

static void loop_on_readable(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    const il_watch *watch = ctx;
    watch->call(watch->ctx);
}

il_status il_watch_new(il_loop *loop, int fd, il_loop_call call, void *ctx, il_watch **out, il_error *err) {
    *out = NULL;
    il_watch *watch = loop->alloc->alloc(loop->alloc->ctx, sizeof *watch);
    if (watch == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for a descriptor");
    }
    *watch = (il_watch){.alloc = loop->alloc, .call = call, .ctx = ctx};
    watch->event = event_new(loop->base, fd, EV_READ | EV_PERSIST, loop_on_readable, watch);
    if (watch->event == NULL || event_add(watch->event, NULL) != 0) {
        il_watch_free(watch);
        return il_error_set(err, IL_E_MEMORY, "out of memory for a descriptor");
    }
    *out = watch;
    return IL_OK;
}

void il_watch_free(il_watch *watch) {
    if (watch != NULL) {
        if (watch->event != NULL) {
            event_free(watch->event);
        }
        watch->alloc->free(watch->alloc->ctx, watch);
    }
}
