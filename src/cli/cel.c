/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cel/lex.h"
#include "cel/value.h"
#include "cli/options.h"
#include "cli/output.h"
#include "host/file.h"
#include "interlock/host.h"

enum {
    CEL_BYTES = 64 << 20,      /* of the program, the variables and the answer together */
    CEL_VARS_BYTES = 16 << 20, /* of the file */
    CEL_VARS = 1000,           /* variables in it */
    CEL_LINE = 200             /* bytes of a line of the source that are shown */
};

typedef struct cel_vars {
    il_cel_field *fields;
    il_cel_value *values;
    size_t n;
} cel_vars;

/* What a member of the file is declared as: what can be said of it without looking inside. */
static const il_cel_type *cel_type_of(il_cel_value v) {
    switch ((il_cel_kind)v.kind) {
    case IL_CEL_NULL:
        return &il_cel_type_dyn; /* it may be anything else in another file */
    case IL_CEL_BOOL:
        return &il_cel_type_bool;
    case IL_CEL_INT:
        return &il_cel_type_int;
    case IL_CEL_UINT:
        return &il_cel_type_uint;
    case IL_CEL_DOUBLE:
        return &il_cel_type_double;
    case IL_CEL_STRING:
        return &il_cel_type_string;
    case IL_CEL_LIST:
        return &il_cel_type_list;
    case IL_CEL_MAP:
        return &il_cel_type_json;
    case IL_CEL_ERROR:
    case IL_CEL_BYTES:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break; /* JSON has none */
    }
    return &il_cel_type_dyn;
}

/* Names joined by dots; then an expression can have it. */
static bool cel_is_name(il_str name) {
    const il_cel_source source = {name, 1, 1};
    il_cel_lexer lex = {&source, 0};
    il_cel_token t = {.kind = IL_CEL_T_END};
    for (size_t at = 0;;) {
        if (il_cel_lex(&lex, &t, NULL) != IL_OK || t.kind != IL_CEL_T_NAME || t.offset != at) {
            return false;
        }
        at += t.n;
        if (at == name.n) {
            return true;
        }
        if (name.p[at++] != '.') {
            return false;
        }
        lex.at = at;
    }
}

static il_status cel_vars_read(il_arena *arena, const char *path, cel_vars *out, il_error *err) {
    const il_json_limits limits = {.size = sizeof limits, .bytes = CEL_VARS_BYTES};
    il_str text;
    il_json *doc = NULL;
    IL_TRY(il_file_read(arena, path, CEL_VARS_BYTES, IL_FILE_DATA, &text, err));
    IL_TRY(il_json_parse(arena, text, &limits, &doc, err));
    if (il_json_kind_of(doc) != IL_JSON_OBJECT) {
        return il_error_at(err, IL_E_INVALID, 1, 1, 0, "variables are an object: {\"name\": value, ...}");
    }
    if (il_json_count(doc) > CEL_VARS) {
        return il_error_set(err, IL_E_LIMIT, "more than %d variables", CEL_VARS);
    }
    out->fields = IL_NEW_ARRAY(arena, il_cel_field, il_json_count(doc));
    out->values = IL_NEW_ARRAY(arena, il_cel_value, il_json_count(doc));
    if (out->fields == NULL || out->values == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *v = il_json_first(doc); v != NULL; v = il_json_next(v)) {
        out->values[out->n] = il_cel_of_json(v);
        out->fields[out->n].name = il_json_key(v);
        if (!cel_is_name(out->fields[out->n].name)) {
            return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, 0,
                               "`%.*s` is no name that an expression can have: letters, digits and `_`, no reserved word",
                               IL_STR_ARG(out->fields[out->n].name));
        }
        out->fields[out->n].type = cel_type_of(out->values[out->n]);
        out->n++;
    }
    return IL_OK;
}

static bool cel_is_blank(il_str text) {
    size_t i = 0;
    while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t' || text.p[i] == '\r')) {
        i++;
    }
    return i == text.n;
}

/* The line of the source that the error is in, and a mark below what it is about. */
static void cel_point(il_str source, const il_error *err) {
    size_t from = 0, to, at = 0;
    for (uint32_t line = 1; line < err->line; line++) {
        size_t end = il_str_find(source, IL_STR("\n"), from);
        if (end == SIZE_MAX) {
            return;
        }
        from = end + 1;
    }
    to = il_str_find(source, IL_STR("\n"), from);
    il_str text = il_str_part(source, from, to == SIZE_MAX ? source.n : to);
    if (err->col == 0 || cel_is_blank(text) || text.n > CEL_LINE) {
        return;
    }
    (void)fputs("  ", stderr);
    il_put_text(stderr, text);
    (void)fputs("\n  ", stderr);
    for (uint32_t col = 1; col < err->col && at < text.n; at++) {
        if (((unsigned char)text.p[at] & 0xC0) != 0x80) {
            col++;
            (void)fputc(' ', stderr);
        }
    }
    for (uint32_t i = 0; i < (err->span > 0 ? err->span : 1); i++) {
        (void)fputc('^', stderr);
    }
    (void)fputc('\n', stderr);
}

static il_exit cel_print(il_arena *arena, const il_cel_program *program, il_cel_value v, bool json, bool type, il_error *err) {
    char name[256];
    il_buf text;
    il_str value = {NULL, 0}, kind = {name, il_cel_type_text(il_cel_result_type(program), name, sizeof name)};
    il_buf_init(&text, arena, CEL_BYTES);
    il_cel_write(&v, &text);
    if (il_buf_done(&text, &value, err) != IL_OK) {
        return il_fail(NULL, err);
    }
    if (json) {
        il_json *out = il_json_make(arena, IL_JSON_OBJECT);
        if (!il_json_set(out, IL_STR("value"), il_json_string(arena, value)) ||
            !il_json_set(out, IL_STR("type"), il_json_string(arena, kind))) {
            return il_fail(NULL, ((void)il_arena_fail(arena, err), err));
        }
        return il_put_json(stdout, out, err) == IL_OK ? IL_EXIT_FINE : il_fail(NULL, err);
    }
    il_put_text(stdout, value);
    if (type) {
        (void)fputs(" : ", stdout);
        il_put_text(stdout, kind);
    }
    (void)fputc('\n', stdout);
    return IL_EXIT_FINE;
}

/* With `json` also {"error": {...}} on standard output; `file` is empty for the expression itself. */
static il_exit cel_fail(il_arena *arena, const char *file, bool json, const il_error *why) {
    il_error err = {0};
    il_exit code = il_fail(file != NULL ? file : "EXPR", why);
    if (json) {
        il_json *out = il_json_make(arena, IL_JSON_OBJECT), *error = il_json_make(arena, IL_JSON_OBJECT);
        bool made = out != NULL && error != NULL;
        made = made && (file == NULL || il_json_set(error, IL_STR("file"), il_json_string(arena, il_str_of(file))));
        made = made && (why->line == 0 || (il_json_set(error, IL_STR("line"), il_json_number(arena, why->line)) &&
                                           il_json_set(error, IL_STR("col"), il_json_number(arena, why->col)) &&
                                           il_json_set(error, IL_STR("span"), il_json_number(arena, why->span))));
        made = made && il_json_set(error, IL_STR("message"), il_json_string(arena, il_str_of(why->msg))) &&
               il_json_set(out, IL_STR("error"), error);
        if (!made) {
            return il_fail(NULL, ((void)il_arena_fail(arena, &err), &err));
        }
        if (il_put_json(stdout, out, &err) != IL_OK) {
            return il_fail(NULL, &err);
        }
    }
    return code;
}

static il_exit cel_run(il_arena *arena, il_str source, const char *file, bool json, bool type) {
    il_error err = {0};
    cel_vars vars = {0};
    il_cel_program *program = NULL;
    if (file != NULL && cel_vars_read(arena, file, &vars, &err) != IL_OK) {
        return cel_fail(arena, file, json, &err);
    }
    const il_cel_env env = {.size = sizeof env, .vars = vars.fields, .nvars = vars.n, .zone = il_host_zone};
    const il_cel_limits limits = {.size = sizeof limits, .dynamic_regex = true};
    if (il_cel_compile(arena, source, 1, 1, &env, IL_CEL_NULL, &limits, &program, &err) != IL_OK) {
        il_exit code = cel_fail(arena, NULL, json, &err);
        cel_point(source, &err);
        return code;
    }
    il_cel_value v = il_cel_eval(program, vars.values, arena);
    if (v.kind == IL_CEL_ERROR) {
        il_cel_explain(program, v, &err);
        il_exit code = cel_fail(arena, NULL, json, &err);
        cel_point(source, &err);
        return code == il_exit_of(err.code) ? IL_EXIT_FINDING : code;
    }
    return cel_print(arena, program, v, json, type, &err);
}

il_exit il_cmd_cel(int argc, char **argv) {
    const char *vars = NULL;
    bool json = false, type = false;
    const il_option options[] = {
        {.name = "vars", .value = &vars}, {.name = "json", .flag = &json}, {.name = "type", .flag = &type}};
    il_arguments args;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &args, &err) != IL_OK) {
        return il_fail_usage("cel", &err);
    }
    if (args.n != 1) {
        return il_usage("cel", args.n == 0 ? "an expression is missing" : "one expression, please: quote it for the shell");
    }
    il_arena arena;
    il_arena_init(&arena, il_host_alloc(), CEL_BYTES);
    il_exit code = cel_run(&arena, il_str_of(args.v[0]), vars, json, type);
    il_arena_free(&arena);
    return code;
}
