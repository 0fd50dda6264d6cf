"""Small Plonkish systems written by hand, and witnesses of them, for the tests of halo2."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.expressions import ExpressionBuilder
from circuitize.backends.plonkish.system import Gate, Lookup, PlonkishSystem

DIGEST = "ab" * 32
ROWS = 40
TABLE = 16


@dataclass(frozen=True)
class Cells:
    """A witness as the prover takes it; `folded` computes phase 1 from the challenges."""

    publics: list[int]
    columns: list[list[int]]
    folded: Callable[[Sequence[int]], list[list[int]]]

    def instance(self) -> list[Limbs]:
        return [BN254.from_integers(self.publics)]

    def first(self) -> list[Limbs]:
        return [BN254.from_integers(column) for column in self.columns]

    def second(self, challenges: Sequence[int]) -> list[Limbs]:
        return [BN254.from_integers(column) for column in self.folded(challenges)]


def squares() -> PlonkishSystem:
    """Rows x, x^2 with x in a table of 0..15; a running sum c of x^2 in phase 1 with a challenge; c's last is tested.

    Advice: x, y, and in phase 1 z, with z' = z * challenge + y. Fixed: a selector, the table, a selector of the last
    row. Instance: the last x, then the last y.
    """
    make = ExpressionBuilder()
    x, y = make.advice(0), make.advice(1)
    z, after, beside = make.advice(2), make.advice(2, 1), make.advice(1, 1)
    on, going = make.fixed(0), make.fixed(2)
    gates = (
        Gate("squares[0] y = x^2", make.multiply(on, make.subtract(y, make.multiply(x, x)))),
        Gate(
            "sums[0] z' = z c + y'",
            make.multiply(going, make.subtract(after, make.add(make.multiply(z, make.challenge(0)), beside))),
        ),
    )
    lookups = (Lookup("range x", (make.multiply(on, x),), (make.fixed(1),)),)
    nodes = make.build()
    selector = np.ones(ROWS, np.int64)
    last = np.append(np.ones(ROWS - 1, np.int64), 0)
    instance = 3 + 3
    copies = np.array([[0, ROWS - 1, instance, 0], [1, ROWS - 1, instance, 1], [0, 3, 0, 7]], np.int32)
    return PlonkishSystem(
        field=BN254,
        rows=ROWS,
        advice_phases=(0, 0, 1),
        fixed=(selector, np.arange(TABLE), last),
        instance=(2,),
        challenges=1,
        nodes=nodes.rows,
        constants=nodes.constants,
        gates=gates,
        lookups=lookups,
        copies=copies,
    )


def numbers(seed: int = 0) -> list[int]:
    """Values of x that satisfy the copies."""
    values: list[int] = np.random.default_rng(seed).integers(0, TABLE, ROWS).tolist()
    values[7] = values[3]
    return values


def cells(values: list[int] | None = None) -> Cells:
    """A witness of `squares` for these x."""
    x = numbers() if values is None else values
    y = [value * value for value in x]
    return Cells([x[-1], y[-1]], [x, y], lambda challenges: [running(y, challenges[0])])


def running(values: list[int], challenge: int) -> list[int]:
    sums = [0]
    for value in values[1:]:
        sums.append((sums[-1] * challenge + value) % BN254.prime)
    return sums


def changed(system: PlonkishSystem, **parts: Any) -> PlonkishSystem:
    return replace(system, **parts)
