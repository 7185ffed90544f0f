/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/argument.h"

#include "base/buf.h"
#include "policy/kind_part.h"

static bool il_path_key_char(char c) {
    return il_ascii_alnum(c) || c == '_' || c == '-' || c == '$' || c == '@' || c == ':' || c == '/';
}

il_status il_arg_path_new(il_str text, il_arena *arena, il_arg_path *out, il_error *err) {
    *out = (il_arg_path){0};
    IL_TRY(il_arena_copy(arena, text, &out->text, err));
    out->steps = IL_NEW_ARRAY(arena, il_str, IL_PATH_DEPTH_MAX);
    if (out->steps == NULL) {
        return il_arena_fail(arena, err);
    }
    text = out->text;
    for (size_t i = 0; i < text.n;) {
        if (out->n == IL_PATH_DEPTH_MAX) {
            return il_error_set(err, IL_E_LIMIT, "argument path `%.*s` has more than %u steps", IL_STR_ARG(text),
                                IL_PATH_DEPTH_MAX);
        }
        if (out->n > 0 && text.p[i] == '[') {
            if (!il_str_starts(il_str_part(text, i, text.n), IL_STR("[*]"))) {
                return il_error_set(err, IL_E_INVALID, "argument path `%.*s`: only `[*]` is known, for every item",
                                    IL_STR_ARG(text));
            }
            out->steps[out->n++] = (il_str){0};
            i += 3;
            continue;
        }
        if (out->n > 0) {
            if (text.p[i] != '.') {
                return il_error_set(err, IL_E_INVALID, "argument path `%.*s`: steps are joined by `.`", IL_STR_ARG(text));
            }
            i++;
        }
        size_t from = i;
        while (i < text.n && il_path_key_char(text.p[i])) {
            i++;
        }
        if (i == from) {
            return il_error_set(err, IL_E_INVALID,
                                "argument path `%.*s`: a step is empty or has a character that names no argument",
                                IL_STR_ARG(text));
        }
        out->steps[out->n++] = il_str_part(text, from, i);
    }
    if (out->n == 0) {
        return il_error_set(err, IL_E_INVALID, "an argument path is empty");
    }
    return IL_OK;
}

static bool il_path_step_eq(il_str a, il_str b) { return a.p == NULL || b.p == NULL ? a.p == b.p : il_str_eq(a, b); }

static bool il_path_begins(const il_arg_path *a, const il_arg_path *b) {
    for (uint32_t i = 0; i < a->n; i++) {
        if (i >= b->n || !il_path_step_eq(a->steps[i], b->steps[i])) {
            return false;
        }
    }
    return true;
}

bool il_arg_path_eq(const il_arg_path *a, const il_arg_path *b) { return a->n == b->n && il_path_begins(a, b); }
bool il_arg_path_above(const il_arg_path *a, const il_arg_path *b) { return a->n < b->n && il_path_begins(a, b); }

bool il_template_is(il_str text) {
    return il_str_find(text, IL_STR("{"), 0) != SIZE_MAX || il_str_find(text, IL_STR("}"), 0) != SIZE_MAX;
}

il_status il_template_new(il_str text, il_arena *arena, il_template *out, il_error *err) {
    *out = (il_template){0};
    IL_TRY(il_arena_copy(arena, text, &out->text, err));
    text = out->text;
    size_t braces = 0;
    for (size_t i = 0; i < text.n; i++) {
        braces += text.p[i] == '{' ? 1u : 0u;
    }
    if (braces > IL_PATH_DEPTH_MAX) {
        return il_error_set(err, IL_E_LIMIT, "template `%.*s` has too many places", IL_STR_ARG(text));
    }
    out->parts = IL_NEW_ARRAY(arena, il_template_part, 2 * braces + 1);
    if (out->parts == NULL) {
        return il_arena_fail(arena, err);
    }
    size_t places = 0;
    for (size_t i = 0; i < text.n;) {
        if (text.p[i] == '}') {
            return il_error_set(err, IL_E_INVALID, "template `%.*s`: `}` without `{`", IL_STR_ARG(text));
        }
        if (text.p[i] != '{') {
            size_t from = i;
            while (i < text.n && text.p[i] != '{' && text.p[i] != '}') {
                i++;
            }
            out->parts[out->n++].literal = il_str_part(text, from, i);
            continue;
        }
        size_t close = il_str_find(text, IL_STR("}"), i);
        if (close == SIZE_MAX) {
            return il_error_set(err, IL_E_INVALID, "template `%.*s`: `}` is missing", IL_STR_ARG(text));
        }
        il_template_part *part = &out->parts[out->n++];
        part->path = IL_NEW(arena, il_arg_path);
        if (part->path == NULL) {
            return il_arena_fail(arena, err);
        }
        IL_TRY(il_arg_path_new(il_str_part(text, i + 1, close), arena, part->path, err));
        for (uint32_t k = 0; k < part->path->n; k++) {
            if (part->path->steps[k].p == NULL) {
                return il_error_set(err, IL_E_INVALID, "template `%.*s`: `[*]` names no single value", IL_STR_ARG(text));
            }
        }
        places++;
        i = close + 1;
    }
    if (places == 0) {
        return il_error_set(err, IL_E_INVALID, "template `%.*s` names no argument", IL_STR_ARG(text));
    }
    return IL_OK;
}

bool il_arg_absent(const il_json *v) {
    return v == NULL || il_json_kind_of(v) == IL_JSON_NULL || (il_json_kind_of(v) == IL_JSON_STRING && il_json_text(v).n == 0);
}

bool il_arg_names(const il_arg_path *path, uint32_t from, const il_json *node) {
    for (uint32_t i = from; i < path->n; i++) {
        node = path->steps[i].p == NULL ? il_json_first(node) : il_json_get(node, path->steps[i]);
    }
    return !il_arg_absent(node) && (il_json_kind_of(node) != IL_JSON_ARRAY || il_json_first(node) != NULL);
}

bool il_arg_text(const il_json *v, il_str *out) {
    int64_t number = 0;
    switch (il_json_kind_of(v)) {
    case IL_JSON_STRING:
        *out = il_json_text(v);
        return true;
    case IL_JSON_NUMBER:
        *out = il_json_text(v);
        /* `-0` and whatever else has a second spelling is not a name */
        return il_json_int(v, &number) && number >= 0 && out->n > 0 && il_ascii_digit(out->p[0]) &&
               (out->n == 1 || out->p[0] != '0');
    case IL_JSON_NULL:
    case IL_JSON_BOOL:
    case IL_JSON_ARRAY:
    case IL_JSON_OBJECT:
        return false;
    }
    return false;
}

/* A value that goes into a template must not bring structure of its own: `a/b` for {owner} would name another repository. */
static bool il_template_plain(const il_template *t, il_str value) {
    if (value.n == 0 || !il_text_visible(value)) {
        return false;
    }
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        if (c == '/' || c == '\\' || c == '@' || c == ':' || c == '?' || c == '#' || c == '%' || c == ' ' || c == '[' ||
            c == ']') {
            return false;
        }
        for (uint32_t k = 0; k < t->n; k++) {
            il_str literal = t->parts[k].literal;
            /* a letter or digit of a literal is not structure */
            if (t->parts[k].path == NULL && !il_ascii_alnum(c) && il_str_find(literal, (il_str){&value.p[i], 1}, 0) != SIZE_MAX) {
                return false;
            }
        }
    }
    return true;
}

il_status il_template_build(const il_template *t, const il_json *args, il_arena *arena, il_template_fill *how, il_str *value,
                            il_error *err) {
    uint32_t there = 0, places = 0;
    bool bad = false;
    il_buf b;
    il_buf_init(&b, arena, IL_KIND_BYTES_MAX);
    for (uint32_t i = 0; i < t->n; i++) {
        const il_template_part *part = &t->parts[i];
        if (part->path == NULL) {
            il_buf_put(&b, part->literal);
            continue;
        }
        places++;
        const il_json *v = args;
        for (uint32_t k = 0; k < part->path->n; k++) {
            v = il_json_get(v, part->path->steps[k]);
        }
        if (il_arg_absent(v)) {
            continue;
        }
        there++;
        il_str text = {0};
        if (!il_arg_text(v, &text) || text.n > 1024 || !il_template_plain(t, text)) {
            bad = true;
        } else {
            il_buf_put(&b, text);
        }
    }
    *how = there == 0 ? IL_TEMPLATE_ABSENT : (bad || there < places) ? IL_TEMPLATE_BAD : IL_TEMPLATE_FILLED;
    return *how == IL_TEMPLATE_FILLED ? il_buf_done(&b, value, err) : IL_OK;
}
