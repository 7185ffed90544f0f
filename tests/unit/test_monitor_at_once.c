/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that nobody will settle (il_call.at_once): settled as their worst with the decision. */
#include "helper_monitor.h"

#include "base/str.h"
#include <stdio.h>
#include <string.h>

/* Conditions that ask where from make the session remember results; `laundering` what was sent as well. */
static const char once_policy[] = "interlock: 1\n"
                                  "machine: trifecta\n"
                                  "servers: { in: { trust: inside } }\n"
                                  "%s"
                                  "tools:\n"
                                  "  - { match: in.n, effects: [] }\n"
                                  "  - { match: in.u, effects: [untrusted] }\n"
                                  "  - { match: in.s, effects: [sensitive] }\n"
                                  "  - { match: in.e, effects: [egress], sink: once }\n"
                                  "  - { match: in.child, effects: [], child: true }\n"
                                  "rules:\n"
                                  "  - { name: from-u, tools: in.n, when: '\"in.u\" in prov.x.sources', then: block }\n";

static monitor_case once_of;

static void once_begin(const char *more) {
    char text[2048];
    (void)snprintf(text, sizeof text, once_policy, more);
    memset(&once_of, 0, sizeof once_of);
    monitor_case_init(&once_of, text);
}

static const il_decision *once_decide(const char *tool, const char *args, bool at_once) {
    monitor_case *c = &once_of;
    il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(tool), .at_once = at_once};
    call.args = policy_json(&c->policy, args);
    c->d = (il_decision)IL_DECISION_INIT;
    (void)!il_monitor_decide(c->monitor, IL_STR("s1"), &call, &c->d, &c->err);
    return &c->d;
}

/* Not one ticket stays open, so that their number is no limit; control: without it, it is. */
static void once_settles(void **state) {
    (void)state;
    once_begin("");
    for (int i = 0; i < 3 * IL_TICKETS_MAX; i++) {
        assert_true(once_decide(i % 2 == 0 ? "n" : "e", "{\"x\":\"a\"}", true)->run);
        assert_int_equal(monitor_session(&once_of, "s1").ntickets, 0);
    }
    assert_int_equal(monitor_rows(&once_of, "decision"), 3 * IL_TICKETS_MAX);
    assert_int_equal(monitor_rows(&once_of, "settle"), 3 * IL_TICKETS_MAX);
    assert_int_equal(monitor_settle(&once_of, once_of.d.ticket, IL_OUTCOME_DONE, 0), IL_E_STATE);
    for (int i = 0; i < IL_TICKETS_MAX; i++) {
        assert_true(once_decide("n", "{\"x\":\"a\"}", false)->run);
    }
    assert_string_equal(once_decide("n", "{\"x\":\"a\"}", false)->reason, "too-many-in-flight");
    monitor_case_free(&once_of);
}

/* What it brings stays, as after a call that failed. */
static void once_is_its_worst(void **state) {
    (void)state;
    once_begin("");
    assert_true(once_decide("u", "{}", true)->run);
    assert_true(once_decide("s", "{}", true)->run);
    const il_decision *d = once_decide("e", "{}", true);
    assert_false(d->run);
    assert_string_equal(d->reason, "lethal-trifecta");
    assert_int_equal(monitor_rows(&once_of, "settle"), 2);
    monitor_case_free(&once_of);
}

/* Where the call itself is remembered the settlement is a commit of its own; either way nothing is open, and another's turn in between changes nothing. */
static void once_rival(void *ctx) {
    monitor_case *c = ctx;
    il_decision d = IL_DECISION_INIT;
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = IL_STR("s"), .at_once = true};
    assert_int_equal(il_monitor_decide(c->monitor, IL_STR("s1"), &call, &d, NULL), IL_OK);
}

static void once_with_episodes(void **state) {
    (void)state;
    for (int laundering = 0; laundering < 2; laundering++) {
        once_begin(laundering ? "audit: { laundering: true }\n" : "");
        for (int i = 0; i < 4; i++) {
            once_of.store.rival = once_rival;
            once_of.store.rival_ctx = &once_of;
            assert_true(once_decide("e", "{\"x\":\"the text of a page that is sent\"}", true)->run);
            assert_int_equal(monitor_session(&once_of, "s1").ntickets, 0);
        }
        assert_int_equal(monitor_rows(&once_of, "decision"), monitor_rows(&once_of, "settle"));
        monitor_case_free(&once_of);
    }
}

/* Whichever turn of the store fails, also that of a settlement of its own: what is not settled does not run. */
static void once_without_store(void **state) {
    (void)state;
    for (int laundering = 0; laundering < 2; laundering++) {
        bool ran = false, unsettled = false;
        for (size_t n = 0; n < 32 && !ran; n++) {
            once_begin(laundering ? "audit: { laundering: true }\n" : "");
            assert_true(once_decide("n", "{\"x\":\"a\"}", true)->run);
            once_of.store.fail_after = n;
            ran = once_decide("e", "{\"x\":\"the text of a page that is sent\"}", true)->run;
            once_of.store.fail_after = SIZE_MAX;
            const uint32_t open = monitor_session(&once_of, "s1").ntickets;
            assert_true(ran ? open == 0 : once_of.d.layer == IL_LAYER_FAULT && once_of.d.ticket == 0);
            unsettled = unsettled || open > 0;
            monitor_case_free(&once_of);
        }
        assert_true(ran);
        assert_int_equal(unsettled,
                         laundering); /* admitted, and its settlement was lost: only where that is a commit of its own */
    }
}

/* Another agent's work is not settled for it. */
static void once_not_of_a_child(void **state) {
    (void)state;
    once_begin("");
    assert_true(once_decide("child", "{}", true)->child);
    assert_int_equal(monitor_session(&once_of, "s1").ntickets, 1);
    monitor_case_free(&once_of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_settles),       cmocka_unit_test(once_is_its_worst),   cmocka_unit_test(once_with_episodes),
        cmocka_unit_test(once_without_store), cmocka_unit_test(once_not_of_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
