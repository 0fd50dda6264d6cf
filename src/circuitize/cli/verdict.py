"""Checks of the verifier's inputs on a command line, which may not lie in the prover's folder."""

from __future__ import annotations

from pathlib import Path

from circuitize.circuits.errors import CircuitizeError

RUN_FILE, PROOF_FILE = "run.json", "statement.json"
"""The file that identifies a run's folder, and the file that identifies a proof's."""


def require_digest(digest: str) -> None:
    """Raise CircuitizeError unless the text is the digest of a program."""
    if not (len(digest) == 64 and set(digest.lower()) <= set("0123456789abcdef")):
        raise CircuitizeError(f"--digest: expected 64 hexadecimal digits, found {digest!r}; see circuitize compile")


def require_outside(path: Path, proof: Path) -> None:
    """Raise CircuitizeError if a file that the verifier should hold lies in the folder that the prover wrote."""
    if path.resolve().is_relative_to(proof.resolve()):
        raise CircuitizeError(
            f"{path}: expected the verifier's own key, program and values, found one inside the proof's folder "
            f"{proof}; a prover can write them for an easier program: use what you made, or what you trust"
        )


def require_kind(folder: Path, own: str, other: str, kinds: tuple[str, str], command: str) -> None:
    """Raise CircuitizeError, naming the right command, if a folder has the file of the other kind (proof or run) and
    not that of its own kind.
    """
    if (folder / other).is_file() and not (folder / own).exists():
        raise CircuitizeError(
            f"{folder}: expected {kinds[0]}, found {kinds[1]} (it has {other}); use circuitize {command}"
        )
