"""The executor's results for frames of several modes on one memory, and frames for trying a design."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.modes import MODE, Modal, Mode
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.values import raw

from .. import integer
from ..vectors import inputs_to_try, integer_examples
from .compare import Expected

Integers = NDArray[np.int64]


def session(modal: Modal, vectors: Mapping[str, Integers], initial: Mapping[str, Integers]) -> Expected:
    """Return the outputs of frames `vectors[port][frame, ...]`, which are executed one after another from the memory's
    `initial` contents.

    In a session of several modes every array has an entry for every frame; an input that a frame's mode does not read
    is ignored, and an output that the mode does not give is 0. A frame of a mode that the design lacks has no value,
    and a frame without a value leaves the memory as it was. Raise CircuitizeError for inputs that are missing,
    misshapen or outside their formats.
    """
    entering, leaving = modal.entering(), modal.leaving()
    for passage in entering:
        if passage.port not in vectors:
            raise CircuitizeError(f"expected frames of input {passage.port!r}, found {sorted(vectors)}; add them")
    count = len(vectors[MODE])
    outputs = {p.port: np.zeros((count, *p.format.shape), np.int64) for p in leaving}
    undefined, first = np.zeros(count, np.bool_), None
    state = {port.name: np.asarray(initial[port.name], np.int64) for port in modal.state}
    for frame in range(count):
        code = int(vectors[MODE][frame])
        mode = Mode(code) if code in modal.modes else None
        if mode is None:
            undefined[frame] = True
            first = first or f"frame {frame}: no mode {code}"
        elif mode is Mode.WRITE:
            state = {name: vectors[name][frame] for name in state}
        elif mode is Mode.READ:
            for name, value in state.items():
                outputs[name][frame] = value
        else:
            program = modal.programs[mode]
            names = [port.name for port in program.inputs]
            given = {name: state[name] if name in state else vectors[name][frame] for name in names}
            try:
                made = integer.run(program, raw(given))
            except Undefined as error:
                undefined[frame] = True
                first = first or f"frame {frame}: {error}"
                continue
            for port in program.outputs:
                if port.name not in state:
                    outputs[port.name][frame] = made[port.name]
            state = {name: made.get(name, value) for name, value in state.items()}
    return Expected(outputs, undefined, first)


def session_frames(modal: Modal, count: int, seed: int, initial: Mapping[str, Integers]) -> dict[str, Integers]:
    """Return `count` frames in stretches of one mode each: examples and random inputs, and writes of memory contents
    near the initial contents.

    The first frames of a session write, predict, train, read and predict, as far as the design has these modes.
    """
    draw = np.random.default_rng(seed)
    run = [mode for mode in modal.modes if mode in modal.programs]
    opening = [Mode.WRITE, *run, *run[-1:] * 2, Mode.READ, run[0], run[-1], Mode.READ]
    modes = [int(mode) for mode in opening]
    while len(modes) < count:
        modes += [int(draw.choice([*modal.modes, *run]))] * int(draw.integers(1, 4))
    code = np.array(modes[:count], np.int64)
    vectors = {p.port: np.zeros((count, *p.format.shape), np.int64) for p in modal.entering()}
    vectors[MODE] = code
    for mode, program in modal.programs.items():
        frames = np.flatnonzero(code == mode)
        state = {port.name: initial[port.name] for port in program.inputs if port.held}
        if len(frames):
            tried = inputs_to_try(program, len(frames), draw, integer_examples(program, state))
            for frame, one in zip(frames, tried, strict=False):
                for port in program.inputs:
                    if not port.held:
                        vectors[port.name][frame] = one[port.name]
    for frame in np.flatnonzero(code == Mode.WRITE):
        for port in modal.state:
            near = initial[port.name] + draw.integers(-3, 4, port.format.shape)
            vectors[port.name][frame] = np.clip(near, port.format.low, port.format.high)
    return vectors
