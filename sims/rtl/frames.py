"""Frames on which to try a program's hardware, the executor's results for the frames, and how many answers are
right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.bound import Bound, bound_to
from circuitize.backends.verilog.project import Vectors
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import to_integers

from ..vectors import inputs_to_try, integer_examples
from .compare import expected
from .session import session, session_frames

Integers = NDArray[np.int64]

MOST_HELD = 1 << 20
"""The number of held values beyond which hardware is not considered."""


def bound_somehow(program: IntegerProgram) -> Bound:
    """Return the program with its held inputs bound: to the first example, or to seeded random values if the program
    has no examples.
    """
    held = [port for port in program.inputs if port.held and port.format is not None]
    numbers = sum(port.format.size for port in held if port.format is not None)
    if numbers > MOST_HELD:
        raise CircuitizeError(
            f"expected at most {MOST_HELD:,} numbers held in memory, found {numbers:,}; fold it by hand"
        )
    if program.examples:
        return bound_to(
            program, {p.name: to_integers(p, program.examples[0][p.name], "the first example") for p in held}
        )
    values = next(inputs_to_try(program, 1, np.random.default_rng(0)))
    return bound_to(program, {port.name: values[port.name] for port in held})


def example_frames(made: Bound) -> dict[str, Integers]:
    """Return the program's examples, one for each frame; None if the program has no examples."""
    examples = made.program.examples
    return {
        port.name: np.stack([to_integers(port, batch[port.name], f"example {n}") for n, batch in enumerate(examples)])
        for port in made.streamed
        if examples and made.modal is None
    }


def frames_to_try(
    made: Bound, count: int, seed: int, frames: Sequence[Mapping[str, Integers]] | None = None
) -> dict[str, Integers]:
    """Return frames that `inputs_to_try` makes from the program's examples, or from the given frames.

    If a hardware design has modes, `session_frames` makes the frames.
    """
    if made.modal is not None:
        return session_frames(made.modal, count, seed, made.initial)
    examples = (
        integer_examples(made.program, made.initial)
        if frames is None
        else [{**frame, **made.initial} for frame in frames]
    )
    tried = list(inputs_to_try(made.program, count, np.random.default_rng(seed), examples))
    return {port.name: np.stack([one[port.name] for one in tried]) for port in made.streamed}


def vectors(made: Bound, frames: Mapping[str, Integers]) -> Vectors:
    """Return frames with the executor's results for them, and with the examples' answers if the frames are the
    examples.
    """
    if made.modal is not None:
        found = session(made.modal, frames, made.initial)
        return Vectors(frames, found.outputs, found.undefined, {}, made.initial)
    wanted = expected(made.program, frames, made.initial)
    entering = {port.name for port in made.program.inputs}
    examples = made.program.examples
    count = len(wanted.undefined)
    answers = {
        port.name: np.stack([np.asarray(batch[port.name]) for batch in examples])
        for port in made.program.outputs
        if port.name not in entering and len(examples) == count and all(port.name in batch for batch in examples)
    }
    return Vectors(frames, wanted.outputs, wanted.undefined, answers, made.initial)


def right_frames(values: Integers, answers: Values, fraction_bits: int) -> NDArray[np.bool_]:
    """Return whether the outputs of each frame agree with the frame's answer, [frames].

    An answer of the output's own shape must be equal to the output; an answer that lacks the output's last axis is the
    index of the greatest value along that axis, the lowest index of several greatest values. Raise CircuitizeError for
    an answer that has neither the output's shape nor that shape without its last axis.
    """
    if answers.shape == values.shape:
        right = np.ldexp(values.astype(np.float64), -fraction_bits) == answers
    elif answers.shape == values.shape[:-1]:
        right = values.argmax(axis=-1) == answers
    else:
        raise CircuitizeError(
            f"expected answers of shape {list(values.shape[1:])}, or of {list(values.shape[1:-1])} for the index of "
            f"the greatest, found {list(answers.shape[1:])}; change the examples"
        )
    agreed: NDArray[np.bool_] = right.reshape(len(values), -1).all(axis=1)
    return agreed
