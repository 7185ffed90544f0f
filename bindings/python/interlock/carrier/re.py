# SPDX-License-Identifier: Apache-2.0
"""`re` for values that carry: groups, parts and replacements have the label of the text that was searched, and a replacement's own.

    from interlock.carrier import re

    re.search(r"\\S+@\\S+", page).group().label
"""

from __future__ import annotations

import collections.abc
import re as plain_re
import typing
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    VERBOSE,
    A,
    I,
    M,
    RegexFlag,
    S,
    X,
    error,
    escape,
)

from .. import _core
from .mark import mark

__all__ = ["A", "ASCII", "DOTALL", "I", "IGNORECASE", "M", "MULTILINE", "Match", "Pattern", "RegexFlag", "S", "VERBOSE", "X", "compile", "error", "escape", "findall",
           "finditer", "fullmatch", "match", "search", "split", "sub", "subn"]  # fmt: skip


class Match:
    """A match in a text that carries: what it gives of the text carries as well. All else is that of re.Match."""

    def __init__(self, match: plain_re.Match[typing.Any], label: _core.Origin) -> None:
        self._match, self._label = match, label

    def _of(self, value: typing.Any) -> typing.Any:
        if value is None:
            return None
        if isinstance(value, tuple):
            return tuple(map(self._of, value))
        return mark(value, self._label)

    def group(self, *which: typing.Any) -> typing.Any:
        return self._of(self._match.group(*which))

    def groups(self, default: typing.Any = None) -> tuple[typing.Any, ...]:
        return tuple(map(self._of, self._match.groups(default)))

    def groupdict(self, default: typing.Any = None) -> dict[str, typing.Any]:
        return {name: self._of(value) for name, value in self._match.groupdict(default).items()}

    def expand(self, template: typing.Any) -> typing.Any:
        more = _core.labels(template)
        return mark(self._of(self._match.expand(template)), more if more is not None else self._label)

    def __getitem__(self, which: typing.Any) -> typing.Any:
        return self._of(self._match[which])

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._match, name)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return repr(self._match)


class Pattern:
    """A compiled pattern, whose matches in texts that carry do so as well."""

    def __init__(self, pattern: plain_re.Pattern[typing.Any]) -> None:
        self._pattern = pattern

    def _match(self, found: plain_re.Match[typing.Any] | None, text: typing.Any) -> typing.Any:
        label = _core.labels(text)
        return found if found is None or label is None else Match(found, label)

    def search(self, string: typing.Any, *where: int) -> typing.Any:
        return self._match(self._pattern.search(string, *where), string)

    def match(self, string: typing.Any, *where: int) -> typing.Any:
        return self._match(self._pattern.match(string, *where), string)

    def fullmatch(self, string: typing.Any, *where: int) -> typing.Any:
        return self._match(self._pattern.fullmatch(string, *where), string)

    def finditer(self, string: typing.Any, *where: int) -> collections.abc.Iterator[typing.Any]:
        return (self._match(found, string) for found in self._pattern.finditer(string, *where))

    def findall(self, string: typing.Any, *where: int) -> typing.Any:
        return _marked(self._pattern.findall(string, *where), _core.labels(string))

    def split(self, string: typing.Any, maxsplit: int = 0) -> typing.Any:
        return _marked(self._pattern.split(string, maxsplit), _core.labels(string))

    def subn(self, repl: typing.Any, string: typing.Any, count: int = 0) -> tuple[typing.Any, int]:
        label = _core.labels((string, repl if not callable(repl) else None))
        put: list[typing.Any] = []

        def replaced(found: plain_re.Match[typing.Any]) -> typing.Any:
            put.append(repl(self._match(found, string)))
            return put[-1]

        made, times = self._pattern.subn(replaced if callable(repl) else repl, string, count)
        more = _core.labels(put)
        for one in (label, more):
            made = made if one is None else mark(made, one)
        return made, times

    def sub(self, repl: typing.Any, string: typing.Any, count: int = 0) -> typing.Any:
        return self.subn(repl, string, count)[0]

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._pattern, name)

    def __repr__(self) -> str:
        return repr(self._pattern)


def _marked(value: typing.Any, label: _core.Origin | None) -> typing.Any:
    return value if label is None else mark(value, label)


def compile(pattern: typing.Any, flags: int | RegexFlag = 0) -> Pattern:
    """As re.compile."""
    return pattern if isinstance(pattern, Pattern) else Pattern(plain_re.compile(pattern, flags))


def search(pattern: typing.Any, string: typing.Any, flags: int | RegexFlag = 0) -> typing.Any:
    """As re.search."""
    return compile(pattern, flags).search(string)


def match(pattern: typing.Any, string: typing.Any, flags: int | RegexFlag = 0) -> typing.Any:
    """As re.match."""
    return compile(pattern, flags).match(string)


def fullmatch(pattern: typing.Any, string: typing.Any, flags: int | RegexFlag = 0) -> typing.Any:
    """As re.fullmatch."""
    return compile(pattern, flags).fullmatch(string)


def finditer(pattern: typing.Any, string: typing.Any, flags: int | RegexFlag = 0) -> collections.abc.Iterator[typing.Any]:
    """As re.finditer."""
    return compile(pattern, flags).finditer(string)


def findall(pattern: typing.Any, string: typing.Any, flags: int | RegexFlag = 0) -> typing.Any:
    """As re.findall."""
    return compile(pattern, flags).findall(string)


def split(pattern: typing.Any, string: typing.Any, maxsplit: int = 0, flags: int | RegexFlag = 0) -> typing.Any:
    """As re.split."""
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern: typing.Any, repl: typing.Any, string: typing.Any, count: int = 0, flags: int | RegexFlag = 0) -> typing.Any:
    """As re.sub."""
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern: typing.Any, repl: typing.Any, string: typing.Any, count: int = 0, flags: int | RegexFlag = 0) -> tuple[typing.Any, int]:
    """As re.subn."""
    return compile(pattern, flags).subn(repl, string, count)
