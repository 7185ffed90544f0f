/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to end: the client leaves, a signal comes, the server dies, memory runs out. */
#include <string.h>

#include "base/error.h"
#include "mcp/wire.h"

#define STOP_DRAIN_MS 5000      /* after SIGTERM, for calls in flight */
#define STOP_DRAIN_ALONE_MS 300 /* the same when the client has gone: it may kill us 2 s later, and there is a server to end */
#define STOP_FLUSH_MS 500       /* for the client to read what is written */

void il_wire_on_stopped(void *ctx) {
    il_wire *w = ctx;
    w->up_stopped = true;
    if (w->phase != IL_PHASE_STOP) {
        il_wire_restart_stopped(w);
        return;
    }
    if (!w->client_gone && il_writer_waiting(w->out) > 0) {
        il_timer_set(w->drain, STOP_FLUSH_MS);
    } else {
        il_loop_stop(w->loop);
    }
}

void il_wire_stop(il_wire *w) {
    il_wire_turn_end(w);
    if (w->phase == IL_PHASE_STOP) {
        return;
    }
    w->phase = IL_PHASE_STOP;
    il_timer_clear(w->due);
    il_timer_clear(w->changed);
    il_timer_clear(w->drain);
    il_timer_clear(w->restart.timer);
    il_wire_hold(w, IL_HOLD_DRAIN, true);
    if (w->up == NULL || w->up_stopped) {
        il_wire_on_stopped(w);
    } else {
        il_upstream_stop(w->up);
    }
}

void il_wire_fatal(il_wire *w, const char *text) {
    if (w->phase != IL_PHASE_STOP) {
        il_log_write(w->c.log, IL_LOG_ERROR, "%s; the gateway ends, and calls in flight count as their worst case", text);
        w->code = 5;
        il_wire_stop(w);
    }
}

void il_wire_start_failed(il_wire *w, const char *text) {
    if (w->phase == IL_PHASE_STOP) {
        return;
    }
    il_log_write(w->c.log, IL_LOG_ERROR, "server `%.*s`: %s", IL_STR_ARG(w->c.name), text);
    w->code = 3;
    /* It may quote the server, and nothing has judged the words of one that is outside. */
    il_wire_fail_all(w, IL_DENY_UPSTREAM, w->inside ? text : "the server cannot be used; the gateway's log says why");
    il_wire_stop(w);
}

void il_wire_server_gone(il_wire *w, const char *why) {
    char text[256];
    if (w->phase == IL_PHASE_NEW || w->phase == IL_PHASE_HANDSHAKE) {
        (void)il_format(text, sizeof text, "it %s before its first answer", why);
        il_wire_start_failed(w, text);
        return;
    }
    if (w->phase == IL_PHASE_STOP || w->life == IL_LIFE_DOWN || w->life == IL_LIFE_LOST) {
        return;
    }
    il_wire_turn_end(w); /* what was decided goes to the server that it was decided for */
    w->life = IL_LIFE_DOWN;
    (void)il_format(w->gone, sizeof w->gone, "%s", why);
    if (w->phase == IL_PHASE_DRAIN) {
        il_log_write(w->c.log, IL_LOG_ERROR, "server `%.*s` %s", IL_STR_ARG(w->c.name), why);
    }
    while (w->asks.n > 0) {
        il_wire_ask_drop(w, w->asks.v[0], false, true);
    }
    (void)il_format(text, sizeof text, "the server `%.*s` %s; the call MAY have run, and it was not retried",
                    IL_STR_ARG(w->c.name), why);
    il_wire_fail_all(w, IL_DENY_UPSTREAM, text);
    /* What belonged to that process means nothing to the next. */
    w->subscribed = (il_seen){0};
    memset(w->cursors, 0, sizeof w->cursors);
    w->violations = 0;
    w->deaf = 0;
    w->tools_changed = w->resources_changed = w->prompts_changed = false;
    il_wire_arm(w);
    if (w->phase == IL_PHASE_OPEN) {
        il_wire_hold(w, IL_HOLD_FULL, false); /* what waited for it waits no more */
        il_wire_restart_plan(w);
        if (w->up != NULL) {
            il_upstream_stop(w->up);
        }
    } else {
        il_wire_drained(w);
    }
}

void il_wire_drain(il_wire *w, uint64_t bound_ms) {
    if (w->phase == IL_PHASE_STOP) {
        return;
    }
    if (w->phase != IL_PHASE_DRAIN) {
        w->code = w->code == 0 && w->life != IL_LIFE_UP ? 4 : w->code;
        w->phase = IL_PHASE_DRAIN;
        il_wire_hold(w, IL_HOLD_DRAIN, true);
        while (w->asks.n > 0) {
            il_wire_ask_drop(w, w->asks.v[0], true, false);
        }
    }
    il_timer_set(w->drain, bound_ms);
    il_wire_drained(w);
}

void il_wire_drained(il_wire *w) {
    if (w->phase == IL_PHASE_DRAIN && w->calls.n == 0) {
        il_wire_changed(w);
        il_wire_stop(w);
    }
}

void il_wire_on_drain_timer(void *ctx) {
    il_wire *w = ctx;
    if (w->phase == IL_PHASE_STOP) {
        il_loop_stop(w->loop);
        return;
    }
    il_wire_fail_all(w, IL_DENY_TIMEOUT, "the gateway ends; the call MAY have run, and it was not retried");
    il_wire_stop(w);
    il_arena_reset(&w->arena);
}

void il_wire_on_term(void *ctx) {
    il_wire *w = ctx;
    il_log_write(w->c.log, IL_LOG_INFO, "ending: calls in flight may still finish");
    const bool alone = w->client_gone || il_reader_hung(w->in);
    if (alone && w->up != NULL) {
        il_upstream_hurry(w->up);
    }
    il_wire_drain(w, alone ? STOP_DRAIN_ALONE_MS : STOP_DRAIN_MS);
    il_arena_reset(&w->arena);
}

void il_wire_on_interrupt(void *ctx) {
    il_wire *w = ctx;
    if (++w->interrupts < 2) {
        il_wire_on_term(w);
        return;
    }
    il_log_write(w->c.log, IL_LOG_WARN, "aborted; calls in flight count as their worst case");
    if (w->up != NULL) {
        il_upstream_kill(w->up);
    }
    w->code = 5;
    w->phase = IL_PHASE_STOP;
    il_loop_stop(w->loop);
}
