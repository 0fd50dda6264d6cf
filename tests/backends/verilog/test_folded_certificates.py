"""Certificates of folded designs: honest ones are shown, mutants are refused or equal, and the checker agrees."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from certified_designs import certified_layer, certified_step, compared
from cli_programs import run
from verilog_mutants import Mutant, mutants

from circuitize.backends.verilog.certificate import Refused, checker
from circuitize.backends.verilog.certificate.checker.check import check
from circuitize.backends.verilog.certificate.checker.claims import digests
from circuitize.sims.rtl import Simulation, compare, expected

CHECKER = Path(checker.__file__).parent
EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_training_step_is_shown() -> None:
    """From both banks of its weights, in frames that have a value and in frames that have none."""
    made, found = certified_layer()
    assert made.design.report["latency_cycles"] <= found["clocks"] <= found["most"]
    assert found["state"] == {name: values.reshape(-1).tolist() for name, values in made.vectors.initial.items()}
    assert {entry["module"] for entry in found["modules"]} == {
        name.removesuffix(".v") for name in made.design.files if name.endswith(".v")
    }


@pytest.mark.deep
def test_a_certificate_of_a_folded_design_says_no_more_than_is_shown() -> None:
    made, found = certified_step()
    assert check(json.loads(json.dumps(found)), made.design.files)["clocks"] == found["clocks"]
    state = {**found["state"], "dense2.bias": [1, 0]}
    with pytest.raises(Refused, match="expected the state that are shown"):
        check({**found, "state": state}, made.design.files)


def test_a_frame_that_takes_longer_than_claimed_is_refused() -> None:
    made, found = certified_layer()
    with pytest.raises(Refused, match="a frame takes more than 20 clocks"):
        check({**found, "most": 20}, made.design.files)


@pytest.mark.parametrize(
    ("file", "right", "wrong", "reason"),
    [
        ("circuitize_folded_pool_lane.v", "+ total", "- total", "element 0 of .* is not shown to be what the program"),
        ("circuitize_folded_status.v", "& ~tdata[0])", "& tdata[0])", "the bank of the state changes otherwise"),
    ],
    ids=["element", "bank"],
)
def test_a_wrong_design_is_refused(file: str, right: str, wrong: str, reason: str) -> None:
    """By what it computes alone: its modules and clocks are those of the certificate."""
    made, found = certified_layer()
    text = made.design.files[file]
    assert right in text
    files = {**made.design.files, file: text.replace(right, wrong)}
    with pytest.raises(Refused, match=reason):
        check({**found, "files": digests(files)}, files)


def survivors(seed: int, wanted: int) -> Iterator[Mutant]:
    """The mutants that are shown to be equal."""
    made, found = certified_step()
    for mutant in islice(mutants(made.design.files, seed), wanted):
        try:
            check({**found, "files": digests(mutant.files)}, mutant.files)
        except Refused:
            continue
        yield mutant


def behaves(mutant: Mutant) -> bool:
    """Whether a mutant gives the integers of the executor in frames that each begin in an idle design."""
    made, _ = certified_step()
    draw = np.random.default_rng(5)
    fresh = {port.name: port.format for port in made.program.inputs if port.name not in made.vectors.initial}
    with Simulation(replace(made.design, files=mutant.files)) as simulation:
        for most in (1 << 10, 1 << 13, 1 << 17):
            frame = {
                name: draw.integers(format.low, min(format.high, most), (1, *format.shape), endpoint=True)
                for name, format in fresh.items()
            }
            wanted = expected(made.program, frame, made.vectors.initial)
            if compare(simulation.run(frame, None), wanted).mismatches:
                return False
    return True


@pytest.mark.deep
@pytest.mark.parametrize(("seed", "wanted"), [(1, 2), (2, 400)])
def test_mutants_of_a_folded_design_are_refused(seed: int, wanted: int, tmp_path: Path) -> None:
    """Or they equal the design in the frames that certificates are about: by yosys and ABC, or in a simulation where
    these do not decide it.
    """
    original = compared(*certified_step(), tmp_path)
    for mutant in survivors(seed, wanted):
        found = original.equality(mutant.files)
        print(f"{found}: {mutant}")
        assert found or behaves(mutant), mutant


@pytest.mark.deep
@pytest.mark.parametrize("program", ["quantized.py:predict", "iris.py:step", "digits.py:step"])
def test_folded_examples_are_shown(program: str, tmp_path: Path) -> None:
    """By the command line, and by a copy of the checker that has Python and numpy alone."""
    design, output = tmp_path / "design", tmp_path / "certificate.json"
    made = run("compile", EXAMPLES / program, "--target", "verilog", "--scheduler", "folded", "-o", design)
    assert made.status == 0, made
    shown = run("certify", design, "-o", output)
    assert shown.status == 0 and "every frame shown for all inputs" in shown.out, shown
    shutil.copytree(CHECKER, tmp_path / "own")
    command = [sys.executable, "-I", *map(str, (tmp_path / "own", output, design))]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and "shown for all inputs and all states" in checked.stdout, checked.stderr
