/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor over the larger machine: secrets by themselves, commits, and approvals that are for a commit and not for a crossing. */
#include "helper_monitor.h"

#include "policy/bind.h"
#include <string.h>

static const char standard_policy[] = "interlock: 1\n"
                                      "machine: standard\n"
                                      "servers: { in: { trust: inside } }\n"
                                      "approvals: { expires: 10m }\n"
                                      "tools:\n"
                                      "  - { match: in.u, effects: [untrusted] }\n"
                                      "  - { match: in.s, effects: [sensitive] }\n"
                                      "  - { match: in.k, effects: [secret] }\n"
                                      "  - { match: in.e, effects: [egress], sink: once }\n"
                                      "  - { match: in.c, effects: [commit] }\n"
                                      "  - { match: in.ce, effects: [commit, egress], sink: once }\n";

static void standard_approve(monitor_case *c, const char *id) {
    assert_int_equal(il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &c->err), IL_OK);
}

static void standard_binds(void **state) {
    monitor_case *c = *state;
    il_bind b;
    assert_int_equal(il_bind_open(c->policy.machine, &b, &c->err), IL_OK);
    assert_true(b.refines && b.joins && b.approves);
    assert_int_equal(b.slots, 2);
    assert_int_not_equal(b.secret, UINT32_MAX);
}

static void standard_secrets(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    monitor_run(c, "in.k", "{}");
    monitor_is(c, "secret", "held");
    monitor_is(c, "sensitive", "held");
    monitor_deny(c, "in.e", "{}", "secret-egress"); /* final: nobody is asked */
    monitor_is(c, "asked", "0");
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.e", "{}");
    monitor_deny(c, "in.k", "{}", "secret-egress");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_run(c, "in.k", "{}");
    /* a secret alone is never lowered, since its payload says sensitive as well */
    monitor_again(c);
    t = monitor_allow(c, "in.k", "{}");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_SECRET), IL_OK);
    monitor_is(c, "secret", "held");
    monitor_again(c);
    t = monitor_allow(c, "in.k", "{}");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_SENSITIVE | IL_SECRET), IL_OK);
    monitor_is(c, "secret", "none");
    monitor_is(c, "sensitive", "none");
    assert_int_equal(monitor_session(c, "s1").counted, 0);
}

static void standard_commits(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.c", "{}"); /* before anything untrusted */
    monitor_run(c, "in.u", "{}");
    memcpy(id, monitor_ask(c, "in.c", "{}"), sizeof id);
    assert_string_equal(c->d.reason, "tainted-commit");
    standard_approve(c, id);
    monitor_run(c, "in.c", "{}");
    monitor_is(c, "granted", "0");
    monitor_is(c, "crossing", "none");
    monitor_ask(c, "in.c", "{}");
}

/* An approval exempts only what it was needed for: the egress beside an approved commit is an unapproved one. */
static void standard_commit_with_egress(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.u", "{}");
    memcpy(id, monitor_ask(c, "in.ce", "{}"), sizeof id);
    standard_approve(c, id);
    uint64_t t = monitor_allow(c, "in.ce", "{}");
    assert_int_equal(monitor_session(c, "s1").tickets[0].flags, IL_TICKET_ONCE);
    monitor_is(c, "flight", "foreign");
    monitor_is(c, "crossing", "none");
    monitor_deny(c, "in.s", "{}", "lethal-trifecta");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "flight", "none");
    monitor_run(c, "in.s", "{}");
    /* with both, the approval is for the crossing */
    memcpy(id, monitor_ask(c, "in.ce", "{}"), sizeof id);
    standard_approve(c, id);
    t = monitor_allow(c, "in.ce", "{}");
    assert_int_equal(monitor_session(c, "s1").tickets[0].flags, IL_TICKET_CROSSING);
    monitor_is(c, "crossing", "foreign");
    monitor_is(c, "flight", "none");
    monitor_deny(c, "in.k", "{}", "secret-egress");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "crossing", "none");
    monitor_run(c, "in.k", "{}");
}

static int standard_setup(void **state) {
    static monitor_case c;
    monitor_case_init_with(&c, "standard", standard_policy);
    *state = &c;
    return 0;
}
static int standard_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(standard_binds), cmocka_unit_test(standard_secrets),
                                       cmocka_unit_test(standard_commits), cmocka_unit_test(standard_commit_with_egress)};
    return cmocka_run_group_tests(tests, standard_setup, standard_teardown);
}
