# SPDX-License-Identifier: Apache-2.0
"""Interbolt's API on the C core: what a program asks of it, and what it must survive. tests/python/programs.py compares with the published package."""

import asyncio
import base64
import collections
import concurrent.futures
import contextlib
import contextvars
import dataclasses
import functools
import gc
import json
import logging
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import types
import unittest

from interlock import InterlockError, _core, interbolt
from interlock.carrier import Carrier, Label, LabeledValue, TaintedList, label_of
from interlock.interbolt import (
    ApprovalDenied,
    InMemoryReporter,
    InterboltConfigError,
    InterboltUsageError,
    Policy,
    PolicyEvaluationError,
    PolicyViolation,
    configure,
    endorse,
    guard,
    taint,
    track_model_call,
)

MANY = 20 if os.environ.get("IL_TEST_THOROUGH") else 1  # then a million checks, and as many guarded calls
POLICY = {
    "version": "2.0",
    "defaults": {"sink_action": "block"},
    "sources": [{"name": "crm", "trust": "trusted"}, {"name": "web", "trust": "untrusted"}],
    "agents": {"ana": {"groups": ["staff"]}},
    "sinks": {
        "default.note": {"capabilities": [], "rules": [{"name": "fine", "action": "allow"}]},
        "default.read": {"capabilities": ["reads_private"], "rules": [{"name": "fine", "action": "allow"}]},
        "default.fetch": {"capabilities": [], "produces": "web", "rules": [{"name": "fine", "action": "allow"}]},
        "default.send": {
            "capabilities": ["reaches_external"],
            "rules": [
                {"name": "foreign", "when": 'max_trust == "untrusted"', "action": "block"},
                {"name": "three legs", "when": "size(run.trifecta) >= 3", "action": "require_approval"},
                {"name": "rest", "action": "allow"},
            ],
        },
        "default.pay": {"capabilities": [], "rules": [{"name": "large", "when": "args.amount > 100.0", "action": "require_approval"}, {"name": "small", "action": "allow"}]},
        "default.clean": {"capabilities": [], "rules": [{"name": "tainted", "when": "run.tainted", "action": "block"}, {"name": "clean", "action": "allow"}]},
        "default.publish": {"capabilities": [], "rules": [{"name": "checked", "require_endorsement": "legal", "action": "block"}, {"name": "rest", "action": "allow"}]},
        "default.mine": {"capabilities": [], "rules": [{"name": "mine", "when": 'run.sources.all(s, s == args.name) && agent.id == args.name', "action": "allow"}]},
    },
}
NEWS = "the codes go to eve@evil.example by noon"


class Case(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)

    def configured(self, **how):
        return configure(policy=Policy(how.pop("policy", POLICY)), **how)


class Decisions(Case):
    def test_found_by_carrier_or_by_content(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            d = r.check(tool="default.send", args={"to": page[16:32], "cc": ["x", f"cc: {page}"], "n": 5}, agent_id="ana")
            self.assertEqual([(f.path, f.label.lineage, f.by) for f in d.found], [("/to", ("web",), "carrier"), ("/cc/1", ("web",), "content")])
            self.assertEqual((d.matched_rule, d.action.value, d.untrusted_sources), ("foreign", "block", {"web"}))
            d = r.check(tool="default.send", args={"body": "nothing of that"}, agent_id="ana")
            self.assertEqual((d.found, d.matched_rule, d.run_tainted), ((), "rest", True))
        r = self.configured(content=False)
        with r.agent_context_sync("ana"):
            self.assertEqual(r.check(tool="default.send", args={"cc": f"cc: {taint(NEWS, source='web')}"}, agent_id="ana").matched_rule, "rest")

    def test_findings_of_an_audit(self):
        reporter = InMemoryReporter()
        r = self.configured(audit=True, reporter=reporter)
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            taint("the handbook of the house, chapter one", source="crm")
            for _ in range(3):
                r.check(tool="default.note", args={"to": f"cc: {page}", "ok": "handbook of the house", "carried": page}, agent_id="ana")
        self.assertEqual([(f.source, f.argument, f.tool) for f in reporter.findings], [("web", "to", "default.note")])
        self.assertEqual(r.audit_findings(), reporter.findings)
        self.assertEqual(self.configured().audit_findings(), [])

    def test_results_of_a_tool_that_produces(self):
        r = self.configured()
        fetch, send = guard(tool="fetch")(lambda: {"text": NEWS}), guard(tool="send")(lambda body: "sent")
        with r.agent_context_sync("ana") as run:
            page = fetch()
            self.assertEqual((page, page["text"].label.lineage, page["text"].label.ingested_by), ({"text": NEWS}, ("web",), ("ana",)))
            with self.assertRaises(PolicyViolation) as caught:
                send(page["text"])
            self.assertEqual((caught.exception.decision.run_id, caught.exception.decision.agent_id), (run.run_id, "ana"))
            with self.assertRaises(PolicyViolation):
                send(NEWS[4:30])

    def test_rules_are_named_by_what_they_are_called(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            taint(NEWS, source="web")
            r.check(tool="default.read", args={}, agent_id="ana")
            d = r.check(tool="default.send", args={}, agent_id="ana")
            self.assertEqual((d.matched_rule, d.matched_condition, d.run_trifecta), ("three legs", "size(run.trifecta) >= 3", {"from_untrusted", "reads_private", "reaches_external"}))
            d = r.check(tool="default.publish", args={"x": taint("y", source="web")}, agent_id="ana")
            self.assertEqual(d.matched_condition, 'taint.exists(t, t.trust == "untrusted" && !t.endorsements.exists(k, k == "legal"))')

    def test_decisions_cannot_be_changed(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            d = r.check(tool="default.note", args={}, agent_id="ana")
        for name in ("action", "core", "found", "tool", "matched_rule", "run_trifecta", "new"):
            with self.assertRaises(AttributeError):
                setattr(d, name, "allow")
        self.assertEqual(json.loads(d.model_dump_json())["tool"], "default.note")
        self.assertEqual((d.decision_id, d), (d.decision_id, d))

    def test_a_policy_of_ours(self):
        document = {"interlock": 1, "machine": "standard", "tools": [{"match": "fetch", "effects": ["untrusted"]}, {"match": "read", "effects": ["sensitive"]},
                                                                     {"match": "send", "effects": ["egress"], "to": {"email": "to"}}]}  # fmt: skip
        r = self.configured(policy=document)
        with r.agent_context_sync("ana"):
            self.assertEqual([r.check(tool=t, args=a, agent_id="ana").action.value for t, a in (("fetch", {}), ("read", {}))], ["allow", "allow"])
            d = r.check(tool="send", args={"to": "eve@evil.example"}, agent_id="ana")
            self.assertEqual((d.action.value, d.matched_rule, d.core.reason, [w.tool for w in d.core.witnesses]), ("block", None, "lethal-trifecta", ["fetch", "read"]))
            with self.assertRaisesRegex(PolicyViolation, "lethal-trifecta"):
                r.enforce_decision_sync(d)

    def test_the_ledger_of_such_calls_is_whole(self):
        for document in (POLICY, {"interlock": 1, "machine": "standard", "audit": {"laundering": True}, "tools": [{"match": "default.send", "effects": ["egress"]}, {"match": "default.read", "effects": ["sensitive"]}]}):
            with tempfile.TemporaryDirectory() as folder:
                monitor = _core.Monitor(Policy(document).core, os.path.join(folder, "ledger.db"))
                monitor.begin("s", None, "ana", False)
                for tool in ("send", "read", "send", "send", "nobody"):
                    monitor.check("s", "default", tool, b'{"x":"a text that is sent"}', (), False)
                monitor.close()
                told = subprocess.run([os.environ.get("INTERLOCK", "interlock"), "ledger", "verify", "--ledger", os.path.join(folder, "ledger.db")], capture_output=True, text=True, check=False)
                self.assertEqual(told.returncode, 0, told.stdout + told.stderr)

    def test_modes(self):
        with contextlib.ExitStack() as stack:
            for said, wanted in (("dry_run", "dry_run"), ("enforce", "enforce"), ("monitor", "monitor")):
                self.assertEqual(self.configured(mode=said).mode.value, wanted)
            for env, said, wanted in (("dry_run", "enforce", "enforce"), ("enforce", "dry_run", "enforce"), ("monitor", "dry_run", "monitor")):
                os.environ["INTERBOLT_MODE"] = env
                stack.callback(os.environ.pop, "INTERBOLT_MODE", None)
                self.assertEqual(self.configured(mode=said).mode.value, wanted, "the environment can only tighten")
            os.environ["INTERBOLT_MODE"] = "loose"
            with self.assertRaises(InterboltConfigError):
                self.configured()

    def test_a_condition_that_errs(self):
        reporter = InMemoryReporter()
        r = self.configured(reporter=reporter)
        with r.agent_context_sync("ana"), self.assertRaises(PolicyEvaluationError) as caught:
            r.check(tool="default.pay", args={"amount": "x"}, agent_id="ana")
        self.assertEqual((caught.exception.decision.action.value, caught.exception.decision.outcome.value, caught.exception.decision.matched_rule), ("block", "evaluation_error", None))
        self.assertEqual([e.outcome.value for e in reporter.events], ["evaluation_error"])
        r = self.configured(mode="monitor")
        with r.agent_context_sync("ana"):
            self.assertEqual(r.check(tool="default.pay", args={"amount": "x"}, agent_id="ana").matched_rule, "small", "soft: the rule is passed over")


class Runs(Case):
    def test_agents_of_one_run_know_what_the_others_hold(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            self.assertEqual(r.check(tool="default.clean", args={}, agent_id="bob").matched_rule, "clean")
            taint(NEWS, source="web")
            for name in ("bob", "carl", "ana"):
                self.assertEqual(r.check(tool="default.clean", args={}, agent_id=name).matched_rule, "tainted")
            interbolt.agent("bob").guard(tool="read")(lambda: 1)()
            self.assertEqual(r.check(tool="default.send", args={}, agent_id="ana").matched_rule, "three legs")

    def test_a_run_in_a_run(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            with r.agent_context_sync("bob") as inner:
                self.assertEqual(r.check(tool="default.clean", args={}, agent_id="bob").matched_rule, "tainted")
                self.assertEqual(r.check(tool="default.send", args={"x": f"re: {page}"}, agent_id="bob").found[0].by, "content")
        with r.agent_context_sync("ana") as outer:
            with r.agent_context_sync("bob") as inner:
                guard(tool="read")(lambda: 1)()
                late = taint("another page, of the forum this time", source="web")
            self.assertNotEqual(inner.run_id, outer.run_id)
            self.assertEqual(r.check(tool="default.clean", args={}, agent_id="ana").matched_rule, "tainted")
            self.assertEqual(r.check(tool="default.send", args={}, agent_id="ana").matched_rule, "three legs")
            self.assertEqual([e.source for e in r.check(tool="default.note", args={}, agent_id="ana").run_ingress], ["web"])
            self.assertEqual(r.check(tool="default.note", args={"x": f"re: {late}"}, agent_id="ana").found[0].by, "content")

    def test_calls_without_a_context(self):
        r = self.configured()
        clean = guard(tool="clean")(lambda: "ran")
        self.assertEqual(clean(), "ran")
        with r.agent_context_sync("ana"):
            taint(NEWS, source="web")
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                for call in (clean, interbolt.agent("bob").guard(tool="clean")(lambda: "ran")):
                    self.assertIsInstance(pool.submit(call).exception(), PolicyViolation)
        with self.assertRaises(PolicyViolation):
            clean()  # it has learnt, and does not forget

    def test_a_run_that_ended(self):
        r = self.configured()
        note = guard(tool="note")(lambda x=None: "ran")

        async def main():
            go = asyncio.Event()

            async def work():
                await go.wait()
                taint(NEWS, source="web")
                note()

            async with r.agent_context("ana"):
                task = asyncio.create_task(work())
                await asyncio.sleep(0)
            go.set()
            await task

        with self.assertRaises(InterboltUsageError):
            asyncio.run(main())

    def test_runs_that_a_program_names(self):
        r = self.configured()
        self.assertEqual(r.check(tool="default.read", args={}, agent_id="ana", run_id="r1").run_id, "r1")
        self.assertEqual(r.check(tool="default.note", args={}, agent_id="ana", run_id="r1").run_trifecta, {"reads_private"})
        self.assertEqual(r.check(tool="default.note", args={}, agent_id="ana", run_id="r2").run_trifecta, set())
        with r.agent_context_sync("ana") as run:
            taint(NEWS, source="web")
            self.assertEqual(r.check(tool="default.clean", args={}, agent_id="ana", run_id=run.run_id).matched_rule, "tainted")
        r.end_run("r1")
        for name in ("", "a b", "x" * 200, 5):
            with self.assertRaises((InterboltConfigError, TypeError)):
                r.check(tool="default.note", args={}, agent_id="ana", run_id=name)
        with self.assertRaises(InterboltUsageError):
            for i in range(1100):
                r.check(tool="default.note", args={}, agent_id="ana", run_id=f"n{i}")

    def test_before_configure(self):
        told = subprocess.run([sys.executable, "-c", "from interlock import interbolt as i\nt = i.taint('x', source='web')\ntry:\n    i.guard(lambda: 1)()\nexcept (i.InterboltUsageError, i.InterboltConfigError) as e:\n    print(t.label.lineage, type(e).__name__)"],
                              capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual((told.stdout, told.returncode), ("('web',) InterboltUsageError\n", 0), told.stderr)

    def test_after_a_fork(self):
        r = self.configured()
        note = guard(tool="note")(lambda: "ran")
        with r.agent_context_sync("ana"):
            note()
            pid = os.fork()
            if pid == 0:
                try:
                    note()
                    os._exit(1)
                except interbolt.InterboltUsageError:
                    os._exit(0)
                except BaseException:
                    os._exit(2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
            self.assertEqual(note(), "ran")

    def test_interpreter_shutdown(self):
        program = textwrap.dedent("""
            import atexit, logging, threading, time
            from interlock import interbolt as ib
            r = ib.configure(policy=ib.Policy({"version": "2.0", "sinks": {"default.note": {"rules": [{"name": "a", "action": "allow"}]}}}))
            note = ib.guard(tool="note")(lambda x: x)
            class Late:
                def __del__(self):
                    try:
                        note(ib.taint("x", source="web"))
                    except Exception:
                        pass
            keep = Late()
            atexit.register(lambda: note("at exit"))
            def work():
                while True:
                    note("y")
            for _ in range(4):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.05)
            print("done")
        """)
        for _ in range(3):
            told = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((told.stdout, told.returncode), ("done\n", 0), told.stderr[-2000:])


class Values(Case):
    def test_a_second_label_adds(self):
        self.assertEqual(set(taint(taint("x", source="web"), source="crm").label.lineage), {"web", "crm"})
        r = self.configured()
        with r.agent_context_sync("ana"):
            self.assertEqual(r.check(tool="default.send", args={"x": taint(taint("x", source="web"), source="crm")}, agent_id="ana").matched_rule, "foreign")

    def test_derived(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            page, note = taint(NEWS, source="web"), taint("a note of ours", source="crm")
            deep = [[[[[[{"content": [{"text": page}]}]]]]]]
            self.assertEqual(track_model_call(lambda m: "answer")(deep).label.lineage, ("web",))
            made = taint("sum", source="model", derived_from=[note, deep])
            self.assertEqual((made.label.source, set(made.label.lineage), made.label.endorsements), ("model", {"crm", "web"}, ()))
            self.assertEqual(track_model_call(lambda m: "of ours")(note).label.lineage, ("crm",))
            for nothing in ([], ["plain"], [5, None]):
                self.assertEqual(taint("x", source="model", derived_from=nothing).label.lineage, ("model",))
            self.assertEqual(track_model_call(lambda: "x")().label.lineage, ("model",))

            @track_model_call(source="gpt")
            async def stream(prompt):
                return iter(["a", "b"])

            chunks = asyncio.run(stream(page))
            self.assertEqual([(c, c.label.lineage) for c in chunks], [("a", ("web",)), ("b", ("web",))])
            self.assertEqual(r.check(tool="default.note", args={"x": f"so: {track_model_call(lambda m: 'a paraphrase of the page')(page)}"}, agent_id="ana").found[0].by, "content")

    def test_endorsed_values(self):
        reporter = InMemoryReporter()
        r = self.configured(reporter=reporter)
        publish = guard(tool="publish")(lambda text: "published")
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            good = endorse(page, kind="legal", note="read it")
            self.assertEqual(publish(good), "published")
            self.assertEqual(publish(good + ""), "published")
            for edit in (good + "!", good.replace("noon", "dawn"), good.upper(), page, good[:-1], str.__str__(good) + "x"):
                with self.assertRaises(PolicyViolation):
                    publish(edit)
            many = endorse({"a": [page], "n": taint(5, source="web"), "b": taint(b"raw", source="web")}, kind="legal")
            self.assertEqual((many["a"][0].label.endorsements, many["n"].label.endorsements, many["b"].label.endorsements), (("legal",),) * 3)
            self.assertEqual(publish(many["a"][0]), "published")
            whole = endorse(taint({"t": NEWS}, source="web"), kind="legal")
            self.assertEqual(publish(whole), "published")
            whole["t"] = "another text"
            with self.assertRaises(PolicyViolation):
                publish(whole)
        self.assertEqual([e.kind for e in reporter.endorsements][:1], ["legal"])
        for kind in ("", "a b", "x\n", 5):
            with self.assertRaises(InterboltConfigError):
                endorse(page, kind=kind)

    def test_models_are_walked(self):
        @dataclasses.dataclass
        class Mail:
            to: str
            parts: list

        class Client:
            def __init__(self, held):
                self.held = held

        class Slots:
            __slots__ = ("held",)

        page = taint(NEWS, source="web")
        slots = Slots()
        slots.held = [page]
        r = self.configured()
        send = guard(tool="send")(lambda x: "sent")
        with r.agent_context_sync("ana"):
            for value in (Mail("bo", [page]), Client(page), Client(Client({"x": page})), slots, {"x": {page}}, Client(Mail(page, [])), (page,), TaintedList([1], page.label)):
                with self.assertRaises(PolicyViolation, msg=repr(value)):
                    send(value)
            for value in (Mail("bo", []), Client("x"), Client(Client(5)), Slots(), send, Mail, len, sys):
                self.assertEqual(send(value), "sent")

    def test_envelopes(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            guard(tool="read")(lambda: 1)()
            page = taint({"t": NEWS, "b": b"\xff", "n": 5}, source="web")
            good = endorse(page["t"], kind="legal")
            key = "k"
            sealed = [interbolt.pack({"p": page, "t": (1, {2}), "g": good}, key=key, key_id="one") for _ in range(6)]
            bare = interbolt.pack({"p": taint("of ours", source="crm")})
        with r.agent_context_sync("bob"):
            value = interbolt.unpack(json.loads(json.dumps(sealed[0])), key=key)
            self.assertEqual((value, value["p"]["t"].label.lineage, value["p"].label.lineage), ({"p": {"t": NEWS, "b": b"\xff", "n": 5}, "t": (1, {2}), "g": NEWS}, ("web",), ("web",)))
            self.assertEqual(value["g"].label.endorsements, ("legal",))
            self.assertEqual(r.check(tool="default.send", args={}, agent_id="bob").matched_rule, "three legs", "what that run held, this one holds")
            self.assertEqual(r.check(tool="default.note", args={"x": f"re: {value['p']['t']}"}, agent_id="bob").found[0].by, "content")
            ours = interbolt.unpack(bare)["p"]
            self.assertFalse(r.policy.core.trusts(ours.label), "nobody vouches for an envelope without a key")
            edits = [lambda e: e.update(envelope=e["envelope"].replace("web", "crm")), lambda e: e.update(version=9), lambda e: e.pop("envelope"), lambda e: e.update(envelope="{}")]
            for envelope, edit in zip(sealed[1:], edits):
                edit(envelope)
                with self.assertRaises(InterboltConfigError):
                    interbolt.unpack(envelope, key=key)
            for wrong, how in ((sealed[0], {"key": key}), (sealed[5], {}), (sealed[5], {"key": "x"}), (bare, {"key": key}), (5, {}), (sealed[5], {"key": key, "audience": "another"})):
                with self.assertRaises(InterboltConfigError):
                    interbolt.unpack(wrong, **how)
        loop = []
        loop.append(loop)
        for wrong in (object(), {1: 2}, loop, {"x": float("nan")}, "\ud800", LabeledValue(object(), page.label)):
            with self.assertRaises(InterboltConfigError):
                interbolt.pack(wrong)

    def test_beside_an_envelope(self):
        into = interbolt.pack_into({"t": taint(NEWS, source="web"), "n": 1}, key="k")
        self.assertEqual((into["t"], into["n"]), (NEWS, 1))
        changed = json.loads(json.dumps(into)) | {"t": "another"}
        with self.assertRaises(InterboltConfigError):
            interbolt.unpack_from(changed, key="k")
        fresh = interbolt.pack_into({"t": taint(NEWS, source="web")}, key="k")
        self.assertEqual(interbolt.unpack_from(json.loads(json.dumps(fresh)), key="k")["t"].label.lineage, ("web",))
        with self.assertRaises(InterboltConfigError):
            interbolt.pack_into({"__interlock__": 1})


class Approvals(Case):
    def paid(self, resolver, **how):
        r = self.configured(approval_resolver=resolver, **how)
        pay = guard(tool="pay")(lambda amount: amount)
        with r.agent_context_sync("ana"):
            return pay(500.0)

    def test_only_true_is_a_yes(self):
        self.assertEqual(self.paid(lambda d: True), 500.0)
        for answer in (1, "yes", [1], None, 0, False, object(), "no"):
            with self.assertRaises(ApprovalDenied):
                self.paid(lambda d: answer)

    def test_a_resolver_that_raises_or_hangs(self):
        with self.assertRaises(ZeroDivisionError):
            self.paid(lambda d: 1 / 0)
        release = threading.Event()
        self.addCleanup(release.set)
        with self.assertRaisesRegex(ApprovalDenied, "in time"):
            self.paid(lambda d: release.wait(20) or True, approval_timeout=0.05)
        self.assertEqual(self.paid(lambda d: True, approval_timeout=20), 500.0)

        async def never(d):
            await asyncio.sleep(20)
            return True

        r = self.configured(approval_resolver=never, approval_timeout=0.05)

        @guard(tool="pay")
        async def pay(amount):
            return amount

        async def main():
            async with r.agent_context("ana"):
                await pay(500.0)

        with self.assertRaises(ApprovalDenied):
            asyncio.run(main())
        with self.assertRaises(InterboltUsageError):
            self.paid(never)

    def test_what_was_asked_is_what_runs(self):
        given = [["a"]]

        def resolver(d):
            given[0].append("b")
            return True

        r = self.configured(approval_resolver=resolver)
        pay = guard(tool="pay")(lambda amount, to: to)
        with r.agent_context_sync("ana"):
            self.assertEqual(pay(500.0, given), [["a"]])
            given[:] = [["a"]]
            self.assertEqual(pay(501.0, LabeledValue(given, taint("x", source="web").label)).value, [["a"]])

    def test_what_happened_while_a_human_was_asked_counts(self):
        sink = {"capabilities": [], "rules": [{"name": "tainted", "when": "run.tainted", "action": "block"}, {"name": "ask", "action": "require_approval"}]}
        policy = {**POLICY, "sinks": {"default.late": sink}}
        late = guard(tool="late")(lambda: "ran")
        for resolver, wanted in ((lambda d: True, "ran"), (lambda d: taint(NEWS, source="web") is not None, None)):
            r = self.configured(policy=policy, approval_resolver=resolver)
            with r.agent_context_sync("ana"):
                if wanted:
                    self.assertEqual(late(), wanted)
                else:
                    with self.assertRaisesRegex(ApprovalDenied, "too late"):
                        late()

    def test_one_answer_is_for_one_call(self):
        r = self.configured(approval_resolver=lambda d: True)
        with r.agent_context_sync("ana"):
            d = r.check(tool="default.pay", args={"amount": 500.0}, agent_id="ana")
            r.enforce_decision_sync(d)
            with self.assertRaises(ApprovalDenied):
                r.enforce_decision_sync(d)

    def test_many_wait_at_once(self):
        together = threading.Barrier(12)

        def resolver(d):
            together.wait(60)
            return True

        r = self.configured(approval_resolver=resolver)
        pay = guard(tool="pay")(lambda amount: amount)
        with r.agent_context_sync("ana") as run:
            import contextvars

            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                got = [pool.submit(contextvars.copy_context().run, pay, 500.0 + i) for i in range(12)]
                self.assertEqual([f.result() for f in got], [500.0 + i for i in range(12)])
            self.assertTrue(run.run_id)
            for i in range(40):
                self.assertEqual(r.check(tool="default.pay", args={"amount": 900.0 + i}, agent_id="ana").action.value, "require_approval")


class BadInput(Case):
    def refused(self, value):
        """A call with it is a block or a typed error; never an allow, never another error."""
        r = self.configured()
        ran = []
        with r.agent_context_sync("ana"):
            for tool in ("send", "note"):
                try:
                    guard(tool=tool)(ran.append)(value)
                except (PolicyEvaluationError, PolicyViolation) as e:
                    self.assertFalse(e.decision.core.run)
                    continue
                self.assertEqual(tool, "note", "it was sent")
        return ran

    def test_what_cannot_be_read(self):
        loop = {}
        loop["a"] = loop
        deep = []
        for _ in range(100_000):
            deep = [deep]
        for value in (loop, deep, "a\ud800", {"\ud800": 1}, {1: 2}, float("nan"), [float("inf")], 10**10_000, 10**400, -(10**309), {"a": {5: 6}}):
            self.assertEqual(self.refused(value), [])
        while deep:
            deep = deep[0]  # not by recursion

    def test_digests(self):
        runtime = self.configured()
        args = {"b": [1, 2.5, None, True], "a": "\u00e9\x00\n", "more": {"z": "", "y": 10**30}}
        decision = runtime.check(tool="note", args=args, agent_id="ana")
        self.assertEqual(decision.core.digest, _core.digest(_core.json(args), 3))
        self.assertNotEqual(decision.core.digest, _core.digest(_core.json({**args, "b": []})))
        for wrong in ((), (b"{}", 0), (b"{}", 1, 1), ("{}",), (b"{}", "x")):
            with self.assertRaises(TypeError):
                _core.digest(*wrong)
        with self.assertRaises(InterlockError):
            _core.digest(b'{"a":1,"a":2}')

    def test_what_nobody_can_look_into(self):
        async def later():
            pass

        coroutine = later()
        with open(os.devnull) as stream:
            for value in (iter([1]), (x for x in "ab"), threading.Lock(), stream, coroutine, {"x": iter([])}, threading.RLock()):
                self.assertLessEqual(len(self.refused(value)), 1)
        coroutine.close()

    def test_values_that_raise_or_lie(self):
        class Raises:
            def __str__(self):
                raise RuntimeError("no")

            __repr__ = __iter__ = __eq__ = __len__ = __bool__ = __str__
            __hash__ = None

        class Quiet(dict):
            def __iter__(self):
                return iter(())

            def items(self):
                return ()

            keys = values = items

            def __len__(self):
                return 0

        class Attribute:
            @property
            def __dict__(self):
                raise RuntimeError("no")

        class Liar(str):
            def __str__(self):
                return "nothing"

            def __eq__(self, other):
                return True

            __hash__ = str.__hash__

        r = self.configured()
        page = taint(NEWS, source="web")
        send = guard(tool="send")(lambda x: "sent")
        with r.agent_context_sync("ana"):
            taint(NEWS, source="web")
            for value in (Quiet(a=page), [Quiet(a=[page])], Liar(NEWS)):
                self.assertEqual(r.check(tool="default.send", args={"x": value}, agent_id="ana").matched_rule, "foreign")
            got = []
            with contextlib.suppress(PolicyViolation):
                guard(tool="send")(got.append)(Quiet(a=page))
            self.assertIsNone(label_of([dict.copy(x) for x in got]), "the function gets what was judged")
            for value in (Attribute(), Liar(NEWS)):
                with self.assertRaises((PolicyViolation, PolicyEvaluationError)):
                    send(value)
            self.assertEqual(send(Raises()), "sent", "it holds nothing")

            class Evil(Exception):
                def __str__(self):
                    raise RuntimeError("no")

            class Model:
                model_fields = {"a": None}

                def model_dump(self):
                    return {}

                def __getattr__(self, name):
                    raise Evil

            with self.assertRaises(PolicyEvaluationError):
                send(Model())

    def test_names_that_are_no_names(self):
        r = self.configured()
        for name in (5, None, b"ana", "a\n", "a b", "", taint("ana", source="web"), "x" * 100):
            with self.assertRaises(InterboltConfigError):
                r.check(tool="default.note", args={}, agent_id=name)
        with r.agent_context_sync("ana"):
            for tool in ("", ".", "a.", ".b", "x" * 1000, "a b", "\0", "\ud800"):
                with self.assertRaises((PolicyEvaluationError, UnicodeEncodeError, InterboltUsageError)) as caught:
                    d = r.check(tool=tool, args={}, agent_id="ana")
                    self.assertEqual(d.action.value, "block")
                    raise PolicyEvaluationError("a block", decision=d)
                self.assertIsNotNone(caught.exception)
            for args in (5, "x", None, [1]):
                with self.assertRaises(InterboltUsageError):
                    r.check(tool="default.note", args=args, agent_id="ana")
            for source in (5, None, "", "x" * 500, "a\0b"):
                with self.assertRaises(InterboltConfigError):
                    taint("x", source=source)

    def test_results_that_come_later(self):
        r = self.configured()

        @guard(tool="fetch")
        def pages():
            yield NEWS

        with r.agent_context_sync("ana"):
            self.assertEqual([(p, p.label.lineage) for p in pages()], [(NEWS, ("web",))])

    def test_a_task_that_is_cancelled(self):
        r = self.configured()

        @guard(tool="send")
        async def slow():
            await asyncio.sleep(60)

        async def main():
            async with r.agent_context("ana"):
                for _ in range(100):
                    task = asyncio.create_task(slow())
                    await asyncio.sleep(0)
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await task
                return r.check(tool="default.note", args={}, agent_id="ana").action.value

        self.assertEqual(asyncio.run(main()), "allow", "each was settled")

    def test_many_sources(self):
        r = self.configured()
        with r.agent_context_sync("ana"):
            for i in range(1200):
                taint("x", source=f"s{i}")
            d = r.check(tool="default.clean", args={}, agent_id="ana")
            self.assertEqual((d.matched_rule, len(d.run_ingress), d.run_tainted), ("tainted", 1024, True))
            interbolt.unpack(interbolt.pack("x", key="k"), key="k")


class Attacks(Case):
    """What a program does, by mistake or not, to a value whose source must not be forgotten."""

    def judged(self, make, tool="default.send"):
        r = self.configured()
        with r.agent_context_sync("ana"):
            return r.check(tool=tool, args={"x": make(taint(NEWS, source="web"))}, agent_id="ana").matched_rule

    def test_another_label_in_its_place(self):
        for make in (
            lambda p: taint(p, source="crm"),
            lambda p: interbolt.Tainted(p, Label("crm")),
            lambda p: interbolt.TaintedBytes(p.encode(), Label("crm")),
            lambda p: LabeledValue(p, Label("crm")),
            lambda p: LabeledValue(LabeledValue(5, Label("web")), Label("crm")),
            lambda p: taint({"a": [p]}, source="crm"),
            lambda p: taint("a summary", source="crm", derived_from=[{"a": (p,)}]),
            lambda p: track_model_call(source="crm")(lambda text: "a summary")(p),
        ):
            self.assertEqual(self.judged(make), "foreign")
        self.assertEqual(self.judged(lambda p: taint("a summary", source="crm", derived_from=["a note"])), "rest")  # control
        t = interbolt.Tainted("x", Label("crm").endorse("legal", "grace", b'"x"'))
        self.assertIs(interbolt.Tainted(t, t.label).label, t.label)

    def test_where_a_value_may_hide(self):
        class Slots:
            __slots__ = ("a",)

        def slots(p):
            s = Slots()
            s.a = p
            return s

        class Holder:
            def __init__(self, p):
                self.p = p

            def method(self):
                pass

        def default(x=None):
            pass

        def defaulted(p):
            made = types.FunctionType(default.__code__, {}, "d", (p,))
            return made

        for make in (
            slots,
            Holder,
            lambda p: Holder(p).method,
            lambda p: lambda: p,
            lambda p: lambda: (lambda: p),
            defaulted,
            lambda p: functools.partial(print, p),
            lambda p: [p].append,
            lambda p: types.SimpleNamespace(a=p),
            lambda p: ValueError(p),
            lambda p: {"a": p}.values(),
            lambda p: collections.UserString(p),
            lambda p: collections.ChainMap({}, {"a": p}),
            lambda p: re.match(".*", p),
            lambda p: pathlib.PurePosixPath(p) if sys.version_info >= (3, 12) else f"{p}",  # pathlib of 3.11 takes no subclass of str whose str() is one
            lambda p: memoryview(p.encode()),
            lambda p: "".join(list(p)),
            lambda p: str.upper(p),
            lambda p: f"{p!a} and more",
            lambda p: json.loads(json.dumps({"a": p})),
            lambda p: base64.b64encode(p.encode()),
            lambda p: pickle.loads(pickle.dumps([p])),
        ):
            self.assertEqual(self.judged(make), "foreign", make)
        for make in (lambda p: Holder(5), lambda p: len, lambda p: Holder(5).method, lambda p: lambda: 5, lambda p: slots(5), lambda p: Holder):
            self.assertEqual(self.judged(make), "rest")  # controls

    def test_endorsed_and_changed(self):
        def endorsed(value):
            return endorse(taint(value, source="web"), kind="legal")

        def changed(value, change):
            change(value)
            return value

        for value, change in (({"to": "ana@x.example"}, lambda d: d.update(to="eve@x.example")), (["a"], lambda v: v.append("b")), ({"a": ["x"]}, lambda d: d["a"].append("y"))):
            self.assertEqual(self.judged(lambda p: endorsed(value), "default.publish"), "rest")
            self.assertEqual(self.judged(lambda p: changed(endorsed(value), change), "default.publish"), "checked")
        self.assertEqual(self.judged(lambda p: changed(endorse(LabeledValue([1], Label("web")), kind="legal"), lambda b: b.value.append(2)), "default.publish"), "checked")

    def test_methods_of_a_class(self):
        r = self.configured()

        class Mail:
            @guard(tool="send")
            @classmethod
            def one(cls, x):
                return cls

            @guard(tool="send")
            @staticmethod
            def two(x):
                return x

            @classmethod
            @guard(tool="send")
            def three(cls, x):
                return cls

            @staticmethod
            @guard(tool="send")
            def four(cls):
                return cls

            @staticmethod
            @guard(tool="send")
            def five(self, *more):
                return self

        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            self.assertEqual((Mail.one("a"), Mail().one("a"), Mail.two("b"), Mail().two("b"), Mail().three("c")), (Mail, Mail, "b", "b", Mail))
            self.assertEqual((Mail.four("d"), Mail().five("e")), ("d", "e"))
            for method in (Mail.one, Mail().two, Mail.three, Mail.four, Mail().five):
                with self.assertRaises(PolicyViolation):
                    method(page)

    def test_objects_that_are_called_as_coroutine_functions(self):
        r = self.configured()

        class Fetch:
            __name__ = "fetch"

            async def __call__(self, url):
                return NEWS

        async def main():
            async with r.agent_context("ana"):
                for tool in (guard(tool="fetch")(Fetch()), guard(tool="fetch")(functools.partial(Fetch(), "u"))):
                    answer = tool("u") if tool.__wrapped__.__class__ is Fetch else tool()
                    answer = await answer
                    self.assertEqual(answer, NEWS)
                    self.assertEqual(label_of(answer).lineage, ("web",))

        asyncio.run(main())

    def test_tools_that_do_not_come_back_as_they_should(self):
        r = self.configured()
        with r.agent_context_sync("ana") as run:
            for error in (KeyboardInterrupt(), SystemExit(1), GeneratorExit(), StopIteration(5), asyncio.CancelledError()):
                def tool():
                    raise error

                with self.assertRaises(type(error)):
                    guard(tool="note")(tool)()
            rows = interbolt.ambient.current_run.get()._monitor.rows(None)
            self.assertEqual([json.loads(row.body).get("how") for row in rows if row.kind == "settle"], ["failed"] * 5, run)

    def test_a_tool_that_calls_tools(self):
        r = self.configured()
        inner = guard(tool="fetch")(lambda: NEWS)
        outer = guard(tool="note")(lambda: r.check(tool="default.clean", args={"x": inner()}, agent_id="ana").matched_rule)
        with r.agent_context_sync("ana"):
            self.assertEqual(outer(), "tainted")

    def test_values_that_act_while_they_are_read(self):
        r = self.configured()

        class Model:
            model_fields = {"a": None}

            def __init__(self, act):
                self._act = act

            def model_dump(self):
                return {}

            @property
            def a(self):
                return self._act()

        def interrupted():
            raise KeyboardInterrupt

        def missing():
            raise InterboltUsageError("mine")

        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            again = Model(lambda: (r.check(tool="default.note", args={"x": 1}, agent_id="ana"), page)[1])
            self.assertEqual(r.check(tool="default.send", args={"x": again}, agent_id="ana").matched_rule, "foreign")
            with self.assertRaises(PolicyEvaluationError):
                r.check(tool="default.note", args={"x": Model(missing)}, agent_id="ana")
            with self.assertRaises(KeyboardInterrupt):
                r.check(tool="default.note", args={"x": Model(interrupted)}, agent_id="ana")
            with self.assertRaises(InterboltUsageError):
                r.check(tool="default.note", args={"x": Model(interbolt.ambient.current_run.get().end)}, agent_id="ana")

    def test_a_context_that_was_copied(self):
        r = self.configured()
        told = []
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            context = contextvars.copy_context()

        def work():
            try:
                told.append(r.check(tool="default.note", args={"x": page}, agent_id="ana").matched_rule)
            except InterboltUsageError:
                told.append("ended")

        thread = threading.Thread(target=context.run, args=(work,))
        thread.start()
        thread.join()
        self.assertEqual(told, ["ended"])

    def test_everything_can_be_imported(self):
        done = subprocess.run([sys.executable, "-c", "from interlock.interbolt import *; print(taint)"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Reporters(Case):
    def test_json_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a", "calls.jsonl")
            reporter = interbolt.JsonlReporter(path)
            self.addCleanup(reporter.close)
            r = self.configured(reporter=reporter)
            with r.agent_context_sync("ana"):
                threads = [threading.Thread(target=lambda: [r.check(tool="default.note", args={"x": i}, agent_id="ana", run_id="all") for i in range(50)]) for _ in range(8)]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
                endorse(taint("x", source="web"), kind="legal")
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            self.assertEqual((len(rows), {row["record_type"] for row in rows}, path.stat().st_mode & 0o777), (401, {"event", "endorsement"}, 0o600))
            self.assertEqual(list(rows[0])[:6], ["record_type", "schema_version", "trace_id", "span_id", "policy_fingerprint", "timestamp"])
            with self.assertRaises(InterboltConfigError):
                interbolt.JsonlReporter(path / "x")
            reporter.close()

    def test_logging(self):
        logging.disable(logging.NOTSET)
        r = self.configured(reporter=interbolt.LoggingReporter())
        with r.agent_context_sync("ana"), self.assertLogs("interlock", logging.DEBUG) as told:
            r.check(tool="default.nobody", args={}, agent_id="ana")
        self.assertEqual([record.name for record in told.records], ["interlock.enforcement", "interlock.reporting"])

    def test_opentelemetry(self):
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        except ImportError:
            self.skipTest("opentelemetry-sdk is not installed")
        kept = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(kept))
        trace.set_tracer_provider(provider)
        others = InMemoryReporter()
        r = self.configured(reporter=interbolt.CompositeReporter([interbolt.OTelReporter(), others]), audit=True)
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="web")
            with trace.get_tracer("t").start_as_current_span("agent"):
                r.check(tool="default.note", args={"x": page, "y": f"re: {page}"}, agent_id="ana")
            endorse(page, kind="legal", note="n")
        spans = kept.get_finished_spans()
        self.assertEqual([s.name for s in spans], ["agent", "interlock.endorsement"])
        self.assertEqual([e.name for e in spans[0].events], ["interlock.decision", "interlock.finding"])
        said = spans[0].events[0].attributes
        self.assertEqual((said["gen_ai.tool.name"], said["interlock.outcome"], said["interlock.matched_rule"], said["interlock.sources"]), ("default.note", "allow", "fine", ("web",)))
        self.assertNotIn(NEWS[:12], str(dict(said)))
        self.assertEqual(others.events[0].trace_id, f"{spans[0].context.trace_id:032x}")

    def test_what_is_said_to_people(self):
        reporter = InMemoryReporter()
        r = self.configured(reporter=reporter, audit=True)
        with r.agent_context_sync("ana"):
            page = taint(NEWS, source="we\u202eb[red]")
            r.check(tool="default.note", args={"x": f"re: {page}", "y": page}, agent_id="ana")
            endorse(page, kind="legal", note="a\nb")
        said = interbolt.describe_event(reporter.events[0])
        self.assertIn("default.note  allow  rule=fine", said)
        self.assertIn("found_by_content={/x}", said)
        for text in (said, interbolt.describe_finding(reporter.findings[0]), interbolt.describe_endorsement(reporter.endorsements[0])):
            self.assertTrue(text.isprintable(), text)
        with self.assertRaises(TypeError):
            reporter.export(5)

    def test_a_reporter_that_fails(self):
        class Broken:
            def export(self, record):
                raise RuntimeError("no")

        kept = InMemoryReporter()
        r = self.configured(reporter=interbolt.CompositeReporter([Broken(), kept]))
        with r.agent_context_sync("ana"):
            self.assertEqual(r.check(tool="default.note", args={}, agent_id="ana").action.value, "allow")
        self.assertEqual(len(kept.events), 1)


class Policies(Case):
    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "policy.yaml")

            def written(text):
                path.write_text(text)
                path.chmod(0o600)
                return path

            policy = Policy.from_file(written(json.dumps(POLICY)))
            self.assertEqual((policy.source, policy.fingerprint[:7], policy.trusts("crm"), policy.trusts("web"), policy.trusts("?")), (str(path), "sha256:", True, False, False))
            self.assertEqual(policy.tool_capabilities["default.send"], {"reaches_external"})
            self.assertEqual(policy.id_to_groups, {"ana": {"staff"}})
            self.assertEqual([m for m in Policy.validate(path) if not m.startswith("warning: ")], [])
            with self.assertRaises(InterboltConfigError):
                Policy.from_file(written("version: '1.0'\nsinks: {}\n"))
            for wrong in ("{", "version: '2.0'\nsinks: {a.b: {rulez: []}}\n", "version: 2.0\nsinks: {}\n"):
                with self.assertRaises(PolicyEvaluationError) as caught:
                    Policy.from_file(written(wrong))
                self.assertIn(str(path), str(caught.exception))
                self.assertTrue(Policy.validate(path))
            with self.assertRaises(PolicyEvaluationError):
                Policy.from_file(path.parent / "none.yaml")
            path.chmod(0o666)
            with self.assertRaises(PolicyEvaluationError):
                Policy.from_file(path)

    def test_default(self):
        logging.disable(logging.NOTSET)
        with self.assertLogs("interlock.runtime", logging.WARNING):
            r = configure()
        logging.disable(logging.CRITICAL)
        with r.agent_context_sync("ana"):
            self.assertEqual(r.check(tool="default.x", args={}, agent_id="ana").action.value, "require_approval")


    def test_explained(self):
        document = {
            **POLICY,
            "agents": {"ana": {"groups": ["staff"]}, "bo": {"groups": []}},
            "sinks": {
                "default.send": {
                    "capabilities": ["reaches_external"],
                    "rules": [
                        {"name": "foreign", "when": '(max_trust == "untrusted" || args.x == 1) && !(agent.id == "ana")', "action": "block"},
                        {"name": "staff", "when": 'agent.groups.exists(g, g == "staff")', "action": "allow"},
                        {"name": "odd", "when": 'agent.id != "zed" && (args.y ? true : false) && args.z == 2', "action": "require_approval"},
                        {"name": "rest", "action": "block"},
                        {"name": "dead", "when": "args.x == 1", "action": "allow"},
                    ],
                },
            },
        }
        policy = Policy(document)

        def said(explained):
            return [(r.outcome.value, r.residual, r.depends_on_member, r.shadowed_by) for r in explained.sinks[0].rules]

        none, always, choice = ("eliminated", None, False, None), ("unconditional", None, False, None), "(args.y ? true : false) && args.z == 2"
        ana = interbolt.explain_for_agent(policy, "ana")
        self.assertEqual((ana.agent_id, ana.groups, ana.sinks[0].sink_key, ana.sinks[0].default_action), ("ana", {"staff"}, "default.send", interbolt.Action.BLOCK))
        self.assertEqual(said(ana), [none, always, *[("eliminated", None, False, "staff")] * 3])
        self.assertEqual([r.shadowed_by_reason for r in ana.sinks[0].rules][1:3], [None, "'ana' is a member of group 'staff'"])
        foreign = ("conditional", 'max_trust == "untrusted" || args.x == 1', False, None)
        self.assertEqual(said(interbolt.explain_for_agent(policy, "bo")), [foreign, none, ("conditional", choice, False, None), always, ("eliminated", None, False, "rest")])
        self.assertEqual(said(interbolt.explain_for_agent(policy, "zed"))[2], none)
        group = said(interbolt.explain_for_group(policy, "other"))
        self.assertEqual(group[:2], [("conditional", '(max_trust == "untrusted" || args.x == 1) && !(agent.id == "ana")', False, None), ("conditional", 'agent.groups.exists(g, g == "staff")', True, None)])
        self.assertEqual(said(interbolt.explain_for_group(policy, "staff"))[1], always)
        tool = interbolt.explain_for_tool(policy, "send")
        self.assertEqual(
            (tool.sink_key, tool.capabilities, [(m.name, m.agent_ids, m.groups) for m in tool.mentions]),
            ("default.send", {interbolt.Capability.REACHES_EXTERNAL}, [("foreign", {"ana"}, set()), ("staff", set(), {"staff"}), ("odd", {"zed"}, set()), ("rest", set(), set()), ("dead", set(), set())]),
        )
        self.assertIsNone(interbolt.explain_for_tool(policy, "nobody"))

    def test_an_explanation_is_what_is_decided(self):
        """Each rule that stays, read back as a policy without agents, decides as the whole one does for that agent."""
        rng = random.Random(20261201)
        leaves = ['agent.id == "ana"', 'agent.id != "bo"', 'agent.groups.exists(g, g == "staff")', '"ana" == agent.id', "args.x == 1", "args.y == 1", "args.x == 1 || args.y == 1"]

        def condition(depth):
            how = rng.randrange(4) if depth else 0
            return f"({rng.choice(leaves)})" if how == 0 else f"!({condition(depth - 1)})" if how == 1 else f"({condition(depth - 1)}{(' && ', ' || ')[how - 2]}{condition(depth - 1)})"

        for _ in range(40):
            rules = [{"name": f"r{i}", "when": condition(3), "action": rng.choice(["allow", "block"])} for i in range(4)]
            base = {"version": "2.0", "defaults": {"sink_action": "block"}, "agents": {"ana": {"groups": ["staff"]}, "bo": {"groups": []}}}
            try:
                whole = Policy({**base, "sinks": {"default.t": {"rules": rules}}})
            except PolicyEvaluationError:
                continue  # a condition that is always the same is refused
            for agent in ("ana", "bo", "cy"):
                left = [
                    {"name": r.name, "action": r.action.value, **({"when": r.residual} if r.residual else {})}
                    for r in interbolt.explain_for_agent(whole, agent).sinks[0].rules
                    if r.outcome is not interbolt.RuleOutcome.ELIMINATED
                ]
                told = []
                for policy in (whole, Policy({**base, "sinks": {"default.t": {"rules": left}}})):
                    r = configure(policy=policy)
                    with r.agent_context_sync("xx"):
                        told.append([r.check(tool="default.t", args={"x": x, "y": y}, agent_id=agent).matched_rule for x in (0, 1) for y in (0, 1)])
                self.assertEqual(*told)

    def test_what_cannot_be_explained(self):
        ours = Policy({"interlock": 1, "machine": "standard", "tools": [{"match": "send", "effects": ["egress"]}]})
        for asked in (lambda: interbolt.explain_for_agent(ours, "ana"), lambda: interbolt.explain_for_group(ours, "staff"), lambda: interbolt.explain_for_tool(ours, "send")):
            with self.assertRaises(InterboltConfigError):
                asked()
        with self.assertRaises(InterlockError):
            _core.condition("agent.id == ")
        with self.assertRaises(TypeError):
            _core.condition(5)
        self.assertEqual(_core.condition('agent.x.id == "a" && agent.id == args.b && other.groups.exists(g, g == "a") && agent.groups.exists(g, h == "a")')[2][0][0], "other")
        self.assertEqual({part[0] for part in _core.condition('agent.x.id == "a" && agent.id == args.b && o.groups.exists(g, g == "a") && agent.groups.exists(g, "a" == g)')[2]}, {"other"})


class Stress(Case):
    def test_threads_and_tasks_do_not_mix(self):
        r = self.configured()
        wrong = []

        def one(name, rounds):
            mine = guard(tool="mine")(lambda name, x=None: "ran")
            with r.agent_context_sync(name):
                page = taint(f"the page of {name} itself, and nobody else's", source=name)
                for i in range(rounds):
                    if mine(name, [page, i]) != "ran":
                        wrong.append(name)

        threads = [threading.Thread(target=one, args=(f"t{i}", 60)) for i in range(32)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

        async def task(name):
            @guard(tool="mine")
            async def mine(name, x=None):
                await asyncio.sleep(0)
                return "ran"

            async with r.agent_context(name):
                page = taint(f"the page of {name}", source=name)
                await asyncio.sleep(0)
                for _ in range(3):
                    if await mine(name, page) != "ran":
                        wrong.append(name)

        async def main():
            await asyncio.gather(*(task(f"a{i}") for i in range(1000)))

        asyncio.run(main())
        self.assertEqual(wrong, [])
        with r.agent_context_sync("t1"), self.assertRaises(PolicyViolation):  # control: another's source is seen
            taint("the page of somebody", source="t2")
            guard(tool="mine")(lambda name: "ran")("t1")

    def test_one_run_of_many_threads(self):
        r = self.configured()
        note = guard(tool="note")(lambda x: x)
        failed = []
        with r.agent_context_sync("ana") as run:
            def work(n):
                for i in range(50):
                    try:
                        taint(f"page {n} {i} of a thread", source=f"s{n}")
                        r.check(tool="default.note", args={"x": i}, agent_id=f"b{n % 4}", run_id=run.run_id)
                    except Exception as e:
                        failed.append(e)

            threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            note(1)
        self.assertEqual(failed, [])

    def test_nothing_is_left_behind(self):
        r = self.configured()
        args = {"to": "ana@example.org", "x": taint("x", source="crm"), "more": [{"a": 1}, "b" * 200]}
        send = guard(tool="send")(lambda **more: "sent")

        def work(n):
            with r.agent_context_sync("ana"):
                for _ in range(n):
                    r.check(tool="default.send", args=args, agent_id="ana")
                    send(**args)
                with contextlib.suppress(PolicyEvaluationError):
                    r.check(tool="default.pay", args={"amount": "x"}, agent_id="ana")
                with contextlib.suppress(ApprovalDenied):
                    guard(tool="pay")(lambda amount: 1)(500.0)
                endorse(taint("y", source="web"), kind="legal")

        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        for _ in range(3):
            work(2000)
        gc.collect()
        blocks, bytes_ = sys.getallocatedblocks(), resident()
        for _ in range(10 * MANY):
            work(5000)
        for _ in range(1000):
            work(1)
        gc.collect()
        grown = sys.getallocatedblocks() - blocks, resident() - bytes_
        if MANY > 1:
            print(f"{50_000 * MANY} checks and as many guarded calls: {grown[0]} blocks and {grown[1]} bytes more than after 6,000", file=sys.stderr)
        self.assertLess(grown[0], 3000)
        self.assertLess(grown[1], 20_000_000)


class Names(Case):
    def test_each_row_of_the_page_names_its_tests(self):
        page = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
        rows = page.partition("| tried by (")[2].partition("\n\n")[0].splitlines()[2:]
        self.assertGreater(len(rows), 8)
        there = {name for case in (Decisions, Runs, Values, Approvals, BadInput, Attacks, Reporters, Policies, Stress, Names) for name in dir(case)}
        for row in rows:
            tests = re.findall(r"`(test_\w+)`", row.split(" | ")[-1])
            self.assertTrue(tests, row)
            self.assertEqual([t for t in tests if t not in there], [])

    def test_each_kind_of_bad_input_names_its_tests(self):
        here = pathlib.Path(__file__).resolve().parent
        there = {name for file in here.glob("test_*.py") for name in re.findall(r"    def (test_\w+)\(", file.read_text())}
        rows = (here.parent / "README.md").read_text().partition("| what is wrong |")[2].partition("\n\n")[0].splitlines()[2:]
        self.assertEqual(len(rows), 9)
        for row in rows:
            tests = re.findall(r"`(test_\w+)`", row.rpartition(" | ")[2])
            self.assertTrue(tests, row)
            self.assertEqual([t for t in tests if t not in there], [])

    def test_all_names_are_there(self):
        for name in interbolt.__all__:
            self.assertTrue(hasattr(interbolt, name), name)
        with self.assertRaises(AttributeError):
            interbolt.nobody

    def test_get_runtime(self):
        r = self.configured()
        self.assertIs(interbolt.get_runtime(), r)
        self.assertIsNone(label_of([1, "x"]))
        self.assertIsInstance(taint("x", source="web"), Carrier)


if __name__ == "__main__":
    unittest.main()

