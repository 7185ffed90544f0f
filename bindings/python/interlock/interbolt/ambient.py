# SPDX-License-Identifier: Apache-2.0
"""What a call finds around it: the runtime that was configured last, and the run of its context."""

from __future__ import annotations

import contextvars
import typing

from .errors import InterboltUsageError

if typing.TYPE_CHECKING:
    from .run import Run
    from .runtime import Runtime

__all__ = ["configured", "current_run", "get_runtime", "install"]

current_run: contextvars.ContextVar[Run | None] = contextvars.ContextVar("interlock_run", default=None)
_installed: list[Runtime] = []


def install(runtime: Runtime) -> None:
    """From now on, in all threads."""
    _installed[:] = [runtime]


def configured() -> Runtime | None:
    return _installed[0] if _installed else None


def get_runtime() -> Runtime:
    """The one that `configure` made last; InterboltUsageError before."""
    if not _installed:
        raise InterboltUsageError("`configure` was not called")
    return _installed[0]
