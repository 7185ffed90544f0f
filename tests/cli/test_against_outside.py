# SPDX-License-Identifier: Apache-2.0
"""validate --against: what stands outside of an entry, or only in an Interbolt document, is no reason to say `same`."""
from run import Run, put, test

KINDS = """interlock: 1
machine: standard
servers: {gh: {trust: inside}}
kinds: {repo: "{owner}/{name}"}
ours: {repo: ["corp/*"]}
tools:
  - {match: gh.push, effects: [egress], sink: once, audience: addressed, to: {repo: repo}}
"""
SOURCE = """interlock: 1
machine: standard
servers: {w: {trust: inside}}
tools:
  - {match: w.read, effects: [untrusted], source: handbook}
  - {match: w.post, effects: [commit]}
rules:
  - {tools: w.post, when: '"handbook" in run.sources', then: block}
"""
INTERBOLT = """version: "2.0"
defaults: {sink_action: block}
sinks:
  default.send: {capabilities: [reaches_external], rules: [{name: a, when: 'args.x == "1"', action: allow}]}
"""


def against(t, text, *changes):
    """Exit code expected by the caller: each change is (from, to)."""
    other = text
    for old, new in changes:
        assert old in other
        other = other.replace(old, new)
    return Run("validate", put(t, "p.yaml", text), "--against", put(t, "q.yaml", other))


@test
def kinds_of_the_document_are_no_part_of_an_entry(t):
    against(t, KINDS, ('kinds: {repo: "{owner}/{name}"}', 'kinds: {repo: "corp/{name}"}')).exits(1).says("gh.push: block (machine: lethal-trifecta)", "out")
    against(t, KINDS, ("interlock: 1", "# said twice\ninterlock: 1")).exits(0).says(": same; ", "out")


@test
def what_results_are_a_source_of_is_compared(t):
    against(t, SOURCE, (", source: handbook", "")).exits(2).says("w.read: unknown", "out")
    against(t, SOURCE, (", source: handbook", ", source: forum")).exits(2)


@test
def interbolt_documents_end_with_their_sink_action(t):
    against(t, INTERBOLT, ("sink_action: block", "sink_action: allow")).exits(1).says("block (rule: sink_action)", "out")
    against(t, INTERBOLT, (", rules: [{name: a, when: 'args.x == \"1\"', action: allow}]", "")).exits(1)  # what a rule allows is more than no rule
    against(t, INTERBOLT, ("action: allow}", "action: block}")).exits(1)
    against(t, INTERBOLT, ("name: a", "name: b")).exits(0)


@test
def interbolt_documents_that_pass_errors_over(t):
    soft = INTERBOLT.replace("block}", "block, fail_mode: monitor}")
    against(t, INTERBOLT, ("block}", "block, fail_mode: monitor}")).exits(2)
    rule = "{name: a, when: 'args.x == \"1\"', action: allow}"
    against(t, soft, (rule, "{name: z, when: 'args.y == \"1\"', action: block}, " + rule), ("sink_action: block", "sink_action: allow")).exits(1)
    against(t, soft, ("name: a", "name: b")).exits(0)


@test
def the_section_of_translated_documents_is_for_their_machine(t):
    smuggled = SOURCE.replace("tools:", 'interbolt: {version: "2.0", sink_action: allow, fail_mode: monitor}\ntools:', 1)
    Run("validate", put(t, "p.yaml", smuggled)).refuses(True).says("`interbolt` is for what was translated")
    Run("validate", put(t, "q.yaml", smuggled.replace("machine: standard", "machine: rules-only"))).exits(0)
