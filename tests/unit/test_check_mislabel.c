/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of which one error is enough, and what a policy's tools make of a machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/mislabel.h"
#include "check/usage.h"
#include "helper_machine.h"

enum { MISLABEL_TOOLS = 8 };

typedef struct mislabel_case {
    machine_case c;
    il_labels labels;
    il_label_tool tools[MISLABEL_TOOLS];
    uint32_t symbols[MISLABEL_TOOLS];
    il_label_error errors[MISLABEL_TOOLS];
    il_mislabel found;
} mislabel_case;

/* The subject alone, as a run of all checks leaves it. */
static void mislabel_open(mislabel_case *k, const char *path, const machine_edit *edits, uint32_t max_states) {
    memset(k, 0, sizeof *k);
    machine_open(&k->c, path, edits);
    const il_space_bounds bounds = {.states = max_states};
    assert_int_equal(il_subject_init(&k->c.h.subject, &k->c.memory.alloc, &k->c.arena, k->c.m, &bounds, &k->c.err), IL_OK);
    k->c.h.symbol_accepted = IL_NEW_ARRAY(&k->c.arena, bool, k->c.m->nsymbols);
    for (uint32_t i = 0; i < k->c.m->nsymbols; i++) {
        k->c.h.symbol_accepted[i] = true;
    }
    k->c.hardened = true;
    k->labels.tools = k->tools;
}

static uint32_t mislabel_symbol(const mislabel_case *k, const char *word) { return machine_symbol(k->c.m, word, strlen(word)); }

/* A tool that deserves `truth`, and of which an error says `charged`; NULL: no error is tried. */
static void mislabel_tool(mislabel_case *k, const char *name, const char *truth, const char *effect, const char *charged) {
    uint32_t t = k->labels.ntools++;
    k->symbols[t] = mislabel_symbol(k, truth);
    k->tools[t] = (il_label_tool){.name = il_str_of(name), .nsymbols = 1, .symbols = &k->symbols[t]};
    if (charged) {
        k->errors[t] = (il_label_error){effect, {mislabel_symbol(k, charged), IL_NO_SYMBOL}, {k->symbols[t], IL_NO_SYMBOL}};
        k->tools[t].nerrors = 1;
        k->tools[t].errors = &k->errors[t];
    }
}

static void mislabel_run(mislabel_case *k) {
    assert_int_equal(il_mislabel_run(&k->c.h, &k->labels, &k->found, &k->c.err), IL_OK);
}

static const il_mislabel_point *mislabel_point(const mislabel_case *k, const char *tool, const char *effect, const char *region) {
    for (uint32_t i = 0; i < k->found.npoints; i++) {
        const il_mislabel_point *p = &k->found.points[i];
        const il_label_tool *t = &k->found.labels->tools[p->tool];
        if (il_str_eq(t->name, il_str_of(tool)) && strcmp(t->errors[p->error].effect, effect) == 0 &&
            il_str_eq(k->c.m->regions[p->region].name, il_str_of(region))) {
            return p;
        }
    }
    return NULL;
}

static void mislabel_reaches(const mislabel_case *k, const char *tool, const char *effect, const char *region,
                             const char *witness) {
    const il_mislabel_point *p = mislabel_point(k, tool, effect, region);
    if (!p) {
        fail_msg("no point: %s without %s", tool, effect);
        return;
    }
    machine_trace_is(k->c.m, &p->witness, witness);
}

/* Each taint of the triple is a point as soon as the other two are about. */
static void test_dropped_effects(void **state) {
    (void)state;
    mislabel_case k;
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    mislabel_tool(&k, "mail.read", "a{s}", "sensitive", "a");
    mislabel_tool(&k, "web.get", "a{u,e}", "untrusted", "a{e}");
    mislabel_tool(&k, "mail.send", "a{e}", "egress", "a");
    mislabel_tool(&k, "clock.now", "a", NULL, NULL);
    mislabel_run(&k);
    assert_int_equal(k.found.errors, 3);
    assert_int_equal(k.found.mutants, 3);
    assert_int_equal(k.found.tools, 3);
    assert_int_equal(k.found.npoints, 3);
    assert_int_equal(k.found.skipped, 0);
    mislabel_reaches(&k, "mail.read", "sensitive", "lethal-trifecta", "a a{u,e}");
    mislabel_reaches(&k, "web.get", "untrusted", "lethal-trifecta", "a{e} a{s}");
    mislabel_reaches(&k, "mail.send", "egress", "lethal-trifecta", "a j{u,s}");
    il_json *o = il_mislabel_object(k.c.m, &k.found, &k.c.arena);
    assert_int_equal(il_json_count(il_json_get(o, IL_STR("points"))), 3);
    machine_free(&k.c);
}

/* Without a way out in the policy no error about what is read matters; it does once there is one. */
static void test_no_point(void **state) {
    (void)state;
    mislabel_case k;
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    mislabel_tool(&k, "mail.read", "a{s}", "sensitive", "a");
    mislabel_tool(&k, "web.read", "a{u}", "untrusted", "a");
    mislabel_run(&k);
    assert_int_equal(k.found.mutants, 2);
    assert_int_equal(k.found.npoints, 0);
    assert_int_equal(k.found.tools, 0);
    machine_free(&k.c);
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    mislabel_tool(&k, "mail.read", "a{s}", "sensitive", "a");
    mislabel_tool(&k, "web.read", "a{u}", "untrusted", "a");
    mislabel_tool(&k, "mail.send", "a{e}", NULL, NULL);
    mislabel_run(&k);
    assert_int_equal(k.found.npoints, 2);
    machine_free(&k.c);
}

/* A standing sink that is labelled as once, and a commit that is none: the region of a step is asked about the step that it was. */
static void test_standing_and_commit(void **state) {
    (void)state;
    mislabel_case k;
    mislabel_open(&k, MACHINE_STANDARD, NULL, 0);
    mislabel_tool(&k, "doc.share", "a{E}", "standing", "a{e}");
    mislabel_tool(&k, "mail.read", "a{u,s}", NULL, NULL);
    mislabel_tool(&k, "bank.pay", "a{c}", "commit", "a");
    mislabel_tool(&k, "vault.read", "a{k}", "secret", "a{s}");
    mislabel_run(&k);
    mislabel_reaches(&k, "doc.share", "standing", "lethal-trifecta", "a{e} se{last=egress} a{u,s}");
    mislabel_reaches(&k, "bank.pay", "commit", "tainted-commit", "a{u,s} a");
    mislabel_reaches(&k, "vault.read", "secret", "secret-egress", "a{E} a{s}");
    assert_null(mislabel_point(&k, "bank.pay", "commit", "lethal-trifecta"));
    machine_free(&k.c);
}

/* Equal errors are asked once; one that this machine cannot see is counted apart. */
static void test_denominators(void **state) {
    (void)state;
    mislabel_case k;
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    mislabel_tool(&k, "mail.read", "a{s}", "sensitive", "a");
    mislabel_tool(&k, "file.read", "a{s}", "sensitive", "a");
    mislabel_tool(&k, "bank.pay", "a", "commit", "a"); /* trifecta knows no commit */
    mislabel_tool(&k, "web.get", "a{u,e}", NULL, NULL);
    mislabel_run(&k);
    assert_int_equal(k.found.errors, 3);
    assert_int_equal(k.found.mutants, 1);
    assert_int_equal(k.found.unseen, 1);
    assert_int_equal(k.found.tools, 2);
    assert_int_equal(k.found.npoints, 2);
    machine_free(&k.c);
}

/* Where a region is reached with every label right, no label is to blame. */
static void test_machine_to_blame(void **state) {
    (void)state;
    mislabel_case k;
    const machine_edit edits[] = {
        {"call.sensitive ? (pre.sensitive == 'none' ? 'fresh' : 'held') : pre.sensitive", "pre.sensitive"}, {NULL, NULL}};
    mislabel_open(&k, MACHINE_TRIFECTA, edits, 0);
    mislabel_tool(&k, "mail.read", "a{s}", "sensitive", "a");
    mislabel_tool(&k, "web.get", "a{u,e}", NULL, NULL);
    mislabel_run(&k);
    assert_int_not_equal(k.found.skipped, 0);
    assert_int_equal(k.found.npoints, 0);
    machine_free(&k.c);
}

static void test_bounded(void **state) {
    (void)state;
    mislabel_case k;
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 3);
    mislabel_tool(&k, "doc.share", "a{E}", "standing", "a{e}");
    mislabel_tool(&k, "mail.read", "a{u,s}", NULL, NULL);
    mislabel_run(&k);
    assert_int_equal(k.found.bounded, 1);
    assert_int_equal(k.found.npoints, 0);
    machine_free(&k.c);
}

/* Of a bare machine every symbol that a call can deserve is a label. */
static void test_bare_machine(void **state) {
    (void)state;
    mislabel_case k;
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    assert_int_equal(il_mislabel_symbols(&k.c.h, &k.labels, &k.c.err), IL_OK);
    assert_int_equal(k.labels.ntools, 12);
    mislabel_run(&k);
    assert_int_equal(k.found.errors, 24); /* u 6, s 6, egress 8, standing 4 */
    assert_int_equal(k.found.tools, 11);
    mislabel_reaches(&k, "admit{sensitive}", "sensitive", "lethal-trifecta", "a a{u,e}");
    mislabel_reaches(&k, "admit{untrusted,egress=standing}", "standing", "lethal-trifecta", "a{u,e} se{last=egress} a{s}");
    machine_free(&k.c);
}

/* ---- what tools make of a machine ---- */

static void test_usage(void **state) {
    (void)state;
    mislabel_case k;
    il_usage u;
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    mislabel_tool(&k, "mail.read", "a{s}", NULL, NULL);
    mislabel_tool(&k, "web.read", "a{u}", NULL, NULL);
    assert_int_equal(il_usage_run(&k.c.h, &k.labels, &u, &k.c.err), IL_OK);
    assert_int_equal(u.possible, 25); /* 24 of admit, and request */
    assert_int_equal(u.nunused, 22);
    assert_int_equal(u.asked, 1);
    assert_int_equal(u.dead, 1); /* no way out: not by a call, not by a join */
    machine_free(&k.c);
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
    mislabel_tool(&k, "mail.read", "a{s}", NULL, NULL);
    mislabel_tool(&k, "web.get", "a{u,e}", NULL, NULL);
    assert_int_equal(il_usage_run(&k.c.h, &k.labels, &u, &k.c.err), IL_OK);
    assert_int_equal(u.dead, 0);
    assert_true(u.near[0].found);
    assert_true(
        il_str_eq(k.c.m->actions[u.near_action[0]].name, IL_STR("join"))); /* the shortest way: a child of such a session */
    il_json *o = il_usage_object(k.c.m, &u, &k.c.arena);
    assert_int_equal(il_json_count(il_json_get(o, IL_STR("regions"))), 1);
    machine_free(&k.c);
    mislabel_open(&k, MACHINE_TRIFECTA, NULL, 2);
    mislabel_tool(&k, "mail.read", "a{s}", NULL, NULL);
    mislabel_tool(&k, "web.read", "a{u}", NULL, NULL);
    assert_int_equal(il_usage_run(&k.c.h, &k.labels, &u, &k.c.err), IL_OK);
    assert_int_equal(u.dead, 0); /* a bound is no proof */
    assert_int_equal(u.bounded, 1);
    machine_free(&k.c);
}

static void test_memory_fails(void **state) {
    (void)state;
    bool done = false;
    for (size_t left = 0; !done; left++) {
        assert_true(left < 2000);
        mislabel_case k;
        il_usage u;
        mislabel_open(&k, MACHINE_TRIFECTA, NULL, 0);
        mislabel_tool(&k, "mail.read", "a{s}", "sensitive", "a");
        mislabel_tool(&k, "web.get", "a{u,e}", NULL, NULL);
        k.c.memory.left = left;
        il_status status = il_mislabel_run(&k.c.h, &k.labels, &k.found, &k.c.err);
        status = status == IL_OK ? il_usage_run(&k.c.h, &k.labels, &u, &k.c.err) : status;
        done = !k.c.memory.failed;
        k.c.memory.left = SIZE_MAX;
        assert_true(status == IL_OK || status == IL_E_MEMORY);
        assert_true(status != IL_OK || k.found.npoints == 1);
        machine_free(&k.c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped_effects),     cmocka_unit_test(test_no_point),
        cmocka_unit_test(test_standing_and_commit), cmocka_unit_test(test_denominators),
        cmocka_unit_test(test_machine_to_blame),    cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_bare_machine),        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
