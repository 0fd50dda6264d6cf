"""The columns for Poseidon permutations: one unit for the full rounds, and another for the partial rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..r1cs.commitments import WIDTH
from .expressions import ExpressionBuilder
from .permutation import FULL, INNER, INPUTS, PARTIAL, TOGETHER, Numbers, inner, rounds
from .tasks import Permutations
from .units import EMPTY, Cells, Computed, Unit
from .witness import Solver


class RoundsUnit(Unit):
    """A unit of Poseidon permutations, which has 17 columns of cells, 17 fixed columns of round constants, and a fixed
    column that marks each kind of row; see `Rounds`.

    The two units share the rows of a permutation, so that each evaluates only its own gates: the states before and
    after the partial rounds are in both units, and are copied.

    Soundness: every cell except the inputs is alone on one side of a gate whose other side reads cells above it or
    earlier cells of the same rows, so that the inputs determine all cells, over any field. The gates of a Poseidon
    permutation have degree 4, because an S-box x^5 is computed as (x^2)^2 x.
    """

    phases = (0,) * WIDTH
    kinds: tuple[int, ...]

    @property
    def fixed(self) -> int:  # type: ignore[override]
        """Return the number of fixed columns: one for each constant of a row, and one for each kind of row."""
        return WIDTH + len(self.kinds)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Return the rows of a Poseidon permutation that are in this unit."""
        middle = rounds().middle
        every = np.arange(rounds().rows)
        if self.kinds == (PARTIAL,):
            return every[middle.start : middle.stop + 1]
        return np.concatenate([every[: middle.start + 1], every[middle.stop :]])

    def height(self, task: Permutations) -> int:
        return len(self.rows)

    def elements(self, task: Permutations) -> int:
        return len(task.outputs)

    def scalars(self, task: Permutations) -> list[list[int]]:
        kinds = rounds().kinds[self.rows]
        own = np.isin(kinds, self.kinds)
        if PARTIAL in self.kinds:
            own[:-1] = True
        constants = np.where(own[:, None], rounds().constants[self.rows], 0)
        return [*constants.T.tolist(), *((kinds == kind).astype(int).tolist() for kind in self.kinds)]

    def cells(self, task: Permutations) -> Cells:
        made = np.full((WIDTH, rounds().rows, len(task.outputs)), EMPTY, np.int32)
        made[:, 0] = task.inputs
        made[:, rounds().middle.start] = task.before
        made[:, rounds().middle.stop] = task.after
        made[0, -1] = task.outputs
        return made[:, self.rows]

    def computed(self, task: Permutations, solver: Solver) -> Iterator[Computed]:
        states = solver.states(task).reshape(-1, rounds().rows, WIDTH)
        known = self.cells(task)[:, :, 0]
        for place, row in enumerate(self.rows.tolist()):
            for lane in range(WIDTH):
                if known[lane, place] == EMPTY:
                    yield lane, place, states[:, row, lane]


class FullRoundsUnit(RoundsUnit):
    """The unit for the inputs, the full rounds and the final state of Poseidon permutations."""

    name = "full rounds"
    kinds = (INPUTS, FULL)

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        enters, full = map(make.fixed, fixed[WIDTH:])
        found, fifths = [], []
        state, following, after = ([make.advice(column, down) for column in advice] for down in range(3))
        added = [make.fixed(column) for column in fixed[:WIDTH]]
        for lane in range(WIDTH):
            entered = make.subtract(following[lane], make.add(state[lane], added[lane]))
            squared = make.subtract(following[lane], make.multiply(state[lane], state[lane]))
            found += [(f"input {lane}", make.multiply(enters, entered))]
            found += [(f"square {lane}", make.multiply(full, squared))]
            fifths.append(make.multiply(make.multiply(following[lane], following[lane]), state[lane]))
        for lane, line in enumerate(rounds().parameters.matrix):
            mixed = make.add(make.combination(line, fifths), added[lane])
            found.append((f"full round {lane}", make.multiply(full, make.subtract(after[lane], mixed))))
        return found


class PartialRoundsUnit(RoundsUnit):
    """The unit for the partial rounds of Poseidon permutations, of which it does `TOGETHER` at once, from the state
    before them to the state after them.
    """

    name = "partial rounds"
    kinds = (PARTIAL,)

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        mark, partial = make.fixed(fixed[WIDTH]), rounds().partial
        found = []

        def require(what: str, left: int, right: int) -> None:
            found.append((what, make.multiply(mark, make.subtract(left, right))))

        x, *known = [make.advice(column) for column in advice]
        for t in range(TOGETHER):
            if t:
                down, lane = inner(2 * t - 1)
                mixed = make.combination(_numbers(partial.inputs[t, 1 : WIDTH + t]), known)
                x = make.advice(advice[lane], down)
                require(f"partial input {t}", x, make.add(mixed, make.fixed(fixed[lane], down)))
            down, lane = inner(2 * t)
            square = make.advice(advice[lane], down)
            require(f"partial square {t}", square, make.multiply(x, x))
            known = [*known, make.multiply(make.multiply(square, square), x)]
        for lane in range(WIDTH):
            mixed = make.combination(_numbers(partial.state[lane, 1:]), known)
            after = make.advice(advice[lane], INNER + 1)
            require(f"partial rounds {lane}", after, make.add(mixed, make.fixed(fixed[lane])))
        return found


def _numbers(values: Numbers) -> list[int]:
    return [int(value) for value in values]
