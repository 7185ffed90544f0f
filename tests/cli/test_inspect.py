# SPDX-License-Identifier: Apache-2.0
"""inspect: a ledger as a tree, on ledgers that a real gateway wrote."""
import json
import sqlite3

import schema
from run import Failure, Run, put, test
from test_session import SEND, cli, gateway, read, same


def inspect(t):
    found = json.loads(Run("inspect", str(t / "ledger.db"), "--json").exits(0).out)
    schema.against("inspect.schema.json", found)
    return found


@test
def inspect_shows_sessions_calls_and_approvals(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    (waiting,) = read(t, "approvals")["approvals"]
    cli(t, "approvals", "approve", waiting["id"]).exits(0)
    gateway(t, SEND)
    gateway(t, ("nothing", {}), session="other")
    demo, other = inspect(t)["sessions"]
    same([demo["id"], other["id"], demo["mode"], demo["children"]], ["demo", "other", "enforce", []])
    same([(c["tool"], c["effects"], c["action"], c["layer"], c["reason"], c["settled"]) for c in demo["calls"]],
         [("t.fetch", ["untrusted"], "allow", None, None, "done"), ("t.read", ["sensitive"], "allow", None, None, "done"),
          ("t.send", ["egress"], "require_approval", "machine", "lethal-trifecta", None), ("t.send", ["egress"], "allow", None, None, "done")])
    same([(c["approval"]["id"], c["approval"]["state"]) for c in demo["calls"][2:]], [(waiting["id"], "redeemed")] * 2)
    same([(c["action"], c["layer"], c["approval"]) for c in other["calls"]], [("block", "labeller", None)])
    run = Run("inspect", str(t / "ledger.db")).exits(0)
    run.says("  session demo", "out").says("require_approval, machine: lethal-trifecta; approval " + waiting["id"] + " redeemed, by ", "out")
    shown = read(t, "session", "show", "demo")
    same([(c["tool"], c["action"], c["settled"]) for c in demo["calls"]], [(c["tool"], c["action"], c["settled"]) for c in shown["calls"]])


def rewritten(t, change):
    """Bodies of rows as somebody else might have written them; what they are worth is for `ledger verify`."""
    db = sqlite3.connect(t / "ledger.db")
    for seq, kind, key, body in db.execute("select seq, kind, key, body from rows").fetchall():
        new = change(kind, key, json.loads(body) if body else None)
        if new is not None:
            db.execute("update rows set body = ? where seq = ?", (json.dumps(new, separators=(",", ":"), ensure_ascii=False), seq))
    db.commit()
    db.close()


@test
def inspect_hangs_children_below_their_parents(t):
    for session in ("root", "child", "grandchild", "stray", "loop"):
        gateway(t, ("read", {}), session=session)
    parents = {"child": "root", "grandchild": "child", "stray": "nobody", "loop": "loop"}
    rewritten(t, lambda kind, key, body: body | {"parent": parents[key]} if kind == "begin" and key in parents else None)
    sessions = inspect(t)["sessions"]
    same([s["id"] for s in sessions], ["root", "stray", "loop"])  # a session that is its own parent ends nothing
    (child,) = sessions[0]["children"]
    same([child["id"], [s["id"] for s in child["children"]]], ["child", ["grandchild"]])
    Run("inspect", str(t / "ledger.db")).exits(0).says("\n    session child", "out").says("\n      session grandchild", "out").says("a child of nobody (not here)", "out")


@test
def inspect_drives_no_terminal(t):
    gateway(t, ("read", {}), SEND)
    rewritten(t, lambda kind, key, body: body | {"tool": "t.\x1b[2J\u202eread", "reason": "\x9b2J"} if kind == "decision"
              else body | {"principal": "\x1b]0;x\x07"} if kind == "begin" else None)
    run = Run("inspect", str(t / "ledger.db")).exits(0)
    if any((ord(c) < 32 and c != "\n") or 0x7f <= ord(c) <= 0x9f or c == "\u202e" for c in run.out):
        run.fail("control characters")
    run.says("\\u{1b}[2J\\u{202e}read", "out").says("\\u{1b}]0;x\\u{7}", "out")


@test
def inspect_refuses_what_is_no_ledger(t):
    Run("inspect", str(t / "nothing.db")).refuses().says("nothing.db")
    Run("inspect", put(t, "text.db", "no ledger")).refuses()
    Run("inspect", "a", "b").refuses().says("one ledger, not 2")
    gateway(t, ("read", {}))
    rewritten(t, lambda kind, key, body: [1] if kind == "decision" else None)
    inspect(t)  # a body that says nothing is a call of which nothing is known
