"""Executors are kept by arrow: one of an equal arrow, which numbers its wires otherwise, would answer for it."""

from __future__ import annotations

import numpy as np
import pytest
from r1cs_programs import program

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.operation import Provenance
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

OPERATIONS = {"scale": integers.Scale(2, 0), "check": integers.Check(-4, 4)}


def made(*order: str) -> IntegerProgram:
    """x -> (2 x, x checked): the same arrow whichever edge is added first."""
    builder = Builder()
    (x,) = builder.inputs([Fixed((2,), 0, -8, 7)])
    wires = {}
    for name in order:
        builder.provenance = Provenance("", f"{order[0]}.py", 7)
        wires[name] = builder.add(OPERATIONS[name], x)
    return program(builder.build([wires["scale"], wires["check"]]))


def test_each_has_its_own_wires_and_its_own_lines() -> None:
    one, other = made("scale", "check"), made("check", "scale")
    assert one.arrow == other.arrow
    (name,) = (port.name for port in one.inputs)
    given = {name: np.array([3, -1])}
    for each in (one, other):
        wires = integer.trace(each, given)
        scaled, checked = each.arrow.outputs.tolist()
        np.testing.assert_array_equal(wires[scaled], [6, -2])
        np.testing.assert_array_equal(wires[checked], [3, -1])
    for each, line in ((one, "scale.py:7"), (other, "check.py:7")):
        with pytest.raises(Undefined, match=line):
            integer.run(each, {name: np.array([5.0, 0.0])})
