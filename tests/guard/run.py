#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interlock guard over ledgers that a gateway writes: read once and followed, with what no gateway would write put in by hand.

Usage: run.py BUILD/interlock [PART-OF-A-NAME]. Ends with `N passed, N failed, N skipped`."""
import hashlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gateway"))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import schema  # noqa: E402
from peer import INTERLOCK, RUNNING, SCRATCH, WAIT, Gateway, failed, main, patient, rss, words  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = """tools:
  - { match: fake.web, effects: [untrusted] }
  - { match: fake.mail, effects: [sensitive] }
  - { match: fake.post, effects: [egress], sink: once }
  - { match: fake.hang, effects: [egress], sink: once }
  - { match: "fake.*", effects: [] }
"""
TRIFECTA = "interlock: 1\nmachine: trifecta\nservers: { fake: { trust: inside } }\n" + TOOLS


# --- machines --------------------------------------------------------------------------------------

def sandbox(report="", **changes):
    """The shipped machine with a sandbox around it: a download is noticed by a sensor, a compromise is remembered, and two faults that no gate sees."""
    text = (ROOT / "machines/trifecta.yaml").read_text()
    for old, new in (("machine: trifecta", "machine: sandbox"),
                     ("  phase: [live, quarantined, ended]\n", "  phase: [live, quarantined, ended]\n  downloaded: bool\n  compromised: {type: bool, sticky: true}\n"),
                     ("regions:\n", "  # The sandbox reports what it found.\n  report: {principal: env, live: true, " + report + "next: {downloaded: \"true\", compromised: \"true\"}}\nregions:\n")):
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    section = {"sees": ["untrusted", "sensitive", "phase", "asked", "granted"], "sensors": {"download": "pre.downloaded"}, "uses": ["download"],
               "faults": {"proxy-bug": {"when": "pre.untrusted != 'none' && !pre.downloaded", "next": {"downloaded": "true", "compromised": "true"}},
                          "tunnel": {"when": "pre.downloaded && pre.phase == 'live'", "next": {"open": "true"}}},
               "alarms": {"lethal-trifecta": {"raise": "possible", "shield": "quarantine", "why": "a sandbox that downloads by itself is worth a stop"}}}
    for key, value in changes.items():
        if value is None:
            del section[key]
        else:
            section[key] = value
    return text + "\ndiagnosis: " + json.dumps(section) + "\n"


DOWNLOADED, COMPROMISED = 1 << 13, 1 << 14  # behind the thirteen bits of the shipped machine


def put(text, name, folder=None):
    folder = folder or tempfile.mkdtemp(dir=SCRATCH)
    path = pathlib.Path(folder) / name
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


# --- the guard ---------------------------------------------------------------------------------------

def read(text):
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        schema.against("guard.schema.json", line)
        SEEN.add((line["kind"], line.get("level") or line.get("what") or line["verdict"]))
        SEEN.add(("what", line.get("what")))
    return lines


SEEN = set()


class Once:
    def __init__(self, ledger, *args, code=None):
        done = subprocess.run([INTERLOCK, "guard", ledger, "--json", *args], capture_output=True, timeout=WAIT, check=False)
        self.code, self.err = done.returncode, done.stderr.decode()
        self.lines = read(done.stdout)
        self.alarms = [x for x in self.lines if x["kind"] == "alarm"]
        self.findings = [x for x in self.lines if x["kind"] == "finding"]
        self.summary = self.lines[-1] if self.lines else None
        assert code is None or self.code == code, (self.code, self.lines, self.err)


class Follow:
    """A guard in a process of its own; reads what it says as it says it."""

    def __init__(self, ledger, *args):
        self.out, self.err = (open(tempfile.mkstemp(dir=SCRATCH)[1], "w+b") for _ in range(2))
        self.process = subprocess.Popen([INTERLOCK, "guard", ledger, "--json", "--follow", *args], stdout=self.out, stderr=self.err)
        RUNNING.append(self.process)

    def lines(self):
        self.out.flush()
        text = pathlib.Path(self.out.name).read_bytes()
        return read(text[:text.rfind(b"\n") + 1])

    def said(self):
        return pathlib.Path(self.err.name).read_text()

    def until(self, probe, what):
        """The first line that is so."""
        return self.wait(lambda: [x for x in self.lines() if probe(x)], what)[0]

    def wait(self, probe, what):
        end = time.monotonic() + WAIT
        while True:
            found = probe()
            if found:
                return found
            assert self.process.poll() is None, (what, self.said(), self.lines())
            assert time.monotonic() < end, (f"waited in vain for {what}", self.said(), self.lines())
            time.sleep(0.02)

    def hears(self, number):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt")) >> (number - 1) & 1

    def end(self, code, how=signal.SIGTERM):
        self.wait(lambda: self.hears(how), "its handler; before that a signal just kills it")
        self.process.send_signal(how)
        got = self.process.wait(WAIT)
        assert got == code, (got, self.lines(), self.said())
        return self.lines()[-1]


def alarm(level, region=None, what=None):
    return lambda x: x["kind"] == "alarm" and x["level"] == level and (region is None or x["region"] == region) and (what is None or x["what"] == what)


# --- ledgers -----------------------------------------------------------------------------------------

def gateway(policy=TRIFECTA, session="s1", ledger=None):
    """A gateway in front of the tools, ready for calls, and its ledger."""
    ledger = ledger or os.path.join(tempfile.mkdtemp(dir=SCRATCH), "ledger.db")
    g = Gateway(policy=policy, ledger=ledger, args=["--session", session], server=[sys.executable, str(HERE / "server.py")])
    g.start()
    return g, ledger


def policy_of(machine):
    """A policy with a machine file, and that file."""
    path = put(machine, "machine.yaml")
    return TRIFECTA.replace("machine: trifecta", "machine: " + path), path


def fine(answer):
    assert not answer["result"].get("isError"), answer
    return words(answer)


def judged(g):
    """The next thing that is seen of a session which holds both taints: one row. A call that runs has two, and a quick guard comes between them."""
    failed(g.call("post"), "lethal-trifecta")


def ordinary(policy=TRIFECTA):
    """A ledger of an ordinary session: what came in, what went out, and a call that was denied."""
    g, ledger = gateway(policy)
    for tool in ("web", "post", "mail", "note"):
        fine(g.call(tool))
    failed(g.call("post"), "lethal-trifecta")
    g.end()
    return ledger


def sql(ledger, text, *values, keep_hashes=False):
    db = sqlite3.connect(ledger, timeout=WAIT)
    with db:
        rows = db.execute(text, values).fetchall()
        if not text.startswith("SELECT") and not keep_hashes:
            rechain(db)
    db.close()
    return rows


def rechain(db):
    """Whoever can write the file can write the hashes anew too: what else a guard sees of an edit. docs/formats.md has what a hash covers."""
    def number(n):
        return (n & (1 << 64) - 1).to_bytes(8, "little")

    def text(t):
        t = t if isinstance(t, bytes) else str(t).encode()
        return number(len(t)) + t

    before, last = bytes(32), 0
    while True:  # few at a time: a child begins with its parent's memory, and one of them is measured
        some = db.execute("SELECT seq, time_ms, space, key, kind, ticket, CAST(body AS BLOB), body_hash, hash FROM rows WHERE seq > ? ORDER BY seq LIMIT 100", (last,)).fetchall()
        if not some:
            return
        for seq, time_ms, space, key, kind, ticket, body, body_hash, was in some:
            body_hash = body_hash if body is None else hashlib.sha256(body).digest()
            now = hashlib.sha256(before + number(seq) + number(time_ms) + text(space) + text(key) + text(kind) + number(ticket) + text(body_hash)).digest()
            if now != was:
                db.execute("UPDATE rows SET body_hash = ?, hash = ? WHERE seq = ?", (body_hash, now, seq))
            before, last = now, seq


def packed(ledger, session="s1"):
    """The packed state after the session's last row that has one."""
    for (body,) in sql(ledger, "SELECT body FROM rows WHERE key = ? ORDER BY seq DESC", session):
        post = json.loads(body).get("post")
        if post:
            return int(post, 16)
    raise AssertionError("no row has a state")


def wormhole(ledger, bits, session="s1"):
    """What a bug in the sandbox would do: bits of the stored state change, and no row says so."""
    state = packed(ledger, session)
    old, new = state.to_bytes(8, "little"), (state | bits).to_bytes(8, "little")
    ((blob,),) = sql(ledger, "SELECT state FROM objects WHERE key = ?", session)
    assert blob.count(old) >= 1 and state | bits != state, (blob, old)
    sql(ledger, "UPDATE objects SET state = ? WHERE key = ?", blob.replace(old, new, 1), session)


def edit_row(ledger, seq, **members):
    ((body,),) = sql(ledger, "SELECT body FROM rows WHERE seq = ?", seq)
    o = json.loads(body)
    o.update(members)
    sql(ledger, "UPDATE rows SET body = ? WHERE seq = ?", json.dumps(o, sort_keys=True, separators=(",", ":")), seq)


def rows(ledger, kind, session="s1"):
    return [(seq, json.loads(body)) for seq, body in sql(ledger, "SELECT seq, body FROM rows WHERE kind = ? AND key = ? ORDER BY seq", kind, session)]


# --- read once ---------------------------------------------------------------------------------------

def test_a_quiet_ledger():
    assert Once(ordinary(TRIFECTA.replace("machine: trifecta", "machine: standard")), code=0).summary["rows"] == 10
    ledger = ordinary()
    once = Once(ledger, code=0)
    assert once.summary["verdict"] == "quiet" and once.summary["alarms"] == 0 and once.summary["sessions"] == 1, once.lines
    assert once.summary["largest_belief"] == 1 and once.summary["rows"] == len(sql(ledger, "SELECT 1 FROM rows")), once.lines
    assert Once(ledger, "--session", "s1", code=0).summary["verdict"] == "quiet"


def test_a_quiet_ledger_of_a_machine_that_sees_little():
    policy, path = policy_of(sandbox())
    ledger = ordinary(policy)
    once = Once(ledger, "--machine", path, code=0)
    assert once.summary["largest_belief"] == 1, once.lines  # no fault goes by unseen, and no step is hidden
    assert Once(ledger, "--machine", put(policy, "policy.yaml"), code=0).lines == once.lines  # the policy names the same machine


def test_a_machine_that_is_unknown():
    policy, path = policy_of(sandbox())
    ledger = ordinary(policy)
    other = sandbox(report="observable: false, ", faults=None, alarms={"lethal-trifecta": {"raise": "possible"}})
    for args in ((), ("--machine", "trifecta"), ("--machine", put(other, "other.yaml"))):
        once = Once(ledger, *args, code=2)
        assert [x["what"] for x in once.findings] == ["machine-unknown"] and once.findings[0]["session"] == "s1", once.lines
        assert once.summary["verdict"] == "INCONCLUSIVE"


def test_alarms_are_tuned_on_a_recorded_ledger():
    policy, path = policy_of(sandbox())
    ledger = ordinary(policy)
    for changes in ({"alarms": None}, {"sees": ["phase"]}, {"faults": None}, {"alarms": {"lethal-trifecta": {"raise": "certain"}}}):
        once = Once(ledger, "--machine", put(sandbox(**changes), "tuned.yaml"))
        assert "machine-unknown" not in [x["what"] for x in once.findings] and once.summary["rows"] == 10, once.lines
    assert Once(ledger, "--machine", put(sandbox(alarms=None), "tuned.yaml"), code=0).summary["verdict"] == "quiet"


def test_a_step_that_the_machine_does_not_make():
    ledger = ordinary()
    (seq, body), *_ = rows(ledger, "settle")
    edit_row(ledger, seq, post=body["pre"])  # as if what came in had not been held
    once = Once(ledger, code=1)
    assert [(x["what"], x["row"]) for x in once.alarms[:2]] == [("row-step", seq), ("empty-belief", seq)], once.alarms
    assert once.alarms[1]["belief"] == 0, once.alarms
    assert once.alarms[0]["level"] == "model-breach" and once.alarms[0]["rows"][-1] == seq, once.alarms


def test_a_decision_that_says_it_was_rejected():
    ledger = ordinary()
    seq, body = rows(ledger, "decision")[1]
    edit_row(ledger, seq, action="block", layer="machine", reason="lethal-trifecta", ticket=0, run=False)
    what = {x["what"] for x in Once(ledger, code=1).alarms if x["row"] == seq}
    assert what == {"row-step", "empty-belief"}, what


def test_a_row_that_begins_elsewhere():
    policy, path = policy_of(sandbox(faults=None))
    g, ledger = gateway(policy)
    fine(g.call("web"))
    wormhole(ledger, DOWNLOADED | COMPROMISED)  # which no call and no fault of this machine does
    fine(g.call("note"))
    g.end()
    once = Once(ledger, "--machine", path, code=1)
    assert [x["what"] for x in once.alarms] == ["row-pre", "empty-belief"], once.alarms


def test_a_step_that_is_hidden():
    policy, path = policy_of(sandbox(report="observable: false, ", faults=None, alarms={"lethal-trifecta": {"raise": "possible"}}))
    g, ledger = gateway(policy)
    fine(g.call("web"))
    wormhole(ledger, DOWNLOADED | COMPROMISED)  # which `report` does, and no row says that it did
    fine(g.call("note"))
    g.end()
    assert Once(ledger, "--machine", path, code=0).summary["verdict"] == "quiet"


def test_a_session_that_the_monitor_found_damaged():
    g, ledger = gateway()
    fine(g.call("web"))
    wormhole(ledger, 1 << 3)  # `sensitive: held`, of which the session's summary does not know
    for _ in range(3):
        failed(g.call("note"), "ledger-damaged")
    g.end()
    assert [x["what"] for x in Once(ledger, code=1).alarms] == ["damaged"]
    g, ledger = gateway()
    fine(g.call("web"))
    wormhole(ledger, 1 << 4)  # an egress in flight that no call started
    failed(g.call("note"), "ledger-damaged")
    g.end()
    assert [x["what"] for x in Once(ledger, code=1).alarms] == ["damaged"]


def test_a_state_that_is_none_of_the_machines():
    g, ledger = gateway()
    fine(g.call("web"))
    fine(g.call("mail"))
    wormhole(ledger, 1 << 5)  # a way out is open in a session that holds both
    for _ in range(2):
        failed(g.call("note"), "off-table")
    g.end()
    once = Once(ledger, code=1)
    assert [x["what"] for x in once.alarms] == ["off-table", "empty-belief"], once.alarms  # said once each


def test_a_body_that_is_damaged():
    ledger = ordinary()
    seq, _ = rows(ledger, "settle")[1]
    sql(ledger, "UPDATE rows SET body = 'nothing' WHERE seq = ?", seq)
    assert [(x["what"], x["row"]) for x in Once(ledger, code=1).alarms][0] == ("row-damaged", seq)
    ledger = ordinary()
    sql(ledger, "UPDATE rows SET body = '{}' WHERE seq = ?", seq)
    assert [(x["what"], x["row"]) for x in Once(ledger, code=1).alarms][0] == ("row-damaged", seq)


def test_numbers_that_are_no_state():
    for post in ("f" * 16, "0000000000000003", "8000000000000000"):
        ledger = ordinary()
        for seq, _ in rows(ledger, "settle")[:2]:
            edit_row(ledger, seq, post=post)
        once = Once(ledger, code=1)
        assert once.alarms[0]["what"] == "row-damaged" and "no value" in once.alarms[0]["why"], once.alarms
    ledger = ordinary()
    sql(ledger, "UPDATE rows SET key = ? WHERE seq = 3", "a\0b")
    done = subprocess.run([INTERLOCK, "guard", ledger], capture_output=True, timeout=WAIT, check=False)
    assert done.returncode == 3 and b"row 3" in done.stderr, done


def test_a_row_of_a_kind_that_is_not_known():
    ledger = ordinary()
    seq, _ = rows(ledger, "settle")[0]
    sql(ledger, "UPDATE rows SET kind = 'novelty' WHERE seq = ?", seq)
    once = Once(ledger)
    assert ("untold", seq) in [(x["what"], x["row"]) for x in once.findings], once.lines
    assert once.code == 2, once.lines
    ledger = ordinary()
    seq, _ = rows(ledger, "decision")[0]
    edit_row(ledger, seq, symbol="admit{untrusted=maybe}")
    once = Once(ledger, code=2)
    assert [(x["what"], x["row"]) for x in once.findings] == [("untold", seq)], once.lines
    ledger = ordinary()  # as an older build wrote it
    seq, _ = rows(ledger, "settle")[-1]
    sql(ledger, "UPDATE rows SET kind = 'lapse', body = '{\"approval\":\"a\",\"why\":\"expired\"}' WHERE seq = ?", seq)
    once = Once(ledger, code=2)
    assert [(x["what"], x["row"]) for x in once.findings] == [("untold", seq)], once.lines


def test_an_ended_session_that_moves():
    ledger = ordinary()
    subprocess.run([INTERLOCK, "session", "end", "s1", "--ledger", ledger], check=True, capture_output=True)
    assert Once(ledger, code=0).summary["verdict"] == "quiet"
    (seq, body), = rows(ledger, "end")
    last = sql(ledger, "SELECT max(seq) FROM rows")[0][0]
    sql(ledger, "INSERT INTO rows SELECT ?, time_ms, space, key, 'settle', ticket, ?, body_hash, hash FROM rows WHERE seq = ?",
        last + 1, json.dumps({**body, "post": "0" * 16, "tool": "fake.web"}), seq)
    assert [(x["what"], x["row"]) for x in Once(ledger, code=1).alarms] == [("row-pre", last + 1)]


def gaps(once):
    return [(x["row"], x["session"]) for x in once.findings if x["what"] == "gap"]


def test_rows_that_are_not_there():
    for text, row in (("UPDATE rows SET space = 'x' WHERE seq IN (4, 5)", 4), ("UPDATE rows SET space = 'ledger' WHERE seq IN (4, 5)", 4),
                      ("UPDATE rows SET space = 'ledger', key = 'ledger' WHERE seq IN (4, 5)", 4), ("UPDATE rows SET seq = seq + 100 WHERE seq = 10", 110),
                      ("DELETE FROM rows WHERE seq IN (4, 5)", 6)):
        ledger = ordinary()
        sql(ledger, text)
        once = Once(ledger)
        assert gaps(once) == [(row, None)] and once.code in (1, 2), (text, once.code, once.lines)
    ledger = ordinary()
    sql(ledger, "UPDATE rows SET seq = -seq WHERE seq >= 6")  # SQLite may not do them in an order that keeps them unique
    sql(ledger, "UPDATE rows SET seq = 10 - seq WHERE seq < 0")
    assert gaps(Once(ledger, code=2)) == [(16, None)]
    assert "10 rows" in Once(ledger, code=2).findings[0]["why"]
    ledger = ordinary()
    policy, path = policy_of(sandbox())
    g, _ = gateway(policy, session="s2", ledger=ledger)
    fine(g.call("note"))
    g.end()
    assert not gaps(Once(ledger, "--machine", path, code=0))  # rows of several sessions have none between them


def test_a_number_below_one():
    ledger = ordinary()
    sql(ledger, "UPDATE rows SET seq = -5 WHERE seq = 10")
    once = Once(ledger, code=2)
    assert gaps(once) == [(None, None)] and "the number -5" in once.findings[0]["why"], once.lines
    sql(ledger, "UPDATE rows SET hash = x'00' WHERE seq = -5")
    done = subprocess.run([INTERLOCK, "guard", ledger], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 3 and "row -5 " in done.stderr, done


def test_rows_that_are_cut_off_at_the_end():
    """no gap, so the guard is quiet, unless it is told what was there"""
    ledger = ordinary()
    verify = [INTERLOCK, "ledger", "verify", "--ledger", ledger, "--json"]
    before = json.loads(subprocess.run(verify, capture_output=True, check=True, timeout=WAIT).stdout.splitlines()[-1])
    sql(ledger, "DELETE FROM rows WHERE seq >= 9")
    assert not Once(ledger, code=0).findings
    head = re.search(r"[0-9a-f]{64}", json.dumps(before)).group()
    assert subprocess.run([*verify, "--head", f"10:{head}"], capture_output=True, check=False, timeout=WAIT).returncode == 1
    assert chain(Once(ledger, "--head", f"10:{head}", code=1)) == [("head", 10)]
    ((eighth,),) = sql(ledger, "SELECT hash FROM rows WHERE seq = 8")
    assert not Once(ledger, "--head", f"8:{eighth.hex()}", code=0).alarms
    assert chain(Once(ledger, "--head", f"7:{eighth.hex()}", code=1)) == [("head", 7)]
    for wrong in ("10", f"x:{head}", f"0:{head}", "8:", f"8:{head[1:]}"):
        assert subprocess.run([INTERLOCK, "guard", ledger, "--head", wrong], capture_output=True, check=False, timeout=WAIT).returncode == 3, wrong


def chain(once):
    return [(x["what"], x["row"]) for x in once.alarms if x["level"] == "chain"]


def test_a_broken_chain():
    """a hand in the file that did not write the hashes anew; each row is named, and what the machine says of it stands beside it"""
    ledger = ordinary()
    assert not chain(Once(ledger, code=0))
    ((body,),) = sql(ledger, "SELECT body FROM rows WHERE seq = 3")
    sql(ledger, "UPDATE rows SET body = ? WHERE seq = 3", body + " ", keep_hashes=True)
    assert chain(Once(ledger, code=1)) == [("row-body", 3)]
    sql(ledger, "UPDATE rows SET body = ? WHERE seq = 3", body, keep_hashes=True)
    assert not chain(Once(ledger, code=0))
    sql(ledger, "UPDATE rows SET time_ms = time_ms + 1 WHERE seq = 5", keep_hashes=True)
    assert chain(Once(ledger, code=1)) == [("row-hash", 5)]
    sql(ledger, "UPDATE rows SET hash = zeroblob(32) WHERE seq = 1", keep_hashes=True)
    assert chain(Once(ledger, code=1)) == [("row-hash", 1), ("row-hash", 2), ("row-hash", 5)]
    text = subprocess.run([INTERLOCK, "guard", ledger], capture_output=True, text=True, check=False, timeout=WAIT).stdout
    assert "alarm: row 5: chain: row-hash: it does not follow" in text, text
    sql(ledger, "UPDATE rows SET ticket = ticket")
    assert not chain(Once(ledger, code=0))


def test_a_tail_that_is_cut_while_followed():
    ledger = ordinary()
    ((last,),) = sql(ledger, "SELECT max(seq) FROM rows")
    guard = Follow(ledger)
    guard.wait(lambda: guard.hears(signal.SIGTERM), "its handler")
    time.sleep(1)
    sql(ledger, "DELETE FROM rows WHERE seq = ?", last)
    cut = guard.until(lambda x: x.get("level") == "chain", "the cut")
    assert (cut["what"], cut["row"]) == ("cut", last), cut
    time.sleep(0.5)
    assert len([x for x in guard.lines() if x.get("level") == "chain"]) == 1
    guard.end(1)
    ledger = ordinary()
    guard = Follow(ledger)
    guard.wait(lambda: guard.hears(signal.SIGTERM), "its handler")
    time.sleep(1)
    sql(ledger, "UPDATE rows SET time_ms = time_ms + 1 WHERE seq = ?", last)
    changed = guard.until(lambda x: x.get("level") == "chain", "the change")
    assert (changed["what"], changed["row"]) == ("row-hash", last), changed
    guard.end(1)


def test_rows_that_were_pruned():
    ledger = ordinary()
    subprocess.run([INTERLOCK, "session", "end", "s1", "--ledger", ledger], check=True, capture_output=True)
    sql(ledger, "UPDATE objects SET changed_ms = changed_ms - 3600000")
    subprocess.run([INTERLOCK, "session", "prune", "--older-than", "1m", "--ledger", ledger], check=True, capture_output=True)
    once = Once(ledger, code=2)
    assert {x["what"] for x in once.findings} == {"pruned"} and not once.alarms, once.lines


def test_a_session_whose_beginning_is_gone():
    ledger = ordinary()
    sql(ledger, "DELETE FROM rows WHERE seq < 4")
    once = Once(ledger, code=2)
    assert {x["what"] for x in once.findings} == {"pruned"} and not once.alarms, once.lines
    assert {x["session"] for x in once.findings} == {None, "s1"}, once.lines


def test_a_session_in_monitor_mode():
    g, ledger = gateway("mode: monitor\n" + TRIFECTA)
    for tool in ("web", "mail", "post", "unknown"):
        fine(g.call(tool))
    g.end()
    once = Once(ledger, code=2)
    assert [x["what"] for x in once.findings] == ["unenforced"] and not once.alarms, once.lines
    g, ledger = gateway("mode: monitor\n" + TRIFECTA)  # nothing was rejected, and yet
    fine(g.call("web"))
    g.end()
    assert [x["what"] for x in Once(ledger, code=2).findings] == ["unenforced"]


def test_a_machine_beyond_the_bound():
    policy, path = policy_of(sandbox())
    ledger = ordinary(policy)
    once = Once(ledger, "--machine", path, "--max-states", "100", code=2)
    assert [x["what"] for x in once.findings] == ["over-bound"] and "100 states" in once.findings[0]["why"], once.lines
    (seq, body), *_ = rows(ledger, "settle")
    edit_row(ledger, seq, post=body["pre"])  # what a row records is held against the machine all the same
    assert Once(ledger, "--machine", path, "--max-states", "100", code=1).alarms[0]["what"] == "row-step"


def test_certainty_that_cannot_be_had():
    for change in ({"uses": []}, {"sees": [], "uses": [], "verdicts": False}):
        policy, path = policy_of(sandbox(**change, alarms={"lethal-trifecta": {"raise": "certain"}}))
        once = Once(ordinary(policy), "--machine", path, code=2)
        assert [(x["what"], x["region"]) for x in once.findings] == [("blind", "lethal-trifecta")] and not once.alarms, once.lines
        assert once.summary["largest_belief"] > 1, once.lines
    # what a sensor tells can be certain; and of what is merely possible nobody promised more
    seen = sandbox(sensors={"download": "pre.downloaded", "traffic": "pre.open"}, uses=["download", "traffic"], alarms={"lethal-trifecta": {"raise": "certain"}})
    policy, path = policy_of(seen)
    assert not Once(ordinary(policy), "--machine", path, code=0).findings


def test_a_ledger_without_a_row():
    ledger = ordinary()
    sql(ledger, "DELETE FROM rows")
    once = Once(ledger, code=2)
    assert [x["what"] for x in once.findings] == ["nothing-seen"], once.lines
    guard = Follow(ledger)
    assert guard.end(2)["verdict"] == "INCONCLUSIVE" and guard.lines()[0]["what"] == "nothing-seen"


def test_approvals_and_other_sessions():
    policy = TRIFECTA.replace("tools:", "approvals: { expires: 10m }\ntools:")
    g, ledger = gateway(policy)
    fine(g.call("web"))
    fine(g.call("mail"))
    failed(g.call("post", n=1), "approval")
    (_, request), = rows(ledger, "request")
    subprocess.run([INTERLOCK, "approvals", "approve", request["approval"], "--ledger", ledger], check=True, capture_output=True)
    fine(g.call("post", n=1))
    failed(g.call("post", n=2), "approval")
    g.end()
    h, _ = gateway(policy, session="s2", ledger=ledger)
    fine(h.call("note"))
    h.end()
    once = Once(ledger, code=0)
    assert once.summary["sessions"] == 2, once.lines


# --- bad input -----------------------------------------------------------------------------------------

def test_bad_input_is_refused():
    folder = tempfile.mkdtemp(dir=SCRATCH)
    ledger = ordinary()
    for args in (["none.db"], [put("text", "text.db")], [ledger, "--machine", "none.yaml"], [ledger, "--machine", "nomachine"], [ledger, "--session", "none"],
                 [ledger, "--once", "--follow"], [ledger, ledger], [ledger, "--max-states", "0"], [ledger, "--what"],
                 [ledger, "--machine", put(sandbox(alarms={"lethal-trifecta": {"raise": "possible", "shield": "quarantine"}}), "m.yaml")],
                 [ledger, "--shield", "--machine", put(sandbox(alarms={"lethal-trifecta": {"raise": "certain", "shield": "settle"}}), "m.yaml")]):
        done = subprocess.run([INTERLOCK, "guard", *args], capture_output=True, timeout=WAIT, cwd=folder, check=False)
        assert done.returncode == 3 and not done.stdout and 0 < len(done.stderr) < 600, (args, done)


def test_the_ledger_as_an_option():
    ledger = ordinary()
    done = subprocess.run([INTERLOCK, "guard", "--ledger", ledger], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 0 and done.stdout.startswith("quiet: "), done
    done = subprocess.run([INTERLOCK, "guard", ledger, "--ledger", ledger], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 3 and "not both" in done.stderr, done


def test_a_shield_that_no_monitor_takes():
    ledger = ordinary()
    machine = put(sandbox(alarms={"lethal-trifecta": {"raise": "certain", "shield": "settle"}}), "m.yaml")
    done = subprocess.run([INTERLOCK, "guard", ledger, "--shield", "--machine", machine], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 3 and "the shield `settle`" in done.stderr and "`quarantine` or `end`" in done.stderr, done


def test_a_shield_needs_a_ledger_that_may_be_written():
    ledger = ordinary()
    os.chmod(ledger, 0o400)
    if os.access(ledger, os.W_OK):  # root writes all the same
        return
    done = subprocess.run([INTERLOCK, "guard", ledger, "--shield"], capture_output=True, timeout=WAIT, check=False)
    assert done.returncode == 3, done


# --- followed -------------------------------------------------------------------------------------------

def test_the_sandbox_is_stopped_before_anything_leaves():
    policy, path = policy_of(sandbox())
    g, ledger = gateway(policy)
    go = os.path.join(tempfile.mkdtemp(dir=SCRATCH), "go")
    guard = Follow(ledger, "--machine", path, "--shield")
    fine(g.call("web"))
    fine(g.call("mail"))
    late = g.post("tools/call", {"name": "slow", "arguments": {"file": go}})
    g.until(lambda: len(rows(ledger, "decision")) == 3, "the slow call")
    wormhole(ledger, DOWNLOADED | COMPROMISED)
    judged(g)
    said = guard.until(alarm("possible", "lethal-trifecta"), "the alarm")
    assert said["session"] == "s1" and said["shield"] == "taken" and 0 < said["in_region"] < said["belief"], said
    assert said["row"] in [seq for seq, _ in rows(ledger, "decision")] and said["rows"][-1] == said["row"], said
    # nothing had left: no row has the way out in its state
    assert not any(int(json.loads(b)["post"], 16) >> 5 & 1 for (b,) in sql(ledger, "SELECT body FROM rows"))
    (seq, frozen), = rows(ledger, "quarantine")
    assert frozen["why"] == "guard:lethal-trifecta:possible" and seq > said["row"], frozen
    # what was in flight is kept back, and nothing is let out any more
    open(go, "w", encoding="utf-8").close()
    failed(g.answer(late), "quarantined")
    failed(g.call("note"), "quarantined")
    assert "a late result" not in json.dumps(g.lines)
    settled = rows(ledger, "settle")[-1][1]
    assert settled["release"] is False and settled["reason"] == "quarantined", settled
    # containment, not restoration
    assert packed(ledger) & COMPROMISED
    end = guard.end(1)
    assert end["alarms"] >= 1 and len(rows(ledger, "quarantine")) == 1, guard.lines()
    g.end()
    # an old ledger by now: the same alarm on the same row, and nothing to take any more
    again = Once(ledger, "--machine", path, "--shield", code=1)
    assert (again.alarms[0]["row"], again.alarms[0]["shield"]) == (said["row"], "already"), again.alarms
    assert len(rows(ledger, "quarantine")) == 1
    without = Once(ledger, "--machine", path, code=1)
    assert without.alarms[0]["shield"] == "not-taken", without.alarms


def test_certain_when_every_possible_state_is_in_the_region():
    machine = sandbox(sensors={"download": "pre.downloaded", "traffic": "pre.open"}, uses=["download", "traffic"],
                      alarms={"lethal-trifecta": {"raise": "certain", "shield": "quarantine"}})
    policy, path = policy_of(machine)
    g, ledger = gateway(policy)
    guard = Follow(ledger, "--machine", path)
    fine(g.call("web"))
    fine(g.call("mail"))
    wormhole(ledger, DOWNLOADED | COMPROMISED)
    fine(g.call("note"))
    wormhole(ledger, 1 << 5)  # `open`, in a session that holds both: none of the machine's states
    failed(g.call("note"), "off-table")
    said = guard.until(alarm("certain", "lethal-trifecta"), "the alarm")
    assert said["in_region"] == said["belief"] and said["shield"] == "not-taken", said
    guard.until(alarm("model-breach", what="off-table"), "the breach")
    assert len([x for x in guard.lines() if x["kind"] == "alarm" and x["level"] == "model-breach"]) == 1, guard.lines()
    assert not [x for x in guard.lines() if x["kind"] == "alarm" and x["level"] == "possible"]  # only certainty was asked for
    guard.end(1, signal.SIGINT)
    g.end()
    # all of it in sight: no sensor is needed
    policy, path = policy_of(sandbox(sees=None, alarms={"lethal-trifecta": {"raise": "certain"}}))
    g, ledger = gateway(policy)
    fine(g.call("mail"))
    fine(g.call("web"))
    wormhole(ledger, DOWNLOADED | COMPROMISED | 1 << 5)
    failed(g.call("note"), "off-table")
    g.end()
    assert [x["belief"] for x in Once(ledger, "--machine", path, code=1).alarms if x["level"] == "certain"] == [1]


def test_a_shield_that_ends_the_session():
    policy, path = policy_of(sandbox(alarms={"lethal-trifecta": {"raise": "possible", "shield": "end", "why": "a sandbox that downloads by itself"}}))
    g, ledger = gateway(policy)
    guard = Follow(ledger, "--machine", path, "--shield")
    fine(g.call("web"))
    fine(g.call("mail"))
    late = g.post("tools/call", {"name": "hang", "arguments": {}})
    failed(g.answer(late), "lethal-trifecta")
    wormhole(ledger, DOWNLOADED | COMPROMISED)
    judged(g)
    guard.until(alarm("possible", "lethal-trifecta"), "the alarm")
    assert len(rows(ledger, "end")) == 1 and rows(ledger, "quarantine")[0][1]["why"] == "guard:lethal-trifecta:possible"
    failed(g.call("note"), "ended")
    guard.end(1)
    g.end()


@patient
def test_followed_before_there_is_a_ledger(_):
    folder = tempfile.mkdtemp(dir=SCRATCH)
    ledger = os.path.join(folder, "sub", "ledger.db")  # nor its folder
    policy, path = policy_of(sandbox())
    guard = Follow(ledger, "--machine", path, "--shield")
    guard.wait(lambda: "waiting for it" in guard.said(), "the word that it waits")
    time.sleep(0.7)
    assert guard.process.poll() is None, guard.said()
    os.mkdir(os.path.dirname(ledger), 0o700)
    open(ledger, "wb").close()  # as it is while somebody makes it
    os.chmod(ledger, 0o600)
    time.sleep(0.5)
    os.unlink(ledger)
    g, _ = gateway(policy, ledger=ledger)
    fine(g.call("web"))
    fine(g.call("mail"))
    wormhole(ledger, DOWNLOADED | COMPROMISED)
    judged(g)
    assert guard.until(alarm("possible", "lethal-trifecta"), "the alarm")["shield"] == "taken"
    assert guard.end(1)["verdict"] == "ALARM"
    said = guard.said()
    assert said.count("waiting for it") == 1 and ledger in said, said
    g.end()
    # told to end while it waits; a file that stays what it is; and a machine that is refused does not wait
    guard = Follow(ledger + "2")
    assert guard.end(2)["rows"] == 0
    for args in ([put("text", "text.db"), "--follow"], [ledger + "2", "--follow", "--machine", "none.yaml"]):
        done = subprocess.run([INTERLOCK, "guard", *args], capture_output=True, timeout=WAIT, check=False)
        assert done.returncode == 3, (args, done)


def test_told_to_end_it_reads_what_is_there():
    g, ledger = gateway()
    guard = Follow(ledger)
    guard.wait(lambda: guard.hears(signal.SIGTERM), "its handler")
    guard.process.send_signal(signal.SIGSTOP)
    for _ in range(300):
        fine(g.call("note"))
    fine(g.call("web"))
    fine(g.call("mail"))
    wormhole(ledger, 1 << 5)
    failed(g.call("note"), "off-table")
    guard.process.send_signal(signal.SIGTERM)
    guard.process.send_signal(signal.SIGCONT)
    assert guard.process.wait(WAIT) == 1, (guard.lines(), guard.said())
    end = guard.lines()[-1]
    assert "off-table" in [x["what"] for x in guard.lines() if x["kind"] == "alarm"], guard.lines()
    assert end["rows"] == len(sql(ledger, "SELECT 1 FROM rows")) > 600, end
    g.end()


@patient
def test_followed_quietly(slow):
    g, ledger = gateway()
    guard = Follow(ledger)
    for i in range(50):
        fine(g.call(("web", "note", "post")[i % 3]))
    g.end()
    time.sleep(0.5 * slow)  # nothing says that it has read the last row
    ticks = sum(map(int, open(f"/proc/{guard.process.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[11:13]))
    time.sleep(1)
    more = sum(map(int, open(f"/proc/{guard.process.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[11:13])) - ticks
    assert more <= 10, f"{more} ticks in a second without a row: it does not wait"
    end = guard.end(0)
    assert end["verdict"] == "quiet" and end["rows"] == len(sql(ledger, "SELECT 1 FROM rows")), end


# --- sessions together ------------------------------------------------------------------------------------

def fleet(**invariants):
    return (ROOT / "machines/trifecta.yaml").read_text() + "\nfleet: " + json.dumps({"instances": 2, "invariants": invariants}) + "\n"


def test_a_fleet_that_goes_out_together():
    policy, path = policy_of(fleet(few={"count": "pre.flight", "most": 1}))
    g, ledger = gateway(policy)
    h, _ = gateway(policy, session="s2", ledger=ledger)
    guard = Follow(ledger, "--machine", path)
    g.post("tools/call", {"name": "hang", "arguments": {}})
    g.until(lambda: rows(ledger, "decision"), "the first call")
    time.sleep(0.5)
    assert not [x for x in guard.lines() if x["kind"] == "alarm"]
    h.post("tools/call", {"name": "hang", "arguments": {}})
    said = guard.until(alarm("fleet", "few"), "the alarm")
    assert set(said["sessions"]) == {"s1", "s2"} and said["session"] == "s2" and "2 sessions" in said["why"], said
    guard.end(1)


def test_a_fleet_of_equals():
    policy, path = policy_of(fleet(alone={"unique": "untrusted", "where": "pre.untrusted != 'none'"}, kinds={"distinct": "sensitive", "most": 1}))
    g, ledger = gateway(policy)
    h, _ = gateway(policy, session="s2", ledger=ledger)
    fine(g.call("web"))
    assert Once(ledger, "--machine", path, code=0)
    fine(h.call("web"))
    once = Once(ledger, "--machine", path, code=1)
    assert [(x["region"], sorted(x["sessions"])) for x in once.alarms] == [("alone", ["s1", "s2"])], once.alarms
    fine(h.call("mail"))
    assert {x["region"] for x in Once(ledger, "--machine", path, code=1).alarms} == {"alone", "kinds"}
    for s in ("s2",):  # who ends leaves the fleet
        subprocess.run([INTERLOCK, "session", "end", s, "--ledger", ledger, "--policy", put(policy, "p.yaml")], check=True, capture_output=True)
    fine(g.call("note"))
    assert len(Once(ledger, "--machine", path, code=1).alarms) == 2
    g.end()
    h.end()


# --- the words ---------------------------------------------------------------------------------------------

def test_the_text_for_people():
    ledger = ordinary()
    (seq, body), *_ = rows(ledger, "settle")
    done = subprocess.run([INTERLOCK, "guard", ledger], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 0 and done.stdout == "quiet: 0 alarms, 0 findings; 10 rows of 1 session, at most 1 state possible at once\n", done
    edit_row(ledger, seq, post=body["pre"])
    done = subprocess.run([INTERLOCK, "guard", ledger], capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 1 and done.stdout.startswith(f"alarm: session s1: row {seq}: model-breach: row-step: the machine does not go"), done


def test_the_session_of_the_page():
    """docs/guard.md, Try it: its files, its commands, and what they print."""
    part = (ROOT / "docs/guard.md").read_text().split("## Try it")[1].split("\n## ")[0]
    policy, server, calls, shown = re.findall(r"^```\w*\n(.*?)^```", part, re.M | re.S)
    folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH))
    machine = folder / "examples/machines/watched.yaml"
    machine.parent.mkdir(parents=True)
    for path, text in ((folder / "policy.yaml", policy), (folder / "server.sh", server), (folder / "calls.sh", calls),
                       (machine, (ROOT / "examples/machines/watched.yaml").read_text())):
        path.write_text(text)
        path.chmod(0o600)
    (folder / "bin").mkdir()
    (folder / "bin/interlock").symlink_to(INTERLOCK)
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    commands = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", shown, re.M)
    assert len(commands) == 4, commands
    codes = []
    for command, printed in commands:
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=WAIT, check=False)
        codes.append(done.returncode)
        assert not printed or done.stdout == printed, (command, done)
    assert codes == [0, 1, 1, 1], codes
    assert subprocess.run([INTERLOCK, "harden", machine], capture_output=True, timeout=WAIT, check=False).returncode == 0


def test_the_page_and_the_schema_have_the_same_words():
    page = (ROOT / "docs/guard.md").read_text()
    alarm_, finding, _ = json.loads((ROOT / "docs/schemas/guard.schema.json").read_text())["oneOf"]
    words_ = {*alarm_["properties"]["level"]["enum"], *filter(None, alarm_["properties"]["what"]["enum"]), *finding["properties"]["what"]["enum"]}
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.M))
    assert words_ == listed, words_ ^ listed


# --- long ---------------------------------------------------------------------------------------------------

def longer(ledger, rows_wanted):
    """The session of a ledger again and again under other names, each with its end."""
    db = sqlite3.connect(ledger)
    own = db.execute("SELECT time_ms, space, kind, ticket, body, body_hash, hash FROM rows WHERE key = 's1' ORDER BY seq").fetchall()
    seq = db.execute("SELECT max(seq) FROM rows").fetchone()[0]
    n = 0
    with db:
        while n * len(own) < rows_wanted:
            n += 1
            db.executemany("INSERT INTO rows(seq, time_ms, space, key, kind, ticket, body, body_hash, hash) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           [(seq + i + 1, r[0], r[1], f"again-{seq}", *r[2:]) for i, r in enumerate(own)])
            seq += len(own)
        rechain(db)
    db.close()


def peak(ledger):
    process = subprocess.Popen([INTERLOCK, "guard", ledger, "--json"], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return json.loads(out.splitlines()[-1]), usage.ru_maxrss


def test_a_hundred_thousand_rows():
    ledger = ordinary()
    subprocess.run([INTERLOCK, "session", "end", "s1", "--ledger", ledger], check=True, capture_output=True)
    longer(ledger, 1000)
    short, small = peak(ledger)
    longer(ledger, 100000)
    started = time.monotonic()
    full, large = peak(ledger)
    print(f"    {full['rows']} rows of {full['sessions']} sessions in {time.monotonic() - started:.2f} s, {large} KiB (of {short['rows']} rows: {small} KiB)")
    assert full["verdict"] == "quiet" and full["rows"] > 100000, full
    assert large < small + 8192, (small, large)


def test_zz_every_word_was_provoked():
    if len(sys.argv) > 2:
        return
    wanted = {("alarm", x) for x in ("possible", "certain", "model-breach", "fleet")} | {("summary", x) for x in ("quiet", "ALARM", "INCONCLUSIVE")}
    alarm_, finding, _ = json.loads((ROOT / "docs/schemas/guard.schema.json").read_text())["oneOf"]
    wanted |= {("what", x) for x in alarm_["properties"]["what"]["enum"] + finding["properties"]["what"]["enum"]}
    assert wanted <= SEEN, wanted - SEEN


if __name__ == "__main__":
    sys.exit(main(globals()))
