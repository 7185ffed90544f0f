# SPDX-License-Identifier: Apache-2.0
"""validate: each error and warning of the Interbolt reference, asked of a document of our language that has the same mistake, beside a control that is silent. What
cannot be said in our language has a row that says why."""
import json

import schema
from run import Failure, Run, put, test

HEAD = """interlock: 1
machine: standard
servers: {s: {trust: inside}}
groups: {ops: [ana]}
tools:
  - {match: s.read, effects: [sensitive]}
  - {match: s.send, effects: [untrusted]}
"""


def rule(when, then="block", more=""):
    return HEAD + f"rules:\n  - {{tools: s.read, when: '{when}', then: {then}}}\n{more}"


# code of the reference, the document, its control, and what is said: refused (exit 3) with these words, or a finding or warning of this kind
ROWS = [
    ("E1", "tools: [", HEAD, "refused", "yaml"),
    ("E2", 'version: "1.0"\n', HEAD, "refused", ""),
    ("E3", HEAD.replace("effects: [sensitive]", "effects: sensitive"), HEAD, "refused", "effects"),
    ("E3", HEAD + "sinks: {}\n", HEAD, "refused", "sinks"),  # W-1 of its weaknesses: no key is ignored
    ("E4", HEAD + "rules:\n  - {tools: s.read, then: allow}\n  - {tools: s.read, when: run.tainted, then: block}\n",
     HEAD + "rules:\n  - {tools: s.send, then: allow}\n  - {tools: s.read, when: run.tainted, then: block}\n", "finding", "rule-shadowed"),
    ("E5", HEAD + "rules:\n  - {tools: s.read, then: allow}\n  - {tools: s.read, then: block}\n",
     HEAD + "rules:\n  - {tools: s.read, then: allow}\n  - {tools: s.send, then: block}\n", "finding", "rule-shadowed"),
    ("E6", rule("args.x =="), rule("args.x == 1"), "refused", "policy.yaml:9:"),
    ("E7", rule("run.sources.any(x, x == \"a\")"), rule("run.sources.exists(x, x == \"a\")"), "refused", "any"),
    ("E8", rule("\"reads_private\" in run.trifecta"), rule("\"sensitive\" in run.trifecta"), "refused", "sensitive"),
    ("E9", rule("\"egress\" in run.trifecta"), rule("\"sensitive\" in run.trifecta"), "warning", "leg-undeclared"),
    ("W2", rule("run.trifecta.exists(l, l == \"egress\")"), rule("run.trifecta.exists(l, l == \"untrusted\")"), "warning", "leg-undeclared"),
    ("E10", rule("run.taint"), rule("run.tainted"), "refused", "tainted"),
    ("E11", rule("agent.group == \"ops\""), rule("agent.id == \"ops\""), "refused", "groups"),
    ("W3", rule("agent.groups.exists(g, g == \"opps\")"), rule("agent.groups.exists(g, g == \"ops\")"), "refused", "ops"),
    ("W3", rule("\"opps\" in agent.groups"), rule("\"ops\" in agent.groups"), "refused", "ops"),
    ("W4", rule("prov.x.source == \"web\""), rule("\"web\" in prov.x.sources"), "refused", "sources"),
    ("W5", rule("run.sources.all(s, s == \"kb\")", "allow"), rule("run.sources.all(s, s == \"kb\")"), "warning", "all-of-none"),
    ("W7", rule("prov.x.sources.all(s, s == \"kb\")", "allow"), rule("prov.x.sources.exists(s, s == \"kb\")", "allow"), "warning", "all-of-none"),
    ("E12", HEAD + """rules:
  - {tools: s.read, when: 'agent.groups.exists(g, g == "ops") || agent.id == "bo"', then: allow}
  - {tools: s.read, when: 'agent.id == "bo"', then: block}
""", HEAD + """rules:
  - {tools: s.read, when: 'agent.groups.exists(g, g == "ops") || agent.id == "bo"', then: allow}
  - {tools: s.read, when: 'agent.id == "cy"', then: block}
""", "finding", "rule-shadowed"),
    # W1 (a sink without capabilities where others have them): `effects` is not to be left out
    ("W1", HEAD.replace(", effects: [sensitive]", ""), HEAD, "refused", "effects"),
    # W6 (access by identity alone): a rule only tightens here, so an `allow` gives no access that the machine would not
]


def said(t, document):
    run = Run("validate", put(t, "policy.yaml", document), "--json")
    report = json.loads(run.out)
    schema.against("validate.schema.json", report)
    return run, report


@test
def reference_each_error_and_warning_is_said(t):
    for code, document, control, how, what in ROWS:
        run, report = said(t, document)
        if how == "refused":
            ok = run.code == 3 and not report["valid"] and what in run.err
        else:
            list_of = report["findings" if how == "finding" else "warnings"] if report["valid"] else []
            ok = run.code == (1 if how == "finding" else 0) and [f[how] for f in list_of] == [what] and all(f["line"] for f in list_of)
        if not ok:
            raise Failure(f"{code}: want {how} {what}\n{document}\ngot {run.code} {run.err}{report}")
        run, report = said(t, control)
        if run.code or report["warnings"] or report["findings"]:
            raise Failure(f"{code}: the control is not silent\n{control}\ngot {run.code} {run.err}{report}")
