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
    audit = json.loads((schema.SCHEMAS / "audit.schema.json").read_text())
    for kind, body in rows:
        if kind == "decision":
            schema.against("decision.schema.json", json.loads(body))
        else:
            schema.check(json.loads(body), audit["$defs"][kind], audit)
