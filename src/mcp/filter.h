/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken out of messages: `_meta` in both directions, tools with names that could be mistaken, capabilities that are not mediated.
 * Trees are never changed in place: each function builds from shared parts; NULL when the arena is out of memory. */
#pragma once
#include "mcp/mediate.h"
#include "mcp/version.h"
#include "net/rpc.h"

/* 1 to 128 of [A-Za-z0-9_.-]: a name with another character is refused, since cleaning would make two names one. */
bool il_tool_name_ok(il_str name);
/* 1 to 64 of [A-Za-z0-9_-]: no dot, so that `server.tool` has one reading. */
bool il_server_name_ok(il_str name);

/* Parameters without `_meta`. */
il_json *il_filter_params(il_arena *a, const il_json *params);
/* The same with `_meta: {"progressToken": token}`. */
il_json *il_filter_token(il_arena *a, const il_json *params, int64_t token);

/* A server's result without `_meta` at its top and on the items of its lists. `item` (may be NULL) is called with each item of a list and gives
 * what takes its place: the same, another, or NULL with *left_out set; NULL without it: out of memory. */
typedef const il_json *(*il_filter_item)(void *ctx, const il_json *item, bool *left_out);
il_json *il_filter_result(il_arena *a, il_message message, const il_json *result, il_filter_item item, void *ctx);
bool il_filter_lists(il_message message); /* whether its result is a listing */
/* Whether the items of a result are a list, or there are none: of anything else nothing can be taken out. */
bool il_filter_shape(il_message message, const il_json *result);
/* The items of a listing's result; NULL when it is no listing or has none. */
const il_json *il_filter_listed(il_message message, const il_json *result);

typedef struct il_features { /* what a client may be asked for */
    bool sampling, roots, roots_changed, elicitation;
} il_features;
/* What a client declares in its capabilities. */
il_features il_features_of(const il_json *capabilities);
il_json *il_features_node(il_arena *a, const il_features *f);

/* The capabilities of a server that the gateway serves. */
il_json *il_filter_capabilities(il_arena *a, const il_json *capabilities);
/* serverInfo: name, title, version and description; icons and links would make the client fetch. Clients show these to the model, and nothing
 * has judged them: of an outside server only a name and a version that are one short word each; else `name`, which is ours for it, and `0`. */
il_json *il_filter_server_info(il_arena *a, const il_json *info, bool inside, il_str name);
