"""The contract of targets: one descriptor for each target, which every command, the API and the generic tests iterate
over.
"""

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
"""The text that a command prints: lines, or tables of names and values."""


class LeftOut(CircuitizeError):
    """Raised, with the reason, if a target has no circuit of a program or does not count its sizes; other targets
    may.
    """


class Files(NamedTuple):
    """The folder of a target's circuit: the file that identifies the target, and all files that belong to it."""

    marker: str
    own: Own


class CheckedFiles(NamedTuple):
    """The result of checking a folder: the conditions on a witness in words, and the first condition that fails."""

    held: str
    failed: str | None


@dataclass(frozen=True)
class Request:
    """The inputs of a build besides the program: values, options by name, and the receiver of remarks.

    The field `inputs` of a build holds real values by name, or .npz files of them; `raw_inputs` says that those files
    hold integers.
    """

    inputs: Mapping[str, Given] | Sequence[Path] | None = None
    raw_inputs: bool = False
    options: Options = field(default_factory=dict)
    say: Progress = silent

    def witnessed(self, program: IntegerProgram) -> dict[str, NDArray[np.int64]] | None:
        """Return the integers to make a witness of; None if the user wants no witness."""
        from circuitize.api.values import program_inputs

        if not ("witness" in self.options or self.raw_inputs or self.inputs is not None):
            return None
        return program_inputs(program, self.inputs, self.say, self.raw_inputs)


PLAIN = Request()


class Buildable(Named, Protocol[C]):
    """A target, to which programs are compiled."""

    inputs_are: str = ""
    """Return the purpose of input values in help texts, if `compile` takes any for this target."""

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> C:
        """Return the program's circuit. Raise CircuitizeError, naming operation, line and remedy, if the program has no
        circuit of this target.
        """


class Target(Buildable[C], Protocol[C]):
    """A kind of circuit, such as a rank-one constraint system. Subclasses of a circuit kind inherit its defaults; the
    imports at the top of a subclass's module must be cheap.
    """

    optional: bool = False
    """Whether some programs have no circuit of this kind: `check` then skips the kind without a remark."""

    title: str
    """The name of the circuit in the output of `estimate`."""

    measure: str
    """The unit in which the cost of a circuit is stated."""

    rules_in: str = ""
    """The module whose lowering RULES belong to this kind of circuit."""

    counted: bool = True
    """Whether computing the sizes emits the circuit, so that the largest programs are not counted."""

    files: Files | None = None
    """The target with which `compile` writes the circuit; None if only a prover uses it."""

    @property
    def rules(self) -> Collection[type[Operation]]:
        """The integer operations that this kind of circuit lowers itself; every other operation must be an
        Expansion.
        """
        found: Collection[type[Operation]] = import_module(self.rules_in).RULES
        return found

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        """Return the sizes of the circuit of an integer program, before it is emitted, as `estimate --json` prints
        them.

        The entry `left_out`, if present, is removed from the sizes: it names the parts without sizes, and the reason.
        Raise LeftOut if the circuit has no sizes at all, and any other CircuitizeError if the program is at fault.
        """

    def shown(self, sizes: Json) -> Iterator[Shown]:
        """Return the lines and tables that `estimate` prints of the sizes."""
        yield self.title
        yield [(name.replace("_", " "), size) for name, size in sizes.items() if isinstance(size, int | float)]

    def cost(self, program: IntegerProgram) -> int:
        """Return the circuit's cost, in units of `measure`. Raise CircuitizeError if the circuit has no cost."""
        return int(self.estimate(program, {})[self.measure])

    def check(self, program: IntegerProgram) -> agree.Target | None:
        """Return the outputs to compare with runs of an integer program; None if the target compares by itself."""
        return None

    def check_designs(self, program: IntegerProgram, count: int, seed: int) -> Sequence[DesignRun]:
        """Return the results of comparing designs on up to `count` frames each."""
        return ()

    def check_files(self, folder: Path) -> CheckedFiles:
        """Return whether the witness in a folder satisfies the circuit there, by the files alone."""
        raise CircuitizeError(
            f"{folder}: expected a circuit with a witness, found one of {self.name}; check its program"
        )
