/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "helper_json.h"
#include "helper_memory.h"

static test_memory memory;
static il_arena arena;

static int write_setup(void **state) {
    (void)state;
    test_memory_init(&memory, SIZE_MAX);
    il_arena_init(&arena, &memory.alloc, (size_t)256 << 20);
    return 0;
}

static int write_teardown(void **state) {
    (void)state;
    il_arena_free(&arena);
    return memory.live == 0 ? 0 : -1;
}

static void writes_string(il_str in, const char *want) {
    assert_string_equal(test_json_text(&arena, il_json_string(&arena, in), IL_JSON_AS_READ), want);
}

/* Each of the 128 ASCII characters, by the rule and not by the writer's table. */
static void every_ascii_character_is_written_by_the_rule(void **state) {
    (void)state;
    for (unsigned c = 0; c < 128; c++) {
        const char in = (char)c;
        char want[20];
        switch (c) {
        case '"':
            snprintf(want, sizeof want, "\"\\\"\"");
            break;
        case '\\':
            snprintf(want, sizeof want, "\"\\\\\"");
            break;
        case '\b':
            snprintf(want, sizeof want, "\"\\b\"");
            break;
        case '\f':
            snprintf(want, sizeof want, "\"\\f\"");
            break;
        case '\n':
            snprintf(want, sizeof want, "\"\\n\"");
            break;
        case '\r':
            snprintf(want, sizeof want, "\"\\r\"");
            break;
        case '\t':
            snprintf(want, sizeof want, "\"\\t\"");
            break;
        default:
            snprintf(want, sizeof want, c < 32 || c == 127 ? "\"\\u%04x\"" : "\"%c\"", c);
        }
        writes_string((il_str){&in, 1}, want);
    }
}

/* A character that needs an escape at every place of a run, so that the eight-byte scan is met at every offset. */
static void escapes_are_found_at_every_offset(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } marks[] = {{"\n", "\\n"},
                 {"\"", "\\\""},
                 {"\\", "\\\\"},
                 {"\x7f", "\\u007f"},
                 {"\x1f", "\\u001f"},
                 {"\xe2\x80\xa8", "\\u2028"},
                 {"\xe2\x80\xa9", "\\u2029"},
                 {"\xe2\x80\xaa", "\xe2\x80\xaa"},
                 {"\xc3\xa9", "\xc3\xa9"},
                 {" ", " "},
                 {"!", "!"},
                 {"#", "#"},
                 {"~", "~"}};
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++) {
        for (int at = 0; at < 20; at++) {
            for (int after = 0; after < 12; after++) {
                char in[64];
                char want[80];
                snprintf(in, sizeof in, "%.*s%s%.*s", at, "abcdefghijklmnopqrst", marks[m].in, after, "ABCDEFGHIJKL");
                snprintf(want, sizeof want, "\"%.*s%s%.*s\"", at, "abcdefghijklmnopqrst", marks[m].out, after, "ABCDEFGHIJKL");
                writes_string(il_str_of(in), want);
                il_json *back = NULL;
                assert_int_equal(il_json_parse(&arena, il_str_of(want), NULL, &back, NULL), IL_OK);
                assert_true(il_str_eq(back->text, il_str_of(in)));
            }
        }
        il_arena_reset(&arena);
    }
}

static void keys_are_escaped_too(void **state) {
    (void)state;
    il_json *v = il_json_make(&arena, IL_JSON_OBJECT);
    assert_true(il_json_set(v, IL_STR("a\n\"\xe2\x80\xa8"), il_json_boolean(&arena, true)));
    assert_string_equal(test_json_text(&arena, v, IL_JSON_AS_READ), "{\"a\\n\\\"\\u2028\":true}");
    /* a member is written as a value, without its key */
    assert_string_equal(test_json_text(&arena, il_json_first(v), IL_JSON_AS_READ), "true");
    assert_string_equal(test_json_text(&arena, NULL, IL_JSON_AS_READ), "null");
}

static il_status write_status(const il_json *v) {
    il_buf b;
    il_str out;
    il_buf_init(&b, &arena, SIZE_MAX);
    il_json_write(&b, v, IL_JSON_SORTED);
    return il_buf_done(&b, &out, NULL);
}

static void built_nonsense_is_not_written(void **state) {
    (void)state;
    assert_int_equal(write_status(il_json_string(&arena, IL_STR("a\xff"))), IL_E_INVALID);
    assert_int_equal(write_status(il_json_string(&arena, IL_STR("\xed\xa0\x80"))), IL_E_INVALID);
    assert_int_equal(write_status(il_json_string(&arena, IL_STR("\xe2\x80"))), IL_E_INVALID);
    il_json *o = il_json_make(&arena, IL_JSON_OBJECT);
    assert_true(il_json_set(o, IL_STR("k\xc0\x80"), il_json_make(&arena, IL_JSON_NULL)));
    assert_int_equal(write_status(o), IL_E_INVALID);
    static const char *const numbers[] = {"", "NaN", "01", "1.", "+1", "1 ", "1,2", "0x1", "-"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        il_json *n = il_json_make(&arena, IL_JSON_NUMBER);
        n->text = il_str_of(numbers[i]);
        assert_int_equal(write_status(n), IL_E_INVALID);
    }
    il_json *odd = il_json_make(&arena, IL_JSON_NULL);
    odd->kind = 77;
    assert_int_equal(write_status(odd), IL_E_INVALID);
}

static void built_depth_is_bounded(void **state) {
    (void)state;
    il_json *v = il_json_make(&arena, IL_JSON_ARRAY);
    for (int i = 1; i < IL_JSON_DEPTH_MAX; i++) {
        il_json *outer = il_json_make(&arena, IL_JSON_ARRAY);
        assert_true(il_json_push(outer, v));
        v = outer;
    }
    assert_int_equal(write_status(v), IL_OK);
    for (int i = 0; i < 2; i++) {
        il_json *outer = il_json_make(&arena, IL_JSON_ARRAY);
        assert_true(il_json_push(outer, v));
        v = outer;
    }
    assert_int_equal(write_status(v), IL_E_LIMIT);
}

static void buffer_limit_stops_the_writer(void **state) {
    (void)state;
    il_buf b;
    il_str out;
    il_json *v = NULL;
    assert_int_equal(il_json_parse(&arena, IL_STR("{\"a\":[1,2,\"three\"]}"), NULL, &v, NULL), IL_OK);
    for (size_t max = 0; max < 19; max++) {
        il_buf_init(&b, &arena, max);
        il_json_write(&b, v, IL_JSON_AS_READ);
        assert_int_equal(il_buf_done(&b, &out, NULL), IL_E_LIMIT);
    }
    il_buf_init(&b, &arena, 19);
    il_json_write(&b, v, IL_JSON_AS_READ);
    assert_int_equal(il_buf_done(&b, &out, NULL), IL_OK);
}

/* Any tree written and read again is the same tree, in both orders, and its digest does not depend on the order of members. */
static void random_trees_come_back(void **state) {
    (void)state;
    test_random r = {test_random_seed("random trees")};
    size_t large = 0;
    for (int i = 0; i < 3000; i++) {
        il_json *v = test_json_random(&arena, &r, 4);
        il_json *back = NULL;
        il_json *again = NULL;
        const char *text = test_json_text(&arena, v, IL_JSON_AS_READ);
        assert_non_null(text);
        large += v->count > 8 && v->kind == IL_JSON_OBJECT;
        assert_int_equal(il_json_parse(&arena, il_str_of(text), NULL, &back, NULL), IL_OK);
        assert_true(test_json_equal(v, back));
        assert_string_equal(test_json_text(&arena, back, IL_JSON_AS_READ), text);
        for (const char *p = text; *p != '\0'; p++) {
            assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
        }
        assert_null(strstr(text, "\xe2\x80\xa8"));
        assert_null(strstr(text, "\xe2\x80\xa9"));

        const il_json *shuffled = test_json_shuffled(&arena, &r, v);
        const char *sorted = test_json_text(&arena, v, IL_JSON_SORTED);
        assert_string_equal(test_json_text(&arena, shuffled, IL_JSON_SORTED), sorted);
        uint8_t one[IL_DIGEST_BYTES];
        uint8_t two[IL_DIGEST_BYTES];
        uint8_t three[IL_DIGEST_BYTES];
        assert_int_equal(il_json_digest(v, NULL, one, NULL), IL_OK);
        assert_int_equal(il_json_digest(shuffled, NULL, two, NULL), IL_OK);
        il_sha256_of(il_str_of(sorted), three);
        assert_memory_equal(one, two, sizeof one);
        assert_memory_equal(one, three, sizeof one);
        assert_int_equal(il_json_parse(&arena, il_str_of(sorted), NULL, &again, NULL), IL_OK);
        assert_string_equal(test_json_text(&arena, again, IL_JSON_AS_READ), sorted);
        il_arena_reset(&arena);
    }
    assert_true(large > 50); /* indexed objects were among them */
}

/* The digest does depend on everything else. */
static void digest_tells_values_apart(void **state) {
    (void)state;
    static const char *const texts[] = {"null",
                                        "false",
                                        "true",
                                        "0",
                                        "-0",
                                        "0.0",
                                        "\"\"",
                                        "\"0\"",
                                        "[]",
                                        "{}",
                                        "[0]",
                                        "{\"\":0}",
                                        "[[],0]",
                                        "[0,[]]",
                                        "{\"a\":1}",
                                        "{\"a\":2}",
                                        "{\"b\":1}",
                                        "{\"a\":1,\"b\":2}",
                                        "{\"a\":2,\"b\":1}",
                                        "[1,2]",
                                        "[2,1]",
                                        "1",
                                        "1.0"};
    enum { N = sizeof texts / sizeof texts[0] };
    uint8_t digests[N][IL_DIGEST_BYTES];
    for (size_t i = 0; i < N; i++) {
        il_json *v = NULL;
        assert_int_equal(il_json_parse(&arena, il_str_of(texts[i]), NULL, &v, NULL), IL_OK);
        assert_int_equal(il_json_digest(v, NULL, digests[i], NULL), IL_OK);
        for (size_t k = 0; k < i; k++) {
            assert_false(il_digest_eq(digests[i], digests[k]));
        }
    }
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    test_random r = {7};
    il_json *v = il_json_make(&arena, IL_JSON_ARRAY);
    for (int i = 0; i < 200; i++) {
        assert_true(il_json_push(v, test_json_random(&arena, &r, 3)));
    }
    size_t failures = 0;
    for (size_t left = 0;; left++) {
        test_memory m;
        char *text = NULL;
        size_t n = 1;
        il_error err = {0};
        test_memory_init(&m, left);
        const il_status s = il_json_text_new(&m.alloc, v, IL_JSON_SORTED, &text, &n, &err);
        if (s == IL_OK) {
            assert_int_equal(strlen(text), n);
            assert_string_equal(text, test_json_text(&arena, v, IL_JSON_SORTED));
            m.alloc.free(m.alloc.ctx, text);
            assert_int_equal(m.live, 0);
            break;
        }
        failures++;
        assert_int_equal(s, IL_E_MEMORY);
        assert_int_equal(err.code, IL_E_MEMORY);
        assert_null(text);
        assert_int_equal(n, 0);
        assert_int_equal(m.live, 0);
    }
    assert_true(failures >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_ascii_character_is_written_by_the_rule, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(escapes_are_found_at_every_offset, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(keys_are_escaped_too, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(built_nonsense_is_not_written, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(built_depth_is_bounded, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(buffer_limit_stops_the_writer, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(random_trees_come_back, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(digest_tells_values_apart, write_setup, write_teardown),
        cmocka_unit_test_setup_teardown(every_failing_allocation_is_survived, write_setup, write_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
