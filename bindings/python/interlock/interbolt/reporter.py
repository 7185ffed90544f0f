# SPDX-License-Identifier: Apache-2.0
"""Where records go: one method, `export(record)`."""

from __future__ import annotations

import json
import logging
import os
import pathlib
import threading
import typing

from .errors import InterboltConfigError
from .record import Endorsement, Event, Finding, Record

__all__ = ["CompositeReporter", "InMemoryReporter", "JsonlReporter", "LoggingReporter", "NullReporter", "Reporter"]

_log = logging.getLogger("interlock.reporting")


@typing.runtime_checkable
class Reporter(typing.Protocol):
    """What gets records. It is called where the decision is made: a slow one makes each call slow."""

    def export(self, record: Record) -> None: ...


class NullReporter:
    """Keeps nothing."""

    def export(self, record: Record) -> None:
        pass


class InMemoryReporter:
    """Keeps everything, in lists; for tests."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.findings: list[Finding] = []
        self.endorsements: list[Endorsement] = []

    @property
    def decisions(self) -> list[typing.Any]:
        return [event.decision for event in self.events]

    def export(self, record: Record) -> None:
        if isinstance(record, Event):
            self.events.append(record)
        elif isinstance(record, Finding):
            self.findings.append(record)
        elif isinstance(record, Endorsement):
            self.endorsements.append(record)
        else:
            raise TypeError(f"no record: {type(record).__name__}")

    def clear(self) -> None:
        self.events.clear()
        self.findings.clear()
        self.endorsements.clear()


class LoggingReporter:
    """To the logger `interlock.reporting`, at level DEBUG."""

    def export(self, record: Record) -> None:
        _log.debug("%r", record)


class JsonlReporter:
    """One line of JSON a record, appended to a file that is opened once. Several threads and processes may write to one file: a line is one write."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        if self.path.is_dir():
            raise InterboltConfigError(f"`{self.path}` is a folder")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as e:
            raise InterboltConfigError(f"`{self.path}` cannot be written: {e.strerror}") from None
        self._lock = threading.Lock()
        _log.info("records are written to %s", self.path)

    def export(self, record: Record) -> None:
        line = json.dumps({"record_type": record.RECORD_TYPE, **record.model_dump(mode="json")}, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            while line:
                line = line[os.write(self._fd, line) :]

    def close(self) -> None:
        """Closes the file; nothing can be exported afterwards."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1


def _hears(reporter: Reporter) -> bool:
    """Whether a record that it gets goes anywhere; a composite may be added to later."""
    return type(reporter) is not NullReporter


class CompositeReporter:
    """To several, in order; one that fails keeps none of the others from it."""

    def __init__(self, reporters: typing.Iterable[Reporter] = ()) -> None:
        self._all: tuple[Reporter, ...] = tuple(reporters)
        self.heard = any(map(_hears, self._all))  # else nobody need make a record

    @property
    def reporters(self) -> tuple[Reporter, ...]:
        return self._all

    def add(self, reporter: Reporter) -> None:
        self._all = (*self._all, reporter)
        self.heard = self.heard or _hears(reporter)

    def export(self, record: Record) -> None:
        for reporter in self._all:
            try:
                reporter.export(record)
            except Exception:
                _log.warning("reporter %s failed", type(reporter).__name__, exc_info=True)
