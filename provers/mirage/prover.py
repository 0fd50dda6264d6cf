"""Making a Mirage proof that a witness of two phases satisfies a constraint system: first the commitment, then the
challenge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import circuitize._native as _native
from circuitize.backends.field import Limbs
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import require_circuit
from circuitize.provers.groth16.errors import Unsatisfied
from circuitize.provers.groth16.prover import limbs_of
from circuitize.provers.groth16.prover import public_values as all_public_values

from .keys import ProvingKey, committing
from .proof import Proof

Challenge = Callable[[Limbs], int]
Witness = Callable[[Challenge], Limbs]


def prove(
    system: ConstraintSystem,
    witness: Witness,
    key: ProvingKey,
    digest: str,
    *,
    progress: Callable[[str], object] | None = None,
) -> Proof:
    """Return a zero-knowledge proof that some witness satisfies `system`, whose challenge is drawn after the first
    phase of the witness.

    The function `witness` is called once, with a function that draws the challenge: it calls that function once with
    the first part of the witness, `uint64[1 + publics + committed, 4]` with 0 for the challenge, gets the challenge,
    and returns the whole witness, `uint64[wires, 4]`. Raise KeyMismatch if the proving key belongs to another circuit,
    Unsatisfied if the witness breaks a row, and CircuitizeError for malformed input, or if the whole witness
    contradicts the part that was committed to. The prover verifies the new proof before it returns it.

    Mirage is the construction of Kosba, Papadopoulos, Papamanthou and Song, "MIRAGE", USENIX Security 2020, section 3.
    A Mirage proof takes one multi-scalar multiplication more than a Groth16 proof, over the committed wires, which are
    left out of the multiplication for the point C.
    """
    bound = require_circuit(key.verifying_key, digest)
    arguments = committing(system)
    drawn: list[_native.MirageCommitment] = []

    def challenge(first: Limbs) -> int:
        if drawn:
            raise CircuitizeError("cannot prove: the challenge was drawn already; a witness draws it once")
        try:
            drawn.append(_native.mirage_commit(key.native, limbs_of(first, 1 + sum(arguments[-2:]))))
        except ValueError as error:
            raise CircuitizeError(f"cannot commit: {error}") from error
        return int.from_bytes(drawn[0].challenge, "little")

    limbs = limbs_of(witness(challenge), system.wires)
    if not drawn:
        raise CircuitizeError("cannot prove: the witness was made without drawing its challenge")
    try:
        points, phases = _native.mirage_prove(key.native, arguments, limbs, drawn[0], progress)
    except _native.Unsatisfied as error:
        raise Unsatisfied(error.args[0]) from error
    except ValueError as error:
        raise CircuitizeError(f"cannot prove: {error}") from error
    return Proof(bound, points, phases=phases)


def public_values(system: ConstraintSystem, witness: Limbs) -> Sequence[int]:
    """Return the values of the public wires except the challenge, outputs before inputs, each in [0, r)."""
    return all_public_values(system, witness)[:-1]
