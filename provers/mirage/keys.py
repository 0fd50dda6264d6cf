"""The keys of Mirage, which is Groth16 with a commitment: each key is bound to one circuit by a digest, and plain
Groth16 refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

from circuitize.backends.r1cs.arrays import Arrays
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16 import keys as groth16
from circuitize.provers.groth16.config import arrays


class VerifyingKey(groth16.VerifyingKey):
    """A verifying key of Mirage: that of Groth16, and the point with which the commitment is paired."""

    prover: ClassVar[Literal["groth16", "mirage"]] = "mirage"

    @property
    def public(self) -> int:
        """Return the number of public values that a proof for the key states; the challenge, which the verifier
        computes, is not counted.
        """
        return self.native.public - 1


class ProvingKey(groth16.ProvingKey):
    """A proving key of Mirage: that of Groth16, and the points from which the commitment is made."""

    prover: ClassVar[Literal["groth16", "mirage"]] = "mirage"

    @property
    def verifying_key(self) -> VerifyingKey:
        """Return the verifying key, which is a part of the proving key."""
        return VerifyingKey(self.native.verifying_key)


def setup(
    system: ConstraintSystem,
    digest: str,
    directory: Path,
    *,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Make INSECURE development keys for `system` in the folder `directory`, bound to `digest` (64 hexadecimal digits).

    Mirage commits to the first `system.committed` private wires before the last public wire, the challenge, is drawn.
    Setup writes the files `proving.key` and `verifying.key`, and a warning; in all else, Mirage's setup equals
    `groth16.keys.setup`.
    """
    key = ProvingKey(groth16.development(committing(system), digest, directory, seed, progress))
    key.write_pair(Path(directory))
    return key


def committing(system: ConstraintSystem) -> Arrays:
    """Return the same arrays as `groth16.config.matrices`, for a system of two phases.

    Raise CircuitizeError for a system over another field, and for a system without wires to commit to.
    """
    if not system.committed:
        raise CircuitizeError(
            "Mirage: expected a system with committed wires and a challenge, found one of a single phase; remedy: use "
            "the prover groth16, or emit the circuit with committed wires"
        )
    return arrays(system)
