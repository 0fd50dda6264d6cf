"""The contract of targets: one descriptor each, which every command, the API and the generic tests iterate over."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import Own
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.reading import Json
from circuitize.circuits.values import Given

from .options import Named, Options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from circuitize.api.exact import Exact
    from circuitize.circuits.operation import Operation
    from circuitize.circuits.program import IntegerProgram
    from circuitize.sims import agree
    from circuitize.sims.rtl.designs import DesignRun

C = TypeVar("C", covariant=True)

Shown = str | Sequence[tuple[str, object]]
"""What a command prints: a line, or a table of names and values."""


class LeftOut(CircuitizeError):
    """A target that has no circuit of a program, or does not count it, and why; others may."""


class Files(NamedTuple):
    """The folder of a target's circuit: the file that tells it from others, and all that are its own."""

    marker: str
    own: Own


class CheckedFiles(NamedTuple):
    """What checking a folder came to: what a witness has to satisfy, in words, and the first that it does not."""

    held: str
    failed: str | None


@dataclass(frozen=True)
class Request:
    """What a circuit is built from besides the program: values, options by name, and who hears remarks.

    `inputs` are real values by name, or .npz files of them; `raw_inputs` says that those files hold integers.
    """

    inputs: Mapping[str, Given] | Sequence[Path] | None = None
    raw_inputs: bool = False
    options: Options = field(default_factory=dict)
    say: Progress = silent

    def witnessed(self, program: IntegerProgram) -> dict[str, NDArray[np.int64]] | None:
        """The integers to make a witness of; None if no witness is asked for."""
        from circuitize.api.values import program_inputs

        if not ("witness" in self.options or self.raw_inputs or self.inputs is not None):
            return None
        return program_inputs(program, self.inputs, self.say, self.raw_inputs)


PLAIN = Request()


class Buildable(Named, Protocol[C]):
    """Something that programs are compiled to."""

    inputs_are: str = ""
    """What values of inputs are for, where `compile` takes any."""

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> C:
        """The program's circuit. Raise CircuitizeError, naming operation, line and remedy, where it has none."""


class Target(Buildable[C], Protocol[C]):
    """One kind of circuit. Subclasses get these defaults; what they import at the top must be light."""

    optional: bool = False
    """Whether some programs have no such circuit: `check` leaves it out there, without a word."""

    title: str
    """What `estimate` calls the circuit."""

    measure: str
    """What its cost is counted in."""

    rules_in: str = ""
    """The module whose RULES are its own."""

    counted: bool = True
    """Whether to size it is to emit it, so that the largest programs are not counted."""

    files: Files | None = None
    """What `compile` writes; None where a prover alone takes the circuit."""

    @property
    def rules(self) -> Collection[type[Operation]]:
        """The integer operations that it lowers by itself; every other one must be an Expansion."""
        found: Collection[type[Operation]] = import_module(self.rules_in).RULES
        return found

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        """The sizes of the circuit of an integer program, before it is emitted, as `estimate --json` prints them.

        The entry `left_out`, if there is one, is taken out of them: what has no sizes, and why. Raise LeftOut where
        there are none at all, any other CircuitizeError where the program is at fault.
        """

    def shown(self, sizes: Json) -> Iterator[Shown]:
        """What `estimate` prints of the sizes."""
        yield self.title
        yield [(name.replace("_", " "), size) for name, size in sizes.items() if isinstance(size, int | float)]

    def cost(self, program: IntegerProgram) -> int:
        """The circuit's cost, in `measure`. Raise CircuitizeError where there is none."""
        return int(self.estimate(program, {})[self.measure])

    def check(self, program: IntegerProgram) -> agree.Target | None:
        """What is compared with runs of an integer program; None for what is compared by itself."""
        return None

    def check_designs(self, program: IntegerProgram, count: int, seed: int) -> Sequence[DesignRun]:
        """What came of comparing designs on up to `count` frames each."""
        return ()

    def check_files(self, folder: Path) -> CheckedFiles:
        """Whether the witness in a folder satisfies the circuit there, by the files alone."""
        raise CircuitizeError(
            f"{folder}: expected a circuit with a witness, found one of {self.name}; check its program"
        )
