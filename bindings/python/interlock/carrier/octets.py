# SPDX-License-Identifier: Apache-2.0
"""`bytes` with a label."""

from __future__ import annotations

import collections.abc
import typing

from .. import _core
from . import pickled

__all__ = ["TaintedBytes"]


class TaintedBytes(bytes, _core.Carrier):
    """bytes with a label, which goes with what its methods and operators make of it.

        TaintedBytes(b"a b", label).split()[0].label == label
    """

    _label: _core.Origin

    def __new__(cls, value: bytes, label: _core.Origin) -> TaintedBytes:
        if not isinstance(label, _core.Origin):
            raise TypeError("label is a Label")
        if isinstance(value, _core.Carrier) and value.label is not label:  # a second label adds
            label = _core.Origin.merge((value.label if value.label is not None else _core.Origin(), label))
        self = bytes.__new__(cls, value)
        self.__dict__["_label"] = label
        return self

    def _own(self, made: bytes) -> TaintedBytes:
        return TaintedBytes(made, self._label)

    def _with(self, made: bytes, other: object) -> TaintedBytes:
        more = _core.labels(other)
        return TaintedBytes(made, self._label if more is None else _core.Origin.merge((self._label, more)))

    def __add__(self, other: typing.Any) -> TaintedBytes:
        made = bytes.__add__(self, other)
        return NotImplemented if made is NotImplemented else self._with(made, other)

    def __radd__(self, other: typing.Any) -> TaintedBytes:
        return self._own(b"".join((other, self))) if isinstance(other, (bytes, bytearray, memoryview)) else NotImplemented

    def __mod__(self, other: typing.Any) -> TaintedBytes:
        return self._with(bytes.__mod__(self, other), other)

    def __rmod__(self, other: typing.Any) -> TaintedBytes:
        return self._own(bytes.__mod__(other, b"".join((self,)))) if isinstance(other, bytes) else NotImplemented

    def __mul__(self, times: typing.SupportsIndex) -> TaintedBytes:
        made = bytes.__mul__(self, times)
        return NotImplemented if made is NotImplemented else self._own(made)

    __rmul__ = __mul__

    def __getitem__(self, key: typing.Any) -> typing.Any:
        made = bytes.__getitem__(self, key)
        return self._own(made) if isinstance(made, bytes) else made

    def join(self, items: collections.abc.Iterable[typing.Any]) -> TaintedBytes:
        parts = list(items)
        return self._with(bytes.join(self, parts), parts)

    def replace(self, old: typing.Any, new: typing.Any, count: typing.SupportsIndex = -1) -> TaintedBytes:
        return self._with(bytes.replace(self, old, new, count), new)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> _core.Tainted:
        return _core.Tainted(bytes.decode(self, encoding, errors), self._label)

    def hex(self, *args: typing.Any, **kwargs: typing.Any) -> _core.Tainted:
        return _core.Tainted(bytes.hex(self, *args, **kwargs), self._label)

    def __bytes__(self) -> bytes:
        return self

    def __repr__(self) -> str:
        return _core.Tainted(bytes.__repr__(self), self._label)

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> tuple[object, ...]:
        return pickled.restored, (bytes.__getitem__(self, slice(None)), self._label)

    def __copy__(self) -> TaintedBytes:
        return self

    def __deepcopy__(self, memo: object) -> TaintedBytes:
        return self


def _one(name: str) -> typing.Any:
    base = getattr(bytes, name)

    def method(self: TaintedBytes, *args: typing.Any, **kwargs: typing.Any) -> TaintedBytes:
        return TaintedBytes(base(self, *args, **kwargs), self._label)

    return method


def _many(name: str) -> typing.Any:
    base = getattr(bytes, name)

    def method(self: TaintedBytes, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        made = base(self, *args, **kwargs)
        return type(made)(TaintedBytes(one, self._label) for one in made)

    return method


def _filled(name: str) -> typing.Any:
    base = getattr(bytes, name)

    def method(self: TaintedBytes, *args: typing.Any) -> TaintedBytes:
        return self._with(base(self, *args), args)

    return method


for _make, _names in (
    (_one, "upper lower capitalize title swapcase strip lstrip rstrip removeprefix removesuffix zfill expandtabs translate"),
    (_many, "split rsplit splitlines partition rpartition"),
    (_filled, "center ljust rjust"),
):
    for _name in _names.split():
        setattr(TaintedBytes, _name, _make(_name))
