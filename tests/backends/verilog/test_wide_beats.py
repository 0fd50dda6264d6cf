"""Beats of many elements: what unpacks and packs them is in parts, and tools read them in time."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from folded_programs import named
from linted import warnings
from slang_errors import errors

from circuitize.backends.verilog import concatenation
from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.parallel import parts
from circuitize.backends.verilog.shell import Interface, wiring
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Constant, Multiply
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import Simulation, check_design, compare, expected

SIZE = 77
WIDE, MOST, JOINED = 8, 60, 8
"""Modules and concatenations that are far smaller than those of real designs, so that simulators are quick."""
LONGEST = 1 << 14
"""The longest line that the preprocessor of Icarus takes."""


@pytest.fixture
def small_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "WIDE", WIDE)
    monkeypatch.setattr(parts, "MOST", MOST)
    monkeypatch.setattr(concatenation, "LONGEST", JOINED)


def made(elements: str) -> tuple[IntegerProgram, Design]:
    """A program of three outputs: of two, whole parts of a concatenation are known, or all are."""
    builder = Builder()
    x = builder.input(Fixed((SIZE,), 0, -100, 900))
    some = builder.add(Constant.of(np.where(np.arange(SIZE) < 40, 0, np.arange(SIZE) % 3)))
    known = builder.add(Constant.of(np.arange(SIZE) - 9))
    outputs = [builder.add(Check(-199, 1799), builder.add(Add(), x, x))]
    outputs += [builder.add(Add(), builder.add(Multiply(), x, some), known), known]
    program = named(builder, ["x"], outputs)
    return program, integrated(Bound(program, {}), "parallel", {}, Interface(elements=elements))


def frames(number: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(number)
    found = draw.integers(-99, 900, (number, SIZE))
    found[draw.random(number) < 0.3, SIZE - 1] = 900
    return {"x": found}


@pytest.mark.usefixtures("small_modules")
@pytest.mark.parametrize("elements", ["bytes", "packed"])
def test_every_element_of_a_wide_beat_arrives(elements: str, tmp_path: Path) -> None:
    program, design = made(elements)
    shell = design.files["circuitize.v"]
    assert shell.count("  circuitize_unpack #") == -(-SIZE // WIDE)
    assert shell.count("  circuitize_pack #") == 1, "that of the status"
    core, parts = design.files["circuitize_parallel.v"], -(-SIZE // JOINED)
    assert len(re.findall(r"  always @\* begin\n    \w+_tdata_part\d+ = \{", shell)) == 3 * parts
    assert len(re.findall(r"  wire \[\d+:0\] \w+_tdata_part\d+ = \{", core)) == 2 * parts, "the third is known"
    inputs = [name for name in design.files if "x_input_part" in name]
    assert len(inputs) > 2
    assert (errors(design), warnings(design, tmp_path)) == ([], "")
    found = check_design(design, program, frames(40), {}, backpressure=1)
    assert (found.mismatches, found.first_difference) == (0, None)
    assert 0 < found.undefined < 40


@pytest.mark.usefixtures("small_modules")
def test_a_slot_that_is_no_element_raises_the_status() -> None:
    """In each of the modules that unpack a part of the beat."""
    program, design = made("bytes")
    (stream,) = [stream for stream in design.streams if stream.port == "x"]
    assert stream.pitch > stream.element_bits
    lanes = [0, 7, 8, 15, 16, 48, 64, SIZE - 1]
    values = frames(2 * len(lanes))["x"]
    wanted = expected(program, {"x": values})
    wrong = wanted.undefined.copy()
    for number, lane in enumerate(lanes):
        values[2 * number, lane] += 1 << stream.element_bits
        wrong[2 * number] = True
    assert not wrong.all()
    with Simulation(design) as simulation:
        found = simulation.run({"x": values}, None)
    compared = compare(found, type(wanted)(wanted.outputs, wrong))
    assert (compared.mismatches, compared.first_difference) == (0, None)


def test_lines_are_short() -> None:
    """That of `tkeep`, too, with a bit for each byte: eight for each element."""
    builder = Builder()
    x = builder.input(Fixed((9000,), 0, 0, 1 << 40))
    program = named(builder, ["x"], [x])
    design = integrated(Bound(program, {}), "parallel", {}, Interface())
    assert design.streams[0].last_keep.bit_length() == 72_000
    assert max(len(line) for text in design.files.values() for line in text.splitlines()) < LONGEST
