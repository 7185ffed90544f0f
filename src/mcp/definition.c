/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/definition.h"

#include <string.h>

#include "base/hidden.h"
#include "base/utf8.h"
#include "mcp/filter.h"

#define DEFINITION_NEST 64 /* the reader's limit for the whole message */

bool il_definition_named(il_message message) { return message == IL_MSG_TOOLS_LIST || message == IL_MSG_PROMPTS_LIST; }

bool il_text_unseen(uint32_t c) { return c != '\n' && c != '\t' && (il_point_control(c) || il_point_hidden(c)); }

static bool definition_seen_whole(il_str s) {
    const unsigned char *p = (const unsigned char *)s.p;
    for (size_t i = 0, n; i < s.n; i += n) {
        n = il_utf8_length(p + i, s.n - i);
        if (n == 0 || il_text_unseen(il_utf8_point(p + i, n))) {
            return false;
        }
    }
    return true;
}

/* --- what is left out --- */

static bool definition_keys_seen(const il_json *v, unsigned depth) {
    for (const il_json *m = il_json_first(v); m != NULL; m = il_json_next(m)) {
        if (!definition_seen_whole(il_json_key(m)) || depth == 0 || !definition_keys_seen(m, depth - 1)) {
            return false;
        }
    }
    return true;
}

static const char *definition_schema_fault(const il_json *v, unsigned depth) {
    for (const il_json *m = il_json_first(v); m != NULL; m = il_json_next(m)) {
        const il_str key = il_json_key(m), text = il_json_text(m);
        if ((il_str_eq(key, IL_STR("$ref")) || il_str_eq(key, IL_STR("$dynamicRef"))) && il_json_kind_of(m) == IL_JSON_STRING &&
            text.n > 0 && text.p[0] != '#') {
            return "its schema refers to another document";
        }
        if (il_json_first(m) == NULL) {
            continue;
        }
        const char *below = depth == 0 ? "its schema is nested more than 32 deep" : definition_schema_fault(m, depth - 1);
        if (below != NULL) {
            return below;
        }
    }
    return NULL;
}

const char *il_definition_fault(il_message message, const il_json *item, bool inside) {
    const il_json *name = il_json_get(item, IL_STR("name"));
    if (il_definition_named(message) && (il_json_kind_of(name) != IL_JSON_STRING || !il_tool_name_ok(il_json_text(name)))) {
        return "a name is 1 to 128 of A-Z a-z 0-9 _ . -";
    }
    static const il_str schemas[] = {{"inputSchema", 11}, {"outputSchema", 12}};
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas && message == IL_MSG_TOOLS_LIST; i++) {
        const char *fault = definition_schema_fault(il_json_get(item, schemas[i]), IL_DEFINITION_DEPTH - 1);
        if (fault != NULL) {
            return fault;
        }
    }
    return inside || definition_keys_seen(item, DEFINITION_NEST) ? NULL : "one of its keys has characters that nobody sees";
}

/* --- what is cleaned --- */

bool il_text_clean(il_arena *a, il_str text, il_str *out, size_t *hidden) {
    *out = text;
    if (definition_seen_whole(text)) {
        return true;
    }
    char *to = il_arena_bytes(a, text.n);
    if (to == NULL) {
        return false;
    }
    const unsigned char *p = (const unsigned char *)text.p;
    size_t length = 0;
    for (size_t i = 0, n; i < text.n; i += n) {
        n = il_utf8_length(p + i, text.n - i);
        if (n == 0 || il_text_unseen(il_utf8_point(p + i, n))) {
            n = n == 0 ? 1 : n;
            ++*hidden;
        } else {
            memcpy(to + length, p + i, n);
            length += n;
        }
    }
    *out = (il_str){to, length};
    return true;
}

/* An image in the definition itself is not fetched; any other address tells its host who looks. */
static bool definition_icon_ok(const il_json *icon) {
    return il_str_starts(il_json_text(il_json_get(icon, IL_STR("src"))), IL_STR("data:image/"));
}

static il_json *definition_copy(il_arena *a, const il_json *v, unsigned depth, size_t *hidden) {
    const il_json_kind kind = il_json_kind_of(v);
    if (kind == IL_JSON_STRING) {
        il_str text;
        return il_text_clean(a, il_json_text(v), &text, hidden) ? il_json_string(a, text) : NULL;
    }
    if (kind != IL_JSON_ARRAY && kind != IL_JSON_OBJECT) {
        return il_json_shallow(a, v);
    }
    il_json *out = il_json_make(a, kind);
    for (const il_json *m = il_json_first(v); m != NULL && depth > 0; m = il_json_next(m)) {
        il_json *child = definition_copy(a, m, depth - 1, hidden);
        if (!(kind == IL_JSON_ARRAY ? il_json_push(out, child) : il_json_set(out, il_json_key(m), child))) {
            return NULL;
        }
    }
    return out;
}

il_json *il_definition_clean(il_arena *a, const il_json *item, size_t *hidden) {
    static const il_str icons_key = {"icons", 5};
    il_json *out = definition_copy(a, item, DEFINITION_NEST, hidden);
    if (out == NULL || il_json_kind_of(out) != IL_JSON_OBJECT) {
        return out;
    }
    (void)il_json_remove(out, IL_STR("websiteUrl"));
    const il_json *icons = il_json_get(item, icons_key);
    if (!il_json_remove(out, icons_key)) {
        return out;
    }
    il_json *kept = il_json_make(a, IL_JSON_ARRAY);
    for (const il_json *icon = il_json_first(icons); icon != NULL; icon = il_json_next(icon)) {
        if (definition_icon_ok(icon) && !il_json_push(kept, definition_copy(a, icon, DEFINITION_NEST, hidden))) {
            return NULL;
        }
    }
    return il_json_count(kept) == 0 || il_json_set(out, icons_key, kept) ? out : NULL;
}
