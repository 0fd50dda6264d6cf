"""The arrays of a constraint system that the native part of the package borrows."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MatrixArrays = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]


class Matrix(Protocol):
    """One of the matrices A, B and C of a constraint system, as compressed sparse rows.

    A coefficient below 2^62 in magnitude stands for that integer modulo r; a coefficient from 2^62 on is an index into
    `large`.
    """

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Return the index of each row's first coefficient, followed by the number of all coefficients."""

    @property
    def wires(self) -> NDArray[np.uint32]:
        """Return the wire of each coefficient, in strictly ascending order within a row."""

    @property
    def coefficients(self) -> NDArray[np.int64]:
        """Return the coefficients of the matrix, row by row."""


class PrimeField(Protocol):
    """A prime field, of which only the prime is used here."""

    @property
    def prime(self) -> int:
        """Return the number of elements of the field."""


class System(Protocol):
    """A rank-one constraint system: rows (A w) * (B w) = C w over the wires w, which are the constant 1, public
    outputs, public inputs and private wires.

    The first `committed` private wires are committed to before a challenge, the last public wire, is drawn; in a system
    without a challenge, `committed` is 0.
    """

    @property
    def field(self) -> PrimeField:
        """Return the field of the system."""

    @property
    def a(self) -> Matrix:
        """Return the matrix A of the system."""

    @property
    def b(self) -> Matrix:
        """Return the matrix B of the system."""

    @property
    def c(self) -> Matrix:
        """Return the matrix C of the system."""

    @property
    def large(self) -> NDArray[np.uint64]:
        """Return the system's coefficients that are not small, each as four 64-bit limbs, the lowest limb first."""

    @property
    def wires(self) -> int:
        """Return the number of wires, including the constant 1."""

    @property
    def public_outputs(self) -> int:
        """Return the number of public outputs, which are the wires after the constant 1."""

    @property
    def public_inputs(self) -> int:
        """Return the number of public inputs, which are the wires after the public outputs."""

    @property
    def committed(self) -> int:
        """Return the number of private wires to which the prover commits before the challenge is drawn."""


Arrays = tuple[MatrixArrays, MatrixArrays, MatrixArrays, NDArray[np.uint64], int, int, int]


def borrowed(system: System) -> Arrays:
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
