"""The shell of a design: readies that depend on nothing, names that several designs share a project by, bad input."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import hardware_programs
import numpy as np
import pytest
from broken_frames import faulty
from example_programs import example
from ready_paths import depends
from slang_errors import errors
from tiers import TIER, count

from circuitize.backends.verilog.bound import Bound, design, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.quantize import quantize
from circuitize.sims.rtl import Simulation, check_design, compare, expected
from circuitize.sims.rtl.frames import bound_somehow, frames_to_try

FACES: dict[str, tuple[str, str, Interface, dict[str, int]]] = {
    "streams": ("arithmetic", "folded", Interface("one"), {}),
    "streams at once": ("arithmetic", "parallel", Interface("one"), {}),
    "packed": ("arithmetic", "folded", Interface("packed_one", "packed", control=True), {"elements_per_beat": 4}),
    "shared": ("arithmetic", "parallel", Interface("dma", bus_bits=64), {}),
    "shared, folded": ("arithmetic", "folded", Interface("dma", bus_bits=32, control=True), {"elements_per_beat": 2}),
    "shared, wide": ("head", "folded", Interface("dma", bus_bits=256), {}),
    "state": ("counter", "folded", Interface("kept", control=True), {}),
    "shared state": ("counter", "folded", Interface("kept", bus_bits=16), {}),
    "state at once": ("counter", "parallel", Interface("kept", control=True), {}),
    "shared state at once": ("counter", "parallel", Interface("kept", bus_bits=16), {}),
}


FRAMES = count(40, deep=60)
QUICK = ("streams at once", "shared state", "state", "state at once")


@cache
def bound(program: str) -> Bound:
    return bound_somehow(quantize(getattr(hardware_programs, program)()))


def made(face: str) -> tuple[Bound, Design]:
    program, scheduler, interface, options = FACES[face]
    return bound(program), integrated(bound(program), scheduler, options, interface)


@pytest.mark.parametrize("face", FACES)
def test_designs_equal_their_programs(face: str) -> None:
    found, of = made(face)
    vectors = frames_to_try(found, 40 if TIER == "deep" else 20, 5)
    compared = check_design(of, found.program, vectors, found.initial, backpressure=2)
    assert (compared.mismatches, compared.first_difference) == (0, None)


@pytest.mark.parametrize(
    "face", [face if face in QUICK else pytest.param(face, marks=pytest.mark.deep) for face in FACES]
)
def test_no_ready_depends_on_another(face: str, tmp_path: Path) -> None:
    """Within a clock every ready that leaves a design depends on registers and `rst` alone."""
    found = depends(made(face)[1], tmp_path)
    readies = {name: inputs for name, inputs in found.items() if name.endswith("ready")}
    assert readies and not {name: inputs for name, inputs in readies.items() if inputs - {"rst"}}


def test_the_walk_notices(tmp_path: Path) -> None:
    """Without its shell a parallel design passes readiness on."""
    found = depends(design(bound("linear"), "parallel", {}), tmp_path)
    assert any("status_tready" in inputs for name, inputs in found.items() if name.endswith("tready"))


@pytest.mark.parametrize("pace", [pytest.param(None, marks=pytest.mark.deep), 3])
@pytest.mark.parametrize("face", ["streams", "streams at once", "packed"])
def test_frames_out_of_place_fail_alone(face: str, pace: int | None) -> None:
    draw = np.random.default_rng(4)
    found, of = made(face)
    vectors = frames_to_try(found, FRAMES, 3)
    wanted = expected(found.program, vectors)
    beats, wrong = {}, wanted.undefined.copy()
    for stream in of.streams:
        if not stream.output:
            beats[stream.name], here = faulty(stream, vectors[stream.port], draw)
            wrong |= here
    assert 5 < wrong.sum() < FRAMES - 5
    with Simulation(of) as simulation:
        frames = simulation.run_beats(beats, FRAMES, pace)
    compared = compare(frames, type(wanted)(wanted.outputs, wrong))
    assert (compared.mismatches, compared.first_difference) == (0, None)


@pytest.mark.parametrize("face", ["streams", "streams at once", "shared"])
def test_a_slot_that_is_no_element_raises_the_status(face: str) -> None:
    """Integers that lie in the slots of whole bytes, but not in their interval, whatever the bits of an element say."""
    found, of = made(face)
    vectors = frames_to_try(found, 24, 1)
    wanted = expected(found.program, vectors)
    wrong = wanted.undefined.copy()
    (stream, *_) = [s for s in of.streams if not s.output]
    values = vectors[stream.port].reshape(24, -1)
    values[5, -1] += 1 << stream.element_bits
    values[11, 0] = stream.format.low - 1
    wrong[[5, 11]] = True
    assert stream.pitch > stream.element_bits
    with Simulation(of) as simulation:
        frames = simulation.run({**vectors, stream.port: values.reshape(vectors[stream.port].shape)}, 7)
    assert compare(frames, type(wanted)(wanted.outputs, wrong)).first_difference is None


def test_designs_in_one_project(tmp_path: Path) -> None:
    """Icarus, Verilator, yosys and slang read the files of four designs, two of each of two programs, together."""
    faces = [("counter", "folded", "trains"), ("arithmetic", "folded", "folds"), ("arithmetic", "parallel", "unrolls")]
    faces.append(("counter", "parallel", "learns"))
    designs = [integrated(bound(p), s, {}, Interface(name, control=True)) for p, s, name in faces]
    files: dict[str, str] = {}
    for of in designs:
        assert not files.keys() & of.files.keys()
        files |= of.files
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sources = sorted(name for name in files if name.endswith(".v"))
    modules = [module for name in sources for module in re.findall(r"^module (\w+)", files[name], re.MULTILINE)]
    assert len(modules) == len(set(modules)) == len(sources)
    checked = [f"read_verilog -defer {' '.join(sources)}; design -save read"]
    for of in designs:
        own = {name.partition(".")[0] for name in of.files}
        assert all(name == of.top or name.startswith(f"{of.top}_") for name in own), own
        assert errors(Design(of.top, "", of.files, of.streams)) == []
        lint = ["verilator", "--lint-only", "-Wall", "-Wno-MULTITOP", "--top-module", of.top, *sources]
        assert subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, check=False).stderr == ""
        checked.append(f"design -load read; hierarchy -check -top {of.top}; proc; check -assert")
    subprocess.run(["yosys", "-q", "-p", "; ".join(checked)], cwd=tmp_path, check=True, capture_output=True)
    roots = [word for of in designs for word in ("-s", of.top)]
    subprocess.run(["iverilog", "-g2005", "-Wall", "-o", "all", *roots, *sources], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    "name",
    ["skid", "folded", *(pytest.param(name, marks=pytest.mark.deep) for name in ("shell", "x", "core", "a" * 64))],
)
def test_a_name_may_be_that_of_a_part(name: str) -> None:
    found = bound("arithmetic")
    of = integrated(found, "folded", {}, Interface(name))
    assert check_design(of, found.program, frames_to_try(found, 4, 5), found.initial).mismatches == 0


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a word of Verilog": ({"name": "module"}, "--name: expected a letter and up to 63"),
    "a digit first": ({"name": "1st"}, "found '1st'"),
    "a hyphen": ({"name": "a-b"}, "found 'a-b'"),
    "too long": ({"name": "a" * 65}, "up to 63 letters"),
    "no power of two": ({"bus_bits": 24}, "--bus-bits: expected a power of two from 8 to 1024, found 24"),
    "too wide": ({"bus_bits": 2048}, "found 2048"),
    "packed on a bus": ({"bus_bits": 32, "elements": "packed"}, "found --elements packed"),
    "neither": ({"elements": "bits"}, "--elements: expected bytes or packed, found 'bits'"),
}


@pytest.mark.parametrize("how", BAD)
def test_bad_input_is_one_line(how: str) -> None:
    given, told = BAD[how]
    with pytest.raises(CircuitizeError) as raised:
        Interface(**given)
    assert told in str(raised.value) and "\n" not in str(raised.value)


def test_a_bus_is_as_wide_as_an_element() -> None:
    wide = bound_somehow(example("iris.py:predict").integer)
    with pytest.raises(CircuitizeError, match="--bus-bits: expected at least 16 bits for an element of 'inputs'"):
        integrated(wide, "folded", {}, Interface(bus_bits=8))


def test_beats_on_a_bus_have_an_element_at_least() -> None:
    """Also where as few as will do are asked for."""
    options = [{"lanes": 5, "elements_per_beat": count} for count in (0, 1)]
    few, one = (integrated(bound("head"), "folded", own, Interface(bus_bits=64)) for own in options)
    assert few.files == one.files
