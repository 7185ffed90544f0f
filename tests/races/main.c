/* SPDX-License-Identifier: Apache-2.0 */
/* races threads|processes [--ledger FILE|:memory:] [--workers N] [--admissions N] [--mutant NAME] [--seed N] [--policy FILE]
 *
 * Agents share sessions until so many calls were admitted; then the trail is judged. Exit 0: no fault. Exit 1: faults. With --mutant the
 * store is wrong, and exit 0 means that it was caught. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mutant.h"
#include "trail.h"

typedef struct races_run {
    bool processes;
    const char *ledger, *policy_path;
    uint32_t workers, seed;
    uint64_t admissions;
    mutant_kind mutant;
    races_world *w;
    il_bundle *bundle;
} races_run;

typedef struct races_worker {
    races_run *run;
    il_monitor *m;
    uint32_t who;
} races_worker;

static il_ledger *run_open(const races_run *run) {
    il_ledger *l = NULL;
    il_error err = {0};
    const il_ledger_options options = {.size = sizeof options, .busy_ms = 60000};
    if (il_ledger_open(il_host_alloc(), run->ledger, &options, &l, &err) != IL_OK) {
        races_stop(__FILE__, __LINE__, err.msg);
    }
    return l;
}

static void *run_thread(void *arg) {
    races_worker *worker = arg;
    races_agent(worker->run->w, worker->m, worker->who);
    return NULL;
}

static void run_threads(races_run *run, il_ledger *l) {
    races_worker *v = calloc(run->workers, sizeof *v);
    pthread_t *threads = calloc(run->workers, sizeof *threads);
    mutant_store store = {.kind = run->mutant, .under = il_ledger_store(l), .conflicts = &run->w->conflicts};
    il_monitor *m = races_monitor(run->w, il_bundle_policy(run->bundle), mutant_store_of(&store));
    RACES_MUST(v && threads);
    for (uint32_t i = 0; i < run->workers; i++) {
        v[i] = (races_worker){.run = run, .m = m, .who = i};
        RACES_MUST(pthread_create(&threads[i], NULL, run_thread, &v[i]) == 0);
    }
    for (uint32_t i = 0; i < run->workers; i++) {
        RACES_MUST(pthread_join(threads[i], NULL) == 0);
    }
    il_monitor_free(m);
    free(v);
    free(threads);
}

static void run_process(races_run *run, uint32_t who) {
    il_ledger *l = run_open(run);
    mutant_store store = {.kind = run->mutant, .under = il_ledger_store(l), .conflicts = &run->w->conflicts};
    il_monitor *m = races_monitor(run->w, il_bundle_policy(run->bundle), mutant_store_of(&store));
    races_agent(run->w, m, who);
    il_monitor_free(m);
    il_ledger_close(l);
    il_bundle_free(run->bundle);
}

static void run_processes(races_run *run) {
    for (uint32_t i = 0; i < run->workers; i++) {
        const pid_t pid = fork();
        RACES_MUST(pid >= 0);
        if (pid == 0) {
            run_process(run, i);
            _exit(0);
        }
    }
    for (uint32_t i = 0; i < run->workers; i++) {
        int status = 0;
        RACES_MUST(wait(&status) > 0);
        RACES_MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static double run_seconds(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t run_judge(races_run *run, il_ledger *l) {
    trail t;
    trail_read(&t, l);
    size_t faults = trail_check_rule(&t) + trail_check_claims(&t, run->w) + trail_check_whole(&t, l) +
                    trail_check_replay(&t, run->w, il_bundle_policy(run->bundle), l);
    if (atomic_load(&run->w->faults) > 0) {
        printf("  %llu calls failed, the first: %s\n", (unsigned long long)atomic_load(&run->w->faults), run->w->fault);
        faults++;
    }
    trail_free(&t);
    return faults;
}

static int run_all(races_run *run) {
    il_error err = {0};
    il_ledger *scratch = NULL;
    if (il_bundle_load(il_host_alloc(), run->policy_path, &run->bundle, &err) != IL_OK) {
        (void)fprintf(stderr, "%s: %s\n", run->policy_path, err.msg);
        return 3;
    }
    run->w = races_world_new(run->admissions, run->seed);
    RACES_MUST(il_ledger_open(il_host_alloc(), ":memory:", NULL, &scratch, &err) == IL_OK);
    il_monitor *learner = races_monitor(run->w, il_bundle_policy(run->bundle), il_ledger_store(scratch));
    races_learn(run->w, learner);
    il_monitor_free(learner);
    il_ledger_close(scratch);
    const double started = run_seconds();
    il_ledger *l = NULL;
    if (run->processes) {
        run_processes(run);
        l = run_open(run);
    } else {
        l = run_open(run);
        run_threads(run, l);
    }
    const double took = run_seconds() - started;
    printf("%u %s, %s, mutant %s, seed %u: %llu admissions, %llu denials, %llu requests (%llu answered), %llu settles (%llu "
           "withheld), %llu "
           "sessions ended, %llu commits made again in %.1f s\n",
           run->workers, run->processes ? "processes" : "threads", run->ledger, mutant_names[run->mutant], run->seed,
           (unsigned long long)atomic_load(&run->w->allows), (unsigned long long)atomic_load(&run->w->denies),
           (unsigned long long)atomic_load(&run->w->asked), (unsigned long long)atomic_load(&run->w->answered),
           (unsigned long long)atomic_load(&run->w->settles), (unsigned long long)atomic_load(&run->w->withheld),
           (unsigned long long)atomic_load(&run->w->ended), (unsigned long long)atomic_load(&run->w->conflicts), took);
    const size_t faults = run_judge(run, l);
    il_ledger_close(l);
    il_bundle_free(run->bundle);
    races_world_free(run->w);
    if (run->mutant != MUTANT_NONE) {
        printf("  the mutant was %s\n", faults ? "caught" : "NOT CAUGHT");
    }
    return (run->mutant != MUTANT_NONE) == (faults > 0) ? 0 : 1;
}

int main(int argc, char **argv) {
    races_run run = {
        .ledger = ":memory:", .workers = 64, .admissions = 20000, .seed = 1, .policy_path = "tests/races/policy.yaml"};
    if (argc < 2 || (strcmp(argv[1], "threads") != 0 && strcmp(argv[1], "processes") != 0)) {
        (void)fprintf(stderr, "usage: races threads|processes [--ledger F] [--workers N] [--admissions N] [--mutant NAME] "
                              "[--seed N] [--policy F]\n");
        return 3;
    }
    run.processes = argv[1][0] == 'p';
    run.workers = run.processes ? 8 : 64;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--ledger") == 0) {
            run.ledger = argv[i + 1];
        } else if (strcmp(argv[i], "--policy") == 0) {
            run.policy_path = argv[i + 1];
        } else if (strcmp(argv[i], "--workers") == 0) {
            run.workers = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--admissions") == 0) {
            run.admissions = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0) {
            run.seed = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--mutant") == 0) {
            run.mutant = MUTANT_NONE;
            for (int k = 1; k < MUTANT_COUNT; k++) {
                run.mutant = strcmp(mutant_names[k], argv[i + 1]) == 0 ? (mutant_kind)k : run.mutant;
            }
            if (run.mutant == MUTANT_NONE) {
                (void)fprintf(stderr, "no such mutant: %s\n", argv[i + 1]);
                return 3;
            }
        } else {
            (void)fprintf(stderr, "what is %s?\n", argv[i]);
            return 3;
        }
    }
    if (run.processes && strcmp(run.ledger, ":memory:") == 0) {
        (void)fprintf(stderr, "processes need a ledger file\n");
        return 3;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    return run_all(&run);
}
