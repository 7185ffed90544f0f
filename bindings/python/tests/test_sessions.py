# SPDX-License-Identifier: Apache-2.0
"""The same session files decide alike in process and through `interlock check`."""

import json
import os
import pathlib
import subprocess
import unittest

from interlock import Gate, InterlockError

ROOT = pathlib.Path(__file__).resolve().parents[3]
INTERLOCK = os.environ.get("INTERLOCK")
EFFECTS = ("untrusted", "sensitive", "secret", "egress", "commit")


def bare(result):
    """As the session format says: a text that is itself JSON is read as JSON."""
    if isinstance(result, str):
        try:
            return json.loads(result)
        except ValueError:
            return result
    return result


def step(gate, number, step):
    """One step of a session file, and its decision in the words of `check --json`."""
    args = step.get("args") or {}
    d = gate.decide(step["tool"], args, unjoined=True)
    if d.action == "require_approval" and d.approval and step.get("approved"):
        gate.approve(d.approval, "session file")
        d = gate.decide(step["tool"], args, unjoined=True)
    try:
        if d.run and step.get("error") is not None:
            error = step["error"]
            gate.settle(d, error=error if isinstance(error, str) else json.dumps(error), args=args)
        elif d.run and step.get("result") is not None:
            gate.settle(d, bare(step["result"]), args=args)
        elif d.run:
            gate.settle(d, None, args=args)
    except InterlockError:
        pass
    if d.action == "require_approval" and d.approval and not d.run:
        gate.refuse(d.approval, "session file")
    effects = [name for i, name in enumerate(EFFECTS) if d.effects >> i & 1]
    return {"step": number, "tool": step["tool"], "effects": effects, "action": d.action, "layer": d.layer, "reason": d.reason or None}


def play(policy, sessions):
    """What `check --json` says of the sessions of one file."""
    gates, out = {}, []
    with Gate(policy) as first:
        for number, session in enumerate(sessions, 1):
            name = str(session.get("id", number))
            parent = gates.get(str(session.get("parent")))
            prompt = session.get("prompt")
            if parent is not None:
                gate = parent.child(name)
                if prompt:
                    gate.notice(prompt, source="parent", kind="task")
            else:
                gate = first.session(name, principal=session.get("agent") or "")
                if prompt:
                    gate.user_prompt(prompt)
            gates[name] = gate
            out.append({"id": session.get("id", number), "decisions": [step(gate, i + 1, s) for i, s in enumerate(session["steps"])]})
    return out


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
