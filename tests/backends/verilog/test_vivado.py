"""Files for Vivado and PYNQ: frames by the bus through the design's Verilog, the notebook's code, what is refused."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import hardware_programs
import modal_designs
import numpy as np
import pynq_rtl
import pytest
from cli_programs import refused, run

from circuitize.backends.verilog.design import Bus
from circuitize.backends.verilog.modes import MODE
from circuitize.backends.verilog.project import Project, read_project
from circuitize.backends.verilog.vivado.frames import Frames
from circuitize.backends.verilog.vivado.parts import Vivado
from circuitize.sims.rtl.beats import packets
from circuitize.sims.rtl.passing import Passing
from circuitize.sims.rtl.simulate import Simulation

HERE, SMALL = f"{hardware_programs.__file__}:", f"{modal_designs.__file__}:"
PROGRAMS = {
    "linear": (HERE + "linear",),
    "parallel": (HERE + "arithmetic", "--scheduler", "parallel", "--bus-bits", "64"),
    "counter": (HERE + "counter",),
    "modes": (SMALL + "step", "--predict", SMALL + "predict", "--lanes", "24"),
}


def compiled(name: str, folder: Path, part: str = "xc7z020clg400-1", *more: str) -> Path:
    program, *options = PROGRAMS[name]
    if "--scheduler" not in options:
        options += ["--scheduler", "folded"]
    done = run("compile", program, "--target", "verilog", "--vivado", part, *options, *more, "-o", folder)
    assert done.status == 0, done
    return folder


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("linear", tmp_path_factory.mktemp("linear") / "d")


def framed(project: Project, output: bool) -> list[int]:
    """The words of all test frames on a bus, by the project's own benches."""
    vectors = project.vectors
    passing = Passing(project.design, vectors.inputs.get(MODE))
    (bus,) = (bus for bus in project.design.buses if bus.output is output)
    values = {**(vectors.outputs if output else vectors.inputs), "": vectors.undefined.astype(np.int64)}
    text = _packets(bus, passing, values, len(vectors))
    return [int(line[1:], 16) for line in text.split()]


def _packets(bus: Bus, passing: Passing, values: Any, count: int) -> bytes:
    return packets(bus, {s.port: passing.of(s, values[s.port]) for s in bus.streams}, *passing.beats(bus, count))


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.deep) if n == "modes" else n for n in PROGRAMS])
def test_words_are_those_of_the_project_s_own_framing(name: str, tmp_path: Path) -> None:
    folder = compiled(name, tmp_path / "d")
    project, frames = read_project(folder), Frames(folder)
    assert project.vivado == Vivado("xc7z020clg400-1")
    given = list(frames.vectors())
    assert np.concatenate([frames.packed(frame) for frame, _, _ in given]).tolist() == framed(project, False)
    words, at = np.array(framed(project, True), frames.word), 0
    for frame, wanted, fails in given:
        mode = frames.mode(frame)
        found, failed = frames.unpacked(words[at : at + frames.count(mode)], mode)
        at += frames.count(mode)
        assert failed == fails and found.keys() == wanted.keys()
        assert failed or all(np.array_equal(found[port], wanted[port]) for port in wanted)
    assert at == len(words) and len(given) == len(project.vectors)


@pytest.mark.parametrize("name", ["linear", *(pytest.param(n, marks=pytest.mark.deep) for n in ("parallel", "modes"))])
def test_frames_pass_the_design(name: str, tmp_path: Path) -> None:
    """What `frames.py` packs goes through the Verilog on its bus; what it unpacks are the executor's numbers."""
    folder = compiled(name, tmp_path / "d")
    project, frames = read_project(folder), Frames(folder)
    given = list(frames.vectors())
    with Simulation(project.design) as simulation:
        sent = [frames.packed(frame) for frame, _, _ in given]
        received = pynq_rtl.exchanged(simulation, sent, project.vectors.inputs.get(MODE))
    for words, (frame, wanted, fails) in zip(received, given, strict=True):
        found, failed = frames.unpacked(words, frames.mode(frame))
        assert failed == fails
        for port in () if failed else wanted:
            np.testing.assert_array_equal(found[port], wanted[port])
            assert found[port].dtype == np.int64


def cells(folder: Path) -> list[str]:
    """The code of the notebook, which is one of format 4.5 without results."""
    made = json.loads((folder / "vivado" / "run.ipynb").read_text())
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    common = {"cell_type", "id", "metadata", "source"}
    for cell in made["cells"]:
        assert cell.keys() == (common if cell["cell_type"] == "markdown" else common | {"execution_count", "outputs"})
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
    assert "never run in Vivado or on a board" in "".join(made["cells"][0]["source"])
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(("flipped", "different"), [(0, []), (1 << 8, [0, 1, 2, 3, 4])])
def test_the_notebook_runs(
    flipped: int,
    different: list[int],
    linear: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its code, with the design in Icarus in the place of a board; a wrong bit is noticed."""
    monkeypatch.chdir(linear / "vivado")
    monkeypatch.setitem(sys.modules, "pynq", pynq_rtl.pynq(flipped))
    monkeypatch.setitem(sys.modules, "frames", module(linear / "vivado" / "frames.py"))
    names: dict[str, Any] = {}
    for number, text in enumerate(cells(linear)):
        exec(compile(text, f"cell {number}", "exec"), names)
    shown = capsys.readouterr().out
    assert f"5 frames, different: {different}" in shown and "failed: False" in shown and "last_cycles 0" in shown
    found = names["frames"].reals({"y": names["outputs"]["y"]})["y"]
    np.testing.assert_array_equal(found, names["outputs"]["y"] * 2.0**-3)


def module(path: Path) -> Any:
    spec = spec_from_file_location("frames", path)
    assert spec is not None and spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_a_frame_that_does_not_fit_is_one_line(linear: Path) -> None:
    frames = Frames(linear)
    (frame, _, _), *_ = frames.vectors()
    reals = frames.reals(frame, output=False)
    assert frames.integers(reals)["x"].tolist() == frame["x"].tolist()
    for wrong, said in (
        ({}, "expected an input 'x' of shape [3], found []; add it"),
        ({"x": np.zeros((1, 3))}, "expected 'x' of shape [3], found [1, 3]; reshape it"),
        (
            {"x": np.full(3, 300)},
            "expected integers 'x' from -16 to 15, found others; bring them into the interval",
        ),
        ({"x": np.array([0.5, 0, 0])}, "expected integers 'x'"),
        ({"x": np.array([np.nan, 0, 0])}, "expected integers 'x'"),
        ({"x": np.array(["a", "b", "c"])}, "expected integers 'x'"),
    ):
        with pytest.raises(ValueError) as refusal:
            frames.packed(wrong)
        assert str(refusal.value).startswith(said) and "\n" not in str(refusal.value)
    with pytest.raises(ValueError, match=r"expected real values 'x' from -4.0 to 3.75, found others; bring them into"):
        frames.integers({"x": np.array([0.0, 4.0, 0.0])})
    with pytest.raises(ValueError, match="expected 2 words of outputs, found 3; reset the design"):
        frames.unpacked(np.zeros(3, np.uint32))


BAD = {
    (
        "--vivado",
        "zynq",
    ): "--vivado: expected a part as Vivado names it, xc7z020clg400-1 or xczu3eg-sbva484-1-e, found ",
    ("--vivado", "xc7z020"): "found 'xc7z020'; name the package and the speed grade, too",
    (
        "--vivado",
        "xc7z020clg400-1",
        "--bus-bits",
        "16",
    ): "--vivado: expected --bus-bits 32 or 64, found 16",
    ("--vivado", "xc7z020clg400-1", "--elements", "packed"): "--vivado: expected elements in whole bytes, found --elem",
    ("--vivado", "xc7z020clg400-1", "--mhz", "400"): "--mhz: expected 10 to 250, found 400; choose a slower clock",
    ("--vivado", "xc7z020clg400-1", "--board", "ulx3s-85f"): "--vivado: expected no --board, found it; leave one",
    ("--mhz", "50"): "expected --board, --vivado or --family ecp5 beside it, found the family xc7; leave it out",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_options_are_one_line(options: tuple[str, ...], tmp_path: Path) -> None:
    command = ("compile", HERE + "linear", "--target", "verilog", "--scheduler", "folded", *options)
    assert BAD[options] in refused(*command, "-o", tmp_path / "d")


GOOD = """
xc7z010clg225-1 xc7z007sclg225-1 xc7z010iclg225-1L xa7z020clg400-1I xc7a35ticsg324-1L
xc7s50csga324-1 xc7vx485tffg1761-2 xczu7ev-ffvc1156-2-e xczu28dr-ffvg1517-2-e xcku040-ffva1156-2-e
xcvu9p-flga2104-2L-e xcau25p-sfvb784-1-i xck24-ubva530-2LV-c
"""
"""Names of parts as Vivado has them."""


@pytest.mark.parametrize("part", GOOD.split())
def test_parts_by_their_names(part: str) -> None:
    assert bool(Vivado(part).processor) == part.startswith(("xc7z", "xa7z", "xczu", "xck2"))


def test_a_part_without_a_processor_says_so(tmp_path: Path) -> None:
    command = ("compile", HERE + "linear", "--target", "verilog", "--scheduler", "folded")
    done = run(*command, "--vivado", "xc7a35tcpg236-1", "-o", tmp_path / "d")
    assert done.status == 0
    assert "xc7a35tcpg236-1 has no processor: no block design is written, only the IP and synthesis" in done.err
