# SPDX-License-Identifier: Apache-2.0
"""Python values as the JSON values that policies speak of.

Arguments must be readable whole: what is not is no argument that could be judged. Results are read as far as they can be.
"""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid

from . import _core

__all__ = ["arguments_text", "copied", "result_text"]

_AS_TEXT = (datetime.date, datetime.time, datetime.timedelta, uuid.UUID, pathlib.PurePath, decimal.Decimal)


def stand_in(value: object) -> object:
    """What stands for a value that is no dict, list, tuple, str, bytes, int, float, bool or None. TypeError for what cannot be read."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, _AS_TEXT):
        return str(value)
    if isinstance(value, (set, frozenset, collections.deque)):
        return list(value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        return dump(value)
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    raise TypeError(f"a value of type `{type(value).__qualname__}` has no JSON form")


def _any_stand_in(value: object) -> object:
    try:
        return stand_in(value)
    except TypeError:
        return str(value)


def arguments_text(args: object) -> bytes:
    """The JSON text of the arguments of a call. TypeError or ValueError where they cannot be read whole."""
    return _core.json(args, stand_in)


def result_text(value: object) -> bytes | None:
    """The JSON text of a result; None where there is none that can be read, which counts as its worst case."""
    try:
        return _core.json(value, _any_stand_in)
    except Exception:
        return None


def copied(value: typing.Any, depth: int = 64) -> typing.Any:
    """The value with its dicts, lists and sets copied, so that nobody who kept the original can change what was judged."""
    if depth == 0:
        raise ValueError("more than 64 levels")
    kind = type(value)
    if kind is dict:
        return {k: copied(v, depth - 1) for k, v in value.items()}
    if kind is list:
        return [copied(v, depth - 1) for v in value]
    if kind is tuple:
        return tuple(copied(v, depth - 1) for v in value)
    if kind is set:
        return set(value)
    if kind is bytearray:
        return bytearray(value)
    return value
