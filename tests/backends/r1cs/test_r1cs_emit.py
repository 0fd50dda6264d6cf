"""Every integer operation as a constraint system over BN254: right witnesses pass, and any other value does not.

In `make test` tests/sims/agree compares the outputs of witnesses, and changes every wire of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from every_case import every_case
from integers_cases import cases
from operations.integer import Case, Integers
from r1cs_programs import program, single
from tiers import count, of_each

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.r1cs.checker import describe, failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.sims import integer

ALL = of_each(cases(), first=True)
MUTATED_WIRES = count(8, deep=40)


def runs(case: Case, given: IntegerProgram, random: np.random.Generator, count: int) -> Iterator[dict[str, Integers]]:
    """Inputs on which the program is defined."""
    found = 0
    for _ in range(3000):
        values = case.draw(random) if case.sources else [np.array(1)]
        inputs = dict(zip((port.name for port in given.inputs), values, strict=True))
        with suppress(Undefined):
            integer.run(given, raw(inputs))
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


@pytest.mark.deep
@every_case(ALL)
def test_witnesses_pass_and_carry_the_executor_s_outputs(case: Case) -> None:
    random = np.random.default_rng(3)
    given = single(case.operation, *case.sources)
    emission = emit(given)
    for inputs in runs(case, given, random, 4):
        found = witness(emission.plan, integer.trace(given, inputs))
        assert found.shape == (emission.system.wires, 4)
        assert not len(failing_rows(emission.system, found))
        public = public_values(emission, found)
        expected = [("output", item) for item in integer.run(given, raw(inputs)).items()]
        expected += [("input", item) for item in inputs.items()]
        for side, (name, value) in expected:
            assert np.array_equal(public[side, name], value)
        assert len(public) == len(expected)


@pytest.mark.deep
@every_case(ALL)
def test_every_changed_wire_is_noticed(case: Case) -> None:
    """One output or internal wire at a time, drawn at random where there are many. (Other inputs may be as good.)"""
    random = np.random.default_rng(4)
    given = single(case.operation, *case.sources)
    emission = emit(given)
    (inputs,) = runs(case, given, random, 1)
    found = witness(emission.plan, integer.trace(given, inputs))
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


@every_case(ALL)
def test_the_estimate_is_exact(case: Case) -> None:
    given = single(case.operation, *case.sources)
    system, sizes = emit(given).system, estimate(given)
    assert sizes["constraints"] == system.constraints
    assert sizes["wires"] == system.wires
    assert sizes["public"] == system.public
    assert sizes["nonzeros"] == system.nonzeros
    for table in ("parts", "operations", "roles"):
        assert sum(entry["constraints"] for entry in sizes[table].values()) == system.constraints
        assert sum(entry["nonzeros"] for entry in sizes[table].values()) == system.nonzeros
        assert sum(entry["wires"] for entry in sizes[table].values()) == system.wires - 1


def test_failing_rows_are_named_by_operation_and_element() -> None:
    """Also where other elements' rows are left out because they are structural zeros."""
    builder = Builder()
    x = builder.input(Fixed((4,), 0, 1, 9))
    padded = builder.add(integers.Reindex(View.pad((4,), (2,), (2,))), x)
    square = builder.add(integers.Multiply(), padded, padded)
    given = program(builder.build([builder.add(integers.Shift(1), square)]))
    emission = emit(given)
    found = witness(emission.plan, integer.trace(given, {"in0": np.array([1, 2, 3, 4])}))
    (products,) = (block for block in emission.system.wire_blocks if block.role == "product")
    found[products.first + 1] = BN254.from_integers([9])[0]
    rows = failing_rows(emission.system, found)
    named = [describe(emission.system, int(row), lambda edge: given.arrow.edge(edge).operation.name) for row in rows]
    element = 2 + 1
    assert f"integer.multiply, element {element}, product" in named[0]
    assert f"integer.shift, element {element}, shift" in named[1]
