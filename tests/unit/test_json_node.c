/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_json.h"
#include "helper_memory.h"
#include "json/member.h"

static test_memory memory;
static il_arena arena;

static int node_setup(void **state) {
    (void)state;
    test_memory_init(&memory, SIZE_MAX);
    il_arena_init(&arena, &memory.alloc, (size_t)256 << 20);
    return 0;
}

static int node_teardown(void **state) {
    (void)state;
    il_arena_free(&arena);
    return memory.live == 0 ? 0 : -1;
}

static il_json *read_json(const char *text) {
    il_json *v = NULL;
    il_error err = {0};
    if (il_json_parse(&arena, il_str_of(text), NULL, &v, &err) != IL_OK) {
        fail_msg("%s: %s", text, err.msg);
    }
    return v;
}

static void is(const il_json *v, const char *want) { assert_string_equal(test_json_text(&arena, v, IL_JSON_AS_READ), want); }

static void null_answers_as_the_literal(void **state) {
    (void)state;
    const il_json *literal = read_json("null");
    const il_json *both[] = {NULL, literal};
    for (size_t i = 0; i < 2; i++) {
        const il_json *v = both[i];
        int64_t n = 42;
        assert_int_equal(il_json_kind_of(v), IL_JSON_NULL);
        assert_false(il_json_bool(v));
        assert_int_equal(il_json_text(v).n, 0);
        assert_false(il_json_int(v, &n));
        assert_int_equal(n, 42);
        assert_int_equal(il_json_count(v), 0);
        assert_null(il_json_get(v, IL_STR("a")));
        assert_null(il_json_first(v));
        assert_null(il_json_next(v));
        assert_int_equal(il_json_key(v).n, 0);
    }
    assert_int_equal(il_json_line(NULL), 0);
    assert_int_equal(il_json_col(NULL), 0);
}

static void access_does_not_convert(void **state) {
    (void)state;
    int64_t n = 0;
    const il_json *v = read_json("[true,\"true\",1,\"1\",1.0,[1],{\"a\":1}]");
    const il_json *item[7];
    size_t i = 0;
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        item[i++] = c;
    }
    assert_int_equal(i, 7);
    assert_true(il_json_bool(item[0]));
    assert_false(il_json_bool(item[1]));
    assert_false(il_json_bool(item[2]));
    assert_int_equal(il_json_text(item[0]).n, 0);
    assert_true(il_json_int(item[2], &n));
    assert_false(il_json_int(item[3], &n));
    assert_false(il_json_int(item[4], &n));
    assert_int_equal(il_json_text(item[5]).n, 0);
    assert_null(il_json_get(item[5], IL_STR("")));
    assert_non_null(il_json_get(item[6], IL_STR("a")));
    assert_null(il_json_get(item[6], IL_STR("A")));
    assert_null(il_json_get(item[1], IL_STR("true")));
    assert_true(item[0]->plain);
    assert_false(item[1]->plain);
    assert_true(item[2]->plain);
}

static void builders_build(void **state) {
    (void)state;
    il_json *o = il_json_make(&arena, IL_JSON_OBJECT);
    il_json *a = il_json_make(&arena, IL_JSON_ARRAY);
    assert_true(il_json_push(a, il_json_number(&arena, INT64_MIN)));
    assert_true(il_json_push(a, il_json_number(&arena, 0)));
    assert_true(il_json_push(a, il_json_boolean(&arena, false)));
    assert_true(il_json_push(a, il_json_make(&arena, IL_JSON_NULL)));
    assert_true(il_json_set(o, IL_STR("list"), a));
    assert_true(il_json_set(o, IL_STR("text"), il_json_string(&arena, IL_STR("x"))));
    assert_false(il_json_set(o, IL_STR("text"), il_json_string(&arena, IL_STR("y"))));
    is(o, "{\"list\":[-9223372036854775808,0,false,null],\"text\":\"x\"}");
    assert_true(test_json_equal(o, read_json("{\"list\":[-9223372036854775808,0,false,null],\"text\":\"x\"}")));
}

static void builders_pass_failure_on(void **state) {
    (void)state;
    il_json *o = il_json_make(&arena, IL_JSON_OBJECT);
    il_json *a = il_json_make(&arena, IL_JSON_ARRAY);
    assert_false(il_json_push(NULL, o));
    assert_false(il_json_push(a, NULL));
    assert_false(il_json_push(o, a));
    assert_false(il_json_set(NULL, IL_STR("a"), a));
    assert_false(il_json_set(o, IL_STR("a"), NULL));
    assert_false(il_json_set(a, IL_STR("a"), o));
    assert_false(il_json_remove(NULL, IL_STR("a")));
    assert_false(il_json_remove(a, IL_STR("a")));
    assert_null(il_json_shallow(&arena, NULL));
    is(o, "{}");
    is(a, "[]");
    for (size_t left = 0; left < 3; left++) {
        test_memory m;
        il_arena none;
        test_memory_init(&m, 0);
        il_arena_init(&none, &m.alloc, 1 << 20);
        assert_null(il_json_make(&none, IL_JSON_ARRAY));
        assert_null(il_json_string(&none, IL_STR("a")));
        assert_null(il_json_number(&none, 1));
        assert_null(il_json_boolean(&none, true));
        assert_null(il_json_shallow(&none, a));
    }
    /* the text fits and the node does not */
    il_arena tight;
    il_arena_init(&tight, &memory.alloc, 30);
    assert_null(il_json_number(&tight, 1));
    il_arena_free(&tight);
    /* the copy of the head fits, that of a child does not */
    il_arena_init(&tight, &memory.alloc, sizeof(il_json) + 20);
    assert_null(il_json_shallow(&tight, read_json("[1,2]")));
    il_arena_free(&tight);
}

static void remove_keeps_order_and_ends(void **state) {
    (void)state;
    il_json *o = il_json_shallow(&arena, read_json("{\"a\":1,\"b\":2,\"c\":3}"));
    assert_false(il_json_remove(o, IL_STR("x")));
    assert_true(il_json_remove(o, IL_STR("b")));
    is(o, "{\"a\":1,\"c\":3}");
    assert_true(il_json_remove(o, IL_STR("c")));
    assert_true(il_json_set(o, IL_STR("d"), il_json_number(&arena, 4)));
    is(o, "{\"a\":1,\"d\":4}");
    assert_true(il_json_remove(o, IL_STR("a")));
    assert_true(il_json_remove(o, IL_STR("d")));
    assert_int_equal(il_json_count(o), 0);
    is(o, "{}");
    assert_true(il_json_set(o, IL_STR("e"), il_json_number(&arena, 5)));
    is(o, "{\"e\":5}");
}

/* Changing the copy of a parsed message must not change what was judged. */
static void shallow_copy_leaves_the_original_alone(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"a\":1,\"b\":[1,2],\"c\":{\"d\":1}}",
        "{\"0\":0,\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6,\"7\":7,\"8\":8,\"9\":9,\"a\":10,\"c\":11}"};
    for (size_t i = 0; i < 2; i++) {
        il_json *original = read_json(texts[i]);
        il_json *copy = il_json_shallow(&arena, original);
        assert_true(test_json_equal(original, copy));
        assert_true(il_json_set(copy, IL_STR("new"), il_json_number(&arena, 9)));
        assert_true(il_json_remove(copy, IL_STR("a")));
        assert_true(il_json_set(copy, IL_STR("a"), il_json_string(&arena, IL_STR("changed"))));
        is(original, texts[i]);
        assert_int_equal(original->count, il_json_count(read_json(texts[i])));
        assert_null(il_json_get(original, IL_STR("new")));
        assert_true(il_str_eq(il_json_text(il_json_get(original, IL_STR("a"))), i == 0 ? IL_STR("1") : IL_STR("10")));
        assert_true(il_str_eq(il_json_text(il_json_get(copy, IL_STR("a"))), IL_STR("changed")));
        assert_int_equal(il_json_count(copy), il_json_count(original) + 1);
    }
    /* a member can be carried into another object by its copy */
    il_json *source = read_json("{\"x\":{\"y\":[1]},\"z\":2}");
    il_json *carried = il_json_shallow(&arena, il_json_get(source, IL_STR("x")));
    assert_int_equal(il_json_key(carried).n, 0);
    assert_null(il_json_next(carried));
    il_json *target = il_json_make(&arena, IL_JSON_OBJECT);
    assert_true(il_json_set(target, IL_STR("w"), carried));
    is(target, "{\"w\":{\"y\":[1]}}");
    is(source, "{\"x\":{\"y\":[1]},\"z\":2}");
}

/* Height of the tree below v, checking order and balance on the way. */
static unsigned tree_height(const il_json *v, size_t *count) {
    if (v == NULL) {
        return 0;
    }
    ++*count;
    const unsigned l = tree_height(v->less, count);
    const unsigned m = tree_height(v->more, count);
    assert_true(v->less == NULL || il_str_cmp(v->less->key, v->key) < 0);
    assert_true(v->more == NULL || il_str_cmp(v->more->key, v->key) > 0);
    assert_true(l <= m + 1 && m <= l + 1);
    assert_int_equal(v->height, (l > m ? l : m) + 1);
    return v->height;
}

/* Whatever the order of keys, the index stays balanced: this is what keeps duplicate detection from being quadratic. */
static void index_is_balanced_for_any_order(void **state) {
    (void)state;
    test_random r = {test_random_seed("index")};
    for (int order = 0; order < 5; order++) {
        il_json *o = il_json_make(&arena, IL_JSON_OBJECT);
        enum { N = 5000 };
        for (uint32_t i = 0; i < N; i++) {
            char key[20];
            il_str copy;
            const uint32_t at = order == 0   ? i
                                : order == 1 ? N - i
                                : order == 2 ? (i * 2654435761u)
                                : order == 3 ? (i % 2 == 0 ? i : N + N - i)
                                             : test_random_below(&r, N * 10);
            snprintf(key, sizeof key, "%08x", at);
            assert_int_equal(il_arena_copy(&arena, il_str_of(key), &copy, NULL), IL_OK);
            const bool there = il_json_get(o, copy) != NULL;
            assert_int_equal(il_json_set(o, copy, il_json_number(&arena, i)), !there);
        }
        size_t count = 0;
        const unsigned height = tree_height(o->index, &count);
        assert_int_equal(count, o->count);
        assert_true(height <= 18); /* 1.44 log2(5000) */
        const il_json *last = NULL;
        for (size_t n = 0; n < o->count; n++) {
            const il_json *v = il_json_member_above(o, last);
            assert_non_null(v);
            assert_true(last == NULL || il_str_cmp(last->key, v->key) < 0);
            last = v;
        }
        assert_null(il_json_member_above(o, last));
        il_arena_reset(&arena);
    }
}

/* Lookup agrees with a walk over the members while members come and go, across the size at which the index begins. */
static void get_agrees_with_a_walk(void **state) {
    (void)state;
    test_random r = {test_random_seed("get")};
    il_json *o = il_json_make(&arena, IL_JSON_OBJECT);
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"};
    for (int step = 0; step < 5000; step++) {
        const il_str key = il_str_of(keys[test_random_below(&r, 16)]);
        const bool there = il_json_get(o, key) != NULL;
        if (test_random_below(&r, 2) == 0) {
            assert_int_equal(il_json_set(o, key, il_json_number(&arena, step)), !there);
        } else {
            assert_int_equal(il_json_remove(o, key), there);
        }
        size_t walked = 0;
        for (const il_json *v = il_json_first(o); v != NULL; v = il_json_next(v)) {
            walked++;
            assert_ptr_equal(il_json_get(o, il_json_key(v)), v);
        }
        assert_int_equal(walked, il_json_count(o));
    }
}

static void only_names_the_unknown_key_and_the_nearest(void **state) {
    (void)state;
    il_error err = {0};
    const il_str keys[] = {IL_STR("effects"), IL_STR("match"), IL_STR("to")};
    assert_int_equal(il_json_only(read_json("{\"to\":1,\"match\":2}"), keys, 3, "a tool", &err), IL_OK);
    assert_int_equal(il_json_only(read_json("{}"), keys, 3, "a tool", &err), IL_OK);
    assert_int_equal(il_json_only(read_json("{\"to\":1,\n \"efects\":2}"), keys, 3, "a tool", &err), IL_E_INVALID);
    assert_string_equal(err.msg, "unknown key `efects` in a tool; did you mean `effects`?");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.col, 2);
    assert_int_equal(err.offset, 10);
    assert_int_equal(il_json_only(read_json("{\"colour\":1}"), keys, 3, "a tool", &err), IL_E_INVALID);
    assert_string_equal(err.msg, "unknown key `colour` in a tool");
    assert_int_equal(il_json_only(read_json("{\"xy\":1}"), keys, 3, "a tool", &err),
                     IL_E_INVALID); /* all of `to` is replaced: no suggestion */
    assert_string_equal(err.msg, "unknown key `xy` in a tool");
    assert_int_equal(il_json_only(read_json("[1]"), keys, 3, "a tool", &err), IL_E_INVALID);
    assert_string_equal(err.msg, "a tool must be a mapping");
    assert_int_equal(il_json_only(NULL, keys, 3, "a tool", NULL), IL_E_INVALID);
    assert_int_equal(il_json_only(read_json("{\"a\":1}"), NULL, 0, "a tool", &err), IL_E_INVALID);
}

static void fail_macro_takes_the_nodes_position(void **state) {
    (void)state;
    il_error err = {0};
    const il_json *v = il_json_first(read_json("[\n  7]"));
    assert_int_equal(IL_JSON_FAIL(v, &err, IL_E_INVALID, "%s", "no"), IL_E_INVALID);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.col, 3);
    assert_int_equal(err.offset, 4);
    v = NULL;
    assert_int_equal(IL_JSON_FAIL(v, &err, IL_E_INVALID, "no"), IL_E_INVALID);
    assert_int_equal(err.line, 0);
}

static void is_number_is_the_grammar(void **state) {
    (void)state;
    static const char *const good[] = {"0", "-0", "1", "10", "1.0", "0.0", "1e1", "1E+1", "1.5e-10", "-12.34E56", "1e308"};
    static const char *const bad[] = {"",   "-",  "+1", "01",  "-01",      ".5",  "5.",  "1e",    "1e+",   "1.e1", "0x1",
                                      "1 ", " 1", "1,", "NaN", "Infinity", "1_0", "--1", "1.2.3", "1e1.5", "1e400"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(il_json_is_number(il_str_of(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(il_json_is_number(il_str_of(bad[i])));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(null_answers_as_the_literal, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(access_does_not_convert, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(builders_build, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(builders_pass_failure_on, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(remove_keeps_order_and_ends, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(shallow_copy_leaves_the_original_alone, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(index_is_balanced_for_any_order, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(get_agrees_with_a_walk, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(only_names_the_unknown_key_and_the_nearest, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(fail_macro_takes_the_nodes_position, node_setup, node_teardown),
        cmocka_unit_test_setup_teardown(is_number_is_the_grammar, node_setup, node_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
