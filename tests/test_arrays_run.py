"""Real operations on numpy arrays: every class has a case, and its values are what a second definition says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arrays_cases import Case, cases, language

from circuitize.circuits import arrays
from circuitize.circuits.builder import generator
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Array

Function = Callable[..., Any]


def first_greatest(x: Any, axis: int) -> Any:
    def hot(row: Any) -> Any:
        best = min(range(len(row)), key=lambda i: (-row[i], i))
        return np.eye(len(row))[best]

    return np.apply_along_axis(hot, axis, x)


def softmax(x: Any, axis: int) -> Any:
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


REFERENCE: dict[type[arrays.RealOperation], Callable[[Any], Function]] = {
    arrays.Add: lambda o: np.add,
    arrays.Subtract: lambda o: np.subtract,
    arrays.Negate: lambda o: np.negative,
    arrays.Scale: lambda o: lambda x: x * o.factor,
    arrays.Multiply: lambda o: np.multiply,
    arrays.Reshape: lambda o: lambda x: np.reshape(x, o.shape),
    arrays.Transpose: lambda o: lambda x: np.einsum(x, list(range(x.ndim)), list(o.axes)),
    arrays.Broadcast: lambda o: (
        lambda x: x.reshape([1 if a in o.axes else n for a, n in enumerate(o.shape)]) + np.zeros(o.shape)
    ),
    arrays.Sum: lambda o: lambda x: np.einsum(x, list(range(x.ndim)), [a for a in range(x.ndim) if a not in o.axes]),
    arrays.Slice: lambda o: lambda x: x[np.ix_(*map(range, o.starts, o.stops))],
    arrays.Pad: lambda o: lambda x: np.pad(x, list(zip(o.before, o.after, strict=True))),
    arrays.Concatenate: lambda o: lambda *xs: np.concatenate(xs, o.axis),
    arrays.Einsum: lambda o: lambda x, y: np.einsum(o.equation, x, y),
    arrays.Greater: lambda o: lambda x, y: 1.0 * (x > y),
    arrays.Select: lambda o: lambda c, x, y: (c > 0) * x + (c <= 0) * y,
    arrays.ReLU: lambda o: lambda x: (x > 0) * x,
    arrays.Max: lambda o: lambda x: np.sort(x, o.axis).take(-1, o.axis),
    arrays.ArgMaxOneHot: lambda o: lambda x: first_greatest(x, o.axis),
    arrays.Constant: lambda o: lambda: np.full(o.shape, o.amounts),
    arrays.Exp: lambda o: lambda x: np.e**x,
    arrays.Reciprocal: lambda o: lambda x: 1 / x,
    arrays.Square: lambda o: lambda x: x**2,
    arrays.Mean: lambda o: lambda x: x.mean(o.axes),
    arrays.Softmax: lambda o: lambda x: softmax(x, o.axis),
}


def test_every_operation_has_a_case() -> None:
    covered = {type(case.operation) for case in cases()}
    missing = sorted(kind.name for kind in language() if kind not in covered)
    assert not missing, f"add a case to tests/arrays_cases.py for {missing}"


@pytest.mark.parametrize("case", cases(), ids=str)
def test_run_agrees_with_a_second_definition(case: Case) -> None:
    random = np.random.default_rng(1)
    for values in (case.smooth(random), case.reals(case.awkward(random)), case.reals(case.awkward(random))):
        (found,) = evaluate(case.arrow, values)
        expected = REFERENCE[type(case.operation)](case.operation)(*values)
        assert isinstance(found, np.ndarray)
        assert found.shape == case.target.shape
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("case", cases(), ids=str)
def test_sources_are_not_written_to(case: Case) -> None:
    values = case.smooth(np.random.default_rng(2))
    before = [value.copy() for value in values]
    evaluate(case.arrow, values)
    for value, kept in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, kept)


@pytest.mark.parametrize("case", cases(), ids=str)
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
