"""How each integer operation becomes linear forms and tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuitize.backends.gadgets.forms import constant, stack
from circuitize.backends.gadgets.values import Sum, Value
from circuitize.circuits import integers
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Fixed

from . import ranges
from .assembly import Assembly, Handle, single_forms
from .contraction import contract

LINEAR_TERMS = 8
"""A linear result of longer forms on average, read more than once, gets a variable per element."""


@dataclass(slots=True)
class Site:
    """What a rule knows about the edge it lowers: its target's type and value, and who reads the target.

    `check` is the interval of the Check that alone reads the target, if one does; `sign` says whether some reader of
    the target (or of that Check) asks for signs; `readers` counts them.
    """

    assembly: Assembly
    type: Fixed
    value: Value
    check: tuple[int, int] | None
    sign: bool
    readers: int


Rule = Callable[[Site, Any, list[Handle]], Handle]


def lower(site: Site, operation: Operation, sources: list[Handle]) -> Handle:
    """The target of one operation that has a rule.

    An element that its type fixes becomes a constant, and a linear result that is long and read often gets variables.
    """
    handle = RULES[type(operation)](site, operation, sources)
    if handle.type.low == handle.type.high:
        return Handle(constant(np.full(handle.type.size, handle.type.low)), handle.value, handle.type)
    if site.readers > 1 and handle.forms.terms > LINEAR_TERMS * len(handle.forms):
        handle.forms = single_forms(site.assembly.single(handle.forms))
    return handle


def _constant(site: Site, operation: integers.Constant, sources: list[Handle]) -> Handle:
    return Handle(constant(operation.constant), site.value, site.type)


def _reindex(site: Site, operation: integers.Reindex, sources: list[Handle]) -> Handle:
    (x,) = sources
    indices = operation.view.indices().reshape(-1)
    kept = x.natural is not None and bool((indices >= 0).all())
    known = x.natural.gather(indices) if x.natural is not None and kept else None
    return Handle(x.forms.gather(indices), site.value, site.type, known)


def _sum(site: Site, operation: integers.Sum, sources: list[Handle]) -> Handle:
    (x,) = sources
    indices = operation.view.indices().reshape(-1)
    order = np.argsort(indices, kind="stable")
    order = order[np.searchsorted(indices, 0, sorter=order) :]
    sizes = np.bincount(indices[order], minlength=site.type.size)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Handle(x.forms.gather(order).sum_groups(offsets), site.value, site.type)


def _add(site: Site, operation: integers.Add, sources: list[Handle]) -> Handle:
    x, y = sources
    return Handle(x.forms + y.forms, site.value, site.type)


def _subtract(site: Site, operation: integers.Subtract, sources: list[Handle]) -> Handle:
    x, y = sources
    return Handle(x.forms - y.forms, site.value, site.type)


def _scale(site: Site, operation: integers.Scale, sources: list[Handle]) -> Handle:
    (x,) = sources
    natural = x.natural if operation.factor > 0 else None
    return Handle(x.forms.scale(operation.factor), site.value, site.type, natural)


def _concatenate(site: Site, operation: integers.Concatenate, sources: list[Handle]) -> Handle:
    places = []
    offset = 0
    for x in sources:
        places.append(offset + np.arange(x.type.size).reshape(x.type.shape))
        offset += x.type.size
    order = np.concatenate(places, axis=operation.axis).reshape(-1)
    return Handle(stack([x.forms for x in sources]).gather(order), site.value, site.type)


def _multiply(site: Site, operation: integers.Multiply, sources: list[Handle]) -> Handle:
    x, y = sources
    return Handle(site.assembly.multiply(x, y, "product"), site.value, site.type)


def _contract(site: Site, operation: integers.Contract, sources: list[Handle]) -> Handle:
    x, y = sources
    return contract(site.assembly, operation.equation, x, y, site.type, site.value)


def _shift(site: Site, operation: integers.Shift, sources: list[Handle]) -> Handle:
    low, high = site.check or (site.type.low, site.type.high)
    return ranges.shift(site.assembly, sources[0], operation.bits, site.type, low, high, site.value, site.sign)


def _check(site: Site, operation: integers.Check, sources: list[Handle]) -> Handle:
    return ranges.check(site.assembly, sources[0], operation.low, operation.high, site.value, site.sign)


def _is_negative(site: Site, operation: integers.IsNegative, sources: list[Handle]) -> Handle:
    natural = ranges.natural(site.assembly, sources[0])
    return Handle(natural.scale(-1).plus(1), site.value, site.type)


def _relu(site: Site, operation: integers.ReLU, sources: list[Handle]) -> Handle:
    return ranges.relu(site.assembly, sources[0], site.type, site.value)


def _divide(site: Site, operation: integers.Divide, sources: list[Handle]) -> Handle:
    x, y = sources
    return ranges.divide(site.assembly, x, y, site.type, site.value)


def _square_root(site: Site, operation: integers.SquareRoot, sources: list[Handle]) -> Handle:
    return ranges.square_root(site.assembly, sources[0], site.type, site.value)


def _lookup(site: Site, operation: integers.Lookup, sources: list[Handle]) -> Handle:
    (x,) = sources
    reached = operation.table[x.type.low - operation.low : x.type.high - operation.low + 1]
    found = site.assembly.look_up(x, x.type.low, reached, "entry")
    return Handle(single_forms(found), site.value, site.type)


def _select(site: Site, operation: integers.Select, sources: list[Handle]) -> Handle:
    """b + condition * (a - b)."""
    condition, a, b = sources
    type = Fixed(a.type.shape, 0, a.type.low - b.type.high, a.type.high - b.type.low)
    difference = Handle(a.forms - b.forms, Sum(a.value, b.value, other=-1), type)
    return Handle(b.forms + site.assembly.multiply(condition, difference, "select"), site.value, site.type)


def _maximum(site: Site, operation: integers.Maximum, sources: list[Handle]) -> Handle:
    """b + max(a - b, 0)."""
    a, b = sources
    type = Fixed(a.type.shape, 0, a.type.low - b.type.high, a.type.high - b.type.low)
    difference = Handle(a.forms - b.forms, Sum(a.value, b.value, other=-1), type)
    difference.forms = site.assembly.shorten(difference.forms, "maximum")
    above = Fixed(type.shape, 0, 0, max(type.high, 0))
    positive = ranges.relu(site.assembly, difference, above, Sum(site.value, b.value, other=-1))
    return Handle(b.forms + positive.forms, site.value, site.type)


RULES: dict[type[Operation], Rule] = {
    integers.Constant: _constant,
    integers.Reindex: _reindex,
    integers.Sum: _sum,
    integers.Add: _add,
    integers.Subtract: _subtract,
    integers.Scale: _scale,
    integers.Concatenate: _concatenate,
    integers.Multiply: _multiply,
    integers.Contract: _contract,
    integers.Shift: _shift,
    integers.Check: _check,
    integers.IsNegative: _is_negative,
    integers.ReLU: _relu,
    integers.Divide: _divide,
    integers.SquareRoot: _square_root,
    integers.Lookup: _lookup,
    integers.Select: _select,
    integers.Maximum: _maximum,
}
"""Every other integer operation is an Expansion, and is lowered by its definition."""
