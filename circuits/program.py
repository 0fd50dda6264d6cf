"""A program: an arrow with a name, a visibility and an exact format for everything that enters and leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import CircuitizeError, TypingError, excerpt
from .hypergraph import Arrow
from .lowering import Precision
from .port import AnyFormat, Port, Visibility, choice
from .summary import program_short, program_table
from .types import Fixed
from .values import Raw


@dataclass(frozen=True, repr=False)
class Program:
    """An arrow with its ports, and with example inputs (real values) for calibration and demonstration.

    The arrow of a Program is of reals or of integers; `quantize` makes an `IntegerProgram` from either.

    The field `examples` of a Program holds batches of input values: each batch maps every input's name to an array of
    real values, whatever its dtype. A program's examples are not part of its digest. A batch of examples may hold, in
    addition to inputs, answers under the names of outputs that are not inputs: the right results according to the data,
    such as labels. Nothing is calibrated with the answers in examples; `circuitize simulate` counts how often the
    program agrees with them.
    """

    arrow: Arrow
    inputs: tuple[Port[Fixed], ...]
    outputs: tuple[Port[Fixed | None], ...]
    examples: tuple[Mapping[str, NDArray[np.float64]], ...] = field(default=(), repr=False)
    precision: Precision = field(default_factory=Precision)

    def __post_init__(self) -> None:
        for side, ports, types in (
            ("input", self.inputs, self.arrow.source),
            ("output", self.outputs, self.arrow.target),
        ):
            if len(ports) != len(types):
                raise TypingError(f"expected one {side} port per wire ({len(types)}), found {len(ports)} ports")
            names = [port.name for port in ports]
            for name in names:
                if not (isinstance(name, str) and name and name.isprintable()):
                    raise TypingError(
                        f"expected {side} names of printable characters, at least one, found {excerpt(name)}; rename it"
                    )
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise TypingError(f"expected distinct {side} names, found {twice!r} twice; rename one")
            for port, type in zip(ports, types, strict=True):
                if port.format is None:
                    if side == "input":
                        raise TypingError(
                            f"expected a format for input {port.name!r}, found none; give bits and fraction bits"
                        )
                elif not isinstance(port.format, Fixed):
                    raise TypingError(
                        f"expected {side} {port.name!r} with a format of a shape, found {port.format}; write "
                        f"format.of({type.shape})"
                    )
                elif port.format.shape != type.shape or (isinstance(type, Fixed) and port.format != type):
                    raise TypingError(
                        f"expected {side} {port.name!r} of type {type}, found format {port.format}; "
                        f"give one of shape {list(type.shape)}"
                    )
        for number, batch in enumerate(self.examples):
            for name, values in batch.items():
                if isinstance(values, Raw):
                    raise TypingError(f"example {number}: expected real values of {name!r}, found Raw; use to_reals")

    def __repr__(self) -> str:
        return program_short(self)

    def _repr_html_(self) -> str:
        return program_table(self)

    def binds(self) -> bool:
        """Return whether a proof of this program says anything: whether some input and some output are public or
        committed.
        """
        return all(
            any(port.visibility is not Visibility.PRIVATE for port in ports) for ports in (self.inputs, self.outputs)
        )

    def with_visibility(self, **visibilities: Visibility | str) -> Self:
        """Return the program with other visibilities, given by port name (an input and an output may share a name).

        Raise CircuitizeError for a name that no port has, and TypingError for a value that is no visibility.
        """
        known = {port.name for port in (*self.inputs, *self.outputs)}
        for name in visibilities:
            if name not in known:
                raise CircuitizeError(f"expected a port name among {sorted(known)}, found {name!r}")
        chosen = {name: choice(Visibility, seen, f"the visibility of {name!r}") for name, seen in visibilities.items()}

        def changed(ports: tuple[Port[AnyFormat], ...]) -> tuple[Port[AnyFormat], ...]:
            return tuple(replace(p, visibility=chosen.get(p.name, p.visibility)) for p in ports)

        return replace(self, inputs=changed(self.inputs), outputs=changed(self.outputs))


@dataclass(frozen=True, repr=False)
class IntegerProgram(Program):
    """A program of the integer language: every value that enters or leaves it is an integer of its port's format.

    An integer program is its own exact meaning: executors run this program and targets emit it. Raise TypingError for
    an integer program whose arrow is of reals, or whose outputs lack a format.
    """

    outputs: tuple[Port[Fixed], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for side, ports, types in (
            ("input", self.inputs, self.arrow.source),
            ("output", self.outputs, self.arrow.target),
        ):
            for port, type in zip(ports, types, strict=True):
                if not isinstance(type, Fixed):
                    raise TypingError(f"expected integers for {side} {port.name!r}, found {type}; quantize the program")
                if port.format is None:
                    raise TypingError(f"expected a format for {side} {port.name!r}, found none; give {type}")


AnyProgram = TypeVar("AnyProgram", bound=Program)
"""A program of one of the two languages, for functions whose result is a program of the same language."""


def require_integers(program: Program) -> None:
    """Raise CircuitizeError for a program of reals where an integer program is expected."""
    if not isinstance(program, IntegerProgram):
        raise CircuitizeError("expected an integer program, found a real one; quantize it first")


def as_integers(program: Program) -> IntegerProgram | None:
    """Return the program as an integer program, or None if its arrow is not of integers; an output without a format
    gets its wire's format.
    """
    if isinstance(program, IntegerProgram):
        return program
    targets = program.arrow.target
    formats = [type for type in targets if isinstance(type, Fixed)]
    if len(formats) < len(targets) or not all(isinstance(type, Fixed) for type in program.arrow.source):
        return None
    outputs = tuple(port.of(format) for port, format in zip(program.outputs, formats, strict=True))
    return IntegerProgram(program.arrow, program.inputs, outputs, program.examples, program.precision)


def named_inputs(program: IntegerProgram, trace: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """Return the inputs of a run by name, taken from the values of all wires."""
    wires = program.arrow.inputs.tolist()
    return {port.name: trace[wire] for port, wire in zip(program.inputs, wires, strict=True)}


def named_outputs(program: IntegerProgram, trace: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """Return the outputs of a run by name, taken from the values of all wires."""
    wires = program.arrow.outputs.tolist()
    return {port.name: trace[wire] for port, wire in zip(program.outputs, wires, strict=True)}
