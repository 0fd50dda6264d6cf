"""The proving and verifying keys of Groth16: each key is bound to one circuit by a digest, and says how it was set
up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Literal

from circuitize._native import Groth16ProvingKey, Groth16VerifyingKey, groth16_setup
from circuitize.backends.r1cs.arrays import Arrays
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.provers.binding import digest_bytes
from circuitize.provers.keys import FiledProvingKey, FiledVerifyingKey, write_warning

from .config import matrices
from .snarkjs import verifying_key_text

SNARKJS_FILE = "verification_key.json"


class VerifyingKey(FiledVerifyingKey[Groth16VerifyingKey]):
    """A verifying key of Groth16: a few points, the circuit's digest, and the kind of setup."""

    prover: ClassVar[Literal["groth16", "mirage"]] = "groth16"

    @property
    def public(self) -> int:
        """Return the number of public values that a proof for the key states."""
        return self.native.public

    @classmethod
    def decode(cls, content: bytes) -> Groth16VerifyingKey:
        return Groth16VerifyingKey.decode(content, cls.prover)


class ProvingKey(FiledProvingKey[Groth16ProvingKey]):
    """A proving key of Groth16, held in memory: it has points for every wire. The proving key contains its verifying
    key.
    """

    prover: ClassVar[Literal["groth16", "mirage"]] = "groth16"

    @property
    def verifying_key(self) -> VerifyingKey:
        return VerifyingKey(self.native.verifying_key)

    @classmethod
    def load(cls, path: Path) -> Groth16ProvingKey:
        return Groth16ProvingKey.read(path, cls.prover)

    def chunks(self) -> Iterator[bytes]:
        return self.native.chunks()


def setup(
    system: ConstraintSystem,
    digest: str,
    directory: Path,
    *,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Make INSECURE development keys for `system` in the folder `directory`, bound to `digest` (64 hexadecimal digits).

    The secrets of development keys come from the operating system and are wiped after use, but nobody else can be
    certain of that. With `seed`, which is for tests only, everyone can compute the secrets of the keys. Setup writes
    the files `proving.key` and `verifying.key`, `verification_key.json` for snarkjs, and a warning. The callback
    `progress` is called with the name of each phase of the setup.
    """
    key = ProvingKey(development(matrices(system), digest, directory, seed, progress))
    write_keys(key, Path(directory))
    return key


def development(
    arrays: Arrays, digest: str, directory: Path, seed: bytes | None, progress: Callable[[str], object] | None
) -> Groth16ProvingKey:
    """Make keys whose secrets this machine knew, for a system with or without a commitment, and write a warning beside
    them.
    """
    binding = digest_bytes(digest)
    try:
        native = groth16_setup(arrays, binding, seed, progress)
    except ValueError as error:
        raise CircuitizeError(f"cannot set up keys: {error}") from error
    write_warning(directory)
    return native


def write_keys(key: ProvingKey, directory: Path) -> None:
    """Write the files `proving.key` and `verifying.key`, and `verification_key.json` for snarkjs."""
    key.write_pair(directory)
    write_whole(directory / SNARKJS_FILE, [verifying_key_text(key.verifying_key).encode()])
