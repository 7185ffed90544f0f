/* SPDX-License-Identifier: Apache-2.0 */
/* The larger machine: what the explorer and the observers give for it, and twins of what only it has (secrets and commits). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

typedef struct standard_row {
    il_observer observer;
    bool keep_lowers;
    machine_edit edits[4];
    const char *region;  /* NULL: the approvals observer */
    const char *witness; /* NULL: nothing is reached */
    uint32_t states;     /* 0: not compared */
    uint64_t edges;
} standard_row;

#define CLEAR(next) \
    { "  quarantine: {", "  clear: {principal: runtime, gate: true, live: true, next: {" next "}}\n  quarantine: {" }

static const standard_row standard_rows[] = {
    {IL_OBSERVE_NOTHING, true, {{NULL, NULL}}, "secret-egress", NULL, 1294, 53030},
    {IL_OBSERVE_NOTHING, true, {{NULL, NULL}}, "tainted-commit", NULL, 1294, 53030},
    {IL_OBSERVE_GHOSTS, false, {{NULL, NULL}}, "lethal-trifecta", NULL, 672, 22732},
    {IL_OBSERVE_GHOSTS, false, {{NULL, NULL}}, "secret-into-open", NULL, 672, 22732},
    {IL_OBSERVE_GHOSTS, false, {{NULL, NULL}}, "tainted-commit", NULL, 672, 22732},
    {IL_OBSERVE_GHOSTS, true, {{NULL, NULL}}, "lethal-trifecta", "a{s} rf{s} a{u,e}", 0, 0},
    {IL_OBSERVE_GHOSTS, true, {{NULL, NULL}}, "secret-egress", "a{k} rf{k} a{e}", 0, 0},
    {IL_OBSERVE_GHOSTS, true, {{NULL, NULL}}, "tainted-commit", "a{u} rf{u} a{c}", 0, 0},
    {IL_OBSERVE_APPROVALS, true, {{NULL, NULL}}, NULL, NULL, 1294, 53030},
    {IL_OBSERVE_GHOSTS, false, {CLEAR("untrusted: \"'none'\""), {NULL, NULL}}, "tainted-commit", "a{u} clear a{c}", 0, 0},
    {IL_OBSERVE_GHOSTS, false, {CLEAR("secret: \"'none'\""), {NULL, NULL}}, "secret-egress", "a{k} clear a{e}", 0, 0},
    {IL_OBSERVE_NOTHING, true, {CLEAR("untrusted: \"'none'\""), {NULL, NULL}}, "tainted-commit", NULL, 0, 0},
    {IL_OBSERVE_APPROVALS,
     true,
     {{"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted", "gained ? 0 : pre.granted"}, {NULL, NULL}},
     NULL,
     "a{u} rq ok a{c,+} a{c,+}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"tainted-commit, if: \"!call.approved && call.commit && next.untrusted != 'none'\"",
       "tainted-commit, if: \"!call.approved && call.commit && pre.untrusted != 'none'\""},
      {NULL, NULL}},
     "tainted-commit",
     "a{u,c}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"{as: not-fresh, if: \"next.secret != 'none' && next.sensitive == 'none'\"}", "{as: not-fresh, if: \"false\"}"},
      {NULL, NULL}},
     "secret-is-sensitive",
     "a{k} rf{s}",
     0,
     0},
};

static void standard_run(const standard_row *row) {
    machine_case c;
    il_subject s;
    il_space space;
    machine_open(&c, MACHINE_STANDARD, row->edits);
    assert_int_equal(il_subject_init(&s, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
    il_view v = {.subject = &s,
                 .observer = row->observer,
                 .dropped = row->keep_lowers ? 0 : s.lowers,
                 .regions = row->region ? s.never : 0};
    uint32_t bit = 63;
    for (uint32_t r = 0; row->region && r < c.m->nregions; r++) {
        bit = il_str_eq(c.m->regions[r].name, il_str_of(row->region)) ? r : bit;
    }
    assert_true(!row->region || bit != 63);
    if (row->witness) {
        v.stop = UINT64_C(1) << bit;
    }
    assert_int_equal(il_view_explore(&v, &space, &c.err), IL_OK);
    assert_false(space.bound_hit || space.fault.found);
    if (space.hits[bit].found != (row->witness != NULL)) {
        fail_msg("%s: %s", row->region ? row->region : "approvals", row->witness ? "not reached" : "reached");
    }
    if (row->witness) {
        il_harden h = {.subject = s};
        il_trace t = {0};
        assert_int_equal(il_trace_of(&h, &v, &space, &space.hits[bit], &t, NULL), IL_OK);
        machine_trace_is(c.m, &t, row->witness);
    }
    if (row->states) {
        assert_int_equal(space.n, row->states);
        assert_int_equal(space.edges, row->edges);
    }
    il_space_free(&space);
    il_subject_free(&s);
    machine_free(&c);
}

static void test_standard(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof standard_rows / sizeof standard_rows[0]; i++) {
        standard_run(&standard_rows[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_standard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
