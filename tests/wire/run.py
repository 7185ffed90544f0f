#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile input on both faces of the stdio gateway: the table in vectors.py, and what needs more than one message (cases.py).

Usage: run.py BUILD/interlock [PART-OF-A-NAME]. Ends with `N passed, N failed, N skipped`."""
import json
import pathlib
import sys
import threading
import traceback

import cases
import vectors
from wire import EVERYTHING, HERE, OPEN, RUNNING, WAIT, Wire, code, stop_all, words

INTERLOCK = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[1] / "build/interlock").resolve())
RELAY = str(HERE / "relay.py")
COUNT = {"passed": 0, "failed": 0, "skipped": 0}


def report(name, how, why=""):
    COUNT[how] += 1
    print({"passed": "ok", "failed": "FAILED", "skipped": "skipped"}[how] + f": {name}" + (f"\n    {why}" if why else ""), flush=True)


# --- the client's face -----------------------------------------------------------------------------

def answers_since(w, since):
    """The lines that are answers. What a server says of itself (server-everything: that its list changed) comes when it likes, and belongs to no row."""
    return [line for line in w.lines[since:] if "method" not in json.loads(line)]


def fence(w, n, since=0, total=0):
    """The next well-formed request. What was answered before it belongs to the row; a server that answers out of order may need until there are
    `total` answers since the row."""
    answer = w.answer(w.post("tools/call", {"name": "echo", "arguments": {"message": f"next {n}"}}, f"fence {n}"), since)
    w.until(lambda: len(answers_since(w, since)) >= total, "the answer to the row")
    return answer


def client_row(w, row, n):
    """None, or what is wrong."""
    since, seen = len(w.lines), len(w.seen())
    w.send(row["bytes"] + b"\n")
    after = fence(w, n, since, 2 if row["expect"] in ("pass", "ours") else 1)
    if after.get("error") or after["result"].get("isError"):
        return f"the next request fails: {after}"
    answers = [line for line in answers_since(w, since) if json.loads(line)["id"] != after["id"]]
    arrived = w.seen()[seen:]
    if not arrived or json.loads(arrived[-1]).get("params", {}).get("arguments") != {"message": f"next {n}"}:
        return f"the next request did not arrive: {arrived[-1:]}"
    del arrived[-1]
    expect = row["expect"]
    if expect != "pass" and arrived:
        return f"the server got {arrived[0][:200]}"
    if expect == "silent":
        return f"answered: {answers}" if answers else None
    if len(answers) != 1:
        return f"{len(answers)} answers: {answers[:2]}"
    if expect == "refuse":
        answer = json.loads(answers[0])
        if code(answer) != row["code"] or answer["id"] != row["id"]:
            return f"expected {row['code']} under {row['id']!r}, got {answer}"
        return None
    if not answers[0].startswith(f'{{"jsonrpc":"2.0","id":{row["id"]},"result":'.encode()):
        return f"answered {answers[0][:200]}"
    if expect == "pass":
        uid = str(json.loads(arrived[0])["id"])
        if arrived != [row["line"].replace("$UID", uid).encode()]:
            return f"the server got {[a[:300] for a in arrived]}"
    return None


def client_rows(label, rows, **how):
    w = Wire(INTERLOCK, **how)
    w.start()
    fence(w, -1)
    for n, row in enumerate(rows):
        name = f"{label}: {row['name']}"
        try:
            wrong = client_row(w, row, n)
        except (AssertionError, OSError) as e:
            wrong = str(e)[:600] or repr(e)
            stop_all()
            w = Wire(INTERLOCK, **how)
            w.start()
            fence(w, -1)
        report(name, "failed" if wrong else "passed", wrong)
    if w.end() != 0:
        report(f"{label}: the end", "failed", "exit code is not 0")


# --- the server's face -----------------------------------------------------------------------------

def server_row(row, n, bare=None):
    w = Wire(INTERLOCK, bare=bare)
    w.start()
    mark = f"MARK{n}X"
    data = row["bytes"].replace(b"$MARK", mark.encode())
    good = b'\n{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]}}'
    expect = row["expect"]
    if expect in ("drop", "tell"):
        data += good
    since = len(w.lines)
    asked = w.raw(data)
    answer = w.answer(asked, since)
    after = w.call("echo", {"message": "next"})
    wrong = None
    if expect != "pass" and mark.encode() in b"".join(w.lines):
        wrong = f"{mark} reached the client: {[x for x in w.lines if mark.encode() in x][:1]}"
    elif expect == "pass":
        line = row["line"].replace("$MARK", mark).replace("$ASKED", json.dumps(asked)).encode() + b"\n"
        wrong = None if line in w.lines else f"expected {line}, got {w.lines[-2:]}"
    elif expect in ("drop", "tell") and (words(answer) != "fine" or len(w.lines) != since + 2):
        wrong = f"got {w.lines[since:]}"
    elif expect in ("fail", "close") and not answer.get("result", {}).get("isError"):
        wrong = f"the call was answered {answer}"
    if wrong is None and expect == "tell":
        uid = next(m["id"] for m in w.got("tools/call"))
        told = w.told(json.loads(row["id"].replace("$ID", str(uid))))
        wrong = None if code(told) == row["code"] else f"the server was told {told}"
    if wrong is None and expect != "close" and words(after) != '{"message": "next"}':
        wrong = f"the next request was answered {after}"
    if wrong is None and expect == "close" and "closed" not in words(answer):
        wrong = f"the server was not closed: {answer}"
    if wrong is None and not w.ask("ping").get("result") == {}:
        wrong = "the gateway does not answer a ping"
    w.process.kill()
    w.process.wait()
    RUNNING.remove(w.process)
    return wrong


def server_rows(rows):
    for n, row in enumerate(rows):
        try:
            wrong = server_row(row, n)
        except (AssertionError, OSError, KeyError, ValueError) as e:
            wrong = f"{type(e).__name__}: {e}"[:900]
            stop_all()
        report(f"server: {row['name']}", "failed" if wrong else "passed", wrong)


# --- negative controls -----------------------------------------------------------------------------

def control_javascript(rows):
    """Without a gateway a server on JSON.parse runs what `js: runs` says that it runs, so these rows are attacks and no theory."""
    w = Wire(INTERLOCK, upstream=["node", str(EVERYTHING), "stdio"], bare=True)
    w.start()
    for row in rows:
        since = len(w.lines)
        w.send(row["bytes"] + b"\n")
        ping = w.post("ping")
        w.answer(ping, since)
        expected = row["js"] == "runs"

        def answers(since=since, ping=ping):
            return [m for m in w.messages(since) if m.get("id") not in (None, ping) and "method" not in m]
        ran = w.wait(answers) if expected else answers()
        report(f"control, JavaScript: {row['name']} " + ("runs" if expected else "is ignored"), "passed" if bool(ran) == expected else "failed",
               "" if bool(ran) == expected else f"{w.messages(since)}"[:400])
    w.end()


def control_relay(client, server):
    """A relay in the gateway's place: every row that asks for a refusal must be seen to fail."""
    w = Wire(INTERLOCK, bare=RELAY)
    w.start()
    fence(w, -1)
    blind = []
    for n, row in enumerate(client):
        try:
            if client_row(w, row, n) is None:
                blind.append(row["name"])
        except (AssertionError, KeyError, OSError):
            stop_all()
            w = Wire(INTERLOCK, bare=RELAY)
            w.start()
    report(f"control, relay: {len(client)} rows of the client's face are seen to fail", "failed" if blind else "passed", f"not seen: {blind}" if blind else "")
    stop_all()
    blind = []
    for n, row in enumerate(server):
        try:
            if server_row(row, n, bare=RELAY) is None:
                blind.append(row["name"])
        except (AssertionError, KeyError, ValueError, OSError):
            stop_all()
    report(f"control, relay: {len(server)} rows of the server's face are seen to fail", "failed" if blind else "passed", f"not seen: {blind}" if blind else "")


# ---------------------------------------------------------------------------------------------------

def stateful(only):
    for name, body in list(vars(cases).items()):
        if not name.startswith("test_") or only not in name.replace("_", " "):
            continue
        label = "case: " + name[5:].replace("_", " ")
        watchdog = threading.Timer(5 * WAIT, stop_all)
        watchdog.start()
        try:
            body(lambda **how: Wire(INTERLOCK, **how))
            report(label, "passed")
        except Exception:  # any failure of a case is its result
            report(label, "failed", traceback.format_exc().replace("\n", "\n    "))
        watchdog.cancel()
        stop_all()


def main():
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    client = [r for r in vectors.ROWS if r["face"] == "client" and only in r["name"]]
    server = [r for r in vectors.ROWS if r["face"] == "server" and only in r["name"]]
    client_rows("client", client)
    server_rows(server)
    stateful(only)
    script = [r for r in client if r.get("js")]
    if EVERYTHING.exists():
        client_rows("client, server-everything", script, policy=OPEN, upstream=["node", str(EVERYTHING), "stdio"])
        control_javascript(script)
    else:
        report("the rows with server-everything: run `npm ci` in tests/e2e", "skipped")
    if not only:
        small = [r for r in client if r["expect"] == "refuse" and len(r["bytes"]) < 1000][::5]
        control_relay(small, [r for r in server if r["expect"] in ("fail", "drop", "close") and len(r["bytes"]) < 1000 and b"$MARK" in r["bytes"]][::4])
    print(f"{COUNT['passed']} passed, {COUNT['failed']} failed, {COUNT['skipped']} skipped")
    return 1 if COUNT["failed"] else 0


try:
    CODE = main()
finally:
    stop_all()
sys.exit(CODE)
