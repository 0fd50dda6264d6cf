"""The Poseidon hash of field elements, computed in the same way as by circom and circomlibjs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...poseidon_constants import PoseidonParameters, poseidon_parameters

Numbers = NDArray[np.object_]
"""An array of Python integers in [0, prime)."""


def poseidon(inputs: Sequence[int], capacity: int = 0) -> int:
    """Return the Poseidon hash of 1 to 16 elements of BN254 (integers are reduced modulo the prime); `capacity` is the
    initial value of the first lane.

    Raise CircuitizeError for a number of inputs outside 1 to 16. A hash of 16 inputs takes about 2 ms;
    PoseidonTemplate.trace is faster for many hashes at once.
    """
    parameters = poseidon_parameters(len(inputs) + 1)
    return int(permute(np.array([[capacity, *inputs]], dtype=object), parameters)[0, 0])


def permute(states: Numbers, parameters: PoseidonParameters) -> Numbers:
    """Return the Poseidon permutation of each row of `states`, `object[n, width]`, computed round by round from the
    definition.
    """
    prime = parameters.field.prime
    matrix = np.array(parameters.matrix, dtype=object).T
    for number, constants in enumerate(parameters.constants):
        states = (states + np.array(constants, dtype=object)) % prime
        lanes = slice(None) if parameters.is_full(number) else slice(0, 1)
        states[:, lanes] = states[:, lanes] ** 5
        states = states @ matrix % prime
    return states
