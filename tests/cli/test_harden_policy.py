# SPDX-License-Identifier: Apache-2.0
"""harden POLICY: which symbols its tools can be given, which regions they cannot come near, which labels are single points of failure."""
import json

from run import Failure, ROOT, Run, put, test

HEAD = """interlock: 1
machine: trifecta
ours: {email: ["@corp.example"]}
servers:
  files: {trust: inside}
  web: {trust: inside}
tools:
"""
READ = "  - {match: 'files.(read|open)', effects: [sensitive]}\n"
FETCH = "  - {match: web.fetch_page, effects: [untrusted, egress], sink: once, to: {url: url}}\n"
SEND = "  - {match: web.send_message, effects: [egress], sink: once, to: {email: to}, reads: [body], plain: [priority]}\n"


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def harden(t, tools, machine="trifecta", head=HEAD):
    path = put(t, "p.yaml", head.replace("machine: trifecta", f"machine: {machine}") + tools)
    return json.loads(Run("harden", path, "--json", "--mutants", "1").exits(2).out)


def points(report):
    return {(p["tool"], p["forgets"], p["region"]) for p in report["mislabel"]["points"]}


@test
def harden_names_the_labels_of_which_one_error_is_enough(t):
    report = harden(t, READ + FETCH + SEND + "approvals: {expires: 10m}\n")
    same(report["policy"]["tools"], 4)
    region = "lethal-trifecta"
    same(points(report), {(tool, "sensitive", region) for tool in ("files.read", "files.open")}
         | {("web.fetch_page", what, region) for what in ("untrusted", "egress", "vouched")}
         | {("web.send_message", what, region) for what in ("egress", "vouched")})
    same((report["mislabel"]["errors"], report["mislabel"]["labels_with_points"], report["mislabel"]["unseen"]), (7, 4, 0))
    same([r["state"] for r in report["policy"]["usage"]["regions"]], ["held shut"])
    fetch = next(p for p in report["mislabel"]["points"] if (p["tool"], p["forgets"]) == ("files.read", "sensitive"))
    same([s["action"] for s in fetch["witness"]], ["admit", "admit"])


@test
def harden_says_which_region_no_tool_comes_near(t):
    report = harden(t, READ)
    same([(r["region"], r["state"]) for r in report["policy"]["usage"]["regions"]], [("lethal-trifecta", "dead")])
    same(points(report), set())
    used = report["policy"]["usage"]
    same((used["possible"] - len(used["unused"])), 2)  # reading, and asking for an approval


@test
def harden_takes_a_server_that_is_not_declared_for_one_outside(t):
    """a pattern over servers: of those inside it does nothing, of any other it brings and sends"""
    report = harden(t, READ + "  - {match: '*.ping', effects: []}\n")
    same(report["policy"]["tools"], 5)
    got = {(tool, what) for tool, what, _ in points(report)}
    same({p for p in got if p[0] == "undeclared.ping"}, {("undeclared.ping", w) for w in ("untrusted", "egress", "standing", "outside")})
    same({p for p in got if p[0] in ("files.ping", "web.ping")}, set())


@test
def harden_names_what_nothing_mediates(t):
    report = harden(t, READ + SEND + "  - {match: web.note, effects: [], reads: [text]}\n  - {match: web.ping, effects: []}\n",
                    head=HEAD.replace("interlock: 1", "interlock: 1\nmode: monitor"))
    seams = {(s["seam"], s["name"]) for s in report["policy"]["unmediated"]}
    same(seams, {("mode", "monitor"), ("answer", "respond"), ("result", "files.(read|open)"), ("result", "web.send_message"),
                 ("plain-argument", "priority"), ("free-text", "web.note"), ("no-effects", "web.ping"), ("inside", "files"), ("inside", "web")})
    report = harden(t, READ + "  - {match: respond, effects: [egress], reads: [text]}\n")
    same([s for s in report["policy"]["unmediated"] if s["seam"] == "answer"], [])


@test
def harden_refuses_a_policy_that_is_none(t):
    path = put(t, "p.yaml", HEAD + READ.replace("[sensitive]", "[sensitiv]"))
    Run("harden", path, "--mutants", "1").exits(3).says("p.yaml:8:").says("unknown word `sensitiv`")


@test
def harden_of_a_policy_whose_machine_the_monitor_cannot_use(t):
    text = (ROOT / "machines/trifecta.yaml").read_text().replace("  settle:\n", "  setle:\n")
    put(t, "m.yaml", text)
    report = harden(t, READ, machine="./m.yaml")
    same((report["policy"], report["mislabel"]["labels"]), (None, 12))


@test
def harden_says_nothing_of_the_labels_of_a_machine_that_is_refuted(t):
    text = (ROOT / "machines/trifecta.yaml").read_text()
    old = 'liveout: "next.flight || next.open"'
    if old not in text:
        raise Failure("machines/trifecta.yaml has changed; adapt this test")
    put(t, "m.yaml", text.replace(old, 'liveout: "next.flight"'))
    path = put(t, "p.yaml", HEAD.replace("machine: trifecta", "machine: ./m.yaml") + READ)
    report = json.loads(Run("harden", path, "--json", "--mutants", "1").exits(1).out)
    same((report["policy"], report["mislabel"]), (None, None))


@test
def harden_prints_a_policy_for_people(t):
    path = put(t, "p.yaml", HEAD + READ + FETCH)
    Run("harden", path, "--mutants", "1").exits(2).says("policy: 3 tools", "out").says(
        "  files.read without `sensitive`: lethal-trifecta after admit admit{untrusted,egress=once}\n", "out").says("unmediated (answer) respond: ", "out")


@test
def harden_counts_what_conditions_leave_of_a_label(t):
    """a call that does not write is admitted as one that only reads: its symbol is in use, with and without an approval"""
    always = harden(t, "  - {match: web.page, effects: [untrusted, commit]}\n", machine="standard")
    sometimes = harden(t, "  - {match: web.page, effects: {untrusted: true, commit: 'args.mode == \"write\"'}}\n", machine="standard")
    unused = [set(r["policy"]["usage"]["unused"]) for r in (always, sometimes)]
    if "admit{untrusted}" not in unused[0] or "admit{untrusted}" in unused[1]:
        raise Failure(f"unused: {unused}")
    same([r["policy"]["tools"] for r in (always, sometimes)], [1, 1])
