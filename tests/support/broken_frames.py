"""Frames of a stream as beats, some of them too short or too long."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from circuitize.backends.verilog.design import Design, Stream
from circuitize.circuits.program import IntegerProgram
from circuitize.sims.rtl import Simulation, compare, expected
from circuitize.sims.rtl.beats import line_length, written


def all_faulty(
    design: Design, vectors: Mapping[str, np.ndarray], draw: np.random.Generator
) -> tuple[dict[str, bytes], np.ndarray]:
    """Beats for all inputs of a design, by port, and which frames have one that is too short or too long."""
    beats, wrong = {}, np.zeros(len(next(iter(vectors.values()))), bool)
    for stream in design.streams:
        if not stream.output:
            beats[stream.port], here = faulty(stream, vectors[stream.port], draw)
            wrong |= here
    return beats, wrong


def require_that_wrong_frames_fail_alone(
    design: Design, program: IntegerProgram, vectors: Mapping[str, np.ndarray], draw: np.random.Generator
) -> None:
    """Fail if a design without state differs from its program where frames are too short, too long or undefined."""
    wanted = expected(program, vectors)
    sent, short_or_long = all_faulty(design, vectors, draw)
    wrong, number = wanted.undefined | short_or_long, len(wanted.undefined)
    assert 10 < wrong.sum() < number - 10 and (wrong & ~wanted.undefined).sum() > 5
    with Simulation(design) as simulation:
        found = simulation.run_beats(sent, number, 3)
    compared = compare(found, type(wanted)(wanted.outputs, wrong))
    assert (compared.mismatches, compared.first_difference) == (0, None)


def faulty(stream: Stream, values: np.ndarray, draw: np.random.Generator) -> tuple[bytes, np.ndarray]:
    """Beats of frames, about a sixth of which are too short or too long, and which these are."""
    length, wrong = line_length(stream), np.zeros(len(values), bool)
    packets = []
    for n, frame in enumerate(values):
        text = written(stream, frame[None])
        lines = [text[at + 1 : at + length] for at in range(0, len(text), length)]
        short = draw.random() < 0.5 and len(lines) > 1
        count = int(draw.integers(1, len(lines))) if short else len(lines) + int(draw.integers(1, 2 * len(lines) + 1))
        if draw.random() < 0.16:
            wrong[n] = True
            lines = (lines * 3)[:count]
        packets += [b"0" + line for line in lines[:-1]] + [b"1" + lines[-1]]
    return b"".join(packets), wrong
