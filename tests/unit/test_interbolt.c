/* SPDX-License-Identifier: Apache-2.0 */
/* Interbolt documents: what is refused and where, what they become, and what is decided over a session. tests/interbolt compares with the package itself. */
#include "helper_monitor.h"

#include "base/sha256.h"
#include "base/str.h"
#include "policy/compiled.h"
#include "policy/explain.h"
#include "policy/lint.h"
#include "yaml/yaml.h"
#include <stdlib.h>
#include <string.h>

#define HEAD "version: \"2.0\"\ndefaults: {sink_action: allow}\n"

/* The translated document as text, NULL when it was refused (c->err). */
static char *expanded(policy_case *c, const char *yaml) {
    il_json *doc = NULL;
    const il_json *flat = NULL;
    char *text = NULL;
    size_t n;
    memset(&c->err, 0, sizeof c->err);
    c->status = il_yaml_parse(&c->arena, il_str_of(yaml), NULL, &doc, &c->err);
    c->status = c->status == IL_OK ? il_policy_expand(&c->arena, doc, NULL, &flat, &c->err) : c->status;
    if (c->status == IL_OK) {
        assert_int_equal(il_json_text_new(&c->memory.alloc, flat, IL_JSON_AS_READ, &text, &n, &c->err), IL_OK);
    }
    return text;
}

/* As a host loads it. */
static il_policy *load(policy_case *c, const char *yaml) {
    il_json *doc = NULL;
    const il_json *flat = NULL;
    il_policy_free(c->policy);
    c->policy = NULL;
    memset(&c->err, 0, sizeof c->err);
    c->status = il_yaml_parse(&c->arena, il_str_of(yaml), NULL, &doc, &c->err);
    c->status = c->status == IL_OK ? il_policy_expand(&c->arena, doc, NULL, &flat, &c->err) : c->status;
    c->status = c->status == IL_OK ? il_policy_new(&c->memory.alloc, flat, c->machine, &c->policy, &c->err) : c->status;
    return c->policy;
}

/* ---- documents ------------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *yaml, *says;
    uint32_t line, col;
} refusal;

static void test_refusals(void **state) {
    static const refusal list[] = {
        {"defaults: {}\nsinks: {}\n", "`version: \"2.0\"` is missing", 1, 1},
        {"version: 2.0\nsinks: {}\n", "quote it", 1, 10},
        {"version: \"3.0\"\ndefaults: {}\nsinks: {}\n", "documents of Interbolt 2", 1, 10},
        {"version: \"2.\"\ndefaults: {}\nsinks: {}\n", "documents of Interbolt 2", 1, 10},
        {"version: \"2.0\"\nsinks: {}\n", "`defaults` is missing", 1, 1},
        {"version: \"2.0\"\ndefaults: {sink_acton: allow}\nsinks: {}\n", "did you mean `sink_action`", 2, 12},
        {"version: \"2.0\"\ndefaults: {sink_action: alow}\nsinks: {}\n", "did you mean `allow`", 2, 25},
        {HEAD "sink: {}\nsinks: {}\n", "did you mean `sinks`", 3, 1},
        {HEAD, "`sinks` maps", 1, 1},
        {HEAD "sinks: {a.b: {rule: []}}\n", "did you mean `rules`", 3, 15},
        {HEAD "sinks: {a.b: {rules: [{name: x, wen: \"true\", action: allow}]}}\n", "did you mean `when`", 3, 33},
        {HEAD "sinks: {a.b: {rules: [{name: x, action: deny}]}}\n", "`action` is `allow`, `block` or `require_approval`", 3, 41},
        {HEAD "sinks: {a.b: {rules: [{name: x}]}}\n", "a rule needs `action`", 3, 23},
        {HEAD "sinks: {a.b: {capabilities: [reads_privat]}}\n", "did you mean `reads_private`", 3, 30},
        {HEAD "sinks: {send: {}}\n", "write `default.send`", 3, 9},
        {HEAD "sinks: {a.b.c: {}}\n", "a namespace has no dot", 3, 9},
        {HEAD "sinks: {\"a.*\": {}}\n", "there are no patterns", 3, 9},
        {HEAD "fail_mode: monitor\nsinks: {}\n", "`fail_mode` belongs into `defaults`: write `defaults: {fail_mode: ...}`", 3,
         12},
        {HEAD "sources: [{name: web, trust: untrusted, x: 1}]\nsinks: {}\n", "unknown key `x`", 3, 41},
        {HEAD "sources: [{name: w, trust: trusted}, {name: w, trust: untrusted}]\nsinks: {}\n", "is there already", 3, 45},
        {HEAD "agents: {\"a b\": {}}\nsinks: {}\n", "agent_id `a b`", 3, 10},
        {HEAD "agents: {a: {groups: [\"b c\"]}}\nsinks: {}\n", "a group name", 3, 23},
        {HEAD "sinks: {a.b: {rules: [{name: x, when: \"true\", require_endorsement: k, action: allow}]}}\n", "not both", 3, 68},
        {HEAD "sinks: {a.b: {rules: [{name: x, require_endorsement: \"k k\", action: allow}]}}\n", "an endorsement kind", 3, 54},
        {HEAD "sinks: {a.b: {rules: [{name: x, when: \"args.any(k, k)\", action: allow}]}}\n", "did you mean `exists`", 3, 45},
        {HEAD "sinks:\n  a.b:\n    rules:\n      - {name: x, when: run.tained, action: allow}\n", "did you mean `tainted`", 6,
         29},
        {HEAD "sinks: {a.b: {rules: [{name: x, when: \"'reads_secret' in trifecta\", action: allow}]}}\n", "never equal", 3, 40},
        {"version: \"1.0\"\ndefaults: {}\nsinks: {}\n", "before 2.0", 1, 10},
        {HEAD "sinks: {a.b: [{name: x, action: block}]}\n", "before 2.0", 3, 14},
    };
    policy_case c;
    (void)state;
    policy_case_init(&c, "rules-only");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (load(&c, list[i].yaml) != NULL || strstr(c.err.msg, list[i].says) == NULL || c.err.line != list[i].line ||
            c.err.col != list[i].col) {
            fail_msg("%s\n%u:%u %s", list[i].yaml, c.err.line, c.err.col, c.policy != NULL ? "loaded" : c.err.msg);
        }
        il_arena_reset(&c.arena);
    }
    policy_case_free(&c);
}

static void test_translation(void **state) {
    policy_case c;
    (void)state;
    policy_case_init(&c, "rules-only");
    char *text = expanded(
        &c, "version: \"2.0\"\n"
            "defaults: {fail_mode: dry_run}\n"
            "sources: [{name: web, trust: untrusted}]\n"
            "agents: {ana: {groups: [ops, ops]}}\n"
            "sinks:\n"
            "  default.send:\n"
            "    capabilities: [reaches_external]\n"
            "    rules: [{name: 'a  [b] c', when: run.tainted, action: block}, {name: '##', require_endorsement: k, action: "
            "allow}]\n"
            "  web.get: {produces: web}\n"
            "  web.nothing:\n");
    assert_string_equal(
        text,
        "{\"interlock\":1,\"machine\":\"rules-only\",\"mode\":\"monitor\",\"interbolt\":{\"version\":\"2.0\",\"sink_action\":"
        "\"require_approval\"},\"sources\":{\"web\":\"untrusted\"},\"groups\":{\"ops\":[]},\"agents\":{\"ana\":{\"groups\":["
        "\"ops\"]}},\"servers\":{\"default\":{\"trust\":\"inside\"},\"web\":{\"trust\":\"inside\"}},\"tools\":[{\"match\":["
        "\"default.send\",\"send\"],\"effects\":[\"egress\"]},{\"match\":[\"web.get\"],\"effects\":[\"untrusted\"],\"source\":"
        "\"web\"},{\"match\":[\"web.nothing\"],\"effects\":[]},{\"match\":\"*\",\"effects\":[]}],\"rules\":[{\"tools\":["
        "\"default.send\",\"send\"],\"name\":\"a-b-c\",\"when\":\"run.tainted\",\"then\":\"block\"},{\"tools\":[\"default.send\","
        "\"send\"],\"name\":\"rule-2\",\"when\":\"taint.exists(t, t.trust == \\\"untrusted\\\" && !t.endorsements.exists(k, k == "
        "\\\"k\\\"))\",\"then\":\"allow\"}]}");
    /* what it became is a policy of ours, and stays the same when it is written out again */
    char *again = expanded(&c, text);
    assert_string_equal(again, text);
    assert_non_null(load(&c, text));
    c.memory.alloc.free(c.memory.alloc.ctx, text);
    c.memory.alloc.free(c.memory.alloc.ctx, again);
    policy_case_free(&c);
}

/* A machine's document has a version as well, and a native one that is wrong is not taken for another's. */
static void test_whose(void **state) {
    static const char *const ours[] = {"machine: x\nversion: 1\n", "interlock: 1\nmachine: x\n", "version: 1\n", "[]", "x"};
    static const char *const theirs[] = {"version: \"2.0\"\n", "sinks: {}\n", "version: 2.0\nsinks: {}\n"};
    policy_case c;
    il_json *doc = NULL;
    il_str name = {0};
    (void)state;
    policy_case_init(&c, "rules-only");
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        assert_int_equal(il_yaml_parse(&c.arena, il_str_of(ours[i]), NULL, &doc, NULL), IL_OK);
        assert_false(il_interbolt_is(doc));
    }
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++) {
        assert_int_equal(il_yaml_parse(&c.arena, il_str_of(theirs[i]), NULL, &doc, NULL), IL_OK);
        assert_true(il_interbolt_is(doc));
        assert_int_equal(il_policy_machine_name(doc, &name, NULL), IL_OK);
        assert_true(il_str_eq(name, IL_STR("rules-only")));
        assert_null(policy_load(&c, theirs[i])); /* not before it was written out */
    }
    policy_case_free(&c);
}

/* As the package gives them: escapes, order of keys, members that were left out. */
static void test_fingerprints(void **state) {
    static const char *const list[][2] = {
        {"{\"version\":\"2.0\",\"defaults\":{},\"sinks\":{}}",
         "d76e13f594e2e2fb79744350d85499ce7021419adb2099bbbf739ebbb2d2faf6"},
        {"{\"version\":\"2.0\",\"defaults\":{\"sink_action\":\"block\",\"fail_mode\":\"monitor\"},\"sources\":[{\"name\":"
         "\"w\\u00e9b "
         "\\\"x\\\"\",\"trust\":\"untrusted\"},{\"name\":\"\\ud83d\\ude00\\t\",\"trust\":\"trusted\"}],\"agents\":{\"b\":{"
         "\"groups\":["
         "\"g\",\"f\"]},\"a\":{}},\"sinks\":{\"default.z\":{\"capabilities\":[]},\"default.a\":null,\"c.d\":{\"capabilities\":["
         "\"reads_private\"],\"rules\":[{\"name\":\"r\",\"when\":\"true\",\"action\":\"allow\"},{\"name\":\"s\","
         "\"require_endorsement\":\"k\",\"action\":\"block\"}]}}}",
         "16b46828c3fbdaeeaf1702a14f6d5df4a376cc07b580924c13f519453d9f6ac1"}};
    policy_case c;
    (void)state;
    policy_case_init(&c, "rules-only");
    for (size_t i = 0; i < 2; i++) {
        uint8_t digest[IL_DIGEST_BYTES];
        char hex[IL_DIGEST_HEX];
        assert_int_equal(il_interbolt_fingerprint(policy_json(&c, list[i][0]), &c.arena, digest, &c.err), IL_OK);
        il_digest_hex(digest, hex);
        assert_string_equal(hex, list[i][1]);
    }
    policy_case_free(&c);
}

/* ---- sessions --------------------------------------------------------------------------------------------- */

static const char sessions[] = "version: \"2.0\"\n"
                               "defaults: {sink_action: require_approval}\n"
                               "sources: [{name: kb, trust: trusted}, {name: web, trust: untrusted}]\n"
                               "agents: {ana: {groups: [ops]}}\n"
                               "sinks:\n"
                               "  in.send:\n"
                               "    capabilities: [reaches_external]\n"
                               "    rules:\n"
                               "      - {name: two, when: size(run.trifecta) >= 3, action: block}\n"
                               "      - {name: raw, require_endorsement: legal, action: block}\n"
                               "      - {name: rest, action: allow}\n"
                               "  in.read: {capabilities: [reads_private], rules: [{name: nope, when: has(args.nope), action: "
                               "block}, {name: rest, action: allow}]}\n"
                               "  in.err: {rules: [{name: bad, when: args.x == 1, action: allow}, {name: rest, action: allow}]}\n"
                               "  in.seen: {rules: [{name: seen, when: '\"web\" in run.untrusted_sources && run.tainted', "
                               "action: block}, {name: rest, action: allow}]}\n";

typedef struct session_case {
    monitor_case m;
    il_origin *web, *kb;
} session_case;
static session_case session_of;

static void session_make(session_case *c, const char *yaml) {
    policy_case p;
    policy_case_init(&p, "rules-only");
    char *text = expanded(&p, yaml);
    if (text == NULL) {
        fail_msg("%s", p.err.msg);
    }
    memset(c, 0, sizeof *c);
    monitor_case_init_with(&c->m, "rules-only", text);
    p.memory.alloc.free(p.memory.alloc.ctx, text);
    policy_case_free(&p);
    assert_int_equal(il_origin_new(&c->m.memory.alloc, IL_STR("web"), IL_STR("ana"), &c->web, NULL), IL_OK);
    assert_int_equal(il_origin_new(&c->m.memory.alloc, IL_STR("kb"), IL_STR("ana"), &c->kb, NULL), IL_OK);
}
static int session_setup(void **state) {
    session_make(&session_of, sessions);
    *state = &session_of;
    return 0;
}
static int session_teardown(void **state) {
    session_case *c = *state;
    il_origin_free(c->web);
    il_origin_free(c->kb);
    monitor_case_free(&c->m);
    return 0;
}

static const il_decision *session_decide(session_case *c, const char *tool, const char *args, const il_origin *label) {
    const il_origin_at at = {IL_STR("/x"), label};
    il_call call = {
        .size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(tool), .args = policy_json(&c->m.policy, args)};
    call.labels = label != NULL ? &at : NULL;
    call.nlabels = label != NULL ? 1 : 0;
    c->m.d = (il_decision)IL_DECISION_INIT;
    (void)!il_monitor_decide(c->m.monitor, IL_STR("s1"), &call, &c->m.d, &c->m.err);
    if (c->m.d.run) {
        assert_int_equal(monitor_settle(&c->m, c->m.d.ticket, IL_OUTCOME_DONE, 0), IL_OK);
    }
    return &c->m.d;
}
static void session_is(session_case *c, const char *tool, const char *args, const il_origin *label, il_action action,
                       const char *reason) {
    const il_decision *d = session_decide(c, tool, args, label);
    if (d->action != action || strcmp(d->reason, reason) != 0) {
        fail_msg("%s %s: %s %s", tool, args, il_action_name(d->action), d->reason);
    }
}

/* Legs stay when calls are settled, and a denied call has none. */
static void test_legs(void **state) {
    session_case *c = *state;
    session_is(c, "read", "{\"nope\":1}", NULL, IL_ACTION_BLOCK, "nope");
    session_is(c, "send", "{}", NULL, IL_ACTION_ALLOW, "");
    session_is(c, "seen", "{\"x\":1}", c->kb, IL_ACTION_ALLOW, "");
    session_is(c, "read", "{}", NULL, IL_ACTION_ALLOW, "");
    session_is(c, "send", "{}", NULL, IL_ACTION_ALLOW, "");
    session_is(c, "seen", "{\"x\":1}", c->web, IL_ACTION_BLOCK,
               "seen"); /* judged with its own label, and denied: it leaves nothing */
    session_is(c, "send", "{}", NULL, IL_ACTION_ALLOW, "");
    session_is(c, "read", "{\"x\":1}", c->web, IL_ACTION_ALLOW, "");
    session_is(c, "send", "{}", NULL, IL_ACTION_BLOCK, "two");
}

/* A source that the host told of taints the run, whatever becomes of calls with its values; its trust is the policy's. */
static void test_notices(void **state) {
    session_case *c = *state;
    il_notice notice = {.size = sizeof notice, .from = IL_STR("kb"), .text = IL_STR("what the handbook says"), .untrusted = true};
    assert_int_equal(il_monitor_notice(c->m.monitor, IL_STR("s1"), &notice, &c->m.err), IL_OK);
    session_is(c, "seen", "{}", NULL, IL_ACTION_ALLOW, "");
    notice.from = IL_STR("web");
    notice.untrusted = false;
    assert_int_equal(il_monitor_notice(c->m.monitor, IL_STR("s1"), &notice, &c->m.err), IL_OK);
    session_is(c, "seen", "{}", NULL, IL_ACTION_BLOCK, "seen");
}

/* An endorsement is for one value: the same label on another has none. */
static void test_endorsement(void **state) {
    session_case *c = *state;
    il_endorsement e = {.size = sizeof e, .kind = IL_STR("legal"), .by = IL_STR("grace")};
    il_origin *endorsed = NULL;
    assert_int_equal(il_value_digest(policy_json(&c->m.policy, "\"ok\""), e.digest, NULL), IL_OK);
    assert_int_equal(il_origin_endorse(&c->m.memory.alloc, c->web, &e, &endorsed, NULL), IL_OK);
    session_is(c, "send", "{\"x\":\"ok\"}", endorsed, IL_ACTION_ALLOW, "");
    session_is(c, "send", "{\"x\":\"ok, evil@x\"}", endorsed, IL_ACTION_BLOCK, "raw");
    session_is(c, "send", "{\"x\":\"ok\"}", c->web, IL_ACTION_BLOCK, "raw");
    session_is(c, "send", "{\"x\":\"ok\"}", c->kb, IL_ACTION_ALLOW, "");
    il_origin_free(endorsed);
}

/* What no rule decides, and tools that no sink names: `sink_action`, which a human may release; lists pass. */
static void test_otherwise(void **state) {
    session_case *c = *state;
    session_is(c, "other", "{}", NULL, IL_ACTION_REQUIRE_APPROVAL, "sink_action");
    assert_int_equal(il_monitor_approve(c->m.monitor, IL_STR("s1"), il_str_of(c->m.d.approval), IL_STR("grace"), &c->m.err),
                     IL_OK);
    session_is(c, "other", "{}", NULL, IL_ACTION_ALLOW, "");
    session_is(c, "other", "{}", NULL, IL_ACTION_REQUIRE_APPROVAL, "sink_action");
    session_is(c, "tools/list", "{}", NULL, IL_ACTION_ALLOW, "");
    const uint32_t n = c->m.policy.policy->rules.n;
    assert_true(il_str_eq(il_policy_rule_name(c->m.policy.policy, n + 1), IL_STR("sink_action")));
    assert_int_equal(il_policy_rule_name(c->m.policy.policy, n + 2).n, 0);
}

/* An error blocks; with `fail_mode: monitor` its rule is passed over, and the row says so. */
static void test_errors(void **state) {
    session_case *c = *state;
    session_is(c, "err", "{}", NULL, IL_ACTION_BLOCK, "condition-error");
    session_is(c, "err", "{\"x\":1}", NULL, IL_ACTION_ALLOW, "");
    (void)session_teardown(state);
    session_make(c, "version: \"2.0\"\ndefaults: {sink_action: block, fail_mode: monitor}\nsinks:\n"
                    "  in.err: {rules: [{name: bad, when: args.x == 1, action: allow}]}\n"
                    "  in.two: {rules: [{name: bad, when: args.x == 1, action: allow}, {name: rest, action: allow}]}\n");
    session_is(c, "err", "{}", NULL, IL_ACTION_BLOCK, "sink_action");
    session_is(c, "two", "{}", NULL, IL_ACTION_ALLOW, "");
    const il_str why = il_json_text(il_json_get(monitor_row(&c->m, "decision"), IL_STR("why")));
    assert_true(il_str_find(why, IL_STR("rule `bad` (line"), 0) != SIZE_MAX);
}

/* ---- what is said of it ----------------------------------------------------------------------------------------- */

typedef struct said {
    char warnings[512], findings[512];
    size_t nwarnings, nfindings;
} said;

static il_status warned(void *ctx, const il_lint *f, il_error *err) {
    said *s = ctx;
    (void)err;
    s->nwarnings +=
        il_format(s->warnings + s->nwarnings, sizeof s->warnings - s->nwarnings, "%u:%u %s\n", f->line, f->col, f->kind);
    return IL_OK;
}
static il_status found(void *ctx, const il_lint *f, il_error *err) {
    said *s = ctx;
    (void)err;
    s->nfindings +=
        il_format(s->findings + s->nfindings, sizeof s->findings - s->nfindings, "%u:%u %s\n", f->line, f->col, f->kind);
    return IL_OK;
}

static void test_lint(void **state) {
    static const char yaml[] = HEAD "agents: {ana: {groups: [ops]}}\n"
                                    "sinks:\n"
                                    "  a.b:\n"
                                    "    rules:\n"
                                    "      - {name: a, when: 'taint.all(x, x.source == \"web\")', action: allow}\n"
                                    "      - {name: b, when: '\"oops\" in agent.groups', action: allow}\n"
                                    "      - {name: c, when: 'trifecta.contains(\"reads_private\")', action: block}\n"
                                    "      - {name: d, when: 'run.sources.all(s, s == \"kb\")', action: allow}\n"
                                    "      - {name: e, when: args.flag, action: block}\n"
                                    "      - {name: f, when: 'taint.all(t, t.trust == \"trusted\")', action: block}\n";
    policy_case c;
    il_json *doc = NULL;
    said s = {0};
    const il_lint_out warn = {&s, warned}, find = {&s, found};
    (void)state;
    policy_case_init(&c, "rules-only");
    assert_non_null(load(&c, yaml));
    assert_int_equal(il_yaml_parse(&c.arena, il_str_of(yaml), NULL, &doc, NULL), IL_OK);
    assert_int_equal(il_interbolt_lint(c.policy, doc, &c.arena, &warn, &find, &c.err), IL_OK);
    assert_string_equal(s.warnings,
                        "7:26 all-of-none\n7:39 source-compared\n8:26 group-undeclared\n8:26 agent-alone\n10:26 all-of-none\n"
                        "11:25 not-bool\n");
    assert_string_equal(s.findings, "9:44 leg-never\n8:26 rule-never\n");
    policy_case_free(&c);
}

/* Which agents meet a rule is known, by the groups that they are in: what is met before never decides. Rules that ask more than who calls are another matter. */
static void test_lint_agents(void **state) {
    static const char yaml[] = HEAD "agents: {ana: {groups: [ops]}, bot: {groups: [ops, web]}, eve: {}}\n"
                                    "sinks:\n"
                                    "  a.b:\n"
                                    "    rules:\n"
                                    "      - {name: a, when: '\"ops\" in agent.groups', action: allow}\n"
                                    "      - {name: b, when: 'agent.id == \"ana\"', action: block}\n"
                                    "      - {name: c, when: 'agent.groups.exists(g, g == \"web\")', action: block}\n"
                                    "      - {name: d, when: 'agent.id == \"ana\" && run.tainted', action: block}\n"
                                    "      - {name: e, when: 'agent.id == \"mia\"', action: block}\n"
                                    "      - {name: f, when: '!(\"ops\" in agent.groups)', action: block}\n"
                                    "      - {name: g, when: 'agent.id != \"ana\" && agent.id != \"bot\"', action: block}\n"
                                    "  a.c:\n"
                                    "    rules:\n"
                                    "      - {name: b, when: 'agent.id == \"ana\"', action: block}\n"
                                    "      - {name: h, when: 'trifecta.contains(\"exfiltrate\")', action: block}\n";
    policy_case c;
    il_json *doc = NULL;
    said s = {0};
    const il_lint_out warn = {&s, warned}, find = {&s, found};
    (void)state;
    policy_case_init(&c, "rules-only");
    assert_non_null(load(&c, yaml));
    assert_int_equal(il_yaml_parse(&c.arena, il_str_of(yaml), NULL, &doc, NULL), IL_OK);
    assert_int_equal(il_interbolt_lint(c.policy, doc, &c.arena, &warn, &find, &c.err), IL_OK);
    assert_string_equal(s.findings, "17:44 leg-unknown\n8:9 rule-shadowed\n9:9 rule-shadowed\n13:9 rule-shadowed\n");
    policy_case_free(&c);
}

static void test_explain(void **state) {
    policy_case c;
    il_explanation x;
    (void)state;
    policy_case_init(&c, "rules-only");
    assert_non_null(load(&c, sessions));
    const il_explain_ask ask = {.server = IL_STR("in"), .tool = IL_STR("send"), .held = (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE)};
    assert_int_equal(il_policy_explain(c.policy, &ask, &c.arena, &x, &c.err), IL_OK);
    assert_true(x.nrules == 1 && x.rules[0].matches == IL_MATCHES_YES && x.action == IL_THEN_BLOCK);
    const il_explain_ask clean = {.server = IL_STR("in"), .tool = IL_STR("send")};
    assert_int_equal(il_policy_explain(c.policy, &clean, &c.arena, &x, &c.err), IL_OK);
    assert_true(x.nrules == 3 && x.rules[0].matches == IL_MATCHES_MAYBE &&
                x.rules[2].matches == IL_MATCHES_YES); /* labels may come */
    const il_explain_ask unknown = {.server = IL_STR("in"), .tool = IL_STR("nothing")};
    assert_int_equal(il_policy_explain(c.policy, &unknown, &c.arena, &x, &c.err), IL_OK);
    assert_true(x.nrules == 1 && x.action == IL_THEN_APPROVAL && il_str_eq(x.why_layer, IL_STR("sink_action")));
    policy_case_free(&c);
}

static void test_no_memory(void **state) {
    policy_case c;
    il_status s = IL_E_MEMORY;
    (void)state;
    policy_case_init(&c, "rules-only");
    for (size_t left = 0; s != IL_OK; left++) {
        policy_memory memory;
        il_arena arena;
        il_json *doc = NULL;
        const il_json *flat = NULL;
        il_policy *p = NULL;
        assert_true(left < 2000);
        policy_memory_init(&memory);
        assert_int_equal(il_yaml_parse(&c.arena, il_str_of(sessions), NULL, &doc, NULL), IL_OK);
        memory.left = left;
        il_arena_init(&arena, &memory.alloc, (size_t)1 << 24);
        s = il_policy_expand(&arena, doc, NULL, &flat, NULL);
        s = s == IL_OK ? il_policy_new(&memory.alloc, flat, c.machine, &p, NULL) : s;
        assert_true(s == IL_OK || (s == IL_E_MEMORY && p == NULL));
        il_policy_free(p);
        il_arena_free(&arena);
        il_arena_reset(&c.arena);
    }
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_whose),
        cmocka_unit_test(test_fingerprints),
        cmocka_unit_test_setup_teardown(test_legs, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_notices, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_endorsement, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_otherwise, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_errors, session_setup, session_teardown),
        cmocka_unit_test(test_lint),
        cmocka_unit_test(test_lint_agents),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
