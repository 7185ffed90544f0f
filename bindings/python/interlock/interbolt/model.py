# SPDX-License-Identifier: Apache-2.0
"""What cannot be changed once it is made, and can be written out: the base of decisions and records."""

from __future__ import annotations

import datetime
import enum
import json
import typing

from .. import _core

__all__ = ["Frozen"]


def _plain(value: typing.Any) -> typing.Any:
    if isinstance(value, Frozen):
        return value.model_dump(mode="json")
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (frozenset, set)):
        return sorted(map(_plain, value))
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, _core.Origin):
        return {"source": value.source, "value_id": value.value_id, "lineage": list(value.lineage), "ingested_by": list(value.ingested_by), "endorsements": list(value.endorsements)}
    return value


class Frozen:
    """Fields are read, never written. Two are equal when all their fields are."""

    __slots__ = ()
    FIELDS: typing.ClassVar[tuple[str, ...]] = ()

    def model_dump(self, *, mode: str = "python") -> dict[str, typing.Any]:
        """The fields by name; `mode="json"`: as JSON values."""
        out = {name: getattr(self, name) for name in self.FIELDS}
        return {name: _plain(value) for name, value in out.items()} if mode == "json" else out

    def model_dump_json(self) -> str:
        return json.dumps(self.model_dump(mode="json"), separators=(",", ":"))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.model_dump() == typing.cast(Frozen, other).model_dump()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.FIELDS))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.FIELDS)})"
