/* SPDX-License-Identifier: Apache-2.0 */
/* Naps: what a cascade does, in the evaluator, in the remembered steps and in the table; where it is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

/* A heap of at most 6: what is over the mark is taken down one by one, and the alarm goes off and is heard. */
static const char heap[] =
    "machine: heap\n"
    "version: 1\n"
    "vars:\n"
    "  count: {int: 0..6, overflow: reject}\n"
    "  alarm: bool\n"
    "  heard: {int: 0..3, overflow: saturate}\n"
    "actions:\n"
    "  put:\n"
    "    principal: agent\n"
    "    gate: true\n"
    "    call: {by: {int: 1..3}}\n"
    "    next: {count: \"pre.count + call.by\"}\n"
    "    reject: [{as: too-many, if: \"next.count > 5\"}]\n"
    "  take: {principal: runtime, corrective: true, call: {all: bool}, next: {count: \"call.all ? 0 : pre.count - 1\"},\n"
    "    reject: [{as: empty, if: \"pre.count == 0\"}]}\n"
    "  ring: {principal: runtime, corrective: true, next: {alarm: \"true\"}}\n"
    "  hear: {principal: human, next: {heard: \"pre.heard + 1\"}}\n"
    "naps:\n"
    "  - {if: \"pre.count > 3\", do: ring}\n"
    "  - {if: \"pre.count > 3\", do: take, with: {all: false}}\n"
    "nap_bound: 3\n"
    "regions:\n"
    "  high: {never: \"pre.count > 3\"}\n"
    "  quiet: {transition: \"pre.count + call.by <= 3 || next.alarm\", edge: [put]}\n"
    "contract:\n"
    "  rules: [too-many, empty]\n";

static uint64_t heap_state(const il_model *m, uint32_t count, uint32_t alarm) {
    return il_model_set(m, il_model_set(m, 0, 0, count), 1, alarm);
}

static void test_cascade(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, heap);
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    const il_model *m = c.m;
    assert_int_equal(m->nnaps, 2);
    assert_int_equal(m->nap_bound, 3);
    /* put 2 on 3: the clause judges 5 as the update gives it, the region sees 3 */
    il_eval e = il_model_eval(m, NULL, heap_state(m, 3, 0), 1);
    assert_int_equal(e.step.verdict, IL_ACCEPT);
    assert_int_equal(e.step.next, heap_state(m, 3, 1)); /* rings, takes, takes: three naps, the bound */
    /* the alarm is on already: that nap changes nothing and the next is looked at */
    e = il_model_eval(m, NULL, heap_state(m, 3, 1), 1);
    assert_int_equal(e.step.next, heap_state(m, 3, 1));
    /* a rejected step is not settled, but says what it would have come to */
    e = il_model_eval(m, NULL, heap_state(m, 3, 1), 2);
    assert_int_equal(e.step.verdict, IL_REJECT);
    assert_int_equal(e.step.next, heap_state(m, 3, 1));
    assert_int_equal(e.next, heap_state(m, 3, 1));
    /* a nap of an action that is deleted is not taken */
    il_variant no_ring = {.deleted = UINT64_C(1) << il_model_action(m, IL_STR("ring"))};
    assert_int_equal(il_model_eval(m, &no_ring, heap_state(m, 3, 0), 1).step.next, heap_state(m, 3, 0));
    machine_free(&c);
}

/* Steps put together and remembered, and the table, say what the evaluator says: for every state and symbol, with every variant. */
static void test_steps_agree(void **state) {
    (void)state;
    machine_case c;
    il_steps *p = NULL;
    il_str table = {0};
    il_machine *k = NULL;
    machine_load_text(&c, heap);
    const il_model *m = c.m;
    assert_int_equal(il_steps_new(&c.memory.alloc, m, &p, &c.err), IL_OK);
    uint32_t compared = 0;
    uint32_t faults = 0;
    for (uint32_t variant = 0; variant < 2 + m->nactions; variant++) {
        il_variant v = {.skip = variant == 1, .skip_action = 1, .skip_clause = 0}; /* `empty` of take */
        v.deleted = variant >= 2 ? UINT64_C(1) << (variant - 2) : 0;
        for (uint64_t s = 0; s < UINT64_C(1) << m->bits; s++) {
            if (!il_model_valid(m, s)) {
                continue;
            }
            il_steps_edges row = il_steps_row(p, &v, s);
            uint32_t at = 0;
            for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
                il_eval e = il_model_eval(m, &v, s, symbol);
                il_step one = il_steps_one(p, &v, s, symbol);
                assert_int_equal(one.verdict, e.step.verdict);
                assert_int_equal(one.next, e.step.next);
                row = il_steps_row(p, &v, s);
                if (e.step.verdict != IL_REJECT) {
                    assert_true(at < row.n);
                    assert_int_equal(row.edge[at].symbol, symbol);
                    assert_int_equal(row.edge[at].next, e.step.next);
                    assert_int_equal(row.edge[at].fault, e.step.verdict == IL_FAULT);
                    at++;
                }
                faults += e.step.verdict == IL_FAULT;
                compared++;
            }
            assert_int_equal(at, row.n);
        }
    }
    assert_true(compared > 1000);
    assert_true(faults > 0); /* from states that are not reached the cascade is too long */
    il_steps_free(p);
    assert_int_equal(il_table_build(&c.arena, m, 0, &table, &c.err), IL_OK);
    assert_int_equal(il_table_open(&c.memory.alloc, table, &k, &c.err), IL_OK);
    for (uint32_t i = 0; i < il_machine_states(k); i++) {
        uint64_t s = il_machine_state(k, i);
        assert_true(il_model_get(m, s, 0) <= 3);
        for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
            const il_eval e = il_model_eval(m, NULL, s, symbol);
            il_step one = il_machine_step(k, s, symbol);
            assert_int_equal(one.verdict, e.step.verdict);
            assert_int_equal(one.next, e.step.next);
            assert_int_equal(one.reason, e.step.reason);
        }
    }
    il_machine_free(k);
    machine_free(&c);
}

static const machine_bad bad_rows[] = {
    {"nap_bound: 3", "nap_bound: 0", 21, 12, "`nap_bound` must be a whole number from 1 to 64"},
    {"nap_bound: 3", "nap_bound: 65", 21, 12, "`nap_bound` must be a whole number from 1 to 64"},
    {"nap_bound: 3", "nap_bound: x", 21, 12, "`nap_bound` must be a whole number from 1 to 64"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {if: \"pre.count > 3\", do: rign}", 19, 31,
     "no action `rign` is declared; did you mean `ring`?"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {when: \"pre.count > 3\", do: ring}", 19, 6, "unknown key `when` in a nap"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {do: ring}", 19, 5, "a nap needs `if`"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {if: \"pre.count > 3\"}", 19, 5, "a nap needs `do`"},
    {"- {if: \"pre.count > 3\", do: ring}", "- ring", 19, 5, "a nap must be {if: CONDITION, do: ACTION}"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {if: \"pre.count > 3\", do: hear}", 19, 31,
     "a nap takes corrective actions of the runtime that lower no taint; `hear` is none"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {if: \"pre.cuont > 3\", do: ring}", 19, 15,
     "no field `cuont` in `pre`; did you mean `count`?"},
    {"- {if: \"pre.count > 3\", do: ring}", "- {if: \"next.count > 3\", do: ring}", 19, 11,
     "undeclared name `next`; there are `pre`"},
    {", with: {all: false}", "", 20, 5, "a nap says all of its call: `with` lacks `all`"},
    {"with: {all: false}", "with: {}", 20, 43, "a nap says all of its call: `with` lacks `all`"},
    {"with: {all: false}", "with: {all: maybe}", 20, 49, "no value `maybe` is declared"},
    {"with: {all: false}", "with: {al: false}", 20, 44, "no field `al` is declared; did you mean `all`?"},
    {"with: {all: false}", "with: [all]", 20, 43, "`with` must be a map of the fields of `take`"},
    /* what only exploring finds */
    {"nap_bound: 3", "nap_bound: 2", 20, 5,
     "the naps do not settle: `take` changes something again after 2 of them, after: put{by=2} put{by=3}"},
    {"\"pre.count > 3\", do: take", "\"pre.count >= 0\", do: take", 20, 5, "the nap's `take` is refused (`empty`) after: put"},
    {"\"pre.count == 0\"", "\"pre.count == 0 || pre.count == 5\"", 20, 5,
     "the nap's `take` is refused (`empty`) after: put{by=2} put{by=3}"},
    {"next: {count: \"call.all ? 0 : pre.count - 1\"}", "next: {count: \"call.all ? 0 : pre.count + 9\"}", 14, 81,
     "`count` leaves its domain after: put put{by=3}"},
    {"\"call.all ? 0 : pre.count - 1\"", "\"call.all ? 0 : pre.count / 0\"", 14, 81,
     "`count` gets no value (its update errs) after: take"},
};

static void test_bad(void **state) {
    (void)state;
    machine_all_refused(heap, bad_rows, sizeof bad_rows / sizeof bad_rows[0]);
}

static void test_bound_without_naps(void **state) {
    (void)state;
    char text[4096];
    machine_case c;
    const char *from = strstr(heap, "naps:\n");
    const char *to = strstr(heap, "nap_bound");
    int n = snprintf(text, sizeof text, "%.*s%s", (int)(from - heap), heap, to);
    assert_true(n > 0 && (size_t)n < sizeof text);
    machine_load_text(&c, text);
    assert_int_equal(c.status, IL_E_INVALID);
    assert_string_equal(c.err.msg, "`nap_bound` is for `naps`; there are none");
    assert_int_equal(c.err.line, 18);
    machine_free(&c);
}

/* Without the naps the region is reached: the proof is about what they do. */
static void test_checked(void **state) {
    (void)state;
    static const machine_edit no_naps[] = {{"naps:\n", ""},
                                           {"  - {if: \"pre.count > 3\", do: ring}\n", ""},
                                           {"  - {if: \"pre.count > 3\", do: take, with: {all: false}}\n", ""},
                                           {"nap_bound: 3\n", ""},
                                           {NULL, NULL}};
    char text[4096];
    char less[4096];
    (void)snprintf(text, sizeof text, "%s", heap);
    for (const machine_edit *e = no_naps; e->from; e++) {
        (void)machine_edited(text, e->from, e->to, less, sizeof less);
        memcpy(text, less, sizeof text);
    }
    for (uint32_t naps = 0; naps < 2; naps++) {
        machine_case c;
        machine_load_text(&c, naps ? heap : text);
        assert_int_equal(c.status, IL_OK);
        assert_int_equal(il_harden_run(&c.h, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
        c.hardened = true;
        machine_verdict_is(&c, "from-init", "high", naps ? IL_CHECK_PASS : IL_CHECK_FAIL);
        machine_verdict_is(&c, "from-init", "quiet", naps ? IL_CHECK_PASS : IL_CHECK_FAIL);
        machine_verdict_is(&c, "translation", NULL, IL_CHECK_PASS);
        machine_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cascade), cmocka_unit_test(test_steps_agree),
        cmocka_unit_test(test_bad),     cmocka_unit_test(test_bound_without_naps),
        cmocka_unit_test(test_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
