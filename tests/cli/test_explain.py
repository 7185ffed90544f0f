# SPDX-License-Identifier: Apache-2.0
"""explain: says what `check` decides, and what it says would allow a call does."""
import json
import random

import schema
from run import Failure, Run, put, test

HEAD = """interlock: 1
machine: standard
servers: {s: {trust: inside}, far: {trust: outside}, h: {trust: inside}}
ours: {email: ['@acme.example']}
groups: {ops: [ana]}
agents: {ana: {groups: [ops]}, bot: {mode: monitor}}
"""
TOOLS = """tools:
  - {match: s.mail, effects: [egress], sink: once, to: {email: to}, reads: [body]}
  - {match: s.post, effects: [egress]}
  - {match: s.put, effects: {commit: args.force, egress: 'args.dest != "local"'}, sink: once, to: {name: dest}, object: {path: path}, plain: [force]}
  - {match: s.read, effects: [sensitive]}
  - {match: s.get, effects: {sensitive: 'args.n > 5'}}
  - {match: far.get, effects: []}
  - {match: "s.do_*", effects: [commit]}
  - {match: "s.*_it", effects: [untrusted]}
  - {match: h.untrusted, effects: [untrusted]}
  - {match: h.sensitive, effects: [sensitive]}
  - {match: h.secret, effects: [secret]}
  - {match: h.egress, effects: [egress], sink: standing}
  - {match: h.commit, effects: [commit]}
"""
RULES = """rules:
  - {name: ops, tools: s.read, when: '!("ops" in agent.groups)', then: require_approval}
  - {name: big, tools: s.put, when: 'args.size > 5 && run.tainted', then: block}
  - {name: none, tools: s.get, when: run.tainted, then: block}
  - {name: mail, tools: s.mail, when: 'has(args.body) && args.body.contains("x") && !vouched(args.to)', then: block}
"""
POLICY = HEAD + TOOLS + RULES
BOTH = "untrusted,sensitive"


def explain(t, tool, *args, policy=POLICY, code=None):
    run = Run("explain", put(t, "policy.yaml", policy), tool, "--json", *args)
    if run.code not in (0, 1):
        return run
    found = json.loads(run.out)
    schema.against("explain.schema.json", found)
    run.exits((0 if found["action"] == "allow" else 1) if code is None else code)
    return found


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def kinds(found):
    return [c["kind"] for c in found["changes"]]


@test
def explain_decides_what_check_decides(t):
    """Random calls in random sessions, with and without approvals: the same effects, action, layer and reason."""
    dice = random.Random(11)
    seen, outside = set(), 0
    for policy in (POLICY, POLICY + "approvals: {for: [egress, commit]}\n", POLICY.replace("standard", "trifecta")):
        path = put(t, "policy.yaml", policy)
        for _ in range(30):
            held = dice.sample(["untrusted", "sensitive", "secret", "egress", "commit"], dice.randint(0, 3))
            tool = dice.choice(["s.mail", "s.mail", "s.post", "s.put", "s.put", "s.read", "s.get", "far.get", "s.do_it", "s.do_that", "s.none"])
            args = {k: v for k, v in {"to": dice.choice(["a@acme.example", "b@evil.example"]), "body": dice.choice(["x", "y", "ask c@evil.example"]), "force": True,
                                      "dest": "local", "path": "/x", "size": 7, "n": dice.choice([1, 9])}.items() if dice.random() < 0.6}
            run = Run("explain", path, tool, "--json", "--args", json.dumps(args), *(["--held", ",".join(held)] if held else []))
            steps = [{"tool": f"h.{h}", "args": {}, "result": "x"} for h in held] + [{"tool": tool, "args": args}]
            check = Run("check", "--policy", path, "--json", stdin=json.dumps({"steps": steps}) + "\n")
            decided = json.loads(check.out.splitlines()[0])["decisions"]
            if run.code == 3:  # no session can hold these: one of the calls that should bring them is not allowed
                outside += 1
                if all(d["action"] == "allow" for d in decided[:-1]):
                    run.fail(f"check says that a session holds {held}")
                continue
            found = json.loads(run.out)
            if any(d["action"] != "allow" for d in decided[:-1]):
                continue  # another order would have brought them
            want = decided[-1]
            same((found["action"], found["layer"], found["reason"]), (want["action"], want["layer"], want["reason"]))
            if found["layer"] != "fault":  # a fault's record has no effects
                same(found["effects"], want["effects"])
            seen.add((found["action"], found["layer"]))
    if not outside or not seen >= {("allow", None), ("block", "machine"), ("block", "rule"), ("block", "labeller"), ("block", "fault"), ("require_approval", "machine"),
                                   ("require_approval", "rule")}:
        raise Failure(f"too little was seen: {sorted(map(str, seen))}, {outside}")


@test
def explain_says_what_is_left_without_arguments(t):
    found = explain(t, "s.put", "--held", "untrusted")
    same([(c["effect"], c["matches"], c["left"]) for c in found["conditions"]], [("commit", "maybe", "args.force"), ("egress", "maybe", "args.dest != 'local'")])
    same([(r["rule"], r["matches"], r["left"]) for r in found["rules"]], [("big", "maybe", "args.size > 5")])
    same((found["action"], found["depends"], found["declared"]), ("block", True, ["egress", "commit"]))
    same([(r["rule"], r["matches"]) for r in explain(t, "s.put")["rules"]], [("big", "no")])  # `run.tainted` is known
    found = explain(t, "s.put", "--args", '{"force": false, "dest": "local"}')
    same((found["called"], found["action"], found["depends"]), ([], "allow", False))


@test
def explain_decides_conditions_on_what_arguments_build(t):
    policy = HEAD.replace("ours: {", "ours: {repo.public: [acme/site], repo: ['acme/*'], ") + '''kinds: {repo: "{owner}/{repo}"}
tools:
  - {match: s.file, effects: {untrusted: '!ours("repo", repo)', sensitive: '!public(repo)'}}
'''

    def found(*args):
        return [(c["effect"], c["matches"]) for c in explain(t, "s.file", *args, policy=policy)["conditions"]]
    same(found(), [("untrusted", "maybe"), ("sensitive", "maybe")])
    same(found("--args", '{"owner": "acme", "repo": "site"}'), [("untrusted", "no"), ("sensitive", "no")])
    same(found("--args", '{"owner": "evil", "repo": "site"}'), [("untrusted", "yes"), ("sensitive", "yes")])
    same(found("--args", '{"owner": "acme"}'), [("untrusted", "errs"), ("sensitive", "errs")])  # and then the effect counts


@test
def explain_blames_no_call_that_was_not_given(t):
    run = Run("explain", put(t, "policy.yaml", HEAD + TOOLS), "s.mail", "--held", BOTH).exits(1)
    if "names no destination" in run.out:
        run.fail("no call was given")
    run.says("it is not told what the call names", "out")
    same("names no destination" in explain(t, "s.mail", "--held", BOTH, "--args", "{}", policy=HEAD + TOOLS)["why"], True)


@test
def explain_says_what_would_let_typed_words_vouch(t):
    def typed(entry, args='{"to": "b@there.example"}', tool="s.mail"):
        policy = HEAD + TOOLS.replace("sink: once, to: {email: to}, reads", entry + "to: {email: to}, reads")
        more = ("--args", args) if args else ()
        return [c["text"] for c in explain(t, tool, "--held", BOTH, *more, policy=policy)["changes"] if c["kind"] == "typed"]
    for args in (None, '{"to": "b@there.example"}'):
        same([t[:t.index(" at the entry")] for t in typed("sink: once, ", args)], ["`audience: addressed`"])
        same([t[:t.index(" at the entry")] for t in typed("", args)], ["`sink: once` and `audience: addressed`"])
        same([t.startswith("a human who types") for t in typed("sink: once, audience: addressed, ", args)], [True])
    same(typed("sink: once, ", '{"to": "b@there.example", "cc": "x"}'), [])  # that alone would not help
    same(typed("sink: once, ", '{"path": "/x", "dest": "d", "force": true}', tool="s.do_it"), [])


@test
def explain_knows_who_calls(t):
    same([(f["action"], f["mode"], kinds(f)) for f in (explain(t, "s.read"), explain(t, "s.read", "--agent", "ana"), explain(t, "s.read", "--agent", "bot"))],
         [("require_approval", "enforce", ["approve", "rule"]), ("allow", "enforce", []), ("require_approval", "monitor", ["approve", "rule"])])


@test
def explain_says_what_would_allow_it_and_that_does(t):
    """Each change is made, and then the call is allowed; before, it was not."""
    def step(tool, args, kind, old, new, held=BOTH, then="allow"):
        more = ("--args", json.dumps(args), "--held", held)
        before = explain(t, tool, *more, policy=HEAD + TOOLS)
        if kind not in kinds(before):
            raise Failure(f"want `{kind}`: {before}")
        if (HEAD + TOOLS).replace(old, new) == HEAD + TOOLS:
            raise Failure(f"adapt this test: {old}")
        same((before["action"], explain(t, tool, *more, policy=(HEAD + TOOLS).replace(old, new))["action"]), ("block", then))
    step("s.mail", {"to": "b@there.example", "body": ""}, "list", "['@acme.example']", "['@acme.example', b@there.example]")
    step("s.mail", {"to": "b@acme.example", "body": "", "cc": "x"}, "plain", "reads: [body]}", "reads: [body], plain: [cc]}")
    step("s.post", {"to": "b@acme.example"}, "destination", "s.post, effects: [egress]}", "s.post, effects: [egress], sink: once, to: {email: to}}")
    step("s.post", {}, "sink", TOOLS, "approvals: {for: [egress]}\n" + TOOLS.replace("s.post, effects: [egress]}", "s.post, effects: [egress], sink: once}"), then="require_approval")
    step("s.mail", {"to": "b@there.example", "body": ""}, "approvals", "tools:\n", "approvals: {for: [egress]}\ntools:\n", then="require_approval")
    step("far.get", {}, "server", "far: {trust: outside}", "far: {trust: inside}", held="sensitive")
    step("s.none", {}, "entry", "tools:\n", "tools:\n  - {match: s.none, effects: []}\n")
    found = explain(t, "s.mail", "--args", '{"to": "b@there.example"}', "--held", BOTH, policy=HEAD + TOOLS)
    same([c["text"] for c in found["changes"] if c["kind"] == "session"], ["a session that does not hold `untrusted`", "a session that does not hold `sensitive`"])
    for held in ("untrusted", "sensitive"):
        same(explain(t, "s.mail", "--args", '{"to": "b@there.example"}', "--held", held, policy=HEAD + TOOLS)["action"], "allow")


@test
def explain_refuses_what_is_no_question(t):
    explain(t, "s.mail", "--held", "untrusted,sens").refuses().says("`sens` is no effect")
    explain(t, "s.mail", "--held", "untrusted,sensitive,egress").refuses().says("no session holds these effects together")
    explain(t, "s.mail", "--args", "[1]").refuses().says("no object")
    explain(t, "s.mail", "--args", "{").refuses(True)
    Run("explain", put(t, "policy.yaml", POLICY)).refuses().says("a policy and a tool")


@test
def explain_takes_more_arguments_than_it_can_name(t):
    many = json.dumps({"to": "b@there.example", **{f"argument{i}": 1 for i in range(2000)}})
    found = explain(t, "s.mail", "--held", BOTH, "--args", many, policy=HEAD + TOOLS)
    same((found["action"], found["changes"][0]), ("block", {"kind": "plain", "text": "declare all of its arguments at the entry, and list where it goes and what it changes"}))


@test
def explain_drives_no_terminal(t):
    run = Run("explain", put(t, "policy.yaml", POLICY), "s.mail", "--held", BOTH, "--args", json.dumps({"to": "\x1b[2J@evil.example", "\x1b]0;x": 1})).exits(1)
    if any(ord(c) < 32 and c != "\n" for c in run.out):
        run.fail("control characters")
    Run("explain", put(t, "policy.yaml", POLICY), "s.\x1b[2J").exits(1).says("\\u{1b}", "out")
