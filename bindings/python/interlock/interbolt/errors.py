# SPDX-License-Identifier: Apache-2.0
"""Errors under Interbolt's names."""

from __future__ import annotations

import typing

from ..errors import InterlockError

if typing.TYPE_CHECKING:
    from .decision import Decision

__all__ = ["ApprovalDenied", "InterboltConfigError", "InterboltError", "InterboltUsageError", "PolicyEvaluationError", "PolicyViolation"]


class InterboltError(InterlockError):
    """Every error of this module."""


class PolicyViolation(InterboltError):
    """The call did not run: a rule blocks it."""

    def __init__(self, message: str, *, decision: Decision) -> None:
        super().__init__(message)
        self.decision = decision


class ApprovalDenied(InterboltError):
    """The call did not run: nobody said yes to it."""

    def __init__(self, message: str, *, decision: Decision) -> None:
        super().__init__(message)
        self.decision = decision


class PolicyEvaluationError(InterboltError):
    """A policy that does not load; with a `decision`: a call that could not be judged, which is a block."""

    def __init__(self, message: str, *, decision: Decision | None = None) -> None:
        super().__init__(message)
        self.decision = decision


class InterboltConfigError(InterboltError, ValueError):
    """A name, a mode, an envelope that cannot be."""


class InterboltUsageError(InterboltError, RuntimeError):
    """A call of this module at the wrong time: before `configure`, in a run that has ended."""
