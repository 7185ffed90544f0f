# SPDX-License-Identifier: Apache-2.0
"""What the scripts of proofs/ share: which machines, what our own checker says of them, and how a line is printed.

Each folder has `run`, `expected` (MACHINE: the line that must come out) and mutations, which must be caught. A script prints one
line for each confirmation and ends with "N passed, N failed, N skipped"; its status is 4 when anything disagrees."""
import hashlib
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
INTERLOCK = os.path.join(BUILD, "interlock")
OUT = os.path.join(BUILD, "proofs")


def run(*command, cwd=None, seconds=1500):
    """(status, output). A tool that hangs has failed."""
    try:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return 124, "no answer in %d seconds" % seconds
    return done.returncode, done.stdout.decode("utf-8", "replace")


def must(*command, cwd=None):
    status, out = run(*command, cwd=cwd)
    if status != 0:
        raise SystemExit("%s: exit %d\n%s" % (" ".join(command[:6]), status, out))
    return out


def folder(*parts):
    path = os.path.join(OUT, *parts)
    os.makedirs(path, exist_ok=True)
    return path


def write(path, text):
    """Whole or not at all: two folders may write the same twin."""
    part = "%s.%d" % (path, os.getpid())
    with open(part, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    os.replace(part, path)
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def shipped():
    """The shipped machines, by name."""
    at = os.path.join(ROOT, "machines")
    return {n[:-5]: os.path.join(at, n) for n in sorted(os.listdir(at)) if n.endswith(".yaml")}


def machines():
    """Those, and some for which a tool has more to do: naps, counters that saturate, guards that err, numbers at the limit of an export."""
    all_of_them = shipped()
    for at in ("tests/machines/standard.yaml", "tests/machines/smallest.yaml"):
        name = os.path.basename(at)[:-5]
        if name not in all_of_them and os.path.exists(os.path.join(ROOT, at)):
            all_of_them[name] = os.path.join(ROOT, at)
    at = os.path.join(ROOT, "proofs", "machines")
    for n in sorted(os.listdir(at)):
        if n.endswith(".yaml"):
            all_of_them[n[:-5]] = os.path.join(at, n)
    return all_of_them


def document(path):
    return json.loads(must(INTERLOCK, "machine", "export", path, "--json"))


def ours(path):
    """What `interlock harden` says: {"states", "edges", "depth", "entered": regions, "gates": {region: verdict}} or {"fault": text}.
    Kept in build/proofs by the digests of the machine and of the program: hardening takes seconds."""
    key = hashlib.sha256(read(path) + read(INTERLOCK)).hexdigest()
    kept = os.path.join(folder("ours"), key + ".json")
    if not os.path.exists(kept):
        status, out = run(INTERLOCK, "harden", path, "--json")
        said = {"fault": out.strip()} if status == 3 else summary(json.loads(out))
        write(kept, json.dumps(said))
    return json.loads(read(kept))


def summary(report):
    said = {"entered": [], "gates": {}, "mediated": report["fully_mediated"], "table": report["table"]["sha256"]}
    for check in report["checks"]:
        if check["id"] in ("translation", "mediation", "from-init"):
            said["states"], said["edges"], said["depth"] = check["states"], check["edges"], check["depth"]
            if check["id"] == "from-init" and check["verdict"] != "PASS":
                said["entered"].append([check["region"], len(check["witness"] or [])])
        if check["id"] == "gates" and check["region"]:
            said["gates"][check["region"]] = check["verdict"]
    return said


def confirmations(lines):
    """What has to be written down of `TOOL MACHINE TEXT: agreed`, by the digest of the machine's table. Twins and questions have no table of their own here."""
    known = machines()
    found = []
    for line in lines:
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[1] in known and parts[2].endswith(": agreed"):
            table = ours(known[parts[1]]).get("table")
            found += [{"table": table, "machine": parts[1], "by": parts[0], "says": parts[2][:-len(": agreed")]}] if table else []
    return sorted(found, key=lambda c: (c["machine"], c["by"], c["says"]))


class Lines:
    """One line for each confirmation, and the counts at the end."""

    def __init__(self, name):
        self.name, self.passed, self.failed, self.skipped = name, 0, 0, 0
        self.expected = {}
        at = os.path.join(ROOT, "proofs", name, "expected")
        for line in open(at, encoding="utf-8") if os.path.exists(at) else []:
            if ":" in line and not line.startswith("#"):
                machine, text = line.split(":", 1)
                self.expected[machine.strip()] = text.strip()

    def line(self, what, text, agrees, why=""):
        self.passed += agrees
        self.failed += not agrees
        print("%-12s %-40s %s: %s" % (self.name, what, text, "agreed" if agrees else "DISAGREES" + (", " + why if why else "")),
              flush=True)

    def machine(self, machine, text, agrees, why=""):
        """Also compared with the line that is written down, where one is."""
        wanted = self.expected.get(machine, text)
        if agrees and wanted != text:
            agrees, why = False, "expected `%s`" % wanted
        self.line(machine, text, agrees, why)

    def caught(self, what, text, is_caught, why=""):
        self.passed += is_caught
        self.failed += not is_caught
        print("%-12s %-40s %s: %s" % (self.name, what, text, "caught" if is_caught else "NOT CAUGHT " + why), flush=True)

    def skip(self, what, why):
        self.skipped += 1
        print("%-12s %-40s skipped: %s" % (self.name, what, why), flush=True)

    def end(self):
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped), flush=True)
        sys.exit(4 if self.failed else 0)
