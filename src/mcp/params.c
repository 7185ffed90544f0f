/* SPDX-License-Identifier: Apache-2.0 */
/* What the parameters of a client's request may be. What is not judged is not forwarded, so each method has its members and no others. */
#include "base/error.h"
#include "mcp/wire.h"

#define PARAMS_NAME_SHOWN 64

static bool params_refuse(il_wire *w, const il_rpc *rpc, const char *text) {
    il_wire_refuse(w, &rpc->id, IL_RPC_PARAMS, text);
    return false;
}

/* Nothing but these members (and `_meta`). */
static bool params_only(il_wire *w, const il_rpc *rpc, const il_str *keys, size_t n) {
    for (const il_json *m = il_json_first(rpc->params); m != NULL; m = il_json_next(m)) {
        bool known = il_str_eq(il_json_key(m), IL_STR("_meta"));
        for (size_t i = 0; i < n && !known; i++) {
            known = il_str_eq(il_json_key(m), keys[i]);
        }
        if (!known) {
            char text[160];
            (void)il_format(text, sizeof text, "parameter `%.*s` of `%.*s` is not known",
                            IL_STR_ARG(il_str_part(il_json_key(m), 0, PARAMS_NAME_SHOWN)),
                            IL_STR_ARG(il_str_part(rpc->method, 0, 32)));
            return params_refuse(w, rpc, text);
        }
    }
    return true;
}

static bool params_string(const il_json *object, il_str key) {
    return il_json_kind_of(il_json_get(object, key)) == IL_JSON_STRING;
}

/* A name that does not exist and one that is hidden get the same answer, so that nothing is learned from it. */
static bool params_unknown(il_wire *w, const il_rpc *rpc, const char *what, il_str name) {
    char text[96];
    (void)il_format(text, sizeof text, "Unknown %s: %.*s", what, IL_STR_ARG(il_str_part(name, 0, PARAMS_NAME_SHOWN)));
    return params_refuse(w, rpc, text);
}

/* --- keys that are more than keys in JavaScript --- */

/* Code that merges objects reaches what all objects share by `__proto__`, or by `constructor` and in it `prototype`. Each of the latter alone is a
 * word like another: of buildings, of races. */
static bool params_prototype_key(const il_json *m, bool any) {
    const il_str key = il_json_key(m);
    const bool constructor = il_str_eq(key, IL_STR("constructor"));
    return il_str_eq(key, IL_STR("__proto__")) || (any && (constructor || il_str_eq(key, IL_STR("prototype")))) ||
           (constructor && il_json_get(m, IL_STR("prototype")) != NULL);
}

/* The first such key at or below v; empty when there is none. `depth` bounds the recursion, as the reader's limit bounds the message. */
static il_str params_prototype(const il_json *v, bool any, unsigned depth) {
    for (const il_json *m = il_json_first(v); m != NULL; m = il_json_next(m)) {
        if (params_prototype_key(m, any)) {
            return il_json_key(m);
        }
        const il_str below = depth > 0 && il_json_first(m) != NULL ? params_prototype(m, any, depth - 1) : (il_str){0};
        if (below.n > 0) {
            return below;
        }
    }
    return (il_str){0};
}

il_str il_wire_prototype(const il_wire *w, const il_json *v) {
    return w->prototypes == IL_PROTOTYPES_ALLOW ? (il_str){0}
                                                : params_prototype(v, w->prototypes == IL_PROTOTYPES_REFUSE, IL_WIRE_DEPTH);
}

static bool params_prototypes(il_wire *w, const il_rpc *rpc) {
    const il_str key = il_wire_prototype(w, rpc->params);
    if (key.n == 0) {
        return true;
    }
    char text[224];
    (void)il_format(
        text, sizeof text,
        "the key `%.*s` is refused: servers on JavaScript may take it for more than data; if this one must get it, its policy "
        "says `prototype_keys: allow`",
        IL_STR_ARG(key));
    return params_refuse(w, rpc, text);
}

/* --- each method --- */

static bool params_call(il_wire *w, const il_rpc *rpc) {
    static const il_str keys[] = {{"name", 4}, {"arguments", 9}};
    const il_json *arguments = il_json_get(rpc->params, keys[1]);
    if (il_json_get(rpc->params, IL_STR("task")) != NULL) {
        return params_refuse(w, rpc, "tasks are not offered; call the tool without `task`");
    }
    if (!params_string(rpc->params, keys[0]) || (arguments != NULL && il_json_kind_of(arguments) != IL_JSON_OBJECT)) {
        return params_refuse(w, rpc, "`name` must be a string and `arguments` an object");
    }
    if (!params_only(w, rpc, keys, sizeof keys / sizeof *keys)) {
        return false;
    }
    const il_str name = il_json_text(il_json_get(rpc->params, keys[0]));
    return il_wire_tool_callable(w, name) || params_unknown(w, rpc, "tool", name);
}

static bool params_list(il_wire *w, const il_rpc *rpc, il_message message) {
    static const il_str keys[] = {{"cursor", 6}};
    const il_json *cursor = il_json_get(rpc->params, keys[0]);
    if (!params_only(w, rpc, keys, 1)) {
        return false;
    }
    if (cursor != NULL &&
        (il_json_kind_of(cursor) != IL_JSON_STRING || !il_seen_has(il_wire_cursors(w, message), il_json_text(cursor)))) {
        return params_refuse(w, rpc, "unknown cursor; list again from the start");
    }
    return true;
}

static bool params_level(il_wire *w, const il_rpc *rpc) {
    static const il_str keys[] = {{"level", 5}};
    static const il_str levels[] = {{"debug", 5}, {"info", 4},     {"notice", 6}, {"warning", 7},
                                    {"error", 5}, {"critical", 8}, {"alert", 5},  {"emergency", 9}};
    if (!params_only(w, rpc, keys, 1)) {
        return false;
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (params_string(rpc->params, keys[0]) && il_str_eq(il_json_text(il_json_get(rpc->params, keys[0])), levels[i])) {
            return true;
        }
    }
    return params_refuse(w, rpc, "`level` is none of the eight log levels");
}

static bool params_uri(il_wire *w, const il_rpc *rpc, bool kept) {
    static const il_str keys[] = {{"uri", 3}};
    if (!params_string(rpc->params, keys[0])) {
        return params_refuse(w, rpc, "`uri` must be a string");
    }
    if (kept && il_json_text(il_json_get(rpc->params, keys[0])).n > IL_WIRE_KEPT_MAX) {
        return params_refuse(w, rpc, "`uri` is longer than 65536 bytes");
    }
    return params_only(w, rpc, keys, 1);
}

/* The schema has texts only in a prompt's arguments and in a completion's context. */
static bool params_texts(const il_json *arguments) {
    bool fine = arguments == NULL || il_json_kind_of(arguments) == IL_JSON_OBJECT;
    for (const il_json *m = il_json_first(arguments); m != NULL && fine; m = il_json_next(m)) {
        fine = il_json_kind_of(m) == IL_JSON_STRING;
    }
    return fine;
}

static bool params_prompt(il_wire *w, const il_rpc *rpc) {
    static const il_str keys[] = {{"name", 4}, {"arguments", 9}};
    if (!params_string(rpc->params, keys[0]) || !params_texts(il_json_get(rpc->params, keys[1]))) {
        return params_refuse(w, rpc, "`name` must be a string and `arguments` an object of strings");
    }
    if (!params_only(w, rpc, keys, sizeof keys / sizeof *keys)) {
        return false;
    }
    const il_str name = il_json_text(il_json_get(rpc->params, keys[0]));
    return il_wire_prompt_callable(w, name) || params_unknown(w, rpc, "prompt", name);
}

static bool params_complete(il_wire *w, const il_rpc *rpc) {
    static const il_str keys[] = {{"ref", 3}, {"argument", 8}, {"context", 7}};
    static const il_str ref_keys[] = {{"type", 4}, {"name", 4}, {"uri", 3}, {"title", 5}},
                        argument_keys[] = {{"name", 4}, {"value", 5}}, context_keys[] = {{"arguments", 9}};
    const il_json *ref = il_json_get(rpc->params, keys[0]), *argument = il_json_get(rpc->params, keys[1]),
                  *context = il_json_get(rpc->params, keys[2]);
    const il_str type = il_json_text(il_json_get(ref, IL_STR("type")));
    const bool prompt = il_str_eq(type, IL_STR("ref/prompt")), resource = il_str_eq(type, IL_STR("ref/resource"));
    const bool shape = il_json_only(ref, ref_keys, sizeof ref_keys / sizeof *ref_keys, "`ref`", NULL) == IL_OK &&
                       ((prompt && params_string(ref, IL_STR("name"))) || (resource && params_string(ref, IL_STR("uri")))) &&
                       il_json_only(argument, argument_keys, 2, "`argument`", NULL) == IL_OK &&
                       params_string(argument, argument_keys[0]) && params_string(argument, argument_keys[1]) &&
                       (context == NULL || (il_json_only(context, context_keys, 1, "`context`", NULL) == IL_OK &&
                                            params_texts(il_json_get(context, context_keys[0]))));
    if (!shape) {
        return params_refuse(w, rpc,
                             "`ref` must name a prompt or a resource, `argument` be a name and a value, `context` hold texts");
    }
    if (!params_only(w, rpc, keys, sizeof keys / sizeof *keys)) {
        return false;
    }
    const il_str name = il_json_text(il_json_get(ref, IL_STR("name")));
    return resource || il_wire_prompt_callable(w, name) || params_unknown(w, rpc, "prompt", name);
}

static bool params_of(il_wire *w, const il_rpc *rpc, const il_mediation *m) {
    if (m->treat == IL_TREAT_LIST) {
        return params_list(w, rpc, m->message);
    }
    if (m->message == IL_MSG_TOOLS_CALL) {
        return params_call(w, rpc);
    }
    if (m->message == IL_MSG_SET_LEVEL) {
        return params_level(w, rpc);
    }
    if (m->message == IL_MSG_RESOURCES_READ || m->message == IL_MSG_SUBSCRIBE || m->message == IL_MSG_UNSUBSCRIBE) {
        return params_uri(w, rpc, m->message != IL_MSG_RESOURCES_READ);
    }
    if (m->message == IL_MSG_PROMPTS_GET) {
        return params_prompt(w, rpc);
    }
    if (m->message == IL_MSG_COMPLETE) {
        return params_complete(w, rpc);
    }
    return params_refuse(w, rpc, "these parameters are not known"); /* no method comes here */
}

bool il_wire_params(il_wire *w, const il_rpc *rpc, const il_mediation *m) {
    return params_prototypes(w, rpc) && params_of(w, rpc, m);
}

bool il_wire_token(il_wire *w, const il_rpc *rpc, il_rpc_id *token) {
    *token = (il_rpc_id){0};
    const il_json *meta = il_json_get(rpc->params, IL_STR("_meta"));
    if (meta != NULL && il_json_kind_of(meta) != IL_JSON_OBJECT) {
        return params_refuse(w, rpc, "`_meta` must be an object");
    }
    const il_json *value = il_json_get(meta, IL_STR("progressToken"));
    return value == NULL || il_rpc_id_read(value, token) ||
           params_refuse(w, rpc, "`progressToken` must be a string or an integer");
}
