"""Whole networks in the parallel schedule: thousands of frames equal to the executor, clean for linters and yosys."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import parallel_networks as networks
import pytest
from r1cs_programs import integer_type
from tiers import count

from circuitize.backends.verilog import netlist
from circuitize.backends.verilog.netlist import Kind, Netlist
from circuitize.backends.verilog.parallel import contraction, matrices, schedule
from circuitize.backends.verilog.parallel.elements import Elements, signed_digits
from circuitize.backends.verilog.parallel.schedule import Unrolled
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Contract
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import rtl

FRAMES = count(400, deep=20_000)
MANY = [networks.jet, networks.convolution, networks.tabled, networks.head, networks.checked]
LARGER = (networks.jet, networks.convolution)
SMALLER = pytest.mark.parametrize(
    "network",
    [pytest.param(make, marks=pytest.mark.deep if make in LARGER else ()) for make in MANY],
    ids=lambda make: make.__name__,
)
"""The largest networks are left to the deep tier; in `make test` a convolution is in `test_rtl_text.py`."""


@SMALLER
def test_thousands_of_frames(network: Callable[[], IntegerProgram]) -> None:
    program = network()
    made = networks.vectors(integer_type(program.arrow.source[0]), FRAMES)
    design = schedule(program, 4)
    found = rtl.check_design(design, program, made, backpressure=None)
    assert found.mismatches == 0, found.first_difference
    assert found.latency_cycles == design.report["latency_cycles"]
    assert found.interval_cycles == 1
    assert (found.undefined > 0) == (network is networks.checked)


@SMALLER
def test_backpressure_loses_nothing(network: Callable[[], IntegerProgram]) -> None:
    program = network()
    found = rtl.check_design(schedule(program, 5), program, networks.vectors(integer_type(program.arrow.source[0]), 60))
    assert found.mismatches == 0, found.first_difference


@pytest.mark.parametrize("levels", [1, 2, 100])
@pytest.mark.parametrize("multiplication", ["adders", "dsp"])
def test_every_pipeline_computes_the_same(levels: int, multiplication: str) -> None:
    program = networks.tabled()
    design = schedule(program, levels, multiplication)
    found = rtl.check_design(design, program, networks.vectors(integer_type(program.arrow.source[0]), 100))
    assert found.mismatches == 0, found.first_difference


def written(program: IntegerProgram, folder: Path, **options: Any) -> Path:
    for name, text in schedule(program, **options).files.items():
        (folder / name).write_text(text)
    return folder


@SMALLER
def test_linters_find_nothing(network: Callable[[], IntegerProgram], tmp_path: Path) -> None:
    folder = written(network(), tmp_path)
    verilator = shutil.which("verilator")
    assert verilator is not None, "install Verilator: it is the linter"
    files = sorted(path.name for path in folder.glob("*.v"))
    command = [verilator, "--lint-only", "-Wall", "--top-module", "parallel", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr[:2000]
    assert not any("lint_off" in path.read_text() for path in folder.glob("*.v"))


@pytest.mark.parametrize("network", [networks.tabled, networks.checked], ids=lambda make: make.__name__)
def test_yosys_agrees_that_it_is_sound(network: Callable[[], IntegerProgram], tmp_path: Path) -> None:
    folder = written(network(), tmp_path)
    yosys = shutil.which("yosys")
    assert yosys is not None, "install yosys"
    files = " ".join(sorted(path.name for path in folder.glob("*.v")))
    script = (
        f"read_verilog {files}; hierarchy -check -top parallel; proc; opt_clean; check -assert; flatten; check -assert"
    )
    done = subprocess.run([yosys, "-q", "-p", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]


def synthesized(program: IntegerProgram, folder: Path, flags: str, **options: Any) -> dict[str, int]:
    """Cells by kind, as yosys counts them."""
    files = " ".join(sorted(path.name for path in written(program, folder, **options).glob("*.v")))
    script = f"read_verilog {files}; synth_xilinx -family xc7 -flatten -noiopad {flags} -top parallel; stat"
    done = subprocess.run(["yosys", "-p", script], cwd=folder, capture_output=True, text=True, check=True)
    last = done.stdout[done.stdout.rindex("Number of cells:") :].splitlines()
    return {words[0]: int(words[1]) for words in map(str.split, last) if len(words) == 2 and words[1].isdigit()}


@pytest.mark.deep
def test_logic_and_registers_are_as_estimated(tmp_path: Path) -> None:
    """yosys counts the flip-flops that the report gives, and look-up tables within a tenth; in `make test` those of an
    ECP5, which yosys makes in a third of the time (`test_devices.py`).

    Without -nosrl it would put the chain of registers of `unframed` into look-up tables.
    """
    random = np.random.default_rng(4)
    weights = networks.drawn(random, (4, 5, 3), 6, 0.0)
    biases = [random.integers(-1500, 1500, 5), random.integers(-1500, 1500, 3)]
    program = networks.layered(weights, biases, (5, -1), Fixed((4,), 0, -128, 127))
    counts, report = synthesized(program, tmp_path, "-nodsp -nosrl", levels_per_stage=6), Unrolled(program, 6).report()
    assert sum(n for name, n in counts.items() if name.startswith("FD")) == report["ff"]
    lut = sum(n for name, n in counts.items() if name.startswith("LUT"))
    assert abs(report["lut"] - lut) <= lut / 10


@pytest.mark.deep
def test_multipliers_and_block_memories_are_as_estimated(tmp_path: Path) -> None:
    program = networks.curve()
    options: dict[str, Any] = {"levels_per_stage": 3, "multiplication": "dsp"}
    counts, report = synthesized(program, tmp_path, "", **options), Unrolled(program, **options).report()
    assert counts["DSP48E1"] == report["dsp"] > 0
    blocks = counts.get("RAMB18E1", 0) + 2 * counts.get("RAMB36E1", 0)
    assert report["bram_bits"] <= blocks * 18 * 1024 < 2 * report["bram_bits"]
    made = networks.vectors(integer_type(program.arrow.source[0]), 200)
    found = rtl.check_design(schedule(program, **options), program, made)
    assert found.mismatches == 0, found.first_difference


def test_a_wider_stage_takes_fewer_cycles_and_registers() -> None:
    reports = [Unrolled(networks.tabled(), levels).report() for levels in (2, 4, 8)]
    assert reports[0]["latency_cycles"] > reports[1]["latency_cycles"] > reports[2]["latency_cycles"]
    assert reports[0]["ff"] > reports[2]["ff"]
    assert len({report["lut"] for report in reports}) == 1


def plan_product(plan: matrices.Plan, x: np.ndarray) -> np.ndarray:
    """x W by the additions of a plan, in plain integers."""
    slots = [4.0 * column for column in x.T]
    for a, b, shift, minus in plan.steps:
        slots.append(slots[a] + (-1.0 if minus else 1.0) * slots[b] * 2.0**shift)
    made = np.zeros((len(x), plan.columns))
    for slot, column, shift, negative in plan.terms:
        made[:, column] += (-1.0 if negative else 1.0) * slots[slot] * 2.0**shift
    return made / 4


@pytest.mark.parametrize("optimise", [matrices.greedy, matrices.optimiser()], ids=["greedy", "installed"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 6), (8, 8), (12, 7)], ids=str)
def test_plans_are_products(optimise: matrices.Optimiser, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(shape[0])
    matrix = random.integers(-127, 128, shape) * (random.random(shape) < 0.8)
    x = random.integers(-99, 99, (20, shape[0]))
    plan = optimise(matrix, np.full(shape[0], -99), np.full(shape[0], 99), False)
    assert (plan_product(plan, x) == x @ matrix).all()
    digits = sum(int(np.count_nonzero(digit)) for _, digit in signed_digits(matrix))
    additions = len(plan.steps) + len(plan.terms) - len({column for _, column, _, _ in plan.terms})
    assert additions <= max(0, digits - int(np.count_nonzero(matrix.any(axis=0))))
    if shape[0] >= 8:
        assert additions < 0.75 * digits


def test_the_fallback_makes_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Unrolled.__module__], "optimiser", lambda: matrices.greedy)
    program = networks.convolution()
    found = rtl.check_design(schedule(program), program, networks.vectors(integer_type(program.arrow.source[0]), 100))
    assert found.mismatches == 0, found.first_difference


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels_per_stage": 0}, "expected at least 1 level of adders a stage, found 0"),
        ({"multiplication": "luts"}, "expected multiplication by adders or dsp, found 'luts'"),
    ],
    ids=str,
)
def test_bad_options_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CircuitizeError, match=message):
        schedule(networks.head(), **options)


def test_a_program_that_no_device_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    count = Unrolled(networks.small()).net.count
    monkeypatch.setattr(netlist, "MOST_NODES", count)
    assert Unrolled(networks.small()).net.count == count
    monkeypatch.setattr(netlist, "MOST_NODES", count - 1)
    with pytest.raises(CircuitizeError, match=f"expected at most {count - 1:,} numbers .*; use the folded one"):
        schedule(networks.small())


def test_more_numbers_at_once_are_refused_before_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal numbers too, which would become one."""
    monkeypatch.setattr(netlist, "MOST_NODES", 1 << 12)
    net = Netlist()
    with pytest.raises(CircuitizeError, match="expected at most 4,096 numbers"):
        net.append(Kind.BIT, 0, 1, 0, n=np.zeros((1 << 12) + 1, np.int64))
    assert net.count == 1


def test_products_of_unknown_numbers_are_refused_before_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """17 x 16 x 16 of them, though all are the same."""
    monkeypatch.setattr(netlist, "MOST_NODES", 1 << 12)
    net = Netlist()
    x = Elements.of(np.broadcast_to(net.append(Kind.INPUT, 0, 9), (17, 16)))
    monkeypatch.setattr(contraction, "multiply", None)
    with pytest.raises(CircuitizeError, match="expected at most 4,096 numbers"):
        contraction.contract(net, Contract("ij,jk->ik"), x, x[:16], True, matrices.greedy)
    assert net.count == 2
