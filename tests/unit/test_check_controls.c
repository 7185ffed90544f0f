/* SPDX-License-Identifier: Apache-2.0 */
/* The negative controls themselves: an instrument that is blinded after the checks passed must be named BROKEN, and the run ends with 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

static const il_control *controls_of(const machine_case *c, const char *id) {
    for (const il_control *k = c->h.controls; k; k = k->next) {
        if (strcmp(k->id, id) == 0) {
            return k;
        }
    }
    fail_msg("no control `%s`", id);
    return NULL;
}

static void controls_again(machine_case *c, const char *id, il_control_state want) {
    c->h.controls = c->h.last_control = NULL;
    assert_int_equal(il_check_controls(&c->h, &c->err), IL_OK);
    assert_int_equal(controls_of(c, id)->state, want);
    assert_int_equal(il_harden_conclude(&c->h, &c->err), IL_OK);
    assert_int_equal(c->h.exit, want == IL_CONTROL_BROKEN ? 4 : 0);
    assert_int_equal(c->h.fully_mediated, want != IL_CONTROL_BROKEN);
    if (want == IL_CONTROL_BROKEN) {
        assert_string_equal(il_harden_verdict(&c->h), "NO VERDICT");
        assert_int_equal(c->h.certificate.n, 0);
    }
}

static void test_sound(void **state) {
    (void)state;
    static const char *const ids[] = {"guard-removed",  "region-true",      "certificate-flipped", "table-flipped",
                                      "taint-cleared",  "commit-at-return", "second-way-out",      "taint-unconfirmed",
                                      "approval-kept",  "dead-end",         "leads-back",          "correction-forgets",
                                      "recovery-undone"};
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_int_equal(controls_of(&c, ids[i])->state, IL_CONTROL_FAILED_AS_IT_MUST);
    }
    machine_free(&c);
    static const char *const steps[] = {"step-true",          "refusal-wrong",   "dead-end",      "leads-back",
                                        "correction-forgets", "recovery-undone", "sticky-lowered"};
    machine_harden(&c, "machines/secret-custody.yaml", NULL, 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(controls_of(&c, steps[i])->state, IL_CONTROL_FAILED_AS_IT_MUST);
    }
    controls_again(&c, "dead-end", IL_CONTROL_FAILED_AS_IT_MUST);
    machine_free(&c);
}

/* Laundering that leaves out every step sees nothing. */
static void test_blind_laundering(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    c.h.subject.lowers = UINT64_MAX;
    controls_again(&c, "taint-cleared", IL_CONTROL_BROKEN);
    machine_free(&c);
}

/* A recovery that takes a state inside the region for the goal is never stuck, and has no step to look at. */
static void test_blind_recovery(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    assert_true(c.h.recovery.begins);
    uint32_t phase = il_model_var(c.m, IL_STR("phase"));
    c.h.recovery.outside = il_model_set(c.m, c.m->initial, phase, c.m->vars[phase].domain.size - 1);
    static const char *const ids[] = {"dead-end", "correction-forgets", "recovery-undone"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        controls_again(&c, ids[i], IL_CONTROL_BROKEN);
    }
    machine_free(&c);
}

/* No step is a correction to it. */
static void test_recovery_without_corrections(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    c.h.subject.corrective = 0;
    controls_again(&c, "leads-back", IL_CONTROL_BROKEN);
    controls_again(&c, "correction-forgets", IL_CONTROL_BROKEN);
    machine_free(&c);
}

/* One danger state, which one step leads to the goal: there is nowhere to go back from, and nothing is held. */
static void test_nothing_to_plant(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(
        &c, "machine: door\nversion: 1\nvars:\n  ajar: bool\n  phase: [live, ended]\n"
            "actions:\n  push: {principal: agent, next: {ajar: \"true\"}, reject: [{as: shut, if: \"true\"}]}\n"
            "  end: {principal: runtime, corrective: true, next: {phase: \"'ended'\"}, reject: [{as: over, if: \"pre.phase == "
            "'ended'\"}]}\n"
            "regions:\n  shut: {never: \"pre.ajar\"}\ncontract:\n  rules: [shut, over]\n");
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    assert_int_equal(il_harden_run(&c.h, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
    c.hardened = true;
    assert_int_equal(controls_of(&c, "dead-end")->state, IL_CONTROL_FAILED_AS_IT_MUST);
    assert_int_equal(controls_of(&c, "leads-back")->state, IL_CONTROL_NOT_NEEDED);
    assert_int_equal(controls_of(&c, "correction-forgets")->state, IL_CONTROL_NOT_NEEDED);
    assert_int_equal(controls_of(&c, "recovery-undone")->state, IL_CONTROL_NOT_NEEDED);
    machine_free(&c);
}

/* Stickiness that watches nothing. */
static void test_blind_sticky(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, "machines/secret-custody.yaml", NULL, 0);
    for (uint32_t v = 0; v < c.m->nvars; v++) {
        c.m->vars[v].sticky = false;
    }
    controls_again(&c, "sticky-lowered", IL_CONTROL_BROKEN);
    machine_free(&c);
}

/* An observer of approvals that has no admission to look at. */
static void test_blind_approvals(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    c.h.subject.admits = 0;
    controls_again(&c, "approval-kept", IL_CONTROL_BROKEN);
    machine_free(&c);
}

/* A witness that no longer leads through the clause that was left out. */
static void test_wrong_witness(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    il_guard_result *g = c.h.guards;
    while (g && g->opens != IL_GUARD_OPENS_REGION) {
        g = g->next;
    }
    assert_non_null(g);
    g->witness.n--;
    controls_again(&c, "guard-removed", IL_CONTROL_BROKEN);
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_blind_laundering),
        cmocka_unit_test(test_blind_recovery),
        cmocka_unit_test(test_blind_sticky),
        cmocka_unit_test(test_blind_approvals),
        cmocka_unit_test(test_wrong_witness),
        cmocka_unit_test(test_recovery_without_corrections),
        cmocka_unit_test(test_nothing_to_plant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
