/* SPDX-License-Identifier: Apache-2.0 */
/* Every cell of the shipped table: a step that is not accepted leaves the state, and a denied call leaves the session's bytes. The second is
 * driven through the monitor from a session in every state of the table. */
#include "helper_monitor.h"

#include "monitor/plan.h"
#include <string.h>

static const struct {
    const char *tool;
    uint32_t effects;
    il_sink_word sink;
} table_tools[] = {
    {"in.n", 0, IL_SINK_NONE},
    {"in.u", IL_UNTRUSTED, IL_SINK_NONE},
    {"in.s", IL_SENSITIVE, IL_SINK_NONE},
    {"in.us", IL_UNTRUSTED | IL_SENSITIVE, IL_SINK_NONE},
    {"in.e", IL_EGRESS, IL_SINK_ONCE},
    {"in.ue", IL_UNTRUSTED | IL_EGRESS, IL_SINK_ONCE},
    {"in.se", IL_SENSITIVE | IL_EGRESS, IL_SINK_ONCE},
    {"in.use", IL_UNTRUSTED | IL_SENSITIVE | IL_EGRESS, IL_SINK_ONCE},
    {"in.E", IL_EGRESS, IL_SINK_STANDING},
    {"in.uE", IL_UNTRUSTED | IL_EGRESS, IL_SINK_STANDING},
    {"in.sE", IL_SENSITIVE | IL_EGRESS, IL_SINK_STANDING},
    {"in.usE", IL_UNTRUSTED | IL_SENSITIVE | IL_EGRESS, IL_SINK_STANDING},
};
#define TABLE_TOOLS (sizeof table_tools / sizeof table_tools[0])

static void table_rejects_stay(void **state) {
    const monitor_case *c = *state;
    const il_machine *m = c->policy.machine;
    size_t rejected = 0, accepted = 0;
    for (uint32_t i = 0; i < il_machine_states(m); i++) {
        for (uint32_t symbol = 0; symbol < il_machine_symbols(m); symbol++) {
            uint64_t at = il_machine_state(m, i);
            il_step s = il_machine_step(m, at, symbol);
            if (s.verdict == IL_ACCEPT) {
                accepted++;
                assert_int_equal(s.reason, 0);
            } else {
                rejected++;
                assert_int_equal(s.next, at);
                assert_true(il_machine_reason(m, s.reason).n > 0);
            }
        }
    }
    assert_int_equal(accepted, 7065);
    assert_int_equal(rejected + accepted, 330 * 63);
}

/* A session that stands in this state, with the calls and approvals that the state counts. */
static il_session table_session(monitor_case *c, const il_bind *b, uint64_t at) {
    il_session s = monitor_session(c, "s1");
    s.state = at;
    s.counted = (uint8_t)il_bind_counted(b, at);
    s.flight = il_bind_live(b, at, b->flight);
    s.open = il_bind_live(b, at, b->open);
    s.next_ticket = 10;
    if (s.flight != 0) {
        s.tickets[s.ntickets++] =
            (il_ticket){.id = 1, .deadline_ms = UINT64_MAX, .effects = IL_EGRESS, .flags = IL_TICKET_ONCE, .tool = "in.e"};
    }
    if (il_bind_live(b, at, b->crossing) != 0) {
        s.tickets[s.ntickets++] =
            (il_ticket){.id = 2, .deadline_ms = UINT64_MAX, .effects = IL_EGRESS, .flags = IL_TICKET_CROSSING, .tool = "in.e"};
    }
    uint32_t asked = il_bind_count(b, at, b->asked), slots = asked + il_bind_count(b, at, b->granted);
    for (uint32_t i = 0; i < slots; i++) {
        s.slots[i] = (il_slot){.state = i < asked ? IL_SLOT_ASKED : IL_SLOT_GRANTED,
                               .expires_ms = UINT64_MAX,
                               .lasts_ms = 1000,
                               .id = "a",
                               .tool = "in.e",
                               .effects = IL_EGRESS};
        s.slots[i].id[1] = (char)('0' + i);
    }
    s.quarantined = il_bind_phase(b, at, "quarantined");
    for (uint32_t i = 0; i < 3; i++) {
        s.witnesses[i].ticket = (s.counted & (1u << i)) != 0 ? 3 : 0;
    }
    s.witnesses[3].ticket = s.open != 0 ? 3 : 0;
    return s;
}

/* Each admission symbol that a call can have, from each state: what runs moved as the table says, what was denied moved nothing, and what
 * waits for a human moved by the machine's `request` and nothing else. Each wrote its row. */
static void table_calls(void **state) {
    monitor_case *c = *state;
    const il_machine *m = c->policy.machine;
    il_bind b;
    size_t allowed = 0, denied = 0, asked = 0;
    assert_int_equal(il_bind_open(m, &b, &c->err), IL_OK);
    monitor_again(c);
    const il_session fresh = monitor_session(c, "s1");
    for (uint32_t i = 0; i < il_machine_states(m); i++) {
        for (size_t t = 0; t < TABLE_TOOLS; t++) {
            monitor_put(c, "s1", &fresh);
            il_session s = table_session(c, &b, il_machine_state(m, i));
            monitor_put(c, "s1", &s);
            store_object before = *monitor_object(c, "s1");
            size_t rows = c->store.nrows;
            il_step step = il_machine_step(m, s.state, il_bind_admit(&b, table_tools[t].effects, table_tools[t].sink, false));
            const il_decision *d = monitor_decide(c, table_tools[t].tool, "{}");
            const store_object *after = monitor_object(c, "s1");
            assert_int_equal(d->pre, s.state);
            assert_true(c->store.nrows > rows);
            if (step.verdict == IL_ACCEPT) {
                allowed++;
                assert_true(d->run && d->action == IL_ACTION_ALLOW);
                assert_int_equal(d->post, step.next);
                assert_int_equal(monitor_session(c, "s1").state, step.next);
                continue;
            }
            assert_false(d->run);
            assert_int_equal(d->post, s.state);
            assert_true(il_str_eq(il_str_of(d->reason), il_machine_reason(m, step.reason)));
            if (d->action == IL_ACTION_REQUIRE_APPROVAL) {
                asked++;
                assert_int_equal(table_tools[t].sink, IL_SINK_ONCE);
                assert_int_equal(monitor_session(c, "s1").state, il_machine_step(m, s.state, il_bind_plain(&b, "request")).next);
            } else {
                denied++;
                assert_int_equal(after->version, before.version);
                assert_int_equal(after->n, before.n);
                assert_memory_equal(after->state, before.state, before.n);
                assert_int_equal(c->store.nrows, rows + 1);
            }
            if (c->store.nrows > STORE_ROWS - 100) {
                monitor_again(c);
            }
        }
    }
    assert_int_equal(allowed + denied + asked, 330 * TABLE_TOOLS);
    assert_true(allowed > 500 && denied > 500 && asked > 20);
}

/* The other direction: whatever settles, lapses, ends or is quarantined from any state, the session and its machine still agree. */
static void table_closings(void **state) {
    monitor_case *c = *state;
    const il_machine *m = c->policy.machine;
    il_bind b;
    assert_int_equal(il_bind_open(m, &b, &c->err), IL_OK);
    monitor_again(c);
    const il_session fresh = monitor_session(c, "s1");
    for (uint32_t i = 0; i < il_machine_states(m); i++) {
        for (int what = 0; what < 5; what++) {
            monitor_put(c, "s1", &fresh);
            il_session s = table_session(c, &b, il_machine_state(m, i));
            monitor_put(c, "s1", &s);
            il_status done = IL_OK;
            if (what == 0) {
                for (uint32_t k = 0; k < s.ntickets; k++) {
                    assert_int_equal(monitor_settle(c, s.tickets[k].id, IL_OUTCOME_DONE, 0), IL_OK);
                    assert_int_equal(c->s.release, !s.quarantined);
                }
                assert_int_equal(monitor_session(c, "s1").flight, 0);
            } else if (what == 1) {
                done = il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("test"), &c->err);
                assert_true(monitor_session(c, "s1").quarantined);
            } else if (what == 2) {
                done = il_monitor_end(c->monitor, IL_STR("s1"), true, &c->err);
                assert_true(il_bind_phase(&b, monitor_session(c, "s1").state, "ended"));
            } else {
                done = IL_OK;
                for (uint32_t k = 0; k < IL_SLOTS_MAX; k++) {
                    il_str id = il_str_of(s.slots[k].id);
                    if (s.slots[k].state == IL_SLOT_ASKED) {
                        done = what == 3 ? il_monitor_approve(c->monitor, IL_STR("s1"), id, IL_STR("ana"), &c->err)
                                         : il_monitor_refuse(c->monitor, IL_STR("s1"), id, IL_STR("ana"), &c->err);
                        assert_int_equal(done, IL_OK);
                    }
                }
            }
            assert_int_equal(done, IL_OK);
            /* sweep opens the session, which checks that it and its machine agree */
            assert_int_equal(il_monitor_sweep(c->monitor, IL_STR("s1"), NULL, &c->err), IL_OK);
            if (c->store.nrows > STORE_ROWS - 100) {
                monitor_again(c);
            }
        }
    }
}

static int table_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}
static int table_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(table_rejects_stay), cmocka_unit_test(table_calls),
                                       cmocka_unit_test(table_closings)};
    return cmocka_run_group_tests(tests, table_setup, table_teardown);
}
