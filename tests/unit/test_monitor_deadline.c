/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of reservations are kept in the ledger: they hold in the process that comes after, and no clock that steps back undoes one. */
#include "helper_ledger.h"
#include "helper_monitor.h"

#include <string.h>

#define DEADLINE_MS 600000

typedef struct deadline_case {
    monitor_case *c;
    char path[LEDGER_TEST_PATH];
    il_ledger *ledger;
} deadline_case;

/* A process that starts: opens the ledger and makes its monitor. */
static void deadline_start(deadline_case *d) {
    d->ledger = ledger_test_open(d->path, NULL);
    if (monitor_new(d->c, d->c->policy.policy, NULL, il_ledger_store(d->ledger), false, &d->c->monitor) != IL_OK) {
        fail_msg("%s", d->c->err.msg);
    }
}

static void deadline_stop(deadline_case *d) {
    il_monitor_free(d->c->monitor);
    il_ledger_close(d->ledger);
}

/* Stops and starts: nothing is left of the process before but its ledger. */
static void deadline_again(deadline_case *d, uint64_t now) {
    deadline_stop(d);
    d->c->now = now;
    deadline_start(d);
}

static void deadline_begin(deadline_case *d, monitor_case *c) {
    *d = (deadline_case){.c = c};
    ledger_test_path(d->path, "ledger.db");
    il_monitor_free(c->monitor);
    c->now = 1000000;
    deadline_start(d);
    il_begin how = {.size = sizeof how};
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_OK);
}

static void deadline_end(deadline_case *d) {
    deadline_stop(d);
    ledger_test_clean(d->path);
    d->c->monitor = monitor_make(d->c, d->c->policy.policy, NULL, false);
}

typedef struct deadline_rows {
    size_t overdue, n;
    char how[16];
} deadline_rows;

static bool deadline_visit(void *ctx, const il_ledger_row *row) {
    deadline_rows *r = ctx;
    if (il_str_eq(row->kind, IL_STR("settle"))) {
        r->n++;
        r->overdue += il_str_find(row->body, IL_STR("\"how\":\"overdue\""), 0) != SIZE_MAX ? 1u : 0u;
    }
    return true;
}

static deadline_rows deadline_settles(deadline_case *d) {
    deadline_rows r = {0};
    assert_int_equal(il_ledger_rows(d->ledger, IL_STR("s1"), deadline_visit, &r, NULL), IL_OK);
    return r;
}

static uint64_t deadline_due(deadline_case *d) {
    uint64_t due = 0;
    assert_int_equal(il_monitor_sweep(d->c->monitor, IL_STR("s1"), &due, &d->c->err), IL_OK);
    return due;
}

/* By a sweep of the next process: not a millisecond before, and its late result is withheld for ever after. */
static void deadline_by_sweep(void **state) {
    monitor_case *c = *state;
    deadline_case d;
    deadline_begin(&d, c);
    uint64_t ticket = monitor_allow(c, "in.ue", "{}");
    deadline_again(&d, 1000000 + DEADLINE_MS - 1);
    assert_int_equal(deadline_due(&d), 1000000 + DEADLINE_MS);
    assert_int_equal(deadline_settles(&d).n, 0);
    deadline_again(&d, 1000000 + DEADLINE_MS);
    assert_int_equal(deadline_due(&d), UINT64_MAX);
    assert_int_equal(deadline_settles(&d).overdue, 1);
    assert_int_equal(deadline_due(&d), UINT64_MAX);
    assert_int_equal(deadline_settles(&d).n, 1);
    assert_int_equal(monitor_settle(c, ticket, IL_OUTCOME_DONE, 0), IL_E_STATE);
    assert_string_equal(c->s.reason, "not-open");
    assert_false(c->s.release);
    deadline_end(&d);
}

/* By the next decision: it is judged on what the deadline left. A reservation that is over lets a crossing through; the taint of a call that
 * never answered is still held. */
static void deadline_by_decision(void **state) {
    monitor_case *c = *state;
    deadline_case d;
    deadline_begin(&d, c);
    monitor_allow(c, "in.e", "{}");
    monitor_allow(c, "in.u", "{}");
    deadline_again(&d, c->now + 1000);
    monitor_deny(c, "in.s", "{}", "lethal-trifecta"); /* a way out is in flight: still reserved in this process */
    deadline_again(&d, 1000000 + DEADLINE_MS);
    assert_int_equal(deadline_settles(&d).n, 0);
    monitor_allow(c, "in.s", "{}");
    assert_int_equal(deadline_settles(&d).overdue, 2);
    monitor_ask(c, "in.e", "{}");
    deadline_end(&d);
}

/* The clock steps back behind the deadline, before and after it was seen to pass, in this process and in the next. */
static void deadline_clock_steps_back(void **state) {
    monitor_case *c = *state;
    deadline_case d;
    deadline_begin(&d, c);
    uint64_t ticket = monitor_allow(c, "in.e", "{}");
    c->now = 1000000 + DEADLINE_MS;
    assert_int_equal(deadline_due(&d), UINT64_MAX);
    c->now = 1000;
    assert_int_equal(monitor_settle(c, ticket, IL_OUTCOME_DONE, 0), IL_E_STATE);
    deadline_again(&d, 1000);
    assert_int_equal(monitor_settle(c, ticket, IL_OUTCOME_DONE, 0), IL_E_STATE);
    assert_false(c->s.release);
    /* a call that is admitted now counts from what the session has seen, not from the clock */
    uint64_t late = monitor_allow(c, "in.e", "{}");
    assert_int_equal(deadline_due(&d), 1000000 + 2 * DEADLINE_MS);
    deadline_again(&d, 1000000 + 2 * DEADLINE_MS);
    assert_int_equal(monitor_settle(c, late, IL_OUTCOME_DONE, 0), IL_E_STATE);
    assert_int_equal(deadline_settles(&d).overdue, 2);
    deadline_end(&d);
}

/* A grant that has expired stays expired as well. */
static void deadline_of_a_grant(void **state) {
    monitor_case *c = *state;
    deadline_case d;
    char id[IL_APPROVAL_ID_BYTES];
    deadline_begin(&d, c);
    monitor_run(c, "in.us", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{}"), sizeof id);
    assert_int_equal(il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &c->err), IL_OK);
    deadline_again(&d, 1000000 + DEADLINE_MS);
    assert_int_equal(deadline_due(&d), UINT64_MAX);
    deadline_again(&d, 1000000 + 1000);
    assert_string_not_equal(monitor_ask(c, "in.e", "{}"), id);
    assert_int_equal(il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &c->err), IL_E_NOT_FOUND);
    deadline_end(&d);
}

static int deadline_group(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}

static int deadline_ungroup(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline_by_sweep),
        cmocka_unit_test(deadline_by_decision),
        cmocka_unit_test(deadline_clock_steps_back),
        cmocka_unit_test(deadline_of_a_grant),
    };
    return cmocka_run_group_tests(tests, deadline_group, deadline_ungroup);
}
