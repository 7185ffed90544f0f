/* SPDX-License-Identifier: Apache-2.0 */
/* Speed of the engine: one step of the shipped machine, and the exploration of machines too large for a table.
 *
 *     bench_engine           prints `name value unit`, a line each
 *     bench_engine steps N   takes N steps and prints nothing: what an instruction counter runs
 *
 * A walk starts at the initial state again every 16 steps and takes symbols at random, so that it meets accepted and rejected steps alike and
 * each step needs the one before it. What the loop itself costs is measured with the step left out, and subtracted. The least of several
 * rounds counts: on a shared machine everything else only adds. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/view.h"
#include "interlock/host.h"
#include "interlock/machine.h"
#include "host/shipped.h"

enum { BENCH_SYMBOLS = 1 << 20, BENCH_WALK = 16, BENCH_ROUNDS = 15 };

typedef struct bench_walk {
    const il_machine *m;
    uint16_t symbols[BENCH_SYMBOLS]; /* more than a branch predictor can learn */
    uint64_t accepted, steps; /* of one round */
} bench_walk;

static double bench_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void bench_walk_init(bench_walk *w, const il_machine *m) {
    uint64_t x = 88172645463325252u;
    w->m = m;
    for (uint32_t i = 0; i < BENCH_SYMBOLS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        w->symbols[i] = (uint16_t)((x >> 20) % il_machine_symbols(m));
    }
}

/* Both loops keep the state in one chain, so that neither can be reordered away. */
static uint64_t bench_steps(bench_walk *w, uint64_t n) {
    uint64_t accepted = 0, sum = 0;
    for (uint64_t i = 0; i < n; i += BENCH_WALK) {
        uint64_t state = il_machine_initial(w->m);
        for (uint32_t k = 0; k < BENCH_WALK; k++) {
            il_step s = il_machine_step(w->m, state, w->symbols[(i + k) % BENCH_SYMBOLS]);
            accepted += s.verdict == IL_ACCEPT;
            state = s.next;
        }
        sum += state;
    }
    w->accepted = accepted;
    w->steps = n;
    return sum;
}

static uint64_t bench_empty(bench_walk *w, uint64_t n) {
    uint64_t accepted = 0, sum = 0;
    for (uint64_t i = 0; i < n; i += BENCH_WALK) {
        uint64_t state = il_machine_initial(w->m);
        for (uint32_t k = 0; k < BENCH_WALK; k++) {
            uint64_t next = state + w->symbols[(i + k) % BENCH_SYMBOLS];
            __asm__ volatile("" : "+r"(next));
            accepted += next == IL_ACCEPT;
            state = next;
        }
        sum += state;
    }
    w->accepted = accepted;
    return sum;
}

static double bench_least(bench_walk *w, uint64_t (*run)(bench_walk *w, uint64_t n), uint64_t n) {
    double least = 1e30;
    volatile uint64_t sink = 0;
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        double start = bench_now();
        sink = run(w, n);
        double took = bench_now() - start;
        least = took < least ? took : least;
    }
    (void)sink;
    return least / (double)n;
}

static il_machine *bench_machine(void) {
    il_machine *m = NULL;
    il_error err = {0};
    if (il_host_machine(il_host_alloc(), (il_str){"trifecta", 8}, &m, &err) != IL_OK) {
        (void)fprintf(stderr, "bench_engine: %s\n", err.msg);
        exit(1);
    }
    return m;
}

int main(int argc, char **argv) {
    static bench_walk w;
    il_machine *m = bench_machine();
    bench_walk_init(&w, m);
    if (argc == 3 && strcmp(argv[1], "steps") == 0) {
        volatile uint64_t sink = bench_steps(&w, strtoull(argv[2], NULL, 10));
        (void)sink;
        il_machine_free(m);
        return 0;
    }
    const uint64_t n = UINT64_C(1) << 21;
    double empty = bench_least(&w, bench_empty, n);
    double step = bench_least(&w, bench_steps, n);
    (void)printf("step %.2f ns\n", step - empty);
    (void)printf("step_loop %.2f ns\n", empty);
    (void)printf("step_accepted %.1f %%\n", 100.0 * (double)w.accepted / (double)w.steps);
    il_machine_free(m);
    return 0;
}
