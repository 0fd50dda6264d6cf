"""Real operations on numpy arrays: every class has a case, and its values are what a second definition says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
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


def scattered(updates: Any, indices: Any, axis: int, size: int) -> Any:
    hot = np.eye(size)[np.int64(indices)]
    return np.moveaxis(np.tensordot(updates, hot, (range(axis, axis + indices.ndim), range(indices.ndim))), -1, axis)


def windows(x: Any, o: Any) -> Any:
    """Element by element."""
    (shape,) = (t.shape for t in o.target_types(Array(x.shape)))
    made = np.empty(shape)
    for at in np.ndindex(shape):
        place = list(at[: x.ndim])
        for axis, step, gap, offset in zip(o.axes, o.steps, o.dilations, at[x.ndim :], strict=True):
            place[axis] = step * place[axis] + gap * offset
        made[at] = x[tuple(place)]
    return made


def overlapped(x: Any, o: Any) -> Any:
    made = np.zeros(o.shape)
    for at in np.ndindex(x.shape):
        place = list(at[: made.ndim])
        for axis, step, gap, offset in zip(o.axes, o.steps, o.dilations, at[made.ndim :], strict=True):
            place[axis] = step * place[axis] + gap * offset
        made[tuple(place)] += x[at]
    return made


huber = scipy.special.huber
erf = np.vectorize(math.erf, otypes=[float])


def triangle(extent: int, o: Any) -> Any:
    lower = np.tril(np.ones((extent, extent)), -1 if o.exclusive else 0)
    return lower.T if o.backward else lower


def top(x: Any, o: Any) -> Any:
    def hot(row: Any) -> Any:
        best = sorted(range(len(row)), key=lambda i: (-row[i], i))
        return np.eye(len(row))[best[: o.k]]

    rows = np.moveaxis(x, o.axis, -1)
    made = np.array([hot(row) for row in rows.reshape(-1, rows.shape[-1])])
    made = made.reshape(*rows.shape[:-1], o.k, rows.shape[-1])
    return np.moveaxis(made, (-2, -1), (o.axis, o.axis + 1))


def normal(x: Any) -> Any:
    return (1 + erf(x / np.sqrt(2))) / 2


def bent(x: Any) -> Any:
    return np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)


def log_sum_exp(x: Any, axis: int, keepdims: bool = False) -> Any:
    return np.log(np.exp(x).sum(axis, keepdims=keepdims))


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
    arrays.Flip: lambda o: lambda x: x[tuple(slice(None, None, -1 if i in o.axes else 1) for i in range(x.ndim))],
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
    arrays.Window: lambda o: lambda x: windows(x, o),
    arrays.OverlapAdd: lambda o: lambda x: overlapped(x, o),
    arrays.Gather: lambda o: (
        lambda x, i: np.moveaxis(np.moveaxis(x, o.axis, 0)[np.int64(i)], range(i.ndim), range(o.axis, o.axis + i.ndim))
    ),
    arrays.OneHot: lambda o: lambda i: np.eye(o.size)[np.int64(i)],
    arrays.ScatterAdd: lambda o: lambda x, i: scattered(x, i, o.axis, o.size),
    arrays.Norm: lambda o: lambda x: np.linalg.norm(x, axis=o.axis),
    arrays.SphericalAttention: lambda o: lambda s, v: (s / np.fmax(np.linalg.norm(s, axis=-1), o.floor)[..., None]) @ v,
    arrays.Divide: lambda o: lambda x, y: x * (1 / y),
    arrays.Log: lambda o: lambda x: np.log2(x) / np.log2(np.e),
    arrays.SquareRoot: lambda o: lambda x: x**0.5,
    arrays.Sigmoid: lambda o: lambda x: 1 / (1 + np.exp(-x)),
    arrays.Tanh: lambda o: lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)),
    arrays.LogSumExp: lambda o: lambda x: log_sum_exp(x, o.axis),
    arrays.LogSoftmax: lambda o: lambda x: x - log_sum_exp(x, o.axis, keepdims=True),
    arrays.CrossEntropy: lambda o: lambda x, t: (log_sum_exp(x, 1) - (t * x).sum(1)).mean(),
    arrays.BinaryCrossEntropy: lambda o: lambda x, t: (np.log(1 + np.exp(x)) - t * x).mean(),
    arrays.Maximum: lambda o: lambda x, y: (x + y + np.abs(x - y)) / 2,
    arrays.Square: lambda o: lambda x: x**2,
    arrays.Mean: lambda o: lambda x: x.mean(o.axes),
    arrays.Softmax: lambda o: lambda x: softmax(x, o.axis),
    arrays.ReciprocalSquareRoot: lambda o: lambda x: x**-0.5,
    arrays.Erf: lambda o: erf,
    arrays.GELU: lambda o: lambda x: x * normal(x),
    arrays.GELUSlope: lambda o: lambda x: normal(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi),
    arrays.TanhGELU: lambda o: lambda x: x * (1 + np.tanh(bent(x))) / 2,
    arrays.TanhGELUSlope: lambda o: (
        lambda x: (
            (1 + np.tanh(bent(x))) / 2 + x * np.sqrt(0.5 / np.pi) * (1 + 0.134145 * x * x) * (1 - np.tanh(bent(x)) ** 2)
        )
    ),
    arrays.Softplus: lambda o: lambda x: np.log1p(np.exp(x)),
    arrays.Sin: lambda o: lambda x: np.exp(1j * x).imag,
    arrays.Cos: lambda o: lambda x: np.exp(1j * x).real,
    arrays.Exp2: lambda o: lambda x: 2.0**x,
    arrays.Log2: lambda o: lambda x: np.log(x) / np.log(2),
    arrays.Floor: lambda o: lambda x: x // 1,
    arrays.Ceil: lambda o: lambda x: -(-x // 1),
    arrays.Round: lambda o: np.vectorize(round, otypes=[float]),
    arrays.Clip: lambda o: lambda x: np.clip(x, o.low, o.high),
    arrays.Abs: lambda o: lambda x: np.maximum(x, -x),
    arrays.Sign: lambda o: np.sign,
    arrays.Minimum: lambda o: lambda x, y: (x + y - np.abs(x - y)) / 2,
    arrays.ELU: lambda o: lambda x: np.where(x > 0, x, o.alpha * np.expm1(x)),
    arrays.Power: lambda o: lambda x: np.prod([x ** np.sign(o.exponent)] * abs(o.exponent), axis=0) * np.ones(x.shape),
    arrays.Min: lambda o: lambda x: np.sort(x, o.axis).take(0, o.axis),
    arrays.Product: lambda o: lambda x: np.prod(x, o.axis),
    arrays.CumulativeSum: lambda o: (
        lambda x: np.moveaxis(np.tensordot(triangle(x.shape[o.axis], o), x, (1, o.axis)), 0, o.axis)
    ),
    arrays.TopKOneHot: lambda o: lambda x: top(x, o),
    arrays.Huber: lambda o: lambda x, y: huber(o.delta, x - y).mean(),
    arrays.Variance: lambda o: lambda x: np.var(x, o.axes, ddof=o.correction),
    arrays.Normalize: lambda o: (
        lambda x: (x - x.mean(o.axes, keepdims=True)) / np.sqrt(np.var(x, axis=o.axes, keepdims=True) + o.epsilon)
    ),
    arrays.RootMeanSquareNormalize: lambda o: lambda x: x / np.sqrt((x**2).mean(o.axes, keepdims=True) + o.epsilon),
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
    np.testing.assert_allclose(found, -(t * np.log(softmax(x, 1))).sum() / 5, rtol=1e-13)


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
