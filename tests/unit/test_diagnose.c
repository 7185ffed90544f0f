/* SPDX-License-Identifier: Apache-2.0 */
/* The run of a diagnosis: memory that fails anywhere, bounds anywhere, the drawing of wormholes; what the sandbox's grade counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/diagnose.h"
#include "helper_machine.h"

#define SANDBOX "examples/machines/sandbox.yaml"

typedef struct whole {
    machine_case c;
    il_diagnose g;
} whole;

static void open_sandbox(whole *w, const il_diagnose_ask *how, const il_space_bounds *bounds) {
    machine_open(&w->c, SANDBOX, NULL);
    il_diagnose_ask ask = *how;
    ask.eye = il_diagnose_eye(w->c.m);
    assert_int_equal(il_diagnose_run(&w->g, &w->c.memory.alloc, &w->c.arena, w->c.m, &ask, bounds, &w->c.err), IL_OK);
}

static void test_grade(void **state) {
    (void)state;
    static whole w;
    open_sandbox(&w, &(il_diagnose_ask){0}, NULL);
    const il_wormholes *h = &w.g.wormholes;
    uint32_t diagnosed = 0, undetectable = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        const il_wormhole *one = &h->list[i];
        diagnosed += one->diagnosed;
        undetectable += one->undetectable;
        assert_true(one->edges > 0 && one->orbits > 0);
        assert_false(one->diagnosed && one->undetectable);
        assert_true(i == 0 || h->list[i - 1].kind < one->kind ||
                    (h->list[i - 1].kind == one->kind && h->list[i - 1].number < one->number));
        if (one->kind != IL_W4_TWO_HOPS) { /* each leads into its region from outside */
            assert_true(il_model_in_region(w.c.m, one->region, one->to, 0, 0));
        }
        assert_false(il_model_in_region(w.c.m, one->region, one->from, 0, 0));
    }
    assert_int_equal(diagnosed, h->diagnosed);
    assert_int_equal(undetectable, h->undetectable);
    assert_int_equal(h->n, h->distinct);
    assert_true(h->diagnosed > 0 && h->diagnosed < h->n);
    machine_free(&w.c);
}

/* A W1 mutant is a fault that the section could declare, and both ways of asking must agree. */
static void test_jumps_are_faults(void **state) {
    (void)state;
    static whole w;
    static const char *const names[3] = {"untrusted", "sensitive", "egress"};
    static const char *const inside[3] = {"'held'", "'held'", "true"};
    uint32_t jumps = 0, survivors = 0;
    open_sandbox(&w, &(il_diagnose_ask){0}, NULL);
    for (uint32_t i = 0; i < w.g.wormholes.n && w.g.wormholes.list[i].kind == IL_W1_JUMP; i++) {
        const il_wormhole *h = &w.g.wormholes.list[i];
        char when[256] = "", next[256] = "", fault[1024];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t v = il_model_var(w.c.m, il_str_of(names[k]));
            const bool changed = il_model_get(w.c.m, h->from, v) != il_model_get(w.c.m, h->to, v);
            (void)snprintf(when + strlen(when), sizeof when - strlen(when), "%spre.%s %s %s", k ? " && " : "", names[k],
                           changed ? "!=" : "==", inside[k]);
            if (changed) {
                (void)snprintf(next + strlen(next), sizeof next - strlen(next), "%s%s: \"%s\"", *next ? ", " : "", names[k],
                               inside[k]);
            }
        }
        (void)snprintf(fault, sizeof fault, "broker-bug: {when: \"%s\", next: {%s}}", when, next);
        const machine_edit edits[] = {
            {"broker-bug: {when: \"!pre.egress && pre.phase == 'live'\", next: {egress: \"true\", downloaded: \"true\"}}", fault},
            {NULL, NULL}};
        machine_case c;
        machine_open(&c, SANDBOX, edits);
        il_plant p = {0};
        il_twin t;
        const il_twin_ask ask = {.eye = il_diagnose_eye(c.m)};
        assert_int_equal(il_plant_build(&p, &c.memory.alloc, c.m, c.m->diagnosis, NULL, NULL, &c.err), IL_OK);
        assert_int_equal(il_twin_run(&p, &ask, NULL, &c.arena, &t, &c.err), IL_OK);
        assert_int_equal(t.word, h->diagnosed ? IL_TWIN_DIAGNOSABLE : IL_TWIN_BLIND);
        il_plant_free(&p);
        machine_free(&c);
        jumps++;
        survivors += !h->diagnosed;
    }
    assert_int_equal(jumps, 7); /* every set of the three variables that may be missing */
    assert_true(survivors > 0 && survivors < jumps);
    machine_free(&w.c);
}

/* The draw takes as many as it may, others with another seed, the same with the same. */
static void test_draw(void **state) {
    (void)state;
    static whole a, b, c;
    open_sandbox(&a, &(il_diagnose_ask){.wormholes = 10, .seed = 1}, NULL);
    open_sandbox(&b, &(il_diagnose_ask){.wormholes = 10, .seed = 1}, NULL);
    open_sandbox(&c, &(il_diagnose_ask){.wormholes = 10, .seed = 2}, NULL);
    bool same = true;
    assert_int_equal(a.g.wormholes.n, 10);
    assert_int_equal(a.g.wormholes.dropped, a.g.wormholes.distinct - 10);
    for (uint32_t i = 0; i < 10; i++) {
        const il_wormhole *x = &a.g.wormholes.list[i], *y = &b.g.wormholes.list[i], *z = &c.g.wormholes.list[i];
        assert_true(x->kind == y->kind && x->number == y->number && x->diagnosed == y->diagnosed);
        same = same && x->kind == z->kind && x->number == z->number;
    }
    assert_false(same);
    machine_free(&a.c);
    machine_free(&b.c);
    machine_free(&c.c);
}

/* However few states or bytes there may be: never a PASS that a larger bound takes back, never a clean exit. */
static void test_bounds(void **state) {
    (void)state;
    static whole w;
    uint32_t inconclusive = 0;
    for (uint32_t states = 1; states < 400; states += 7) {
        const il_space_bounds bounds = {.states = states};
        open_sandbox(&w, &(il_diagnose_ask){0}, &bounds);
        assert_true(w.g.lines[0].twin.word == IL_TWIN_BOUNDED || w.g.lines[0].twin.word == IL_TWIN_BLIND);
        inconclusive += w.g.exit == 2;
        assert_true(w.g.exit == 1 || w.g.exit == 2);
        machine_free(&w.c);
    }
    assert_true(inconclusive > 5);
    for (size_t bytes = 1; bytes < ((size_t)1 << 18); bytes = bytes * 3 + 1) {
        const il_space_bounds bounds = {.bytes = bytes};
        open_sandbox(&w, &(il_diagnose_ask){0}, &bounds);
        assert_true(w.g.exit == 1 || w.g.exit == 2);
        machine_free(&w.c);
    }
}

static bool stop_at_once(void *ctx, const il_space_progress *now) {
    (void)ctx;
    (void)now;
    return false;
}

static void test_time(void **state) {
    (void)state;
    static whole w;
    const il_space_bounds bounds = {.progress = stop_at_once};
    machine_open(&w.c, SANDBOX, NULL);
    il_diagnose_ask ask = {.eye = il_diagnose_eye(w.c.m)};
    ask.eye.uses = 1;
    assert_int_equal(il_diagnose_run(&w.g, &w.c.memory.alloc, &w.c.arena, w.c.m, &ask, &bounds, &w.c.err), IL_OK);
    assert_int_equal(w.g.exit, 2); /* the catalogue of wormholes was cut short */
    machine_free(&w.c);
}

/* The n-th allocation fails, for every n up to a stride: a clean error, nothing kept. */
static void test_allocations(void **state) {
    (void)state;
    static il_diagnose g;
    machine_case c;
    machine_open(&c, SANDBOX, NULL);
    il_diagnose_ask ask = {.eye = il_diagnose_eye(c.m), .wormholes = 4};
    il_status status = IL_E_MEMORY;
    size_t failed = 0;
    for (size_t n = 0; status != IL_OK; n += 1 + n / 64) {
        test_memory memory;
        il_arena arena;
        il_error err = {0};
        il_json *o = NULL;
        il_str text = {0};
        test_memory_init(&memory, n);
        il_arena_init(&arena, &memory.alloc, (size_t)1 << 26);
        status = il_diagnose_run(&g, &memory.alloc, &arena, c.m, &ask, NULL, &err);
        status = status == IL_OK ? il_diagnose_object(&g, &arena, &o, &err) : status;
        status = status == IL_OK ? il_diagnose_text(o, &arena, &text, &err) : status;
        if (status != IL_OK) {
            assert_int_equal(status, IL_E_MEMORY);
            assert_true(err.msg[0] != '\0');
            failed++;
        }
        il_arena_free(&arena);
        assert_int_equal(memory.live, 0);
    }
    assert_true(failed > 100);
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grade), cmocka_unit_test(test_jumps_are_faults),
        cmocka_unit_test(test_draw),  cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_time),  cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
