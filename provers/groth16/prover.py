"""Making a Groth16 proof that a witness satisfies a constraint system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import circuitize._native as _native
from circuitize.backends.field import BN254
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import require_circuit

from .config import matrices
from .errors import Unsatisfied
from .keys import ProvingKey
from .proof import Proof


def prove(
    system: ConstraintSystem,
    witness: NDArray[np.uint64],
    key: ProvingKey,
    digest: str,
    *,
    progress: Callable[[str], object] | None = None,
) -> Proof:
    """Return a zero-knowledge Groth16 proof that `witness` satisfies `system`, the circuit with the digest `digest`.

    The argument `witness` is an array `uint64[wires, 4]` of little-endian limbs of numbers below r; wire 0 is the
    constant 1. Raise KeyMismatch if the proving key belongs to another circuit, Unsatisfied if the witness breaks a row
    (every row is checked), and CircuitizeError for malformed input. The prover verifies the new proof before it returns
    it.

    Groth16 is the proof system of Groth, "On the Size of Pairing-based Non-interactive Arguments", Eurocrypt 2016,
    section 3.2; the blinding factors come from the operating system. Making a Groth16 proof takes O(n log n) field
    operations and five multi-scalar multiplications, which are cheap if most wires are bits or small signed integers.
    """
    bound = require_circuit(key.verifying_key, digest)
    limbs = limbs_of(witness, system.wires)
    try:
        points, phases = _native.groth16_prove(key.native, matrices(system), limbs, progress)
    except _native.Unsatisfied as error:
        raise Unsatisfied(error.args[0]) from error
    except ValueError as error:
        raise CircuitizeError(f"cannot prove: {error}") from error
    return Proof(bound, points, phases=phases)


def limbs_of(witness: NDArray[np.uint64], wires: int) -> NDArray[np.uint64]:
    """Return a witness as limbs, in the form in which the native provers read it. Raise CircuitizeError unless the
    witness has `wires` wires.
    """
    limbs = np.ascontiguousarray(witness, np.uint64)
    if limbs.shape != (wires, 4):
        raise CircuitizeError(f"expected a witness of shape ({wires}, 4), found {limbs.shape}")
    return limbs


def public_values(system: ConstraintSystem, witness: NDArray[np.uint64]) -> list[int]:
    """Return the values of the public wires, outputs before inputs, each in [0, r)."""
    public = system.public_outputs + system.public_inputs
    return BN254.to_integers(witness[1 : 1 + public])
