"""The contract of targets: each target has one descriptor, and every command, the API and the generic tests iterate
over the descriptors.
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
    """The error raised, with the reason, if a target has no circuit of a program or does not count its sizes, although
    other targets may.
    """


class Files(NamedTuple):
    """The files in the folder of a target's circuit: the file that identifies the target, and all files that belong to
    the circuit.
    """

    marker: str
    own: Own


class CheckedFiles(NamedTuple):
    """The result of checking the files of a circuit: a text that says what a witness must satisfy, and the first
    condition that fails.
    """

    held: str
    failed: str | None


@dataclass(frozen=True)
class Request:
    """The inputs of a build other than the program: input values, options by name, and the receiver of remarks.

    The field `inputs` of a build holds real values by name, or .npz files of them; `raw_inputs` says that these files
    hold integers.
    """

    inputs: Mapping[str, Given] | Sequence[Path] | None = None
    raw_inputs: bool = False
    options: Options = field(default_factory=dict)
    say: Progress = silent

    def witnessed(self, program: IntegerProgram) -> dict[str, NDArray[np.int64]] | None:
        """Return the integers of which a witness is made, or None if the user wants no witness."""
        from circuitize.api.values import program_inputs

        if not ("witness" in self.options or self.raw_inputs or self.inputs is not None):
            return None
        return program_inputs(program, self.inputs, self.say, self.raw_inputs)


PLAIN = Request()


class Buildable(Named, Protocol[C]):
    """A target to which programs can be compiled."""

    inputs_are: str = ""
    """Return the purpose of input values in help texts, if `compile` takes any for this target."""

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> C:
        """Return the circuit of a program for this target. Raise CircuitizeError, naming the operation, the source line
        and a remedy, if the program has no circuit of this target.
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
        """Return the kinds of integer operations that the target lowers itself; every other operation must be an
        Expansion.
        """
        found: Collection[type[Operation]] = import_module(self.rules_in).RULES
        return found

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        """Return the sizes of an integer program's circuit, before it is emitted, as `estimate --json` prints them.

        The entry `left_out`, if there is one, is not a size: it names the parts whose sizes are not counted, with the
        reasons. Raise LeftOut if no size of the circuit is counted, and any other CircuitizeError if the program is at
        fault.
        """

    def shown(self, sizes: Json) -> Iterator[Shown]:
        """Yield the lines and tables in which `estimate` prints the sizes of the circuit."""
        yield self.title
        yield [(name.replace("_", " "), size) for name, size in sizes.items() if isinstance(size, int | float)]

    def cost(self, program: IntegerProgram) -> int:
        """Return the cost of a program's circuit, which is its size named `measure`. Raise CircuitizeError if the
        target has no measure of cost.
        """
        return int(self.estimate(program, {})[self.measure])

    def check(self, program: IntegerProgram) -> agree.Target | None:
        """Return the circuit of an integer program in the form in which it is compared with the integer executor, or
        None if the target makes its own comparison.
        """
        return None

    def check_designs(self, program: IntegerProgram, count: int, seed: int) -> Sequence[DesignRun]:
        """Return the results of simulating hardware designs of the program on up to `count` frames each, compared with
        the integer executor.
        """
        return ()

    def check_files(self, folder: Path) -> CheckedFiles:
        """Check, from the files alone, whether the witness in a folder satisfies the circuit in the folder."""
        raise CircuitizeError(
            f"{folder}: expected a circuit with a witness, found one of {self.name}; check its program"
        )
