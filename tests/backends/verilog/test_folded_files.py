"""Emitted files of folded designs: clean to linters and yosys, quickly made; budgets are met or refused in one line."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from example_programs import example
from folded_programs import layers, network, perceptron
from modal_designs import programs

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import schedule, table
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Constant
from circuitize.circuits.program import IntegerProgram

SMALL = (16, 32, 5)
"""Layer widths of a perceptron of which many designs are made."""


@cache
def step() -> Design:
    program, _, initial = programs()
    return schedule(program, initial, lanes=8)


def iris() -> Design:
    program = example("iris.py:step").integer
    held = [port for port in program.inputs if port.held]
    return schedule(
        program, {port.name: np.zeros(port.format.shape, np.int64) for port in held if port.format}, lanes=16
    )


def design(name: str) -> Design:
    makers: dict[str, Callable[[], Design]] = {
        "perceptron": lambda: schedule(perceptron((5, 7, 3)), interval_budget=9),
        "network at 72": lambda: schedule(network(), interval_budget=72),
        "network at 9": lambda: schedule(network(), interval_budget=9),
        "step": step,
        "iris": iris,
    }
    return makers[name]()


NAMES = (
    *("network at 72", "step"),
    *(pytest.param(name, marks=pytest.mark.deep) for name in ("perceptron", "network at 9", "iris")),
)


def written(made: Design, folder: Path) -> list[str]:
    for name, text in made.files.items():
        (folder / name).write_text(text)
    return sorted(name for name in made.files if name.endswith(".v"))


def told(folder: Path, *command: str) -> str:
    """What a program says; it must succeed."""
    assert shutil.which(command[0]) is not None
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_verilator_has_no_warning(name: str, tmp_path: Path) -> None:
    made = design(name)
    sources = written(made, tmp_path)
    assert not any("verilator" in text for text in made.files.values())
    assert told(tmp_path, "verilator", "--lint-only", "-Wall", "--top-module", made.top, *sources) == ""


@pytest.mark.parametrize("name", NAMES)
def test_yosys_finds_no_problem(name: str, tmp_path: Path) -> None:
    made = design(name)
    sources = written(made, tmp_path)
    script = f"read_verilog {' '.join(sources)}; hierarchy -check -top {made.top}; proc; opt_clean; check -assert"
    assert "Warning" not in told(tmp_path, "yosys", "-q", "-p", script)


def test_every_module_names_its_operations_and_formats() -> None:
    made = design("network at 72")
    for name, text in made.files.items():
        if name.endswith(".v"):
            assert (
                text.startswith("// ")
                and f"module {name.removesuffix('.v')} " in text
                and len(text.split("\n")[0]) > 12
            )
    units = [text.split("\n")[0] for name, text in made.files.items() if name.endswith("_unit.v")]
    assert any("contract, add, shift, clamp, lookup; makes fixed[4, 4, 4] / 2^0 in [5, 250]" in unit for unit in units)


def wide() -> IntegerProgram:
    draw = np.random.default_rng(0)
    weights = [draw.integers(-31, 32, shape) for shape in ((784, 64), (64, 10))]
    return layers(weights, [np.zeros(64, np.int64), np.zeros(10, np.int64)], [6, -1], 255)


@pytest.mark.parametrize("make", [perceptron, wide])
def test_emission_takes_less_than_two_seconds(make: Callable[[], IntegerProgram]) -> None:
    program, start = make(), time.process_time()
    made = schedule(program)
    assert time.process_time() - start < 2
    assert made.files


def test_budgets_are_met_or_the_least_is_named() -> None:
    program = perceptron(SMALL)
    for budget in (2, 17, 100, 532):
        assert schedule(program, dsp_budget=budget).report["dsp"] <= budget
        assert schedule(program, lanes=budget).report["lanes"] <= budget
    for budget, most in ((1, 672), (32, 21), (512, 2)):
        report = schedule(program, interval_budget=budget).report
        assert report["interval_cycles"] <= budget and report["lanes"] <= most
    with pytest.raises(CircuitizeError, match="expected at least 2 dsp, found dsp_budget=1; raise it"):
        schedule(program, dsp_budget=1)
    with pytest.raises(CircuitizeError, match="expected at least 2 lanes, found lanes=1; raise it"):
        schedule(program, lanes=1)
    with pytest.raises(CircuitizeError, match="expected an interval of at least 1 clocks, found interval_budget=0"):
        schedule(program, interval_budget=0)
    with pytest.raises(CircuitizeError, match="expected one budget, found lanes and dsp_budget; give one of them"):
        schedule(program, lanes=8, dsp_budget=8)


def test_an_interval_that_a_step_cannot_keep_names_the_least() -> None:
    program, _, initial = programs()
    with pytest.raises(CircuitizeError, match=r"expected an interval of at least \d+ clocks, found interval_budget=20"):
        schedule(program, initial, interval_budget=20)


def test_real_programs_and_programs_without_inputs_are_refused() -> None:
    with pytest.raises(CircuitizeError, match="expected an integer program, found a real one; quantize it first"):
        schedule(example("iris.py:step").given)  # type: ignore[arg-type]  # The mistake itself.
    with pytest.raises(CircuitizeError, match="expected a program with an input, found none; leave one unbound"):
        schedule(IntegerProgram(constant(network()), (), network().outputs[:1]))


def constant(program: IntegerProgram) -> Arrow:
    """Nothing but a constant of the type of a program's first output."""
    builder = Builder()
    format = program.outputs[0].format
    assert format is not None
    values = np.linspace(format.low, format.high, format.size).astype(np.int64)
    values[0], values[-1] = format.low, format.high
    return builder.build([builder.add(Constant.of(values, format.fraction_bits))])


def test_the_table_of_the_trade_off_is_monotone() -> None:
    rows = table(perceptron(SMALL), [0, 1, 8, 32, 128])
    assert [row["interval_cycles"] for row in rows] == [1, 8, 32, 128]
    for quick, slow in pairwise(rows):
        assert quick["lanes"] > slow["lanes"] and quick["lut"] > slow["lut"]
        assert quick["latency_cycles"] < slow["latency_cycles"]
