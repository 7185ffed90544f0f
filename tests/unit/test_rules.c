/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: the first that matches decides, and none makes the machine accept what it rejects. */
#include "helper_monitor.h"

#include "ledger/row_steps.h"
#include "policy/rule.h"
#include <stdio.h>
#include <string.h>

#define ANSWER(f, c, id, by) f((c)->monitor, IL_STR("s1"), il_str_of(id), IL_STR(by), &(c)->err)

static const char rules_policy[] =
    "interlock: 1\n"
    "machine: standard\n"
    "ours: { email: ['@acme.example'] }\n"
    "groups: { finance: [ana] }\n"
    "servers: { in: { trust: inside, sql: { secret: [tokens], untrusted: [tickets], public: [] } } }\n"
    "tools:\n"
    "  - { match: in.u, effects: [untrusted] }\n"
    "  - { match: in.s, effects: [sensitive] }\n"
    "  - { match: in.k, effects: [secret] }\n"
    "  - { match: 'in.(n|n2|n3)', effects: [] }\n"
    "  - { match: in.e, effects: [egress], sink: once }\n"
    "  - { match: in.pay, effects: [], plain: [amount, to] }\n"
    "  - { match: in.mail, effects: [egress], sink: once, audience: addressed, to: { email: to }, plain: [text] }\n"
    "  - { match: in.sql, sql: q, effects: { secret: sql.reads(\"secret\"), untrusted: sql.reads(\"untrusted\"), commit: "
    "sql.writes(\"any\") } }\n"
    "rules:\n"
    "  - { name: finance-only, tools: in.pay, when: '!(\"finance\" in agent.groups)', then: block }\n"
    "  - { name: large, tools: in.pay, when: args.amount > 5000, then: require_approval }\n"
    "  - { tools: [in.n*, '!in.n2'], when: run.tainted, then: block }\n"
    "  - { name: sure, tools: in.n2, then: allow }\n"
    "  - { name: never, tools: in.n2, then: block }\n"
    "  - { name: no-secret, tools: '*', when: carries(\"secret\"), then: block }\n"
    "  - { name: known, tools: in.mail, when: '!vouched(args.to)', then: require_approval }\n"
    "  - { name: no-writes, tools: in.sql, when: sql.writes(\"any\"), then: block }\n"
    "  - { name: phase, tools: in.e, when: 'state.phase != \"live\"', then: block }\n"
    "approvals: { for: [egress, commit], by: [ana, bob], budget: 3/hour, expires: 10m }\n";

static void rules_begin(monitor_case *c, const char *principal) {
    const il_begin how = {.size = sizeof how, .principal = il_str_of(principal)};
    c->store.nobjects = 0;
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_OK);
}

static void rules_is(monitor_case *c, il_action action, il_layer layer, const char *reason) {
    if (c->d.action != action || c->d.layer != layer || strcmp(c->d.reason, reason) != 0) {
        fail_msg("%s by %s: %s, not %s by %s: %s", il_action_name(c->d.action), il_layer_name(c->d.layer), c->d.reason,
                 il_action_name(action), il_layer_name(layer), reason);
    }
    assert_int_equal(c->d.run, action == IL_ACTION_ALLOW);
}

static void test_first_match(void **state) {
    monitor_case *c = *state;
    rules_begin(c, "ana");
    monitor_decide(c, "in.pay", "{\"amount\":5000}");
    rules_is(c, IL_ACTION_ALLOW, IL_LAYER_NONE, "");
    monitor_run(c, "in.n", "{}");
    monitor_run(c, "in.u", "{}");
    monitor_decide(c, "in.n", "{}");
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "rule-3");
    assert_non_null(strstr(c->d.message, "rule `rule-3` (line 18)"));
    monitor_decide(c, "in.n2", "{}"); /* excluded there; then the first of two */
    rules_is(c, IL_ACTION_ALLOW, IL_LAYER_NONE, "");
    rules_begin(c, "eve");
    monitor_decide(c, "in.pay", "{\"amount\":1}");
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "finance-only");
    rules_begin(c, "");
    monitor_decide(c, "in.pay", "{\"amount\":1}");
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "finance-only");
    const il_json *row = monitor_row(c, "decision");
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("layer"))), IL_STR("rule")));
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("why"))), IL_STR("rule `finance-only` (line 16)")));
}

/* A blocked call leaves the session's bytes as they were. */
static void test_no_trace(void **state) {
    monitor_case *c = *state;
    rules_begin(c, "eve");
    monitor_run(c, "in.s", "{}");
    const store_object before = *monitor_object(c, "s1");
    monitor_decide(c, "in.pay", "{\"amount\":1}");
    const store_object *after = monitor_object(c, "s1");
    assert_int_equal(after->n, before.n);
    assert_memory_equal(after->state, before.state, before.n);
    assert_int_equal(after->version, before.version);
}

static void test_carries(void **state) {
    monitor_case *c = *state;
    rules_begin(c, "ana");
    monitor_run(c, "in.mail", "{\"to\":\"bob@acme.example\"}");
    monitor_run(c, "in.k", "{}");
    monitor_decide(c, "in.mail", "{\"to\":\"bob@acme.example\"}"); /* vouched, and a sink all the same */
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "no-secret");
    monitor_run(c, "in.n", "{}");
    /* the machine stops it as well: the machine is named */
    monitor_decide(c, "in.e", "{}");
    assert_int_equal(c->d.layer, IL_LAYER_MACHINE);
}

static void test_statements(void **state) {
    monitor_case *c = *state;
    rules_begin(c, "ana");
    monitor_decide(c, "in.sql", "{\"q\":\"select a from notes\"}");
    rules_is(c, IL_ACTION_ALLOW, IL_LAYER_NONE, "");
    assert_int_equal(c->d.effects, 0);
    monitor_decide(c, "in.sql", "{\"q\":\"select a from tickets\"}");
    assert_int_equal(c->d.effects, IL_UNTRUSTED);
    monitor_decide(c, "in.sql", "{\"q\":\"select a from tokens\"}");
    assert_int_equal(c->d.effects, IL_SECRET | IL_SENSITIVE);
    monitor_decide(c, "in.sql", "{\"q\":\"delete from notes\"}");
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "no-writes");
    monitor_decide(c, "in.sql", "{\"q\":\"do what you want\"}");
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "no-writes");
    assert_int_equal(c->d.effects, IL_UNTRUSTED | IL_SECRET | IL_SENSITIVE | IL_COMMIT);
    assert_int_not_equal(monitor_decide_in(c, "s1", "in.sql", "{}"), IL_OK); /* nothing to be read: the rule errs */
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_FAULT, "condition-error");
}

/* Asked for by a rule: the machine accepted anyway, so the grant is used up by itself and the call admitted as any other, in one commit. */
static void test_approval(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES], text[256];
    rules_begin(c, "ana");
    memcpy(id, monitor_ask(c, "in.pay", "{\"amount\":9000}"), sizeof id);
    rules_is(c, IL_ACTION_REQUIRE_APPROVAL, IL_LAYER_RULE, "large");
    monitor_is(c, "asked", "1");
    assert_string_equal(monitor_ask(c, "in.pay", "{\"amount\":9000}"), id);
    assert_int_equal(ANSWER(il_monitor_approve, c, id, "eve"), IL_E_PERMISSION);
    assert_int_equal(ANSWER(il_monitor_approve, c, id, "ana"), IL_OK);
    monitor_is(c, "granted", "1");
    monitor_ask(c, "in.pay", "{\"amount\":9001}"); /* another call */
    const size_t commits = c->store.commits, lapses = monitor_rows(c, "lapse");
    const uint64_t ticket = monitor_allow(c, "in.pay", "{\"amount\":9000}");
    assert_int_equal(c->store.commits, commits + 1);
    assert_int_equal(monitor_rows(c, "lapse"), lapses + 1);
    assert_string_equal(c->d.approval, id);
    (void)il_machine_symbol_text(c->policy.machine, c->d.symbol, text, sizeof text);
    assert_non_null(strstr(text, "approved=false"));
    monitor_is(c, "granted", "0");
    monitor_is(c, "asked", "1");
    assert_int_equal(monitor_settle(c, ticket, IL_OUTCOME_DONE, 0), IL_OK);
    /* used up: the third and last of this hour is asked */
    monitor_ask(c, "in.pay", "{\"amount\":9000}");
}

/* Somebody who may not, and has no policy at hand, grants nothing. */
static void test_answered_elsewhere(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    il_monitor *other = monitor_make(c, NULL, c->policy.machine, false);
    rules_begin(c, "ana");
    memcpy(id, monitor_ask(c, "in.pay", "{\"amount\":9000}"), sizeof id);
    assert_int_equal(il_monitor_approve(other, IL_STR("s1"), il_str_of(id), IL_STR("eve"), &c->err), IL_OK);
    monitor_decide(c, "in.pay", "{\"amount\":9000}");
    rules_is(c, IL_ACTION_REQUIRE_APPROVAL, IL_LAYER_RULE, "large");
    rules_begin(c, "ana");
    memcpy(id, monitor_ask(c, "in.pay", "{\"amount\":9000}"), sizeof id);
    assert_int_equal(il_monitor_approve(other, IL_STR("s1"), il_str_of(id), IL_STR("bob"), &c->err), IL_OK);
    monitor_allow(c, "in.pay", "{\"amount\":9000}");
    il_monitor_free(other);
}

/* A taint that is newly gained voids it, as any approval. */
static void test_void(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    rules_begin(c, "ana");
    memcpy(id, monitor_ask(c, "in.pay", "{\"amount\":9000}"), sizeof id);
    assert_int_equal(ANSWER(il_monitor_approve, c, id, "ana"), IL_OK);
    monitor_run(c, "in.u", "{}");
    assert_string_not_equal(monitor_ask(c, "in.pay", "{\"amount\":9000}"), id);
}

static void test_budget(void **state) {
    monitor_case *c = *state;
    rules_begin(c, "ana");
    for (int i = 0; i < 2; i++) {
        char args[64];
        (void)snprintf(args, sizeof args, "{\"amount\":%d}", 9000 + i);
        const char *id = monitor_ask(c, "in.pay", args);
        assert_int_equal(ANSWER(il_monitor_refuse, c, id, "eve"), IL_OK);
    }
    monitor_ask(c, "in.mail", "{\"to\":\"x@evil.example\"}");
    monitor_decide(c, "in.pay", "{\"amount\":9005}");
    rules_is(c, IL_ACTION_BLOCK, IL_LAYER_RULE, "large");
    assert_non_null(strstr(c->d.message, "line 25"));
    assert_non_null(strstr(c->d.message, "budget"));
    c->now += 3600000;
    monitor_ask(c, "in.pay", "{\"amount\":9005}");
}

/* No rule makes the machine accept; the strictest wins, and a grant of the machine's does not pass a rule. */
static void test_only_tighten(void **state) {
    (void)state;
    monitor_case c;
    char id[IL_APPROVAL_ID_BYTES];
    monitor_case_init_with(&c, "standard",
                           "interlock: 1\nmachine: standard\nservers: { in: { trust: inside } }\n"
                           "tools:\n"
                           "  - { match: in.us, effects: [untrusted, sensitive] }\n"
                           "  - { match: in.E, effects: [egress] }\n"
                           "  - { match: 'in.(e|f|g)', effects: [egress], sink: once }\n"
                           "rules:\n"
                           "  - { tools: 'in.(E|e)', then: allow }\n"
                           "  - { tools: in.f, then: block }\n"
                           "  - { tools: in.g, then: require_approval }\n"
                           "approvals: {}\n");
    monitor_run(&c, "in.us", "{}");
    monitor_decide(&c, "in.E", "{}");
    rules_is(&c, IL_ACTION_BLOCK, IL_LAYER_MACHINE, "lethal-trifecta");
    monitor_ask(&c, "in.e", "{}");
    rules_is(&c, IL_ACTION_REQUIRE_APPROVAL, IL_LAYER_MACHINE, "lethal-trifecta");
    monitor_decide(&c, "in.f", "{}");
    rules_is(&c, IL_ACTION_BLOCK, IL_LAYER_RULE, "rule-2");
    /* both want a human: one answer is enough */
    memcpy(id, monitor_ask(&c, "in.g", "{}"), sizeof id);
    rules_is(&c, IL_ACTION_REQUIRE_APPROVAL, IL_LAYER_MACHINE, "lethal-trifecta");
    assert_int_equal(ANSWER(il_monitor_approve, &c, id, "ana"), IL_OK);
    monitor_allow(&c, "in.g", "{}");
    monitor_case_free(&c);
}

/* Monitor mode: said, recorded, run, and the session counts what ran. */
static void test_monitor_mode(void **state) {
    (void)state;
    monitor_case c;
    monitor_case_init_with(&c, "standard",
                           "interlock: 1\nmachine: standard\nmode: monitor\nservers: { in: { trust: inside } }\n"
                           "tools:\n"
                           "  - { match: 'in.(u|v)', effects: [untrusted] }\n"
                           "  - { match: in.x, effects: [] }\n"
                           "rules:\n"
                           "  - { tools: in.u, then: block }\n"
                           "  - { tools: in.v, then: require_approval }\n"
                           "  - { tools: in.x, when: args.n > 1, then: block }\n");
    monitor_decide(&c, "in.u", "{}");
    assert_int_equal(c.d.action, IL_ACTION_BLOCK);
    assert_true(c.d.run && c.d.unenforced && c.d.ticket != 0);
    monitor_is(&c, "untrusted", "fresh");
    monitor_decide(&c, "in.v", "{}");
    assert_int_equal(c.d.action, IL_ACTION_REQUIRE_APPROVAL);
    assert_true(c.d.run);
    assert_int_not_equal(monitor_decide_in(&c, "s1", "in.x", "{}"), IL_OK); /* a fault is a fault */
    assert_int_equal(c.d.layer, IL_LAYER_FAULT);
    assert_false(c.d.run);
    monitor_case_free(&c);
}

/* An agent has a mode of its own; the host may only tighten. */
static void test_agent_mode(void **state) {
    (void)state;
    monitor_case c;
    const il_begin bot = {.size = sizeof bot, .principal = IL_STR("bot")}, ana = {.size = sizeof ana, .principal = IL_STR("ana")};
    monitor_case_init_with(
        &c, "standard",
        "interlock: 1\nmachine: standard\nservers: { in: { trust: inside } }\nagents: { bot: { mode: monitor } }\n"
        "tools: [{ match: in.n, effects: [] }]\nrules: [{ tools: in.n, then: block }]\n");
    il_monitor *tight = monitor_make(&c, c.policy.policy, NULL, true);
    assert_int_equal(il_monitor_begin(c.monitor, IL_STR("b"), &bot, &c.err), IL_OK);
    assert_int_equal(il_monitor_begin(c.monitor, IL_STR("a"), &ana, &c.err), IL_OK);
    assert_int_equal(il_monitor_begin(tight, IL_STR("t"), &bot, &c.err), IL_OK);
    assert_int_equal(monitor_decide_in(&c, "b", "in.n", "{}"), IL_OK);
    assert_true(c.d.run && c.d.unenforced && c.d.action == IL_ACTION_BLOCK);
    assert_int_equal(monitor_decide_in(&c, "a", "in.n", "{}"), IL_OK);
    assert_false(c.d.run || c.d.unenforced);
    il_decision d = IL_DECISION_INIT;
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = IL_STR("n")};
    assert_int_equal(il_monitor_decide(tight, IL_STR("t"), &call, &d, &c.err), IL_OK);
    assert_false(d.run || d.unenforced);
    il_monitor_free(tight);
    monitor_case_free(&c);
}

static int rules_open(void **state) {
    static monitor_case c;
    monitor_case_init_with(&c, "standard", rules_policy);
    *state = &c;
    return 0;
}
static int rules_close(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_match),        cmocka_unit_test(test_no_trace),  cmocka_unit_test(test_carries),
        cmocka_unit_test(test_statements),         cmocka_unit_test(test_approval),  cmocka_unit_test(test_void),
        cmocka_unit_test(test_answered_elsewhere), cmocka_unit_test(test_budget),    cmocka_unit_test(test_only_tighten),
        cmocka_unit_test(test_monitor_mode),       cmocka_unit_test(test_agent_mode)};
    return cmocka_run_group_tests(tests, rules_open, rules_close);
}
