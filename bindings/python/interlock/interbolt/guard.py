# SPDX-License-Identifier: Apache-2.0
"""Guards: a function that is decided before it runs, and a model's function whose answer carries the labels of what it was given."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import typing

from .. import _core
from ..errors import Withheld
from ..gate import _bound, _owns, is_async
from ..plain import error_text, is_later
from .ambient import current_run, get_runtime
from .decision import Decision
from .ingress import derived, taken_in
from .look import FIXED, frozen
from .names import agent_name, qualified

if typing.TYPE_CHECKING:
    from .run import Run
    from .runtime import Runtime

__all__ = ["AgentHandle", "agent", "guard", "track_model_call"]

F = typing.TypeVar("F", bound=collections.abc.Callable[..., typing.Any])


class _Binding:
    """Arguments of a Python call by name, as a policy speaks of them, and the call with a copy of them."""

    def __init__(self, fn: collections.abc.Callable[..., typing.Any]) -> None:
        self._fn, self._signature = fn, inspect.signature(fn)
        kinds = {p.kind for p in self._signature.parameters.values()}
        self._plain = kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
        self._names = tuple(name for name, p in self._signature.parameters.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._all = frozenset(self._signature.parameters)
        self._defaults = {name: p.default for name, p in self._signature.parameters.items() if p.default is not inspect.Parameter.empty}
        holder, dot, _ = getattr(fn, "__qualname__", "").rpartition(".")
        method = bool(dot) and not holder.endswith("<locals>")
        self._owner = self._names[0] if method and self._names[:1] in (("self",), ("cls",)) else None

    def __call__(self, args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]) -> tuple[dict[str, typing.Any], collections.abc.Callable[[], typing.Any]]:
        """What is judged, and the call with exactly that. TypeError where the function would not take it."""
        if not self._plain or len(args) > len(self._names) or not kwargs.keys() <= self._all:
            return self._slow(args, kwargs)
        bound = dict(zip(self._names, args))
        if kwargs:
            if not bound.keys().isdisjoint(kwargs):
                return self._slow(args, kwargs)
            bound.update(kwargs)
        if len(bound) < len(self._all):
            bound = {**self._defaults, **bound}
            if len(bound) < len(self._all):
                return self._slow(args, kwargs)
        if self._owner is not None and not _owns(self._fn, bound[self._owner]):
            return self._slow(args, kwargs)
        first = (bound.pop(self._owner),) if self._owner is not None else ()
        for name, value in bound.items():
            if type(value) not in FIXED:
                bound[name] = frozen(value)
        return bound, functools.partial(self._fn, *first, **bound)

    def _slow(self, args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]) -> tuple[dict[str, typing.Any], collections.abc.Callable[[], typing.Any]]:
        bound = _bound(self._fn, self._signature, args, kwargs)
        judged = {name: frozen(value) for name, value in bound.args.items()}
        return judged, functools.partial(bound.into(self._fn), **judged)


class _Call:
    """One call of a guarded function, from its decision to its result."""

    __slots__ = ("agent", "core", "decision", "guard", "run", "runtime", "start", "text")

    def __init__(
        self, guard: _Guard, runtime: Runtime, run: Run, agent: str, core: _core.Decision, decision: Decision | None, text: bytes, start: collections.abc.Callable[[], typing.Any]
    ) -> None:  # fmt: skip
        self.guard, self.runtime, self.run, self.agent = guard, runtime, run, agent
        self.core, self.decision, self.text, self.start = core, decision, text, start

    def failed(self, error: BaseException) -> None:
        why = self.run.settle(self.core, self.agent, None, True, error_text(error), b"")
        if why:
            raise Withheld(f"interlock: the failure is withheld: {why}") from None

    def done(self, value: typing.Any) -> typing.Any:
        later = type(value) not in FIXED and is_later(value)  # what it gives is not there yet: its worst
        why = self.run.settle(self.core, self.agent, value, later, "", self.text)
        if why:
            raise Withheld(f"interlock: the result is withheld: {why}")
        source = self.run.policy.produces(self.guard.tool)
        return value if source is None else taken_in(value, source, self.run, self.agent)


class _Guard:
    """One guarded function. The runtime is asked for when it is called."""

    def __init__(self, fn: collections.abc.Callable[..., typing.Any], tool: str | None, agent_id: str | None, runtime: collections.abc.Callable[[], Runtime]) -> None:
        self.tool, self.agent_id, self.runtime = qualified(tool if tool is not None else fn.__name__), agent_id, runtime
        self.bind = _Binding(fn)

    def begun(self, args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]) -> _Call:
        """The call, decided. Where it does not run as it is, `decision` is what somebody must release."""
        judged, run = self.bind(args, kwargs)
        runtime = self.runtime()
        around = current_run.get()
        if around is not None and around.policy is runtime.policy:
            agent = self.agent_id or around.agent
        else:
            around, agent = runtime.run(self.agent_id)
        core, found, text, before = runtime.asked(around, agent, self.tool, judged, False)
        decision = None
        if core.action != "allow" or runtime.reporter.heard or runtime.audit:
            decision = runtime.told(Decision(core, found, around, self.tool, agent, None, before, text))
        return _Call(self, runtime, around, agent, core, decision if core.action != "allow" else None, text, run)

def _guarded(fn: F, tool: str | None, agent_id: str | None, runtime: collections.abc.Callable[[], Runtime]) -> F:
    given: typing.Any = fn
    if isinstance(given, (classmethod, staticmethod)):
        return typing.cast(F, type(given)(_guarded(given.__func__, tool, agent_id, runtime)))
    guarding = _Guard(fn, tool, agent_id, runtime)
    if is_async(fn):

        @functools.wraps(fn)
        async def later(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
            call = guarding.begun(args, kwargs)
            if call.decision is not None:
                call.core = await call.runtime.released(call.decision, False)
            try:
                value = await call.start()
            except BaseException as e:
                call.failed(e)
                raise
            return call.done(value)

        return typing.cast(F, later)

    @functools.wraps(fn)
    def now(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        call = guarding.begun(args, kwargs)
        if call.decision is not None:
            call.core = call.runtime.released_sync(call.decision, False)
        try:
            value = call.start()
        except BaseException as e:
            call.failed(e)
            raise
        return call.done(value)

    return typing.cast(F, now)


@typing.overload
def guard(func: F, /) -> F: ...
@typing.overload
def guard(func: None = None, /, *, tool: str | None = None) -> collections.abc.Callable[[F], F]: ...
def guard(func: typing.Any = None, /, *, tool: str | None = None) -> typing.Any:
    """Decides each call of a function before it runs: PolicyViolation, ApprovalDenied, PolicyEvaluationError, or what the function returns.

    `tool` is its name in the policy: the function's own, in the namespace `default`. The function gets a copy of the arguments that were judged.

        @guard(tool="mail.send")
        def send(to: str, body: str) -> None: ...
    """
    return (lambda fn: _guarded(fn, tool, None, get_runtime)) if func is None else _guarded(func, tool, None, get_runtime)


def track_model_call(fn: typing.Any = None, /, *, source: str = "model") -> typing.Any:
    """What the function returns carries the labels of everything that it was given; where that has none, `source`, which is then where it comes from."""

    def wrap(fn: F) -> F:
        signature = inspect.signature(fn)

        def given(args: tuple[typing.Any, ...], kwargs: dict[str, typing.Any]) -> list[typing.Any]:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return list(bound.arguments.values())

        if is_async(fn):

            @functools.wraps(fn)
            async def later(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
                all_of_it = given(args, kwargs)
                return derived(await fn(*args, **kwargs), source, all_of_it)

            return typing.cast(F, later)

        @functools.wraps(fn)
        def now(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
            all_of_it = given(args, kwargs)
            return derived(fn(*args, **kwargs), source, all_of_it)

        return typing.cast(F, now)

    return wrap if fn is None else wrap(fn)


class AgentHandle:
    """One agent, whose guards are its own whatever the context says; the run is the one around."""

    def __init__(self, agent_id: str, *, runtime_resolver: collections.abc.Callable[[], Runtime]) -> None:
        self.agent_id = agent_name(agent_id)
        self._runtime = runtime_resolver

    @typing.overload
    def guard(self, func: F, /) -> F: ...
    @typing.overload
    def guard(self, func: None = None, /, *, tool: str | None = None) -> collections.abc.Callable[[F], F]: ...
    def guard(self, func: typing.Any = None, /, *, tool: str | None = None) -> typing.Any:
        """As `guard`."""
        return (lambda fn: _guarded(fn, tool, self.agent_id, self._runtime)) if func is None else _guarded(func, tool, self.agent_id, self._runtime)

    track_model_call = staticmethod(track_model_call)


def agent(agent_id: str) -> AgentHandle:
    """A handle for an agent of the current runtime, which may be configured later."""
    return AgentHandle(agent_id, runtime_resolver=get_runtime)


