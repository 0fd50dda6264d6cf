"""Keys for halo2: bound to a program by its digest, and to its circuit by commitments to the columns of both kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from circuitize._native import Halo2ProvingKey, Halo2VerifyingKey, halo2_setup
from circuitize.backends.plonkish.system import PlonkishSystem
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

from .config import native_system
from .powers import read_powers


@dataclass(frozen=True)
class VerifyingKey:
    """What a verifier holds: the circuit's gates and lookups, commitments to its fixed columns and copies, tau in G2.

    `setup` is "development" (insecure: one machine knew the secret) or "ceremony".
    """

    native: Halo2VerifyingKey
    prover: ClassVar[Literal["halo2"]] = "halo2"

    @property
    def digest(self) -> str:
        return self.native.digest.hex()

    @property
    def setup(self) -> Setup:
        return self.native.setup

    @property
    def public(self) -> int:
        """How many public values a proof is checked against."""
        return sum(self.native.instances)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads a verifying key, or the one in a folder of keys; what it holds is checked, and has one form only.

        Raises FormatError for a damaged file, or another prover's.
        """
        return cls(read_verifying(path, _decode))

    def write(self, path: Path) -> None:
        write_whole(path, [self.native.encode()])


@dataclass(frozen=True)
class ProvingKey:
    """What a prover holds besides the circuit: its verifying key, and the powers of tau in both bases."""

    native: Halo2ProvingKey
    prover: ClassVar[Literal["halo2"]] = "halo2"

    @property
    def verifying_key(self) -> VerifyingKey:
        return VerifyingKey(self.native.verifying_key)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads a proving key, or the one in a folder of keys.

        Raises FormatError for a damaged file, or another prover's. The checksum is verified; the powers are not checked
        to lie in their group. A proving key must come from a trusted place: a hostile one cannot make a false proof
        pass, but may leak the witness.
        """
        return cls(read_proving(path, Halo2ProvingKey.read))

    def write(self, path: Path) -> None:
        write_whole(path, self.native.encode())


def setup(
    system: PlonkishSystem,
    digest: str,
    directory: Path,
    *,
    ptau: Path | None = None,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Makes keys for `system` in `directory`, bound to `digest` (64 hexadecimal digits).

    Without `ptau` they are INSECURE development keys: tau comes from the operating system and is wiped after use, but
    nobody else can know that; with `seed` (tests only) everyone can compute it. With `ptau`, a prepared powers-of-tau
    file of a ceremony, they are a ceremony's: its powers are checked to be powers of one secret (`powers.py`). Writes
    `proving.key`, `verifying.key` and, where insecure, a warning.
    """
    native = native_system(system)
    powers = None if ptau is None else read_powers(ptau, native.k)
    try:
        key = ProvingKey(halo2_setup(native, digest_bytes(digest), seed, powers, progress))
    except ValueError as error:
        where = "cannot set up halo2 keys" if ptau is None else f"{ptau}: expected a ceremony's powers of tau, found"
        raise CircuitizeError(f"{where}: {error}") from error
    directory = Path(directory)
    if ptau is None:
        write_warning(directory)
    key.write(directory / PROVING_FILE)
    key.verifying_key.write(directory / VERIFYING_FILE)
    return key


def _decode(path: Path) -> Halo2VerifyingKey:
    return Halo2VerifyingKey.decode(key_bytes(path))
