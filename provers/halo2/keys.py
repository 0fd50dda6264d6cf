"""Keys for halo2: each is bound to a program by a digest, and to the program's circuit by commitments to its fixed
columns and copies.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

from circuitize._native import Halo2ProvingKey, Halo2VerifyingKey, halo2_setup
from circuitize.backends.plonkish.system import PlonkishSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import digest_bytes
from circuitize.provers.keys import FiledProvingKey, FiledVerifyingKey, write_warning

from .config import native_system
from .powers import read_powers


class VerifyingKey(FiledVerifyingKey[Halo2VerifyingKey]):
    """A verifying key of halo2: the circuit's gates and lookups, commitments to its fixed columns and copies, and tau
    in G2.
    """

    prover: ClassVar[Literal["halo2"]] = "halo2"

    @property
    def public(self) -> int:
        """Return the number of public values that a proof for the key states."""
        return sum(self.native.instances)

    @classmethod
    def decode(cls, content: bytes) -> Halo2VerifyingKey:
        return Halo2VerifyingKey.decode(content)


class ProvingKey(FiledProvingKey[Halo2ProvingKey]):
    """A proving key of halo2: its verifying key, and the powers of tau in the monomial and in the Lagrange basis."""

    prover: ClassVar[Literal["halo2"]] = "halo2"

    @property
    def verifying_key(self) -> VerifyingKey:
        return VerifyingKey(self.native.verifying_key)

    @classmethod
    def load(cls, path: Path) -> Halo2ProvingKey:
        return Halo2ProvingKey.read(path)

    def chunks(self) -> list[bytes]:
        return self.native.encode()


def setup(
    system: PlonkishSystem,
    digest: str,
    directory: Path,
    *,
    ptau: Path | None = None,
    seed: bytes | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProvingKey:
    """Make keys for `system` in the folder `directory`, bound to `digest` (64 hexadecimal digits).

    Without `ptau`, halo2's keys are INSECURE development keys: tau comes from the operating system and is wiped after
    use, but nobody else can be certain of that; with `seed`, which is for tests only, everyone can compute tau. With
    `ptau`, a prepared powers-of-tau file of a ceremony, the keys count as a ceremony's: `powers.py` checks that the
    powers in the file are those of a single secret. Setup writes the files `proving.key` and `verifying.key`, and a
    warning if the keys are insecure.
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
    key.write_pair(directory)
    return key
