# SPDX-License-Identifier: Apache-2.0
"""validate: what is right in form and cannot have been meant. Each finding beside a control that is silent."""
import json
import random

import schema
from run import Failure, Run, put, test

HEAD = """interlock: 1
machine: standard
servers: {s: {trust: inside}, t: {trust: inside}}
tools:
"""
ENTRIES = """  - {match: s.read, effects: []}
  - {match: s.write, effects: []}
  - {match: "s.list_*", effects: []}
  - {match: own, effects: []}
"""
TOOLS = [{"name": "read", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "state": {"type": "string", "enum": ["open", "closed"]}}}},
         {"name": "write", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "size": {"type": "integer"}, "more": {"type": "object"}}}},
         {"name": "list_a", "inputSchema": {"type": "object", "properties": {}, "additionalProperties": True}}]


def found(t, policy, *args):
    run = Run("validate", put(t, "policy.yaml", policy), "--json", *args)
    report = json.loads(run.out)
    schema.against("validate.schema.json", report)
    run.exits(1 if report["findings"] else 0)
    return [(f["finding"], f["name"], f["line"], f["col"]) for f in report["findings"]], [f["message"] for f in report["findings"]]


def rules(t, *lines, entries=ENTRIES):
    return found(t, HEAD + entries + "rules:\n" + "".join(f"  - {line}\n" for line in lines))


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def silent(t, *lines):
    same(rules(t, *lines), ([], []))


@test
def lint_finds_rules_that_never_match(t):
    got, why = rules(t, '{name: a, tools: s.read, when: "args.n > 5 && args.n < 3", then: block}', '{name: b, tools: [own, "!own"], then: block}')
    same(got, [("rule-never", "a", 10, 37), ("rule-never", "b", 11, 5)])
    if "exclude every entry" not in why[1]:
        raise Failure(why[1])
    silent(t, '{name: a, tools: s.read, when: "args.n > 5 && args.n < 8", then: block}', '{name: b, tools: ["*", "!own"], then: block}')


@test
def lint_finds_rules_behind_others_by_meaning(t):
    got, why = rules(t, '{name: a, tools: "s.*", when: "args.n > 5", then: block}', '{name: b, tools: s.write, when: "args.n >= 10", then: allow}')
    same(got, [("rule-shadowed", "b", 11, 5)])
    if "rule `a` (line 10)" not in why[0]:
        raise Failure(why[0])
    silent(t, '{name: a, tools: "s.*", when: "args.n > 5", then: block}', '{name: b, tools: s.write, when: "args.n >= 5", then: allow}')
    silent(t, '{name: a, tools: "s.r*", when: "args.n > 5", then: block}', '{name: b, tools: s.write, when: "args.n >= 10", then: allow}')
    silent(t, '{name: a, tools: ["s.*", "!s.w*"], when: "args.n > 5", then: block}', '{name: b, tools: s.write, when: "args.n >= 10", then: allow}')


@test
def lint_finds_rules_behind_several_together(t):
    got, _ = rules(t, '{name: a, tools: s.read, when: run.tainted, then: block}', '{name: b, tools: "s.(read|write)", when: "!run.tainted", then: allow}',
                   '{name: c, tools: s.read, then: block}', '{name: d, tools: "s.(read|write)", when: "args.x == 1", then: block}')
    same(got, [("rule-shadowed", "c", 12, 5)])  # `d` still decides on s.write


@test
def lint_reads_entries_that_are_patterns(t):
    got, _ = rules(t, '{name: a, tools: "s.list_*", then: block}', '{name: b, tools: "s.list_a", then: allow}')
    same(got, [("rule-shadowed", "b", 11, 5)])
    silent(t, '{name: a, tools: "s.list_a", then: block}', '{name: b, tools: "s.list_*", then: allow}')


@test
def lint_finds_conditions_that_are_always_true(t):
    same(rules(t, '{name: a, tools: own, when: "run.tainted || !run.tainted", then: block}', '{name: b, tools: s.read, when: "true", then: allow}')[0],
         [("rule-always", "a", 10, 34), ("rule-always", "b", 11, 37)])
    silent(t, '{name: a, tools: own, when: run.tainted, then: block}', '{name: b, tools: s.read, then: allow}')


@test
def lint_finds_conditions_that_always_err(t):
    same(rules(t, '{name: a, tools: own, when: "1 / 0 == 1", then: block}')[0], [("condition-errs", "a", 10, 34)])
    silent(t, '{name: a, tools: own, when: "1 / args.n == 1", then: block}')


@test
def lint_finds_patterns_that_match_no_entry(t):
    got, why = rules(t, '{name: a, tools: [s.reed, own], then: block}', '{name: b, tools: ["s.*", "!s.wrte"], then: block}')
    same(got, [("rule-unmatched", "a", 10, 5), ("rule-unmatched", "b", 11, 5)])
    if "did you mean `s.read`?" not in why[0] or "`!s.wrte`" not in why[1]:
        raise Failure(why)
    silent(t, '{name: a, tools: ["s.*ea*", own], then: block}', '{name: b, tools: ["s.*", "!s.list_b"], then: block}')


@test
def lint_reads_the_conditions_of_effects(t):
    def effects(text):
        return found(t, HEAD + f"  - {{match: own, effects: {{{text}}}}}\n")
    same(effects('untrusted: "1 / 0 == 1", sensitive: "args.n > 1 && args.n < 1", commit: "true || args.n == 1"')[0],
         [("condition-errs", "own", 5, 40), ("condition-never", "own", 5, 65), ("condition-always", "own", 5, 101)])
    same(effects('untrusted: "1 / args.m == 1", sensitive: "args.n > 1 && args.n < 3", commit: "args.n == 1"'), ([], []))


@test
def lint_holds_conditions_against_the_schemas_of_their_tools(t):
    listing = "s=" + put(t, "tools.json", json.dumps(TOOLS))

    def with_tools(*lines, entries=ENTRIES):
        return found(t, HEAD + entries + "rules:\n" + "".join(f"  - {line}\n" for line in lines), "--tools", listing)
    got, why = with_tools('{name: a, tools: s.write, when: "args.sise > 5", then: block}', '{name: b, tools: s.write, when: "args.size > \'x\'", then: block}',
                          '{name: c, tools: s.read, when: "args.state == \'opne\'", then: block}', '{name: d, tools: s.read, when: "prov.pth.vouched", then: block}',
                          '{name: e, tools: s.read, when: "has(args.pth)", then: block}')
    same(got, [("unknown-argument", "a", 10, 38), ("argument-type", "b", 11, 48), ("argument-type", "c", 12, 51), ("unknown-argument", "d", 13, 37),
               ("unknown-argument", "e", 14, 41)])
    for text, wanted in ((why[0], "did you mean `size`?"), (why[1], "no overload"), (why[2], "did you mean `open`?"), (why[3], "did you mean `path`?")):
        if wanted not in text:
            raise Failure(text)
    # what one of the tools has, what a tool leaves open, what a server without a list has, and what is right
    same(with_tools('{name: a, tools: "s.(read|write)", when: "has(args.size) && args.state == \'open\'", then: block}',
                    '{name: b, tools: "s.*", when: "args.sise > 5", then: block}', '{name: c, tools: [s.write, own], when: "args.sise > 7", then: block}',
                    '{name: d, tools: s.write, when: "args.more.any > 9 && prov.path.vouched", then: block}'), ([], []))
    same(with_tools('{tools: own, when: run.tainted, then: block}', entries='  - {match: "s.(read|list_a)", effects: []}\n  - {match: own, effects: []}\n'
                    '  - {match: s.write, effects: {commit: "args.sise > 5"}}\n')[0], [("unknown-argument", "s.write", 7, 41)])


@test
def lint_never_calls_a_rule_dead_that_decides(t):
    """Small random policies: a rule that decides a call of some assignment is no finding of the lint."""
    dice = random.Random(7)
    atoms = ["args.a == 1", "args.a > 1", "args.a < 2", "args.a != 1", "args.b", "!args.b"]
    dead = 0
    for _ in range(25):
        conditions = [f" {dice.choice(['&&', '||'])} ".join(dice.sample(atoms, dice.randint(1, 2))) for _ in range(5)]
        policy = HEAD + ENTRIES + "rules:\n" + "".join(f'  - {{name: r{i}, tools: own, when: "{c}", then: block}}\n' for i, c in enumerate(conditions))
        deciding = set()
        for a in (0, 1, 2, 3):
            for b in (False, True):
                facts = {"args.a == 1": a == 1, "args.a > 1": a > 1, "args.a < 2": a < 2, "args.a != 1": a != 1, "args.b": b, "!args.b": not b}
                for i, c in enumerate(conditions):
                    parts = c.split(" && ") if " && " in c else c.split(" || ")
                    if (all if " && " in c else any)(facts[p] for p in parts):
                        deciding.add(f"r{i}")
                        break
        for kind, name, _, _ in found(t, policy)[0]:
            if kind in ("rule-never", "rule-shadowed"):
                dead += 1
                if name in deciding:
                    raise Failure(f"{name} decides, and is called {kind}\n{policy}")
    if dead < 10:
        raise Failure(f"only {dead} rules were found dead: this test could not fail")


@test
def lint_takes_under_a_second_for_1000_rules(t):
    entries = "".join(f"  - {{match: s.t{i}, effects: []}}\n" for i in range(1000))
    for line in ('{{tools: "s.*", when: "args.to == \\"x{i}\\" && run.tainted", then: block}}', '{{tools: "s.t{i}", when: "args.amount > {i}", then: block}}'):
        run = Run("validate", put(t, "policy.yaml", HEAD + entries + "rules:\n" + "".join("  - " + line.format(i=i) + "\n" for i in range(1000)))).exits(0)
        if run.seconds > 1:
            raise Failure(f"{run.seconds:.2f} s of the processor")
