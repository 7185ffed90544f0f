/* SPDX-License-Identifier: Apache-2.0 */
/* The client's requests on their way to the server. */
#include "base/error.h"
#include "mcp/wire.h"
#include "policy/result.h"

/* --- the decision --- */

/* `id` is filled, and borrowed by the denial. */
static il_denial request_denial(const il_wire *w, const il_decision *d, char id[IL_DENY_ID_BYTES]) {
    il_deny_id(d, id);
    return (il_denial){
        .code = IL_DENY_POLICY,
        .text = d->message[0] != '\0' ? il_str_of(d->message)
                                      : IL_STR("blocked by Interlock: the call could not be judged; do not retry"),
        .action = il_action_name(d->action),
        .layer = il_layer_name(d->layer),
        .rule = d->reason,
        .id = id,
        .session = w->c.session,
    };
}

void il_wire_deny(il_wire *w, const il_rpc_id *id, il_message message, const il_decision *d) {
    char text[IL_DENY_ID_BYTES];
    const il_denial denial = request_denial(w, d, text);
    il_wire_to_client(w, il_deny_answer(&w->arena, id, message, &denial));
}

bool il_wire_judge(il_wire *w, il_pending *e, il_str tool, const il_json *args, il_decision *d) {
    *d = (il_decision)IL_DECISION_INIT;
    if (!w->turn.open) {
        il_wire_turn_end(w);
    }
    const il_call call = {.size = sizeof call, .server = w->c.name, .tool = tool, .args = args, .unjoined = true};
    il_error err = {0};
    const il_status st = il_monitor_decide(w->c.monitor, w->c.session, &call, d, &err);
    il_wire_member_decided(w, e, d);
    if (st != IL_OK || !d->run) {
        const bool note = il_wire_may_note(w, &w->denials, "calls that are denied"); /* the ledger has each */
        if (note && st != IL_OK) {
            il_log_write(w->c.log, IL_LOG_ERROR, "the decision failed: %s", err.msg);
        }
        if (note) {
            il_log_write(w->c.log, IL_LOG_INFO, "%s %.*s.%.*s: %s%s%s",
                         d->action == IL_ACTION_REQUIRE_APPROVAL ? "held" : "denied", IL_STR_ARG(w->c.name), IL_STR_ARG(tool),
                         d->reason[0] != '\0' ? d->reason : "fault", d->approval[0] != '\0' ? ", request " : "", d->approval);
        }
        d->run = false;
        return false;
    }
    e->judged = true;
    e->ticket = d->ticket;
    e->action = d->action;
    e->layer = d->layer;
    e->unenforced = d->unenforced;
    (void)il_format(e->reason, sizeof e->reason, "%s", d->reason);
    il_deny_id(d, e->decision);
    if (d->action != IL_ACTION_ALLOW && !il_wire_may_note(w, &w->denials, "calls that enforcing would deny")) {
        return true;
    }
    il_log_write(w->c.log, d->action == IL_ACTION_ALLOW ? IL_LOG_DEBUG : IL_LOG_INFO, "%s %.*s.%.*s: ticket %llu%s%s",
                 d->action == IL_ACTION_ALLOW ? "allowed" : "let through (monitor mode)", IL_STR_ARG(w->c.name), IL_STR_ARG(tool),
                 (unsigned long long)d->ticket, d->reason[0] != '\0' ? ", " : "", d->reason);
    return true;
}

/* --- the way --- */

static void request_deny(il_wire *w, const il_rpc *rpc, il_message message, il_deny_code code, const char *text) {
    const il_denial d = {.code = code, .text = il_str_of(text)};
    il_wire_to_client(w, il_deny_answer(&w->arena, &rpc->id, message, &d));
}

static void request_forward(il_wire *w, const il_rpc *rpc, const il_pending *e) {
    const il_json *params = NULL;
    if (e->token.present) {
        params = il_filter_token(&w->arena, rpc->params, e->uid);
    } else if (rpc->params != NULL) {
        params = il_filter_params(&w->arena, rpc->params);
    }
    const bool lost = params == NULL && (e->token.present || rpc->params != NULL);
    il_wire_to_server(w, lost ? NULL : il_rpc_request(&w->arena, e->uid, e->method, params));
}

/* An entry whose effects are read in its results by what was asked needs the arguments until then. Too large, or no memory: then its results lower nothing. */
static void request_keep(il_wire *w, il_pending *e, il_str tool, const il_json *args) {
    static const il_json none = {.kind = IL_JSON_OBJECT};
    char name[IL_TOOL_BYTES];
    il_buf text;
    il_str bytes;
    const size_t n = il_format(name, sizeof name, "%.*s.%.*s", IL_STR_ARG(w->c.name), IL_STR_ARG(tool));
    if (!il_policy_reads_by_args(w->c.policy, (il_str){name, n})) {
        return;
    }
    il_buf_init(&text, &w->arena, IL_PENDINGS_KEPT_MAX);
    il_json_write(&text, args != NULL ? args : &none, IL_JSON_AS_READ);
    if (il_buf_done(&text, &bytes, NULL) != IL_OK || !il_pendings_keep(&w->calls, e, bytes)) {
        il_log_write(w->c.log, IL_LOG_INFO,
                     "the arguments of %.*s.%.*s (ticket %llu) are too large to be kept: its effects are its worst", IL_STR_ARG(w->c.name),
                     IL_STR_ARG(tool), (unsigned long long)e->ticket);
    }
}

/* Adds, judges where it must be judged, forwards. */
static void request_go(il_wire *w, const il_rpc *rpc, const il_mediation *m) {
    const bool call = m->message == IL_MSG_TOOLS_CALL;
    const bool uri = m->message == IL_MSG_SUBSCRIBE || m->message == IL_MSG_UNSUBSCRIBE;
    const il_str tool = call ? il_json_text(il_json_get(rpc->params, IL_STR("name"))) : m->method;
    il_pending_spec spec = {.id = rpc->id, .message = m->message, .method = m->method, .what = tool};
    const il_json *extra = il_json_get(rpc->params, uri ? IL_STR("uri") : IL_STR("cursor"));
    if (extra != NULL && (uri || m->treat == IL_TREAT_LIST)) { /* an empty cursor is one, too */
        spec.extra = il_json_text(extra);
    }
    if (!il_wire_token(w, rpc, &spec.token)) {
        return;
    }
    il_pending *e = NULL;
    il_error err = {0};
    const il_status st = il_pendings_add(&w->calls, &spec, &e, &err);
    if (st == IL_E_LIMIT) {
        request_deny(w, rpc, m->message, IL_DENY_BUSY, err.msg);
        return;
    }
    if (st != IL_OK) {
        il_wire_fatal(w, err.msg);
        return;
    }
    if (m->treat == IL_TREAT_GATE || (m->treat == IL_TREAT_LIST && !w->inside)) {
        /* The cursor that the server gave last leads to the next page, and says nothing. Of the older ones, which are known too, one can be chosen:
         * a letter for each page that the server names. */
        const bool list =
            m->treat == IL_TREAT_LIST && (spec.extra.p == NULL || il_seen_last(il_wire_cursors(w, m->message), spec.extra));
        const il_json *args = call   ? il_json_get(rpc->params, IL_STR("arguments"))
                              : list ? NULL
                                     : il_filter_params(&w->arena, rpc->params);
        il_decision d;
        if (!call && !list && args == NULL) {
            il_wire_fatal(w, "out of memory for a request");
            return;
        }
        if (call && w->line <= IL_WIRE_TURN_LINE) {
            il_wire_member_open(w, e, false);
        }
        if (!il_wire_judge(w, e, tool, args, &d)) {
            il_wire_deny(w, &rpc->id, m->message, &d);
            il_pendings_remove(&w->calls, e);
            il_wire_member_close(w);
            return;
        }
        request_keep(w, e, tool, args);
    }
    const uint64_t now = il_loop_now_ms();
    e->deadline = now + w->c.call_timeout_ms;
    e->limit = now + w->c.call_limit_ms;
    request_forward(w, rpc, e);
    il_wire_arm(w);
    il_wire_member_close(w);
}

/* What would leave unjudged, and is answered here. Toward a server outside a log level, and when a subscription ends, are bits that an agent can
 * choose; its log goes to ours and its updates are dropped, so it needs neither. An address that was not judged goes nowhere at all. */
static bool request_absorbed(il_wire *w, const il_rpc *rpc, const il_mediation *m) {
    if (m->message == IL_MSG_SET_LEVEL) {
        return !w->inside;
    }
    const il_str uri = il_json_text(il_json_get(rpc->params, IL_STR("uri")));
    if (!il_seen_has(&w->subscribed, uri)) {
        return true;
    }
    if (!w->inside) {
        il_seen_forget(&w->subscribed, uri);
    }
    return !w->inside;
}

void il_wire_request(il_wire *w, const il_rpc *rpc) {
    const il_mediation *m = il_mediate(IL_FROM_CLIENT, true, rpc->method);
    const il_message message = m == NULL ? IL_MSG_NONE : m->message;
    if (il_pendings_by_id(&w->calls, &rpc->id) != NULL) {
        il_wire_refuse(w, &rpc->id, IL_RPC_INVALID, "a request with this id is in flight");
    } else if (message == IL_MSG_PING) {
        il_wire_to_client(w, il_rpc_result(&w->arena, &rpc->id, NULL));
    } else if (message == IL_MSG_INITIALIZE) {
        il_wire_initialize(w, rpc);
    } else if (w->phase != IL_PHASE_OPEN) {
        il_wire_refuse(w, &rpc->id, IL_RPC_INVALID, "not initialized; send `initialize` first");
    } else if (m == NULL || !il_wire_serves(w, m->needs)) {
        il_wire_refuse(w, &rpc->id, IL_RPC_NO_METHOD, "Method not found");
    } else if (il_wire_params(w, rpc, m)) {
        il_wire_tell_initialized(w);
        if (w->life != IL_LIFE_UP) {
            char text[320];
            il_wire_gone_text(w, text, sizeof text);
            request_deny(w, rpc, m->message, IL_DENY_UPSTREAM, text);
        } else if (m->treat == IL_TREAT_PASS && request_absorbed(w, rpc, m)) {
            il_wire_to_client(w, il_rpc_result(&w->arena, &rpc->id, NULL));
        } else if (m->message == IL_MSG_SUBSCRIBE && il_seen_full(&w->subscribed)) {
            request_deny(w, rpc, m->message, IL_DENY_BUSY, "too many resources are subscribed; unsubscribe some first");
        } else {
            request_go(w, rpc, m);
        }
    }
}
