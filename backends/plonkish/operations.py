"""The rules by which each integer operation becomes linear forms and tasks of a Plonkish circuit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from circuitize.circuits import integers
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Fixed

from ..linear import COMBINATIONS, combine, difference
from ..values import Sum
from . import ranges
from .assembly import Handle, Site, single_forms
from .contraction import contract

Rule = Callable[[Site, Any, list[Handle]], Handle]


def _combine(site: Site, operation: Operation, sources: list[Handle]) -> Handle:
    return Handle(combine(operation, sources), site.value, site.type)


def _reindex(site: Site, operation: integers.Reindex, sources: list[Handle]) -> Handle:
    (x,) = sources
    indices = operation.view.indices().reshape(-1)
    kept = x.natural is not None and bool((indices >= 0).all())
    known = x.natural.gather(indices) if x.natural is not None and kept else None
    return Handle(x.forms.gather(indices), site.value, site.type, known)


def _scale(site: Site, operation: integers.Scale, sources: list[Handle]) -> Handle:
    (x,) = sources
    natural = x.natural if operation.factor > 0 else None
    return Handle(x.forms.scale(operation.factor), site.value, site.type, natural)


def _multiply(site: Site, operation: integers.Multiply, sources: list[Handle]) -> Handle:
    x, y = sources
    return Handle(site.assembly.multiply(x, y, "product"), site.value, site.type)


def _contract(site: Site, operation: integers.Contract, sources: list[Handle]) -> Handle:
    x, y = sources
    return contract(site.assembly, operation.equation, x, y, site.type, site.value)


def _shift(site: Site, operation: integers.Shift, sources: list[Handle]) -> Handle:
    return ranges.shift(site, sources[0], operation.bits)


def _check(site: Site, operation: integers.Check, sources: list[Handle]) -> Handle:
    return ranges.check(site.assembly, sources[0], (operation.low, operation.high), site.value, site.sign)


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
    """Return the handle of a Select, lowered to b + condition * (a - b)."""
    condition, a, b = sources
    return Handle(b.forms + site.assembly.multiply(condition, difference(a, b), "select"), site.value, site.type)


def _maximum(site: Site, operation: integers.Maximum, sources: list[Handle]) -> Handle:
    """Return the handle of a Maximum, lowered to b + max(a - b, 0)."""
    a, b = sources
    excess = difference(a, b)
    excess.forms = site.assembly.shorten(excess.forms, "maximum")
    above = Fixed(site.type.shape, 0, 0, max(excess.type.high, 0))
    positive = ranges.relu(site.assembly, excess, above, Sum(site.value, b.value, other=-1))
    return Handle(b.forms + positive.forms, site.value, site.type)


RULES: dict[type[Operation], Rule] = {
    **dict.fromkeys(COMBINATIONS, _combine),
    integers.Reindex: _reindex,
    integers.Scale: _scale,
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
"""Integer operations without a rule are Expansions, and are lowered by their definition.

The rules of R1CS have the same names as the Plonkish rules, and state how they differ from them.
"""
