"""Proving and verifying keys: each is bound to one circuit by its digest, and says how it was set up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Literal

from circuitize._native import Groth16ProvingKey, Groth16VerifyingKey, groth16_setup
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.provers.binding import digest_bytes
from circuitize.provers.keys import FiledProvingKey, FiledVerifyingKey, write_warning

from .config import Arrays, System, matrices
from .snarkjs import verifying_key_text

SNARKJS_FILE = "verification_key.json"


class VerifyingKey(FiledVerifyingKey[Groth16VerifyingKey]):
    """A verifying key of Groth16: a few points, the circuit's digest, and the kind of setup."""

    prover: ClassVar[Literal["groth16", "mirage"]] = "groth16"

    @property
    def public(self) -> int:
        """How many public values a proof for the key has."""
        return self.native.public

    @classmethod
    def decode(cls, content: bytes) -> Groth16VerifyingKey:
        return Groth16VerifyingKey.decode(content, cls.prover)


class ProvingKey(FiledProvingKey[Groth16ProvingKey]):
    """A proving key of Groth16: points for every wire, in memory. The proving key contains its verifying key."""

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
    system: System,
    digest: str,
    directory: Path,
    *,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Make INSECURE development keys for `system` in `directory`, bound to `digest` (64 hexadecimal digits).

    The secrets of the keys come from the operating system and are wiped after use, of which nobody else can be certain.
    With `seed` (tests only) everyone can compute the secrets. Setup writes `proving.key`, `verifying.key`,
    `verification_key.json` for snarkjs, and a warning. The callback `progress` of a setup is called with the name of
    each phase.
    """
    key = ProvingKey(development(matrices(system), digest, directory, seed, progress))
    write_keys(key, Path(directory))
    return key


def development(
    arrays: Arrays, digest: str, directory: Path, seed: bytes | None, progress: Callable[[str], object] | None
) -> Groth16ProvingKey:
    """Make keys whose secrets this machine knows, for a system of either kind; and write the warning beside them."""
    binding = digest_bytes(digest)
    try:
        native = groth16_setup(arrays, binding, seed, progress)
    except ValueError as error:
        raise CircuitizeError(f"cannot set up keys: {error}") from error
    write_warning(directory)
    return native


def write_keys(key: ProvingKey, directory: Path) -> None:
    """Write `proving.key`, `verifying.key` and `verification_key.json` for snarkjs."""
    key.write_pair(directory)
    write_whole(directory / SNARKJS_FILE, [verifying_key_text(key.verifying_key).encode()])
