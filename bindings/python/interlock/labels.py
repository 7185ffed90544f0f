# SPDX-License-Identifier: Apache-2.0
"""Labels that stand beside the tools, as the policy that they make."""

from __future__ import annotations

import collections.abc
import inspect
import json
import re
import typing

__all__ = ["Label", "export", "policy_document", "unknown_arguments"]


class Label(typing.NamedTuple):
    """An entry of `tools`, without its name."""

    effects: tuple[str, ...]
    entry: dict[str, object]


def policy_document(
    labels: collections.abc.Mapping[str, Label], approvals: collections.abc.Mapping[str, object] | None = None
) -> dict[str, object]:
    """The policy document, on the machine `standard`."""
    head: dict[str, object] = {"interlock": 1, "machine": "standard"}
    if approvals is not None:
        head["approvals"] = dict(approvals)
    tools = [{"match": tool, "effects": list(label.effects), **label.entry} for tool, label in sorted(labels.items())]
    return {**head, "tools": tools}


def export(labels: collections.abc.Mapping[str, Label], approvals: collections.abc.Mapping[str, object] | None = None) -> str:
    """The same as YAML, which flow style and JSON strings are; one line for each tool."""
    document = policy_document(labels, approvals)
    tools = typing.cast(list[dict[str, object]], document.pop("tools"))
    lines = [f"{key}: {json.dumps(value)}" for key, value in document.items()]
    return "\n".join([*lines, "tools:", *(f"  - {json.dumps(tool, ensure_ascii=False)}" for tool in tools), ""])


def _named(value: object) -> collections.abc.Iterator[str]:
    """The arguments that `to: {email: to}`, `reads: [body, "items[*].text"]` and the like name; templates and remembered values are left to the policy."""
    if isinstance(value, str):
        if value[:1] not in ("$", "=") and "{" not in value:
            yield re.split(r"[.\[]", value, maxsplit=1)[0]
    elif isinstance(value, collections.abc.Mapping):
        for item in value.values():
            yield from _named(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _named(item)


def unknown_arguments(label: Label, signature: inspect.Signature) -> list[str]:
    """Arguments that a label names and the function has not. None where the function takes any, or the label has kinds of its own."""
    if "kinds" in label.entry or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        return []
    named = [name for key in ("to", "object", "reads", "line", "plain", "within") for name in _named(label.entry.get(key))]
    return [name for name in named if name not in signature.parameters]
