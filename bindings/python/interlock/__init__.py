# SPDX-License-Identifier: Apache-2.0
"""A reference monitor for AI agents: decides each tool call before it runs, by where data came from and what the call does.

    from interlock import Gate

    gate = Gate("policy.yaml")

    @gate.tool
    def send_mail(to: str, body: str) -> str: ...
"""

from ._core import Approval, Decision, Origin, Policy, Row, Settlement, Witness
from ._core import version as _version
from .errors import ApprovalRequired, Denied, InterlockError, PolicyError, UsageError, Withheld
from .gate import ApprovalRequest, Gate

__version__ = _version()
__all__ = [
    "Approval",
    "ApprovalRequest",
    "ApprovalRequired",
    "Decision",
    "Denied",
    "Gate",
    "InterlockError",
    "Origin",
    "Policy",
    "PolicyError",
    "Row",
    "Settlement",
    "UsageError",
    "Withheld",
    "Witness",
]
