# SPDX-License-Identifier: Apache-2.0
"""Plays a script through Pydantic AI's agent."""

import asyncio
import json

from interlock.adapters.pydantic_ai import Interlock
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


def model(script):
    """A model that asks for what the script says."""

    def answer(messages, info):
        at = sum(isinstance(m, ModelResponse) for m in messages)
        calls = script[at] if at < len(script) else []
        return ModelResponse(parts=[ToolCallPart(c.tool, c.args, tool_call_id=c.id) for c in calls] or [TextPart("done")])

    return FunctionModel(answer)


def agent(gate, functions, script, *, names=None, **more):
    made = Agent(model(script), output_type=[str, DeferredToolRequests], capabilities=[Interlock(gate, names=names)], **more)
    for f in functions.values():
        made.tool_plain(f)
    return made


def resumed(requests, approve):
    results = DeferredToolResults()
    for call in requests.approvals:
        question = {"name": call.tool_name, "args": call.args_as_dict(), **requests.metadata[call.tool_call_id]}
        answer = approve(question)
        results.approvals[call.tool_call_id] = True if answer is True else ToolDenied("a human refused")
    return results


def told(messages):
    out = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, (ToolReturnPart, RetryPromptPart)):
                out[part.tool_call_id] = part.content if isinstance(part.content, str) else json.dumps(part.content, default=str)
    return out


async def play_async(gate, functions, script, *, approve=None, names=None):
    made = agent(gate, functions, script, names=names)
    result = await made.run("go")
    while isinstance(result.output, DeferredToolRequests):
        result = await made.run(message_history=result.all_messages(), deferred_tool_results=resumed(result.output, approve))
    return told(result.all_messages())


def play(gate, functions, script, **more):
    return asyncio.run(play_async(gate, functions, script, **more))
