"""A program as hardware: its held inputs are bound to values, and a scheduler makes a design of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.bind import bind
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port, Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw

from .design import Design
from .modes import Modal
from .shell import Interface, enclosed

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Bound:
    """A program whose parameters are bound as constants, and the state from which it starts."""

    program: IntegerProgram
    initial: Mapping[str, Integers]
    modal: Modal | None = None

    @property
    def streamed(self) -> list[Port[Fixed]]:
        """Return the inputs of the program that enter the hardware with each frame."""
        if self.modal is not None:
            return [Port(passage.port, "public", passage.format) for passage in self.modal.entering()]
        return [port for port in self.program.inputs if port.name not in self.initial]


def bound_to(program: IntegerProgram, values: Mapping[str, Integers], loadable: bool = False) -> Bound:
    """Bind every held input of a program to its value, given as integers of its format; state remains an input.

    If `loadable` is true, every held input except frozen ones counts as state.
    """
    carried = {port.name for port in program.outputs}
    if loadable:
        carried |= {port.name for port in program.inputs if port.role is not Role.FROZEN}
    state = {name: value for name, value in values.items() if name in carried}
    parameters = {name: value for name, value in values.items() if name not in carried}
    return Bound(bind(program, raw(parameters)) if parameters else program, state)


PLAIN = Interface()
"""A stream of whole bytes for each tensor."""


def integrated(made: Bound, scheduler: str, options: Mapping[str, object], interface: Interface = PLAIN) -> Design:
    """Return the complete design that a scheduler makes of a program, inside its shell of streams. Raise
    CircuitizeError for the same reasons as `design`.
    """
    if interface.bus_bits is not None and scheduler == "folded":
        options = {**options, "elements_per_beat": options.get("elements_per_beat") or 1}
    return enclosed(design(made, scheduler, options), interface, program_digest(made.program))


def design(made: Bound, scheduler: str, options: Mapping[str, object]) -> Design:
    """Return the design that a scheduler makes of a program, without a shell of streams. Raise CircuitizeError for a
    program or a budget for which the scheduler can make no design.
    """
    require_streamed(made)
    if made.modal is not None:
        if scheduler != "folded":
            raise CircuitizeError(f"--loadable: expected --scheduler folded, found {scheduler}; its weights are wires")
        options = {**options, "modal": made.modal}
    state = {"initial": made.initial} if made.initial else {}
    result: Design = import_module(f"{__package__}.{scheduler}").schedule(made.program, **options, **state)
    return result


def require_streamed(made: Bound) -> None:
    """Raise CircuitizeError for a program whose inputs are all held, so that no frame begins."""
    if not made.streamed:
        raise CircuitizeError(
            "expected a program with an input that enters frame by frame, found only held ones; leave one that is not"
        )
