"""Circuits as folders of files for other tools, each folder written whole or not at all."""

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
    """A program's circuit as a folder of files. The field `sizes` holds the circuit's counts by name, `digest` is the
    program's.
    """

    noun = "circuit"
    sizes: Mapping[str, int]

    def __init__(self, title: str, digest: str, files: Files | None, phases: Phases) -> None:
        assert files is not None
        self.title, self.digest, self.files, self.phases = title, digest, files, phases

    @property
    def report(self) -> Json:
        """Return the object that `compile --json` prints."""
        return {"digest": self.digest, **self.sizes}

    def write(self, folder: Path | str) -> dict[str, int]:
        """Write the folder, whole or not at all. Return the bytes of each file, by its name in the folder.

        Raise CircuitizeError if the folder contains foreign files.
        """
        with self.phases.phase("write", f"writing the {self.noun}"), whole_folder(Path(folder), *self.files) as whole:
            return {str(path.relative_to(whole)): path.stat().st_size for path in self.fill(whole)}

    @abstractmethod
    def fill(self, folder: Path) -> list[Path]:
        """Write the files into an empty folder. Return the written files' paths, in the order of a listing."""

    def shown(self, folder: Path, written: Mapping[str, int]) -> Iterator[Shown]:
        """Return the lines that `compile` prints of the written files."""
        yield [(str(folder / name), amount_of_bytes(size)) for name, size in written.items()]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in self.sizes.items())
        return f"{type(self).__name__}({sizes}, program {self.digest[:16]}...)"
