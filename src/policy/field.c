/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/field.h"

#include "policy/kind_part.h"

static bool il_field_key_char(char c) {
    return il_ascii_alnum(c) || c == '_' || c == '-' || c == '$' || c == '@' || c == ':' || c == '/' || (unsigned char)c >= 0x80;
}

/* `[*]` or `[3]` at text[*at]. */
static bool il_field_bracket(il_str text, size_t *at, il_field_step *out) {
    const size_t close = il_str_find(text, IL_STR("]"), *at);
    const il_str inside = close == SIZE_MAX ? (il_str){0} : il_str_part(text, *at + 1, close);
    int64_t index = 0;
    if (il_str_eq(inside, IL_STR("*"))) {
        *out = (il_field_step){.of = IL_STEP_EVERY};
    } else if (inside.n > 0 && inside.n <= 6 && il_ascii_digit(inside.p[0]) && il_str_int(inside, &index)) {
        *out = (il_field_step){.of = IL_STEP_INDEX, .index = (uint32_t)index};
    } else {
        return false;
    }
    *at = close + 1;
    return true;
}

/* `root`: the path begins with `$`. `anywhere`: it may begin with `**.` (which is then left out). */
static il_status il_field_path_new(const il_json *v, bool root, bool anywhere, il_arena *arena, il_field_path *out,
                                   il_error *err) {
    *out = (il_field_path){0};
    if (il_json_kind_of(v) != IL_JSON_STRING || il_json_text(v).n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a path is a text, such as %s", root ? "`$.items[*]`" : "`user.login`");
    }
    IL_TRY(il_arena_copy(arena, il_json_text(v), &out->text, err));
    const il_str t = out->text;
    size_t i = 0;
    if (root && t.p[0] != '$') {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` begins at the root of the result: write `$` or `$.%.*s`", IL_STR_ARG(t),
                            IL_STR_ARG(t));
    }
    if (!root && t.p[0] == '$' && (t.n == 1 || t.p[1] == '.' || t.p[1] == '[')) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s`: a field's path begins at the item; leave out `$`", IL_STR_ARG(t));
    }
    i += root ? 1 : 0;
    i += anywhere && il_str_starts(t, IL_STR("**.")) ? 3 : 0;
    const size_t begin = i;
    out->steps = IL_NEW_ARRAY(arena, il_field_step, IL_FIELD_DEPTH_MAX);
    if (out->steps == NULL) {
        return il_arena_fail(arena, err);
    }
    while (i < t.n) {
        if (out->n == IL_FIELD_DEPTH_MAX) {
            return IL_JSON_FAIL(v, err, IL_E_LIMIT, "path `%.*s` has more than %u steps", IL_STR_ARG(t), IL_FIELD_DEPTH_MAX);
        }
        il_field_step *step = &out->steps[out->n];
        if (t.p[i] == '[' && (root || i > begin)) {
            if (!il_field_bracket(t, &i, step)) {
                return IL_JSON_FAIL(v, err, IL_E_INVALID, "path `%.*s`: in brackets stands `*` for every item, or a number",
                                    IL_STR_ARG(t));
            }
            out->n++;
            continue;
        }
        if (root || i > begin) {
            if (t.p[i] != '.') {
                return IL_JSON_FAIL(v, err, IL_E_INVALID, "path `%.*s`: steps are joined by `.`", IL_STR_ARG(t));
            }
            i++;
        }
        const size_t from = i;
        while (i < t.n && il_field_key_char(t.p[i])) {
            i++;
        }
        if (i == from) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "path `%.*s`: a step is empty or has a character that names no field",
                                IL_STR_ARG(t));
        }
        *step = (il_field_step){.of = IL_STEP_KEY, .key = il_str_part(t, from, i)};
        out->n++;
    }
    if (!root && out->n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "path `%.*s` names no field", IL_STR_ARG(t));
    }
    return IL_OK;
}

static bool il_field_step_eq(const il_field_step *a, const il_field_step *b) {
    return a->of == b->of && a->index == b->index && il_str_eq(a->key, b->key);
}

bool il_field_path_eq(const il_field_path *a, const il_field_path *b) {
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        if (!il_field_step_eq(&a->steps[i], &b->steps[i])) {
            return false;
        }
    }
    return a->n == b->n;
}

const il_json *il_field_at(const il_json *from, const il_field_path *path, const il_field_every *every, uint32_t nevery) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < path->n && from != NULL; i++) {
        const il_field_step *s = &path->steps[i];
        if (s->of == IL_STEP_KEY) {
            from = il_json_kind_of(from) == IL_JSON_OBJECT ? il_json_get(from, s->key) : NULL;
        } else if (s->of == IL_STEP_EVERY) {
            from = used < nevery && every[used].list == from ? every[used].item : NULL;
            used++;
        } else {
            uint32_t index = s->index; /* of six digits at most, as the path is written */
            const il_json *item = il_json_kind_of(from) == IL_JSON_ARRAY ? il_json_first(from) : NULL;
            for (; item != NULL && index > 0; index--) {
                item = il_json_next(item);
            }
            from = item;
        }
    }
    return from;
}

/* ---- `result` -------------------------------------------------------------------------------------- */

static il_status il_form_add(il_result_form *out, const il_field *field, const il_json *at, il_error *err) {
    for (uint32_t i = 0; i < out->nfields; i++) {
        if (il_field_path_eq(&out->fields[i].path, &field->path)) {
            return IL_JSON_FAIL(at, err, IL_E_INVALID, "field `%.*s` is declared twice; it is one kind, and authentic or claimed",
                                IL_STR_ARG(field->path.text));
        }
    }
    if (out->nfields == IL_FIELDS_MAX) {
        return IL_JSON_FAIL(at, err, IL_E_LIMIT, "more than %u fields", IL_FIELDS_MAX);
    }
    out->fields[out->nfields++] = *field;
    return IL_OK;
}

static il_status il_form_text_path(const il_result_form *form, const il_field_path *path, const il_json *at, il_error *err) {
    if (form->from == IL_FROM_TEXT && (path->n != 1 || path->steps[0].of != IL_STEP_KEY)) {
        return IL_JSON_FAIL(at, err, IL_E_INVALID, "`%.*s`: a field of a text is the name of a line, such as `From`",
                            IL_STR_ARG(path->text));
    }
    return IL_OK;
}

/* One field: a path, or { id: path, via: path }. */
static il_status il_form_field(il_result_form *out, il_kind kind, il_standing standing, const il_json *v, il_arena *arena,
                               il_error *err) {
    il_field f = {.kind = kind, .standing = standing};
    const il_json *path = v, *via = NULL;
    if (il_json_kind_of(v) == IL_JSON_OBJECT) {
        const il_str keys[] = {IL_STR("id"), IL_STR("via")};
        IL_TRY(il_json_only(v, keys, 2, "a field", err));
        path = il_json_get(v, keys[0]);
        via = il_json_get(v, keys[1]);
        if (path == NULL || via == NULL) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "a field that is found by another one is { id: PATH, via: PATH }");
        }
        if (standing == IL_STANDING_CLAIMED) {
            return IL_JSON_FAIL(via, err, IL_E_INVALID, "`via` makes no difference to a claimed field; leave it out");
        }
    }
    IL_TRY(il_field_path_new(path, false, false, arena, &f.path, err));
    IL_TRY(il_form_text_path(out, &f.path, path, err));
    if (via != NULL) {
        f.has_via = true;
        IL_TRY(il_field_path_new(via, false, false, arena, &f.via, err));
        IL_TRY(il_form_text_path(out, &f.via, via, err));
        if (il_field_path_eq(&f.path, &f.via)) {
            return IL_JSON_FAIL(via, err, IL_E_INVALID, "`via` names another field of the item");
        }
    }
    return il_form_add(out, &f, path, err);
}

static il_status il_form_fields(il_result_form *out, il_standing standing, const il_json *map, il_kinds *kinds, il_arena *arena,
                                il_error *err) {
    if (map == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(map) != IL_JSON_OBJECT || il_json_count(map) == 0) {
        return IL_JSON_FAIL(map, err, IL_E_INVALID, "`%.*s` maps a kind to the fields that hold one, such as { email: from }",
                            IL_STR_ARG(il_json_key(map)));
    }
    for (const il_json *v = il_json_first(map); v != NULL; v = il_json_next(v)) {
        il_kind kind = IL_KIND_NAME;
        IL_TRY(il_kinds_take(kinds, il_json_key(v), v, arena, &kind, err));
        const bool list = il_json_kind_of(v) == IL_JSON_ARRAY;
        if (list && il_json_count(v) == 0) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is empty; leave it out", IL_STR_ARG(il_json_key(v)));
        }
        for (const il_json *f = list ? il_json_first(v) : v; f != NULL; f = list ? il_json_next(f) : NULL) {
            IL_TRY(il_form_field(out, kind, standing, f, arena, err));
        }
    }
    return IL_OK;
}

static il_status il_form_from(const il_json *v, il_result_form *out, il_error *err) {
    static const char *const words[] = {"", "structured", "json", "text"};
    const il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    for (unsigned i = 1; v != NULL && i < 4; i++) {
        if (il_str_eq(text, il_str_of(words[i]))) {
            out->from = (il_result_from)i;
            return IL_OK;
        }
    }
    return v == NULL ? IL_OK : IL_JSON_FAIL(v, err, IL_E_INVALID, "`from` is `structured`, `json` or `text`");
}

static il_status il_form_items(const il_json *v, il_result_form *out, il_arena *arena, il_error *err) {
    if (v == NULL) {
        return IL_OK;
    }
    const bool headers = il_json_kind_of(v) == IL_JSON_STRING && il_str_eq(il_json_text(v), IL_STR("headers"));
    if (headers != (out->from == IL_FROM_TEXT)) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID,
                            headers ? "`headers` are of a text: say `from: text` too"
                                    : "the fields of a text are its `headers`, or leave `items` out");
    }
    return headers ? IL_OK : il_field_path_new(v, true, false, arena, &out->items, err);
}

/* Free texts are what is not declared otherwise; to name them is for the reader of the policy, and checked. */
static il_status il_form_free(const il_json *list, const il_result_form *form, il_arena *arena, il_error *err) {
    const bool several = il_json_kind_of(list) == IL_JSON_ARRAY;
    for (const il_json *v = several ? il_json_first(list) : list; v != NULL; v = several ? il_json_next(v) : NULL) {
        il_field_path path;
        IL_TRY(il_field_path_new(v, false, true, arena, &path, err));
        for (uint32_t i = 0; i < form->nfields; i++) {
            if (il_field_path_eq(&form->fields[i].path, &path) && !il_str_starts(path.text, IL_STR("**"))) {
                return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is declared as a field and as free text",
                                    IL_STR_ARG(path.text));
            }
        }
    }
    return IL_OK;
}

/* How many fields a map can name at most. */
static size_t il_form_room(const il_json *map) {
    size_t n = 0;
    for (const il_json *v = il_json_first(map); v != NULL; v = il_json_next(v)) {
        n += il_json_kind_of(v) == IL_JSON_ARRAY ? il_json_count(v) : 1;
    }
    return n;
}

/* By path, of which no two are equal: in whatever order they are written, they are read alike. */
static void il_form_sort(il_result_form *out) {
    for (uint32_t i = 1; i < out->nfields; i++) {
        const il_field f = out->fields[i];
        uint32_t at = i;
        for (; at > 0 && il_str_cmp(f.path.text, out->fields[at - 1].path.text) < 0; at--) {
            out->fields[at] = out->fields[at - 1];
        }
        out->fields[at] = f;
    }
}

il_status il_result_form_load(const il_json *result, il_kinds *kinds, il_arena *arena, il_result_form *out, il_error *err) {
    const il_str keys[] = {IL_STR("from"), IL_STR("items"), IL_STR("authentic"), IL_STR("claimed"), IL_STR("free")};
    *out = (il_result_form){0};
    IL_TRY(il_json_only(result, keys, 5, "`result`", err));
    const il_json *authentic = il_json_get(result, keys[2]), *claimed = il_json_get(result, keys[3]),
                  *list = il_json_get(result, keys[4]);
    const size_t room = il_form_room(authentic) + il_form_room(claimed);
    out->fields = IL_NEW_ARRAY(arena, il_field, room < IL_FIELDS_MAX ? room : IL_FIELDS_MAX);
    if (out->fields == NULL) {
        return il_arena_fail(arena, err);
    }
    if (il_json_count(result) == 0) {
        return IL_JSON_FAIL(result, err, IL_E_INVALID, "`result` says nothing; leave it out");
    }
    IL_TRY(il_form_from(il_json_get(result, keys[0]), out, err));
    IL_TRY(il_form_items(il_json_get(result, keys[1]), out, arena, err));
    IL_TRY(il_form_fields(out, IL_STANDING_AUTHENTIC, authentic, kinds, arena, err));
    IL_TRY(il_form_fields(out, IL_STANDING_CLAIMED, claimed, kinds, arena, err));
    il_form_sort(out);
    return list != NULL ? il_form_free(list, out, arena, err) : IL_OK;
}

/* ---- `remember` ------------------------------------------------------------------------------------- */

il_status il_remember_load(const il_json *member, il_arena *arena, il_remember *out, il_error *err) {
    static const char call[] = "result.first_line(\"";
    const il_str name = il_json_key(member),
                 text = il_json_kind_of(member) == IL_JSON_STRING ? il_json_text(member) : (il_str){0};
    *out = (il_remember){0};
    bool ok = name.n > 0 && name.n <= 32 && name.p[0] >= 'a' && name.p[0] <= 'z';
    for (size_t i = 0; i < name.n; i++) {
        ok = ok && (il_ascii_digit(name.p[i]) || (name.p[i] >= 'a' && name.p[i] <= 'z') || name.p[i] == '_');
    }
    if (!ok) {
        return il_error_at(err, IL_E_INVALID, member->key_line, member->key_col, member->key_offset,
                           "`%.*s`: a remembered value has a name of a-z, 0-9 and `_`", IL_STR_ARG(name));
    }
    IL_TRY(il_arena_copy(arena, name, &out->name, err));
    if (text.n > 0 && text.p[0] == '$') {
        IL_TRY(il_field_path_new(member, true, false, arena, &out->path, err));
        for (uint32_t i = 0; i < out->path.n; i++) {
            ok = ok && out->path.steps[i].of != IL_STEP_EVERY;
        }
        return ok && out->path.n > 0 ? IL_OK
                                     : IL_JSON_FAIL(member, err, IL_E_INVALID,
                                                    "`%.*s`: a remembered value is one field of the result", IL_STR_ARG(text));
    }
    const size_t head = sizeof call - 1;
    if (!il_str_starts(text, il_str_of(call)) || !il_str_ends(text, IL_STR("\")")) || text.n < head + 3) {
        return IL_JSON_FAIL(
            member, err, IL_E_INVALID,
            "a value is remembered from `result.first_line(\"...\")`, which is what stands behind that beginning of a "
            "line, or from a path such as `$.page.url`");
    }
    const il_str prefix = il_str_part(text, head, text.n - 2);
    if (il_str_find(prefix, IL_STR("\\"), 0) != SIZE_MAX || il_str_find(prefix, IL_STR("\""), 0) != SIZE_MAX) {
        return IL_JSON_FAIL(member, err, IL_E_INVALID, "the beginning of a line has no quotes and no escapes here");
    }
    out->line = true;
    return il_arena_copy(arena, prefix, &out->prefix, err);
}
