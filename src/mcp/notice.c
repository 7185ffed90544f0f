/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications, both ways. */
#include "base/error.h"
#include "mcp/progress.h"
#include "mcp/wire.h"

#define NOTICE_CHANGED_MS 250 /* several list_changed within it are one */
#define NOTICE_LOG_BYTES 1024

/* A notification that the server made: dropped when it is too large. */
static void notice_release(il_wire *w, const il_json *message) {
    if (!il_wire_release(w, message)) {
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: a notification is dropped: too large", IL_STR_ARG(w->c.name));
    }
}

void il_wire_cancel_server(il_wire *w, int64_t uid, il_str why) {
    il_json *params = il_json_make(&w->arena, IL_JSON_OBJECT);
    const bool fine = il_json_set(params, IL_STR("requestId"), il_json_number(&w->arena, uid)) &&
                      il_json_set(params, IL_STR("reason"), il_json_string(&w->arena, why));
    il_wire_to_server(w, fine ? il_rpc_notification(&w->arena, IL_STR("notifications/cancelled"), params) : NULL);
}

static void notice_client_cancelled(il_wire *w, const il_rpc *rpc) {
    il_rpc_id id;
    il_wire_turn_end(w);
    il_pending *e = il_rpc_id_read(il_json_get(rpc->params, IL_STR("requestId")), &id) ? il_pendings_by_id(&w->calls, &id) : NULL;
    if (e == NULL || e->message == IL_MSG_INITIALIZE) {
        return;
    }
    char reason[IL_REASON_BYTES];
    (void)il_wire_settle(w, e, IL_OUTCOME_FAILED, NULL, IL_STR(""), reason); /* it may have run: its worst case, now */
    il_wire_cancel_server(w, e->uid, IL_STR("cancelled by the client"));
    il_pendings_remove(&w->calls, e);
    il_wire_arm(w);
    il_wire_drained(w);
}

void il_wire_client_notice(il_wire *w, const il_rpc *rpc) {
    const il_mediation *m = il_mediate(IL_FROM_CLIENT, false, rpc->method);
    if (m == NULL || w->phase != IL_PHASE_OPEN) {
        il_log_write(w->c.log, IL_LOG_DEBUG, "the client's notification `%.*s` is dropped",
                     IL_STR_ARG(il_str_part(rpc->method, 0, 64)));
        return;
    }
    if (m->message == IL_MSG_INITIALIZED) {
        il_wire_tell_initialized(w);
    } else if (m->message == IL_MSG_CANCELLED) {
        notice_client_cancelled(w, rpc);
    } else if (m->message == IL_MSG_ROOTS_CHANGED && w->life == IL_LIFE_UP && w->offered.roots && w->offered.roots_changed) {
        il_wire_to_server(w, il_rpc_notification(&w->arena, m->method, NULL));
    }
}

/* --- from the server --- */

static void notice_server_cancelled(il_wire *w, const il_rpc *rpc) {
    il_rpc_id id;
    il_pending *e = il_rpc_id_read(il_json_get(rpc->params, IL_STR("requestId")), &id) ? il_pendings_by_id(&w->asks, &id) : NULL;
    if (e != NULL) {
        il_wire_ask_drop(w, e, false, true); /* its reason is the server's free text, and stays here */
    }
}

static bool notice_copy(il_wire *w, il_json *to, const il_json *from, il_str key, il_json_kind kind) {
    const il_json *v = il_json_get(from, key);
    if (kind == IL_JSON_NUMBER && il_json_text(v).n > IL_PROGRESS_BYTES) {
        return true; /* that many digits are a text */
    }
    return il_json_kind_of(v) != kind || il_json_set(to, key, il_json_shallow(&w->arena, v));
}

/* Whether it is further than before; remembers it then. What is no number, or too long for one, never is. */
static bool notice_moves(il_pending *e, const il_json *progress) {
    const il_str text = il_json_text(progress);
    if (il_json_kind_of(progress) != IL_JSON_NUMBER || text.n > IL_PROGRESS_BYTES ||
        (e->progress_n > 0 && il_progress_cmp(text, (il_str){e->progress, e->progress_n}) <= 0)) {
        return false;
    }
    memcpy(e->progress, text.p, text.n);
    e->progress_n = text.n;
    return true;
}

static void notice_progress(il_wire *w, const il_rpc *rpc) {
    int64_t uid = 0;
    il_pending *e =
        il_json_int(il_json_get(rpc->params, IL_STR("progressToken")), &uid) ? il_pendings_by_uid(&w->calls, uid) : NULL;
    if (e == NULL || e->message == IL_MSG_INITIALIZE || !e->token.present) {
        il_wire_uninvited(w, rpc->method, "its token is of no call in flight");
        return;
    }
    if (!notice_moves(e, il_json_get(rpc->params, IL_STR("progress")))) {
        il_wire_uninvited(w, rpc->method, "it does not move on");
        return;
    }
    const uint64_t next = il_loop_now_ms() + w->c.call_timeout_ms;
    e->deadline = next < e->limit ? next : e->limit;
    il_wire_arm(w);
    il_json *params = il_json_make(&w->arena, IL_JSON_OBJECT);
    const bool fine = il_json_set(params, IL_STR("progressToken"), il_rpc_id_node(&w->arena, &e->token)) &&
                      notice_copy(w, params, rpc->params, IL_STR("progress"), IL_JSON_NUMBER) &&
                      notice_copy(w, params, rpc->params, IL_STR("total"), IL_JSON_NUMBER) &&
                      (!w->inside || notice_copy(w, params, rpc->params, IL_STR("message"), IL_JSON_STRING));
    if (!il_wire_note(w, IL_NOTICE_MESSAGE, fine ? il_json_get(params, IL_STR("message")) : NULL)) {
        return;
    }
    notice_release(w, fine ? il_rpc_notification(&w->arena, rpc->method, params) : NULL);
}

static void notice_log(il_wire *w, const il_rpc *rpc) {
    if (w->inside && il_wire_serves(w, IL_STR("logging"))) {
        il_json *params = il_filter_params(&w->arena, rpc->params);
        if (!il_wire_note(w, IL_NOTICE_MESSAGE, params)) {
            return;
        }
        notice_release(w, params == NULL ? NULL : il_rpc_notification(&w->arena, rpc->method, params));
        return;
    }
    il_str text = il_json_text(il_json_get(rpc->params, IL_STR("data")));
    const il_json *data = il_json_get(rpc->params, IL_STR("data"));
    if (il_json_kind_of(data) != IL_JSON_STRING && data != NULL &&
        il_rpc_line(&w->arena, data, IL_WIRE_LINE_MAX, &text, NULL) != IL_OK) {
        text = IL_STR("(too large)");
    }
    il_log_write(w->c.log, IL_LOG_INFO, "%.*s says: %.*s", IL_STR_ARG(w->c.name),
                 IL_STR_ARG(il_str_part(text, 0, NOTICE_LOG_BYTES)));
}

static void notice_updated(il_wire *w, const il_rpc *rpc) {
    const il_json *uri = il_json_get(rpc->params, IL_STR("uri"));
    if (il_json_kind_of(uri) != IL_JSON_STRING || !il_seen_has(&w->subscribed, il_json_text(uri))) {
        il_wire_uninvited(w, rpc->method, "its address was not subscribed");
        return;
    }
    il_json *params = il_json_make(&w->arena, IL_JSON_OBJECT);
    const bool fine = notice_copy(w, params, rpc->params, IL_STR("uri"), IL_JSON_STRING);
    notice_release(w, fine ? il_rpc_notification(&w->arena, rpc->method, params) : NULL);
}

static void notice_changed(il_wire *w, bool *which) {
    *which = true;
    if (!il_timer_is_set(w->changed)) {
        il_timer_set(w->changed, NOTICE_CHANGED_MS);
    }
}

static void notice_send_changed(il_wire *w, bool *which, il_str method) {
    if (*which) {
        *which = false;
        il_wire_to_client(w, il_rpc_notification(&w->arena, method, NULL));
    }
}

void il_wire_changed(il_wire *w) {
    notice_send_changed(w, &w->tools_changed, IL_STR("notifications/tools/list_changed"));
    notice_send_changed(w, &w->resources_changed, IL_STR("notifications/resources/list_changed"));
    notice_send_changed(w, &w->prompts_changed, IL_STR("notifications/prompts/list_changed"));
}

void il_wire_server_notice(il_wire *w, const il_rpc *rpc) {
    const il_mediation *m = il_mediate(IL_FROM_SERVER, false, rpc->method);
    const bool open = w->life == IL_LIFE_UP && (w->phase == IL_PHASE_OPEN || w->phase == IL_PHASE_DRAIN);
    if (m == NULL || !open || (!il_wire_serves(w, m->needs) && m->message != IL_MSG_LOG)) {
        il_wire_uninvited(w, rpc->method,
                          m == NULL ? "it is not known here" : "the server has no such capability, or is not ready");
        return;
    }
    if (m->message == IL_MSG_CANCELLED) {
        notice_server_cancelled(w, rpc);
    } else if (m->message == IL_MSG_PROGRESS) {
        notice_progress(w, rpc);
    } else if (m->message == IL_MSG_LOG) {
        notice_log(w, rpc);
    } else if (m->message == IL_MSG_RESOURCE_UPDATED) {
        notice_updated(w, rpc);
    } else if (m->message == IL_MSG_TOOLS_CHANGED) {
        notice_changed(w, &w->tools_changed);
    } else if (m->message == IL_MSG_RESOURCES_CHANGED) {
        notice_changed(w, &w->resources_changed);
    } else if (m->message == IL_MSG_PROMPTS_CHANGED) {
        notice_changed(w, &w->prompts_changed);
    }
}
