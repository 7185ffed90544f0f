/* SPDX-License-Identifier: Apache-2.0 */
/* Speed of the engine: one step of the shipped machine, and the exploration of machines too large for a table.
 *
 *     bench_engine                prints `name value unit`, a line each; run from the source's root
 *     bench_engine large          explores 2^24 states, with one thread and with two
 *     bench_engine steps|loop N   takes N steps, or only the loop, and prints nothing: what an instruction counter runs
 *
 * A walk starts at the initial state again every 16 steps and takes symbols at random, so that it meets accepted and rejected steps alike and
 * each step needs the one before it. What the loop itself costs is measured with the step left out, and subtracted. The least of several
 * rounds counts: on a shared machine everything else only adds. Of an exploration it is the median. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "check/view.h"
#include "host/file.h"
#include "host/shipped.h"
#include "interlock/host.h"
#include "interlock/machine.h"

enum { BENCH_SYMBOLS = 1 << 20, BENCH_WALK = 16, BENCH_ROUNDS = 15 };

typedef struct bench_walk {
    const il_machine *m;
    uint16_t symbols[BENCH_SYMBOLS]; /* more than a branch predictor can learn */
    uint64_t accepted, steps;        /* of one round */
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

typedef struct bench_explored {
    double rate, seconds;
    uint32_t states;
    uint64_t edges;
} bench_explored;

/* Every state by the guards; tables and index made anew. */
static bench_explored bench_explore_once(const char *path, uint32_t workers) {
    il_arena arena;
    il_error err = {0};
    il_json *doc = NULL;
    il_model *m = NULL;
    il_subject subject = {0};
    il_space space = {0};
    const il_space_bounds bounds = {.workers = workers};
    il_arena_init(&arena, il_host_alloc(), (size_t)1 << 30);
    if (il_file_document(&arena, path, IL_FILE_DATA, &doc, &err) != IL_OK || il_model_load(&arena, doc, &m, &err) != IL_OK) {
        (void)fprintf(stderr, "bench_engine: %s:%u:%u: %s\n", path, (unsigned)err.line, (unsigned)err.col, err.msg);
        exit(1);
    }
    double start = bench_now();
    il_status status = il_subject_init(&subject, il_host_alloc(), &arena, m, &bounds, &err);
    il_view view = {.subject = &subject, .regions = subject.never};
    if (status != IL_OK || il_view_explore(&view, &space, &err) != IL_OK || space.bound_hit || space.hits[0].found) {
        (void)fprintf(stderr, "bench_engine: %s: not explored as it should be %s\n", path, err.msg);
        exit(1);
    }
    bench_explored x = {.seconds = (bench_now() - start) / 1e9, .states = space.n, .edges = space.edges};
    x.rate = (double)x.states / x.seconds;
    il_space_free(&space);
    il_subject_free(&subject);
    il_arena_free(&arena);
    return x;
}

static int bench_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* The median of five rounds, with one thread and with two in turn. */
static void bench_explore(const char *name, const char *path) {
    enum { ROUNDS = 5 };
    double one[ROUNDS], two[ROUNDS];
    bench_explored x = {0};
    for (int round = 0; round < ROUNDS; round++) {
        x = bench_explore_once(path, 1);
        one[round] = x.rate;
        two[round] = bench_explore_once(path, 2).rate;
    }
    qsort(one, ROUNDS, sizeof one[0], bench_compare);
    qsort(two, ROUNDS, sizeof two[0], bench_compare);
    (void)printf("explore_%s %.0f states/s\n", name, one[ROUNDS / 2]);
    (void)printf("explore_%s_two %.0f states/s\n", name, two[ROUNDS / 2]);
    (void)printf("explore_%s_states %u states\n", name, (unsigned)x.states);
    (void)printf("explore_%s_successors %.2f a state\n", name, (double)x.edges / x.states);
}

/* 2^24 states: how long, and the most memory that the process ever had; then how long with two threads. */
static void bench_large(void) {
    const bench_explored x = bench_explore_once("bench/machines/large.yaml", 1);
    struct rusage use = {0};
    (void)getrusage(RUSAGE_SELF, &use);
    (void)printf("explore_large_states %u states\n", (unsigned)x.states);
    (void)printf("explore_large %.2f s\n", x.seconds);
    (void)printf("explore_large_memory %.1f MiB\n", (double)use.ru_maxrss / 1024);
    (void)printf("explore_large_two %.2f s\n", bench_explore_once("bench/machines/large.yaml", 2).seconds);
}

/* Instructions of one step, by cachegrind: what N steps take more than none, less the loop. Nothing is printed without valgrind. */
static double bench_refs(const char *self, const char *what, unsigned n) {
    char command[512];
    char line[256];
    double refs = -1;
    (void)snprintf(command, sizeof command,
                   "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null '%s' %s %u 2>&1", self, what, n);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, "refs:");
        double value = 0;
        for (at = at ? at + 5 : ""; *at; at++) {
            value = *at >= '0' && *at <= '9' ? value * 10 + (*at - '0') : value;
        }
        refs = strstr(line, "refs:") ? value : refs;
    }
    return f && pclose(f) == 0 ? refs : -1;
}

int main(int argc, char **argv) {
    static bench_walk w;
    il_machine *m = bench_machine();
    bench_walk_init(&w, m);
    if (argc == 3) {
        uint64_t most = strtoull(argv[2], NULL, 10);
        volatile uint64_t sink = strcmp(argv[1], "steps") == 0 ? bench_steps(&w, most) : bench_empty(&w, most);
        (void)sink;
        il_machine_free(m);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "large") == 0) {
        il_machine_free(m);
        bench_large();
        return 0;
    }
    const uint64_t n = UINT64_C(1) << 21;
    double empty = bench_least(&w, bench_empty, n);
    double step = bench_least(&w, bench_steps, n);
    (void)printf("step %.2f ns\n", step - empty);
    (void)printf("step_loop %.2f ns\n", empty);
    (void)printf("step_accepted %.1f %%\n", 100.0 * (double)w.accepted / (double)w.steps);
    enum { COUNTED = 1 << 18 };
    double refs = bench_refs(argv[0], "steps", COUNTED);
    if (refs > 0) {
        (void)printf("step_instructions %.1f instructions\n", (refs - bench_refs(argv[0], "loop", COUNTED)) / COUNTED);
    }
    il_machine_free(m);
    bench_explore("few", "bench/machines/few.yaml");
    bench_explore("many", "bench/machines/many.yaml");
    return 0;
}
