"""Every operation of the integer language on awkward values: executor and circuit agree, defined or not."""

from __future__ import annotations

import numpy as np
import pytest
import tiers
from agreement import Vector, check_agreement
from every_case import every_case
from integers_cases import cases
from operations.integer import Case, Integers, awkward
from r1cs_programs import single

from circuitize.circuits import integers
from circuitize.circuits.errors import Undefined
from circuitize.circuits.integers.expand import operation_classes
from circuitize.circuits.types import Fixed

PARTIAL = (integers.Check, integers.Gather, integers.ScatterAdd)
LARGE = 1 << 12


def awkward_vectors(case: Case) -> list[Vector]:
    """Random ones, then values such that each source takes every awkward value it can."""
    random = np.random.default_rng(21)
    vectors = [case.draw(random)]
    if not is_large(case):
        walks = [walk(source, random) for source in case.sources]
        count = max((len(walked) for walked in walks), default=0)
        vectors += [[walked[k % len(walked)] for walked in walks] for k in range(count)]
    named: list[Vector] = [{f"in{i}": value for i, value in enumerate(values)} for values in vectors]
    if isinstance(case.operation, PARTIAL):
        named += [inside(case.operation, vector) for vector in named[:8]]
    return named if case.sources else [{"in0": np.array(1)}]


def is_large(case: Case) -> bool:
    return max((source.size for source in case.sources), default=0) >= LARGE


def walk(source: Fixed, random: np.random.Generator) -> list[Integers]:
    """Arrays that hold every awkward value of an interval between them, in random order."""
    values = random.permutation(awkward(source.low, source.high))
    laps = -(-len(values) // source.size)
    return list(np.resize(values, (laps, *source.shape)))


def inside(operation: integers.Check | integers.Gather | integers.ScatterAdd, vector: Vector) -> Vector:
    """The nearest values on which the operation is defined."""
    if isinstance(operation, integers.Check):
        return {"in0": np.clip(vector["in0"], operation.low, operation.high)}
    size = operation.size if isinstance(operation, integers.ScatterAdd) else vector["in0"].shape[operation.axis]
    return {**vector, "in1": np.clip(vector["in1"], 0, size - 1)}


@pytest.mark.parametrize("case", tiers.of_each(cases(), first=True), ids=str)
def test_circuits_are_the_integers(case: Case) -> None:
    found = check_agreement(single(case.operation, *case.sources), awkward_vectors(case))
    assert found.undefined < found.vectors
    assert not found.undefined or isinstance(case.operation, PARTIAL)


@pytest.mark.parametrize("kind", PARTIAL, ids=lambda kind: kind.name)
def test_undefined_inputs_are_tried(kind: type[integers.IntegerOperation]) -> None:
    undefined = 0
    for case in cases():
        if isinstance(case.operation, kind):
            for vector in awkward_vectors(case):
                try:
                    case.operation.run(*vector.values())
                except Undefined:
                    undefined += 1
    assert undefined


SHIPPED = [kind for kind in operation_classes() if kind.__module__.startswith("circuitize.")]


@every_case(SHIPPED)
def test_every_class_has_a_case(kind: type[integers.IntegerOperation]) -> None:
    assert any(type(case.operation) is kind for case in cases()), "describe it in tests/support/operations/integers/"
