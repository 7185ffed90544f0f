/* SPDX-License-Identifier: Apache-2.0 */
/* What a run held goes with a value in an envelope, and joins the session that gets it: names, taints and ways out; refused where the machine refuses. */
#include "helper_monitor.h"

#include "base/str.h"
#include <string.h>

#define KEY "0123456789abcdef0123456789abcdef"

static const char run_policy[] =
    "interlock: 1\n"
    "machine: trifecta\n"
    "servers: { in: { trust: inside } }\n"
    "sources: { kb: trusted, wiki: trusted }\n"
    "tools:\n"
    "  - { match: in.n, effects: [] }\n"
    "  - { match: in.s, effects: [sensitive] }\n"
    "  - { match: in.E, effects: [egress] }\n"
    "  - { match: in.web, effects: [] }\n"
    "  - { match: in.bo, effects: [] }\n"
    "  - { match: in.out, effects: [] }\n"
    "rules:\n"
    "  - { name: web, tools: in.web, when: '\"web\" in run.untrusted_sources && run.tainted', then: block }\n"
    "  - { name: bo, tools: in.bo, when: '\"bo\" in run.ingested_by && \"kb\" in run.sources && "
    "!(\"kb\" in run.untrusted_sources)', then: block }\n"
    "  - { name: out, tools: in.out, when: '\"egress\" in run.trifecta', then: block }\n";

typedef struct run_case {
    monitor_case m;
    il_run_state run;
} run_case;
static run_case run_of;

static int run_setup(void **state) {
    run_case *c = &run_of;
    memset(c, 0, sizeof *c);
    monitor_case_init(&c->m, run_policy);
    const il_begin begin = {.size = sizeof begin, .principal = IL_STR("eve")};
    assert_int_equal(il_monitor_begin(c->m.monitor, IL_STR("s2"), &begin, &c->m.err), IL_OK);
    *state = c;
    return 0;
}
static int run_teardown(void **state) {
    run_case *c = *state;
    il_origin_free((il_origin *)(uintptr_t)c->run.origin);
    monitor_case_free(&c->m);
    return 0;
}

static void run_notice(run_case *c, const char *from, const char *agent, bool untrusted) {
    const il_notice n = {
        .size = sizeof n, .from = il_str_of(from), .text = IL_STR("x"), .agent = il_str_of(agent), .untrusted = untrusted};
    assert_int_equal(il_monitor_notice(c->m.monitor, IL_STR("s1"), &n, &c->m.err), IL_OK);
}
static void run_is(run_case *c, const char *tool, il_action action, const char *reason) {
    assert_int_equal(monitor_decide_in(&c->m, "s2", tool, "{}"), IL_OK);
    if (c->m.d.action != action || strcmp(c->m.d.reason, reason) != 0) {
        fail_msg("%s: %s %s", tool, il_action_name(c->m.d.action), c->m.d.reason);
    }
}
static void run_carry(run_case *c) {
    il_origin_free((il_origin *)(uintptr_t)c->run.origin);
    assert_int_equal(il_monitor_carry(c->m.monitor, IL_STR("s1"), &c->m.memory.alloc, &c->run, &c->m.err), IL_OK);
}

static bool run_key(void *ctx, il_str id, il_str *secret) {
    (void)ctx;
    *secret = IL_STR(KEY);
    return il_str_eq(id, IL_STR("k"));
}
static bool run_fresh(void *ctx, il_str audience, const uint8_t nonce[IL_ENVELOPE_NONCE_BYTES], uint64_t expires_ms) {
    size_t *n = ctx;
    return audience.n > 0 && nonce[0] == 1 && expires_ms > 0 && (*n)++ == 0;
}

/* Through the wire: what comes out of the envelope is what joins. */
static il_status run_send(run_case *c, const char *audience, bool sealed) {
    static const il_envelope_key key = {{"k", 1}, {KEY, sizeof KEY - 1}};
    const il_envelope_pack how = {.size = sizeof how,
                                  .key = sealed ? &key : NULL,
                                  .audience = il_str_of(audience),
                                  .now_ms = 1000,
                                  .lasts_ms = 1000,
                                  .nonce = {1},
                                  .run = &c->run};
    size_t asked = 0, n = 0;
    const il_envelope_open open = {.size = sizeof open,
                                   .audience = IL_STR("s2"),
                                   .now_ms = 1500,
                                   .ctx = &asked,
                                   .key = run_key,
                                   .fresh = run_fresh,
                                   .channel_trusted = !sealed};
    char *text = NULL;
    il_envelope *e = NULL, *again = NULL;
    il_run_state run;
    assert_int_equal(
        il_envelope_text_new(&c->m.memory.alloc, policy_json(&c->m.policy, "\"v\""), NULL, 0, &how, &text, &n, &c->m.err), IL_OK);
    il_status s = il_envelope_new(&c->m.memory.alloc, (il_str){text, n}, &open, &e, &c->m.err);
    if (s == IL_OK) {
        assert_int_equal(il_envelope_new(&c->m.memory.alloc, (il_str){text, n}, &open, &again, &c->m.err), IL_E_STATE); /* once */
        assert_true(il_envelope_run(e, &run));
        s = il_monitor_receive(c->m.monitor, IL_STR("s2"), &run, &c->m.err);
    }
    il_envelope_free(e);
    c->m.memory.alloc.free(c->m.memory.alloc.ctx, text);
    return s;
}

static void test_names(void **state) {
    run_case *c = *state;
    run_notice(c, "kb", "bo", false);
    run_notice(c, "web", "ana", true);
    monitor_run(&c->m, "in.s", "{}");
    run_carry(c);
    assert_int_equal(c->run.effects, IL_SENSITIVE);
    run_is(c, "in.web", IL_ACTION_ALLOW, "");
    run_is(c, "in.bo", IL_ACTION_ALLOW, "");
    assert_int_equal(run_send(c, "s2", true), IL_OK);
    run_is(c, "in.bo", IL_ACTION_BLOCK, "bo");
    assert_int_equal(monitor_session(&c->m, "s2").counted, IL_SENSITIVE);
    run_is(c, "in.web", IL_ACTION_ALLOW, ""); /* control: a notice is no taint, there as here */
    const il_json *row = monitor_row(&c->m, "join");
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("child"))), IL_STR("envelope")));
}

/* A taint and a way out come along; what the receiving session holds then is what the machine judges. */
static void test_taints(void **state) {
    run_case *c = *state;
    const il_origin_at at = {IL_STR("/x"), NULL};
    const il_call call = {.size = sizeof call,
                          .server = IL_STR("in"),
                          .tool = IL_STR("n"),
                          .args = policy_json(&c->m.policy, "{\"x\":1}"),
                          .labels = &at,
                          .nlabels = 1};
    il_origin *web = NULL;
    il_origin_at labelled = at;
    il_call with = call;
    assert_int_equal(il_origin_new(&c->m.memory.alloc, IL_STR("web"), IL_STR("ana"), &web, NULL), IL_OK);
    labelled.origin = web;
    with.labels = &labelled;
    c->m.d = (il_decision)IL_DECISION_INIT;
    assert_int_equal(il_monitor_decide(c->m.monitor, IL_STR("s1"), &with, &c->m.d, &c->m.err), IL_OK);
    assert_int_equal(monitor_settle(&c->m, c->m.d.ticket, IL_OUTCOME_DONE, 0), IL_OK);
    run_notice(c, "web", "ana", true);
    monitor_run(&c->m, "in.E", "{}");
    run_carry(c);
    assert_int_equal(c->run.effects, IL_UNTRUSTED | IL_EGRESS);
    run_is(c, "in.out", IL_ACTION_ALLOW, "");
    assert_int_equal(run_send(c, "s2", true), IL_OK);
    run_is(c, "in.out", IL_ACTION_BLOCK, "out");
    run_is(c, "in.web", IL_ACTION_BLOCK, "web");
    run_is(c, "in.s", IL_ACTION_BLOCK, "lethal-trifecta");
    il_origin_free(web);
}

/* Where the session holds what the run's may not meet, nothing joins; nor into one that has ended, or for which it was not meant. */
static void test_refused(void **state) {
    run_case *c = *state;
    const il_run_state bad = {.size = sizeof bad, .effects = (uint32_t)(IL_UNTRUSTED | IL_EGRESS)}, none = {.size = 0};
    assert_int_equal(monitor_decide_in(&c->m, "s2", "in.s", "{}"), IL_OK);
    il_settlement settled = IL_SETTLEMENT_INIT;
    const il_outcome done = {.size = sizeof done, .how = IL_OUTCOME_DONE};
    assert_int_equal(il_monitor_settle(c->m.monitor, IL_STR("s2"), c->m.d.ticket, &done, &settled, &c->m.err), IL_OK);
    const il_session before = monitor_session(&c->m, "s2");
    assert_int_equal(il_monitor_receive(c->m.monitor, IL_STR("s2"), &bad, &c->m.err), IL_E_STATE);
    assert_non_null(strstr(c->m.err.msg, "lethal-trifecta"));
    const il_session after = monitor_session(&c->m, "s2");
    assert_true(before.state == after.state && before.episodes == after.episodes && monitor_rows(&c->m, "join") == 0);
    assert_int_equal(il_monitor_receive(c->m.monitor, IL_STR("s2"), &none, &c->m.err), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_receive(c->m.monitor, IL_STR("s3"), &bad, &c->m.err), IL_E_NOT_FOUND);
    run_carry(c);
    assert_int_equal(c->run.effects, 0);
    assert_null(c->run.origin);
    assert_int_equal(run_send(c, "s9", true), IL_E_MISMATCH);
    assert_int_equal(run_send(c, "s2", true), IL_OK); /* a run that held nothing joins as nothing */
    assert_int_equal(il_monitor_end(c->m.monitor, IL_STR("s2"), false, &c->m.err), IL_OK);
    assert_int_equal(run_send(c, "s2", true), IL_E_STATE);
}

/* Without a MAC the names that the policy trusts are not taken, and the rest is of unknown sources. */
static void test_unsealed(void **state) {
    run_case *c = *state;
    run_notice(c, "kb", "bo", false);
    run_carry(c);
    assert_int_equal(run_send(c, "s2", false), IL_OK);
    assert_int_equal(monitor_session(&c->m, "s2").counted, IL_UNTRUSTED);
}

/* A session that is tainted by what nobody named carries a label of unknown sources. */
static void test_unknown(void **state) {
    run_case *c = *state;
    const il_run_state run = {.size = sizeof run, .effects = (uint32_t)IL_UNTRUSTED};
    assert_int_equal(il_monitor_receive(c->m.monitor, IL_STR("s1"), &run, &c->m.err), IL_OK);
    run_carry(c);
    assert_true(c->run.effects == (uint32_t)IL_UNTRUSTED && il_origin_more(c->run.origin));
}

static void test_no_memory(void **state) {
    run_case *c = *state;
    run_notice(c, "kb", "bo", false);
    il_status s = IL_E_MEMORY;
    for (size_t left = 0; s != IL_OK; left++) {
        il_run_state run;
        assert_true(left < 1000);
        c->m.memory.left = left;
        s = il_monitor_carry(c->m.monitor, IL_STR("s1"), &c->m.memory.alloc, &run, &c->m.err);
        c->m.memory.left = SIZE_MAX;
        assert_true(s == IL_OK || (s == IL_E_MEMORY && run.size == 0));
        il_origin_free(s == IL_OK ? (il_origin *)(uintptr_t)run.origin : NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, run_setup, run_teardown),
        cmocka_unit_test_setup_teardown(test_taints, run_setup, run_teardown),
        cmocka_unit_test_setup_teardown(test_refused, run_setup, run_teardown),
        cmocka_unit_test_setup_teardown(test_unsealed, run_setup, run_teardown),
        cmocka_unit_test_setup_teardown(test_unknown, run_setup, run_teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, run_setup, run_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
