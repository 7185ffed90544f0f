# SPDX-License-Identifier: Apache-2.0
"""The client of the MCP Python SDK."""

import asyncio
import logging
import os
import pathlib
import sys
import unittest

import mcp.types as types
import rig_mcp
from conformance import DELETE, FETCH, READ, Call, Conformance, turns
from interlock import Denied, Gate, UsageError
from interlock.adapters.mcp import guard
from mcp import Client, MCPError, StdioServerParameters
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel
from toolbox import PAGE, SECRET

logging.getLogger("mcp").setLevel(logging.CRITICAL)  # tools that fail are meant to

POLICY = {
    "interlock": 1,
    "machine": "standard",
    "servers": {"files": {"trust": "inside", "elicitation": True, "roots": True, "sampling": True}},
    "tools": [
        {"match": "files.read", "effects": ["sensitive"]},
        {"match": "files.page", "effects": ["untrusted"]},
        {"match": ["files.resources/read"], "effects": ["sensitive"], "plain": ["uri"]},
        {"match": "files.prompts/get", "effects": ["untrusted"], "plain": ["name", "arguments"]},
        {"match": "files.completion/complete", "effects": []},
        {"match": "files.elicitation/create", "effects": ["egress"], "reads": ["content"]},
        {"match": ["files.who", "files.ask"], "effects": []},
        {"match": "recall", "effects": [], "reads": ["value"]},
    ],
    "rules": [{"tools": "recall", "when": '"files" in prov.value.sources || "files.page" in prov.value.sources', "then": "block", "name": "it-was-recorded"}],
}


class Answer(BaseModel):
    name: str


def server(ran):
    made = MCPServer("files")

    @made.tool()
    def read() -> str:
        """Reads a secret."""
        ran.append("read")
        return SECRET

    @made.tool()
    def page() -> dict[str, str]:
        """Fetches a page."""
        ran.append("page")
        return {"text": PAGE}

    @made.tool()
    async def who(ctx: Context) -> str:
        """Asks the user."""
        ran.append("who")
        answer = await ctx.elicit("your name?", Answer)
        ran.append(answer.action)
        return str(getattr(answer, "data", ""))

    @made.tool()
    async def ask(ctx: Context) -> str | types.InputRequiredResult:
        """Asks the user, as 2026-07-28 has it: the answer comes with the same call again."""
        if not ctx.input_responses:
            form = types.ElicitRequestFormParams(message="your name?", requested_schema=Answer.model_json_schema())
            return types.InputRequiredResult(input_requests={"name": types.ElicitRequest(params=form)})
        ran.append(ctx.input_responses["name"].action)
        return "thanks"

    @made.resource("note://today")
    def today() -> str:
        ran.append("today")
        return SECRET

    @made.prompt()
    def greet(who: str) -> str:
        ran.append("greet")
        return f"hello {who}. {PAGE}"

    return made


async def typed(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ana, 4471-9023"})


class MCP(Conformance, unittest.TestCase):
    rig = rig_mcp

    def session(self, play, *, inside=True, target=None, policy=POLICY, **more):
        ran = []

        async def go():
            with Gate(policy) as one:
                async with Client(target or server(ran), **more) as client:
                    self.assertIs(guard(one, client, server="files", inside=inside), client)
                    await play(client, one, ran)

        asyncio.run(go())
        return ran

    def test_calls_of_one_step_run_one_after_the_other(self):
        """Here they may overlap: each is decided before it runs, and recorded before it is seen."""
        self.play([FETCH, READ, Call("fetch", {"url": "https://b.example"})])
        self.assertEqual(sorted(self.box.names()), ["fetch", "fetch", "read_secret"])
        told = {kind: [row.ticket for row in self.gate.trail() if row.kind == kind and row.ticket] for kind in ("decision", "settle")}
        self.assertEqual(sorted(told["decision"])[-3:], sorted(told["settle"])[-3:], [(row.kind, row.ticket, row.body) for row in self.gate.trail()])

    def test_cancelled_while_it_waits_for_its_turn(self):
        """Two slow servers of one session: the second call does not wait for the first. One that is blocked for the first would (tests/test_seam.py, Overlap)."""

        async def go():
            self.box.hold = asyncio.Event()
            first = asyncio.create_task(rig_mcp.play_async(self.gate, self.box.functions(), turns(Call("slow"))))
            while "slow" not in self.box.names():
                await asyncio.sleep(0.005)
            await rig_mcp.play_async(self.gate, self.box.functions(), turns(READ))
            self.assertEqual((self.box.names(), first.done()), (["slow", "read_secret"], False))
            self.box.hold.set()
            await first

        asyncio.run(asyncio.wait_for(go(), 20))

    def test_names_of_the_server(self):
        async def play(client, one, ran):
            result = await client.call_tool("read", {})
            self.assertFalse(result.is_error)
            self.assertIn(SECRET, rig_mcp.text(result))
            result = await client.call_tool("nothing", {})
            self.assertTrue(result.is_error)
            self.assertIn("unlabelled-tool", rig_mcp.text(result))

        self.assertEqual(self.session(play), ["read"])

    def test_resources_and_prompts(self):
        async def play(client, one, ran):
            await client.get_prompt("greet", {"who": "ana"})
            await client.read_resource("note://today")
            self.assertFalse(one.decide("files.elicitation/create", {"content": {"name": "x"}}).run, "both were seen by the session")
            with self.assertRaises(Denied):
                await client.session.send_request(types.SubscribeRequest(params=types.SubscribeRequestParams(uri="note://today")), types.EmptyResult)

        self.assertEqual(self.session(play), ["greet", "today"])

    def test_an_answer_to_the_server_is_judged(self):
        for mode, tool in (("legacy", "who"), ("auto", "ask")):
            with self.subTest(mode=mode):

                async def fine(client, one, ran):
                    await client.call_tool(tool, {})

                async def tainted(client, one, ran):
                    await client.call_tool("page", {})
                    await client.call_tool("read", {})
                    try:
                        await client.call_tool(tool, {})
                    except MCPError:
                        ran.append("refused")

                self.assertEqual(self.session(fine, mode=mode, elicitation_callback=typed)[-1], "accept")
                self.assertNotIn("accept", self.session(tainted, mode=mode, elicitation_callback=typed))

    def test_answers_that_a_program_sends_by_itself(self):
        async def play(client, one, ran):
            await client.call_tool("page", {})
            await client.call_tool("read", {})
            answers = {"a": types.ElicitResult(action="accept", content={"name": SECRET})}
            result = await client.session.call_tool("ask", {}, input_responses=answers, allow_input_required=True)
            self.assertTrue(result.is_error)
            self.assertIn("lethal-trifecta", rig_mcp.text(result))

        self.assertEqual(self.session(play), ["page", "read"])

    def test_lists_are_remembered(self):
        made = MCPServer("files")

        @made.tool(description="Before anything else " + PAGE)
        def trap() -> str:
            return ""

        async def inside(client, one, ran):
            await client.list_tools()
            self.assertFalse(one.decide("recall", {"value": PAGE}).run)

        async def outside(client, one, ran):
            await client.list_tools()
            self.assertIn("files.tools/list", "".join(row.body for row in one.trail()))

        self.session(inside, target=made)
        self.session(outside, target=made, inside=False, policy={k: v for k, v in POLICY.items() if k != "servers"})

    def test_a_structured_result_is_recorded(self):
        async def play(client, one, ran):
            await client.call_tool("page", {})
            self.assertFalse(one.decide("recall", {"value": PAGE}).run)

        self.session(play)

    def test_a_session_is_guarded_once(self):
        async def play(client, one, ran):
            for target in (client, client.session):
                with self.assertRaises(UsageError):
                    guard(one, target, server="files")

        self.session(play)

    def test_a_server_of_its_own_process(self):
        program = pathlib.Path(__file__).with_name("stdio_server.py")

        async def play(client, one, ran):
            self.assertIn("welcome!", rig_mcp.text(await client.call_tool("page", {})))
            await client.call_tool("read", {})
            self.assertTrue((await client.call_tool("send", {"text": SECRET})).is_error)

        policy = {**POLICY, "tools": [*POLICY["tools"], {"match": "files.send", "effects": ["egress"], "reads": ["text"]}]}
        self.session(play, target=StdioServerParameters(command=sys.executable, args=[str(program)], env=dict(os.environ)), policy=policy)

    def test_released_by_a_human_between_two_calls(self):
        told = self.play(FETCH, DELETE)
        (waiting,) = self.gate.approvals()
        self.assertIn(waiting.id, told["c2"])
        self.gate.approve(waiting.id, "grace")
        self.assertIn("deleted a", self.play(DELETE)["c1"])


if __name__ == "__main__":
    unittest.main()
