/* SPDX-License-Identifier: Apache-2.0 */
/* The decision tables against the evaluator that fills them: every state of the full product, every symbol, every clause left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"
#include "machine/steps.h"

static uint64_t steps_state(const il_model *m, uint64_t index) {
    uint64_t state = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        state = il_model_set(m, state, v, (uint32_t)(index % m->vars[v].domain.size));
        index /= m->vars[v].domain.size;
    }
    return state;
}

/* Returns how many steps differ from those of the machine as it is. */
static uint64_t steps_same(il_steps *s, const il_model *m, const il_variant *variant, uint64_t stride) {
    uint64_t differ = 0;
    for (uint64_t i = 0; i < m->product; i += stride) {
        uint64_t state = steps_state(m, i);
        il_steps_edges row = il_steps_row(s, variant, state);
        uint32_t at = 0;
        for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
            il_step want = il_model_eval(m, variant, state, symbol).step;
            if (want.verdict != IL_REJECT) {
                assert_true(at < row.n && row.edge[at].symbol == symbol && row.edge[at].next == want.next);
                assert_int_equal(row.edge[at].fault, want.verdict == IL_FAULT);
                at++;
            }
        }
        assert_int_equal(at, row.n);
        for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) { /* the row is borrowed until here */
            il_step want = il_model_eval(m, variant, state, symbol).step;
            il_step got = il_steps_one(s, variant, state, symbol);
            assert_true(got.next == want.next && got.verdict == want.verdict && got.reason == want.reason);
            differ += variant && il_model_eval(m, NULL, state, symbol).step.verdict != want.verdict;
            for (uint32_t r = 0; r < m->nregions; r++) {
                assert_int_equal(il_steps_in_region(s, r, state, symbol, want.next),
                                 il_model_in_region(m, r, state, symbol, want.next));
            }
        }
    }
    return differ;
}

/* What an action is said not to read makes no difference to its steps, and what it is said not to write they leave as it is: by the evaluator. */
static void steps_touch(il_steps *s, const il_model *m, uint64_t stride) {
    for (uint64_t i = 0; i < m->product; i += stride) {
        for (uint32_t a = 0; a < m->nactions; a++) {
            uint64_t reads = 0, writes = 0, state = steps_state(m, i), other = state;
            bool known = il_steps_touches(s, a, &reads, &writes);
            for (uint32_t v = 0; v < m->nvars; v++) {
                other &= reads & il_model_bits(m, v) ? UINT64_MAX : ~il_model_bits(m, v);
            }
            il_steps_edges row = il_steps_of(s, a, state);
            uint32_t at = 0;
            for (uint32_t k = m->actions[a].first_symbol; k < m->actions[a].first_symbol + m->actions[a].nsymbols; k++) {
                il_step want = il_model_eval(m, NULL, state, k).step;
                il_step same = il_model_eval(m, NULL, other, k).step;
                if (want.verdict != IL_REJECT) {
                    assert_true(at < row.n && row.edge[at].symbol == k && row.edge[at].next == want.next);
                    at++;
                }
                assert_true(!known || (same.verdict == want.verdict && same.reason == want.reason));
                assert_true(!known || want.verdict != IL_ACCEPT ||
                            (((want.next ^ state) & ~writes) == 0 && ((want.next ^ same.next) & writes) == 0));
            }
            assert_int_equal(at, row.n);
        }
    }
}

static void steps_machine(const char *path, uint64_t stride, uint64_t variant_stride) {
    machine_case c;
    il_steps *s = NULL;
    machine_open(&c, path, NULL);
    assert_int_equal(il_steps_new(&c.memory.alloc, c.m, &s, NULL), IL_OK);
    (void)steps_same(s, c.m, NULL, stride);
    steps_touch(s, c.m, 16 * stride + 1);
    uint64_t differ = 0;
    for (uint32_t a = 0; variant_stride && a < c.m->nactions; a++) {
        il_variant deleted = {.deleted = UINT64_C(1) << a};
        differ += steps_same(s, c.m, &deleted, variant_stride);
        for (uint32_t k = 0; k < c.m->actions[a].nclauses; k++) {
            il_variant skip = {.skip = true, .skip_action = a, .skip_clause = k};
            il_variant rule = {.skip = true, .skip_action = a, .skip_rule = c.m->actions[a].clauses[k].rule};
            differ += steps_same(s, c.m, &skip, variant_stride) + steps_same(s, c.m, &rule, variant_stride);
        }
    }
    assert_true(variant_stride == 0 || differ > 0); /* the comparison can see a clause that is missing */
    uint64_t off = UINT64_C(1) << (c.m->bits < 64 ? c.m->bits : 63);
    if (c.m->bits < 64) {
        assert_int_equal(il_steps_row(s, NULL, off).n, 0);
        assert_int_equal(il_steps_one(s, NULL, off, 0).reason, IL_REASON_OFF_TABLE);
    }
    assert_int_equal(il_steps_one(s, NULL, 0, c.m->nsymbols).reason, IL_REASON_NO_SYMBOL);
    il_steps_free(s);
    machine_free(&c);
}

static void test_small_machines(void **state) {
    (void)state;
    steps_machine("tests/machines/smallest.yaml", 1, 1);
    steps_machine(MACHINE_TRIFECTA, 1, 7);
}
static void test_standard(void **state) {
    (void)state;
    steps_machine(MACHINE_STANDARD, 3, 211);
}
/* Too large for remembered rows, and one variable of a thousand values. */
static void test_large_machines(void **state) {
    (void)state;
    steps_machine("bench/machines/few.yaml", 97, 9973);
    steps_machine("bench/machines/many.yaml", 97, 49999);
}

/* Without memory for tables the evaluator answers, and answers the same. */
static void test_out_of_memory(void **state) {
    (void)state;
    machine_case c;
    uint32_t made = 0;
    machine_open(&c, "tests/machines/smallest.yaml", NULL);
    for (size_t n = 0; n < 12; n++) {
        test_memory memory;
        il_steps *s = NULL;
        test_memory_init(&memory, n);
        il_status status = il_steps_new(&memory.alloc, c.m, &s, NULL);
        assert_true(status == IL_OK || status == IL_E_MEMORY);
        if (status == IL_OK) {
            made++;
            (void)steps_same(s, c.m, NULL, 1);
        }
        il_steps_free(s);
        assert_int_equal(memory.live, 0);
    }
    assert_true(made > 0);
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_machines),
        cmocka_unit_test(test_standard),
        cmocka_unit_test(test_large_machines),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
