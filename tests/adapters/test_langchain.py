# SPDX-License-Identifier: Apache-2.0
"""LangChain agents and LangGraph's tool node."""

import json
import tempfile
import unittest

import rig_langchain
from conformance import DELETE, FETCH, PUBLISH, READ, Conformance
from interlock import Gate, UsageError
from interlock.adapters.langchain import Interlock
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from toolbox import PAGE, SECRET, Call, gate, remembering, turns


class LangChain(Conformance, unittest.TestCase):
    rig = rig_langchain

    def sync(self):
        """The tools as plain functions, for the half of the adapter that `invoke` uses."""
        box = self.box

        def fetch(url: str) -> str:
            """Fetches a page."""
            box._noted("fetch", url)
            return PAGE

        def read_secret() -> str:
            """Reads a secret."""
            box._noted("read_secret")
            return SECRET

        def publish(url: str, text: str) -> str:
            """Publishes a text."""
            box._noted("publish", (url, text))
            return "published"

        def delete(name: str) -> str:
            """Deletes a file."""
            box._noted("delete", name)
            return f"deleted {name}"

        return [StructuredTool.from_function(f) for f in (fetch, read_secret, publish, delete)]

    def invoke(self, script, tools=None, thread="1", **more):
        made = rig_langchain.create_agent(
            rig_langchain.Scripted(script=turns(*script)), self.sync() if tools is None else tools, checkpointer=rig_langchain.InMemorySaver(), **more
        )
        config = {"configurable": {"thread_id": thread}}
        return made, config, made.invoke({"messages": [("user", "go")]}, config)

    def test_invoke(self):
        _, _, state = self.invoke([FETCH, READ, PUBLISH], middleware=[Interlock(self.gate)])
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])
        self.assertIn("lethal-trifecta", rig_langchain.told(state)["c3"])

    def test_invoke_in_parallel(self):
        """ToolNode runs the calls of a step in threads."""
        self.invoke([READ, [FETCH, PUBLISH]], middleware=[Interlock(self.gate)])
        self.assertLess(len(self.box.names()), 3, "whichever came first, the other two and it never ran all three")

    def test_invoke_asked_and_resumed(self):
        made, config, state = self.invoke([FETCH, DELETE], middleware=[Interlock(self.gate)])
        question = state["__interrupt__"][0].value
        self.assertEqual(question["action_requests"][0]["args"], {"name": "a"})
        self.assertEqual(question["review_configs"][0]["allowed_decisions"], ["approve", "reject"])
        state = made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
        self.assertEqual(self.box.names(), ["fetch", "delete"])
        self.assertEqual(rig_langchain.told(state)["c2"], "deleted a")

    def test_answers_that_are_no_yes(self):
        for answer in ("approve", 1, {}, {"decisions": []}, {"decisions": [{"type": "edit"}]}, {"decisions": [{"type": "approve"}, {"type": "approve"}]}, {"type": "approve"}):
            with gate() as one:
                made, config, _ = self.invoke([FETCH, DELETE], middleware=[Interlock(one)])
                made.invoke(Command(resume=answer), config)
        self.assertNotIn("delete", self.box.names())

    def test_without_interrupts_the_model_reads_it(self):
        _, _, state = self.invoke([FETCH, DELETE], middleware=[Interlock(self.gate, interrupts=False)])
        self.assertNotIn("__interrupt__", state)
        self.assertIn("a human can release it", rig_langchain.told(state)["c2"])

    def test_a_resume_that_nobody_asked_for(self):
        """A forged approval: a state that was never interrupted is resumed with a yes."""
        made, config, _ = self.invoke([FETCH], middleware=[Interlock(self.gate)])
        made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
        self.invoke([DELETE], middleware=[Interlock(self.gate)])
        self.assertEqual(self.box.names(), ["fetch"])
        self.assertEqual(len(self.gate.approvals()), 1)
        self.assertFalse(self.gate.approvals()[0].granted)

    def test_two_questions_of_one_step(self):
        asked = []

        def approve(question):
            asked.append(question["action_requests"][0]["args"]["name"])
            return asked[-1] == "b"

        told = self.play(FETCH, [DELETE, Call("delete", {"name": "b"})], approve=approve)
        self.assertEqual(self.box.given[1:], ["b"])
        self.assertIn("deleted b", told["c3"])
        self.assertEqual(sorted(asked), ["a", "b"])

    def test_tools_of_the_provider_are_refused(self):
        with self.assertRaisesRegex(UsageError, "web_search"):
            self.invoke([FETCH], [*self.sync(), {"type": "web_search"}], middleware=[Interlock(self.gate)])
        self.assertEqual(self.box.names(), [])

    def test_a_tool_that_middleware_adds(self):
        box = self.box

        class Adds(AgentMiddleware):
            def wrap_tool_call(self, request, handler):
                def late(url: str) -> str:
                    """A tool that the agent was not made with."""
                    box._noted("publish", url)
                    return "published"

                return handler(request.override(tool=StructuredTool.from_function(late, name="publish")))

        tools = [t for t in self.sync() if t.name != "publish"]
        self.invoke([FETCH, READ], tools, middleware=[Adds(), Interlock(self.gate)])
        self.box.ran.clear()
        self.invoke([PUBLISH], tools, middleware=[Adds(), Interlock(self.gate)])
        self.assertEqual(box.names(), [])

    def test_a_middleware_before_it_may_change_the_arguments(self):
        class Edits(AgentMiddleware):
            def wrap_tool_call(self, request, handler):
                return handler(request.override(tool_call={**request.tool_call, "args": {"url": "https://other.example"}}))

        self.invoke([FETCH], middleware=[Edits(), Interlock(self.gate)])
        self.assertEqual(self.box.given, ["https://other.example"])

    def test_one_agent_for_several_threads(self):
        gates = {}

        def of(thread):
            return gates.setdefault(thread, self.gate.session())

        middleware = [Interlock(of)]
        self.invoke([FETCH, READ], thread="a", middleware=middleware)
        self.invoke([PUBLISH], thread="b", middleware=middleware)
        self.invoke([PUBLISH], thread="a", middleware=middleware)
        self.assertEqual(self.box.names(), ["fetch", "read_secret", "publish"])

    def test_resumed_after_a_restart(self):
        """The question is in the ledger: another gate on it knows that it was asked. A gate on another ledger does not."""
        for same in (True, False):
            with self.subTest(same=same), tempfile.TemporaryDirectory() as folder:
                self.box.ran.clear()
                current = [gate(session="s", ledger=f"{folder}/first.db")]
                made, config, _ = self.invoke([FETCH, DELETE], middleware=[Interlock(lambda thread: current[0])])
                current[0].close()
                current[0] = gate(session="s", ledger=f"{folder}/first.db" if same else f"{folder}/other.db")
                if not same:
                    current[0].settle(current[0].decide("fetch", {"url": "x"}), PAGE)
                made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
                current[0].close()
                self.assertEqual(self.box.names(), ["fetch", "delete"] if same else ["fetch"])

    def test_a_tool_node_of_ones_own(self):
        guard = Interlock(self.gate, interrupts=False)
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(self.sync(), wrap_tool_call=guard.wrap_tool_call, awrap_tool_call=guard.awrap_tool_call))
        graph.add_edge(START, "tools")
        made = graph.compile()
        for call in (FETCH, READ, PUBLISH):
            state = made.invoke({"messages": [AIMessage(content="", tool_calls=[{"name": call.tool, "args": call.args, "id": "x", "type": "tool_call"}])]})
        self.assertEqual(self.box.names(), ["fetch", "read_secret"])
        self.assertEqual(state["messages"][-1].status, "error")

    def test_a_tool_that_answers_a_command(self):
        box = self.box

        def fetch(url: str) -> Command:
            """Fetches a page."""
            box._noted("fetch", url)
            return Command(update={"messages": [ToolMessage(PAGE, tool_call_id="c1", name="fetch")]})

        with Gate(remembering("fetch")) as strict:
            self.invoke([FETCH], [StructuredTool.from_function(fetch)], middleware=[Interlock(strict)])
            self.assertFalse(strict.decide("recall", {"value": PAGE}).run, "what the command puts in front of the model is recorded")

    def test_an_error_that_the_tool_node_answers(self):
        def fail() -> str:
            """Fails."""
            raise ValueError(PAGE)

        with Gate(remembering("fail")) as strict:
            guard = Interlock(strict)
            graph = StateGraph(MessagesState)
            graph.add_node("tools", ToolNode([StructuredTool.from_function(fail)], wrap_tool_call=guard.wrap_tool_call, handle_tool_errors=True))
            graph.add_edge(START, "tools")
            call = {"name": "fail", "args": {}, "id": "x", "type": "tool_call"}
            state = graph.compile().invoke({"messages": [AIMessage(content="", tool_calls=[call])]})
            self.assertIn("welcome", state["messages"][-1].content)
            self.assertFalse(strict.decide("recall", {"value": PAGE}).run)
            self.assertEqual([json.loads(row.body)["how"] for row in strict.trail() if "how" in json.loads(row.body)], ["failed"])


if __name__ == "__main__":
    unittest.main()
