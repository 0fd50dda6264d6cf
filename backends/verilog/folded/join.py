"""The programs of a design with modes as one arrow, in which the operations that they have in common occur once."""

from __future__ import annotations

from collections.abc import Callable

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.simplify import simplify

from ..modes import Modal, Mode


def joined(modal: Modal, core: Callable[[Arrow], Arrow]) -> Arrow:
    """Return the programs of a design with modes as one arrow of core operations, side by side on the same inputs.

    The inputs of the arrow are the held ports, then what enters in frames that run a program, in the order of
    `Modal.entering`. The outputs of the arrow are what leaves in frames that run a program, in the order of
    `Modal.leaving`, then the next values of the state. Equal operations on equal wires are merged, so that a prediction
    is a part of the training step as far as the two agree. Raise CircuitizeError if nothing reads a Check, whose mode
    would be unknown.
    """
    builder = Builder(share=True)
    held = {port.name: builder.input(port.format) for port in modal.state}
    fed = [passage for passage in modal.entering() if not passage.modes & {Mode.WRITE}]
    wires = held | {passage.name: builder.input(passage.format) for passage in fed}
    leaving: list[int] = []
    carried: list[int] = []
    for program in modal.programs.values():
        arrow = core(program.arrow)
        if simplify(arrow).edge_count < arrow.edge_count:
            raise CircuitizeError(
                "--predict: expected checks that outputs depend on, found one that nothing reads; remove it"
            )
        made = builder.splice(arrow, [wires[port.name] for port in program.inputs])
        for port, wire in zip(program.outputs, made, strict=True):
            (carried if port.name in held else leaving).append(wire)
    return simplify(builder.build([*leaving, *carried]))
