#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call costs in a Python process: `python.py interlock.interbolt|interbolt ROUNDS` decides the same call with 1 KB of arguments by the same five rules, each round by turns with what is compared.

Prints `name value unit` lines: check, digest (of the same arguments, beside each check; ours only), guard (what it adds to the bare call), concat and splitlines of values with labels. A call that is not allowed, or a deny that is not one, gives no figure."""
import importlib
import logging
import sys
import tempfile
import time

logging.disable(logging.CRITICAL)
ib = importlib.import_module(sys.argv[1])
ROUNDS = int(sys.argv[2])

POLICY = """
version: "2.0"
defaults: { sink_action: block }
sources: [{ name: crm, trust: trusted }, { name: inbox, trust: untrusted }]
agents: { ana: { groups: [finance] } }
sinks:
  mail.send:
    capabilities: [reaches_external]
    rules:
      - { name: foreign, when: 'max_trust == "untrusted" && has(args.to) && !args.to.endsWith("@corp.example")', action: block }
      - { name: inbox, when: 'taint.exists(t, t.lineage.exists(s, s == "inbox"))', action: block }
      - { name: three, when: 'size(run.trifecta) >= 3', action: require_approval }
      - { name: large, when: 'args.amount > 10000.0', action: require_approval }
      - { name: finance, when: 'agent.groups.exists(g, g == "finance")', action: allow }
"""
ARGS = {"to": "bo@corp.example", "amount": 12.5, "subject": "minutes of the meeting", "body": "The minutes of the meeting. " * 30, "tags": ["a", "b", "c"], "more": {"id": 4711, "note": "as agreed"}}


def policy():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(POLICY)
        f.flush()
        return ib.Policy.from_file(f.name)


def median(call, n):
    took = []
    for _ in range(n):
        before = time.perf_counter_ns()
        call()
        took.append(time.perf_counter_ns() - before)
    took.sort()
    return took[n // 2] / 1000


def digest_alone():
    """What the digest of the arguments takes of a check: that of a hundred more of the same document. None for a package that makes none."""
    try:
        from interlock import _core
    except ImportError:
        return None
    text = _core.json(ARGS)
    return lambda n: (median(lambda: _core.digest(text, 101), n) - median(lambda: _core.digest(text, 1), n)) / 100


def main():
    runtime = ib.configure(policy=policy(), reporter=ib.NullReporter())

    def bare(to, amount, subject, body, tags, more):
        return None

    guarded = ib.guard(tool="mail.send")(bare)
    with runtime.agent_context_sync("ana"):
        def check():
            return runtime.check(tool="mail.send", args=args, agent_id="ana")

        args = {**ARGS, "body": ib.taint(ARGS["body"], source="crm")}
        if check().matched_rule != "finance" or runtime.check(tool="mail.send", args={**ARGS, "x": ib.taint("x", source="inbox")}, agent_id="ana").matched_rule != "inbox":
            sys.exit("it decides otherwise")
    best, digest = {}, digest_alone()
    for _ in range(5):
        with runtime.agent_context_sync("ana"):
            args = {**ARGS, "body": ib.taint(ARGS["body"], source="crm")}
            t, u = ib.taint("some text of a page", source="crm"), ib.taint(" and of another", source="inbox")
            lines = ib.taint("\n".join(f"line {i} of a page" for i in range(5000)), source="crm")
            round_ = {"check": median(check, ROUNDS), "guard": median(lambda: guarded(**args), ROUNDS) - median(lambda: bare(**args), ROUNDS),
                      "concat": median(lambda: [t + u for _ in range(100)], max(9, ROUNDS // 20)) / 100, "splitlines": median(lines.splitlines, 9) / 1000}
            if digest is not None:
                round_["digest"] = digest(max(9, ROUNDS // 20))
            best = {name: min(value, best.get(name, value)) for name, value in round_.items()}
    for name, value in best.items():
        print(name, round(value, 4), "ms" if name == "splitlines" else "us")


if __name__ == "__main__":
    main()
