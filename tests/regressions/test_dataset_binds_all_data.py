"""A committed data input that no dataset gave was bound by no root: it was a column of the proof's own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tensor_attack import SMALL, built
from tensor_proofs import refused

from circuitize.backends.tensor.dataset import Dataset
from circuitize.backends.tensor.forms import Column
from circuitize.circuits import integers
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.plan import plan


def step(*roles: Role) -> IntegerProgram:
    given = built([SMALL, SMALL], (integers.Add(), (0, 1)))
    ports = tuple(replace(port, role=role) for port, role in zip(given.inputs, roles, strict=True))
    return replace(given, inputs=ports)


def test_every_committed_input_is_behind_a_root() -> None:
    both = Dataset(8, {"in0": ("a", "batch"), "in1": ("b", "batch")})
    made = plan(step(Role.DATA, Role.DATA), dataset=both)
    behind = [base.name for base in made.bases if isinstance(base, Column) and base.commitment == 0]
    assert behind == ["dataset a", "dataset b"]


@pytest.mark.parametrize("roles", [(Role.DATA, Role.DATA), (Role.PARAMETER, Role.PARAMETER)])
def test_a_dataset_of_other_inputs_is_refused(roles: tuple[Role, Role]) -> None:
    part = Dataset(8, {"in0": ("a", "batch")})
    assert "expected batches of all committed data inputs" in refused(lambda: plan(step(*roles), dataset=part))
