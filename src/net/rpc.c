/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rpc.h"

#include <string.h>

#define RPC_INT_MAX 9007199254740991 /* 2^53 - 1: what every reader holds exactly */

bool il_rpc_id_read(const il_json *v, il_rpc_id *out) {
    *out = (il_rpc_id){0};
    const il_json_kind kind = il_json_kind_of(v);
    const il_str text = il_json_text(v);
    int64_t n = 0;
    if (kind == IL_JSON_NUMBER) {
        if (!il_json_int(v, &n) || n > RPC_INT_MAX || n < -RPC_INT_MAX || il_str_eq(text, IL_STR("-0"))) {
            return false;
        }
    } else if (kind != IL_JSON_STRING || text.n > IL_RPC_ID_BYTES) {
        return false;
    }
    *out = (il_rpc_id){.present = true, .string = kind == IL_JSON_STRING, .text = text};
    return true;
}

bool il_rpc_id_eq(const il_rpc_id *a, const il_rpc_id *b) {
    return a->present == b->present && a->string == b->string && il_str_eq(a->text, b->text);
}

il_status il_rpc_parse(il_arena *a, il_str line, const il_json_limits *limits, il_json **out, il_error *err) {
    *out = NULL;
    const char *cr = line.n > 0 ? memchr(line.p, '\r', line.n) : NULL;
    if (cr != NULL) {
        const size_t at = (size_t)(cr - line.p);
        return il_error_at(err, IL_E_SYNTAX, 1, (uint32_t)at + 1, at, "a carriage return inside a message");
    }
    return il_json_parse(a, line, limits, out, err);
}

static il_status rpc_error_shape(const il_json *error, il_error *err) {
    int64_t code = 0;
    if (il_json_kind_of(error) != IL_JSON_OBJECT || !il_json_int(il_json_get(error, IL_STR("code")), &code) ||
        il_json_kind_of(il_json_get(error, IL_STR("message"))) != IL_JSON_STRING) {
        return IL_JSON_FAIL(error, err, IL_E_INVALID, "`error` must be an object with an integer `code` and a string `message`");
    }
    return IL_OK;
}

il_status il_rpc_read(const il_json *message, il_rpc *out, il_error *err) {
    *out = (il_rpc){0};
    if (il_json_kind_of(message) == IL_JSON_ARRAY) {
        return IL_JSON_FAIL(message, err, IL_E_INVALID, "batches are not accepted; send one message a line");
    }
    if (il_json_kind_of(message) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(message, err, IL_E_INVALID, "a message must be an object");
    }
    const il_json *id = il_json_get(message, IL_STR("id"));
    const il_json *method = il_json_get(message, IL_STR("method"));
    const il_json *params = il_json_get(message, IL_STR("params"));
    const il_json *result = il_json_get(message, IL_STR("result"));
    const il_json *error = il_json_get(message, IL_STR("error"));
    const bool id_fine = il_rpc_id_read(id, &out->id);
    out->asks = method != NULL;
    out->answers = result != NULL || error != NULL;
    if (id != NULL && !id_fine) {
        return IL_JSON_FAIL(id, err, IL_E_INVALID, "`id` must be a string of at most %d bytes or an integer up to 2^53 - 1",
                            IL_RPC_ID_BYTES);
    }
    static const il_str known[] = {{"jsonrpc", 7}, {"id", 2}, {"method", 6}, {"params", 6}, {"result", 6}, {"error", 5}};
    IL_TRY(il_json_only(message, known, sizeof known / sizeof *known, "a message", err));
    const il_json *version = il_json_get(message, IL_STR("jsonrpc"));
    if (il_json_kind_of(version) != IL_JSON_STRING || !il_str_eq(il_json_text(version), IL_STR("2.0"))) {
        return IL_JSON_FAIL(version != NULL ? version : message, err, IL_E_INVALID, "`jsonrpc` must be \"2.0\"");
    }
    if (method != NULL) {
        if (result != NULL || error != NULL) {
            return IL_JSON_FAIL(message, err, IL_E_INVALID, "a message with a `method` has no `result` and no `error`");
        }
        if (il_json_kind_of(method) != IL_JSON_STRING) {
            return IL_JSON_FAIL(method, err, IL_E_INVALID, "`method` must be a string");
        }
        if (params != NULL && il_json_kind_of(params) != IL_JSON_OBJECT) {
            return IL_JSON_FAIL(params, err, IL_E_INVALID, "`params` must be an object");
        }
        out->method = il_json_text(method);
        out->params = params;
        out->kind = id != NULL ? IL_RPC_REQUEST : IL_RPC_NOTIFICATION;
        return IL_OK;
    }
    if (params != NULL) {
        return IL_JSON_FAIL(params, err, IL_E_INVALID, "`params` without a `method`");
    }
    if ((result != NULL) == (error != NULL)) {
        return IL_JSON_FAIL(message, err, IL_E_INVALID,
                            result != NULL ? "an answer has a `result` or an `error`, not both"
                                           : "neither a `method`, a `result` nor an `error`");
    }
    if (id == NULL) {
        return IL_JSON_FAIL(message, err, IL_E_INVALID, "an answer without an `id`");
    }
    if (error != NULL) {
        IL_TRY(rpc_error_shape(error, err));
    }
    out->result = result;
    out->error = error;
    out->kind = error != NULL ? IL_RPC_ERROR : IL_RPC_RESULT;
    return IL_OK;
}

/* --- salvage --- */

/* The string that starts at the quote line.p[*at]; false when it does not end. `plain`: no escape in it. */
static bool rpc_scan_string(il_str line, size_t *at, il_str *text, bool *plain) {
    const size_t from = ++*at;
    *plain = true;
    for (; *at < line.n; ++*at) {
        const unsigned char c = (unsigned char)line.p[*at];
        if (c == '"') {
            *text = il_str_part(line, from, (*at)++);
            return true;
        }
        if (c < 0x20 || c >= 0x7f || c == '\\') {
            *plain = false;
        }
        if (c == '\\') {
            ++*at;
        }
    }
    return false;
}

static void rpc_scan_space(il_str line, size_t *at) {
    while (*at < line.n && (line.p[*at] == ' ' || line.p[*at] == '\t' || line.p[*at] == '\r')) {
        ++*at;
    }
}

static bool rpc_scan_id(il_str line, size_t at, il_rpc_id *out) {
    il_str text = {NULL, 0};
    bool plain = false;
    if (at < line.n && line.p[at] == '"') {
        if (!rpc_scan_string(line, &at, &text, &plain) || !plain || text.n > IL_RPC_ID_BYTES) {
            return false;
        }
        *out = (il_rpc_id){.present = true, .string = true, .text = text};
    } else {
        const size_t from = at;
        while (at < line.n && line.p[at] >= '0' && line.p[at] <= '9') {
            at++;
        }
        text = il_str_part(line, from, at);
        int64_t n = 0;
        if (text.n == 0 || (text.n > 1 && text.p[0] == '0') || !il_str_int(text, &n) || n > RPC_INT_MAX) {
            return false;
        }
        *out = (il_rpc_id){.present = true, .text = text};
    }
    rpc_scan_space(line, &at);
    return at < line.n && (line.p[at] == ',' || line.p[at] == '}');
}

void il_rpc_salvage(il_str line, il_rpc *out) {
    *out = (il_rpc){0};
    uint64_t depth = 0;
    bool found = false, key = false;
    for (size_t at = 0; at < line.n;) {
        const char c = line.p[at];
        if (c == '"') {
            il_str text = {NULL, 0};
            bool plain = false;
            if (!rpc_scan_string(line, &at, &text, &plain)) {
                return;
            }
            if (depth != 1 || !key) {
                continue;
            }
            key = false;
            rpc_scan_space(line, &at);
            if (at >= line.n || line.p[at] != ':') {
                return;
            }
            at++;
            rpc_scan_space(line, &at);
            if (!plain) { /* could be an escaped `id`: then two ids, and we do not guess */
                out->id = (il_rpc_id){0};
                return;
            }
            out->asks = out->asks || il_str_eq(text, IL_STR("method"));
            out->answers = out->answers || il_str_eq(text, IL_STR("result")) || il_str_eq(text, IL_STR("error"));
            if (il_str_eq(text, IL_STR("id"))) {
                if (found || !rpc_scan_id(line, at, &out->id)) {
                    out->id = (il_rpc_id){0};
                    return;
                }
                found = true;
            }
            continue;
        }
        if (c == '{' || c == '[') {
            if (depth == 0 && c == '[') {
                return;
            }
            depth++;
            key = c == '{';
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
            key = false;
            if (depth == 0) {
                return;
            }
        } else if (c == ',') {
            key = true; /* only looked at in the outermost object */
        }
        at++;
    }
}

/* --- building --- */

il_json *il_rpc_id_node(il_arena *a, const il_rpc_id *id) {
    if (id == NULL || !id->present) {
        return il_json_make(a, IL_JSON_NULL);
    }
    if (id->string) {
        return il_json_string(a, id->text);
    }
    il_json *v = il_json_make(a, IL_JSON_NUMBER);
    if (v != NULL) {
        v->text = id->text;
    }
    return v;
}

static il_json *rpc_envelope(il_arena *a) {
    il_json *m = il_json_make(a, IL_JSON_OBJECT);
    return il_json_set(m, IL_STR("jsonrpc"), il_json_string(a, IL_STR("2.0"))) ? m : NULL;
}

/* Sets a member to a part of another tree. */
static bool rpc_share(il_arena *a, il_json *m, il_str key, const il_json *v) {
    return il_json_set(m, key, il_json_shallow(a, v));
}

il_json *il_rpc_request(il_arena *a, int64_t id, il_str method, const il_json *params) {
    il_json *m = rpc_envelope(a);
    const bool fine = il_json_set(m, IL_STR("id"), il_json_number(a, id)) &&
                      il_json_set(m, IL_STR("method"), il_json_string(a, method)) &&
                      (params == NULL || rpc_share(a, m, IL_STR("params"), params));
    return fine ? m : NULL;
}

il_json *il_rpc_notification(il_arena *a, il_str method, const il_json *params) {
    il_json *m = rpc_envelope(a);
    const bool fine = il_json_set(m, IL_STR("method"), il_json_string(a, method)) &&
                      (params == NULL || rpc_share(a, m, IL_STR("params"), params));
    return fine ? m : NULL;
}

il_json *il_rpc_result(il_arena *a, const il_rpc_id *id, const il_json *result) {
    il_json *m = rpc_envelope(a);
    const bool fine = il_json_set(m, IL_STR("id"), il_rpc_id_node(a, id)) &&
                      (result == NULL ? il_json_set(m, IL_STR("result"), il_json_make(a, IL_JSON_OBJECT))
                                      : rpc_share(a, m, IL_STR("result"), result));
    return fine ? m : NULL;
}

il_json *il_rpc_error(il_arena *a, const il_rpc_id *id, int64_t code, il_str message, const il_json *data) {
    il_json *m = rpc_envelope(a), *e = il_json_make(a, IL_JSON_OBJECT);
    const bool fine = il_json_set(m, IL_STR("id"), il_rpc_id_node(a, id)) &&
                      il_json_set(e, IL_STR("code"), il_json_number(a, code)) &&
                      il_json_set(e, IL_STR("message"), il_json_string(a, message)) &&
                      (data == NULL || rpc_share(a, e, IL_STR("data"), data)) && il_json_set(m, IL_STR("error"), e);
    return fine ? m : NULL;
}

il_status il_rpc_line(il_arena *a, const il_json *message, size_t max, il_str *out, il_error *err) {
    *out = (il_str){NULL, 0};
    if (message == NULL) {
        return il_arena_fail(a, err);
    }
    il_buf b;
    il_buf_init(&b, a, max);
    il_json_write(&b, message, IL_JSON_AS_READ);
    il_buf_putc(&b, '\n');
    return il_buf_done(&b, out, err);
}
