"""Every kind of contraction is exact at the ends of its operands' intervals, where sums are greatest."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import tiers
from numpy.typing import NDArray

from circuitize.circuits.builder import generator
from circuitize.circuits.integers import Contract
from circuitize.circuits.types import Fixed
from circuitize.sims.xla.contraction import COSTS, Kind, chosen, kinds, multiply
from circuitize.sims.xla.traced import Traced

LETTERS = ("zab", "zbc", "zac")
BITS = [
    *[(1, 1), (7, 7), (8, 8), (11, 11), (14, 14), (15, 18), (24, 24), (23, 31), (31, 20), (32, 16), (40, 11), (54, 3)],
    *[(9, 9), (12, 11), (24, 23), (26, 26)],  # sums just beyond 2^24 and 2^53
]
"""Of operands, signs apart."""

TRIED = BITS if tiers.TIER == "deep" else [(7, 7), (14, 14), (31, 20), (9, 9), (24, 23)]
TERMS = [pytest.param(3, marks=pytest.mark.deep), 64]

Integers = NDArray[np.int64]


def operands(bits: int, shape: tuple[int, int], random: np.random.Generator) -> Integers:
    """At the low end, at the high one, mixed, uniform, and great; the low end is one further from zero."""
    low, high = -(1 << bits), (1 << bits) - 1
    mixed = random.choice(np.array([low, high, low + 1, 0, -1]), shape)
    greatest = random.choice(np.array([high, high - 1]), shape)  # odd sums as great as they get
    return np.stack([np.full(shape, low), np.full(shape, high), mixed, random.integers(low, high, shape), greatest])


@pytest.mark.parametrize("terms", TERMS)
def test_kinds_are_exact(terms: int) -> None:
    random = np.random.default_rng(terms)
    tried: list[tuple[Kind, Integers, Integers]] = []
    for bits in TRIED:
        if terms * (1 << sum(bits)) < 1 << 62:
            x, y = operands(bits[0], (3, terms), random)[[0, 0, 1, 2, 3, 4]], operands(bits[1], (terms, 4), random)
            intervals = [(-(1 << most), (1 << most) - 1) for most in bits]
            tried += [(kind, x, y[[0, 1, 1, 2, 3, 4]]) for kind in [*kinds(terms, *intervals), Kind("integers")]]
    narrow = [[v.astype(np.int32) if np.abs(v).max() < 1 << 31 else v for v in pair] for _, *pair in tried]

    def every(pairs: list[Any]) -> list[Any]:
        return [multiply(LETTERS, x, y, kind, np.int64) for (x, y), (kind, *_) in zip(pairs, tried, strict=True)]

    with jax.enable_x64(True):
        found = jax.jit(every)(narrow)
    assert {kind.name for kind, *_ in tried} == {"float32", "float64", "int8", "integers"}
    for made, (kind, x, y) in zip(found, tried, strict=True):
        np.testing.assert_array_equal(made, x @ y, str(kind))


@pytest.mark.parametrize("kind", COSTS)
def test_what_is_chosen_for_a_device_is_exact_on_this_one(kind: str) -> None:
    """A GPU has other costs, and so other kinds; its program runs here as well."""
    random = np.random.default_rng(2)
    for bits, equation in (((6, 6), "abi,ij->bj"), ((15, 18), "bi,ji->bj"), ((26, 24), "ib,ji->bj")):
        extents = {"a": 3, "b": 40, "i": 30, "j": 50}
        x, y = (
            Fixed(tuple(extents[letter] for letter in letters), 0, -(1 << most), (1 << most) - 1)
            for letters, most in zip(equation.split("->")[0].split(","), bits, strict=True)
        )
        operation = Contract(equation)
        values = [random.choice(np.array([f.low, f.high, 0, 1]), f.shape) for f in (x, y)]
        traced = Traced(generator(operation, x, y), kind)
        with jax.enable_x64(True):
            wires, flags = jax.jit(lambda values: traced.wires([], values))(values)  # noqa: B023
        np.testing.assert_array_equal(wires[-1], operation.run(*values)[0])
        assert not flags


def test_costs_choose() -> None:
    """Bytes where a device has them cheaply; float64 of a CPU where sums pass 24 bits."""
    format = Fixed((256, 256), 0, -100, 100)
    wide = Fixed((256, 256), 0, -(1 << 18), 1 << 18)
    equation = Contract("ab,bc->ac")
    assert chosen(equation, format, format, COSTS["cpu"]).name == "int8"
    assert chosen(equation, wide, wide, COSTS["cpu"]) == Kind("float64")
    assert chosen(equation, wide, wide, COSTS["gpu"]) == Kind("int8", (3, 3), 8)
