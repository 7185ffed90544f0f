# SPDX-License-Identifier: Apache-2.0
"""Labels that stand beside the tools, as the policy that they make."""

from __future__ import annotations

import collections.abc
import json
import typing

__all__ = ["Label", "export", "policy_document"]


class Label(typing.NamedTuple):
    """An entry of `tools`, without its name."""

    effects: tuple[str, ...]
    entry: dict[str, object]


def policy_document(labels: collections.abc.Mapping[str, Label]) -> dict[str, object]:
    """The policy document, on the machine `standard`."""
    tools = [{"match": tool, "effects": list(label.effects), **label.entry} for tool, label in sorted(labels.items())]
    return {"interlock": 1, "machine": "standard", "tools": tools}


def export(labels: collections.abc.Mapping[str, Label]) -> str:
    """The same as YAML, which flow style and JSON strings are; one line for each tool."""
    document = policy_document(labels)
    tools = typing.cast(list[dict[str, object]], document.pop("tools"))
    lines = [f"{key}: {json.dumps(value)}" for key, value in document.items()]
    return "\n".join([*lines, "tools:", *(f"  - {json.dumps(tool, ensure_ascii=False)}" for tool in tools), ""])
