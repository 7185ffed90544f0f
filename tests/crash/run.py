#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the gateway at random moments. Each time the same session goes on in a new process, and in the end the trail is held against what the
server was asked to run and what the client was given.

Usage: run.py BUILD/interlock. IL_TEST_SEED repeats a run; IL_CRASH_KILLS (200) says how often. Ends with `N passed, N failed, N skipped`."""
import copy
import hashlib
import json
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERLOCK = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/interlock").resolve())
BUILD = pathlib.Path(INTERLOCK).parent
UPSTREAM = str(BUILD / "crash/crash-upstream")
KILLS = int(os.environ.get("IL_CRASH_KILLS", "200"))
SEED = int(os.environ.get("IL_TEST_SEED") or time.time())
WORKERS = 2
KILLS_OF_A_SESSION = 8
HANG = 120  # seconds
IN_FLIGHT = 12  # in one write: the gateway decides them in one transaction
TOOLS = {"n": [], "u": ["untrusted"], "s": ["sensitive"], "e": ["egress"], "E": ["egress"]}
POLICY = """interlock: 1
machine: trifecta
servers: { up: { trust: inside } }
tools:
  - { match: "up.(n|h)", effects: [], result: { from: json, items: "$", authentic: { channel: name }, free: [text] } }
  - { match: up.u, effects: [untrusted] }
  - { match: up.s, effects: [sensitive] }
  - { match: up.e, effects: [egress], sink: once }
  - { match: up.E, effects: [egress] }
"""


def line(message):
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


class Gateway:
    """One process, killed or ended; what it gave out is kept."""

    def __init__(self, folder, session, log):
        command = [INTERLOCK, "gateway", "--policy", f"{folder}/policy.yaml", "--ledger", f"{folder}/ledger.db", "--session", session, "--name", "up",
                   "--log", "error", "--", UPSTREAM, f"{folder}/ran"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        os.set_blocking(self.process.stdout.fileno(), False)
        os.set_blocking(self.process.stdin.fileno(), False)
        self.out, self.broken = b"", False

    def send(self, *messages):
        try:
            os.write(self.process.stdin.fileno(), b"".join(line(m) for m in messages))
        except (BrokenPipeError, BlockingIOError):
            self.broken = True

    def read(self, until):
        """What has come, waiting at most until then; None at the end."""
        wait = max(0.0, until - time.monotonic())
        if not select.select([self.process.stdout], [], [], wait)[0]:
            return []
        data = os.read(self.process.stdout.fileno(), 65536)
        if not data:
            return None
        whole, _, self.out = (self.out + data).rpartition(b"\n")
        return [json.loads(m) for m in whole.split(b"\n") if m]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        got = []
        while (more := self.read(time.monotonic())) is not None:  # what was written before it died counts as given out
            got += more
            if not more:
                time.sleep(0.0005)
        self.process.stdin.close()
        self.process.stdout.close()
        return got


class Worker:
    """A ledger of its own, a chain of kills, and the books: what was asked, given out and run."""

    def __init__(self, folder, seed, kills):
        self.folder, self.random, self.kills = folder, random.Random(seed), kills
        self.asked, self.given, self.sessions, self.points, self.next = {}, {}, [], {}, seed % 1000 * 1000000 + 1
        self.open_after_restart = 0
        pathlib.Path(folder, "policy.yaml").write_text(POLICY)
        os.chmod(f"{folder}/policy.yaml", 0o600)

    def take(self, session, messages):
        for m in messages:
            text = (m.get("result") or {}).get("content", [{}])[0].get("text", "")
            if text.startswith("ran "):
                self.given[int(text[4:])] = session

    def call(self, session, tool=None):
        # a standing way out ends what a session can show, so it is rare
        tool = tool or self.random.choices(list(TOOLS), [4, 2, 2, 6, 0.05])[0]
        self.asked[self.next] = (session, tool)
        self.next += 1
        return {"id": self.next - 1, "method": "tools/call", "params": {"name": tool, "arguments": {"n": self.next - 1}}}

    def one(self, session, log, at_once):
        gateway = Gateway(self.folder, session, log)
        gateway.send({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        # half of the kills by time, from the first millisecond on; half when some number of answers has come, and a moment later
        after = 0.0001 if at_once else self.random.uniform(0.001, 0.04) if self.random.random() < 0.5 else None
        answers = self.random.randrange(1, 25)
        deadline = time.monotonic() + (after or HANG)
        seen, waiting, point = 0, 0, "start"
        while time.monotonic() < deadline and (after or seen < answers) and not gateway.broken:
            got = gateway.read(deadline if after else time.monotonic() + 0.05)
            if got is None:
                raise RuntimeError("the gateway ended by itself")
            self.take(session, got)
            calls = []
            for m in got:
                if m.get("id") == 0:
                    gateway.send({"method": "notifications/initialized"})
                    waiting, point = IN_FLIGHT, "calls"
                    calls += [self.call(session, None if n else "h") for n in range(IN_FLIGHT)]  # one hangs: however slow we are to kill, something is open
                else:
                    seen += 1
                    calls.append(self.call(session))
            if calls:
                gateway.send(*calls)
        if not after and seen < answers:
            raise RuntimeError(f"only {seen} of {answers} answers in {HANG} seconds")
        for _ in range(self.random.randrange(400) if waiting else 0):
            pass
        self.take(session, gateway.kill())
        self.points[point] = self.points.get(point, 0) + 1

    def run(self):
        with open(f"{self.folder}/log", "wb") as log:
            for kill in range(self.kills):
                if kill % KILLS_OF_A_SESSION == 0:
                    self.sessions.append(f"s{kill // KILLS_OF_A_SESSION}")
                self.one(self.sessions[-1], log, kill % 20 == 7)
                if kill % 5 == 4:
                    self.settle_by_restart(log)

    def settle_by_restart(self, log):
        """A new process finds what the dead one left open, and settles it as its worst, before it serves."""
        session = self.sessions[-1]
        gateway = Gateway(self.folder, session, log)
        gateway.send({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        until = time.monotonic() + HANG
        while not (got := gateway.read(until)):
            if got is None or time.monotonic() > until:
                raise RuntimeError("the gateway did not start again")
        self.open_after_restart += len(self.show(session)["open"])
        gateway.kill()

    def show(self, session):
        done = subprocess.run([INTERLOCK, "session", "show", session, "--json", "--ledger", f"{self.folder}/ledger.db"], capture_output=True, check=True)
        return json.loads(done.stdout)

    def trail(self):
        rows = []
        for session in self.sessions:
            done = subprocess.run([INTERLOCK, "session", "show", session, "--trail", "--ledger", f"{self.folder}/ledger.db"], capture_output=True, check=False)
            rows += [json.loads(row) for row in done.stdout.splitlines()] if done.returncode == 0 else []
        return sorted(rows, key=lambda row: row["seq"])

    def ran(self):
        path = pathlib.Path(self.folder, "ran")
        return [int(n) for n in path.read_text().split()] if path.exists() else []


def digest(n):
    return hashlib.sha256(b'{"n":%d}' % n).hexdigest()


def judge(worker, rows, ran, given, states):
    """The faults of a trail, in words."""
    faults, allowed, released, held = [], {}, set(), {}
    for row in rows:
        body, key = row["body"], (row["session"], row["ticket"])
        if row["kind"] == "decision" and body["run"]:
            if key in allowed:
                faults.append(f"ticket {key} was given twice")
            allowed[key] = body
            taints = held.setdefault(row["session"], {"untrusted": 0, "sensitive": 0, "standing": 0})
            for effect in ("untrusted", "sensitive"):
                taints[effect] += effect in body["effects"]
            taints["standing"] += "egress" in body["effects"] and body["sink"] == "standing"
        elif row["kind"] == "settle":
            if body["release"]:
                released.add(key)
            # what a dead process left open counts as its worst: every taint stays, and no result goes out
            if body["how"] == "recovered" and (body["release"] or body["refined"] or body["result_digest"]):
                faults.append(f"ticket {key} was recovered as less than its worst")
            for effect in body["refined"]:
                held[row["session"]][effect] -= 1
    by_digest = {(session, body["args_digest"]): (session, ticket) for (session, ticket), body in allowed.items()}
    for n in ran:
        if (worker.asked[n][0], digest(n)) not in by_digest:
            faults.append(f"call {n} reached the server without its row")
    if len(set(ran)) != len(ran):
        faults.append("a call was run twice")
    for n, session in given.items():
        if by_digest.get((session, digest(n))) not in released:
            faults.append(f"the result of call {n} was given out without its row")
    for session, state in states.items():
        taints = held.get(session, {})
        for effect in ("untrusted", "sensitive"):
            if (taints.get(effect, 0) > 0) != (state["state"][effect] != "none"):
                faults.append(f"session {session}: {effect} is {state['state'][effect]}, and {taints.get(effect, 0)} calls brought it")
        if (taints.get("standing", 0) > 0) != (state["state"]["open"] == "true"):
            faults.append(f"session {session}: the standing way out was lost or invented")
        pre = None
        for row in rows:
            if row["session"] == session and "pre" in row["body"] and "post" in row["body"]:
                if pre is not None and row["body"]["pre"] != pre:
                    faults.append(f"session {session}: row {row['seq']} does not begin where the one before it ended")
                pre = row["body"]["post"]
    return faults


def main():
    done = subprocess.run(["cmake", "--build", str(BUILD), "--target", "crash-upstream"], capture_output=True, check=False)
    if done.returncode:
        print(done.stdout.decode()[-2000:])
        print("0 passed, 1 failed, 0 skipped")
        return 1
    print(f"IL_TEST_SEED={SEED}, {KILLS} kills", flush=True)
    results, started = [], time.monotonic()

    def say(name, faults):
        results.append(not faults)
        print(f"{'FAILED' if faults else 'ok'}: {name}")
        for fault in faults[:10]:
            print(f"    {fault}")

    with tempfile.TemporaryDirectory(prefix="interlock-crash-") as scratch:
        workers, errors = [], []
        for i in range(WORKERS):
            folder = pathlib.Path(scratch, str(i))
            folder.mkdir(mode=0o700)
            workers.append(Worker(str(folder), SEED + i, KILLS // WORKERS))

        def work(worker):
            try:
                worker.run()
            except Exception as error:  # pylint: disable=broad-except
                errors.append(f"{worker.folder}: {error!r}; log: {pathlib.Path(worker.folder, 'log').read_text()[-500:]}")

        threads = [threading.Thread(target=work, args=(w,)) for w in workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        say(f"{KILLS} kills, each followed by a new process on the same session ({time.monotonic() - started:.0f} s)", errors)
        for i, worker in enumerate(workers):
            rows, ran = worker.trail(), worker.ran()
            states = {session: worker.show(session) for session in worker.sessions if any(row["session"] == session for row in rows)}
            print(f"  ledger {i}: killed {worker.points}, {len(rows)} rows, {len(worker.asked)} calls asked, {len(ran)} run, {len(worker.given)} results given out")
            say(f"ledger {i}: every call that ran and every result that was given out has its row; no taint is lost", judge(worker, rows, ran, worker.given, states))
            say(f"ledger {i}: after a restart nothing of the dead process is open", [f"{worker.open_after_restart} calls were"] if worker.open_after_restart else [])
            done = subprocess.run([INTERLOCK, "ledger", "verify", "--ledger", f"{worker.folder}/ledger.db"], capture_output=True, check=False)
            say(f"ledger {i}: its chain is whole", [done.stderr.decode() + done.stdout.decode()] if done.returncode else [])
            say(f"ledger {i}: the run was not idle", [] if len(ran) > KILLS and len(worker.given) > KILLS and worker.points.get("start", 0) > 2 else ["too little happened to show anything"])
            recovered = [row for row in rows if row["kind"] == "settle" and row["body"]["how"] == "recovered"]
            print(f"  ledger {i}: {len(recovered)} calls were left open by a dead process and settled by the next")
            say(f"ledger {i}: what was left open was settled", [] if len(recovered) > KILLS // 8 else ["too little was left open to show anything"])
            soft = copy.deepcopy(rows)
            next(row for row in soft if row["kind"] == "settle" and row["body"]["how"] == "recovered")["body"]["release"] = True
            say(f"ledger {i}: the judge sees a soft recovery", [] if any("less than its worst" in fault for fault in judge(worker, soft, ran, worker.given, states)) else ["it saw nothing"])
            # the judge itself: a trail that lost one row of each kind, and a session that lost a taint, must be seen
            for kind, want in (("decision", "without its row"), ("settle", "given out without its row")):
                lost = next(j for j, row in enumerate(rows) if row["kind"] == kind and (row["body"].get("run") if kind == "decision" else row["body"]["release"])
                            and any(digest(n) == row["body"].get("args_digest") for n in ran) | (kind == "settle"))
                faults = judge(worker, rows[:lost] + rows[lost + 1:], ran, worker.given, states)
                say(f"ledger {i}: the judge sees a lost {kind}", [] if any(want in fault for fault in faults) else [f"it said {faults}"])
            forged = copy.deepcopy(states)
            tainted = next(s for s in forged if forged[s]["state"]["untrusted"] != "none")
            forged[tainted]["state"]["untrusted"] = "none"
            say(f"ledger {i}: the judge sees a lost taint", [] if judge(worker, rows, ran, worker.given, forged) else ["it saw nothing"])
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


sys.exit(main())
