/* SPDX-License-Identifier: Apache-2.0 */
/* Random interleavings of up to three calls in flight against a model that tracks the real data: what really came in, and which channels are
 * really open. The promise: untrusted and sensitive data are never both in the session while an egress that no human approved is in flight
 * or a standing sink is open. The model knows nothing of the machine. */
#include "helper_monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_RUNS 400
#define RANDOM_STEPS 60
#define RANDOM_FLIGHTS 3

typedef struct random_flight {
    uint64_t ticket, deadline;
    uint32_t effects, truly; /* declared; what its result really holds */
    bool once, approved;
} random_flight;

typedef struct random_model {
    uint32_t truly; /* taints whose data was handed on */
    bool standing, over;
    uint32_t n;
    random_flight flights[RANDOM_FLIGHTS];
    uint32_t seed;
} random_model;

static uint32_t random_next(random_model *m, uint32_t below) {
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 8) % below;
}

static const struct {
    const char *tool;
    uint32_t effects;
    bool once;
} random_tools[] = {
    {"in.n", 0, false},
    {"in.u", IL_UNTRUSTED, false},
    {"in.s", IL_SENSITIVE, false},
    {"in.us", IL_UNTRUSTED | IL_SENSITIVE, false},
    {"in.k", IL_SENSITIVE | IL_SECRET, false},
    {"in.e", IL_EGRESS, true},
    {"in.ue", IL_UNTRUSTED | IL_EGRESS, true},
    {"in.se", IL_SENSITIVE | IL_EGRESS, true},
    {"in.use", IL_UNTRUSTED | IL_SENSITIVE | IL_EGRESS, true},
    {"in.E", IL_EGRESS, false},
    {"in.uE", IL_UNTRUSTED | IL_EGRESS, false},
    {"in.sE", IL_SENSITIVE | IL_EGRESS, false},
};

static void random_promise(const random_model *m, uint32_t run, uint32_t step) {
    bool live = m->standing;
    for (uint32_t i = 0; i < m->n; i++) {
        live = live || (m->flights[i].once && !m->flights[i].approved);
    }
    bool both = (m->truly & IL_UNTRUSTED) != 0 && (m->truly & IL_SENSITIVE) != 0;
    if (both && live && !m->over) {
        fail_msg("run %u step %u: untrusted and sensitive data with a live channel", run, step);
    }
}

/* An approved call must have been approved: the model keeps the human's answers itself, by arguments, each good for one call. */
static bool random_granted[4];

static void random_call(monitor_case *c, random_model *m) {
    char args[32];
    uint32_t t = random_next(m, sizeof random_tools / sizeof random_tools[0]), which = random_next(m, 4);
    if (m->n == RANDOM_FLIGHTS) {
        return;
    }
    (void)snprintf(args, sizeof args, "{\"a\":%u}", which);
    const il_decision *d = monitor_decide(c, random_tools[t].tool, args);
    if (d->action == IL_ACTION_REQUIRE_APPROVAL && random_next(m, 3) > 0) {
        char id[IL_APPROVAL_ID_BYTES];
        memcpy(id, d->approval, sizeof id);
        /* it may have been granted before and refused by the machine since; then there is nothing to grant */
        if (il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &c->err) == IL_OK) {
            random_granted[which] = true;
        }
        return;
    }
    if (!d->run) {
        return;
    }
    random_flight *f = &m->flights[m->n++];
    *f = (random_flight){
        .ticket = d->ticket, .deadline = c->now + 600000, .effects = random_tools[t].effects, .once = random_tools[t].once};
    f->approved = d->approval[0] != '\0';
    if (f->approved && !random_granted[which]) {
        fail_msg("a call that no human approved");
    }
    f->truly = f->effects & random_next(m, 8) & IL_TAINTS;
    if ((f->effects & IL_EGRESS) != 0 && !f->once) {
        m->standing = true;
    }
}

static void random_settle(monitor_case *c, random_model *m) {
    if (m->n == 0) {
        return;
    }
    uint32_t i = random_next(m, m->n);
    random_flight f = m->flights[i];
    m->flights[i] = m->flights[--m->n];
    bool failed = random_next(m, 4) == 0;
    /* evidence is honest: what it calls absent did not come; and it may say less than it could */
    uint32_t absent = failed ? 0 : IL_TAINTS & ~f.truly & random_next(m, 8);
    il_status s = monitor_settle(c, f.ticket, failed ? IL_OUTCOME_FAILED : IL_OUTCOME_DONE, absent);
    if (s != IL_OK || (!m->over && !c->s.release)) {
        fail_msg("a settle was refused: %s", c->s.reason);
    }
    if (c->s.release) {
        m->truly |= f.truly;
    }
}

/* What is overdue counts as settled; its result is discarded, whatever it holds. */
static void random_time(monitor_case *c, random_model *m) {
    c->now += random_next(m, random_next(m, 6) == 0 ? 900000 : 200000);
    for (uint32_t i = 0; i < m->n;) {
        if (m->flights[i].deadline > c->now) {
            i++;
            continue;
        }
        assert_int_equal(monitor_settle(c, m->flights[i].ticket, IL_OUTCOME_DONE, 0), IL_E_STATE);
        assert_false(c->s.release);
        m->flights[i] = m->flights[--m->n];
    }
}

static void random_interleavings(void **state) {
    monitor_case *c = *state;
    size_t both = 0, crossings = 0, refined = 0;
    const char *given = getenv("IL_TEST_SEED");
    uint32_t seed = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 20240607u;
    print_message("seed %u (set IL_TEST_SEED for another)\n", seed);
    for (uint32_t run = 0; run < RANDOM_RUNS; run++) {
        random_model m = {.seed = seed + run * 7919u};
        memset(random_granted, 0, sizeof random_granted);
        monitor_again(c);
        for (uint32_t step = 0; step < RANDOM_STEPS; step++) {
            uint32_t what = random_next(&m, 100);
            if (what < 50) {
                random_call(c, &m);
            } else if (what < 95) {
                random_settle(c, &m);
            } else if (what < 99) {
                random_time(c, &m);
            } else if (!m.over) {
                assert_int_equal(il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("test"), &c->err), IL_OK);
                m.over = true;
            }
            random_promise(&m, run, step);
        }
        both += (m.truly & (IL_UNTRUSTED | IL_SENSITIVE)) == (IL_UNTRUSTED | IL_SENSITIVE) ? 1u : 0u;
        crossings += monitor_rows(c, "approve");
        for (size_t i = 0; i < c->store.nrows; i++) {
            refined += strstr(c->store.rows[i].body, "\"refined\":[\"") != NULL ? 1u : 0u;
        }
    }
    /* the runs met what they are for */
    assert_true(both > 20 && crossings > 20 && refined > 20);
}

static int random_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}
static int random_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_interleavings)};
    return cmocka_run_group_tests(tests, random_setup, random_teardown);
}
