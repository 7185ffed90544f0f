# SPDX-License-Identifier: Apache-2.0
"""`dict` with a label, which is that of everything in it."""

from __future__ import annotations

import collections.abc
import copy
import typing

from .. import _core
from . import pickled

__all__ = ["TaintedDict"]


class TaintedDict(dict[typing.Any, typing.Any], _core.Carrier):
    """A dict with a label. What is put into it later keeps labels of its own; the dict's stays."""

    _label: _core.Origin

    def __init__(self, items: collections.abc.Mapping[typing.Any, typing.Any], label: _core.Origin) -> None:
        if not isinstance(label, _core.Origin):
            raise TypeError("label is a Label")
        super().__init__(items)
        self.__dict__["_label"] = label

    def _with(self, made: dict[typing.Any, typing.Any], other: object) -> TaintedDict:
        more = _core.labels(other)
        return TaintedDict(made, self._label if more is None else _core.Origin.merge((self._label, more)))

    def __or__(self, other: typing.Any) -> TaintedDict:
        made = dict.__or__(self, other)
        return NotImplemented if made is NotImplemented else self._with(made, other)

    def __ror__(self, other: typing.Any) -> TaintedDict:
        return self._with({**other, **self}, other) if isinstance(other, dict) else NotImplemented

    def copy(self) -> TaintedDict:
        return TaintedDict(self, self._label)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, typing.Any]) -> TaintedDict:
        made = memo[id(self)] = TaintedDict({}, self._label)
        for key, value in dict.items(self):
            dict.__setitem__(made, copy.deepcopy(key, memo), copy.deepcopy(value, memo))
        return made

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> tuple[object, ...]:
        return pickled.restored, (dict(self), self._label)

    def __repr__(self) -> str:
        return _core.Tainted(str(dict.__repr__(self)), self._label)
