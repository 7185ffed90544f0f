# SPDX-License-Identifier: Apache-2.0
"""Python values as the JSON values that policies speak of.

Arguments must be readable whole: what is not is no argument that could be judged. Results are read as far as they can be.
"""

from __future__ import annotations

import collections
import collections.abc
import copy
import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid

from . import _core

__all__ = ["arguments_text", "copied", "error_text", "fields_of", "is_later", "judged_arguments", "result_text", "stand_in"]

_AS_TEXT = (datetime.date, datetime.time, datetime.timedelta, uuid.UUID, pathlib.PurePath, decimal.Decimal)
_FIXED = (type(None), bool, int, float, str, bytes)  # nobody can change them


def stand_in(value: object) -> object:
    """What stands for a value that is no dict, list, tuple, str, bytes, int, float, bool or None. TypeError for what cannot be read."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, _AS_TEXT):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return list(set.__iter__(value) if isinstance(value, set) else frozenset.__iter__(value))
    if isinstance(value, collections.deque):
        return list(collections.deque.__iter__(value))
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    held = fields_of(value)
    if held is not None:
        return held
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        return dump(value)
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    raise TypeError(f"a value of type `{type(value).__qualname__}` has no JSON form")


def fields_of(value: object) -> dict[str, object] | None:
    """What a dataclass, an attrs class or a pydantic model holds, by name; None for anything else. Of a model that wraps one value: {"root": it}."""
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
    attributes = getattr(kind, "__attrs_attrs__", None)
    if isinstance(attributes, tuple):
        return {a.name: getattr(value, a.name, None) for a in attributes}
    fields = getattr(kind, "model_fields", None)
    if isinstance(fields, collections.abc.Mapping) and callable(getattr(kind, "model_dump", None)):
        extra = getattr(value, "model_extra", None)  # `model_dump` leaves out fields that exclude themselves, and says others as their serializers like
        held: dict[str, object] = {str(name): getattr(value, name, None) for name in fields}
        held.update(extra if isinstance(extra, dict) else {})
        return held
    return None


class _Later(Exception):
    """A result whose content is not there yet."""


def _any_stand_in(value: object) -> object:
    if is_later(value):
        raise _Later
    try:
        return stand_in(value)
    except TypeError:
        if type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__:
            raise _Later from None  # `<Answer object at 0x7f..>` says nothing of what is in it
        return str(value)


def is_later(value: object) -> bool:
    """Whether what the value gives is made when it is asked for: generators, iterators, open files, coroutines. Nobody can record that."""
    kind = type(value)
    return any(hasattr(kind, name) for name in ("__next__", "__anext__", "__await__"))


def arguments_text(args: object) -> bytes:
    """The JSON text of the arguments of a call. TypeError or ValueError where they cannot be read whole."""
    return _core.json(args, stand_in)


def judged_arguments(args: object, index: _core.Index | None = None) -> tuple[bytes, _core.Found]:
    """The same, with the labels that carriers in them have, and those of texts whose content is in `index`."""
    return _core.judged(args, stand_in, index)


def result_text(value: object) -> bytes | None:
    """The JSON text of a result; None where there is none that can be read, which counts as its worst case."""
    try:
        return _core.json(value, _any_stand_in)
    except Exception:
        return None


def error_text(error: BaseException) -> str:
    """All that an error says: its text, its notes, what it was raised from, and the errors in a group. It may be somebody else's, who may not even be able to say it."""
    said: list[str] = []
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < 64:
        e = waiting.pop(0)
        if e is None or id(e) in seen:
            continue
        seen.add(id(e))
        try:
            said += [str(e), *map(str, getattr(e, "__notes__", ()))]
        except Exception:
            said.append(type(e).__name__)
        waiting += [e.__cause__, None if e.__suppress_context__ else e.__context__, *(e.exceptions if isinstance(e, BaseExceptionGroup) else ())]
    return "\n".join(said).encode("utf-8", "replace").decode()


def copied(value: typing.Any, depth: int = 64) -> typing.Any:
    """A copy that shares nothing with the value that could be changed, so that nobody who kept the original can change what was judged."""
    if depth == 0:
        raise ValueError("more than 64 levels")
    kind = type(value)
    if kind in _FIXED:
        return value
    if kind is dict:
        return {k: copied(v, depth - 1) for k, v in value.items()}
    if kind is list:
        return [copied(v, depth - 1) for v in value]
    if kind is tuple:
        return tuple(copied(v, depth - 1) for v in value)
    if kind is memoryview:
        return memoryview(bytes(value))
    return copy.deepcopy(value)
