/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON-RPC 2.0 envelope as MCP uses it: strict reading, and building what we send.
 *
 * One message a line, never a batch. An id is a string or an integer up to 2^53 - 1; its text is kept as it came, so that
 * `"1"` and `1` stay two ids. Everything read is borrowed from the tree. */
#pragma once
#include "json/node.h"

#define IL_RPC_PARSE (-32700)
#define IL_RPC_INVALID (-32600)
#define IL_RPC_NO_METHOD (-32601)
#define IL_RPC_PARAMS (-32602)
#define IL_RPC_INTERNAL (-32603)

#define IL_RPC_ID_BYTES 256 /* of a string id or progress token */

typedef struct il_rpc_id {
    bool present, string;
    il_str text; /* decoded string, or the integer's digits */
} il_rpc_id;

typedef enum il_rpc_kind { IL_RPC_BAD = 0, IL_RPC_REQUEST, IL_RPC_NOTIFICATION, IL_RPC_RESULT, IL_RPC_ERROR } il_rpc_kind;

typedef struct il_rpc {
    il_rpc_kind kind;
    il_rpc_id id; /* also of a bad message when it could be read */
    bool asks;    /* has a `method`: its sender may wait for an answer */
    bool answers; /* has a `result` or an `error` */
    il_str method;
    const il_json *params; /* an object, or NULL */
    const il_json *result, *error;
} il_rpc;

/* Parses one line. Refuses what RFC 8259 allows and lines do not: a carriage return, at which some readers end a line (one before the LF is
 * the framer's business). IL_E_SYNTAX, IL_E_LIMIT, IL_E_MEMORY as il_json_parse. */
IL_NODISCARD il_status il_rpc_parse(il_arena *a, il_str line, const il_json_limits *limits, il_json **out, il_error *err);
/* Validates the envelope: `jsonrpc` is "2.0", no member that is not known, either a method or one of result and error, params an object,
 * error with an integer code and a string message. On failure out->kind is IL_RPC_BAD and out->id is there when it was readable. */
IL_NODISCARD il_status il_rpc_read(const il_json *message, il_rpc *out, il_error *err);
/* An id or progress token; false when it is neither a string nor an integer in range, or too long. */
bool il_rpc_id_read(const il_json *v, il_rpc_id *out);
bool il_rpc_id_eq(const il_rpc_id *a, const il_rpc_id *b);
/* What can be known of a message that could not be parsed, so that who waits for it need not hang: the only top-level member `id` when it is plain
 * (digits, or a string without escapes), and whether there is a top-level `method`, `result` or `error`. The kind is IL_RPC_BAD. Borrowed from
 * `line`. Never used for anything but to refuse or to fail. */
void il_rpc_salvage(il_str line, il_rpc *out);

/* Builders; NULL when the arena is out of memory. `params`, `result` and `data` may be part of another tree, and NULL for absent
 * (a NULL result is an empty object). */
il_json *il_rpc_id_node(il_arena *a, const il_rpc_id *id); /* null when not present */
il_json *il_rpc_request(il_arena *a, int64_t id, il_str method, const il_json *params);
il_json *il_rpc_notification(il_arena *a, il_str method, const il_json *params);
il_json *il_rpc_result(il_arena *a, const il_rpc_id *id, const il_json *result);
il_json *il_rpc_error(il_arena *a, const il_rpc_id *id, int64_t code, il_str message, const il_json *data);
/* The message as one line with its LF, at most max bytes; IL_E_MEMORY also for a NULL message. */
IL_NODISCARD il_status il_rpc_line(il_arena *a, const il_json *message, size_t max, il_str *out, il_error *err);
