# SPDX-License-Identifier: Apache-2.0
"""The gate: every tool call of one session is decided before it runs, and its result is recorded before anybody sees it."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import json
import os
import threading
import typing
import uuid

from . import _core
from .errors import ApprovalRequired, Denied, InterlockError, PolicyError, UsageError, Withheld
from .labels import Label, export, policy_document, unknown_arguments
from .plain import arguments_text, copied, error_text, is_later, judged_arguments, result_text

__all__ = ["ApprovalRequest", "Gate"]

P = typing.ParamSpec("P")
R = typing.TypeVar("R")


class ApprovalRequest(typing.NamedTuple):
    """What a resolver is asked: may exactly this call run, once?"""

    tool: str
    args: typing.Any
    decision: _core.Decision


Resolver = collections.abc.Callable[[ApprovalRequest], object]


def _fault(reason: str, message: str) -> _core.Decision:
    """A block that the core was not asked for."""
    return _core.Decision(("block", "fault", False, False, False, 0, 0, reason, "", message, "", ()))


class Gate:
    """One session under one policy.

    `policy` is a path, a mapping (the document itself) or None, for tools that carry their labels (`@gate.tool(effects=...)`). `ledger` is a
    path, which several processes may share with the same `session`, or `:memory:`. `principal` is the agent whose session it is (the policy's `agents`).
    `resolver` is asked for calls that a human may release; anything but True is a no. Any thread may use a gate.

        gate = Gate("policy.yaml", session="monday", ledger="ledger.db")
        gate.user_prompt("Mail the minutes to ana@example.org")

        @gate.tool
        def send_mail(to: str, body: str) -> str: ...

        send_mail("ana@example.org", "...")    # Denied, or what it returns
    """

    def __init__(
        self,
        policy: str | os.PathLike[str] | collections.abc.Mapping[str, object] | None = None,
        *,
        session: str | None = None,
        ledger: str | os.PathLike[str] = ":memory:",
        principal: str = "",
        resolver: Resolver | None = None,
        approver: str = "resolver",
        approvals: collections.abc.Mapping[str, object] | None = None,
        enforce: bool = False,
        durable: bool = False,
        deadline: float = 600.0,
    ) -> None:
        self.session_id = session if session is not None else f"py-{uuid.uuid4()}"
        self.principal = principal
        self._given = policy
        self._ledger = ledger
        self._resolver = resolver
        self._approver = approver
        if approvals is not None and policy is not None:
            raise UsageError("`approvals` is for labels beside the tools; a policy says it itself")
        # with a resolver there is somebody to ask: without this section the machine's rejections are final
        self._approvals = approvals if approvals is not None else {"for": ["egress", "commit"]} if resolver is not None and policy is None else None
        self._enforce, self._durable, self._deadline_ms = enforce, durable, max(1, int(deadline * 1000))
        self._labels: dict[str, Label] = {}
        self._lock = threading.Lock()
        self._monitor: _core.Monitor | None = None
        self._policy: _core.Policy | None = None
        self._first: Gate | None = None  # who opened the ledger
        if policy is not None:
            self._open()

    # ---- the session ---------------------------------------------------------------------------------

    def _open(self) -> _core.Monitor:
        with self._lock:
            if self._monitor is None:
                if self._given is None:
                    if not self._labels:
                        raise UsageError("no tool is labelled yet: `@gate.tool(effects=...)`, or give the gate a policy")
                    path, document = "", json.dumps(policy_document(self._labels, self._approvals)).encode()
                elif isinstance(self._given, collections.abc.Mapping):
                    path, document = "", arguments_text(self._given)
                else:
                    path, document = os.fspath(self._given), None
                try:
                    self._policy = _core.Policy(path, document)
                except PolicyError as e:
                    raise e.of(path) if document is None else e
                try:
                    monitor = _core.Monitor(self._policy, self._ledger, self._enforce, self._durable, deadline_ms=self._deadline_ms)
                except InterlockError as e:
                    raise UsageError(f"the ledger `{os.fspath(self._ledger)}` does not open ({e.status})") from e
                monitor.begin(self.session_id, None, self.principal, True)
                monitor.recover(self.session_id)
                self._monitor = monitor
            return self._monitor

    @property
    def policy(self) -> _core.Policy:
        """The compiled policy."""
        self._open()
        assert self._policy is not None
        return self._policy

    def user_prompt(self, text: str) -> None:
        """Notes what a human typed: values in it vouch from now on. Only for what came over a channel that the agent cannot write. UsageError in a child."""
        self._open().say(self.session_id, text)

    def notice(self, text: str, *, source: str = "", kind: str = "message", untrusted: bool = True) -> None:
        """Notes a text that reaches the agent and is no result: a `message` of a server, a tool's `description`, a `task` of another agent."""
        self._open().notice(self.session_id, kind, source, text, untrusted)

    def session(self, session: str | None = None, *, principal: str = "") -> Gate:
        """Another session under the same policy and on the same ledger, which knows nothing of this one."""
        gate = self._beside(session, principal)
        self._open().begin(gate.session_id, None, principal, True)
        return gate

    def child(self, session: str | None = None, *, principal: str = "") -> Gate:
        """A session for another agent, which holds what this one holds and none of its approvals. Its answer comes back by `settle(..., child=)`."""
        gate = self._beside(session, principal)
        self._open().begin(gate.session_id, self.session_id, principal, False)
        return gate

    def _beside(self, session: str | None, principal: str) -> Gate:
        monitor = self._open()
        gate = Gate(session=session, principal=principal, resolver=self._resolver, approver=self._approver)
        gate._monitor, gate._policy, gate._given, gate._labels, gate._first = monitor, self._policy, self._given, self._labels, self
        return gate

    def end(self, *, abandon: bool = False) -> None:
        """Ends the session; its id is not reborn. UsageError while calls are open, unless `abandon`."""
        self._open().end(self.session_id, abandon)

    def quarantine(self, why: str) -> None:
        """Freezes the session: no call runs, no result is returned."""
        self._open().quarantine(self.session_id, why)

    def close(self) -> None:
        """Closes the ledger. The gates of other sessions on it are closed with the first one."""
        with self._lock:
            if self._monitor is not None and self._first is None:
                self._monitor.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    # ---- one call ------------------------------------------------------------------------------------

    def decide(
        self,
        tool: str,
        args: collections.abc.Mapping[str, object] | None = None,
        *,
        labels: collections.abc.Mapping[str, _core.Origin | None] | None = None,
        unjoined: bool = False,
    ) -> _core.Decision:
        """Decides a call of `tool` (`server.tool`, or a name of the host's own) and records it. Never raises for a call that is no good: that is a block.

        Run the tool only when `.run` is true, with exactly these arguments, and `settle` afterwards. `unjoined`: nobody will say what the session of another agent held
        (an entry with `child: true`), so the call counts as having read whatever there is.
        """
        try:
            text, found = judged_arguments(dict(args) if args is not None else {})
        except Exception as e:
            return _fault("bad-arguments", f"interlock: `{tool}` did not run: the arguments cannot be read: {_said(e)}")
        return self._decide(tool, text, (*found, *(labels or {}).items()), unjoined)

    def _decide(self, tool: str, text: bytes, labels: _core.Labels, unjoined: bool = False) -> _core.Decision:
        server, dot, name = tool.partition(".")
        try:
            return self._open().decide(self.session_id, server if dot else "", name if dot else tool, text, labels, unjoined)
        except Exception as e:
            return _fault("internal", f"interlock: `{tool}` did not run: {_said(e)}")

    def settle(
        self,
        decision: _core.Decision,
        result: object = None,
        *,
        error: str | None = None,
        args: collections.abc.Mapping[str, object] | None = None,
        child: Gate | None = None,
    ) -> None:
        """Records what came of a call that ran, before anybody sees it: its `result`, or the text of its `error`. Withheld when the result may not be returned.

        `args` are those that were decided, for conditions on the result that ask for them. Of another agent's work (`decision.child`), `child` is that agent's gate.
        """
        done = error is None
        text = result_text(result) if done else None
        asked = arguments_text(dict(args)) if args is not None else None
        name = child.session_id if child is not None else None
        settled = self._open().settle(self.session_id, decision.ticket, done and text is not None, text, error, asked, name)
        if not settled.release:
            raise Withheld(f"interlock: the result is withheld: {settled.reason}")

    def call(
        self,
        tool: str,
        args: collections.abc.Mapping[str, object],
        run: collections.abc.Callable[..., R],
        *,
        labels: collections.abc.Mapping[str, _core.Origin | None] | None = None,
    ) -> R:
        """Decides, runs `run(**args)` on a copy of the arguments that were judged, records, returns. Denied, ApprovalRequired, Withheld, or what `run` raises."""
        judged, text, pairs = self._judged(tool, args, labels)
        decision = self._admitted(tool, judged, text, pairs)
        try:
            value = run(**judged)
        except BaseException as e:
            self._failed(decision, e)
            raise
        self._there(tool, decision, value)
        self._done(decision, value, text)
        return value

    async def acall(
        self,
        tool: str,
        args: collections.abc.Mapping[str, object],
        run: collections.abc.Callable[..., collections.abc.Awaitable[R]],
        *,
        labels: collections.abc.Mapping[str, _core.Origin | None] | None = None,
    ) -> R:
        """As `call`, of a coroutine function. A resolver may be one as well."""
        judged, text, pairs = self._judged(tool, args, labels)
        decision = await self._aadmitted(tool, judged, text, pairs)
        return await self._aran(tool, decision, text, functools.partial(run, **judged))

    async def _aran(self, tool: str, decision: _core.Decision, text: bytes, run: collections.abc.Callable[[], collections.abc.Awaitable[R]]) -> R:
        """Runs what was let through, records, returns."""
        try:
            value = await run()
        except BaseException as e:
            self._failed(decision, e)
            raise
        self._there(tool, decision, value)
        self._done(decision, value, text)
        return value

    def _there(self, tool: str, decision: _core.Decision, value: object) -> None:
        """What comes later would be seen without having been recorded."""
        if is_later(value):
            self._failed(decision, None)
            if inspect.iscoroutine(value):
                value.close()
            raise UsageError(f"`{tool}` answers with something that comes later: use `acall`, or return a list")

    def _judged(
        self, tool: str, args: collections.abc.Mapping[str, object], labels: collections.abc.Mapping[str, _core.Origin | None] | None
    ) -> tuple[dict[str, object], bytes, _core.Labels]:
        """A copy of the arguments that nobody else has, and its text."""
        try:
            judged: dict[str, object] = copied(dict(args))
            text, found = judged_arguments(judged)
            return judged, text, (*found, *(labels or {}).items())
        except Exception as e:
            why = f"interlock: `{tool}` did not run: the arguments cannot be read: {_said(e)}"
            raise Denied(_fault("bad-arguments", why)) from None

    def _admitted(self, tool: str, judged: dict[str, object], text: bytes, labels: _core.Labels) -> _core.Decision:
        decision = self._decide(tool, text, labels)
        if self._asks(decision):
            answer = self._ask(tool, judged, decision)
            if inspect.isawaitable(answer):
                if inspect.iscoroutine(answer):
                    answer.close()
                raise UsageError("the resolver is a coroutine function, and the call is not: use `acall`")
            decision = self._answered(tool, text, labels, decision, answer)
        return _must_run(decision)

    async def _aadmitted(self, tool: str, judged: dict[str, object], text: bytes, labels: _core.Labels) -> _core.Decision:
        decision = self._decide(tool, text, labels)
        if self._asks(decision):
            answer = self._ask(tool, judged, decision)
            decision = self._answered(tool, text, labels, decision, await answer if inspect.isawaitable(answer) else answer)
        return _must_run(decision)

    def _asks(self, decision: _core.Decision) -> bool:
        return decision.run is not True and decision.action == "require_approval" and self._resolver is not None

    def _ask(self, tool: str, judged: dict[str, object], decision: _core.Decision) -> object:
        assert self._resolver is not None
        return self._resolver(ApprovalRequest(tool, copied(judged), decision))

    def _answered(self, tool: str, text: bytes, labels: _core.Labels, decision: _core.Decision, answer: object) -> _core.Decision:
        if not decision.approval:
            return decision
        self._open().answer(self.session_id, decision.approval, self._approver, answer is True)
        return self._decide(tool, text, labels) if answer is True else decision

    def _done(self, decision: _core.Decision, value: object, args: bytes) -> None:
        text = result_text(value)
        settled = self._open().settle(self.session_id, decision.ticket, text is not None, text, None, args, None)
        if not settled.release:
            raise Withheld(f"interlock: the result is withheld: {settled.reason}")

    def _failed(self, decision: _core.Decision, error: BaseException | None) -> None:
        said = error_text(error) if error is not None else ""
        try:
            settled = self._open().settle(self.session_id, decision.ticket, False, None, said, None, None)
        except InterlockError as e:
            why = _said(e)  # not its cause: the failure itself stands behind it
        else:
            why = "" if settled.release else settled.reason or "withheld"
        if why:
            raise Withheld(f"interlock: the failure is withheld: {why}") from None

    # ---- tools ---------------------------------------------------------------------------------------

    @typing.overload
    def tool(self, fn: collections.abc.Callable[P, R], /) -> collections.abc.Callable[P, R]: ...
    @typing.overload
    def tool(
        self,
        fn: None = None,
        /,
        *,
        name: str | None = None,
        effects: collections.abc.Sequence[str] | None = None,
        **entry: object,
    ) -> collections.abc.Callable[[collections.abc.Callable[P, R]], collections.abc.Callable[P, R]]: ...
    def tool(
        self, fn: typing.Any = None, /, *, name: str | None = None, effects: collections.abc.Sequence[str] | None = None, **entry: object
    ) -> typing.Any:
        """Puts the gate in front of a function. `name` is the tool's in the policy (the function's own).

        With `effects` the label stands here, and not in a policy file: `@gate.tool(effects=["egress"], to={"email": "to"}, reads=["body"])`, with the keys of an
        entry of the policy. Labels are complete before the first call: UsageError afterwards, and beside a policy that was given.
        """

        def wrap(fn: typing.Any) -> typing.Any:
            if isinstance(fn, (classmethod, staticmethod)):
                return type(fn)(wrap(fn.__func__))
            tool = name if name is not None else fn.__name__
            if effects is not None or entry:
                self._label(tool, Label(tuple(effects or ()), entry), inspect.signature(fn))
            if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
                raise UsageError(f"`{tool}` is a generator: its result is not there when it returns; return a list")
            signature = inspect.signature(fn)
            if is_async(fn):

                @functools.wraps(fn)
                async def later(*args: object, **kwargs: object) -> object:
                    bound = _bound(fn, signature, args, kwargs)
                    return await self.acall(tool, bound.args, bound.into(fn))

                return later

            @functools.wraps(fn)
            def now(*args: object, **kwargs: object) -> object:
                bound = _bound(fn, signature, args, kwargs)
                return self.call(tool, bound.args, bound.into(fn))

            return now

        return wrap if fn is None else wrap(fn)

    def label(self, tool: str, *, effects: collections.abc.Sequence[str] = (), **entry: object) -> None:
        """Labels a tool that the gate does not wrap by itself, because an adapter stands before it. Otherwise as `tool` with `effects`."""
        self._label(tool, Label(tuple(effects), entry), None)

    def _label(self, tool: str, label: Label, signature: inspect.Signature | None) -> None:
        with self._lock:
            if self._given is not None:
                raise UsageError(f"`{tool}` is labelled in the policy that was given, not here")
            if self._monitor is not None:
                raise UsageError(f"`{tool}` is labelled too late: the session has begun, and it is bound to its policy")
            if tool in self._labels:
                raise UsageError(f"`{tool}` is labelled twice")
            strange = unknown_arguments(label, signature) if signature is not None else []
            if signature is not None and strange:
                raise UsageError(f"`{tool}` has no argument `{strange[0]}`, which its label names; it has {', '.join(signature.parameters) or 'none'}")
            try:
                _core.Policy("", json.dumps(policy_document({tool: label}, self._approvals)).encode())
            except PolicyError as e:
                raise e.without_place(f"the label of `{tool}`") from None
            self._labels[tool] = label

    def policy_yaml(self) -> str:
        """The policy that the labels beside the tools make, as a file for `interlock validate` and `interlock harden`."""
        if self._given is not None:
            raise UsageError("the policy was given, not made of labels")
        return export(self._labels, self._approvals)

    # ---- looking back --------------------------------------------------------------------------------

    def approvals(self) -> list[_core.Approval]:
        """Calls of this session that wait for a human, or that one has let through."""
        return self._open().approvals(self.session_id)

    def approve(self, approval: str, by: str) -> None:
        """A human's yes to one request. Nothing that the agent can call may lead here."""
        self._open().answer(self.session_id, approval, by, True)

    def refuse(self, approval: str, by: str) -> None:
        """A human's no."""
        self._open().answer(self.session_id, approval, by, False)

    def trail(self) -> list[_core.Row]:
        """The rows of the audit trail of this session, oldest first."""
        return self._open().rows(self.session_id)


class _Bound:
    """Arguments of a Python call by name, as a policy speaks of them, and back."""

    def __init__(self, signature: inspect.Signature, bound: inspect.BoundArguments, method: bool) -> None:
        self._signature = signature
        self._owner: dict[str, object] = {}
        self.args: dict[str, object] = {}
        for i, (name, value) in enumerate(bound.arguments.items()):
            if i == 0 and method and name in ("self", "cls"):
                self._owner[name] = value  # what a method belongs to is no argument of a model's
            elif signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                for key in value:
                    if key in signature.parameters and signature.parameters[key].kind is not inspect.Parameter.VAR_KEYWORD:
                        raise TypeError(f"got multiple values for argument '{key}'")  # one would be judged, and the other meant
                self.args.update(value)
            else:
                self.args[name] = value

    def into(self, fn: collections.abc.Callable[..., typing.Any]) -> collections.abc.Callable[..., typing.Any]:
        def run(**judged: typing.Any) -> typing.Any:
            judged.update(self._owner)
            first: list[object] = []
            rest: dict[str, object] = {}
            for p in self._signature.parameters.values():
                if p.kind is inspect.Parameter.VAR_POSITIONAL:
                    first += judged.pop(p.name, ())
                elif p.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) and p.name in judged:
                    first.append(judged.pop(p.name))
                elif p.kind is inspect.Parameter.KEYWORD_ONLY and p.name in judged:
                    rest[p.name] = judged.pop(p.name)
            return fn(*first, **rest, **judged)

        return run


def _bound(fn: collections.abc.Callable[..., object], signature: inspect.Signature, args: tuple[object, ...], kwargs: dict[str, object]) -> _Bound:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return _Bound(signature, bound, any(_owns(fn, value) for value in list(bound.arguments.values())[:1]))


def _owns(fn: object, value: object) -> bool:
    """Whether `value` is of the class whose body `fn` was written in, or is that class. A static method has no owner, whatever its first parameter is called."""
    holder, dot, _ = getattr(fn, "__qualname__", "").rpartition(".")
    module, kinds = getattr(fn, "__module__", None), type(value).__mro__ + (value.__mro__ if isinstance(value, type) else ())
    return bool(dot) and not holder.endswith("<locals>") and any(kind.__qualname__ == holder and kind.__module__ == module for kind in kinds)


def is_async(fn: object) -> bool:
    """A coroutine function, or an object that is called as one."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(type(fn), "__call__", None))


def _must_run(decision: _core.Decision) -> _core.Decision:
    if decision.run is not True:
        raise ApprovalRequired(decision) if decision.action == "require_approval" else Denied(decision)
    return decision


def _said(error: BaseException) -> str:
    """The text of an error of somebody else's, who may not even be able to say it."""
    try:
        return str(error).encode("utf-8", "replace").decode()
    except Exception:
        return type(error).__name__
