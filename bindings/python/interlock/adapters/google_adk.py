# SPDX-License-Identifier: Apache-2.0
"""Google's Agent Development Kit.

    runner = Runner(app_name="mail", agent=agent, session_service=sessions, plugins=[Interlock(gate_of), ...])

Put it first: a plugin before it that answers a call itself keeps the answer from being recorded. `gate_of(session_id)` answers the gate of an ADK session;
a `Gate` in its place is one session for all that the runner does. Agents as tools and sub-agents go through it as well; ADK's own tools
(`transfer_to_agent`, `set_model_response`) are tools that the policy names.

A call that a human may release asks by ADK's tool confirmation, and goes on by a function response `{"confirmed": True}` for it. Tools that run in the
model's service, code executors and live sessions are refused.
"""

from __future__ import annotations

import collections.abc
import functools
import typing

from google.adk.plugins.base_plugin import BasePlugin
from google.genai.types import Tool

from ..errors import ApprovalRequired, Denied, UsageError, Withheld
from ..gate import Gate
from .seam import Seam, read

if typing.TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai.types import Content

__all__ = ["Interlock"]

Run = collections.abc.Callable[..., collections.abc.Awaitable[typing.Any]]


class Interlock(BasePlugin):
    """A plugin that puts a gate in front of each tool call of its runner. `names`: what tools are called in the policy, where that differs."""

    def __init__(
        self, gate: Gate | collections.abc.Callable[[str], Gate], *, names: collections.abc.Mapping[str, str] | None = None, name: str = "interlock"
    ) -> None:
        super().__init__(name)
        if not callable(gate):
            Seam(gate)
        self._gate = gate
        self._names = names

    def seam(self, session: str) -> Seam:
        return Seam(self._gate(session) if callable(self._gate) else self._gate, self._names)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> Content | None:
        if invocation_context.live_request_queue is not None:
            raise UsageError("a live session runs tools that no gate sees: use `run_async`")
        return None

    async def before_agent_callback(self, *, agent: typing.Any, callback_context: CallbackContext) -> Content | None:
        if getattr(agent, "code_executor", None) is not None:
            raise UsageError(f"the agent `{agent.name}` runs code of the model's, where no gate stands: give it a tool of its own")
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        for tool in llm_request.config.tools or []:
            held = tool.model_dump(exclude_none=True) if isinstance(tool, Tool) else {type(tool).__name__: tool}
            for kind in held.keys() - {"function_declarations"}:
                raise UsageError(f"the tool `{kind}` runs in the model's service, where no gate stands: give the agent a tool of its own")
        return None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, typing.Any], tool_context: ToolContext) -> dict[str, typing.Any] | None:
        """Puts the gate where the tool runs, behind the callbacks that may still change its arguments. None lets ADK go on to there."""
        if getattr(tool, "include_plugins", True) is not True:
            return {"error": f"interlock: `{tool.name}` did not run: an agent with `include_plugins=False` has no gate"}
        if not isinstance(tool.run_async, functools.partial) or tool.run_async.func is not _run:
            setattr(tool, "run_async", functools.partial(_run, tool.name, tool.run_async))
        return None


async def _run(name: str, inner: Run, *, args: dict[str, typing.Any], tool_context: ToolContext) -> typing.Any:
    """The last metre of a tool, which several runners may share: the plugin of the one that calls has the gate."""
    for plugin in tool_context.get_invocation_context().plugin_manager.plugins:
        if isinstance(plugin, Interlock):
            return await _gated(plugin.seam(tool_context.session.id), name, inner, args, tool_context)
    return await inner(args=args, tool_context=tool_context)


async def _gated(seam: Seam, name: str, inner: Run, args: dict[str, typing.Any], tool_context: ToolContext) -> typing.Any:
    seen = seam.waiting()

    async def once() -> typing.Any:
        return await seam.acall(name, args, lambda judged: inner(args=judged, tool_context=tool_context), _seen)

    try:
        return await once()
    except ApprovalRequired as e:
        asked = e
    except (Denied, Withheld) as e:
        return {"error": str(e)}
    answer = tool_context.tool_confirmation
    if not seam.asks:
        return {"error": str(asked)}
    if answer is None or asked.decision.approval not in seen:
        tool_context.request_confirmation(hint=str(asked), payload={"approval": asked.decision.approval})
        tool_context.actions.skip_summarization = True
        return {"error": str(asked)}
    seam.answer(asked, answer.confirmed is True)
    if answer.confirmed is not True:
        return {"error": "a human refused this call"}
    try:
        return await once()
    except (Denied, Withheld) as e:
        return {"error": str(e)}


def _seen(result: object) -> object:
    return read(result) if isinstance(result, str) else result
