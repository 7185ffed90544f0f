# SPDX-License-Identifier: Apache-2.0
"""`tuple` with a label, which is that of everything in it."""

from __future__ import annotations

import collections.abc
import copy
import typing

from .. import _core
from . import pickled

__all__ = ["TaintedTuple"]


class TaintedTuple(tuple[typing.Any, ...], _core.Carrier):
    """A tuple with a label."""

    _label: _core.Origin

    def __new__(cls, items: collections.abc.Iterable[typing.Any], label: _core.Origin) -> TaintedTuple:
        if not isinstance(label, _core.Origin):
            raise TypeError("label is a Label")
        self = tuple.__new__(cls, items)
        self.__dict__["_label"] = label
        return self

    def _with(self, made: tuple[typing.Any, ...], other: object) -> TaintedTuple:
        more = _core.labels(other)
        return TaintedTuple(made, self._label if more is None else _core.Origin.merge((self._label, more)))

    def __add__(self, other: typing.Any) -> TaintedTuple:
        made = tuple.__add__(self, other)
        return NotImplemented if made is NotImplemented else self._with(made, other)

    def __radd__(self, other: typing.Any) -> TaintedTuple:
        return self._with(tuple(other) + tuple(iter(self)), other) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: typing.SupportsIndex) -> TaintedTuple:
        return TaintedTuple(tuple.__mul__(self, times), self._label)

    __rmul__ = __mul__

    def __getitem__(self, key: typing.Any) -> typing.Any:
        made = tuple.__getitem__(self, key)
        return TaintedTuple(made, self._label) if isinstance(key, slice) else made

    def __copy__(self) -> TaintedTuple:
        return self

    def __deepcopy__(self, memo: dict[int, typing.Any]) -> TaintedTuple:
        return TaintedTuple((copy.deepcopy(item, memo) for item in tuple.__iter__(self)), self._label)

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> tuple[object, ...]:
        return pickled.restored, (tuple(iter(self)), self._label)

    def __repr__(self) -> str:
        return _core.Tainted(str(tuple.__repr__(self)), self._label)
