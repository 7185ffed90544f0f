# SPDX-License-Identifier: Apache-2.0
"""What was decided of a call, in Interbolt's words."""

from __future__ import annotations

import typing
import uuid

from .. import _core
from .model import Frozen
from .names import Action, Mode, Outcome, TrustLevel

if typing.TYPE_CHECKING:
    from .run import Run

__all__ = ["Decision", "Found", "RunIngressEntry"]

_ACTIONS = {word.value: word for word in Action}
_OUTCOMES = {word.value: word for word in Outcome}
SENSITIVE, SECRET, EGRESS = 2, 4, 8  # bits of effects


class Found(typing.NamedTuple):
    """Where in the arguments a label is, and who found it: its `carrier`, or the `content` index after the carrier was lost. `label` is None of an unknown source."""

    path: str
    label: _core.Origin | None
    by: str


class RunIngressEntry(Frozen):
    """A source that a run has taken in, and which agents did."""

    __slots__ = ("ingested_by", "source", "trust")
    FIELDS = ("source", "trust", "ingested_by")

    def __init__(self, *, source: str, trust: TrustLevel, ingested_by: tuple[str, ...]) -> None:
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "trust", trust)
        object.__setattr__(self, "ingested_by", ingested_by)

    source: str
    trust: TrustLevel
    ingested_by: tuple[str, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` of a record is read only")


class Snapshot(typing.NamedTuple):
    """What a run held when the call was decided."""

    ingress: tuple[RunIngressEntry, ...]
    legs: frozenset[str]
    tainted: bool


class Decision(Frozen):
    """What was decided of one call. The fields are Interbolt's; `found` says of each label where it is and who found it, `core` is the decision of the C core."""

    __slots__ = ("_agent", "_args", "_core", "_found", "_id", "_run", "_session", "_snapshot", "_tool", "_used")
    FIELDS = (
        "action", "matched_rule", "matched_condition", "tool", "contributing_labels", "trifecta", "untrusted_sources", "run_tainted", "run_ingress", "run_trifecta", "mode",
        "decision_id", "agent_id", "run_id", "session_id",
    )  # fmt: skip

    def __init__(
        self, core: _core.Decision, found: _core.Found, run: Run, tool: str, agent_id: str, session_id: str | None, snapshot: Snapshot, args: bytes
    ) -> None:  # fmt: skip
        self._core = core
        self._found = found
        self._run = run
        self._tool = tool
        self._agent = agent_id
        self._session = session_id
        self._snapshot = snapshot
        self._args = args
        self._id = ""
        self._used = False

    @property
    def core(self) -> _core.Decision:
        """The decision of the C core: witnesses, message for the model, digest."""
        return self._core

    @property
    def tool(self) -> str:
        return self._tool

    @property
    def agent_id(self) -> str:
        return self._agent

    @property
    def session_id(self) -> str | None:
        return self._session

    @property
    def run_id(self) -> str:
        return self._run.id

    @property
    def mode(self) -> Mode:
        return self._run.mode

    @property
    def found(self) -> tuple[Found, ...]:
        """Each label in the arguments: where, and who found it."""
        return tuple(Found(*row) for row in self._found)

    # ---- what is enforced --------------------------------------------------------------------------------

    @property
    def outcome(self) -> Outcome:
        """What was decided, whatever is enforced of it."""
        return Outcome.EVALUATION_ERROR if self.core.layer == "fault" else _OUTCOMES[self.core.action]

    @property
    def action(self) -> Action:
        """What is enforced."""
        return Action.ALLOW if self.core.run else Action.BLOCK if self.core.layer == "fault" else _ACTIONS[self.core.action]

    @property
    def decision_id(self) -> str:
        if not self._id:
            self._id = str(uuid.uuid4())
        return self._id

    # ---- which rule ----------------------------------------------------------------------------------------

    @property
    def matched_rule(self) -> str | None:
        return self._run.policy.rule_name(self.core)

    @property
    def matched_condition(self) -> str | None:
        return self._run.policy.rule_condition(self.core)

    # ---- the call's values ---------------------------------------------------------------------------------

    @property
    def contributing_labels(self) -> tuple[_core.Origin, ...]:
        """Each label once."""
        return tuple({id(label): label for _, label, _ in self._found if label is not None}.values())

    @property
    def _untrusted(self) -> bool:
        return any(label is None or not self._run.policy.core.trusts(label) for _, label, _ in self._found)

    @property
    def trifecta(self) -> frozenset[str]:
        return legs_of(self.core.effects) | ({"from_untrusted"} if self._untrusted else frozenset())

    @property
    def untrusted_sources(self) -> frozenset[str]:
        return frozenset(name for label in self.contributing_labels for name in label.lineage if not self._run.policy.trusts(name))

    @property
    def sources(self) -> frozenset[str]:
        """All names in the lineages of the call's labels."""
        return frozenset(name for label in self.contributing_labels for name in label.lineage)

    # ---- the run -------------------------------------------------------------------------------------------

    @property
    def run_ingress(self) -> tuple[RunIngressEntry, ...]:
        return self._snapshot.ingress

    @property
    def run_tainted(self) -> bool:
        return self._snapshot.tainted

    @property
    def run_trifecta(self) -> frozenset[str]:
        return self._snapshot.legs | legs_of(self.core.effects) | ({"from_untrusted"} if self._snapshot.tainted else frozenset())


def legs_of(effects: int) -> frozenset[str]:
    """The legs that a call's effects are, but for what its values bring."""
    return LEGS_OF[effects & 15]


_LEGS = (frozenset[str](), frozenset({"reads_private"}), frozenset({"reaches_external"}), frozenset({"reads_private", "reaches_external"}))
LEGS_OF = tuple(_LEGS[(1 if effects & (SENSITIVE | SECRET) else 0) | (2 if effects & EGRESS else 0)] for effects in range(16))
