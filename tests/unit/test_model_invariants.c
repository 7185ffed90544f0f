/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of accepted steps (`transition`) and of rejected ones (`rejection`): loaded, evaluated, in the table, found by the checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

static const char lamp[] =
    "machine: lamp\n"
    "version: 1\n"
    "vars:\n"
    "  level: {int: 0..3, overflow: reject}\n"
    "  stuck: {type: bool, sticky: true}\n"
    "actions:\n"
    "  turn:\n"
    "    principal: agent\n"
    "    gate: true\n"
    "    call: {by: {int: 1..2}}\n"
    "    next: {level: \"pre.level + call.by\"}\n"
    "    reject:\n"
    "      - {as: is-stuck, if: \"pre.stuck\"}\n"
    "      - {as: too-bright, if: \"next.level > 3 || pre.level + call.by > 3\"}\n"
    "  jam: {principal: env, gate: true, next: {stuck: \"true\"}}\n"
    "  reset: {principal: runtime, corrective: true, next: {level: \"0\"}}\n"
    "regions:\n"
    "  no-jump: {transition: \"next.level <= pre.level + 2\"}\n"
    "  held: {transition: \"next.stuck || !pre.stuck\"}\n"
    "  by-turns: {transition: \"next.level == pre.level + call.by\", edge: [turn]}\n"
    "  says-why: {rejection: \"reason == 'is-stuck' ? pre.stuck : pre.level + call.by > 3\", edge: [turn]}\n"
    "  only-turns: {rejection: \"action == 'turn' || reason != 'too-bright'\"}\n"
    "  glare: {never: \"pre.level > 3\"}\n"
    "contract:\n"
    "  rules: [is-stuck, too-bright]\n";

static void test_evaluated(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, lamp);
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    const il_model *m = c.m;
    const il_region *held = &m->regions[1];
    const il_region *why = &m->regions[3];
    assert_true(held->must && held->edge && !held->rejection && !held->gated);
    assert_int_equal(held->actions, 7); /* all of them */
    assert_true(why->must && why->edge && why->rejection);
    assert_int_equal(why->actions, 1);
    assert_null(why->on[1]);
    uint64_t stuck = il_model_set(m, 0, 1, 1);
    uint64_t third = il_model_set(m, 0, 0, 3);
    /* a step that keeps the invariant is outside, one that breaks it inside */
    assert_false(il_model_in_region(m, 1, stuck, 0, stuck));
    assert_true(il_model_in_region(m, 1, stuck, 0, 0));
    assert_false(il_model_in_region(m, 0, 0, 0, il_model_set(m, 0, 0, 2)));
    assert_true(il_model_in_region(m, 0, 0, 0, third));
    assert_false(il_model_in_region(m, 2, 0, 2, third)); /* not its edge */
    /* no accepted step is in a region of rejections, and no rejection in one of steps */
    assert_false(il_model_in_region(m, 3, 0, 0, 0));
    assert_false(il_model_refused_wrongly(m, 1, stuck, 0, 1));
    assert_false(il_model_refused_wrongly(m, 3, stuck, 0, 1));
    assert_true(il_model_refused_wrongly(m, 3, 0, 0, 1)); /* is-stuck, and it is not */
    assert_false(il_model_refused_wrongly(m, 3, third, 0, 2));
    assert_true(il_model_refused_wrongly(m, 3, 0, 0, 2));
    assert_false(il_model_refused_wrongly(m, 3, 0, 2, 2)); /* `jam` is not judged */
    assert_true(il_model_refused_wrongly(m, 4, 0, 2, 2));
    assert_false(il_model_refused_wrongly(m, 3, 0, 0, 0)); /* no reason of the contract */
    assert_false(il_model_refused_wrongly(m, 3, 0, 0, IL_REASON_OFF_TABLE));
    machine_free(&c);
}

/* One edit makes each invariant false; the shortest step or rejection that breaks it is the witness, and the table does not open for use. */
static void test_broken(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *region, *witness;
    } rows[] = {
        {"next.level <= pre.level + 2", "next.level <= pre.level + 1", "no-jump", "turn{by=2}"},
        {"next: {level: \"0\"}", "next: {level: \"0\", stuck: \"false\"}", "held", "jam reset"},
        {"next: {level: \"pre.level + call.by\"}", "next: {level: \"pre.level + (pre.level == 1 ? 1 : call.by)\"}", "by-turns",
         "turn turn{by=2}"},
        {"{as: is-stuck, if: \"pre.stuck\"}", "{as: is-stuck, if: \"pre.stuck || pre.level == 2\"}", "says-why",
         "turn{by=2} turn"},
        {"next: {stuck: \"true\"}}", "next: {stuck: \"true\"}, reject: [{as: too-bright, if: \"pre.level == 1\"}]}", "only-turns",
         "turn jam"},
    };
    char text[4096];
    for (size_t i = 0; i <= sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        bool broken = i < sizeof rows / sizeof rows[0];
        machine_load_text(&c, broken ? machine_edited(lamp, rows[i].from, rows[i].to, text, sizeof text) : lamp);
        if (c.status != IL_OK) {
            fail_msg("row %zu: %u:%u: %s", i, (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
        }
        assert_int_equal(il_harden_run(&c.h, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
        c.hardened = true;
        for (uint32_t r = 0; r < c.m->nregions; r++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%.*s", IL_STR_ARG(c.m->regions[r].name));
            bool bad = broken && strcmp(name, rows[i].region) == 0;
            machine_verdict_is(&c, "from-init", name, bad ? IL_CHECK_FAIL : IL_CHECK_PASS);
            if (bad) {
                il_buf b;
                il_str got = {0};
                il_buf_init(&b, &c.arena, 4096);
                il_trace_text(c.m, &machine_check(&c, "from-init", name)->witness, &b);
                assert_int_equal(il_buf_done(&b, &got, &c.err), IL_OK);
                assert_true(il_str_eq(got, il_str_of(rows[i].witness)));
            }
        }
        assert_true(!broken || c.h.exit == 1);
        if (broken) { /* a certificate that claims too much does not help: the bitmap says it */
            il_machine *k = NULL;
            il_str certificate = {0};
            il_claims claims = {.states = c.h.states, .symbols = c.m->nsymbols, .edges = c.h.edges, .depth = c.h.depth};
            claims.from_init = claims.mediation = claims.havoc = claims.gates = claims.laundering = true;
            memcpy(claims.table, c.h.table_digest, sizeof claims.table);
            assert_int_equal(il_certificate_build(&c.arena, &claims, &certificate, &c.err), IL_OK);
            assert_int_equal(il_machine_open(&c.memory.alloc, c.h.table, certificate, &k, &c.err), IL_E_SEAL);
            assert_string_equal(c.err.msg, "the table does not verify: it enters a forbidden region; build it again");
        }
        machine_free(&c);
    }
}

static const machine_bad bad_rows[] = {
    {"{transition: \"next.stuck || !pre.stuck\"}", "{transitoin: \"next.stuck || !pre.stuck\"}", 19, 10,
     "unknown key `transitoin` in a region; did you mean `transition`?"},
    {"{transition: \"next.stuck || !pre.stuck\"}", "{transition: \"next.stuck\", never: \"pre.stuck\"}", 19, 9,
     "region `held` needs exactly one of `never`, `gated`, `transition` and `rejection`"},
    {"{transition: \"next.stuck || !pre.stuck\"}", "{transition: \"next.stuck\", by: [turn]}", 19, 40,
     "`by` is for gated regions; `held` is none"},
    {"next.stuck || !pre.stuck", "call.by > 0 || pre.stuck", 19, 28, "not all actions have `by`; say `edge: [turn]`"},
    {"next.stuck || !pre.stuck", "reason == 'is-stuck'", 19, 23,
     "undeclared name `reason`; there are `pre`, `call`, `next`, `action`"},
    {"next.level == pre.level + call.by\", edge: [turn]", "next.level == pre.level + call.by\", edge: [turn, jam]", 20, 58,
     "not all actions have `by`; say `edge: [turn]`"},
    {"edge: [turn]}\n  only", "edge: [trun]}\n  only", 21, 94, "no action `trun` is declared; did you mean `turn`?"},
    {"reason == 'is-stuck'", "reason == 'is_stuck'", 21, 36,
     "never equal: `reason` is one of `is-stuck`, `too-bright`; did you mean `is-stuck`?"},
    {"? pre.stuck :", "? next.stuck :", 21, 49, "undeclared name `next`; there are `pre`, `call`, `reason`, `action`"},
    {"action == 'turn'", "action == 'torn'", 22, 38,
     "never equal: `action` is one of `turn`, `jam`, `reset`; did you mean `turn`?"},
    {"{rejection: \"action == 'turn' || reason != 'too-bright'\"}", "{rejection: [turn]}", 22, 27, "an expression must be text"},
    {"{rejection: \"action == 'turn' || reason != 'too-bright'\"}", "turn", 22, 15,
     "region `only-turns` must be a map with `never`, `gated`, `transition` or `rejection`"},
};

static void test_bad(void **state) {
    (void)state;
    machine_all_refused(lamp, bad_rows, sizeof bad_rows / sizeof bad_rows[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_evaluated), cmocka_unit_test(test_broken),
                                       cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
