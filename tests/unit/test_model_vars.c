/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of variables and actions beside domains and guards: sticky, ghost, adversarial, observable; the name `action`; the goal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

static const char door[] =
    "machine: door\n"
    "version: 1\n"
    "vars:\n"
    "  door: {enum: [shut, ajar, open], adversarial: {to: [ajar, open], when: \"!pre.locked\"}}\n"
    "  locked: {type: bool, adversarial: false}\n"
    "  broken: {type: bool, sticky: true, adversarial: true}\n"
    "  used: {int: 0..2, overflow: saturate, ghost: true}\n"
    "  seen: {type: bool, ghost: true}\n"
    "let:\n"
    "  often: \"pre.used == 2\"\n"
    "actions:\n"
    "  push:\n"
    "    principal: agent\n"
    "    gate: true\n"
    "    next:\n"
    "      door: \"action == 'push' ? 'open' : 'shut'\"\n"
    "      used: \"pre.used + 1\"\n"
    "      seen: \"true\"\n"
    "    reject:\n"
    "      - {as: is-locked, if: \"pre.locked\"}\n"
    "  lock: {principal: runtime, corrective: true, observable: false, next: {locked: \"true\"}}\n"
    "  wear: {principal: env, observable: true, next: {broken: \"true\"}}\n"
    "regions:\n"
    "  worn: {never: \"often && pre.broken && !pre.seen\"}\n"
    "  pushed: {never: \"next.door == 'open' && action != 'push' && pre.door != 'open'\", edge: [push, lock, wear]}\n"
    "recovery: {goal: \"pre.locked\"}\n"
    "contract:\n"
    "  rules: [is-locked]\n";

static void test_what_is_said(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, door);
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    const il_model *m = c.m;
    assert_true(m->vars[0].adversary.writes);
    assert_false(m->vars[0].adversary.to[0]);
    assert_true(m->vars[0].adversary.to[1] && m->vars[0].adversary.to[2]);
    assert_non_null(m->vars[0].adversary.when);
    assert_false(m->vars[1].adversary.writes);
    assert_true(m->vars[2].adversary.writes);
    assert_null(m->vars[2].adversary.to);
    assert_null(m->vars[2].adversary.when);
    assert_true(m->vars[2].sticky);
    assert_true(m->vars[3].ghost && m->vars[4].ghost);
    assert_false(m->vars[0].ghost || m->vars[0].sticky);
    assert_false(m->actions[0].hidden);
    assert_true(m->actions[1].hidden);
    assert_false(m->actions[2].hidden);
    assert_non_null(m->goal);
    /* the name of the action is what it is, in an update and in a region of steps */
    il_eval e = il_model_eval(m, NULL, 0, 0);
    assert_int_equal(e.step.verdict, IL_ACCEPT);
    assert_int_equal(il_model_get(m, e.step.next, 0), 2);
    assert_int_equal(il_model_get(m, e.step.next, 3), 1);
    assert_false(il_model_in_region(m, 1, 0, 0, e.step.next));
    assert_true(il_model_in_region(m, 1, 0, 1, e.step.next));
    machine_free(&c);
}

static const machine_bad bad_rows[] = {
    {"sticky: true", "sticky: 'no'", 6, 32, "`sticky` must be true or false, without quotes"},
    {"sticky: true", "stikcy: true", 6, 24, "unknown key `stikcy` in a variable; did you mean `sticky`?"},
    {"overflow: saturate, ghost: true", "overflow: saturate, ghost: 1", 7, 48, "`ghost` must be true or false"},
    {"type: bool, ghost: true", "type: bool, ghost: true, taint: source", 8, 42,
     "a ghost only remembers: `seen` cannot be `taint` as well"},
    {"type: bool, ghost: true", "type: bool, ghost: true, adversarial: true", 8, 48,
     "a ghost only remembers: `seen` cannot be `adversarial` as well"},
    {"adversarial: {to: [ajar, open], when: \"!pre.locked\"}", "adversarial: 1", 4, 49,
     "`adversarial` of `door` must be true or {to: [VALUES], when: CONDITION}"},
    {"adversarial: {to: [ajar, open], when: \"!pre.locked\"}", "adversarial: {}", 4, 49,
     "`adversarial` of `door` must be true or {to: [VALUES], when: CONDITION}"},
    {"{to: [ajar, open]", "{too: [ajar, open]", 4, 50, "unknown key `too` in an adversary; did you mean `to`?"},
    {"{to: [ajar, open]", "{to: [ajar, oben]", 4, 61, "no value `oben` is declared; did you mean `open`?"},
    {"{to: [ajar, open]", "{to: []", 4, 54, "`to` must be a list of at least one value of `door`"},
    {"{to: [ajar, open]", "{to: open", 4, 54, "`to` must be a list of at least one value of `door`"},
    {"when: \"!pre.locked\"", "when: \"!pre.lokced\"", 4, 80, "no field `lokced` in `pre`; did you mean `locked`?"},
    {"when: \"!pre.locked\"", "when: \"!next.locked\"", 4, 76, "undeclared name `next`; there are `pre`"},
    {"when: \"!pre.locked\"", "when: \"pre.door\"", 4, 75, "must be `bool`, is `string`; compare it with a text"},
    {"observable: false", "observable: maybe", 21, 60, "`observable` must be true or false"},
    {"if: \"pre.locked\"", "if: \"pre.locked || pre.used > 1\"", 20, 29,
     "a guard reads the ghost `used`; only regions and its own updates may"},
    {"if: \"pre.locked\"", "if: \"pre.locked || often\"", 20, 29,
     "a guard reads the ghost `used`; only regions and its own updates may"},
    {"if: \"pre.locked\"", "if: \"pre.locked || next.seen\"", 20, 29,
     "a guard reads the ghost `seen`; only regions and its own updates may"},
    {"{locked: \"true\"}", "{locked: \"pre.seen\"}", 21, 82,
     "an update reads the ghost `seen`; only regions and its own updates may"},
    {"seen: \"true\"", "seen: \"pre.used > 0\"", 18, 13,
     "the update of another ghost reads the ghost `used`; only regions and its own updates may"},
    {"action == 'push'", "action == 'psuh'", 16, 24,
     "never equal: `action` is one of `push`, `lock`, `wear`; did you mean `push`?"},
    {"action != 'push'", "action != 'close'", 25, 53, "never equal: `action` is one of `push`, `lock`, `wear`"},
    {"often && pre.broken", "often && action == 'push'", 24, 27, "undeclared name `action`; there are `pre`"},
    {"  often: \"pre.used == 2\"", "  often: \"pre.used == 2\"\n  action: \"1 == 1\"", 11, 3,
     "`action` has a meaning in guards and regions; choose another name for the let"},
    {"  often: \"pre.used == 2\"", "  often: \"pre.used == reason\"\nconst: {reason: 2}", 11, 9,
     "`reason` has a meaning in guards and regions; choose another name for the const"},
    {"{goal: \"pre.locked\"}", "{goal: \"pre.lcked\"}", 26, 23, "no field `lcked` in `pre`; did you mean `locked`?"},
    {"{goal: \"pre.locked\"}", "{goals: \"pre.locked\"}", 26, 12, "unknown key `goals` in `recovery`; did you mean `goal`?"},
    {"{goal: \"pre.locked\"}", "{}", 26, 11, "`recovery` must be {goal: CONDITION}"},
    {"{goal: \"pre.locked\"}", "locked", 26, 11, "`recovery` must be {goal: CONDITION}"},
};

static void test_bad(void **state) {
    (void)state;
    machine_all_refused(door, bad_rows, sizeof bad_rows / sizeof bad_rows[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_said), cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
