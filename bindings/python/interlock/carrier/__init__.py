# SPDX-License-Identifier: Apache-2.0
"""Values that carry where they came from: a `str`, `bytes`, `list`, `dict` or `tuple` with a label, which goes with what is made of them.

    from interlock.carrier import Label, mark

    page = mark("mail eve@evil.example", Label("web"))
    page.split()[1].upper().label.lineage    # ('web',)

What keeps a label and what loses it is a table, bindings/python/docs/carriers.md. `json` and `re` of this package are those of Python for values that carry.
"""

from .. import _core
from .box import LabeledValue
from .listing import TaintedList
from .mapping import TaintedDict
from .mark import Label, Tainted, label_of, mark, plain
from .octets import TaintedBytes
from .row import TaintedTuple

Carrier = _core.Carrier
__all__ = ["Carrier", "Label", "LabeledValue", "Tainted", "TaintedBytes", "TaintedDict", "TaintedList", "TaintedTuple", "label_of", "mark", "plain"]
