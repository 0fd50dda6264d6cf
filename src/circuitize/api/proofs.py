"""A proof that was just made, with the values that its prover keeps."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import require_folder, require_new_file, whole_file, whole_folder
from circuitize.circuits.phases import Phases
from circuitize.provers.contract import Proved, Prover
from circuitize.provers.openings import KEPT, Opening, write_openings
from circuitize.provers.statement import FILE, Key, Statement, proof_files

from .exact import Exact, Reals, reals_of


@dataclass(frozen=True)
class Proof:
    """A Proof: the proof and its statement, for others, and `outputs` and `openings`, which the prover keeps."""

    exact: Exact
    prover: Prover
    proved: Proved
    files: Mapping[str, bytes]
    scheme: str
    phases: Phases
    written: list[Path] = field(default_factory=list, compare=False)

    @property
    def digest(self) -> str:
        """The digest of the program that was proved."""
        return self.exact.digest

    @property
    def statement(self) -> Statement:
        """Return what the proof states, for verifiers."""
        return self.proved.statement

    @property
    def zero_knowledge(self) -> bool:
        """Whether the proof hides all values that are not public."""
        return self.proved.proof.zero_knowledge

    @property
    def size(self) -> int:
        """The bytes of the proof itself."""
        return len(self.proved.proof.encode())

    @cached_property
    def outputs(self) -> dict[str, Reals]:
        """The program's outputs, public or not, as real numbers by name."""
        return reals_of(self.exact.integer.outputs, self.proved.outputs)

    @property
    def openings(self) -> Mapping[Key, Opening]:
        """The secrets of the commitments: keep them, never send them."""
        return self.proved.openings

    def save(self, folder: Path | str) -> Path:
        """Write the folder for a verifier, with statement and proof and nothing private. Return the path of the
        folder.
        """
        path = Path(folder)
        with proof_folder(path) as whole:
            self.write(whole)
        return path

    def write(self, folder: Path) -> None:
        """Write the proof's files into an existing folder."""
        self.statement.write(folder)
        for name, content in self.files.items():
            write_whole(folder / name, [content])

    @property
    def security_bits(self) -> float | None:
        """The bits of soundness of the proof, all rounds together; None if the soundness is that of the curve."""
        return self.prover.security_bits(self.exact.integer, self.zero_knowledge)

    def save_openings(self, path: Path | str) -> None:
        """Write the secrets of the commitments, for their owner's eyes only; for `openings_from` of a later proof."""
        with openings_file(Path(path)) as whole:
            self.write_openings(whole)

    def write_openings(self, path: Path) -> None:
        """Write a proof's openings to a path at which a file is already being written whole.

        Raise CircuitizeError if openings are counted and were written before: two files would have separate counts.
        """
        if any(one.left is not None for one in self.openings.values()):
            if self.written:
                raise CircuitizeError(
                    f"expected to save these openings once, found {self.written[0]} written before; they are counted "
                    "there: go on with that file"
                )
            self.written.append(path)
        write_openings(path, self.scheme, self.digest, self.openings)

    def __repr__(self) -> str:
        hiding = "zero-knowledge" if self.zero_knowledge else "NOT zero-knowledge"
        return f"Proof({self.prover.name}, {hiding}, {self.size:,} bytes, program {self.digest[:16]}...)"


def proof_folder(path: Path) -> AbstractContextManager[Path]:
    """A context that writes a folder for the files of a proof, whole or not at all; it replaces an earlier proof's and
    nothing else.
    """
    return whole_folder(path, FILE, proof_files)


def openings_file(path: Path) -> AbstractContextManager[Path]:
    """A context that writes a file of openings, whole or not at all; it replaces no file."""
    return whole_file(path, KEPT)


def require_proof_folder(path: Path) -> None:
    """Raise CircuitizeError unless `proof_folder` would take this path."""
    require_folder(path, FILE, proof_files)


def require_new_openings(path: Path) -> None:
    """Raise CircuitizeError unless `openings_file` would take this path."""
    require_new_file(path, KEPT)
