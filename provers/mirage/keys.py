"""Keys of Groth16 with a commitment: each is bound to one circuit by its digest, and refused by plain Groth16."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16 import keys as groth16
from circuitize.provers.groth16.config import Arrays, System, arrays


class VerifyingKey(groth16.VerifyingKey):
    """Groth16's verifying key, and the point with which the commitment is paired."""

    prover: ClassVar[Literal["groth16", "mirage"]] = "mirage"

    @property
    def public(self) -> int:
        """How many public values a proof for the key has; the challenge, which the verifier computes, is not
        counted.
        """
        return self.native.public - 1


class ProvingKey(groth16.ProvingKey):
    """Groth16's proving key, and the points from which the commitment is made."""

    prover: ClassVar[Literal["groth16", "mirage"]] = "mirage"

    @property
    def verifying_key(self) -> VerifyingKey:
        """Return the verifying key, which is a part of the proving key."""
        return VerifyingKey(self.native.verifying_key)


def setup(
    system: System,
    digest: str,
    directory: Path,
    *,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Make INSECURE development keys for `system` in `directory`, bound to `digest` (64 hexadecimal digits).

    The first `system.committed` private wires are committed to before the last public wire is drawn. Setup writes
    `proving.key`, `verifying.key` and a warning; otherwise Mirage's setup equals `groth16.keys.setup`.
    """
    key = ProvingKey(groth16.development(committing(system), digest, directory, seed, progress))
    key.write_pair(Path(directory))
    return key


def committing(system: System) -> Arrays:
    """The arrays that `groth16.config.matrices` returns, for a system of two phases.

    Raise CircuitizeError for a system over another field, and for one that commits to nothing.
    """
    if not system.committed:
        raise CircuitizeError(
            "Mirage: expected a system with committed wires and a challenge, found one of a single phase; remedy: use "
            "the prover groth16, or emit the circuit with committed wires"
        )
    return arrays(system)
