"""Files of keys: their names in a folder, how one is read, and the warning beside insecure ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

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
"""Everything that `setup` writes, by whichever prover."""

Setup = Literal["development", "ceremony"]
"""How a key was made: "development" is insecure, one machine knew the secrets."""

MOST_VERIFYING = 1 << 26
"""A verifying key has a few kilobytes, and 64 bytes for each public value: a million of them fit."""

K = TypeVar("K")


def read_proving(path: Path, decode: Callable[[Path], K]) -> K:
    """A proving key from its file, or from the one in a folder of keys.

    `decode` raises ValueError for a damaged file, or another prover's: here that is a FormatError. A file that cannot
    be read is a CircuitizeError.
    """
    return _read(path, PROVING_FILE, "proving key", decode)


def read_verifying(path: Path, decode: Callable[[Path], K]) -> K:
    """A verifying key, as `read_proving` reads a proving key."""
    return _read(path, VERIFYING_FILE, "verifying key", decode)


def key_bytes(path: Path) -> bytes:
    """The bytes of a verifying key's file, of MOST_VERIFYING at most. Raises FormatError for a longer one, unread."""
    return read_at_most(path, MOST_VERIFYING, "a verifying key", "make keys again")


def write_warning(directory: Path) -> None:
    """The warning that goes beside keys whose secrets one machine knew."""
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
