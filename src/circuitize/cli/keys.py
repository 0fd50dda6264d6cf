"""Whether a folder of keys is of a prover and a program, told by its small files before there is work."""

from __future__ import annotations

import os
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError

from .provers import KEYS, Prover

PROVING = {b"circuitize-g16pk": "groth16", b"circuitize-mirpk": "mirage", b"circuitize-hl2pk": "halo2"}
"""What the proving key of each prover begins with."""

MAGIC_BYTES = 16


def require_keys(keys: Path, prover: Prover, program: str) -> None:
    """Raises CircuitizeError unless a proving key of this prover lies there, as far as its first bytes tell.

    What else may be wrong with it is found where it is read.
    """
    from circuitize.provers.keys import PROVING_FILE

    path = keys / PROVING_FILE if keys.is_dir() else keys
    make = f"make keys: circuitize setup {program} --prover {prover.name} -o KEYS"
    try:
        with path.open("rb") as file:
            start = file.read(MAGIC_BYTES)
    except OSError as error:
        raise CircuitizeError(
            f"--keys: expected the folder that circuitize setup wrote, found {error.strerror or error}: {path}; {make}"
        ) from None
    _require_prover(path, prover, (PROVING | KEYS).get(start), make)


def require_keys_of(keys: Path, prover: Prover, digest: str, program: str) -> None:
    """Raises CircuitizeError where the verifying key beside the proving key is of another prover or program.

    Where there is none beside it, the proving key itself is asked later.
    """
    from circuitize.provers.keys import VERIFYING_FILE

    path = (keys if keys.is_dir() else keys.parent) / VERIFYING_FILE
    if not keys.is_dir() or not path.is_file():
        return
    make = f"make keys: circuitize setup {program} --prover {prover.name} -o KEYS"
    with path.open("rb") as file:
        _require_prover(path, prover, KEYS.get(file.read(MAGIC_BYTES)), make)
    found = prover.verifying_key(path).digest
    if found != digest:
        raise CircuitizeError(
            f"--keys: expected keys of the program {digest}, found {path} of {found}; give the keys of this program, "
            f"or {make}"
        )


def require_readable(option: str, path: Path | None) -> None:
    """Raises CircuitizeError where a file that is needed after long work cannot be read. Nothing is opened: a pipe is
    read once.
    """
    if path is None:
        return
    found = "no such file" if not path.exists() else "a folder" if path.is_dir() else "no permission to read it"
    if path.is_dir() or not os.access(path, os.R_OK):
        raise CircuitizeError(f"{path}: expected a file for {option}, found {found}; check the path")


def _require_prover(path: Path, prover: Prover, found: str | None, make: str) -> None:
    if found is not None and found != prover.name:
        raise CircuitizeError(
            f"--keys: expected keys of the prover {prover.name}, found {path} of {found}; give its keys, or "
            f"--prover {found}, or {make}"
        )
