"""The input of Groth16: a constraint system over BN254 as arrays."""

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
    """One of the matrices A, B, C in compressed sparse rows.

    A coefficient below 2^62 in magnitude is that integer modulo r; from 2^62 on it is an index into `large`.
    """

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Return where each row starts among the coefficients, and their number last."""

    @property
    def wires(self) -> NDArray[np.uint32]:
        """Return the wire of each coefficient, strictly ascending in a row."""

    @property
    def coefficients(self) -> NDArray[np.int64]:
        """Return the coefficients, row by row."""


class PrimeField(Protocol):
    """A prime field, of which only the prime is needed."""

    @property
    def prime(self) -> int:
        """Return the number of elements of the field."""


class System(Protocol):
    """Rows (A w) * (B w) = C w over the wires: constant 1, public outputs, public inputs, private wires.

    The number `committed` of private wires is committed to before the last public wire, a challenge, is drawn; without
    a challenge it is 0.
    """

    @property
    def field(self) -> PrimeField:
        """Return the field, which must be the scalar field of BN254."""

    @property
    def a(self) -> Matrix:
        """Return the matrix A."""

    @property
    def b(self) -> Matrix:
        """Return the matrix B."""

    @property
    def c(self) -> Matrix:
        """Return the matrix C."""

    @property
    def large(self) -> NDArray[np.uint64]:
        """Return the coefficients that are not small: four 64-bit limbs each, the lowest first."""

    @property
    def wires(self) -> int:
        """Return the number of wires, the constant 1 included."""

    @property
    def public_outputs(self) -> int:
        """Return the number of public outputs, the wires after the constant 1."""

    @property
    def public_inputs(self) -> int:
        """Return the number of public inputs, the wires after the public outputs."""

    @property
    def committed(self) -> int:
        """Return the number of private wires to commit to before the challenge is drawn."""


Arrays = tuple[MatrixArrays, MatrixArrays, MatrixArrays, NDArray[np.uint64], int, int, int]


def matrices(system: System) -> Arrays:
    """The matrices A, B and C, the large coefficients, and how many wires, publics and committed wires, which the
    native prover borrows.

    Raise CircuitizeError for a system over another field, and for one whose challenge only a commitment makes sound.
    """
    if system.committed:
        raise CircuitizeError(
            f"Groth16: expected a system of one phase, found {system.committed} committed wires, whose "
            "challenge a prover could choose here; remedy: use the prover mirage, or emit the circuit without them"
        )
    return arrays(system)


def arrays(system: System) -> Arrays:
    """The arrays that `matrices` returns, for systems of either kind; raise CircuitizeError for a system without public
    wires too.

    Soundness: a proof for a system without public values says only that some witness exists. A challenge as the only
    public value shows nothing.
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
