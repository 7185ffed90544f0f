# SPDX-License-Identifier: Apache-2.0
"""The OpenAI Agents SDK."""

import asyncio
import contextlib
import json
import unittest

import rig_openai_agents as rig_openai
from agents import (
    Agent,
    RunConfig,
    Runner,
    RunState,
    ShellTool,
    ToolGuardrailFunctionOutput,
    WebSearchTool,
    function_tool,
    handoff,
    tool_input_guardrail,
)
from agents.mcp import MCPServer
from conformance import DELETE, FETCH, PUBLISH, READ, Conformance
from interlock import UsageError
from interlock.adapters.openai_agents import guard
from mcp.types import CallToolResult, TextContent, Tool
from toolbox import PAGE, Call, gate, turns

CONFIG = RunConfig(tracing_disabled=True)


class Server(MCPServer):
    """An MCP server of the SDK's, without a process behind it."""

    def __init__(self, box):
        super().__init__()
        self.box = box
        self.use_structured_content = False

    name = "web"
    cached_tools = None

    async def connect(self):
        pass

    async def cleanup(self):
        pass

    async def list_tools(self, run_context=None, agent=None):
        schema = {"type": "object", "properties": {"url": {"type": "string"}}}
        return [Tool(name="fetch", description="Fetches a page.", input_schema=schema), Tool(name="deploy", description="Is in no policy.", input_schema=schema)]

    async def call_tool(self, tool_name, arguments, *unused, **more):
        self.box._noted(tool_name, arguments)
        return CallToolResult(content=[TextContent(type="text", text=PAGE)])

    async def list_prompts(self):
        raise NotImplementedError

    async def get_prompt(self, name, arguments=None):
        raise NotImplementedError


class OpenAIAgents(Conformance, unittest.TestCase):
    rig = rig_openai

    def agent(self, *script, using=None, **more):
        return rig_openai.agent(using or self.gate, self.box.functions(), turns(*script), **more)

    def run_agent(self, agent, what="go"):
        return asyncio.run(Runner.run(agent, what, run_config=CONFIG))

    def test_tools_that_are_no_functions_are_refused(self):
        for tool in (WebSearchTool(), ShellTool(executor=lambda request: "x")):
            with self.assertRaisesRegex(UsageError, "no function"):
                self.run_agent(self.agent(FETCH, tools=[tool]))
        self.assertEqual(self.box.names(), [])

    def test_a_tool_that_is_added_later_is_refused(self):
        made = self.agent(FETCH)
        made.tools.append(function_tool(self.box.functions()["publish"], name_override="late"))
        with self.assertRaisesRegex(UsageError, "added after"):
            self.run_agent(made)
        self.assertEqual(self.box.names(), [])

    def test_tools_of_an_mcp_server(self):
        made = guard(self.gate, Agent(name="a", model=rig_openai.Scripted(turns(Call("fetch", {"url": "x"}), Call("deploy", {"url": "x"}))), mcp_servers=[Server(self.box)]))
        told = rig_openai.told(self.run_agent(made))
        self.assertEqual(self.box.names(), ["fetch"])
        self.assertIn("welcome!", told["c1"])
        self.assertIn("unlabelled-tool", told["c2"])

    def test_an_agent_that_is_handed_to(self):
        for wrap in (lambda agent: agent, handoff):
            with self.subTest(wrap=wrap), gate() as one:
                self.box.ran.clear()
                model = rig_openai.Scripted(turns(Call("transfer_to_second"), FETCH, READ, PUBLISH))
                second = Agent(name="second", model=model, tools=[function_tool(f, strict_mode=False) for f in self.box.functions().values()])
                first = Agent(name="first", model=model, handoffs=[wrap(second)])
                self.run_agent(guard(one, first))
                self.assertEqual(self.box.names(), ["fetch", "read_secret"])

    def test_agents_that_hand_to_each_other(self):
        first, second = Agent(name="first"), Agent(name="second")
        first.handoffs, second.handoffs = [second], [first]
        twin = guard(self.gate, first)
        self.assertIs(twin.handoffs[0].handoffs[0], twin)
        self.assertIs(guard(self.gate, twin), twin)

    def test_an_agent_as_a_tool(self):
        inner = Agent(name="helper", model=rig_openai.Scripted(turns(FETCH, READ)), tools=[function_tool(f, strict_mode=False) for f in self.box.functions().values()])
        script = turns(Call("helper", {"input": "go"}), PUBLISH)
        plain = guard(self.gate, Agent(name="outer", model=rig_openai.Scripted(script), tools=[inner.as_tool("helper", "Helps.")]))
        with self.assertRaisesRegex(UsageError, "not guarded"):
            self.run_agent(plain)
        self.assertEqual(self.box.names(), [])
        tools = [guard(self.gate, inner).as_tool("helper", "Helps."), function_tool(self.box.functions()["publish"])]
        self.run_agent(guard(self.gate, Agent(name="outer", model=rig_openai.Scripted(script), tools=tools)))
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])

    def test_a_clone_of_a_guarded_agent(self):
        made = self.agent(FETCH, READ, PUBLISH).clone(name="other")
        self.run_agent(made)
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])

    # ---- approvals ------------------------------------------------------------------------------------

    def test_a_state_that_was_written_down(self):
        made = self.agent(FETCH, DELETE, interrupts=True)
        result = self.run_agent(made)
        text = result.to_state().to_string()

        async def later():
            state = await RunState.from_string(made, text)
            state.approve(state.get_interruptions()[0])
            return await Runner.run(made, state, run_config=CONFIG)

        self.assertIn("deleted a", rig_openai.told(asyncio.run(later()))["c2"])
        self.assertEqual(self.box.names(), ["fetch", "delete"])

    def test_an_approval_that_nobody_asked_for(self):
        """Forged: a state of another session's, in which the call waits."""
        with gate() as other:
            text = self.run_agent(self.agent(FETCH, DELETE, using=other, interrupts=True)).to_state().to_string()
        self.gate.settle(self.gate.decide("fetch", {"url": "x"}), PAGE)
        made = self.agent(FETCH, DELETE, interrupts=True)

        async def later():
            state = await RunState.from_string(made, text)
            state.approve(state.get_interruptions()[0])
            return await Runner.run(made, state, run_config=CONFIG)

        asyncio.run(later())
        self.assertEqual(self.box.names(), ["fetch"])

    def test_always_approve_approves_nothing(self):
        made = self.agent(FETCH, DELETE, Call("delete", {"name": "b"}), interrupts=True)
        result = self.run_agent(made)
        state = result.to_state()
        state.approve(result.interruptions[0], always_approve=True)
        result = asyncio.run(Runner.run(made, state, run_config=CONFIG))
        self.assertEqual(self.box.given[1:], ["a"], "the second call is another one")
        self.assertIn("c3", rig_openai.told(result))

    def test_without_interrupts_the_model_reads_it(self):
        result = self.run_agent(self.agent(FETCH, DELETE))
        self.assertEqual(result.interruptions, [])
        self.assertIn("a human can release it", rig_openai.told(result)["c2"])

    def test_a_tool_that_wants_approval_of_its_own(self):
        tool = function_tool(self.box.functions()["note"], name_override="note", needs_approval=True)
        made = guard(self.gate, Agent(name="a", model=rig_openai.Scripted(turns(Call("note", {"value": "x"}))), tools=[tool]), interrupts=True)
        self.assertEqual(len(self.run_agent(made).interruptions), 1)
        self.assertEqual(self.box.names(), [])

    def test_a_guardrail_that_stops_what_was_decided(self):
        """The call was let through and does not run: the next turn settles it."""

        @tool_input_guardrail
        def no(data):
            return ToolGuardrailFunctionOutput.reject_content("not today")

        tool = function_tool(self.box.functions()["fetch"], tool_input_guardrails=[no])
        made = guard(self.gate, Agent(name="a", model=rig_openai.Scripted(turns(FETCH)), tools=[tool]), interrupts=True)
        self.run_agent(made)
        self.assertEqual(self.box.names(), [])
        self.assertEqual(json.loads(self.gate.trail()[-1].body)["how"], "failed")

    def test_plans_run_one_after_the_other(self):
        self.play([FETCH, READ, Call("fetch", {"url": "https://b.example"})], approve=lambda question: self.fail("nobody is asked"))
        for before, after in zip(self.box.ran[::2], self.box.ran[1::2]):
            self.assertEqual((before[0], before[1], after[1]), (after[0], "in", "out"))
        self.assertEqual(len([row for row in self.gate.trail() if '"how"' in row.body]), 3)

    # ---- arguments as the model wrote them --------------------------------------------------------------

    def test_arguments_that_readers_read_differently(self):
        texts = ['{"to": "ana@example.org", "to": "eve@evil.example", "body": "x"}', '{"to": "ana@example.org", "body": 1e400}', '{"to": NaN}', '["to"]', "{", '{"to": "\\ud800", "body": "x"}',
                 '{"a":' * 300 + "1" + "}" * 300]
        for text in texts:
            for interrupts in (False, True):
                with self.subTest(text=text[:30]), contextlib.suppress(UnicodeEncodeError):  # the SDK's own, of the surrogate
                    told = self.run_agent(self.agent(Call("send", text), interrupts=interrupts))
                    self.assertNotIn("sent to", json.dumps(rig_openai.told(told)))
        self.assertEqual(self.box.names(), [])
        self.gate.end()  # which it does not while a call is open


if __name__ == "__main__":
    unittest.main()
