# SPDX-License-Identifier: Apache-2.0
"""Where values come in, and what a human says of them."""

from __future__ import annotations

import collections.abc
import logging
import typing
import uuid

from .. import _core
from ..carrier import Label, LabeledValue, TaintedBytes, TaintedDict, TaintedList, TaintedTuple, mark, plain
from ..plain import arguments_text, stand_in
from .ambient import configured, current_run
from .names import DEFAULT_AGENT_ID, identifier, source_name
from .record import Endorsement

if typing.TYPE_CHECKING:
    from .run import Run
    from .runtime import Runtime

__all__ = ["derived", "endorse", "taint", "taken_in"]

_log = logging.getLogger("interlock.taint")


def _here() -> tuple[Runtime | None, Run | None, str]:
    """The runtime, the run and the agent of a value that comes in."""
    made, run = configured(), current_run.get()
    if run is not None:
        return made, None if run.closed else run, run.agent
    return made, made.outside if made is not None else None, DEFAULT_AGENT_ID


def taken_in(value: typing.Any, source: str, run: Run | None, agent: str) -> typing.Any:
    """The value with a label of its own, and the run that has read it."""
    source = source_name(source)
    label = run.label(source, agent) if run is not None else Label(source, agent)
    if run is not None:
        run.ingest(value, label, source, agent)
    return mark(value, label)


def taint(value: typing.Any, *, source: str, derived_from: collections.abc.Iterable[typing.Any] | None = None) -> typing.Any:
    """The value with a label: it comes from `source`, or `source` (a model, a summariser) made it of the values of `derived_from`. A label that it has already stays beside the new one.

    taint(requests.get(url).text, source="web")
    taint(summary, source="summariser", derived_from=[page, note])
    """
    if derived_from is not None:
        return derived(value, source, list(derived_from))
    _, run, agent = _here()
    return taken_in(value, source, run, agent)


def derived(value: typing.Any, hop: str, given: list[typing.Any]) -> typing.Any:
    """What `hop` made of values. Of nothing that has a label it is itself where the value comes from."""
    _, run, agent = _here()
    hop = source_name(hop)
    label = _core.labels(given, stand_in)
    if label is None:
        return taken_in(value, hop, run, agent)
    made = Label.derive(hop, agent, (label,))
    if run is not None and run.index is not None:
        from .run import _texts

        for part in _texts(value):
            run.index.add(part, made)
    return mark(value, made)


def endorse(value: typing.Any, *, kind: str, note: str | None = None) -> typing.Any:
    """A human's word of some kind for exactly this value: the next edit is another value, which has none. It changes neither lineage nor trust."""
    identifier(kind, "endorsement kind")
    made, run, agent = _here()
    done = _endorsed(value, kind, agent, 64)
    for label in done[1]:
        if run is not None:
            run.endorse(agent, kind, agent, label[1], note)
        if made is not None:
            from .runtime import trace_ids

            made.export(
                Endorsement(
                    agent_id=agent, run_id=run.id if run is not None else str(uuid.uuid4()), kind=kind, note=note, lineage=label[0].lineage, value_id=label[0].value_id,
                    fingerprint=made.policy.fingerprint, trace=trace_ids(),
                )  # fmt: skip
            )
    if not done[1]:
        _log.debug("nothing in the value carries a label: there is nothing to endorse")
    return done[0]


Given = list[tuple[_core.Origin, bytes]]


def _endorsed(value: typing.Any, kind: str, by: str, depth: int) -> tuple[typing.Any, Given]:
    """The value with each labelled text, number and object in it endorsed, and what was."""
    given: Given = []

    def one(item: typing.Any, plain: typing.Any) -> _core.Origin:
        text = arguments_text(plain)
        label = item.label.endorse(kind, by, text)
        given.append((label, text))
        return typing.cast(_core.Origin, label)

    def walk(item: typing.Any, depth: int) -> typing.Any:
        if depth == 0 or item is None:
            return item
        if isinstance(item, _core.Tainted):
            return _core.Tainted("".join((item,)), one(item, item))
        if isinstance(item, TaintedBytes):
            return TaintedBytes(b"".join((item,)), one(item, item))
        if isinstance(item, LabeledValue):
            return LabeledValue(item.value, one(item, item.value))
        if isinstance(item, dict):
            members = {key: walk(part, depth - 1) for key, part in dict.items(item)}
            if not isinstance(item, TaintedDict):
                return members
            covered = {(plain(key) if isinstance(key, _core.Carrier) and key.label is item.label else key): part for key, part in members.items()}
            return TaintedDict(covered, one(item, item))  # the dict's label is that of its keys
        if isinstance(item, (list, tuple)):
            parts = [walk(part, depth - 1) for part in item]
            if isinstance(item, TaintedList):
                return TaintedList(parts, one(item, item))
            if isinstance(item, TaintedTuple):
                return TaintedTuple(parts, one(item, item))
            made = getattr(type(item), "_make", list if isinstance(item, list) else tuple)
            return made(parts)
        return item

    return walk(value, depth), given
