# SPDX-License-Identifier: Apache-2.0
"""Where the program `interlock` is."""

from __future__ import annotations

import pathlib
import shutil

__all__ = ["program"]


def program() -> str | None:
    """The one that came with this package, else that on the PATH."""
    own = pathlib.Path(__file__).parent / "bin" / "interlock"
    return str(own) if own.is_file() else shutil.which("interlock")
