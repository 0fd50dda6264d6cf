"""Proving and verifying keys: each is bound to one circuit by its digest, and says how it was set up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from circuitize._native import Groth16ProvingKey, Groth16VerifyingKey, groth16_setup
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.provers.binding import digest_bytes
from circuitize.provers.keys import (
    PROVING_FILE,
    VERIFYING_FILE,
    Setup,
    key_bytes,
    read_proving,
    read_verifying,
    write_warning,
)

from .config import Arrays, System, matrices
from .snarkjs import verifying_key_text

SNARKJS_FILE = "verification_key.json"


@dataclass(frozen=True)
class VerifyingKey:
    """What a verifier holds: a few points, the circuit's digest, and the kind of setup.

    `setup` is "development" (insecure: one machine knew the secrets) or "ceremony".
    """

    native: Groth16VerifyingKey
    prover: ClassVar[Literal["groth16", "mirage"]] = "groth16"

    @property
    def digest(self) -> str:
        return self.native.digest.hex()

    @property
    def setup(self) -> Setup:
        return self.native.setup

    @property
    def public(self) -> int:
        """How many public values a proof is checked against."""
        return self.native.public

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads a verifying key, or the one in a folder of keys.

        Every point is checked to lie in its group. Raises FormatError for a damaged file, or another prover's.
        """
        return cls(read_verifying(path, lambda file: Groth16VerifyingKey.decode(key_bytes(file), cls.prover)))

    def write(self, path: Path) -> None:
        write_whole(path, [self.native.encode()])


@dataclass(frozen=True)
class ProvingKey:
    """What a prover holds: points for every wire, in memory. It contains its verifying key."""

    native: Groth16ProvingKey
    prover: ClassVar[Literal["groth16", "mirage"]] = "groth16"

    @property
    def verifying_key(self) -> VerifyingKey:
        return VerifyingKey(self.native.verifying_key)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads a proving key, or the one in a folder of keys.

        Raises FormatError for a damaged file, or another prover's.

        The checksum is verified; the points are not checked to lie in their groups. A proving key must come
        from a trusted place: a hostile one cannot make a false proof pass, but may leak the witness.
        """
        return cls(read_proving(path, lambda file: Groth16ProvingKey.read(file, cls.prover)))

    def write(self, path: Path) -> None:
        write_whole(path, self.native.chunks())


def setup(
    system: System,
    digest: str,
    directory: Path,
    *,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Makes INSECURE development keys for `system` in `directory`, bound to `digest` (64 hexadecimal digits).

    The secrets come from the operating system and are wiped after use, but nobody else can know that. With
    `seed` (tests only) everyone can compute them. Writes `proving.key`, `verifying.key`,
    `verification_key.json` for snarkjs, and a warning. `progress` is called with the name of each phase.
    """
    key = ProvingKey(development(matrices(system), digest, directory, seed, progress))
    write_keys(key, Path(directory))
    return key


def development(
    arrays: Arrays, digest: str, directory: Path, seed: bytes | None, progress: Callable[[str], object] | None
) -> Groth16ProvingKey:
    """Keys whose secrets this machine knew, for a system of either kind; the warning that goes beside them."""
    binding = digest_bytes(digest)
    try:
        native = groth16_setup(arrays, binding, seed, progress)
    except ValueError as error:
        raise CircuitizeError(f"cannot set up keys: {error}") from error
    write_warning(directory)
    return native


def write_keys(key: ProvingKey, directory: Path) -> None:
    """Writes `proving.key`, `verifying.key` and `verification_key.json` for snarkjs."""
    key.write(directory / PROVING_FILE)
    key.verifying_key.write(directory / VERIFYING_FILE)
    write_whole(directory / SNARKJS_FILE, [verifying_key_text(key.verifying_key).encode()])
