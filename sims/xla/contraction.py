"""Exact contractions by matrix products that processors offer: of float32, float64 or int8, of whole operands or of
limbs.

The kind of a contraction's product is chosen when the program is compiled, by the intervals of the operands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from circuitize.circuits.integers import Contract
from circuitize.circuits.integers.contraction import FEW
from circuitize.circuits.types import Fixed

from . import blocks
from .widths import Width, holds, width

MANTISSA = {"float32": 24, "float64": 53}
"""The number of bits for which a format holds every integer."""

COSTS: Mapping[str, Mapping[str, float]] = {
    "cpu": {"float32": 1.0, "float64": 2.0, "int8": 0.7},
    "gpu": {"float32": 1.0, "float64": 1.0, "int8": 0.04},
}
"""The cost of a matrix product by its kind, relative to float32 without TF32. The costs of products are measured on a
CPU by benchmarks/xla.py; for a GPU they come from the data sheet of one (H100), which nobody has tried with this
package.
"""

BYTE = 1 << 8

Numbers = Width | np.dtype[np.generic]
"""The type of the numbers of a matrix product."""


@dataclass(frozen=True)
class Kind:
    """A way to compute a contraction: the dtype of its numbers, and into how many limbs of how many bits each operand
    is cut.

    Limbs of floats are below 2^bits, where the last limb is signed; limbs of int8 are balanced, in [-128, 127], with 8
    bits. The kind "integers" of a contraction multiplies the target's own integers, without limbs.
    """

    name: str
    limbs: tuple[int, int] = (1, 1)
    bits: int = 0

    @property
    def products(self) -> int:
        """Return how many products of limbs one contraction takes."""
        return self.limbs[0] * self.limbs[1]


def kinds(terms: int, x: tuple[int, int], y: tuple[int, int]) -> list[Kind]:
    """Return the kinds of product that compute exactly the sums of `terms` products of numbers of two intervals.

    Contractions in floats are exact if every partial sum is an integer below 2^24 or 2^53, whatever the order;
    contractions in int8 if every partial sum is below 2^31.
    """
    greatest = [max(-low, high) for low, high in (x, y)]
    found = []
    for name, mantissa in MANTISSA.items():
        if terms * greatest[0] * greatest[1] < 1 << mantissa:
            found.append(Kind(name))
            continue
        bits = mantissa - (terms * min(greatest)).bit_length()
        if bits >= 2:
            count, wide = _count(max(greatest), bits), greatest[0] >= greatest[1]
            found.append(Kind(name, (count, 1) if wide else (1, count), bits))
    if terms << 14 < 1 << 31:
        found.append(Kind("int8", (_bytes(*x), _bytes(*y)), 8))
    return found


def choose(products: int, terms: int, x: tuple[int, int], y: tuple[int, int], costs: Mapping[str, float]) -> Kind:
    """Return the cheapest kind for `products` products; the kind "integers" if there is nothing to sum, or too few
    products for limbs to pay.
    """

    def cost(kind: Kind) -> tuple[float, int]:
        return kind.products * costs[kind.name], kind.products

    found = min(kinds(terms, x, y), key=cost, default=Kind("integers"))
    return Kind("integers") if terms == 1 or (products <= FEW and found.products > 1) else found


def chosen(operation: Contract, x: Fixed, y: Fixed, costs: Mapping[str, float]) -> Kind:
    """Return the kind of a contraction of operands of given formats."""
    extents = operation.extents(x, y)
    x_interval, y_interval = (
        _summed(format, letters, operation, extents) for format, letters in zip((x, y), operation.letters, strict=False)
    )
    shared = [letter for letter in operation.summed if all(letter in own for own in operation.letters[:2])]
    terms = math.prod(extents[letter] for letter in shared)
    products = math.prod(extents[letter] for letter in operation.letters[2]) * terms
    return choose(products, terms, x_interval, y_interval, costs)


def contract(
    operation: Contract,
    sources: tuple[Fixed, Fixed],
    target: Fixed,
    values: Sequence[jax.Array],
    kind: Kind,
    by_blocks: bool = False,
) -> jax.Array:
    """Return the contraction of values of given formats, computed by a given kind of product, in the target's width. If
    blocks are used, a large operand is cut into limbs of the kind block by block, provided the other operand is small
    in comparison.
    """
    letters, both, widths = operands(operation, sources, values)
    into = width(target)

    def of(given: Sequence[jax.Array]) -> jax.Array:
        x, y = (one.astype(own) for one, own in zip(given, widths, strict=True))
        return multiply(letters, x, y, kind, into)

    great = next((k for k in (0, 1) if by_blocks and _is_great_beside(both[k], both[1 - k])), None)
    if great is None:
        return of(both)
    row = letters[great][0]
    summed = row not in letters[2]

    def with_block(first: jax.Array | int, size: int, made: jax.Array) -> jax.Array:
        part = of([rows(one, own, row, first, size) for one, own in zip(both, letters, strict=False)])
        return made + part if summed else blocks.put(made, part, first, letters[2].index(row))

    return blocks.over(both[great].shape, with_block, jnp.zeros(target.shape, into))


def rows(array: jax.Array, letters: str, row: str, first: jax.Array | int, size: int) -> jax.Array:
    """Return a slice of an operand along the axis of a letter, `size` places from `first` on; an operand without that
    letter is returned whole.
    """
    return blocks.cut(array, first, size, letters.index(row)) if row in letters else array


def operands(
    operation: Contract, sources: Sequence[Fixed], values: Sequence[jax.Array]
) -> tuple[tuple[str, str, str], list[jax.Array], list[Width]]:
    """Return the axes of both operands and of the target, the operands after axes that only one of them has are summed,
    and the widths of these sums, which may exceed the operands'.
    """
    extents = operation.extents(*sources)
    found: list[jax.Array] = []
    widths: list[Width] = []
    for format, letters, value in zip(sources, operation.letters, values, strict=False):
        own = _own(letters, operation)
        low, high = _summed(format, letters, operation, extents)
        widths.append(np.int32 if holds(np.int32, low, high) else np.int64)
        found.append(value.sum(own, dtype=widths[-1]) if own else value)
    of_x, of_y, of_target = operation.letters
    left = "".join(letter for letter in of_x if letter in of_y + of_target)
    right = "".join(letter for letter in of_y if letter in of_x + of_target)
    return (left, right, of_target), found, widths


def multiply(letters: tuple[str, str, str], x: jax.Array, y: jax.Array, kind: Kind, into: Width) -> jax.Array:
    """Return the product of integers, computed by a given kind of product, in a width that holds it."""
    return product(letters, *parts(x, y, kind), kind, into)


def parts(x: jax.Array, y: jax.Array, kind: Kind) -> tuple[list[jax.Array], list[jax.Array]]:
    """Return the limbs of both operands, least significant first; the operands themselves if integers are
    multiplied.
    """
    if kind.name == "integers":
        return [x], [y]
    if kind.name == "int8":
        return _balanced(x, kind.limbs[0]), _balanced(y, kind.limbs[1])
    given = np.dtype(kind.name)
    return _limbs(x, kind.limbs[0], kind.bits, given), _limbs(y, kind.limbs[1], kind.bits, given)


def product(
    letters: tuple[str, str, str], x: Sequence[jax.Array], y: Sequence[jax.Array], kind: Kind, into: Width
) -> jax.Array:
    """Return the sum of the products of all limbs, in the given width. Sums of limb products that overflow the width on
    the way become right again, since the width counts modulo 2^32 or 2^64.
    """
    if kind.name == "integers":
        return dot(letters, x[0].astype(into), y[0].astype(into), into)
    given: Numbers = np.int32 if kind.name == "int8" else np.dtype(kind.name)
    wide = np.iinfo(into).bits
    pieces = (
        _shifted(dot(letters, one, other, given).astype(into), kind.bits * (i + j))
        for i, one in enumerate(x)
        for j, other in enumerate(y)
        if kind.bits * (i + j) < wide
    )
    return reduce(add, pieces)


def _is_great_beside(array: jax.Array, other: jax.Array) -> bool:
    return blocks.is_great(array.shape) and 4 * other.size <= array.size


def _shifted(values: jax.Array, bits: int) -> jax.Array:
    return values << values.dtype.type(bits) if bits else values


def dot(letters: tuple[str, str, str], x: jax.Array, y: jax.Array, kind: Numbers) -> jax.Array:
    """Return one product of arrays, in the target's order; letters that the target lacks are in both operands."""
    of_x, of_y, of_target = letters
    batch = [letter for letter in of_target if letter in of_x and letter in of_y]
    inner = [letter for letter in of_x if letter in of_y and letter not in of_target]
    made = lax.dot_general(
        x,
        y,
        (
            ([of_x.index(letter) for letter in inner], [of_y.index(letter) for letter in inner]),
            ([of_x.index(letter) for letter in batch], [of_y.index(letter) for letter in batch]),
        ),
        precision=lax.Precision.HIGHEST,
        preferred_element_type=kind,
    )
    order = [*batch, *(one for one in of_x if one not in of_y), *(one for one in of_y if one not in of_x)]
    return made.transpose([order.index(letter) for letter in of_target])


def _limbs(values: jax.Array, count: int, bits: int, kind: Numbers) -> list[jax.Array]:
    """Return the `count` limbs below 2^bits of integers, least significant first, the last limb signed."""
    found = []
    for _ in range(count - 1):
        found.append((values & values.dtype.type((1 << bits) - 1)).astype(kind))
        values = values >> values.dtype.type(bits)
    return [*found, values.astype(kind)]


def _balanced(values: jax.Array, count: int) -> list[jax.Array]:
    """Return the `count` limbs in [-128, 127] of integers, least significant first: an integer is the sum of limb i *
    2^(8 i).
    """
    found = []
    for _ in range(count):
        kind = values.dtype.type
        found.append((((values & kind(255)) ^ kind(128)) - kind(128)).astype(np.int8))
        values = (values >> kind(8)) + ((values >> kind(7)) & kind(1))
    return found


def _count(magnitude: int, bits: int) -> int:
    """Return the number of limbs of `bits` bits into which numbers up to a given magnitude are cut, where the last limb
    is as wide as the numbers require.
    """
    count = 1
    while magnitude >> bits:
        magnitude = (magnitude >> bits) + 1
        count += 1
    return count


def _bytes(low: int, high: int) -> int:
    """Return the number of balanced limbs into which numbers of a given interval are cut."""
    count, ones = 1, 1
    while not -128 * ones <= low <= high <= 127 * ones:
        count, ones = count + 1, ones * BYTE + 1
    return count


def _own(letters: str, operation: Contract) -> tuple[int, ...]:
    """Return the axes that only one operand has and that the target lacks, which are summed first."""
    shared = set(operation.letters[2]) | (set(operation.letters[0]) & set(operation.letters[1]))
    return tuple(axis for axis, letter in enumerate(letters) if letter not in shared)


def _summed(format: Fixed, letters: str, operation: Contract, extents: Mapping[str, int]) -> tuple[int, int]:
    """Return the interval of an operand after the axes that only this operand has are summed."""
    count = math.prod(extents[letters[axis]] for axis in _own(letters, operation))
    return count * format.low, count * format.high
