# SPDX-License-Identifier: Apache-2.0
"""Plays a script through the OpenAI Agents SDK's runner. With an `approve`, approvals are the SDK's interruptions."""

import asyncio
import json

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from interlock.adapters.openai_agents import guard
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

ANSWERS_ERRORS = True  # a tool that raises answers the model a text of its own, before anybody else sees the error


class Scripted(Model):
    """A model that asks for what the script says."""

    def __init__(self, script):
        self.script = script

    async def get_response(self, system_instructions, input, *unused, **more):
        at = sum(1 for _ in self._turns_done(input))
        calls = self.script[at] if at < len(self.script) else []
        items = [ResponseFunctionToolCall(type="function_call", call_id=c.id, name=c.tool, arguments=c.args if isinstance(c.args, str) else json.dumps(c.args)) for c in calls]
        text = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[ResponseOutputText(type="output_text", text="done", annotations=[])])
        return ModelResponse(output=items or [text], usage=Usage(), response_id=None)

    def _turns_done(self, input):
        """One for each turn of calls that the history has."""
        left = [i["call_id"] for i in input if not isinstance(i, str) and i.get("type") == "function_call"]
        for turn in self.script:
            if len(left) < len(turn):
                return
            left = left[len(turn) :]
            yield turn

    def stream_response(self, *unused, **more):
        raise NotImplementedError


def agent(gate, functions, script, *, names=None, interrupts=False, tools=(), **more):
    own = [function_tool(f, strict_mode=False) for f in functions.values()]
    return guard(gate, Agent(name="scripted", model=Scripted(script), tools=[*own, *tools], **more), names=names, interrupts=interrupts)


def told(result):
    return {i["call_id"]: i["output"] if isinstance(i["output"], str) else json.dumps(i["output"]) for i in result.to_input_list() if i.get("type") == "function_call_output"}


async def play_async(gate, functions, script, *, approve=None, names=None, **more):
    made = agent(gate, functions, script, names=names, interrupts=approve is not None, **more)
    config = RunConfig(tracing_disabled=True)
    result = await Runner.run(made, "go", run_config=config, max_turns=20)
    while result.interruptions:
        state = result.to_state()
        for item in result.interruptions:
            answer = approve({"name": item.name, "args": json.loads(item.arguments)})
            state.approve(item) if answer is True else state.reject(item)
        result = await Runner.run(made, state, run_config=config, max_turns=20)
    return told(result)


def play(gate, functions, script, **more):
    return asyncio.run(play_async(gate, functions, script, **more))
