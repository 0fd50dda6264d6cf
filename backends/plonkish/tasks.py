"""The tasks of a Plonkish circuit, before any of them has rows: sums, products, ranges, folds, table entries and
permutations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import Undefined
from circuitize.circuits.operation import Values

from ..values import Elements, Value

if TYPE_CHECKING:
    from .witness import Solver

Variables = NDArray[np.int32]
"""The numbers of a Plonkish circuit's variables; variable 0 is the constant 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A task: a list of elements of one operation that take the same kind of work; `edge` is the operation's index in
    the arrow, or -1 for the program's ports.
    """

    edge: int
    role: str


@dataclass(frozen=True, slots=True, eq=False)
class Hint:
    """Variables first, first + 1, ... whose values the prover chooses: other tasks must determine these values."""

    first: int
    count: int
    content: Value | Elements


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Task):
    """A task of sums: targets[e] = offset + sum over t of factors[t] * terms[t, e]. The factors of a sum may be
    integers of any size.
    """

    targets: Variables
    terms: Variables
    factors: tuple[int, ...]
    offset: int

    def solve(self, solver: Solver) -> None:
        """Compute the targets of the sums, reduced modulo the prime if the targets are wide, and write them to the
        solver.
        """
        solver.write(self.targets, solver.combined(self.terms, self.factors, self.offset))


@dataclass(frozen=True, slots=True, eq=False)
class Range(Task):
    """A task of range checks: offset + sum over t of factors[t] * terms[t, e] is in [0, size) modulo the prime; `sizes`
    has the sizes of the number's limbs, the lowest limb first.

    Limb g of a checked number has the weight 2^shifts[g] and is in [0, sizes[g]).
    """

    terms: Variables
    factors: tuple[int, ...]
    offset: int
    sizes: tuple[int, ...]
    shifts: tuple[int, ...]

    def number(self, solver: Solver) -> Values:
        """Return the numbers that the range task checks."""
        return solver.combined(self.terms, self.factors, self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Dot(Task):
    """A task of dot products: targets[e] = sum over i of left[i, e] * right[i, e]; `phase` is 1 if a challenge enters a
    factor.
    """

    targets: Variables
    left: Variables
    right: Variables
    phase: int = 0

    def partial(self, solver: Solver) -> Values:
        """Return the partial sums of the dot products up to each i, as `[depth, n]`."""
        return solver.running(solver.multiplied(solver.read(self.left), solver.read(self.right)))

    def solve(self, solver: Solver) -> None:
        """Compute the dot products, reduced modulo the prime if the targets are wide, and write them to the solver."""
        solver.write(self.targets, self.partial(solver)[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Fold(Task):
    """A task of folds: targets[e] = sum over i of values[i, e] * x^i, where x is the challenge with the number
    `challenge`; the values are of phase `phase`.
    """

    targets: Variables
    values: Variables
    challenge: int
    phase: int

    def solve(self, solver: Solver) -> None:
        """Compute the sums of values times powers of the challenge, which must be known, and write them to the
        solver.
        """
        solver.write(self.targets, self.steps(solver, 1)[-1])

    def steps(self, solver: Solver, each: int) -> list[Values]:
        """Return the partial results of a fold by Horner's rule, which takes `each` values at a time, the highest
        first; the number of values must be a multiple of `each`.
        """
        x, prime = solver.challenges[self.challenge], solver.field.prime
        powers = [pow(x, i, prime) for i in range(each + 1)]
        values = solver.read(self.values).astype(object).reshape(-1, each, self.values.shape[1])
        made: list[Values] = []
        for group in values[::-1]:
            total = sum(powers[i] * group[i] for i in range(each))
            made.append((total + (made[-1] * powers[each] if made else 0)) % prime)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Task):
    """A task of table entries: (index[e], targets[e]) is an entry of a table, so that targets[e] is the value for the
    index.
    """

    targets: Variables
    index: Variables
    table: int
    low: int
    values: NDArray[np.int64]

    def solve(self, solver: Solver) -> None:
        """Write to the solver the table entries that the indices choose. Raise Undefined if an index is outside the
        table.
        """
        places = solver.read(self.index) - self.low
        if (places < 0).any() or (places >= len(self.values)).any():
            raise Undefined(f"no entry for {self.role}: an index is outside of its table")
        solver.write(self.targets, self.values[places])


@dataclass(frozen=True, slots=True, eq=False)
class Permutations(Task):
    """A task of Poseidon permutations: outputs[e] is lane 0 of the permutation of inputs[:, e].

    The columns before[:, e] and after[:, e] are the states before and after the partial rounds, with the constants of
    the next round added.
    """

    outputs: Variables
    inputs: Variables
    before: Variables
    after: Variables

    def solve(self, solver: Solver) -> None:
        """Compute the Poseidon permutation of each column of inputs, and write the outputs and the states before and
        after the partial rounds to the solver.
        """
        solver.write(self.outputs, solver.permute(self))


Solvable = Sum | Dot | Fold | Entry | Permutations
