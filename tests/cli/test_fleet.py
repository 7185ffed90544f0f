# SPDX-License-Identifier: Apache-2.0
"""harden over several sessions and beside an older version; diagnose of a ledger. docs/fleet.md says what is true."""
import json
import re
import shutil

import schema
from run import Failure, ROOT, Run, put, test
from test_harden import SMALL
from test_ledger import age, old, sql
from test_session import POLICY, SEND, cli, gateway, read

PAGE = (ROOT / "docs/fleet.md").read_text()
ONE_OUT = (ROOT / "examples/machines/one-out.yaml").read_text()
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()
UNSETTLED = TRIFECTA.replace("regions:\n", "  rest: {principal: runtime, gate: true, next: {phase: \"pre.phase\"}}\nregions:\n")  # an idle gate


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def edited(text, old, new):
    if text.count(old) != 1:
        raise Failure(f"`{old}` stands {text.count(old)} times; adapt this test")
    return text.replace(old, new)


def shown(run):
    """Every block of the page that has one of this run's lines is what the run prints, but for `...`."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.S | re.M)
    blocks = [b for kind, b in fences if not kind and any(line in run.out for line in b.splitlines() if len(line) > 40)]
    if not blocks:
        raise Failure(f"docs/fleet.md shows nothing of\n{run.out}")
    return [b for b in blocks if all(line in run.out for line in b.splitlines() if not line.startswith("$") and line != "...")]


@test
def the_fleet_of_the_page_passes_and_without_its_lane_fails(t):
    run = Run("harden", str(ROOT / "examples/machines/one-out.yaml")).exits(0)
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    alone = edited(ONE_OUT, "  shared: [lane]\n", "")
    run = Run("harden", put(t, "m.yaml", alone)).exits(1).says("FULLY MEDIATED", "out")
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    report = json.loads(Run("harden", put(t, "m.yaml", alone), "--json").exits(1).out)
    fleet = report["fleet"]
    same((report["fully_mediated"], report["exit"], fleet["exit"], fleet["instances"], fleet["shared"]), (True, 1, 1, 3, []))
    (line,) = fleet["checks"]
    same([c["state"] for c in fleet["controls"]], ["failed as it must", "not needed"])
    same((line["verdict"], line["finding"], line["peak"]), ("FAIL", "FLEET_EXCEEDED", 3))
    same([(s["instance"], s["move"], s["step"]) for s in line["witness"]], [(1, "step", "admit{egress=once}"), (2, "step", "admit{egress=once}")])
    same([i["held"] for i in line["instances"]], [{"flight": "true", "lane": "true"}, {"flight": "true", "lane": "true"}, {}])


@test
def a_fleet_says_the_same_twice_and_a_bound_is_inconclusive(t):
    path = put(t, "m.yaml", ONE_OUT)
    same(*(Run("harden", path, "--json").exits(0).out for _ in range(2)))
    report = json.loads(Run("harden", path, "--json", "--max-states", "200").exits(2).out)
    same((report["fleet"]["checks"][0]["verdict"], report["fleet"]["bound_hit"]), ("INCONCLUSIVE", "limit"))


@test
def a_family_of_the_shipped_machine_loses_nothing_and_shares_too_much(t):
    text = TRIFECTA + "fleet:\n  instances: 2\n  family: {join: join, together: [lethal-trifecta]}\n"
    run = Run("harden", put(t, "m.yaml", text)).exits(1).says("PASS          family-start", "out").says("PASS          family-answer", "out")
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    lost = edited(text, "      sensitive: \"call.sensitive ? 'held' : pre.sensitive\"\n      flight: \"pre.flight || call.flight\"\n",
                  "      flight: \"pre.flight || call.flight\"\n")
    Run("harden", put(t, "m.yaml", lost)).exits(1).says("EFFECT_LOST: sensitive", "out").says("2 begins: join{sensitive}", "out")


@test
def a_fleet_that_is_wrong_is_refused_where_it_is(t):
    for old, new in (("instances: 3", "instances: 1"), ("[lane]", "[lanes]"), ("most: 1", "most: 3"), ("count: \"pre.flight\"", "count: \"call.egress\"")):
        Run("harden", put(t, "m.yaml", edited(ONE_OUT, old, new))).refuses(True)


@test
def a_version_that_accepts_more_is_named_unless_it_says_so(t):
    old = put(t, "one-approval.yaml", edited(TRIFECTA, "const: {K: 2}", "const: {K: 1}"))
    new = str(ROOT / "machines/trifecta.yaml")
    run = Run("harden", new, "--against", "one-approval.yaml", cwd=t).exits(1).says("FULLY MEDIATED", "out")
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    entry = re.search(r"^widens:\n(?:  - \{.*\}\n)+", PAGE, re.M).group(0)
    listed = put(t, "new.yaml", TRIFECTA + entry)
    report = json.loads(Run("harden", listed, "--against", old, "--json").exits(0).out)
    same([(c["id"], c["verdict"], c["finding"]) for c in report["against"]["checks"] if c["id"] in ("widening", "widens")],
         [("widening", "PASS", None), ("widens", "PASS", "LISTED"), ("widens", "PASS", "LISTED")])
    same((report["against"]["beyond"], report["against"]["control"]["state"]), (True, "failed as it must"))
    # the other way round it is narrower
    Run("harden", old, "--against", new).exits(0).says("NARROWED", "out")
    # itself
    Run("harden", new, "--against", "trifecta").exits(0).says("PASS          widening\n", "out").says("\nagainst trifecta: ", "out")


@test
def the_word_about_a_machine_does_not_hang_on_what_it_is_compared_with(t):
    text = edited(TRIFECTA, "const: {K: 2}", "const: {K: 1}")
    old = put(t, "old.yaml", text)
    wide = "WIDER THAN THE OLD VERSION: see the failed lines\n"
    for name, machine, word in (("whole.yaml", TRIFECTA, "\nFULLY MEDIATED (given: "), ("loose.yaml", UNSETTLED, "\nINCONCLUSIVE: see the checks that are not settled\n")):
        path = put(t, name, machine)
        alone = Run("harden", path).says(word, "out")
        beside = Run("harden", path, "--against", old).exits(1).says(word, "out").says(wide, "out").says(f"\nagainst {old}: ", "out")
        if "NOT MEDIATED" in beside.out or "OLD VERSION" in alone.out:
            beside.fail("the comparison changes the word")
        report = json.loads(Run("harden", path, "--against", old, "--json").exits(1).out)
        same((report["exit"], report["fully_mediated"]), (1, machine == TRIFECTA))
    fewer = put(t, "fewer.yaml", TRIFECTA + "fleet: {instances: 2, invariants: {one: {count: \"pre.flight\", most: 1}}}\n")
    Run("harden", fewer).exits(1).says("\nFULLY MEDIATED (given: ", "out").says("A FLEET BREAKS AN INVARIANT: see the failed lines\n", "out")


@test
def an_older_version_that_does_not_load_is_refused_by_its_own_name(t):
    new = str(ROOT / "machines/trifecta.yaml")
    run = Run("harden", new, "--against", put(t, "old.yaml", "machine: x\nversion: 1\nvras: {}\n")).refuses(True)
    run.says("old.yaml:3:1")
    Run("harden", new, "--against", str(t / "none.yaml")).refuses().says("none.yaml")


# ---- diagnose --ledger ---------------------------------------------------------------------------

DOOR = """machine: door
version: 1
vars: {open: bool, alarm: bool}
actions:
  unlock: {principal: human, gate: true, next: {open: "true"}, reject: [{as: both, if: "pre.alarm"}]}
  lock: {principal: agent, gate: true, next: {open: "false"}, reject: [{as: shut, if: "!pre.open"}]}
  ring: {principal: env, gate: true, next: {alarm: "true"}, reject: [{as: both, if: "pre.open"}]}
regions:
  both: {never: "pre.open && pre.alarm"}
  shut: {rejection: "action != 'lock' || reason == 'shut'", edge: [lock, unlock]}
contract: {rules: [both, shut]}
"""


def compared(t, now, was, code):
    run = Run("harden", put(t, "now.yaml", now), "--against", put(t, "was.yaml", was), "--json").exits(code)
    return {line["rule"]: (line["verdict"], line["finding"], line["detail"], line["witness"] and [s["step"] for s in line["witness"]])
            for line in json.loads(run.out)["against"]["checks"] if line["id"] == "region"}


@test
def a_region_of_refusals_is_compared_by_what_is_refused(t):
    code = Run("harden", put(t, "m.yaml", DOOR)).code
    same(compared(t, DOOR, DOOR, code)["shut"], ("PASS", None, None, None))
    looser = edited(DOOR, "action != 'lock' || reason == 'shut'", "true")
    same(compared(t, looser, DOOR, code)["shut"], ("PASS", None, None, None))  # nothing is refused so, whatever is asked
    other = edited(edited(looser, "{as: shut, if: \"!pre.open\"}", "{as: both, if: \"!pre.open\"}, {as: shut, if: \"pre.open && pre.alarm\"}"), "[both, shut]", "[both, shut]")
    same(compared(t, other, DOOR, 1)["shut"], ("FAIL", "REGION_WEAKENED", None, ["lock"]))
    renamed = edited(looser.replace("as: shut", "as: closed"), "[both, shut]", "[both, closed]")
    same(compared(t, renamed, DOOR, 1)["shut"][:2], ("FAIL", "REGION_WEAKENED"))  # by a rule that the old contract does not have
    steps = edited(DOOR, "{rejection: \"action != 'lock' || reason == 'shut'\", edge: [lock, unlock]}", "{transition: \"pre.open || !next.open || action == 'unlock'\"}")
    same(compared(t, DOOR, steps, code or 2)["shut"], ("INCONCLUSIVE", "NOT_COMPARED", "of refusals, was of steps", None))
    more = edited(DOOR, "vars: {open: bool, alarm: bool}", "vars: {open: bool, alarm: bool, dark: bool}")
    same(compared(t, DOOR, more, code or 2)["shut"], ("PASS", None, None, None))  # a variable that no region reads is gone


@test
def an_older_version_that_is_itself_refused_measures_nothing(t):
    broken = edited(edited(DOOR, "alarm: bool}", "alarm: bool, seen: {int: 0..3, overflow: error}}"), "next: {open: \"true\"}", "next: {open: \"true\", seen: \"pre.seen + 1\"}")
    run = Run("harden", put(t, "now.yaml", DOOR), "--against", put(t, "was.yaml", broken)).exits(3).says("was.yaml:5:").says("`seen` leaves its domain")
    if run.out:
        run.fail("it was compared all the same")


def audit(t, *machines, code=0):
    report = json.loads(cli(t, "diagnose", "--json", *machines).exits(code).out)
    schema.against("replayed.schema.json", report)
    return report


def found(report):
    return {(f["of"], f["finding"]) for f in report["findings"]}


def busy(t, policy=POLICY):
    """A session with denials, an approval that is used, and its end."""
    gateway(t, ("fetch", {}), ("read", {}), SEND, ("post", {}), ("nothing", {}), policy=policy)
    (waiting,) = read(t, "approvals")["approvals"]
    cli(t, "approvals", "approve", waiting["id"]).exits(0)
    gateway(t, SEND, ("fetch", {}), policy=policy)
    cli(t, "session", "end", "demo", "--policy", str(t / "policy.yaml")).exits(0)


@test
def every_row_of_a_gateways_ledger_is_replayed(t):
    busy(t)
    report = audit(t)
    replay = report["replay"]
    same((replay["verdict"], report["exit"], report["findings"], report["against"], report["sessions"]), ("PASS", 0, [], None, 1))
    kinds = {"begin", "decision", "settle", "request", "approve", "end"}
    rows = sql(t, "select kind, count(*) from rows group by kind")
    if not kinds <= {kind for kind, _ in rows} or replay["rows"] < 10 or replay["steps"] < 10:
        raise Failure(f"{rows} {replay}")
    cli(t, "diagnose").exits(0).says("replay: PASS: ", "out").says(" rows of 1 sessions, ", "out")
    # by the machine's own name, or with other alarms, it is the same machine: there is nothing to compare
    alarms = put(t, "alarms.yaml", TRIFECTA + "diagnosis: {sees: [phase], alarms: {lethal-trifecta: {raise: possible}}}\n")
    for name in ("trifecta", str(t / "policy.yaml"), alarms):
        report = audit(t, name)
        same((report["replay"]["verdict"], report["against"]), ("PASS", None))
    cli(t, "diagnose", alarms).exits(0).says("replay: PASS: ", "out")


@test
def a_ledger_of_an_older_build_is_replayed(t):
    old(t)
    report = audit(t)
    same((report["replay"]["verdict"], report["sessions"], report["findings"]), ("PASS", 3, []))


@test
def a_ledger_is_read_by_another_machine(t):
    busy(t)
    loose = put(t, "loose.yaml", edited(TRIFECTA, 'liveout: "next.flight || next.open"', 'liveout: "next.flight"'))
    report = audit(t, loose, code=1)
    same((report["replay"]["verdict"], report["against"]["verdict"], found(report)), ("PASS", "FAIL", {("against", "REJECT_NOW_ACCEPTS")}))
    (finding,) = report["findings"]
    same((finding["step"], finding["said"], finding["now"], finding["session"]), ("admit{egress=standing}", "lethal-trifecta", "accept", "demo"))
    cli(t, "diagnose", loose).exits(1).says("against: REJECT_NOW_ACCEPTS: admit{egress=standing}: the row says lethal-trifecta, the machine says accept", "out")
    # more variables, the same decisions: standard knows secrets, and there were none
    report = audit(t, str(ROOT / "machines/standard.yaml"))
    same((report["against"]["verdict"], report["against"]["machine"]), ("AGREES", "standard"))
    # a machine of other words has no symbol for anything
    other = audit(t, str(ROOT / "tests/machines/smallest.yaml"), code=1)
    same(other["replay"]["verdict"], "PASS")
    if ("against", "LOST_SYMBOL") not in found(other):
        raise Failure(str(other["findings"]))


@test
def rows_that_do_not_follow_from_their_machine_are_found(t):
    busy(t)
    whole = t / "whole.db"
    shutil.copy(t / "ledger.db", whole)
    for kind, member, value, want in (("settle", "post", "0000000000000009", "POST_MISMATCH"), ("decision", "reason", "no-approval", "REASON_CHANGED"),
                                      ("approve", "pre", "ffffffffffffffff", "OFF_TABLE")):
        shutil.copy(whole, t / "ledger.db")
        for seq, body in sql(t, "select seq, body from rows where kind = ?", kind):
            row = json.loads(body)
            if row[member]:
                row[member] = value
                sql(t, "update rows set body = ? where seq = ?", json.dumps(row, separators=(",", ":"), sort_keys=True), seq)
        report = audit(t, code=1)
        same(report["replay"]["verdict"], "FAIL")
        if not {("replay", want), ("replay", "CHAIN_BREAK")} <= found(report):
            raise Failure(f"{kind}.{member}: {report['findings']}")


@test
def sessions_of_a_machine_that_nobody_names_are_not_passed(t):
    put(t, "m.yaml", SMALL)
    gateway(t, ("fetch", {}), ("read", {}), ("post", {}), policy=POLICY.replace("machine: trifecta", "machine: ./m.yaml"))
    report = audit(t, code=2)
    same((report["replay"]["verdict"], report["replay"]["rows"], found(report)), ("INCONCLUSIVE", 0, {("replay", "MACHINE_UNKNOWN")}))
    same(audit(t, str(t / "m.yaml"))["replay"]["verdict"], "PASS")
    report = audit(t, "trifecta", str(t / "m.yaml"), code=1)  # the first is compared, the others are known
    same((report["replay"]["verdict"], report["against"]["machine"], report["against"]["verdict"]), ("PASS", "trifecta", "FAIL"))
    report = audit(t, "trifecta", code=2)
    same((report["replay"]["verdict"], report["against"]["verdict"]), ("INCONCLUSIVE", "INCONCLUSIVE"))


@test
def what_was_pruned_is_counted_and_not_passed_over(t):
    busy(t)
    age(t, 40)
    cli(t, "session", "prune", "--older-than", "30d").exits(0)
    report = audit(t, code=2)
    same((report["replay"]["verdict"], report["replay"]["rows"], report["findings"]), ("INCONCLUSIVE", 0, []))
    if report["erased"] < 1:
        raise Failure(str(report))


@test
def calls_that_ran_unenforced_are_replayed_as_well(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND, ("post", {}), ("nothing", {}), policy="mode: monitor\n" + POLICY)
    report = audit(t)
    same((report["replay"]["verdict"], report["findings"]), ("PASS", []))


@test
def a_ledger_that_is_none_is_refused(t):
    Run("diagnose", "--ledger", str(t / "none.db")).refuses()
    put(t, "text.db", "this is no ledger\n")
    Run("diagnose", "--ledger", str(t / "text.db")).refuses()
    gateway(t, ("fetch", {}))
    cli(t, "diagnose", put(t, "bad.yaml", "machine: x\nversion: 1\nvras: {}\n")).refuses(True).says("bad.yaml:3:1")
    for option in (("--see", "x"), ("--max-states", "9"), ("--wormholes", "3")):
        cli(t, "diagnose", "trifecta", *option).refuses().says("`--ledger` reads what happened")
