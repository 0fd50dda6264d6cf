"""The proof that a prover has just made, with the values that the prover keeps."""

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
    """A proof and its statement, which go to verifiers, and the `outputs` and `openings`, which the prover keeps."""

    exact: Exact
    prover: Prover
    proved: Proved
    files: Mapping[str, bytes]
    scheme: str
    phases: Phases
    written: list[Path] = field(default_factory=list, compare=False)

    @property
    def digest(self) -> str:
        """Return the digest of the program that was proved."""
        return self.exact.digest

    @property
    def statement(self) -> Statement:
        """Return the statement of the proof, which verifiers check."""
        return self.proved.statement

    @property
    def zero_knowledge(self) -> bool:
        """Return whether the proof hides all values that are not public."""
        return self.proved.proof.zero_knowledge

    @property
    def size(self) -> int:
        """Return the number of bytes in the proof itself, without its statement."""
        return len(self.proved.proof.encode())

    @cached_property
    def outputs(self) -> dict[str, Reals]:
        """Return the program's outputs, public or not, as real numbers by name."""
        return reals_of(self.exact.integer.outputs, self.proved.outputs)

    @property
    def openings(self) -> Mapping[Key, Opening]:
        """Return the secrets behind the commitments of the proof: keep them, never send them."""
        return self.proved.openings

    def save(self, folder: Path | str) -> Path:
        """Write a folder for verifiers, with the statement and the proof, and nothing private. Return the path of the
        written folder.
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
        """Return the bits of soundness of the proof, over all its rounds together, or None if its soundness rests on an
        elliptic curve.
        """
        return self.prover.security_bits(self.exact.integer, self.zero_knowledge)

    def save_openings(self, path: Path | str) -> None:
        """Write the secrets behind the commitments of the proof to a file for their owner alone; a later proof takes
        the file as `openings_from`.
        """
        with openings_file(Path(path)) as whole:
            self.write_openings(whole)

    def write_openings(self, path: Path) -> None:
        """Write the openings of a proof to a path whose file the caller completes or removes.

        Raise CircuitizeError if the openings may be used only a limited number of times and were written before: two
        files would count their uses separately.
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
    """Return a context manager that writes a folder for the files of a proof, complete or not at all; it replaces only
    the folder of an earlier proof.
    """
    return whole_folder(path, FILE, proof_files)


def openings_file(path: Path) -> AbstractContextManager[Path]:
    """Return a context manager that writes a file of openings, complete or not at all; it replaces no existing file."""
    return whole_file(path, KEPT)


def require_proof_folder(path: Path) -> None:
    """Raise CircuitizeError unless `proof_folder` can write to the given path."""
    require_folder(path, FILE, proof_files)


def require_new_openings(path: Path) -> None:
    """Raise CircuitizeError unless `openings_file` can write to the given path."""
    require_new_file(path, KEPT)
