# SPDX-License-Identifier: Apache-2.0
"""Putting a label on a value, asking for it, and taking the value out again."""

from __future__ import annotations

import collections
import collections.abc
import copy
import dataclasses
import typing

from .. import _core
from ..plain import fields_of, stand_in
from .box import LabeledValue
from .listing import TaintedList
from .mapping import TaintedDict
from .octets import TaintedBytes
from .row import TaintedTuple

__all__ = ["Label", "Tainted", "label_of", "mark", "plain"]

Label = _core.Origin
Tainted = _core.Tainted
DEPTH = 64


def mark(value: typing.Any, label: Label) -> typing.Any:
    """The value with the label, in everything that is in it. A label that is there already stays: the new one is added.

    str, bytes, list, dict and tuple become carriers of their kind; sets, named tuples, dataclasses, attrs classes and pydantic models keep their type and hold carriers (a number in
    them stays a number); anything else is put into a LabeledValue. What is more than 64 levels deep goes into one as well.
    """
    return _marked(value, label, DEPTH, True)


def _joined(value: object, label: Label) -> Label:
    if not isinstance(value, _core.Carrier):
        return label
    own = value.label
    return Label.merge((own, label)) if own is not None else Label.merge((label, Label()))


def _marked(value: typing.Any, label: Label, depth: int, boxes: bool) -> typing.Any:
    kind = type(value)
    if kind is str:
        return Tainted(value, label)
    if isinstance(value, (bool, int, float, complex)) or value is None:
        return LabeledValue(value, label) if boxes else value
    if isinstance(value, str):
        return Tainted(value, _joined(value, label))
    if isinstance(value, bytes):
        return TaintedBytes(value, _joined(value, label))
    if depth == 0:
        return LabeledValue(value, label)
    if isinstance(value, LabeledValue):
        return LabeledValue(value.value, _joined(value, label))
    if isinstance(value, (dict, list, tuple, set, frozenset, collections.deque, collections.abc.Mapping)):
        return _container(value, label, depth)
    held = fields_of(value)
    if held is not None:
        return _model(value, held, label, depth)
    return LabeledValue(value, label) if boxes else value


def _container(value: typing.Any, label: Label, depth: int) -> typing.Any:
    def inside(item: typing.Any) -> typing.Any:
        return _marked(item, label, depth - 1, False)

    if isinstance(value, dict):
        return TaintedDict({inside(k): inside(v) for k, v in dict.items(value)}, _joined(value, label))
    if isinstance(value, collections.abc.Mapping):
        return TaintedDict({inside(k): inside(v) for k, v in value.items()}, label)
    if isinstance(value, list):
        return TaintedList(map(inside, list.__iter__(value)), _joined(value, label))
    if isinstance(value, tuple):
        items = map(inside, tuple.__iter__(value))
        named = getattr(type(value), "_make", None)
        return named(items) if named is not None else TaintedTuple(items, _joined(value, label))
    if isinstance(value, collections.deque):
        return collections.deque(map(inside, value), value.maxlen)
    return (set if isinstance(value, set) else frozenset)(map(inside, value))


def _model(value: typing.Any, held: collections.abc.Mapping[str, typing.Any], label: Label, depth: int) -> typing.Any:
    made = copy.copy(value)
    if made is value:
        return LabeledValue(value, label)
    own = getattr(made, "__dict__", None)
    for name, item in held.items():
        item = _marked(item, label, depth - 1, False)
        if isinstance(own, dict) and name in own:
            own[name] = item  # past validation, which would make a copy
        else:
            object.__setattr__(made, name, item)
    return made


def label_of(value: object) -> Label | None:
    """The label of all that is in a value, at any depth; None when nothing in it carries one."""
    return _core.labels(value, stand_in)


def plain(value: typing.Any) -> typing.Any:
    """The value without any label, at any depth: for where a library insists on exact types. What it gives is found again only by its content."""
    return _stripped(value, DEPTH)


def _stripped(value: typing.Any, depth: int) -> typing.Any:
    if depth == 0:
        raise ValueError("more than 64 levels")
    kind = type(value)
    if issubclass(kind, LabeledValue):
        return _stripped(value.value, depth - 1)
    if issubclass(kind, (Tainted, TaintedBytes)):
        return ("" if issubclass(kind, str) else b"").join((value,))
    if kind in (dict, TaintedDict):
        return {_stripped(k, depth - 1): _stripped(v, depth - 1) for k, v in dict.items(value)}
    if kind in (list, TaintedList):
        return [_stripped(item, depth - 1) for item in list.__iter__(value)]
    if kind in (tuple, TaintedTuple):
        return tuple(_stripped(item, depth - 1) for item in tuple.__iter__(value))
    if kind in (set, frozenset):
        members = (_stripped(item, depth - 1) for item in value)
        return set(members) if kind is set else frozenset(members)
    return value
