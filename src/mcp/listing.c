/* SPDX-License-Identifier: Apache-2.0 */
/* The results of listings: what is left out of them, and with it cannot be called. */
#include "base/error.h"
#include "mcp/definition.h"
#include "mcp/wire.h"
#include "policy/lookalike.h"

il_seen *il_wire_cursors(il_wire *w, il_message list) {
    return &w->cursors[list == IL_MSG_TOOLS_LIST ? 0 : list == IL_MSG_PROMPTS_LIST ? 1 : list == IL_MSG_RESOURCES_LIST ? 2 : 3];
}

typedef struct listing {
    il_wire *w;
    bool named; /* its names are called, so they are entered in the roster */
    il_roster *roster;
    il_message message;
    il_str cursor;
    size_t hidden, position;
    const bool *left_out; /* by position */
} listing;

typedef struct listing_key {
    char bytes[1 + IL_LOOKALIKE_BYTES];
    il_str text;
} listing_key;

/* Names that look alike have one key. A tool that the policy writes out is itself, whatever looks like it. */
static void listing_key_of(listing_key *k, il_naming naming, il_str name) {
    if (naming == IL_NAMING_EXACT) {
        k->bytes[0] = '=';
        memcpy(k->bytes + 1, name.p, name.n);
        k->text = (il_str){k->bytes, 1 + name.n};
    } else {
        k->text = (il_str){k->bytes, il_lookalike_skeleton(name, k->bytes)};
    }
}

static il_naming listing_naming(const il_wire *w, bool tool, il_str name, il_str *other) {
    return tool ? il_policy_naming(w->c.policy, w->c.name, name, other) : IL_NAMING_NONE;
}

static bool listing_callable(const il_wire *w, const il_roster *r, bool tool, il_str name) {
    if (!il_tool_name_ok(name)) {
        return false;
    }
    listing_key key;
    const il_naming naming = listing_naming(w, tool, name, NULL);
    listing_key_of(&key, naming, name);
    return naming != IL_NAMING_LOOKALIKE && !il_roster_refuses(r, key.text);
}

bool il_wire_tool_callable(const il_wire *w, il_str name) { return listing_callable(w, &w->tools, true, name); }

bool il_wire_prompt_callable(const il_wire *w, il_str name) { return listing_callable(w, &w->prompts, false, name); }

static void listing_warn(const listing *l, il_str name, const char *why) {
    if (!il_wire_may_note(l->w, &l->w->answers, "the server's answers")) {
        return;
    }
    il_log_write(l->w->c.log, IL_LOG_WARN, "%.*s: `%.*s` is left out of %s: %s", IL_STR_ARG(l->w->c.name),
                 IL_STR_ARG(il_str_part(name, 0, 160)),
                 l->message == IL_MSG_TOOLS_LIST     ? "tools/list"
                 : l->message == IL_MSG_PROMPTS_LIST ? "prompts/list"
                                                     : "a list",
                 why);
}

/* Enters one item; *out says whether it is left out for what it is. Clashes are known when all of the page are entered. */
static il_status listing_enter(listing *l, const il_json *item, bool *out, il_error *err) {
    const il_str name = il_json_text(il_json_get(item, IL_STR("name")));
    const char *fault = il_definition_fault(l->message, item, l->w->inside);
    *out = fault != NULL;
    if (!l->named || !il_tool_name_ok(name)) {
        if (fault != NULL) {
            listing_warn(l, name, fault);
        }
        return IL_OK;
    }
    char text[192];
    il_str other = {0};
    listing_key key;
    il_rostered how = IL_ROSTERED_NEW;
    const il_naming naming = listing_naming(l->w, l->message == IL_MSG_TOOLS_LIST, name, &other);
    listing_key_of(&key, naming, name);
    if (naming == IL_NAMING_LOOKALIKE) { /* refused by the policy alone, and in nobody's way */
        (void)il_format(text, sizeof text, "it can be taken for `%.*s`, which the policy names", IL_STR_ARG(other));
        listing_warn(l, name, text);
        *out = true;
        return IL_OK;
    }
    IL_TRY(il_roster_add(l->roster, l->cursor, key.text, name, &how, err));
    if (fault != NULL) {
        il_roster_refuse(l->roster, key.text);
        listing_warn(l, name, fault);
    } else if (how == IL_ROSTERED_AGAIN) {
        *out = true;
        listing_warn(l, name, "it is there twice; the first stays");
    } else if (how == IL_ROSTERED_CLASH) {
        listing_warn(l, name,
                     "it can be taken for another name of this list; both are refused unless the policy names one exactly");
    } else if (how == IL_ROSTERED_REFUSED) {
        *out = true;
        listing_warn(l, name, "it, or a name that it can be taken for, was refused before, and stays so until the gateway ends");
    } else if (how == IL_ROSTERED_FULL) {
        *out = true;
        listing_warn(l, name, "the list has too many names");
    }
    return IL_OK;
}

static const il_json *listing_item(void *ctx, const il_json *item, bool *left_out) {
    listing *l = ctx;
    const size_t at = l->position++;
    const il_str name = il_json_text(il_json_get(item, IL_STR("name")));
    *left_out = l->left_out[at];
    if (!*left_out && l->named) { /* a clash that came after it */
        listing_key key;
        listing_key_of(&key, listing_naming(l->w, l->message == IL_MSG_TOOLS_LIST, name, NULL), name);
        *left_out = il_roster_refuses(l->roster, key.text);
    }
    return *left_out || l->w->inside ? item : il_definition_clean(&l->w->arena, item, &l->hidden);
}

il_json *il_wire_listing(il_wire *w, const il_pending *e, const il_json *result) {
    const il_json *items = il_filter_listed(e->message, result);
    if (il_json_kind_of(items) != IL_JSON_ARRAY) {
        return il_filter_result(&w->arena, e->message, result, NULL, NULL);
    }
    bool *left_out = IL_NEW_ARRAY(&w->arena, bool, il_json_count(items) + 1);
    if (left_out == NULL) {
        return NULL;
    }
    listing l = {.w = w,
                 .named = il_definition_named(e->message),
                 .roster = e->message == IL_MSG_TOOLS_LIST ? &w->tools : &w->prompts,
                 .message = e->message,
                 .cursor = e->extra,
                 .left_out = left_out};
    if (l.named) {
        il_roster_page(l.roster, l.cursor);
    }
    size_t at = 0;
    for (const il_json *item = il_json_first(items); item != NULL; item = il_json_next(item)) {
        if (listing_enter(&l, item, &left_out[at++], NULL) != IL_OK) {
            return NULL;
        }
    }
    il_json *out = il_filter_result(&w->arena, e->message, result, listing_item, &l);
    if (l.hidden > 0 && il_wire_may_note(w, &w->answers, "the server's answers")) {
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: %zu characters that nobody sees were taken out of `%.*s`",
                     IL_STR_ARG(w->c.name), l.hidden, IL_STR_ARG(e->method));
    }
    return out;
}
