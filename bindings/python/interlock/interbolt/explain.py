# SPDX-License-Identifier: Apache-2.0
"""What a policy of Interbolt lets an agent, a group or anybody do: its rules with who calls put in, before any call.

    for sink in explain_for_agent(policy, "ana").sinks:
        for rule in sink.rules:
            print(sink.sink_key, rule.name, rule.outcome, rule.residual)
"""

from __future__ import annotations

import collections.abc
import dataclasses
import typing

from .. import _core
from .errors import InterboltConfigError
from .names import DEFAULT_NAMESPACE, Action, Capability, RuleOutcome
from .policy import Policy, rules_of

__all__ = [
    "AgentExplanation", "GroupExplanation", "RuleExplanation", "SinkExplanation", "ToolExplanation", "ToolMention", "explain_for_agent", "explain_for_group", "explain_for_tool",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class RuleExplanation:
    """What becomes of a rule: it never decides (`shadowed_by` says which earlier one does, where one does), always, or when `residual` holds; `depends_on_member`: that is about who in the group it is."""

    name: str
    action: Action
    outcome: RuleOutcome
    residual: str | None = None
    depends_on_member: bool = False
    shadowed_by: str | None = None
    shadowed_by_reason: str | None = None


@dataclasses.dataclass(frozen=True)
class SinkExplanation:
    """The rules of a sink in their order; what decides when none does."""

    sink_key: str
    rules: tuple[RuleExplanation, ...]
    default_action: Action


@dataclasses.dataclass(frozen=True)
class AgentExplanation:
    agent_id: str
    groups: frozenset[str]
    sinks: tuple[SinkExplanation, ...]


@dataclasses.dataclass(frozen=True)
class GroupExplanation:
    group: str
    sinks: tuple[SinkExplanation, ...]


@dataclasses.dataclass(frozen=True)
class ToolMention:
    """A rule of a tool, and whom its condition names."""

    name: str
    action: Action
    agent_ids: frozenset[str]
    groups: frozenset[str]
    when: str | None


@dataclasses.dataclass(frozen=True)
class ToolExplanation:
    sink_key: str
    capabilities: frozenset[Capability]
    mentions: tuple[ToolMention, ...]
    default_action: Action


class _Rest(typing.NamedTuple):
    """What is still to be asked. `binds`: how loosely its outermost operator does, 0 none, 1 `&&`, 2 `||`."""

    text: str
    member: bool
    binds: int = 0


Known = bool | _Rest
Ask = collections.abc.Callable[[str, str, str], Known]
_OTHER = "other"


def _partial(node: _core.Condition, ask: Ask) -> Known:
    """The condition where `ask(word, name, text)` says what is known of who calls."""
    word, text, inside = node
    if word == "not":
        known = _partial(inside[0], ask)
        return not known if isinstance(known, bool) else _Rest(f"!({known.text})", known.member)
    if word not in ("and", "or"):
        return ask(word, inside, text)
    decides, sign, binds = word == "or", " && " if word == "and" else " || ", 1 if word == "and" else 2
    rest: list[_Rest] = []
    for part in inside:
        known = _partial(part, ask)
        if not isinstance(known, bool):
            rest.append(known)
        elif known is decides:
            return decides
    if not rest:
        return not decides
    texts = [f"({one.text})" if one.binds > binds and len(rest) > 1 else one.text for one in rest]
    return _Rest(sign.join(texts), all(one.member for one in rest), binds if len(rest) > 1 else rest[0].binds)


def _loose(text: str) -> int:
    """How loosely a text of no known form binds: a choice (`a ? b : c`) looser than both."""
    return 3 if "?" in text else 0


def _of_agent(agent: str, groups: collections.abc.Set[str]) -> Ask:
    def ask(word: str, name: str, text: str) -> Known:
        return _Rest(text, False, _loose(text)) if word == _OTHER else name in groups if word == "in" else (name == agent) is (word == "is")

    return ask


def _of_group(group: str) -> Ask:
    def ask(word: str, name: str, text: str) -> Known:
        return True if word == "in" and name == group else _Rest(text, word != _OTHER, _loose(text) if word == _OTHER else 0)

    return ask


def _only_who(node: _core.Condition) -> bool:
    word, _, inside = node
    return all(map(_only_who, inside)) if word in ("and", "or", "not") else word != _OTHER


def _because(node: _core.Condition, agent: str, groups: collections.abc.Set[str]) -> str | None:
    """The first thing that it asks of this agent and that is so."""
    word, _, inside = node
    if word in ("and", "or"):
        return next((why for part in inside if _partial(part, _of_agent(agent, groups)) is True and (why := _because(part, agent, groups)) is not None), None)
    if word == "not" or _partial(node, _of_agent(agent, groups)) is not True:
        return None
    return f"{agent!r} is a member of group {inside!r}" if word == "in" else f"{agent!r} matches agent.id == {inside!r}" if word == "is" else f"{agent!r} is not {inside!r}"


def _sinks(policy: Policy) -> dict[str, dict[str, typing.Any]]:
    if not policy.translated:
        raise InterboltConfigError("this is no document of Interbolt: `interlock explain` says what may be done under a policy of ours")
    return {name: sink or {} for name, sink in (policy.document.get("sinks") or {}).items()}


def _default(policy: Policy) -> Action:
    return Action((policy.document.get("defaults") or {}).get("sink_action", "require_approval"))


def _explained(policy: Policy, ask: Ask, because: collections.abc.Callable[[_core.Condition], str | None]) -> tuple[SinkExplanation, ...]:
    out = []
    for name, sink in _sinks(policy).items():
        rules: list[RuleExplanation] = []
        by: str | None = None
        why: str | None = None
        for rule in rules_of(sink):
            action = Action(rule.action)
            node = _core.condition(rule.condition) if rule.condition is not None else None
            known = _partial(node, ask) if node is not None and by is None else by is None
            if isinstance(known, _Rest):
                rules.append(RuleExplanation(rule.name, action, RuleOutcome.CONDITIONAL, known.text, known.member))
            elif not known:
                rules.append(RuleExplanation(rule.name, action, RuleOutcome.ELIMINATED, shadowed_by=by, shadowed_by_reason=why))
            else:
                rules.append(RuleExplanation(rule.name, action, RuleOutcome.UNCONDITIONAL))
                by, why = rule.name, because(node) if node is not None and _only_who(node) else None
        out.append(SinkExplanation(name, tuple(rules), _default(policy)))
    return tuple(out)


def explain_for_agent(policy: Policy, agent_id: str) -> AgentExplanation:
    """What each rule is for one agent; one that the policy does not name is in no group. InterboltConfigError for a policy that is no document of Interbolt."""
    groups = policy.id_to_groups.get(agent_id, frozenset())
    return AgentExplanation(agent_id, groups, _explained(policy, _of_agent(agent_id, groups), lambda node: _because(node, agent_id, groups)))


def explain_for_group(policy: Policy, group: str) -> GroupExplanation:
    """The same for whoever is in a group."""
    return GroupExplanation(group, _explained(policy, _of_group(group), lambda node: None))


def explain_for_tool(policy: Policy, sink_key: str) -> ToolExplanation | None:
    """Which agents and groups the rules of a tool name; None for a tool that the policy does not have. `send` is `default.send`."""
    sinks = _sinks(policy)
    key = sink_key if sink_key in sinks or "." in sink_key else f"{DEFAULT_NAMESPACE}.{sink_key}"
    if key not in sinks:
        return None
    mentions = []
    for rule in rules_of(sinks[key]):
        ids: set[str] = set()
        groups: set[str] = set()
        waiting = [_core.condition(rule.condition)] if rule.condition is not None else []
        while waiting:
            word, _, inside = waiting.pop()
            if word in ("and", "or", "not"):
                waiting += inside
            elif word != _OTHER:
                (groups if word == "in" else ids).add(inside)
        mentions.append(ToolMention(rule.name, Action(rule.action), frozenset(ids), frozenset(groups), rule.condition))
    return ToolExplanation(key, frozenset(map(Capability, sinks[key].get("capabilities") or ())), tuple(mentions), _default(policy))
