/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/deny.h"

#include "base/sha256.h"

static bool deny_put(il_arena *a, il_json *o, il_str key, const char *value) {
    return value == NULL || value[0] == '\0' || il_json_set(o, key, il_json_string(a, il_str_of(value)));
}

void il_deny_id(const il_decision *d, char out[IL_DENY_ID_BYTES]) {
    static const uint8_t unknown[IL_DIGEST_BYTES] = {0};
    char hex[IL_DIGEST_HEX];
    out[0] = '\0';
    if (d->approval[0] != '\0') {
        (void)il_format(out, IL_DENY_ID_BYTES, "%s", d->approval);
    } else if (!il_digest_eq(d->args_digest, unknown)) {
        il_digest_hex(d->args_digest, hex);
        (void)il_format(out, IL_DENY_ID_BYTES, "%.*s", 16, hex);
    }
}

il_json *il_deny_decision(il_arena *a, const il_denial *d, bool unenforced) {
    il_json *o = il_json_make(a, IL_JSON_OBJECT);
    const bool fine = deny_put(a, o, IL_STR("action"), d->action) && deny_put(a, o, IL_STR("layer"), d->layer) &&
                      deny_put(a, o, IL_STR("rule"), d->rule) && deny_put(a, o, IL_STR("id"), d->id) &&
                      il_json_set(o, IL_STR("session"), il_json_string(a, d->session)) &&
                      (!unenforced || il_json_set(o, IL_STR("unenforced"), il_json_boolean(a, true)));
    return fine ? o : NULL;
}

static il_json *deny_result(il_arena *a, const il_denial *d) {
    il_json *result = il_json_make(a, IL_JSON_OBJECT), *content = il_json_make(a, IL_JSON_ARRAY),
            *text = il_json_make(a, IL_JSON_OBJECT);
    bool fine = il_json_set(text, IL_STR("type"), il_json_string(a, IL_STR("text"))) &&
                il_json_set(text, IL_STR("text"), il_json_string(a, d->text)) && il_json_push(content, text) &&
                il_json_set(result, IL_STR("content"), content) &&
                il_json_set(result, IL_STR("isError"), il_json_boolean(a, true));
    if (fine && d->action != NULL) {
        il_json *meta = il_json_make(a, IL_JSON_OBJECT);
        fine = il_json_set(meta, IL_STR("interlock/decision"), il_deny_decision(a, d, false)) &&
               il_json_set(result, IL_STR("_meta"), meta);
    }
    return fine ? result : NULL;
}

il_json *il_deny_answer(il_arena *a, const il_rpc_id *id, il_message message, const il_denial *d) {
    if (message == IL_MSG_TOOLS_CALL) {
        const il_json *result = deny_result(a, d);
        return result == NULL ? NULL : il_rpc_result(a, id, result);
    }
    const il_json *data = NULL;
    if (d->action != NULL) {
        data = il_deny_decision(a, d, false);
        if (data == NULL) {
            return NULL;
        }
    }
    return il_rpc_error(a, id, d->code, d->text, data);
}

il_json *il_deny_ask(il_arena *a, const il_rpc_id *id, il_message message, bool offered) {
    if (!offered) {
        return il_rpc_error(a, id, IL_RPC_NO_METHOD, IL_STR("Method not found"), NULL);
    }
    il_json *result = il_json_make(a, IL_JSON_OBJECT);
    if (message == IL_MSG_ELICIT) {
        return il_json_set(result, IL_STR("action"), il_json_string(a, IL_STR("decline"))) ? il_rpc_result(a, id, result) : NULL;
    }
    if (message == IL_MSG_ROOTS_LIST) {
        return il_json_set(result, IL_STR("roots"), il_json_make(a, IL_JSON_ARRAY)) ? il_rpc_result(a, id, result) : NULL;
    }
    return il_rpc_error(a, id, -1, IL_STR("User rejected sampling request"), NULL);
}
