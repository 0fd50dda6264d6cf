"""What each row of a circuit is for: without it a wire gets a choice, or inputs are let in, as witnesses show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import tiers
from cli_programs import run
from enumeration import solutions, without
from every_case import every_case
from r1cs_programs import program
from small_circuits import MOST_ROWS, PROGRAMS, fixed, is_small, representatives

from circuitize.backends.field import Field
from circuitize.backends.r1cs.audit import Removal, Removals
from circuitize.backends.r1cs.audit.mutation import satisfies
from circuitize.backends.r1cs.audit.removal import inputs_of
from circuitize.backends.r1cs.emit import constraints
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw
from circuitize.sims import integer

EACH_KIND = [
    *("relu by zero test", "division", "root", "lookup", "select", "perceptron", "descent", "checked difference"),
    *("20 arg_max-[5]", "case 9 gather-[2,3]x[]"),
]
"""Programs in which each kind of row is."""


def test_every_row_is_for_something() -> None:
    """Leaving out any single row leaves a wire undetermined or lets inputs in: two witnesses of the same inputs, or one
    of inputs on which the program is not defined, as the executor says; all checked without the row.
    """
    makers = representatives()
    chosen = makers if tiers.TIER == "deep" else EACH_KIND
    every = {name: given for name in chosen if is_small(given := makers[name]())}
    assert every.keys() >= set(EACH_KIND)
    assert kinds(every[name] for name in EACH_KIND) == kinds(every.values())

    @every_case(every)
    def check(name: str) -> None:
        given = every[name]
        system = constraints(given)
        assert system.constraints <= MOST_ROWS
        for place, removal in enumerate(Removals(system).every()):
            check_effect(given, system, removal)
            assert removal.row == place

    check()


def kinds(programs: Iterable[IntegerProgram]) -> set[str]:
    """What rows are for: their roles, less the names of inputs and outputs."""
    roles = {block.role for given in programs for block in constraints(given).blocks}
    return {re.sub(r"^(input range|output) \w+", r"\1", role) for role in roles}


def check_effect(given: IntegerProgram, system: ConstraintSystem, removal: Removal) -> None:
    less = without(system, removal.row)
    assert removal.effect in ("undetermined", "accepted inputs"), f"row {removal.row}: {removal.effect}"
    assert satisfies(less, removal.witness)
    if removal.effect == "undetermined":
        assert satisfies(less, removal.first)
        assert [removal.first[wire] for wire in inputs_of(system)] == [
            removal.witness[wire] for wire in inputs_of(system)
        ]
        assert removal.first[removal.wire] == removal.values[0] != removal.values[1] == removal.witness[removal.wire]
    else:
        assert not satisfies(system, removal.witness)
        assert not is_defined(given, [system.field.signed(removal.witness[wire]) for wire in inputs_of(system)])


def is_defined(given: IntegerProgram, values: list[int]) -> bool:
    """Whether inputs, all public or all private, are in their formats and the program has a value there."""
    inputs = {}
    for port in given.inputs:
        assert port.format is not None
        own, values = values[: port.format.size], values[port.format.size :]
        if any(not port.format.low <= value <= port.format.high for value in own):
            return False
        inputs[port.name] = np.array(own, np.int64).reshape(port.format.shape)
    try:
        integer.run(given, raw(inputs))
    except Undefined:
        return False
    return True


def bounded_by_its_square() -> IntegerProgram:
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
from circuitize.circuits.errors import Undefined
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
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
