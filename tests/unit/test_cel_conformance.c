/* SPDX-License-Identifier: Apache-2.0 */
/* The conformance tests of the language as data, those that this part of it can say. What compiles must give the expected value; what does
 * not may only be refused as not supported yet, or because an error was expected. The data is found by IL_SHARED (a directory
 * with data/cel-conformance.json) or beside the source directory; without it this test says so and skips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

enum { VARS = 8 };
typedef struct suite {
    const char *file;
    size_t least; /* so many must pass, or the harness has gone blind */
    size_t total, passed, wrong;
    size_t unsupported, types, container,
        unchecked; /* skipped: construct; types of variables; name resolution; needs the check off */
} suite;

static const il_cel_type suite_any = {.kind = IL_CEL_ERROR}, suite_null = {.kind = IL_CEL_NULL},
                         suite_bool = {.kind = IL_CEL_BOOL}, suite_int = {.kind = IL_CEL_INT},
                         suite_string = {.kind = IL_CEL_STRING};

static const il_cel_type *suite_type(il_arena *arena, il_str text) {
    if (il_str_eq(text, IL_STR("dyn"))) {
        return &suite_any;
    }
    if (il_str_eq(text, IL_STR("null_type"))) {
        return &suite_null;
    }
    if (il_str_eq(text, IL_STR("bool"))) {
        return &suite_bool;
    }
    if (il_str_eq(text, IL_STR("int"))) {
        return &suite_int;
    }
    if (il_str_eq(text, IL_STR("string"))) {
        return &suite_string;
    }
    if (il_str_starts(text, IL_STR("list(")) && il_str_ends(text, IL_STR(")"))) {
        const il_cel_type *element = suite_type(arena, il_str_part(text, 5, text.n - 1));
        il_cel_type *list = IL_NEW(arena, il_cel_type);
        assert_non_null(list);
        *list = (il_cel_type){.kind = IL_CEL_LIST, .element = element};
        return element != NULL ? list : NULL;
    }
    return NULL;
}

/* false: a value of a type that this part does not have. */
static bool suite_value(il_arena *arena, const il_json *v, il_cel_value *out) {
    il_str t = il_json_text(il_json_get(v, IL_STR("t")));
    const il_json *x = il_json_get(v, IL_STR("v"));
    if (il_str_eq(t, IL_STR("null"))) {
        *out = (il_cel_value){.kind = IL_CEL_NULL};
        return true;
    }
    if (il_str_eq(t, IL_STR("bool"))) {
        *out = il_cel_of_bool(il_json_bool(x));
        return true;
    }
    if (il_str_eq(t, IL_STR("string"))) {
        *out = il_cel_of_str(il_json_text(x));
        return true;
    }
    if (il_str_eq(t, IL_STR("int"))) {
        int64_t i = 0;
        bool fits = il_str_int(il_json_text(x), &i);
        *out = il_cel_of_int(i);
        return fits;
    }
    if (il_str_eq(t, IL_STR("list"))) {
        il_cel_value *items = IL_NEW_ARRAY(arena, il_cel_value, il_json_count(x));
        assert_non_null(items);
        *out = (il_cel_value){.kind = IL_CEL_LIST, .n = (uint32_t)il_json_count(x), .u.items = items};
        for (const il_json *item = il_json_first(x); item != NULL; item = il_json_next(item)) {
            if (!suite_value(arena, item, items++)) {
                return false;
            }
        }
        return true;
    }
    return false;
}

static bool suite_has(const char *text, const char *part) { return strstr(text, part) != NULL; }

static void suite_one(suite *s, const il_json *test) {
    cel_case c;
    il_cel_field fields[VARS];
    il_cel_value values[VARS];
    il_cel_env env = {.size = sizeof env, .vars = fields};
    bool types = true;
    il_str expr = il_json_text(il_json_get(test, IL_STR("expr")));
    const il_json *expected = il_json_get(test, IL_STR("expected")), *value = il_json_get(expected, IL_STR("value"));
    bool want_error = il_json_get(expected, IL_STR("error")) != NULL;
    s->total++;
    memset(values, 0, sizeof values);
    cel_case_init(&c);
    for (const il_json *v = il_json_first(il_json_get(test, IL_STR("type_env"))); v != NULL; v = il_json_next(v)) {
        assert_true(env.nvars < VARS);
        fields[env.nvars].name = il_json_text(il_json_get(v, IL_STR("name")));
        fields[env.nvars].type = suite_type(&c.arena, il_json_text(il_json_get(v, IL_STR("type"))));
        types = types && fields[env.nvars++].type != NULL;
    }
    for (const il_json *v = il_json_first(il_json_get(test, IL_STR("bindings"))); v != NULL; v = il_json_next(v)) {
        il_str name = il_json_text(il_json_get(v, IL_STR("name")));
        size_t at = 0;
        while (at < env.nvars && !il_str_eq(fields[at].name, name)) {
            at++;
        }
        assert_true(at < VARS);
        if (at == env.nvars) {
            fields[env.nvars].name = name;
            fields[env.nvars++].type = &suite_any;
        }
        if (il_json_bool(il_json_get(v, IL_STR("error")))) {
            values[at].fault = IL_CEL_MISSING;
        } else {
            types = suite_value(&c.arena, il_json_get(v, IL_STR("value")), &values[at]) && types;
        }
    }
    /* Qualified variables (`a.b`) are a matter of name resolution that this part does not have. */
    bool dotted = false;
    for (size_t i = 0; i < env.nvars; i++) {
        dotted = dotted || il_str_find(fields[i].name, IL_STR("."), 0) != SIZE_MAX;
    }
    bool block =
        il_str_eq(il_json_text(il_json_get(test, IL_STR("tier"))), IL_STR("ext_block")); /* an optimizer's device: never */
    if (block || il_json_get(test, IL_STR("container")) != NULL || il_json_get(test, IL_STR("fn_env")) != NULL || dotted) {
        s->container++;
    } else if (!types) {
        s->types++;
    } else if (il_cel_compile(&c.arena, expr, 1, 1, &env, IL_CEL_NULL, NULL, &c.program, &c.err) != IL_OK) {
        if (suite_has(c.err.msg, "not supported")) {
            s->unsupported++;
        } else if (want_error) {
            s->passed++;
        } else if (il_json_bool(il_json_get(test, IL_STR("disable_check")))) {
            s->unchecked++;
        } else {
            print_error("%.*s\n  %u:%u %s\n", IL_STR_ARG(expr), c.err.line, c.err.col, c.err.msg);
            s->wrong++;
        }
    } else {
        il_cel_value want = {0}, got = cel_eval(&c, values);
        bool right = want_error ? got.kind == IL_CEL_ERROR
                                : value == NULL || (suite_value(&c.arena, value, &want) && il_cel_equal(want, got));
        if (!right) {
            print_error("%.*s\n  a wrong value (kind %d)\n", IL_STR_ARG(expr), got.kind);
        }
        /* And the printed form means the same. */
        const char *printed = cel_printed(&c);
        if (cel_compile(&c, printed, &env, IL_CEL_NULL) != IL_OK || strcmp(cel_printed(&c), printed) != 0 ||
            !(got.kind == IL_CEL_ERROR ? cel_eval(&c, values).fault == got.fault : il_cel_equal(got, cel_eval(&c, values)))) {
            print_error("%.*s\n  printed as %s\n  %s\n", IL_STR_ARG(expr), printed, c.err.msg);
            right = false;
        }
        s->passed += right ? 1 : 0;
        s->wrong += right ? 0 : 1;
    }
    cel_case_free(&c);
}

/* The parser cases of cel-go: what it refuses as syntax we refuse, and what it parses is no syntax error here. */
static void suite_parsing(suite *s, const il_json *test) {
    static const char *const syntax[] = {"Syntax error",       "reserved identifier", "invalid int literal",
                                         "unicode code point", "simple name",         "'`'"};
    if (!il_str_eq(il_json_text(il_json_get(test, IL_STR("suite"))), IL_STR("parsing"))) {
        return;
    }
    il_str expr = il_json_text(il_json_get(test, IL_STR("expr"))), error = il_json_text(il_json_get(test, IL_STR("error")));
    bool bad = false,
         quoted = il_str_find(error, IL_STR("'`'"), 0) != SIZE_MAX; /* its option is off, ours has back-quoted fields */
    for (size_t i = 0; i < sizeof syntax / sizeof syntax[0]; i++) {
        bad = bad || il_str_find(error, il_str_of(syntax[i]), 0) != SIZE_MAX;
    }
    cel_case c;
    cel_case_init(&c);
    il_status status = il_cel_compile(&c.arena, expr, 1, 1, NULL, IL_CEL_NULL, NULL, &c.program, &c.err);
    bool right = quoted || (bad ? status != IL_OK : status != IL_E_SYNTAX);
    if (status != IL_OK && (c.err.line == 0 || c.err.col == 0 || c.err.msg[0] == 0 || c.err.code != status)) {
        right = false;
    }
    if (!right) {
        print_error("%.*s\n  cel-go: %.*s\n  here: %u:%u %s\n", IL_STR_ARG(expr), IL_STR_ARG(error), c.err.line, c.err.col,
                    c.err.msg);
    }
    s->total++;
    s->passed += right ? 1 : 0;
    s->wrong += right ? 0 : 1;
    cel_case_free(&c);
}

static void suite_run(suite *s, void (*one)(suite *s, const il_json *test)) {
    char path[1024];
    const char *shared = getenv("IL_SHARED");
    snprintf(path, sizeof path, "%s/data/%s", shared != NULL ? shared : IL_TEST_SOURCE_DIR "/../shared", s->file);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        print_message("skipped: no %s (set IL_SHARED)\n", path);
        skip();
        return;
    }
    size_t cap = (size_t)4 << 20;
    char *text = malloc(cap);
    assert_non_null(text);
    size_t n = fread(text, 1, cap, f);
    fclose(f);
    assert_true(n > 0 && n < cap);
    cel_memory memory;
    il_json_doc *doc = NULL;
    il_error err = {0};
    cel_memory_init(&memory, SIZE_MAX);
    assert_int_equal(il_json_doc_new(&memory.alloc, (il_str){text, n}, NULL, &doc, &err), IL_OK);
    for (const il_json *t = il_json_first(il_json_doc_root(doc)); t != NULL; t = il_json_next(t)) {
        one(s, t);
    }
    il_json_doc_free(doc);
    free(text);
    print_message(
        "%s: %zu tests, %zu passed, %zu wrong; skipped: %zu not supported yet, %zu types, %zu name resolution, %zu unchecked\n",
        s->file, s->total, s->passed, s->wrong, s->unsupported, s->types, s->container, s->unchecked);
    assert_int_equal(s->wrong, 0);
    assert_true(s->passed >= s->least);
}

static void test_conformance(void **state) {
    (void)state;
    suite s = {.file = "cel-conformance.json", .least = 340};
    suite_run(&s, suite_one);
}

static void test_pitfalls(void **state) {
    (void)state;
    suite s = {.file = "cel-pitfalls.json", .least = 25};
    suite_run(&s, suite_one);
}

static void test_parsing(void **state) {
    (void)state;
    suite s = {.file = "cel-celgo-suites.json", .least = 180};
    suite_run(&s, suite_parsing);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conformance), cmocka_unit_test(test_pitfalls),
                                       cmocka_unit_test(test_parsing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
