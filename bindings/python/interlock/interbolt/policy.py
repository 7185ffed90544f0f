# SPDX-License-Identifier: Apache-2.0
"""A policy: a document of Interbolt, or one of ours."""

from __future__ import annotations

import json
import os
import subprocess
import typing

from .. import _core
from ..errors import PolicyError
from ..program import program
from .errors import InterboltConfigError, PolicyEvaluationError
from .names import Mode

__all__ = ["Policy", "default_policy", "rules_of"]

ENDORSED = 'taint.exists(t, t.trust == "untrusted" && !t.endorsements.exists(k, k == "{}"))'


class _Rule(typing.NamedTuple):
    name: str
    condition: str | None
    action: str


class Policy:
    """A compiled policy; immutable.

    Policy.from_file("policy.yaml")
    Policy({"version": "2.0", "sinks": {...}})
    """

    def __init__(self, document: dict[str, typing.Any], source: str | None = None, fingerprint: str = "") -> None:
        self.document = document
        self.source = source
        self._cores: dict[Mode, _core.Policy] = {}
        self._trusts: dict[str, bool] = {}
        self.translated = "interlock" not in document
        self.core = self.compiled(self.fail_mode or Mode.ENFORCE)
        self.fingerprint = fingerprint or self.core.fingerprint.hex()
        self._rules = list(_rules(document, self.translated))
        sinks = (document.get("sinks") or {}) if self.translated else {}
        self._produces: dict[str, str] = {name: sink["produces"] for name, sink in sinks.items() if sink and sink.get("produces")}

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads and compiles a policy. PolicyEvaluationError, InterboltConfigError for a document of a form that is too old."""
        name = os.fspath(path)
        try:
            _core.Policy(name)  # errors say where in the file
            text, theirs = _core.document(name)
        except PolicyError as e:
            message = f"{name}: {e}"
            raise (InterboltConfigError(message) if e.status == "IL_E_VERSION" else PolicyEvaluationError(message)) from None
        except ValueError as e:
            raise PolicyEvaluationError(f"{name}: {e}") from None
        except Exception as e:
            raise PolicyEvaluationError(f"{name}: {e}") from None
        return cls(json.loads(text), name, f"sha256:{theirs.hex()}" if theirs is not None else "")

    @staticmethod
    def validate(path: str | os.PathLike[str]) -> list[str]:
        """What `interlock validate` says of a policy, one message an entry; those that begin with `warning:` are warnings, all others errors."""
        found = program()
        if found is None:
            raise InterboltConfigError("the program `interlock` is neither in this package nor on the PATH")
        told = subprocess.run([found, "validate", "--json", os.fspath(path)], capture_output=True, text=True, check=False)
        try:
            said = json.loads(told.stdout)
        except ValueError:
            return [told.stderr.strip() or "it cannot be read"]
        if not said["valid"]:
            e = said["error"]
            return [f"{e['line']}:{e['col']}: {e['message']}"]
        return [f"{f['line']}:{f['col']}: {f['message']}" for f in said["findings"]] + [f"warning: {w['line']}:{w['col']}: {w['message']}" for w in said["warnings"]]

    # ---- what it says ------------------------------------------------------------------------------------

    @property
    def fail_mode(self) -> Mode | None:
        """The mode that the document pins."""
        if not self.translated:
            return Mode.DRY_RUN if self.document.get("mode") == "monitor" else None
        pinned = (self.document.get("defaults") or {}).get("fail_mode")
        return Mode(pinned) if pinned is not None else None

    def compiled(self, mode: Mode) -> _core.Policy:
        """The policy of the C core in this mode."""
        made = self._cores.get(mode)
        if made is None:
            document = dict(self.document)
            if self.translated:
                document["defaults"] = {**(document.get("defaults") or {}), "fail_mode": mode.value}
            elif mode is Mode.DRY_RUN:
                document["mode"] = "monitor"
            try:
                made = self._cores[mode] = _core.Policy(self.source or "", _core.json(document))
            except PolicyError as e:
                raise PolicyEvaluationError(str(e)) from None
        return made

    @property
    def sources_table(self) -> dict[str, str]:
        listed = self.document.get("sources") or {}
        return dict(listed) if isinstance(listed, dict) else {item["name"]: item["trust"] for item in listed}

    @property
    def id_to_groups(self) -> dict[str, frozenset[str]]:
        return {name: frozenset((agent or {}).get("groups") or ()) for name, agent in (self.document.get("agents") or {}).items()}

    @property
    def tool_capabilities(self) -> dict[str, frozenset[str]]:
        """Of the sinks that declare them."""
        sinks = self.document.get("sinks") or {}
        return {name: frozenset(sink["capabilities"]) for name, sink in sinks.items() if sink.get("capabilities") is not None}

    def produces(self, tool: str) -> str | None:
        """The source that a tool's results are."""
        return self._produces.get(tool)

    def trusts(self, source: str) -> bool:
        """Whether a source is trusted; a name that the policy does not know is not."""
        known = self._trusts.get(source)
        if known is None:
            known = self.core.trusts(_core.Origin(source))
            if len(self._trusts) < 4096:
                self._trusts[source] = known
        return known

    # ---- which rule decided --------------------------------------------------------------------------------

    def _rule(self, core: _core.Decision) -> _Rule | None:
        number = core.rule or 0
        return self._rules[number - 1] if core.layer in (None, "rule") and 0 < number <= len(self._rules) else None

    def rule_name(self, core: _core.Decision) -> str | None:
        """The rule that decided; None where none did, or something else (of our policies: the machine, whose rule is `core.reason`)."""
        rule = self._rule(core)
        return rule.name if rule is not None else None

    def rule_condition(self, core: _core.Decision) -> str | None:
        rule = self._rule(core)
        return rule.condition if rule is not None else None

    def waits(self, core: _core.Decision) -> bool:
        """Whether what decided asks for a human, whatever came of it: there may have been no room for one more request."""
        rule = self._rule(core)
        if rule is not None:
            return rule.action == "require_approval"
        return core.layer == "rule" and self.translated and (self.document.get("defaults") or {}).get("sink_action", "require_approval") == "require_approval"

    def __repr__(self) -> str:
        return f"Policy(source={self.source!r}, fingerprint={self.fingerprint!r})"


def _rules(document: dict[str, typing.Any], translated: bool) -> typing.Iterator[_Rule]:
    """In the order in which the core numbers them."""
    if not translated:
        for i, rule in enumerate(document.get("rules") or ()):
            yield _Rule(rule.get("name") or f"rule-{i + 1}", rule.get("when"), rule["then"])
        return
    for sink in (document.get("sinks") or {}).values():
        yield from rules_of(sink or {})


def rules_of(sink: dict[str, typing.Any]) -> typing.Iterator[_Rule]:
    """Those of a sink, in their order."""
    for rule in sink.get("rules") or ():
        kind = rule.get("require_endorsement")
        yield _Rule(rule["name"], ENDORSED.format(kind) if kind is not None else rule.get("when"), rule["action"])


def default_policy() -> Policy:
    """Every call waits for a human."""
    return Policy({"version": "2.0", "sinks": {}})
