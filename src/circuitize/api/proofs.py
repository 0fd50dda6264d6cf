"""A proof that was just made, with what its prover keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import whole_file, whole_folder
from circuitize.circuits.phases import Phases
from circuitize.provers.contract import Proved, Prover
from circuitize.provers.openings import KEPT, POSEIDON, TENSOR, Opening, write_openings
from circuitize.provers.statement import FILE, PROOF_FILES, Key, Statement

from .exact import Exact, Reals, reals_of


@dataclass(frozen=True)
class Proof:
    """A proof and its statement, for others; `outputs` and `openings`, which the prover keeps."""

    exact: Exact
    prover: Prover
    proved: Proved
    files: Mapping[str, bytes]
    phases: Phases

    @property
    def digest(self) -> str:
        """The program's."""
        return self.exact.digest

    @property
    def statement(self) -> Statement:
        return self.proved.statement

    @property
    def zero_knowledge(self) -> bool:
        """Whether the proof hides what is not public."""
        return self.proved.proof.zero_knowledge

    @property
    def size(self) -> int:
        """Bytes of the proof itself."""
        return len(self.proved.proof.encode())

    @cached_property
    def outputs(self) -> dict[str, Reals]:
        """What the program gave, public or not, as real numbers by name."""
        return reals_of(self.exact.integer.outputs, self.proved.outputs)

    @property
    def openings(self) -> Mapping[Key, Opening]:
        """The secrets of the commitments: keep them, never send them."""
        return self.proved.openings

    def save(self, folder: Path | str) -> Path:
        """Write the folder that a verifier gets: statement and proof, nothing private. Return its path."""
        path = Path(folder)
        with whole_folder(path, FILE, PROOF_FILES) as whole:
            self.write(whole)
        return path

    def write(self, folder: Path) -> None:
        """Write the same files into a folder that is there."""
        self.statement.write(folder)
        for name, content in self.files.items():
            write_whole(folder / name, [content])

    def save_openings(self, path: Path | str) -> None:
        """Write the secrets of the commitments, for their owner's eyes only; for `openings_from` of a later proof."""
        scheme = POSEIDON if self.prover.key_magic else TENSOR
        with whole_file(Path(path), KEPT) as whole:
            write_openings(whole, scheme, self.digest, self.openings)

    def __repr__(self) -> str:
        hiding = "zero-knowledge" if self.zero_knowledge else "NOT zero-knowledge"
        return f"Proof({self.prover.name}, {hiding}, {self.size:,} bytes, program {self.digest[:16]}...)"
