/* SPDX-License-Identifier: Apache-2.0 */
/* The adversary that a machine declares: one who writes at will, one who writes only some values, one who writes only sometimes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

/* `level` lets the door open from `high` on; nobody but an adversary writes it. */
static const char *const adversary_machine =
    "machine: door\nversion: 1\n"
    "vars:\n"
    "  level: {enum: [low, middle, high]%s}\n"
    "  open: bool\n"
    "  day: bool\n"
    "  seen: {type: bool, ghost: true}\n"
    "actions:\n"
    "  push: {principal: agent, gate: true, next: {open: \"true\", seen: \"true\"}, reject: [{as: shut, if: \"pre.level != "
    "'high'\"}]}\n"
    "  turn: {principal: runtime, gate: true, next: {day: \"!pre.day\"}, reject: [{as: late, if: \"pre.open\"}]}\n"
    "regions:\n"
    "  shut: {never: \"pre.open\"}\n"
    "contract:\n  rules: [shut, late]\n";

static const il_check *adversary_line(const machine_case *c, const char *id) {
    for (const il_check *k = c->h.checks; k; k = k->next) {
        if (strcmp(k->id, id) == 0) {
            return k;
        }
    }
    fail_msg("no line `%s`", id);
    return NULL;
}

static void adversary_run(const char *adversary, il_check_verdict verdict, const char *finding, const char *witness) {
    machine_case c;
    char text[2048];
    (void)snprintf(text, sizeof text, adversary_machine, adversary);
    machine_load_text(&c, text);
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    const il_space_bounds bounds = {0};
    assert_int_equal(il_harden_run(&c.h, &c.memory.alloc, &c.arena, c.m, &bounds, &c.err), IL_OK);
    c.hardened = true;
    const il_check *havoc = adversary_line(&c, "havoc");
    assert_int_equal(havoc->verdict, verdict);
    if (finding) {
        assert_non_null(havoc->finding);
        assert_string_equal(havoc->finding, finding);
        assert_int_not_equal(c.h.exit, 0);
        assert_false(c.h.fully_mediated);
    } else {
        assert_null(havoc->finding);
    }
    il_buf b;
    il_str words;
    il_buf_init(&b, &c.arena, 4096);
    il_trace_text(c.m, &havoc->witness, &b);
    assert_int_equal(il_buf_done(&b, &words, NULL), IL_OK);
    assert_true(il_str_eq(words, il_str_of(witness)));
    for (const il_havoc_set *s = c.h.havoc; s; s = s->next) {
        assert_int_equal(s->vars >> il_model_var(c.m, IL_STR("seen")) & 1, 0); /* ghosts are nobody's to write */
    }
    machine_free(&c);
}

static void test_nobody(void **state) {
    (void)state;
    adversary_run("", IL_CHECK_PASS, NULL, "");
}
static void test_at_will(void **state) {
    (void)state;
    adversary_run(", adversarial: true", IL_CHECK_FAIL, "HAVOC_CEX", "level:=high push");
}
static void test_typed(void **state) {
    (void)state;
    adversary_run(", adversarial: {to: [low, middle]}", IL_CHECK_INCONCLUSIVE, "PASS_TYPED", "");
    adversary_run(", adversarial: {to: [low, high]}", IL_CHECK_FAIL, "HAVOC_CEX", "level:=high push");
}
static void test_sometimes(void **state) {
    (void)state;
    adversary_run(", adversarial: {to: [high], when: \"pre.day\"}", IL_CHECK_FAIL, "HAVOC_CEX", "turn level:=high push");
    adversary_run(", adversarial: {when: \"pre.open\"}", IL_CHECK_INCONCLUSIVE, "PASS_TYPED", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_at_will),
        cmocka_unit_test(test_typed),
        cmocka_unit_test(test_sometimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
