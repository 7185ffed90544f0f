/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery convergence: every word of its verdicts, on machines that were written for it. Hot is the danger, `cool` and `turn` repair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

/* A machine is these lines with repairs of its own. Its states: hot or not, in four modes; danger is hot in any mode but `a`. */
#define HEAD                                                                                                        \
    "machine: ward\nversion: 1\nvars: {hot: bool, mode: [a, b, c, d], mark: {enum: [none, low, high]}}\nactions:\n" \
    "  heat: {principal: agent, gate: true, call: {up: bool}, next: {hot: \"call.up\"},\n"                          \
    "    reject: [{as: hot-here, if: \"next.hot && pre.mode != 'a'\"}, {as: busy, if: \"pre.mode != 'a'\"}]}\n"
#define TAIL(goal)                                                    \
    "regions:\n  hot-here: {never: \"pre.hot && pre.mode != 'a'\"}\n" \
    "  goal: {gated: \"" goal "\", by: [heat]}\n"                     \
    "contract: {rules: [hot-here, busy]}\n"
#define REPAIR(name, rest) "  " name ": {principal: runtime, corrective: true, " rest "}\n"
#define COLD "!pre.hot"
#define HOME "!pre.hot && pre.mode == 'a'"

typedef struct ward {
    machine_case c;
    const il_recovery *r;
    const il_check *line;
} ward;

/* `sticky`: a variable that is taken for sticky, `taint` likewise; may be NULL. */
static void ward_open(ward *w, const char *text, const char *sticky, const char *taint) {
    machine_load_text(&w->c, text);
    if (w->c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)w->c.err.line, (unsigned)w->c.err.col, w->c.err.msg);
    }
    for (uint32_t k = 0; k < w->c.m->nregions; k++) {
        if (il_str_eq(w->c.m->regions[k].name, IL_STR("goal"))) {
            w->c.m->goal = w->c.m->regions[k].predicate;
        }
    }
    if (sticky) {
        w->c.m->vars[il_model_var(w->c.m, il_str_of(sticky))].sticky = true;
    }
    if (taint) {
        w->c.m->vars[il_model_var(w->c.m, il_str_of(taint))].taint = true;
    }
}

static void ward_judge(ward *w, const il_space_bounds *bounds) {
    assert_int_equal(il_subject_init(&w->c.h.subject, &w->c.memory.alloc, &w->c.arena, w->c.m, bounds, &w->c.err), IL_OK);
    w->c.hardened = true;
    w->c.status = il_check_recovery(&w->c.h, &w->c.err);
    w->r = &w->c.h.recovery;
    w->line = w->c.h.checks;
}

static void ward_run(ward *w, const char *text) {
    ward_open(w, text, NULL, NULL);
    ward_judge(w, NULL);
    assert_int_equal(w->c.status, IL_OK);
}

static void ward_text_is(ward *w, uint64_t from, const il_trace *t, const char *start, const char *want) {
    char out[512];
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &w->c.arena, 4096);
    il_state_text(w->c.m, from, &b);
    il_buf_puts(&b, ": ");
    il_trace_text(w->c.m, t, &b);
    assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
    (void)snprintf(out, sizeof out, "%s: %s", start, want);
    if (!il_str_eq(text, il_str_of(out))) {
        fail_msg("`%.*s` instead of `%s`", (int)text.n, text.p, out);
    }
    uint64_t state = from; /* and it is a way of the machine */
    for (uint32_t i = 0; i < t->n; i++) {
        assert_int_equal(t->steps[i].pre, state);
        il_step step = il_model_eval(w->c.m, NULL, state, t->steps[i].symbol).step;
        assert_true(step.verdict == IL_FAULT || (step.verdict == IL_ACCEPT && step.next == t->steps[i].post));
        state = t->steps[i].post;
    }
}

static void ward_finds(ward *w, const char *word, const char *from, const char *steps) {
    for (uint32_t i = 0; i < w->r->nfindings; i++) {
        if (strcmp(w->r->findings[i].word, word) == 0) {
            assert_int_equal(w->line->verdict, IL_CHECK_FAIL);
            ward_text_is(w, w->r->findings[i].from, &w->r->findings[i].witness, from, steps);
            return;
        }
    }
    fail_msg("no finding `%s`; the first is %s", word, w->r->nfindings > 0 ? w->r->findings[0].word : "none");
}

static void ward_passes(const ward *w, il_recovery_strength strength, uint32_t longest, bool restoration) {
    if (w->line->finding && strength != IL_RECOVERY_WEAK) {
        fail_msg("finding %s", w->line->finding);
    }
    assert_int_equal(w->line->verdict, IL_CHECK_PASS);
    assert_int_equal(w->r->nfindings, 0);
    assert_int_equal(w->r->strength, strength);
    assert_int_equal(w->r->longest, longest);
    assert_int_equal(w->r->restoration, restoration);
    assert_true(w->r->robust);
    assert_int_equal(w->r->scope, IL_RECOVERY_PRODUCT);
}

static void test_strong(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"false\"}") TAIL(COLD));
    ward_passes(&w, IL_RECOVERY_STRONG, 1, false);
    assert_int_equal(w.r->danger, 9);
    assert_int_equal(w.r->states, 18);
    assert_int_equal(w.r->interleaved, 1);
    assert_int_equal(w.r->flight, IL_RECOVERY_NOTHING_FREEZES);
    machine_free(&w.c);
    ward_run(&w, HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'd' ? 'c' : pre.mode == 'c' ? 'b' : 'a'\"}")
                     REPAIR("cool", "next: {hot: \"pre.mode == 'a' ? false : pre.hot\"}") TAIL(HOME));
    ward_passes(&w, IL_RECOVERY_STRONG, 4, true);
    assert_int_equal(w.line->depth, 2); /* three modes are danger states; beyond them `hot, a` and `cold, a` */
    machine_free(&w.c);
}

static void test_weak(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : 'b'\"}, reject: [{as: busy, if: \"!pre.hot\"}]")
                     REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mode != 'b'\"}]") TAIL(COLD));
    ward_passes(&w, IL_RECOVERY_WEAK, 0, false);
    assert_string_equal(w.line->finding, "WEAK");
    assert_int_equal(w.r->lasso_stem, 0);
    ward_text_is(&w, w.r->lasso_from, &w.r->lasso, "hot=true mode=b", "turn turn");
    machine_free(&w.c);
    ward_run(
        &w, HEAD REPAIR("cool", "next: {hot: \"false\"}")
                REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : pre.mode == 'c' ? 'd' : pre.mode == 'd' ? 'b' : 'a'\"},"
                               " reject: [{as: busy, if: \"pre.hot\"}]")
                    REPAIR("home", "next: {mode: \"'a'\"}, reject: [{as: busy, if: \"pre.hot || pre.mode != 'd'\"}]") TAIL(HOME));
    ward_passes(&w, IL_RECOVERY_WEAK, 0, true);
    assert_int_equal(w.r->lasso_stem, 1);
    ward_text_is(&w, w.r->lasso_from, &w.r->lasso, "hot=true mode=b", "cool turn turn turn");
    machine_free(&w.c);
}

static void test_stuck(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mode == 'd'\"}]") TAIL(COLD));
    assert_string_equal(w.line->finding, "STUCK");
    assert_int_equal(w.r->nfindings, 1); /* and nothing else is said of a state that is lost anyway */
    ward_finds(&w, "STUCK", "hot=true mode=d", "");
    assert_true(il_str_eq(w.line->detail, IL_STR("from hot=true mode=d")));
    assert_int_equal(w.r->strength, IL_RECOVERY_NONE);
    assert_false(w.r->robust);
    machine_free(&w.c);
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"false\"}") REPAIR(
                     "home", "next: {mode: \"'a'\"}, reject: [{as: busy, if: \"pre.hot || pre.mode == 'c'\"}]") TAIL(HOME));
    ward_finds(&w, "STUCK", "hot=true mode=c", "cool");
    machine_free(&w.c);
}

static void test_diverges(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : pre.mode == 'c' ? 'b' : pre.mode\"}")
                     REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mode != 'd'\"}]") TAIL(COLD));
    assert_string_equal(w.line->finding, "DIVERGES");
    ward_finds(&w, "DIVERGES", "hot=true mode=b", "turn turn");
    assert_int_equal(w.r->nfindings, 1);
    machine_free(&w.c);
    /* stuck in `d`, round in `b` and `c`: one finding does not hide the other */
    ward_run(&w, HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : pre.mode == 'c' ? 'b' : pre.mode\"}") TAIL(COLD));
    assert_string_equal(w.line->finding, "STUCK");
    ward_finds(&w, "STUCK", "hot=true mode=d", "");
    ward_finds(&w, "DIVERGES", "hot=true mode=b", "turn turn");
    assert_true(il_str_eq(w.line->detail, IL_STR("from hot=true mode=d; also DIVERGES")));
    machine_free(&w.c);
}

#define OTHER_REGION                                                                                                      \
    "regions:\n  hot-here: {never: \"pre.hot && pre.mode != 'a'\"}\n  high: {never: \"pre.mark == 'high' && pre.mode == " \
    "'a'\"}\n"                                                                                                            \
    "  goal: {gated: \"" COLD "\", by: [heat]}\ncontract: {rules: [hot-here, busy]}\n"

static void test_unsafe(void **state) {
    (void)state;
    ward w;
    /* into another region */
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"false\", mode: \"'a'\"}") OTHER_REGION);
    assert_string_equal(w.line->finding, "RECOVERY_UNSAFE");
    ward_finds(&w, "RECOVERY_UNSAFE", "hot=true mode=b mark=high", "cool");
    machine_free(&w.c);
    /* out of the region, and into it again */
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"pre.mark == 'low'\", mark: \"pre.mark == 'none' ? 'low' : 'high'\"},"
                                     " reject: [{as: busy, if: \"pre.mark == 'high'\"}]") TAIL("!pre.hot && pre.mark == 'high'"));
    ward_finds(&w, "RECOVERY_UNSAFE", "hot=true mode=b", "cool cool");
    machine_free(&w.c);
    /* the step itself is forbidden */
    ward_run(
        &w,
        HEAD REPAIR(
            "cool",
            "next: {hot: \"false\"}") "regions:\n  hot-here: {never: \"pre.hot && pre.mode != 'a'\"}\n"
                                      "  abrupt: {never: \"pre.mode == 'd' && !next.hot\", edge: [cool]}\n  goal: {gated: \"" COLD
                                      "\", by: [heat]}\ncontract: {rules: [hot-here, busy]}\n");
    ward_finds(&w, "RECOVERY_UNSAFE", "hot=true mode=d", "cool");
    machine_free(&w.c);
}

static void test_restores_compromise(void **state) {
    (void)state;
    static const char text[] =
        HEAD REPAIR("cool", "next: {hot: \"false\", mark: \"pre.mark == 'high' ? 'low' : pre.mark\"}") TAIL(COLD);
    ward w;
    ward_open(&w, text, "mark", NULL);
    ward_judge(&w, NULL);
    assert_string_equal(w.line->finding, "RESTORES_COMPROMISE");
    ward_finds(&w, "RESTORES_COMPROMISE", "hot=true mode=b mark=high", "cool");
    machine_free(&w.c);
    ward_open(&w, text, NULL, "mark");
    ward_judge(&w, NULL);
    ward_finds(&w, "RESTORES_COMPROMISE", "hot=true mode=b mark=high", "cool");
    machine_free(&w.c);
    ward_open(&w, text, NULL, NULL); /* a variable that may be lowered */
    ward_judge(&w, NULL);
    ward_passes(&w, IL_RECOVERY_STRONG, 1, false);
    machine_free(&w.c);
}

#define OTHER(name, who, rest) "  " name ": {principal: " who ", gate: true, " rest "}\n"

static void test_fragile(void **state) {
    (void)state;
    ward w;
    /* two steps home, and the agent undoes the first: whatever is repaired, it is never finished */
#define TWO_STEPS                              \
    REPAIR("turn", "next: {mark: \"'high'\"}") \
    REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mark != 'high'\"}]")
    ward_run(&w, HEAD TWO_STEPS OTHER("undo", "agent",
                                      "next: {mark: \"'low'\"}, reject: [{as: busy, if: \"pre.mark != 'high'\"}]") TAIL(COLD));
    assert_string_equal(w.line->finding, "FRAGILE");
    assert_int_equal(w.r->strength, IL_RECOVERY_STRONG);
    ward_finds(&w, "FRAGILE", "hot=true mode=b", "turn undo");
    machine_free(&w.c);
    /* a human who does the same */
    ward_run(&w, HEAD TWO_STEPS OTHER("undo", "human", "next: {mark: \"'none'\"}") TAIL(COLD));
    ward_finds(&w, "FRAGILE", "hot=true mode=b", "turn undo");
    machine_free(&w.c);
    /* others only delay: from `low` it takes a step more, once */
    ward_run(&w, HEAD REPAIR("turn", "next: {mark: \"pre.mark == 'none' ? 'low' : 'high'\"}")
                     REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mark == 'none'\"}]")
                         OTHER("delay", "agent",
                               "next: {mode: \"pre.mode == 'b' ? 'c' : pre.mode == 'c' ? 'd' : 'b'\"}, reject: [{as: "
                               "busy, if: \"pre.mode == 'a'\"}]") TAIL(COLD));
    ward_passes(&w, IL_RECOVERY_STRONG, 3, false);
    assert_int_equal(w.r->interleaved, 2);
    machine_free(&w.c);
    /* into a state from which nothing repairs */
    ward_run(
        &w,
        HEAD REPAIR("turn", "next: {mark: \"pre.mark == 'none' ? 'low' : pre.mark\"}") REPAIR(
            "cool",
            "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mark == 'none' || pre.mode == 'd' && pre.mark == 'low'\"}]")
            REPAIR("help", "next: {mode: \"'c'\"}, reject: [{as: busy, if: \"pre.mode != 'd' || pre.mark != 'none'\"}]")
                OTHER("lose", "env", "next: {mode: \"'d'\"}, reject: [{as: busy, if: \"pre.mark != 'low' || !pre.hot\"}]")
                    TAIL(COLD));
    assert_true(w.r->nfindings >= 1);
    ward_finds(&w, "FRAGILE", "hot=true mode=b", "turn lose");
    machine_free(&w.c);
}

/* While it is repaired an agent leads it into the region anew. */
static void test_fragile_entering(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"false\"}")
                     REPAIR("home", "next: {mode: \"'a'\"}, reject: [{as: busy, if: \"pre.hot\"}]")
                         OTHER("burn", "agent",
                               "next: {hot: \"true\"}, reject: [{as: busy, if: \"pre.mark != 'low'\"}, {as: hot-here, if: "
                               "\"pre.mark == 'none'\"}]") TAIL(HOME));
    ward_finds(&w, "FRAGILE", "hot=true mode=b mark=low", "cool burn");
    machine_free(&w.c);
}

/* The shipped machine: quarantine must be legal while calls are in flight, and must hold. */
static void test_in_flight(void **state) {
    (void)state;
    machine_case c;
    const machine_edit refused[] = {
        {"next: {phase: \"'quarantined'\", open: \"false\", asked: \"0\", granted: \"0\"}",
         "next: {phase: \"'quarantined'\", open: \"false\", asked: \"0\", granted: \"0\"}\n    reject: [{as: "
         "busy, if: \"pre.flight\"}]"},
        {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, refused, 0);
    const il_check *k = machine_check(&c, "recovery", NULL);
    assert_int_equal(k->verdict, IL_CHECK_FAIL);
    assert_int_equal(c.h.recovery.flight, IL_RECOVERY_NOT_LEGAL);
    assert_string_equal(c.h.recovery.findings[c.h.recovery.nfindings - 1].word, "NOT_LEGAL_IN_FLIGHT");
    machine_free(&c);
    const machine_edit thaws[] = {{"  request:\n    principal: agent\n    live: true", "  request:\n    principal: agent"},
                                  {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, thaws, 0);
    k = machine_check(&c, "recovery", NULL);
    assert_string_equal(k->finding, "NOT_LEGAL_IN_FLIGHT"); /* what is frozen still moves */
    assert_true(c.h.recovery.robust);                       /* though it ends all the same */
    machine_free(&c);
}

static void test_fault(void **state) {
    (void)state;
    ward w;
    static const char text[] =
        "machine: ward\nversion: 1\nvars: {hot: bool, heat_of: {int: 0..2, overflow: error}}\nactions:\n"
        "  heat: {principal: agent, gate: true, call: {up: bool}, next: {hot: \"call.up\"}, reject: [{as: hot-here, if: "
        "\"next.hot && pre.heat_of > 0\"}]}\n" REPAIR(
            "cool", "next: {hot: \"pre.heat_of > 1\", heat_of: \"pre.heat_of + 1\"}") "regions:\n  hot-here: {never: \"pre.hot "
                                                                                      "&& pre.heat_of > 0\"}\n  goal: {gated: "
                                                                                      "\"!pre.hot\", by: [heat]}\n"
                                                                                      "contract: {rules: [hot-here]}\n";
    ward_run(&w, text);
    assert_string_equal(w.line->finding, "FAULT");
    ward_finds(&w, "FAULT", "hot=true heat_of=2", "cool");
    ward_finds(&w, "STUCK", "hot=true heat_of=2", "");
    machine_free(&w.c);
}

static void test_nothing_to_recover_from(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("cool", "next: {hot: \"false\"}") "regions:\n  hot-here: {never: \"pre.hot && pre.mode != 'a' && "
                                                               "next.hot\", edge: [heat]}\n  goal: {gated: \"" COLD
                                                               "\", by: [heat]}\ncontract: {rules: [hot-here, busy]}\n");
    assert_int_equal(w.line->verdict, IL_CHECK_VACUOUS);
    assert_string_equal(w.line->finding, "NO_DANGER_STATE");
    machine_free(&w.c);
    ward_run(&w, HEAD "regions:\n  hot-here: {never: \"pre.hot && pre.mode != 'a'\"}\ncontract: {rules: [hot-here, busy]}\n");
    assert_null(w.line); /* no goal, no `ended`: the machine declares no recovery */
    machine_free(&w.c);
}

#define WEAK_TEXT                                                                                                \
    HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : 'b'\"}, reject: [{as: busy, if: \"!pre.hot\"}]") \
        REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mode != 'b'\"}]") TAIL(COLD)

/* A bound is never a pass: of states, of bytes. */
static void test_bounds(void **state) {
    (void)state;
    const il_space_bounds bounds[] = {{.states = 1}, {.states = 5}, {.bytes = 64}, {.bytes = 600}, {.bytes = 1500}};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        ward w;
        ward_open(&w, WEAK_TEXT, NULL, NULL);
        ward_judge(&w, &bounds[i]);
        assert_int_equal(w.c.status, IL_OK);
        assert_int_equal(w.line->verdict, IL_CHECK_INCONCLUSIVE);
        assert_true(w.line->bound_hit);
        assert_true(w.c.h.bounded);
        assert_null(w.line->finding);
        machine_free(&w.c);
    }
}

/* Beyond the bound for the product: what is reached, with one write of any variable. */
static void test_reachable(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 1900);
    const il_check *k = machine_check(&c, "recovery", NULL);
    assert_int_equal(k->verdict, IL_CHECK_INCONCLUSIVE); /* of all danger states it would have been asked without the bound */
    assert_true(k->bound_hit);
    assert_int_equal(c.h.recovery.scope, IL_RECOVERY_REACHABLE);
    assert_int_equal(c.h.recovery.strength, IL_RECOVERY_STRONG);
    assert_true(c.h.recovery.danger > 0 && c.h.recovery.danger < 648);
    machine_free(&c);
    ward w;
    const il_space_bounds bounds = {.states = 23}; /* the product has 24 */
    ward_open(&w, HEAD REPAIR("cool", "next: {hot: \"false\"}, reject: [{as: busy, if: \"pre.mode == 'd'\"}]") TAIL(COLD), NULL,
              NULL);
    ward_judge(&w, &bounds);
    assert_int_equal(w.r->scope, IL_RECOVERY_REACHABLE);
    ward_finds(&w, "STUCK", "hot=true mode=d", "");
    machine_free(&w.c);
}

static void test_object(void **state) {
    (void)state;
    ward w;
    ward_run(&w, HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : pre.mode == 'c' ? 'b' : pre.mode\"}") TAIL(COLD));
    il_json *o = il_recovery_object(w.c.m, w.r, &w.c.arena);
    assert_non_null(o);
    const il_json *list = il_json_get(o, IL_STR("findings"));
    assert_int_equal(il_json_count(list), 2);
    assert_true(il_str_eq(il_json_text(il_json_get(il_json_first(list), IL_STR("finding"))), IL_STR("STUCK")));
    const il_json *round = il_json_get(il_json_next(il_json_first(list)), IL_STR("witness"));
    assert_true(il_str_eq(il_json_text(il_json_get(il_json_get(round, IL_STR("from")), IL_STR("mode"))), IL_STR("b")));
    assert_int_equal(il_json_count(il_json_get(round, IL_STR("steps"))), 2);
    assert_true(il_str_eq(il_json_text(il_json_get(o, IL_STR("strength"))), IL_STR("NONE")));
    assert_true(il_str_eq(il_json_text(il_json_get(o, IL_STR("result"))), IL_STR("containment")));
    machine_free(&w.c);
}

/* Whatever allocation fails: an error of memory or the same answer, and nothing is lost. */
static void test_memory_fails(void **state) {
    (void)state;
    static const char *const texts[] = {
        WEAK_TEXT, HEAD REPAIR("turn", "next: {mode: \"pre.mode == 'b' ? 'c' : pre.mode == 'c' ? 'b' : pre.mode\"}") TAIL(COLD)};
    for (size_t t = 0; t < 2; t++) {
        bool done = false;
        for (size_t left = 0; !done; left++) {
            assert_true(left < 2000);
            ward w;
            ward_open(&w, texts[t], NULL, NULL);
            assert_int_equal(il_subject_init(&w.c.h.subject, &w.c.memory.alloc, &w.c.arena, w.c.m, NULL, &w.c.err), IL_OK);
            w.c.hardened = true;
            w.c.memory.left = left;
            w.c.status = il_check_recovery(&w.c.h, &w.c.err);
            done = !w.c.memory.failed;
            w.c.memory.left = SIZE_MAX;
            if (w.c.status == IL_OK) {
                assert_int_equal(w.c.h.checks->verdict, t == 0 ? IL_CHECK_PASS : IL_CHECK_FAIL);
            } else {
                assert_int_equal(w.c.status, IL_E_MEMORY);
            }
            machine_free(&w.c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strong),
        cmocka_unit_test(test_weak),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_diverges),
        cmocka_unit_test(test_unsafe),
        cmocka_unit_test(test_restores_compromise),
        cmocka_unit_test(test_fragile),
        cmocka_unit_test(test_fragile_entering),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_nothing_to_recover_from),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_reachable),
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
