/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk from the initial state notes: states at rest, counters that lost count, rejections for a wrong reason, invariants of steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

static void survey_text(machine_case *c, const char *text) {
    const il_space_bounds bounds = {0};
    machine_load_text(c, text);
    if (c->status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c->err.line, (unsigned)c->err.col, c->err.msg);
    }
    c->status = il_harden_run(&c->h, &c->memory.alloc, &c->arena, c->m, &bounds, &c->err);
    c->hardened = true;
    assert_int_equal(c->status, IL_OK);
}

static void survey_trace_is(machine_case *c, const il_trace *t, const char *want) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &c->arena, 4096);
    il_trace_text(c->m, t, &b);
    assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
    assert_true(il_str_eq(text, il_str_of(want)));
}

static bool survey_says(il_str text, const char *word) { return il_str_find(text, il_str_of(word), 0) != SIZE_MAX; }

static void test_trifecta_rests_at_the_end(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    assert_int_equal(c.h.survey.deadlocks, 0);
    assert_false(c.h.survey.deadlock.found);
    assert_int_equal(c.h.survey.saturated, 0);
    machine_free(&c);
}

#define DOOR(vars, actions, regions, rules) \
    "machine: door\nversion: 1\nvars: {" vars "}\nactions:\n" actions "regions:\n" regions "contract: {rules: [" rules "]}\n"

/* `jam` leads to where nothing moves; `over` does too, but that is the end. */
static void test_deadlock(void **state) {
    (void)state;
    static const char text[] = DOOR("open: bool, phase: [live, stuck, ended]",
                                    "  turn: {principal: agent, gate: true, next: {open: \"!pre.open\"}, reject: [{as: closed, "
                                    "if: \"pre.phase != 'live'\"}]}\n"
                                    "  jam: {principal: env, gate: true, next: {phase: \"'stuck'\"}, reject: [{as: closed, if: "
                                    "\"pre.phase != 'live' || !pre.open\"}]}\n"
                                    "  over: {principal: runtime, gate: true, next: {phase: \"'ended'\"}, reject: [{as: closed, "
                                    "if: \"pre.phase != 'live' || pre.open\"}]}\n",
                                    "  closed: {never: \"pre.open && pre.phase == 'ended'\"}\n", "closed");
    machine_case c;
    survey_text(&c, text);
    assert_int_equal(c.h.survey.terminal, 1);
    assert_int_equal(c.h.survey.deadlocks, 1);
    survey_trace_is(&c, &c.h.survey.deadlock, "turn jam");
    il_json *o = il_survey_object(c.m, &c.h.survey, &c.arena);
    assert_int_equal(il_json_count(il_json_get(o, IL_STR("deadlock"))), 2);
    machine_free(&c);
}

#define COUNTER(reject)                                                                                                      \
    DOOR("open: bool, tries: {int: 0..2, overflow: saturate}",                                                               \
         "  try: {principal: agent, gate: true, call: {hard: bool}, next: {tries: \"call.hard ? pre.tries + 1 : "            \
         "pre.tries\"}" reject "}\n"                                                                                         \
         "  turn: {principal: agent, gate: true, next: {open: \"!pre.open\"}, reject: [{as: tired, if: \"pre.tries == 2 && " \
         "!pre.open\"}]}\n"                                                                                                  \
         "  rest: {principal: runtime, gate: true, next: {open: \"false\"}}\n",                                              \
         "  tired: {never: \"pre.tries > 2\"}\n", "tired")

/* A count that is refused at the ceiling is exact; one that is let through is lost. */
static void test_saturated(void **state) {
    (void)state;
    machine_case c;
    survey_text(&c, COUNTER(", reject: [{as: tired, if: \"call.hard && pre.tries == 2\"}]"));
    assert_int_equal(c.h.survey.saturated, 0);
    machine_free(&c);
    survey_text(&c, COUNTER(""));
    assert_int_equal(c.h.survey.saturated, 2);
    const il_check *k = machine_check(&c, "coverage", NULL);
    assert_int_equal(k->verdict, IL_CHECK_INCONCLUSIVE);
    assert_string_equal(k->finding, "SATURATED");
    assert_true(survey_says(k->detail, "saturated counter tries"));
    assert_int_not_equal(c.h.exit, 0);
    machine_free(&c);
}

static void test_wrong_reason(void **state) {
    (void)state;
    machine_case c;
    const machine_edit right[] = {
        {"\nregions:\n", "\nregions:\n  honest: {rejection: \"reason != 'busy' || pre.flight || pre.crossing\", edge: [end]}\n"},
        {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, right, 0);
    machine_verdict_is(&c, "from-init", "honest", IL_CHECK_PASS);
    assert_int_equal(c.h.exit, 0); /* and no other check takes it for a region that nothing guards */
    machine_free(&c);
    const machine_edit wrong[] = {
        {"\nregions:\n", "\nregions:\n  honest: {rejection: \"reason != 'busy' || pre.flight\", edge: [end]}\n"}, {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, wrong, 0);
    machine_fails(&c, "from-init", "honest", "rq ok a{u,s,e,+} end");
    assert_string_equal(machine_check(&c, "from-init", "honest")->finding, "WRONG_REASON");
    machine_free(&c);
}

/* An invariant of steps; the correction that breaks it breaks it in recovery as well. */
static void test_transition(void **state) {
    (void)state;
    machine_case c;
    const machine_edit kept[] = {
        {"\nregions:\n", "\nregions:\n  over: {transition: \"pre.phase != 'ended' || next.phase != 'live'\"}\n"}, {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, kept, 0);
    machine_verdict_is(&c, "from-init", "over", IL_CHECK_PASS);
    machine_verdict_is(&c, "recovery", NULL, IL_CHECK_PASS);
    machine_free(&c);
    const machine_edit broken[] = {
        {"\nregions:\n", "\nregions:\n  over: {transition: \"pre.phase != 'ended' || next.phase == 'ended'\"}\n"}, {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, broken, 0);
    machine_fails(&c, "from-init", "over", "end Q");
    assert_string_equal(machine_check(&c, "from-init", "over")->finding, "REACHED");
    assert_string_equal(machine_check(&c, "recovery", NULL)->finding, "RECOVERY_UNSAFE");
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trifecta_rests_at_the_end),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_saturated),
        cmocka_unit_test(test_wrong_reason),
        cmocka_unit_test(test_transition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
