# SPDX-License-Identifier: Apache-2.0
"""LlamaIndex agents and workflows.

    agent = FunctionAgent(llm=llm, tools=guard(gate, [fetch, send_mail, query_engine_tool]))

A call that a human may release waits for an event: `InputRequiredEvent` on the stream says what for, and
`handler.ctx.send_event(HumanResponseEvent(response=True, approval=event.approval))` lets it go on; any other response is a no. What a tool retriever
finds goes through the gate when the retriever was built from guarded tools. An agent that runs code of the model's (CodeActAgent) is not covered.
"""

from __future__ import annotations

import collections.abc
import typing

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.tools import AsyncBaseTool, BaseTool, FunctionTool, ToolMetadata, ToolOutput, adapt_to_async_tool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from ..errors import ApprovalRequired, Denied, Withheld
from ..gate import Gate
from .seam import Seam, ToolFailure, read

__all__ = ["guard"]

_CONTEXT = "interlock_context"  # the agent hands its context over under this name


def guard(
    gate: Gate,
    tools: collections.abc.Iterable[BaseTool | collections.abc.Callable[..., typing.Any]],
    *,
    names: collections.abc.Mapping[str, str] | None = None,
) -> list[FunctionTool]:
    """The same tools, each of whose calls is decided right before it runs. `names`: what tools are called in the policy, where that differs."""
    seam = Seam(gate, names)
    return [_Gated(seam, tool if isinstance(tool, BaseTool) else FunctionTool.from_defaults(fn=tool)) for tool in tools]


def _seen(output: ToolOutput) -> object:
    """What the model is shown; of a tool's own structure the values themselves and not their `repr`."""
    if output.is_error:
        raise ToolFailure(output.content)
    if not all(isinstance(block, TextBlock) for block in output.blocks):
        return [block.model_dump() for block in output.blocks]
    if isinstance(output.raw_output, (dict, list)) and output.content == str(output.raw_output):
        return output.raw_output
    return read(output.content)


class _Gated(FunctionTool):
    """A tool behind the gate. It is a FunctionTool because only those are given the context that a human is asked through."""

    def __init__(self, seam: Seam, tool: BaseTool) -> None:
        inner: AsyncBaseTool = adapt_to_async_tool(tool)
        super().__init__(fn=self._plain, async_fn=self._plain_async, metadata=tool.metadata)
        self._seam = seam
        self._inner = inner
        self._given = dict(tool.partial_params) if isinstance(tool, FunctionTool) else {}
        self._inner_context = tool.ctx_param_name if isinstance(tool, FunctionTool) and tool.requires_context else None
        self.requires_context, self.ctx_param_name = True, _CONTEXT

    def _plain(self, **args: typing.Any) -> typing.Any:
        return self.call(**args).raw_output

    async def _plain_async(self, **args: typing.Any) -> typing.Any:
        return (await self.acall(**args)).raw_output

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def call(self, *unnamed: typing.Any, **args: typing.Any) -> ToolOutput:
        context, args = self._apart(unnamed, args)
        try:
            return self._seam.call(self.metadata.get_name(), args, lambda judged: self._inner.call(**judged, **context), _seen)
        except (Denied, Withheld) as e:
            return self._refused(args, e)

    async def acall(self, *unnamed: typing.Any, **args: typing.Any) -> ToolOutput:
        workflow = args.get(_CONTEXT)
        context, args = self._apart(unnamed, args)

        async def once() -> ToolOutput:
            return await self._seam.acall(self.metadata.get_name(), args, lambda judged: self._inner.acall(**judged, **context), _seen)

        try:
            return await once()
        except ApprovalRequired as e:
            asked = e
        except (Denied, Withheld) as e:
            return self._refused(args, e)
        if not self._seam.asks or not isinstance(workflow, Context) or not await self._yes(workflow, asked, args):
            return self._refused(args, asked)
        try:
            return await once()
        except (Denied, Withheld) as e:
            return self._refused(args, e)

    def _apart(self, unnamed: tuple[typing.Any, ...], args: dict[str, typing.Any]) -> tuple[dict[str, typing.Any], dict[str, typing.Any]]:
        """The context for a tool that wants one, and the arguments, with those that were set beforehand."""
        workflow = args.pop(_CONTEXT, None)
        if unnamed:
            names = list(self._metadata.get_parameters_dict()["properties"])
            args = {**dict(zip(names, unnamed, strict=False)), **args}
            if len(unnamed) > len(names):
                raise TypeError(f"`{self.metadata.get_name()}` takes {len(names)} arguments")
        context = {self._inner_context: workflow} if self._inner_context is not None else {}
        return context, {**self._given, **args}

    async def _yes(self, workflow: Context, asked: ApprovalRequired, args: dict[str, typing.Any]) -> bool:
        """The answer to exactly this request. The first time round it raises, and the step is played again when the answer is there."""
        approval = asked.decision.approval
        question = {"prefix": str(asked), "tool": self.metadata.get_name(), "args": args, "approval": approval}
        event = await workflow.wait_for_event(
            HumanResponseEvent, waiter_event=InputRequiredEvent(**question), waiter_id=approval, requirements={"approval": approval}
        )
        yes = event.get("response") is True
        self._seam.answer(asked, yes)
        return yes

    def _refused(self, args: dict[str, typing.Any], why: Denied | Withheld) -> ToolOutput:
        return ToolOutput(content=str(why), tool_name=self.metadata.get_name(), raw_input={"kwargs": args}, raw_output=str(why), is_error=True)
