/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/result.h"

#include "policy/effect.h"
#include "policy/result_walk.h"

#define IL_ITEMS_DEPTH 64u       /* of what stands beside the items; what is deeper counts as a text */
#define IL_RESULT_DOCS_MAX 1024u /* texts of one result; those behind are not read as documents, but are free text */

/* One document of a result: JSON, or a text that is none. */
typedef struct il_result_doc {
    const il_json *json;
    il_str text;
} il_result_doc;

typedef struct il_result_parts {
    const il_json *structured; /* structuredContent, or a payload that is no text */
    uint32_t ntexts;
    il_result_doc *texts; /* of content items of type text */
    bool failed;          /* isError */
    bool others;          /* content that is no text: links, resources, pictures */
} il_result_parts;

/* A text that is JSON is read as JSON; *out stays NULL when it is none, or too much of it. */
static il_status il_result_json(il_str text, il_arena *arena, const il_json **out, il_error *err) {
    il_json *v = NULL;
    *out = NULL;
    const il_status s = text.n > 0 ? il_json_parse(arena, text, NULL, &v, NULL) : IL_E_SYNTAX;
    *out = s == IL_OK ? v : NULL;
    return s == IL_E_MEMORY ? il_error_set(err, s, "out of memory") : IL_OK;
}

static bool il_result_is(const il_json *part, const char *type) {
    return il_str_eq(il_json_text(il_json_get(part, IL_STR("type"))), il_str_of(type));
}

/* What an MCP CallToolResult is made of. All that is no structured content and no text is walked as free text by the caller. */
static il_status il_result_split(const il_json *result, il_arena *arena, il_result_parts *out, il_error *err) {
    const il_json *content = il_json_get(result, IL_STR("content"));
    out->structured = il_json_get(result, IL_STR("structuredContent"));
    out->failed = il_json_bool(il_json_get(result, IL_STR("isError")));
    out->texts = IL_NEW_ARRAY(arena, il_result_doc, IL_RESULT_DOCS_MAX);
    if (out->texts == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *c = il_json_first(content); c != NULL; c = il_json_next(c)) {
        if (out->ntexts < IL_RESULT_DOCS_MAX && il_result_is(c, "text") &&
            il_json_kind_of(il_json_get(c, IL_STR("text"))) == IL_JSON_STRING) {
            out->texts[out->ntexts++].text = il_json_text(il_json_get(c, IL_STR("text")));
        } else {
            out->others = true;
        }
    }
    return IL_OK;
}

/* Everything of a CallToolResult but the parts that were split off. Pictures and sounds are no text. */
static il_status il_result_others(const il_result_walk *w, const il_json *result, il_error *err) {
    uint32_t ntexts = 0;
    for (const il_json *m = il_json_first(result); m != NULL; m = il_json_next(m)) {
        const bool content = il_str_eq(il_json_key(m), IL_STR("content")) && il_json_kind_of(m) == IL_JSON_ARRAY;
        if (il_str_eq(il_json_key(m), IL_STR("structuredContent"))) {
            continue;
        }
        if (!content) {
            IL_TRY(il_result_free_below(w, m, err));
            continue;
        }
        for (const il_json *c = il_json_first(m); c != NULL; c = il_json_next(c)) {
            bool split = il_result_is(c, "text") && il_json_kind_of(il_json_get(c, IL_STR("text"))) == IL_JSON_STRING &&
                         ntexts < IL_RESULT_DOCS_MAX;
            const bool media = il_result_is(c, "image") || il_result_is(c, "audio");
            ntexts += split ? 1u : 0u;
            for (const il_json *field = il_json_first(c); field != NULL; field = il_json_next(field)) {
                const il_str key = il_json_key(field);
                const bool known = il_str_eq(key, IL_STR("type")) || (split && il_str_eq(key, IL_STR("text"))) ||
                                   (media && il_str_eq(key, IL_STR("data")));
                if (!known) {
                    IL_TRY(il_result_free_below(w, field, err));
                }
            }
        }
    }
    return IL_OK;
}

/* ---- items ------------------------------------------------------------------------------------------- */

/* Whether the path of the items leads somewhere, in every branch. */
static bool il_items_there(const il_json *v, const il_field_path *path, uint32_t step, uint32_t *items) {
    if (step == path->n) {
        *items += *items < UINT32_MAX ? 1u : 0u;
        return v != NULL;
    }
    const il_field_step *s = &path->steps[step];
    if (s->of == IL_STEP_KEY) {
        v = il_json_kind_of(v) == IL_JSON_OBJECT ? il_json_get(v, s->key) : NULL;
        return v != NULL && il_items_there(v, path, step + 1, items);
    }
    if (il_json_kind_of(v) != IL_JSON_ARRAY) {
        return false;
    }
    uint32_t index = 0;
    bool all = true, one = s->of == IL_STEP_EVERY;
    for (const il_json *c = il_json_first(v); c != NULL && all; c = il_json_next(c), index++) {
        if (s->of == IL_STEP_EVERY || s->index == index) {
            one = true;
            all = il_items_there(c, path, step + 1, items);
        }
    }
    return all && one;
}

/* Whether a text stands in it. */
static bool il_items_says(const il_json *v, unsigned depth) {
    if (depth == 0 || (il_json_kind_of(v) == IL_JSON_STRING && il_json_text(v).n > 0)) {
        return true;
    }
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        if (il_items_says(c, depth - 1)) {
            return true;
        }
    }
    return false;
}

/* Whether a text stands beside the items, where no condition on items looks. */
static bool il_items_beside(const il_json *v, const il_field_path *path, uint32_t step) {
    uint32_t index = 0;
    for (const il_json *c = step < path->n ? il_json_first(v) : NULL; c != NULL; c = il_json_next(c), index++) {
        const il_field_step *s = &path->steps[step];
        const bool on = s->of == IL_STEP_EVERY || (s->of == IL_STEP_INDEX && s->index == index) ||
                        (s->of == IL_STEP_KEY && il_str_eq(s->key, il_json_key(c)));
        if (on ? il_items_beside(c, path, step + 1) : il_items_says(c, IL_ITEMS_DEPTH)) {
            return true; /* depth: that of the path */
        }
    }
    return false;
}

/* The items in their order, `*n` of them so far; there is room. */
static void il_items_list(const il_json *v, const il_field_path *path, uint32_t step, const il_json **list, uint32_t *n) {
    if (step == path->n) {
        list[(*n)++] = v;
        return;
    }
    const il_field_step *s = &path->steps[step];
    uint32_t index = 0;
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c), index++) {
        if (s->of == IL_STEP_EVERY || (s->of == IL_STEP_INDEX && s->index == index) ||
            (s->of == IL_STEP_KEY && il_str_eq(s->key, il_json_key(c)))) {
            il_items_list(c, path, step + 1, list, n); /* depth: that of the path */
        }
    }
}

/* `effects`: of the items, from `*at` on; NULL: all have what the call has. */
static il_status il_items_walk(const il_result_walk *w, const il_json *v, uint32_t step, const uint32_t *effects, uint32_t *at,
                               il_error *err) {
    const il_field_path *path = &w->form->items;
    if (step == path->n) {
        const bool untrusted = w->untrusted && (effects == NULL || (effects[*at] & (uint32_t)IL_UNTRUSTED) != 0);
        (*at)++;
        return il_result_item(w, v, untrusted, err);
    }
    const il_field_step *s = &path->steps[step];
    uint32_t index = 0;
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c), index++) {
        const bool on = s->of == IL_STEP_EVERY || (s->of == IL_STEP_INDEX && s->index == index) ||
                        (s->of == IL_STEP_KEY && il_str_eq(s->key, il_json_key(c)));
        IL_TRY(il_result_free(w, il_json_key(c), err));
        IL_TRY(on ? il_items_walk(w, c, step + 1, effects, at, err) : il_result_free_below(w, c, err));
    }
    return IL_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static bool il_result_same(const il_json *a, const il_json *b) {
    uint8_t x[IL_DIGEST_BYTES], y[IL_DIGEST_BYTES];
    return a != NULL && b != NULL && il_json_digest(a, NULL, x, NULL) == IL_OK && il_json_digest(b, NULL, y, NULL) == IL_OK &&
           memcmp(x, y, IL_DIGEST_BYTES) == 0;
}

/* The documents that the form is about, and whether they are all as it says. Servers write structured content a second time as a text: that is no
 * text of its own. */
typedef struct il_result_reading {
    il_result_doc *docs;
    uint32_t ndocs;
    il_result_doc *rest; /* free */
    uint32_t nrest;
    bool readable;
    bool more; /* there is content beside the documents */
    uint32_t items;
    uint32_t *effects; /* of each item; NULL: those of the call */
} il_result_reading;

static il_status il_result_choose(const il_result_form *form, const il_result_parts *parts, il_arena *arena, il_result_reading *r,
                                  il_error *err) {
    const bool structured = form->from == IL_FROM_STRUCTURED || (form->from == IL_FROM_ANY && parts->structured != NULL);
    r->docs = IL_NEW_ARRAY(arena, il_result_doc, parts->ntexts + 1);
    r->rest = IL_NEW_ARRAY(arena, il_result_doc, parts->ntexts + 1);
    if (r->docs == NULL || r->rest == NULL) {
        return il_arena_fail(arena, err);
    }
    bool twice = false;
    for (uint32_t i = 0; i < parts->ntexts; i++) {
        il_result_doc doc = parts->texts[i];
        if (form->from != IL_FROM_TEXT && doc.json == NULL) {
            IL_TRY(il_result_json(doc.text, arena, &doc.json, err));
        }
        const bool same = il_result_same(doc.json, parts->structured);
        twice = twice || same;
        if (!structured) {
            r->docs[r->ndocs++] = doc;
        } else if (!same) {
            r->rest[r->nrest++] = doc;
        }
    }
    if (structured) {
        r->docs[r->ndocs++].json = parts->structured;
    } else if (parts->structured != NULL && !twice) {
        r->rest[r->nrest++].json = parts->structured;
    }
    r->readable = r->ndocs > 0;
    for (uint32_t i = 0; i < r->ndocs; i++) {
        if (form->from == IL_FROM_TEXT) {
            r->items++;
        } else {
            r->readable = r->docs[i].json != NULL && il_items_there(r->docs[i].json, &form->items, 0, &r->items) && r->readable;
        }
    }
    return IL_OK;
}

static il_status il_result_free_doc(const il_result_walk *w, const il_result_doc *doc, il_error *err) {
    return doc->text.p != NULL ? il_result_free(w, doc->text, err) : il_result_free_below(w, doc->json, err);
}

static il_status il_result_fields(const il_result_walk *w, const il_result_reading *r, il_error *err) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->ndocs; i++) {
        if (!r->readable) {
            IL_TRY(il_result_free_doc(w, &r->docs[i], err));
        } else if (w->form->from == IL_FROM_TEXT) {
            IL_TRY(il_result_head(w, r->docs[i].text, err));
        } else {
            IL_TRY(il_items_walk(w, r->docs[i].json, 0, r->effects, &at, err));
        }
    }
    for (uint32_t i = 0; i < r->nrest; i++) {
        IL_TRY(il_result_free_doc(w, &r->rest[i], err));
    }
    return IL_OK;
}

/* Whether conditions of the entry are asked of its items. */
static bool il_result_conditional(const il_tool *tool) {
    return tool != NULL && tool->when != NULL && tool->result != NULL && tool->result->from != IL_FROM_TEXT;
}

bool il_policy_reads_by_args(const il_policy *p, il_str tool) { return il_result_conditional(il_policy_entry(p, tool)); }

/* Which effects each item has, by the entry's conditions on items. Only what was read wholly as declared, and with nothing beside it, can lack one. */
static il_status il_result_effects(const il_policy *p, const il_result_call *call, const il_tool *tool, il_arena *arena,
                                   il_result_reading *r, uint32_t *absent, il_error *err) {
    const size_t dot = il_str_find(call->tool, IL_STR("."), 0);
    const il_label_call asked = {.server = dot != SIZE_MAX ? il_str_part(call->tool, 0, dot) : (il_str){0},
                                 .tool = dot != SIZE_MAX ? il_str_part(call->tool, dot + 1, call->tool.n) : call->tool,
                                 .args = call->args,
                                 .held = call->taints,
                                 .agent = call->agent};
    if (!il_result_conditional(tool) || !r->readable || r->more || call->args == NULL) {
        return IL_OK;
    }
    const il_json **items = IL_NEW_ARRAY(arena, const il_json *, r->items);
    r->effects = IL_NEW_ARRAY(arena, uint32_t, r->items);
    if (items == NULL || r->effects == NULL) {
        return il_arena_fail(arena, err);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->ndocs; i++) {
        if (il_items_beside(r->docs[i].json, &tool->result->items, 0)) {
            r->effects = NULL;
            return IL_OK;
        }
        il_items_list(r->docs[i].json, &tool->result->items, 0, items, &n);
    }
    return il_effects_items(p, tool, &asked, items, n, arena, r->effects, absent, err);
}

/* What stands behind the one line that begins so; lines that say different things say nothing. */
static il_str il_result_line(const il_result_parts *parts, il_str prefix) {
    il_str value = {0};
    for (uint32_t i = 0; i < parts->ntexts; i++) {
        const il_str t = parts->texts[i].text;
        for (size_t at = 0; at < t.n;) {
            size_t end = il_str_find(t, IL_STR("\n"), at);
            end = end == SIZE_MAX ? t.n : end;
            il_str line = il_str_part(t, at, end);
            at = end + 1;
            if (!il_str_starts(line, prefix)) {
                continue;
            }
            line = il_str_part(line, prefix.n, line.n);
            while (line.n > 0 && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == ' ')) {
                line.n--;
            }
            if (value.n > 0 && !il_str_eq(value, line)) {
                return (il_str){0};
            }
            value = line;
        }
    }
    return value;
}

static il_status il_result_names(const il_tool *t, const il_result_parts *parts, const il_json *root, bool done, il_episode *e,
                                 il_arena *arena, il_error *err) {
    for (uint32_t i = 0; i < t->nremember; i++) {
        const il_remember *r = &t->remember[i];
        il_str value = {0};
        if (done && r->line) {
            value = il_result_line(parts, r->prefix);
        } else if (done) {
            const il_json *from = root;
            for (uint32_t k = 0; k < parts->ntexts && from == NULL; k++) {
                IL_TRY(il_result_json(parts->texts[k].text, arena, &from, err));
            }
            const il_json *v = il_field_at(from, &r->path, NULL, 0);
            value = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
        }
        IL_TRY(il_episode_remember(e, r->name, value, err));
    }
    return IL_OK;
}

/* The parts of what came: of a payload as it is, or of what MCP wraps around one. */
static il_status il_result_take(const il_result_call *call, const il_tool *tool, il_arena *arena, il_result_parts *parts,
                                il_error *err) {
    if (!call->bare || call->result == NULL) {
        return il_result_split(call->result, arena, parts, err);
    }
    const bool text = il_json_kind_of(call->result) == IL_JSON_STRING;
    if (!text && (tool == NULL || tool->result == NULL || tool->result->from != IL_FROM_JSON)) {
        parts->structured = call->result;
        return IL_OK;
    }
    parts->ntexts = 1;
    parts->texts = IL_NEW(arena, il_result_doc);
    if (parts->texts == NULL) {
        return il_arena_fail(arena, err);
    }
    if (!text) { /* JSON in a text, which somebody has read already */
        parts->texts[0].json = call->result;
        return IL_OK;
    }
    parts->texts[0].text = il_json_text(call->result);
    if (tool != NULL && tool->result != NULL && tool->result->from == IL_FROM_STRUCTURED) {
        IL_TRY(il_result_json(parts->texts[0].text, arena, &parts->structured, err));
    }
    return IL_OK;
}

static il_status il_result_read(const il_policy *p, const il_result_call *call, const il_tool *tool, il_arena *arena,
                                il_result *out, il_error *err) {
    il_result_parts parts = {0};
    il_result_reading r = {.readable = true, .items = 1};
    il_result_doc whole = {0};
    IL_TRY(il_result_take(call, tool, arena, &parts, err));
    const bool done = call->done && !parts.failed && call->result != NULL;
    il_episode *e = NULL;
    IL_TRY(il_episode_new(arena, done ? IL_SOURCE_RESULT : IL_SOURCE_ERROR, call->ticket, call->taints, call->tool, call->agent,
                          &e, err));
    il_result_walk w = {.kinds = &p->kinds, .arena = arena, .episode = e, .blind = call->blind};
    w.texts = (p->remembers & (uint32_t)IL_REMEMBERS_TEXTS) != 0;
    w.facts = (p->remembers & (uint32_t)IL_REMEMBERS_FACTS) != 0;
    w.untrusted = (call->taints & (uint32_t)IL_UNTRUSTED) != 0;
    if (done && tool != NULL && tool->result != NULL) {
        w.form = tool->result;
        r = (il_result_reading){0};
        IL_TRY(il_result_choose(w.form, &parts, arena, &r, err));
        r.more = r.nrest > 0 || parts.others;
        IL_TRY(il_result_effects(p, call, tool, arena, &r, &out->absent, err));
    } else { /* all of it is free */
        whole.json = parts.structured;
        r.docs = parts.texts;
        r.ndocs = parts.ntexts;
        r.readable = false;
        r.rest = &whole;
        r.nrest = parts.structured != NULL ? 1 : 0;
    }
    if (w.texts || w.facts) {
        IL_TRY(il_result_fields(&w, &r, err));
        IL_TRY(il_result_free(&w, call->error, err));
        if (!call->bare) {
            IL_TRY(il_result_others(&w, call->result, err));
        }
    }
    if (tool != NULL) {
        IL_TRY(il_result_names(tool, &parts, parts.structured, done, e, arena, err));
    }
    out->readable = w.form == NULL || r.readable;
    out->items = w.form == NULL ? 1 : r.items;
    /* Interbolt's runs know only what was marked (il_past_counts): a call that brought nothing there is nothing to remember of, and a session may have a million of them */
    const bool told = !p->interbolt.on || (call->taints & (uint32_t)IL_UNTRUSTED) != 0 || (tool != NULL && tool->source.n > 0);
    out->episode = (w.texts && told) || !il_episode_empty(e) ? e : NULL;
    return IL_OK;
}

il_status il_policy_read(const il_policy *p, const il_result_call *call, il_arena *arena, il_result *out, il_error *err) {
    *out = (il_result){.readable = true, .items = 1};
    const il_tool *tool = il_policy_entry(p, call->tool);
    if (p->remembers == 0 && (tool == NULL || tool->when == NULL || tool->result == NULL)) {
        return IL_OK;
    }
    return il_result_read(p, call, tool, arena, out, err);
}

il_status il_policy_overhear(const il_policy *p, const il_overheard *heard, il_arena *arena, il_episode **out, il_error *err) {
    *out = NULL;
    if ((p->remembers & (uint32_t)IL_REMEMBERS_TEXTS) == 0) {
        return IL_OK;
    }
    IL_CHECK(heard->kind >= IL_SOURCE_ERROR, err);
    IL_TRY(il_episode_new(arena, heard->kind, heard->ticket, heard->taints, heard->name, heard->agent, out, err));
    const il_result_walk w = {
        .kinds = &p->kinds, .arena = arena, .episode = *out, .texts = true, .untrusted = !heard->trusted, .blind = heard->blind};
    return il_result_free_below(&w, heard->value, err);
}
