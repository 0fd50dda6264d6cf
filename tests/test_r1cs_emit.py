"""Every integer operation as a constraint system over BN254: right witnesses pass, and any other value does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from integers_cases import Case, Integers, cases
from r1cs_programs import single

from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.field import BN254, Limbs
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import Program
from circuitize.sims import integer

ALL = cases()
MUTATED_WIRES = 40


def runs(case: Case, program: Program, random: np.random.Generator, count: int) -> Iterator[dict[str, Integers]]:
    """Inputs on which the program is defined."""
    found = 0
    for _ in range(3000):
        values = case.draw(random) if case.sources else [np.array(1)]
        inputs = dict(zip((port.name for port in program.inputs), values, strict=True))
        with suppress(Undefined):
            integer.run(program, inputs)
            found += 1
            yield inputs
        if found == count:
            return
    raise AssertionError("the program is hardly ever defined")


def public_values(emission: Emission, found: Limbs) -> dict[tuple[str, str], Integers]:
    values = {}
    for public in emission.publics:
        numbers = BN254.to_integers(found[public.first : public.first + public.count])
        signed = np.array([BN254.signed(number) for number in numbers], np.int64)
        values[public.side, public.name] = signed.reshape(public.format.shape)
    return values


@pytest.mark.parametrize("case", ALL, ids=str)
def test_witnesses_pass_and_carry_the_executor_s_outputs(case: Case) -> None:
    random = np.random.default_rng(3)
    program = single(case.operation, *case.sources)
    emission = emit(program)
    for inputs in runs(case, program, random, 4):
        found = witness(emission.plan, integer.trace(program, inputs))
        assert found.shape == (emission.system.wires, 4)
        assert not len(failing_rows(emission.system, found))
        public = public_values(emission, found)
        expected = [("output", item) for item in integer.run(program, inputs).items()]
        expected += [("input", item) for item in inputs.items()]
        for side, (name, value) in expected:
            assert np.array_equal(public[side, name], value)
        assert len(public) == len(expected)


@pytest.mark.parametrize("case", ALL, ids=str)
def test_every_changed_wire_is_noticed(case: Case) -> None:
    """One output or internal wire at a time, drawn at random where there are many. (Other inputs may be as good.)"""
    random = np.random.default_rng(4)
    program = single(case.operation, *case.sources)
    emission = emit(program)
    (inputs,) = runs(case, program, random, 1)
    found = witness(emission.plan, integer.trace(program, inputs))
    system = emission.system
    internal = 1 + system.public + system.private_inputs
    wires = np.r_[1 : 1 + system.public_outputs, internal : system.wires]
    most = MUTATED_WIRES if system.wires < 20_000 else 3
    if len(wires) > most:
        wires = random.choice(wires, most, replace=False)
    for wire in wires.tolist():
        (value,) = BN254.to_integers(found[wire : wire + 1])
        change = int(random.choice([1, -1, 2, BN254.prime // 2]))
        mutated = found.copy()
        mutated[wire] = BN254.from_integers([value + change])[0]
        assert len(failing_rows(system, mutated)), f"wire {wire}"


@pytest.mark.parametrize("case", ALL, ids=str)
def test_the_estimate_is_exact(case: Case) -> None:
    program = single(case.operation, *case.sources)
    system, sizes = emit(program).system, estimate(program)
    assert sizes["constraints"] == system.constraints
    assert sizes["wires"] == system.wires
    assert sizes["public"] == system.public
    assert sizes["nonzeros"] == system.nonzeros
    for table in ("parts", "operations", "roles"):
        assert sum(entry["constraints"] for entry in sizes[table].values()) == system.constraints
        assert sum(entry["nonzeros"] for entry in sizes[table].values()) == system.nonzeros
        assert sum(entry["wires"] for entry in sizes[table].values()) == system.wires - 1
