"""Satisfiable systems of two phases over BN254: committed wires, then a challenge, then what depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from groth16_cases import AWKWARD, R, Terms, limbs, matrix
from numpy.typing import NDArray

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.system import ConstraintSystem

Limbs = NDArray[np.uint64]
Witness = Callable[[Callable[[Limbs], int]], Limbs]


def two_phases(
    rows: Iterable[Sequence[Terms]], wires: int, outputs: int, inputs: int, committed: int
) -> ConstraintSystem:
    """`rows` is A, B and C as lists of {wire: integer}; the challenge is the last of the inputs."""
    large: list[int] = []
    a, b, c = (matrix(part, large) for part in rows)
    table = limbs(large) if large else np.zeros((0, 4), np.uint64)
    return ConstraintSystem(BN254, a, b, c, table, wires, outputs, inputs, 0, committed=committed)


def random_case(
    seed: int, rows: int = 40, outputs: int = 2, inputs: int = 3, committed: int = 6, awkward: bool = True
) -> tuple[ConstraintSystem, Witness]:
    """Each row's product is a new wire of the second phase, the factors random combinations of everything before it.

    `inputs` counts the challenge. The first row has it as a factor, so that all wires of the second phase depend on it.
    """
    random = np.random.default_rng(seed)

    def draw() -> int:
        return AWKWARD[random.integers(len(AWKWARD))] if awkward else int(random.integers(-9, 10))

    public = outputs + inputs
    first = 1 + public + committed
    values = [1, *(draw() % R for _ in range(public - 1)), 0, *(draw() % R for _ in range(committed))]
    a, b, c = [{public: 1}], [{0: 3, first - 1: 2}], [{first: 1}]
    for row in range(1, rows):
        chosen = [
            {int(wire): draw() for wire in random.choice(first + row, random.integers(0, 4), replace=False)}
            for _ in range(3)
        ]
        a.append(chosen[0])
        b.append(chosen[1])
        c.append(chosen[2] | {first + row: 1})

    def witness(challenge: Callable[[Limbs], int]) -> Limbs:
        whole = [*values]
        whole[public] = challenge(limbs(values))
        for row, chosen in enumerate(zip(a, b, c, strict=True)):
            left, right, rest = (
                sum(k * whole[wire] for wire, k in terms.items() if wire < first + row) for terms in chosen
            )
            whole.append((left * right - rest) % R)
        return limbs(whole)

    return two_phases((a, b, c), first + rows, outputs, inputs, committed), witness


@dataclass(frozen=True)
class Permutation:
    """The committed wires x are a permutation of y: product of (challenge + x) = product of (challenge + y).

    Publics: y, then the challenge. Wires of the second phase: the partial products of both sides. A statement with any
    other y is false, and a prover who knew the challenge before choosing x could still satisfy every row. With `first`
    the statement is that y holds this number, which is x[0].
    """

    count: int
    first: int | None = None

    @property
    def system(self) -> ConstraintSystem:
        n = self.count
        x, left, right = n + 2, 2 * n + 2, 3 * n + 2
        a, b, c = [], [], []
        for factors, products in ((1, right), (x, left)):
            for i in range(n):
                a.append({n + 1: 1, factors + i: 1})
                b.append({products + i - 1: 1} if i else {0: 1})
                c.append({products + i: 1})
        a.append({left + n - 1: 1, right + n - 1: -1})
        b.append({0: 1})
        c.append({})
        if self.first is not None:
            a.append({x: 1})
            b.append({0: 1})
            c.append({0: self.first})
        return two_phases((a, b, c), 4 * n + 2, 0, n + 1, n)

    def whole(self, x: list[int], y: list[int], challenge: int) -> Limbs:
        """Every wire, for this challenge."""

        def products(values: list[int]) -> list[int]:
            made, product = [], 1
            for value in values:
                product = product * (value + challenge) % R
                made.append(product)
            return made

        return limbs([1, *y, challenge, *x, *products(x), *products(y)])

    def witness(self, x: list[int], y: list[int]) -> Witness:
        return lambda challenge: self.whole(x, y, challenge(limbs([1, *y, 0, *x])))
