"""A committed result was not joined to the data it becomes, and two ports were shown by one name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from cli_programs import COMMITTED, NUMBERS, PUBLIC, refused, run

from circuitize import IntegerProgram, Port, Program, Role, trace
from circuitize.circuits.quantize import quantize
from circuitize.provers.statement import read_statement

TENSOR = ("--prover", "tensor", "--not-zero-knowledge")
HERE = f"{__file__}:"
X, W = np.array([0.5, -1.25]), np.array([1.5, 2.0])


@cache
def features() -> IntegerProgram:
    """x and w give h, which is committed to."""
    ports = (Port("x", PUBLIC, NUMBERS), Port("w", COMMITTED, NUMBERS, Role.PARAMETER))
    arrow = trace(lambda x, w: x * w, (2,), (2,))
    return quantize(Program(arrow, ports, (Port("h", COMMITTED),), ({"x": X, "w": W},)))


def head() -> Program:
    """Takes h as data: a group of another name, of the same list."""
    (h,) = features().outputs
    return Program(trace(lambda h: h * 2.0, (2,)), (h,), (Port("y", PUBLIC),), ({"h": X * W},))


def shown() -> Program:
    """`x` enters and leaves, and what leaves besides is called as the one that enters is shown."""
    ports = (Port("x", PUBLIC, NUMBERS), Port("w", COMMITTED, NUMBERS, Role.PARAMETER))
    arrow = trace(lambda x, w: (x * w, w - x), (2,), (2,))
    return Program(arrow, ports, (Port("x", PUBLIC), Port("input:x", PUBLIC)), ({"x": X, "w": W},))


def test_a_result_is_joined_to_the_data_that_it_becomes(tmp_path: Path) -> None:
    assert run("prove", f"{HERE}features", *TENSOR, "-o", tmp_path / "one").status == 0
    more = ("--openings-from", tmp_path / "one.openings.json", "-o")
    outcome = run("prove", f"{HERE}head", *TENSOR, *more, tmp_path / "two")
    assert outcome.status == 0 and "input:data is joined to output:h of" in outcome.err, outcome
    one, two = (read_statement(tmp_path / name).roots for name in ("one", "two"))
    assert one["output", "h"] == two["input", "data"]
    assert run("verify", tmp_path / "two", "--program", f"{HERE}head").status == 0
    np.savez(tmp_path / "in.npz", h=X)
    other = ("--inputs", tmp_path / "in.npz", *more, tmp_path / "three")
    line = refused("prove", f"{HERE}head", *TENSOR, *other)
    assert "input:data (h) has other values than output:h there" in line


def test_each_port_has_a_name_of_its_own_in_a_verdict(tmp_path: Path) -> None:
    assert run("prove", f"{HERE}shown", *TENSOR, "-o", tmp_path / "proof").status == 0
    check = ("verify", tmp_path / "proof", "--program", f"{HERE}shown")
    found = json.loads(run(*check, "--json").out)["publics"]
    assert {name: value["reals"] for name, value in found.items()} == {
        "input:x": X.tolist(),
        "output:x": (X * W).tolist(),
        "output:input:x": (W - X).tolist(),
    }
    assert run(*check, "--expect", "input:x=[0.5,-1.25]", "--expect", "output:input:x=[1,3.25]").status == 0
