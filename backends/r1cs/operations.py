"""The rules by which each integer operation becomes linear forms, wires and rows of an R1CS circuit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from string import ascii_lowercase
from typing import Any

from circuitize.circuits import integers
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Fixed

from ..linear import COMBINATIONS, combine, difference
from ..values import Sum
from .gadgets import division, greatest, products, ranges, sign
from .gadgets.assembly import Handle, Site
from .gadgets.lookup import lookup
from .gadgets.one_hot import one_hot

Rule = Callable[[Site, Any, list[Handle]], Handle]


def _combine(site: Site, operation: Operation, sources: list[Handle]) -> Handle:
    return Handle(combine(operation, sources), site.value, site.type)


def _reindex(site: Site, operation: integers.Reindex, sources: list[Handle]) -> Handle:
    (x,) = sources
    if operation.view.source_shape == operation.view.target_shape and operation.view.is_identity:
        return replace(x, value=site.value, type=site.type)
    indices = operation.view.indices().reshape(-1)
    inside = bool((indices >= 0).all())
    bits = x.bits.gather(indices) if x.bits is not None and inside else None
    negative = x.negative.gather(indices) if x.negative is not None else None
    return Handle(x.forms.gather(indices), site.value, site.type, bits, negative)


def _scale(site: Site, operation: integers.Scale, sources: list[Handle]) -> Handle:
    (x,) = sources
    negative = x.negative if operation.factor > 0 else None
    return Handle(x.forms.scale(operation.factor), site.value, site.type, negative=negative)


def _multiply(site: Site, operation: integers.Multiply, sources: list[Handle]) -> Handle:
    x, y = sources
    made = products.Products(site.value, "product", site.type.shape)
    forms = products.multiply(site.assembly, x.forms, y.forms, made)
    return Handle(forms, site.value, site.type)


def _contract(site: Site, operation: integers.Contract, sources: list[Handle]) -> Handle:
    x, y = sources
    pin = site.assembly.pins.get(site.value)
    return products.contract(site, operation.equation, x, y, pin)


def _shift(site: Site, operation: integers.Shift, sources: list[Handle]) -> Handle:
    (x,) = sources
    quotient = ranges.shift(site, x, operation.bits)
    pin = site.assembly.pins.get(site.value)
    if pin is not None and site.assembly.challenges is not None:
        site.assembly.challenges.bind(pin, operation.bits, x, quotient)
    return quotient


def _check(site: Site, operation: integers.Check, sources: list[Handle]) -> Handle:
    (x,) = sources
    return ranges.check(site.assembly, x, (operation.low, operation.high), site.value, site.sign)


def _is_negative(site: Site, operation: integers.IsNegative, sources: list[Handle]) -> Handle:
    (x,) = sources
    return Handle(sign.negative(site.assembly, x), site.value, site.type)


def _relu(site: Site, operation: integers.ReLU, sources: list[Handle]) -> Handle:
    (x,) = sources
    return sign.relu(site.assembly, x, site.type, site.value)


def _divide(site: Site, operation: integers.Divide, sources: list[Handle]) -> Handle:
    x, y = sources
    return division.divide(site.assembly, x, y, site.type, site.value)


def _square_root(site: Site, operation: integers.SquareRoot, sources: list[Handle]) -> Handle:
    (x,) = sources
    return division.square_root(site.assembly, x, site.type, site.value)


def _lookup(site: Site, operation: integers.Lookup, sources: list[Handle]) -> Handle:
    (x,) = sources
    return lookup(site.assembly, x, operation.low, operation.table, site.type, site.value)


def _gather(site: Site, operation: integers.Gather, sources: list[Handle]) -> Handle:
    x, indices = sources
    own = ascii_lowercase[: len(x.type.shape)]
    new = ascii_lowercase[len(own) : len(own) + len(indices.type.shape)]
    hot = _inside(site, indices, x.type.shape[operation.axis])
    target = own[: operation.axis] + new + own[operation.axis + 1 :]
    return products.contract(site, f"{new}{own[operation.axis]},{own}->{target}", hot, x)


def _scatter_add(site: Site, operation: integers.ScatterAdd, sources: list[Handle]) -> Handle:
    updates, indices = sources
    own = ascii_lowercase[: len(updates.type.shape)]
    new = own[operation.axis : operation.axis + len(indices.type.shape)]
    hot = _inside(site, indices, operation.size)
    target = f"{own[: operation.axis]}z{own[operation.axis + len(new) :]}"
    return products.contract(site, f"{new}z,{own}->{target}", hot, updates)


def _inside(site: Site, indices: Handle, size: int) -> Handle:
    """Return the indicators of an operation's indices, after checking that the indices are in [0, size)."""
    checked = ranges.check(site.assembly, indices, (0, size - 1), indices.value, False)
    return one_hot(site.assembly, checked, size)


def _select(site: Site, operation: integers.Select, sources: list[Handle]) -> Handle:
    """Return the handle of a Select, lowered to b + condition * (a - b)."""
    condition, a, b = sources
    difference = a.forms - b.forms
    value = Sum(site.value, b.value, other=-1)
    made = products.Products(value, "select", site.type.shape)
    chosen = products.multiply(site.assembly, condition.forms, difference, made)
    return Handle(b.forms + chosen, site.value, site.type)


def _maximum(site: Site, operation: integers.Maximum, sources: list[Handle]) -> Handle:
    """Return the handle of a Maximum, lowered to b + max(a - b, 0)."""
    a, b = sources
    excess = difference(a, b)
    above = Fixed(site.type.shape, 0, 0, max(excess.type.high, 0))
    positive = sign.relu(site.assembly, excess, above, Sum(site.value, b.value, other=-1))
    return Handle(b.forms + positive.forms, site.value, site.type)


def _arg_max(site: Site, operation: integers.ArgMax, sources: list[Handle]) -> Handle:
    return greatest.arg_max(site.assembly, sources[0], operation.axis, site.type, site.value)


def _arg_max_one_hot(site: Site, operation: integers.ArgMaxOneHot, sources: list[Handle]) -> Handle:
    return greatest.arg_max_one_hot(site.assembly, sources[0], operation.axis, site.type, site.value)


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
    integers.ArgMax: _arg_max,
    integers.ArgMaxOneHot: _arg_max_one_hot,
    integers.Gather: _gather,
    integers.ScatterAdd: _scatter_add,
}
"""An integer operation without a rule is an Expansion, and is lowered by its definition.

Plonkish has rules of the same names, since both lower the same language. The rules that R1CS and Plonkish share are in
`backends/linear.py`; the two differ in what a handle keeps (bits and a sign, or where it is not negative), in what a
product needs (a row, or a task of terms few enough), in what a table costs, and in what is cheaper without its
definition (ArgMax, Gather, ScatterAdd).
"""
