# SPDX-License-Identifier: Apache-2.0
"""validate --against: what is said of a pair of policies, and that `explain` says the same of each example."""
import json

import schema
from run import Failure, Run, put, test

BASE = """interlock: 1
machine: standard
ours: {email: "@corp.example", path: ["~/src"]}
servers: {mail: {trust: inside}, files: {trust: inside}, web: {trust: inside}}
groups: {ops: [ana], sales: [bo]}
sources: {crm: trusted}
tools:
  - {match: mail.send, effects: [egress], sink: once, audience: addressed, to: {email: to}, reads: [body], plain: ["n"]}
  - {match: mail.read, effects: [untrusted, sensitive]}
  - {match: "files.*", effects: {sensitive: 'args.path != "/tmp/x"'}}
  - {match: files.get, effects: {untrusted: 'labelled(args.path, "untrusted")'}}
  - {match: web.get, effects: [untrusted, egress], sink: once, to: {url: url}}
  - {match: mail.list, effects: [sensitive], result: {items: "$[*]", authentic: {email: from}}}
rules:
  - {name: large, tools: mail.send, when: 'args.n > 5', then: block}
  - {name: mode, tools: files.write, when: 'has(args.mode) && args.mode == "rwx"', then: require_approval}
  - {name: who, tools: files.put, when: 'agent.groups.exists(g, g == "sales")', then: block}
  - {name: crm, tools: files.del, when: '!("crm" in prov.path.sources)', then: block}
  - {name: tool, tools: "files.*", when: 'tool == "pay"', then: block}
approvals: {for: [egress], expires: 10m}
"""


def against(t, old, new, policy=BASE):
    """What is said of the policy and of it with `old` replaced: exit code, findings without their calls, calls."""
    if old not in policy:
        raise Failure(f"`{old}` is not in the policy")
    first, second = put(t, "first.yaml", policy), put(t, "second.yaml", policy.replace(old, new, 1))
    run = Run("validate", first, "--against", second, "--json")
    report = json.loads(run.out)
    schema.against("against.schema.json", report)
    run.exits({"same": 0, "differ": 1, "unknown": 2}[report["answer"]])
    for f in report["findings"]:
        if f["kind"] in ("call", "after"):
            decided(f, first, second)
    again = Run("validate", first, "--against", second, "--json")
    if again.out != run.out:
        raise Failure("twice, and not the same bytes")
    return report["answer"], [(f["kind"], f["about"], f.get("direction")) for f in report["findings"]], report["findings"]


def decided(finding, *paths):
    """explain, which knows of no session but what it holds, says the same."""
    call = finding["call"]
    if call["typed"] or call["source"] or "files.get" in call["tool"]:
        return
    for path, side in zip(paths, (finding["policy"], finding["other"])):
        args = ["explain", path, call["tool"], "--args", json.dumps(call["args"]), "--json"]
        args += ["--held", ",".join(call["held"])] if call["held"] else []
        args += ["--agent", call["agent"]] if call["agent"] else []
        x = json.loads(Run(*args).out)
        if (x["action"], x["effects"]) != (side["action"], side["effects"]):
            raise Failure(f"{call}: explain says {x['action']} {x['effects']}, the comparison {side}")


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


@test
def against_is_the_same_by_meaning(t):
    for old, new in [("args.n > 5", "5 < args.n"), ("name: large", "name: big"), ('then: block}\n  - {name: mode', "then: block}\n  - {name: mode"),
                     ("tools:\n", "tests: [{name: a, steps: [{call: mail.read}]}]\ntools:\n"),
                     ('has(args.mode) && args.mode == "rwx"', '!(!has(args.mode) || args.mode != "rwx")'),
                     ("{email: to}, reads: [body],", "{email: [to]}, reads: [body],"),
                     ("effects: [untrusted, sensitive]}", "effects: {untrusted: true, sensitive: true, secret: false}}"),
                     ('  - {match: "files.*"', '  - {match: ["files.*"]')]:
        same(against(t, old, new)[:2], ("same", []))


@test
def against_shows_calls_both_ways(t):
    same(against(t, "args.n > 5", "args.n > 6")[:2], ("differ", [("call", "mail.send", "narrower")]))
    same(against(t, "args.n > 5", "args.n > 4")[:2], ("differ", [("call", "mail.send", "wider")]))
    same(against(t, '"rwx"', '"rw"')[:2], ("differ", [("call", "files.write", "narrower"), ("call", "files.write", "wider")]))
    same(against(t, "- {match: mail.read, effects: [untrusted, sensitive]}\n", "- {match: mail.read, effects: []}\n")[:2],
         ("differ", [("after", "mail.read", None), ("call", "mail.read", "narrower")]))


@test
def against_shows_what_errs(t):
    """An error of a condition blocks: what needs an argument blocks calls without it."""
    policy = """interlock: 1
machine: standard
servers: {s: {trust: inside}}
tools: [{match: s.a, effects: [sensitive]}]
rules: [{tools: s.a, then: block, when: has(args.s)}]
"""
    _, found, fs = against(t, "has(args.s)", "5 < args.n", policy)
    same((found, fs[0]["call"]["args"], fs[0]["other"]["reason"]), ([("call", "s.a", "wider"), ("call", "s.a", "narrower")], {}, "condition-error"))
    same(against(t, "has(args.s)", 'args.s != ""', policy)[1], [("call", "s.a", "wider"), ("call", "s.a", "narrower")])


@test
def against_finds_the_session_that_shows_it(t):
    _, found, (f,) = against(t, "sales: [bo]", "sales: [bo, ana]")
    same((found, f["call"]["agent"]), ([("call", "files.put", "wider")], "ana"))
    _, found, fs = against(t, ", audience: addressed", "")
    same((found, ["x@unlisted.example" in f["call"]["typed"] for f in fs]), ([("after", "mail.send", None), ("call", "mail.send", "wider")], [True, True]))
    _, found, fs = against(t, '"crm" in', '"web" in')
    same([f["call"]["source"] for f in fs], ["crm", "web"])
    labelled = "'labelled(args.path, \"untrusted\")'"
    _, found, fs = against(t, labelled, "false")  # where there is no path it errs, and the effect counts
    same((found, fs[0]["call"]["args"]), ([("after", "files.get", None), ("call", "files.get", "narrower")], {}))
    _, found, fs = against(t, labelled, "'!has(args.path)'")
    same((found[0], fs[0]["call"]["stores_labelled"]), (("after", "files.get", None), True))
    _, found, _ = against(t, 'tool == "pay"', 'tool == "buy"')
    same(found[0][:2], ("call", "files.buy"))


@test
def against_says_settings_and_what_it_does_not_know(t):
    same(against(t, "expires: 10m", "expires: 5m")[:2], ("differ", [("setting", "approvals.expires", None)]))
    same(against(t, "machine: standard\n", "machine: standard\nmode: monitor\n")[:2], ("differ", [("setting", "mode", None)]))
    same(against(t, "web: {trust: inside}", "web: {trust: inside, sampling: true}")[:2], ("differ", [("setting", "servers", None)]))
    answer, found, fs = against(t, "authentic: {email: from}", "claimed: {email: from}")
    same((answer, found), ("unknown", [("unknown", "mail.list", None)]))
    same("what its results vouch for is said otherwise: the field `from`" in fs[0]["text"], True)
    listed = 'authentic: {email: from, account: iban}, claimed: {email: [to, "cc[*]"]}, free: body'
    lists = BASE.replace('items: "$[*]", authentic: {email: from}', 'items: "$", ' + listed)
    for old, new, text in (("[to, ", "[", "the field `to`"), ("iban", "number", "the field `iban`"), ("{email: from,", "{email: {id: from, via: name},", "the field `from`"),
                           ('items: "$"', 'items: "$.list[*]"', "the items of its results are looked for elsewhere"), ("account: iban", "account: iban, url: link", "the field `link`")):
        answer, found, fs = against(t, old, new, lists)
        same((answer, found, text in fs[0]["text"]), ("unknown", [("unknown", "mail.list", None)], True))
    for old, new in (('[to, "cc[*]"]', '["cc[*]", to]'), ("email: from, account: iban", "account: iban, email: from"), ('items: "$", ', ""), ("free: body", "free: [body, subject]")):
        same((old, *against(t, old, new, lists)[:2]), (old, "same", []))
    answer, found, _ = against(t, "machine: standard", "machine: trifecta")
    same((answer, found[0]), ("differ", ("setting", "machine", None)))


@test
def against_knows_names_that_no_entry_has(t):
    _, found, fs = against(t, '{match: "files.*"', '{match: "files.*_*"')
    same({f[0] for f in found} | {f[2] for f in found}, {"call", "wider"})
    same(any(name not in ("files.put", "files.del", "files.pay") and "/" not in name for f in fs for name in [f["about"], *f["alike"]]), True)
    _, found, (f,) = against(t, "servers: {mail", "servers: {cal: {trust: inside}, mail")  # a server that nobody declares is outside: what it lists is known
    same((found[0][0], f["call"]["tool"]), ("call", "cal.prompts/list"))
    same(against(t, "web: {trust: inside}}", "web: {trust: inside}, cal: {trust: outside}}")[:2], ("same", []))


@test
def against_is_text_for_people_and_refuses_what_it_cannot_take(t):
    first, second = put(t, "first.yaml", BASE), put(t, "second.yaml", BASE.replace("args.n > 5", "args.n > 6"))
    Run("validate", first, "--against", second).exits(1).says("mail.send: block (rule: large) by", "out").says('mail.send {"n":6}', "out").says("1 narrower", "out")
    Run("validate", first, "--against", first).exits(0).says("same", "out")
    Run("validate", first, "--against", second, "--expanded").refuses().says("--against")
    Run("validate", first, "--against", put(t, "bad.yaml", "interlock: 1\n")).refuses(True)
    Run("validate", first, "--against", first + ".none").refuses()
