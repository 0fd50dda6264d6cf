"""The referee's own run: from the values on which both sides agree to the step in dispute."""

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
    """A step as the referee ran it: the values that entered, and the value of every wire."""

    step: int
    inputs: Mapping[str, Integers]
    wires: list[Integers]
    held: Held


def agreed(sides: Sequence[Side], step: int) -> tuple[int, Held]:
    """The last step, up to a given one, for which a side has a checkpoint that agrees with all journals, or the start.

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
    """Run each step after a given one by the integer executor of this machine on the data that the training follows.

    Raise CircuitizeError, naming the step, if the program has no value.
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
    """Whether the journal of a side agrees with the referee's run of a step."""
    entry = side.entries[made.step - 1]
    return (entry.entered, entry.left) == (side.layout.entered(made.inputs), side.layout.left(made.held))
