# SPDX-License-Identifier: Apache-2.0
"""Plays a script through LlamaIndex's FunctionAgent."""

import asyncio

from interlock.adapters.llama_index import guard
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent


def model(script):
    """A model that asks for what the script says."""
    at = iter(range(1000))

    def answer(messages, **unused):
        turn = next(at)
        calls = script[turn] if turn < len(script) else []
        blocks = [ToolCallBlock(tool_name=c.tool, tool_kwargs=c.args, tool_call_id=c.id) for c in calls]
        return ChatMessage(role="assistant", blocks=blocks) if blocks else ChatMessage(role="assistant", content="done")

    return MockFunctionCallingLLM(response_generator=answer)


async def play_async(gate, functions, script, *, approve=None, names=None, tools=()):
    agent = FunctionAgent(llm=model(script), tools=guard(gate, [*functions.values(), *tools], names=names), streaming=False, early_stopping_method="generate")
    handler = agent.run("go")
    told = {}
    try:
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                answer = approve({"name": event.tool, "args": event.args})
                handler.ctx.send_event(HumanResponseEvent(response=answer, approval=event.approval))
            if isinstance(event, ToolCallResult):
                told[event.tool_id] = event.tool_output.content
        await handler
    except asyncio.CancelledError:
        await handler.cancel_run()
        raise
    return told


def play(gate, functions, script, **more):
    return asyncio.run(play_async(gate, functions, script, **more))
