"""The check, by small files and before long work, that a folder of keys belongs to a prover and a program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.api.provers import prover_of_key
from circuitize.circuits.errors import CircuitizeError

if TYPE_CHECKING:
    from circuitize.api.provers import Prover

PROVING_FILE, VERIFYING_FILE = "proving.key", "verifying.key"


def verifying_key_file(keys: Path) -> Path:
    """Return the path of the verifying key: the file in a folder of keys, or the given path if it is a file."""
    return keys / VERIFYING_FILE if keys.is_dir() else keys


def require_keys(keys: Path, prover: str, program: str) -> None:
    """Raise CircuitizeError unless the file begins with the bytes of a proving key of the given prover.

    Other faults of a proving key are found when the whole key is read.
    """
    path = keys / PROVING_FILE if keys.is_dir() else keys
    make = _make(program, prover)
    try:
        found = prover_of_key(path)
    except OSError as error:
        raise CircuitizeError(
            f"--keys: expected the folder that circuitize setup wrote, found {error.strerror or error}: {path}; {make}"
        ) from None
    _require_prover(path, prover, found, make)


def require_keys_of(keys: Path, prover: Prover, digest: str, program: str) -> None:
    """Raise CircuitizeError if the verifying key in a folder of keys belongs to another prover or program.

    If the folder has no verifying key, the proving key is checked when it is read.
    """
    path = keys / VERIFYING_FILE
    if not keys.is_dir() or not path.is_file():
        return
    make = _make(program, prover.name)
    _require_prover(path, prover.name, prover_of_key(path), make)
    found = prover.verifying_key(path).digest
    if found != digest:
        raise CircuitizeError(
            f"--keys: expected keys of the program {digest}, found {path} of {found}; give the keys of this program, "
            f"or {make}"
        )


def require_readable(option: str, path: Path | None) -> None:
    """Raise CircuitizeError if a file that is needed only after long work cannot be read. The check that a file can be
    read opens no file, because a pipe can be read only once.
    """
    if path is None:
        return
    found = "no such file" if not path.exists() else "a folder" if path.is_dir() else "no permission to read it"
    if path.is_dir() or not os.access(path, os.R_OK):
        raise CircuitizeError(f"{path}: expected a file for {option}, found {found}; check the path")


def _make(program: str, prover: str) -> str:
    return f"make keys: circuitize setup {program} --prover {prover} -o KEYS"


def _require_prover(path: Path, prover: str, found: str | None, make: str) -> None:
    if found is not None and found != prover:
        raise CircuitizeError(
            f"--keys: expected keys of the prover {prover}, found {path} of {found}; give its keys, or "
            f"--prover {found}, or {make}"
        )
