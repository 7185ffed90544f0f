/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped machine: every number, set and witness that its definition claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

static machine_case trifecta;

static int trifecta_setup(void **state) {
    (void)state;
    machine_harden(&trifecta, MACHINE_TRIFECTA, NULL, 0);
    return trifecta.status == IL_OK ? 0 : -1;
}

static int trifecta_teardown(void **state) {
    (void)state;
    machine_free(&trifecta);
    return 0;
}

static void size_is(const char *id, const char *region, uint32_t states, uint64_t edges) {
    machine_verdict_is(&trifecta, id, region, IL_CHECK_PASS);
    assert_int_equal(machine_check(&trifecta, id, region)->states, states);
    assert_int_equal(machine_check(&trifecta, id, region)->edges, edges);
}

static void test_verdicts(void **state) {
    (void)state;
    const il_harden *h = &trifecta.h;
    assert_true(h->fully_mediated);
    assert_int_equal(h->exit, 0);
    assert_int_equal(h->states, 330);
    assert_int_equal(h->edges, 7065);
    assert_int_equal(h->depth, 9);
    assert_int_equal(trifecta.m->nsymbols, 63);
    assert_int_equal(trifecta.m->product, 1944);
    assert_int_equal(h->never_accepted, 15);
    assert_int_equal(h->never_fired, 0);
    assert_int_equal(h->frozen, 0);
    assert_int_equal(h->idle_gates, 0);
    size_is("translation", NULL, 330, 7065);
    size_is("from-init", "lethal-trifecta", 330, 7065);
    size_is("mediation", NULL, 330, 7065);
    size_is("laundering", "lethal-trifecta", 215, 3972);
    size_is("confirmed", "lethal-trifecta", 513, 10660);
    size_is("approvals", NULL, 330, 7065);
    machine_verdict_is(&trifecta, "gates", "lethal-trifecta", IL_CHECK_PASS);
    machine_verdict_is(&trifecta, "coverage", NULL, IL_CHECK_PASS);
    for (const il_check *c = h->checks; c; c = c->next) {
        assert_int_equal(c->verdict, IL_CHECK_PASS);
    }
}

static void test_gated(void **state) {
    (void)state;
    machine_verdict_is(&trifecta, "gates", "approved-crossing", IL_CHECK_PASS); /* unreachable with `approve` deleted */
    machine_trace_is(trifecta.m, &machine_check(&trifecta, "gates", "approved-crossing")->witness, "rq ok a{u,s,e,+}");
    assert_int_equal(trifecta.h.gate_sets[1], UINT64_C(1) << il_model_action(trifecta.m, IL_STR("approve")));
}

static void test_concession_of_refine(void **state) {
    (void)state;
    machine_trace_is(trifecta.m, &trifecta.h.concessions[0], "a{s} rf{s} a{u,e}");
    assert_false(trifecta.h.concessions[1].found);
}

static void test_recovery(void **state) {
    (void)state;
    assert_true(trifecta.h.recovery.ran && trifecta.h.recovery.strength == IL_RECOVERY_STRONG && trifecta.h.recovery.robust);
    assert_int_equal(trifecta.h.recovery.danger, 648);
    assert_int_equal(trifecta.h.recovery.longest, 7);
}

static void test_mediation_sets(void **state) {
    (void)state;
    static const struct {
        const char *var, *raised, *lowered;
    } rows[] = {
        {"untrusted", "admit settle join", "refine"},
        {"sensitive", "admit settle join", "refine"},
        {"flight", "admit join", "settle"},
        {"open", "admit join", "quarantine"},
        {"crossing", "admit", "settle"},
        {"asked", "request", "admit join approve refuse lapse quarantine end"},
        {"granted", "approve", "admit join lapse quarantine end"},
        {"phase", "quarantine end", "quarantine"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t v = il_model_var(trifecta.m, il_str_of(rows[i].var));
        assert_int_equal(trifecta.h.writers[v].raised_by, machine_actions(trifecta.m, rows[i].raised));
        assert_int_equal(trifecta.h.writers[v].lowered_by, machine_actions(trifecta.m, rows[i].lowered));
    }
    uint64_t raise = 0;
    uint64_t lower = 0;
    il_unmediated_writes(&trifecta.h, &raise, &lower);
    assert_int_equal(raise, UINT64_C(1) << il_model_var(trifecta.m, IL_STR("asked")));
    assert_int_equal(lower, UINT64_C(1) << il_model_var(trifecta.m, IL_STR("asked")) |
                                UINT64_C(1) << il_model_var(trifecta.m, IL_STR("granted")));
}

static void test_havoc_sets(void **state) {
    (void)state;
    static const struct {
        const char *region;
        bool laundered;
        const char *var, *witness;
    } rows[] = {
        {"lethal-trifecta", false, "untrusted", "a{s,e} untrusted:=fresh"},
        {"lethal-trifecta", false, "sensitive", "a{u,e} sensitive:=fresh"},
        {"lethal-trifecta", false, "flight", "a{u,s} flight:=true"},
        {"lethal-trifecta", false, "open", "a{u,s} open:=true"},
        {"approved-crossing", false, "crossing", "crossing:=true"},
        {"approved-crossing", false, "granted", "granted:=1 a{u,s,e,+}"},
        {"lethal-trifecta", true, "untrusted", "a{u} untrusted:=none a{s,e}"},
        {"lethal-trifecta", true, "sensitive", "a{s} sensitive:=none a{u,e}"},
        {"lethal-trifecta", true, "flight", "a{u,s} flight:=true"},
        {"lethal-trifecta", true, "open", "a{u,s} open:=true"},
        {"lethal-trifecta", true, "phase", "a{E} Q phase:=live a{u,s}"},
    };
    size_t i = 0;
    for (const il_havoc_set *s = trifecta.h.havoc; s;
         s = s->next, i++) { /* these and no others, none of two variables or three */
        assert_true(i < sizeof rows / sizeof rows[0]);
        assert_true(il_str_eq(trifecta.m->regions[s->region].name, il_str_of(rows[i].region)));
        assert_int_equal(s->laundered, rows[i].laundered);
        assert_int_equal(s->vars, UINT64_C(1) << il_model_var(trifecta.m, il_str_of(rows[i].var)));
        machine_trace_is(trifecta.m, &s->witness, rows[i].witness);
    }
    assert_int_equal(i, sizeof rows / sizeof rows[0]);
}

/* All variables that no row names, written together, reach nothing. */
static void test_havoc_rest_is_clean(void **state) {
    (void)state;
    machine_case c;
    machine_open(&c, MACHINE_TRIFECTA, NULL);
    il_subject s;
    assert_int_equal(il_subject_init(&s, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
    static const char *const rest[3][6] = {{"crossing", "asked", "granted", "phase"},
                                           {"crossing", "asked", "granted"},
                                           {"untrusted", "sensitive", "flight", "open", "asked", "phase"}};
    for (size_t i = 0; i < 3; i++) {
        il_view v = {.subject = &s, .regions = i < 2 ? s.never : s.gated};
        v.observer = i == 1 ? IL_OBSERVE_GHOSTS : IL_OBSERVE_NOTHING;
        v.dropped = i == 1 ? s.lowers : i == 2 ? c.m->regions[1].by : 0;
        for (size_t k = 0; k < 6 && rest[i][k]; k++) {
            v.raise |= UINT64_C(1) << il_model_var(c.m, il_str_of(rest[i][k]));
        }
        v.lower = v.raise;
        il_space space;
        assert_int_equal(il_view_explore(&v, &space, &c.err), IL_OK);
        assert_false(space.bound_hit || space.hits[0].found || space.hits[1].found);
        assert_true(space.n > 1);
        il_space_free(&space);
    }
    il_subject_free(&s);
    machine_free(&c);
}

static void test_guard_removal(void **state) {
    (void)state;
    static const machine_guard_row rows[] = {
        {"admit", "lethal-trifecta", 0, IL_GUARD_OPENS_REGION, NULL, "a{u,s,e}"},
        {"join", "lethal-trifecta", 0, IL_GUARD_OPENS_REGION, NULL, "j{u,s,o}"},
        {"admit", "no-approval", 0, IL_GUARD_OPENS_BYPASS, NULL, "a{u,s,e,+}"},
        {"admit", "quarantined", 0, IL_GUARD_OPENS_LAUNDERED, NULL, "a{E} Q a{u,s}"},
        {"admit", "ended", 0, IL_GUARD_OPENS_LAUNDERED, NULL, "a{E} Q end a{u,s}"},
        {"admit", "quarantined", 0, IL_GUARD_OPENS_REGION, NULL, NULL},
        {"admit", "ended", 0, IL_GUARD_OPENS_REGION, NULL, NULL},
        {"settle", "label-breach", 0, IL_GUARD_OPENS_REGION, NULL, "a{e} se{u,s}"},
        {"refine", "not-fresh", 1, IL_GUARD_OPENS_CONFIRMED, NULL, "j{s} rf{s} j{u,o}"},
        {"refine", "not-fresh", 1, IL_GUARD_OPENS_REGION, NULL, NULL},
        {"admit", "not-approvable", 0, IL_GUARD_OPENS_LAUNDERED, NULL, "rq ok a{u,s,E,+}"},
        {"admit", "not-approvable", 0, IL_GUARD_OPENS_REGION, NULL, NULL},
        {"request", "too-many-approvals", 0, IL_GUARD_OPENS_FAULT, NULL, "rq rq rq"},
        {"approve", "no-request", 0, IL_GUARD_OPENS_FAULT, NULL, "ok"},
        {"refuse", "no-request", 0, IL_GUARD_OPENS_FAULT, NULL, "refuse"},
        {"lapse", "no-request", 0, IL_GUARD_OPENS_FAULT, NULL, "lapse{slot=asked}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_guard_is(&trifecta, &rows[i]);
    }
}

static void test_guards_that_protect_no_region(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"admit", "approval-not-needed"},
                                          {"settle", "unknown-call"},
                                          {"end", "busy"},
                                          {"refine", "quarantined"},
                                          {"refine", "ended"},
                                          {"request", "quarantined"},
                                          {"request", "ended"},
                                          {"approve", "quarantined"},
                                          {"approve", "ended"},
                                          {"refuse", "quarantined"},
                                          {"refuse", "ended"},
                                          {"lapse", "quarantined"},
                                          {"lapse", "ended"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (il_guard_opens o = IL_GUARD_OPENS_REGION; o <= IL_GUARD_OPENS_FAULT; o++) {
            machine_guard_is(&trifecta, &(machine_guard_row){rows[i][0], rows[i][1], 0, o, NULL, NULL});
        }
    }
}

static void test_must_accept(void **state) {
    (void)state;
    static const char *const rows[] = {"a{e} se{last=egress} a{u} a{s}", "a{u} a{u} a{e}", "a{s} a{e}",
                                       "a{u,s} rq ok a{e,+} a{u} a{s}"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_sequence(&trifecta, rows[i], NULL);
    }
}

static void test_must_reject(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"a{u} a{s} a{e}", "lethal-trifecta"},
        {"a{E} a{u} a{s}", "lethal-trifecta"},
        {"a{e} a{u} a{s}", "lethal-trifecta"},
        {"a{u} a{u} rf{u}", "not-fresh"},
        {"a{u,s} rq ok a{E,+}", "not-approvable"},
        {"a{u,s,e}", "lethal-trifecta"},
        {"a{u,s} rq ok a{s} a{e,+} a{e,+}", "no-approval"},
        {"a{e,+}", "approval-not-needed"},
        {"a{u,s} a{e,+}", "no-approval"},
        {"ok", "no-request"},
        {"rq rq rq", "too-many-approvals"},
        {"se{u}", "label-breach"},
        {"a{u} se{last=egress}", "unknown-call"},
        {"a{e} end", "busy"},
        {"Q a", "quarantined"},
        {"end a", "ended"},
        {"rf", "not-fresh"},
        {"j{u,s,f}", "lethal-trifecta"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_sequence(&trifecta, rows[i][0], rows[i][1]);
    }
}

static void test_controls(void **state) {
    (void)state;
    for (const il_control *c = trifecta.h.controls; c; c = c->next) {
        bool asked =
            strcmp(c->id, "step-true") != 0 && strcmp(c->id, "refusal-wrong") != 0 && strcmp(c->id, "sticky-lowered") != 0;
        assert_int_equal(c->state, asked ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_NOT_NEEDED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_gated),
        cmocka_unit_test(test_concession_of_refine),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_mediation_sets),
        cmocka_unit_test(test_havoc_sets),
        cmocka_unit_test(test_havoc_rest_is_clean),
        cmocka_unit_test(test_guard_removal),
        cmocka_unit_test(test_guards_that_protect_no_region),
        cmocka_unit_test(test_must_accept),
        cmocka_unit_test(test_must_reject),
        cmocka_unit_test(test_controls),
    };
    return cmocka_run_group_tests(tests, trifecta_setup, trifecta_teardown);
}
