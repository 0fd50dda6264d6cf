"""`circuitize certify`: a design is shown for all inputs, and what is not is said in one line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import hardware_programs
import pytest
from cli_programs import refused, run

PROGRAM = """
import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Clamp, Constant, Contract, Shift
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

builder, source = Builder(), Fixed((3,), 0, -20, 20)
weights = builder.add(Constant.of(np.array([[3, -5], [7, 2], [-1, 6]])))
sums = builder.add(Contract("i,ij->j"), builder.input(source), weights)
made = builder.add(Clamp(-7, 9), builder.add(Shift(2), sums))
ports = (Port("x", Visibility.PUBLIC, source),), (Port("y", Visibility.PUBLIC, builder.format(made)),)
net = IntegerProgram(builder.build([made]), *ports, ({"x": np.array([1.0, -2.0, 20.0])},))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(PROGRAM)
    return path


def compiled(program: Path, scheduler: str, *options: str) -> Path:
    folder = program.parent / scheduler
    made = run("compile", f"{program}:net", "--target", "verilog", "--scheduler", scheduler, *options, "-o", folder)
    assert made.status == 0, made
    return folder


def test_a_design_is_certified_and_a_changed_one_is_not(program: Path) -> None:
    design, output = compiled(program, "parallel"), program.parent / "certificate.json"
    shown = run("certify", design, "-o", output)
    assert shown.status == 0 and shown.out.startswith(f"{design}: ") and "modules shown for all inputs" in shown.out
    assert "circuitize_parallel_contract: linear forms; contract" in shown.out
    report = json.loads(run("certify", design, "-o", output, "--json").out)
    assert report["certified"] and report["refusal"] is None and report["certificate"] == str(output)
    certificate = json.loads(output.read_bytes())
    assert [entry["module"] for entry in report["modules"]] == [entry["module"] for entry in certificate["modules"]]
    assert report["program"] == json.loads((design / "design.json").read_text())["digest"]
    # One weight is another, and the folder says so: the module is named, and nothing is written.
    output.unlink()
    path = design / "rtl" / "circuitize_parallel_contract.v"
    text = path.read_text()
    path.write_text(text.replace(" + ", " - ", 1))
    assert path.read_text() != text
    assert "expected the file that compile wrote" in refused("certify", design, "-o", output)
    described = json.loads((design / "design.json").read_text())
    described["files"][f"rtl/{path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (design / "design.json").write_text(json.dumps(described))
    outcome = run("certify", design, "-o", output)
    assert outcome.status == 1 and "NOT certified: circuitize_parallel: element" in outcome.out, outcome
    report = json.loads(run("certify", design, "-o", output, "--json").out)
    assert not report["certified"] and report["certificate"] is None and report["refusal"] in outcome.out
    assert not output.exists()


def test_a_folded_design_is_certified_frame_by_frame(program: Path) -> None:
    design, output = compiled(program, "folded"), program.parent / "certificate.json"
    shown = run("certify", design, "-o", output)
    assert shown.status == 0 and "every frame shown for all inputs" in shown.out
    assert "frames that begin in an idle design" in shown.out
    assert json.loads(output.read_bytes())["clocks"] > 0


def test_designs_of_other_kinds_are_refused(program: Path) -> None:
    registers = compiled(program, "parallel", "--control")
    assert "expected a stream for each tensor and no registers" in refused("certify", registers)
    assert "expected the folder of a design" in refused("certify", program.parent)
    state = program.parent / "state"
    counter = f"{hardware_programs.__file__}:counter"
    assert run("compile", counter, "--target", "verilog", "--scheduler", "parallel", "-o", state).status == 0
    assert "expected a parallel design without state, found the state 'total'" in refused("certify", state)
