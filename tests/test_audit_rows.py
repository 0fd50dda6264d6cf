"""What each row of a circuit is for: without it a wire gets a choice, or inputs are let in, as witnesses show."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cli_programs import run
from enumeration import solutions, without
from r1cs_programs import chain, program, single

from circuitize.backends.r1cs.audit import Removals
from circuitize.backends.r1cs.audit.mutation import satisfies
from circuitize.backends.r1cs.audit.removal import inputs_of
from circuitize.backends.r1cs.emit import constraints
from circuitize.backends.r1cs.field import Field
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import Program
from circuitize.circuits.types import Fixed


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


def perceptron() -> Program:
    """Two inputs, one neuron, shift, range and ReLU."""
    builder = Builder()
    x, w = builder.input(fixed(-8, 7, 2)), builder.input(fixed(-8, 7, 2, 1))
    sums = builder.add(integers.Contract("i,ij->j"), x, w)
    checked = builder.add(integers.Check(-20, 15), builder.add(integers.Shift(2), sums))
    return program(builder.build([builder.add(integers.ReLU(), checked)]))


PROGRAMS = {
    "scale": chain(fixed(-5, 9, 3), integers.Scale(-3, 0)),
    "product": single(integers.Multiply(), fixed(-5, 9, 2), fixed(-8, -2, 2)),
    "shift": chain(fixed(-500, 500, 2), integers.Scale(3, 0), integers.Shift(4)),
    "check": chain(fixed(-64, 63, 2), integers.Scale(1, 1), integers.Check(-60, 16)),
    "sign": chain(fixed(-30, 300, 2), integers.IsNegative()),
    "relu by zero test": chain(fixed(-1, 9, 2), integers.ReLU()),
    "division": single(integers.Divide(), fixed(-50, 90), fixed(2, 7)),
    "root": single(integers.SquareRoot(), fixed(0, 300)),
    "lookup": single(integers.Lookup(-3, np.array([5, -7, 0, 3, 1, -9, 2, 2]), 4), fixed(-3, 4, 2)),
    "gather": single(integers.Gather(0), fixed(-9, 9, 5), fixed(0, 4)),
    "select": single(integers.Select(), fixed(0, 1, 2), fixed(-3, 4, 2), fixed(0, 9, 2)),
    "clamp": chain(fixed(-9, 99, 2), integers.Clamp(-4, 5)),
    "perceptron": perceptron(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_row_is_for_something(name: str) -> None:
    """Leaving out any single row leaves a wire undetermined or lets inputs in; the witnesses for it are checked."""
    system = constraints(PROGRAMS[name])
    assert 10 < system.constraints <= 200
    effects: Counter[str] = Counter()
    for removal in Removals(system).every():
        effects[removal.effect] += 1
        less = without(system, removal.row)
        assert removal.effect in ("undetermined", "accepted inputs"), f"row {removal.row}: {removal.effect}"
        assert satisfies(less, removal.witness) and (
            removal.effect == "undetermined" or not satisfies(system, removal.witness)
        )
        if removal.effect == "undetermined":
            assert removal.values[0] != removal.values[1] and removal.wire not in inputs_of(system)
    assert sum(effects.values()) == system.constraints


def bounded_by_its_square() -> Program:
    """x in [0, 2] and x * x at most 3: the second says the first, which nothing but arithmetic can know."""
    builder = Builder()
    x = builder.input(fixed(0, 2))
    return program(builder.build([builder.add(integers.Check(0, 3), builder.add(integers.Multiply(), x, x))]))


def test_rows_that_follow_from_others_are_told() -> None:
    system = constraints(bounded_by_its_square(), Field(61))
    told = {removal.row: removal.effect for removal in Removals(system).every()}
    every = sorted(map(tuple, solutions(system).tolist()))
    for row, effect in told.items():
        same = sorted(map(tuple, solutions(without(system, row)).tolist())) == every
        assert (effect == "implied") is same
    assert "implied" in told.values()


def test_the_command_line_names_wires_and_rows(tmp_path: Path) -> None:
    system = constraints(PROGRAMS["relu by zero test"])
    write_r1cs(tmp_path / "circuit.r1cs", system)
    told = run("audit", tmp_path, "--each-row", "--json")
    report = json.loads(told.out)
    assert told.status == 0 and report["determined"] and len(report["rows"]) == system.constraints
    lost = without(system, next(block.first_row for block in system.blocks if block.role == "relu"))
    write_r1cs(tmp_path / "lost.r1cs", lost)
    told = run("audit", tmp_path / "lost.r1cs")
    assert told.status == 1 and "undetermined: wire " in told.out


PROGRAM = """
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import Port, Program, Visibility
from circuitize.circuits.types import Fixed

def relu():
    builder = Builder()
    x = builder.input(Fixed((2,), 0, -30, 31))
    arrow = builder.build([builder.add(integers.ReLU(), x)])
    public = Visibility.PUBLIC
    return Program(arrow, (Port("x", public, arrow.source[0]),), (Port("y", public, arrow.target[0]),))
"""


def test_a_program_is_audited_by_layer_and_element(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(PROGRAM)
    told = run("audit", f"{path}:relu", "--each-row", "--json")
    assert told.status == 0, told
    report = json.loads(told.out)
    wires = [row["wire"] for row in report["rows"] if row["effect"] == "undetermined"]
    assert {wire["role"] for wire in wires} >= {"sign", "output y"}
    assert any(wire.get("operation") == "integer.relu" and wire["element"] for wire in wires)
    assert "inputs determine every other wire" in run("audit", f"{path}:relu").out
