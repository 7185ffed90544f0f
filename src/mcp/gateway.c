/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/gateway.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "mcp/wire.h"

#define GATEWAY_TIMEOUT_MS 60000u
#define GATEWAY_LIMIT_MS 600000u
#define GATEWAY_START_MS 60000u
#define GATEWAY_RESTART_MS 500u

static bool gateway_blank(il_str line) {
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* --- the client's lines --- */

/* A message of the client that is none. Only a request waits for an answer, and only an id that is not in use can be answered without confusion:
 * without a `method` it would be one of ours, and a refusal under it could meet a request of the client that has the same. Whoever asked that
 * question need not wait for another answer. */
static void gateway_client_bad(il_wire *w, const il_rpc *rpc, int64_t code, const il_error *err) {
    static const il_rpc_id none = {0};
    char text[IL_ERROR_MSG_BYTES + 48];
    if (err->line > 0) { /* one message a line: the column says it all */
        (void)il_format(text, sizeof text, "%s (column %u)", err->msg, err->col);
    } else {
        (void)il_format(text, sizeof text, "%s", err->msg);
    }
    if (il_wire_may_note(w, &w->refusals, "the client")) {
        il_log_write(w->c.log, IL_LOG_WARN, "the client sent a message that is refused: %s", text);
    }
    if (!rpc->asks && il_wire_asked(w, &rpc->id) != NULL) {
        il_wire_ask_answer(w, rpc);
    } else if (rpc->asks || !rpc->answers) {
        const bool named = rpc->asks && rpc->id.present && il_pendings_by_id(&w->calls, &rpc->id) == NULL;
        il_wire_refuse(w, named ? &rpc->id : &none, code, text);
    }
}

static void gateway_client_message(il_wire *w, il_str line) {
    const il_json_limits limits = il_wire_limits(IL_WIRE_REQUEST_MAX);
    il_json *message = NULL;
    il_error err = {0};
    il_rpc rpc;
    const il_status st = il_rpc_parse(&w->arena, line, &limits, &message, &err);
    if (st == IL_E_MEMORY) {
        il_wire_fatal(w, err.msg);
        return;
    }
    if (st != IL_OK) {
        il_rpc_salvage(line, &rpc);
        gateway_client_bad(w, &rpc, st == IL_E_LIMIT ? IL_RPC_INVALID : IL_RPC_PARSE, &err);
        return;
    }
    if (il_rpc_read(message, &rpc, &err) != IL_OK) {
        gateway_client_bad(w, &rpc, IL_RPC_INVALID, &err);
        return;
    }
    switch (rpc.kind) {
    case IL_RPC_REQUEST:
        il_wire_request(w, &rpc);
        return;
    case IL_RPC_NOTIFICATION:
        il_wire_client_notice(w, &rpc);
        return;
    case IL_RPC_RESULT:
    case IL_RPC_ERROR:
        il_wire_ask_answer(w, &rpc);
        return;
    case IL_RPC_BAD:
        return;
    }
}

static void gateway_on_client_line(void *ctx, il_str line) {
    il_wire *w = ctx;
    if (w->phase < IL_PHASE_DRAIN && !gateway_blank(line)) {
        w->line = line.n;
        gateway_client_message(w, line);
        il_arena_reset(&w->arena);
    }
}

static void gateway_on_client_too_long(void *ctx) {
    il_wire *w = ctx;
    static const il_rpc unknown = {0};
    il_error err = {0};
    (void)il_error_set(&err, IL_E_LIMIT, "a message is longer than %zu bytes", IL_WIRE_REQUEST_MAX);
    gateway_client_bad(w, &unknown, IL_RPC_INVALID, &err);
    il_arena_reset(&w->arena);
}

static void gateway_on_client_end(void *ctx, int error) {
    il_wire *w = ctx;
    if (error == ENOMEM) {
        il_wire_fatal(w, "out of memory for a message of the client");
        return;
    }
    if (error != 0) {
        il_log_write(w->c.log, IL_LOG_WARN, "the client's input cannot be read any more: %s", strerror(error));
    }
    /* What it asked for may still finish; each call has its own deadline. */
    il_wire_drain(w, w->c.call_limit_ms);
    il_arena_reset(&w->arena);
}

static void gateway_on_client_full(void *ctx, bool full) {
    il_wire *w = ctx;
    il_wire_hold(w, IL_HOLD_CLIENT, full); /* who does not read answers gets none for more questions */
    if (w->up == NULL || w->phase == IL_PHASE_STOP) {
        return;
    }
    if (full) {
        il_upstream_pause(w->up);
    } else {
        il_upstream_resume(w->up);
    }
}

static void gateway_on_client_failed(void *ctx, int error) {
    il_wire *w = ctx;
    (void)error;
    w->client_gone = true;
    il_wire_drain(w, 0);
    il_arena_reset(&w->arena);
}

/* --- the server's lines --- */

/* Whether it may say this too; a flood must not fill the client, our log or our time. */
static bool gateway_server_may(il_wire *w, il_budget *budget) {
    const uint64_t now = il_loop_now_ms();
    const bool may = il_budget_take(budget, now);
    const uint64_t n = il_budget_report(budget, now);
    if (n > 0) {
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: it sends more than %u messages a second that nobody asked for; dropped: %llu",
                     IL_STR_ARG(w->c.name), budget->per_second, (unsigned long long)n);
    }
    return may;
}

/* What cannot be read but says whose answer it is fails that call alone, and what only says that it is a message is dropped alone: a file's
 * content, or its name in a log message, must not be able to end the server. */
static void gateway_server_unreadable(il_wire *w, il_str line, const il_error *err) {
    il_rpc rpc;
    int64_t uid = 0;
    il_pending *e = NULL;
    il_rpc_salvage(line, &rpc);
    il_wire_turn_end(w);
    if (rpc.id.present && !rpc.asks && !rpc.id.string && il_str_int(rpc.id.text, &uid)) {
        e = il_pendings_by_uid(&w->calls, uid);
    }
    const bool late = uid > 0 && uid < w->calls.next && w->life == IL_LIFE_UP;
    if (w->phase < IL_PHASE_OPEN) {
        char text[IL_ERROR_MSG_BYTES + 96];
        (void)il_format(text, sizeof text,
                        "it wrote a line to stdout that is not a JSON-RPC message before its first answer: %s (column %u)",
                        err->msg, err->col);
        il_wire_start_failed(w, text);
    } else if (e != NULL) {
        char text[IL_ERROR_MSG_BYTES + 96];
        if (il_wire_may_note(w, &w->answers, "the server's answers")) {
            il_log_write(w->c.log, IL_LOG_WARN, "%.*s: an answer cannot be read: %s (column %u)", IL_STR_ARG(w->c.name), err->msg,
                         err->col);
        }
        (void)il_format(text, sizeof text, "the server's answer cannot be read (%s); the call may have run",
                        il_status_name(err->code));
        il_wire_fail(w, e, IL_DENY_WITHHELD, text);
        il_wire_arm(w);
        il_wire_drained(w);
    } else if ((rpc.asks && w->life == IL_LIFE_UP) || late) {
        if (!gateway_server_may(w, &w->noise)) {
            return;
        }
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: a message is dropped: %s (column %u)", IL_STR_ARG(w->c.name), err->msg,
                     err->col);
        if (rpc.id.present && rpc.asks) {
            il_wire_to_server(w, il_rpc_error(&w->arena, &rpc.id, IL_RPC_PARSE, IL_STR("the request cannot be read"), NULL));
        }
    } else {
        il_log_write(w->c.log, IL_LOG_ERROR, "%.*s: a line on its stdout is not a JSON-RPC message: %s (column %u)",
                     IL_STR_ARG(w->c.name), err->msg, err->col);
        il_wire_server_gone(w, w->life == IL_LIFE_AGAIN ? "cannot be started again"
                                                        : "wrote a line that is not a message, and was closed");
    }
}

static void gateway_server_bad(il_wire *w, const il_rpc *rpc, const il_error *err) {
    int64_t uid = 0;
    if (!rpc->asks && rpc->id.present && !rpc->id.string && il_str_int(rpc->id.text, &uid) &&
        il_pendings_by_uid(&w->calls, uid) != NULL) {
        il_wire_answer(w, rpc); /* an answer with both or neither of result and error: failed */
        return;
    }
    il_log_write(w->c.log, IL_LOG_WARN, "%.*s: a message is dropped: %s", IL_STR_ARG(w->c.name), err->msg);
    if (w->life == IL_LIFE_AGAIN) {
        il_wire_server_gone(w, "cannot be started again");
        return;
    }
    if (rpc->asks && rpc->id.present) {
        il_wire_to_server(w, il_rpc_error(&w->arena, &rpc->id, IL_RPC_INVALID, il_str_of(err->msg), NULL));
    }
    if (w->violations == 0 || il_loop_now_ms() - w->violations_at > IL_WIRE_VIOLATIONS_MS) {
        w->violations = 0;
        w->violations_at = il_loop_now_ms();
    }
    if (++w->violations > IL_WIRE_VIOLATIONS) {
        il_wire_server_gone(w, "sent too many messages that are none, and was closed");
    }
}

static void gateway_server_request(il_wire *w, const il_rpc *rpc) {
    if (!gateway_server_may(w, &w->noise)) {
        return; /* an answer to each would only wait for a server that does not read */
    }
    const il_mediation *m = il_mediate(IL_FROM_SERVER, true, rpc->method);
    if (m != NULL && m->treat == IL_TREAT_ANSWER) {
        il_wire_to_server(w, il_rpc_result(&w->arena, &rpc->id, NULL));
    } else if (m != NULL) {
        il_wire_ask(w, rpc, m);
    } else {
        il_wire_to_server(w, il_rpc_error(&w->arena, &rpc->id, IL_RPC_NO_METHOD, IL_STR("Method not found"), NULL));
    }
}

static void gateway_server_notice(il_wire *w, const il_rpc *rpc) {
    const il_mediation *m = il_mediate(IL_FROM_SERVER, false, rpc->method);
    const il_message message = m == NULL ? IL_MSG_NONE : m->message;
    /* The end of a question costs nothing, and the client should know of it. */
    if (message == IL_MSG_CANCELLED ||
        gateway_server_may(w, m == NULL || (message == IL_MSG_LOG && !w->inside) ? &w->noise : &w->notices)) {
        il_wire_server_notice(w, rpc);
    }
}

static void gateway_server_answer(il_wire *w, const il_rpc *rpc) {
    int64_t uid = 0;
    const bool awaited = !rpc->id.string && il_str_int(rpc->id.text, &uid) && il_pendings_by_uid(&w->calls, uid) != NULL;
    if (!il_wire_restart_answer(w, rpc) && (awaited || gateway_server_may(w, &w->noise))) {
        il_wire_answer(w, rpc);
    }
}

static void gateway_server_message(il_wire *w, il_str line) {
    const il_json_limits limits = il_wire_limits(IL_WIRE_RESULT_MAX);
    il_json *message = NULL;
    il_error err = {0};
    il_rpc rpc;
    const il_status st = il_rpc_parse(&w->arena, line, &limits, &message, &err);
    if (st == IL_E_MEMORY) {
        il_wire_fatal(w, err.msg);
        return;
    }
    if (st != IL_OK) {
        gateway_server_unreadable(w, line, &err);
        return;
    }
    if (il_json_kind_of(message) != IL_JSON_OBJECT) { /* a batch, or something printed that happens to be JSON */
        if (il_rpc_read(message, &rpc, &err) == IL_OK) {
            return;
        }
        gateway_server_unreadable(w, IL_STR(""), &err);
        return;
    }
    if (il_rpc_read(message, &rpc, &err) != IL_OK) {
        gateway_server_bad(w, &rpc, &err);
        return;
    }
    switch (rpc.kind) {
    case IL_RPC_REQUEST:
        gateway_server_request(w, &rpc);
        return;
    case IL_RPC_NOTIFICATION:
        gateway_server_notice(w, &rpc);
        return;
    case IL_RPC_RESULT:
    case IL_RPC_ERROR:
        gateway_server_answer(w, &rpc);
        return;
    case IL_RPC_BAD:
        return;
    }
}

static bool gateway_server_heard(const il_wire *w) {
    return w->phase != IL_PHASE_STOP && (w->life == IL_LIFE_UP || w->life == IL_LIFE_AGAIN);
}

static void gateway_on_server_line(void *ctx, il_str line) {
    il_wire *w = ctx;
    if (gateway_server_heard(w) && !gateway_blank(line)) {
        w->line = line.n;
        gateway_server_message(w, line);
        il_arena_reset(&w->arena);
    }
}

static void gateway_on_server_too_long(void *ctx) {
    il_wire *w = ctx;
    il_log_write(w->c.log, IL_LOG_WARN, "%.*s: a message of more than %zu bytes is dropped", IL_STR_ARG(w->c.name),
                 IL_WIRE_RESULT_MAX);
    if (w->phase < IL_PHASE_OPEN) {
        il_wire_start_failed(w, "its first line is too long");
    } else if (w->life == IL_LIFE_AGAIN) {
        il_wire_server_gone(w, "cannot be started again");
    } else { /* whose answer it was cannot be known any more */
        il_wire_fail_all(w, IL_DENY_WITHHELD, "the server sent more than the limit of bytes; the call may have run");
        il_wire_arm(w);
        il_wire_drained(w);
    }
    il_arena_reset(&w->arena);
}

static void gateway_on_server_full(void *ctx, bool full) {
    il_wire *w = ctx;
    /* While it is full the client is not read, so its end is not seen either: that must not last. */
    w->deaf = full ? il_loop_now_ms() + w->c.call_timeout_ms : 0;
    il_wire_hold(w, IL_HOLD_FULL, full);
    il_wire_arm(w);
}

static void gateway_on_server_gone(void *ctx, const char *why) {
    il_wire *w = ctx;
    il_wire_server_gone(w, why);
    il_arena_reset(&w->arena);
}

/* --- timers --- */

static void gateway_on_due(void *ctx) {
    il_wire *w = ctx;
    const uint64_t now = il_loop_now_ms();
    il_wire_fail_begin(w);
    for (size_t i = 0; i < w->calls.n;) {
        il_pending *e = w->calls.v[i];
        if (e->deadline > now) {
            i++;
            continue;
        }
        if (e->message == IL_MSG_INITIALIZE) {
            il_wire_start_failed(w, "it did not answer initialize in time");
            break;
        }
        il_wire_cancel_server(w, e->uid, IL_STR("timed out"));
        il_wire_fail(w, e, IL_DENY_TIMEOUT, "the server did not answer in time; the call MAY have run, and it was not retried");
    }
    il_wire_fail_end(w);
    for (size_t i = 0; i < w->asks.n;) {
        if (w->asks.v[i]->deadline > now) {
            i++;
        } else {
            il_wire_ask_drop(w, w->asks.v[i], true, true);
        }
    }
    if (w->deaf != 0 && w->deaf <= now) {
        w->deaf = 0;
        il_wire_server_gone(w, "does not read its input, and was closed");
    }
    il_wire_arm(w);
    il_wire_drained(w);
    il_arena_reset(&w->arena);
}

static void gateway_on_changed(void *ctx) {
    il_wire *w = ctx;
    il_wire_changed(w);
    il_arena_reset(&w->arena);
}

/* --- the whole --- */

il_status il_wire_server_start(il_wire *w, il_error *err) {
    static const il_upstream_calls calls = {gateway_on_server_line, gateway_on_server_too_long, gateway_on_server_full,
                                            gateway_on_server_gone, il_wire_on_stopped};
    const il_upstream_config up = {.name = w->c.name,
                                   .command = w->c.command,
                                   .max_line = IL_WIRE_RESULT_MAX,
                                   .high = IL_WIRE_HIGH,
                                   .max_waiting = IL_WIRE_WAITING_MAX,
                                   .log = w->c.log};
    w->up_stopped = false;
    IL_TRY(il_upstream_start(w->c.alloc, w->loop, &up, &calls, w, &w->up, err));
    if ((w->hold & IL_HOLD_CLIENT) == 0) {
        il_upstream_resume(w->up);
    }
    return IL_OK;
}

static il_status gateway_open(il_wire *w, il_error *err) {
    static const il_reader_calls client_lines = {gateway_on_client_line, gateway_on_client_too_long, gateway_on_client_end};
    static const il_writer_calls client_writes = {gateway_on_client_full, gateway_on_client_failed};
    const il_alloc *alloc = w->c.alloc;
    IL_TRY(il_loop_new(alloc, il_loop_odd_fd(w->c.in) || il_loop_odd_fd(w->c.out), &w->loop, err));
    IL_TRY(il_timer_new(w->loop, gateway_on_due, w, &w->due, err));
    IL_TRY(il_timer_new(w->loop, gateway_on_changed, w, &w->changed, err));
    IL_TRY(il_timer_new(w->loop, il_wire_on_turn_end, w, &w->turn.end, err));
    IL_TRY(il_timer_new(w->loop, il_wire_on_drain_timer, w, &w->drain, err));
    IL_TRY(il_timer_new(w->loop, il_wire_on_slow_timer, w, &w->slow, err));
    IL_TRY(il_timer_new(w->loop, il_wire_on_restart_timer, w, &w->restart.timer, err));
    IL_TRY(il_loop_signal(w->loop, SIGTERM, il_wire_on_term, w, err));
    IL_TRY(il_loop_signal(w->loop, SIGHUP, il_wire_on_term, w, err));
    IL_TRY(il_loop_signal(w->loop, SIGINT, il_wire_on_interrupt, w, err));
    IL_TRY(il_reader_new(alloc, w->loop, w->c.in, IL_WIRE_REQUEST_MAX, true, &client_lines, w, &w->in, err));
    IL_TRY(il_writer_new(alloc, w->loop, w->c.out, IL_WIRE_HIGH, IL_WIRE_WAITING_MAX, &client_writes, w, &w->out, err));
    IL_TRY(il_wire_server_start(w, err));
    il_wire_hold(w, 0, false);
    return IL_OK;
}

static void gateway_close(il_wire *w) {
    il_wire_turn_free(w);
    il_upstream_free(w->up);
    il_reader_free(w->in);
    il_writer_free(w->out);
    il_timer_free(w->due);
    il_timer_free(w->changed);
    il_timer_free(w->drain);
    il_timer_free(w->slow);
    il_timer_free(w->restart.timer);
    il_loop_free(w->loop);
    il_pendings_free(&w->calls);
    il_pendings_free(&w->asks);
    il_roster_free(&w->tools);
    il_roster_free(&w->prompts);
    il_arena_free(&w->arena);
    w->c.alloc->free(w->c.alloc->ctx, w);
}

int il_gateway_run(const il_gateway_config *config) {
    il_wire *w = config->alloc->alloc(config->alloc->ctx, sizeof *w);
    if (w == NULL) {
        il_log_write(config->log, IL_LOG_ERROR, "out of memory");
        return 5;
    }
    *w = (il_wire){.c = *config,
                   .notices = IL_WIRE_NOTICES,
                   .noise = IL_WIRE_NOISE,
                   .denied = IL_WIRE_DENIED,
                   .refusals = IL_WIRE_NOISE,
                   .denials = IL_WIRE_NOISE,
                   .answers = IL_WIRE_NOISE,
                   .turn = {.number = 1}};
    w->c.call_timeout_ms = config->call_timeout_ms != 0 ? config->call_timeout_ms : GATEWAY_TIMEOUT_MS;
    w->c.call_limit_ms = config->call_limit_ms != 0 ? config->call_limit_ms : GATEWAY_LIMIT_MS;
    w->c.start_timeout_ms = config->start_timeout_ms != 0 ? config->start_timeout_ms : GATEWAY_START_MS;
    w->c.restart_ms = config->restart_ms != 0 ? config->restart_ms : GATEWAY_RESTART_MS;
    w->inside = il_policy_server_inside(config->policy, config->name);
    w->prototypes = il_policy_server_prototypes(config->policy, config->name);
    il_arena_init(&w->arena, config->alloc, IL_WIRE_ARENA_MAX);
    il_pendings_init(&w->calls, config->alloc, IL_WIRE_CALLS);
    il_pendings_init(&w->asks, config->alloc, IL_WIRE_ASKS);
    il_roster_init(&w->tools, config->alloc);
    il_roster_init(&w->prompts, config->alloc);
    (void)signal(SIGPIPE, SIG_IGN);
    il_error err = {0};
    il_status st = gateway_open(w, &err);
    if (st != IL_OK) {
        il_log_write(config->log, IL_LOG_ERROR, "%s", err.msg);
        w->code = st == IL_E_MEMORY ? 5 : 3;
    } else {
        st = il_loop_run(w->loop, &err);
        if (st != IL_OK) {
            il_log_write(config->log, IL_LOG_ERROR, "%s", err.msg);
            w->code = 5;
        }
    }
    const int code = w->code;
    gateway_close(w);
    return code;
}
