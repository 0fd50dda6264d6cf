"""The input of the Groth16 prover: a constraint system over BN254 as arrays."""

from __future__ import annotations

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.arrays import Arrays, borrowed
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import require_publics

SCALAR_PRIME = BN254.prime
"""The order r of both groups: wires are integers modulo r."""

COORDINATE_PRIME = 21888242871839275222246405745257275088696311157297823662689037894645226208583
"""The prime q of the field in which the coordinates of BN254's points lie."""


def matrices(system: ConstraintSystem) -> Arrays:
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


def arrays(system: ConstraintSystem) -> Arrays:
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
    public = system.public_outputs + system.public_inputs
    if not system.committed or public:
        require_publics(public - bool(system.committed))
    return borrowed(system)
