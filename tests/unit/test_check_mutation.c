/* SPDX-License-Identifier: Apache-2.0 */
/* Mutants: what they say, that the counts add up, and that no failing allocation gives a score. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/mutation.h"
#include "helper_machine.h"
#include "json/node.h"

#define SMALLEST "tests/machines/smallest.yaml"

static il_mutation *mutate(machine_case *c, uint64_t most) {
    il_mutation *x = NULL;
    assert_int_equal(il_mutation_run(&c->h, most, &x, &c->err), IL_OK);
    return x;
}

static il_str object_text(machine_case *c, const il_mutation *x) {
    il_json *o = NULL;
    il_str text = {0};
    assert_int_equal(il_mutation_object(x, &o, &c->err), IL_OK);
    assert_int_equal(il_harden_json(o, &c->arena, &text, &c->err), IL_OK);
    return text;
}

static void adds_up(const il_mutation_tally *t) {
    assert_int_equal(t->equivalent + t->duplicate + t->harness + t->distinct, t->judged);
    assert_int_equal(t->killed + t->survived + t->unsettled, t->distinct);
}

static void test_counts(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, SMALLEST, NULL, 0);
    const il_mutation *x = mutate(&c, IL_MUTATION_ALL);
    uint64_t survivors = 0;
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        adds_up(&x->ops[op]);
        assert_int_equal(x->ops[op].judged, x->ops[op].population);
        for (uint32_t k = 0; k < IL_SURVIVOR_CLASSES; k++) {
            survivors += x->classes[k][op];
        }
    }
    adds_up(&x->all);
    assert_int_equal(survivors, x->all.survived);
    assert_int_equal(x->ops[IL_MUTANT_DROP].judged + x->ops[IL_MUTANT_ACCEPT].judged, 22 * 26);
    assert_false(x->sampled || x->bounded);
    assert_int_equal(machine_check(&c, "mutation", NULL)->verdict, IL_CHECK_PASS);
    machine_free(&c);
}

/* A clause left out is also what the check `guards` does: where that opens a region, the mutant is killed. */
static void test_clauses_as_guards(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    const il_mutation *x = mutate(&c, 600); /* of classes this is each */
    assert_int_equal(x->ops[IL_MUTANT_DROP_CLAUSE].judged, 28);
    uint64_t opened = 0;
    for (uint32_t a = 0; a < c.m->nactions; a++) {
        for (uint32_t k = 0; k < c.m->actions[a].nclauses; k++) {
            bool opens = false, faults = false;
            for (const il_guard_result *g = c.h.guards; g; g = g->next) {
                bool here = g->action == a && g->clause == k;
                faults = faults || (here && g->opens == IL_GUARD_OPENS_FAULT);
                opens = opens || (here && g->opens != IL_GUARD_OPENS_FAULT);
            }
            opened += opens && !faults;
        }
    }
    assert_true(opened > 0);
    assert_in_range(x->ops[IL_MUTANT_DROP_CLAUSE].killed, opened, 28); /* coverage kills others: a rule that no longer fires */
    machine_free(&c);
}

static void test_steps(void **state) {
    (void)state;
    machine_case c;
    machine_open(&c, MACHINE_TRIFECTA, NULL);
    il_subject s;
    const il_space_bounds bounds = {0};
    assert_int_equal(il_subject_init(&s, &c.memory.alloc, &c.arena, c.m, &bounds, &c.err), IL_OK);
    uint64_t start = c.m->initial;
    il_step *row = IL_NEW_ARRAY(&c.arena, il_step, c.m->nsymbols);
    assert_non_null(row);
    for (uint32_t k = 0; k < c.m->nsymbols; k++) {
        row[k] = il_model_eval(c.m, NULL, start, k).step;
    }
    il_mutants p;
    assert_int_equal(il_mutants_init(&p, &c.arena, &s, &start, 1, row, &c.err), IL_OK);
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        for (uint64_t i = 0; i < il_mutants_count(&p, (il_mutant_op)op); i++) {
            il_mutant u = il_mutants_at(&p, (il_mutant_op)op, i);
            uint32_t differ = 0;
            for (uint32_t k = 0; k < c.m->nsymbols; k++) {
                il_step is = il_mutant_step(&p, &u, start, k, row[k]);
                bool same = is.next == row[k].next && is.verdict == row[k].verdict && is.reason == row[k].reason;
                differ += !same;
                assert_true(same || (u.actions >> c.m->symbol_action[k] & 1));
                assert_true(is.verdict == IL_ACCEPT || is.next == start); /* what is refused changes nothing */
            }
            assert_true(!u.cell || differ <= 1);
        }
    }
    /* an effect that is not heard: the call is the one without it */
    uint32_t loud = machine_symbol(c.m, "a{u,e}", 6), quiet = machine_symbol(c.m, "a{e}", 4);
    il_mutant deaf = {.op = IL_MUTANT_EFFECT_DROP,
                      .actions = UINT64_C(1) << c.m->symbol_action[loud],
                      .arg = il_model_field(c.m, c.m->symbol_action[loud], IL_STR("untrusted")),
                      .arg2 = 1};
    assert_int_equal(il_mutant_step(&p, &deaf, start, loud, row[loud]).next, row[quiet].next);
    il_subject_free(&s);
    machine_free(&c);
}

static void test_same_every_time(void **state) {
    (void)state;
    machine_case a, b;
    machine_harden(&a, SMALLEST, NULL, 0);
    machine_harden(&b, SMALLEST, NULL, 0);
    assert_true(il_str_eq(object_text(&a, mutate(&a, 500)), object_text(&b, mutate(&b, 500))));
    machine_free(&a);
    machine_free(&b);
}

static void test_bounded(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, SMALLEST, NULL, 10);
    const il_mutation *x = mutate(&c, 100);
    assert_int_equal(x->all.judged, 0);
    machine_verdict_is(&c, "mutation", NULL, IL_CHECK_INCONCLUSIVE);
    assert_true(machine_check(&c, "mutation", NULL)->bound_hit);
    machine_free(&c);
}

/* Whichever allocation fails: memory is the error, and no line is added. */
static void test_allocations(void **state) {
    (void)state;
    machine_case c;
    size_t tries = 0;
    machine_harden(&c, SMALLEST, NULL, 0);
    for (bool done = false; !done; tries++) {
        il_mutation *x = NULL;
        const il_check *last = c.h.last_check;
        il_error err = {0};
        c.memory.failed = false;
        c.memory.left = tries;
        il_status status = il_mutation_run(&c.h, 60, &x, &err);
        c.memory.left = SIZE_MAX;
        done = !c.memory.failed;
        assert_int_equal(status, done ? IL_OK : IL_E_MEMORY);
        assert_true(done || (c.h.last_check == last && err.msg[0] != '\0'));
    }
    assert_true(tries > 20);
    machine_free(&c);
    assert_int_equal(c.memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_clauses_as_guards), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_same_every_time), cmocka_unit_test(test_bounded),           cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
