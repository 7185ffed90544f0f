/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tool.h"

#include "interlock/policy.h"
#include "policy/words.h"
#include "provenance/origin.h"

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
        if ((a.role == IL_ROLE_STORE) != (b->role == IL_ROLE_STORE)) {
            continue; /* what is written is said beside what it is otherwise */
        }
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

/* A destination or object that is built: from a template, from a kind of the entry's own, or from what was remembered. */
static il_status il_tool_built(il_tool *out, const il_built *built, const il_json *v, il_error *err) {
    out->built[out->nbuilt++] = *built;
    for (uint32_t i = 0; i < built->form.n; i++) {
        if (built->form.parts[i].path != NULL) {
            const il_argument part = {.role = IL_ROLE_PART, .kind = built->kind, .path = *built->form.parts[i].path};
            IL_TRY(il_tool_argument(out, part, v, err));
        }
    }
    return IL_OK;
}

static const il_own_kind *il_tool_own(const il_tool *t, il_str name) {
    for (uint32_t i = 0; i < t->nkinds; i++) {
        if (il_str_eq(t->kinds[i].name, name)) {
            return &t->kinds[i];
        }
    }
    return NULL;
}

static il_status il_tool_one(il_tool *out, il_role role, il_kind kind, const il_json *v, il_arena *arena, il_error *err) {
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "an argument is named by a text, such as `to` or `items[*].url`");
    }
    const bool target = role == IL_ROLE_TO || role == IL_ROLE_OBJECT;
    il_str text = il_json_text(v);
    il_error why = {0};
    il_status s = IL_OK;
    il_built built = {.role = role, .kind = kind};
    const il_own_kind *own = target ? il_tool_own(out, text) : NULL;
    if (own != NULL) {
        if (own->kind != kind) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is built as a value of its own kind (`kinds`), not of this one",
                                IL_STR_ARG(text));
        }
        built.form = own->form;
        return il_tool_built(out, &built, v, err);
    }
    if (role == IL_ROLE_STORE && text.n > 0 && text.p[0] == '=') {
        /* a place by itself: of a tool that says no key */
        s = il_kind_value(kind, il_str_part(text, 1, text.n), arena, &built.fixed, &why);
        return s != IL_OK ? IL_JSON_FAIL(v, err, s, "`%.*s`: %s", IL_STR_ARG(text), why.msg) : il_tool_built(out, &built, v, err);
    }
    if (text.n > 0 && text.p[0] == '$') {
        if (!target || text.n < 2) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID,
                                "a remembered value is a destination or an object; name the arguments here");
        }
        IL_TRY(il_arena_copy(arena, text, &built.form.text, err));
        built.remembered = il_str_part(built.form.text, 1, text.n);
        built.line = il_json_line(v);
        built.col = il_json_col(v);
        return il_tool_built(out, &built, v, err);
    }
    if (!il_template_is(text)) {
        il_argument a = {.role = role, .kind = kind};
        s = il_arg_path_new(text, arena, &a.path, &why);
        return s != IL_OK ? IL_JSON_FAIL(v, err, s, "%s", why.msg) : il_tool_argument(out, a, v, err);
    }
    if (!target) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a template makes a destination or an object; name the arguments here");
    }
    s = il_template_new(text, arena, &built.form, &why);
    return s != IL_OK ? IL_JSON_FAIL(v, err, s, "%s", why.msg) : il_tool_built(out, &built, v, err);
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

static il_status il_tool_kinds(il_tool *out, il_role role, const il_json *map, const il_tool_scope *scope, il_error *err) {
    if (map == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(map) != IL_JSON_OBJECT || il_json_count(map) == 0) {
        return IL_JSON_FAIL(map, err, IL_E_INVALID, "`%.*s` maps a kind to the arguments that name one, such as { email: to }",
                            IL_STR_ARG(il_json_key(map)));
    }
    for (const il_json *v = il_json_first(map); v != NULL; v = il_json_next(v)) {
        il_kind kind = IL_KIND_NAME;
        IL_TRY(il_kinds_take(scope->kinds, il_json_key(v), v, scope->arena, &kind, err));
        IL_TRY(il_tool_several(out, role, kind, v, scope->arena, err));
    }
    return IL_OK;
}

/* `to: user`, or kinds. */
static il_status il_tool_to(il_tool *out, const il_json *to, const il_tool_scope *scope, il_error *err) {
    out->to_user = il_json_kind_of(to) == IL_JSON_STRING && il_str_eq(il_json_text(to), IL_STR("user"));
    if (il_json_kind_of(to) == IL_JSON_STRING && !out->to_user) {
        return IL_JSON_FAIL(to, err, IL_E_INVALID, "`to` maps a kind to arguments, such as { email: %.*s }, or is `user`",
                            IL_STR_ARG(il_json_text(to)));
    }
    return out->to_user ? IL_OK : il_tool_kinds(out, IL_ROLE_TO, to, scope, err);
}

static il_status il_tool_own_load(const il_json *v, const il_tool_scope *scope, il_own_kind *out, il_error *err) {
    il_error why = {0};
    *out = (il_own_kind){0};
    IL_TRY(il_kinds_take(scope->kinds, il_json_key(v), v, scope->arena, &out->kind, err));
    out->name = il_kinds_word(scope->kinds, out->kind);
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "what a kind is built from is a text, such as \"{owner}/{repo}\"");
    }
    const il_status s = il_template_new(il_json_text(v), scope->arena, &out->form, &why);
    return s != IL_OK ? IL_JSON_FAIL(v, err, s, "%s", why.msg) : IL_OK;
}

il_status il_tool_own_check(const il_json *kinds, const il_tool_scope *scope, il_error *err) {
    if (il_json_kind_of(kinds) != IL_JSON_OBJECT || il_json_count(kinds) == 0) {
        return IL_JSON_FAIL(kinds, err, IL_E_INVALID,
                            "`kinds` maps a kind to what it is built from, such as { repo: \"{owner}/{repo}\" }");
    }
    for (const il_json *v = il_json_first(kinds); v != NULL; v = il_json_next(v)) {
        il_own_kind kind;
        IL_TRY(il_tool_own_load(v, scope, &kind, err));
    }
    return IL_OK;
}

/* The entry's `kinds`, and those of the document that it does not build itself. */
static il_status il_tool_own_kinds(il_tool *out, const il_json *kinds, const il_tool_scope *scope, il_error *err) {
    out->kinds = IL_NEW_ARRAY(scope->arena, il_own_kind, il_json_count(kinds) + il_json_count(scope->own));
    if (out->kinds == NULL) {
        return il_arena_fail(scope->arena, err);
    }
    if (kinds != NULL) {
        IL_TRY(il_tool_own_check(kinds, scope, err));
    }
    for (const il_json *v = il_json_first(kinds); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_tool_own_load(v, scope, &out->kinds[out->nkinds++], err));
    }
    for (const il_json *v = il_json_first(scope->own); v != NULL; v = il_json_next(v)) {
        if (il_tool_own(out, il_json_key(v)) == NULL) {
            IL_TRY(il_tool_own_load(v, scope, &out->kinds[out->nkinds++], err));
        }
    }
    return IL_OK;
}

static il_status il_tool_results(il_tool *out, const il_json *entry, const il_tool_scope *scope, il_error *err) {
    const il_json *result = il_json_get(entry, IL_STR("result")), *remember = il_json_get(entry, IL_STR("remember"));
    if (result != NULL) {
        il_result_form *form = IL_NEW(scope->arena, il_result_form);
        if (form == NULL) {
            return il_arena_fail(scope->arena, err);
        }
        IL_TRY(il_result_form_load(result, scope->kinds, scope->arena, form, err));
        out->result = form;
    }
    if (remember == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(remember) != IL_JSON_OBJECT || il_json_count(remember) == 0 || il_json_count(remember) > 16) {
        return IL_JSON_FAIL(
            remember, err, IL_E_INVALID,
            "`remember` maps up to 16 names to what they stand for, such as { page: 'result.first_line(\"- Page URL: \")' }");
    }
    out->remember = IL_NEW_ARRAY(scope->arena, il_remember, il_json_count(remember));
    if (out->remember == NULL) {
        return il_arena_fail(scope->arena, err);
    }
    for (const il_json *v = il_json_first(remember); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_remember_load(v, scope->arena, &out->remember[out->nremember++], err));
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

/* Where the entry came from: one of a preset gives way to the policy's own, and may name tools that this version of the server has not. */
static il_status il_tool_preset(il_tool *out, const il_json *v, il_arena *arena, il_error *err) {
    if (v == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(v) != IL_JSON_STRING || il_json_text(v).n == 0 || il_json_text(v).n > 128) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`preset` is the name of one, such as github@2");
    }
    return il_arena_copy(arena, il_json_text(v), &out->preset, err);
}

static il_status il_tool_source(il_tool *out, const il_json *v, il_arena *arena, il_error *err) {
    il_error why = {0};
    if (v == NULL) {
        return IL_OK;
    }
    const il_status s =
        il_origin_name_check(il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0}, "`source`", &why);
    return s == IL_OK ? il_arena_copy(arena, il_json_text(v), &out->source, err) : IL_JSON_FAIL(v, err, s, "%s", why.msg);
}

/* The entry without its names and where it came from. */
static il_status il_tool_meaning(const il_json *entry, il_arena *arena, il_tool *out, il_error *err) {
    il_json *rest = il_json_shallow(arena, entry);
    if (rest == NULL || !il_json_remove(rest, IL_STR("match"))) {
        return il_arena_fail(arena, err);
    }
    (void)il_json_remove(rest, IL_STR("preset"));
    return il_json_digest(rest, NULL, out->meaning, err);
}

il_status il_tool_load(const il_json *entry, const il_tool_scope *scope, il_tool *out, il_error *err) {
    static const char *const known[] = {"match",    "effects", "to",     "object", "reads",    "plain", "sink",
                                        "audience", "kinds",   "result", "stores", "remember", "sql",   "shell",
                                        "given",    "preset",  "child",  "source", "within",   "line"};
    il_arena *const arena = scope->arena;
    il_str keys[20];
    for (size_t i = 0; i < 20; i++) {
        keys[i] = il_str_of(known[i]);
    }
    *out = (il_tool){.line = il_json_line(entry), .col = il_json_col(entry)};
    IL_TRY(il_json_only(entry, keys, 20, "an entry of `tools`", err));
    const il_json *match = il_json_get(entry, IL_STR("match")), *effects = il_json_get(entry, IL_STR("effects"));
    const il_json *child = il_json_get(entry, IL_STR("child"));
    if (child != NULL && il_json_kind_of(child) != IL_JSON_BOOL) {
        return IL_JSON_FAIL(child, err, IL_E_INVALID, "`child` is true or false");
    }
    out->child = il_json_bool(child);
    if (match == NULL || (effects == NULL && !out->child)) {
        return IL_JSON_FAIL(entry, err, IL_E_INVALID, "an entry of `tools` needs `%s`", match == NULL ? "match" : "effects");
    }
    const il_json *to = il_json_get(entry, IL_STR("to")), *object = il_json_get(entry, IL_STR("object"));
    const il_json *reads = il_json_get(entry, IL_STR("reads")), *plain = il_json_get(entry, IL_STR("plain"));
    const il_json *within = il_json_get(entry, IL_STR("within"));
    const il_json *line = il_json_get(entry, IL_STR("line"));
    const il_json *sql = il_json_get(entry, IL_STR("sql")), *shell = il_json_get(entry, IL_STR("shell"));
    const il_json *stores = il_json_get(entry, IL_STR("stores"));
    const il_json *own = il_json_get(entry, IL_STR("kinds"));
    /* a kind of the entry's own may be named in place of an argument, and has several */
    size_t room = (il_tool_room(to, 2) + il_tool_room(object, 2)) * (il_tool_room(own, 1) + il_tool_room(scope->own, 1)) +
                  il_tool_room(reads, 1) + il_tool_room(plain, 1) + il_tool_room(within, 1) + il_tool_room(line, 1) +
                  il_tool_room(stores, 2) + il_tool_room(sql, 0) + il_tool_room(shell, 0);
    out->arguments = IL_NEW_ARRAY(arena, il_argument, room < IL_TOOL_ARGUMENTS_MAX ? room : IL_TOOL_ARGUMENTS_MAX);
    out->built = IL_NEW_ARRAY(arena, il_built, il_tool_room(to, 2) + il_tool_room(object, 2) + il_tool_room(stores, 2));
    if (out->arguments == NULL || out->built == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_tool_match(match, arena, out, err));
    IL_TRY(effects != NULL ? il_tool_effects(effects, out, err) : IL_OK);
    out->said = out->effects;
    if ((out->effects & (uint32_t)IL_SECRET) != 0) {
        out->effects |= (uint32_t)IL_SENSITIVE;
    }
    IL_TRY(il_tool_own_kinds(out, own, scope, err));
    IL_TRY(il_tool_to(out, to, scope, err));
    IL_TRY(il_tool_kinds(out, IL_ROLE_OBJECT, object, scope, err));
    if (reads != NULL) {
        IL_TRY(il_tool_several(out, IL_ROLE_READS, IL_KIND_NAME, reads, arena, err));
    }
    if (plain != NULL) {
        IL_TRY(il_tool_several(out, IL_ROLE_PLAIN, IL_KIND_NAME, plain, arena, err));
    }
    if (line != NULL) {
        IL_TRY(il_tool_several(out, IL_ROLE_LINE, IL_KIND_NAME, line, arena, err));
    }
    if (within != NULL) {
        IL_TRY(il_tool_several(out, IL_ROLE_WITHIN, IL_KIND_NAME, within, arena, err));
    }
    IL_TRY(il_tool_kinds(out, IL_ROLE_STORE, stores, scope, err));
    IL_TRY(il_tool_results(out, entry, scope, err));
    IL_TRY(il_tool_statement(out, sql, arena, &out->sql, err));
    IL_TRY(il_tool_statement(out, shell, arena, &out->shell, err));
    IL_TRY(il_tool_preset(out, il_json_get(entry, IL_STR("preset")), arena, err));
    IL_TRY(il_tool_source(out, il_json_get(entry, IL_STR("source")), arena, err));
    out->sink_said = il_json_get(entry, IL_STR("sink")) != NULL;
    IL_TRY(il_tool_word(il_json_get(entry, IL_STR("sink")), "standing", "once", &out->once, err));
    IL_TRY(il_tool_word(il_json_get(entry, IL_STR("audience")), "public", "addressed", &out->addressed, err));
    return il_tool_meaning(entry, arena, out, err);
}

bool il_tool_declares(const il_tool *t, il_role role) {
    bool found = false;
    for (uint32_t i = 0; i < t->narguments; i++) {
        found = found || t->arguments[i].role == role;
    }
    for (uint32_t i = 0; i < t->nbuilt; i++) {
        found = found || t->built[i].role == role;
    }
    return found;
}
