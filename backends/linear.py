"""The integer operations that are linear in their sources: every kind of circuit lowers them in the same way, to new
forms over the same variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Fixed

from .forms import LinearForms, constant, stack
from .lowering import H, Handle
from .values import Sum


def combine(operation: Operation, sources: Sequence[Handle]) -> LinearForms:
    """Return the forms of the target of an operation in COMBINATIONS, computed from the forms of its sources."""
    return COMBINATIONS[type(operation)](operation, sources)


def difference(a: H, b: H) -> H:
    """Return the difference a - b as a handle, whose interval follows only from the intervals of a and b."""
    x, y = a.type, b.type
    type_ = Fixed(x.shape, 0, x.low - y.high, x.high - y.low)
    return type(a)(a.forms - b.forms, Sum(a.value, b.value, other=-1), type_)


def _constant(operation: integers.Constant, sources: Sequence[Handle]) -> LinearForms:
    return constant(operation.constant)


def _sum(operation: integers.Sum, sources: Sequence[Handle]) -> LinearForms:
    (x,) = sources
    indices = operation.view.indices().reshape(-1)
    order = np.argsort(indices, kind="stable")
    order = order[np.searchsorted(indices, 0, sorter=order) :]
    sizes = np.bincount(indices[order], minlength=prod(operation.view.source_shape))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return x.forms.gather(order).sum_groups(offsets)


def _add(operation: integers.Add, sources: Sequence[Handle]) -> LinearForms:
    x, y = sources
    return x.forms + y.forms


def _subtract(operation: integers.Subtract, sources: Sequence[Handle]) -> LinearForms:
    x, y = sources
    return x.forms - y.forms


def _concatenate(operation: integers.Concatenate, sources: Sequence[Handle]) -> LinearForms:
    places = []
    offset = 0
    for x in sources:
        places.append(offset + np.arange(x.type.size).reshape(x.type.shape))
        offset += x.type.size
    order = np.concatenate(places, axis=operation.axis).reshape(-1)
    return stack([x.forms for x in sources]).gather(order)


COMBINATIONS: dict[type[Operation], Callable[[Any, Sequence[Handle]], LinearForms]] = {
    integers.Constant: _constant,
    integers.Sum: _sum,
    integers.Add: _add,
    integers.Subtract: _subtract,
    integers.Concatenate: _concatenate,
}
