# SPDX-License-Identifier: Apache-2.0
"""A raw client: sends any bytes through the gateway (or what stands in its place) and keeps the exact bytes that come back."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
WAIT = float(os.environ.get("WIRE_WAIT", "120"))  # for what will come; a busy machine needs its time
EVERYTHING = HERE.parent / "e2e/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
OPEN = 'interlock: 1\nmachine: trifecta\nservers: { up: { trust: inside } }\ntools: [{ match: "up.*", effects: [] }]\n'
# every message of an outside server is judged; `once` and a listed address let it through
OUTSIDE = 'interlock: 1\nmachine: trifecta\ntools: [{ match: "up.*", effects: [untrusted] }]\n'
RUNNING = []


class Wire:
    def __init__(self, gateway, policy=OPEN, results=None, upstream=None, args=(), bare=None):
        """`bare`: relay.py in the gateway's place, or True for nothing at all."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interlock-wire-"))
        self.log = self.folder / "seen"
        self.log.touch()
        if upstream is None:
            upstream = [sys.executable, str(HERE / "server.py"), str(self.log), json.dumps(results or {})]
        elif not bare:
            upstream = [sys.executable, str(HERE / "relay.py"), str(self.log), *upstream]
        if bare:
            command = upstream if bare is True else [sys.executable, bare, os.devnull, *upstream]
        else:
            (self.folder / "policy.yaml").write_text(policy)
            os.chmod(self.folder / "policy.yaml", 0o600)
            command = [gateway, "gateway", "--policy", str(self.folder / "policy.yaml"), "--ledger", ":memory:", "--name", "up", *args, "--", *upstream]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        RUNNING.append(self.process)
        self.lines, self.stderr, self.changed, self.next_id, self.began = [], b"", threading.Condition(), 0, time.monotonic()
        self.open = 2  # pipes that may still bring something
        for target in (self._read, self._read_stderr):
            threading.Thread(target=target, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        self._ended()

    def _read_stderr(self):
        for line in self.process.stderr:
            with self.changed:
                self.stderr += line
                self.changed.notify_all()
        self._ended()

    def _ended(self):
        with self.changed:
            self.open -= 1
            self.changed.notify_all()

    def send(self, data):
        """Bytes as they are (their LF included), or a message."""
        if not isinstance(data, bytes):
            data = json.dumps({"jsonrpc": "2.0", **data}).encode() + b"\n"
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def until(self, probe, what):
        end = time.monotonic() + WAIT
        with self.changed:
            while True:
                value = probe()
                if value:
                    return value
                left = end - time.monotonic()
                if left <= 0 or not self.open:
                    raise AssertionError(f"waited in vain for {what}; the last lines are {self.lines[-3:]}, stderr {self.stderr[-600:]}")
                self.changed.wait(min(left, 0.05))

    def wait(self, probe):
        """The same, for what may stay away."""
        try:
            return self.until(probe, "")
        except AssertionError:
            return None

    def messages(self, since=0):
        return [json.loads(line) for line in self.lines[since:]]

    def answer(self, id_, since=0):
        def look():
            for line in self.lines[since:]:
                message = json.loads(line)
                if "method" not in message and message.get("id") == id_ and type(message["id"]) is type(id_):
                    return message
            return None
        return self.until(look, f"the answer to {id_!r}")

    def post(self, method, params=None, id_=None):
        self.next_id += 1
        id_ = id_ if id_ is not None else f"n{self.next_id}"
        self.send({"id": id_, "method": method, **({} if params is None else {"params": params})})
        return id_

    def ask(self, method, params=None):
        since = len(self.lines)
        return self.answer(self.post(method, params), since)

    def call(self, tool, args=None):
        return self.ask("tools/call", {"name": tool, "arguments": args or {}})

    def raw(self, *lines, tool="raw"):
        """Lets the server write these lines (bytes or messages); $ID is the call's id. Nothing is waited for."""
        data = b"\n".join(line if isinstance(line, bytes) else json.dumps({"jsonrpc": "2.0", **line}).encode() for line in lines)
        return self.post("tools/call", {"name": tool, "arguments": {"hex": data.hex()}})

    def start(self, capabilities=None, revision="2025-11-25"):
        answer = self.ask("initialize", {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": {"name": "t", "version": "1"}})
        if "error" not in answer:  # after one it may be gone
            self.send({"method": "notifications/initialized"})
        return answer

    def seen(self):
        """The exact lines that the server got."""
        return self.log.read_bytes().split(b"\n")[:-1]

    def got(self, method=None):
        return [m for m in map(json.loads, self.seen()) if method in (None, m.get("method"))]

    def told(self, id_):
        """What the server was answered to its request."""
        return self.until(lambda: next((m for m in self.got() if "method" not in m and m.get("id") == id_), None), f"our answer to the server's {id_!r}")

    def logged(self, what, times=1):
        """Waits for it in the gateway's log: that is another pipe, and may come behind the answer."""
        self.until(lambda: self.stderr.count(what) >= times, f"{what!r} in the log")

    def allowed(self, burst, per_second):
        """What the gateway may have let through of a flood by now; the slower the machine, the more."""
        return burst + per_second * (time.monotonic() - self.began + 1)

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(WAIT)
        RUNNING.remove(self.process)
        return code


def words(answer):
    return answer["result"]["content"][0]["text"]


def code(answer):
    return answer.get("error", {}).get("code")


def stop_all():
    for process in list(RUNNING):
        if process.poll() is None:
            process.kill()
            process.wait()
    RUNNING.clear()
