# SPDX-License-Identifier: Apache-2.0
"""Plays a script through Google ADK's runner."""

import asyncio
import json
import logging

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from interlock.adapters.google_adk import Interlock

CONFIRM = "adk_request_confirmation"
logging.getLogger("google_adk").setLevel(logging.CRITICAL)  # tools that fail are meant to


class Scripted(BaseLlm):
    """A model that asks for what the script says."""

    script: list = []
    turn: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        calls = self.script[self.turn] if self.turn < len(self.script) else []
        self.turn += 1
        parts = [types.Part(function_call=types.FunctionCall(id=c.id, name=c.tool, args=c.args)) for c in calls] or [types.Part(text="done")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def agent(functions, script, **more):
    return LlmAgent(name="scripted", model=Scripted(model="scripted", script=script), tools=[*functions.values(), *more.pop("tools", ())], **more)


async def play_async(gate, functions, script, *, approve=None, names=None, **more):
    runner = InMemoryRunner(agent(functions, script, **more), app_name="test", plugins=[Interlock(gate, names=names)])
    session = await runner.session_service.create_session(app_name="test", user_id="ana")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    told = {}
    while message:
        asked, message_parts = [], []
        async for event in runner.run_async(user_id="ana", session_id=session.id, new_message=message):
            for response in event.get_function_responses():
                told[response.id] = json.dumps(response.response)
            asked += [call for call in event.get_function_calls() if call.name == CONFIRM]
        for call in asked:
            original = call.args["originalFunctionCall"]
            answer = approve({"name": original["name"], "args": original["args"]})
            if answer is not True and answer is not False:
                answer = False  # ADK's own confirmation is a bool
            message_parts.append(types.Part(function_response=types.FunctionResponse(id=call.id, name=CONFIRM, response={"confirmed": answer})))
        message = types.Content(role="user", parts=message_parts) if message_parts else None
    return told


def play(gate, functions, script, **more):
    return asyncio.run(play_async(gate, functions, script, **more))
