"""Every integer operation against its second definition in plain Python integers, and against its own expansion."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from every_case import every_case
from integers_cases import cases, described
from operations.integer import Case
from plain_integers import NoValueError, Plain

from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.integers import Check, Expansion, expand, operation_classes
from circuitize.circuits.types import Fixed
from circuitize.circuits.validate import validate

ALL = cases()
EXPANSIONS = [c for c in ALL if isinstance(c.operation, Expansion)]


def test_every_operation_has_a_case_and_a_plain_definition() -> None:
    names = {kind.name for kind in operation_classes() if kind.__module__.startswith("circuitize.")}
    assert {c.operation.name for c in ALL} == names == {kind.name for kind in described()}


@every_case(ALL)
def test_run_equals_the_plain_definition(case: Case) -> None:
    random = np.random.default_rng(1)
    (target,) = case.operation.target_types(*case.sources)
    meaning = described()[type(case.operation)]
    assert target.fraction_bits == meaning.fraction_bits(case.operation, *(s.fraction_bits for s in case.sources))
    for _ in range(4 if target.size * sum(s.size for s in case.sources) > 1000 else 12):
        values = case.draw(random)
        try:
            expected = meaning.plain(case.operation, *map(Plain.of, values))
        except NoValueError:
            with pytest.raises(Undefined):
                case.operation.run(*values)
            continue
        (found,) = case.operation.run(*values)
        assert isinstance(found, np.ndarray) and found.dtype == np.int64
        assert found.shape == expected.shape == target.shape
        assert Plain.of(found) == expected
        assert target.low <= int(found.min()) and int(found.max()) <= target.high


@every_case(EXPANSIONS)
def test_definitions_have_the_type_and_the_value_of_the_operation(case: Case) -> None:
    random = np.random.default_rng(2)
    definition = case.operation.definition(*case.sources)  # type: ignore[attr-defined]
    core = expand(definition)
    for arrow in (definition, core):
        validate(arrow)
        assert arrow.source == case.sources
        assert arrow.target == case.operation.target_types(*case.sources)
    assert not any(isinstance(operation, Expansion) for operation in core.operations)
    for _ in range(12):
        values = case.draw(random)
        try:
            (expected,) = case.operation.run(*values)
        except Undefined:
            for arrow in (definition, core):
                with pytest.raises(Undefined):
                    evaluate(arrow, values)
            continue
        for arrow in (definition, core):
            np.testing.assert_array_equal(evaluate(arrow, values)[0], expected)


@pytest.mark.parametrize("low, high", [(0, 16), (-16, 15), (0, 0), (-1, 0), (5, 21)])
def test_check_is_undefined_exactly_outside(low: int, high: int) -> None:
    for value in range(low - 40, high + 40):
        array = np.array([low, value, high])
        if low <= value <= high:
            assert Check(low, high).run(array)[0] is array
        else:
            with pytest.raises(Undefined, match=rf"\[{low}, {high}\], found {value} at element \[1\]"):
                Check(low, high).run(array)


def test_undefined_names_the_first_element() -> None:
    with pytest.raises(Undefined, match=r"found 17 at element \[1, 0\]"):
        Check(0, 16).run(np.array([[0, 16], [17, 18]]))
    with pytest.raises(Undefined, match=r"found -1 at element \[\]"):
        Check(0, 16).run(np.array(-1))


@every_case(ALL)
def test_sources_are_not_written_to(case: Case) -> None:
    values = case.draw(np.random.default_rng(3))
    for value in values:
        value.flags.writeable = False
    with suppress(Undefined):
        case.operation.run(*values)


def test_types_hold_python_integers() -> None:
    for case in ALL:
        (target,) = case.operation.target_types(*case.sources)
        assert isinstance(target, Fixed)
        numbers = (*target.shape, target.low, target.high, target.fraction_bits)
        assert {type(number) for number in numbers} == {int}, case
