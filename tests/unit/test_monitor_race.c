/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads on one session and one store. Whatever order they find, the trail is one sequence of steps of the machine, one version after
 * the other, and the combination that is forbidden was never there. */
#include "helper_monitor.h"

#include "policy/bind.h"
#include <stdio.h>
#include <string.h>

#define RACE_CALLS 300

typedef struct race_runner {
    monitor_case *c;
    const char *const *tools;
    size_t ntools;
    uint32_t seed;
    size_t allowed, denied, failed;
} race_runner;

static void *race_run(void *arg) {
    race_runner *r = arg;
    for (int i = 0; i < RACE_CALLS; i++) {
        il_error err = {0};
        r->seed = r->seed * 1664525u + 1013904223u;
        il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(r->tools[(r->seed >> 10) % r->ntools])};
        il_decision d = IL_DECISION_INIT;
        if (il_monitor_decide(r->c->monitor, IL_STR("s1"), &call, &d, &err) != IL_OK) {
            r->failed++;
            continue;
        }
        if (!d.run) {
            r->denied++;
            continue;
        }
        r->allowed++;
        il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE};
        il_settlement s = IL_SETTLEMENT_INIT;
        if (il_monitor_settle(r->c->monitor, IL_STR("s1"), d.ticket, &o, &s, &err) != IL_OK || !s.release) {
            r->failed++;
        }
    }
    return NULL;
}

static uint64_t race_state(const il_json *body, const char *key) {
    il_str hex = il_json_text(il_json_get(body, il_str_of(key)));
    uint64_t v = 0;
    for (size_t i = 0; i < hex.n; i++) {
        v = v * 16 + (uint64_t)(hex.p[i] <= '9' ? hex.p[i] - '0' : hex.p[i] - 'a' + 10);
    }
    return v;
}

static void race_two_threads(void **state) {
    monitor_case *c = *state;
    static const char *const one[] = {"u", "n", "e"}, *const other[] = {"s", "e", "n"};
    il_bind b;
    assert_int_equal(il_bind_open(c->policy.machine, &b, &c->err), IL_OK);
    size_t raced = 0;
    for (uint32_t round = 0; round < 8; round++) {
        race_runner a = {.c = c, .tools = one, .ntools = 3, .seed = 1 + round},
                    z = {.c = c, .tools = other, .ntools = 3, .seed = 100 + round};
        pthread_t ta, tz;
        monitor_again(c);
        assert_int_equal(pthread_create(&ta, NULL, race_run, &a), 0);
        assert_int_equal(pthread_create(&tz, NULL, race_run, &z), 0);
        assert_int_equal(pthread_join(ta, NULL), 0);
        assert_int_equal(pthread_join(tz, NULL), 0);
        assert_int_equal(a.failed + z.failed, 0);
        assert_true(a.allowed > 0 && z.allowed > 0 && a.denied + z.denied > 0);
        /* one serial history */
        uint64_t at = il_machine_initial(c->policy.machine), version = 0;
        for (size_t i = 0; i < c->store.nrows; i++) {
            const il_json *body = policy_json(&c->policy, c->store.rows[i].body);
            uint64_t next = c->store.rows[i].version;
            assert_true(next == version || (next == version + 1 && c->store.rows[i].moved));
            version = next;
            if (il_json_get(body, IL_STR("pre")) != NULL) {
                assert_int_equal(race_state(body, "pre"), at);
                at = race_state(body, "post");
            }
            uint32_t both = IL_UNTRUSTED | IL_SENSITIVE;
            assert_false((il_bind_counted(&b, at) & both) == both &&
                         (il_bind_live(&b, at, b.flight) != 0 || il_bind_live(&b, at, b.open) != 0));
        }
        assert_int_equal(version, monitor_object(c, "s1")->version);
        assert_int_equal(monitor_session(c, "s1").state, at);
        assert_int_equal(monitor_session(c, "s1").ntickets, 0);
        assert_int_equal(monitor_session(c, "s1").next_ticket, a.allowed + z.allowed + 1);
        raced += c->store.commits > c->store.nrows ? 1u : 0u;
    }
    print_message("%zu of 8 rounds had conflicts\n", raced);
}

/* Between a decision's load and its commit. */
static const char *race_rival_tool;
static void race_rival(void *ctx) {
    monitor_case *c = ctx;
    il_error err = {0};
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(race_rival_tool)};
    il_decision d = IL_DECISION_INIT;
    assert_int_equal(il_monitor_decide(c->monitor, IL_STR("s1"), &call, &d, &err), IL_OK);
    assert_true(d.run);
}

/* What a call counts as depends on what the session holds: whoever is beaten by a call that brings more is labelled anew, and only then. */
static void race_labels_again(void **state) {
    static monitor_case c;
    (void)state;
    monitor_case_init(&c, "interlock: 1\nmachine: trifecta\nservers: { in: { trust: inside } }\n"
                          "destinations: [{ email: ['@part.example'], accepts: [untrusted] }]\n"
                          "tools:\n"
                          "  - { match: in.n, effects: [] }\n"
                          "  - { match: in.u, effects: [untrusted] }\n"
                          "  - { match: in.s, effects: [sensitive] }\n"
                          "  - { match: in.mail, effects: [egress], sink: once, to: { email: to } }\n");
    static const struct {
        const char *rival;
        uint32_t effects;
    } rounds[] = {{"n", 0}, {"u", 0}, {"s", IL_EGRESS}};
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        monitor_again(&c);
        race_rival_tool = rounds[i].rival;
        c.store.rival = race_rival;
        c.store.rival_ctx = &c;
        monitor_allow(&c, "in.mail", "{\"to\":\"bo@part.example\"}");
        assert_int_equal(c.d.effects, rounds[i].effects);
        assert_int_equal(c.d.ticket, 2);
        monitor_is(&c, "flight", rounds[i].effects != 0 ? "true" : "false");
    }
    monitor_case_free(&c);
}

static int race_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}
static int race_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(race_two_threads), cmocka_unit_test(race_labels_again)};
    return cmocka_run_group_tests(tests, race_setup, race_teardown);
}
