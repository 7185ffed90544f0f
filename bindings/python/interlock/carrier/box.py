# SPDX-License-Identifier: Apache-2.0
"""A box with a label, for values that cannot have one themselves: numbers, None, objects, streams."""

from __future__ import annotations

import collections.abc
import copy
import operator
import typing

from .. import _core
from . import pickled

__all__ = ["LabeledValue"]


class LabeledValue(_core.Carrier):
    """A value with a label. What is asked of the box is asked of the value, and the answer carries its label: attributes, items, iteration, arithmetic, order.

        LabeledValue(value=40, label=label) + 2    # LabeledValue(42, ...)

    It is no `int` for `isinstance`; `.value` is the value itself.
    """

    _value: typing.Any
    _label: _core.Origin

    def __init__(self, value: typing.Any, label: _core.Origin) -> None:
        if not isinstance(label, _core.Origin):
            raise TypeError("label is a Label")
        self.__dict__["_value"] = value
        self.__dict__["_label"] = label

    @property
    def value(self) -> typing.Any:
        """What is in the box."""
        return self.__dict__["_value"]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a box is not written to")

    def _of(self, made: typing.Any, other: object = None) -> typing.Any:
        from .mark import mark

        more = _core.labels(other)
        return mark(made, self._label if more is None else _core.Origin.merge((self._label, more)))

    def __getattr__(self, name: str) -> typing.Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._of(getattr(self.value, name))

    def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        return self._of(self.value(*args, **kwargs), (args, kwargs))

    def __getitem__(self, key: typing.Any) -> typing.Any:
        return self._of(self.value[key])

    def __iter__(self) -> collections.abc.Iterator[typing.Any]:
        return map(self._of, iter(self.value))

    def __next__(self) -> typing.Any:
        return self._of(next(self.value))

    def __aiter__(self) -> collections.abc.AsyncIterator[typing.Any]:
        async def each() -> collections.abc.AsyncIterator[typing.Any]:
            async for item in self.value:
                yield self._of(item)

        return each()

    def __len__(self) -> int:
        return len(self.value)

    def __contains__(self, item: object) -> bool:
        return item in self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __str__(self) -> str:
        return _core.Tainted(str(self.value), self._label)

    def __format__(self, spec: str) -> str:
        return _core.Tainted(format(self.value, spec), self._label)

    def __repr__(self) -> str:
        return f"LabeledValue({self.value!r}, source={self._label.source!r})"

    def __copy__(self) -> LabeledValue:
        return LabeledValue(self.value, self._label)

    def __deepcopy__(self, memo: dict[int, typing.Any]) -> LabeledValue:
        return LabeledValue(copy.deepcopy(self.value, memo), self._label)

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> tuple[object, ...]:
        return pickled.restored, (self.value, self._label)


def _inside(value: object) -> object:
    return value.value if isinstance(value, LabeledValue) else value


def _compared(name: str) -> typing.Any:
    ask = getattr(operator, name)

    def method(self: LabeledValue, other: object) -> typing.Any:
        return ask(self.value, _inside(other))

    return method


def _made(name: str, turned: bool) -> typing.Any:
    ask = getattr(operator, name)

    def method(self: LabeledValue, other: object) -> typing.Any:
        left, right = (_inside(other), self.value) if turned else (self.value, _inside(other))
        return self._of(ask(left, right), other)

    return method


def _alone(name: str) -> typing.Any:
    ask = getattr(operator, name)

    def method(self: LabeledValue) -> typing.Any:
        return self._of(ask(self.value))

    return method


for _name in "eq ne lt le gt ge".split():
    setattr(LabeledValue, f"__{_name}__", _compared(_name))
for _name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split():
    setattr(LabeledValue, f"__{_name.strip('_')}__", _made(_name, False))
    setattr(LabeledValue, f"__r{_name.strip('_')}__", _made(_name, True))
for _name in "neg pos abs invert".split():
    setattr(LabeledValue, f"__{_name}__", _alone(_name))
