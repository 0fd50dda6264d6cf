"""The input of the Groth16 prover: a constraint system over BN254 as arrays."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.field import BN254
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import require_publics

SCALAR_PRIME = BN254.prime
"""The order r of both groups: wires are integers modulo r."""

COORDINATE_PRIME = 21888242871839275222246405745257275088696311157297823662689037894645226208583
"""The prime q of the field in which the coordinates of BN254's points lie."""

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
        """Return the field of the system, which must be the scalar field of BN254."""

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


def matrices(system: System) -> Arrays:
    """Return the arrays that the native prover borrows: the matrices A, B and C, the large coefficients, and the
    numbers of wires, public wires and committed wires.

    Raise CircuitizeError for a system over another field, and for a system whose challenge is sound only with a
    commitment.
    """
    if system.committed:
        raise CircuitizeError(
            f"Groth16: expected a system of one phase, found {system.committed} committed wires, whose "
            "challenge a prover could choose here; remedy: use the prover mirage, or emit the circuit without them"
        )
    return arrays(system)


def arrays(system: System) -> Arrays:
    """Return the same arrays as `matrices`, also for systems with a commitment; raise CircuitizeError for a system
    without public wires.

    Soundness: a proof for a system without public values says only that some witness exists. A proof whose only public
    value is a challenge shows nothing either.
    """
    if system.field.prime != SCALAR_PRIME:
        raise CircuitizeError(
            f"Groth16 here works over BN254, expected its scalar field {SCALAR_PRIME}, found a system over "
            f"{system.field.prime}; remedy: emit the circuit over BN254"
        )
    large = np.ascontiguousarray(system.large, np.uint64)
    public = system.public_outputs + system.public_inputs
    if not system.committed or public:
        require_publics(public - bool(system.committed))
    three = (_arrays(system.a), _arrays(system.b), _arrays(system.c))
    return *three, large, system.wires, public, system.committed


def _arrays(matrix: Matrix) -> MatrixArrays:
    return (
        np.ascontiguousarray(matrix.offsets, np.int64),
        np.ascontiguousarray(matrix.wires, np.uint32),
        np.ascontiguousarray(matrix.coefficients, np.int64),
    )
