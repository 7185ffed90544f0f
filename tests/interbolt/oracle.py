# SPDX-License-Identifier: Apache-2.0
"""What the published package `interbolt` says of documents and calls. Run by the Python that has it: a JSON object a line in, one out.

In: {"document": TEXT, "sessions": [{"agent", "steps": [{"tool", "args", "labels", "silent"}]}]}; a `silent` step takes its labelled values in and is not asked.
Out: {"loads": bool, "error": TEXT, "errors": [...], "warnings": [...], "fingerprint", "decisions": [[{"outcome", "rule", "run_trifecta"}]]}."""
import json
import logging
import os
import sys
import tempfile

import interbolt

logging.disable(logging.CRITICAL)


def at(root, path, value=None, write=False):
    """what stands at a JSON Pointer; or the value put there"""
    keys = [k.replace("~1", "/").replace("~0", "~") for k in path.split("/")[1:]]
    for key in keys[:-1]:
        root = root[int(key)] if isinstance(root, list) else root[key]
    last = int(keys[-1]) if isinstance(root, list) else keys[-1]
    if write:
        root[last] = value
    return root[last]


def names(v):
    return [v] if isinstance(v, str) else list(v or [])


def mark(value, label):
    """the value with the label: each source is taken in, then the value is made of all"""
    if isinstance(label, (str, list)):
        label = {"sources": label}
    sources = names(label.get("sources"))
    marked = interbolt.taint(value, source=sources[0])
    if len(sources) > 1:
        marked = interbolt.taint(value, source=sources[0], derived_from=[interbolt.taint("x", source=s) for s in sources])
    for kind in names(label.get("endorsed")):
        marked = interbolt.endorse(marked, kind=kind)
    return marked


def step(runtime, reporter, agent, s):
    args = json.loads(json.dumps(s.get("args", {})))
    for path, label in s.get("labels", {}).items():
        at(args, path, mark(at(args, path), label), write=True)
    if s.get("silent"):
        return None
    try:
        decision = runtime.check(tool=s["tool"], args=args, agent_id=agent)
    except interbolt.PolicyEvaluationError as e:
        decision = e.decision
    except interbolt.InterboltError as e:
        return {"outcome": "raised", "rule": None, "why": f"{type(e).__name__}: {e}"[:200], "run_trifecta": []}
    event = reporter.events[-1]
    return {"outcome": str(event.outcome.value), "rule": decision.matched_rule, "run_trifecta": sorted(decision.run_trifecta)}


def session(policy, s):
    reporter = interbolt.InMemoryReporter()
    runtime = interbolt.configure(policy=policy, reporter=reporter)
    with runtime.agent_context_sync(s["agent"]):
        return [step(runtime, reporter, s["agent"], one) for one in s["steps"]]


def answer(request, path):
    with open(path, "w", encoding="utf-8") as f:
        f.write(request["document"])
    out = {"loads": False, "error": "", "fingerprint": None, "decisions": []}
    said = interbolt.Policy.validate(path)
    out["warnings"] = [m for m in said if m.startswith("warning:")]
    out["errors"] = [m for m in said if not m.startswith("warning:")]
    try:
        policy = interbolt.Policy.from_file(path)
    except Exception as e:  # whatever it lets out is a refusal
        out["error"] = f"{type(e).__name__}: {e}"[:500]
        return out
    out["loads"] = True
    out["fingerprint"] = policy.fingerprint
    out["decisions"] = [session(policy, s) for s in request.get("sessions", [])]
    return out


def main():
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), os.path.join(folder, "policy.yaml"))), flush=True)


if __name__ == "__main__":
    main()
