/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tool.h"

#include "interlock/policy.h"
#include "policy/words.h"

#define IL_TOOL_ARGUMENTS_MAX 128u

static il_status il_tool_match(const il_json *match, il_arena *arena, il_tool *out, il_error *err) {
    bool list = il_json_kind_of(match) == IL_JSON_ARRAY;
    size_t n = list ? il_json_count(match) : 1;
    if (n == 0) {
        return IL_JSON_FAIL(match, err, IL_E_INVALID, "`match` is empty");
    }
    out->globs = IL_NEW_ARRAY(arena, il_glob, n);
    if (out->globs == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *v = list ? il_json_first(match) : match; v != NULL; v = list ? il_json_next(v) : NULL) {
        if (il_json_kind_of(v) != IL_JSON_STRING) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "`match` is a tool's name or pattern, or a list of them");
        }
        il_error why = {0};
        il_status s = il_glob_new(il_json_text(v), arena, &out->globs[out->nglobs++], &why);
        if (s != IL_OK) {
            return IL_JSON_FAIL(v, err, s, "%s", why.msg);
        }
    }
    return IL_OK;
}

static il_status il_tool_effects(const il_json *effects, il_tool *out, il_error *err) {
    if (il_json_kind_of(effects) != IL_JSON_OBJECT) {
        return il_words_effects(effects, (1u << IL_EFFECTS) - 1, "`effects`", &out->effects, err);
    }
    static const char *const words[IL_EFFECTS] = {"untrusted", "sensitive", "secret", "egress", "commit"};
    il_str keys[IL_EFFECTS];
    for (size_t i = 0; i < IL_EFFECTS; i++) {
        keys[i] = il_str_of(words[i]);
    }
    IL_TRY(il_json_only(effects, keys, IL_EFFECTS, "`effects`", err));
    for (const il_json *v = il_json_first(effects); v != NULL; v = il_json_next(v)) {
        const bool condition = il_json_kind_of(v) == IL_JSON_STRING; /* compiled when the whole entry is known: effect.h */
        if (!condition && il_json_kind_of(v) != IL_JSON_BOOL) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is true, false or a condition such as `!ours(\"repo\", args.repo)`",
                                IL_STR_ARG(il_json_key(v)));
        }
        for (uint32_t i = 0; i < IL_EFFECTS; i++) {
            if ((condition || il_json_bool(v)) && il_str_eq(il_json_key(v), keys[i])) {
                out->effects |= 1u << i;
            }
        }
    }
    return IL_OK;
}

static il_status il_tool_argument(il_tool *out, il_argument a, const il_json *at, il_error *err) {
    for (uint32_t i = 0; i < out->narguments; i++) {
        const il_argument *b = &out->arguments[i];
        bool same = il_arg_path_eq(&a.path, &b->path);
        /* an argument may be destination and object, or part of several templates; otherwise it has one meaning */
        bool allowed = a.role != b->role && a.role <= IL_ROLE_OBJECT && b->role <= IL_ROLE_OBJECT && a.kind == b->kind;
        if (same && a.role == IL_ROLE_PART && b->role == IL_ROLE_PART) {
            return IL_OK;
        }
        if ((same && !allowed) || il_arg_path_above(&a.path, &b->path) || il_arg_path_above(&b->path, &a.path)) {
            return IL_JSON_FAIL(at, err, IL_E_INVALID, "argument `%.*s` is declared twice in this entry",
                                IL_STR_ARG(a.path.text));
        }
    }
    if (out->narguments == IL_TOOL_ARGUMENTS_MAX) {
        return IL_JSON_FAIL(at, err, IL_E_LIMIT, "more than %u declared arguments", IL_TOOL_ARGUMENTS_MAX);
    }
    out->arguments[out->narguments++] = a;
    return IL_OK;
}

static il_status il_tool_one(il_tool *out, il_role role, il_kind kind, const il_json *v, il_arena *arena, il_error *err) {
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "an argument is named by a text, such as `to` or `items[*].url`");
    }
    il_str text = il_json_text(v);
    il_error why = {0};
    il_status s = IL_OK;
    if (text.n > 0 && text.p[0] == '$') {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s`: remembered values are not supported yet", IL_STR_ARG(text));
    }
    if (!il_template_is(text)) {
        il_argument a = {.role = role, .kind = kind};
        s = il_arg_path_new(text, arena, &a.path, &why);
        return s != IL_OK ? IL_JSON_FAIL(v, err, s, "%s", why.msg) : il_tool_argument(out, a, v, err);
    }
    if (role != IL_ROLE_TO && role != IL_ROLE_OBJECT) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a template makes a destination or an object; name the arguments here");
    }
    il_built *b = &out->built[out->nbuilt];
    *b = (il_built){.role = role, .kind = kind};
    s = il_template_new(text, arena, &b->form, &why);
    if (s != IL_OK) {
        return IL_JSON_FAIL(v, err, s, "%s", why.msg);
    }
    out->nbuilt++;
    for (uint32_t i = 0; i < b->form.n; i++) {
        if (b->form.parts[i].path != NULL) {
            IL_TRY(
                il_tool_argument(out, (il_argument){.role = IL_ROLE_PART, .kind = kind, .path = *b->form.parts[i].path}, v, err));
        }
    }
    return IL_OK;
}

/* One text or a list of texts. */
static il_status il_tool_several(il_tool *out, il_role role, il_kind kind, const il_json *v, il_arena *arena, il_error *err) {
    if (il_json_kind_of(v) != IL_JSON_ARRAY) {
        return il_tool_one(out, role, kind, v, arena, err);
    }
    if (il_json_count(v) == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is empty; leave it out", IL_STR_ARG(il_json_key(v)));
    }
    for (const il_json *item = il_json_first(v); item != NULL; item = il_json_next(item)) {
        IL_TRY(il_tool_one(out, role, kind, item, arena, err));
    }
    return IL_OK;
}

static il_status il_tool_kinds(il_tool *out, il_role role, const il_json *map, il_arena *arena, il_error *err) {
    if (map == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(map) != IL_JSON_OBJECT || il_json_count(map) == 0) {
        return IL_JSON_FAIL(map, err, IL_E_INVALID, "`%.*s` maps a kind to the arguments that name one, such as { email: to }",
                            IL_STR_ARG(il_json_key(map)));
    }
    for (const il_json *v = il_json_first(map); v != NULL; v = il_json_next(v)) {
        il_kind kind = IL_KIND_NAME;
        if (!il_kind_find(il_json_key(v), &kind)) {
            return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                               "unknown kind `%.*s`; known are email, host, url, repo, channel, path, account and name",
                               IL_STR_ARG(v->key));
        }
        IL_TRY(il_tool_several(out, role, kind, v, arena, err));
    }
    return IL_OK;
}

/* Kinds of the entry's own: `{ repo: "{owner}/{repo}" }`. */
static il_status il_tool_own(il_tool *out, const il_json *map, il_arena *arena, il_error *err) {
    if (map == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(map) != IL_JSON_OBJECT || il_json_count(map) == 0) {
        return IL_JSON_FAIL(map, err, IL_E_INVALID, "`kinds` maps a name to what it is built from, such as { repo: \"{owner}/{repo}\" }");
    }
    out->kinds = IL_NEW_ARRAY(arena, il_own_kind, il_json_count(map));
    if (out->kinds == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *v = il_json_first(map); v != NULL; v = il_json_next(v)) {
        il_own_kind *kind = &out->kinds[out->nkinds++];
        il_error why = {0};
        if (il_json_kind_of(v) != IL_JSON_STRING) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "what a kind is built from is a text, such as \"{owner}/{repo}\"");
        }
        IL_TRY(il_arena_copy(arena, il_json_key(v), &kind->name, err));
        const il_status s = il_template_new(il_json_text(v), arena, &kind->form, &why);
        if (s != IL_OK) {
            return IL_JSON_FAIL(v, err, s, "%s", why.msg);
        }
    }
    return IL_OK;
}

/* `sql: query`: the argument that holds a statement. */
static il_status il_tool_statement(il_tool *out, const il_json *v, il_arena *arena, const il_arg_path **path, il_error *err) {
    if (v == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(v) == IL_JSON_STRING && il_template_is(il_json_text(v))) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` names the argument that holds the text", IL_STR_ARG(il_json_key(v)));
    }
    IL_TRY(il_tool_one(out, IL_ROLE_PLAIN, IL_KIND_NAME, v, arena, err));
    *path = &out->arguments[out->narguments - 1].path;
    return IL_OK;
}

static il_status il_tool_word(const il_json *v, const char *no, const char *yes, bool *out, il_error *err) {
    if (v == NULL) {
        return IL_OK;
    }
    il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    *out = il_str_eq(text, il_str_of(yes));
    if (!*out && !il_str_eq(text, il_str_of(no))) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is `%s` or `%s`", IL_STR_ARG(il_json_key(v)), no, yes);
    }
    return IL_OK;
}

/* Room for what one section can name at most: its texts, and every place of its templates. */
static size_t il_tool_room(const il_json *section, unsigned depth) {
    il_str text = il_json_text(section);
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++) {
        n += text.p[i] == '{' ? 1u : 0u;
    }
    for (const il_json *v = depth > 0 ? il_json_first(section) : NULL; v != NULL; v = il_json_next(v)) {
        n += il_tool_room(v, depth - 1);
    }
    return n;
}

static il_status il_tool_meaning(const il_json *entry, il_arena *arena, il_tool *out, il_error *err) {
    il_json *rest = il_json_shallow(arena, entry);
    if (rest == NULL || !il_json_remove(rest, IL_STR("match"))) {
        return il_arena_fail(arena, err);
    }
    return il_json_digest(rest, NULL, out->meaning, err);
}

il_status il_tool_load(const il_json *entry, il_arena *arena, il_tool *out, il_error *err) {
    static const char *const known[] = {"match", "effects",  "to",    "object", "reads", "plain",
                                        "sink",  "audience", "kinds", "sql",    "shell"};
    static const char *const later[] = {"result", "stores", "remember", "child"};
    il_str keys[11], not_yet[4];
    for (size_t i = 0; i < 11; i++) {
        keys[i] = il_str_of(known[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        not_yet[i] = il_str_of(later[i]);
    }
    *out = (il_tool){.line = il_json_line(entry), .col = il_json_col(entry)};
    IL_TRY(il_words_not_yet(entry, not_yet, 4, err));
    IL_TRY(il_json_only(entry, keys, 11, "an entry of `tools`", err));
    const il_json *match = il_json_get(entry, IL_STR("match")), *effects = il_json_get(entry, IL_STR("effects"));
    if (match == NULL || effects == NULL) {
        return IL_JSON_FAIL(entry, err, IL_E_INVALID, "an entry of `tools` needs `%s`", match == NULL ? "match" : "effects");
    }
    const il_json *to = il_json_get(entry, IL_STR("to")), *object = il_json_get(entry, IL_STR("object"));
    const il_json *reads = il_json_get(entry, IL_STR("reads")), *plain = il_json_get(entry, IL_STR("plain"));
    const il_json *sql = il_json_get(entry, IL_STR("sql")), *shell = il_json_get(entry, IL_STR("shell"));
    size_t room = il_tool_room(sql, 0) + il_tool_room(shell, 0) + il_tool_room(to, 2) + il_tool_room(object, 2) + il_tool_room(reads, 1) + il_tool_room(plain, 1);
    out->arguments = IL_NEW_ARRAY(arena, il_argument, room < IL_TOOL_ARGUMENTS_MAX ? room : IL_TOOL_ARGUMENTS_MAX);
    out->built = IL_NEW_ARRAY(arena, il_built, il_tool_room(to, 2) + il_tool_room(object, 2));
    if (out->arguments == NULL || out->built == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_tool_match(match, arena, out, err));
    IL_TRY(il_tool_effects(effects, out, err));
    out->said = out->effects;
    if ((out->effects & (uint32_t)IL_SECRET) != 0) {
        out->effects |= (uint32_t)IL_SENSITIVE;
    }
    IL_TRY(il_tool_kinds(out, IL_ROLE_TO, to, arena, err));
    IL_TRY(il_tool_kinds(out, IL_ROLE_OBJECT, object, arena, err));
    if (reads != NULL) {
        IL_TRY(il_tool_several(out, IL_ROLE_READS, IL_KIND_NAME, reads, arena, err));
    }
    if (plain != NULL) {
        IL_TRY(il_tool_several(out, IL_ROLE_PLAIN, IL_KIND_NAME, plain, arena, err));
    }
    IL_TRY(il_tool_statement(out, sql, arena, &out->sql, err));
    IL_TRY(il_tool_statement(out, shell, arena, &out->shell, err));
    IL_TRY(il_tool_own(out, il_json_get(entry, IL_STR("kinds")), arena, err));
    out->sink_said = il_json_get(entry, IL_STR("sink")) != NULL;
    IL_TRY(il_tool_word(il_json_get(entry, IL_STR("sink")), "standing", "once", &out->once, err));
    IL_TRY(il_tool_word(il_json_get(entry, IL_STR("audience")), "public", "addressed", &out->addressed, err));
    return il_tool_meaning(entry, arena, out, err);
}
