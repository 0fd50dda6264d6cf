"""The arrays of a constraint system that the native part of the package borrows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .system import ConstraintSystem, Matrix

MatrixArrays = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]
Arrays = tuple[MatrixArrays, MatrixArrays, MatrixArrays, NDArray[np.uint64], int, int, int]


def borrowed(system: ConstraintSystem) -> Arrays:
    """Return the arrays of a system: the matrices A, B and C, the large coefficients, and the numbers of wires, public
    wires and committed wires.
    """
    three = (_arrays(system.a), _arrays(system.b), _arrays(system.c))
    large = np.ascontiguousarray(system.large, np.uint64)
    return *three, large, system.wires, system.public_outputs + system.public_inputs, system.committed


def _arrays(matrix: Matrix) -> MatrixArrays:
    return (
        np.ascontiguousarray(matrix.offsets, np.int64),
        np.ascontiguousarray(matrix.wires, np.uint32),
        np.ascontiguousarray(matrix.coefficients, np.int64),
    )
