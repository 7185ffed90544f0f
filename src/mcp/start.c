/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake: the client's initialize becomes one of ours, with fewer capabilities; the server's answer comes back with fewer too. */
#include "base/error.h"
#include "mcp/wire.h"

static bool start_may(const il_wire *w, const char *feature) {
    return il_policy_server_may(w->c.policy, w->c.name, il_str_of(feature));
}

il_json *il_wire_start_params(il_wire *w) {
    il_arena *a = &w->arena;
    il_json *params = il_json_make(a, IL_JSON_OBJECT), *info = il_json_make(a, IL_JSON_OBJECT);
    const bool fine = il_json_set(info, IL_STR("name"), il_json_string(a, IL_STR("interlock"))) &&
                      il_json_set(info, IL_STR("version"), il_json_string(a, il_str_of(il_version()))) &&
                      il_json_set(params, IL_STR("protocolVersion"), il_json_string(a, il_revision_date(w->revision))) &&
                      il_json_set(params, IL_STR("capabilities"), il_features_node(a, &w->offered)) &&
                      il_json_set(params, IL_STR("clientInfo"), info);
    return fine ? params : NULL;
}

void il_wire_initialize(il_wire *w, const il_rpc *rpc) {
    const il_json *version = il_json_get(rpc->params, IL_STR("protocolVersion"));
    const il_json *capabilities = il_json_get(rpc->params, IL_STR("capabilities"));
    if (w->phase != IL_PHASE_NEW) {
        il_wire_refuse(w, &rpc->id, IL_RPC_INVALID, "already initialized");
        return;
    }
    if (il_json_kind_of(version) != IL_JSON_STRING || il_json_kind_of(capabilities) != IL_JSON_OBJECT) {
        il_wire_refuse(w, &rpc->id, IL_RPC_PARAMS, "`protocolVersion` must be a string and `capabilities` an object");
        return;
    }
    w->revision = il_revision_offer(il_json_text(version));
    w->declared = il_features_of(capabilities);
    w->offered = (il_features){
        .sampling = w->declared.sampling && start_may(w, "sampling"),
        .roots = w->declared.roots && start_may(w, "roots"),
        .roots_changed = w->declared.roots_changed,
        .elicitation = w->declared.elicitation && start_may(w, "elicitation"),
    };
    const il_json *info = il_json_get(rpc->params, IL_STR("clientInfo")); /* a claim: for the log only */
    il_log_write(w->c.log, IL_LOG_INFO, "client `%.*s`, revision %.*s",
                 IL_STR_ARG(il_str_part(il_json_text(il_json_get(info, IL_STR("name"))), 0, 64)),
                 IL_STR_ARG(il_revision_date(w->revision)));
    const il_pending_spec spec = {
        .id = rpc->id, .message = IL_MSG_INITIALIZE, .method = IL_STR("initialize"), .what = IL_STR("initialize")};
    il_pending *e = NULL;
    il_error err = {0};
    if (il_pendings_add(&w->calls, &spec, &e, &err) != IL_OK) {
        il_wire_fatal(w, err.msg);
        return;
    }
    e->deadline = e->limit = il_loop_now_ms() + w->c.start_timeout_ms;
    w->phase = IL_PHASE_HANDSHAKE;
    il_wire_hold(w, IL_HOLD_HANDSHAKE, true); /* what the client sends meanwhile waits in its pipe */
    il_json *params = il_wire_start_params(w);
    il_wire_to_server(w, params == NULL ? NULL : il_rpc_request(&w->arena, e->uid, e->method, params));
    il_wire_arm(w);
}

static il_json *start_result(il_wire *w, const il_json *result, il_json *capabilities) {
    il_arena *a = &w->arena;
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    const il_json *instructions = il_json_get(result, IL_STR("instructions"));
    /* Instructions go into the model's context: of a server outside they are content that nothing has judged. */
    const bool fine = il_json_set(out, IL_STR("protocolVersion"), il_json_string(a, il_revision_date(w->revision))) &&
                      il_json_set(out, IL_STR("capabilities"), capabilities) &&
                      il_json_set(out, IL_STR("serverInfo"),
                                  il_filter_server_info(a, il_json_get(result, IL_STR("serverInfo")), w->inside, w->c.name)) &&
                      (!w->inside || il_json_kind_of(instructions) != IL_JSON_STRING ||
                       il_json_set(out, IL_STR("instructions"), il_json_shallow(a, instructions)));
    if (!fine || !w->c.unenforced) {
        return fine ? out : NULL;
    }
    il_json *meta = il_json_make(a, IL_JSON_OBJECT);
    return il_json_set(meta, IL_STR("interlock/mode"), il_json_string(a, IL_STR("monitor"))) &&
                   il_json_set(out, IL_STR("_meta"), meta)
               ? out
               : NULL;
}

bool il_wire_start_fault(const il_rpc *rpc, char *why, size_t cap) {
    if (rpc->kind == IL_RPC_ERROR) {
        (void)il_format(why, cap, "the server refused to initialize: %.*s",
                        IL_STR_ARG(il_str_part(il_json_text(il_json_get(rpc->error, IL_STR("message"))), 0, 120)));
        return true;
    }
    const il_str date = il_json_text(il_json_get(rpc->result, IL_STR("protocolVersion")));
    const il_json *served = il_json_get(rpc->result, IL_STR("capabilities"));
    const il_json *info = il_json_get(rpc->result, IL_STR("serverInfo"));
    if (rpc->kind != IL_RPC_RESULT || il_json_kind_of(served) != IL_JSON_OBJECT || il_json_kind_of(info) != IL_JSON_OBJECT) {
        (void)il_format(why, cap, "the server's answer to initialize is malformed");
        return true;
    }
    if (il_revision_of(date) == IL_REVISION_NONE) {
        (void)il_format(
            why, cap,
            "the server speaks revision `%.*s`; 2024-11-05, 2025-06-18 and 2025-11-25 are known here; update the server or "
            "the MCP SDK that it uses",
            IL_STR_ARG(il_str_part(date, 0, 32)));
        return true;
    }
    return false;
}

void il_wire_initialized(il_wire *w, il_pending *e, const il_rpc *rpc) {
    char text[192];
    if (il_wire_start_fault(rpc, text, sizeof text)) {
        il_wire_start_failed(w, text);
        return;
    }
    const il_str date = il_json_text(il_json_get(rpc->result, IL_STR("protocolVersion")));
    w->revision = il_revision_of(date); /* the client hears what the server chose: one revision on both faces */
    il_json *capabilities = il_filter_capabilities(&w->arena, il_json_get(rpc->result, IL_STR("capabilities")));
    il_wire_serve(w, capabilities);
    w->restart.told = il_wire_told(capabilities);
    w->restart.since = il_loop_now_ms();
    il_json *result = capabilities == NULL ? NULL : start_result(w, rpc->result, capabilities);
    il_wire_to_client(w, result == NULL ? NULL : il_rpc_result(&w->arena, &e->id, result));
    il_pendings_remove(&w->calls, e);
    if (w->phase == IL_PHASE_HANDSHAKE) {
        w->phase = IL_PHASE_OPEN;
        il_wire_hold(w, IL_HOLD_HANDSHAKE, false);
    }
}

void il_wire_tell_initialized(il_wire *w) {
    if (!w->told_initialized) {
        w->told_initialized = true;
        if (w->life == IL_LIFE_UP) { /* else it is told when it is */
            il_wire_to_server(w, il_rpc_notification(&w->arena, IL_STR("notifications/initialized"), NULL));
        }
    }
}
