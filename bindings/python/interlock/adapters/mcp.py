# SPDX-License-Identifier: Apache-2.0
"""The client of the MCP Python SDK.

    async with Client(server) as client:
        guard(gate, client, server="mail")
        await client.call_tool("send", {"to": "ana@example.org"})     # judged as mail.send

What the client asks is judged as `interlock gateway` judges it: `mail.send`, `mail.resources/read` with `uri`, `mail.prompts/get` with `name` and
`arguments`; so is each answer to a question of the server's (`mail.elicitation/create`). A call that is stopped is a result with `is_error`, whose text is
for the model; of what is no call of a tool, `Denied` is raised. A call that a human may release says its request's id: `gate.approve(...)`, then call again.

The gateway stands in front of the server for every client, and sees more (disguised members, names that collide): this adapter is for a program that talks
to its servers by itself.
"""

from __future__ import annotations

import collections.abc
import typing

import mcp.types as types
from mcp import Client, ClientSession

from ..errors import Denied, InterlockError, UsageError, Withheld
from ..gate import Gate
from .seam import Args, Seam, ToolFailure

__all__ = ["guard"]

_ALWAYS = {"initialize", "ping", "server/discover"}  # say nothing of the session's
_LISTS = {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}
_INSIDE = {*_LISTS, "logging/setLevel", "resources/unsubscribe"}
_MARK = "_interlock"

Session = typing.TypeVar("Session", Client, ClientSession)


def guard(
    gate: Gate, session: Session, *, server: str, inside: bool = False, names: collections.abc.Mapping[str, str] | None = None
) -> Session:
    """Puts a gate before all that goes to this server, and answers the same session. Call it when the client is connected, and once.

    `server` is the server's name in the policy, `inside` whether the policy calls it `trust: inside`: then its lists are noted, and not judged.
    `names`: what tools are called in the policy, where that is not `SERVER.TOOL`. UsageError when the session is guarded already.
    """
    inner = session.session if isinstance(session, Client) else session
    if getattr(inner, _MARK, None) is not None:
        raise UsageError("this session is guarded already: one session of a server is one session of a gate")
    post = _Post(Seam(gate), server, dict(names or {}), inside, inner)
    setattr(inner, _MARK, post)
    setattr(inner, "send_request", post.send_request)
    setattr(inner, "dispatch_input_request", post.dispatch_input_request)
    return session


class _Post:
    """Where a session's messages leave."""

    def __init__(self, seam: Seam, server: str, names: dict[str, str], inside: bool, session: ClientSession) -> None:
        self._seam, self._server, self._names, self._inside = seam, server, names, inside
        self._send: collections.abc.Callable[..., collections.abc.Awaitable[typing.Any]] = session.send_request
        self._dispatch = session.dispatch_input_request
        self._answers: list[object] = []  # judged, and on their way back with the call that asked for them

    async def send_request(self, request: typing.Any, result_type: typing.Any, *unnamed: typing.Any, **named: typing.Any) -> typing.Any:
        method = str(request.method)
        if method in _ALWAYS:
            return await self._send(request, result_type, *unnamed, **named)
        if method in _INSIDE and self._inside:
            result = await self._send(request, result_type, *unnamed, **named)
            if method in _LISTS:
                self._seam.gate.notice(result.model_dump_json(by_alias=True), source=self._server, kind="description", untrusted=False)
            return result
        name, args = self._asked(method, request)

        async def run(judged: Args) -> typing.Any:
            return await self._send(_with(method, request, judged), result_type, *unnamed, **named)

        try:
            self._judge_answers(request)
            return await self._seam.acall(name, args, run, _seen, overlap=True)
        except (Denied, Withheld) as e:
            if method != "tools/call":
                raise
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(e))], is_error=True)

    def _asked(self, method: str, request: typing.Any) -> tuple[str, Args]:
        """The name that the policy knows it by, and its arguments."""
        params = request.params
        if method == "tools/call":
            return self._name(params.name), dict(params.arguments or {})
        args = _plain(params) if params is not None else {}
        for extra in ("_meta", "inputResponses", "requestState", "task"):
            args.pop(extra, None)
        return self._name(method), args

    def _name(self, tool: str) -> str:
        return self._names.get(tool, f"{self._server}.{tool}")

    async def dispatch_input_request(self, ctx: typing.Any, request: typing.Any) -> typing.Any:
        """An answer to a question of the server's leaves as a call does."""
        answer = await self._dispatch(ctx, request)
        if isinstance(answer, types.ErrorData):
            return answer
        try:
            self._judge(str(request.method), answer)
        except InterlockError as e:
            return types.ErrorData(code=types.INVALID_REQUEST, message=str(e) if isinstance(e, Denied) else "refused")
        self._answers.append(answer)
        return answer

    def _judge_answers(self, request: typing.Any) -> None:
        """Those that did not come through `dispatch_input_request`: a program that answers by itself."""
        for answer in (getattr(request.params, "input_responses", None) or {}).values():
            if any(answer is known for known in self._answers):
                continue
            self._judge("elicitation/create", answer)
        self._answers.clear()

    def _judge(self, method: str, answer: typing.Any) -> None:
        decision = self._seam.gate.decide(self._name(method), _plain(answer))
        if decision.run is not True:
            raise Denied(decision)
        self._seam.gate.settle(decision, None)


def _plain(value: typing.Any) -> dict[str, typing.Any]:
    """As it goes over the wire."""
    plain: dict[str, typing.Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return plain


def _with(method: str, request: typing.Any, judged: Args) -> typing.Any:
    if method != "tools/call":
        return request
    return request.model_copy(update={"params": request.params.model_copy(update={"arguments": judged})})


def _seen(result: typing.Any) -> typing.Any:
    plain = _plain(result)
    plain.pop("_meta", None)
    if isinstance(result, types.CallToolResult) and result.is_error:
        raise ToolFailure("\n".join(str(block.get("text", block)) for block in plain.get("content", ())))
    return plain
