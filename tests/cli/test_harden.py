# SPDX-License-Identifier: Apache-2.0
"""harden: whether the monitor can keep sessions with a machine that is proven."""
import json

from run import Failure, ROOT, Run, put, test

TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def changed(old, new):
    if old not in TRIFECTA:
        raise Failure(f"machines/trifecta.yaml does not have `{old}` any more; adapt this test")
    return TRIFECTA.replace(old, new)


def sessions(t, text, code=0):
    path = put(t, "m.yaml", text)
    run = Run("harden", path, "--json").exits(code)
    return json.loads(run.out), Run("harden", path).exits(code)


@test
def harden_says_that_a_shipped_machine_keeps_sessions(t):
    report, text = sessions(t, TRIFECTA)
    same(report["sessions"], {"usable": True, "why": None})
    text.says("\nsessions: the monitor can keep sessions with this machine\n", "out")


@test
def harden_names_the_symbol_that_the_monitor_would_miss(t):
    report, text = sessions(t, changed("  settle:\n", "  setle:\n"))
    same((report["fully_mediated"], report["sessions"]["usable"]), (True, False))
    if "`settle{" not in report["sessions"]["why"]:
        raise Failure(str(report["sessions"]))
    text.says("FULLY MEDIATED", "out").says("\nsessions: NOT USABLE by the monitor: ", "out").says("`settle{", "out")


# The smallest that the monitor can use: no approvals, no join, no refine.
SMALL = """machine: no-leak
version: 1
vars:
  untrusted: {enum: [none, held], taint: source}
  sensitive: {enum: [none, held], taint: source}
  flight: bool
  open: bool
  phase: [live, quarantined, ended]
actions:
  admit:
    principal: agent
    gate: true
    live: true
    call: {untrusted: bool, sensitive: bool, egress: [none, once, standing]}
    next:
      untrusted: "call.untrusted ? 'held' : pre.untrusted"
      sensitive: "call.sensitive ? 'held' : pre.sensitive"
      flight: "pre.flight || call.egress == 'once'"
      open: "pre.open || call.egress == 'standing'"
    reject:
      - {as: no-leak, if: "next.sensitive != 'none' && (next.flight || next.open)"}
  settle:
    principal: runtime
    gate: true
    corrective: true
    call: {untrusted: bool, sensitive: bool, last: [none, egress, crossing]}
    next:
      flight: "call.last == 'egress' ? false : pre.flight"
    reject:
      - {as: label-breach, if: "(call.untrusted && pre.untrusted == 'none') || (call.sensitive && pre.sensitive == 'none')"}
      - {as: unknown-call, if: "call.last == 'crossing' || (call.last == 'egress' && !pre.flight)"}
  quarantine:
    principal: runtime
    corrective: true
    next: {phase: "'quarantined'", open: "false"}
  end:
    principal: runtime
    corrective: true
    next: {phase: "'ended'"}
    reject:
      - {as: busy, if: "pre.flight"}
regions:
  leak: {never: "pre.sensitive != 'none' && (pre.flight || pre.open)"}
contract:
  rules: [no-leak, label-breach, unknown-call, busy, quarantined, ended]
"""
# A word of approvals, and nothing else of them.
ASKS = SMALL.replace("  quarantine:\n", "  refuse:\n    principal: human\n    live: true\n  quarantine:\n", 1)


@test
def harden_and_validate_say_that_approvals_may_be_left_out(t):
    report, _ = sessions(t, SMALL)
    same((report["fully_mediated"], report["sessions"]), (True, {"usable": True, "why": None}))
    report, _ = sessions(t, ASKS)
    same((report["fully_mediated"], report["sessions"]["usable"]), (True, False))
    for word in ("`admit{approved}`", "leave them all out"):
        if word not in report["sessions"]["why"]:
            raise Failure(str(report["sessions"]))
    policy = put(t, "policy.yaml", "interlock: 1\nmachine: ./m.yaml\ntools: [{match: a, effects: []}]\n")
    Run("validate", policy).refuses(True).says("leave them all out")


@test
def harden_of_a_machine_that_is_not_proven_is_not_usable(t):
    report, text = sessions(t, SMALL.replace("(next.flight || next.open)", "next.open"), 1)
    same((report["fully_mediated"], report["sessions"]["usable"]), (False, False))
    text.says("NOT USABLE", "out").says("not fully mediated", "out")


# --- machines at the limits of the language -------------------------------------------------------------

def widened(text, bits):
    """The same with `bits` more bits of variables that no step moves."""
    return text.replace("vars:\n", "vars:\n" + "".join(f"  pad{i}: {{int: 0..{(1 << min(12, bits - 12 * i)) - 1}, overflow: error}}\n"
                                                      for i in range((bits + 11) // 12)), 1)


@test
def a_machine_with_no_bit_left_is_never_clean_and_what_is_found_counts(t):
    bad = SMALL.replace("(next.flight || next.open)", "next.open")
    for text, code, verdict in ((SMALL, 2, "INCONCLUSIVE"), (bad, 1, "NOT MEDIATED")):
        path = put(t, "wide.yaml", widened(text, 58))
        report = json.loads(Run("harden", path, "--max-states", "1000", "--json").exits(code).out)
        same((report["verdict"], report["fully_mediated"]), (verdict, False))
        same([c["verdict"] for c in report["checks"] if c["id"] == "laundering"], ["INCONCLUSIVE"])
        same([c["verdict"] for c in report["checks"] if c["id"] == "from-init"], ["PASS" if code == 2 else "FAIL"])


@test
def a_region_is_not_called_empty_because_a_bound_was_reached(t):
    path = put(t, "wide.yaml", widened(SMALL, 48))
    report = json.loads(Run("harden", path, "--max-states", "1000", "--json").exits(2).out)
    same([(c["verdict"], c["finding"]) for c in report["checks"] if c["id"] == "havoc"], [("INCONCLUSIVE", None)])


MANY = """machine: many
version: 1
vars: {e: bool}
actions: {x: {principal: agent, gate: true, call: {v: {int: 0..4095}, w: {int: 0..15}}, next: {e: "call.v == 4095 && call.w == 15"},
  reject: [{as: r, if: "call.v == 4095 && call.w == 14"}]}}
regions: {r: {never: "pre.e"}}
contract: {rules: [r]}
"""


@test
def a_machine_of_65536_symbols_is_explored_whole(t):
    report = json.loads(Run("harden", put(t, "many.yaml", MANY), "--mutants", "2", "--json").exits(1).out)
    same([c["finding"] for c in report["checks"] if c["id"] == "from-init"], ["REACHED"])


@test
def every_walk_over_a_machine_ends_with_its_time(t):
    words = ", ".join(f"w{i}" for i in range(4096))
    text = MANY.replace("{e: bool}", f"{{e: [{words}], f: [{words}]}}").replace(
        "call: {v: {int: 0..4095}, w: {int: 0..15}}, next: {e: \"call.v == 4095 && call.w == 15\"}",
        f"call: {{v: [{words}]}}, next: {{e: \"call.v == 'w4095' ? pre.e : call.v\", f: \"call.v == 'w4095' ? pre.e : pre.f\"}}").replace(
        "call.v == 4095 && call.w == 14", "call.v == 'w1'").replace("never: \"pre.e\"", "never: \"pre.e == 'w1'\"")
    report = json.loads(Run("harden", put(t, "slow.yaml", text), "--max-seconds", "1", "--json").exits(2).out)
    same(report["fully_mediated"], False)
