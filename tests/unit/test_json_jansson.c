/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the same texts with jansson (duplicates rejected, any root, NUL allowed) and compares verdicts and values. A difference must be
 * in the table below, with its reason; one that is listed and never seen fails too, so the table stays true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "helper_json.h"
#include "helper_memory.h"

typedef struct difference {
    bool ours_accepts; /* and jansson refuses; or the other way round */
    const char *says;  /* how the refusing side's message begins */
    const char *reason;
    unsigned seen;
} difference;

static difference differences[] = {
    {true, "too big integer", "number text is kept; who needs an int64 asks il_json_int", 0},
    {true, "too big negative integer", "as above", 0},
    {true, "NUL byte in object key not supported", "keys are counted strings here", 0},
    {false, "expected the end after the value, found `\\x00`", "jansson loses a NUL byte that follows a number or literal", 0},
    {false, "expected `,` or `]`, found `\\x00`", "as above, inside an array", 0},
    {false, "expected `,` or `}`, found `\\x00`", "as above, inside an object", 0},
    {false, "nested deeper than 64 levels", "our default limit; jansson's is 2,048", 0},
    {false, "a key of more than 1024 bytes", "our default limit; jansson has none", 0},
};

static void difference_note(bool ours_accepts, const char *says, const char *text, size_t n) {
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        if (differences[i].ours_accepts == ours_accepts && strncmp(says, differences[i].says, strlen(differences[i].says)) == 0) {
            differences[i].seen++;
            return;
        }
    }
    print_error("text: %.*s\nhex:", (int)n, text);
    for (size_t i = 0; i < n; i++) {
        print_error(" %02x", (unsigned char)text[i]);
    }
    fail_msg("\n%s and %s says `%s`", ours_accepts ? "we accept" : "we refuse", ours_accepts ? "jansson" : "Interlock", says);
}

static bool same_value(const il_json *v, const json_t *j) {
    switch (il_json_kind_of(v)) {
    case IL_JSON_NULL:
        return json_is_null(j);
    case IL_JSON_BOOL:
        return il_json_bool(v) ? json_is_true(j) : json_is_false(j);
    case IL_JSON_NUMBER: {
        int64_t n = 0;
        char text[400];
        if (json_is_integer(j)) {
            return il_json_int(v, &n) && n == json_integer_value(j);
        }
        snprintf(text, sizeof text, "%.*s", IL_STR_ARG(v->text));
        const double d = strtod(text, NULL);
        return json_is_real(j) && memcmp(&d, &(double){json_real_value(j)}, sizeof d) == 0;
    }
    case IL_JSON_STRING:
        return json_is_string(j) && json_string_length(j) == v->text.n &&
               memcmp(json_string_value(j), v->text.n == 0 ? "" : v->text.p, v->text.n) == 0;
    case IL_JSON_ARRAY: {
        size_t i = 0;
        for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
            if (!same_value(c, json_array_get(j, i++))) {
                return false;
            }
        }
        return json_is_array(j) && i == json_array_size(j);
    }
    case IL_JSON_OBJECT: {
        size_t i = 0;
        for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c), i++) {
            char key[1100];
            snprintf(key, sizeof key, "%.*s", IL_STR_ARG(c->key));
            if (!same_value(c, json_object_get(j, key))) {
                return false;
            }
        }
        return json_is_object(j) && i == json_object_size(j);
    }
    }
    return false;
}

static unsigned both_accept, both_refuse;

static void compare(const char *text, size_t n) {
    test_memory m;
    il_json_doc *doc = NULL;
    il_error err = {0};
    json_error_t jerr;
    test_memory_init(&m, SIZE_MAX);
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &jerr);
    const il_status s = il_json_doc_new(&m.alloc, (il_str){text, n}, NULL, &doc, &err);
    if (s == IL_OK && j != NULL) {
        both_accept++;
        if (!same_value(il_json_doc_root(doc), j)) {
            fail_msg("the values of %.*s differ", (int)n, text);
        }
        /* what we write, jansson reads as the same */
        char *out = NULL;
        size_t written = 0;
        assert_int_equal(il_json_text_new(&m.alloc, il_json_doc_root(doc), IL_JSON_SORTED, &out, &written, &err), IL_OK);
        json_t *again = json_loadb(out, written, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &jerr);
        assert_non_null(again);
        assert_true(json_equal(again, j));
        json_decref(again);
        m.alloc.free(m.alloc.ctx, out);
    } else if (s != IL_OK && j == NULL) {
        both_refuse++;
    } else {
        difference_note(s == IL_OK, s == IL_OK ? jerr.text : err.msg, text, n);
    }
    json_decref(j);
    il_json_doc_free(doc);
    assert_int_equal(m.live, 0);
}

static const char *const traps[] = {
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "1e400",
    "-1e400",
    "1e-400",
    "-0",
    "-0.0",
    "0e9999999",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "[1E0]",
    "[1e+00]",
    "[0.1e-0]",
    "{\"\\u0000\":1}",
    "\"\\u0000\"",
    "\"\\uFFFF\"",
    "\"\\uFDD0\"",
    "\"\x7f\"",
    "\"\\/\"",
    "[]]",
    "[[]",
    "{}}",
    "{\"a\":1,\"a\":1}",
    "{\"a\":1,\"\\u0061\":1}",
    "{\"a\":{\"a\":{\"a\":1}}}",
    "\xef\xbb\xbf[]",
    "[\xef\xbb\xbf]",
    "\"\xef\xbb\xbf\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x8f\xbf\xbf\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\\ud800\"",
    "\"\\udfff\\ud800\"",
    "\"\\ud800\\udfff\"",
    "\"\\uD800\\u0020\"",
    "[1,]",
    "{\"a\":1,}",
    "[,]",
    "{,}",
    "[1 2]",
    "{\"a\" 1}",
    "{1:1}",
    "{null:1}",
    "nul",
    "nulll",
    "True",
    "tru e",
    "NaN",
    "Infinity",
    "-Infinity",
    "'a'",
    "/**/1",
    "1//",
    "\t1\n",
    "\v1",
    "\f1",
    "\302\2401",
    "\"\t\"",
    "\"\\\t\"",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\u 123\"",
    "\"\\u+123\"",
    "\"\\u-123\"",
    "",
    " ",
    "\"",
    "\\",
    "01",
    "-01",
    "1.",
    ".1",
    "1e",
    "1e+",
    "+1",
    "0x1",
    "1_0",
    "--1",
    "- 1",
    "1 e1",
    "1.e1",
    "\"a\nb\"",
    "[\"a\",\n\"b\"]",
    "true false",
    "1 1",
};

static void hand_written_traps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
        compare(traps[i], strlen(traps[i]));
    }
    compare("1\0", 2);
    compare("\"a\0b\"", 5);
    compare("[1,\0]", 5);
    compare("[1\0]", 4);
    compare("{\"a\":true\0}", 11);
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    for (size_t n = 62; n < 68; n++) {
        compare(deep + 100 - n, 2 * n);
    }
    char key[1100];
    for (size_t n = 1023; n < 1026; n++) {
        memset(key, 'k', sizeof key);
        key[0] = '{';
        key[1] = '"';
        memcpy(key + 2 + n, "\":1}", 4);
        compare(key, n + 6);
    }
}

static void shared_vectors(void **state) {
    (void)state;
    char path[500];
    snprintf(path, sizeof path, "%s/tests/vectors/json/parse.jsonl", IL_TEST_SOURCE_DIR);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    json_t *v = NULL;
    size_t count = 0;
    while ((v = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        const json_t *text = json_object_get(v, "text");
        if (text != NULL) {
            compare(json_string_value(text), json_string_length(text));
            count++;
        }
        json_decref(v);
    }
    fclose(f);
    assert_true(count > 100);
}

static const char *const seeds[] = {
    "{\"id\":7,\"method\":\"a/b\",\"params\":{\"name\":\"echo\",\"x\":{\"m\":\"h\\u00e9llo \\ud83d\\ude00\\n\"}}}",
    "[0,-0,1.5,-2.25e-3,1E+2,9007199254740993,true,false,null,\"\",[],{},[[{\"a\":[]}]]]",
    "{\"\":0,\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \\\"quoted\\\" \\\\ \\/ \\b\\f\\n\\r\\t\"",
    " { \"a\" : [ 1 , 2 ] ,\r\n\t\"b\" : { } } ",
};

static void random_mutations(void **state) {
    (void)state;
    static const char *const parts[] = {"\"",
                                        "\\",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "0",
                                        "1",
                                        "-",
                                        "+",
                                        ".",
                                        "e",
                                        "\\u0041",
                                        "\\ud800",
                                        "\\udc00",
                                        "\\u0000",
                                        "\\u00e9",
                                        "null",
                                        "true",
                                        " ",
                                        "\n",
                                        "\t",
                                        "\"a\":1,",
                                        "\"a\"",
                                        "\x80",
                                        "\xff",
                                        "\xc3",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\x7f",
                                        "\x01",
                                        "99999999999999999999",
                                        "1e999",
                                        "\xef\xbb\xbf",
                                        "/",
                                        "'",
                                        "[[",
                                        "]]"};
    test_random r = {test_random_seed("mutations")};
    for (int i = 0; i < 20000; i++) {
        char text[400];
        const char *seed = seeds[test_random_below(&r, sizeof seeds / sizeof seeds[0])];
        size_t n = strlen(seed);
        memcpy(text, seed, n);
        for (uint32_t edits = 1 + test_random_below(&r, 3); edits > 0; edits--) {
            const size_t at = test_random_below(&r, (uint32_t)n + 1);
            const uint32_t what = test_random_below(&r, 4);
            if (what == 0 && n > 0) { /* remove a run */
                const size_t len = at == n ? 0 : 1 + test_random_below(&r, (uint32_t)(n - at));
                memmove(text + at, text + at + len, n - at - len);
                n -= len;
            } else if (what == 1 && at < n) { /* change a byte */
                text[at] = (char)test_random_below(&r, 256);
            } else { /* insert a part */
                const char *part = parts[test_random_below(&r, sizeof parts / sizeof parts[0])];
                const size_t len = strlen(part);
                if (n + len <= sizeof text) {
                    memmove(text + at + len, text + at, n - at);
                    memcpy(text + at, part, len);
                    n += len;
                }
            }
        }
        compare(text, n);
    }
}

static void random_trees(void **state) {
    (void)state;
    test_random r = {test_random_seed("trees")};
    test_memory m;
    il_arena a;
    test_memory_init(&m, SIZE_MAX);
    il_arena_init(&a, &m.alloc, (size_t)64 << 20);
    for (int i = 0; i < 2000; i++) {
        const char *text = test_json_text(&a, test_json_random(&a, &r, 4), IL_JSON_AS_READ);
        compare(text, strlen(text));
        il_arena_reset(&a);
    }
    il_arena_free(&a);
}

/* Runs last. */
static void every_listed_difference_was_seen(void **state) {
    (void)state;
    printf("both accept %u, both refuse %u\n", both_accept, both_refuse);
    assert_true(both_accept > 2000 && both_refuse > 2000);
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        printf("%5u  %s (%s)\n", differences[i].seen, differences[i].says, differences[i].reason);
        assert_true(differences[i].seen > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_written_traps),
        cmocka_unit_test(shared_vectors),
        cmocka_unit_test(random_mutations),
        cmocka_unit_test(random_trees),
        cmocka_unit_test(every_listed_difference_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
