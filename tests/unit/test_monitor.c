/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's face: what a decision says, its record and message, monitor mode, beginnings, the monitor without a policy. */
#include "helper_monitor.h"

#include "monitor/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static il_str monitor_text(const il_json *o, const char *key) { return il_json_text(il_json_get(o, il_str_of(key))); }

/* A zeroed decision is a block. */
static void monitor_zero(void **state) {
    (void)state;
    il_decision d;
    il_settlement s;
    memset(&d, 0, sizeof d);
    memset(&s, 0, sizeof s);
    assert_int_equal(d.action, IL_ACTION_BLOCK);
    assert_int_equal(d.layer, IL_LAYER_FAULT);
    assert_false(d.run);
    assert_false(s.release);
}

/* The rejection names rule and source calls. */
static void monitor_explains(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    monitor_run(c, "in.n", "{\"secret-words\":1}");
    monitor_run(c, "in.s", "{\"secret-words\":1}");
    monitor_run(c, "in.s", "{}");
    uint64_t e = monitor_allow(c, "in.e", "{\"secret-words\":1}");
    monitor_deny(c, "in.ue", "{\"secret-words\":\"x\"}", "lethal-trifecta");
    assert_int_equal(c->d.layer, IL_LAYER_MACHINE);
    assert_int_equal(c->d.effects, IL_UNTRUSTED | IL_EGRESS);
    assert_int_equal(c->d.nwitnesses, 2);
    assert_int_equal(c->d.witnesses[0].effect, IL_SENSITIVE);
    assert_int_equal(c->d.witnesses[0].ticket, 2);
    assert_string_equal(c->d.witnesses[0].tool, "in.s");
    assert_int_equal(c->d.witnesses[1].effect, IL_EGRESS);
    assert_int_equal(c->d.witnesses[1].ticket, e);
    assert_string_equal(c->d.witnesses[1].tool, "in.e");
    assert_non_null(strstr(c->d.message, "lethal-trifecta"));
    assert_non_null(strstr(c->d.message, "`in.s` (call 2)"));
    assert_null(strstr(c->d.message, "secret-words"));
    /* what is settled is no witness any more; a standing sink is */
    assert_int_equal(monitor_settle(c, e, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_run(c, "in.E", "{}");
    monitor_run(c, "in.E", "{}");
    monitor_deny(c, "in.u", "{}", "lethal-trifecta");
    assert_int_equal(c->d.nwitnesses, 2);
    assert_int_equal(c->d.witnesses[1].ticket, e + 1); /* the denied call got no number */
    /* refined: no witness */
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.u", "{}");
    assert_int_equal(monitor_session(c, "s1").witnesses[0].ticket, t);
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_OK);
    assert_int_equal(monitor_session(c, "s1").witnesses[0].ticket, 0);
}

/* No tool name of any length spills the message. */
static void monitor_message_fits(void **state) {
    (void)state;
    static char yaml[2048], tool[IL_TOOL_BYTES];
    static monitor_case c;
    memset(tool, 'x', sizeof tool - 1);
    memcpy(tool, "in.", 3);
    (void)snprintf(yaml, sizeof yaml,
                   "interlock: 1\nmachine: trifecta\nservers: { in: { trust: inside } }\ntools:\n"
                   "  - { match: in.*, effects: [untrusted, sensitive, egress] }\n  - { match: %s, effects: [secret] }\n  - { "
                   "match: in.u, effects: [untrusted] }\n",
                   tool);
    monitor_case_init(&c, yaml);
    monitor_run(&c, tool, "{}");
    monitor_run(&c, "in.u", "{}");
    tool[5] = 'y';
    monitor_deny(&c, tool, "{}", "lethal-trifecta");
    assert_true(strlen(c.d.message) < sizeof c.d.message);
    assert_non_null(strstr(c.d.message, "tell the user"));
    monitor_case_free(&c);
}

/* The record has exactly the members of its schema, for each kind of decision. */
static void monitor_schema_members(monitor_case *c, const il_json *schema, const il_json *row) {
    const il_json *properties = il_json_get(schema, IL_STR("properties")), *required = il_json_get(schema, IL_STR("required"));
    assert_int_equal(il_json_count(properties), il_json_count(row));
    assert_int_equal(il_json_count(required), il_json_count(row));
    for (const il_json *v = il_json_first(row); v != NULL; v = il_json_next(v)) {
        const il_json *p = il_json_get(properties, il_json_key(v));
        if (p == NULL) {
            fail_msg("`%.*s` is not in the schema", IL_STR_ARG(il_json_key(v)));
        }
        const il_json *words = il_json_get(p, IL_STR("enum"));
        bool found = words == NULL;
        for (const il_json *w = il_json_first(words); w != NULL; w = il_json_next(w)) {
            found = found || (il_json_kind_of(w) == il_json_kind_of(v) && il_str_eq(il_json_text(w), il_json_text(v)));
        }
        if (!found) {
            fail_msg("`%.*s`: `%.*s` is not in the schema", IL_STR_ARG(il_json_key(v)), IL_STR_ARG(il_json_text(v)));
        }
    }
    (void)c;
}

static const il_json *monitor_schema(monitor_case *c, const char *path) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    (void)fclose(f);
    const il_json *v = policy_json(&c->policy, text);
    free(text);
    return v;
}

static void monitor_records(void **state) {
    monitor_case *c = *state;
    const il_json *decision = monitor_schema(c, "docs/schemas/decision.schema.json");
    const il_json *audit = il_json_get(monitor_schema(c, "docs/schemas/audit.schema.json"), IL_STR("$defs"));
    il_begin child = {.size = sizeof child, .parent = IL_STR("s1")};
    char id[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    monitor_deny(c, "in.E", "{}", "lethal-trifecta");
    monitor_deny(c, "in.\x01\xff", "{}", "unlabelled-tool");
    assert_int_not_equal(monitor_decide_in(c, "s1", "in.n", "[]"), IL_OK);
    memcpy(id, monitor_ask(c, "in.e", "{}"), sizeof id);
    assert_int_equal(il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &c->err), IL_OK);
    monitor_run(c, "in.e", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{}"), sizeof id);
    assert_int_equal(il_monitor_refuse(c->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &c->err), IL_OK);
    monitor_ask(c, "in.mail", "{\"to\":\"eve@evil.example\"}");
    const il_endorsement word = {.size = sizeof word, .kind = IL_STR("legal"), .by = IL_STR("ana")};
    assert_int_equal(il_monitor_endorse(c->monitor, IL_STR("s1"), &word, IL_STR("\"\xff"), &c->err), IL_OK);
    const il_origin_at label = {.path = IL_STR("/to/\xff"), .origin = NULL};
    const il_call labelled = {.size = sizeof labelled,
                              .server = IL_STR("in"),
                              .tool = IL_STR("n"),
                              .args = policy_json(&c->policy, "{\"to\":[1]}"),
                              .labels = &label,
                              .nlabels = 1};
    assert_int_equal(il_monitor_decide(c->monitor, IL_STR("s1"), &labelled, &c->d, &c->err), IL_OK);
    assert_int_equal(monitor_settle(c, c->d.ticket, IL_OUTCOME_DONE, 0), IL_OK);
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_OK);
    c->now += 600000;
    assert_int_equal(il_monitor_sweep(c->monitor, IL_STR("s1"), NULL, &c->err), IL_OK);
    assert_int_equal(il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("test"), &c->err), IL_OK);
    assert_int_equal(il_monitor_end(c->monitor, IL_STR("s1"), false, &c->err), IL_OK);
    static const char *const kinds[] = {"begin", "decision",   "settle", "request", "approve", "refuse",
                                        "lapse", "quarantine", "end",    "endorse", "labels"};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    bool seen[KINDS] = {false};
    for (size_t i = 0; i < c->store.nrows; i++) {
        const il_json *row = policy_json(&c->policy, c->store.rows[i].body);
        il_str kind = il_str_of(c->store.rows[i].kind), sorted = {0};
        il_buf b;
        for (size_t k = 0; k < KINDS; k++) {
            seen[k] = seen[k] || il_str_eq(kind, il_str_of(kinds[k]));
        }
        /* bodies are canonical */
        il_buf_init(&b, &c->policy.arena, SIZE_MAX);
        il_json_write(&b, row, IL_JSON_SORTED);
        assert_int_equal(il_buf_done(&b, &sorted, &c->err), IL_OK);
        assert_true(il_str_eq(sorted, il_str_of(c->store.rows[i].body)));
        if (il_str_eq(kind, IL_STR("decision"))) {
            monitor_schema_members(c, decision, row);
        } else {
            monitor_schema_members(c, il_json_get(audit, il_str_eq(kind, IL_STR("refuse")) ? IL_STR("approve") : kind), row);
        }
    }
    for (size_t k = 0; k < KINDS; k++) {
        assert_true(seen[k]);
    }
    const il_json *to = il_json_get(monitor_row(c, "request"), IL_STR("destinations"));
    assert_true(il_str_eq(il_json_text(il_json_first(to)), IL_STR("eve@evil.example")));
}

/* Monitor mode: everything runs but a fault; taints of what was rejected count where the machine takes them. */
static void monitor_mode(void **state) {
    (void)state;
    static monitor_case c;
    char yaml[4096];
    (void)snprintf(yaml, sizeof yaml, "%smode: monitor\n", monitor_policy);
    monitor_case_init(&c, yaml);
    assert_true(monitor_session(&c, "s1").unenforced);
    monitor_run(&c, "in.us", "{}");
    assert_true(c.d.unenforced);
    const il_decision *d = monitor_decide(&c, "in.E", "{}");
    assert_true(d->action == IL_ACTION_BLOCK && d->run && d->unenforced && d->ticket != 0);
    assert_string_equal(d->reason, "lethal-trifecta");
    monitor_is(&c, "open", "false"); /* the machine did not accept it */
    assert_int_equal(monitor_session(&c, "s1").shadow, IL_EGRESS);
    assert_int_equal(monitor_session(&c, "s1").tickets[0].flags, IL_TICKET_SHADOW);
    assert_int_equal(monitor_settle(&c, d->ticket, IL_OUTCOME_DONE, 0), IL_OK);
    assert_true(c.s.release);
    assert_int_equal(monitor_session(&c, "s1").ntickets, 0);
    /* what would wait for a human runs as well; nobody is asked */
    d = monitor_decide(&c, "in.e", "{}");
    assert_true(d->action == IL_ACTION_REQUIRE_APPROVAL && d->run && d->ticket != 0 && d->approval[0] == '\0');
    monitor_is(&c, "asked", "0");
    /* and what no entry names, under whatever name */
    d = monitor_decide(&c, "in.unknown tool", "{}");
    assert_true(d->action == IL_ACTION_BLOCK && d->run && d->layer == IL_LAYER_LABELLER && d->ticket != 0);
    monitor_run(&c, "in.n", "{}");
    /* a fault does not run */
    assert_int_not_equal(monitor_decide_in(&c, "s1", "in.n", "[]"), IL_OK);
    assert_false(c.d.run);
    /* rejected with taints of its own: they count although its egress does not */
    monitor_again(&c);
    monitor_run(&c, "in.s", "{}");
    d = monitor_decide(&c, "in.uE", "{}");
    assert_true(d->action == IL_ACTION_BLOCK && d->run && d->ticket != 0);
    monitor_is(&c, "untrusted", "fresh");
    monitor_is(&c, "open", "false");
    assert_int_equal(monitor_settle(&c, d->ticket, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(&c, "untrusted", "held");
    /* the machine takes not even the taint: it stands in the session's shadow, and destinations are judged with it */
    monitor_again(&c);
    monitor_run(&c, "in.E", "{}");
    monitor_run(&c, "in.u", "{}");
    d = monitor_decide(&c, "in.s", "{}");
    assert_true(d->action == IL_ACTION_BLOCK && d->run);
    monitor_is(&c, "sensitive", "none");
    assert_int_equal(monitor_session(&c, "s1").shadow, IL_SENSITIVE);
    /* results get out of a quarantined session too; its calls are recorded as denied */
    uint64_t t = monitor_allow(&c, "in.n", "{}");
    assert_int_equal(il_monitor_quarantine(c.monitor, IL_STR("s1"), IL_STR("test"), &c.err), IL_OK);
    assert_int_equal(monitor_settle(&c, t, IL_OUTCOME_DONE, 0), IL_OK);
    assert_true(c.s.release && c.s.quarantined);
    /* a host may only tighten */
    monitor_again(&c);
    il_monitor *loose = c.monitor;
    c.monitor = monitor_make(&c, c.policy.policy, NULL, true);
    monitor_run(&c, "in.us", "{}");
    monitor_deny(&c, "in.E", "{}", "lethal-trifecta");
    assert_true(c.d.unenforced); /* it began in monitor mode */
    il_monitor_free(c.monitor);
    c.monitor = loose;
    monitor_case_free(&c);
}

static void monitor_begins(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    il_begin how = {.size = sizeof how, .principal = IL_STR("ana")};
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_E_EXISTS);
    how.resume = true;
    monitor_run(c, "in.u", "{}");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_OK);
    monitor_is(c, "untrusted", "held"); /* resuming lowers nothing */
    assert_int_equal(monitor_rows(c, "begin"), 2);
    how.principal = IL_STR("eve");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_E_MISMATCH);
    how.principal = (il_str){0};
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_E_MISMATCH);
    how.principal = IL_STR("a\x01");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_E_ARGUMENT);
    how.principal = IL_STR("ana");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s2"), &how, &c->err), IL_OK);
    how.parent = IL_STR("s3");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s3"), &how, &c->err), IL_E_ARGUMENT);
    how.size = 0;
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s4"), &how, &c->err), IL_E_ARGUMENT);
    c->store.conflict = true;
    how = (il_begin){.size = sizeof how};
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s5"), &how, &c->err), IL_E_BUSY);
}

/* A new session with the effects of the old one gone: sessions do not touch each other. */
static void monitor_sessions_are_apart(void **state) {
    monitor_case *c = *state;
    il_begin how = {.size = sizeof how, .principal = IL_STR("ana")};
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s2"), &how, &c->err), IL_OK);
    assert_int_equal(monitor_decide_in(c, "s2", "in.E", "{}"), IL_OK);
    assert_true(c->d.run);
    monitor_deny(c, "in.E", "{}", "lethal-trifecta");
}

typedef struct monitor_list {
    size_t n;
    il_approval last;
    char id[IL_APPROVAL_ID_BYTES], tool[IL_TOOL_BYTES], reason[IL_REASON_BYTES];
} monitor_list;

static bool monitor_visit(void *ctx, const il_approval *a) {
    monitor_list *l = ctx;
    l->n++;
    l->last = *a;
    (void)snprintf(l->id, sizeof l->id, "%s", a->id);
    (void)snprintf(l->tool, sizeof l->tool, "%s", a->tool);
    (void)snprintf(l->reason, sizeof l->reason, "%s", a->reason);
    return l->n < 2;
}

/* The commands' monitor: a machine and no policy. It lists, answers, quarantines and ends; the grant lasts as the policy said. */
static void monitor_without_policy(void **state) {
    monitor_case *c = *state;
    monitor_list l = {0};
    char id[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{}"), sizeof id);
    il_monitor *with = c->monitor, *bare = monitor_make(c, NULL, c->policy.machine, false);
    assert_int_equal(il_monitor_approvals(bare, IL_STR("s1"), monitor_visit, &l, &c->err), IL_OK);
    assert_int_equal(l.n, 1);
    assert_string_equal(l.id, id);
    assert_string_equal(l.tool, "in.e");
    assert_string_equal(l.reason, "lethal-trifecta");
    assert_false(l.last.granted);
    assert_int_equal(l.last.effects, IL_EGRESS);
    c->now += 1000;
    assert_int_equal(il_monitor_approve(bare, IL_STR("s1"), il_str_of(id), IL_STR("uid:1000"), &c->err), IL_OK);
    assert_int_equal(il_monitor_approvals(bare, IL_STR("s1"), monitor_visit, &l, &c->err), IL_OK);
    assert_true(l.last.granted);
    assert_int_equal(l.last.expires_ms, c->now + 600000);
    assert_true(il_str_eq(monitor_text(monitor_row(c, "approve"), "by"), IL_STR("uid:1000")));
    assert_int_equal(il_monitor_approve(bare, IL_STR("s1"), il_str_of(id), IL_STR("a\nb"), &c->err), IL_E_ARGUMENT);
    monitor_run(c, "in.e", "{}");
    l.n = 0;
    assert_int_equal(il_monitor_approvals(bare, IL_STR("s1"), monitor_visit, &l, &c->err), IL_OK);
    assert_int_equal(l.n, 0);
    assert_int_equal(il_monitor_approvals(bare, IL_STR("nobody"), monitor_visit, &l, &c->err), IL_E_NOT_FOUND);
    assert_int_equal(il_monitor_approvals(bare, IL_STR("s1"), NULL, &l, &c->err), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_quarantine(bare, IL_STR("s1"), IL_STR("two words"), &c->err), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_quarantine(bare, IL_STR("s1"), IL_STR("operator"), &c->err), IL_OK);
    assert_int_equal(il_monitor_end(bare, IL_STR("s1"), false, &c->err), IL_OK);
    assert_ptr_equal(c->monitor, with);
    il_monitor_free(bare);
}

static void monitor_configurations(void **state) {
    monitor_case *c = *state;
    il_monitor *m = NULL;
    il_monitor_config config = {.size = sizeof config};
    assert_int_equal(il_monitor_new(&c->memory.alloc, &config, &m, &c->err), IL_E_ARGUMENT);
    config.store.size = sizeof(il_store);
    config.host.size = sizeof(il_host);
    assert_int_equal(il_monitor_new(&c->memory.alloc, &config, &m, &c->err), IL_E_ARGUMENT);
    config.size = 0;
    assert_int_equal(il_monitor_new(&c->memory.alloc, &config, &m, &c->err), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_new(&c->memory.alloc, NULL, &m, &c->err), IL_E_ARGUMENT);
    assert_null(m);
    il_monitor_free(NULL);
    /* settle takes no outcome without its size, and says nothing to one */
    il_outcome o = {.size = 0};
    c->s = (il_settlement)IL_SETTLEMENT_INIT;
    assert_int_equal(il_monitor_settle(c->monitor, IL_STR("s1"), 1, &o, &c->s, &c->err), IL_E_ARGUMENT);
    assert_false(c->s.release);
    assert_int_equal(il_monitor_settle(c->monitor, IL_STR("s1"), 1, &o, NULL, &c->err), IL_E_ARGUMENT);
}

static int monitor_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}
static int monitor_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monitor_zero),
        cmocka_unit_test(monitor_explains),
        cmocka_unit_test(monitor_message_fits),
        cmocka_unit_test(monitor_records),
        cmocka_unit_test(monitor_mode),
        cmocka_unit_test(monitor_begins),
        cmocka_unit_test(monitor_sessions_are_apart),
        cmocka_unit_test(monitor_without_policy),
        cmocka_unit_test(monitor_configurations),
    };
    return cmocka_run_group_tests(tests, monitor_setup, monitor_teardown);
}
