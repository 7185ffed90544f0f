/* SPDX-License-Identifier: Apache-2.0 */
/* A server's requests to the client: only what was offered, only while the client waits for that server, and what the client
 * answers leaves for the server, so it is judged as a call named after the method. */
#include "base/error.h"
#include "mcp/elicit.h"
#include "mcp/wire.h"

#define ASK_LIMIT_MS ((uint64_t)300000) /* a person reads and answers */

static bool ask_offered(const il_wire *w, il_message message) {
    return (message == IL_MSG_SAMPLING && w->offered.sampling) || (message == IL_MSG_ROOTS_LIST && w->offered.roots) ||
           (message == IL_MSG_ELICIT && w->offered.elicitation);
}

/* A server that asks keeps its caller waiting, which is no silence of its own; the hard limit of each call stays. */
static void ask_touch(il_wire *w, uint64_t add_ms) {
    const uint64_t now = il_loop_now_ms();
    for (size_t i = 0; i < w->calls.n; i++) {
        il_pending *e = w->calls.v[i];
        const uint64_t next = now + w->c.call_timeout_ms + add_ms;
        e->deadline = next < e->limit ? next : e->limit;
    }
}

/* A question is over, however it ended: when it was the last, callers wait no longer than for a server that does not ask. */
static void ask_over(il_wire *w, il_pending *e) {
    il_pendings_remove(&w->asks, e);
    if (w->asks.n == 0) {
        ask_touch(w, 0);
    }
    il_wire_arm(w);
}

static const il_str ask_never_offered[] = {{"tools", 5}, {"toolChoice", 10}, {"task", 4}};
static const il_str ask_sampling[] = {{"messages", 8},        {"modelPreferences", 16}, {"systemPrompt", 12},
                                      {"includeContext", 14}, {"temperature", 11},      {"maxTokens", 9},
                                      {"stopSequences", 13},  {"metadata", 8}};

/* The parameters as the client gets them. IL_E_INVALID or IL_E_LIMIT: refused. */
static il_status ask_params(il_wire *w, il_message message, const il_json *params, il_json **out, il_error *err) {
    *out = il_filter_params(&w->arena, params);
    if (*out == NULL) {
        return il_arena_fail(&w->arena, err);
    }
    for (size_t i = 0; i < sizeof ask_never_offered / sizeof *ask_never_offered; i++) {
        if (il_json_get(*out, ask_never_offered[i]) != NULL) {
            return il_error_set(err, IL_E_INVALID, "not in a form that was offered");
        }
    }
    if (message == IL_MSG_ELICIT) {
        return il_elicit_params(&w->arena, *out, w->c.name, out, err);
    }
    /* no member that is not known: what a client makes of it cannot be said */
    IL_TRY(il_json_only(*out, ask_sampling, message == IL_MSG_SAMPLING ? sizeof ask_sampling / sizeof *ask_sampling : 0,
                        message == IL_MSG_SAMPLING ? "`sampling/createMessage`" : "`roots/list`", err));
    if (message == IL_MSG_SAMPLING && il_json_remove(*out, IL_STR("includeContext")) &&
        !il_json_set(*out, IL_STR("includeContext"), il_json_string(&w->arena, IL_STR("none")))) {
        return il_arena_fail(&w->arena, err); /* other servers' context must not become this server's */
    }
    return IL_OK;
}

void il_wire_ask(il_wire *w, const il_rpc *rpc, const il_mediation *m) {
    const bool may = ask_offered(w, m->message), now = w->phase == IL_PHASE_OPEN && il_wire_in_flight(w) > 0;
    if (!may || !now) {
        il_wire_uninvited(w, m->method, may ? "no call of the client is in flight" : "it was not offered to the server");
        il_wire_to_server(w, il_deny_ask(&w->arena, &rpc->id, m->message, false));
        return;
    }
    il_json *params = NULL;
    il_error err = {0};
    il_status st = ask_params(w, m->message, rpc->params, &params, &err);
    if (st == IL_E_INVALID || st == IL_E_LIMIT) {
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: `%.*s` is refused: %s", IL_STR_ARG(w->c.name), IL_STR_ARG(m->method), err.msg);
        il_wire_to_server(w, il_deny_ask(&w->arena, &rpc->id, m->message, true));
        return;
    }
    const il_pending_spec spec = {.id = rpc->id, .message = m->message, .method = m->method, .what = m->method};
    il_pending *e = NULL;
    st = st != IL_OK ? st : il_pendings_add(&w->asks, &spec, &e, &err);
    if (st == IL_E_EXISTS || st == IL_E_LIMIT) {
        il_wire_to_server(w, il_rpc_error(&w->arena, &rpc->id, IL_RPC_INVALID, il_str_of(err.msg), NULL));
        return;
    }
    if (st != IL_OK) {
        il_wire_fatal(w, err.msg);
        return;
    }
    e->deadline = e->limit = il_loop_now_ms() + ASK_LIMIT_MS;
    if (!il_wire_release(w, il_rpc_request(&w->arena, e->uid, m->method, params))) {
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: `%.*s` is refused: too large", IL_STR_ARG(w->c.name), IL_STR_ARG(m->method));
        il_arena_reset(&w->arena);
        il_wire_ask_drop(w, e, true, false);
        return;
    }
    ask_touch(w, ASK_LIMIT_MS);
    il_wire_arm(w);
}

void il_wire_ask_drop(il_wire *w, il_pending *e, bool answer_server, bool tell_client) {
    if (answer_server) {
        il_wire_to_server(w, il_deny_ask(&w->arena, &e->id, e->message, true));
    }
    if (tell_client) {
        il_json *params = il_json_make(&w->arena, IL_JSON_OBJECT);
        const bool fine = il_json_set(params, IL_STR("requestId"), il_json_number(&w->arena, e->uid));
        il_wire_to_client(w, fine ? il_rpc_notification(&w->arena, IL_STR("notifications/cancelled"), params) : NULL);
    }
    ask_over(w, e);
}

static void ask_result(il_wire *w, il_pending *e, const il_json *answer) {
    il_json *result = il_json_kind_of(answer) == IL_JSON_OBJECT ? il_filter_params(&w->arena, answer) : NULL;
    il_decision d;
    const il_str key = il_wire_prototype(w, result);
    if (key.n > 0) {
        il_log_write(w->c.log, IL_LOG_WARN, "the client's answer has the key `%.*s` and is not passed on", IL_STR_ARG(key));
    }
    if (result == NULL || key.n > 0 || !il_wire_judge(w, e, e->method, result, &d)) {
        il_wire_ask_drop(w, e, true, false);
        return;
    }
    char reason[IL_REASON_BYTES];
    il_wire_to_server(w, il_rpc_result(&w->arena, &e->id, result));
    (void)il_wire_settle(w, e, IL_OUTCOME_DONE, NULL, IL_STR(""), reason); /* nothing comes back: it was a way out only */
    ask_over(w, e);
}

il_pending *il_wire_asked(const il_wire *w, const il_rpc_id *id) {
    int64_t uid = 0;
    return id->present && !id->string && il_str_int(id->text, &uid) ? il_pendings_by_uid(&w->asks, uid) : NULL;
}

void il_wire_ask_answer(il_wire *w, const il_rpc *rpc) {
    il_pending *e = il_wire_asked(w, &rpc->id);
    if (e == NULL) {
        if (il_wire_may_note(w, &w->refusals, "the client")) {
            il_log_write(w->c.log, IL_LOG_WARN, "the client answered a request that nobody made; dropped");
        }
        return;
    }
    if (rpc->kind == IL_RPC_RESULT) {
        ask_result(w, e, rpc->result);
    } else { /* the words of an error would leave unjudged, and what cannot be read is no answer */
        il_wire_ask_drop(w, e, true, false);
    }
}
