/* SPDX-License-Identifier: Apache-2.0 */
/* The server's answers on their way to the client: recorded before the first byte is released. */
#include "base/error.h"
#include "mcp/wire.h"
#include "policy/result.h"

#define ANSWER_URL_ASKED (-32042) /* URLElicitationRequired of 2025-11-25: its data are links for the person to open */

/* What was decided, when it was kept; NULL: not known any more. */
static const il_json *answer_args(il_wire *w, const il_pending *e) {
    const il_json_limits limits = il_wire_limits(IL_PENDINGS_KEPT_MAX);
    il_json *args = NULL;
    return e->args != NULL && il_json_parse(&w->arena, (il_str){e->args, e->nargs}, &limits, &args, NULL) == IL_OK ? args : NULL;
}

bool il_wire_settle(il_wire *w, const il_pending *e, il_outcome_kind how, const il_json *result, il_str error,
                    char reason[IL_REASON_BYTES]) {
    reason[0] = '\0';
    if (!e->judged) {
        return true;
    }
    if (!w->turn.open) {
        il_wire_turn_end(w); /* e was not decided in it, and stays */
    }
    const il_outcome outcome = {.size = sizeof outcome, .how = how, .result = result, .error = error, .args = answer_args(w, e)};
    il_settlement s = IL_SETTLEMENT_INIT;
    il_error err = {0};
    const il_status st = il_monitor_settle(w->c.monitor, w->c.session, e->ticket, &outcome, &s, &err);
    if (st == IL_OK && s.release) {
        return true;
    }
    (void)il_format(reason, IL_REASON_BYTES, "%s", s.reason[0] != '\0' ? s.reason : "not recorded");
    if (il_wire_may_note(w, &w->answers, "the server's answers")) {
        il_log_write(w->c.log, IL_LOG_WARN, "the result of %.*s (ticket %llu) is withheld: %s%s%s", IL_STR_ARG(e->what),
                     (unsigned long long)e->ticket, reason, err.msg[0] != '\0' ? ": " : "", err.msg);
    }
    return false;
}

bool il_wire_note(il_wire *w, il_notice_kind kind, const il_json *value) {
    if (value == NULL || il_policy_remembers(w->c.policy) == 0) {
        return true;
    }
    if (!w->turn.open) {
        il_wire_turn_end(w);
    }
    const il_notice notice = {.size = sizeof notice, .kind = kind, .from = w->c.name, .value = value, .untrusted = !w->inside};
    il_error err = {0};
    if (il_monitor_notice(w->c.monitor, w->c.session, &notice, &err) == IL_OK) {
        return true;
    }
    if (il_wire_may_note(w, &w->answers, "the server's answers")) {
        il_log_write(w->c.log, IL_LOG_WARN, "what %.*s says is not recorded, and dropped: %s", IL_STR_ARG(w->c.name), err.msg);
    }
    return false;
}

/* Answers with a refusal of our own and forgets the request. */
static void answer_refuse(il_wire *w, il_pending *e, il_deny_code code, const char *text) {
    const il_denial d = {.code = code, .text = il_str_of(text)};
    il_wire_to_client(w, il_deny_answer(&w->arena, &e->id, e->message, &d));
    il_pendings_remove(&w->calls, e);
}

void il_wire_withhold(il_wire *w, const il_rpc_id *id, il_message message, const char *reason) {
    char text[192];
    (void)il_format(text, sizeof text, "the call was run, but its result is withheld by Interlock (%s); do not retry", reason);
    const il_denial d = {.code = IL_DENY_WITHHELD, .text = il_str_of(text)};
    il_wire_to_client(w, il_deny_answer(&w->arena, id, message, &d));
}

static void answer_withhold(il_wire *w, il_pending *e, const char *reason) {
    il_wire_withhold(w, &e->id, e->message, reason);
    il_pendings_remove(&w->calls, e);
}

void il_wire_fail(il_wire *w, il_pending *e, il_deny_code code, const char *text) {
    char reason[IL_REASON_BYTES];
    (void)il_wire_settle(w, e, IL_OUTCOME_FAILED, NULL, IL_STR(""),
                         reason); /* the text is ours: nothing of the server's is released */
    answer_refuse(w, e, code, text);
}

void il_wire_fail_begin(il_wire *w) {
    il_wire_turn_end(w);
    if (w->c.batch != NULL) {
        il_ledger_batch_begin(w->c.batch);
    }
}

/* What was answered is ours and true of a call that is not recorded, too: it stays open until its durable deadline settles it. */
void il_wire_fail_end(il_wire *w) {
    il_error err = {0};
    if (w->c.batch != NULL && il_ledger_batch_end(w->c.batch, &err) != IL_OK) {
        il_log_write(w->c.log, IL_LOG_ERROR,
                     "the end of calls that failed is not recorded; they stay open until their deadlines: %s", err.msg);
    }
}

void il_wire_fail_all(il_wire *w, il_deny_code code, const char *text) {
    il_wire_fail_begin(w);
    while (w->calls.n > 0) {
        il_wire_fail(w, w->calls.v[0], code, text);
    }
    il_wire_fail_end(w);
}

/* Says in the result that monitor mode let it through, and what enforcing would have done. */
static il_json *answer_mark(il_wire *w, const il_pending *e, il_json *result) {
    if (!w->c.unenforced && !e->unenforced) {
        return result;
    }
    il_json *meta = il_json_make(&w->arena, IL_JSON_OBJECT);
    const il_denial d = {.action = e->judged ? il_action_name(e->action) : "allow",
                         .layer = e->judged ? il_layer_name(e->layer) : NULL,
                         .rule = e->reason,
                         .id = e->decision,
                         .session = w->c.session};
    const bool fine = il_json_set(meta, IL_STR("interlock/decision"), il_deny_decision(&w->arena, &d, true)) &&
                      il_json_set(result, IL_STR("_meta"), meta);
    return fine ? result : NULL;
}

static void answer_remember(il_wire *w, const il_pending *e, const il_json *result) {
    const il_json *cursor = il_json_get(result, IL_STR("nextCursor"));
    if (il_filter_lists(e->message) && il_json_kind_of(cursor) == IL_JSON_STRING && il_json_text(cursor).n <= IL_WIRE_KEPT_MAX) {
        il_seen_add(il_wire_cursors(w, e->message), il_json_text(cursor));
    }
    if (e->message == IL_MSG_SUBSCRIBE) {
        il_seen_add(&w->subscribed, e->extra);
    } else if (e->message == IL_MSG_UNSUBSCRIBE) {
        il_seen_forget(&w->subscribed, e->extra);
    }
}

/* What was recorded goes to the client, and the request is done. A file's content must not be able to end the gateway. */
static void answer_release(il_wire *w, il_pending *e, const il_json *message) {
    if (il_wire_release(w, message)) {
        il_pendings_remove(&w->calls, e);
        return;
    }
    if (il_wire_may_note(w, &w->answers, "the server's answers")) {
        il_log_write(w->c.log, IL_LOG_WARN, "the result of %.*s is larger than %zu bytes when it is written", IL_STR_ARG(e->what),
                     IL_WIRE_LINE_MAX);
    }
    il_arena_reset(&w->arena); /* the request's own texts are not in it */
    answer_refuse(w, e, IL_DENY_WITHHELD, "the call was run, but its result is too large to be passed on");
}

static void answer_result(il_wire *w, const il_rpc *rpc, il_pending *e) {
    char reason[IL_REASON_BYTES];
    if (il_json_kind_of(rpc->result) != IL_JSON_OBJECT || !il_filter_shape(e->message, rpc->result)) {
        il_wire_fail(w, e, IL_DENY_WITHHELD, "the server's answer is not a result; the call may have run");
        return;
    }
    il_json *result = il_wire_listing(w, e, rpc->result);
    if (result == NULL) {
        il_wire_fatal(w, "out of memory for a result");
        return;
    }
    const bool failed = e->message == IL_MSG_TOOLS_CALL && il_json_bool(il_json_get(result, IL_STR("isError")));
    if (!il_wire_settle(w, e, failed ? IL_OUTCOME_FAILED : IL_OUTCOME_DONE, result, IL_STR(""), reason)) {
        answer_withhold(w, e, reason);
        return;
    }
    /* A listing of a server inside was not judged; its texts reach the model all the same. */
    if (!e->judged && il_filter_lists(e->message) && !il_wire_note(w, IL_NOTICE_DESCRIPTION, result)) {
        answer_withhold(w, e, "not recorded");
        return;
    }
    answer_remember(w, e, result);
    result = answer_mark(w, e, result);
    answer_release(w, e, result == NULL ? NULL : il_rpc_result(&w->arena, &e->id, result));
}

/* All that an error says; too large to be written: only its message. */
static il_str answer_error_text(il_wire *w, const il_json *error) {
    il_str text;
    return il_rpc_line(&w->arena, error, IL_WIRE_LINE_MAX, &text, NULL) == IL_OK
               ? text
               : il_json_text(il_json_get(error, IL_STR("message")));
}

static void answer_error(il_wire *w, const il_rpc *rpc, il_pending *e) {
    char reason[IL_REASON_BYTES];
    if (!il_wire_settle(w, e, IL_OUTCOME_FAILED, NULL, e->judged ? answer_error_text(w, rpc->error) : IL_STR(""), reason)) {
        answer_withhold(w, e, reason);
        return;
    }
    int64_t code = IL_RPC_INTERNAL;
    (void)il_json_int(il_json_get(rpc->error, IL_STR("code")), &code);
    if (code >= IL_DENY_POLICY && code <= IL_DENY_BUSY) { /* ours: a server must not sound like the gateway */
        code = IL_RPC_INTERNAL;
    }
    const il_json *data = il_json_get(rpc->error, IL_STR("data"));
    if (code == ANSWER_URL_ASKED) { /* a question by another way: links that the client opens, and that were never offered */
        code = IL_RPC_INTERNAL;
        data = NULL;
        if (il_wire_may_note(w, &w->answers, "the server's answers")) {
            il_log_write(w->c.log, IL_LOG_WARN, "%.*s: it asks the person to open links; they are not passed on",
                         IL_STR_ARG(w->c.name));
        }
    }
    answer_release(w, e, il_rpc_error(&w->arena, &e->id, code, il_json_text(il_json_get(rpc->error, IL_STR("message"))), data));
}

void il_wire_answer(il_wire *w, const il_rpc *rpc) {
    int64_t uid = 0;
    il_pending *e = !rpc->id.string && il_str_int(rpc->id.text, &uid) ? il_pendings_by_uid(&w->calls, uid) : NULL;
    if (e != NULL && il_wire_in_turn(w, e)) { /* it guessed the id of what was not sent yet */
        il_wire_turn_end(w);
        e = il_pendings_by_uid(&w->calls, uid);
    }
    if (e == NULL) {
        il_wire_uninvited(w, IL_STR("(an answer)"), "it answers no request that is in flight");
        return;
    }
    const bool whole = rpc->kind == IL_RPC_ERROR || il_json_kind_of(rpc->result) == IL_JSON_OBJECT;
    if (e->message == IL_MSG_TOOLS_CALL && e->judged && whole && w->line <= IL_WIRE_TURN_LINE) {
        il_wire_member_open(w, e, true);
    }
    if (e->message == IL_MSG_INITIALIZE) {
        il_wire_initialized(w, e, rpc);
    } else if (rpc->kind == IL_RPC_RESULT) {
        answer_result(w, rpc, e);
    } else if (rpc->kind == IL_RPC_ERROR) {
        answer_error(w, rpc, e);
    } else {
        il_wire_fail(w, e, IL_DENY_WITHHELD, "the server's answer is malformed; the call may have run");
    }
    il_wire_member_close(w);
    il_wire_arm(w);
    il_wire_drained(w);
}
