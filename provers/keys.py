"""Keys and their files: the part that all provers with keys share, and the warning that is written beside insecure
keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, Self, TypeVar

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.reading import read_at_most

PROVING_FILE = "proving.key"
VERIFYING_FILE = "verifying.key"
WARNING_FILE = "INSECURE-DEVELOPMENT-KEYS.txt"

WARNING = (
    "Insecure development keys: whoever made them could have kept the secrets behind them, and with those can "
    "prove anything. Use them to develop and to measure; rely only on keys from a ceremony.\n"
)

KEY_FILES = (
    "proving.key",
    "verifying.key",
    "verification_key.json",
    "program.arrow",
    "INSECURE-DEVELOPMENT-KEYS.txt",
)
"""The names of all files that `setup` writes, by whichever prover."""

Setup = Literal["development", "ceremony"]
"""How a key was made: "development" is insecure, since one machine knew the secrets."""

MOST_VERIFYING = 1 << 26
"""The most bytes of a verifying key, which takes a few kilobytes and 64 bytes for each public value, so that a million
values fit.
"""

K = TypeVar("K")


class NativeVerifyingKey(Protocol):
    """A verifying key in the form of the native prover."""

    @property
    def digest(self) -> bytes:
        """Return the digest, 32 bytes, of the circuit to which the key belongs."""

    @property
    def setup(self) -> Setup:
        """Return "development" or "ceremony": the setup that made the key."""

    def encode(self) -> bytes:
        """Return the bytes of the key's file."""


V = TypeVar("V", bound=NativeVerifyingKey, covariant=True)


@dataclass(frozen=True)
class FiledVerifyingKey(ABC, Generic[V]):
    """A verifying key in the native prover's form, which can be read from a file and written to one. The `setup` of a
    key is "development", which is insecure, or "ceremony".
    """

    native: V

    @property
    def digest(self) -> str:
        """Return the digest of the circuit to which the key belongs, in hexadecimal digits."""
        return self.native.digest.hex()

    @property
    def setup(self) -> Setup:
        """Return "development" or "ceremony": the setup that made the key, of which the first is insecure."""
        return self.native.setup

    @classmethod
    @abstractmethod
    def decode(cls, content: bytes) -> V:
        """Return the native key that the bytes of a key file encode. Raise ValueError for damaged bytes, and for the
        key of another prover.
        """

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the verifying key in a file, or in a folder of keys; its content is checked, and every key has only
        one valid file.

        Raise FormatError for a damaged file, the key of another prover, or a file of more than MOST_VERIFYING bytes.
        """

        def decode(file: Path) -> V:
            return cls.decode(read_at_most(file, MOST_VERIFYING, "a verifying key", "make keys again"))

        return cls(_read(path, VERIFYING_FILE, "verifying key", decode))

    def write(self, path: Path) -> None:
        """Write the key to a file, which appears complete or not at all."""
        write_whole(path, [self.native.encode()])


@dataclass(frozen=True)
class FiledProvingKey(ABC, Generic[K]):
    """A proving key in the native prover's form, which can be read from a file and written to one, and contains its
    verifying key.
    """

    native: K

    @property
    @abstractmethod
    def verifying_key(self) -> FiledVerifyingKey[NativeVerifyingKey]:
        """Return the verifying key, which is a part of the proving key."""

    @classmethod
    @abstractmethod
    def load(cls, path: Path) -> K:
        """Return the native key in a file. Raise ValueError for a damaged file, or the key of another prover."""

    @abstractmethod
    def chunks(self) -> Iterable[bytes]:
        """Return the content of the key's file, in pieces."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the proving key in a file, or in a folder of keys.

        Raise FormatError for a damaged file, or the key of another prover. The checksum of the proving key is verified,
        but its points are not checked to lie in their groups. A proving key must come from a trusted place: a hostile
        key cannot make a false proof pass, but may leak the witness.
        """
        return cls(_read(path, PROVING_FILE, "proving key", cls.load))

    def write(self, path: Path) -> None:
        """Write the key to a file in pieces; the file appears complete or not at all."""
        write_whole(path, self.chunks())

    def write_pair(self, directory: Path) -> None:
        """Write the files `proving.key` and `verifying.key` of a pair of keys."""
        self.write(directory / PROVING_FILE)
        self.verifying_key.write(directory / VERIFYING_FILE)


def write_warning(directory: Path) -> None:
    """Write the warning that belongs beside keys whose secrets one machine knew."""
    write_whole(Path(directory) / WARNING_FILE, [WARNING.encode()])


def _read(path: Path, name: str, kind: str, decode: Callable[[Path], K]) -> K:
    path = Path(path)
    path = path / name if path.is_dir() else path
    try:
        return decode(path)
    except OSError as error:
        raise CircuitizeError(f"cannot read {kind} {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise FormatError(f"{path} is not a sound {kind}: {error}") from error
