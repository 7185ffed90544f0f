# SPDX-License-Identifier: Apache-2.0
"""Arguments of any kind, as far as they can be looked into."""

from __future__ import annotations

import collections
import inspect
import types
import typing

from .. import _core
from ..carrier import LabeledValue
from ..plain import copied, fields_of, is_later, stand_in

__all__ = ["FIXED", "frozen", "looked_into"]

_CODE = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
FIXED = frozenset({str, int, float, bool, bytes, type(None), _core.Tainted})  # nobody can change them
_OBJECTS = 1000  # that are looked at in one


class _Unseen(_core.Carrier):
    """What nobody could look into: of an unknown source, which no policy trusts."""


_UNSEEN = _Unseen()


def looked_into(value: object) -> object:
    """What stands for an object: what it holds where that can be read; else its type, with the labels that are in it, which are unknown where it does not show what is in it."""
    try:
        return stand_in(value)
    except TypeError:
        pass
    name = f"<{type(value).__qualname__}>"
    if isinstance(value, _CODE):
        label, _ = _inside(value, True)  # a function as an argument: what it was given on its way
        return name if label is None else LabeledValue(name, label)
    if is_later(value):
        return _UNSEEN
    label, seen = _inside(value)
    return _UNSEEN if not seen else name if label is None else LabeledValue(name, label)


def _inside(value: object, anyway: bool = False) -> tuple[_core.Origin | None, bool]:
    """The label of what an object holds, at any depth; False when something in it does not say what it holds (`anyway`: that is passed over)."""
    waiting: list[object] = [value]
    met: dict[int, object] = {}
    found: list[_core.Origin] = []
    while waiting:
        item = waiting.pop()
        if id(item) in met or isinstance(item, (str, bytes, int, float, type(None))) and not isinstance(item, _core.Carrier):
            continue
        met[id(item)] = item
        if len(met) > _OBJECTS:
            return (_core.Origin(), False) if anyway else (None, False)
        if isinstance(item, _core.Carrier):
            if item.label is None:
                return (_core.Origin(), False) if anyway else (None, False)
            found.append(item.label)
        parts = _held_by_code(item) if isinstance(item, _CODE) else _parts(item)
        if parts is None and not anyway:
            return None, False
        waiting.extend(parts or ())
    return (_core.Origin.merge(tuple(found)) if found else None), True


def _held_by_code(item: object) -> list[object]:
    """What a function closes over and has as defaults, and what a method belongs to. Classes and modules are what the program is made of."""
    if isinstance(item, types.MethodType):
        return [item.__self__, item.__func__]
    if isinstance(item, types.BuiltinFunctionType):
        return [] if item.__self__ is None or isinstance(item.__self__, types.ModuleType) else [item.__self__]
    if not isinstance(item, types.FunctionType):
        return []
    held: list[object] = [*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values()]
    for cell in item.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:
            pass  # nothing yet
    return held


def _parts(item: object) -> list[object] | None:
    if isinstance(item, (str, bytes)):
        return []
    if isinstance(item, dict):
        return [*dict.keys(item), *dict.values(item)]
    if isinstance(item, list):
        return list(list.__iter__(item))
    if isinstance(item, tuple):
        return list(tuple.__iter__(item))
    if isinstance(item, (set, frozenset, collections.deque)):
        return list(item)
    slots = [name for kind in type(item).__mro__ for name in _slots(kind)]
    own = inspect.getattr_static(item, "__dict__", None) is not None
    if not own and not slots:
        return None if type(item) is not object else []
    held: list[object] = [getattr(item, name) for name in slots if hasattr(item, name)]
    if own:
        members = getattr(item, "__dict__", None)
        if not isinstance(members, dict):
            return None
        held += dict.values(members)
    return held if all(map(_shows, type(item).__mro__)) else None


def _shows(kind: type) -> bool:
    """Whether objects of a class hold nothing but what its `__dict__` and slots have: one that is written in C keeps things where nobody sees them."""
    if kind is object:
        return True
    base = kind.__base__
    room = len(_slots(kind)) + sum(name in kind.__dict__ for name in ("__dict__", "__weakref__"))
    return bool(kind.__flags__ & (1 << 9)) and base is not None and kind.__basicsize__ - base.__basicsize__ <= 8 * room


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return tuple(name for name in ((slots,) if isinstance(slots, str) else tuple(slots)) if name not in ("__dict__", "__weakref__"))


def frozen(value: typing.Any) -> typing.Any:
    """A copy that nobody else can change, of what can be copied: that is judged, and the function gets it. Objects that are no data are themselves."""
    return _core.frozen(value, _copy)


def _copy(value: typing.Any) -> typing.Any:
    try:
        if type(value) is LabeledValue and value.label is not None:
            return LabeledValue(frozen(value.value), value.label)
        if isinstance(value, (dict, list, tuple, set, frozenset, collections.deque, bytearray, memoryview)) or fields_of(value) is not None:
            return copied(value)
    except Exception:
        pass  # a lock in a model: it is what it is
    return value
