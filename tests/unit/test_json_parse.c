/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "base/utf8.h"
#include "helper_json.h"
#include "helper_memory.h"

typedef struct parse_case {
    test_memory m;
    il_json_doc *doc;
    const il_json *root;
    il_error err;
    il_status status;
} parse_case;

static void parse_n(parse_case *c, const char *text, size_t n, const il_json_limits *limits) {
    memset(c, 0, sizeof *c);
    test_memory_init(&c->m, SIZE_MAX);
    c->status = il_json_doc_new(&c->m.alloc, (il_str){text, n}, limits, &c->doc, &c->err);
    c->root = il_json_doc_root(c->doc);
    assert_true((c->status == IL_OK) == (c->doc != NULL));
}

static void parse(parse_case *c, const char *text) { parse_n(c, text, strlen(text), NULL); }

static void parse_end(parse_case *c) {
    il_json_doc_free(c->doc);
    assert_int_equal(c->m.live, 0);
}

static void accepts(const char *text, const char *written) {
    parse_case c;
    char *out = NULL;
    size_t n = 0;
    parse(&c, text);
    if (c.status != IL_OK) {
        fail_msg("%s: %s", text, c.err.msg);
    }
    assert_int_equal(il_json_text_new(&c.m.alloc, c.root, IL_JSON_AS_READ, &out, &n, &c.err), IL_OK);
    assert_string_equal(out, written);
    assert_int_equal(n, strlen(written));
    c.m.alloc.free(c.m.alloc.ctx, out);
    parse_end(&c);
}

static void refuses(const char *text, il_status code, uint32_t line, uint32_t col) {
    parse_case c;
    parse(&c, text);
    assert_int_equal(c.status, code);
    assert_int_equal(c.err.code, code);
    assert_int_equal(c.err.line, line);
    assert_int_equal(c.err.col, col);
    assert_true(c.err.msg[0] != '\0');
    parse_end(&c);
}

/* ---- the strictness table: rows where common libraries differ ---- */

static void strict_duplicate_key_is_refused_with_both_positions(void **state) {
    (void)state;
    parse_case c;
    parse(&c, "{\"a\": 1,\n \"a\": 2}");
    assert_int_equal(c.status, IL_E_SYNTAX);
    assert_int_equal(c.err.line, 2);
    assert_int_equal(c.err.col, 2);
    assert_string_equal(c.err.msg, "duplicate key `a`, first at line 1 column 2");
    parse_end(&c);
    /* a line of a file of lines has the number that its caller knows */
    parse(&c, "{\"a\": 1, \"a\": 2}");
    assert_string_equal(c.err.msg, "duplicate key `a`, first at column 2");
    parse_end(&c);
}

static void strict_large_integers_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } fits[] = {{"9007199254740993", INT64_C(9007199254740993)},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"-0", 0}};
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
        parse_case c;
        int64_t v = 1;
        parse(&c, fits[i].text);
        assert_true(il_json_int(c.root, &v));
        assert_true(v == fits[i].value);
        assert_true(il_str_eq(il_json_text(c.root), il_str_of(fits[i].text)));
        parse_end(&c);
        accepts(fits[i].text, fits[i].text);
    }
}

static void strict_integers_beyond_int64_keep_their_text(void **state) {
    (void)state;
    static const char *const texts[] = {"9223372036854775808", "18446744073709551615", "-9223372036854775809"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        parse_case c;
        int64_t v = 42;
        parse(&c, texts[i]);
        assert_false(il_json_int(c.root, &v));
        assert_int_equal(v, 42);
        parse_end(&c);
        accepts(texts[i], texts[i]);
    }
}

static void strict_decimals_keep_their_text(void **state) {
    (void)state;
    accepts("[0.1,123456789012345678.25,0.10000000000000001,1.0,1]", "[0.1,123456789012345678.25,0.10000000000000001,1.0,1]");
}

/* Whether a number is refused for its size, against the C library's own reading of it. */
static void finite_as_strtod(const char *text) {
    parse_case c;
    const double v = strtod(text, NULL);
    if (isfinite(v)) {
        parse(&c, text);
        assert_int_equal(il_json_kind_of(c.root), IL_JSON_NUMBER);
        parse_end(&c);
    } else {
        refuses(text, IL_E_SYNTAX, 1, 1);
    }
}

static void strict_not_finite_is_refused(void **state) {
    (void)state;
    /* the greatest double, half a step above it (which rounds to infinity), and one digit less than that */
    static const char bound[] =
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070963302"
        "8641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027006985"
        "5571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";
    char text[512];
    refuses("1e400", IL_E_SYNTAX, 1, 1);
    finite_as_strtod(bound);
    for (size_t i = 0; i + 1 < sizeof bound; i++) { /* each digit one less, one more, and the number cut there */
        for (int by = -1; by <= 1; by += 2) {
            memcpy(text, bound, sizeof bound);
            if (text[i] + by >= (i == 0 ? '1' : '0') && text[i] + by <= '9') {
                text[i] = (char)(text[i] + by);
                finite_as_strtod(text);
            }
        }
        const int dot = snprintf(text, sizeof text, "-0.%.*se%zu", (int)(i + 1), bound, (size_t)309);
        assert_true(dot > 0);
        finite_as_strtod(text);
    }
    test_random r = {test_random_seed("finite")};
    for (int i = 0; i < 20000; i++) {
        const unsigned zeros = test_random_below(&r, 8), whole = test_random_below(&r, 2) ? test_random_below(&r, 100000) : 0;
        (void)snprintf(text, sizeof text, "%s%u.%0*d%ue%s%u", test_random_below(&r, 2) ? "-" : "", whole, (int)zeros + 1, 0,
                       test_random_below(&r, 1000), test_random_below(&r, 2) ? "" : "+", 295 + test_random_below(&r, 30));
        finite_as_strtod(text);
    }
}

static void strict_nan_and_single_quotes_are_refused(void **state) {
    (void)state;
    refuses("NaN", IL_E_SYNTAX, 1, 1);
    refuses("{'a':1}", IL_E_SYNTAX, 1, 2);
}

static void strict_leading_zero_is_refused(void **state) {
    (void)state;
    refuses("[01]", IL_E_SYNTAX, 1, 2);
}

static void strict_lone_surrogate_is_refused(void **state) {
    (void)state;
    refuses("[\"\\ud800\"]", IL_E_SYNTAX, 1, 3);
    refuses("[\"\\udc00\"]", IL_E_SYNTAX, 1, 3);
}

static void strict_invalid_utf8_is_refused(void **state) {
    (void)state;
    refuses("[\"\xff\"]", IL_E_SYNTAX, 1, 3);
}

static void strict_escaped_nul_is_kept(void **state) {
    (void)state;
    parse_case c;
    parse(&c, "\"a\\u0000b\"");
    assert_int_equal(il_json_text(c.root).n, 3);
    assert_memory_equal(il_json_text(c.root).p, "a\0b", 3);
    parse_end(&c);
    accepts("\"a\\u0000b\"", "\"a\\u0000b\"");
}

static void strict_20000_deep_is_refused(void **state) {
    (void)state;
    char text[20001];
    memset(text, '[', 20000);
    text[20000] = '\0';
    refuses(text, IL_E_LIMIT, 1, 65);
    for (size_t i = 0; i < 20000; i += 5) {
        memcpy(text + i, "{\"a\":", 5);
    }
    refuses(text, IL_E_LIMIT, 1, 5 * 64 + 1);
}

/* ---- attacks at the wire that concern the reader and the writer ---- */

static void wire_duplicates_at_any_depth(void **state) {
    (void)state;
    refuses("{\"params\":{\"arguments\":[{\"message\":1,\"message\":2}]}}", IL_E_SYNTAX, 1, 38);
    refuses("{\"method\":\"a\",\"method\":\"b\"}", IL_E_SYNTAX, 1, 15);
}

static void wire_duplicates_by_escape(void **state) {
    (void)state;
    refuses("{\"message\":1,\"m\\u0065ssage\":2}", IL_E_SYNTAX, 1, 14);
}

static void wire_invalid_utf8_forms(void **state) {
    (void)state;
    refuses("\"\xff\xc0\x80\"", IL_E_SYNTAX, 1, 2);
    refuses("\"\xc0\xaf\"", IL_E_SYNTAX, 1, 2);
    refuses("\"\xed\xa0\x80\"", IL_E_SYNTAX, 1, 2);
    refuses("\"\xf4\x90\x80\x80\"", IL_E_SYNTAX, 1, 2);
}

static void wire_id_lexeme_is_kept(void **state) {
    (void)state;
    parse_case c;
    int64_t v = 0;
    parse(&c, "{\"id\":8.0}");
    const il_json *id = il_json_get(c.root, IL_STR("id"));
    assert_true(il_str_eq(il_json_text(id), IL_STR("8.0")));
    assert_false(il_json_int(id, &v));
    parse_end(&c);
    parse(&c, "{\"id\":8e0}");
    assert_false(il_json_int(il_json_get(c.root, IL_STR("id")), &v));
    parse_end(&c);
}

static void wire_byte_order_mark_is_refused(void **state) {
    (void)state;
    refuses("\xef\xbb\xbf{}", IL_E_SYNTAX, 1, 1);
}

static void wire_batch_reads_as_an_array(void **state) {
    (void)state;
    parse_case c;
    parse(&c, "[{\"id\":1}]");
    assert_int_equal(il_json_kind_of(c.root), IL_JSON_ARRAY); /* so that the caller can refuse it by its kind */
    assert_null(il_json_get(c.root, IL_STR("id")));
    parse_end(&c);
}

static void wire_trailing_carriage_return_is_white_space(void **state) {
    (void)state;
    accepts("{\"a\":1}\r\n", "{\"a\":1}");
}

static void wire_no_output_holds_a_line_end(void **state) {
    (void)state;
    accepts("\"\\n\\r\\u0085\xe2\x80\xa8\xe2\x80\xa9\x7f\\u000b\\f\"", "\"\\n\\r\xc2\x85\\u2028\\u2029\\u007f\\u000b\\f\"");
}

static void wire_proto_key_is_a_plain_member(void **state) {
    (void)state;
    parse_case c;
    parse(&c, "{\"__proto__\":{\"x\":1},\"constructor\":2}");
    assert_int_equal(il_json_count(c.root), 2);
    assert_null(il_json_get(c.root, IL_STR("x")));
    assert_non_null(il_json_get(c.root, IL_STR("__proto__")));
    parse_end(&c);
}

static void wire_default_limits(void **state) {
    (void)state;
    parse_case c;
    const size_t n = ((size_t)4 << 20) + 1;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, ' ', n);
    text[0] = '1';
    parse_n(&c, text, n - 1, NULL);
    assert_int_equal(c.status, IL_OK);
    parse_end(&c);
    parse_n(&c, text, n, NULL);
    assert_int_equal(c.status, IL_E_LIMIT);
    assert_int_equal(c.m.calls, 1); /* nothing is allocated for a text that is too long, but the handle */
    parse_end(&c);
    memset(text, '[', 1);
    for (size_t i = 0; i < 200001; i++) {
        text[1 + 2 * i] = '0';
        text[2 + 2 * i] = ',';
    }
    text[2 * 199999] = ']'; /* 199,999 numbers and the array: 200,000 values */
    parse_n(&c, text, 2 * 199999 + 1, NULL);
    assert_int_equal(c.status, IL_OK);
    assert_int_equal(il_json_count(c.root), 199999);
    parse_end(&c);
    text[2 * 199999] = ',';
    text[2 * 200000] = ']';
    parse_n(&c, text, 2 * 200000 + 1, NULL);
    assert_int_equal(c.status, IL_E_LIMIT);
    assert_int_equal(c.err.col, 2 * 199999 + 2);
    parse_end(&c);
    free(text);
}

/* ---- vectors ---- */

static size_t vector_bytes(const json_t *v, char *out, size_t cap) {
    const char *hex = json_string_value(json_object_get(v, "hex"));
    if (hex == NULL) {
        const json_t *text = json_object_get(v, "text");
        assert_true(json_is_string(text) && json_string_length(text) <= cap);
        memcpy(out, json_string_value(text), json_string_length(text));
        return json_string_length(text);
    }
    size_t n = 0;
    for (; hex[2 * n] != '\0'; n++) {
        unsigned byte = 0;
        assert_true(n < cap && sscanf(hex + 2 * n, "%2x", &byte) == 1);
        out[n] = (char)byte;
    }
    return n;
}

static void vector_run(const json_t *v) {
    static char text[1 << 16];
    const char *name = json_string_value(json_object_get(v, "name"));
    const json_t *l = json_object_get(v, "limits");
    const size_t n = vector_bytes(v, text, sizeof text);
    const il_json_limits limits = {
        .size = sizeof limits,
        .bytes = (size_t)json_integer_value(json_object_get(l, "bytes")),
        .depth = (uint32_t)json_integer_value(json_object_get(l, "depth")),
        .nodes = (uint32_t)json_integer_value(json_object_get(l, "nodes")),
        .key_bytes = (uint32_t)json_integer_value(json_object_get(l, "key_bytes")),
    };
    parse_case c;
    parse_n(&c, text, n, l == NULL ? NULL : &limits);
    const char *error = json_string_value(json_object_get(v, "error"));
    if (error != NULL) {
        if (strcmp(il_status_name(c.status), error) != 0 || c.err.line != json_integer_value(json_object_get(v, "line")) ||
            c.err.col != json_integer_value(json_object_get(v, "col")) ||
            (json_int_t)c.err.offset != json_integer_value(json_object_get(v, "offset"))) {
            fail_msg("%s: %s %u:%u @%zu %s", name, il_status_name(c.status), c.err.line, c.err.col, c.err.offset, c.err.msg);
        }
        assert_true(il_str_utf8(il_str_of(c.err.msg), NULL));
    } else {
        static const char *const members[] = {"as_read", "sorted"};
        if (c.status != IL_OK) {
            fail_msg("%s: %s %u:%u %s", name, il_status_name(c.status), c.err.line, c.err.col, c.err.msg);
        }
        for (int order = IL_JSON_AS_READ; order <= IL_JSON_SORTED; order++) {
            char *out = NULL;
            size_t written = 0;
            const json_t *want = json_object_get(v, members[order]);
            assert_int_equal(il_json_text_new(&c.m.alloc, c.root, (il_json_order)order, &out, &written, &c.err), IL_OK);
            if (written != json_string_length(want) || memcmp(out, json_string_value(want), written) != 0) {
                fail_msg("%s, %s: %s", name, members[order], out);
            }
            c.m.alloc.free(c.m.alloc.ctx, out);
        }
    }
    parse_end(&c);
}

static void vectors_hold(void **state) {
    (void)state;
    char path[500];
    snprintf(path, sizeof path, "%s/tests/vectors/json/parse.jsonl", IL_TEST_SOURCE_DIR);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t count = 0;
    for (;;) {
        json_t *v = json_loadf(f, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL);
        if (v == NULL) {
            break;
        }
        vector_run(v);
        json_decref(v);
        count++;
    }
    assert_true(feof(f));
    fclose(f);
    assert_true(count > 150);
}

/* ---- positions, memory ---- */

static void nodes_know_where_they_stood(void **state) {
    (void)state;
    parse_case c;
    parse(&c, "{\n  \"\xc3\xa9\xe2\x82\xac\": [\"\xf0\x9f\x98\x80\", 2],\r\n\t\"k\" : {}\n}");
    const il_json *first = il_json_first(c.root);
    assert_int_equal(il_json_line(c.root), 1);
    assert_int_equal(il_json_col(c.root), 1);
    assert_int_equal(first->key_line, 2);
    assert_int_equal(first->key_col, 3);
    assert_int_equal(first->key_offset, 4);
    assert_int_equal(il_json_line(first), 2);
    assert_int_equal(il_json_col(first), 9);
    assert_int_equal(first->offset, 13);
    const il_json *two = il_json_next(il_json_first(first));
    assert_int_equal(il_json_col(two), 15);
    assert_int_equal(two->offset, 22);
    const il_json *second = il_json_next(first);
    assert_int_equal(second->key_line, 3);
    assert_int_equal(second->key_col, 2);
    assert_int_equal(il_json_col(second), 8);
    assert_null(il_json_next(second));
    parse_end(&c);
}

static void text_may_go_after_parsing(void **state) {
    (void)state;
    parse_case c;
    char text[] = "{\"key\":[\"plain\",\"esc\\u0041\",1.50]}";
    parse(&c, text);
    memset(text, 'x', sizeof text - 1);
    char *out = NULL;
    size_t n = 0;
    assert_int_equal(il_json_text_new(&c.m.alloc, c.root, IL_JSON_AS_READ, &out, &n, NULL), IL_OK);
    assert_string_equal(out, "{\"key\":[\"plain\",\"escA\",1.50]}");
    c.m.alloc.free(c.m.alloc.ctx, out);
    parse_end(&c);
}

static void limits_without_a_size_or_above_the_bound_are_an_argument_error(void **state) {
    (void)state;
    parse_case c;
    const il_json_limits deep = {.size = sizeof deep, .depth = IL_JSON_DEPTH_MAX + 1};
    const il_json_limits most = {.size = sizeof most, .depth = IL_JSON_DEPTH_MAX};
    char text[2 * IL_JSON_DEPTH_MAX + 2];
    /* No limit can be set above 1 GiB; the text is not read. */
    parse_n(&c, "1", ((size_t)1 << 30) + 1, &(il_json_limits){.size = sizeof(il_json_limits), .bytes = SIZE_MAX});
    assert_int_equal(c.status, IL_E_LIMIT);
    parse_end(&c);
    parse_n(&c, "1", 1, &(il_json_limits){.depth = 1});
    assert_int_equal(c.status, IL_E_ARGUMENT);
    parse_end(&c);
    parse_n(&c, "1", 1, &deep);
    assert_int_equal(c.status, IL_E_ARGUMENT);
    parse_end(&c);
    memset(text, '[', IL_JSON_DEPTH_MAX);
    memset(text + IL_JSON_DEPTH_MAX, ']', IL_JSON_DEPTH_MAX);
    parse_n(&c, text, 2 * IL_JSON_DEPTH_MAX, &most);
    assert_int_equal(c.status, IL_OK);
    char *out = NULL;
    size_t n = 0;
    assert_int_equal(il_json_text_new(&c.m.alloc, c.root, IL_JSON_SORTED, &out, &n, NULL), IL_OK);
    assert_int_equal(n, 2 * IL_JSON_DEPTH_MAX);
    assert_memory_equal(out, text, n);
    c.m.alloc.free(c.m.alloc.ctx, out);
    parse_end(&c);
    memset(text, '[', IL_JSON_DEPTH_MAX + 1);
    parse_n(&c, text, IL_JSON_DEPTH_MAX + 1, &most);
    assert_int_equal(c.status, IL_E_LIMIT);
    parse_end(&c);
}

static void memory_limit_bounds_the_tree_and_the_arena_cap_returns(void **state) {
    (void)state;
    parse_case c;
    const il_json_limits small = {.size = sizeof small, .memory = 2000};
    char text[401];
    text[0] = '[';
    for (size_t i = 1; i < 400; i += 2) {
        text[i] = '0';
        text[i + 1] = ',';
    }
    text[400] = ']';
    text[399] = '0';
    parse_n(&c, text, 401, &small);
    assert_int_equal(c.status, IL_E_LIMIT);
    assert_true(c.err.line == 1 && c.err.col > 2);
    assert_true(c.m.largest < 4000);
    parse_end(&c);

    test_memory m;
    il_arena a;
    il_json *v = NULL;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, 1 << 20);
    assert_int_equal(il_json_parse(&a, (il_str){text, 401}, &small, &v, NULL), IL_E_LIMIT);
    assert_null(v);
    assert_int_equal(a.cap, 1 << 20);
    assert_int_equal(il_json_parse(&a, (il_str){text, 401}, NULL, &v, NULL), IL_OK);
    il_arena_free(&a);
    assert_int_equal(m.live, 0);
}

/* Every allocation fails once; each failure is reported, positioned, and leaks nothing. */
static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    char text[6000] = "{\"first\":[";
    size_t n = strlen(text);
    for (int i = 0; i < 150; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"k%d\":\"value\\n%d\"},", i, i);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "null]}");
    size_t failures = 0;
    for (size_t left = 0;; left++) {
        test_memory m;
        il_json_doc *doc = NULL;
        il_error err = {0};
        test_memory_init(&m, left);
        const il_status s = il_json_doc_new(&m.alloc, (il_str){text, n}, NULL, &doc, &err);
        if (s == IL_OK) {
            il_json_doc_free(doc);
            assert_int_equal(m.live, 0);
            break;
        }
        failures++;
        assert_int_equal(s, IL_E_MEMORY);
        assert_int_equal(err.code, IL_E_MEMORY);
        assert_int_equal(err.line, 1);
        assert_true(err.col >= 1);
        assert_null(doc);
        assert_int_equal(m.live, 0);
    }
    assert_true(failures >= 4);
}

static void error_may_be_null(void **state) {
    (void)state;
    test_memory m;
    il_json_doc *doc = NULL;
    test_memory_init(&m, SIZE_MAX);
    assert_int_equal(il_json_doc_new(&m.alloc, IL_STR("[1,"), NULL, &doc, NULL), IL_E_SYNTAX);
    assert_int_equal(il_json_doc_new(&m.alloc, IL_STR("{\"a\":1,\"a\":1}"), NULL, &doc, NULL), IL_E_SYNTAX);
    assert_int_equal(il_json_doc_new(&m.alloc, (il_str){NULL, 0}, NULL, &doc, NULL), IL_E_SYNTAX);
    test_memory_init(&m, 1);
    assert_int_equal(il_json_doc_new(&m.alloc, IL_STR("1"), NULL, &doc, NULL), IL_E_MEMORY);
    assert_int_equal(m.live, 0);
    il_json_doc_free(NULL);
    assert_null(il_json_doc_root(NULL));
}

/* Every prefix of a text is refused, but for the whole: nothing half-read is ever accepted, nor read past its end. */
static void every_prefix_is_refused(void **state) {
    (void)state;
    static const char text[] = "{\"a\\u00e9\xe2\x82\xac\":[-1.5e+3,true,null,\"\\ud83d\\ude00\"],\"b\":{}}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *exact = malloc(n == 0 ? 1 : n); /* so that a read past the end is seen by sanitizers */
        assert_non_null(exact);
        memcpy(exact, text, n);
        parse_case c;
        parse_n(&c, exact, n, NULL);
        assert_int_equal(c.status, IL_E_SYNTAX);
        assert_true(c.err.offset <= n);
        parse_end(&c);
        free(exact);
    }
    accepts(text, "{\"a\xc3\xa9\xe2\x82\xac\":[-1.5e+3,true,null,\"\xf0\x9f\x98\x80\"],\"b\":{}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_duplicate_key_is_refused_with_both_positions),
        cmocka_unit_test(strict_large_integers_are_exact),
        cmocka_unit_test(strict_integers_beyond_int64_keep_their_text),
        cmocka_unit_test(strict_decimals_keep_their_text),
        cmocka_unit_test(strict_not_finite_is_refused),
        cmocka_unit_test(strict_nan_and_single_quotes_are_refused),
        cmocka_unit_test(strict_leading_zero_is_refused),
        cmocka_unit_test(strict_lone_surrogate_is_refused),
        cmocka_unit_test(strict_invalid_utf8_is_refused),
        cmocka_unit_test(strict_escaped_nul_is_kept),
        cmocka_unit_test(strict_20000_deep_is_refused),
        cmocka_unit_test(wire_duplicates_at_any_depth),
        cmocka_unit_test(wire_duplicates_by_escape),
        cmocka_unit_test(wire_invalid_utf8_forms),
        cmocka_unit_test(wire_id_lexeme_is_kept),
        cmocka_unit_test(wire_byte_order_mark_is_refused),
        cmocka_unit_test(wire_batch_reads_as_an_array),
        cmocka_unit_test(wire_trailing_carriage_return_is_white_space),
        cmocka_unit_test(wire_no_output_holds_a_line_end),
        cmocka_unit_test(wire_proto_key_is_a_plain_member),
        cmocka_unit_test(wire_default_limits),
        cmocka_unit_test(vectors_hold),
        cmocka_unit_test(nodes_know_where_they_stood),
        cmocka_unit_test(text_may_go_after_parsing),
        cmocka_unit_test(limits_without_a_size_or_above_the_bound_are_an_argument_error),
        cmocka_unit_test(memory_limit_bounds_the_tree_and_the_arena_cap_returns),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(error_may_be_null),
        cmocka_unit_test(every_prefix_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
