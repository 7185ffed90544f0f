# SPDX-License-Identifier: Apache-2.0
"""A raw client of the gateway in front of server.py, and what runs the tests that use it."""
import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
INTERLOCK = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[1] / "build/interlock").resolve())
SERVER = [sys.executable, str(HERE / "server.py")]
SCRATCH = tempfile.mkdtemp(prefix="interlock-gateway-")
atexit.register(shutil.rmtree, SCRATCH, True)
RUNNING = []
WAIT = float(os.environ.get("GATEWAY_WAIT", "120"))  # for what will come; a busy machine needs its time

INSIDE = """interlock: 1
machine: trifecta
servers: { fake: { trust: inside } }
tools:
  - { match: "fake.*", effects: [] }
"""
OUTSIDE = INSIDE.replace("servers: { fake: { trust: inside } }\n", "").replace('"fake.*"', "fake.says")


class Gateway:
    def __init__(self, policy=INSIDE, mode="", args=(), env=None, stdin=subprocess.PIPE, server=None, name="fake", quiet=False, ledger=":memory:", pass_fds=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH))
        (self.folder / "policy.yaml").write_text(policy)
        os.chmod(self.folder / "policy.yaml", 0o600)
        self.log = self.folder / "seen"
        self.log.write_bytes(b"")
        command = [INTERLOCK, "gateway", "--policy", str(self.folder / "policy.yaml"), "--ledger", ledger, *args]
        command += ["--name", name] if name else []
        command += ["--", *(server or [*SERVER, str(self.log), mode])]
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, **(env or {})}, pass_fds=pass_fds)
        RUNNING.append(self.process)
        self.lines, self.stderr, self.changed = [], "", threading.Condition()
        self.readers = [threading.Thread(target=self._read, daemon=True), threading.Thread(target=self._read_stderr, daemon=True)]
        for reader in self.readers[quiet:]:  # quiet: its output is not read
            reader.start()
        self.next_id = 100

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(json.loads(line))
                self.changed.notify_all()

    def _read_stderr(self):
        for line in self.process.stderr:
            with self.changed:
                self.stderr += line.decode("utf-8", "backslashreplace")
                self.changed.notify_all()

    def logged(self, *parts):
        """Waits for them in the gateway's log: that is another pipe, and may come behind the answer."""
        for part in parts:
            self.until(lambda part=part: part in self.stderr, f"`{part}` in the log")

    def until(self, probe, what):
        end = time.monotonic() + WAIT
        with self.changed:
            while True:
                value = probe()
                if value:
                    return value
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"waited in vain for {what}; got {self.lines[-5:]}, stderr {self.stderr[-800:]}")
                self.changed.wait(min(left, 0.05))

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self, id_):
        return self.until(lambda: next((m for m in self.lines if m.get("id") == id_ and "method" not in m), None), f"answer {id_}")

    def post(self, method, params=None):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, **({} if params is None else {"params": params})})
        return self.next_id

    def ask(self, method, params=None):
        return self.answer(self.post(method, params))

    def call(self, tool, /, **args):
        return self.ask("tools/call", {"name": tool, "arguments": args})

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start(self, revision="2025-11-25", capabilities=None):
        answer = self.ask("initialize", {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": {"name": "t", "version": "1"}})
        self.notify("notifications/initialized")
        return answer["result"]

    def seen(self, method=None):
        lines = [json.loads(line) for line in self.log.read_bytes().split(b"\n")[:-1]]  # the last may be half written
        return [m for m in lines if method in (None, m.get("method"))]

    def end(self, code=0):
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        got = self.process.wait(WAIT)
        for reader in self.readers:
            reader.join(WAIT)
        assert got == code, f"exit {got}, not {code}: {self.stderr[-800:]}"
        return self


def words(answer):
    return answer["result"]["content"][0]["text"]


def failed(answer, *parts):
    assert answer["result"]["isError"] is True, answer
    assert "structuredContent" not in answer["result"], answer
    for part in parts:
        assert part in words(answer), answer


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid):
    end = time.monotonic() + WAIT
    while alive(pid):
        assert time.monotonic() < end, f"process {pid} is still there"
        time.sleep(0.02)


def rss(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def patient(body):
    """For what the gateway does by its own clock, which does not wait for a slow machine. `body` gets a number, by which it multiplies the gateway's
    seconds; what fails is tried again with more. A fault fails every time."""
    @functools.wraps(body)
    def tries():
        for slow in (1, 2, 8):
            try:
                return body(slow)
            except Exception as e:  # any failure may come of it
                print(f"    {body.__name__}: not within {slow} times its time, again: {type(e).__name__} {str(e)[-300:]!r}", flush=True)
                stop_all()
        return body(30)
    return tries


def stop_all():
    for process in list(RUNNING):
        if process.poll() is None:
            process.kill()
            process.wait()


def main(tests):
    """Runs what is named test_… in it; the exit code."""
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    count = [0, 0]
    for name, body in list(tests.items()):
        if not name.startswith("test_") or only not in name:
            continue
        label = name[5:].replace("_", " ")
        watchdog = threading.Timer(5 * WAIT, stop_all)  # a gateway that reads no more would block the test in its write
        watchdog.start()
        try:
            body()
            count[0] += 1
            print(f"ok: {label}", flush=True)
        except Exception:  # any failure of a test is its result
            count[1] += 1
            print(f"FAILED: {label}\n" + "".join("    " + x for x in traceback.format_exc().splitlines(True)), flush=True)
        watchdog.cancel()
        stop_all()
        RUNNING.clear()
    print(f"{count[0]} passed, {count[1]} failed, 0 skipped")
    return 1 if count[1] else 0
