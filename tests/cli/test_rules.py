# SPDX-License-Identifier: Apache-2.0
"""Rules, conditions and presets as a person meets them: what check, the gateway, session why and validate say of them."""
import json

import schema
import test_check
import test_session
from run import Failure, ROOT, Run, put, test

POLICY = test_check.POLICY + """rules:
  - {name: large, tools: own, when: args.k > 5, then: require_approval}
  - {tools: "t.*", when: 'has(args.stop) && args.stop / args.by > 0', then: block}
  - {name: nothing-posted, tools: t.post, then: block}
approvals: {by: [ana], budget: 2/hour}
"""
TEN = str(ROOT / "examples/ten-servers/policy.yaml")


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def own(n, **more):
    return {"tool": "own", "args": {"k": n}, **more}


@test
def check_says_which_rule_decided(t):
    (session,), _ = test_check.decide(t, {"steps": [
        own(5), own(6), own(7, approved=True), {"tool": "t.fetch", "args": {"stop": 1, "by": 1}}, {"tool": "t.fetch", "args": {"stop": 1, "by": 0}}, {"tool": "t.post"}]},
        policy=POLICY)
    same(test_check.actions(session), [
        test_check.ALLOW, ("require_approval", "rule", "large"), test_check.ALLOW, ("block", "rule", "rule-2"), ("block", "fault", "condition-error"),
        ("block", "rule", "nothing-posted")])
    schema.against("check.schema.json", session)
    text = Run("check", "--policy", str(t / "policy.yaml"), stdin=test_check.sessions({"steps": [own(6), {"tool": "t.fetch", "args": {"stop": 1, "by": 0}}]})).exits(1)
    text.says("the policy: rule `large` (line 13)", "out").says("the policy: rule `rule-2` (line 14): division by zero", "out")


@test
def check_counts_what_a_human_is_asked_in_an_hour(t):
    (session,), _ = test_check.decide(t, {"steps": [own(6), own(7), own(8)]}, policy=POLICY)
    same([a for a, _, _ in test_check.actions(session)], ["require_approval", "require_approval", "block"])


@test
def vouched_is_the_same_in_any_order(t):
    """What stands before a value in the call decides nothing, also when it fails; what is beyond the values that are looked at is an error."""
    policy = """interlock: 1
machine: trifecta
ours: {email: ["@ours.example"]}
servers: {t: {trust: inside}}
tools:
  - {match: t.send, effects: [egress], sink: once, audience: addressed, to: {email: [to, cc], url: [link]}, reads: [body]}
rules:
  - {name: RULE, tools: t.send, when: 'WHEN', then: block}
"""
    ours, other = "a@ours.example", "eve@evil.example"
    before = [{"to": other}, {"to": 5}, {"to": "no address"}, {"link": "https://evil.example/?x=y@z.example"}, {"body": other}, {"unknown": 1}, {"body": "https://evil.example/"}, {}]
    many = {"to": [f"a{i}@ours.example" for i in range(70)]}
    for when in ("vouched(args.cc)", "prov.cc.vouched", "vouched(\"a@ours.example\")"):
        text = policy.replace("RULE", "ours").replace("WHEN", when)
        for cc, matches in ((ours, True), (other, False)):
            if matches or "args" in when or "prov" in when:
                for first in before:
                    for args in (first | {"cc": cc}, {"cc": cc} | first):
                        got, _ = test_check.decide(t, {"steps": [{"tool": "t.send", "args": args}]}, policy=text, code=1 if matches else 0)
                        same((when, args, test_check.actions(got[0])), (when, args, [("block", "rule", "ours") if matches else test_check.ALLOW]))
    for when, args, want in (("vouched(args.cc)", many | {"cc": ours}, "condition-error"), ("vouched(args.to)", many | {"cc": ours}, "condition-error"),
                             ("vouched(args.to)", many | {"cc": ours, "to": many["to"][:63]}, "rule"), ("prov.to.vouched", many, "condition-error"),
                             ("!vouched(args.to)", {"to": [other, *many["to"]]}, "rule"), ("vouched(args.cc)", {"cc": ours} | many, "rule")):
        got, _ = test_check.decide(t, {"steps": [{"tool": "t.send", "args": args}]}, policy=policy.replace("RULE", "rule").replace("WHEN", when))
        same((when, test_check.actions(got[0])[0][2]), (when, want))


@test
def session_why_names_the_rule_and_its_line(t):
    policy = test_session.POLICY.replace("approvals:", "rules:\n  - {name: no-mail, tools: t.send, then: block}\napprovals:", 1)
    line = policy[:policy.index("no-mail")].count("\n") + 1
    same(test_session.gateway(t, test_session.SEND, policy=policy), [])
    test_session.cli(t, "session", "why", "demo").exits(0).says(f"the policy: rule `no-mail` (line {line})", "out")
    denial = test_session.read(t, "session", "why", "demo")["denied"]
    same((denial["layer"], denial["reason"], denial["rule"], denial["unvouched"]), ("rule", "no-mail", f"rule `no-mail` (line {line})", None))


@test
def a_rule_asks_and_its_approval_is_used_up_by_the_call(t):
    policy = test_session.POLICY.replace("approvals:", "rules:\n  - {name: ask, tools: t.fetch, then: require_approval}\napprovals:", 1)
    same(test_session.gateway(t, ("fetch", {}), policy=policy), [])
    (waiting,) = test_session.read(t, "approvals")["approvals"]
    same(waiting["reason"], "ask")
    test_session.cli(t, "approvals", "approve", waiting["id"]).exits(0)
    same(test_session.gateway(t, ("fetch", {}), policy=policy), ["fetch"])
    same(test_session.gateway(t, ("fetch", {}), policy=policy), [])


@test
def validate_runs_the_tests_of_a_policy(t):
    tests = """tests:
  - name: nothing leaves
    steps:
      - {call: own, args: {k: 1}}
      - {call: own, args: {k: 9}, expect: require_approval}
      - {call: own, args: {k: 9}, approved: true}
      - {call: t.post, args: {}, expect: block}
"""
    Run("validate", put(t, "a.yaml", POLICY + tests)).exits(0).says(", 1 test; 0 findings", "out")
    wrong = put(t, "b.yaml", POLICY + tests.replace("expect: require_approval", "expect: allow"))
    line = (POLICY + tests).count("\n") - 2
    Run("validate", wrong).exits(1).says(f"b.yaml:{line}:9: finding: test `nothing leaves`, step 2, `own`: require_approval by rule: large, not allow", "out")
    (finding,) = json.loads(Run("validate", wrong, "--json").exits(1).out)["findings"]
    same((finding["finding"], finding["name"], finding["line"]), ("test-failed", "nothing leaves", line))


@test
def the_example_with_ten_servers_is_what_it_says(t):
    Run("validate", TEN).exits(0).says("2 tests; 0 findings", "out")
    flat = Run("validate", TEN, "--expanded").exits(0).out
    schema.against("policy.schema.json", json.loads(flat))
    prints = [json.loads(Run("validate", path, "--json").exits(0).out)["fingerprint"] for path in (TEN, put(t, "flat.yaml", flat))]
    same(prints[0], prints[1])


@test
def a_preset_can_be_pinned(t):
    presets = json.loads(Run("validate", "--presets", "--json").exits(0).out)
    same(len(presets) >= 17, True)
    policy = "interlock: 1\nmachine: standard\nservers: {s: {use: slack@1, pin: %s}}\n"
    Run("validate", put(t, "a.yaml", policy % presets["slack@1"][:12])).exits(0)
    Run("validate", put(t, "b.yaml", policy % presets["github@2"][:12])).refuses(True).says("its digest is " + presets["slack@1"])
    Run("validate", "--presets").exits(0).says("slack@1 ", "out")


@test
def the_schema_of_policies_can_tell(_):
    good = {"interlock": 1, "machine": "standard", "tools": [{"match": "a.b", "effects": {"untrusted": "args.x"}}], "rules": [{"tools": "a.*", "then": "block"}]}
    schema.against("policy.schema.json", good)
    for bad in ({"interlock": 2}, {"tool": []}, {"mode": "on"}, {"rules": [{"tools": "a"}]}, {"rules": [{"tools": "a", "then": "deny"}]},
                {"approvals": {"budget": 6}}, {"tools": [{"match": "a", "effects": ["egres"]}]}):
        try:
            schema.against("policy.schema.json", good | bad)
        except schema.Mismatch:
            continue
        raise Failure(f"the schema accepts {bad!r}")


@test
def monitor_mode_runs_what_a_rule_blocks_and_counts_it(t):
    policy = "mode: monitor\n" + test_session.POLICY.replace("approvals:", "rules:\n  - {name: no-fetch, tools: t.fetch, then: block}\napprovals:", 1)
    same(test_session.gateway(t, ("fetch", {}), ("read", {}), policy=policy), ["fetch", "read"])
    shown = test_session.read(t, "session", "show", "demo")
    same([(c["tool"], c["action"], c["reason"]) for c in shown["calls"]], [("t.fetch", "block", "no-fetch"), ("t.read", "allow", None)])
    same((shown["counted"], shown["unenforced"]), (["untrusted", "sensitive"], True))


@test
def validate_says_that_a_rule_is_about_a_tool_that_is_not_there(t):
    policy = put(t, "a.yaml", "interlock: 1\nmachine: standard\nservers: {s: {use: slack@1}}\nrules:\n  - {tools: [s.slack_post_mesage, s.slack_*], then: block}\n")
    run = Run("validate", policy, "--tools", "s=" + str(ROOT / "tests/data/tool-lists/slack.json")).exits(1)
    run.says("a.yaml:5:5: finding: rule `rule-1`: `s.slack_post_mesage` matches no entry of `tools`; did you mean `s.slack_post_message`?", "out").says("1 finding\n", "out")
    put(t, "a.yaml", (t / "a.yaml").read_text().replace("rules:", "tools: [{match: s.slack_ask, effects: [commit]}]\nrules:").replace("post_mesage", "ask"))
    Run("validate", policy, "--tools", "s=" + str(ROOT / "tests/data/tool-lists/slack.json")).exits(1).says("`s.slack_ask` matches no tool that the server lists", "out")
