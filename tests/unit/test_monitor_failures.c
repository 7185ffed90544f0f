/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails, the n-th call of the store fails, for every n: nothing runs that was not committed, no result is released that was
 * not recorded, and no state changes without its row. */
#include "helper_monitor.h"

#include <stdio.h>
#include <string.h>

/* What the store holds: the state's version, and how many rows its moves brought. */
typedef struct failure_mark {
    uint64_t version;
    size_t rows;
} failure_mark;

static failure_mark failure_now(monitor_case *c) {
    const store_object *o = monitor_object(c, "s1");
    return (failure_mark){o != NULL ? o->version : 0, c->store.nrows};
}

/* A version more has at least one row more. */
static void failure_rows_follow(monitor_case *c, failure_mark before) {
    failure_mark after = failure_now(c);
    if (after.version != before.version) {
        assert_true(after.rows > before.rows);
        bool moved = false;
        for (size_t i = before.rows; i < after.rows; i++) {
            moved = moved || c->store.rows[i].moved;
        }
        assert_true(moved);
    }
}

typedef enum failure_scene {
    FAILURE_ALLOW,
    FAILURE_DENY,
    FAILURE_ASK,
    FAILURE_REDEEM,
    FAILURE_SETTLE,
    FAILURE_SWEEP,
    FAILURE_APPROVE,
    FAILURE_END,
    FAILURE_QUARANTINE,
    FAILURE_BEGIN,
    FAILURE_CHILD,
    FAILURE_SCENES
} failure_scene;

static char failure_id[IL_APPROVAL_ID_BYTES];
static uint64_t failure_ticket;

/* Everything before the step that is to fail. */
static void failure_prepare(monitor_case *c, failure_scene scene) {
    monitor_again(c);
    if (scene == FAILURE_DENY || scene == FAILURE_ASK || scene == FAILURE_REDEEM || scene == FAILURE_APPROVE) {
        monitor_run(c, "in.us", "{}");
    }
    if (scene == FAILURE_REDEEM || scene == FAILURE_APPROVE) {
        memcpy(failure_id, monitor_ask(c, "in.e", "{\"a\":[1,2,{\"b\":\"c\"}]}"), sizeof failure_id);
    }
    if (scene == FAILURE_REDEEM) {
        assert_int_equal(il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(failure_id), IL_STR("ana"), &c->err), IL_OK);
    }
    if (scene == FAILURE_SETTLE || scene == FAILURE_SWEEP || scene == FAILURE_END || scene == FAILURE_CHILD) {
        failure_ticket = monitor_allow(c, "in.ue", "{}");
    }
    if (scene == FAILURE_SWEEP) {
        c->now += 600000;
    }
}

/* The step; true when it says that it was done. */
static bool failure_step(monitor_case *c, failure_scene scene, const il_json *args) {
    il_begin how = {
        .size = sizeof how, .principal = IL_STR("ana"), .parent = scene == FAILURE_CHILD ? IL_STR("s1") : (il_str){0}};
    il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = IL_STR("e"), .args = args};
    il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE, .result = args};
    il_status s = IL_OK;
    c->d = (il_decision)IL_DECISION_INIT;
    c->s = (il_settlement)IL_SETTLEMENT_INIT;
    switch (scene) {
    case FAILURE_DENY:
        call.tool = IL_STR("E");
        s = il_monitor_decide(c->monitor, IL_STR("s1"), &call, &c->d, &c->err);
        assert_false(c->d.run);
        return s == IL_OK;
    case FAILURE_ALLOW:
    case FAILURE_ASK:
    case FAILURE_REDEEM:
    case FAILURE_SWEEP:
        s = il_monitor_decide(c->monitor, IL_STR("s1"), &call, &c->d, &c->err);
        assert_true(s == IL_OK || (!c->d.run && c->d.action == IL_ACTION_BLOCK && c->d.layer == IL_LAYER_FAULT &&
                                   c->d.reason[0] != '\0' && c->d.ticket == 0));
        assert_true(s == IL_OK || c->d.approval[0] == '\0');
        return s == IL_OK;
    case FAILURE_SETTLE:
        s = il_monitor_settle(c->monitor, IL_STR("s1"), failure_ticket, &o, &c->s, &c->err);
        assert_true(s == IL_OK ? c->s.release : (!c->s.release && c->s.reason[0] != '\0'));
        return s == IL_OK;
    case FAILURE_APPROVE:
        return il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(failure_id), IL_STR("ana"), &c->err) == IL_OK;
    case FAILURE_END:
        return il_monitor_end(c->monitor, IL_STR("s1"), true, &c->err) == IL_OK;
    case FAILURE_QUARANTINE:
        return il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("test"), &c->err) == IL_OK;
    case FAILURE_BEGIN:
    case FAILURE_CHILD:
        return il_monitor_begin(c->monitor, IL_STR("c1"), &how, &c->err) == IL_OK;
    case FAILURE_SCENES:
        break;
    }
    return false;
}

static void failure_allocations(void **state) {
    monitor_case *c = *state;
    const il_json *args = policy_json(&c->policy, "{\"a\":[1,2,{\"b\":\"c\"}]}");
    for (int scene = 0; scene < FAILURE_SCENES; scene++) {
        size_t n = 0;
        for (bool done = false; !done; n++) {
            failure_prepare(c, (failure_scene)scene);
            failure_mark before = failure_now(c);
            c->memory.left = n;
            done = failure_step(c, (failure_scene)scene, args);
            bool ran_out = c->memory.left == 0;
            c->memory.left = SIZE_MAX;
            failure_rows_follow(c, before);
            /* it may only be done when nothing failed that mattered: then the state did move, but for a denial */
            if (!done) {
                assert_true(ran_out);
                assert_true(c->err.code == IL_E_MEMORY);
                /* sweeping commits by itself and may have been done before the failure */
                assert_true(failure_now(c).version == before.version || scene == FAILURE_SWEEP);
            }
            assert_true(n < 2000);
        }
        assert_true(n > 1);
    }
}

static void failure_store(void **state) {
    monitor_case *c = *state;
    const il_json *args = policy_json(&c->policy, "{\"a\":[1,2,{\"b\":\"c\"}]}");
    static const il_status kinds[] = {IL_E_IO, IL_E_BUSY, IL_E_DAMAGED, IL_E_PERMISSION};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (int scene = 0; scene < FAILURE_SCENES; scene++) {
            size_t n = 0;
            for (bool done = false; !done; n++) {
                failure_prepare(c, (failure_scene)scene);
                failure_mark before = failure_now(c);
                c->store.fail_with = kinds[k];
                c->store.fail_after = n;
                done = failure_step(c, (failure_scene)scene, args);
                c->store.fail_after = SIZE_MAX;
                failure_rows_follow(c, before);
                if (!done) {
                    assert_true(failure_now(c).version == before.version || scene == FAILURE_SWEEP);
                }
                assert_true(n < 20);
            }
            assert_true(n > 1); /* a load and a commit at least could fail */
        }
    }
}

/* After a failed decision the same call decides as if nothing had been. */
static void failure_leaves_nothing(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    c->store.fail_after = 1;
    assert_int_equal(monitor_decide_in(c, "s1", "in.E", "{}"), IL_E_IO);
    c->store.fail_after = SIZE_MAX;
    monitor_is(c, "open", "false");
    monitor_run(c, "in.us", "{}");
    c->store.fail_after = 1;
    assert_int_equal(monitor_decide_in(c, "s1", "in.e", "{}"), IL_E_IO);
    assert_string_equal(c->d.approval, "");
    c->store.fail_after = SIZE_MAX;
    monitor_is(c, "asked", "0");
    monitor_ask(c, "in.e", "{}");
    monitor_is(c, "asked", "1");
}

static int failure_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}
static int failure_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(failure_allocations), cmocka_unit_test(failure_store),
                                       cmocka_unit_test(failure_leaves_nothing)};
    return cmocka_run_group_tests(tests, failure_setup, failure_teardown);
}
