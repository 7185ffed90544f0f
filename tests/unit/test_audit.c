/* SPDX-License-Identifier: Apache-2.0 */
/* Rows through the machine that wrote them and through others: each finding on two machines, nothing found where nothing is wrong. Rows are random walks:
 * what the monitor writes is the command's affair (tests/cli). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/audit.h"
#include "helper_machine.h"
#include "machine/table.h"

#define WALK 1500

typedef struct audit_case {
    machine_case c;
    il_machine *table;
    il_audit_machine machine;
} audit_case;

static void audit_open(audit_case *a, const char *path, const machine_edit *edits) {
    il_str bytes = {0};
    machine_open(&a->c, path, edits);
    assert_int_equal(il_table_build(&a->c.arena, a->c.m, 0, &bytes, &a->c.err), IL_OK);
    assert_int_equal(il_table_open(&a->c.memory.alloc, bytes, &a->table, &a->c.err), IL_OK);
    a->machine = (il_audit_machine){.model = a->c.m, .table = a->table};
}

static void audit_close(audit_case *a) {
    il_machine_free(a->table);
    machine_free(&a->c);
}

typedef struct walk {
    const il_model *m;
    uint32_t seed;
    uint64_t state, seq;
    il_audit_step step;
    il_audit_row row;
} walk;

/* The next row: some symbol, what the machine said of it. Begins again when the session has ended. */
static const il_audit_row *walk_next(walk *w) {
    const uint32_t phase = il_model_var(w->m, IL_STR("phase"));
    if (w->seq % 40 == 0 || il_model_get(w->m, w->state, phase) == 2) {
        w->state = w->m->initial;
    }
    const uint32_t symbol = machine_random_next(&w->seed, w->m->nsymbols);
    const il_step s = il_model_eval(w->m, NULL, w->state, symbol).step;
    w->step = (il_audit_step){.symbol = symbol, .accepted = s.verdict == IL_ACCEPT, .told = s.verdict == IL_REJECT};
    w->step.reason = w->step.told ? w->m->rules[s.reason - 1].name : (il_str){0};
    w->row =
        (il_audit_row){.seq = ++w->seq, .session = IL_STR("s"), .pre = w->state, .post = s.next, .nsteps = 1, .steps = &w->step};
    w->state = s.next;
    return &w->row;
}

static uint64_t audit_count(const il_audit *a, bool against, il_audit_word word) { return a->counts[against][word]; }

static uint64_t audit_all(const il_audit *a, bool against) {
    uint64_t n = 0;
    for (uint32_t w = 0; w < IL_AUDIT_WORDS; w++) {
        n += a->counts[against][w];
    }
    return n;
}

/* Nothing is found in what the machine itself did; everything is in what it did not. */
static void own_rows(const char *path) {
    audit_case m;
    il_audit a;
    il_arena results;
    audit_open(&m, path, NULL);
    il_arena_init(&results, &m.c.memory.alloc, (size_t)1 << 30);
    il_audit_init(&a, &results, NULL);
    assert_string_equal(il_audit_replayed(&a), "INCONCLUSIVE"); /* no rows */
    assert_int_equal(il_audit_exit(&a), 2);
    assert_null(il_audit_against(&a));
    walk w = {.m = m.c.m, .seed = 7};
    for (uint32_t i = 0; i < WALK; i++) {
        assert_int_equal(il_audit_row_read(&a, &m.machine, walk_next(&w), NULL), IL_OK);
    }
    assert_int_equal(audit_all(&a, false), 0);
    assert_string_equal(il_audit_replayed(&a), "PASS");
    assert_int_equal(a.rows, WALK);
    assert_int_equal(il_audit_exit(&a), 0);
    uint64_t accepted = 0, rejected = 0;
    for (uint32_t i = 0; i < WALK; i++) {
        il_audit_row row = *walk_next(&w);
        if (w.step.accepted) {
            row.post ^= 1; /* elsewhere */
            assert_int_equal(il_audit_row_read(&a, &m.machine, &row, NULL), IL_OK);
            row.post ^= 1;
            w.step.accepted = false;
            assert_int_equal(il_audit_row_read(&a, &m.machine, &row, NULL), IL_OK);
            accepted++;
        } else {
            w.step.reason = IL_STR("another-rule");
            assert_int_equal(il_audit_row_read(&a, &m.machine, &row, NULL), IL_OK);
            w.step.accepted = true;
            assert_int_equal(il_audit_row_read(&a, &m.machine, &row, NULL), IL_OK);
            rejected++;
        }
    }
    assert_true(accepted > 100 && rejected > 100);
    /* some of the changed states are no states at all */
    assert_int_equal(audit_count(&a, false, IL_AUDIT_POST_MISMATCH) + audit_count(&a, false, IL_AUDIT_OFF_TABLE), accepted);
    assert_true(audit_count(&a, false, IL_AUDIT_POST_MISMATCH) > 0);
    assert_int_equal(audit_count(&a, false, IL_AUDIT_REJECT_NOW_ACCEPTS), accepted);
    assert_int_equal(audit_count(&a, false, IL_AUDIT_REASON_CHANGED), rejected);
    assert_int_equal(audit_count(&a, false, IL_AUDIT_ACCEPT_NOW_REJECTS), rejected);
    assert_string_equal(il_audit_replayed(&a), "FAIL");
    assert_int_equal(il_audit_exit(&a), 1);
    assert_int_equal(a.nkept, IL_AUDIT_FINDINGS_KEPT);
    il_arena_free(&results);
    audit_close(&m);
}

static void own(void **state) {
    (void)state;
    own_rows(MACHINE_TRIFECTA);
    own_rows(MACHINE_STANDARD);
}

static void off_table(void **state) {
    (void)state;
    static const char *const paths[] = {MACHINE_TRIFECTA, MACHINE_STANDARD};
    for (size_t i = 0; i < 2; i++) {
        audit_case m;
        il_audit a;
        audit_open(&m, paths[i], NULL);
        il_audit_init(&a, &m.c.arena, NULL);
        uint64_t state_out = m.c.m->initial;
        for (uint32_t v = 0; v < m.c.m->nvars; v++) { /* everything at its last value: the region itself */
            state_out = il_model_set(m.c.m, state_out, v, m.c.m->vars[v].domain.size - 1);
        }
        const il_audit_step step = {.symbol = 0, .accepted = true};
        const il_audit_row row = {
            .seq = 4, .session = IL_STR("x"), .pre = state_out, .post = state_out, .nsteps = 1, .steps = &step};
        assert_int_equal(il_audit_row_read(&a, &m.machine, &row, NULL), IL_OK);
        assert_int_equal(audit_count(&a, false, IL_AUDIT_OFF_TABLE), 1);
        assert_int_equal(a.findings->row, 4);
        assert_true(il_str_eq(a.findings->session, IL_STR("x")));
        assert_int_equal(il_audit_exit(&a), 1);
        audit_close(&m);
    }
}

/* What the command notes itself: no rows were stepped, so nothing passes. */
static void noted(void **state) {
    (void)state;
    machine_case c;
    il_audit a;
    machine_open(&c, MACHINE_TRIFECTA, NULL);
    il_audit_init(&a, &c.arena, NULL);
    assert_int_equal(il_audit_note(&a, IL_AUDIT_MACHINE_UNKNOWN, 1, IL_STR("s"), IL_STR("abc"), NULL), IL_OK);
    assert_string_equal(il_audit_replayed(&a), "INCONCLUSIVE");
    assert_int_equal(il_audit_exit(&a), 2);
    assert_int_equal(il_audit_note(&a, IL_AUDIT_NOT_READ, 2, IL_STR("s"), IL_STR(""), NULL), IL_OK);
    assert_int_equal(il_audit_exit(&a), 2);
    assert_int_equal(il_audit_note(&a, IL_AUDIT_CHAIN_BREAK, 3, IL_STR(""), IL_STR("row-hash"), NULL), IL_OK);
    assert_string_equal(il_audit_replayed(&a), "FAIL");
    assert_int_equal(il_audit_exit(&a), 1);
    machine_free(&c);
}

static void compare(audit_case *from, audit_case *to, il_audit *a) {
    walk w = {.m = from->c.m, .seed = 11};
    il_audit_init(a, &from->c.arena, &to->machine);
    for (uint32_t i = 0; i < WALK; i++) {
        assert_int_equal(il_audit_row_read(a, &from->machine, walk_next(&w), NULL), IL_OK);
    }
    assert_int_equal(audit_all(a, false), 0);
}

static void against(void **state) {
    (void)state;
    const machine_edit once[] = {{"reject:\n      - {as: too-many-approvals, if: \"pre.asked + pre.granted >= K\"}",
                                  "reject:\n      - {as: too-many-approvals, if: \"pre.asked + pre.granted >= K - 1\"}"},
                                 {0}};
    const machine_edit renamed[] = {
        {"{as: busy, if: \"pre.flight || pre.crossing\"}", "{as: ended, if: \"pre.flight || pre.crossing\"}"},
        {"    - busy\n", ""},
        {0}};
    const machine_edit other[] = {{"flight: \"pre.flight || (call.egress == 'once' && !call.approved)\"",
                                   "flight: \"pre.flight || call.egress == 'once'\""},
                                  {0}};
    audit_case from, to;
    il_audit a;
    audit_open(&from, MACHINE_TRIFECTA, NULL);
    audit_open(&to, MACHINE_TRIFECTA, NULL); /* another table of the same machine */
    compare(&from, &to, &a);
    assert_string_equal(il_audit_against(&a), "AGREES");
    assert_int_equal(a.compared, WALK);
    audit_close(&to);

    /* Its own machine is no other: what the replay finds is not agreed to. */
    const il_audit_step request = {.symbol = machine_symbol(from.c.m, "rq", 2), .accepted = true};
    const il_audit_row wrong = {.seq = 1, .session = IL_STR("s"), .nsteps = 1, .steps = &request}; /* the request left no trace */
    il_audit_init(&a, &from.c.arena, &from.machine);
    assert_string_equal(il_audit_against(&a), "INCONCLUSIVE"); /* nothing was read */
    assert_int_equal(il_audit_row_read(&a, &from.machine, &wrong, NULL), IL_OK);
    assert_int_equal(audit_count(&a, false, IL_AUDIT_POST_MISMATCH), 1);
    assert_null(il_audit_against(&a));
    assert_int_equal(il_audit_exit(&a), 1);

    audit_open(&to, MACHINE_TRIFECTA, once);
    compare(&from, &to, &a);
    assert_true(audit_count(&a, true, IL_AUDIT_ACCEPT_NOW_REJECTS) > 0);
    assert_true(audit_count(&a, true, IL_AUDIT_OFF_TABLE) > 0); /* two requests are a state that it never reaches */
    assert_string_equal(il_audit_against(&a), "FAIL");
    assert_string_equal(il_audit_replayed(&a), "PASS");
    assert_int_equal(il_audit_exit(&a), 1);
    il_audit b;
    compare(&to, &from, &b); /* the other way round */
    assert_true(audit_count(&b, true, IL_AUDIT_REJECT_NOW_ACCEPTS) > 0);
    assert_int_equal(audit_count(&b, true, IL_AUDIT_ACCEPT_NOW_REJECTS), 0);
    audit_close(&to);

    audit_open(&to, MACHINE_TRIFECTA, renamed);
    compare(&from, &to, &a);
    assert_int_equal(audit_count(&a, true, IL_AUDIT_REASON_CHANGED), audit_all(&a, true));
    assert_true(audit_all(&a, true) > 0);
    audit_close(&to);

    audit_open(&to, MACHINE_TRIFECTA, other);
    compare(&from, &to, &a);
    assert_true(audit_all(&a, true) > 0);
    audit_close(&to);
    audit_close(&from);
}

/* A ledger of another machine: what both speak of is compared, what only one knows is named. */
static void shipped(void **state) {
    (void)state;
    audit_case trifecta, standard;
    il_audit a;
    audit_open(&trifecta, MACHINE_TRIFECTA, NULL);
    audit_open(&standard, MACHINE_STANDARD, NULL);
    compare(&trifecta, &standard, &a); /* without secrets and commits standard is trifecta */
    assert_string_equal(il_audit_against(&a), "AGREES");
    compare(&standard, &trifecta, &a);
    assert_string_equal(il_audit_against(&a), "FAIL");
    assert_true(audit_count(&a, true, IL_AUDIT_REJECT_NOW_ACCEPTS) > 0);
    audit_close(&standard);
    audit_close(&trifecta);
}

static void lost_symbols(void **state) {
    (void)state;
    static const char *const texts[] = {
        "machine: a\nversion: 1\nvars: {x: bool}\nactions:\n"
        "  up: {principal: agent, call: {how: [slow, fast]}, next: {x: \"call.how == 'fast'\"}, reject: [{as: nope, if: "
        "\"pre.x\"}]}\n"
        "regions: {r: {never: \"false\"}}\ncontract: {rules: [nope]}\n",
        "machine: b\nversion: 1\nvars: {x: bool}\nactions:\n"
        "  up: {principal: agent, call: {how: [slow]}, next: {x: \"false\"}, reject: [{as: nope, if: \"pre.x\"}]}\n"
        "regions: {r: {never: \"false\"}}\ncontract: {rules: [nope]}\n"};
    machine_case from, to;
    il_audit a;
    machine_load_text(&from, texts[0]);
    machine_load_text(&to, texts[1]);
    const il_audit_machine own = {.model = from.m}, other = {.model = to.m};
    il_audit_init(&a, &from.arena, &other);
    il_audit_step step = {.symbol = 0, .accepted = true};
    il_audit_row row = {.seq = 1, .session = IL_STR("s"), .nsteps = 1, .steps = &step};
    assert_int_equal(il_audit_row_read(&a, &own, &row, NULL), IL_OK);
    assert_string_equal(il_audit_against(&a), "AGREES");
    step.symbol = 1;
    row.post = 1;
    assert_int_equal(il_audit_row_read(&a, &own, &row, NULL), IL_OK);
    assert_int_equal(audit_count(&a, true, IL_AUDIT_LOST_SYMBOL), 1);
    assert_true(il_str_eq(a.findings->step, IL_STR("up{how=fast}")));
    assert_int_equal(audit_all(&a, false), 0);
    machine_free(&to);
    machine_free(&from);
}

static void object(void **state) {
    (void)state;
    audit_case from, to;
    il_audit a;
    il_json *o = NULL;
    il_str text = {0};
    const machine_edit once[] = {{"reject:\n      - {as: too-many-approvals, if: \"pre.asked + pre.granted >= K\"}",
                                  "reject:\n      - {as: too-many-approvals, if: \"pre.asked + pre.granted >= K - 1\"}"},
                                 {0}};
    audit_open(&from, MACHINE_TRIFECTA, NULL);
    audit_open(&to, MACHINE_TRIFECTA, once);
    il_audit_init(&a, &from.c.arena, &to.machine);
    const uint32_t request = machine_symbol(from.c.m, "rq", 2);
    const il_step first = il_model_eval(from.c.m, NULL, from.c.m->initial, request).step;
    const il_step second = il_model_eval(from.c.m, NULL, first.next, request).step;
    const il_audit_step step = {.symbol = request, .accepted = true};
    const il_audit_row row = {
        .seq = 9, .session = IL_STR("s"), .pre = first.next, .post = second.next, .nsteps = 1, .steps = &step};
    assert_int_equal(il_audit_row_read(&a, &from.machine, &row, NULL), IL_OK);
    assert_int_equal(il_audit_object(&a, &from.c.arena, &o, NULL), IL_OK);
    (void)il_json_remove((il_json *)(uintptr_t)il_json_get(o, IL_STR("against")), IL_STR("sha256"));
    assert_int_equal(il_harden_json(o, &from.c.arena, &text, NULL), IL_OK);
    const char *want =
        "{\"against\":{\"findings\":{\"ACCEPT_NOW_REJECTS\":1},\"machine\":\"trifecta\",\"steps\":1,\"verdict\":\"FAIL\"},"
        "\"exit\":1,"
        "\"findings\":[{\"detail\":null,\"finding\":\"ACCEPT_NOW_REJECTS\",\"now\":\"too-many-approvals\",\"of\":\"against\","
        "\"row\":9,"
        "\"said\":\"accept\",\"session\":\"s\",\"step\":\"request\"}],\"replay\":{\"findings\":{},\"rows\":1,\"steps\":1,"
        "\"verdict\":\"PASS\"}}";
    if (!il_str_eq(text, il_str_of(want))) {
        fail_msg("%.*s", (int)text.n, text.p);
    }
    audit_close(&to);
    audit_close(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(own),     cmocka_unit_test(off_table), cmocka_unit_test(noted),
                                       cmocka_unit_test(against), cmocka_unit_test(shipped),   cmocka_unit_test(lost_symbols),
                                       cmocka_unit_test(object)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
