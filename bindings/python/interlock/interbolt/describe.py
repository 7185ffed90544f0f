# SPDX-License-Identifier: Apache-2.0
"""Decisions and records as one line for people. Text of a policy or of data is escaped, and there is no markup."""

from __future__ import annotations

import typing

from .decision import Decision
from .record import Endorsement, Event, Finding

__all__ = ["describe_decision", "describe_endorsement", "describe_event", "describe_finding"]


def _said(value: object) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))


def _set(values: typing.Iterable[object]) -> str:
    return "{" + ", ".join(sorted(map(_said, values))) + "}"


def describe_decision(decision: Decision) -> str:
    rule = decision.matched_rule or ("no match (default sink action)" if decision.core.layer != "machine" else decision.core.reason)
    parts = [_said(decision.tool), decision.action.value, f"rule={_said(rule)}"]
    if decision.matched_condition is not None:
        parts.append(f"when={_said(decision.matched_condition)}")
    parts += [f"mode={decision.mode.value}", f"untrusted_sources={_set(decision.untrusted_sources)}"]
    if decision.run_tainted:
        parts.append(f"run_untrusted={_set(e.source for e in decision.run_ingress if e.trust.value == 'untrusted')}")
    if decision.run_trifecta - {"from_untrusted"}:
        parts.append(f"run_trifecta={_set(decision.run_trifecta)}")
    if any(by == "content" for _, _, by in decision._found):
        parts.append(f"found_by_content={_set(path for path, _, by in decision._found if by == 'content')}")
    return "  ".join(parts)


def describe_event(event: Event) -> str:
    return f"{describe_decision(event.decision)}  outcome={event.outcome.value}  sources={_set(event.sources)}"


def describe_finding(finding: Finding) -> str:
    return f"finding  source={_said(finding.source)}  tool={_said(finding.tool)}  argument={_said(finding.argument)}"


def describe_endorsement(endorsement: Endorsement) -> str:
    note = f"  note={_said(endorsement.note)}" if endorsement.note is not None else ""
    return f"endorsement  kind={_said(endorsement.kind)}  lineage={_set(endorsement.lineage)}{note}"
