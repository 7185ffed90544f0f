# SPDX-License-Identifier: Apache-2.0
"""OpenAI Agents SDK.

    agent = guard(gate, Agent(name="mailer", tools=[...], mcp_servers=[...], handoffs=[...]))
    result = await Runner.run(agent, "...")

`guard` answers a twin of the agent whose function tools, MCP tools and handoffs go through the gate; an agent that is used as a tool is guarded before
`as_tool`. Tools that are no functions (hosted tools, hosted MCP, computer, shell, apply_patch) are refused: they run elsewhere, or not through a function
that a gate could stand before. A prompt that is stored at OpenAI may carry tools of its own, and nobody here sees those.

With `interrupts=True` a call that a human may release ends the run with `result.interruptions`, and goes on by `state.approve(item)`. The SDK asks before
it runs anything, so a call is then decided when the SDK asks; it is held as running from there on. `always_approve` approves nothing here.
"""

from __future__ import annotations

import collections.abc
import copy
import dataclasses
import json
import typing

from agents import Agent, FunctionTool, Handoff, Tool

from ..errors import ApprovalRequired, Denied, UsageError, Withheld
from ..gate import Gate
from .seam import Plan, Seam, read

if typing.TYPE_CHECKING:
    from agents import RunContextWrapper
    from agents.tool_context import ToolContext

__all__ = ["guard"]

Invoke = collections.abc.Callable[["ToolContext[typing.Any]", str], collections.abc.Awaitable[typing.Any]]


def guard(
    gate: Gate, agent: Agent[typing.Any], *, names: collections.abc.Mapping[str, str] | None = None, interrupts: bool = False
) -> Agent[typing.Any]:
    """A twin of the agent, each of whose tool calls is decided right before it runs. `names`: what tools are called in the policy, where that differs."""
    if not isinstance(agent, Agent):
        raise TypeError(f"an `Agent` is needed, not `{type(agent).__qualname__}`")
    return _Guard(Seam(gate, names), interrupts).agent(agent)


def _seen(result: object) -> object:
    return read(result) if isinstance(result, str) else result


class _Guard:
    """What the twins of one call of `guard` share."""

    def __init__(self, seam: Seam, interrupts: bool) -> None:
        self.seam = seam
        self.interrupts = interrupts and seam.asks
        self._twins: dict[int, tuple[Agent[typing.Any], Agent[typing.Any]]] = {}  # with the original, whose id is the key
        self._plans: dict[str, Plan] = {}

    def agent(self, agent: Agent[typing.Any]) -> Agent[typing.Any]:
        if isinstance(agent, _Twin):
            return agent
        if id(agent) not in self._twins:
            kind = type(f"Guarded{type(agent).__name__}", (_Twin, type(agent)), {"interlock": self})
            twin = kind(**{f.name: getattr(agent, f.name) for f in dataclasses.fields(agent) if f.init})
            self._twins[id(agent)] = (agent, twin)  # before the handoffs: they may lead back here
            twin.tools = [self.tool(t) for t in agent.tools]
            twin.handoffs = [self._handoff(h) for h in agent.handoffs]
        return self._twins[id(agent)][1]

    def tool(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool) or isinstance(tool.on_invoke_tool, _Invoker):
            return tool  # what is no function is refused when the agent's tools are asked for
        twin = copy.copy(tool)
        twin.on_invoke_tool = _Invoker(self, twin.name, twin.on_invoke_tool)
        if self.interrupts:
            twin.needs_approval = self._asker(twin.name, tool.needs_approval)
        return twin

    def _handoff(self, handoff: Agent[typing.Any] | Handoff[typing.Any, typing.Any]) -> Agent[typing.Any] | Handoff[typing.Any, typing.Any]:
        if isinstance(handoff, Agent):
            return self.agent(handoff)
        twin, inner = copy.copy(handoff), handoff.on_invoke_handoff

        async def invoke(ctx: RunContextWrapper[typing.Any], args: str) -> Agent[typing.Any]:
            return self.agent(await inner(ctx, args))

        twin.on_invoke_handoff = invoke
        return twin

    def _asker(self, name: str, own: typing.Any) -> collections.abc.Callable[..., collections.abc.Awaitable[bool]]:
        async def asks(ctx: RunContextWrapper[typing.Any], params: dict[str, typing.Any], call_id: str) -> bool:
            if own is not False and (own is True or await own(ctx, params, call_id)):
                return True
            try:
                plan = await self.seam.plan(name, params)
            except ApprovalRequired:
                return True
            except Denied:
                return False  # it says so again where the tool would run
            self._plans[call_id] = plan
            return False

        return asks

    async def invoke(self, name: str, inner: Invoke, ctx: ToolContext[typing.Any], text: str) -> typing.Any:
        plan = self._plans.pop(ctx.tool_call_id, None)
        seen = self.seam.waiting() if self.interrupts else frozenset()
        try:
            given = self.seam.arguments(name, text)
        except Denied as e:
            if plan is not None:
                self.seam.drop(plan)  # the SDK had read them otherwise
            return str(e)

        async def run(args: dict[str, object]) -> typing.Any:
            return await inner(ctx, json.dumps(args, ensure_ascii=False, default=str))

        async def once() -> typing.Any:
            return await self.seam.acall(name, given, run, _seen, plan)

        try:
            return await once()
        except ApprovalRequired as e:
            asked = e
        except (Denied, Withheld) as e:
            return str(e)
        if not self.interrupts or asked.decision.approval not in seen or ctx.is_tool_approved(ctx.qualified_tool_name, ctx.tool_call_id) is not True:
            return str(asked)
        self.seam.answer(asked, True)
        try:
            return await once()
        except (Denied, Withheld) as e:
            return str(e)

    async def drop(self) -> None:
        """A new turn begins: what was decided for the last one and did not run (a guardrail said no) will not."""
        while self._plans:
            self.seam.drop(self._plans.popitem()[1])


class _Invoker:
    """The last metre of one tool."""

    def __init__(self, guard: _Guard, name: str, inner: Invoke) -> None:
        self._guard, self._name, self._inner = guard, name, inner

    async def __call__(self, ctx: ToolContext[typing.Any], args: str) -> typing.Any:
        return await self._guard.invoke(self._name, self._inner, ctx, args)


class _Twin(Agent[typing.Any]):
    """What an agent that is guarded has beside what it had."""

    interlock: typing.ClassVar[_Guard]

    async def get_mcp_tools(self, run_context: RunContextWrapper[typing.Any]) -> list[Tool]:
        return [self.interlock.tool(t) for t in await super().get_mcp_tools(run_context)]

    async def get_all_tools(self, run_context: RunContextWrapper[typing.Any]) -> list[Tool]:
        await self.interlock.drop()
        tools = await super().get_all_tools(run_context)
        for tool in tools:
            if not isinstance(tool, FunctionTool):
                raise UsageError(f"the tool `{tool.name}` is no function, and no gate can stand before it: give the agent a function tool")
            if not isinstance(tool.on_invoke_tool, _Invoker):
                raise UsageError(f"the tool `{tool.name}` was added after `guard`: guard the agent when it has all its tools")
            inner = tool._agent_instance if tool._is_agent_tool else None
            if tool._is_agent_tool and not isinstance(inner, _Twin):
                raise UsageError(f"the agent behind the tool `{tool.name}` is not guarded: `guard(gate, agent).as_tool(...)`")
        return tools
