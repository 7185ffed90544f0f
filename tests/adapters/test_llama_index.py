# SPDX-License-Identifier: Apache-2.0
"""LlamaIndex agents."""

import asyncio
import unittest

import rig_llama_index
from conformance import DELETE, FETCH, PUBLISH, READ, Conformance
from interlock import Gate
from interlock.adapters.llama_index import guard
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from toolbox import PAGE, Call, remembering, turns


class LlamaIndex(Conformance, unittest.TestCase):
    rig = rig_llama_index

    def test_a_tool_that_is_called_by_itself(self):
        box = self.box

        def fetch(url: str) -> str:
            """Fetches a page."""
            box._noted("fetch", url)
            return PAGE

        def publish(url: str, text: str) -> str:
            """Publishes a text."""
            box._noted("publish", url)
            return "published"

        fetch, publish = guard(self.gate, [fetch, FunctionTool.from_defaults(fn=publish)])
        self.assertEqual(fetch.call(url="x").content, PAGE)
        self.assertEqual(fetch("y").content, PAGE, "an argument without a name")
        self.gate.call("read_secret", {}, lambda: "x")
        out = publish(url="https://evil.example", text="x")
        self.assertTrue(out.is_error)
        self.assertIn("lethal-trifecta", out.content)
        self.assertEqual(asyncio.run(fetch.acall(url="z")).content, PAGE)
        self.assertEqual(box.given, ["x", "y", "z"])

    def test_arguments_that_were_set_beforehand_are_judged(self):
        send = FunctionTool.from_defaults(async_fn=self.box.functions()["send"], partial_params={"to": "eve@evil.example"})
        tools = guard(self.gate, [self.box.functions()["fetch"], self.box.functions()["read_secret"], send])
        agent = FunctionAgent(llm=rig_llama_index.model(turns(FETCH, READ, Call("send", {"body": "x"}))), tools=tools, streaming=False)

        async def go():
            handler = agent.run("go")
            async for event in handler.stream_events():
                if isinstance(event, InputRequiredEvent):
                    self.assertEqual(event.args["to"], "eve@evil.example")
                    handler.ctx.send_event(HumanResponseEvent(response=False, approval=event.approval))
            await handler

        asyncio.run(go())
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])

    def test_a_tool_that_wants_the_context(self):
        box = self.box

        async def note(ctx: Context, value: str) -> str:
            """Notes something."""
            await ctx.store.set("noted", value)
            box._noted("note", value)
            return "noted"

        told = rig_llama_index.play(self.gate, {"note": note}, turns(Call("note", {"value": "x"})))
        self.assertEqual(told, {"c1": "noted"})
        self.assertEqual(box.given, ["x"])

    def test_an_answer_to_another_question(self):
        """The event must name the request; one that names another is none."""

        async def go():
            agent = FunctionAgent(llm=rig_llama_index.model(turns(FETCH, DELETE)), tools=guard(self.gate, self.box.functions().values()), streaming=False)
            handler = agent.run("go")
            async for event in handler.stream_events():
                if isinstance(event, InputRequiredEvent):
                    handler.ctx.send_event(HumanResponseEvent(response=True))
                    handler.ctx.send_event(HumanResponseEvent(response=True, approval="0" * 20))
                    await asyncio.sleep(0.1)
                    self.assertEqual(self.box.names(), ["fetch"])
                    handler.ctx.send_event(HumanResponseEvent(response=True, approval=event.approval))
            await handler

        asyncio.run(go())
        self.assertEqual(self.box.names(), ["fetch", "delete"])

    def test_several_agents_with_one_gate(self):
        def agent(name, model):
            return FunctionAgent(name=name, description=name, llm=model, tools=guard(self.gate, self.box.functions().values()), streaming=False)

        model = rig_llama_index.model(turns(FETCH, READ, Call("handoff", {"to_agent": "second", "reason": "x"}), PUBLISH))
        flow = AgentWorkflow(agents=[agent("first", model), agent("second", model)], root_agent="first")

        async def go():
            return await flow.run("go")

        asyncio.run(go())
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])

    def test_an_agent_that_writes_its_calls_as_text(self):
        lines = iter(['Thought: x\nAction: fetch\nAction Input: {"url": "https://garden.example"}', "Thought: I can answer.\nAnswer: done"])
        model = MockFunctionCallingLLM(response_generator=lambda messages, **unused: ChatMessage(role="assistant", content=next(lines)))
        agent = ReActAgent(llm=model, tools=guard(self.gate, self.box.functions().values()), streaming=False)

        async def go():
            return await agent.run("go")

        asyncio.run(go())
        self.assertEqual(self.box.names(), ["fetch"])
        self.assertEqual(len([row for row in self.gate.trail() if '"how"' in row.body]), 1)

    def test_a_result_that_says_that_it_failed(self):
        def fail() -> ToolOutput:
            """Fails."""

        class Fails(FunctionTool):
            async def acall(self, *unnamed, **args):
                return ToolOutput(content=PAGE, tool_name="fail", raw_input={}, raw_output=None, is_error=True)

        with Gate(remembering("fail")) as strict:
            (tool,) = guard(strict, [Fails.from_defaults(fn=fail)])
            self.assertEqual(asyncio.run(tool.acall()).content, PAGE)
            self.assertIn('"failed"', strict.trail()[-1].body)
            self.assertFalse(strict.decide("recall", {"value": PAGE}).run)


if __name__ == "__main__":
    unittest.main()
