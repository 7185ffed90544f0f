/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that have to be alike: what is an error then, and that nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

static const il_cel_type *const alike_type[] = {&il_cel_type_json, &il_cel_type_string};
enum { ALIKE_FALSE, ALIKE_TRUE, ALIKE_ERROR };
static const char *const alike_words[] = {"false", "true", "an error"};

static int alike_truth(il_cel_value v) { return v.kind != IL_CEL_BOOL ? ALIKE_ERROR : v.u.b ? ALIKE_TRUE : ALIKE_FALSE; }

/* What the text gives for these arguments; -1: refused. */
static int alike_gives(const char *text, const char *args, bool alike, il_error *why) {
    const il_cel_field vars[] = {{IL_STR("args"), alike_type[0]}, {IL_STR("tool"), alike_type[1]}};
    const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 2};
    const il_cel_limits limits = {.size = sizeof limits, .alike = alike};
    cel_case c;
    il_json *v = NULL;
    int gives = -1;
    cel_case_init(&c);
    assert_int_equal(il_json_parse(&c.arena, il_str_of(args), NULL, &v, &c.err), IL_OK);
    const il_cel_value values[] = {il_cel_of_json(v), il_cel_of_str(IL_STR("send"))};
    if (il_cel_compile(&c.arena, il_str_of(text), 1, 1, &env, IL_CEL_BOOL, &limits, &c.program, why) == IL_OK) {
        const il_cel_value out = il_cel_eval(c.program, values, &c.arena);
        gives = alike_truth(out);
        if (gives == ALIKE_ERROR && why != NULL) {
            il_cel_explain(c.program, out, why);
        }
    }
    cel_case_free(&c);
    return gives;
}

static void test_rows(void **state) {
    (void)state;
    static const struct {
        const char *text, *args;
        int alike, plain;
    } rows[] = {
        /* == and != */
        {"args.x == true", "{\"x\":\"true\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x != true", "{\"x\":\"true\"}", ALIKE_ERROR, ALIKE_TRUE},
        {"!(args.x == true)", "{\"x\":1}", ALIKE_ERROR, ALIKE_TRUE},
        {"args.x == true", "{\"x\":true}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x == true", "{\"x\":null}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x != null", "{\"x\":\"a\"}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x == 5", "{\"x\":5.0}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x == 5.5", "{\"x\":5}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x == 5u", "{\"x\":5}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x == 5", "{\"x\":\"5\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x == \"a\"", "{\"x\":[\"a\"]}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x == args.y", "{\"x\":1,\"y\":\"1\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x == args.y", "{\"x\":1,\"y\":2}", ALIKE_FALSE, ALIKE_FALSE},
        {"tool == \"send\"", "{}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x == tool", "{\"x\":1}", ALIKE_ERROR, ALIKE_FALSE},
        /* in what is compared, too; another difference before it is one */
        {"args.x == [1, 2]", "{\"x\":[1,\"2\"]}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x == [1, 2]", "{\"x\":[3,\"2\"]}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x == [1, 2]", "{\"x\":[1]}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x == {\"a\": 1}", "{\"x\":{\"a\":true}}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.?x == optional.of(dyn(1))", "{\"x\":\"1\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.?x == optional.of(dyn(1))", "{}", ALIKE_FALSE, ALIKE_FALSE},
        /* what decides beside it still does */
        {"args.x == true || args.y == 1", "{\"x\":\"true\",\"y\":1}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x == true && args.y == 1", "{\"x\":\"true\",\"y\":2}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x == true ? true : false", "{\"x\":\"true\"}", ALIKE_ERROR, ALIKE_FALSE},
        /* in a list of literals: one of the value's kind is enough */
        {"args.x in [\"a\", \"b\"]", "{\"x\":1}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [\"a\", \"b\", \"c\"]", "{\"x\":1}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [\"a\", \"b\", \"c\"]", "{\"x\":null}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x in [\"a\", \"b\", \"c\"]", "{\"x\":\"d\"}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x in [1, 2, 3]", "{\"x\":\"2\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [1, 2, 3]", "{\"x\":2.5}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x in [1, 2, 3]", "{\"x\":[2]}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [true, \"true\"]", "{\"x\":false}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x in [true, \"true\"]", "{\"x\":\"no\"}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x in [true, \"true\"]", "{\"x\":1}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [null, \"a\"]", "{\"x\":1}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [null]", "{\"x\":1}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.x in []", "{\"x\":1}", ALIKE_FALSE, ALIKE_FALSE},
        /* of others: each has to be */
        {"args.x in [args.y, 3]", "{\"x\":2,\"y\":\"2\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [args.y, 3]", "{\"x\":3,\"y\":\"2\"}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x in [3, args.y]", "{\"x\":2,\"y\":\"2\"}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.x in [args.y, 3]", "{\"x\":2}", ALIKE_ERROR, ALIKE_ERROR},
        {"args.x in [args.y, 3]", "{\"x\":2,\"y\":1}", ALIKE_FALSE, ALIKE_FALSE},
        {"\"a\" in args.l", "{\"l\":[\"b\",1]}", ALIKE_ERROR, ALIKE_FALSE},
        {"\"a\" in args.l", "{\"l\":[1,\"a\"]}", ALIKE_TRUE, ALIKE_TRUE},
        {"\"a\" in args.l", "{\"l\":[\"b\",null]}", ALIKE_FALSE, ALIKE_FALSE},
        {"\"a\" in args.l", "{\"l\":[]}", ALIKE_FALSE, ALIKE_FALSE},
        /* a map where a list was meant */
        {"\"a\" in args.l", "{\"l\":{\"k\":\"a\"}}", ALIKE_ERROR, ALIKE_FALSE},
        {"\"l\" in args", "{\"l\":1}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.x in args", "{\"x\":1}", ALIKE_ERROR, ALIKE_FALSE},
        {"\"a\" in {\"a\": 1}", "{}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.l.exists(x, x == \"bad\")", "{\"l\":{\"k\":\"bad\"}}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.l.exists(x, x.startsWith(\"b\"))", "{\"l\":{\"k\":\"bad\"}}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.l.all(x, x != \"bad\")", "{\"l\":{\"k\":\"bad\"}}", ALIKE_ERROR, ALIKE_TRUE},
        {"args.l.filter(x, x == \"bad\").size() > 0", "{\"l\":{\"k\":\"bad\"}}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.l.map(x, x)[0] == \"k\"", "{\"l\":{\"k\":\"bad\"}}", ALIKE_ERROR, ALIKE_TRUE},
        {"args.l.exists_one(x, x == \"k\")", "{\"l\":{\"k\":\"bad\"}}", ALIKE_ERROR, ALIKE_TRUE},
        {"args.l.exists(k, v, v == \"bad\")", "{\"l\":{\"k\":\"bad\"}}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.l.exists(k, v, v == \"bad\")", "{\"l\":[\"bad\"]}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.exists(k, k == \"bcc\")", "{\"l\":1}", ALIKE_FALSE, ALIKE_FALSE},
        {"args.l.exists(x, x == \"bad\")", "{\"l\":[\"a\",1]}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.l.exists(x, x == \"bad\")", "{\"l\":[1,\"bad\"]}", ALIKE_TRUE, ALIKE_TRUE},
        {"args.l.all(x, x == \"ok\")", "{\"l\":[1,\"ok\"]}", ALIKE_ERROR, ALIKE_FALSE},
        {"args.l.all(x, x == \"ok\")", "{\"l\":[1,\"no\"]}", ALIKE_FALSE, ALIKE_FALSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        il_error why = {0};
        const int alike = alike_gives(rows[i].text, rows[i].args, true, &why),
                  plain = alike_gives(rows[i].text, rows[i].args, false, NULL);
        if (alike != rows[i].alike || plain != rows[i].plain) {
            fail_msg("%s of %s: %s, plain %s (%s)", rows[i].text, rows[i].args, alike < 0 ? "refused" : alike_words[alike],
                     plain < 0 ? "refused" : alike_words[plain], why.msg);
        }
    }
}

static void test_says(void **state) {
    (void)state;
    il_error why = {0};
    assert_int_equal(alike_gives("args.x == true", "{\"x\":\"true\"}", true, &why), ALIKE_ERROR);
    assert_string_equal(why.msg, "`==` got values of two kinds");
    assert_int_equal(why.col, 8);
    assert_int_equal(alike_gives("args.l.exists(x, x == \"a\")", "{\"l\":{}}", true, &why), ALIKE_ERROR);
    assert_string_equal(why.msg, "`exists` got a value of another kind than it takes");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
