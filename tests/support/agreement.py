"""What every program must pass: executor and circuit agree, sizes are as estimated, changed witnesses are rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import tiers
from numpy.typing import NDArray
from single_changes import free_wires

from circuitize.backends.field import Limbs
from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.sims import integer
from circuitize.sims.agree import R1CS, Agreement, agree

Wires = NDArray[np.int64]
Vector = Mapping[str, NDArray[np.int64]]

SIZES = ("constraints", "wires", "public", "nonzeros")
FEW = tiers.count(4, deep=8)
"""Inputs, at least, on which the circuit is tried whose challenge is drawn: it differs in ranges and contractions."""
MOST_ROWS = tiers.count(1 << 17, deep=1 << 20)
"""Of circuits whose wires are changed one by one."""


def check_agreement(program: IntegerProgram, vectors: Sequence[Vector]) -> Agreement:
    """Everything at once, in both kinds of circuit; returns what was compared."""
    targets = circuits(program)
    for number, target in enumerate(targets):
        # In `make test` one of the two is estimated, the first one of every other program.
        if tiers.TIER == "deep" or number == program.arrow.edge_count % len(targets):
            system, counted = target.emission.system, estimate(program, challenge=target.challenge)
            assert {name: counted[name] for name in SIZES} == {name: getattr(system, name) for name in SIZES}
        check_single_changes(target, vectors)
    found = agree(program, vectors, targets[:1])
    assert found.mismatches == 0, found.first_difference
    assert found.vectors == len(vectors)
    drawn = agree(program, vectors[:: tiers.count(max(1, len(vectors) // FEW), deep=1)], targets[1:])
    assert drawn.mismatches == 0, drawn.first_difference
    return found


def circuits(program: IntegerProgram) -> list[R1CS]:
    """The plain circuit, and the one whose challenge is drawn after a commitment, unless it has nothing to test."""
    found = [R1CS(program)]
    try:
        found.append(R1CS(program, challenge=Challenge.COMMITTED))
    except CircuitizeError as error:
        assert "to test by a challenge" in str(error)
    return found


def check_single_changes(target: R1CS, vectors: Iterable[Vector]) -> None:
    """The circuit rejects the first vector's witness with any one wire changed to anything, inputs apart."""
    if target.emission.system.constraints > MOST_ROWS:
        return
    made = honest_witness(target, vectors)
    if made is not None:
        assert not free_wires(target.emission.system, made)


def honest_witness(target: R1CS, vectors: Iterable[Vector]) -> Limbs | None:
    """A witness of the first vector on which the program is defined, None where there is none."""
    plan = target.emission.plan
    for vector in vectors:
        try:
            return witness(plan, integer.trace(target.program, vector), random_salts(plan))
        except Undefined:
            continue
    return None


def mutations(system: ConstraintSystem, made: Limbs, count: int) -> list[tuple[int, int]]:
    """Wires with other values for them, `count` or all: internal ones and public outputs, the last one included.

    A value moves by one, or is subtracted from one (a flipped bit), or goes anywhere in the field. Inputs are left
    alone: another input may have the same outputs.
    """
    random = np.random.default_rng(system.wires)
    inside = np.arange(1 + system.public + system.private_inputs, system.wires)
    outputs = np.arange(1, 1 + system.public_outputs)
    every = np.concatenate([inside, outputs])
    if count >= len(every):
        count, wires = len(every), every
    else:
        most, fewest = _choice(random, inside, outputs, count), _choice(random, outputs, inside, count)
        wires = np.where(random.random(count) < 0.8, most, fewest)
        wires[0] = inside[-1] if len(inside) else outputs[-1]
    found = []
    for wire, kind in zip(wires.tolist(), random.integers(0, 4, count).tolist(), strict=True):
        (value,) = system.field.to_integers(made[wire : wire + 1])
        other = [value + 1, value - 1, 1 - value, int.from_bytes(random.bytes(31), "little")][kind] % system.field.prime
        found.append((wire, other if other != value else (value + 1) % system.field.prime))
    return found


def _choice(random: np.random.Generator, first: Wires, second: Wires, count: int) -> Wires:
    return random.choice(first if len(first) else second, count)
