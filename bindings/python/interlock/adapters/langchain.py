# SPDX-License-Identifier: Apache-2.0
"""LangChain 1.x agents and LangGraph's ToolNode.

    agent = create_agent(model, tools, middleware=[..., Interlock(gate)], checkpointer=InMemorySaver())

`gate` may also be a function from a thread's id to its gate, for an agent that serves several. Put it last: what comes after it could change the arguments that
were judged. For a graph of your own: `ToolNode(tools, wrap_tool_call=guard.wrap_tool_call,
awrap_tool_call=guard.awrap_tool_call)`; a tool that a node calls by itself is not seen.

A call that a human may release is an interrupt with the value of LangChain's own HumanInTheLoopMiddleware, and goes on by
`Command(resume={"decisions": [{"type": "approve"}]})`; any other answer is a no. Tools that the provider runs are refused.
"""

from __future__ import annotations

import collections.abc
import typing

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.types import Command, interrupt

from ..errors import ApprovalRequired, Denied, UsageError, Withheld
from ..gate import Gate
from .seam import Seam, ToolFailure, read

if typing.TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest

__all__ = ["Interlock"]

Result: typing.TypeAlias = ToolMessage | Command[typing.Any]


def _seen(result: Result) -> object:
    if not isinstance(result, ToolMessage):
        return result
    content: object = read(result.content) if isinstance(result.content, str) else result.content
    if result.status == "error":
        raise ToolFailure(str(content))
    return content


class Interlock(AgentMiddleware[typing.Any, typing.Any, typing.Any]):
    """Middleware that puts a gate in front of each tool call. `names`: what tools are called in the policy, where that differs.

    Without a checkpointer set `interrupts=False`: then the model is told that the call needs an approval (`gate.approve`), and the run goes on.
    """

    def __init__(
        self, gate: Gate | collections.abc.Callable[[str], Gate], *, names: collections.abc.Mapping[str, str] | None = None, interrupts: bool = True
    ) -> None:
        super().__init__()
        if not callable(gate):
            Seam(gate)  # a TypeError now, and not with the first call
        self._gate = gate
        self._names = names
        self._interrupts = interrupts

    @property
    def name(self) -> str:
        return "interlock"

    def wrap_tool_call(self, request: ToolCallRequest, handler: collections.abc.Callable[[ToolCallRequest], Result]) -> Result:
        call, seam = request.tool_call, self._seam(request)
        seen = seam.waiting() if self._interrupts else frozenset()

        def once() -> Result:
            return seam.call(call["name"], call["args"], lambda args: handler(_with(request, args)), _seen)

        try:
            return once()
        except ApprovalRequired as e:
            asked = e
        except (Denied, Withheld) as e:
            return _refused(request, str(e))
        if not self._answered(seam, request, asked, seen):
            return _refused(request, str(asked))
        try:
            return once()
        except (Denied, Withheld) as e:
            return _refused(request, str(e))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: collections.abc.Callable[[ToolCallRequest], collections.abc.Awaitable[Result]]
    ) -> Result:
        call, seam = request.tool_call, self._seam(request)
        seen = seam.waiting() if self._interrupts else frozenset()

        async def once() -> Result:
            return await seam.acall(call["name"], call["args"], lambda args: handler(_with(request, args)), _seen)

        try:
            return await once()
        except ApprovalRequired as e:
            asked = e
        except (Denied, Withheld) as e:
            return _refused(request, str(e))
        if not self._answered(seam, request, asked, seen):
            return _refused(request, str(asked))
        try:
            return await once()
        except (Denied, Withheld) as e:
            return _refused(request, str(e))

    def _seam(self, request: ToolCallRequest) -> Seam:
        if not callable(self._gate):
            return Seam(self._gate, self._names)
        return Seam(self._gate(request.runtime.config.get("configurable", {})["thread_id"]), self._names)

    def _answered(self, seam: Seam, request: ToolCallRequest, asked: ApprovalRequired, seen: frozenset[str]) -> bool:
        """Whether a human said yes. The first time round `interrupt` raises; then it returns the answer."""
        if not (self._interrupts and seam.asks):
            return False
        call = request.tool_call
        question = {
            "action_requests": [{"name": call["name"], "args": call["args"], "description": str(asked)}],
            "review_configs": [{"action_name": call["name"], "allowed_decisions": ["approve", "reject"]}],
            "approval": asked.decision.approval,
        }
        answer = interrupt(question)
        if asked.decision.approval not in seen:
            return False  # it is the answer to another request, which is void since: whoever calls again is asked again
        seam.answer(asked, _yes(answer))
        return _yes(answer)

    def wrap_model_call(
        self, request: ModelRequest[typing.Any], handler: collections.abc.Callable[[ModelRequest[typing.Any]], ModelResponse[typing.Any]]
    ) -> ModelResponse[typing.Any]:
        _no_hosted(request)
        return handler(request)

    async def awrap_model_call(
        self,
        request: ModelRequest[typing.Any],
        handler: collections.abc.Callable[[ModelRequest[typing.Any]], collections.abc.Awaitable[ModelResponse[typing.Any]]],
    ) -> ModelResponse[typing.Any]:
        _no_hosted(request)
        return await handler(request)


def _with(request: ToolCallRequest, args: dict[str, object]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": args})


def _refused(request: ToolCallRequest, text: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content=text, tool_call_id=call["id"], name=call["name"], status="error")


def _yes(answer: object) -> bool:
    if answer is True:
        return True
    decisions = answer.get("decisions") if isinstance(answer, dict) else None
    return isinstance(decisions, list) and len(decisions) == 1 and isinstance(decisions[0], dict) and decisions[0].get("type") == "approve"


def _no_hosted(request: ModelRequest[typing.Any]) -> None:
    for tool in request.tools:
        if isinstance(tool, dict):
            name = tool.get("name") or tool.get("type") or "of no name"
            raise UsageError(f"the tool `{name}` runs at the model's provider, where no gate stands: give the agent a tool of its own")
