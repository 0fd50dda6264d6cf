"""Making a halo2 proof that a witness of two phases satisfies a Plonkish system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import circuitize._native as _native
from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.system import PlonkishSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import require_circuit

from .config import native_system
from .errors import Unsatisfied
from .keys import ProvingKey
from .proof import Proof


class Witness(Protocol):
    """The cells of one run: the instance columns, the advice columns of phase 0, and, once the challenges are known,
    those of phase 1.
    """

    def instance(self) -> Sequence[Limbs]:
        """Return the instance columns of the run."""

    def first(self) -> Sequence[Limbs]:
        """Return the advice columns of phase 0 of the run."""

    def second(self, challenges: Sequence[int]) -> Sequence[Limbs]:
        """Return the advice columns of phase 1 of the run, given the challenges."""


def prove(
    system: PlonkishSystem,
    witness: Witness,
    key: ProvingKey,
    digest: str,
    *,
    progress: Callable[[str], object] | None = None,
) -> Proof:
    """Return a zero-knowledge proof that `witness` satisfies `system`, the circuit of the program with the digest
    `digest`.

    The columns of a witness are arrays `uint64[n, 4]` of little-endian limbs of numbers below r, where n is at most the
    number of the system's rows; cells below the n-th are 0. The method `witness.second` is called once, after the
    prover has committed to phase 0 and the instance. Raise KeyMismatch if the proving key belongs to another program,
    Unsatisfied if the witness breaks the system (every row is checked), and CircuitizeError for malformed input. The
    prover verifies the new proof before it returns it.

    The proof system of halo2 is PLONK's arithmetisation in the form of halo2 (Bowe, Grigg, Hopwood, "Recursive proof
    composition without a trusted setup", 2019), with KZG commitments opened by SHPLONK (Boneh, Drake, Fisch, Gabizon,
    2020). The blinding factors of a halo2 proof come from the operating system.
    """
    bound = require_circuit(key.verifying_key, digest)

    def second(challenges: list[list[int]]) -> list[Limbs]:
        return _columns(witness.second(BN254.to_integers(np.array(challenges, np.uint64))))

    try:
        content, phases = _native.halo2_prove(
            key.native, native_system(system), _columns(witness.instance()), _columns(witness.first()), second, progress
        )
    except _native.Halo2Unsatisfied as error:
        raise Unsatisfied(system, *error.args) from error
    except ValueError as error:
        raise CircuitizeError(f"cannot prove: {error}") from error
    return Proof(bound, content, phases)


def public_values(witness: Witness) -> list[int]:
    """Return the public values of a statement: the values of the instance columns, one column after the other, each in
    [0, r).
    """
    return [value for column in witness.instance() for value in BN254.to_integers(column)]


def _columns(columns: Sequence[NDArray[np.uint64]]) -> list[Limbs]:
    return [np.ascontiguousarray(column, np.uint64) for column in columns]
