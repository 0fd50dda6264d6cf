"""What a verifier may be given on the command line, and in which folders it is looked for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError, FormatError

RUN_FILE, PROOF_FILE = "run.json", "statement.json"
"""The file that makes a folder one of a run, or one of a proof."""


def require_digest(digest: str) -> None:
    """Raises CircuitizeError unless this is the digest of a program."""
    if not (len(digest) == 64 and set(digest.lower()) <= set("0123456789abcdef")):
        raise CircuitizeError(f"--digest: expected 64 hexadecimal digits, found {digest!r}; see circuitize compile")


def require_outside(path: Path, proof: Path) -> None:
    """Raises CircuitizeError where what the verifier should hold lies in the folder that the prover wrote."""
    if path.resolve().is_relative_to(proof.resolve()):
        raise CircuitizeError(
            f"{path}: expected the verifier's own key, program and values, found one inside the proof's folder "
            f"{proof}; a prover can write them for an easier program: use what you made, or what you trust"
        )


def require_files(folder: Path) -> None:
    """Raises CircuitizeError where a folder that a prover wrote holds what is no file, such as a pipe, on which reading
    would wait for ever.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        odd = [entry.path for entry in entries if not entry.is_file() and not entry.is_dir() and Path(entry).exists()]
        if odd:
            raise FormatError(f"{odd[0]}: expected a file, found a device or a pipe; ask for the proof again")


def require_kind(folder: Path, own: str, other: str, kinds: tuple[str, str], command: str) -> None:
    """Raises CircuitizeError where a folder has the other kind's file and not its own: another command is for it."""
    if (folder / other).is_file() and not (folder / own).exists():
        raise CircuitizeError(
            f"{folder}: expected {kinds[0]}, found {kinds[1]} (it has {other}); use circuitize {command}"
        )
