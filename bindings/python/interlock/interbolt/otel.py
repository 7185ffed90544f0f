# SPDX-License-Identifier: Apache-2.0
"""Records as events of OpenTelemetry's spans. Needs opentelemetry-api: `pip install 'interlock[otel]'`."""

from __future__ import annotations

import typing

from .errors import InterboltConfigError
from .record import Endorsement, Event, Finding, Record

try:
    from opentelemetry import trace as _trace
except ImportError as _missing:
    raise InterboltConfigError("OTelReporter needs opentelemetry-api: pip install 'interlock[otel]'") from _missing

__all__ = ["OTelReporter"]


class OTelReporter:
    """Adds an event to the span that records; else opens and closes one of its name. Arguments and labels are not in it."""

    def __init__(self) -> None:
        from .. import __version__

        self._tracer = _trace.get_tracer("interlock", __version__)

    def export(self, record: Record) -> None:
        name, attributes = _attributes(record)
        span = _trace.get_current_span()
        if span.is_recording():
            span.add_event(name, attributes)
        else:
            with self._tracer.start_as_current_span(name, attributes=attributes):
                pass


def _attributes(record: Record) -> tuple[str, dict[str, typing.Any]]:
    out: dict[str, typing.Any] = {"interlock.schema_version": record.schema_version}
    if record.policy_fingerprint:
        out["interlock.policy_fingerprint"] = record.policy_fingerprint
    if isinstance(record, Event):
        d = record.decision
        out |= {
            "gen_ai.tool.name": d.tool, "interlock.outcome": d.outcome.value, "interlock.decision.action": d.action.value, "interlock.decision.id": d.decision_id,
            "interlock.mode": d.mode.value, "interlock.agent_id": d.agent_id, "interlock.run_id": d.run_id, "interlock.run_tainted": d.run_tainted,
            "interlock.sources": sorted(d.sources), "interlock.untrusted_sources": sorted(d.untrusted_sources), "interlock.trifecta": sorted(d.trifecta),
            "interlock.run_trifecta": sorted(d.run_trifecta), "interlock.run_ingested_sources": sorted(e.source for e in d.run_ingress),
        }  # fmt: skip
        if d.matched_rule is not None:
            out["interlock.matched_rule"] = d.matched_rule
        return "interlock.decision", out
    if isinstance(record, Finding):
        out |= {"gen_ai.tool.name": record.tool, "interlock.agent_id": record.agent_id, "interlock.run_id": record.run_id}
        return "interlock.finding", out | {"interlock.finding.source": record.source, "interlock.finding.argument": record.argument}
    if isinstance(record, Endorsement):
        out |= {"interlock.agent_id": record.agent_id, "interlock.run_id": record.run_id, "interlock.endorsement.kind": record.kind}
        return "interlock.endorsement", out | ({"interlock.endorsement.note": record.note} if record.note else {})
    raise TypeError(f"no record: {type(record).__name__}")
