# SPDX-License-Identifier: Apache-2.0
"""Plays a script through LangChain's `create_agent`."""

import asyncio
import uuid

from interlock.adapters.langchain import Interlock
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command


class Scripted(BaseChatModel):
    """A model that asks for what the script says."""

    script: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **unused):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **unused):
        at = sum(isinstance(m, AIMessage) for m in messages)
        calls = self.script[at] if at < len(self.script) else []
        message = AIMessage(content="" if calls else "done", tool_calls=[{"name": c.tool, "args": c.args, "id": c.id, "type": "tool_call"} for c in calls])
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(gate, functions, script, *, names=None, middleware=(), **more):
    tools = [StructuredTool.from_function(coroutine=f, name=n, description=f.__doc__) for n, f in functions.items()]
    return create_agent(Scripted(script=script), tools, middleware=[*middleware, Interlock(gate, names=names, **more)], checkpointer=InMemorySaver())


def resumed(state, approve):
    """The answers to what the graph waits for, each under its interrupt's id."""
    answers = {}
    for question in state["__interrupt__"]:
        answer = approve(question.value)
        kind = "approve" if answer is True else "reject" if answer is False else answer
        answers[question.id] = {"decisions": [{"type": kind}]}
    return Command(resume=answers)


def told(state):
    return {m.tool_call_id: m.text if isinstance(m.content, str) else str(m.content) for m in state["messages"] if isinstance(m, ToolMessage)}


async def play_async(gate, functions, script, *, approve=None, names=None):
    made = agent(gate, functions, script, names=names)
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    state = await made.ainvoke({"messages": [("user", "go")]}, config)
    while state.get("__interrupt__"):
        state = await made.ainvoke(resumed(state, approve), config)
    return told(state)


def play(gate, functions, script, **more):
    return asyncio.run(play_async(gate, functions, script, **more))
