"""A root said nothing of names, formats or how many examples: the same numbers of other ports had the same root."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tensor_attack import built

from circuitize.backends.tensor.groups import INPUT, format_program
from circuitize.circuits import integers
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import commit

SECRET = bytes(range(32))
LISTS = {
    "weight": ({"weight": Fixed((4, 3), 0, 0, 7)}, Role.PARAMETER),
    "another name": ({"other": Fixed((4, 3), 0, 0, 7)}, Role.PARAMETER),
    "another interval": ({"weight": Fixed((4, 3), 0, -1, 7)}, Role.PARAMETER),
    "more fraction bits": ({"weight": Fixed((4, 3), 2, 0, 7)}, Role.PARAMETER),
    "fewer examples": ({"weight": Fixed((3, 3), 0, 0, 7)}, Role.PARAMETER),
    "another axis": ({"weight": Fixed((4, 3, 1), 0, 0, 7)}, Role.PARAMETER),
    "one port more": ({"weight": Fixed((4, 3), 0, 0, 7), "zero": Fixed((1,), 0, 0, 7)}, Role.PARAMETER),
    "two names": ({"a": Fixed((4, 3), 0, 0, 7), "b": Fixed((1,), 0, 0, 7)}, Role.PARAMETER),
    "two names exchanged": ({"b": Fixed((4, 3), 0, 0, 7), "a": Fixed((1,), 0, 0, 7)}, Role.PARAMETER),
}


def program_of(formats: dict[str, Fixed], role: Role, visibility: Visibility = Visibility.COMMITTED) -> IntegerProgram:
    made = built(list(formats.values()), *((integers.Scale(1, 0), (place,)) for place in range(len(formats))))
    ports = tuple(
        replace(port, name=name, role=role, visibility=visibility)
        for name, port in zip(formats, made.inputs, strict=True)
    )
    return replace(made, inputs=ports)


def root_of(formats: dict[str, Fixed], role: Role) -> bytes:
    """Of ones where weights are the same in all, else of zeros, as padding is."""
    made = plan(program_of(formats, role))
    (key,) = [key for key in made.groups if key[0] == INPUT]
    values = {name: np.zeros(format.shape, np.int64) for name, format in formats.items()}
    for value in values.values():
        if value.size > 1:
            value[:2, 0] = 1
    return commit(made, made.trace(values), key, SECRET).root


def test_a_root_of_one_list_is_a_root_of_no_other() -> None:
    found = {name: root_of(*given) for name, given in LISTS.items()}
    for name, root in found.items():
        assert [other for other in found if found[other] == root] == [name]


@pytest.mark.parametrize("role", [Role.OPTIMIZER, Role.STATE, Role.DATA])
def test_a_root_says_nothing_of_roles(role: Role) -> None:
    """Nor of the group, nor of the order of ports."""
    formats = LISTS["two names"][0]
    backwards = dict(reversed(formats.items()))
    assert root_of(formats, role) == root_of(formats, Role.PARAMETER) == root_of(backwards, role)


def test_a_root_is_the_same_for_the_program_of_formats() -> None:
    program = program_of(LISTS["two names"][0], Role.STATE)
    assert plan(format_program(program, {"state"})).lists == plan(program).lists[:1]
