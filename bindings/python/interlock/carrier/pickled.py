# SPDX-License-Identifier: Apache-2.0
"""Pickles of labels and carriers: the label goes along, but for endorsements, which a pickle could make up."""

from __future__ import annotations

import copyreg

from .. import _core

__all__ = ["restored", "restored_label"]


def restored_label(lineage: tuple[str, ...], agents: tuple[str, ...], more: bool) -> _core.Origin:
    """A label with these names; not one without any that is trusted."""
    parts = [_core.Origin(name) for name in lineage] + [_core.Origin(lineage[0] if lineage else None, agent) for agent in agents if lineage]
    if more or not parts:
        parts.append(_core.Origin())
    return parts[0] if len(parts) == 1 else _core.Origin.merge(tuple(parts))


def restored(value: object, label: _core.Origin) -> object:
    """The carrier of what was in one."""
    from .mark import mark

    return mark(value, label)


def _reduced(label: _core.Origin) -> tuple[object, ...]:
    return restored_label, (label.lineage, label.ingested_by, label.more)


copyreg.pickle(_core.Origin, _reduced)  # type: ignore[arg-type]
