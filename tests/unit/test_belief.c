/* SPDX-License-Identifier: Apache-2.0 */
/* The belief set against runs of the plant. Random runs: the true state is always in it. All runs of a small machine with up
 * to three observations: it is exactly the states that they end in. The runs are made by the evaluator of the guards, which
 * the set does not use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/belief.h"
#include "helper_machine.h"

/* A sandbox: what is downloaded is seen by a sensor; a fault in the proxy opens a way out that is not seen. */
static const char belief_machine[] =
    "machine: sandbox\n"
    "version: 1\n"
    "vars:\n"
    "  untrusted: bool\n"
    "  sensitive: bool\n"
    "  fetched: bool\n"
    "  egress: bool\n"
    "  tries: {int: 0..2, overflow: reject}\n"
    "  phase: [live, quarantined]\n"
    "actions:\n"
    "  read: {principal: agent, call: {what: [web, mail]}, reject: [{as: frozen, if: \"pre.phase != 'live'\"}],\n"
    "    next: {untrusted: \"pre.untrusted || call.what == 'web'\", sensitive: \"pre.sensitive || call.what == 'mail'\"}}\n"
    "  send: {principal: agent, gate: true, next: {egress: \"true\"}, reject: [{as: frozen, if: \"pre.phase != 'live'\"},\n"
    "    {as: both, if: \"pre.untrusted && pre.sensitive\"}, {as: worn, if: \"pre.tries == 1\"}, {as: many, if: \"pre.tries == "
    "2\"}]}\n"
    "  tidy: {principal: agent, next: {fetched: \"false\"}, reject: [{as: frozen, if: \"pre.phase != 'live'\"}]}\n"
    "  probe: {principal: env, next: {tries: \"pre.tries + 1\"}, reject: [{as: many, if: \"pre.tries == 2\"}]}\n"
    "  quarantine: {principal: runtime, corrective: true, next: {phase: \"'quarantined'\", egress: \"false\"}}\n"
    "regions:\n"
    "  trifecta: {never: \"pre.untrusted && pre.sensitive && pre.egress\"}\n"
    "contract: {rules: [frozen, both, many, worn]}\n"
    "diagnosis:\n"
    "  sees: [untrusted, phase]\n"
    "  sensors: {download: \"pre.fetched\"}\n"
    "  uses: [download]\n"
    "  faults:\n"
    "    proxy: {when: \"pre.untrusted && !pre.fetched\", next: {fetched: \"true\"}}\n"
    "    tunnel: {when: \"pre.fetched && pre.phase == 'live'\", next: {egress: \"true\"}}\n"
    "  alarms:\n"
    "    trifecta: {raise: possible}\n";

typedef struct belief_case {
    machine_case machine;
    il_estimator *p;
    il_belief b;
} belief_case;

static void belief_open(belief_case *c, const char *text, const il_estimator_options *options) {
    memset(c, 0, sizeof *c);
    machine_load_text(&c->machine, text);
    if (c->machine.status != IL_OK) {
        fail_msg("%u:%u: %s", c->machine.err.line, c->machine.err.col, c->machine.err.msg);
    }
    const uint32_t probe = il_model_action(c->machine.m, IL_STR("probe"));
    if (probe != UINT32_MAX) {
        c->machine.m->actions[probe].hidden = true;
    }
    assert_int_equal(il_estimator_new(&c->machine.memory.alloc, c->machine.m, options, NULL, &c->p, &c->machine.err), IL_OK);
}

static void belief_close_case(belief_case *c) {
    il_belief_free(c->p, &c->b);
    il_estimator_free(c->p);
    machine_free(&c->machine);
}

/* ---- runs of the plant --------------------------------------------------------------------------- */

typedef struct belief_move { /* one edge of a run */
    uint64_t next;
    bool hidden; /* nothing but what changes in the view is seen of it */
    il_observation seen;
} belief_move;

static uint32_t belief_moves(const belief_case *c, const il_estimator_options *o, uint64_t state, belief_move *out) {
    const il_model *m = c->machine.m;
    uint32_t n = 0;
    for (uint32_t s = 0; s < m->nsymbols; s++) {
        const il_eval e = il_model_eval(m, NULL, state, s);
        const bool hidden = m->actions[il_model_action_of(m, s)].hidden, accepted = e.step.verdict == IL_ACCEPT;
        if (e.step.verdict == IL_FAULT || (hidden && e.step.next == state)) {
            continue;
        }
        out[n] = (belief_move){.next = e.step.next, .hidden = hidden};
        out[n].seen.symbol = hidden ? IL_NO_SYMBOL : s;
        out[n].seen.has_verdict = !hidden && o->verdicts;
        out[n].seen.accepted = out[n].seen.has_verdict && accepted;
        out[n].seen.rule = out[n].seen.has_verdict && !accepted ? e.step.reason : 0;
        n++;
    }
    for (uint32_t f = 0; o->faults && m->diagnosis && f < m->diagnosis->nsilent; f++) {
        uint64_t next = 0;
        if (il_silent_step(m, &m->diagnosis->silent[f], state, &next)) {
            out[n++] = (belief_move){.next = next, .hidden = true, .seen = {.symbol = IL_NO_SYMBOL}};
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        out[i].seen.has_after = true;
        out[i].seen.after = il_diagnosis_view(m, o->sees, o->uses, out[i].next);
    }
    return n;
}

static uint64_t belief_view(const belief_case *c, const il_estimator_options *o, uint64_t state) {
    return il_diagnosis_view(c->machine.m, o->sees, o->uses, state);
}

#define BELIEF_MOVES 64

static uint32_t belief_seed;
static uint32_t belief_next(uint32_t below) {
    belief_seed = belief_seed * 1664525u + 1013904223u;
    return (belief_seed >> 8) % below;
}

/* `gaps`: hidden moves are not watched, only what is seen around each symbol. */
static void belief_random_run(belief_case *c, const il_estimator_options *o, bool gaps, uint32_t run) {
    belief_move moves[BELIEF_MOVES];
    uint64_t state = c->machine.m->initial;
    assert_int_equal(il_belief_begin(c->p, &c->b, NULL), IL_OK);
    for (uint32_t step = 0; step < 40; step++) {
        const uint32_t n = belief_moves(c, o, state, moves);
        const belief_move *move = &moves[belief_next(n)];
        const bool silent = move->hidden && (gaps || belief_view(c, o, state) == move->seen.after);
        il_observation seen = move->seen;
        if (gaps) {
            seen.gap = seen.has_before = true;
            seen.before = belief_view(c, o, state);
        }
        state = move->next;
        if (!silent && il_belief_see(c->p, &c->b, &seen, NULL) != IL_OK) {
            fail_msg("run %u step %u: no set", run, step);
        }
        /* after a hidden move that is not watched the set speaks of the moment before it */
        if (!(gaps && silent) && !il_belief_has(c->p, &c->b, state)) {
            fail_msg("run %u step %u: the true state %llx is not among %u", run, step, (unsigned long long)state, c->b.n);
        }
    }
}

static void belief_random(const char *text, const il_estimator_options *given) {
    belief_case c;
    belief_open(&c, text, given);
    const il_estimator_options o = given ? *given : il_estimator_options_of(c.machine.m);
    const char *env = getenv("IL_TEST_SEED");
    belief_seed = env ? (uint32_t)strtoul(env, NULL, 10) : 20261130u;
    print_message("seed %u (set IL_TEST_SEED for another)\n", belief_seed);
    for (uint32_t run = 0; run < 400; run++) {
        belief_random_run(&c, &o, run % 2 == 1, run);
    }
    assert_true(given || c.b.most > 1); /* something was uncertain */
    belief_close_case(&c);
}

static void test_true_state(void **state) {
    (void)state;
    belief_random(belief_machine, NULL);
    const il_estimator_options blind = {.sees = 0, .uses = 0, .verdicts = false, .faults = true};
    belief_random(belief_machine, &blind);
    const il_estimator_options all = {.sees = UINT64_MAX, .verdicts = true, .faults = true};
    belief_random(belief_machine, &all);
}

/* ---- every run ----------------------------------------------------------------------------------- */

#define BELIEF_SEEN 3
#define BELIEF_ENDS 400000

typedef struct belief_end { /* what was seen of a run, and where it ended */
    uint32_t n;
    struct {
        uint32_t symbol;
        uint32_t verdict; /* 0 not seen, 1 accepted, 2 + rule */
        uint64_t before, after;
    } seen[BELIEF_SEEN];
    uint64_t state;
} belief_end;

typedef struct belief_walk {
    belief_case *c;
    il_estimator_options o;
    bool gaps;
    belief_end *ends;
    size_t n;
    uint64_t path[64]; /* states of the stretch of hidden moves in hand: none twice */
    uint32_t npath;
} belief_walk;

static void belief_walk_from(belief_walk *w, belief_end *run, bool unwatched) {
    belief_move moves[BELIEF_MOVES];
    const uint64_t state = run->state, view = belief_view(w->c, &w->o, state);
    const uint32_t n = belief_moves(w->c, &w->o, state, moves);
    if (!unwatched) { /* else the set speaks of what was seen last, not of now */
        assert_true(w->n < BELIEF_ENDS);
        w->ends[w->n++] = *run;
    }
    for (uint32_t i = 0; i < n; i++) {
        belief_end next = *run;
        bool known = false;
        next.state = moves[i].next;
        const bool silent = moves[i].hidden && (w->gaps || moves[i].seen.after == view);
        if (silent) {
            for (uint32_t k = 0; k < w->npath; k++) {
                known = known || w->path[k] == next.state;
            }
            if (!known && w->npath < 64) {
                w->path[w->npath++] = next.state;
                /* unseen it is as long as the view is what it was */
                belief_walk_from(w, &next, unwatched || moves[i].seen.after != view);
                w->npath--;
            }
        } else if (run->n < BELIEF_SEEN) {
            belief_walk inner = *w;
            next.seen[next.n].symbol = moves[i].seen.symbol;
            next.seen[next.n].verdict = !moves[i].seen.has_verdict ? 0 : moves[i].seen.accepted ? 1 : 2u + moves[i].seen.rule;
            next.seen[next.n].before = w->gaps ? view : 0;
            next.seen[next.n].after = moves[i].seen.after;
            next.n++;
            inner.npath = 0;
            inner.path[inner.npath++] = next.state;
            belief_walk_from(&inner, &next, false);
            w->n = inner.n;
        }
    }
}

static int belief_end_compare(const void *a, const void *b) { return memcmp(a, b, sizeof(belief_end)); }

static void belief_replay(belief_walk *w, const belief_end *run) {
    assert_int_equal(il_belief_begin(w->c->p, &w->c->b, NULL), IL_OK);
    for (uint32_t i = 0; i < run->n; i++) {
        const uint32_t verdict = run->seen[i].verdict;
        const il_observation seen = {.gap = w->gaps,
                                     .has_before = w->gaps,
                                     .before = run->seen[i].before,
                                     .symbol = run->seen[i].symbol,
                                     .has_verdict = verdict != 0,
                                     .accepted = verdict == 1,
                                     .rule = verdict > 2 ? (uint8_t)(verdict - 2) : 0,
                                     .has_after = true,
                                     .after = run->seen[i].after};
        assert_int_equal(il_belief_see(w->c->p, &w->c->b, &seen, NULL), IL_OK);
    }
}

/* Runs that look alike stand together after sorting; their ends are what the set must be. */
static void belief_compare(belief_walk *w) {
    size_t looks = 0, uncertain = 0;
    qsort(w->ends, w->n, sizeof *w->ends, belief_end_compare);
    for (size_t from = 0; from < w->n;) {
        size_t to = from;
        uint32_t distinct = 0;
        belief_replay(w, &w->ends[from]);
        for (; to < w->n && memcmp(&w->ends[from], &w->ends[to], offsetof(belief_end, state)) == 0; to++) {
            distinct += to == from || w->ends[to].state != w->ends[to - 1].state ? 1u : 0u;
            if (!il_belief_has(w->c->p, &w->c->b, w->ends[to].state)) {
                fail_msg("a run ends in %llx, which is not in the set", (unsigned long long)w->ends[to].state);
            }
        }
        if (distinct != w->c->b.n) {
            fail_msg("runs end in %u states, and the set has %u", distinct, w->c->b.n);
        }
        looks++;
        uncertain += distinct > 1 ? 1u : 0u;
        from = to;
    }
    print_message("%zu runs look in %zu ways, %zu of them uncertain\n", w->n, looks, uncertain);
    assert_true(looks > 100);
}

static void belief_exact(const char *text, const il_estimator_options *given, bool gaps) {
    belief_case c;
    belief_walk w = {.c = &c, .gaps = gaps};
    belief_end start;
    belief_open(&c, text, given);
    w.o = given ? *given : il_estimator_options_of(c.machine.m);
    w.ends = calloc(BELIEF_ENDS, sizeof *w.ends);
    assert_non_null(w.ends);
    memset(&start, 0, sizeof start);
    start.state = c.machine.m->initial;
    w.path[w.npath++] = start.state;
    belief_walk_from(&w, &start, false);
    belief_compare(&w);
    free(w.ends);
    belief_close_case(&c);
}

static void test_exact(void **state) {
    (void)state;
    belief_exact(belief_machine, NULL, false);
    belief_exact(belief_machine, NULL, true);
    const il_estimator_options verdicts = {.sees = 1, .uses = 1, .verdicts = false, .faults = true};
    belief_exact(belief_machine, &verdicts, false);
    belief_exact(belief_machine, &verdicts, true);
}

/* ---- alarms -------------------------------------------------------------------------------------- */

static uint32_t belief_symbol(const belief_case *c, const char *text) {
    for (uint32_t s = 0; s < c->machine.m->nsymbols; s++) {
        il_buf buf;
        il_str name;
        il_buf_init(&buf, &((belief_case *)(uintptr_t)c)->machine.arena, 256);
        il_model_symbol_text(c->machine.m, s, &buf);
        assert_int_equal(il_buf_done(&buf, &name, NULL), IL_OK);
        if (il_str_eq(name, il_str_of(text))) {
            return s;
        }
    }
    fail_msg("no symbol %s", text);
    return 0;
}

static uint64_t belief_set(const belief_case *c, uint64_t state, const char *var, uint32_t value) {
    return il_model_set(c->machine.m, state, il_model_var(c->machine.m, il_str_of(var)), value);
}

static void belief_seen(belief_case *c, uint32_t symbol, uint64_t after) {
    const il_observation seen = {.gap = true,
                                 .symbol = symbol,
                                 .has_verdict = symbol != IL_NO_SYMBOL,
                                 .accepted = true,
                                 .has_after = true,
                                 .after = il_estimator_view(c->p, after)};
    assert_int_equal(il_belief_see(c->p, &c->b, &seen, NULL), IL_OK);
}

/* The story of the sandbox: nothing to fear until the sensor speaks; then the way out is possible, though nobody saw it; then
 * certain it is not. */
static void test_alarms(void **unused) {
    belief_case c;
    (void)unused;
    belief_open(&c, belief_machine, NULL);
    const uint32_t region = 0;
    uint64_t s = c.machine.m->initial;
    assert_int_equal(il_belief_begin(c.p, &c.b, NULL), IL_OK);
    s = belief_set(&c, s, "untrusted", 1);
    belief_seen(&c, belief_symbol(&c, "read{what=web}"), s);
    s = belief_set(&c, s, "sensitive", 1);
    belief_seen(&c, belief_symbol(&c, "read{what=mail}"), s);
    assert_int_equal(il_belief_judge(c.p, &c.b).possible >> region & 1, 0);
    s = belief_set(&c, s, "fetched", 1);
    belief_seen(&c, IL_NO_SYMBOL, s);
    assert_int_equal(il_belief_judge(c.p, &c.b).possible >> region & 1, 1);
    assert_int_equal(il_belief_judge(c.p, &c.b).certain >> region & 1, 0);
    /* a set without members is in no region: it is an alarm of another kind */
    belief_seen(&c, IL_NO_SYMBOL, c.machine.m->initial);
    assert_int_equal(c.b.n, 0);
    assert_int_equal(il_belief_judge(c.p, &c.b).possible, 0);
    assert_int_equal(il_belief_judge(c.p, &c.b).certain, 0);
    belief_close_case(&c);
    /* and with the way out in sight, it is certain */
    il_estimator_options all = {.sees = UINT64_MAX, .verdicts = true, .faults = true};
    belief_open(&c, belief_machine, &all);
    assert_int_equal(il_belief_any(c.p, &c.b, il_estimator_view(c.p, belief_set(&c, s, "egress", 1)), NULL), IL_OK);
    assert_int_equal(il_belief_judge(c.p, &c.b).certain >> region & 1, 1);
    assert_true(il_estimator_drifts(c.p, s, belief_set(&c, s, "egress", 1)));
    assert_false(il_estimator_drifts(c.p, belief_set(&c, s, "egress", 1), s));
    belief_close_case(&c);
}

/* The example that docs/diagnose.md tells, at run time: without its sensor the way out is possible and never more; with it, certain
 * as soon as something was fetched, and before anything is seen of the way out itself. What was found is not forgotten. */
static void test_example(void **unused) {
    (void)unused;
    for (uint32_t uses = 0; uses < 2; uses++) {
        belief_case c = {0};
        machine_open(&c.machine, "examples/machines/sandbox.yaml", NULL);
        il_estimator_options o = il_estimator_options_of(c.machine.m);
        o.uses = uses;
        assert_int_equal(il_estimator_new(&c.machine.memory.alloc, c.machine.m, &o, NULL, &c.p, NULL), IL_OK);
        assert_int_equal(il_belief_begin(c.p, &c.b, NULL), IL_OK);
        uint64_t s = belief_set(&c, c.machine.m->initial, "untrusted", 1);
        belief_seen(&c, belief_symbol(&c, "admit{untrusted=true,sensitive=false,egress=none}"), s);
        s = belief_set(&c, s, "sensitive", 1);
        belief_seen(&c, belief_symbol(&c, "admit{untrusted=false,sensitive=true,egress=none}"), s);
        assert_int_equal(il_belief_judge(c.p, &c.b).possible, uses ? 0 : 1); /* with the sensor the flaw would have shown */
        s = belief_set(&c, belief_set(&c, s, "downloaded", 1), "egress", 1); /* broker-bug */
        belief_seen(&c, belief_symbol(&c, "work{}"), s);
        assert_int_equal(il_belief_judge(c.p, &c.b).possible, 1);
        assert_int_equal(il_belief_judge(c.p, &c.b).certain, uses ? 1 : 0);
        assert_true(il_belief_has(c.p, &c.b, s));
        const uint32_t shield = belief_symbol(&c, "quarantine{found=true}");
        const il_step step = il_model_eval(c.machine.m, NULL, s, shield).step;
        belief_seen(&c, shield, step.next);
        assert_int_equal(il_belief_judge(c.p, &c.b).possible, 0);
        const uint32_t flag = il_model_var(c.machine.m, IL_STR("compromised"));
        for (uint32_t i = 0; i < c.b.n; i++) {
            assert_int_equal(il_model_get(c.machine.m, il_plant_state(il_estimator_plant(c.p), c.b.members[i]), flag), 1);
        }
        assert_true(c.b.n > 0);
        belief_close_case(&c);
    }
}

/* ---- bounds -------------------------------------------------------------------------------------- */

static void test_bounds(void **unused) {
    belief_case c;
    il_estimator *p = NULL;
    (void)unused;
    belief_open(&c, belief_machine, NULL);
    const uint32_t n = il_estimator_plant(c.p)->states.n;
    const il_estimator_bounds enough = {.states = n}, few = {.states = n - 1}, small = {.bytes = 64};
    assert_int_equal(il_estimator_new(&c.machine.memory.alloc, c.machine.m, NULL, &enough, &p, NULL), IL_OK);
    il_estimator_free(p);
    assert_int_equal(il_estimator_new(&c.machine.memory.alloc, c.machine.m, NULL, &few, &p, NULL), IL_E_LIMIT);
    assert_null(p);
    assert_int_equal(il_estimator_new(&c.machine.memory.alloc, c.machine.m, NULL, &small, &p, NULL), IL_E_LIMIT);
    belief_close_case(&c);
}

/* Whichever allocation fails, it is said, and nothing is left behind. */
static void test_memory_runs_out(void **unused) {
    belief_case c;
    (void)unused;
    belief_open(&c, belief_machine, NULL);
    bool done = false;
    for (size_t left = 0; left < 200 && !done; left++) {
        test_memory memory;
        il_estimator *p = NULL;
        il_belief b = {0};
        test_memory_init(&memory, left);
        il_status status = il_estimator_new(&memory.alloc, c.machine.m, NULL, NULL, &p, NULL);
        status = status == IL_OK ? il_belief_begin(p, &b, NULL) : status;
        done = status == IL_OK;
        assert_true(done || status == IL_E_MEMORY);
        if (p) {
            il_belief_free(p, &b);
        }
        il_estimator_free(p);
        assert_int_equal(memory.live, 0);
    }
    assert_true(done);
    belief_close_case(&c);
}

/* A shipped machine, of which everything is seen: one state at a time. */
static void test_standard(void **unused) {
    machine_case machine;
    il_estimator *p = NULL;
    il_belief b = {0};
    (void)unused;
    machine_open(&machine, MACHINE_TRIFECTA, NULL);
    assert_int_equal(il_estimator_new(&machine.memory.alloc, machine.m, NULL, NULL, &p, NULL), IL_OK);
    assert_int_equal(il_belief_begin(p, &b, NULL), IL_OK);
    uint64_t state = machine.m->initial;
    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t symbol = belief_next(machine.m->nsymbols);
        const il_step step = il_model_eval(machine.m, NULL, state, symbol).step;
        const il_observation seen = {.symbol = symbol,
                                     .has_verdict = true,
                                     .accepted = step.verdict == IL_ACCEPT,
                                     .rule = step.reason,
                                     .has_after = true,
                                     .after = il_estimator_view(p, step.next)};
        state = i % 40 == 0 ? machine.m->initial : step.next;
        assert_int_equal(i % 40 == 0 ? il_belief_begin(p, &b, NULL) : il_belief_see(p, &b, &seen, NULL), IL_OK);
        assert_int_equal(b.n, 1);
        assert_true(il_belief_has(p, &b, state));
    }
    assert_int_equal(b.most, 1);
    il_belief_free(p, &b);
    il_estimator_free(p);
    machine_free(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_true_state), cmocka_unit_test(test_exact),
                                       cmocka_unit_test(test_alarms),     cmocka_unit_test(test_example),
                                       cmocka_unit_test(test_bounds),     cmocka_unit_test(test_memory_runs_out),
                                       cmocka_unit_test(test_standard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
