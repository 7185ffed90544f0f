/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/filter.h"

#define FILTER_NAME_MAX 128
#define FILTER_SERVER_MAX 64
#define FILTER_INFO_MAX 32

static bool filter_word(il_str name, size_t max, bool dot) {
    if (name.n == 0 || name.n > max) {
        return false;
    }
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
              (dot && c == '.'))) {
            return false;
        }
    }
    return true;
}

bool il_tool_name_ok(il_str name) { return filter_word(name, FILTER_NAME_MAX, true); }

bool il_server_name_ok(il_str name) { return filter_word(name, FILTER_SERVER_MAX, false); }

static const il_str filter_meta = {"_meta", 5};

/* --- members in disguise --- */

/* The next letter at *at without its case, as readers fold it that do not regard case: U+017F is an s to them, U+212A a k. */
static char filter_letter(il_str s, size_t *at) {
    const il_str rest = il_str_part(s, *at, s.n);
    if (il_str_starts(rest, IL_STR("\xc5\xbf"))) {
        *at += 2;
        return 's';
    }
    if (il_str_starts(rest, IL_STR("\xe2\x84\xaa"))) {
        *at += 3;
        return 'k';
    }
    const char c = s.p[(*at)++];
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool filter_same_letters(il_str a, il_str b) {
    size_t i = 0, k = 0;
    while (i < a.n && k < b.n) {
        if (filter_letter(a, &i) != filter_letter(b, &k)) {
            return false;
        }
    }
    return i == a.n && k == b.n;
}

/* Readers in Go and C# take `Name` for `name`, and of both the last. So it would be another member to them than to whoever looked at it here. */
static bool filter_disguised(il_str key) {
    static const il_str members[] = {{"_meta", 5},
                                     {"tools", 5},
                                     {"resources", 9},
                                     {"resourceTemplates", 17},
                                     {"prompts", 7},
                                     {"content", 7},
                                     {"contents", 8},
                                     {"messages", 8},
                                     {"completion", 10},
                                     {"nextCursor", 10},
                                     {"isError", 7},
                                     {"type", 4},
                                     {"structuredContent", 17},
                                     {"name", 4},
                                     {"title", 5},
                                     {"text", 4},
                                     {"description", 11},
                                     {"inputSchema", 11},
                                     {"outputSchema", 12},
                                     {"annotations", 11},
                                     {"execution", 9},
                                     {"arguments", 9},
                                     {"uri", 3},
                                     {"icons", 5},
                                     {"role", 4},
                                     {"uriTemplate", 11},
                                     {"mimeType", 8},
                                     {"size", 4},
                                     {"websiteUrl", 10},
                                     {"data", 4},
                                     {"blob", 4},
                                     {"resource", 8}};
    static const size_t n = sizeof members / sizeof *members;
    for (size_t i = 0; i < n; i++) {
        if (il_str_eq(key, members[i])) {
            return false; /* as nearly all are */
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (filter_same_letters(key, members[i])) {
            return true;
        }
    }
    return false;
}

/* Of an object that the protocol describes: what goes no further. */
static bool filter_dropped(il_str key) { return il_str_eq(key, filter_meta) || filter_disguised(key); }

/* At the top of a result 2026-07-28 has questions for the person, in place of requests. No revision here has them, so no rule looks at them. */
static bool filter_later(il_str key) {
    static const il_str later[] = {{"resultType", 10}, {"inputRequests", 13}, {"requestState", 12}};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (filter_same_letters(key, later[i])) {
            return true;
        }
    }
    return false;
}

/* A copy without these; anything but an object stays as it is. */
static il_json *filter_bare(il_arena *a, const il_json *v) {
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return il_json_shallow(a, v);
    }
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    for (const il_json *m = il_json_first(v); m != NULL; m = il_json_next(m)) {
        if (!filter_dropped(il_json_key(m)) && !il_json_set(out, il_json_key(m), il_json_shallow(a, m))) {
            return NULL;
        }
    }
    return out;
}

il_json *il_filter_params(il_arena *a, const il_json *params) {
    il_json *copy = params == NULL ? il_json_make(a, IL_JSON_OBJECT) : il_json_shallow(a, params);
    (void)il_json_remove(copy, filter_meta); /* no more than that: what is forwarded is what is judged */
    return copy;
}

il_json *il_filter_token(il_arena *a, const il_json *params, int64_t token) {
    il_json *copy = il_filter_params(a, params), *meta = il_json_make(a, IL_JSON_OBJECT);
    const bool fine =
        il_json_set(meta, IL_STR("progressToken"), il_json_number(a, token)) && il_json_set(copy, filter_meta, meta);
    return fine ? copy : NULL;
}

/* One item of a list: without `_meta`, and an embedded resource's or a prompt message's inner object without it too. */
static il_json *filter_item(il_arena *a, const il_json *item) {
    if (il_json_kind_of(item) != IL_JSON_OBJECT) {
        return il_json_shallow(a, item);
    }
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    for (const il_json *m = il_json_first(item); m != NULL; m = il_json_next(m)) {
        const il_str key = il_json_key(m);
        if (filter_dropped(key)) {
            continue;
        }
        const bool inner = il_str_eq(key, IL_STR("resource")) || il_str_eq(key, IL_STR("content"));
        il_json *copy = inner ? filter_bare(a, m) : il_json_shallow(a, m);
        if (inner && copy != NULL && il_json_get(copy, IL_STR("resource")) != NULL) { /* a prompt message's embedded resource */
            il_json *deeper = filter_bare(a, il_json_get(copy, IL_STR("resource")));
            (void)il_json_remove(copy, IL_STR("resource"));
            if (!il_json_set(copy, IL_STR("resource"), deeper)) {
                return NULL;
            }
        }
        if (!il_json_set(out, key, copy)) {
            return NULL;
        }
    }
    return out;
}

static il_json *filter_list(il_arena *a, const il_json *list, il_filter_item each, void *ctx) {
    il_json *out = il_json_make(a, IL_JSON_ARRAY);
    for (const il_json *item = il_json_first(list); item != NULL; item = il_json_next(item)) {
        bool left_out = false;
        const il_json *kept = each == NULL ? item : each(ctx, item, &left_out);
        if (left_out) {
            continue;
        }
        if (kept == NULL || !il_json_push(out, filter_item(a, kept))) {
            return NULL;
        }
    }
    return out;
}

/* The member that holds the items of a result; empty when it has none. */
static il_str filter_items(il_message message) {
    switch (message) {
    case IL_MSG_TOOLS_LIST:
        return IL_STR("tools");
    case IL_MSG_TOOLS_CALL:
        return IL_STR("content");
    case IL_MSG_RESOURCES_LIST:
        return IL_STR("resources");
    case IL_MSG_TEMPLATES_LIST:
        return IL_STR("resourceTemplates");
    case IL_MSG_RESOURCES_READ:
        return IL_STR("contents");
    case IL_MSG_PROMPTS_LIST:
        return IL_STR("prompts");
    case IL_MSG_PROMPTS_GET:
        return IL_STR("messages");
    case IL_MSG_NONE:
    case IL_MSG_INITIALIZE:
    case IL_MSG_INITIALIZED:
    case IL_MSG_PING:
    case IL_MSG_CANCELLED:
    case IL_MSG_PROGRESS:
    case IL_MSG_SET_LEVEL:
    case IL_MSG_LOG:
    case IL_MSG_TOOLS_CHANGED:
    case IL_MSG_SUBSCRIBE:
    case IL_MSG_UNSUBSCRIBE:
    case IL_MSG_RESOURCE_UPDATED:
    case IL_MSG_RESOURCES_CHANGED:
    case IL_MSG_PROMPTS_CHANGED:
    case IL_MSG_COMPLETE:
    case IL_MSG_SAMPLING:
    case IL_MSG_ROOTS_LIST:
    case IL_MSG_ROOTS_CHANGED:
    case IL_MSG_ELICIT:
        break;
    }
    return IL_STR("");
}

bool il_filter_lists(il_message message) {
    return message == IL_MSG_TOOLS_LIST || message == IL_MSG_RESOURCES_LIST || message == IL_MSG_TEMPLATES_LIST ||
           message == IL_MSG_PROMPTS_LIST;
}

bool il_filter_shape(il_message message, const il_json *result) {
    const il_json *items = il_json_get(result, filter_items(message));
    return items == NULL || il_json_kind_of(items) == IL_JSON_ARRAY;
}

const il_json *il_filter_listed(il_message message, const il_json *result) {
    return il_filter_lists(message) ? il_json_get(result, filter_items(message)) : NULL;
}

il_json *il_filter_result(il_arena *a, il_message message, const il_json *result, il_filter_item item, void *ctx) {
    const il_str items = filter_items(message);
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    for (const il_json *m = il_json_first(result); m != NULL; m = il_json_next(m)) {
        const il_str key = il_json_key(m);
        if (filter_dropped(key) || filter_later(key)) {
            continue;
        }
        il_json *copy = items.n > 0 && il_str_eq(key, items) && il_json_kind_of(m) == IL_JSON_ARRAY ? filter_list(a, m, item, ctx)
                                                                                                    : il_json_shallow(a, m);
        if (!il_json_set(out, key, copy)) {
            return NULL;
        }
    }
    return out;
}

/* --- capabilities --- */

static bool filter_object(const il_json *v) { return il_json_kind_of(v) == IL_JSON_OBJECT; }

il_features il_features_of(const il_json *capabilities) {
    const il_json *roots = il_json_get(capabilities, IL_STR("roots"));
    return (il_features){
        .sampling = filter_object(il_json_get(capabilities, IL_STR("sampling"))),
        .roots = filter_object(roots),
        .roots_changed = il_json_bool(il_json_get(roots, IL_STR("listChanged"))),
        .elicitation = filter_object(il_json_get(capabilities, IL_STR("elicitation"))),
    };
}

il_json *il_features_node(il_arena *a, const il_features *f) {
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    bool fine = true;
    if (f->roots) {
        il_json *roots = il_json_make(a, IL_JSON_OBJECT);
        fine = (!f->roots_changed || il_json_set(roots, IL_STR("listChanged"), il_json_boolean(a, true))) &&
               il_json_set(out, IL_STR("roots"), roots);
    }
    fine = fine && (!f->sampling || il_json_set(out, IL_STR("sampling"), il_json_make(a, IL_JSON_OBJECT)));
    fine = fine && (!f->elicitation || il_json_set(out, IL_STR("elicitation"), il_json_make(a, IL_JSON_OBJECT)));
    return fine && out != NULL ? out : NULL;
}

il_json *il_filter_capabilities(il_arena *a, const il_json *capabilities) {
    static const il_str known[] = {{"tools", 5}, {"resources", 9}, {"prompts", 7}, {"completions", 11}, {"logging", 7}};
    static const il_str flags[] = {{"listChanged", 11}, {"subscribe", 9}};
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    for (const il_json *m = il_json_first(capabilities); m != NULL; m = il_json_next(m)) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (!il_str_eq(il_json_key(m), known[i]) || il_json_kind_of(m) != IL_JSON_OBJECT) {
                continue;
            }
            il_json *one = il_json_make(a, IL_JSON_OBJECT);
            for (const il_json *flag = il_json_first(m); flag != NULL; flag = il_json_next(flag)) {
                if ((il_str_eq(il_json_key(flag), flags[0]) || il_str_eq(il_json_key(flag), flags[1])) &&
                    il_json_kind_of(flag) == IL_JSON_BOOL && !il_json_set(one, il_json_key(flag), il_json_shallow(a, flag))) {
                    return NULL;
                }
            }
            if (!il_json_set(out, known[i], one)) {
                return NULL;
            }
        }
    }
    return out;
}

static bool filter_info_word(il_arena *a, il_json *out, const il_json *info, il_str key, il_str otherwise) {
    const il_json *v = il_json_get(info, key);
    const bool word = il_json_kind_of(v) == IL_JSON_STRING && filter_word(il_json_text(v), FILTER_INFO_MAX, true);
    return il_json_set(out, key, word ? il_json_shallow(a, v) : il_json_string(a, otherwise));
}

il_json *il_filter_server_info(il_arena *a, const il_json *info, bool inside, il_str name) {
    static const il_str kept[] = {{"name", 4}, {"title", 5}, {"version", 7}, {"description", 11}};
    il_json *out = il_json_make(a, IL_JSON_OBJECT);
    if (!inside) {
        const bool fine = filter_info_word(a, out, info, kept[0], name) && filter_info_word(a, out, info, kept[2], IL_STR("0"));
        return fine ? out : NULL;
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const il_json *v = il_json_get(info, kept[i]);
        if (il_json_kind_of(v) == IL_JSON_STRING && !il_json_set(out, kept[i], il_json_shallow(a, v))) {
            return NULL;
        }
    }
    return out;
}
