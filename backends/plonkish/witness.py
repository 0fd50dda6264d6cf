"""Computing the values that a prover puts into Plonkish cells: the variables, task by task, from the integer executor's
trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import Undefined
from circuitize.circuits.operation import Values
from circuitize.circuits.types import LIMIT

from .. import replay
from ..field import Limbs
from ..replay import Replay
from ..replay import random_salts as random_salts
from ..values import Value
from .permutation import Rounds, rounds
from .tasks import Dot, Fold, Hint, Permutations, Range, Solvable, Variables

SMALL = 2.0**62

Step = Hint | Range | Solvable


class Plan(replay.Plan, Protocol):
    """The parts of a Plonkish circuit that a solver of its variables needs."""

    @property
    def variables(self) -> int:
        """Return the number of variables, including the constant 1."""

    @property
    def wide(self) -> tuple[tuple[int, int], ...]:
        """Return (first, count) for each range of wide variables, which may be any element of the field."""

    @property
    def constants(self) -> Mapping[int, int]:
        """Return the variable that holds each constant of the circuit."""

    @property
    def tasks(self) -> tuple[Step, ...]:
        """Return the tasks to solve, in an order in which every variable is written before it is read."""


class Solver(Replay):
    """A solver that computes the variables of a run, phase by phase: small ones in int64, and those that may be any
    field element as Python integers.

    The solver does not check the values against the constraints.
    """

    def __init__(self, plan: Plan, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> None:
        super().__init__(plan, trace, salts)
        self.plan = plan
        self._small = np.zeros(plan.variables, np.int64)
        self._place = np.full(plan.variables, -1, np.int64)
        total = 0
        for first, count in plan.wide:
            self._place[first : first + count] = np.arange(total, total + count)
            total += count
        self._large = np.zeros(total, dtype=object)
        self._states: dict[Permutations, NDArray[np.object_]] = {}
        for value, variable in plan.constants.items():
            self.write(np.array([variable], np.int32), value)

    def solve(self, phase: int) -> None:
        """Compute the variables of a phase; for phase 1, the `challenges` must be known."""
        for task in self.plan.tasks:
            if isinstance(task, Range) or phase != _phase(task):
                continue
            if isinstance(task, Hint):
                self._fill(task)
            else:
                task.solve(self)

    def read(self, variables: Variables) -> Values:
        """Return the values of variables: int64 if none of the variables is wide, and otherwise Python integers."""
        places = self._place[variables]
        if (places < 0).all():
            return self._small[variables]
        values = self._small[variables].astype(object)
        values[places >= 0] = self._large[places[places >= 0]]
        return values

    def write(self, variables: Variables, values: ArrayLike) -> None:
        """Store the values of variables; values of wide variables are reduced modulo the prime. Raise Undefined if the
        value of a variable that is not wide is not small: no run of the program gives such a value.
        """
        places = self._place[variables]
        if (places < 0).all():
            found = np.asarray(values)
            if found.dtype == object:
                found = found % self.field.prime
                found = np.where(found > self.field.prime // 2, found - self.field.prime, found)
                if np.any(np.abs(found) >= LIMIT):
                    raise Undefined("a value passes 2^62 in a run that is not the program's")
            self._small[variables] = found
        else:
            self._large[places] = np.asarray(values, dtype=object) % self.field.prime

    def limbs(self) -> Limbs:
        """Return the value of every Plonkish variable as a field element."""
        made = self.field.from_int64(self._small)
        wide = np.flatnonzero(self._place >= 0)
        made[wide] = self.field.from_integers(self._large[self._place[wide]].tolist())
        return made

    def elements(self, values: Values) -> Limbs:
        """Return values as field elements in normal form."""
        flat = np.asarray(values).reshape(-1)
        return self.field.from_integers(flat.tolist()) if flat.dtype == object else self.field.from_int64(flat)

    def combined(self, terms: Variables, factors: Sequence[int], offset: int) -> Values:
        """Return, exactly, offset + sum over t of factors[t] * terms[t], as one number for each column of terms."""
        total: Values = np.full(terms.shape[1], offset, np.int64 if abs(offset) < SMALL else object)
        for factor, term in zip(factors, terms, strict=True):
            total = total + self.scaled(factor, self.read(term))
        return total

    def scaled(self, factor: int, values: Values) -> Values:
        """Return factor * values, exactly: in int64 if this cannot wrap, and otherwise in Python integers."""
        if values.dtype != object and abs(factor) * max(1.0, float(np.abs(values).max(initial=0))) >= SMALL:
            values = values.astype(object)
        scaled: Values = values * factor
        return scaled

    def multiplied(self, left: Values, right: Values) -> Values:
        """Return the products left * right, exactly or reduced modulo the prime."""
        if left.dtype == object or right.dtype == object:
            made: Values = left.astype(object) * right.astype(object) % self.field.prime
        elif float(np.abs(left).max(initial=0)) * float(np.abs(right).max(initial=0)) >= SMALL:
            made = left.astype(object) * right.astype(object)
        else:
            made = left * right
        return made

    def running(self, terms: Values) -> Values:
        """Return the running sums of values `[depth, n]` down to each row, exactly or reduced modulo the prime."""
        if terms.dtype == object:
            return np.cumsum(terms, axis=0) % self.field.prime
        if float(np.abs(terms).max(initial=0)) * len(terms) >= SMALL:
            return np.cumsum(terms.astype(object), axis=0)
        return np.cumsum(terms, axis=0)

    def permute(self, task: Permutations) -> list[int]:
        """Compute the Poseidon permutations of a task one after the other, since lane 0 of one may be an input of the
        next, and return their outputs. The cells of all rows of the permutations are kept.
        """
        schedule: Rounds = rounds()
        cells, outputs = [], []
        middle = schedule.middle
        for inputs, output, before, after in zip(task.inputs.T, task.outputs, task.before.T, task.after.T, strict=True):
            made = schedule.trace(self.read(inputs).astype(object))
            self.write(before, made[middle.start])
            self.write(after, made[middle.stop])
            self.write(np.array([output], np.int32), [made[-1, 0]])
            cells.append(made)
            outputs.append(int(made[-1, 0]))
        self._states[task] = np.concatenate(cells)
        return outputs

    def states(self, task: Permutations) -> NDArray[np.object_]:
        """Return the cells of a task's Poseidon permutations: all rows of the first, followed by those of the next."""
        return self._states[task]

    def _fill(self, hint: Hint) -> None:
        variables = np.arange(hint.first, hint.first + hint.count, dtype=np.int32)
        content = hint.content
        if isinstance(content, Value):
            self.write(variables, content.read(self))
        else:
            self.write(variables, self.field.to_integers(content.limbs(self)))


def _phase(task: Hint | Solvable) -> int:
    return 1 if isinstance(task, Fold) else task.phase if isinstance(task, Dot) else 0
