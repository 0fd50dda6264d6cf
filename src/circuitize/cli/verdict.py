"""What a verifier of one proof may be given, and what is reported of the verdict."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.program import Port, Visibility
from circuitize.provers.statement import Key, Statement, public_report

ASK_AGAIN = "ask for the proof again"
RUN_FILE = "run.json"
"""The file that makes a folder one of a run."""


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
            raise FormatError(f"{odd[0]}: expected a file, found a device or a pipe; {ASK_AGAIN}")


def require_kind(folder: Path, own: str, other: str, kinds: tuple[str, str], command: str) -> None:
    """Raises CircuitizeError where a folder has the other kind's file and not its own: another command is for it."""
    if (folder / other).is_file() and not (folder / own).exists():
        raise CircuitizeError(
            f"{folder}: expected {kinds[0]}, found {kinds[1]} (it has {other}); use circuitize {command}"
        )


@contextmanager
def remedy(text: str) -> Iterator[None]:
    """Errors of the block that name no remedy end with this one."""
    try:
        yield
    except CircuitizeError as error:
        told = str(error)
        raise type(error)(told if ";" in told else f"{told}; {text}") from None


def verdict(
    digest: str,
    reason: str | None,
    statement: Statement,
    bound: Iterable[tuple[Key, Port]],
    names: Mapping[Key, str],
    *,
    setup: str,
    zero_knowledge: bool,
) -> dict[str, Any]:
    """What --json prints; of what an invalid proof states, nothing. `bound` is what a valid one is about."""
    publics: dict[str, Any] = {}
    roots: dict[str, str] = {}
    for key, port in bound if reason is None else ():
        if port.visibility is Visibility.COMMITTED:
            roots[names[key]] = hex(statement.roots[key])
        else:
            publics[names[key]] = public_report(port, statement.publics[key])
    return {
        "valid": reason is None,
        "digest": digest,
        "publics": publics,
        "roots": roots,
        "setup": setup,
        "zero_knowledge": zero_knowledge,
        "reason": reason,
    }
