"""The columns in which Poseidon permutations stand, two rows to a full round, three to partial ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from circuitize.backends.r1cs.commitments import WIDTH

from .expressions import ExpressionBuilder
from .permutation import FULL, INNER, INPUTS, PARTIAL, TOGETHER, Numbers, inner, rounds
from .tasks import Permutations
from .units import EMPTY, Cells, Computed, Unit
from .witness import Solver


class PermutationUnit(Unit):
    """17 columns of cells, 17 fixed ones of round constants, and one that marks each kind of row; see `Rounds`.

    Soundness: every cell but the inputs is alone on one side of a gate whose other side reads cells above or earlier
    ones of the same row, so that the inputs determine all; over any field. Gates are of degree 4: an S-box x^5 is taken
    as (x^2)^2 x.
    """

    name = "permutation"
    phases = (0,) * WIDTH
    fixed = WIDTH + 3

    def height(self, task: Permutations) -> int:
        return rounds().rows

    def elements(self, task: Permutations) -> int:
        return len(task.outputs)

    def scalars(self, task: Permutations) -> list[list[int]]:
        schedule = rounds()
        marks = [(schedule.kinds == kind).astype(int).tolist() for kind in (INPUTS, FULL, PARTIAL)]
        return [*schedule.constants.T.tolist(), *marks]

    def cells(self, task: Permutations) -> Cells:
        made = np.full((WIDTH, rounds().rows, len(task.outputs)), EMPTY, np.int32)
        made[:, 0] = task.inputs
        made[0, -1] = task.outputs
        return made

    def computed(self, task: Permutations, solver: Solver) -> Iterator[Computed]:
        height = rounds().rows
        states = solver.states(task).reshape(-1, height, WIDTH)
        for row in range(1, height):
            for lane in range(WIDTH):
                if row < height - 1 or lane:
                    yield lane, row, states[:, row, lane]

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        schedule = rounds()
        constants, marks = fixed[:WIDTH], fixed[WIDTH:]
        enters, full, partial = map(make.fixed, marks)
        found = []

        def require(what: str, mark: int, left: int, right: int) -> None:
            found.append((what, make.multiply(mark, make.subtract(left, right))))

        state = [make.advice(column) for column in advice]
        following = [make.advice(column, 1) for column in advice]
        after = [make.advice(column, 2) for column in advice]
        added = [make.fixed(column) for column in constants]
        fifths = []
        for lane in range(WIDTH):
            require(f"input {lane}", enters, following[lane], make.add(state[lane], added[lane]))
            require(f"square {lane}", full, following[lane], make.multiply(state[lane], state[lane]))
            fourth = make.multiply(following[lane], following[lane])
            fifths.append(make.multiply(fourth, state[lane]))
        matrix = schedule.parameters.matrix
        for lane in range(WIDTH):
            mixed = make.combination(matrix[lane], fifths)
            require(f"full round {lane}", full, after[lane], make.add(mixed, added[lane]))
        known = state[1:]
        x = state[0]
        for t in range(TOGETHER):
            if t:
                down, lane = inner(2 * t - 1)
                mixed = make.combination(_numbers(schedule.partial.inputs[t, 1 : WIDTH + t]), known)
                x = make.advice(advice[lane], down)
                require(f"partial input {t}", partial, x, make.add(mixed, make.fixed(constants[lane], down)))
            down, lane = inner(2 * t)
            square = make.advice(advice[lane], down)
            require(f"partial square {t}", partial, square, make.multiply(x, x))
            known = [*known, make.multiply(make.multiply(square, square), x)]
        for lane in range(WIDTH):
            mixed = make.combination(_numbers(schedule.partial.state[lane, 1:]), known)
            target = make.advice(advice[lane], INNER + 1)
            require(f"partial round {lane}", partial, target, make.add(mixed, added[lane]))
        return found


def _numbers(values: Numbers) -> list[int]:
    return [int(value) for value in values]
