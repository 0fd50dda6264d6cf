"""The referee's own run in a dispute: from values on which both sides agree up to the disputed step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError, restated
from circuitize.circuits.phases import Progress
from circuitize.circuits.values import Raw, raw
from circuitize.sims import integer

from ..exact import Integers
from .side import Side

Held = Mapping[str, Integers]


@dataclass(frozen=True)
class Executed:
    """A step as the referee ran it: the values of the step's inputs, and the value of every wire."""

    step: int
    inputs: Mapping[str, Integers]
    wires: list[Integers]
    held: Held


def agreed(sides: Sequence[Side], step: int) -> tuple[int, Held]:
    """Return the last step, up to a given one, for which some side has a checkpoint that agrees with all journals, with
    the values in that checkpoint; if there is no such step, return step 0 and the initial values.

    Raise FormatError if a checkpoint is damaged.
    """
    places = sorted({(at, side.name) for side in sides for at in side.checkpoints if at <= step}, reverse=True)
    by_name = {side.name: side for side in sides}
    for at, name in places:
        held = by_name[name].checkpoint(at)
        if by_name[name].layout.left(held) == by_name[name].left(at):
            return at, held
    return 0, sides[0].course.initial


def executed(side: Side, held: Held, after: int, last: int, progress: Progress) -> Iterator[Executed]:
    """Run each step of a training after a given one with the integer executor of this machine, on the data that the
    training prescribes.

    Raise CircuitizeError, naming the step, if the program is undefined at a step.
    """
    program = side.layout.program
    for step, batch in enumerate(side.course.batches(after, last), after + 1):
        progress(f"executing step {step:,} of {after + 1:,} to {last:,}")
        inputs: dict[str, Raw] = {**raw(held), **batch}
        try:
            wires = integer.trace(program, inputs)
        except CircuitizeError as error:
            raise restated(error, f"step {step:,}, which journals go beyond: {error}") from None
        leaving = dict(zip((port.name for port in program.outputs), program.arrow.outputs.tolist(), strict=True))
        held = {name: wires[leaving[name]] for name in held}
        yield Executed(step, {name: value.array for name, value in inputs.items()}, wires, held)
    progress("")


def has(side: Side, made: Executed) -> bool:
    """Return whether a side's journal agrees with the referee's run of a step."""
    entry = side.entries[made.step - 1]
    return (entry.entered, entry.left) == (side.layout.entered(made.inputs), side.layout.left(made.held))
