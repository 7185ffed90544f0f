#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bounds: whatever a cap on states, bytes or time cuts short is exit code 2 and never PASS, for every check of every command that explores. A line may
say PASS below a bound only when it was not cut and the unbounded run needed no more states than the bound. BUILD names the build folder."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INTERLOCK = ROOT / os.environ.get("BUILD", "build") / "interlock"
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()
SHIPPED = ("trifecta", "standard", "secret-custody", "capability-broker")
STATES = 10
passed = failed = 0


def check(name, problem=None):
    global passed, failed
    passed, failed = passed + (not problem), failed + bool(problem)
    print(f"ok: {name}" if not problem else f"FAILED: {name}\n    {problem}", flush=True)


def run(*arguments):
    p = subprocess.run([INTERLOCK, *arguments, "--json"], capture_output=True, text=True, timeout=600, check=False)
    return p.returncode, json.loads(p.stdout) if p.stdout else None, p.stderr.strip()


def large():
    """The shipped machine beside eight counters that nobody bounds together, with something sticky: far beyond every bound below."""
    text = TRIFECTA
    for old, new in (("  phase: [live, quarantined, ended]\n",
                      "  phase: [live, quarantined, ended]\n  seen: {type: bool, sticky: true}\n" +
                      "".join(f"  n{i}: {{int: 0..9, overflow: reject}}\n" for i in range(8))),
                     ("\n  request:\n", "\n  look: {principal: env, gate: true, next: {seen: \"true\"}}\n" +
                      "".join(f"  count{i}: {{principal: env, gate: true, next: {{n{i}: \"pre.n{i} < 9 ? pre.n{i} + 1 : 0\"}}}}\n" for i in range(8)) +
                      "\n  request:\n")):
        if text.count(old) != 1:
            sys.exit(f"machines/trifecta.yaml has `{old.strip()}` {text.count(old)} times; adapt this test")
        text = text.replace(old, new)
    return text


def clean(report, whole, most):
    """Lines that say PASS and may not."""
    sizes = {(c["id"], c["region"]): c["states"] for c in (whole or report)["checks"]}
    return [f"{c['id']} {c['region'] or '-'} {c['states']}" for c in report["checks"]
            if c["verdict"] == "PASS" and (c["bound_hit"] or sizes[c["id"], c["region"]] > most)]


def bounded(name, whole, most, *arguments):
    """One run below a bound; the ids of its lines that say so."""
    code, report, err = run(*arguments)
    if report is None:
        check(name, f"exit {code}: {err}")
        return set()
    bad = clean(report, whole, most)
    check(name, f"exit {code}, not 2" if code != 2 else f"`fully_mediated`" if report.get("fully_mediated") else
          "PASS: " + ", ".join(bad) if bad else None)
    return {c["id"] for c in report["checks"] if c["verdict"] in ("INCONCLUSIVE", "VACUOUS") and c["bound_hit"]}


def cut_by_work(path):
    """A count and no clock: twice the same bytes, on several threads too, at a bound that falls into the middle of a layer; and it says which one it was."""
    reports = [subprocess.run([INTERLOCK, "harden", path, "--max-work", "3000000", "--json", *more], capture_output=True, timeout=600, check=False)
               for more in ((), (), ("--workers", "3"))]
    check("work ends at the same step every time", None if {p.returncode for p in reports} == {2} and len({p.stdout for p in reports}) == 1 else
          f"exit {[p.returncode for p in reports]}, {len({p.stdout for p in reports})} different reports")
    for value in ("0", "x", "-1"):
        code, report, err = run("harden", path, "--max-work", value)
        check(f"--max-work {value}", None if code == 3 and not report and "max-work" in err else f"exit {code} {err}")
    text = subprocess.run([INTERLOCK, "harden", path, "--max-work", "100000"], capture_output=True, text=True, timeout=600, check=False).stdout
    check("the text names the bound", None if "the bound on work was reached" in text else text[-300:])
    text = subprocess.run([INTERLOCK, "harden", path, "--max-states", "1000"], capture_output=True, text=True, timeout=600, check=False).stdout
    check("and only where it was that", None if "the bound on work" not in text else text[-300:])
    enough = run("harden", "trifecta", "--max-work", str(1 << 25))[0]
    check("2^25 is enough for a shipped machine", None if enough == 0 else f"exit {enough}")


STICKY = ROOT / "tests/machines/cases/sticky-lowered-2.yaml"


def states_that_no_session_reaches():
    """What is asked of all states, and a bound makes smaller: the mistake is in a state that no session comes to, and is missed by nothing that passes."""
    for bound, scope in (((), "product"), (("--max-states", "20"), "reachable")):
        text = subprocess.run([INTERLOCK, "harden", STICKY, *bound], capture_output=True, text=True, timeout=600, check=False).stdout
        line = [at for at in text.splitlines() if at.startswith("recovery: ")]
        check(f"the line on recovery says its scope, {scope}", None if len(line) == 1 and f"(scope: {scope}" in line[0] else line)
    for states in ("5", "20"):
        code, report, err = run("harden", str(STICKY), "--max-states", states)
        lines = {c["id"]: c["verdict"] for c in report["checks"] if c["id"] in ("recovery", "sticky")} if report else {}
        check(f"recovery and sticky, --max-states {states}", None if code == 1 and lines == {"recovery": "INCONCLUSIVE", "sticky": "FAIL"} else f"exit {code} {err} {lines}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.yaml"
        text = STICKY.read_text()
        wide = text.replace("\nactions:\n", "\n" + "".join(f"  n{i}: {{int: 0..255, overflow: reject}}\n" for i in range(4)) + "actions:\n", 1)
        path.write_text(wide)
        code, report, err = run("harden", str(path), "--max-work", "100000")
        verdict = [c["verdict"] for c in report["checks"] if c["id"] == "sticky"] if report else []
        check("sticky of 2^36 states is asked by what corrections read", None if verdict == ["FAIL"] else f"exit {code} {err} {verdict}")
        path.write_text(wide.replace("mark: \"pre.mark == 'high' ? 'low' : pre.mark\"", "mark: \"pre.n0 + pre.n1 + pre.n2 + pre.n3 > 1019 && pre.mark == 'high' ? 'low' : pre.mark\""))
        code, report, err = run("harden", str(path), "--max-work", "100000")
        verdict = [c["verdict"] for c in report["checks"] if c["id"] == "sticky"] if report else []
        check("and left open where they read too much", None if code == 2 and verdict == ["INCONCLUSIVE"] else f"exit {code} {err} {verdict}")


def naming_is_advice():
    """A program that proves a machine as it starts names no variables; where naming alone is cut, harden must say so and judge as that does."""
    for bound in ((), ("--max-states", "3000")):
        code, report, err = run("harden", "capability-broker", *bound)
        lines = [c for c in report["checks"] if c["id"].startswith("havoc")] if report else []
        good = lines and all(c["verdict"] == "PASS" and not c["bound_hit"] and c["names_cut"] == bool(bound) for c in lines)
        check(f"naming that is cut changes no verdict, {' '.join(bound) or 'no bound'}", None if good else f"exit {code} {err} {lines[:1]}")
    text = subprocess.run([INTERLOCK, "harden", "capability-broker", "--max-states", "3000"], capture_output=True, text=True, timeout=600, check=False).stdout
    check("and its section says so", None if text.count("not all sets were looked for, a bound was reached") == len(lines) else text[-300:])


def time_is_asked_behind_explorations():
    """Few states in reach, many that danger could begin in: nearly all the time goes by in the graphs of recovery, and not in an exploration."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "few.yaml"
        text = (ROOT / "tests/machines/smallest.yaml").read_text()
        counts = ", ".join(f'n{i}: "pre.n{i} < 15 ? pre.n{i} + 1 : 0"' for i in range(4))
        wide = "".join(f"  n{i}: {{int: 0..15, overflow: reject}}\n" for i in range(4)) + "  still: {int: 0..4, overflow: reject}\n"
        path.write_text(text.replace("\nactions:\n", f"\n{wide}actions:\n", 1).
                        replace("\n  quarantine:\n", f"\n  tick: {{principal: runtime, corrective: true, next: {{{counts}}}}}\n  quarantine:\n", 1))
        begun = time.monotonic()
        code, report, err = run("harden", str(path), "--max-seconds", "1", "--mutants", "1")
        took = time.monotonic() - begun
        line = [c for c in report["checks"] if c["id"] == "recovery"] if report else []
        good = code == 2 and line and line[0]["bound_hit"] and line[0]["verdict"] != "PASS"
        check("recovery of 15,728,640 states ends at a bound on time", None if good else f"exit {code} {err} {line} {took:.1f} s")
        p = subprocess.run([INTERLOCK, "machine", "show", str(path), "--json"], capture_output=True, timeout=600, check=False)
        check("machine show of few states is not bounded", None if p.returncode == 0 and not json.loads(p.stdout)["bounded"] else p.stderr)
        path.write_text(large())
        p = subprocess.run([INTERLOCK, "machine", "show", str(path), "--json"], capture_output=True, timeout=600, check=False)
        shown = json.loads(p.stdout) if p.returncode == 0 else {}
        check("machine show of very many ends by itself", None if shown.get("bounded") and shown["states"] <= 1 << 20 else p.stderr)


WORDLESS = """
machine: wordless
version: 1
vars: {step: {int: 0..9, overflow: reject}, spoiled: {type: bool, taint: source}, used: bool}
actions:
  walk: {principal: agent, gate: true, next: {step: "pre.step + 1"}, reject: [{as: end, if: "pre.step == 9"}]}
  spoil: {principal: agent, gate: true, next: {spoiled: "true"}, reject: [{as: early, if: "pre.step < 8"}, {as: spent, if: "pre.used"}]}
  use: {principal: agent, gate: true, next: {used: "true"}, reject: [{as: spent, if: "pre.spoiled"}]}
regions: {spent: {never: "pre.spoiled && pre.used"}}
contract: {rules: [end, early, spent]}
"""


def what_lies_behind_a_bound_is_not_denied():
    """A taint that no payload speaks of is raised far from the first state: below a bound nobody knows that no step raises it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wordless.yaml"
        path.write_text(WORDLESS)
        for bound, verdict in (((), ("PASS", None)), (("--max-states", "5"), ("INCONCLUSIVE", None)), (("--max-work", "9"), ("INCONCLUSIVE", None))):
            code, report, err = run("harden", str(path), *bound)
            lines = {(c["verdict"], c["finding"]) for c in report["checks"] if c["id"] == "laundering"} if report else err
            check(f"laundering of a wordless taint, {' '.join(bound) or 'no bound'}", None if lines == {verdict} else f"exit {code} {lines}")


DEEP = """
machine: deep
version: 1
vars: {open: bool, weak: bool, count: {int: 0..200, overflow: reject}}
actions:
  approve: {principal: human, gate: true, next: {count: "pre.count == 0 ? 1 : pre.count", open: "true"}}
  count: {principal: agent, gate: true, next: {count: "pre.count + 1"}, reject: [{as: not-yet, if: "pre.count == 0 || pre.count == 200"}]}
  drift: {principal: env, next: {weak: "pre.count == 200 || pre.weak"}} # 200 steps behind the gate; who writes it at any time needs no gate
  sneak: {principal: agent, gate: true, next: {open: "true"}, reject: [{as: shut, if: "!pre.weak"}]}
regions: {shut: {gated: "pre.open", by: [approve]}, early: {never: "pre.open && pre.weak && pre.count == 0"}}
contract: {rules: [not-yet, shut]}
"""


def what_was_not_looked_at():
    """A line that a bound cuts short says so, and gives no other reason for it: of a gate that nobody came to ask about not that it is idle."""
    with tempfile.TemporaryDirectory() as folder:
        deep = Path(folder) / "deep.yaml"
        deep.write_text(DEEP)
        for m, bounds in (("trifecta", [("--max-work", str(n)) for n in (1, 30000, 100000, 300000, 1000000, 3000000)]),
                          (str(deep), [("--max-states", "100"), ("--max-states", "201"), ("--max-work", "1000")])):
            whole = {(c["id"], c["region"]): c for c in run("harden", m, "--mutants", "1")[1]["checks"]}
            cut = 0
            for bound in bounds:
                code, report, err = run("harden", m, "--mutants", "1", *bound)
                lines = [c for c in report["checks"] if c["id"] != "mutation"] if report else []
                cut += sum(c["bound_hit"] for c in lines)
                other = [f"{c['id']} {c['verdict']} {c['finding']} {c['detail']}" for c in lines if not (c["verdict"] == "INCONCLUSIVE" and c["bound_hit"])
                         and c["verdict"] != whole.get((c["id"], c["region"]), {}).get("verdict")]
                check(f"what was not looked at, {Path(m).stem} {' '.join(bound)}", None if lines and not other else f"exit {code} {err} {other}")
            check(f"some of it was, {Path(m).stem}", None if cut else "no line was cut")


def documented():
    table = re.search(r"\n\| check \| question \| explores \|\n(.*?)\n\n", (ROOT / "docs/harden.md").read_text(), re.S).group(1)
    return set(re.findall(r"^\| `([a-z-]+)` \|", table, re.M))


def main():
    cut = set()
    for m in SHIPPED:
        whole = run("harden", m)[1]
        cut |= bounded(f"harden {m}, {STATES} states", whole, STATES, "harden", m, "--max-states", str(STATES))
        code, report, err = run("diagnose", m, "--max-states", str(STATES))
        verdicts = {c["verdict"] for c in report["checks"]} if report else {err}
        check(f"diagnose {m}, {STATES} states", None if code == 2 and verdicts == {"INCONCLUSIVE"} else f"exit {code}, {verdicts}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.yaml"
        path.write_text(large())
        for bound in (("--max-states", "1000"), ("--max-bytes", "64k"), ("--max-work", "100000"), ("--max-seconds", "1")):
            words = " ".join(bound)
            cut |= bounded(f"harden a large machine, {words}", None, 10, "harden", str(path), *bound)
            code, report, err = run("diagnose", str(path), *bound)
            good = code == 2 and report and not any(c["verdict"] == "PASS" for c in report["checks"])
            check(f"diagnose a large machine, {words}", None if good else f"exit {code} {err}")
        cut_by_work(str(path))
        code, report, err = run("harden", str(path), "--max-states", "1000", "--allow-bounded")
        check("allowed, a bound is 0 and the word is BOUNDED and not mediated", None if report and not report["fully_mediated"] and
              (code, report["verdict"]) == (0, "BOUNDED") else f"exit {code} {report and report['verdict']}")
        old = Path(folder) / "old.yaml"
        old.write_text(large().replace("version: 1", "version: 1 # old", 1))
        code, report, err = run("harden", str(path), "--max-states", "1000", "--against", str(old))
        section = report["against"] if report else None
        good = code == 2 and section and "PASS" not in json.dumps(section["checks"])
        check("harden --against a large machine, --max-states 1000", None if good else f"exit {code} {err} {json.dumps(section)[:300]}")
        fleet = (ROOT / "examples/machines/one-out.yaml").read_text()
        together = Path(folder) / "fleet.yaml"
        together.write_text(fleet)
        for bound in (("--max-states", "200"), ("--max-bytes", "64k"), ("--max-work", "1000")):
            code, report, err = run("harden", str(together), *bound)
            lines = report["fleet"]["checks"] if report else []
            check(f"a fleet, {' '.join(bound)}", None if code == 2 and lines and all(c["verdict"] == "INCONCLUSIVE" for c in lines)
                  else f"exit {code} {err} {[c['verdict'] for c in lines]}")
    states_that_no_session_reaches()
    naming_is_advice()
    what_lies_behind_a_bound_is_not_denied()
    time_is_asked_behind_explorations()
    what_was_not_looked_at()
    missing = documented() - cut
    check("each check of docs/harden.md was cut short once and said so", ", ".join(sorted(missing)) if missing else None)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
