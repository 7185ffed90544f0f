#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every scenario through `interlock check --json` and compares each decision.

Usage: run.py BUILD/interlock. Ends with `N passed, N failed, N skipped`."""
import json
import pathlib
import subprocess
import sys


def decide(interlock, case):
    """The session objects that the command prints, and its exit code."""
    done = subprocess.run(
        [interlock, "check", "--policy", "policy.yaml", "--json", "sessions.ndjson"],
        cwd=case, capture_output=True, text=True, timeout=600, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if "decisions" in line], done.returncode, done.stderr


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
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
