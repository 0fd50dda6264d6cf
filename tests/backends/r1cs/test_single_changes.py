"""The search for wires that may move alone finds what trying every value finds, and fails circuits that lack a row."""

from __future__ import annotations

import numpy as np
import pytest
from audited_systems import GADGETS, random_system
from enumeration import dense, every_input, solutions, without
from every_case import every_case
from numpy.typing import NDArray
from r1cs_programs import single
from single_changes import free_wires
from tiers import count, seeds

from circuitize.backends.field import BN254, Field
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.errors import Undefined
from circuitize.circuits.integers import IntegerOperation
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

Wires = NDArray[np.int64]


@every_case(seeds(30, deep=1000))
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
    for seed in seeds(30, deep=1000):
        random = np.random.default_rng(seed)
        system = random_system(random)
        for values in random.permutation(solutions(system))[:5]:
            told = free_wires(system, system.field.from_int64(values))
            kinds |= {type(move) for move in told.values()} | ({bool} if len(told) < system.wires - 2 else set())
    assert kinds == {int, type(None), bool}


@pytest.mark.parametrize("gadget", GADGETS, ids=lambda gadget: f"{gadget[1].name} {gadget[0]}")
def test_what_moves_in_gadgets_less_a_row(gadget: tuple[int, IntegerOperation, tuple[Fixed, ...]]) -> None:
    """With each row left out in turn, just the wires that trying every value finds: at least one, for most rows."""
    prime, operation, sources = gadget
    given = single(operation, *sources)
    emission = emit(given, Field(prime))
    system, freed = emission.system, set()
    for inputs in np.random.default_rng(0).permutation(np.array(every_input(given)))[: count(8, deep=24)]:
        try:
            made = witness(emission.plan, integer.trace(given, inputs))
        except Undefined:
            continue
        wires, moves, failing = failing_after_moves(system, made[:, 0].astype(np.int64))
        assert failing.any(axis=1).all()
        for row in range(system.constraints):
            left = ~np.delete(failing, row, axis=1).any(axis=1)
            found: dict[int, list[int]] = {}
            for wire, move in zip(wires[left].tolist(), moves[left].tolist(), strict=True):
                found.setdefault(wire, []).append(move)
            told = free_wires(without(system, row), made)
            assert found == {w: list(range(1, prime)) if m is None else [m] for w, m in told.items()}
            freed |= {row} if told else set()
    assert 2 * len(freed) > system.constraints or isinstance(operation, integers.ArgMax)


def failing_after_moves(system: ConstraintSystem, values: Wires) -> tuple[Wires, Wires, NDArray[np.bool_]]:
    """Each wire that is no input, moved by each number: wires, numbers, and [move, row] whether the row fails."""
    prime, outputs, inside = system.field.prime, system.public_outputs, 1 + system.public + system.private_inputs
    chosen = np.concatenate([np.arange(1, 1 + outputs), np.arange(inside, system.wires)])
    wires, moves = np.repeat(chosen, prime - 1), np.tile(np.arange(1, prime), len(chosen))
    moved = np.tile(values, (len(wires), 1))
    moved[np.arange(len(wires)), wires] += moves
    a, b, c = (moved @ dense(matrix, system).T % prime for matrix in (system.a, system.b, system.c))
    return wires, moves, a * b % prime != c


def test_which_rows_of_a_shift_hold_a_wire_alone() -> None:
    """14 of 21, for some input; the others are needed as well: digits of a quotient may move together with the output,
    and the two rows that end the bound of the input refuse other inputs.
    """
    given = single(integers.Shift(3), Fixed((1,), 0, -100, 100))
    emission = emit(given, BN254)
    system, plan = emission.system, emission.plan
    roles = [block.role for block in system.blocks for _ in range(block.rows)]
    rows = [(role, roles[:row].count(role)) for row, role in enumerate(roles)]
    of_outputs = roles.index("output out0")
    alone, together = set(), set()
    for value in range(-100, 101, 9):
        made = witness(plan, integer.trace(given, {"in0": np.array([value])}))
        assert not free_wires(system, made)
        for row, name in enumerate(rows):
            if free_wires(without(system, row), made):
                alone.add(name)
            elif row < of_outputs and free_wires(without(without(system, of_outputs), row), made).keys() - {1}:
                together.add(name)
    digits = {("shift", digit) for digit in range(2, 7)}
    ends = {("input range in0 bound", place) for place in (1, 3)}
    assert set(rows) - alone == digits | ends and len(alone) == 14 and len(rows) == 21
    assert digits <= together
