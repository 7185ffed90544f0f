#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interbolt's documents here and in the published package `interbolt`: which load, with what fingerprint, what is warned of, and what is decided.

Cases by hand (cases.json, with what is expected of ours) and by chance (generate.py) from a fixed seed; `run.py --seed N`, `--seed random` and `--documents N` explore. What differs must be a row of
deviations.json, whose reason docs/from-interbolt.md has under the same name; any other difference fails. A row that nothing was an example of is named. gateway.py asks the same
of a gateway. The package is installed into build/interbolt-oracle by this suite, with a Python of 3.12 or later; without one, or without the package, the comparison is skipped,
which is said, and what is expected of ours is tried all the same."""
import collections
import concurrent.futures
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import generate

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
BIN = BUILD / "interlock"
VENV = BUILD / "interbolt-oracle"
PACKAGE = "interbolt==0.4.0"  # the one that the rows of deviations.json were written for
SEED = 1796063939
DOCUMENTS = 1000
SECONDS = 40  # then no more documents are drawn; a busy machine compares fewer. Who explores waits
WORKERS = 2
passed = failed = skipped = 0
seen = collections.Counter()
lock = threading.Lock()


def report(name, problem=None):
    global passed, failed
    with lock:
        if problem:
            failed += 1
            print(f"FAILED: {name}: {problem}")
        else:
            passed += 1


def skip(why):
    global skipped
    skipped += 1
    print(f"skipped: the comparison with the package: {why}")
    return False


# --- the package ---------------------------------------------------------------------------------------------------------------------------
def pythons():
    """those of 3.12 and later, the likeliest first"""
    for name in ("python3", "python3.12", "python3.13", "python3.14"):
        yield shutil.which(name)
    yield from sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9]*/bin/python3")))


def new_enough(python):
    ask = "import sys, venv; print(sys.version_info >= (3, 12))"
    return python and subprocess.run([python, "-c", ask], capture_output=True, text=True).stdout.strip() == "True"


def has_package():
    ask = "import importlib.metadata as m; print(m.version('interbolt'))"
    p = subprocess.run([VENV / "bin/python", "-c", ask], capture_output=True, text=True) if (VENV / "bin/python").exists() else None
    return p is not None and p.stdout.strip() == PACKAGE.split("==")[1]


def install():
    """false when the comparison is skipped"""
    if has_package():
        return True
    python = next((p for p in pythons() if new_enough(p)), None)
    if not python:
        return skip("no Python 3.12 or later, which it needs")
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([python, "-m", "venv", VENV], capture_output=True, text=True)
    pip = [VENV / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
    got = subprocess.run(pip, capture_output=True, text=True, timeout=300) if made.returncode == 0 else made
    if got.returncode != 0 or not has_package():
        shutil.rmtree(VENV, ignore_errors=True)
        return skip(f"{PACKAGE} could not be installed: {(got.stderr.strip().splitlines() or ['no output'])[-1][:200]}")
    return True


class Oracle:
    def __init__(self):
        self.p = subprocess.Popen([VENV / "bin/python", HERE / "oracle.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, document, sessions):
        self.p.stdin.write(json.dumps({"document": document, "sessions": sessions}) + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())

    def close(self):
        self.p.stdin.close()
        self.p.wait(timeout=20)


# --- ours ---------------------------------------------------------------------------------------------------------------------------------
def ours(document, sessions, folder):
    path = os.path.join(folder, "policy.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(document)
    os.chmod(path, 0o600)
    p = subprocess.run([BIN, "validate", "--json", path], capture_output=True, text=True, timeout=60)
    if p.returncode not in (0, 1, 3):
        raise RuntimeError(f"validate exits with {p.returncode}: {p.stderr[:300]}")
    said = json.loads(p.stdout)
    if not said["valid"]:
        return {"loads": False, "error": said["error"]["message"], "at": (said["error"]["line"], said["error"]["col"])}
    lines = "".join(json.dumps(s) + "\n" for s in sessions)
    q = subprocess.run([BIN, "check", "--json", "--policy", path], input=lines, capture_output=True, text=True, timeout=60)
    if q.returncode not in (0, 1):
        raise RuntimeError(f"check exits with {q.returncode}: {q.stderr[:300]}")
    return {"loads": True, "fingerprint": said["interbolt"], "findings": [f["finding"] for f in said["findings"]],
            "warnings": [w["warning"] for w in said["warnings"]],
            "decisions": [[our_decision(d) for d in json.loads(line)["decisions"]] for line in q.stdout.splitlines()[:-1]]}


def our_decision(d):
    if d["layer"] == "fault" and d["reason"] == "condition-error":
        return {"outcome": "evaluation_error", "rule": None}
    return {"outcome": d["action"], "rule": d["reason"], "layer": d["layer"]}


# --- the difference ---------------------------------------------------------------------------------------------------------------------------
def is_word_of(mine, name):
    """whether a decision of ours names the rule so: as one word, by its number where no letter is left"""
    out = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-")
    return mine == out[:63] if out else re.fullmatch(r"rule-\d+", mine or "") is not None


def same_decision(a, b):
    """a is ours. Which rule allows is not said here"""
    if a["outcome"] != b["outcome"]:
        return False
    if a["outcome"] in ("allow", "evaluation_error"):
        return True
    return a["rule"] == "sink_action" if b["rule"] is None else is_word_of(a["rule"], b["rule"])


# What the package warns of, and our word for it.
WARNED = {"does not declare `capabilities:`": "capabilities-missing", "which no sink in the policy declares": "leg-undeclared",
          "references group": "group-undeclared", "compares t.source": "source-compared", "taint.all(": "all-of-none",
          r"uses run\.\w+\.all\(": "all-of-none", "agent identity alone": "agent-alone", "not verifiably boolean": "not-bool"}


def warned(messages):
    return {next((ours_ for theirs, ours_ in WARNED.items() if re.search(theirs if "\\" in theirs else re.escape(theirs), m)), m)
            for m in messages}


class Case:
    """one document with sessions: what differs, as (place, ours, theirs)"""

    def __init__(self, name, document, sessions, oracle, folder):
        self.name, self.document, self.sessions, self.oracle = name, document, sessions, oracle
        self.a, self.b = ours(document, sessions, folder), oracle.ask(document, sessions)
        self.differences = []

    def differ(self, place, ours_, theirs):
        self.differences.append((place, str(ours_), str(theirs)))

    def compare(self):
        a, b = self.a, self.b
        if not a["loads"] or not b["loads"]:
            if a["loads"] != b["loads"]:
                self.differ("load", a.get("error") or "loads", b.get("error") or "loads" + "".join(f"; {e}" for e in b["errors"]))
            elif not a["at"][0]:
                self.differ("position", a["error"], "")
            return self
        if a["fingerprint"] != b["fingerprint"]:
            self.differ("fingerprint", a["fingerprint"], b["fingerprint"])
        if b["errors"] and not a["findings"]:
            self.differ("errors", "", b["errors"])
        for kind in sorted(warned(b["warnings"]) - set(a["warnings"]) - set(a["findings"])):
            self.differ("warning", "", kind)
        for kind in sorted(set(a["warnings"]) - warned(b["warnings"])):
            self.differ("warning", kind, "")
        for i, session in enumerate(self.sessions):
            self.compare_session(session, a["decisions"][i], b["decisions"][i])
        return self

    def compare_session(self, session, mine, theirs):
        if all(same_decision(x, y) for x, y in zip(mine, theirs)):
            return
        corrected = [self.without_denied(session, mine, i) for i in range(len(mine))]
        if all(same_decision(x, y) for x, y in zip(mine, corrected)):
            self.differ("denied-legs", "", "")
            return
        for i, (x, y) in enumerate(zip(mine, corrected)):
            if not same_decision(x, y):
                self.differ("decision", f"{x['outcome']} {x['rule']}", f"{y['outcome']} {y['rule']} {y.get('why', '')}"
                            f" mode={self.mode()} {json.dumps(session['steps'][i])}")

    def mode(self):
        found = re.search(r"fail_mode\W+(\w+)", self.document)
        return found.group(1) if found else "null"

    def without_denied(self, session, mine, i):
        """what the package says of step i when what we did not allow before had not been called"""
        steps = [dict(s, silent=mine[k]["outcome"] != "allow") for k, s in enumerate(session["steps"][:i])] + [session["steps"][i]]
        return self.oracle.ask(self.document, [dict(session, steps=steps)])["decisions"][0][i]


def explains(row, name, place, mine, theirs):
    """a row may be about some cases by hand only"""
    return (row["at"] == place and re.search(row["ours"], mine, re.S) and re.search(row["theirs"], theirs, re.S)
            and re.search(row.get("case", ""), name))


def judge(case, rows):
    """each difference is an example of a row, or fails"""
    for place, mine, theirs in case.differences:
        row = next((r for r in rows if explains(r, case.name, place, mine, theirs)), None)
        if row is None:
            report(case.name, f"{place}: ours: {mine[:200]} | theirs: {theirs[:400]}\n    {case.document[:3000]}")
            return
        with lock:
            seen[row["id"]] += 1
    report(case.name)


# --- the cases ---------------------------------------------------------------------------------------------------------------------------------
def by_hand():
    for c in json.loads((HERE / "cases.json").read_text()):
        doc = c["document"] if isinstance(c["document"], str) else json.dumps(c["document"])
        yield c["name"], doc, [{"agent": "ana", "steps": s} for s in c.get("sessions", [])], c.get("expect")


def check_expected(name, a, expect):
    """what a case by hand says of ours, so that two that are wrong alike are found, and with no package at hand"""
    got = [d["outcome"] for s in a.get("decisions", []) for d in s] if a["loads"] else a["error"]
    good = got == expect if isinstance(expect, list) else (not a["loads"] and expect in got)
    report(f"{name}: as written down", None if good else f"{got}, not {expect}")


def expected():
    with tempfile.TemporaryDirectory() as folder:
        for name, document, sessions, expect in by_hand():
            if expect is not None:
                check_expected(name, ours(document, sessions, folder), expect)
        name, document, sessions, expect = next(c for c in by_hand() if isinstance(c[3], list))
        a = ours(document, sessions, folder)
        a["decisions"][0][0]["outcome"] = "block" if expect[0] == "allow" else "allow"
        got = [d["outcome"] for s in a["decisions"] for d in s]
        report("control: a decision that is not what was written down", "is one" if got == expect else None)


def not_shown(page):
    """(weakness, what is wrong) of the page's table: what shows a row must be there, a test's file and function, a case, a suite"""
    rows = dict(re.findall(r"^\| (W-\d+) \|.*\|([^|]*)\|$", page, re.M))
    names = [c["name"] for c in json.loads((HERE / "cases.json").read_text())]
    for row in sorted(set(rows) ^ {f"W-{i}" for i in range(1, 42)}):
        yield row, "has no row, or is no weakness"
    for row, cell in rows.items():
        wrong = [] if re.search(r"test|interbolt|fuzz", cell) else ["nothing shows it"]
        for word, functions in re.findall(r"\b(test_\w+)(?: \(((?:`\w+`(?:, )?)+)\))?", cell):
            source = ROOT / "tests/unit" / f"{word}.c"
            text = source.read_text() if source.exists() else ""
            wrong += [] if text or f"`{word}`" in cell else [f"no {source.name}"]
            wrong += [f"no {f} in {source.name}" for f in re.findall(r"`(\w+)`", functions) if f"static void {f}(" not in text]
        wrong += [f"no tests/{suite}" for suite in re.findall(r"\btests/(\w+)", cell) if not (ROOT / "tests" / suite).is_dir()]
        wrong += [f"no case {c}" for c in re.findall(r"^ *interbolt `(W-\d+)`", cell) if not any(n.startswith(c + ":") for n in names)]
        if wrong:
            yield row, "; ".join(wrong)


def shown():
    page = (ROOT / "docs/from-interbolt.md").read_text()
    problems = list(not_shown(page))
    report("what shows each of the 41 weaknesses is there", "; ".join(f"{row}: {wrong}" for row, wrong in problems) or None)
    for what, old, new in (("function", "`test_empty_lineage`", "`test_no_lineage`"), ("file", "test_monitor_race", "test_monitor_rac"),
                           ("case", "interbolt `W-6`", "interbolt `W-7`"), ("row", "| W-41 |", "| W-42 |")):
        found = list(not_shown(page.replace(old, new, 1)))
        report(f"control: a {what} that is not there", None if len(found) > len(problems) else "nothing was found")


def gateway():
    p = subprocess.run([sys.executable, HERE / "gateway.py", BIN], capture_output=True, text=True, timeout=200)
    report("a gateway with a document of Interbolt", None if p.returncode == 0 else p.stderr[-600:])


def work(share, until, rows):
    oracle = Oracle()
    calls = documents = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, document, sessions in share:
            if time.monotonic() > until:
                break
            case = Case(name, document, sessions, oracle, folder)
            judge(case.compare(), rows)
            documents += 1
            calls += sum(len(d) for d in case.a.get("decisions", []))
    oracle.close()
    return documents, calls


def controls(rows):
    """a difference that no row has must fail"""
    global failed
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle()
        doc = json.dumps({"version": "2.0", "defaults": {"sink_action": "allow"}, "sinks": {"a.b": {"rules": [{"name": "x", "action": "block"}]}}})
        for what, change in {"a decision": lambda c: c.a["decisions"][0][0].update(outcome="allow"),
                             "a fingerprint": lambda c: c.a.update(fingerprint="sha256:0"),
                             "a refusal": lambda c: c.a.update(loads=False, error="no", at=(1, 1)),
                             "a warning": lambda c: c.b["warnings"].append("warning: references group")}.items():
            case = Case("control", doc, [{"agent": "ana", "steps": [{"tool": "a.b", "args": {}}]}], oracle, folder)
            change(case)
            case.compare()
            known = all(any(explains(r, "control", p, m, t) for r in rows) for p, m, t in case.differences)
            report(f"control: {what} that differs is found", "nothing was found" if known else None)
        oracle.close()


def compare(seed, count, seconds):
    rows = json.loads((HERE / "deviations.json").read_text())
    page = (ROOT / "docs/from-interbolt.md").read_text()
    for row in rows:
        report(f"deviation {row['id']} is in the docs", None if f"| `{row['id']}`" in page or f", `{row['id']}` |" in page else "docs/from-interbolt.md has no row for it")
    controls(rows)
    cases = [(name, document, sessions) for name, document, sessions, _ in by_hand()]
    cases += [(f"seed {seed} document {n}", *generate.document_and_sessions(seed, n)) for n in range(count)]
    until = time.monotonic() + seconds
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        done = list(pool.map(lambda k: work(cases[k::WORKERS], until, rows), range(WORKERS)))
    print(f"seed {seed}: {sum(d for d, _ in done)} of {len(cases)} documents, {sum(c for _, c in done)} calls; deviations seen: " +
          ", ".join(f"{k} {n}" for k, n in sorted(seen.items())))
    for row in rows:
        if not seen[row["id"]]:
            print(f"never seen: deviation {row['id']}")


def main():
    said = dict(zip(sys.argv[1:], sys.argv[2:]))
    seed = said.get("--seed", SEED)
    seed = int(time.time()) if seed == "random" else int(seed)
    count = int(said.get("--documents", DOCUMENTS))
    expected()
    shown()
    gateway()
    if install():
        compare(seed, count, SECONDS if len(sys.argv) < 3 else float("inf"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
