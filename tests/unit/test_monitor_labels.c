/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of arguments at the monitor: they taint the session, conditions see them by argument, a row says so; and endorsements, which only rules see. */
#include "helper_monitor.h"

#include "base/sha256.h"
#include "base/str.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A policy of rules over where each argument came from. */
static const char labels_policy[] = "interlock: 1\n"
                                    "machine: trifecta\n"
                                    "servers: { in: { trust: inside } }\n"
                                    "approvals: { by: [grace], expires: 10m }\n"
                                    "sources: { wiki: trusted, kb: trusted, forum: untrusted, intranet: trusted, a: trusted }\n"
                                    "tools:\n"
                                    "  - { match: in.n, effects: [] }\n"
                                    "  - { match: in.s, effects: [sensitive] }\n"
                                    "  - { match: in.e, effects: [egress], sink: once }\n"
                                    "  - { match: in.put, effects: [] }\n"
                                    "  - { match: in.ask, effects: [] }\n"
                                    "  - { match: in.run, effects: [] }\n"
                                    "  - { match: in.say, effects: [] }\n"
                                    "  - { match: in.copy, effects: [] }\n"
                                    "  - { match: in.read, effects: [] }\n"
                                    "rules:\n"
                                    "  - { name: copied, tools: in.copy, when: '\"in.read\" in prov.x.sources', then: block }\n"
                                    "  - { name: to, tools: in.put, when: 'prov.to.trust == \"untrusted\"', then: block }\n"
                                    "  - { name: from-kb, tools: in.ask, when: '!(\"kb\" in prov.body.sources)', then: block }\n"
                                    "  - { name: tainted, tools: in.run, when: 'run.tainted || \"web\" in run.untrusted_sources "
                                    "|| \"bo\" in run.ingested_by', then: block }\n"
                                    "  - { name: unread, tools: in.say, when: '!endorsed(args.text, \"legal\")', then: block }\n";

typedef struct labels_case {
    monitor_case m;
    il_origin *web, *kb, *both;
} labels_case;
static labels_case labels_of;

static int labels_setup(void **state) {
    labels_case *c = &labels_of;
    memset(c, 0, sizeof *c);
    monitor_case_init(&c->m, labels_policy);
    const il_alloc *a = &c->m.memory.alloc;
    assert_int_equal(il_origin_new(a, IL_STR("web"), IL_STR("bo"), &c->web, NULL), IL_OK);
    assert_int_equal(il_origin_new(a, IL_STR("kb"), IL_STR("ana"), &c->kb, NULL), IL_OK);
    assert_int_equal(il_origin_merge(a, (const il_origin *[]){c->kb, c->web}, 2, &c->both, NULL), IL_OK);
    *state = c;
    return 0;
}
static int labels_teardown(void **state) {
    labels_case *c = *state;
    il_origin_free(c->web);
    il_origin_free(c->kb);
    il_origin_free(c->both);
    monitor_case_free(&c->m);
    return 0;
}

static il_status labels_decide(labels_case *c, const char *tool, const char *args, const il_origin_at *labels, size_t n) {
    il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(tool), .labels = labels, .nlabels = n};
    call.args = args != NULL ? policy_json(&c->m.policy, args) : NULL;
    c->m.d = (il_decision)IL_DECISION_INIT;
    return il_monitor_decide(c->m.monitor, IL_STR("s1"), &call, &c->m.d, &c->m.err);
}
static void labels_run(labels_case *c, const char *tool, const char *args, const il_origin_at *labels, size_t n) {
    if (labels_decide(c, tool, args, labels, n) != IL_OK || c->m.d.action != IL_ACTION_ALLOW) {
        fail_msg("%s %s: %s %s", tool, args, c->m.d.reason, c->m.d.message);
    }
    assert_int_equal(monitor_settle(&c->m, c->m.d.ticket, IL_OUTCOME_DONE, 0), IL_OK);
}
static void labels_deny(labels_case *c, const char *tool, const char *args, const il_origin_at *labels, size_t n,
                        const char *reason) {
    assert_int_equal(labels_decide(c, tool, args, labels, n), IL_OK);
    assert_string_equal(c->m.d.reason, reason);
    assert_false(c->m.d.run);
}

/* Of the policy's `sources` only those that it trusts by their whole name. */
static void test_table(void **state) {
    labels_case *c = *state;
    const il_trust_table table = il_policy_trust(c->m.policy.policy), none = il_policy_trust(NULL);
    static const char *const trusted[] = {"a", "intranet", "kb", "wiki"}, *const others[] = {"",    "forum", "k", "kbb",
                                                                                             "web", "z",     "A"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(table.trusts(table.ctx, il_str_of(trusted[i])));
        assert_false(none.trusts(none.ctx, il_str_of(trusted[i])));
    }
    for (size_t i = 0; i < 7; i++) {
        assert_false(table.trusts(table.ctx, il_str_of(others[i])));
    }
}

/* A value that was labelled elsewhere taints the session it comes to, and a way out is shut for the rest of it. */
static void test_taints(void **state) {
    labels_case *c = *state;
    const il_origin_at kb = {IL_STR("/x"), c->kb}, web = {IL_STR("/x"), c->web};
    labels_run(c, "s", "{}", NULL, 0);
    labels_run(c, "n", "{\"x\":1}", NULL, 0);
    assert_int_equal(monitor_rows(&c->m, "labels"), 0);
    labels_run(c, "n", "{\"x\":1}", &kb, 1); /* control: a trusted label adds nothing */
    monitor_is(&c->m, "untrusted", "none");
    assert_int_equal(c->m.d.effects, 0);
    assert_int_equal(monitor_rows(&c->m, "labels"), 0);
    labels_run(c, "n", "{\"x\":1}", &web, 1);
    assert_int_equal(c->m.d.effects, IL_UNTRUSTED);
    const il_json *row = monitor_row(&c->m, "labels"), *one = il_json_first(il_json_get(row, IL_STR("labels")));
    int64_t count = 0;
    assert_true(il_json_int(il_json_get(row, IL_STR("count")), &count) && count == 1);
    assert_true(il_json_bool(il_json_get(one, IL_STR("untrusted"))));
    assert_true(il_str_eq(il_json_text(il_json_get(one, IL_STR("path"))), IL_STR("/x")));
    assert_true(il_str_eq(il_json_text(il_json_first(il_json_get(one, IL_STR("sources")))), IL_STR("web")));
    assert_int_equal(monitor_session(&c->m, "s1").counted, IL_UNTRUSTED | IL_SENSITIVE);
    labels_deny(c, "e", "{\"x\":1}", NULL, 0, "lethal-trifecta");
}

/* The value itself is the way in and out: one call, no session that was tainted before. */
static void test_same_call(void **state) {
    labels_case *c = *state;
    const il_origin_at web = {IL_STR("/x"), c->web}, kb = {IL_STR("/x"), c->kb};
    labels_run(c, "s", "{}", NULL, 0);
    const il_session before = monitor_session(&c->m, "s1");
    labels_deny(c, "e", "{\"x\":1}", &web, 1, "lethal-trifecta");
    const il_session after = monitor_session(&c->m, "s1");
    assert_int_equal(before.counted, after.counted); /* What does not run leaves nothing but the question to a human */
    assert_int_equal(monitor_rows(&c->m, "labels"), 0);
    labels_run(c, "e", "{\"x\":1}", &kb, 1);
}

/* A NULL label, and one without sources, are untrusted, under any policy. */
static void test_unknown(void **state) {
    labels_case *c = *state;
    il_origin *unknown = NULL;
    assert_int_equal(il_origin_unknown(&c->m.memory.alloc, &unknown, NULL), IL_OK);
    const il_origin_at rows[] = {{IL_STR("/x"), NULL}, {IL_STR(""), unknown}};
    for (size_t i = 0; i < 2; i++) {
        monitor_again(&c->m);
        labels_run(c, "n", "{\"x\":1}", &rows[i], 1);
        assert_int_equal(c->m.d.effects, IL_UNTRUSTED);
        const il_json *one = il_json_first(il_json_get(monitor_row(&c->m, "labels"), IL_STR("labels")));
        assert_true(il_json_bool(il_json_get(one, IL_STR("more"))));
    }
    il_origin_free(unknown);
}

/* A rule is about one argument, and not about the others. */
static void test_by_argument(void **state) {
    labels_case *c = *state;
    const il_origin_at to = {IL_STR("/to/0"), c->web}, body = {IL_STR("/body"), c->both}, all = {IL_STR(""), c->web};
    labels_run(c, "put", "{\"to\":[\"a\"],\"body\":\"b\"}", &(il_origin_at){IL_STR("/to/0"), c->kb}, 1);
    labels_deny(c, "put", "{\"to\":[\"a\"],\"body\":\"b\"}", &to, 1, "to");
    labels_deny(c, "put", "{\"to\":[\"a\"],\"body\":\"b\"}", &all, 1, "to");
    /* at any depth */
    labels_deny(c, "put", "{\"to\":[{\"content\":[{\"text\":[[[\"T\"]]]}]}]}",
                &(il_origin_at){IL_STR("/to/0/content/0/text/0/0/0"), c->web}, 1, "to");
    labels_run(c, "ask", "{\"body\":\"b\"}", &body, 1);
    labels_deny(c, "ask", "{\"body\":\"b\"}", &(il_origin_at){IL_STR("/body"), c->web}, 1, "from-kb");
    labels_deny(c, "ask", "{\"body\":\"b\",\"to\":1}", &(il_origin_at){IL_STR("/to"), c->kb}, 1, "from-kb");
    /* an argument whose name has the signs of a path, and one whose name begins like another's */
    labels_deny(c, "ask", "{\"body\":\"b\",\"a/b~\":1}", &(il_origin_at){IL_STR("/a~1b~0"), c->kb}, 1, "from-kb");
    labels_deny(c, "ask", "{\"body\":\"b\",\"bodyguard\":1}", &(il_origin_at){IL_STR("/bodyguard"), c->kb}, 1, "from-kb");
}

/* Where untrusted is held, what nobody labelled is not trusted because it matches nothing; what is labelled, or was typed, is. */
static void test_unlabelled(void **state) {
    labels_case *c = *state;
    labels_run(c, "put", "{\"to\":\"somebody\"}", NULL, 0); /* control: nothing untrusted is held */
    labels_run(c, "n", "{\"x\":1}", &(il_origin_at){IL_STR("/x"), c->web}, 1);
    labels_deny(c, "put", "{\"to\":\"somebody\"}", NULL, 0, "to");
    labels_run(c, "put", "{\"to\":\"somebody\"}", &(il_origin_at){IL_STR("/to"), c->kb}, 1);
    labels_run(c, "put", "{\"to\":[\"somebody\"]}", &(il_origin_at){IL_STR("/to"), c->kb}, 1);
    labels_deny(c, "put", "{\"to\":[\"somebody\"]}", &(il_origin_at){IL_STR("/to/0"), c->kb}, 1, "to"); /* a part of it */
    labels_deny(c, "put", "{\"to\":\"somebody\"}", &(il_origin_at){IL_STR("/to"), c->both}, 1, "to");
}

/* Nobody has to label what tools return: it is known by the tool's name. */
static void test_results(void **state) {
    labels_case *c = *state;
    static const char said[] = "\"the quick brown fox jumps over the lazy dog\"";
    labels_run(c, "copy", "{\"x\":\"brown fox jumps over\"}", NULL, 0);
    assert_int_equal(labels_decide(c, "read", "{}", NULL, 0), IL_OK);
    assert_int_equal(monitor_settle_with(&c->m, c->m.d.ticket, said), IL_OK);
    labels_deny(c, "copy", "{\"x\":\"brown fox jumps over\"}", NULL, 0, "copied");
}

/* An approval is a human's by name, of exactly these arguments, once; labels that come in between are judged again. */
static void test_approval(void **state) {
    labels_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    labels_run(c, "s", "{}", NULL, 0);
    labels_run(c, "n", "{\"x\":1}", &(il_origin_at){IL_STR("/x"), c->web}, 1);
    assert_int_equal(labels_decide(c, "e", "{\"x\":1}", NULL, 0), IL_OK);
    assert_int_equal(c->m.d.action, IL_ACTION_REQUIRE_APPROVAL);
    memcpy(id, c->m.d.approval, sizeof id);
    assert_int_equal(il_monitor_approve(c->m.monitor, IL_STR("s1"), il_str_of(id), IL_STR("no"), &c->m.err), IL_E_PERMISSION);
    assert_int_equal(il_monitor_approve(c->m.monitor, IL_STR("s1"), il_str_of(id), IL_STR("grace"), &c->m.err), IL_OK);
    assert_int_equal(monitor_rows(&c->m, "approve"), 1);
    assert_int_equal(labels_decide(c, "e", "{\"x\":2}", NULL, 0), IL_OK);
    assert_false(c->m.d.run);
    const il_origin_at web = {IL_STR("/x"), c->web};
    assert_int_equal(labels_decide(c, "e", "{\"x\":1}", &web, 1), IL_OK); /* it would bring more than was approved */
    assert_false(c->m.d.run);
    labels_run(c, "e", "{\"x\":1}", NULL, 0);
    assert_int_equal(labels_decide(c, "e", "{\"x\":1}", NULL, 0), IL_OK);
    assert_false(c->m.d.run);
}

/* The run's own words count the call's labels, before the call is admitted. */
static void test_run(void **state) {
    labels_case *c = *state;
    labels_run(c, "run", "{\"x\":1}", &(il_origin_at){IL_STR("/x"), c->kb}, 1);
    labels_deny(c, "run", "{\"x\":1}", &(il_origin_at){IL_STR("/x"), c->web}, 1, "tainted");
    labels_run(c, "n", "{\"x\":1}", &(il_origin_at){IL_STR("/x"), c->both}, 1);
    labels_deny(c, "run", "{\"x\":1}", NULL, 0, "tainted");
}

static void test_bad_paths(void **state) {
    labels_case *c = *state;
    static const char *const paths[] = {"x", "/y", "/", "/x~1", "/X", "//x", "#/x"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const il_origin_at at = {il_str_of(paths[i]), c->kb};
        assert_int_equal(labels_decide(c, "n", "{\"x\":1}", &at, 1), IL_E_INVALID);
        assert_string_equal(c->m.d.reason, "bad-arguments");
        assert_false(c->m.d.run);
    }
    static il_origin_at many[IL_CALL_LABELS + 1];
    for (size_t i = 0; i <= IL_CALL_LABELS; i++) {
        many[i] = (il_origin_at){IL_STR("/x"), c->kb};
    }
    assert_int_equal(labels_decide(c, "n", "{\"x\":1}", many, IL_CALL_LABELS + 1), IL_E_LIMIT);
    assert_string_equal(c->m.d.reason, "limit");
    assert_int_equal(labels_decide(c, "n", "{\"x\":1}", NULL, 1), IL_E_LIMIT);
    assert_int_equal(labels_decide(c, "n", NULL, &(il_origin_at){IL_STR("/x"), c->kb}, 1), IL_E_INVALID);
    many[7].origin = c->web;
    labels_run(c, "n", "{\"x\":1}", many, IL_CALL_LABELS);
    const il_json *row = monitor_row(&c->m, "labels");
    assert_int_equal(il_json_count(il_json_get(row, IL_STR("labels"))), 1); /* that one, and how many there are */
    int64_t count = 0;
    assert_true(il_json_int(il_json_get(row, IL_STR("count")), &count) && count == IL_CALL_LABELS);
    for (size_t i = 0; i < IL_CALL_LABELS; i++) {
        many[i].origin = c->web;
    }
    labels_run(c, "n", "{\"x\":1}", many, IL_CALL_LABELS);
    assert_int_equal(il_json_count(il_json_get(monitor_row(&c->m, "labels"), IL_STR("labels"))), 8);
}

/* ---- endorsements ---------------------------------------------------------------------------------------------- */

static il_endorsement labels_word(const char *kind, const char *by, const char *text) {
    il_endorsement e = {.size = sizeof e, .kind = il_str_of(kind), .by = il_str_of(by)};
    const il_json value = {.kind = IL_JSON_STRING, .text = il_str_of(text)};
    assert_int_equal(il_value_digest(&value, e.digest, NULL), IL_OK);
    return e;
}
static il_status labels_endorse(labels_case *c, const il_endorsement *e) {
    return il_monitor_endorse(c->m.monitor, IL_STR("s1"), e, IL_STR("read\nit"), &c->m.err);
}

/* Kept for these bytes, with a row; the next byte is another value. It changes no taint. */
static void test_endorsed(void **state) {
    labels_case *c = *state;
    const il_endorsement e = labels_word("legal", "grace", "We sell.");
    labels_deny(c, "say", "{\"text\":\"We sell.\"}", NULL, 0, "unread");
    assert_int_equal(labels_endorse(c, &e), IL_OK);
    const il_session before = monitor_session(&c->m, "s1");
    assert_int_equal(before.counted, 0);
    assert_int_equal(monitor_rows(&c->m, "endorse"), 1);
    const il_json *row = monitor_row(&c->m, "endorse");
    char hex[IL_DIGEST_HEX];
    il_digest_hex(e.digest, hex);
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("by"))), IL_STR("grace")));
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("kind"))), IL_STR("legal")));
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("digest"))), il_str_of(hex)));
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("note"))), IL_STR("read\\x0ait")));
    labels_run(c, "say", "{\"text\":\"We sell.\"}", NULL, 0);
    labels_deny(c, "say", "{\"text\":\"We sell. Now.\"}", NULL, 0, "unread");
    labels_deny(c, "say", "{\"text\":\"we sell.\"}", NULL, 0, "unread");
    labels_deny(c, "say", "{\"text\":[\"We sell.\"]}", NULL, 0, "unread");
    const il_endorsement other = labels_word("spelling", "grace", "They sell.");
    assert_int_equal(labels_endorse(c, &other), IL_OK);
    labels_deny(c, "say", "{\"text\":\"They sell.\"}", NULL, 0, "unread");
    /* nobody's other session */
    const il_begin begin = {.size = sizeof begin};
    assert_int_equal(il_monitor_begin(c->m.monitor, IL_STR("s2"), &begin, &c->m.err), IL_OK);
    assert_int_equal(monitor_decide_in(&c->m, "s2", "in.say", "{\"text\":\"We sell.\"}"), IL_OK);
    assert_false(c->m.d.run);
}

/* A kind that nobody could have endorsed is an error of the policy; and one that is only known when the rule is asked was endorsed by nobody. */
static void test_asked_kinds(void **state) {
    static const char head[] =
        "interlock: 1\nmachine: trifecta\nservers: { in: { trust: inside } }\ntools: [{ match: in.n, effects: [] }]\n";
    static const struct {
        const char *condition;
        bool taken;
    } rows[] = {
        {"endorsed(args.x, \"legal\")", true}, {"endorsed(args.x, args.kind)", true}, {"endorsed(args.x, \"le gal\")", false},
        {"endorsed(args.x, \"\")", false},     {"endorsed(args.x)", false},           {"endorsed(args.x, 1)", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        policy_case c;
        char text[1024];
        (void)snprintf(text, sizeof text, "%srules: [{ tools: in.n, when: '!%s', then: block }]\n", head, rows[i].condition);
        policy_case_init(&c, "trifecta");
        (void)policy_load(&c, text);
        if ((c.status == IL_OK) != rows[i].taken) {
            fail_msg("%s: %s", rows[i].condition, c.err.msg);
        }
        policy_case_free(&c);
    }
}

/* A word that came with the value, as an envelope brings it. */
static void test_endorsed_label(void **state) {
    labels_case *c = *state;
    const il_endorsement e = labels_word("legal", "grace", "We sell.");
    il_origin *o = NULL;
    assert_int_equal(il_origin_endorse(&c->m.memory.alloc, c->kb, &e, &o, NULL), IL_OK);
    const il_origin_at at = {IL_STR("/text"), o};
    labels_run(c, "say", "{\"text\":\"We sell.\"}", &at, 1);
    const il_json *one = il_json_first(il_json_get(monitor_row(&c->m, "labels"), IL_STR("labels")));
    assert_true(il_str_eq(il_json_text(il_json_first(il_json_get(one, IL_STR("endorsed")))), IL_STR("legal")));
    labels_deny(c, "say", "{\"text\":\"We sell. Now.\"}", &at, 1, "unread");
    il_origin_free(o);
}

/* Only who may approve, only in words that are well-formed, only while the session lives; a refusal leaves nothing. */
static void test_bad_endorsements(void **state) {
    labels_case *c = *state;
    il_endorsement e = labels_word("legal", "mallory", "We sell.");
    assert_int_equal(labels_endorse(c, &e), IL_E_PERMISSION);
    e.by = IL_STR("");
    assert_int_equal(labels_endorse(c, &e), IL_E_INVALID);
    e = labels_word("le gal", "grace", "x");
    assert_int_equal(labels_endorse(c, &e), IL_E_INVALID);
    e.size = 0;
    assert_int_equal(labels_endorse(c, &e), IL_E_ARGUMENT);
    assert_int_equal(labels_endorse(c, NULL), IL_E_ARGUMENT);
    e = labels_word("legal", "grace", "We sell.");
    assert_int_equal(il_monitor_endorse(NULL, IL_STR("s1"), &e, IL_STR(""), NULL), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_endorse(c->m.monitor, IL_STR("nobody"), &e, IL_STR(""), NULL), IL_E_NOT_FOUND);
    assert_int_equal(monitor_rows(&c->m, "endorse"), 0);
    assert_int_equal(monitor_session(&c->m, "s1").episodes, 0);
    assert_int_equal(il_monitor_end(c->m.monitor, IL_STR("s1"), false, &c->m.err), IL_OK);
    assert_int_equal(labels_endorse(c, &e), IL_E_STATE);
    assert_int_equal(monitor_rows(&c->m, "endorse"), 0);
}

/* A store or an allocation that fails: no allow, and no endorsement without its row. */
static void test_faults(void **state) {
    labels_case *c = *state;
    const il_origin_at web = {IL_STR("/x"), c->web};
    const il_endorsement e = labels_word("legal", "grace", "We sell.");
    const size_t rows = c->m.store.nrows;
    for (unsigned what = 0; what < 2; what++) {
        for (size_t left = 0; left < 400; left++) {
            c->m.memory.left = left;
            const il_status s = what == 0 ? labels_decide(c, "n", "{\"x\":1}", &web, 1) : labels_endorse(c, &e);
            c->m.memory.left = SIZE_MAX;
            if (s == IL_OK) {
                break;
            }
            assert_false(what == 0 && c->m.d.run);
            assert_int_equal(monitor_rows(&c->m, what == 0 ? "labels" : "endorse"), 0);
        }
        assert_int_equal(monitor_rows(&c->m, what == 0 ? "labels" : "endorse"), 1);
    }
    assert_true(c->m.store.nrows > rows);
    c->m.store.fail_after = 1; /* the commit */
    c->m.store.fail_with = IL_E_IO;
    const il_endorsement other = labels_word("legal", "grace", "They sell.");
    assert_int_not_equal(labels_endorse(c, &other), IL_OK);
    c->m.store.fail_after = SIZE_MAX;
    assert_int_equal(monitor_rows(&c->m, "endorse"), 1);
    labels_deny(c, "say", "{\"text\":\"They sell.\"}", NULL, 0, "unread");
}

/* Any sequence of calls, labelled or not: what a session holds never shrinks, and once a label was untrusted it holds that. */
static void test_only_grow(void **state) {
    labels_case *c = *state;
    static const char *const tools[] = {"n", "s", "e", "put", "ask", "run", "say"};
    const char *given = getenv("IL_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("labels at the monitor: IL_TEST_SEED=%llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 10; round++) {
        uint8_t held = 0;
        bool brought = false;
        monitor_again(&c->m);
        for (unsigned i = 0; i < 40; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint32_t r = (uint32_t)(seed >> 33);
            const il_origin *origins[] = {c->kb, c->web, c->both};
            const il_origin_at at = {IL_STR("/to"), origins[r / 7 % 3]};
            const size_t n = r / 21 % 4 == 0 ? 1 : 0;
            assert_int_equal(labels_decide(c, tools[r % 7], "{\"to\":1,\"body\":2,\"text\":3}", &at, n), IL_OK);
            const uint8_t now = monitor_session(&c->m, "s1").counted;
            assert_int_equal(held & ~now, 0);
            assert_true(c->m.d.run || now == held);
            brought = brought || (n == 1 && at.origin != c->kb && c->m.d.run);
            assert_true(!brought || (now & IL_UNTRUSTED) != 0);
            held = now;
            if (c->m.d.run) {
                assert_int_equal(monitor_settle(&c->m, c->m.d.ticket, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_OK);
                held = monitor_session(&c->m, "s1").counted;
                brought = brought && (held & IL_UNTRUSTED) != 0;
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define LABELS_TEST(f) cmocka_unit_test_setup_teardown(f, labels_setup, labels_teardown)
        LABELS_TEST(test_table),          LABELS_TEST(test_taints),
        LABELS_TEST(test_asked_kinds),    LABELS_TEST(test_unlabelled),
        LABELS_TEST(test_results),        LABELS_TEST(test_approval),
        LABELS_TEST(test_same_call),      LABELS_TEST(test_unknown),
        LABELS_TEST(test_by_argument),    LABELS_TEST(test_run),
        LABELS_TEST(test_bad_paths),      LABELS_TEST(test_endorsed),
        LABELS_TEST(test_endorsed_label), LABELS_TEST(test_bad_endorsements),
        LABELS_TEST(test_faults),         LABELS_TEST(test_only_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
