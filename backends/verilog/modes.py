"""Frames of several modes in one design: each frame writes the design's memory, reads it, predicts with it or trains
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

MODE = "mode"
"""The name of the input that gives the mode of each frame: a beat of one byte."""


class Mode(IntEnum):
    """The mode of a frame, which says what the frame does with the design's memory. The modes write and read move whole
    tensors, and the modes predict and train run a program.
    """

    WRITE = 0
    READ = 1
    PREDICT = 2
    TRAIN = 3

    @property
    def word(self) -> str:
        """Return the name of the mode in lower case, as names and messages spell it."""
        return self.name.lower()


@dataclass(frozen=True)
class Passage:
    """A tensor that enters or leaves a design under a name, in frames of the given modes."""

    name: str
    port: str
    format: Fixed
    modes: frozenset[Mode]


@dataclass(frozen=True)
class Modal:
    """A program whose held inputs are in the design's memory, and, if there is one, a prediction program that shares
    this memory.

    If the program `step` updates every held input by an output of the same name, frames that run it train; if it has no
    such outputs, they predict. Raise CircuitizeError if the step and the prediction program do not fit each other.
    """

    step: IntegerProgram
    prediction: IntegerProgram | None = None

    def __post_init__(self) -> None:
        carried = {port.name for port in self.step.outputs}
        kept = [port.name for port in self.step.inputs if port.held and port.name not in carried]
        if not self.state:
            raise CircuitizeError(
                "--loadable: expected a program with held inputs, weights or other state, found none; leave it out"
            )
        if self.trains and kept:
            raise CircuitizeError(f"expected every held input to be updated or bound, found {kept[0]!r}; bind it")
        for port in [*self.step.inputs, *self.step.outputs]:
            if port.name == MODE:
                raise CircuitizeError(f"expected no port called {MODE!r} in a design with modes; rename it")
        if self.prediction is None:
            return
        if not self.trains:
            raise CircuitizeError(
                "--predict: expected a training step to share its weights, found a program that updates none; "
                "leave --predict out"
            )
        self._require_shared(self.prediction)

    @property
    def trains(self) -> bool:
        """Return whether the step updates its held inputs, so that frames that run it train; otherwise they predict."""
        carried = {port.name for port in self.step.outputs}
        return any(port.held and port.name in carried for port in self.step.inputs)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Return the modes that frames of the design can have, in order."""
        run = {Mode.TRAIN} if self.trains else {Mode.PREDICT}
        return tuple(sorted({Mode.WRITE, Mode.READ, *run} | ({Mode.PREDICT} if self.prediction else set())))

    @property
    def state(self) -> list[Port[Fixed]]:
        """Return the tensors that the design keeps, which are all held inputs of the step."""
        return [port for port in self.step.inputs if port.held]

    @property
    def programs(self) -> dict[Mode, IntegerProgram]:
        """Return, for each mode that runs a program, this program."""
        own = {Mode.TRAIN if self.trains else Mode.PREDICT: self.step}
        return own | ({Mode.PREDICT: self.prediction} if self.prediction else {})

    def entering(self) -> list[Passage]:
        """Return the tensors that enter a design with modes: the mode, the inputs of the programs, and the state that a
        frame writes.
        """
        code = Fixed((), 0, min(self.modes), max(self.modes))
        found = [Passage(MODE, MODE, code, frozenset(self.modes))]
        fed = {port.name: port for program in self.programs.values() for port in program.inputs if not port.held}
        found += [Passage(name, name, port.format, self._running(name)) for name, port in fed.items()]
        written = frozenset({Mode.WRITE})
        return found + [Passage(port.name, port.name, port.format, written) for port in self.state]

    def leaving(self) -> list[Passage]:
        """Return the tensors that leave a design with modes: the outputs of the programs except the new state, in the
        order of their ports, and then the state that a frame reads.
        """
        kept = {port.name for port in self.state}
        found = [
            Passage(port.name, port.name, port.format, frozenset({mode}))
            for mode, program in self.programs.items()
            for port in program.outputs
            if port.name not in kept
        ]
        names = [passage.name for passage in found]
        for name in names:
            if names.count(name) > 1 or name == MODE:
                raise CircuitizeError(
                    f"expected outputs of different names of the step and of its prediction, found {name!r} in both; "
                    "rename one"
                )
        return found + [Passage(port.name, port.name, port.format, frozenset({Mode.READ})) for port in self.state]

    def _running(self, name: str) -> frozenset[Mode]:
        return frozenset(m for m, program in self.programs.items() if name in {port.name for port in program.inputs})

    def _require_shared(self, prediction: IntegerProgram) -> None:
        """Raise CircuitizeError unless inputs of the two programs that have the same name are the same tensor: a held
        input is in memory, and any other input is a stream.
        """
        known = {port.name: port for port in self.step.inputs}
        for port in prediction.inputs:
            same = known.get(port.name)
            if same is None and port.held:
                raise CircuitizeError(
                    f"--predict: expected weights of the step ({_names(self.state)}), found {port.name!r}; "
                    "predict with the step's model"
                )
            if same is not None and (same.format, same.held) != (port.format, port.held):
                raise CircuitizeError(
                    f"--predict: expected {port.name!r} as the step has it, {_told(same)}, found {_told(port)}; "
                    "give both the same formats and batch"
                )
        if any(port.held and port.name in {p.name for p in prediction.inputs} for port in prediction.outputs):
            raise CircuitizeError("--predict: expected a program that updates no weight, found another step")


def _names(ports: Sequence[Port[Fixed]]) -> str:
    return ", ".join(port.name for port in ports)


def _told(port: Port[Fixed]) -> str:
    format = port.format
    kind = "held " if port.held else ""
    return f"{kind}{list(format.shape)} of [{format.low}, {format.high}] with {format.fraction_bits} fraction bits"
