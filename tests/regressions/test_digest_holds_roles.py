"""The digest of a program said nothing of roles, which decide what a tensor root is of: two exchanged went unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_programs import run
from r1cs_programs import integer_type

from circuitize.circuits.builder import Builder
from circuitize.circuits.encode import program_digest
from circuitize.circuits.integers import Add, Reindex, View
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.saved import save
from circuitize.circuits.types import Fixed

BATCH, VECTOR = Fixed((2, 3), 0, 0, 7), Fixed((3,), 0, -8, 7)
COMMITTED = Visibility.COMMITTED


def step() -> IntegerProgram:
    """Weights, their velocity and a bias that stay as they are, and a loss."""
    builder = Builder()
    x, weight, velocity, bias = builder.inputs([BATCH, VECTOR, VECTOR, VECTOR])
    first = builder.add(Reindex(View.slice(BATCH.shape, (0, 0), (1, 3))), x)
    loss = builder.add(Add(), builder.add(Reindex(View.reshape((1, 3), (3,))), first), weight)
    arrow = builder.build([weight, velocity, bias, loss])
    held = (
        Port("weight", COMMITTED, VECTOR, Role.PARAMETER),
        Port("velocity", COMMITTED, VECTOR, Role.OPTIMIZER),
        Port("bias", COMMITTED, VECTOR, Role.PARAMETER),
    )
    loss_port = Port("loss", Visibility.PUBLIC, integer_type(arrow.target[3]))
    example = {"x": np.ones((2, 3)), **{port.name: np.zeros(3) for port in held}}
    return IntegerProgram(arrow, (Port("x", COMMITTED, BATCH), *held), (*held, loss_port), (example,))


def with_roles(program: IntegerProgram, **roles: Role) -> IntegerProgram:
    def changed(ports: tuple[Port[Fixed], ...]) -> tuple[Port[Fixed], ...]:
        return tuple(replace(port, role=roles.get(port.name, port.role)) for port in ports)

    return replace(program, inputs=changed(program.inputs), outputs=changed(program.outputs))


FORGERIES: dict[str, Callable[[IntegerProgram], IntegerProgram]] = {
    "exchanged": lambda program: with_roles(program, bias=Role.OPTIMIZER, velocity=Role.PARAMETER),
    "moved to state": lambda program: with_roles(program, bias=Role.STATE),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_other_roles_are_refused_by_the_agreed_digest(forgery: str, tmp_path: Path) -> None:
    agreed, forged = step(), FORGERIES[forgery](step())
    save(agreed, tmp_path / "agreed.arrow", examples=True)
    save(forged, tmp_path / "forged.arrow", examples=True)
    given = ("--steps", "2", "--seed", "5eed", "--not-zero-knowledge", "-o", tmp_path / "run")
    assert run("prove-run", tmp_path / "forged.arrow", *given).status == 0
    pinned = ("--digest", program_digest(agreed), "--steps", "2", "--seed", "5eed", "--examples", "2")
    outcome = run("verify-run", tmp_path / "run", "--program", tmp_path / "forged.arrow", *pinned)
    assert (outcome.status, outcome.out[:9]) == (1, "NOT valid"), outcome.out
    assert run("verify-run", tmp_path / "run", "--program", tmp_path / "agreed.arrow").status == 1
