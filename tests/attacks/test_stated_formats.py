"""A rounding that a program states leaves a prover no choice: by no rule does another value of the format pass."""

from __future__ import annotations

import numpy as np
import pytest

from circuitize.api.audit import audit
from circuitize.backends.field import BN254
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits.arrays.piecewise.quantize import IN_FLOATS, OVERFLOWS
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.frontends.formats import Format
from circuitize.frontends.functions import quantized
from circuitize.frontends.trace import trace
from circuitize.sims import integer

NARROW = Format(1, -4, 3)
AWKWARD = np.array([-2.0, -1.75, -1.5, -1.25, -0.25, 0.0, 0.25, 0.75, 1.25, 1.5])
"""In halves: ties, both ends, and between."""


@pytest.mark.parametrize("overflow", OVERFLOWS[:2])
@pytest.mark.parametrize("rule", sorted(IN_FLOATS))
def test_no_other_value_of_the_format_passes(rule: str, overflow: str) -> None:
    x = AWKWARD if overflow == "check" else np.array([*AWKWARD[1:-1], -3.0, 3.0])
    arrow = trace(lambda x: quantized(x, NARROW, rule, overflow), x.shape)
    port = Port("x", Visibility.PUBLIC, Format.signed(6, 3).of(x.shape))
    made = quantize(Program(arrow, (port,), (Port("y", Visibility.PUBLIC),), ({"x": x},)))
    assert audit(made).determined
    emission = emit(made)
    system, found = emission.system, witness(emission.plan, integer.trace(made, integer.rounded(made, {"x": x})), {})
    assert not len(failing_rows(system, found))
    (outputs,) = (block for block in system.wire_blocks if block.role == "output y")
    honest = integer.run(made, {"x": x})["y"]
    for place, value in enumerate(honest.tolist()):
        for lie in range(NARROW.low, NARROW.high + 1):
            if lie != value:
                forged = found.copy()
                forged[outputs.first + place] = BN254.from_integers([lie % BN254.prime])[0]
                assert len(failing_rows(system, forged)), f"{x[place]} as {lie} in place of {value}"
