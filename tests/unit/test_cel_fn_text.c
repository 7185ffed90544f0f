/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at texts, and new texts from others. The answers are those of cel-spec's tests where it has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel_fn.h"
#include "json/node.h"

static void text_size(void **state) {
    (void)state;
    const fn_row rows[] = {
        {"size", {TEXT("")}, INT(0)},
        {".size", {TEXT("four")}, INT(4)},
        {"size", {TEXT("\xce\xb1\xf0\x9f\x98\x80")}, INT(2)},
        {"size", {TEXT("a\0b")}, INT(3)},
        {"size", {BYTES("\xf0\x9f\x98\x80")}, INT(4)},
        {"size", {BYTES("")}, INT(0)},
        {"size", {EMPTY}, INT(0)},
        {"size", {LIST(INT(1), NIL)}, INT(2)},
        {"size", {MAP(INT(1), TEXT("one"))}, INT(1)},
        {"size", {INT(1)}, NO_OVERLOAD},
        {"size", {NIL}, NO_OVERLOAD},
        {"size", {NONE}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void text_is_found(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".contains", {TEXT(""), TEXT("")}, BOOL(true)},
        {".contains", {TEXT("hello"), TEXT("")}, BOOL(true)},
        {".contains", {TEXT("hello"), TEXT("he")}, BOOL(true)},
        {".contains", {TEXT("hello"), TEXT("ell")}, BOOL(true)},
        {".contains", {TEXT("hello"), TEXT("ello!")}, BOOL(false)},
        {".contains", {TEXT("Straße"), TEXT("aß")}, BOOL(true)},
        {".contains", {TEXT("a\0b"), TEXT("\0b")}, BOOL(true)},
        {".contains", {TEXT("42"), INT(4)}, NO_OVERLOAD},
        {".contains", {INT(42), TEXT("4")}, NO_OVERLOAD},
        {".contains", {BYTES("42"), BYTES("4")}, NO_OVERLOAD},
        {".startsWith", {TEXT("foobar"), TEXT("foo")}, BOOL(true)},
        {".startsWith", {TEXT("foobar"), TEXT("")}, BOOL(true)},
        {".startsWith", {TEXT(""), TEXT("foo")}, BOOL(false)},
        {".startsWith", {TEXT("foobar"), TEXT("bar")}, BOOL(false)},
        {".startsWith", {TEXT("foo"), BYTES("foo")}, NO_OVERLOAD},
        {".endsWith", {TEXT("foobar"), TEXT("bar")}, BOOL(true)},
        {".endsWith", {TEXT("foobar"), TEXT("")}, BOOL(true)},
        {".endsWith", {TEXT(""), TEXT("foo")}, BOOL(false)},
        {".endsWith", {TEXT("ok@example.com\0@evil.com"), TEXT("@evil.com")}, BOOL(true)},
        {".endsWith", {TEXT("foo"), INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void text_list_contains(void **state) {
    (void)state;
    fn_run r;
    fn_run_init(&r, 1000, SIZE_MAX);
    const il_cel_value hit[] = {LIST(TEXT("a"), INT(2), TEXT("b")), TEXT("b")}, miss[] = {LIST(TEXT("a"), INT(2)), TEXT("b")},
                       number[] = {LIST(TEXT("a"), UINT(2)), INT(2)}, none[] = {EMPTY, INT(2)};
    assert_true(il_cel_true(fn_call(&r, ".contains", hit, 2)));
    assert_false(il_cel_true(fn_call(&r, ".contains", miss, 2)));
    assert_true(il_cel_true(fn_call(&r, ".contains", number, 2)));
    assert_int_equal(fn_call(&r, ".contains", none, 2).kind, IL_CEL_BOOL);
    r.run.steps = 1;
    assert_int_equal(fn_call(&r, ".contains", miss, 2).fault, IL_CEL_BUDGET);
    fn_run_free(&r);
}

static void text_index(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".charAt", {TEXT("tacocat"), INT(3)}, TEXT("o")},
        {".charAt", {TEXT("tacocat"), INT(7)}, TEXT("")},
        {".charAt", {TEXT("©αT"), INT(0)}, TEXT("©")},
        {".charAt", {TEXT("©αT"), INT(2)}, TEXT("T")},
        {".charAt", {TEXT("a\xf0\x9f\x98\x80"), INT(1)}, TEXT("\xf0\x9f\x98\x80")},
        {".charAt", {TEXT("a\xf0\x9f\x98\x80"), INT(2)}, TEXT("")},
        {".charAt", {TEXT("a\xf0\x9f\x98\x80"), INT(3)}, BAD_VALUE}, /* within the bytes, behind the text */
        {".charAt", {TEXT(""), INT(0)}, TEXT("")},
        {".charAt", {TEXT("a\0b"), INT(1)}, TEXT("\0")},
        {".charAt", {TEXT("tacocat"), INT(30)}, BAD_VALUE},
        {".charAt", {TEXT("tacocat"), INT(-1)}, BAD_VALUE},
        {".charAt", {TEXT("tacocat"), INT(INT64_MIN)}, BAD_VALUE},
        {".charAt", {TEXT("tacocat"), INT(INT64_MAX)}, BAD_VALUE},
        {".charAt", {TEXT("tacocat"), INT(INT64_C(1) << 32)}, BAD_VALUE},
        {".charAt", {INT(42), INT(2)}, NO_OVERLOAD},
        {".charAt", {TEXT("hello"), BOOL(true)}, NO_OVERLOAD},
        {".charAt", {TEXT("hello"), UINT(1)}, NO_OVERLOAD},
        {".indexOf", {TEXT("tacocat"), TEXT("")}, INT(0)},
        {".indexOf", {TEXT("tacocat"), TEXT("ac")}, INT(1)},
        {".indexOf", {TEXT("tacocat"), TEXT("none")}, INT(-1)},
        {".indexOf", {TEXT("tacocat"), TEXT(""), INT(3)}, INT(3)},
        {".indexOf", {TEXT("tacocat"), TEXT(""), INT(7)}, INT(7)},
        {".indexOf", {TEXT("tacocat"), TEXT(""), INT(8)}, BAD_VALUE},
        {".indexOf", {TEXT("tacocat"), TEXT("a"), INT(3)}, INT(5)},
        {".indexOf", {TEXT("tacocat"), TEXT("at"), INT(3)}, INT(5)},
        {".indexOf", {TEXT("tacocat"), TEXT("a"), INT(7)}, INT(-1)},
        {".indexOf", {TEXT("ta©o©αT"), TEXT("©")}, INT(2)},
        {".indexOf", {TEXT("ta©o©αT"), TEXT("©"), INT(3)}, INT(4)},
        {".indexOf", {TEXT("ta©o©αT"), TEXT("©αT"), INT(3)}, INT(4)},
        {".indexOf", {TEXT("ta©o©αT"), TEXT("©α"), INT(5)}, INT(-1)},
        {".indexOf", {TEXT("ijk"), TEXT("k")}, INT(2)},
        {".indexOf", {TEXT("hello wello"), TEXT("hello wello")}, INT(0)},
        {".indexOf", {TEXT("hello wello"), TEXT("ello"), INT(6)}, INT(7)},
        {".indexOf", {TEXT("hello wello"), TEXT("elbo room!!")}, INT(-1)},
        {".indexOf", {TEXT(""), TEXT("")}, INT(0)},
        {".indexOf", {TEXT("tacocat"), TEXT("a"), INT(30)}, BAD_VALUE},
        {".indexOf", {TEXT("tacocat"), TEXT("a"), INT(-1)}, BAD_VALUE},
        {".indexOf", {TEXT("tacocat"), TEXT(""), INT(-1)}, BAD_VALUE},
        {".indexOf", {INT(24), TEXT("2")}, NO_OVERLOAD},
        {".indexOf", {TEXT("hello"), BOOL(true)}, NO_OVERLOAD},
        {".indexOf", {TEXT("42"), TEXT("4"), TEXT("0")}, NO_OVERLOAD},
        {".lastIndexOf", {TEXT(""), TEXT("@@")}, INT(-1)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("")}, INT(7)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("at")}, INT(5)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("none")}, INT(-1)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT(""), INT(3)}, INT(3)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("a"), INT(3)}, INT(1)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("t"), INT(0)}, INT(0)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("t"), INT(7)}, INT(6)},
        {".lastIndexOf", {TEXT("ta©o©αT"), TEXT("©")}, INT(4)},
        {".lastIndexOf", {TEXT("ta©o©αT"), TEXT("©"), INT(3)}, INT(2)},
        {".lastIndexOf", {TEXT("ta©o©αT"), TEXT("©α"), INT(4)}, INT(4)},
        {".lastIndexOf", {TEXT("hello wello"), TEXT("ello"), INT(6)}, INT(1)},
        {".lastIndexOf", {TEXT("hello wello"), TEXT("low")}, INT(-1)},
        {".lastIndexOf", {TEXT("hello wello"), TEXT("hello wello")}, INT(0)},
        {".lastIndexOf", {TEXT("bananananana"), TEXT("nana"), INT(7)}, INT(6)},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("a"), INT(-1)}, BAD_VALUE},
        {".lastIndexOf", {TEXT("tacocat"), TEXT("a"), INT(30)}, BAD_VALUE},
        {".lastIndexOf", {TEXT("tacocat"), INT(1)}, NO_OVERLOAD},
        {".substring", {TEXT("tacocat"), INT(4)}, TEXT("cat")},
        {".substring", {TEXT("tacocat"), INT(7)}, TEXT("")},
        {".substring", {TEXT("tacocat"), INT(0), INT(4)}, TEXT("taco")},
        {".substring", {TEXT("tacocat"), INT(4), INT(4)}, TEXT("")},
        {".substring", {TEXT("ta©o©αT"), INT(2), INT(6)}, TEXT("©o©α")},
        {".substring", {TEXT("ta©o©αT"), INT(7), INT(7)}, TEXT("")},
        {".substring", {TEXT(""), INT(0)}, TEXT("")},
        {".substring", {TEXT("tacocat"), INT(40)}, BAD_VALUE},
        {".substring", {TEXT("tacocat"), INT(-1)}, BAD_VALUE},
        {".substring", {TEXT("tacocat"), INT(1), INT(50)}, BAD_VALUE},
        {".substring", {TEXT("tacocat"), INT(49), INT(50)}, BAD_VALUE},
        {".substring", {TEXT("tacocat"), INT(4), INT(3)}, BAD_VALUE},
        {".substring", {TEXT("tacocat"), INT(INT64_MIN), INT(INT64_MAX)}, BAD_VALUE},
        {".substring", {TEXT("\xf0\x9f\x98\x80"), INT(0), INT(2)}, BAD_VALUE},
        {".substring", {INT(30), BOOL(true), INT(3)}, NO_OVERLOAD},
        {".substring", {TEXT("tacocat"), BOOL(true), INT(3)}, NO_OVERLOAD},
        {".substring", {TEXT("tacocat"), INT(0), BOOL(false)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void text_trim(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".trim", {TEXT(" \f\n\r\t\vtext  ")}, TEXT("text")},
        {".trim", {TEXT("\xc2\x85\xc2\xa0\xe1\x9a\x80text")}, TEXT("text")},
        {".trim", {TEXT("text\xe2\x80\x80\xe2\x80\x84\xe2\x80\x89")}, TEXT("text")},
        {".trim", {TEXT("\xe2\x80\x8atext\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\x9f\xe3\x80\x80")}, TEXT("text")},
        {".trim",
         {TEXT("\xe1\xa0\x8etext\xe2\x80\x8b\xe2\x80\x8c\xef\xbb\xbf")},
         TEXT("\xe1\xa0\x8etext\xe2\x80\x8b\xe2\x80\x8c\xef\xbb\xbf")},
        {".trim", {TEXT("")}, TEXT("")},
        {".trim", {TEXT(" \xe3\x80\x80 ")}, TEXT("")},
        {".trim", {TEXT(" a b ")}, TEXT("a b")},
        {".trim", {TEXT("\0 ")}, TEXT("\0")},
        {".trim", {TEXT(" \xf0\x9f\x98\x80 ")}, TEXT("\xf0\x9f\x98\x80")},
        {".trim", {INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void edit_case(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".lowerAscii", {TEXT("TacoCat")}, TEXT("tacocat")},
        {".lowerAscii", {TEXT("TacoCÆt Xii")}, TEXT("tacocÆt xii")},
        {".lowerAscii", {TEXT("@[`{")}, TEXT("@[`{")},
        {".lowerAscii", {TEXT("")}, TEXT("")},
        {".lowerAscii", {TEXT("A\0Z")}, TEXT("a\0z")},
        {".upperAscii", {TEXT("tacoCαt")}, TEXT("TACOCαT")},
        {".upperAscii", {TEXT("@[`{az")}, TEXT("@[`{AZ")},
        {".upperAscii", {BYTES("a")}, NO_OVERLOAD},
        {".lowerAscii", {INT(1)}, NO_OVERLOAD},
        {".reverse", {TEXT("")}, TEXT("")},
        {".reverse", {TEXT("a")}, TEXT("a")},
        {".reverse", {TEXT("☺")}, TEXT("☺")},
        {".reverse", {TEXT("Ta©oCαt")}, TEXT("tαCo©aT")},
        {".reverse", {TEXT("a\0\xf0\x9f\x98\x80")}, TEXT("\xf0\x9f\x98\x80\0a")},
        {".reverse", {INT(1)}, NO_OVERLOAD},
        {"strings.quote", {TEXT("")}, TEXT("\"\"")},
        {"strings.quote", {TEXT("first\nsecond")}, TEXT("\"first\\nsecond\"")},
        {"strings.quote", {TEXT("\a\b\t\n\v\f\r")}, TEXT("\"\\a\\b\\t\\n\\v\\f\\r\"")},
        {"strings.quote", {TEXT("\\ \" '")}, TEXT("\"\\\\ \\\" '\"")},
        {"strings.quote", {TEXT("\\\\a\\n")}, TEXT("\"\\\\\\\\a\\\\n\"")},
        {"strings.quote", {TEXT("\xf0\x9f\x90\xb1\0\x1b")}, TEXT("\"\xf0\x9f\x90\xb1\0\x1b\"")},
        {"strings.quote", {INT(1)}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void edit_replace(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".replace", {TEXT("12 days 12 hours"), TEXT("{0}"), TEXT("2")}, TEXT("12 days 12 hours")},
        {".replace", {TEXT("{0} days {0} hours"), TEXT("{0}"), TEXT("2")}, TEXT("2 days 2 hours")},
        {".replace", {TEXT("{0} days {0} hours"), TEXT("{0}"), TEXT("2"), INT(1)}, TEXT("2 days {0} hours")},
        {".replace", {TEXT("1 ©αT taco"), TEXT("αT"), TEXT("o©α")}, TEXT("1 ©o©α taco")},
        {".replace", {TEXT("hello hello"), TEXT("he"), TEXT("we"), INT(0)}, TEXT("hello hello")},
        {".replace", {TEXT("hello hello"), TEXT("he"), TEXT("we"), INT(-1)}, TEXT("wello wello")},
        {".replace", {TEXT("hello hello"), TEXT("he"), TEXT("we"), INT(INT64_MIN)}, TEXT("wello wello")},
        {".replace", {TEXT("hello hello"), TEXT("he"), TEXT("we"), INT(INT64_MAX)}, TEXT("wello wello")},
        {".replace", {TEXT("aaaaa"), TEXT("aa"), TEXT("b")}, TEXT("bba")}, /* no overlaps, from the left */
        {".replace", {TEXT("aaaa"), TEXT("a"), TEXT("")}, TEXT("")},
        {".replace", {TEXT("aaaa"), TEXT("aa"), TEXT("aaa")}, TEXT("aaaaaa")}, /* what was put in is not looked at */
        {".replace", {TEXT(""), TEXT(""), TEXT("x")}, TEXT("x")},
        {".replace", {TEXT("ab"), TEXT(""), TEXT("-")}, TEXT("-a-b-")},
        {".replace", {TEXT("aαb"), TEXT(""), TEXT("-")}, TEXT("-a-α-b-")},
        {".replace", {TEXT("aαb"), TEXT(""), TEXT("-"), INT(2)}, TEXT("-a-αb")},
        {".replace", {TEXT("aαb"), TEXT(""), TEXT("-"), INT(4)}, TEXT("-a-α-b-")},
        {".replace", {TEXT("aαb"), TEXT(""), TEXT("-"), INT(9)}, TEXT("-a-α-b-")},
        {".replace", {TEXT("a\0b\0"), TEXT("\0"), TEXT("\0\0")}, TEXT("a\0\0b\0\0")},
        {".replace", {INT(42), INT(2), INT(1)}, NO_OVERLOAD},
        {".replace", {TEXT("42"), TEXT("2"), INT(1)}, NO_OVERLOAD},
        {".replace", {TEXT("42"), INT(2), TEXT("1"), INT(1)}, NO_OVERLOAD},
        {".replace", {TEXT("42"), TEXT("2"), TEXT("1"), TEXT("1")}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

static void edit_split(void **state) {
    (void)state;
    const fn_row rows[] = {
        {".split", {TEXT("hello world"), TEXT(" ")}, LIST(TEXT("hello"), TEXT("world"))},
        {".split", {TEXT("hello world events!"), TEXT(" "), INT(0)}, EMPTY},
        {".split", {TEXT("hello world events!"), TEXT(" "), INT(1)}, LIST(TEXT("hello world events!"))},
        {".split", {TEXT("hello world events!"), TEXT(" "), INT(2)}, LIST(TEXT("hello"), TEXT("world events!"))},
        {".split", {TEXT("hello world events!"), TEXT(" "), INT(9)}, LIST(TEXT("hello"), TEXT("world"), TEXT("events!"))},
        {".split", {TEXT("o©o©o©o"), TEXT("©"), INT(-1)}, LIST(TEXT("o"), TEXT("o"), TEXT("o"), TEXT("o"))},
        {".split", {TEXT("o©o©o©o"), TEXT("©"), INT(INT64_MIN)}, LIST(TEXT("o"), TEXT("o"), TEXT("o"), TEXT("o"))},
        {".split", {TEXT(""), TEXT(",")}, LIST(TEXT(""))},
        {".split", {TEXT(","), TEXT(",")}, LIST(TEXT(""), TEXT(""))},
        {".split", {TEXT(",a,,"), TEXT(",")}, LIST(TEXT(""), TEXT("a"), TEXT(""), TEXT(""))},
        {".split", {TEXT("aaa"), TEXT("aa")}, LIST(TEXT(""), TEXT("a"))},
        {".split", {TEXT("aα\xf0\x9f\x98\x80"), TEXT("")}, LIST(TEXT("a"), TEXT("α"), TEXT("\xf0\x9f\x98\x80"))},
        {".split", {TEXT("aαb"), TEXT(""), INT(2)}, LIST(TEXT("a"), TEXT("αb"))},
        {".split", {TEXT("aαb"), TEXT(""), INT(1)}, LIST(TEXT("aαb"))},
        {".split", {TEXT("aαb"), TEXT(""), INT(3)}, LIST(TEXT("a"), TEXT("α"), TEXT("b"))},
        {".split", {TEXT("aαb"), TEXT(""), INT(4)}, LIST(TEXT("a"), TEXT("α"), TEXT("b"))},
        {".split", {TEXT(""), TEXT("")}, EMPTY},
        {".split", {TEXT("a\0b"), TEXT("\0")}, LIST(TEXT("a"), TEXT("b"))},
        {".split", {INT(42), TEXT("2")}, NO_OVERLOAD},
        {".split", {TEXT("42"), INT(2)}, NO_OVERLOAD},
        {".split", {TEXT("42"), TEXT("2"), TEXT("1")}, NO_OVERLOAD},
        {".join", {LIST(TEXT("x"), TEXT("y"))}, TEXT("xy")},
        {".join", {LIST(TEXT("x"), TEXT("y")), TEXT("-")}, TEXT("x-y")},
        {".join", {LIST(TEXT("x")), TEXT("-")}, TEXT("x")},
        {".join", {LIST(TEXT(""), TEXT(""), TEXT("")), TEXT("α")}, TEXT("αα")},
        {".join", {EMPTY}, TEXT("")},
        {".join", {EMPTY, TEXT("-")}, TEXT("")},
        {".join", {LIST(TEXT("x"), INT(1))}, NO_OVERLOAD},
        {".join", {LIST(TEXT("x"), TEXT("y")), INT(1)}, NO_OVERLOAD},
        {".join", {TEXT("x")}, NO_OVERLOAD},
    };
    FN_ROWS(rows);
}

/* Results that could not be: the budget ends it before memory is asked for. */
static void edit_growth_is_bounded(void **state) {
    (void)state;
    enum { BIG = 1 << 20 };
    char *text = malloc(BIG);
    assert_non_null(text);
    memset(text, 'a', BIG);
    const il_cel_value big = il_cel_of_str((il_str){text, BIG}), a = TEXT("a"), empty = TEXT("");
    fn_run r;
    fn_run_init(&r, 100000, SIZE_MAX);
    const il_cel_value grow[] = {big, a, big}, grow_all[] = {big, empty, big}, one[] = {big, a, a};
    assert_int_equal(fn_call(&r, ".replace", grow, 3).fault, IL_CEL_BUDGET); /* 2^40 bytes */
    r.run.steps = 100000;
    assert_int_equal(fn_call(&r, ".replace", grow_all, 3).fault, IL_CEL_BUDGET);
    assert_true(r.memory.largest < BIG);
    r.run.steps = 100000;
    assert_int_equal(fn_call(&r, ".replace", one, 3).n, BIG);
    il_cel_value *items = malloc(5000 * sizeof *items);
    assert_non_null(items);
    for (int i = 0; i < 5000; i++) {
        items[i] = big;
    }
    const il_cel_value join[] = {il_cel_of_items(IL_CEL_LIST, items, 5000)}; /* more than 2^32 bytes */
    r.run.steps = INT64_MAX;
    assert_int_equal(fn_call(&r, ".join", join, 1).fault, IL_CEL_BUDGET);
    free(items);
    fn_run_free(&r);
    free(text);
}

static void text_of_json(void **state) {
    (void)state;
    fn_run r;
    fn_run_init(&r, 1000, SIZE_MAX);
    il_json *doc = NULL;
    assert_int_equal(il_json_parse(&r.arena, IL_STR("[\"x\", \"y\", \"\\u0000\"]"), NULL, &doc, NULL), IL_OK);
    const il_cel_value join[] = {il_cel_of_json(doc), TEXT("-")}, in[] = {il_cel_of_json(doc), TEXT("y")};
    const il_cel_value joined = fn_call(&r, ".join", join, 2);
    assert_int_equal(joined.n, 5);
    assert_memory_equal(joined.u.p, "x-y-\0", 5);
    assert_true(il_cel_true(fn_call(&r, ".contains", in, 2)));
    assert_int_equal(fn_call(&r, "size", in, 1).u.i, 3);
    fn_run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_size),    cmocka_unit_test(text_is_found), cmocka_unit_test(text_list_contains),
        cmocka_unit_test(text_index),   cmocka_unit_test(text_trim),     cmocka_unit_test(edit_case),
        cmocka_unit_test(edit_replace), cmocka_unit_test(edit_split),    cmocka_unit_test(edit_growth_is_bounded),
        cmocka_unit_test(text_of_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
