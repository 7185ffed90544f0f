# SPDX-License-Identifier: Apache-2.0
"""harden over several sessions and beside an older version; diagnose of a ledger. docs/fleet.md says what is true."""
import json
import re

from run import Failure, ROOT, Run, put, test

PAGE = (ROOT / "docs/fleet.md").read_text()
ONE_OUT = (ROOT / "examples/machines/one-out.yaml").read_text()
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()


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
    run = Run("harden", str(ROOT / "examples/machines/one-out.yaml"), limit=120).exits(0)
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    alone = edited(ONE_OUT, "  shared: [lane]\n", "")
    run = Run("harden", put(t, "m.yaml", alone), limit=120).exits(1).says("FULLY MEDIATED", "out")
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    report = json.loads(Run("harden", put(t, "m.yaml", alone), "--json", limit=120).exits(1).out)
    fleet = report["fleet"]
    same((report["fully_mediated"], report["exit"], fleet["exit"], fleet["instances"], fleet["shared"]), (True, 1, 1, 3, []))
    (line,) = fleet["checks"]
    same((line["verdict"], line["finding"], line["peak"]), ("FAIL", "FLEET_EXCEEDED", 3))
    same([(s["instance"], s["move"], s["step"]) for s in line["witness"]], [(1, "step", "admit{egress=once}"), (2, "step", "admit{egress=once}")])
    same([i["held"] for i in line["instances"]], [{"flight": "true", "lane": "true"}, {"flight": "true", "lane": "true"}, {}])


@test
def a_fleet_says_the_same_twice_and_a_bound_is_inconclusive(t):
    path = put(t, "m.yaml", ONE_OUT)
    same(*(Run("harden", path, "--json", limit=120).exits(0).out for _ in range(2)))
    report = json.loads(Run("harden", path, "--json", "--max-states", "200", limit=120).exits(2).out)
    same((report["fleet"]["checks"][0]["verdict"], report["fleet"]["bound_hit"]), ("INCONCLUSIVE", "states"))


@test
def a_family_of_the_shipped_machine_loses_nothing_and_shares_too_much(t):
    text = TRIFECTA + "fleet:\n  instances: 2\n  family: {join: join, together: [lethal-trifecta]}\n"
    run = Run("harden", put(t, "m.yaml", text), limit=120).exits(1).says("PASS          family-start", "out").says("PASS          family-answer", "out")
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    lost = edited(text, "      sensitive: \"call.sensitive ? 'held' : pre.sensitive\"\n      flight: \"pre.flight || call.flight\"\n",
                  "      flight: \"pre.flight || call.flight\"\n")
    Run("harden", put(t, "m.yaml", lost), limit=120).exits(1).says("EFFECT_LOST: sensitive", "out").says("2 begins: join{sensitive}", "out")


@test
def a_fleet_that_is_wrong_is_refused_where_it_is(t):
    for old, new in (("instances: 3", "instances: 1"), ("[lane]", "[lanes]"), ("most: 1", "most: 3"), ("count: \"pre.flight\"", "count: \"call.egress\"")):
        Run("harden", put(t, "m.yaml", edited(ONE_OUT, old, new))).refuses(True)


@test
def a_version_that_accepts_more_is_named_unless_it_says_so(t):
    old = put(t, "one-approval.yaml", edited(TRIFECTA, "const: {K: 2}", "const: {K: 1}"))
    new = str(ROOT / "machines/trifecta.yaml")
    run = Run("harden", new, "--against", old, limit=120).exits(1).says("FULLY MEDIATED", "out")
    if not shown(run):
        run.fail("docs/fleet.md shows something else")
    entry = re.search(r"^widens:\n(?:  - \{.*\}\n)+", PAGE, re.M).group(0)
    listed = put(t, "new.yaml", TRIFECTA + entry)
    report = json.loads(Run("harden", listed, "--against", old, "--json", limit=120).exits(0).out)
    same([(c["id"], c["verdict"], c["finding"]) for c in report["against"]["checks"] if c["id"] in ("widening", "widens")],
         [("widening", "PASS", None), ("widens", "PASS", "LISTED"), ("widens", "PASS", "LISTED")])
    same(report["against"]["beyond"], True)
    # the other way round it is narrower
    Run("harden", old, "--against", new, limit=120).exits(0).says("NARROWED", "out")
    # itself
    Run("harden", new, "--against", "trifecta", limit=120).exits(0).says("PASS          widening\n", "out")


@test
def an_older_version_that_does_not_load_is_refused_by_its_own_name(t):
    new = str(ROOT / "machines/trifecta.yaml")
    run = Run("harden", new, "--against", put(t, "old.yaml", "machine: x\nversion: 1\nvras: {}\n"), limit=120).refuses(True)
    run.says("old.yaml:3:1")
    Run("harden", new, "--against", str(t / "none.yaml"), limit=120).refuses().says("none.yaml")
