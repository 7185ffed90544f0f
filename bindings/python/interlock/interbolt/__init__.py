# SPDX-License-Identifier: Apache-2.0
"""The API of the package `interbolt` on our core: a program that was written for it runs after changing its import.

    from interlock import interbolt

    interbolt.configure(policy=interbolt.Policy.from_file("policy.yaml"))

    @interbolt.guard(tool="mail.send")
    def send(to: str, body: str) -> None: ...

    with interbolt.get_runtime().agent_context_sync("assistant"):
        page = interbolt.taint(fetch(url), source="web")
        send("ana@example.org", page)          # PolicyViolation

What differs, and why, is in docs/from-interbolt.md.
"""

import typing

from .. import __version__
from ..carrier import Label, LabeledValue, Tainted, TaintedBytes
from .decision import Decision, Found, RunIngressEntry
from .describe import describe_decision, describe_endorsement, describe_event, describe_finding
from .errors import ApprovalDenied, InterboltConfigError, InterboltError, InterboltUsageError, PolicyEvaluationError, PolicyViolation
from .explain import (
    AgentExplanation, GroupExplanation, RuleExplanation, SinkExplanation, ToolExplanation, ToolMention, explain_for_agent, explain_for_group, explain_for_tool,
)  # fmt: skip
from .guard import AgentHandle, agent, guard, track_model_call
from .ingress import endorse, taint
from .names import Action, Capability, Mode, Outcome, RuleOutcome, TrustLevel
from .policy import Policy, default_policy
from .record import RECORD_TYPE_ENDORSEMENT, RECORD_TYPE_EVENT, RECORD_TYPE_FINDING, Endorsement, Event, Finding
from .reporter import CompositeReporter, InMemoryReporter, JsonlReporter, LoggingReporter, NullReporter, Reporter
from .run import RunContext
from .runtime import ApprovalResolver, Runtime, check, configure, enforce_decision, enforce_decision_sync, get_runtime
from .wire import pack, pack_into, unpack, unpack_from

if typing.TYPE_CHECKING:
    from .otel import OTelReporter

__all__ = [
    "Action", "AgentExplanation", "AgentHandle", "ApprovalDenied", "ApprovalResolver", "Capability", "CompositeReporter", "Decision", "Endorsement", "Event", "Finding",
    "Found", "GroupExplanation", "InMemoryReporter", "InterboltConfigError", "InterboltError", "InterboltUsageError", "JsonlReporter", "Label", "LabeledValue",
    "LoggingReporter", "Mode", "NullReporter", "Outcome", "Policy", "PolicyEvaluationError", "PolicyViolation", "RECORD_TYPE_ENDORSEMENT", "RECORD_TYPE_EVENT",
    "RECORD_TYPE_FINDING", "Reporter", "RuleExplanation", "RuleOutcome", "RunContext", "RunIngressEntry", "Runtime", "SinkExplanation", "Tainted", "TaintedBytes",
    "ToolExplanation", "ToolMention", "TrustLevel", "__version__", "agent", "check", "configure", "default_policy", "describe_decision", "describe_endorsement",
    "describe_event", "describe_finding", "endorse", "enforce_decision", "enforce_decision_sync", "explain_for_agent", "explain_for_group", "explain_for_tool", "get_runtime",
    "guard", "pack", "pack_into", "taint", "track_model_call", "unpack", "unpack_from",
]  # fmt: skip


def __getattr__(name: str) -> typing.Any:
    if name == "OTelReporter":  # opentelemetry-api is optional, and `import *` must not ask for it
        from .otel import OTelReporter

        return OTelReporter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
