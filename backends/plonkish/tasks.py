"""What a circuit asks for, before any of it has a row: sums, products, ranges, folds, table entries, permutations."""

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
    """A list of elements that take the same kind of work, for one operation; `edge` is its index in the arrow, -1 for
    the ports.
    """

    edge: int
    role: str


@dataclass(frozen=True, slots=True, eq=False)
class Hint:
    """Variables first, first + 1, ... that the prover chooses: other tasks must determine their values."""

    first: int
    count: int
    content: Value | Elements


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Task):
    """The task targets[e] = offset + sum of factors[t] * terms[t, e]. Factors are integers of any size."""

    targets: Variables
    terms: Variables
    factors: tuple[int, ...]
    offset: int

    def solve(self, solver: Solver) -> None:
        """Write the values of the targets of sums, reduced modulo the prime if the targets are wide."""
        solver.write(self.targets, solver.combined(self.terms, self.factors, self.offset))


@dataclass(frozen=True, slots=True, eq=False)
class Range(Task):
    """The task that offset + sum of factors[t] * terms[t, e] is in [0, size), modulo the prime; `limbs` are the sizes
    of the number's limbs, lowest first.

    Limb g has the weight scale 2^shift and is in [0, sizes[g]).
    """

    terms: Variables
    factors: tuple[int, ...]
    offset: int
    sizes: tuple[int, ...]
    shifts: tuple[int, ...]

    def number(self, solver: Solver) -> Values:
        """Return the number that a range task checks."""
        return solver.combined(self.terms, self.factors, self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Dot(Task):
    """The task targets[e] = sum of left[i, e] * right[i, e] over i; `phase` is 1 if a challenge enters a factor."""

    targets: Variables
    left: Variables
    right: Variables
    phase: int = 0

    def partial(self, solver: Solver) -> Values:
        """Return the partial sums of a dot product up to each i, `[depth, n]`."""
        return solver.running(solver.multiplied(solver.read(self.left), solver.read(self.right)))

    def solve(self, solver: Solver) -> None:
        """Write the dot products, reduced modulo the prime if the targets are wide."""
        solver.write(self.targets, self.partial(solver)[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Fold(Task):
    """The task targets[e] = sum of values[i, e] * x^i, for challenge number `challenge`; the values are of phase
    `phase`.
    """

    targets: Variables
    values: Variables
    challenge: int
    phase: int

    def solve(self, solver: Solver) -> None:
        """Write the cells of the sums of values times powers of the challenge, once the challenge is drawn."""
        solver.write(self.targets, self.steps(solver, 1)[-1])

    def steps(self, solver: Solver, each: int) -> list[Values]:
        """Return the partial results of Horner's rule, which takes `each` values at a time, the highest first; the
        number of values must be a multiple of `each`.
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
    """The task that (index[e], targets[e]) is an entry of a table: the value for the index."""

    targets: Variables
    index: Variables
    table: int
    low: int
    values: NDArray[np.int64]

    def solve(self, solver: Solver) -> None:
        """Write the table entries that the indices choose. Raise Undefined if an index is outside the table."""
        places = solver.read(self.index) - self.low
        if (places < 0).any() or (places >= len(self.values)).any():
            raise Undefined(f"no entry for {self.role}: an index is outside of its table")
        solver.write(self.targets, self.values[places])


@dataclass(frozen=True, slots=True, eq=False)
class Permutations(Task):
    """The task that outputs[e] is lane 0 of the Poseidon permutation of inputs[:, e], one permutation after the other.

    before[:, e] and after[:, e] are the states around the partial rounds, with the next round's constants.
    """

    outputs: Variables
    inputs: Variables
    before: Variables
    after: Variables

    def solve(self, solver: Solver) -> None:
        """Permute one column of inputs after the other; write the outputs and the states around the partial rounds."""
        solver.write(self.outputs, solver.permute(self))


Solvable = Sum | Dot | Fold | Entry | Permutations
