# SPDX-License-Identifier: Apache-2.0
"""machine show: what people, programs and Graphviz are told of a machine."""
import hashlib
import json
import re
import shutil
import subprocess

from run import Failure, HANG, ROOT, Run, put, test

SHIPPED = sorted(path.stem for path in (ROOT / "machines").glob("*.yaml"))
CUSTODY = (ROOT / "machines/secret-custody.yaml").read_text()


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


@test
def machine_show_counts_what_harden_counts(t):
    for name in SHIPPED:
        shown = json.loads(Run("machine", "show", name, "--json").exits(0).out)
        proven = json.loads(Run("harden", name, "--json").exits(0).out)
        first = next(c for c in proven["checks"] if c["id"] == "from-init")
        same((shown["machine"], shown["states"], shown["edges"]), (name, first["states"], first["edges"]))
        same(sum(a["symbols"] for a in shown["actions"]), shown["symbols"])
        same({r["name"] for r in shown["regions"]} >= {c["region"] for c in proven["checks"] if c["region"]}, True)


@test
def machine_show_is_for_people(t):
    run = Run("machine", "show", "secret-custody").exits(0)
    run.says("machine secret-custody: 7 variables", "out").says("tainted            false | true, taint\n", "out")
    run.says("rejected as egress-in-flight if pre.egress > 0", "out").says("plain-read                 gated", "out")
    run.says("    0  start\n         ->   1  lease_handle\n", "out")
    wide = Run("machine", "show", "capability-broker").exits(0).says("2589 reachable states", "out")
    wide.says("cap[net] := pre.cap['net'] == 'active' ? 'revoked' : pre.cap['net']", "out")
    if "\nstates:\n" in wide.out:
        raise Failure("2,589 states are listed")
    same(Run("machine", "show", "./machines/trifecta.yaml", cwd=ROOT).exits(0).out, Run("machine", "show", "trifecta").exits(0).out)


def nodes(dot):
    return re.findall(r'^  n(\d+) \[label="([^"\\]|\\.)*"', dot, re.M)


@test
def machine_show_draws(t):
    dot = Run("machine", "show", "secret-custody", "--dot").exits(0).out
    graph = json.loads(Run("machine", "show", "secret-custody", "--json").exits(0).out)["graph"]
    same(len(nodes(dot)), len(graph["nodes"]))
    same(dot.count(" -> "), len(graph["edges"]))
    if "peripheries=2" not in dot or "#f7e2a8" not in dot:
        raise Failure("the initial state or the mediated ones are not marked")
    # a machine that is broken shows its forbidden states in red
    broken = put(t, "m.yaml", CUSTODY.replace('      - {as: secret-in-context, if: "pre.tainted"}\n', "").replace("    - secret-in-context\n", "").replace("reason != 'secret-in-context' || pre.tainted", "reason != 'busy'").replace("busy", "none-open"))
    red = Run("machine", "show", broken, "--dot").exits(0).out
    if "#f4b6b6" not in red or "(leak)" not in red or "#f4b6b6" in dot:
        raise Failure("a forbidden state is not red, or another is")
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=red, text=True, check=True, capture_output=True, timeout=HANG)


@test
def machine_show_draws_what_some_variables_tell_apart(t):
    Run("machine", "show", "trifecta", "--dot").refuses().says("330 states are too many to draw, at most 200 are").says("--by VAR,VAR")
    dot = Run("machine", "show", "trifecta", "--dot", "--by", "phase").exits(0).out
    same(len(nodes(dot)), 3)
    same(re.findall(r"n(\d) -> n(\d)", dot), [("0", "1"), ("0", "2"), ("1", "2"), ("2", "1")])
    caps = json.loads(Run("machine", "show", "capability-broker", "--json", "--by", "pair,frozen").exits(0).out)["graph"]
    same(sum(n["states"] for n in caps["nodes"]), 2589)
    Run("machine", "show", "capability-broker", "--dot", "--by", "cap").exits(0).says("cap[pay] = active", "out")
    Run("machine", "show", "trifecta", "--dot", "--by", "phase,nosuch").refuses().says("no variable `nosuch`")


@test
def machine_show_refuses(t):
    Run("machine").refuses().says("say `show` or `export`")
    Run("machine", "show").refuses().says("which machine or policy?")
    Run("machine", "show", "a", "b").refuses().says("one machine at a time")
    Run("machine", "show", "trifecta", "--dot", "--json").refuses().says("one of --dot and --json")
    Run("machine", "show", put(t, "m.yaml", CUSTODY.replace("pre.egress == 2", "pre.egres == 2"))).refuses(True).says("did you mean `egress`?")
    Run("machine", "show", "./nosuch.yaml").refuses()


@test
def machine_show_and_export_take_what_harden_takes(t):
    put(t, "custody.yaml", CUSTODY)
    own = put(t, "own.yaml", "interlock: 1\nmachine: custody.yaml\ntools:\n  - {match: a.b, effects: []}\n")
    shipped = put(t, "shipped.yaml", "interlock: 1\nmachine: secret-custody\ntools:\n  - {match: a.b, effects: []}\n")
    for args in (["show"], ["show", "--json"], ["export", "--promela"], ["export", "--canonical"]):
        want = Run("machine", *args, "secret-custody").exits(0).out
        for named in (own, shipped, str(t / "custody.yaml")):
            same(Run("machine", *args, named).exits(0).out, want)
    put(t, "custody.yaml", CUSTODY.replace("pre.egress == 2", "pre.egres == 2"))
    for args in (["show"], ["export", "--c"]):  # a message is about the file that the policy names
        Run("machine", *args, own).refuses(True).says("custody.yaml:").says("did you mean `egress`?")
        Run("machine", *args, "custodi").refuses().says("shipped are the machines standard, trifecta, ")
        Run("machine", *args, put(t, "nosuch.yaml", "interlock: 1\nmachine: nosuch\n")).refuses(True).says("no machine `nosuch` is shipped")


@test
def the_text_of_the_digest_leaves_out_what_steps_do_not_read(t):
    text = (ROOT / "machines/trifecta.yaml").read_text()
    beside = ("diagnosis: {sees: [phase], alarms: {lethal-trifecta: {raise: possible}}}\n"
              "fleet: {instances: 2, invariants: {few: {count: \"pre.flight\", most: 1}}}\n"
              "widens: [{action: request, as: too-many-approvals, why: \"two at once\"}]\n")
    with_all = put(t, "m.yaml", text + beside)
    plain = Run("machine", "export", "trifecta", "--canonical").exits(0).out
    run = Run("machine", "export", with_all, "--canonical").exits(0)
    if run.out != plain or "diagnosis" not in Run("machine", "export", with_all, "--json").exits(0).out:
        run.fail("the sections are in the canonical text, or out of the document")
    reports = [json.loads(Run("harden", m, "--json", "--mutants", "1").out) for m in ("trifecta", with_all)]
    if reports[0]["table"]["sha256"] != reports[1]["table"]["sha256"]:
        run.fail("the sections change the seal")
    if reports[1]["inputs"]["machine"] != hashlib.sha256(plain.encode()).hexdigest():
        run.fail(f"the digest is of something else: {reports[1]['inputs']}")


NUMBERS = """machine: numbers
version: 1
vars:
  a: {int: %s, overflow: %s}
actions:
  add: {principal: agent, gate: true, call: {k: {int: %s}}, next: {a: "%s"}, reject: [{as: enough, if: "%s"}]}
regions: {spent: {never: "call.k == 0", edge: [add]}}
contract: {rules: [enough]}
"""


@test
def exports_refuse_numbers_that_other_tools_do_not_hold(t):
    far = "it has numbers of 2^30 or more"
    comes = "this expression cannot be exported: it can come to a number of 2^30 or more"
    cases = (  # range, overflow, payload, update, clause; what is said, or that it is exported
        (("1073741820..1073741823", "reject", "-2..-1", "pre.a + call.k", "next.a < 1073741820"), None),
        (("-1073741823..-1073741820", "saturate", "1..2", "pre.a + call.k", "pre.a * 8 < -8589934580"), None),
        (("0..7", "reject", "1..2", "pre.a + call.k", "pre.a * 2000000000 + call.k > 12000000000"), None),
        (("1073741821..1073741824", "reject", "1..2", "pre.a + call.k", "next.a > 1073741824"), ":4:3: error: `a` cannot be exported: " + far),
        (("-1073741824..-1073741821", "saturate", "1..2", "pre.a - call.k", "pre.a == -1073741824"), ":4:3: error: `a` cannot be exported: " + far),
        (("1000000000000..1000000000003", "reject", "1..2", "pre.a + call.k", "next.a > 1000000000003"), ":4:3: error: `a` cannot be exported: " + far),
        (("0..7", "reject", "1073741823..1073741824", "call.k - 1073741823", "pre.a == 7"), ":6:3: error: field `k` of `add` cannot be exported: " + far),
        (("0..7", "saturate", "1..2", "pre.a * 2147483648", "pre.a == 7"), f":6:73: error: {comes}"),
        (("0..7", "saturate", "1..2", "pre.a - call.k * 4294967295", "pre.a == 7"), f":6:73: error: {comes}"),
        (("0..7", "reject", "1..2", "pre.a == 3 ? 5000000000 : call.k", "pre.a == 7"), f":6:73: error: {comes}"),
    )
    for given, says in cases:
        machine = put(t, "m.yaml", NUMBERS % given)
        for form in ("--promela", "--smt2", "--c"):
            run = Run("machine", "export", machine, form)
            if says is None:
                run.exits(0)
            else:
                run.refuses(True).says(says)
        Run("machine", "export", machine, "--canonical").exits(0)
