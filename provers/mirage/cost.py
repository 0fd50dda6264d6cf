"""The bytes, time and memory of Groth16 and Mirage proofs, computed from the sizes of the constraint system alone."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from circuitize.provers.groth16.proof import Proof as Groth16Proof

from .proof import Proof

GROTH16 = (0.125, 3.8e-6, 0.0, 7.3e-7), (6.8e7, 340.0, 450.0, 17.8)
MIRAGE = (0.108, 1.67e-6, 7.15e-6, 6.5e-7), (6.6e7, 306.0, 394.0, 26.8)
"""The processor seconds of a proof, and its bytes of memory: a constant, and the cost of a point of the domain, of a
wire, and of a nonzero.

The seconds of Groth16 and Mirage proofs are fitted to 11 and 12 proofs of 9 to 396 thousand rows, without the witness,
on two cores of an AMD EPYC, within 13 % and 6 %. The memory of the command that proves by Groth16 or Mirage is fitted
to 7 proofs each, within 2 %.
"""


def sizes(counted: Mapping[str, int], two_phases: bool) -> dict[str, float]:
    """Return the exact bytes of a proof, and the prover's expected seconds and memory, for a constraint system of the
    given sizes.

    The argument `counted` holds the sizes that `estimate` of `backends/r1cs/cost.py` counts; with `two_phases` the
    prover is Mirage, otherwise Groth16.
    """
    domain = 1 << (counted["constraints"] - 1).bit_length()
    work = 1.0, domain, counted["wires"], counted["nonzeros"]
    seconds, memory = (sum(map(prod, zip(own, work, strict=True))) for own in (MIRAGE if two_phases else GROTH16))
    return {
        "proof_bytes": proof_bytes(two_phases),
        "prover_cpu_seconds": round(seconds, 3),
        "prover_bytes": round(memory),
    }


def proof_bytes(two_phases: bool) -> int:
    """Return the length of a proof's file, which is the same for every constraint system."""
    return (Proof if two_phases else Groth16Proof).file_bytes
