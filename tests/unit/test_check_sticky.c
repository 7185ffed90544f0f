/* SPDX-License-Identifier: Apache-2.0 */
/* What is sticky is not lowered: by no step of a session, and by no correction from anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "check/sticky.h"
#include "helper_machine.h"

#define SAFE(suspect, rotate, more)                                                                                        \
    "machine: custody\nversion: 1\nvars: {tainted: bool, alarm: [none, doubt, sure], locked: bool}\nactions:\n"            \
    "  read: {principal: agent, gate: true, next: {tainted: \"true\"}, reject: [{as: closed, if: \"pre.locked\"}]}\n"      \
    "  suspect: {principal: env, gate: true, next: {alarm: \"" suspect "\"}}\n"                                            \
    "  rotate: {principal: runtime, corrective: true, next: {locked: \"true\", alarm: \"" rotate "\"}}\n" more             \
    "regions:\n  closed: {never: \"pre.locked && pre.alarm == 'none' && pre.tainted && !pre.locked\"}\ncontract: {rules: " \
    "[closed]}\n"
#define RAISE "pre.alarm == 'none' ? 'doubt' : 'sure'"

typedef struct custody {
    machine_case c;
    il_sticky s;
    const il_check *line;
} custody;

static void custody_open(custody *k, const char *text) {
    machine_load_text(&k->c, text);
    if (k->c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)k->c.err.line, (unsigned)k->c.err.col, k->c.err.msg);
    }
    k->c.m->vars[1].sticky = true;
}

static void custody_run(custody *k, const char *text, uint32_t max_states) {
    const il_space_bounds bounds = {.states = max_states};
    custody_open(k, text);
    assert_int_equal(il_subject_init(&k->c.h.subject, &k->c.memory.alloc, &k->c.arena, k->c.m, &bounds, &k->c.err), IL_OK);
    k->c.hardened = true;
    assert_int_equal(il_sticky_run(&k->c.h, &k->s, &k->c.err), IL_OK);
    k->line = k->c.h.checks;
}

static void custody_witness_is(custody *k, const char *want) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &k->c.arena, 4096);
    il_trace_text(k->c.m, &k->line->witness, &b);
    assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
    assert_true(il_str_eq(text, il_str_of(want)));
}

static void test_kept(void **state) {
    (void)state;
    custody k;
    custody_run(&k, SAFE(RAISE, "pre.alarm", ""), 0);
    assert_int_equal(k.line->verdict, IL_CHECK_PASS);
    assert_int_equal(k.s.raised, 2);
    assert_true(k.s.product);
    machine_free(&k.c);
    custody_run(&k, SAFE(RAISE, "'sure'", ""), 0); /* a correction may raise it */
    assert_int_equal(k.line->verdict, IL_CHECK_PASS);
    machine_free(&k.c);
    custody_run(&k, SAFE("pre.alarm == 'none' ? 'doubt' : pre.alarm", "pre.alarm", ""),
                11); /* of 12 in all: corrections read fewer */
    assert_int_equal(k.line->verdict, IL_CHECK_PASS);
    assert_true(k.s.product);
    machine_free(&k.c);
}

/* The product has 12 states, sessions reach 8, the bound is 11: the correction that forgets is in one of the others. */
static void test_lowered_behind_a_bound(void **state) {
    (void)state;
    custody k;
    custody_run(&k, SAFE("pre.alarm == 'none' ? 'doubt' : pre.alarm", "pre.alarm == 'sure' ? 'doubt' : pre.alarm", ""), 11);
    assert_int_equal(k.line->verdict, IL_CHECK_FAIL);
    assert_int_equal(k.line->states, 8);
    assert_true(k.s.product && k.s.anywhere);
    machine_free(&k.c);
}

static void test_lowered_by_a_session(void **state) {
    (void)state;
    custody k;
    custody_run(&k, SAFE(RAISE, "pre.alarm == 'sure' ? 'doubt' : pre.alarm", ""), 0);
    assert_int_equal(k.line->verdict, IL_CHECK_FAIL);
    assert_string_equal(k.line->finding, "STICKY_LOWERED");
    assert_true(il_str_eq(k.line->detail, IL_STR("alarm by rotate")));
    custody_witness_is(&k, "suspect suspect rotate");
    machine_free(&k.c);
    custody_run(&k, SAFE(RAISE, "pre.alarm", "  calm: {principal: human, gate: true, next: {alarm: \"'none'\"}}\n"), 0);
    assert_true(il_str_eq(k.line->detail, IL_STR("alarm by calm")));
    custody_witness_is(&k, "suspect calm");
    machine_free(&k.c);
}

/* No session is locked with an alarm of `sure` here; a correction from there would forget it all the same. */
static void test_lowered_from_elsewhere(void **state) {
    (void)state;
    custody k;
    custody_run(&k, SAFE("pre.alarm == 'none' ? 'doubt' : pre.alarm", "pre.alarm == 'sure' ? 'doubt' : pre.alarm", ""), 0);
    assert_int_equal(k.line->verdict, IL_CHECK_FAIL);
    assert_true(k.s.anywhere);
    assert_true(il_str_eq(k.line->detail, IL_STR("alarm by rotate, from alarm=sure")));
    custody_witness_is(&k, "rotate");
    il_json *o = il_sticky_object(k.c.m, &k.s, &k.c.arena);
    assert_true(il_str_eq(il_json_text(il_json_get(o, IL_STR("lowered"))), IL_STR("alarm")));
    assert_true(il_str_eq(il_json_text(il_json_get(il_json_get(o, IL_STR("from")), IL_STR("alarm"))), IL_STR("sure")));
    assert_int_equal(il_json_count(il_json_get(o, IL_STR("witness"))), 1);
    machine_free(&k.c);
    /* by a step that is no correction, from where no session comes: nobody takes it */
    custody_run(&k, SAFE("pre.alarm == 'none' ? 'doubt' : pre.alarm == 'sure' ? 'none' : pre.alarm", "pre.alarm", ""), 0);
    assert_int_equal(k.line->verdict, IL_CHECK_PASS);
    machine_free(&k.c);
}

static void test_not_settled(void **state) {
    (void)state;
    custody k;
    custody_run(&k, SAFE(RAISE, "pre.alarm", ""), 3);
    assert_int_equal(k.line->verdict, IL_CHECK_INCONCLUSIVE);
    assert_true(k.line->bound_hit);
    machine_free(&k.c);
    custody_run(&k, SAFE("pre.alarm", "pre.alarm", ""), 0);
    assert_int_equal(k.line->verdict, IL_CHECK_INCONCLUSIVE);
    assert_string_equal(k.line->finding, "NEVER_RAISED");
    assert_true(il_str_eq(k.line->detail, IL_STR("alarm")));
    machine_free(&k.c);
    custody_open(&k, SAFE(RAISE, "pre.alarm", ""));
    k.c.m->vars[1].sticky = false;
    assert_int_equal(il_subject_init(&k.c.h.subject, &k.c.memory.alloc, &k.c.arena, k.c.m, NULL, &k.c.err), IL_OK);
    k.c.hardened = true;
    assert_int_equal(il_sticky_run(&k.c.h, &k.s, &k.c.err), IL_OK);
    assert_null(k.c.h.checks); /* nothing sticky, no line */
    assert_int_equal(il_json_kind_of(il_sticky_object(k.c.m, &k.s, &k.c.arena)), IL_JSON_NULL);
    machine_free(&k.c);
}

static void test_memory_fails(void **state) {
    (void)state;
    bool done = false;
    for (size_t left = 0; !done; left++) {
        assert_true(left < 500);
        custody k;
        custody_open(&k, SAFE(RAISE, "'none'", ""));
        assert_int_equal(il_subject_init(&k.c.h.subject, &k.c.memory.alloc, &k.c.arena, k.c.m, NULL, &k.c.err), IL_OK);
        k.c.hardened = true;
        k.c.memory.left = left;
        il_status status = il_sticky_run(&k.c.h, &k.s, &k.c.err);
        done = !k.c.memory.failed;
        k.c.memory.left = SIZE_MAX;
        if (status == IL_OK) {
            assert_int_equal(k.c.h.checks->verdict, IL_CHECK_FAIL);
        } else {
            assert_int_equal(status, IL_E_MEMORY);
        }
        machine_free(&k.c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_lowered_behind_a_bound),
        cmocka_unit_test(test_lowered_by_a_session),
        cmocka_unit_test(test_lowered_from_elsewhere),
        cmocka_unit_test(test_not_settled),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
