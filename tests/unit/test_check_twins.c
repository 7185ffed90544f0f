/* SPDX-License-Identifier: Apache-2.0 */
/* Negative twins: the shipped machine with one mistake each. Every mistake is found by the check that is there for it, with the shortest
 * witness; a twin whose edit no longer applies fails the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

#define LETHAL "lethal-trifecta"
#define JOIN_GUARD \
    "      granted: \"gained ? 0 : pre.granted\"\n    reject:\n      - {as: lethal-trifecta, if: \"(both) && (liveout)\"}"
#define ADMIT_GUARD "egress != 'once'\"}\n      - {as: lethal-trifecta, if: \"(both) && (liveout)\"}"
#define ADMIT_ASKED \
    "      asked: \"gained ? 0 : pre.asked\"\n      granted: \"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted\""
#define JOIN_ASKED "      asked: \"gained ? 0 : pre.asked\"\n      granted: \"gained ? 0 : pre.granted\""

typedef struct twin {
    const char *name;
    machine_edit edits[6];
    struct {
        const char *id, *region, *witness;
    } fails[3];
    struct {
        const char *id, *region;
    } passes[3];
} twin;

static const twin twins[] = {
    {"clear_taint",
     {{"  request:\n", "  clear: {principal: runtime, gate: true, live: true, next: {untrusted: \"'none'\", sensitive: "
                       "\"'none'\"}}\n  request:\n"}},
     {{"laundering", LETHAL, "a{s} clear a{u,e}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
    {"effects at return instead of admission",
     {{"untrusted: \"call.untrusted ? (pre.untrusted == 'none' ? 'fresh' : 'held') : pre.untrusted\"",
       "untrusted: \"pre.untrusted\""},
      {"sensitive: \"call.sensitive ? (pre.sensitive == 'none' ? 'fresh' : 'held') : pre.sensitive\"",
       "sensitive: \"pre.sensitive\""},
      {"(call.untrusted && pre.untrusted == 'none') || (call.sensitive && pre.sensitive == 'none')", "false"},
      {ADMIT_GUARD, "egress != 'once'\"}\n      - {as: lethal-trifecta, if: \"(pre.untrusted != 'none' || call.untrusted) && "
                    "(pre.sensitive != 'none' || call.sensitive) && (liveout)\"}"}},
     {{"from-init", LETHAL, "a{e} se{u,s}"}, {"laundering", LETHAL, "a{s} a{u,e}"}},
     {{NULL, NULL}}},
    {"test on held only, without new",
     {{"both: \"next.untrusted != 'none' && next.sensitive != 'none'\"",
       "both: \"pre.untrusted != 'none' && pre.sensitive != 'none'\""},
      {"liveout: \"next.flight || next.open\"", "liveout: \"pre.flight || pre.open\""}},
     {{"from-init", LETHAL, "a{u,s,e}"}},
     {{NULL, NULL}}},
    {"approval not consumed",
     {{"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted", "gained ? 0 : pre.granted"}},
     {{"approvals", NULL, "a{u,s} rq ok a{e,+} a{e,+}"}},
     {{"from-init", LETHAL}, {"laundering", LETHAL}}},
    {"approval not voided on a new effect",
     {{ADMIT_ASKED, "      asked: \"pre.asked\"\n      granted: \"call.approved ? pre.granted - 1 : pre.granted\""}},
     {{"approvals", NULL, "rq a{s} ok a{u,e,+}"}},
     {{"from-init", LETHAL}, {"laundering", LETHAL}, {"gates", "approved-crossing"}}},
    {"only granted voided, not asked",
     {{ADMIT_ASKED, "      asked: \"pre.asked\"\n      granted: \"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted\""}},
     {{"approvals", NULL, "rq a{s} ok a{u,e,+}"}},
     {{"from-init", LETHAL}, {"laundering", LETHAL}, {"gates", "approved-crossing"}}},
    {"not voided by join",
     {{JOIN_ASKED, "      asked: \"pre.asked\"\n      granted: \"pre.granted\""}},
     {{"approvals", NULL, "rq j{s} ok a{u,e,+}"}},
     {{"from-init", LETHAL}, {"laundering", LETHAL}, {"gates", "approved-crossing"}}},
    {"runtime may grant",
     {{"  refuse:\n", "  auto:\n    principal: runtime\n    gate: true\n    live: true\n    next: {asked: \"pre.asked - 1\", "
                      "granted: \"pre.granted + 1\"}\n"
                      "    reject: [{as: no-request, if: \"pre.asked == 0 || pre.granted == K\"}]\n  refuse:\n"}},
     {{"gates", "approved-crossing", "rq auto a{u,s,e,+}"}},
     {{"from-init", LETHAL}, {"laundering", LETHAL}}},
    {"approve without request",
     {{"    next: {asked: \"pre.asked - 1\", granted: \"pre.granted + 1\"}\n    reject:\n      - {as: no-request, if: "
       "\"pre.asked == 0 || pre.granted == K\"}",
       "    next: {asked: \"pre.asked == 0 ? 0 : pre.asked - 1\", granted: \"pre.granted + 1\"}\n    reject:\n"
       "      - {as: no-request, if: \"pre.granted == K\"}"}},
     {{"approvals", NULL, "ok a{u,s,e,+}"}},
     {{"from-init", LETHAL}, {"gates", "approved-crossing"}}},
    {"standing treated as once",
     {{"(call.egress == 'once' && !call.approved)\"\n      open: \"pre.open || (call.egress == 'standing' && !call.approved)\"",
       "(call.egress != 'none' && !call.approved)\"\n      open: \"pre.open\""}},
     {{"laundering", LETHAL, "a{E} se{last=egress} a{u,s}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
    {"standing approvable",
     {{"call.approved && call.egress != 'once'", "call.approved && call.egress == 'none'"}},
     {{"laundering", LETHAL, "rq ok a{u,s,E,+}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
    {"join omitted",
     {{"    call: {untrusted: bool, sensitive: bool, flight: bool, open: bool}\n    next:\n      untrusted: \"call.untrusted ? "
       "'held' : pre.untrusted\"\n"
       "      sensitive: \"call.sensitive ? 'held' : pre.sensitive\"\n      flight: \"pre.flight || call.flight\"\n      open: "
       "\"pre.open || call.open\"\n" JOIN_ASKED "\n",
       "    call: {untrusted: bool, sensitive: bool, flight: bool, open: bool}\n"}},
     {{"laundering", LETHAL, "j{u,s,o}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
    {"join without guards",
     {{JOIN_GUARD, "      granted: \"gained ? 0 : pre.granted\""}},
     {{"from-init", LETHAL, "j{u,s,o}"}},
     {{"approvals", NULL}}},
    {"refine of any taint",
     {{"(call.untrusted && pre.untrusted != 'fresh') || (call.sensitive && pre.sensitive != 'fresh')",
       "(call.untrusted && pre.untrusted == 'none') || (call.sensitive && pre.sensitive == 'none')"}},
     {{"confirmed", LETHAL, "j{s} rf{s} j{u,o}"}},
     {{"from-init", LETHAL}, {"laundering", LETHAL}, {"approvals", NULL}}},
    {"a call out that is not counted while a request waits",
     {{"(call.egress == 'once' && !call.approved)\"\n      open",
       "(call.egress == 'once' && !call.approved && pre.asked == 0)\"\n      open"}},
     {{"laundering", LETHAL, "rq a{u,s,e}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
    {"any settle releases the calls in flight",
     {{"flight: \"call.last == 'egress' ? false : pre.flight\"", "flight: \"false\""}},
     {{"laundering", LETHAL, "a{e} se a{u,s}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
    {"a call in flight is not joined",
     {{"flight: \"pre.flight || call.flight\"", "flight: \"pre.flight || (call.flight && pre.phase == 'ended')\""}},
     {{"laundering", LETHAL, "j{u,s,f}"}},
     {{"from-init", LETHAL}, {"approvals", NULL}}},
};

static void twin_run(const twin *t) {
    machine_case c;
    print_message("           %s\n", t->name);
    machine_harden(&c, MACHINE_TRIFECTA, t->edits, 0);
    assert_int_equal(c.status, IL_OK);
    assert_false(c.h.fully_mediated);
    assert_int_equal(c.h.certificate.n, 0);
    assert_int_equal(c.h.exit, 1);
    for (size_t i = 0; i < 3 && t->fails[i].id; i++) {
        machine_fails(&c, t->fails[i].id, t->fails[i].region, t->fails[i].witness);
    }
    for (size_t i = 0; i < 3 && t->passes[i].id; i++) {
        machine_verdict_is(&c, t->passes[i].id, t->passes[i].region, IL_CHECK_PASS);
    }
    machine_free(&c);
}

static void test_twins_of_effects(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        twin_run(&twins[i]);
    }
}

static void test_twins_of_approvals(void **state) {
    (void)state;
    for (size_t i = 3; i < 9; i++) {
        twin_run(&twins[i]);
    }
}

static void test_twins_of_sinks_and_joins(void **state) {
    (void)state;
    for (size_t i = 9; i < sizeof twins / sizeof twins[0]; i++) {
        twin_run(&twins[i]);
    }
}

/* Approving what nobody asked for, without minding the count: refused while the table is built, at the update, with the trace. */
/* The observer counts as far as the machine does. Where the machine loses count (asking at the ceiling is let through, and no more is asked), the
 * observer does not, and says so when it reaches its own: nothing is shown, and one that is broken within the count is still found. */
static void test_more_approvals_than_are_counted(void **state) {
    (void)state;
    static const machine_edit slots[] = {{"const: {K: 2}", "const: {K: 17}"}, {NULL, NULL}};
    static const machine_edit endless[] = {{"asked: \"pre.asked + 1\"", "asked: \"pre.asked == K ? K : pre.asked + 1\""},
                                           {"pre.asked + pre.granted >= K", "pre.asked + pre.granted > K"},
                                           {NULL, NULL}};
    static const machine_edit broken[] = {
        {"const: {K: 2}", "const: {K: 17}"},
        {"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted", "gained ? 0 : pre.granted"},
        {NULL, NULL}};
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, slots, 0);
    assert_int_equal(c.status, IL_OK);
    machine_verdict_is(&c, "approvals", NULL, IL_CHECK_PASS);
    assert_true(c.h.fully_mediated);
    machine_free(&c);
    machine_harden(&c, MACHINE_TRIFECTA, endless, 0);
    assert_int_equal(c.status, IL_OK);
    machine_verdict_is(&c, "approvals", NULL, IL_CHECK_INCONCLUSIVE);
    assert_string_equal(machine_check(&c, "approvals", NULL)->finding, "COUNT_SATURATED");
    assert_int_equal(c.h.exit, 2);
    assert_false(c.h.fully_mediated);
    machine_free(&c);
    machine_harden(&c, MACHINE_TRIFECTA, broken, 0);
    machine_fails(&c, "approvals", NULL, "a{u,s} rq ok a{e,+} a{e,+}");
    machine_free(&c);
}

static void test_twin_that_faults(void **state) {
    (void)state;
    machine_case c;
    const machine_edit edits[] = {{"pre.asked == 0 || pre.granted == K", "pre.granted == K"}, {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, edits, 0);
    assert_int_equal(c.status, IL_E_INVALID);
    const char *line = strstr(c.text.p, "    next: {asked: \"pre.asked - 1\", granted");
    assert_non_null(line);
    uint32_t n = 1;
    for (const char *p = c.text.p; p < line; p++) {
        n += *p == '\n';
    }
    assert_int_equal(c.err.line, n);
    assert_int_equal(c.err.col, 19);
    assert_string_equal(c.err.msg, "`asked` leaves its domain after: approve");
    machine_free(&c);
}

static void test_lowering_must_be_a_declared_gate(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, twins[0].edits, 0);
    const il_check *k = machine_check(&c, "mediation", NULL);
    assert_int_equal(k->verdict, IL_CHECK_FAIL);
    assert_string_equal(k->finding, "UNDECLARED_LOWERING");
    assert_true(il_str_eq(k->detail, IL_STR("untrusted by clear")));
    assert_true(il_str_eq(machine_check(&c, "laundering", LETHAL)->detail, IL_STR("clear")));
    machine_free(&c);
}

/* An agent's own action that opens a sink: no gate, so the write is unmediated, whatever the guards of others say. */
static void test_unmediated_write(void **state) {
    (void)state;
    machine_case c;
    const machine_edit edits[] = {{"  request:\n", "  tunnel: {principal: agent, live: true, next: {open: \"true\"}, reject: "
                                                   "[{as: lethal-trifecta, if: \"(both) && (liveout)\"}]}\n  request:\n"},
                                  {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, edits, 0);
    assert_int_equal(c.h.exit, 1);
    machine_verdict_is(&c, "from-init", LETHAL, IL_CHECK_PASS); /* its guard is right, but nothing vouches that it is asked */
    machine_fails(&c, "mediation", NULL, "a{u,s} open:=true");
    assert_string_equal(machine_check(&c, "mediation", NULL)->finding, "UNMEDIATED_WRITE");
    machine_fails(&c, "havoc", LETHAL, "a{u,s} open:=true");
    machine_free(&c);
}

/* Who asks does not answer: an approval, a gate and a correction that the agent or the environment takes for itself. */
static void test_answers_of_the_agent(void **state) {
    (void)state;
    static const struct {
        machine_edit edits[4];
        const char *finding, *action;
    } rows[] = {
        {{{"  approve:\n    principal: human", "  approve:\n    principal: agent"}}, "APPROVAL_NOT_HUMAN", "approve"},
        {{{"  approve:\n    principal: human", "  approve:\n    principal: env"}}, "APPROVAL_NOT_HUMAN", "approve"},
        {{{"  approve:\n    principal: human", "  approve:\n    principal: runtime"}}, "APPROVAL_NOT_HUMAN", "approve"},
        {{{"  approve:\n    principal: human", "  permit:\n    principal: agent"}, {"by: [approve]", "by: [permit]"}},
         "GATE_OF_THE_AGENT",
         "permit"},
        {{{"  request:\n", "  reset: {principal: agent, corrective: true, next: {flight: \"false\"}}\n  request:\n"}},
         "CORRECTION_BY_AGENT",
         "reset"},
        {{{"  settle:\n    principal: runtime", "  settle:\n    principal: agent"}}, "CORRECTION_BY_AGENT", "settle"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        machine_harden(&c, MACHINE_TRIFECTA, rows[i].edits, 0);
        assert_int_equal(c.status, IL_OK);
        const il_check *k = machine_check(&c, "mediation", NULL);
        assert_int_equal(k->verdict, IL_CHECK_FAIL);
        assert_string_equal(k->finding, rows[i].finding);
        assert_true(il_str_eq(k->detail, il_str_of(rows[i].action)));
        assert_int_equal(c.h.exit, 1);
        assert_false(c.h.fully_mediated);
        machine_free(&c);
    }
}

/* A gated region that nothing reaches, a region that is empty, a guard that nothing needs: never clean. */
static void test_vacuous(void **state) {
    (void)state;
    static const struct {
        machine_edit edits[3];
        const char *id, *region, *finding;
        il_check_verdict verdict;
    } rows[] = {
        {{{"gated: \"pre.crossing\"",
           "gated: \"pre.crossing && pre.open && pre.untrusted != 'none' && pre.sensitive != 'none'\""}},
         "gates",
         "approved-crossing",
         "NOTHING_WAS_MEDIATED",
         IL_CHECK_VACUOUS},
        {{{"(pre.flight || pre.open)\"}\n", "(pre.flight || pre.open)\"}\n  nowhere: {never: \"pre.open && !pre.open\"}\n"}},
         "havoc",
         "nowhere",
         "EMPTY_REGION",
         IL_CHECK_VACUOUS},
        {{{"(pre.flight || pre.open)\"}\n",
           "(pre.flight || pre.open)\"}\n  late: {never: \"pre.granted > 0 && pre.phase == 'ended'\"}\n"}},
         "gates",
         "late",
         "NO_GUARD_MATTERS",
         IL_CHECK_VACUOUS},
        {{{"  phase: [live, quarantined, ended]\n", "  phase: [live, quarantined, ended]\n  spare: bool\n"}},
         "coverage",
         NULL,
         "NOT_EXERCISED",
         IL_CHECK_INCONCLUSIVE},
        {{{"(call.last == 'egress' && !pre.flight) || (call.last == 'crossing' && !pre.crossing)", "false"}},
         "coverage",
         NULL,
         "NOT_EXERCISED",
         IL_CHECK_INCONCLUSIVE},
        {{{"sensitive: {enum: [none, fresh, held], taint: source}", "sensitive: [none, fresh, held]"}},
         "coverage",
         NULL,
         "NOT_EXERCISED",
         IL_CHECK_INCONCLUSIVE},
        {{{"  approve:\n", "  permit:\n"}, {"by: [approve]", "by: [permit]"}}, "approvals", NULL, "NO_APPROVE", IL_CHECK_VACUOUS},
        {{{"  request:\n", "  idle: {principal: runtime, gate: true}\n  request:\n"}},
         "coverage",
         NULL,
         "NOT_EXERCISED",
         IL_CHECK_INCONCLUSIVE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        machine_harden(&c, MACHINE_TRIFECTA, rows[i].edits, 0);
        assert_int_equal(c.status, IL_OK);
        machine_verdict_is(&c, rows[i].id, rows[i].region, rows[i].verdict);
        assert_string_equal(machine_check(&c, rows[i].id, rows[i].region)->finding, rows[i].finding);
        assert_int_equal(c.h.exit, 2);
        assert_false(c.h.fully_mediated);
        machine_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twins_of_effects),
        cmocka_unit_test(test_twins_of_approvals),
        cmocka_unit_test(test_twins_of_sinks_and_joins),
        cmocka_unit_test(test_twin_that_faults),
        cmocka_unit_test(test_more_approvals_than_are_counted),
        cmocka_unit_test(test_lowering_must_be_a_declared_gate),
        cmocka_unit_test(test_unmediated_write),
        cmocka_unit_test(test_answers_of_the_agent),
        cmocka_unit_test(test_vacuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
