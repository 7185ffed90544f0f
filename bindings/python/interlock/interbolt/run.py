# SPDX-License-Identifier: Apache-2.0
"""One run: the sessions of its agents in the C core, what it has taken in, and the index of its content.

A run has a core of its own, in memory, so that runs neither mix nor wait for each other and nothing of one stays behind when it ends. Each agent in it has a session, since a
session has one principal; before an agent's call is decided, its session learns what the others hold.
"""

from __future__ import annotations

import collections
import contextlib
import threading
import typing
import uuid

from .. import _core
from ..errors import InterlockError
from ..plain import result_text
from .decision import LEGS_OF, Decision, RunIngressEntry, Snapshot, legs_of
from .errors import InterboltUsageError
from .look import looked_into
from .names import Mode, TrustLevel

if typing.TYPE_CHECKING:
    from .policy import Policy

__all__ = ["Run", "RunContext"]

ROWS = 4096  # of the audit trail that are kept in memory; reporters are the record
AGENTS = 256  # in one run
SOURCES = 1024  # that are told apart
WAITING = 4  # calls of a session that wait for a human, before the oldest is refused


Judged = tuple[_core.Decision, "_core.Found", bytes, Snapshot]  # the text of the arguments is empty where nobody will ask for it


class RunContext(typing.NamedTuple):
    """What `agent_context` gives."""

    run_id: str
    agent_id: str


class _Session:
    """One agent's session. `version` grows when it comes to hold more; `seen` says which version of each other session it knows."""

    __slots__ = ("agent", "id", "seen", "version", "waiting")

    def __init__(self, id: str, agent: str) -> None:
        self.id, self.agent = id, agent
        self.version = 0
        self.seen: dict[str, int] = {}
        self.waiting: collections.deque[str] = collections.deque()


class Run:
    """A run of agents, from `agent_context` to its end; or the one of calls that have no context."""

    def __init__(self, policy: Policy, mode: Mode, agent: str, *, parent: Run | None = None, run_id: str | None = None, content: bool = True) -> None:
        self.id = run_id if run_id is not None else str(uuid.uuid4())
        self.agent, self.policy, self.mode, self.parent = agent, policy, mode, parent
        self.index: _core.Index | None = parent.index if parent is not None else _core.Index() if content else None
        self.closed = False
        self.reported: set[tuple[str, str, str]] = set()
        self._monitor = _core.Monitor(policy.compiled(mode), keep_rows=ROWS)
        self._keeps = not policy.translated  # the arguments, for conditions on results that ask for them
        self._sessions: dict[str, _Session] = {}
        self._labels: dict[tuple[str, str], _core.Origin] = {}
        self._reached: dict[int, _core.Origin] = {}
        self._ingress: dict[str, dict[str, None]] = {}
        self._legs: frozenset[str] = frozenset()
        self._more = False  # more sources than are told apart
        self._snapshot: Snapshot | None = None
        self._lock = threading.RLock()
        if parent is not None:
            self._begin_with(parent)

    # ---- sessions -----------------------------------------------------------------------------------------

    def session(self, agent: str) -> _Session:
        """The agent's session, which knows what the others of this run hold."""
        if self.closed:
            raise InterboltUsageError("the run has ended: what outlives it may call nothing")
        found = self._sessions.get(agent)
        if found is None:
            with self._lock:
                found = self._sessions.get(agent)
                if found is None:
                    if len(self._sessions) == AGENTS:
                        raise InterboltUsageError(f"more than {AGENTS} agents in one run")
                    found = _Session(f"{self.id}:{len(self._sessions)}", agent)
                    self._monitor.begin(found.id, None, agent, False)
                    self._sessions[agent] = found
        if len(self._sessions) > 1:
            self._learn(found, self)
        return found

    def _learn(self, session: _Session, other: Run) -> None:
        with self._lock:
            for one in list(other._sessions.values()):
                if one is not session and session.seen.get(one.id, 0) != one.version:
                    version = one.version
                    effects, label = other._monitor.carry(one.id)
                    self._monitor.receive(session.id, effects, label)
                    session.seen[one.id] = version

    def _take_over(self, other: Run) -> None:
        for source, agents in list(other._ingress.items()):
            for agent in list(agents):
                self._read(source, agent)
        self._legs |= other._legs
        self._more = self._more or other._more
        self._snapshot = None

    def learn(self, other: Run, agent: str) -> None:
        """Comes to hold what another run does: for calls that are in none, while that one lives."""
        session = self.session(agent)
        before = dict(session.seen)
        self._learn(session, other)
        if session.seen != before:
            session.version += 1
        self._take_over(other)

    def _begin_with(self, parent: Run) -> None:
        self._learn(self.session(self.agent), parent)
        self._take_over(parent)

    def end(self) -> None:
        """Ends it: no call is decided in it any more. A run inside of another leaves it what it holds."""
        if self.closed:
            return
        parent = self.parent
        try:
            if parent is not None and not parent.closed:
                into = parent.session(parent.agent)
                try:
                    parent._learn(into, self)
                except InterlockError:  # its machine refuses to hold that: it must not go on as if nothing had been
                    parent._monitor.quarantine(into.id, "join")
                    raise
                finally:
                    for one in self._sessions.values():
                        into.seen.pop(one.id, None)
                    into.version += 1
                    parent._take_over(self)
        finally:
            self.closed = True
            try:
                self._monitor.close()
            except InterlockError:
                pass  # a thread is in the middle of a call: its memory goes with the last one

    # ---- what it takes in ----------------------------------------------------------------------------------

    def label(self, source: str, agent: str) -> _core.Origin:
        """The label of what the agent takes in from a source: the same each time."""
        found = self._labels.get((source, agent))
        if found is None:
            found = _core.Origin(source, agent)
            if len(self._labels) < SOURCES:
                self._labels[(source, agent)] = found
        return found

    def _read(self, source: str, agent: str) -> bool:
        agents = self._ingress.get(source)
        if agents is None:
            if len(self._ingress) >= SOURCES:
                self._more, self._snapshot = True, None
                return False
            agents = self._ingress.setdefault(source, {})
        if agent not in agents:
            agents[agent] = None
            self._snapshot = None
            return True
        return False

    def ingest(self, value: object, label: _core.Origin, source: str, agent: str) -> None:
        """Notes that a value was taken in: its source from now on taints the run, and its content is found again."""
        session = self.session(agent)
        self._read(source, agent)
        text = result_text(value)
        said = text if text is not None else b""
        self._monitor.notice(session.id, "message", source, said.decode("utf-8", "replace"), not self.policy.trusts(source), agent)
        session.version += 1
        if self.index is not None:
            for part in _texts(value):
                self.index.add(part, label)

    @property
    def snapshot(self) -> Snapshot:
        """What it holds now."""
        made = self._snapshot
        if made is None:
            trusts = self.policy.trusts
            entries = tuple(
                RunIngressEntry(source=source, trust=TrustLevel.TRUSTED if trusts(source) else TrustLevel.UNTRUSTED, ingested_by=tuple(agents))
                for source, agents in list(self._ingress.items())
            )
            tainted = self._more or any(entry.trust is TrustLevel.UNTRUSTED for entry in entries)
            made = self._snapshot = Snapshot(entries, self._legs, tainted)
        return made

    # ---- calls ---------------------------------------------------------------------------------------------

    def judge(self, agent: str, tool: str, args: dict[str, object], at_once: bool) -> Judged:
        """Decides a call; `at_once`: nobody will settle it."""
        session = self._sessions.get(agent) if len(self._sessions) == 1 and not self.closed else None
        if session is None:
            session = self.session(agent)
        before = self._snapshot or self.snapshot
        if session.waiting and len(session.waiting) >= WAITING:
            self._displace(session)
        server, _, name = tool.rpartition(".")
        got = self._monitor.judge(session.id, server, name, args, looked_into, self.index, at_once, self._keeps)
        if type(got) is not tuple:
            return _unread(tool, typing.cast(Exception, got)), (), b"", before
        core, found, text = got
        if not core.run:
            core = self._stopped(session, core, tool, text or b"", found, at_once)
        elif found or core.effects:
            self._held(session, core, found)
        return core, found, text or b"", before

    def _decide(self, session: _Session, tool: str, text: bytes, found: _core.Found, at_once: bool) -> _core.Decision:
        if len(session.waiting) >= WAITING:
            self._displace(session)
        core = self._asked(session, tool, text, found, at_once)
        if core.run:
            self._held(session, core, found)
            return core
        return self._stopped(session, core, tool, text, found, at_once)

    def _asked(self, session: _Session, tool: str, text: bytes, found: _core.Found, at_once: bool) -> _core.Decision:
        server, _, name = tool.rpartition(".")
        return (self._monitor.check if at_once else self._monitor.decide)(session.id, server, name, text, found, False)

    def _stopped(self, session: _Session, core: _core.Decision, tool: str, text: bytes, found: _core.Found, at_once: bool) -> _core.Decision:
        """A call that does not run as it is. Where other threads ask as well there may have been no room for one more request: it is asked again."""
        while core.action == "block" and session.waiting and self.policy.waits(core):
            self._displace(session)
            core = self._asked(session, tool, text, found, at_once)
        if core.run:
            self._held(session, core, found)
        elif core.approval:
            session.waiting.append(core.approval)
        return core

    def _displace(self, session: _Session) -> None:
        """The oldest request makes room; whoever still waits for its answer asks again (`answer`)."""
        with self._lock, contextlib.suppress(IndexError):
            self._forget(session, session.waiting.popleft())

    def _forget(self, session: _Session, approval: str) -> None:
        try:
            self._monitor.answer(session.id, approval, "displaced", False)
        except InterlockError:
            pass  # it has lapsed

    def _held(self, session: _Session, core: _core.Decision, found: _core.Found) -> None:
        session.version += 1
        legs = LEGS_OF[core.effects & 15]
        if not legs <= self._legs:
            with self._lock:
                self._legs |= legs
            self._snapshot = None
        for _, label, _ in found:
            if label is None:
                self._more, self._snapshot = True, None
            elif id(label) not in self._reached:
                if len(self._reached) < SOURCES:
                    self._reached[id(label)] = label
                for name in label.lineage:
                    self._read(name, session.agent)

    def answer(self, decision: Decision, yes: bool, by: str, at_once: bool) -> _core.Decision:
        """A human's answer to a decision that waits; the decision of the same call with it."""
        session = self.session(decision.agent_id)
        with self._lock:
            return self._answered(session, decision, yes, by, at_once)

    def _answered(self, session: _Session, decision: Decision, yes: bool, by: str, at_once: bool) -> _core.Decision:
        core = decision.core
        waits = core.approval in session.waiting
        if waits:
            session.waiting.remove(core.approval)
        if not yes:
            if waits:
                self._forget(session, core.approval)
            return core
        if not waits:  # it was displaced by later ones: the answer is for exactly this call, which is asked for again
            core = self._decide(session, decision.tool, decision._args, decision._found, at_once)
            if core.run or not core.approval:
                return core
            with contextlib.suppress(ValueError):
                session.waiting.remove(core.approval)
        try:
            self._monitor.answer(session.id, core.approval, by, True)
        except InterlockError:
            return core  # it has lapsed: the run has come to hold more since it was asked
        return self._decide(session, decision.tool, decision._args, decision._found, at_once)

    def settle(self, decision: _core.Decision, agent: str, value: object, failed: bool, error: str, args: bytes) -> str:
        """Records what came of a call that ran. Why the result is withheld, or nothing."""
        text = None if failed else b"null" if value is None else result_text(value)
        settled = self._monitor.settle(self._sessions[agent].id, decision.ticket, text is not None, text, error if failed else None, args or None, None)
        return "" if settled.release else settled.reason or "withheld"

    def endorse(self, agent: str, kind: str, by: str, value: bytes, note: str | None) -> None:
        self._monitor.endorse(self.session(agent).id, kind, by, value, note)

    def carry(self) -> tuple[int, _core.Origin | None]:
        """What all sessions hold."""
        effects, labels = 0, []
        for session in list(self._sessions.values()):
            bits, label = self._monitor.carry(session.id)
            effects |= bits
            labels += [label] if label is not None else []
        return effects, _core.Origin.merge(tuple(labels)) if labels else None

    def receive(self, agent: str, effects: int, label: _core.Origin | None) -> None:
        session = self.session(agent)
        self._monitor.receive(session.id, effects, label)
        session.version += 1
        with self._lock:
            self._legs |= legs_of(effects)
        for name in label.lineage if label is not None else ():
            for by in label.ingested_by or (agent,) if label is not None else ():
                self._read(name, by)
        self._more = self._more or (label is not None and label.more)
        self._snapshot = None


def _texts(value: object, depth: int = 64) -> typing.Iterator[bytes]:
    """The texts in a value, each as it stands."""
    if isinstance(value, str):
        yield str.encode("".join((value,)), "utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        yield b"".join((value,))
    elif isinstance(value, (int, float)):
        yield str(value).encode() if not isinstance(value, int) or value.bit_length() < 10000 else b""
    elif depth == 0 or value is None:
        return
    elif isinstance(value, dict):
        for key, item in dict.items(value):
            yield from _texts(key, depth - 1)
            yield from _texts(item, depth - 1)
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        for item in list(value):
            yield from _texts(item, depth - 1)
    else:
        inside = _core.Carrier in type(value).__mro__ and getattr(value, "value", None)
        try:
            yield from _texts(inside if inside else looked_into(value), depth - 1)
        except Exception:
            return


def _unread(tool: str, error: BaseException) -> _core.Decision:
    try:
        why = str(error).encode("utf-8", "replace").decode()
    except Exception:
        why = type(error).__name__
    return _core.Decision(("block", "fault", False, False, False, 0, 0, "bad-arguments", "", f"`{tool}` did not run: the arguments cannot be read: {why}", "", ()))
