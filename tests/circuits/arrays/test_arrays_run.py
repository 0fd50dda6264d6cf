"""Real operations on numpy arrays: every class has a case, and its values are what a second definition says."""

from __future__ import annotations

import numpy as np
import pytest
from arrays_cases import cases, described, language
from every_case import every_case
from operations.real import Case

from circuitize.circuits import arrays
from circuitize.circuits.builder import generator
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Array


def test_every_operation_has_a_case() -> None:
    covered = {type(case.operation) for case in cases()}
    missing = sorted(kind.name for kind in language() if kind not in covered)
    assert not missing, f"describe {missing} in tests/support/operations/reals/"


@every_case(cases())
def test_run_agrees_with_a_second_definition(case: Case) -> None:
    random = np.random.default_rng(1)
    for values in (case.smooth(random), case.reals(case.awkward(random)), case.reals(case.awkward(random))):
        (found,) = evaluate(case.arrow, values)
        expected = described()[type(case.operation)].reference(case.operation)(*values)
        assert isinstance(found, np.ndarray)
        assert found.shape == case.target.shape
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@every_case(cases())
def test_sources_are_not_written_to(case: Case) -> None:
    values = case.smooth(np.random.default_rng(2))
    before = [value.copy() for value in values]
    evaluate(case.arrow, values)
    for value, kept in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, kept)


@every_case(cases())
def test_identities_change_nothing(case: Case) -> None:
    if len(case.sources) == 1 and case.operation.is_identity(case.sources[0].array):
        values = case.smooth(np.random.default_rng(3))
        np.testing.assert_array_equal(evaluate(case.arrow, values)[0], values[0])


def test_exp_past_float64_is_undefined() -> None:
    with pytest.raises(Undefined, match=r"overflow in exp: .* found 1000 at element \[1\]"):
        evaluate(generator(arrays.Exp(), Array((2,))), [np.array([0.0, 1000.0])])


def test_division_by_zero_is_undefined() -> None:
    with pytest.raises(Undefined, match=r"division by zero: .* at element \[0, 1\]"):
        evaluate(generator(arrays.Reciprocal(), Array((1, 2))), [np.array([[1.0, 0.0]])])


@pytest.mark.parametrize(
    ("operation", "values", "message"),
    [
        (arrays.Divide(), ([1.0, 2.0], [1.0, 0.0]), r"division by zero: .* element \[1\]"),
        (arrays.Log(), ([1.0, 0.0],), r"above 0, found 0 at element \[1\]"),
        (arrays.SquareRoot(), ([1.0, -4.0],), r"at least 0, found -4 at element \[1\]"),
        (arrays.Gather(0), ([1.0, 2.0], [0.0, 2.0]), r"whole number from 0 to 1, found 2 at element \[1\]"),
        (arrays.Gather(0), ([1.0, 2.0], [0.5, 0.0]), r"whole number from 0 to 1, found 0.5 at element \[0\]"),
        (arrays.ScatterAdd(0, 2), ([1.0, 2.0], [-1.0, 0.0]), r"from 0 to 1, found -1 at element \[0\]"),
    ],
    ids=lambda x: str(x),
)
def test_undefined(operation: arrays.RealOperation, values: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(Undefined, match=message):
        evaluate(generator(operation, *(Array((2,)) for _ in values)), [np.array(value) for value in values])


def test_saturating_functions_of_great_numbers() -> None:
    x = np.array([-1e4, -40.0, 40.0, 1e4])
    (found,) = evaluate(generator(arrays.Sigmoid(), Array((4,))), [x])
    np.testing.assert_allclose(found, [0, np.exp(-40), 1, 1], rtol=1e-14)
    np.testing.assert_array_equal(evaluate(generator(arrays.Tanh(), Array((4,))), [x])[0], [-1, -1, 1, 1])


def test_cross_entropy_is_that_of_the_textbook_where_rows_sum_to_one() -> None:
    random = np.random.default_rng(12)
    x, t = random.normal(size=(5, 4)), np.eye(4)[random.integers(4, size=5)]
    (found,) = evaluate(generator(arrays.CrossEntropy(), Array((5, 4)), Array((5, 4))), [x, t])
    softmax = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(found, -(t * np.log(softmax)).sum() / 5, rtol=1e-13)


def test_equal_constants_are_equal_however_they_are_made() -> None:
    assert arrays.Constant.of(np.full((2, 3), 0.5)) == arrays.Constant.splat(0.5, (2, 3))
    assert hash(arrays.Constant.of(np.zeros(3))) == hash(arrays.Constant.zeros((3,)))
    assert arrays.Constant.of([-0.0, 1.0]) == arrays.Constant.of([0.0, 1.0])
    assert arrays.Constant.zeros((3,)) != arrays.Constant.zeros((1, 3))
    assert arrays.Constant.of([1.0, 2.0]) != arrays.Constant.of([1.0, 3.0])


def test_a_constant_keeps_its_value_when_the_array_changes() -> None:
    array = np.arange(3.0)
    constant = arrays.Constant.of(array)
    array[0] = 7.0
    np.testing.assert_array_equal(constant.run()[0], [0.0, 1.0, 2.0])


def test_a_splat_takes_no_space() -> None:
    constant = arrays.Constant.zeros((100_000, 100_000))
    assert constant.amounts.size == 1
    assert constant.run()[0].strides == (0, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_constant_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(CircuitizeError, match=r"finite numbers, found .* at element \[1\]"):
        arrays.Constant.of([0.0, value])
