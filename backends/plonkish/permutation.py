"""The Poseidon permutation as rows of 17 cells: a full round takes two rows, and seventeen partial rounds take
three.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.operation import Values

from ..poseidon_constants import PoseidonParameters, poseidon_parameters
from ..r1cs.commitments import WIDTH

TOGETHER = 17
"""The number of partial rounds that are taken at once: 68 are four times as many."""

INNER = -(-(2 * TOGETHER - 1) // WIDTH)
"""The rows between the state before the partial rounds and the state after them."""

Numbers = NDArray[np.object_]


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """The linear maps of `TOGETHER` partial rounds, as combinations of the state before the rounds (with its constants
    added) and of the outputs of the S-boxes.

    The row `inputs[t]` has the coefficients of the t-th S-box's input, and `state[j]` those of lane j after the last
    round: first the coefficients of the 17 lanes, where lane 0 is the input of S-box 0 and counts only there, and then
    those of the S-boxes' outputs.
    """

    inputs: Numbers
    state: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """The rows of one Poseidon permutation, and the constants of each row.

    Row 0 holds the inputs of the Poseidon permutation. A full round has a row for the state s (with the round's
    constants added) and a row for s^2; the state in the next row is M s^5 plus constants. Partial rounds have a row for
    the state and `INNER` rows for x_0^2, x_1, x_1^2, x_2, x_2^2, ..., where x_t is the input of the t-th S-box, and x_0
    is lane 0 of the state. The last row of a Poseidon permutation is its final state. The field `kinds` says for each
    row whether it holds the inputs, the state of a full round or the state of partial rounds (0 means none of these).
    """

    parameters: PoseidonParameters
    kinds: NDArray[np.int64]
    constants: Numbers
    partial: Partial

    @property
    def rows(self) -> int:
        """Return the number of rows that one Poseidon permutation takes."""
        return len(self.kinds)

    @property
    def middle(self) -> range:
        """Return the range of rows from the state before the partial rounds to the row above the state after them."""
        return range(1 + self.parameters.full_rounds, self.rows - 1 - self.parameters.full_rounds)

    def trace(self, inputs: Numbers) -> Numbers:
        """Return the values of the cells, `[rows, 17]`, of a Poseidon permutation with the given inputs."""
        prime = self.parameters.field.prime
        matrix = _matrix(self.parameters)
        cells = np.zeros((self.rows, WIDTH), dtype=object)
        cells[0] = inputs
        for row, kind in enumerate(self.kinds.tolist()):
            state = cells[row]
            if kind == INPUTS:
                cells[row + 1] = (state + self.constants[row]) % prime
            elif kind == FULL:
                cells[row + 1] = state * state % prime
                fifth = cells[row + 1] * cells[row + 1] % prime * state % prime
                cells[row + 2] = (matrix @ fifth + self.constants[row]) % prime
            elif kind == PARTIAL:
                known = [*state[1:].tolist()]
                x = int(state[0])
                for t in range(TOGETHER):
                    if t:
                        down, lane = inner(2 * t - 1)
                        mixed = self.partial.inputs[t, 1 : WIDTH + t] @ np.array(known, dtype=object)
                        x = int(mixed + self.constants[row + down, lane]) % prime
                        cells[row + down, lane] = x
                    square = x * x % prime
                    down, lane = inner(2 * t)
                    cells[row + down, lane] = square
                    known.append(square * square % prime * x % prime)
                after = self.partial.state[:, 1:] @ np.array(known, dtype=object)
                cells[row + INNER + 1] = (after + self.constants[row]) % prime
        return cells


INPUTS, FULL, PARTIAL = 1, 2, 3


def inner(place: int) -> tuple[int, int]:
    """Return the row and the lane of the cell with the number `place` between the states before and after the partial
    rounds; the row is counted downwards from the state before.
    """
    return 1 + place // WIDTH, place % WIDTH


@cache
def _matrix(parameters: PoseidonParameters) -> Numbers:
    return np.array(parameters.matrix, dtype=object)


@cache
def rounds() -> Rounds:
    """Return the rows of the Poseidon permutation that commitments use."""
    parameters = poseidon_parameters(WIDTH)
    prime, matrix = parameters.field.prime, _matrix(parameters)
    half, middle = parameters.full_rounds // 2, parameters.partial_rounds
    assert middle % TOGETHER == 0, "partial rounds fill their rows"
    every = [np.array(line, dtype=object) for line in parameters.constants] + [np.zeros(WIDTH, dtype=object)]
    kinds = [INPUTS, *[FULL, 0] * half, *[PARTIAL, *[0] * INNER] * (middle // TOGETHER), *[FULL, 0] * half, 0]
    constants = np.zeros((len(kinds), WIDTH), dtype=object)
    constants[0] = every[0]
    row, number = 1, 0
    while number < parameters.rounds:
        if parameters.is_full(number):
            constants[row] = every[number + 1]
            number += 1
            row += 2
        else:
            # What the constants alone bring about: the rounds' affine maps applied to 0, S-box outputs left out.
            lanes = np.zeros(WIDTH, dtype=object)
            for t in range(TOGETHER):
                if t:
                    down, lane = inner(2 * t - 1)
                    constants[row + down, lane] = lanes[0]
                lanes[0] = 0
                lanes = (matrix @ lanes + every[number + t + 1]) % prime
            constants[row] = lanes
            number += TOGETHER
            row += INNER + 1
    return Rounds(parameters, np.array(kinds), constants, _partial(matrix, prime))


def _partial(matrix: Numbers, prime: int) -> Partial:
    state: Values = np.zeros((WIDTH, WIDTH + TOGETHER), dtype=object)
    state[:, :WIDTH] = np.eye(WIDTH, dtype=object)
    inputs = np.zeros((TOGETHER, WIDTH + TOGETHER), dtype=object)
    for t in range(TOGETHER):
        inputs[t] = state[0]
        state[0] = 0
        state[0, WIDTH + t] = 1
        state = matrix @ state % prime
    return Partial(inputs, state)
