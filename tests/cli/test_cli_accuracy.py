"""`circuitize accuracy`: what it reports is what the executors differ by; what it chooses meets the target, barely."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import EXAMPLES, NUMBERS, PUBLIC, STEP, refused, run, step

from circuitize import IntegerProgram, Port, Precision, Program, exp, save, trace
from circuitize.backends.r1cs.cost import estimate
from circuitize.circuits.accuracy import output_errors, report, with_bits
from circuitize.circuits.encode import program_digest
from circuitize.circuits.quantize import quantize
from circuitize.circuits.saved import load
from circuitize.circuits.values import to_reals
from circuitize.frontends.functions import square_root
from circuitize.sims import integer, real


def smooth() -> Program:
    """Rounds in several places."""
    arrow = trace(lambda x: [exp(x) * square_root(x * x + 1.0), exp(-x)], (2,))
    examples = tuple({"x": batch["x"]} for batch in EXAMPLES)
    return Program(arrow, (Port("x", PUBLIC, NUMBERS),), (Port("y", PUBLIC), Port("z", PUBLIC)), examples)


def fine() -> Program:
    """Too fine for 62 bits as it is given."""
    made = smooth()
    return Program(made.arrow, made.inputs, made.outputs, made.examples, Precision(40, 40))


def bare() -> Program:
    """Without examples."""
    made = smooth()
    return Program(made.arrow, made.inputs, made.outputs)


def whole() -> IntegerProgram:
    """Of integers already."""
    return quantize(smooth())


HERE = f"{__file__}:"
SMOOTH = f"{HERE}smooth"


def as_json(*arguments: str | Path) -> Any:
    outcome = run("accuracy", *arguments, "--json")
    assert outcome.status == 0, outcome
    return json.loads(outcome.out)


def test_errors_are_those_of_the_executors() -> None:
    told = as_json(SMOOTH)
    program, integers = smooth(), quantize(smooth())
    assert told["digest"] == program_digest(integers) and told["examples"] == 2
    assert told["precision"] == {"fraction_bits": 12, "significant_bits": 12}
    for port in integers.outputs:
        assert port.format is not None
        runs = [(real.run(program, b)[port.name], integer.run(integers, b)[port.name]) for b in program.examples]
        found = max(np.abs(to_reals(port.format, made) - exact).max() for exact, made in runs)
        own = told["outputs"][port.name]
        assert own["measured"] == pytest.approx(found, rel=1e-9) and found > 0
        assert own["greatest"] == pytest.approx(max(np.abs(exact).max() for exact, _ in runs))
        assert (own["fraction_bits"], own["low"], own["high"]) == (
            port.format.fraction_bits, port.format.low, port.format.high,
        )  # fmt: skip
        assert 0.2 < own["predicted"] / found < 5
    tensors = told["tensors"]
    assert [t["operation"] for t in tensors].count("real.exp") == 2
    assert tensors[0]["operation"] == "input" and tensors[0]["measured"] == tensors[0]["predicted"] == 0
    assert all(Path(t["file"]).name == Path(__file__).name and t["line"] for t in tensors[1:])


def test_the_worst_wires_are_shown() -> None:
    outcome = run("accuracy", SMOOTH, "--wires", "2")
    assert outcome.status == 0 and outcome.err == ""
    lines = outcome.out.splitlines()
    errors = report(smooth())
    worst = sorted((e for e in errors.tensors if e.measured), key=lambda e: e.measured / e.scale, reverse=True)
    assert f"{len(errors.tensors)} tensors, {len(errors.tensors) - len(worst)} of them exact, on 2 examples" in lines[0]
    at = lines.index(f"tensors that keep the fewest bits, 2 of {len(errors.tensors)}")
    shown = lines[at + 2 :]
    assert len(shown) == 2
    for line, error in zip(shown, worst, strict=False):
        assert error.operation in line and f"{error.measured:.3g}" in line and f"{error.predicted:.3g}" in line
        assert line.endswith(f"{np.log2(error.scale / error.measured):.1f}")


@pytest.mark.parametrize("targets", [["3e-3"], ["y=4e-3", "z=1e-3"], ["z=1e-4"], ["1e-1", "z=2e-4"]])
def test_the_fewest_bits_within_an_error(tmp_path: Path, targets: list[str]) -> None:
    path = tmp_path / "chosen.arrow"
    told = as_json(SMOOTH, *(part for target in targets for part in ("--target-error", target)), "-o", path)
    wanted: dict[str, float] = {}
    for target in targets:
        name, _, most = target.rpartition("=")
        wanted |= {name: float(most)} if name else dict.fromkeys("yz", float(most))
    count = told["precision"]["fraction_bits"]
    assert told["precision"]["significant_bits"] == count
    assert all(told["outputs"][name]["measured"] <= most for name, most in wanted.items())
    assert any(output_errors(with_bits(smooth(), count - 1))[name] > most for name, most in wanted.items())
    saved = load(path)
    assert isinstance(saved, IntegerProgram) and not saved.examples and program_digest(saved) == told["digest"]
    assert told["costs"]["r1cs"]["chosen"] == estimate(saved)["constraints"]
    assert told["costs"]["r1cs"]["given"] == estimate(quantize(smooth()))["constraints"]
    assert told["given"]["precision"]["fraction_bits"] == 12
    assert set(told["costs"]) >= {"r1cs", "plonkish", "tensor", "verilog"}


@pytest.mark.parametrize(
    "target", ["r1cs", *(pytest.param(name, marks=pytest.mark.deep) for name in ("tensor", "plonkish"))]
)
def test_the_most_bits_for_a_cost(target: str) -> None:
    middle = as_json(SMOOTH, "--target-error", "4e-3")["costs"][target]["chosen"]
    budget = str(middle) if target == "r1cs" else f"{target}={middle}"
    told = as_json(SMOOTH, "--target-cost", budget)
    count, found = told["precision"]["fraction_bits"], told["costs"][target]["chosen"]
    assert found <= middle
    if target == "r1cs":
        for finer in (1, 2):
            assert estimate(quantize(with_bits(smooth(), count + finer)))["constraints"] > middle
    shown = run("accuracy", SMOOTH, "--target-cost", budget).out
    assert f"{count} fraction bits" in shown.splitlines()[0]
    assert "given with 12 fraction bits" in shown and f"{found:,}" in shown


def test_formats_are_chosen_where_the_given_ones_cannot_be() -> None:
    assert "2^62" in refused("accuracy", f"{HERE}fine")
    told = as_json(f"{HERE}fine", "--target-error", "1e-2")
    assert "given" not in told and set(told["costs"]["r1cs"]) == {"chosen"}
    assert told["precision"] == as_json(SMOOTH, "--target-error", "1e-2")["precision"]
    assert "none" in run("accuracy", f"{HERE}fine", "--target-error", "1e-2").out


def test_saved_programs_of_reals_are_taken(tmp_path: Path) -> None:
    save(step(), tmp_path / "real.arrow", examples=True)
    assert as_json(tmp_path / "real.arrow")["outputs"] == as_json(STEP)["outputs"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([f"{HERE}whole"], "expected a program of reals, to compare with float64, found one of integers; name the"),
        ([f"{HERE}bare"], "expected example inputs to compare on, found none"),
        ([SMOOTH, "--target-error", "1", "--target-cost", "1"], "expected --target-error or --target-cost, found both"),
        ([SMOOTH, "--target-error", "small"], "expected a number of at least 0, or NAME=NUMBER, found 'small'"),
        ([SMOOTH, "--target-error", "-1"], "found '-1'; write 1e-3"),
        ([SMOOTH, "--target-error", "nan"], "found 'nan'; write 1e-3"),
        ([SMOOTH, "--target-error", "w=1"], "expected outputs among ['y', 'z'], found 'w'; name one of these"),
        ([SMOOTH, "--target-error", "y=1e-15"], "expected errors of at most y 1e-15 with 6 to 24 fraction bits, found"),
        ([SMOOTH, "--target-cost", "abacus=3"], "expected a target among r1cs, mirage, plonkish, tensor, verilog"),
        ([SMOOTH, "--target-cost", "3"], "expected a cost of at most 3, found "),
        ([SMOOTH, "--wires", "0"], "expected a whole number of at least 1, found '0'"),
        ([__file__], "expected file.py:name, found no name"),
    ],
)
def test_bad_use_is_one_line(arguments: list[str], said: str) -> None:
    assert said in refused("accuracy", *arguments)
