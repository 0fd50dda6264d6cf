"""Circuits as folders of files for other tools; each folder appears complete or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

from circuitize.circuits.folder import whole_folder
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.phases import Phases
from circuitize.circuits.reading import Json

from .contract import Files, Shown


class WrittenCircuit(ABC):
    """A program's circuit as a folder of files. The field `sizes` of a circuit holds its counts by name; `digest` is
    the digest of its program.
    """

    noun = "circuit"
    sizes: Mapping[str, int]

    def __init__(self, title: str, digest: str, files: Files | None, phases: Phases) -> None:
        assert files is not None
        self.title, self.digest, self.files, self.phases = title, digest, files, phases

    @property
    def report(self) -> Json:
        """Return the circuit's digest and sizes as the object that `compile --json` prints."""
        return {"digest": self.digest, **self.sizes}

    def write(self, folder: Path | str) -> dict[str, int]:
        """Write the folder of the circuit, which appears complete or not at all. Return the number of bytes of each
        file, by the file's name in the folder.

        Raise CircuitizeError if the folder contains files that do not belong to a circuit.
        """
        with self.phases.phase("write", f"writing the {self.noun}"), whole_folder(Path(folder), *self.files) as whole:
            return {str(path.relative_to(whole)): path.stat().st_size for path in self.fill(whole)}

    @abstractmethod
    def fill(self, folder: Path) -> list[Path]:
        """Write the files of the circuit into an empty folder. Return the paths of the written files, in the order in
        which they are listed.
        """

    def shown(self, folder: Path, written: Mapping[str, int]) -> Iterator[Shown]:
        """Yield the lines and tables that `compile` prints about the written files."""
        yield [(str(folder / name), amount_of_bytes(size)) for name, size in written.items()]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in self.sizes.items())
        return f"{type(self).__name__}({sizes}, program {self.digest[:16]}...)"
