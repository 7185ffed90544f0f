#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every scenario through `interlock check --json` and compares each decision; then each attack again in every way of mutate.py, which must be stopped as well.

Usage: run.py BUILD/interlock. Ends with `N passed, N failed, N skipped`."""
import json
import pathlib
import subprocess
import sys

from mutate import mutants


def decide(interlock, case):
    """The session objects that the command prints, and its exit code."""
    done = subprocess.run(
        [interlock, "check", "--policy", "policy.yaml", "--json", "sessions.ndjson"],
        cwd=case, capture_output=True, text=True, timeout=600, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if "decisions" in line], done.returncode, done.stderr


def attack(interlock, case, sessions, session, decisions):
    """Every mutant of one session that was stopped: those that run to their end, and how many there were. A line that is refused as a whole did not run."""
    marked = next(i for i, d in enumerate(decisions) if d["action"] != "allow")
    lines, last = [s for s in sessions if s["id"] == session.get("parent")], []
    for mutant in mutants(session, marked):
        lines += mutant
        last.append(mutant[-1]["id"])
    done = subprocess.run([interlock, "check", "--policy", "policy.yaml", "--json"], cwd=case, capture_output=True, text=True, timeout=120, check=False,
                          input="".join(json.dumps(line) + "\n" for line in lines))
    if done.returncode not in (0, 1):
        return [done.stderr.strip()], len(last)
    got = {line["id"]: line["decisions"] for line in map(json.loads, done.stdout.splitlines()) if "decisions" in line}
    return [name for name in last if all(d["action"] == "allow" for d in got.get(name, []))], len(last)


def main():
    interlock = str(pathlib.Path(sys.argv[1]).resolve())
    passed = failed = 0
    for case in sorted(p for p in pathlib.Path(__file__).parent.iterdir() if (p / "expect.ndjson").is_file()):
        expect = [json.loads(line) for line in (case / "expect.ndjson").read_text().splitlines()]
        denied = any(d["action"] != "allow" for s in expect for d in s["decisions"])
        try:
            got, code, stderr = decide(interlock, case)
        except (ValueError, OSError, subprocess.SubprocessError) as why:
            got, code, stderr = None, None, str(why)
        if got == expect and code == (1 if denied else 0):
            passed += 1
            print(f"ok: {case.name}")
        else:
            failed += 1
            print(f"FAILED: {case.name}: exit {code}\n  expected {json.dumps(expect)}\n  got      {json.dumps(got)}\n  {stderr.strip()}")
        if case.name.startswith("A") and got == expect:
            sessions = [json.loads(line) for line in (case / "sessions.ndjson").read_text().splitlines()]
            ran, tried = [], 0
            for session, decided in zip(sessions, expect):
                if any(d["action"] != "allow" for d in decided["decisions"]):
                    some, n = attack(interlock, case, sessions, session, decided["decisions"])
                    ran, tried = ran + some, tried + n
            passed, failed = passed + (not ran), failed + bool(ran)
            print(f"{'FAIL' if ran else 'ok  '} {case.name}: {tried} ways to write it" + "".join(f"\n  runs: {name}" for name in ran[:40]))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
