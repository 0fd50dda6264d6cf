"""The rules by which XLA computes integer operations: by each operation's own `run`, except where intervals allow
narrower numbers or products.

A rule of XLA takes values in the width of their formats, and gives a value in the width of the target's format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce, singledispatch
from operator import and_

import jax
import jax.numpy as jnp
import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.integers.language import Elementwise
from circuitize.circuits.operation import Operation
from circuitize.circuits.requirement import noting, require
from circuitize.circuits.types import Fixed

from . import contraction, views
from .widths import holds, width


@dataclass(frozen=True)
class Place:
    """The formats around an operation, the costs of products on the device, and whether the device computes large
    arrays by blocks.
    """

    sources: tuple[Fixed, ...]
    target: Fixed
    costs: Mapping[str, float]
    by_blocks: bool = False


@singledispatch
def value(operation: Operation, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    """Return the value of the operation's target on arrays of XLA. By default a rule computes an operation by its own
    `run`, on values as wide as the widest of the operation's formats.
    """
    wide = width(*place.sources, place.target)
    (made,) = operation.run(*(one.astype(wide) for one in values))  # type: ignore[arg-type]  # another array module
    return made.astype(width(place.target))  # type: ignore[return-value]


@value.register
def _(operation: Elementwise, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    constants = [int(constant) for constant in operation.constants]
    wide = width(*place.sources, place.target)
    if isinstance(operation, integers.Shift):
        constants = [min(constants[0], np.iinfo(wide).bits - 1)]  # further bits are all the sign
    if not all(holds(wide, constant, constant) for constant in constants):
        wide = np.int64
    function = getattr(jnp, operation.function)
    made: jax.Array = function(*(one.astype(wide) for one in values), *map(wide, constants))
    return made.astype(width(place.target))


@value.register
def _(operation: integers.Contract, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    x, y = place.sources
    kind = contraction.chosen(operation, x, y, place.costs)
    return contraction.contract(operation, (x, y), place.target, values, kind, place.by_blocks)


@value.register
def _(operation: integers.Reindex, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    return views.gather(operation.view, values[0]).astype(width(place.target))


@value.register
def _(operation: integers.Sum, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    return views.scatter(operation.view, values[0].astype(width(place.target)))


@value.register
def _(operation: integers.Check, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    """Return the value of a Check; a Check that an interval already implies is not compiled."""
    (x,), (format,) = values, place.sources
    wide = x if holds(x.dtype, operation.low, operation.high) else x.astype(np.int64)
    low = wide >= operation.low if operation.low > format.low else None
    high = wide <= operation.high if operation.high < format.high else None
    ends = [end for end in (low, high) if end is not None]
    if ends:
        require(operation.name, reduce(and_, ends), x, "values inside")
    return x.astype(width(place.target))


@value.register
def _(operation: integers.IsNegative, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    return (values[0] < 0).astype(width(place.target))


@value.register
def _(operation: integers.Select, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    condition, a, b = values
    wide = width(place.target)
    return jnp.where(condition != 0, a.astype(wide), b.astype(wide))


@value.register
def _(operation: integers.Clamp, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    """Return the value of a Clamp, which is compiled only at the ends that values can pass; if all values lie beyond an
    end, the result is that end.
    """
    (x,), (format,) = values, place.sources
    into = width(place.target)
    if format.low >= operation.high or format.high <= operation.low:
        return jnp.full(x.shape, operation.high if format.low >= operation.high else operation.low, into)
    low, high = max(operation.low, format.low), min(operation.high, format.high)
    return jnp.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(into)


@value.register
def _(operation: integers.Lookup, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    """Return the entries of a table lookup, whose index is inside the table by its type."""
    (x,), into = values, width(place.target)
    first, last = (end - operation.low for end in (place.sources[0].low, place.sources[0].high))
    table = jnp.asarray(operation.table[first : last + 1].astype(into))
    return jnp.take(table, x - x.dtype.type(place.sources[0].low), mode="clip")


@value.register(integers.Divide)
@value.register(integers.SquareRoot)
def _(operation: Operation, place: Place, values: Sequence[jax.Array]) -> jax.Array:
    """Return the value of an operation that always has a value, by the types of its operands."""
    with noting():
        return value.dispatch(object)(operation, place, values)
