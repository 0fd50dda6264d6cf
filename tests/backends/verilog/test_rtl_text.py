"""What both schedulers write, read by others: pyverilog, Verilator's lint and yosys; and that the reader notices."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import cli_programs
import hardware_programs
import numpy as np
import pytest
from tiers import count
from verilog_reading import Declared, Module, connections, read

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.signals import signed_width, width
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.sims.rtl import check_design
from circuitize.sims.rtl.frames import bound_somehow, frames_to_try


def products() -> Program:
    """A step whose weights are fed with each frame, and not kept."""
    step = cli_programs.step()
    inputs = tuple(replace(port, role=Role.DATA) for port in step.inputs)
    return replace(step, inputs=inputs, outputs=tuple(replace(port, role=Role.DATA) for port in step.outputs))


PROGRAMS = {
    "linear": hardware_programs.linear,
    "head": hardware_programs.head,
    "counter": hardware_programs.counter,
    "convolution": hardware_programs.convolution,
    "arithmetic": hardware_programs.arithmetic,
    "products": products,
    "table": cli_programs.growth,
    "inverse": cli_programs.inverse,
}
DESIGNS = [(name, scheduler) for name in PROGRAMS for scheduler in ("parallel", "folded")]
READ = {(name, scheduler) for name in ("counter", "arithmetic") for scheduler in ("parallel", "folded")}
READ.add(("convolution", "parallel"))
"""In `make test` other readers read these; in the deep tier all."""
FRAMES = count(30, deep=60)
COMMANDED = {"linear", "head", "counter"}
"""`test_cli_simulate.py` simulates these."""


def designs(deep: Callable[[str, str], bool]) -> pytest.MarkDecorator:
    """All designs, of which some are left to the deep tier."""
    each = [pytest.param(*one, marks=pytest.mark.deep if deep(*one) else ()) for one in DESIGNS]
    return pytest.mark.parametrize(("name", "scheduler"), each)


designs_to_read = designs(lambda *one: one not in READ)


@cache
def made(name: str, scheduler: str) -> tuple[Bound, Design]:
    found = bound_somehow(quantize(PROGRAMS[name]()))
    return found, integrated(found, scheduler, {})


def written(name: str, scheduler: str, folder: Path) -> list[Path]:
    files = made(name, scheduler)[1].files
    for file, text in files.items():
        (folder / file).write_text(text)
    return [folder / file for file in files if file.endswith(".v")]


@designs(lambda name, _: name in COMMANDED)
def test_designs_equal_their_programs(name: str, scheduler: str) -> None:
    found, of = made(name, scheduler)
    compared = check_design(of, found.program, frames_to_try(found, FRAMES, 5), found.initial, backpressure=2)
    assert (compared.mismatches, compared.first_difference) == (0, None)
    assert compared.undefined < FRAMES


@pytest.fixture(scope="module")
def parser_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pyverilog")


@cache
def understood(name: str, scheduler: str, parser_folder: Path) -> dict[str, Module]:
    """The modules of a design, as pyverilog reads all of its files together."""
    folder = parser_folder / f"{name}-{scheduler}"
    folder.mkdir()
    return read(written(name, scheduler, folder), parser_folder)


@designs_to_read
def test_another_reader_finds_ports_widths_and_signs(name: str, scheduler: str, parser_folder: Path) -> None:
    """Ports are the streams; instances connect equals; no expression mixes signs; `>>>` is of signed operands only."""
    of = made(name, scheduler)[1]
    modules = understood(name, scheduler, parser_folder)
    assert not [fault for module in modules.values() for fault in module.faults]
    assert not [wrong for module in modules.values() for wrong in connections(module, modules)]
    expected = {"clk": ("input", 1), "rst": ("input", 1)}
    for stream in of.streams:
        forward, back = ("output", "input") if stream.output else ("input", "output")
        bits = max(8, 1 << (width(stream.format.low, stream.format.high) - 1).bit_length()) * stream.lanes
        expected |= {f"{stream.name}_tdata": (forward, bits), f"{stream.name}_tready": (back, 1)}
        expected |= {f"{stream.name}_{wire}": (forward, 1) for wire in ("tvalid", "tlast")}
        expected[f"{stream.name}_tkeep"] = (forward, bits // 8)
    found = {port: (declared.direction, declared.width) for port, declared in modules[of.top].ports.items()}
    assert found == expected


@designs_to_read
def test_outputs_are_as_wide_as_their_intervals(name: str, scheduler: str, parser_folder: Path) -> None:
    """Each module names its operation's interval in a comment: its results need no more bits, signs only where low < 0.

    The parallel scheduler may know a narrower interval of an element; a folded unit has exactly the wire's width.
    """
    checked = 0
    for file, text in made(name, scheduler)[1].files.items():
        intervals = re.findall(r"^// .*in \[(-?\d+), (-?\d+)\](?:; .*)?$", text, re.MULTILINE)
        if not intervals:
            continue
        stem, low, high = file.removesuffix(".v"), *map(int, intervals[-1])
        for port, found in results(understood(name, scheduler, parser_folder)[stem], stem, scheduler):
            checked += 1
            if scheduler == "folded":
                assert found.width % width(low, high) == 0, (port, found, low, high)
            else:
                assert found.width <= (signed_width if found.signed else width)(low, high), (port, found, low, high)
                assert low < 0 or not found.signed
    assert checked


def results(module: Module, stem: str, scheduler: str) -> list[tuple[str, Declared]]:
    """A module's ports that carry elements of its operation's result: `NAME__INDEX`, or a folded unit's `made`."""
    word = stem.removeprefix("circuitize_parallel_")
    pattern = r"made" if scheduler == "folded" else rf"{re.escape(word)}__(value|\d[\d_]*)(_d\d+)?"
    outputs = [(name, port) for name, port in module.ports.items() if port.direction == "output"]
    return [(name, port) for name, port in outputs if re.fullmatch(pattern, name)]


@designs_to_read
def test_lint_and_yosys_find_nothing(name: str, scheduler: str, tmp_path: Path) -> None:
    of = made(name, scheduler)[1]
    files = written(name, scheduler, tmp_path)
    assert all(re.search(r"^//", path.read_text(), re.MULTILINE) for path in files)
    assert all("`default_nettype none" in path.read_text() for path in files)
    assert not any("verilator" in path.read_text() for path in files)
    names = [path.name for path in files]
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", of.top, *names]
    done = subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    script = f"read_verilog -defer {' '.join(names)}; hierarchy -check -top {of.top}; proc; check -assert"
    done = subprocess.run(
        ["yosys", "-Q", "-q", "-p", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


MIXED = {
    "wire [3:0] c = a + b;": "signed and unsigned",
    "wire [3:0] c = b ? a : u;": "signed and unsigned",
    "wire c = a < u;": "signed and unsigned",
    "wire [3:0] c = u >>> 1;": ">>> of something unsigned",
    "wire [3:0] c = a[3:0] + a;": "signed and unsigned",
    "wire signed [3:0] c = {a} + a;": "signed and unsigned",
    "wire [3:0] c = d;": "not declared",
    "reg [3:0] c; always @* if (a == u) c = u; else c = ~u;": "signed and unsigned",
    "wire signed [3:0] c = a + 4'd3;": "signed and unsigned",
}
CLEAN = [
    "wire signed [4:0] c = $signed({a[3], a}) + $signed({1'b0, u});",
    "wire signed [3:0] c = a >>> 2;",
    "wire [3:0] c = u + {3'd0, b};",
    "wire signed [3:0] c = b ? a : -4'sd3;",
    "wire [1:0] c = {a < 4'sd2, u == 4'd3};",
]


@pytest.mark.parametrize("line", [*MIXED, *CLEAN])
def test_the_reader_notices(line: str, tmp_path: Path, parser_folder: Path) -> None:
    ports = "input wire signed [3:0] a, input wire [3:0] u, input wire b"
    (tmp_path / "m.v").write_text(f"module m({ports});\n{line}\nendmodule\n")
    faults = read([tmp_path / "m.v"], parser_folder)["m"].faults
    assert bool(faults) == (line in MIXED)
    assert not faults or MIXED[line] in faults[0]


def test_the_reader_notices_connections(tmp_path: Path, parser_folder: Path) -> None:
    (tmp_path / "m.v").write_text(
        "module n #(parameter W = 2)(input wire [W-1:0] x); endmodule\n"
        "module m(input wire [3:0] a, input wire signed [1:0] s);\n"
        "n right(.x(a[1:0])); n narrow(.x(a)); n sign(.x(s)); n #(.W(4)) wide(.x(a)); n none(.z(a));\nendmodule\n"
    )
    modules = read([tmp_path / "m.v"], parser_folder)
    assert len(connections(modules["m"], modules)) == 3


def test_programs_here_use_most_of_the_language() -> None:
    used = {
        edge.operation.name for make in PROGRAMS.values() for edge in quantize(make()).arrow.edges()
    }  # fmt: skip
    assert len(used) >= 17, used
    assert np.all([name in used for name in ("integer.contract", "integer.divide", "integer.lookup", "integer.clamp")])
