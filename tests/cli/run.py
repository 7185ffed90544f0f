#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as a person meets it: exit codes, help, and what bad input gets. More tests are in the test_*.py beside it.

Usage: run.py BUILD/interlock [WORD]. Only tests whose name has WORD. Ends with `N passed, N failed, N skipped`."""
import importlib
import json
import os
import pathlib
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERLOCK = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/interlock").resolve())
POSITION = re.compile(r":\d+:\d+")
COMMANDS = ["gateway", "cel", "check", "replay", "diagnose", "guard", "harden", "machine", "validate", "explain", "inspect", "init", "session", "approvals", "ledger"]

POLICY = """interlock: 1
machine: trifecta
servers:
  files: {trust: inside}
tools:
  - {match: files.read, effects: [sensitive]}
"""
# Answers initialize and lists one tool; enough to begin a session.
SERVER = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}} \\
        if m["method"] == "initialize" else {"tools": []}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}) + "\n"


HANG = 600  # seconds of one command: more than a busy machine needs


class Failure(Exception):
    pass


class Run:
    """One run of the program; every expectation names the command and what it printed."""

    def __init__(self, *args, stdin="", cwd=None, env=None):
        self.args = args
        home = tempfile.mkdtemp(dir=SCRATCH)
        env = {"PATH": os.environ["PATH"], "HOME": home, "XDG_STATE_HOME": home + "/state", "LC_ALL": "C", **(env or {})}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([INTERLOCK, *args], input=stdin if isinstance(stdin, bytes) else stdin.encode(), capture_output=True, timeout=HANG, env=env, cwd=cwd, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # of the processor: a busy machine does not stretch them
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    def fail(self, why):
        raise Failure(f"{why}\n  interlock {' '.join(self.args)}\n  exit {self.code}\n  stdout: {self.out[-600:]!r}\n  stderr: {self.err[-600:]!r}")

    def exits(self, code):
        if self.code != code:
            self.fail(f"want exit {code}")
        return self

    def says(self, text, where="err"):
        if text not in getattr(self, where):
            self.fail(f"want `{text}` on std{where}")
        return self

    def refuses(self, positioned=False):
        """A clear error: exit 3, nothing on stdout, something short on stderr, with a position if there is one to give."""
        self.exits(3)
        if self.out:
            self.fail("bad input must leave stdout empty")
        if not self.err.strip() or len(self.err) > 2000:
            self.fail("want a short message on stderr")
        if any(ord(c) < 32 and c not in "\n\t" for c in self.err):
            self.fail("control characters in a message")
        if positioned and not POSITION.search(self.err):
            self.fail("want a position (line:col)")
        return self


TESTS = []


def test(body):
    TESTS.append((body.__name__.replace("_", " "), body))
    return body


def case(name, body):
    TESTS.append((name, body))


def put(folder, name, content, mode=0o600):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return str(path)


# --- usage ---------------------------------------------------------------------------------------
@test
def no_command_is_bad_usage(_):
    Run().refuses()


@test
def an_unknown_command_is_named(_):
    Run("hardn").refuses().says("hardn")


@test
def version_prints_the_version(_):
    version = re.search(r"project\(interlock VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    Run("--version").exits(0).says(version, "out")


@test
def help_lists_the_commands(_):
    run = Run("--help").exits(0)
    for command in COMMANDS:
        run.says(command, "out")


for _command in COMMANDS:
    case(f"help of {_command}", lambda _, c=_command: Run(c, "--help").exits(0).says(f"interlock {c}", "out"))
    case(f"an unknown option of {_command}", lambda _, c=_command: Run(c, "--no-such-option").refuses())

# --- policies ------------------------------------------------------------------------------------
BIG = b"# padding padding padding padding padding padding padding padding\n" * (100 * 2**20 // 66)
BAD_POLICIES = {  # name: (bytes, has a position, what the message must name)
    "empty": (b"", False, ""),
    "binary": (bytes(range(256)) * 8, False, ""),
    "of 100 MB": (BIG + POLICY.encode(), False, ""),
    "with a tab": (POLICY.replace("  files", "\tfiles"), True, ""),
    "with an anchor": (POLICY.replace("inside", "&a inside"), True, "anchor"),
    "with an alias": (POLICY.replace("inside", "*a"), True, ""),
    "with a tag": (POLICY.replace("inside", "!!str inside"), True, "tag"),
    "with a duplicate key": (POLICY + "machine: trifecta\n", True, "machine"),
    "with a misspelt key": (POLICY.replace("machine:", "machin:"), True, "machin"),
    "with a misspelt effect": (POLICY.replace("sensitive", "sensitiv"), True, "sensitiv"),
    "with `on`": (POLICY + "mode: on\n", True, "on"),
    "with `yes`": (POLICY.replace("inside", "yes"), True, "yes"),
    "with `012`": (POLICY.replace("interlock: 1", "interlock: 012"), True, "012"),
    "with `1:30`": (POLICY + "approvals: {expires: 1:30}\n", True, "1:30"),
    "of another version": (POLICY.replace("interlock: 1", "interlock: 2"), True, "2"),
    "without a version": (POLICY.replace("interlock: 1\n", ""), False, "interlock"),
    "with an unknown machine": (POLICY.replace("trifecta", "nosuch"), True, "nosuch"),
    "that is JSON text cut short": (b'{"interlock": 1, "machine": ', False, ""),
    "with invalid UTF-8": (POLICY.encode() + b"# \xff\xfe\n", False, ""),
    "of two documents": (POLICY + "---\n" + POLICY, True, ""),
}
for _name, (_bytes, _positioned, _names) in BAD_POLICIES.items():
    case(f"validate: a policy {_name}", lambda t, b=_bytes, p=_positioned, n=_names:
         Run("validate", put(t, "policy.yaml", b)).refuses(p).says(n))
    case(f"gateway: a policy {_name}", lambda t, b=_bytes, p=_positioned, n=_names:
         Run("gateway", "--policy", put(t, "policy.yaml", b), "--", "true").refuses(p).says(n))


@test
def validate_accepts_a_good_policy(t):
    Run("validate", put(t, "policy.yaml", POLICY)).exits(0)


@test
def a_misspelt_key_gets_a_suggestion(t):
    Run("validate", put(t, "policy.yaml", POLICY.replace("machine:", "machin:"))).refuses(True).says("`machine`")


@test
def a_policy_that_others_may_write_is_refused(t):
    Run("validate", put(t, "policy.yaml", POLICY, 0o666)).refuses().says("policy.yaml")


@test
def a_policy_that_is_not_there(t):
    Run("validate", str(t / "nothing.yaml")).refuses().says("nothing.yaml")


@test
def a_policy_that_is_a_folder(t):
    Run("validate", str(t)).refuses()


@test
def a_huge_policy_is_refused_at_once(t):
    run = Run("validate", put(t, "policy.yaml", BIG)).refuses()
    if run.seconds > 5:
        run.fail(f"took {run.seconds:.1f} s")


@test
def init_writes_a_policy_that_validates_and_overwrites_nothing(t):
    path = t / "policy.yaml"
    Run("init", str(path)).exits(0)
    Run("validate", str(path)).exits(0)
    before = path.read_bytes()
    for subject, code in (("plan", 0), ("https://evil.example/?d=1", 1)):
        steps = [{"tool": "web.fetch", "args": {"url": "https://wiki.corp.example/"}}, {"tool": "files.read_file"},
                 {"tool": "web.send_message", "args": {"to": "bo@corp.example", "subject": subject, "body": "x"}}]
        ours = put(t, "ours.yaml", before.decode().replace("# ours:", "ours:").replace("#   email", "  email").replace("#   host", "  host"))
        Run("check", "--policy", ours, stdin=json.dumps({"steps": steps})).exits(code)
    Run("init", str(path)).refuses().says("policy.yaml")
    if path.read_bytes() != before:
        raise Failure("init changed a file that was there")


@test
def init_into_a_folder_that_is_not_there_leaves_nothing(t):
    Run("init", str(t / "no" / "policy.yaml")).refuses()
    if list(t.iterdir()):
        raise Failure("init left something behind")


# --- machines ------------------------------------------------------------------------------------
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text() if (ROOT / "machines/trifecta.yaml").exists() else ""


def mutated(old, new):
    def make():
        if old not in TRIFECTA:
            raise Failure(f"machines/trifecta.yaml does not have `{old}` any more; adapt this test")
        return TRIFECTA.replace(old, new, 1)
    return make


BAD_MACHINES = {
    "empty": (lambda: b"", False, ""),
    "binary": (lambda: bytes(range(256)) * 8, False, ""),
    "of 100 MB": (lambda: BIG + TRIFECTA.encode(), False, ""),
    "with a tab": (lambda: TRIFECTA.replace("\n  ", "\n\t", 1), True, ""),
    "with an anchor": (mutated("const: {K: 2}", "const: &k {K: 2}"), True, "anchor"),
    "with a duplicate key": (mutated("version: 1\n", "version: 1\nversion: 1\n"), True, "version"),
    "with a misspelt key": (mutated("regions:", "region:"), True, "region"),
    "with `on`": (mutated("gate: true", "gate: on"), True, "on"),
    "with `012`": (mutated("{K: 2}", "{K: 012}"), True, "012"),
    "with an undeclared variable": (mutated("next.untrusted != 'none'", "next.untrustd != 'none'"), True, "untrustd"),
    "with a value outside a domain": (mutated("? 'fresh'", "? 'frsh'"), True, "`untrusted` leaves its domain"),
    "with an empty domain": (mutated("[live, quarantined, ended]", "[]"), True, ""),
    "with a domain escape": (mutated('asked: "pre.asked + 1"', 'asked: "pre.asked + 9"'), True, "asked"),
    "with a syntax error in a guard": (mutated("pre.asked == 0 || pre.granted == K", "pre.asked == == 0"), True, ""),
}
for _name, (_make, _positioned, _names) in BAD_MACHINES.items():
    case(f"harden: a machine {_name}", lambda t, m=_make, p=_positioned, n=_names:
         Run("harden", put(t, "m.yaml", m())).refuses(p).says(n))


def values(node, key):
    """All values of a key anywhere in a JSON tree."""
    if isinstance(node, dict):
        for k, v in node.items():
            if k == key:
                yield v
            yield from values(v, key)
    elif isinstance(node, list):
        for v in node:
            yield from values(v, key)


@test
def harden_proves_trifecta(_):
    run = Run("harden", str(ROOT / "machines/trifecta.yaml"), "--json").exits(0)
    report = json.loads(run.out)
    if report.get("fully_mediated") is not True:
        run.fail('want "fully_mediated": true')
    if 330 not in values(report, "states") or 7065 not in values(report, "edges"):
        run.fail("want 330 states and 7065 edges")


@test
def harden_knows_a_shipped_machine_by_name(t):
    by_name = Run("harden", "trifecta", "--json").exits(0)
    by_file = Run("harden", str(ROOT / "machines/trifecta.yaml"), "--json").exits(0)
    if by_name.out != by_file.out or not by_name.out:
        raise Failure("the shipped machine and its file give two reports")
    Run("harden", "trifekta").refuses().says("trifekta").says("shipped are the machines standard, trifecta, ")
    Run("harden", "./trifecta").refuses()


@test
def harden_with_a_bound_is_inconclusive_and_passes_nothing(_):
    for args in ([], ["--json"]):
        run = Run("harden", str(ROOT / "machines/trifecta.yaml"), "--max-states", "10", *args).exits(2)
        if re.search(r"\bpass", run.out, re.I) or '"fully_mediated":true' in run.out.replace(" ", "") or "FULLY MEDIATED" in run.out:
            run.fail("a bounded run must not say PASS")


@test
def harden_refutes_a_machine_without_its_guard(t):
    text, found = re.subn(r"\n *- \{as: lethal-trifecta, if: [^\n]*\}", "", TRIFECTA, count=1)  # admit's, not join's
    if found != 1:
        raise Failure("the guard was not found")
    run = Run("harden", put(t, "m.yaml", text), "--json").exits(1)
    if json.loads(run.out).get("fully_mediated") is not False:
        run.fail('want "fully_mediated": false')


@test
def harden_says_the_same_twice(_):
    first, second = (Run("harden", str(ROOT / "machines/trifecta.yaml"), "--json").out for _ in range(2))
    if first != second or not first:
        raise Failure("two reports of the same machine differ")


# --- ledgers -------------------------------------------------------------------------------------
def gateway(t, ledger, session="s", env=None):
    """With the ledger named, or (None) where the environment says."""
    server = put(t, "server.py", SERVER)
    return Run("gateway", "--policy", put(t, "policy.yaml", POLICY), "--name", "files", "--session", session,
               *(["--ledger", ledger] if ledger else []), "--", sys.executable, server, stdin=HELLO, env=env)


def good_ledger(t):
    path = str(t / "ledger.db")
    gateway(t, path).exits(0)
    return path


def newer(path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9999")
    db.commit()
    db.close()


def foreign(path):
    os.unlink(path)
    for extra in ("-wal", "-shm"):
        if os.path.exists(path + extra):
            os.unlink(path + extra)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE notes (text)")
    db.commit()
    db.close()
    os.chmod(path, 0o600)


def truncated(path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    os.truncate(path, 1000)


def text(path):
    for extra in ("-wal", "-shm"):
        if os.path.exists(path + extra):
            os.unlink(path + extra)
    pathlib.Path(path).write_text("this is not a ledger\n" * 100)


BAD_LEDGERS = {
    "that is newer": newer,
    "that is somebody else's database": foreign,
    "that is cut short": truncated,
    "that is text": text,
    "that others may write": lambda path: os.chmod(path, 0o666),
}


def bad_ledger(t, damage, command):
    path = good_ledger(t)
    damage(path)
    before = pathlib.Path(path).read_bytes()
    (gateway(t, path) if command == "gateway" else Run("session", "show", "s", "--ledger", path)).refuses().says("ledger")
    if pathlib.Path(path).read_bytes() != before:
        raise Failure("a refused ledger was changed")


for _name, _damage in BAD_LEDGERS.items():
    for _command in ("gateway", "session"):
        case(f"{_command}: a ledger {_name}", lambda t, d=_damage, c=_command: bad_ledger(t, d, c))


@test
def the_default_ledger_and_its_folder_are_made_and_private(t):
    for name in ("XDG_STATE_HOME", "HOME"):
        state = t / name / "new"
        path = state / ("interlock/ledger.db" if name == "XDG_STATE_HOME" else ".local/state/interlock/ledger.db")
        gateway(t, None, env={"XDG_STATE_HOME": "", name: str(state)}).exits(0)
        if path.stat().st_mode & 0o777 != 0o600 or path.parent.stat().st_mode & 0o777 != 0o700:
            raise Failure(f"modes {path.stat().st_mode:o} and {path.parent.stat().st_mode:o}")


@test
def a_named_ledger_in_a_missing_folder_is_not_made(t):
    path = t / "no" / "such" / "x.db"
    for ledger, env in ((str(path), {}), (None, {"INTERLOCK_LEDGER": str(path)})):
        gateway(t, ledger, env=env).refuses().says(f"folder `{t / 'no'}`")
        if (t / "no").exists():
            raise Failure("a folder was made")
    gateway(t, str(t / "x.db")).exits(0)


@test
def session_show_shows_it_and_an_unknown_one_is_bad_input(t):
    path = good_ledger(t)
    Run("session", "show", "s", "--ledger", path).exits(0).says("s", "out")
    Run("session", "show", "nobody", "--ledger", path).refuses().says("nobody")


@test
def an_ended_session_is_not_reborn(t):
    path = good_ledger(t)
    Run("session", "end", "s", "--ledger", path).exits(0)
    gateway(t, path).refuses()


@test
def approvals_of_a_fresh_ledger_are_none(t):
    path = good_ledger(t)
    Run("approvals", "list", "--ledger", path).exits(0)
    Run("approvals", "list", "--session", "s", "--ledger", path).exits(0).says("nothing waits", "out")
    for args in ([], ["--json"]):
        run = Run("approvals", "list", "--session", "nobody", "--ledger", path, *args).refuses().says("nobody")
        if run.err != Run("session", "show", "nobody", "--ledger", path).err:
            raise Failure("`session show` says it otherwise")
    Run("approvals", "approve", "nosuchid", "--ledger", str(t / "ledger.db")).refuses().says("nosuchid")


# --- servers and session files -------------------------------------------------------------------
@test
def a_server_command_that_does_not_exist(t):
    Run("gateway", "--policy", put(t, "policy.yaml", POLICY), "--ledger", ":memory:", "--", "/nothing/here", stdin=HELLO).refuses().says("/nothing/here")


@test
def a_gateway_without_a_server(t):
    Run("gateway", "--policy", put(t, "policy.yaml", POLICY), "--ledger", ":memory:", "--").refuses()


BAD_SESSIONS = {
    "cut short": b'{"steps": [',
    "with a duplicate key": b'{"steps": [], "steps": []}\n',
    "without steps": b'{"id": "a"}\n',
    "with a step that is no object": b'{"steps": [1]}\n',
    "binary": bytes(range(256)),
}
for _name, _bytes in BAD_SESSIONS.items():
    case(f"check: a session file {_name}", lambda t, b=_bytes:
         Run("check", "--policy", put(t, "policy.yaml", POLICY), "--json", put(t, "s.ndjson", b)).exits(3))


@test
def check_reads_standard_input_and_files_alike(t):
    policy = put(t, "policy.yaml", POLICY)
    line = '{"id":"a","steps":[{"tool":"files.read","args":{"path":"x"},"result":"r"},{"tool":"files.write","args":{}}]}\n'
    from_file = Run("check", "--policy", policy, "--json", put(t, "s.ndjson", line)).exits(1)
    from_stdin = Run("check", "--policy", policy, "--json", stdin=line).exits(1)
    if from_file.out != from_stdin.out:
        raise Failure(f"{from_file.out!r} differs from {from_stdin.out!r}")
    decisions = json.loads(from_file.out.splitlines()[0])["decisions"]
    got = [(d["action"], d["layer"], d["reason"]) for d in decisions]
    want = [("allow", None, None), ("block", "labeller", "unlabelled-tool")]
    if got != want:
        raise Failure(f"got {got}, want {want}")


def main():
    passed = failed = 0
    # The files beside this one say `import run`: they are to see this module, not a second copy.
    sys.modules["run"] = sys.modules["__main__"]
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    for file in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        importlib.import_module(file.stem)
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    for name, body in [(n, b) for n, b in TESTS if word in n]:
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            try:
                body(pathlib.Path(folder))
            except (Failure, OSError, ValueError, KeyError, sqlite3.Error, subprocess.SubprocessError) as why:
                failed += 1
                print(f"FAILED: {name}\n    " + str(why).replace("\n", "\n    "))
            else:
                passed += 1
                print(f"ok: {name}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


with tempfile.TemporaryDirectory(prefix="interlock-cli-") as SCRATCH:
    STATUS = main()
sys.exit(STATUS)
