/* SPDX-License-Identifier: Apache-2.0 */
/* A host's functions: what reaches them, what they cost, and what their errors do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cel/partial.h"
#include "helper_cel.h"

static il_cel_value host_length(void *ctx, const il_cel_value *args, size_t nargs) {
    size_t *calls = ctx;
    (*calls)++;
    assert_int_equal(nargs, 1);
    assert_int_equal(args[0].kind, IL_CEL_STRING);
    return args[0].n > 3 ? il_cel_of_fault(IL_CEL_BAD_VALUE) : il_cel_of_int(args[0].n);
}

static void test_arguments(void **state) {
    (void)state;
    size_t calls = 0;
    const il_cel_type *const params[] = {&il_cel_type_string};
    const il_cel_function functions[] = {{.name = IL_STR("net.length"),
                                          .params = params,
                                          .nparams = 1,
                                          .result = &il_cel_type_int,
                                          .cost = 40,
                                          .call = host_length,
                                          .ctx = &calls}};
    const il_cel_field vars[] = {{IL_STR("x"), &il_cel_type_dyn}};
    const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1, .functions = functions, .nfunctions = 1};
    const struct {
        const char *text;
        il_cel_value x;
        il_cel_kind kind;
        il_cel_fault fault;
        size_t calls;
    } rows[] = {
        {"net.length(x) == 2", il_cel_of_str(IL_STR("ab")), IL_CEL_BOOL, IL_CEL_NO_FAULT, 1},
        {"net.length(x)", il_cel_of_str(IL_STR("abcd")), IL_CEL_ERROR, IL_CEL_BAD_VALUE, 1},
        {"net.length(x) == 2 || true", il_cel_of_str(IL_STR("abcd")), IL_CEL_BOOL, IL_CEL_NO_FAULT, 1},
        /* dyn at load, another kind in the run: it would be read as what it is not */
        {"net.length(x)", il_cel_of_int(7), IL_CEL_ERROR, IL_CEL_NO_OVERLOAD, 0},
        {"net.length(x)", il_cel_of_bytes(IL_STR("ab")), IL_CEL_ERROR, IL_CEL_NO_OVERLOAD, 0},
        {"net.length(x)", il_cel_of(IL_CEL_NULL, 0), IL_CEL_ERROR, IL_CEL_NO_OVERLOAD, 0},
        {"net.length(x)", il_cel_of_fault(IL_CEL_MISSING), IL_CEL_ERROR, IL_CEL_MISSING, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        calls = 0;
        assert_int_equal(cel_compile(&c, rows[i].text, &env, IL_CEL_NULL), IL_OK);
        const il_cel_value v = cel_eval(&c, &rows[i].x);
        assert_int_equal(v.kind, rows[i].kind);
        assert_int_equal(v.fault, rows[i].fault);
        assert_int_equal(calls, rows[i].calls);
        cel_case_free(&c);
    }
}

/* Its cost is taken before it is called. */
static void test_cost(void **state) {
    (void)state;
    size_t calls = 0;
    const il_cel_type *const params[] = {&il_cel_type_string};
    const il_cel_function functions[] = {{.name = IL_STR("length"),
                                          .receiver = true,
                                          .params = params,
                                          .nparams = 1,
                                          .result = &il_cel_type_int,
                                          .cost = 40,
                                          .call = host_length,
                                          .ctx = &calls}};
    const il_cel_field vars[] = {{IL_STR("x"), &il_cel_type_string}};
    const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1, .functions = functions, .nfunctions = 1};
    const il_cel_limits few = {.size = sizeof few, .steps = 30};
    const il_cel_value x = il_cel_of_str(IL_STR("ab"));
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(
        il_cel_compile(&c.arena, IL_STR("x.length() > 1 || true"), 1, 1, &env, IL_CEL_BOOL, &few, &c.program, &c.err), IL_OK);
    const il_cel_value v = cel_eval(&c, &x);
    assert_int_equal(v.kind, IL_CEL_ERROR);
    assert_int_equal(v.fault, IL_CEL_BUDGET);
    assert_int_equal(calls, 0);
    cel_case_free(&c);
}

static il_cel_value host_holds(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_str *held = ctx;
    assert_int_equal(nargs, 1);
    return il_cel_of_bool(il_str_eq(*held, il_cel_str(args[0])));
}

/* What is per call answers from the evaluation's context; without one it is an error, and without an evaluation it is unknown. */
static void test_per_call(void **state) {
    (void)state;
    const il_cel_type *const params[] = {&il_cel_type_string};
    il_str wrong = IL_STR("the function's own");
    const il_cel_function functions[] = {{.name = IL_STR("holds"),
                                          .params = params,
                                          .nparams = 1,
                                          .result = &il_cel_type_bool,
                                          .cost = 1,
                                          .call = host_holds,
                                          .ctx = &wrong,
                                          .per_call = true}};
    const il_cel_field vars[] = {{IL_STR("x"), &il_cel_type_string}};
    const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1, .functions = functions, .nfunctions = 1};
    const il_cel_value x = il_cel_of_str(IL_STR("secret"));
    il_str held = IL_STR("secret"), other = IL_STR("sensitive");
    cel_case c;
    cel_case_init(&c);
    /* a constant argument must not be folded either */
    assert_int_equal(cel_compile(&c, "holds('secret') && holds(x)", &env, IL_CEL_BOOL), IL_OK);
    assert_true(il_cel_true(il_cel_eval_in(c.program, &x, NULL, &held)));
    const il_cel_value no = il_cel_eval_in(c.program, &x, NULL, &other);
    assert_int_equal(no.kind, IL_CEL_BOOL);
    assert_false(no.u.b);
    const il_cel_value unset = il_cel_eval(c.program, &x, NULL);
    assert_int_equal(unset.kind, IL_CEL_ERROR);
    assert_int_equal(unset.fault, IL_CEL_UNSET);
    il_cel_explain(c.program, unset, &c.err);
    assert_true(c.err.msg[0] != '\0');
    il_cel_residue left;
    assert_int_equal(il_cel_partial(&c.arena, c.program, &x, &left, &c.err), IL_OK);
    assert_false(left.decided);
    assert_int_equal(cel_compile(&c, "holds('secret') || true", &env, IL_CEL_BOOL), IL_OK);
    assert_int_equal(il_cel_partial(&c.arena, c.program, &x, &left, &c.err), IL_OK);
    assert_true(left.decided);
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments), cmocka_unit_test(test_cost),
                                       cmocka_unit_test(test_per_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
