"""A parameter that was a private data input left in one piece, not in blocks: its root was of another layout."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tensor_attack import built

from circuitize.backends.tensor.blocks import blocks
from circuitize.backends.tensor.forms import Column
from circuitize.circuits import integers
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan

SHAPE = (300, 200)


def passed_on(visibility: Visibility, role: Role) -> IntegerProgram:
    """An input that leaves as it is, as a parameter."""
    given = built([Fixed(SHAPE, 0, 0, 15), Fixed((), 0, 0, 1)], (integers.Scale(1, 0), (0,)))
    first = replace(given.inputs[0], visibility=visibility, role=role)
    out = replace(given.outputs[0], visibility=Visibility.COMMITTED, role=Role.PARAMETER)
    return replace(given, inputs=(first, given.inputs[1]), outputs=(out,))


@pytest.mark.parametrize("role", [Role.DATA, Role.PARAMETER])
@pytest.mark.parametrize("visibility", [Visibility.PRIVATE, Visibility.COMMITTED])
def test_parameters_leave_as_they_enter(visibility: Visibility, role: Role) -> None:
    made = plan(passed_on(visibility, role))
    number = made.groups.index(("output", "parameters"))
    columns = [base.shape for base in made.bases if isinstance(base, Column) and base.commitment == number]
    assert columns == [block.shape for block in blocks(SHAPE)] and len(columns) > 1
