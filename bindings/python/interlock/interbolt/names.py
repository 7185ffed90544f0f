# SPDX-License-Identifier: Apache-2.0
"""Words and rules of names that Interbolt's programs use."""

from __future__ import annotations

import enum
import re

from .. import _core
from .errors import InterboltConfigError

__all__ = ["Action", "Capability", "DEFAULT_AGENT_ID", "DEFAULT_NAMESPACE", "LEGS", "Mode", "Outcome", "RuleOutcome", "TrustLevel", "agent_name", "identifier", "mode_of", "qualified", "source_name"]

DEFAULT_AGENT_ID = "default"
DEFAULT_NAMESPACE = "default"
LEGS = ("from_untrusted", "reads_private", "reaches_external")


class _Word(str, enum.Enum):
    def __str__(self) -> str:
        return str(self.value)


class Mode(_Word):
    ENFORCE = "enforce"
    MONITOR = "monitor"
    DRY_RUN = "dry_run"


class TrustLevel(_Word):
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Capability(_Word):
    READS_PRIVATE = "reads_private"
    REACHES_EXTERNAL = "reaches_external"


class Action(_Word):
    ALLOW = "allow"
    BLOCK = "block"
    REQUIRE_APPROVAL = "require_approval"


class Outcome(_Word):
    ALLOW = "allow"
    BLOCK = "block"
    REQUIRE_APPROVAL = "require_approval"
    EVALUATION_ERROR = "evaluation_error"


class RuleOutcome(_Word):
    """What becomes of a rule when it is known who calls (explain_for_agent and its like)."""

    ELIMINATED = "eliminated"
    UNCONDITIONAL = "unconditional"
    CONDITIONAL = "conditional"


def mode_of(value: object, what: str) -> Mode:
    try:
        return Mode(value)
    except ValueError:
        raise InterboltConfigError(f"{what} is `enforce`, `monitor` or `dry_run`, not {value!r}") from None


def identifier(value: object, what: str) -> str:
    """A name of letters, digits and `_ . -`, matched whole."""
    if isinstance(value, _core.Carrier):
        raise InterboltConfigError(f"{what} is tainted: a name that decides what is allowed must not come from data")
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", value) is None:
        raise InterboltConfigError(f"{what} has letters, digits and `_ . -` only: {value!r}")
    return value


def agent_name(value: object, default: bool = False) -> str:
    name = identifier(value, "agent_id")
    if name == DEFAULT_AGENT_ID and not default:
        raise InterboltConfigError("the agent_id `default` is reserved for calls without an agent")
    return name


def source_name(value: object) -> str:
    """The name of a source: any text of 1 to 256 bytes without control characters."""
    if not isinstance(value, str) or not 0 < len(value.encode("utf-8", "surrogatepass")) <= 256 or any(ord(c) < 32 or ord(c) == 127 or "\ud800" <= c <= "\udfff" for c in value):
        raise InterboltConfigError(f"a source has 1 to 256 bytes of text without control characters, not {value!r:.80}")
    return "".join((value,))


def qualified(name: str) -> str:
    """`namespace.tool`, with the namespace `default` where there is none."""
    space, dot, tool = name.rpartition(".")
    if "." in space:
        raise InterboltConfigError(f"a namespace has no dot: {name!r}")
    if not tool or (dot and not space):
        raise InterboltConfigError(f"a tool is `namespace.tool`, with neither empty: {name!r}")
    return name if dot else f"{DEFAULT_NAMESPACE}.{name}"
