# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, by type. A denial is no error of the gate: `Gate.decide` answers a `Decision`, and `Denied` is what a guarded tool raises."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from ._core import Decision

__all__ = ["ApprovalRequired", "Denied", "InterlockError", "PolicyError", "UsageError", "Withheld"]


class InterlockError(Exception):
    """Every error of this package. `status` is the constant of the C library (`IL_E_BUSY`), empty where none is behind it."""

    status: str = ""


class PolicyError(InterlockError, ValueError):
    """A policy that does not load. `line` and `column` count from 1; 0 when there is no place."""

    line: int = 0
    column: int = 0

    def of(self, path: str) -> PolicyError:
        """The same, said of a file."""
        return self._said(f"{path}: {self}", self.line, self.column)

    def without_place(self, what: str) -> PolicyError:
        """The same, said of something that has no lines."""
        text = str(self)
        return self._said(f"{what}: {text.partition(': ')[2] if self.line else text}", 0, 0)

    def _said(self, text: str, line: int, column: int) -> PolicyError:
        error = PolicyError(text)
        error.status, error.line, error.column = self.status, line, column
        return error


class UsageError(InterlockError, RuntimeError):
    """A call of this package that cannot be right: a gate that is closed or from before a fork, a session that has ended."""


class Denied(InterlockError):
    """The tool did not run. `decision` says why; the text of the error is for the model."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.message)
        self.decision = decision


class ApprovalRequired(Denied):
    """The tool did not run, and a human may let exactly this call through: `decision.approval` is the request's id."""


class Withheld(InterlockError):
    """The tool ran, and its result must not be seen: it could not be recorded, came too late, or the session is frozen."""


_POLICY = {"IL_E_SYNTAX", "IL_E_INVALID", "IL_E_VERSION", "IL_E_SEAL", "IL_E_PERMISSION", "IL_E_NOT_FOUND"}
_USAGE = {"IL_E_ARGUMENT", "IL_E_STATE", "IL_E_EXISTS", "IL_E_MISMATCH"}


def failure(status: str, message: str, line: int, column: int) -> InterlockError:
    """The error for a status of the C library."""
    place = f"line {line}, column {column}: " if line else ""
    error: InterlockError
    if status in _POLICY:
        error = PolicyError(place + message)
        error.line, error.column = line, column
    elif status in _USAGE:
        error = UsageError(message)
    else:
        error = InterlockError(place + message)
    error.status = status
    return error
