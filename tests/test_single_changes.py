"""The search for wires that may move alone finds what trying every value finds, and fails circuits that lack a row."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import honest_witness
from enumeration import solutions, without
from r1cs_programs import single
from single_changes import free_wires
from test_audit import random_system

from circuitize.backends.r1cs.checker import failing_rows
from circuitize.circuits import integers
from circuitize.circuits.types import Fixed
from circuitize.sims.agree import R1CS


@pytest.mark.parametrize("seed", range(60))
def test_all_values_of_all_wires_are_told(seed: int) -> None:
    random = np.random.default_rng(seed)
    system = random_system(random)
    found = solutions(system)
    for values in random.permutation(found)[:5]:
        told = free_wires(system, system.field.from_int64(values))
        for wire in range(1 + system.public + system.private_inputs, system.wires):
            moves = []
            for move in range(1, system.field.prime):
                changed = values.copy()
                changed[wire] = (changed[wire] + move) % system.field.prime
                if not len(failing_rows(system, system.field.from_int64(changed))):
                    moves.append(move)
            expected = [told[wire]] if told.get(wire) is not None else range(1, system.field.prime)
            assert moves == (list(expected) if wire in told else [])


def test_the_systems_tried_have_wires_of_all_three_kinds() -> None:
    kinds = set()
    for seed in range(60):
        random = np.random.default_rng(seed)
        system = random_system(random)
        for values in random.permutation(solutions(system))[:5]:
            told = free_wires(system, system.field.from_int64(values))
            kinds |= {type(move) for move in told.values()} | ({bool} if len(told) < system.wires - 2 else set())
    assert kinds == {int, type(None), bool}


def test_a_circuit_without_a_row_has_a_wire_that_moves() -> None:
    target = R1CS(single(integers.Shift(3), Fixed((4,), 0, -100, 100)))
    made = honest_witness(target, [{"in0": np.array([-100, -4, 5, 99])}])
    assert made is not None
    system = target.emission.system
    assert not free_wires(system, made)
    lacking = [bool(free_wires(without(system, row), made)) for row in range(system.constraints)]
    assert any(lacking)
