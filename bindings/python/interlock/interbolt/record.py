# SPDX-License-Identifier: Apache-2.0
"""What reporters get: an event for each decision, a finding for each value whose label was lost, an endorsement for each human's word."""

from __future__ import annotations

import datetime
import time
import typing

from .decision import Decision
from .model import Frozen
from .names import Outcome

__all__ = ["EVENT_SCHEMA_VERSION", "RECORD_TYPE_ENDORSEMENT", "RECORD_TYPE_EVENT", "RECORD_TYPE_FINDING", "Endorsement", "Event", "Finding", "Record"]

EVENT_SCHEMA_VERSION = 11
RECORD_TYPE_EVENT, RECORD_TYPE_FINDING, RECORD_TYPE_ENDORSEMENT = "event", "finding", "endorsement"
_BASE = ("schema_version", "trace_id", "span_id", "policy_fingerprint", "timestamp")


class Record(Frozen):
    """What all three have in common."""

    __slots__ = ("_time", "policy_fingerprint", "span_id", "trace_id")
    FIELDS: typing.ClassVar[tuple[str, ...]] = _BASE
    _time: float
    RECORD_TYPE: typing.ClassVar[str] = ""
    policy_fingerprint: str | None
    trace_id: str | None
    span_id: str | None

    def __init__(self, fingerprint: str | None, trace: tuple[str | None, str | None] = (None, None)) -> None:
        put = object.__setattr__
        put(self, "policy_fingerprint", fingerprint)
        put(self, "trace_id", trace[0])
        put(self, "span_id", trace[1])
        put(self, "_time", time.time())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` of a record is read only")

    @property
    def schema_version(self) -> int:
        return EVENT_SCHEMA_VERSION

    @property
    def timestamp(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self._time, datetime.timezone.utc)


class Event(Record):
    """A decision."""

    __slots__ = ("decision",)
    FIELDS = (*_BASE, "decision", "sources", "outcome")
    RECORD_TYPE = RECORD_TYPE_EVENT
    decision: Decision

    def __init__(self, decision: Decision, fingerprint: str | None, trace: tuple[str | None, str | None] = (None, None)) -> None:
        super().__init__(fingerprint, trace)
        object.__setattr__(self, "decision", decision)

    @property
    def sources(self) -> frozenset[str]:
        return self.decision.sources

    @property
    def outcome(self) -> Outcome:
        return self.decision.outcome


class Finding(Record):
    """Content of an untrusted source in an argument that carries no label any more."""

    __slots__ = ("agent_id", "argument", "run_id", "session_id", "source", "tool")
    FIELDS = (*_BASE, "agent_id", "run_id", "session_id", "source", "tool", "argument")
    RECORD_TYPE = RECORD_TYPE_FINDING
    agent_id: str
    argument: str
    run_id: str
    session_id: str | None
    source: str
    tool: str

    def __init__(self, decision: Decision, source: str, argument: str, fingerprint: str | None, trace: tuple[str | None, str | None] = (None, None)) -> None:
        super().__init__(fingerprint, trace)
        put = object.__setattr__
        put(self, "agent_id", decision.agent_id)
        put(self, "run_id", decision.run_id)
        put(self, "session_id", decision.session_id)
        put(self, "source", source)
        put(self, "tool", decision.tool)
        put(self, "argument", argument)


class Endorsement(Record):
    """A human's word for one value."""

    __slots__ = ("agent_id", "kind", "lineage", "note", "run_id", "session_id", "value_id")
    FIELDS = (*_BASE, "agent_id", "run_id", "session_id", "kind", "note", "lineage", "value_id")
    RECORD_TYPE = RECORD_TYPE_ENDORSEMENT
    agent_id: str
    kind: str
    lineage: tuple[str, ...]
    note: str | None
    run_id: str
    session_id: str | None
    value_id: str

    def __init__(
        self, *, agent_id: str, run_id: str, kind: str, note: str | None, lineage: tuple[str, ...], value_id: str, fingerprint: str | None,
        trace: tuple[str | None, str | None] = (None, None),
    ) -> None:  # fmt: skip
        super().__init__(fingerprint, trace)
        put = object.__setattr__
        put(self, "agent_id", agent_id)
        put(self, "run_id", run_id)
        put(self, "session_id", None)
        put(self, "kind", kind)
        put(self, "note", note)
        put(self, "lineage", lineage)
        put(self, "value_id", value_id)
