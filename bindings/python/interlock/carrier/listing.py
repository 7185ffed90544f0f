# SPDX-License-Identifier: Apache-2.0
"""`list` with a label: it is the label of everything in it, also of what has none of its own, such as numbers."""

from __future__ import annotations

import collections.abc
import copy
import typing

from .. import _core
from . import pickled

__all__ = ["TaintedList"]


class TaintedList(list[typing.Any], _core.Carrier):
    """A list with a label. What is put into it later keeps labels of its own; the list's stays."""

    _label: _core.Origin

    def __init__(self, items: collections.abc.Iterable[typing.Any], label: _core.Origin) -> None:
        if not isinstance(label, _core.Origin):
            raise TypeError("label is a Label")
        super().__init__(items)
        self.__dict__["_label"] = label

    def _with(self, made: list[typing.Any], other: object) -> TaintedList:
        more = _core.labels(other)
        return TaintedList(made, self._label if more is None else _core.Origin.merge((self._label, more)))

    def __add__(self, other: typing.Any) -> TaintedList:
        return self._with(list.__add__(self, other), other)

    def __radd__(self, other: typing.Any) -> TaintedList:
        return self._with(other + list(self), other) if isinstance(other, list) else NotImplemented

    def __mul__(self, times: typing.SupportsIndex) -> TaintedList:
        return TaintedList(list.__mul__(self, times), self._label)

    __rmul__ = __mul__

    def __getitem__(self, key: typing.Any) -> typing.Any:
        made = list.__getitem__(self, key)
        return TaintedList(made, self._label) if isinstance(key, slice) else made

    def copy(self) -> TaintedList:
        return TaintedList(self, self._label)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, typing.Any]) -> TaintedList:
        made = memo[id(self)] = TaintedList((), self._label)
        made.extend(copy.deepcopy(item, memo) for item in list.__iter__(self))
        return made

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> tuple[object, ...]:
        return pickled.restored, (list(self), self._label)

    def __repr__(self) -> str:
        return _core.Tainted(str(list.__repr__(self)), self._label)
