# SPDX-License-Identifier: Apache-2.0
"""The last metre of one session, for a framework that runs tools by itself."""

from __future__ import annotations

import asyncio
import collections
import collections.abc
import concurrent.futures
import contextlib
import contextvars
import functools
import json
import threading
import typing
import weakref

from .. import _core
from ..errors import ApprovalRequired, Denied, InterlockError
from ..gate import Gate, _fault
from ..plain import arguments_text

__all__ = ["Plan", "Seam", "ToolFailure", "read"]

R = typing.TypeVar("R")
Args = dict[str, object]


class ToolFailure(Exception):
    """What a `seen` raises for a result that says that the tool failed: the text is recorded as that of an error, and the framework gets its result all the same."""


class _Turn:
    """One at a time, first come first served, for threads and for tasks of any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: collections.deque[concurrent.futures.Future[None]] = collections.deque()
        self.running: list[concurrent.futures.Future[None]] = []

    def _join(self) -> concurrent.futures.Future[None]:
        place: concurrent.futures.Future[None] = concurrent.futures.Future()
        with self._lock:
            if self._taken:
                self._waiting.append(place)
            else:
                self._taken = True
                place.set_result(None)
        return place

    def _leave(self) -> None:
        with self._lock:
            while self._waiting:
                place = self._waiting.popleft()
                if place.set_running_or_notify_cancel():
                    place.set_result(None)
                    return
            self._taken = False

    @contextlib.contextmanager
    def place(self) -> collections.abc.Iterator[concurrent.futures.Future[None]]:
        """A place in the line. Whoever has waited for it has the turn to the end of the block."""
        place = self._join()
        try:
            yield place
        finally:
            if not place.cancel():
                self._leave()

    def begun(self) -> concurrent.futures.Future[None]:
        """A call that goes on after its turn; its end is to be set in what this gives. For whoever has the turn."""
        end: concurrent.futures.Future[None] = concurrent.futures.Future()
        self.running = [*self.under_way(), end]
        return end

    def under_way(self) -> list[concurrent.futures.Future[None]]:
        """The calls that went on and have not come to their end."""
        return [end for end in self.running if not end.done()]


_LATE = "interlock: the call did not run: another call of this session is running for too long"


def _await(waiting: collections.abc.Iterable[concurrent.futures.Future[None]], seconds: float) -> None:
    try:
        for one in waiting:
            one.result(seconds)
    except TimeoutError:
        raise Denied(_fault("busy", _LATE)) from None


async def _aawait(waiting: collections.abc.Iterable[concurrent.futures.Future[None]], seconds: float, shield: bool = True) -> None:
    try:
        for one in waiting:
            if not one.done():
                mine = asyncio.wrap_future(one)
                await asyncio.wait_for(asyncio.shield(mine) if shield else mine, seconds)
    except TimeoutError:
        raise Denied(_fault("busy", _LATE)) from None


class _Inside:
    """A call that is running; what it calls in turn (an agent as a tool) waits for its own kind only, else it would wait for itself."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.turn = _Turn()
        self.open = True


_turns: weakref.WeakKeyDictionary[Gate, _Turn] = weakref.WeakKeyDictionary()
_turns_lock = threading.Lock()
_inside: contextvars.ContextVar[tuple[_Inside, ...]] = contextvars.ContextVar("interlock_inside", default=())


class Plan(typing.NamedTuple):
    """A call that was let through and has not run yet."""

    tool: str
    judged: Args
    text: bytes
    decision: _core.Decision


def _text_of(args: collections.abc.Mapping[str, object]) -> bytes | None:
    try:
        return arguments_text(dict(args))
    except Exception:
        return None


class Seam:
    """Decides, runs and records the calls of one session, one after the other, whatever threads and tasks they come from.

    `names` says what a framework's tool is called in the policy (`{"fetch": "web.fetch_page"}`); others keep their name.
    """

    def __init__(self, gate: Gate, names: collections.abc.Mapping[str, str] | None = None) -> None:
        if not isinstance(gate, Gate):
            raise TypeError(f"a `Gate` is needed, not `{type(gate).__qualname__}`")
        self.gate = gate
        self.asks = gate._resolver is None  # else somebody was asked already, on the spot
        self._names = dict(names or {})
        self._seconds = gate._deadline_ms / 1000  # as long as a call may run, one may wait for it

    def name(self, tool: str) -> str:
        """The tool's name in the policy."""
        return self._names.get(tool, tool)

    def _turn(self) -> _Turn:
        for inside in reversed(_inside.get()):
            if inside.gate is self.gate and inside.open:
                return inside.turn
        with _turns_lock:
            return _turns.setdefault(self.gate, _Turn())

    @contextlib.contextmanager
    def _alone(self) -> collections.abc.Iterator[None]:
        """The turn, when nothing else of the session is running."""
        turn = self._turn()
        with turn.place() as place:
            _await((place,), self._seconds)
            _await(turn.under_way(), self._seconds)
            yield

    @contextlib.asynccontextmanager
    async def _aalone(self) -> collections.abc.AsyncIterator[None]:
        turn = self._turn()
        with turn.place() as place:
            await _aawait((place,), self._seconds, shield=False)
            await _aawait(turn.under_way(), self._seconds)
            yield

    @contextlib.contextmanager
    def _running(self) -> collections.abc.Iterator[None]:
        inside = _Inside(self.gate)
        before = _inside.set((*_inside.get(), inside))
        try:
            yield
        finally:
            inside.open = False  # a task that it left behind waits like everybody else
            _inside.reset(before)

    def call(
        self,
        tool: str,
        args: collections.abc.Mapping[str, object],
        run: collections.abc.Callable[[Args], R],
        seen: collections.abc.Callable[[R], object],
    ) -> R:
        """Decides, runs `run(args)` on a copy of the arguments, records what `seen` makes of its result, returns the result. Raises what `Gate.call` raises."""
        kept: list[R] = []

        def once(**judged: object) -> object:
            kept.append(run(judged))
            return seen(kept[0])

        with self._alone(), self._running():
            with contextlib.suppress(ToolFailure):
                self.gate.call(self.name(tool), args, once)
        return kept[0]

    async def acall(
        self,
        tool: str,
        args: collections.abc.Mapping[str, object],
        run: collections.abc.Callable[[Args], collections.abc.Awaitable[R]],
        seen: collections.abc.Callable[[R], object],
        plan: Plan | None = None,
        overlap: bool = False,
    ) -> R:
        """As `call`, of a coroutine function. With a `plan` of exactly these arguments the decision is that one.

        `overlap`: other such calls of the session may be decided while this one runs. What it brings is held from its decision on, so each is judged on all that is under way; one that is
        blocked for that waits until it is over, and is decided again.
        """
        if plan is not None:
            if plan.tool == tool and plan.text == _text_of(args):
                return await self._planned(plan, run, seen)
            self.drop(plan)
        kept: list[R] = []

        async def once(**judged: object) -> object:
            kept.append(await run(judged))
            return seen(kept[0])

        with contextlib.suppress(ToolFailure):
            if overlap:
                await self._beside(self.name(tool), args, once)
            else:
                async with self._aalone():
                    with self._running():
                        await self.gate.acall(self.name(tool), args, once)
        return kept[0]

    async def _beside(self, tool: str, args: collections.abc.Mapping[str, object], once: collections.abc.Callable[..., collections.abc.Awaitable[object]]) -> None:
        judged, text, labels = self.gate._judged(tool, args, None)
        turn = self._turn()
        with turn.place() as place:
            await _aawait((place,), self._seconds, shield=False)
            try:
                decision = await self.gate._aadmitted(tool, judged, text, labels)
            except Denied as denied:
                if denied.decision.action != "block" or not turn.under_way():
                    raise
                await _aawait(turn.under_way(), self._seconds)
                decision = await self.gate._aadmitted(tool, judged, text, labels)
            end = turn.begun()
        try:
            with self._running():
                await self.gate._aran(tool, decision, text, functools.partial(once, **judged))
        finally:
            end.set_result(None)

    # ---- where a framework must know before it runs anything ---------------------------------------------

    async def plan(self, tool: str, args: collections.abc.Mapping[str, object]) -> Plan:
        """Decides now what `acall` will run, or `drop` will not. The call counts as running from here on. Raises as `call` does before it runs anything."""
        judged, text, labels = self.gate._judged(tool, args, None)
        async with self._aalone():
            decision = self.gate._decide(self.name(tool), text, labels)
        if decision.run is not True:
            raise ApprovalRequired(decision) if decision.action == "require_approval" else Denied(decision)
        return Plan(tool, judged, text, decision)

    def drop(self, plan: Plan) -> None:
        """A planned call that will not run. Nobody can prove that, so it counts as one that failed."""
        try:
            self.gate.settle(plan.decision, error="")
        except InterlockError:
            pass  # its deadline does the same

    async def _planned(self, plan: Plan, run: collections.abc.Callable[[Args], collections.abc.Awaitable[R]], seen: collections.abc.Callable[[R], object]) -> R:
        kept: list[R] = []

        async def once() -> object:
            kept.append(await run(plan.judged))
            return seen(kept[0])

        async with self._aalone():
            with self._running(), contextlib.suppress(ToolFailure):
                await self.gate._aran(plan.tool, plan.decision, plan.text, once)
        return kept[0]

    # ---- a human's answer that comes back through the framework ----------------------------------------

    def waiting(self) -> frozenset[str]:
        """The requests for approval that are open. Ask before a call is tried again: an answer that comes now can only be to one of these."""
        try:
            return frozenset(a.id for a in self.gate.approvals())
        except InterlockError:
            return frozenset()  # the decision will say it

    def answer(self, asked: ApprovalRequired, yes: bool) -> None:
        """Notes a human's answer to a request."""
        if yes is True:
            self.gate.approve(asked.decision.approval, "framework")
        else:
            self.gate.refuse(asked.decision.approval, "framework")

    def arguments(self, tool: str, text: str) -> Args:
        """The arguments that a model wrote as JSON. Denied where they are no object, or say a name twice."""
        try:
            value = _strict(text) if text.strip() else {}
        except (ValueError, RecursionError) as e:
            raise Denied(_fault("bad-arguments", f"interlock: `{tool}` did not run: the arguments cannot be read: {e}")) from None
        if not isinstance(value, dict):
            raise Denied(_fault("bad-arguments", f"interlock: `{tool}` did not run: the arguments are no object"))
        return value


def read(text: str) -> object:
    """A result as policies speak of it: a text that is itself JSON is read as JSON."""
    try:
        return _strict(text)
    except (ValueError, RecursionError):
        return text


def _strict(text: str) -> typing.Any:
    return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("a name stands twice")  # readers differ in which one they take
    return names


def _no_constant(name: str) -> object:
    raise ValueError(f"`{name}` is no JSON")
