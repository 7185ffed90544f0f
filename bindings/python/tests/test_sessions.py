# SPDX-License-Identifier: Apache-2.0
"""The same session files decide alike in process and through `interlock check`."""

import json
import os
import pathlib
import subprocess
import unittest

from interlock.testing import replay

ROOT = pathlib.Path(__file__).resolve().parents[3]
INTERLOCK = os.environ.get("INTERLOCK")


def play(policy, sessions):
    """What `check --json` says of the sessions of one file."""
    return [session.as_json() for session in replay(policy, sessions)]


class SessionFiles(unittest.TestCase):
    maxDiff = None

    def test_scenarios(self):
        ran = 0
        for case in sorted((ROOT / "tests/scenarios").iterdir()):
            if not (case / "expect.ndjson").is_file():
                continue
            with self.subTest(case=case.name):
                sessions = [json.loads(line) for line in (case / "sessions.ndjson").read_text().splitlines()]
                expect = [json.loads(line) for line in (case / "expect.ndjson").read_text().splitlines()]
                got = play(case / "policy.yaml", sessions)
                self.assertEqual(got, [{k: s[k] for k in ("id", "decisions")} for s in expect])
                ran += 1
        self.assertGreater(ran, 20)

    @unittest.skipUnless(INTERLOCK and (ROOT.parent / "shared/data/agentdojo").is_dir(), "needs the program and the data")
    def test_agentdojo(self):
        data = ROOT.parent / "shared/data/agentdojo"
        for suite in ("banking", "workspace"):
            policy = ROOT / f"examples/agentdojo/strict-{suite}.yaml"
            for file in ("benign", f"attacked-{suite}"):
                lines = [line for line in (data / f"{file}.ndjson").read_text().splitlines() if json.loads(line).get("suite", suite) == suite]
                check = subprocess.run([INTERLOCK, "check", "--policy", policy, "--json"], input="\n".join(lines), capture_output=True, text=True, check=False)
                self.assertIn(check.returncode, (0, 1), check.stderr)
                expect = [s for s in map(json.loads, check.stdout.splitlines()) if "decisions" in s]
                got = play(policy, [json.loads(line) for line in lines])
                self.assertGreater(len(got), 10)
                self.assertEqual(len(got), len(expect))
                for a, b in zip(got, expect):
                    self.assertEqual(a["decisions"], b["decisions"], a["id"])


if __name__ == "__main__":
    unittest.main()
