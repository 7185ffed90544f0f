/* SPDX-License-Identifier: Apache-2.0 */
/* The twin plant against brute force: random small machines, every pair of runs of equal observation followed naively, step by step, beyond the
 * number of pairs that there are. And its witnesses, replayed by the evaluator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/twin.h"
#include "helper_machine.h"

enum { MACHINES = 8000, STATES = 32, EDGES = 24, TEXT = 8192 };

/* A generator of its own: the same machines everywhere. */
static uint32_t draw(uint64_t *seed, uint32_t n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % n);
}
static const char *pick(uint64_t *seed, const char *const *words, uint32_t n) { return words[draw(seed, n)]; }

static const char *const truths[] = {"true",           "false",          "!pre.a",         "!pre.c",
                                     "pre.a",          "pre.c",          "pre.b == 'p'",   "pre.b != 'r'",
                                     "pre.a || pre.c", "pre.a && pre.c", "pre.a != pre.c", "pre.b == 'q' || pre.a"};
static const char *const words_of_b[] = {"'p'",
                                         "'q'",
                                         "'r'",
                                         "pre.b",
                                         "pre.a ? 'q' : pre.b",
                                         "pre.b == 'p' ? 'q' : 'r'",
                                         "pre.c ? 'r' : 'p'",
                                         "pre.b == 'q' ? 'r' : pre.b"};
static const char *const regions[] = {"pre.a && pre.c", "pre.b == 'r' && pre.a", "pre.b == 'q'", "pre.c && pre.b != 'p'",
                                      "pre.a"};
#define PICK(seed, list) pick((seed), (list), sizeof(list) / sizeof(list)[0])

static void write_updates(char *out, size_t cap, uint64_t *seed) {
    size_t n = (size_t)snprintf(out, cap, "{");
    const uint32_t which = 1 + draw(seed, 7); /* at least one */
    if (which & 1) {
        n += (size_t)snprintf(out + n, cap - n, "a: \"%s\", ", PICK(seed, truths));
    }
    if (which & 2) {
        n += (size_t)snprintf(out + n, cap - n, "b: \"%s\", ", PICK(seed, words_of_b));
    }
    if (which & 4) {
        n += (size_t)snprintf(out + n, cap - n, "c: \"%s\", ", PICK(seed, truths));
    }
    (void)snprintf(out + n - 2, cap - n + 2, "}");
}

static void write_machine(char *out, size_t cap, uint64_t seed) {
    char updates[256];
    size_t n = (size_t)snprintf(out, cap, "machine: drawn\nversion: 1\nvars:\n  a: bool\n  b: [p, q, r]\n  c: bool\nactions:\n");
    const uint32_t nactions = 1 + draw(&seed, 4);
    for (uint32_t i = 0; i < nactions; i++) {
        write_updates(updates, sizeof updates, &seed);
        n += (size_t)snprintf(out + n, cap - n, "  act%u:\n    principal: agent\n    observable: %s\n    next: %s\n", (unsigned)i,
                              draw(&seed, 4) == 0 ? "false" : "true", updates);
        if (i == 0 || draw(&seed, 2)) {
            n += (size_t)snprintf(out + n, cap - n, "    reject: [{as: one, if: \"%s\"}, {as: two, if: \"%s\"}]\n",
                                  PICK(&seed, truths), PICK(&seed, truths));
        }
    }
    n += (size_t)snprintf(out + n, cap - n, "regions: {hot: {never: \"%s\"}}\ncontract: {rules: [one, two]}\ndiagnosis:\n",
                          PICK(&seed, regions));
    const uint32_t sees = draw(&seed, 8);
    n += (size_t)snprintf(out + n, cap - n,
                          "  sees: [%s%s%s]\n  verdicts: %s\n  sensors: {nose: \"%s\"}\n  uses: [%s]\n  faults:\n",
                          sees & 1 ? "a" : "", sees & 2 ? (sees & 1 ? ", b" : "b") : "", sees & 4 ? (sees & 3 ? ", c" : "c") : "",
                          draw(&seed, 3) ? "true" : "false", PICK(&seed, truths), draw(&seed, 3) ? "" : "nose");
    const uint32_t nfaults = 1 + draw(&seed, 2);
    for (uint32_t i = 0; i < nfaults; i++) {
        write_updates(updates, sizeof updates, &seed);
        n += (size_t)snprintf(out + n, cap - n, "    bug%u: {when: \"%s\", next: %s}\n", (unsigned)i, PICK(&seed, truths),
                              updates);
    }
}

/* One thing that a run can do in a state, and what is seen of it. */
typedef struct brute_edge {
    uint64_t next;
    bool fault, moves, silent;
    int64_t symbol, verdict, reason; /* as seen: -1 for what is not */
    uint64_t before, after;          /* views */
} brute_edge;
typedef struct brute {
    const il_model *m;
    il_eye eye;
    uint32_t nstates;
    uint64_t states[STATES];
    bool in[STATES];
    uint32_t nedges[STATES];
    brute_edge edges[STATES][EDGES];
    bool now;
} brute;

static uint32_t brute_place(brute *b, uint64_t state) {
    for (uint32_t i = 0; i < b->nstates; i++) {
        if (b->states[i] == state) {
            return i;
        }
    }
    assert_true(b->nstates < STATES);
    b->states[b->nstates] = state;
    b->in[b->nstates] = il_model_in_region(b->m, 0, state, 0, 0);
    return b->nstates++;
}

static void brute_edges(brute *b, uint32_t i) {
    const il_model *m = b->m;
    const uint64_t state = b->states[i];
    const uint64_t view = il_diagnosis_view(m, b->eye.sees, b->eye.uses, state);
    for (uint32_t s = 0; s < m->nsymbols; s++) {
        const il_step step = il_model_eval(m, NULL, state, s).step;
        const bool hidden = m->actions[il_model_action_of(m, s)].hidden;
        brute_edge e = {.next = step.next, .moves = step.verdict == IL_ACCEPT, .symbol = -1, .verdict = -1, .reason = -1};
        assert_int_not_equal(step.verdict, IL_FAULT);
        e.before = view;
        e.after = il_diagnosis_view(m, b->eye.sees, b->eye.uses, step.next);
        if (!hidden) {
            e.symbol = s;
            e.verdict = b->eye.verdicts ? step.verdict : -1;
            e.reason = b->eye.verdicts ? step.reason : -1;
        }
        e.silent = hidden && e.before == e.after;
        assert_true(b->nedges[i] < EDGES);
        b->edges[i][b->nedges[i]++] = e;
    }
    for (uint32_t f = 0; f < m->diagnosis->nsilent; f++) {
        uint64_t next = 0;
        if (il_silent_step(m, &m->diagnosis->silent[f], state, &next)) {
            brute_edge e = {.next = next, .fault = true, .moves = true, .symbol = -1, .verdict = -1, .reason = -1};
            e.before = view;
            e.after = il_diagnosis_view(m, b->eye.sees, b->eye.uses, next);
            e.silent = e.before == e.after;
            assert_true(b->nedges[i] < EDGES);
            b->edges[i][b->nedges[i]++] = e;
        }
    }
}

static void brute_open(brute *b, const il_model *m, const il_eye *eye) {
    memset(b, 0, sizeof *b);
    b->m = m;
    b->eye = *eye;
    (void)brute_place(b, m->initial);
    for (uint32_t i = 0; i < b->nstates; i++) {
        brute_edges(b, i);
        for (uint32_t k = 0; k < b->nedges[i]; k++) {
            (void)brute_place(b, b->edges[i][k].next);
        }
    }
}

typedef struct brute_set {
    bool at[2][STATES][STATES]; /* latch, x, y */
    uint32_t n;
} brute_set;

static bool brute_ambiguous(const brute *b, uint32_t f, uint32_t x, uint32_t y) {
    return b->now ? b->in[x] && !b->in[y] : f != 0;
}

static bool same_sight(const brute_edge *a, const brute_edge *b) {
    return a->symbol == b->symbol && a->verdict == b->verdict && a->reason == b->reason && a->before == b->before &&
           a->after == b->after;
}

typedef enum brute_want { ANY, X_WAITS, X_MOVES, UNSEEN, SEEN } brute_want;

static void brute_put(brute *b, brute_set *to, uint32_t f, uint32_t x, uint32_t y, bool only_ambiguous) {
    if ((!only_ambiguous || brute_ambiguous(b, f, x, y)) && !to->at[f][x][y]) {
        to->at[f][x][y] = true;
        to->n++;
    }
}

/* Adds to `to` what one pair can become. */
static void brute_pair(brute *b, brute_set *to, uint32_t f, uint32_t x, uint32_t y, brute_want want, bool only_ambiguous) {
    for (uint32_t i = 0; i <= b->nedges[x]; i++) { /* the last: x waits */
        const brute_edge *e = i < b->nedges[x] ? &b->edges[x][i] : NULL;
        for (uint32_t j = 0; j <= b->nedges[y]; j++) {
            const brute_edge *g = j < b->nedges[y] ? &b->edges[y][j] : NULL;
            const bool alone = (!e && g && g->silent) || (!g && e && e->silent);
            const bool together = e && g && !e->silent && !g->silent && same_sight(e, g);
            if (!alone && !together) {
                continue;
            }
            const bool moves = e && e->moves;
            const uint32_t x2 = e ? brute_place(b, e->next) : x;
            const uint32_t y2 = g ? brute_place(b, g->next) : y;
            if (g && !b->now && (g->fault || b->in[y2])) {
                continue; /* y has no faults and stays outside */
            }
            if ((want == X_WAITS && moves) || (want == X_MOVES && !moves) || (want == UNSEEN && together && moves) ||
                (want == SEEN && !(together && moves))) {
                continue;
            }
            /* a step that moves neither, such as a rejected call, changes nothing and is followed too */
            brute_put(b, to, b->now ? 0 : (f || (moves && b->in[x2])), x2, y2, only_ambiguous);
        }
    }
}

static void brute_close(brute *b, brute_set *s, brute_want want, bool only_ambiguous) {
    for (uint32_t before = UINT32_MAX; before != s->n;) {
        before = s->n;
        for (uint32_t f = 0; f < 2; f++) {
            for (uint32_t x = 0; x < b->nstates; x++) {
                for (uint32_t y = 0; y < b->nstates; y++) {
                    if (s->at[f][x][y]) {
                        brute_pair(b, s, f, x, y, want, only_ambiguous);
                    }
                }
            }
        }
    }
}

/* The longest that ambiguity can last, in steps of the wanted kind; UINT32_MAX for ever. */
static uint32_t brute_lasts(brute *b, const brute_set *reached, brute_want stays, brute_want steps) {
    static brute_set at, next;
    memset(&at, 0, sizeof at);
    for (uint32_t f = 0; f < 2; f++) {
        for (uint32_t x = 0; x < b->nstates; x++) {
            for (uint32_t y = 0; y < b->nstates; y++) {
                if (reached->at[f][x][y]) {
                    brute_put(b, &at, f, x, y, true);
                }
            }
        }
    }
    const uint32_t limit = 2 * b->nstates * b->nstates + 2;
    for (uint32_t n = 0; n < limit; n++) {
        if (at.n == 0) {
            return n; /* after n - 1 steps it was still ambiguous */
        }
        brute_close(b, &at, stays, true);
        memset(&next, 0, sizeof next);
        for (uint32_t f = 0; f < 2; f++) {
            for (uint32_t x = 0; x < b->nstates; x++) {
                for (uint32_t y = 0; y < b->nstates; y++) {
                    if (at.at[f][x][y]) {
                        brute_pair(b, &next, f, x, y, steps, true);
                    }
                }
            }
        }
        at = next;
    }
    return UINT32_MAX;
}

typedef struct brute_result {
    il_twin_word word;
    uint32_t k, events;
} brute_result;

static brute_result brute_run(brute *b, bool now) {
    static brute_set reached;
    brute_result r = {0};
    bool entered = false;
    b->now = now;
    memset(&reached, 0, sizeof reached);
    for (uint32_t i = 0; i < b->nstates; i++) {
        entered = entered || b->in[i];
    }
    if (!entered || (!now && b->in[0])) {
        r.word = IL_TWIN_UNENTERED;
        return r;
    }
    brute_put(b, &reached, 0, 0, 0, false);
    brute_close(b, &reached, ANY, false);
    for (uint32_t f = 0; f < 2; f++) {
        for (uint32_t x = 0; x < b->nstates; x++) {
            bool stops = true; /* where no call is accepted: a fault may come, and need not */
            for (uint32_t k = 0; k < b->nedges[x]; k++) {
                stops = stops && (!b->edges[x][k].moves || b->edges[x][k].fault);
            }
            for (uint32_t y = 0; stops && y < b->nstates; y++) {
                if (reached.at[f][x][y] && brute_ambiguous(b, f, x, y)) {
                    r.word = IL_TWIN_BLIND;
                }
            }
        }
    }
    r.k = brute_lasts(b, &reached, X_WAITS, X_MOVES);
    if (r.word == IL_TWIN_BLIND || r.k == UINT32_MAX) {
        r.word = IL_TWIN_BLIND;
        return r;
    }
    r.word = IL_TWIN_DIAGNOSABLE;
    r.events = brute_lasts(b, &reached, UNSEEN, SEEN);
    return r;
}

/* Every step of a witness is one that its run can do, shows the same in both, and leads on. */
static void replay(brute *b, const il_twin *t, uint64_t seed, bool now) {
    uint64_t x = b->m->initial, y = b->m->initial;
    bool loop_moves = false;
    for (uint32_t i = 0; i < t->nsteps; i++) {
        const il_twin_step *s = &t->steps[i];
        assert_int_equal(s->x_pre, x);
        assert_int_equal(s->y_pre, y);
        bool good = false;
        const uint32_t xi = brute_place(b, x), yi = brute_place(b, y);
        for (uint32_t j = 0; j <= b->nedges[xi]; j++) {
            const brute_edge *e = j < b->nedges[xi] ? &b->edges[xi][j] : NULL;
            for (uint32_t k = 0; k <= b->nedges[yi]; k++) {
                const brute_edge *g = k < b->nedges[yi] ? &b->edges[yi][k] : NULL;
                const bool alone = (!e && g && g->silent) || (!g && e && e->silent);
                const bool together = e && g && !e->silent && !g->silent && same_sight(e, g);
                good = good || ((alone || together) && (e ? e->next : x) == s->x_post && (g ? g->next : y) == s->y_post &&
                                (!g || now || !g->fault));
            }
        }
        if (!good) {
            fail_msg("seed %llu: step %u of the witness is none", (unsigned long long)seed, (unsigned)i + 1);
        }
        x = s->x_post;
        y = s->y_post;
        loop_moves = loop_moves || (i >= t->nsteps - t->loop && s->x != IL_TWIN_WAITS);
        if (i + 1 == t->nsteps - t->loop) {
            assert_int_equal(t->word == IL_TWIN_BLIND ? x : t->x, t->x);
        }
    }
    assert_int_equal(x, t->x);
    assert_int_equal(y, t->y);
    assert_true(t->loop == 0 || loop_moves);
}

static void compare(brute *b, const il_plant *p, il_arena *arena, const il_eye *eye, bool now, uint64_t seed, uint32_t count[5]) {
    const il_twin_ask ask = {.eye = *eye, .now = now};
    il_twin t, brief;
    const brute_result want = brute_run(b, now);
    assert_int_equal(il_twin_run(p, &ask, NULL, arena, &t, NULL), IL_OK);
    if (now && want.word == IL_TWIN_UNENTERED && t.word == IL_TWIN_UNENTERED) {
        return;
    }
    if (t.word != want.word || (t.word == IL_TWIN_DIAGNOSABLE && (t.k != want.k || (t.events != want.events)))) {
        fail_msg("seed %llu%s: word %d k %u events %u; by brute force %d, %u, %u", (unsigned long long)seed, now ? " now" : "",
                 (int)t.word, (unsigned)t.k, (unsigned)t.events, (int)want.word, (unsigned)want.k, (unsigned)want.events);
    }
    if (t.nsteps > 0) {
        replay(b, &t, seed, now);
    }
    il_twin_ask quick = ask;
    quick.brief = true;
    assert_int_equal(il_twin_run(p, &quick, NULL, arena, &brief, NULL), IL_OK);
    assert_int_equal(brief.word, t.word);
    assert_int_equal(brief.k, t.k);
    count[t.word]++;
    count[4] += t.word == IL_TWIN_DIAGNOSABLE && t.k > 1;
}

static void test_random(void **state) {
    (void)state;
    static char text[TEXT];
    static brute b;
    uint32_t count[5] = {0};
    uint32_t loaded = 0;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        machine_case c;
        write_machine(text, sizeof text, seed * 7919);
        machine_load_text(&c, text);
        if (c.status != IL_OK) {
            machine_free(&c);
            continue; /* a guard that the checker refuses as never true */
        }
        loaded++;
        const il_eye eye = {.sees = c.m->diagnosis->sees, .uses = c.m->diagnosis->uses, .verdicts = c.m->diagnosis->verdicts};
        il_plant p = {0};
        assert_int_equal(il_plant_build(&p, &c.memory.alloc, c.m, c.m->diagnosis, NULL, NULL, &c.err), IL_OK);
        brute_open(&b, c.m, &eye);
        assert_int_equal(p.states.n, b.nstates);
        compare(&b, &p, &c.arena, &eye, false, seed, count);
        compare(&b, &p, &c.arena, &eye, true, seed, count);
        il_plant_free(&p);
        machine_free(&c);
    }
    print_message("seeds 1 to %d: %u machines; %u not entered, %u diagnosable (%u with k > 1), %u blind\n", MACHINES,
                  (unsigned)loaded, (unsigned)count[IL_TWIN_UNENTERED], (unsigned)count[IL_TWIN_DIAGNOSABLE], (unsigned)count[4],
                  (unsigned)count[IL_TWIN_BLIND]);
    assert_true(loaded > MACHINES / 2);
    assert_true(count[IL_TWIN_DIAGNOSABLE] > 100 && count[IL_TWIN_BLIND] > 100 && count[4] > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
