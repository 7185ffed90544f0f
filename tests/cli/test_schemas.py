# SPDX-License-Identifier: Apache-2.0
"""What the program prints and records is what docs/schemas/ says, and the schemas can tell."""
import json
import sqlite3

import schema
import test_check
import test_session
from run import Failure, ROOT, Run, put, test


def refuses(name, value):
    try:
        schema.against(name, value)
    except schema.Mismatch:
        return
    raise Failure(f"{name} accepts {value!r}")


@test
def schema_of_decisions_fits_every_scenario(_):
    lines = 0
    for case in sorted((ROOT / "tests/scenarios").glob("*/sessions.ndjson")):
        for line in case.read_text().splitlines():
            schema.against("session-file.schema.json", json.loads(line))
        run = Run("check", "--policy", str(case.parent / "policy.yaml"), "--json", str(case))
        for line in run.out.splitlines():
            schema.against("check.schema.json", json.loads(line))
            lines += 1
    if lines < 10:
        raise Failure(f"only {lines} lines")


@test
def schema_of_flips_and_asked_approvals(t):
    policy, other = put(t, "a.yaml", test_check.ASKS), put(t, "b.yaml", test_check.POLICY)
    text = test_check.sessions({"steps": [test_check.FETCH, test_check.READ, test_check.SEND, {"tool": "none"}]})
    for args in ([], ["--against", other], ["--explain"], ["--explain", "--against", other]):
        for line in Run("replay", "--policy", policy, "--json", *args, stdin=text).exits(1).out.splitlines():
            schema.against("check.schema.json", json.loads(line))


@test
def schema_of_decisions_refuses_what_is_not_one(_):
    good = {"step": 1, "tool": "t", "effects": ["egress"], "action": "block", "layer": "machine", "reason": "x"}
    schema.against("check.schema.json", {"id": 1, "decisions": [good]})
    for bad in ({"step": 0}, {"effects": ["other"]}, {"effects": ["egress", "egress"]}, {"action": "deny"}, {"layer": "none"}, {"more": 1}, {"action": "allow"}):
        refuses("check.schema.json", {"id": 1, "decisions": [good | bad]})
    refuses("check.schema.json", {"decisions": []})
    refuses("check.schema.json", {"summary": {"sessions": 1}})
    refuses("session-file.schema.json", {"id": 1})
    refuses("session-file.schema.json", {"steps": [{"args": {}}]})


@test
def schema_of_the_trail_fits_what_a_gateway_records(t):
    test_session.gateway(t, ("fetch", {}), ("read", {}), test_session.SEND, ("post", {}), ("nothing", {}))
    (waiting,) = test_session.read(t, "approvals")["approvals"]
    test_session.cli(t, "approvals", "approve", waiting["id"]).exits(0)
    test_session.gateway(t, test_session.SEND, test_session.SEND)
    (waiting,) = test_session.read(t, "approvals")["approvals"]
    test_session.cli(t, "approvals", "deny", waiting["id"]).exits(0)
    test_session.cli(t, "session", "end", "demo").exits(0)
    db = sqlite3.connect(t / "ledger.db")
    rows = db.execute("select kind, body from rows order by seq").fetchall()
    db.close()
    kinds = {kind for kind, _ in rows}
    if not {"begin", "decision", "settle", "request", "approve", "refuse", "end"} <= kinds:
        raise Failure(f"only {kinds}")
    audit = schema.load("audit.schema.json")
    for kind, body in rows:
        if kind == "decision":
            schema.against("decision.schema.json", json.loads(body))
        else:
            schema.check(json.loads(body), audit["$defs"][kind], audit)


def copied(value):
    return json.loads(json.dumps(value))


@test
def schema_of_the_report_fits_each_kind_of_machine(t):
    put(t, "smallest.yaml", (ROOT / "tests/machines/smallest.yaml").read_text())
    policy = put(t, "policy.yaml", "interlock: 1\nmachine: smallest.yaml\nservers: {a: {trust: inside}}\ntools:\n  - {match: a.b, effects: [sensitive]}\n")
    cases = ROOT / "tests/machines/cases"
    for args in ([policy], [policy, "--against", "trifecta"], ["trifecta", "--max-states", "20"], ["trifecta"], [ROOT / "examples/machines/one-out.yaml"], [ROOT / "examples/machines/sandbox.yaml"],
                 [cases / "recovery-diverges-1.yaml"], [cases / "recovery-fault-1.yaml"], [cases / "sticky-lowered-1.yaml"], [cases / "unmediated-1.yaml"]):
        schema.against("security-report.schema.json", json.loads(Run("harden", "--json", "--mutants", "20", *map(str, args)).out))
    good = json.loads(Run("harden", "--json", "--mutants", "20", str(ROOT / "tests/machines/smallest.yaml")).exits(0).out)
    for key in good:
        if key not in schema.load("security-report.schema.json")["properties"]:
            raise Failure(f"docs/schemas/security-report.schema.json says nothing of `{key}`")
    for break_it in (lambda r: r.update(verdict="PASS"), lambda r: r.pop("checks"), lambda r: r["checks"][0].update(states="1"),
                     lambda r: r["controls"][0].update(state="failed"), lambda r: r["table"].update(sha256="00"), lambda r: r["mutation"].pop("killed")):
        bad = copied(good)
        break_it(bad)
        refuses("security-report.schema.json", bad)


@test
def schema_of_diagnose_fits_each_kind_of_machine(_):
    cases = sorted((ROOT / "tests/diagnose/cases").glob("*.yaml"))
    found = set()
    for args in ([str(c)] for c in cases):
        said = json.loads(Run("diagnose", "--json", "--wormholes", "20", *args).out)
        schema.against("diagnose.schema.json", said)
        found |= {c["id"] for c in said["checks"]}
    schema.against("diagnose.schema.json", json.loads(Run("diagnose", "--json", "--max-states", "3", str(cases[0])).exits(2).out))
    if found != {"diagnosis", "sensor", "wormholes"}:
        raise Failure(f"only {found}")
    good = json.loads(Run("diagnose", "--json", "--wormholes", "20", str(ROOT / "examples/machines/sandbox.yaml")).out)
    for break_it in (lambda r: r.pop("sees"), lambda r: r["checks"][0].update(verdict="fine"), lambda r: r["checks"][0].update(id="other"),
                     lambda r: r["machine"].update(digest=""), lambda r: r["checks"][0]["twin"].update(word="NONE")):
        bad = copied(good)
        break_it(bad)
        refuses("diagnose.schema.json", bad)
