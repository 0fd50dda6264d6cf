"""A program as hardware: held inputs bound to their values, a scheduler's design, and frames to try it on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.api.values import given_values, require_values, rounded
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.program import Port, Program, raw, to_integers
from circuitize.sims.vectors import inputs_to_try, integer_examples

from .registry import SCHEDULER_OPTIONS, SCHEDULERS

if TYPE_CHECKING:
    from circuitize.backends.verilog.design import Design
    from circuitize.backends.verilog.project import Vectors

Integers = NDArray[np.int64]

HARDWARE_SIZES = ("lut", "ff", "dsp", "bram_bits", "latency_cycles", "interval_cycles")
"""What is reported of a design."""

RANDOM_FRAMES = 16
"""How many frames a design without examples is handed over with."""


@dataclass(frozen=True)
class Bound:
    """A program whose parameters are constants, and the state that it starts from."""

    program: Program
    initial: Mapping[str, Integers]


def bound(program: Program, paths: Sequence[Path] | None = None, say: Progress = silent, raw: bool = False) -> Bound:
    """Bind every held input to its value out of .npz files, or the first example; state is kept as an input.

    Files are read as `program_inputs` reads them. Raises CircuitizeError for a held input without a value, for an
    unknown name in a file, and for values that do not fit.
    """
    held = [port for port in program.inputs if port.held]
    if not held:
        return Bound(program, {})
    if not paths and not program.examples:
        raise CircuitizeError(
            f"expected values of the held inputs {[port.name for port in held]} to put into the hardware, found none "
            "and a program without examples; give --inputs FILE.npz"
        )
    where, given = given_values(program, paths, say, raw)
    require_values(held, given, where)
    return bound_to(program, rounded(held, given, where, say))


def bound_to(program: Program, values: Mapping[str, Integers]) -> Bound:
    """Bind every held input to its value, integers of its format; state is kept as an input."""
    from circuitize.circuits.bind import bind

    carried = {port.name for port in program.outputs}
    state = {name: value for name, value in values.items() if name in carried}
    parameters = {name: value for name, value in values.items() if name not in carried}
    return Bound(bind(program, raw(parameters)) if parameters else program, state)


def scheduler_options(options: Namespace) -> dict[str, Any]:
    """What was given of the scheduler's own options; raises CircuitizeError for one that is another scheduler's."""
    given: dict[str, Any] = {}
    for scheduler, names in SCHEDULER_OPTIONS.items():
        for name in names:
            value = getattr(options, name, None)
            if value is None:
                continue
            if scheduler != options.scheduler:
                flag = "--" + name.replace("_", "-")
                raise CircuitizeError(
                    f"expected options of the scheduler {options.scheduler}, found {flag}; it is one of {scheduler}"
                )
            given[name] = value
    return given


def design(made: Bound, scheduler: str, options: Mapping[str, Any]) -> Design:
    """The scheduler's design. Raises CircuitizeError for a program or a budget that it cannot do."""
    if all(port.name in made.initial for port in made.program.inputs):
        raise CircuitizeError(
            "expected a program with an input that enters frame by frame, found only held ones; leave one that is not"
        )
    state = {"initial": made.initial} if made.initial and scheduler == "folded" else {}
    result: Design = import_module(SCHEDULERS[scheduler]).schedule(made.program, **options, **state)
    return result


def streamed(made: Bound) -> list[Port]:
    """The inputs that enter frame by frame."""
    return [port for port in made.program.inputs if port.name not in made.initial]


def example_frames(made: Bound) -> dict[str, Integers]:
    """The program's examples, one a frame; nothing where it has none."""
    examples = made.program.examples
    return {
        port.name: np.stack([to_integers(port, batch[port.name], f"example {n}") for n, batch in enumerate(examples)])
        for port in streamed(made)
        if examples
    }


def frames_to_try(
    made: Bound, count: int, seed: int, frames: Sequence[Mapping[str, Integers]] | None = None
) -> dict[str, Integers]:
    """Frames as `inputs_to_try` makes them of the program's examples, or of frames that are given in their place."""
    examples = (
        integer_examples(made.program, made.initial)
        if frames is None
        else [{**frame, **made.initial} for frame in frames]
    )
    tried = list(inputs_to_try(made.program, count, np.random.default_rng(seed), examples))
    return {port.name: np.stack([one[port.name] for one in tried]) for port in streamed(made)}


def vectors(made: Bound, frames: Mapping[str, Integers]) -> Vectors:
    """Frames with what the executor makes of them, and the answers of the examples where the frames are these."""
    from circuitize.backends.verilog.project import Vectors
    from circuitize.sims.rtl import expected

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


def accuracy(values: Integers, answers: NDArray[Any], fraction_bits: int) -> NDArray[np.bool_]:
    """Which frames agree with their answers, [frames].

    Answers of the output's own shape must be equal to it; answers that lack its last axis are the index of the greatest
    value along that axis, of equal ones the lowest. Raises CircuitizeError for other shapes.
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
