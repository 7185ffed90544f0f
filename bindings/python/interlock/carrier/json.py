# SPDX-License-Identifier: Apache-2.0
"""`json` for values that carry: what `dumps` writes has the labels of all that was written, and what `loads` reads has those of the text.

    from interlock.carrier import json
"""

from __future__ import annotations

import json as plain_json
import typing
from json import JSONDecodeError, JSONDecoder, JSONEncoder

from .. import _core
from ..plain import stand_in
from .box import LabeledValue
from .mark import mark, plain

__all__ = ["JSONDecodeError", "JSONDecoder", "JSONEncoder", "dump", "dumps", "load", "loads"]


def dumps(value: typing.Any, **how: typing.Any) -> str:
    """As json.dumps. A LabeledValue is written as what is in it."""
    given = how.pop("default", None)

    def default(item: typing.Any) -> typing.Any:
        if isinstance(item, LabeledValue):
            return item.value
        if given is None:
            raise TypeError(f"Object of type {type(item).__name__} is not JSON serializable")
        return given(item)

    text = plain_json.dumps(value, default=default, **how)
    label = _core.labels(value, stand_in)
    return text if label is None else _core.Tainted(text, label)


def dump(value: typing.Any, fp: typing.Any, **how: typing.Any) -> None:
    """As json.dump; a file keeps no label."""
    fp.write(dumps(value, **how))


def loads(text: str | bytes | bytearray, **how: typing.Any) -> typing.Any:
    """As json.loads."""
    label = _core.labels(text)
    value = plain_json.loads(plain(text), **how)
    return value if label is None else mark(value, label)


def load(fp: typing.Any, **how: typing.Any) -> typing.Any:
    """As json.load: with the label of what the file's `read` returns."""
    return loads(fp.read(), **how)
