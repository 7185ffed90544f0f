# SPDX-License-Identifier: Apache-2.0
"""Pydantic AI agents.

    agent = Agent(model, tools=[...], toolsets=[...], output_type=[str, DeferredToolRequests], capabilities=[Interlock(gate)])

Every function tool and every toolset (MCP servers as well) goes through it, after the hooks of other capabilities. A call that a human may release is
deferred as Pydantic AI's own approvals are, and goes on by `DeferredToolResults(approvals={call_id: True})`. Native tools, which the provider runs, and
external tools, which run after the run, are refused.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import typing

from pydantic_ai import ToolReturn
from pydantic_ai import exceptions as theirs
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

from ..errors import ApprovalRequired, Denied, UsageError, Withheld
from ..gate import Gate
from .seam import Seam, read

if typing.TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.toolsets import ToolsetTool

__all__ = ["Interlock"]


def _seen(result: typing.Any) -> object:
    if isinstance(result, ToolReturn):
        shown = _seen(result.return_value)
        return shown if result.content is None else [shown, result.content]
    return read(result) if isinstance(result, str) else result


@dataclasses.dataclass
class _Gated(WrapperToolset[typing.Any]):
    """Decides where the tools of the wrapped toolset are run."""

    seam: Seam

    async def get_tools(self, ctx: RunContext[typing.Any]) -> dict[str, ToolsetTool[typing.Any]]:
        tools = await super().get_tools(ctx)
        for name, tool in tools.items():
            if tool.tool_def.kind == "external":
                raise UsageError(f"the tool `{name}` runs outside the agent, where no gate stands: give the agent a tool of its own")
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, typing.Any], ctx: RunContext[typing.Any], tool: ToolsetTool[typing.Any]
    ) -> typing.Any:
        inner = super().call_tool
        seen = self.seam.waiting()

        async def once() -> typing.Any:
            return await self.seam.acall(name, tool_args, lambda args: inner(name, args, ctx, tool), _seen)

        try:
            return await once()
        except ApprovalRequired as e:
            asked = e
        except (Denied, Withheld) as e:
            raise theirs.ToolFailed(str(e)) from None
        if not self.seam.asks:
            raise theirs.ToolFailed(str(asked))
        if not ctx.tool_call_approved or asked.decision.approval not in seen:
            raise theirs.ApprovalRequired({"approval": asked.decision.approval, "reason": asked.decision.reason, "description": str(asked)})
        self.seam.answer(asked, True)
        try:
            return await once()
        except (Denied, Withheld) as e:
            raise theirs.ToolFailed(str(e)) from None


class Interlock(AbstractCapability[typing.Any]):
    """A capability that puts a gate in front of each tool call. `names`: what tools are called in the policy, where that differs."""

    def __init__(self, gate: Gate, *, names: collections.abc.Mapping[str, str] | None = None) -> None:
        self._seam = Seam(gate, names)

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[typing.Any]) -> AbstractToolset[typing.Any]:
        return _Gated(toolset, self._seam)

    async def prepare_model_request(self, ctx: RunContext[typing.Any], request_context: ModelRequestContext) -> ModelRequestContext:
        for tool in request_context.model_request_parameters.native_tools:
            raise UsageError(f"the tool `{tool.kind}` runs at the model's provider, where no gate stands: give the agent a tool of its own")
        return request_context
