"""Traced functions mean what numpy means, and complain with the user's file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Array
from circuitize.circuits.validate import validate
from circuitize.frontends import functions
from circuitize.frontends.provenance import part
from circuitize.frontends.trace import Tensor, trace

CONSTANT = np.array([[0.5, -1.0, 2.0]])

CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None, tuple[tuple[int, ...], ...]]] = {
    "add": (lambda x, y: x + y, None, ((3, 4), (4,))),
    "add both ways": (lambda x, y: x + y, None, ((3, 1), (1, 4))),
    "add scalar": (lambda x: 2 + x + 1.5, None, ((2, 3),)),
    "add constant": (lambda x: CONSTANT + x, None, ((2, 1),)),
    "subtract": (lambda x, y: x - y, None, ((2, 3), ())),
    "subtract from scalar": (lambda x: 1 - x, None, ((2, 3),)),
    "negate": (lambda x: -x, None, ((2, 3),)),
    "scale": (lambda x: 3 * x * np.float64(0.25), None, ((2, 3),)),
    "multiply": (lambda x, y: x * y, None, ((2, 1, 3), (4, 1))),
    "multiply constant": (lambda x: CONSTANT * x, None, ((4, 3),)),
    "divide": (lambda x, y: x / (y * y + 1), None, ((2, 3), (3,))),
    "divide by constant": (lambda x: x / CONSTANT, None, ((4, 3),)),
    "divide a scalar": (lambda x: 2 / (x * x + 1.0), None, ((2, 3),)),
    "power": (lambda x: x**5 + x**2 + x**1, None, ((2, 3),)),
    "greater": (lambda x, y: x > y, None, ((2, 3), (3,))),
    "less": (lambda x: x < 0.0, None, ((2, 3),)),
    "matrix by matrix": (lambda x, y: x @ y, None, ((2, 3), (3, 4))),
    "vector by matrix": (lambda x, y: x @ y, None, ((3,), (3, 4))),
    "matrix by vector": (lambda x, y: x @ y, None, ((2, 3), (3,))),
    "vector by vector": (lambda x, y: x @ y, None, ((3,), (3,))),
    "batched": (lambda x, y: x @ y, None, ((5, 2, 3), (5, 3, 4))),
    "batched by one": (lambda x, y: x @ y, None, ((6, 5, 2, 3), (3, 4))),
    "batched broadcast": (lambda x, y: x @ y, None, ((6, 1, 2, 3), (5, 3, 4))),
    "slice": (lambda x: x[1:, :2], None, ((3, 4),)),
    "negative index": (lambda x: x[-1, ..., -2:], None, ((3, 2, 4),)),
    "new axis": (lambda x: x[:, None, 1:3], None, ((3, 4),)),
    "all": (lambda x: x[...], None, ((3, 4),)),
    "rows": (lambda x: sum(x), None, ((3, 4),)),
    "sum": (lambda x: x.sum(), None, ((3, 4),)),
    "sum of scalar": (lambda x: x.sum(), None, ((),)),
    "sum axis": (lambda x: x.sum(-1), None, ((3, 4),)),
    "sum axes": (lambda x: x.sum((0, 2), keepdims=True), None, ((3, 4, 2),)),
    "mean": (lambda x: x.mean(1, keepdims=True), None, ((3, 4),)),
    "maximum of all": (lambda x: x.max(), None, ((3, 4),)),
    "maximum of axis": (lambda x: x.max(0, keepdims=True), None, ((3, 4),)),
    "reshape": (lambda x: x.reshape(2, -1), None, ((3, 4),)),
    "transpose": (lambda x: x.transpose(2, 0, -2), None, ((3, 4, 2),)),
    "T": (lambda x: x.T, None, ((3, 4, 2),)),
    "relu": (functions.relu, lambda x: np.maximum(x, 0), ((3, 4),)),
    "exp": (functions.exp, np.exp, ((3, 4),)),
    "log": (lambda x: functions.log(x * x + 1), lambda x: np.log(x * x + 1), ((3, 4),)),
    "square root": (lambda x: functions.square_root(x * x), np.abs, ((3, 4),)),
    "sigmoid": (functions.sigmoid, lambda x: 1 / (1 + np.exp(-x)), ((3, 4),)),
    "tanh": (functions.tanh, np.tanh, ((3, 4),)),
    "log softmax": (
        functions.log_softmax,
        lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
        ((3, 4),),
    ),
    "log sum exp": (lambda x: functions.log_sum_exp(x, 0), lambda x: np.log(np.exp(x).sum(0)), ((3, 4),)),
    "gather": (
        lambda x: functions.gather(x, x.constant(np.array([2.0, 0.0])), -1),
        lambda x: x[:, [2, 0]],
        ((3, 4),),
    ),
    "one hot": (
        lambda x: x @ functions.one_hot(x.constant(np.array([2.0, 0.0, 1.0, 1.0])), 3),
        lambda x: x @ np.eye(3)[[2, 0, 1, 1]],
        ((3, 4),),
    ),
    "square": (functions.square, np.square, ((3, 4),)),
    "reciprocal": (lambda x: functions.reciprocal(x * x + 1), lambda x: 1 / (x * x + 1), ((3, 4),)),
    "softmax": (functions.softmax, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), ((3, 4),)),
    "where": (lambda x, y: functions.where(x > y, 1.0, y), lambda x, y: np.where(x > y, 1.0, y), ((3, 4), (4,))),
    "maximum": (lambda x, y: functions.maximum(x, y), np.maximum, ((3, 4), (3, 4))),
    "einsum": (lambda x, y: functions.einsum("ij,ik->jk", x, y), lambda x, y: x.T @ y, ((3, 4), (3, 2))),
    "concatenate": (
        lambda x, y: functions.concatenate([x, y], -1),
        lambda x, y: np.concatenate([x, y], 1),
        ((3, 4), (3, 2)),
    ),
    "argmax": (functions.argmax_one_hot, lambda x: np.eye(4)[x.argmax(-1)], ((3, 4),)),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy(name: str) -> None:
    function, reference, shapes = CASES[name]
    arrow = trace(function, *shapes)
    validate(arrow)
    generator = np.random.default_rng(7)
    values = [generator.normal(size=shape) for shape in shapes]
    (found,) = evaluate(arrow, values)
    expected = np.asarray((reference or function)(*values), np.float64)
    assert arrow.target == (Array(expected.shape),)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_types_come_from_shapes_or_types() -> None:
    arrow = trace(lambda x, y: (y, x + 1.0), (2, 3), Array(()))
    assert arrow.source == (Array((2, 3)), Array(()))
    assert arrow.target == (Array(()), Array((2, 3)))


def test_broadcast_is_an_explicit_edge() -> None:
    names = [edge.operation.name for edge in trace(lambda x, y: x + y, (3, 4), (4,)).edges()]
    assert names == ["real.broadcast", "real.add"]
    assert [edge.operation.name for edge in trace(lambda x, y: x + y, (4,), (4,)).edges()] == ["real.add"]


def test_edges_know_their_line_and_part() -> None:
    def function(x: Tensor) -> Tensor:
        with part("block"), part("inner"):
            y = x + 1.0
        return functions.relu(y)

    edges = list(trace(function, (2,)).edges())
    line = function.__code__.co_firstlineno
    assert {edge.provenance.line for edge in edges[:-1]} == {line + 2}
    assert {edge.provenance.part for edge in edges[:-1]} == {"block.inner"}
    assert (edges[-1].provenance.line, edges[-1].provenance.part) == (line + 3, "")
    assert Path(edges[-1].provenance.file).name == Path(__file__).name


MISTAKES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], str]] = {
    "shapes": (lambda x, y: x + y, ((3, 4), (3,)), "shapes that broadcast"),
    "contraction": (lambda x, y: x @ y, ((3, 4), (3, 4)), "one extent"),
    "matmul of scalars": (lambda x, y: x @ y, ((), ()), "at least one axis"),
    "truth": (lambda x: x if x > 0 else -x, ((3,),), "where"),
    "reshape": (lambda x: x.reshape(5, -1), ((3, 4),), "12 elements"),
    "index": (lambda x: x[3], ((3, 4),), "index below 3"),
    "too many indices": (lambda x: x[0, 0, 0], ((3, 4),), "at most 2 indices"),
    "step of nothing": (lambda x: x[::0], ((3, 4),), "slice of whole numbers"),
    "empty slice": (lambda x: x[2:1], ((3, 4),), "with elements"),
    "axis": (lambda x: x.sum(2), ((3, 4),), "axis 2"),
    "zero divisor": (lambda x: x / 0, ((3,),), "without zeros"),
    "not a number": (lambda x: x + float("nan"), ((3,),), "finite"),
    "infinite": (lambda x: x + np.array([np.inf]), ((3,),), "finite"),
    "exponent": (lambda x: x**0.3, ((3,),), r"multiple of 1/2, found 0.3; use exp(log(x) * 0.3)"),
    "result": (lambda x: 3, ((3,),), "tensors out of the traced function"),
    "results": (lambda x: [x, 3], ((3,),), "tensors out of the traced function"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line_with_file_and_line(name: str) -> None:
    function, shapes, words = MISTAKES[name]
    with pytest.raises(TypingError) as caught:
        trace(function, *shapes)
    message = str(caught.value)
    assert words in message and "\n" not in message
    assert re.search(rf"{Path(__file__).name}:\d+", message), message


def test_tensors_of_two_traces_do_not_mix() -> None:
    leaked: list[Tensor] = []
    trace(lambda x: leaked.append(x) or x, (3,))
    with pytest.raises(TypingError, match="two"):
        trace(lambda x: x + leaked[0], (3,))
