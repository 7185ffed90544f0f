# SPDX-License-Identifier: Apache-2.0
"""Values with their labels as a dict that JSON can say, for another process; and back.

What a dict holds is the text of one of our envelopes (docs/provenance.md): it has a MAC when there is a key, expires, and is opened once in a process.
"""

from __future__ import annotations

import base64
import collections.abc
import hashlib
import json
import threading
import time
import typing

from .. import _core
from ..carrier import LabeledValue, TaintedBytes, mark, plain
from ..errors import InterlockError
from .errors import InterboltConfigError
from .ingress import _here

__all__ = ["pack", "pack_into", "unpack", "unpack_from"]

KEY = "__interlock__"
VERSION = 1
AUDIENCE = "interlock.interbolt"  # where none is said: whoever has the key
DAY_MS = 86_400_000
NONCES = 100_000

_used: dict[bytes, int] = {}
_lock = threading.Lock()


def _fresh(audience: str, nonce: bytes, expires_ms: int) -> bool:
    now = time.time_ns() // 1_000_000
    with _lock:
        if len(_used) >= NONCES:
            for old in [n for n, until in _used.items() if until < now]:
                del _used[old]
        if nonce in _used or len(_used) >= NONCES:
            return False
        _used[nonce] = expires_ms
        return True


def _secret(key: bytes | str) -> bytes:
    secret = key.encode() if isinstance(key, str) else key
    if not isinstance(secret, bytes) or not secret:
        raise InterboltConfigError("a key is bytes or text, and not empty")
    return hashlib.sha256(b"interlock.interbolt\0" + secret).digest()


# ---- shapes: what JSON has no word for -----------------------------------------------------------------------


def _shaped(value: typing.Any, path: str, shapes: list[list[str]], depth: int = 64) -> typing.Any:
    """The value as JSON has it; what it was otherwise stands in `shapes`."""
    if depth == 0:
        raise InterboltConfigError("more than 64 levels")
    if isinstance(value, LabeledValue):
        if not isinstance(value.value, (str, int, float, bool, type(None))):
            raise InterboltConfigError(f"{path or 'the value'}: a {type(value.value).__name__} cannot be packed")
        return value
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, bytes):
        shapes.append([path, "bytes"])
        text = base64.b64encode(value).decode()
        return _core.Tainted(text, value.label) if isinstance(value, TaintedBytes) and value.label is not None else text
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise InterboltConfigError(f"{path or 'the value'}: a key that is no text")
        made: typing.Any = {key: _shaped(item, f"{path}/{key.replace('~', '~0').replace('/', '~1')}", shapes, depth - 1) for key, item in dict.items(value)}
    elif isinstance(value, (list, tuple, set, frozenset)):
        kind = next(name for base, name in ((list, "list"), (tuple, "tuple"), (set, "set"), (frozenset, "frozenset")) if isinstance(value, base))
        if kind != "list":
            shapes.append([path, kind])
        made = [_shaped(item, f"{path}/{i}", shapes, depth - 1) for i, item in enumerate(value)]
    else:
        raise InterboltConfigError(f"{path or 'the value'}: a {type(value).__name__} cannot be packed")
    return mark_container(made, value)


def mark_container(made: typing.Any, was: object) -> typing.Any:
    if isinstance(was, _core.Carrier) and was.label is not None:
        from ..carrier import TaintedDict, TaintedList

        return TaintedDict(made, was.label) if isinstance(made, dict) else TaintedList(made, was.label)
    return made


def _rebuilt(value: typing.Any, path: str, shapes: dict[str, str], labels: dict[str, _core.Origin]) -> typing.Any:
    kind = shapes.get(path)
    made: typing.Any = value
    if isinstance(value, dict):
        made = {key: _rebuilt(item, f"{path}/{key.replace('~', '~0').replace('/', '~1')}", shapes, labels) for key, item in value.items()}
    elif isinstance(value, list):
        made = [_rebuilt(item, f"{path}/{i}", shapes, labels) for i, item in enumerate(value)]
    try:
        if kind == "bytes":
            made = base64.b64decode(typing.cast(str, value), validate=True)
        elif kind is not None:
            made = {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](made)
    except (KeyError, TypeError, ValueError) as e:
        raise InterboltConfigError(f"{path or 'the value'}: {e}") from None
    label = labels.get(path)
    return made if label is None else mark(made, label)


# ---- packing ------------------------------------------------------------------------------------------------------


def pack(
    value: typing.Any, *, key: bytes | str | None = None, key_id: str | None = None, include_run: bool = True, audience: str = AUDIENCE, lasts: float = 86400.0
) -> dict[str, typing.Any]:  # fmt: skip
    """The value with its labels, as a dict that JSON can say; with what the run around has read and done, unless `include_run` is false.

    With a `key` it is authenticated, and only then can its labels say anything good of it. `audience`: who may open it; `lasts`: seconds for which it may be opened, a day at the most.
    """
    if key is None and key_id is not None:
        raise InterboltConfigError("key_id without a key")
    _, run, _ = _here()
    shapes: list[list[str]] = []
    shaped = _shaped(value, "", shapes)
    try:
        text, found = _core.judged({"value": shaped, "shape": shapes}, None)
        held = run.carry() if include_run and run is not None else None
        sealed = (key_id or "key", _secret(key)) if key is not None else None
        made = _core.envelope(text, tuple((path, label) for path, label, _ in found), sealed, audience, max(1, min(DAY_MS, int(lasts * 1000))), held)
    except (InterlockError, ValueError, TypeError) as e:
        raise e if isinstance(e, InterboltConfigError) else InterboltConfigError(f"it cannot be packed: {e}") from None
    return {"version": VERSION, "payload": json.loads(json.dumps(plain(shaped))), "envelope": made.decode(), "key_id": key_id}



def unpack(envelope: collections.abc.Mapping[str, typing.Any], *, key: bytes | str | None = None, audience: str = AUDIENCE) -> typing.Any:
    """The value with its labels; the run around has from now on read and done what that one had. InterboltConfigError for one that is forged, stale, or was opened before.

    One without a key is believed in nothing that would make a value better: each label in it is untrusted for ever.
    """
    made, run, agent = _here()
    if not isinstance(envelope, collections.abc.Mapping) or envelope.get("version") != VERSION or not isinstance(envelope.get("envelope"), str):
        raise InterboltConfigError(f"this is no envelope of version {VERSION}")
    has_mac = '"mac":"' in envelope["envelope"]
    if (key is not None) != has_mac:
        raise InterboltConfigError("an envelope with a mac needs a key, and one without a mac has none")
    from .policy import default_policy

    policy = made.policy if made is not None else default_policy()
    try:
        text, labels, held = _core.opened(envelope["envelope"].encode(), ("", _secret(key)) if key is not None else None, audience, policy.core, _fresh)
    except (InterlockError, ValueError, TypeError) as e:
        raise InterboltConfigError(f"the envelope is refused: {e}") from None
    inside = json.loads(text)
    at = {path.removeprefix("/value"): label for path, label in labels if path == "/value" or path.startswith("/value/")}
    value = _rebuilt(inside["value"], "", {path: kind for path, kind in inside["shape"]}, at)
    if run is not None:
        if held is not None:
            run.receive(agent, *held)
        for label in set(at.values()):
            for name in label.lineage:
                run._read(name, agent)
        if run.index is not None and (whole := _core.labels(value)) is not None:
            from .run import _texts

            for part in _texts(value):
                run.index.add(part, whole)
    return value


def pack_into(mapping: collections.abc.Mapping[str, typing.Any], *, key: bytes | str | None = None, key_id: str | None = None, include_run: bool = True) -> dict[str, typing.Any]:
    """The mapping as it is for who knows nothing of labels, with the envelope in one more member. What counts is in the envelope."""
    if KEY in mapping:
        raise InterboltConfigError(f"the mapping has a member `{KEY}` already")
    made = pack(dict(mapping), key=key, key_id=key_id, include_run=include_run)
    return {**made.pop("payload"), KEY: made}


def unpack_from(mapping: collections.abc.Mapping[str, typing.Any], *, key: bytes | str | None = None) -> dict[str, typing.Any]:
    """What `pack_into` packed. InterboltConfigError when what stands beside the envelope is not what is in it."""
    inside = mapping.get(KEY)
    if not isinstance(inside, collections.abc.Mapping):
        raise InterboltConfigError(f"there is no member `{KEY}`")
    value = unpack(inside, key=key)
    shapes: list[list[str]] = []
    beside = {name: item for name, item in mapping.items() if name != KEY}
    if json.dumps(plain(_shaped(value, "", shapes)), sort_keys=True) != json.dumps(beside, sort_keys=True):
        raise InterboltConfigError("what stands beside the envelope was changed")
    return typing.cast(dict[str, typing.Any], value)
