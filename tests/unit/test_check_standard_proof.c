/* SPDX-License-Identifier: Apache-2.0 */
/* The standard machine, hardened once: every number, set and witness that its definition claims. Its twins are in test_check_standard.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

static machine_case standard;

static int standard_setup(void **state) {
    (void)state;
    machine_harden(&standard, MACHINE_STANDARD, NULL, 0);
    return standard.status == IL_OK ? 0 : -1;
}

static int standard_teardown(void **state) {
    (void)state;
    machine_free(&standard);
    return 0;
}

static void size_is(const char *id, const char *region, uint32_t states, uint64_t edges) {
    machine_verdict_is(&standard, id, region, IL_CHECK_PASS);
    assert_int_equal(machine_check(&standard, id, region)->states, states);
    assert_int_equal(machine_check(&standard, id, region)->edges, edges);
}

static void test_verdicts(void **state) {
    (void)state;
    static const char *const never[] = {"lethal-trifecta", "secret-egress", "secret-is-sensitive", "secret-into-open",
                                        "tainted-commit"};
    const il_harden *h = &standard.h;
    assert_true(h->fully_mediated);
    assert_int_equal(h->exit, 0);
    assert_int_equal(h->states, 1294);
    assert_int_equal(h->edges, 53030);
    assert_int_equal(h->depth, 10);
    assert_int_equal(standard.m->nsymbols, 213);
    assert_int_equal(standard.m->product, 19683);
    assert_int_equal(h->never_accepted, 82);
    assert_int_equal(h->never_fired, 0);
    assert_int_equal(h->frozen, 0);
    assert_int_equal(h->idle_gates, 0);
    size_is("translation", NULL, 1294, 53030);
    size_is("mediation", NULL, 1294, 53030);
    size_is("approvals", NULL, 1294, 53030);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        size_is("from-init", never[i], 1294, 53030);
        size_is("laundering", never[i], 672, 22732);
        size_is("confirmed", never[i], 2109, 81839);
        machine_verdict_is(&standard, "gates", never[i], IL_CHECK_PASS);
    }
    machine_verdict_is(&standard, "coverage", NULL, IL_CHECK_PASS);
    for (const il_check *c = h->checks; c; c = c->next) {
        assert_int_equal(c->verdict, IL_CHECK_PASS);
    }
}

static uint32_t region_of(const char *name) {
    uint32_t r = 0;
    while (r < standard.m->nregions && !il_str_eq(standard.m->regions[r].name, il_str_of(name))) {
        r++;
    }
    assert_true(r < standard.m->nregions);
    return r;
}

static void test_gated(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"approved-crossing", "rq ok a{u,s,e,+}"}, {"approved-commit", "rq ok a{u,c,+}"}};
    for (size_t i = 0; i < 2; i++) { /* unreachable with `approve` deleted */
        size_is("gates", rows[i][0], 289, 9015);
        machine_trace_is(standard.m, &machine_check(&standard, "gates", rows[i][0])->witness, rows[i][1]);
        assert_int_equal(standard.h.gate_sets[region_of(rows[i][0])], machine_actions(standard.m, "approve"));
    }
}

static void test_concessions_of_refine(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"lethal-trifecta", "a{s} rf{s} a{u,e}"}, {"secret-egress", "a{k} rf{k} a{e}"}, {"tainted-commit", "a{u} rf{u} a{c}"}};
    for (size_t i = 0; i < 3; i++) {
        machine_trace_is(standard.m, &standard.h.concessions[region_of(rows[i][0])], rows[i][1]);
    }
}

/* The definition counts the states of two regions; the third adds those that hold a secret and nothing sensitive. */
static void test_recovery(void **state) {
    (void)state;
    const il_model *m = standard.m;
    const uint32_t lethal = region_of("lethal-trifecta");
    const uint32_t secret = region_of("secret-egress");
    uint32_t both = 0;
    for (uint64_t s = 0; s < UINT64_C(1) << m->bits; s++) {
        both += il_model_valid(m, s) && (il_model_in_region(m, lethal, s, 0, 0) || il_model_in_region(m, secret, s, 0, 0));
    }
    assert_int_equal(both, 13122);
    assert_true(standard.h.recovery.ran && standard.h.recovery.strength == IL_RECOVERY_STRONG && standard.h.recovery.robust);
    assert_int_equal(standard.h.recovery.danger, 14418);
    assert_int_equal(standard.h.recovery.longest, 8);
    assert_false(standard.h.recovery.restoration);
}

static void test_mediation_sets(void **state) {
    (void)state;
    static const struct {
        const char *var, *raised, *lowered;
    } rows[] = {
        {"untrusted", "admit settle join", "refine"},
        {"sensitive", "admit settle join", "refine"},
        {"secret", "admit settle join", "refine"},
        {"flight", "admit join", "settle"},
        {"open", "admit join", "quarantine"},
        {"crossing", "admit", "settle"},
        {"asked", "request", "admit join approve refuse lapse quarantine end"},
        {"granted", "approve", "admit join lapse quarantine end"},
        {"phase", "quarantine end", "quarantine"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t v = il_model_var(standard.m, il_str_of(rows[i].var));
        assert_int_equal(standard.h.writers[v].raised_by, machine_actions(standard.m, rows[i].raised));
        assert_int_equal(standard.h.writers[v].lowered_by, machine_actions(standard.m, rows[i].lowered));
    }
}

/* These and no others, none of two variables or three. */
static void test_havoc_sets(void **state) {
    (void)state;
    static const struct {
        const char *region;
        bool laundered;
        const char *var, *witness;
    } rows[] = {
        {"lethal-trifecta", false, "untrusted", "a{s,e} untrusted:=fresh"},
        {"lethal-trifecta", false, "sensitive", "a{u,e} sensitive:=fresh"},
        {"lethal-trifecta", false, "flight", "a{u,s} flight:=bound"},
        {"lethal-trifecta", false, "open", "a{u,s} open:=bound"},
        {"secret-egress", false, "secret", "a{e} secret:=fresh"},
        {"secret-egress", false, "flight", "a{k} flight:=foreign"},
        {"secret-egress", false, "open", "a{k} open:=foreign"},
        {"secret-egress", false, "crossing", "a{k} crossing:=foreign"},
        {"secret-is-sensitive", false, "sensitive", "a{k} sensitive:=none"},
        {"secret-is-sensitive", false, "secret", "secret:=fresh"},
        {"approved-crossing", false, "crossing", "crossing:=bound"},
        {"approved-crossing", false, "granted", "granted:=1 a{u,s,e,+}"},
        {"approved-commit", false, "granted", "granted:=1 a{u,c,+}"},
        {"lethal-trifecta", true, "untrusted", "a{u} untrusted:=none a{s,e}"},
        {"lethal-trifecta", true, "sensitive", "a{s} sensitive:=none a{u,e}"},
        {"lethal-trifecta", true, "flight", "a{u,s} flight:=bound"},
        {"lethal-trifecta", true, "open", "a{u,s} open:=bound"},
        {"lethal-trifecta", true, "phase", "a{E} Q phase:=live a{u,s}"},
        {"secret-egress", true, "secret", "a{k} secret:=none a{e}"},
        {"secret-egress", true, "flight", "a{k} flight:=foreign"},
        {"secret-egress", true, "open", "a{k} open:=foreign"},
        {"secret-egress", true, "crossing", "a{k} crossing:=foreign"},
        {"secret-egress", true, "phase", "a{E} Q phase:=live a{k}"},
        {"secret-into-open", true, "flight", "a{e} flight:=none a{k}"},
        {"secret-into-open", true, "open", "a{E} open:=none a{k}"},
        {"secret-into-open", true, "crossing", "rq ok a{u,s,e,+} crossing:=none a{k}"},
        {"secret-into-open", true, "phase", "a{E} Q phase:=live a{k}"},
        {"tainted-commit", true, "untrusted", "a{u} untrusted:=none a{c}"},
    };
    uint32_t met = 0;
    for (const il_havoc_set *s = standard.h.havoc; s; s = s->next, met++) {
        size_t i = 0;
        while (i < sizeof rows / sizeof rows[0] && (s->region != region_of(rows[i].region) || s->laundered != rows[i].laundered ||
                                                    s->vars != UINT64_C(1) << il_model_var(standard.m, il_str_of(rows[i].var)))) {
            i++;
        }
        assert_true(i < sizeof rows / sizeof rows[0]);
        machine_trace_is(standard.m, &s->witness, rows[i].witness);
    }
    assert_int_equal(met, sizeof rows / sizeof rows[0]);
}

static void test_guard_removal(void **state) {
    (void)state;
    static const machine_guard_row rows[] = {
        {"admit", "lethal-trifecta", 0, IL_GUARD_OPENS_REGION, "lethal-trifecta", "a{u,s,e}"},
        {"join", "lethal-trifecta", 0, IL_GUARD_OPENS_REGION, "lethal-trifecta", "j{u,s,ob}"},
        {"admit", "secret-egress", 0, IL_GUARD_OPENS_REGION, "secret-egress", "a{k,e}"},
        {"join", "secret-egress", 0, IL_GUARD_OPENS_REGION, "secret-egress", "j{k,of}"},
        {"admit", "secret-egress", 1, IL_GUARD_OPENS_REGION, "secret-into-open", "a{eb} a{k}"},
        {"join", "secret-egress", 1, IL_GUARD_OPENS_REGION, "secret-into-open", "a{eb} j{k}"},
        {"admit", "tainted-commit", 0, IL_GUARD_OPENS_REGION, "tainted-commit", "a{u,c}"},
        {"admit", "no-approval", 0, IL_GUARD_OPENS_BYPASS, "approved-crossing", "a{u,s,e,+}"},
        {"admit", "no-approval", 0, IL_GUARD_OPENS_BYPASS, "approved-commit", "a{u,c,+}"},
        {"admit", "quarantined", 0, IL_GUARD_OPENS_LAUNDERED, "lethal-trifecta", "a{E} Q a{u,s}"},
        {"admit", "ended", 0, IL_GUARD_OPENS_LAUNDERED, "lethal-trifecta", "a{E} Q end a{u,s}"},
        {"admit", "quarantined", 0, IL_GUARD_OPENS_REGION, NULL, NULL},
        {"admit", "ended", 0, IL_GUARD_OPENS_REGION, NULL, NULL},
        {"settle", "label-breach", 0, IL_GUARD_OPENS_REGION, "lethal-trifecta", "a{e} se{u,s}"},
        {"refine", "not-fresh", 1, IL_GUARD_OPENS_CONFIRMED, "lethal-trifecta", "j{s} rf{s} j{u,ob}"},
        {"refine", "not-fresh", 2, IL_GUARD_OPENS_REGION, "secret-is-sensitive", "a{k} rf{s}"},
        {"request", "too-many-approvals", 0, IL_GUARD_OPENS_FAULT, NULL, "rq rq rq"},
        {"approve", "no-request", 0, IL_GUARD_OPENS_FAULT, NULL, "ok"},
        {"refuse", "no-request", 0, IL_GUARD_OPENS_FAULT, NULL, "refuse"},
        {"lapse", "no-request", 0, IL_GUARD_OPENS_FAULT, NULL, "lapse{slot=asked}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_guard_is(&standard, &rows[i]);
    }
}

static void test_guards_that_protect_no_region(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"admit", "not-approvable"}, {"admit", "approval-not-needed"},
                                          {"settle", "unknown-call"},  {"end", "busy"},
                                          {"refine", "quarantined"},   {"refine", "ended"},
                                          {"request", "quarantined"},  {"request", "ended"},
                                          {"approve", "quarantined"},  {"approve", "ended"},
                                          {"refuse", "quarantined"},   {"refuse", "ended"},
                                          {"lapse", "quarantined"},    {"lapse", "ended"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (il_guard_opens o = IL_GUARD_OPENS_REGION; o <= IL_GUARD_OPENS_FAULT; o++) {
            machine_guard_is(&standard, &(machine_guard_row){rows[i][0], rows[i][1], 0, o, NULL, NULL});
        }
    }
}

static void test_must_accept(void **state) {
    (void)state;
    static const char *const rows[] = {"a{e} se{last=egress} a{u} a{s}", "a{u} a{u} a{e}", "a{s} a{e}", "a{k} a{eb}", "a{c} a{u}",
                                       "a{u,s} rq ok a{e,+} a{u} a{s}"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_sequence(&standard, rows[i], NULL);
    }
}

static void test_must_reject(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"a{u} a{s} a{e}", "lethal-trifecta"},
        {"a{E} a{u} a{s}", "lethal-trifecta"},
        {"a{e} a{u} a{s}", "lethal-trifecta"},
        {"a{u} a{u} rf{u}", "not-fresh"},
        {"a{k} a{e}", "secret-egress"},
        {"a{u,s} rq ok a{k} a{e,+}", "secret-egress"},
        {"a{u,s} rq ok a{E,+}", "not-approvable"},
        {"a{u,s} rq ok a{e,+} a{k}", "secret-egress"},
        {"a{u} rq ok a{c,e,+} a{s}", "lethal-trifecta"}, /* an approval exempts only what it was needed for */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_sequence(&standard, rows[i][0], rows[i][1]);
    }
    machine_sequence(&standard, "a{u,s} rq ok a{e,+} se{last=crossing} a{k}", NULL);
}

static void test_controls(void **state) {
    (void)state;
    uint32_t n = 0;
    for (const il_control *c = standard.h.controls; c; c = c->next, n++) {
        bool nothing_to_plant = strcmp(c->id, "refusal-wrong") == 0 || strcmp(c->id, "sticky-lowered") == 0;
        assert_int_equal(c->state, nothing_to_plant ? IL_CONTROL_NOT_NEEDED : IL_CONTROL_FAILED_AS_IT_MUST);
    }
    assert_true(n >= 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_gated),
        cmocka_unit_test(test_concessions_of_refine),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_mediation_sets),
        cmocka_unit_test(test_havoc_sets),
        cmocka_unit_test(test_guard_removal),
        cmocka_unit_test(test_guards_that_protect_no_region),
        cmocka_unit_test(test_must_accept),
        cmocka_unit_test(test_must_reject),
        cmocka_unit_test(test_controls),
    };
    return cmocka_run_group_tests(tests, standard_setup, standard_teardown);
}
