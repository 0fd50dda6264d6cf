"""Traced functions mean what numpy means, and complain with the user's file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_case import every_case

from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Array
from circuitize.circuits.validate import validate
from circuitize.frontends import functions
from circuitize.frontends.provenance import part
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace

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
    "numpy's functions": (
        lambda x: np.tanh(np.exp(x)) + np.sqrt(np.square(x)) - np.abs(np.sin(x)) * np.cos(x) / np.exp2(x),
        None,
        ((3, 4),),
    ),
    "numpy's maximum": (lambda x: np.maximum(0.25, x) - np.minimum(x, CONSTANT), None, ((4, 3),)),
    "numpy's reductions": (
        lambda x: np.sum(x, axis=1) + np.mean(x, 1) - np.max(x, axis=-1) + np.sum(x),
        None,
        ((3, 4),),
    ),
    "numpy's shapes": (lambda x: np.transpose(np.reshape(x, (2, 6)), (1, 0)), None, ((3, 4),)),
    "numpy's where": (
        lambda x, y: np.where(np.greater(x, y), np.concatenate([x, y])[:2], np.clip(y, -0.5, 0.5)),
        None,
        ((2, 3), (2, 3)),
    ),
    "numpy's products": (
        lambda x, y: np.matmul(x, y) + np.einsum("ij,jk->ik", x, y) + CONSTANT @ y,
        None,
        ((2, 3), (3, 4)),
    ),
    "numpy's numbers": (
        lambda x: np.float64(2) - x * np.float64(3) + np.add(1, x) + np.ones(3) / (2 + x * x),
        None,
        ((3,),),
    ),
    "square root of it": (lambda x: (x * x) ** 0.5, None, ((3, 4),)),
    "half powers": (
        lambda x: (x * x + 1) ** 1.5 + (x * x + 1) ** -0.5 + (x * x + 1) ** -1 + (x * x + 1) ** -2.5,
        None,
        ((3, 4),),
    ),
    "power of none": (lambda x: x**0 + x**2.0, None, ((3, 4),)),
    "power of a number": (lambda x: 2**x + 0.5**x, None, ((3, 4),)),
    "every other": (lambda x: x[::2, 1::2], None, ((5, 4),)),
    "backwards": (lambda x: x[::-1, -2::-2], None, ((5, 4),)),
    "a list of rows": (lambda x: x[[0, 1]], None, ((3, 4),)),
    "rows in any order": (lambda x: x[[3, 0, 0, 2, 4, -1, 3], 1:], None, ((5, 4),)),
    "columns": (lambda x: x[..., None, np.array([[0, 2], [3, 3]])], None, ((5, 4),)),
    "a mask": (lambda x: x[:, [True, False, True, True]], None, ((5, 4),)),
    "equal": (
        lambda x, y: (np.sign(x) == np.sign(y)) + (x != y) * 2.0 + (x >= y) * 4.0 + (y <= x) * 8.0,
        None,
        ((3, 4), (4,)),
    ),
    "maximum of axes": (lambda x: x.max((0, 2), keepdims=True) + x.max(axis=(2, 1, 0)), None, ((3, 4, 2),)),
    "shapes as tuples": (lambda x: x.reshape((2, 6)).transpose((1, 0)), None, ((3, 4),)),
    "lists and arrays": (lambda x: [1, 2, 3] * x - abs(+x) * np.arange(3), None, ((2, 3),)),
    "a number first": (
        lambda x: functions.maximum(0, x) + functions.where(CONSTANT > 0, x, 0.0),
        lambda x: np.maximum(0, x) + np.where(CONSTANT > 0, x, 0.0),
        ((4, 3),),
    ),
    "argmax": (functions.argmax_one_hot, lambda x: np.eye(4)[x.argmax(-1)], ((3, 4),)),
}


@every_case(CASES)
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
    "exponent of a tensor": (lambda x: x**x, ((3,),), "use exp(y * log(x))"),
    "base": (lambda x: (-1) ** x, ((3,),), "positive number"),
    "transposed product": (lambda x, y: x @ y, ((3, 4), (5, 4)), "4 of [3, 4] and 5 of [5, 4]; transpose the right"),
    "transposed left": (lambda x, y: x @ y, ((4, 3), (4, 5)), "transpose the left"),
    "product of others": (lambda x, y: x @ y, ((3, 4), (5, 6)), "4 of [3, 4] and 5 of [5, 6]; check which layer"),
    "transposed shapes": (lambda x, y: x + y, ((3, 4), (4, 3)), "[3, 4] and [4, 3]; transpose one"),
    "two batches": (lambda x, y: x + y, ((3, 4), (2, 4)), "[3, 4] and [2, 4]; give both the same batch"),
    "number": (lambda x: float(x) + 1, ((),), "number known now"),
    "math's functions": (lambda x: __import__("math").exp(x), ((),), "functions has exp"),
    "item": (lambda x: x.item(), ((),), "number known now"),
    "range": (lambda x: list(range(x)), ((),), "number known now"),
    "length": (lambda x: len(x), ((),), "scalar, which has no length"),
    "loop": (lambda x: sum(x), ((),), "scalar, which has no length"),
    "an array of it": (lambda x: np.array(x), ((3,),), "number known now"),
    "an array of them": (lambda x: x + np.array([x, x]), ((3,),), "number known now"),
    "numpy's unknown": (lambda x: np.linalg.norm(x), ((3,),), "found numpy's norm;"),
    "numpy's ufunc": (lambda x: np.arctan(x), ((3,),), "found numpy's arctan; use what circuitize.frontends.functions"),
    "numpy's other arguments": (lambda x: np.var(x), ((3,),), "use variance of circuitize.frontends.functions"),
    "numpy's dot": (lambda x: np.dot(x, x), ((3,),), "found numpy's dot; use @"),
    "numpy's options": (lambda x: np.exp(x, out=np.zeros(3)), ((3,),), "numpy's exp with out; use exp of"),
    "numpy's reduction": (lambda x: np.add.reduce(x), ((3,),), "numpy's add.reduce"),
    "a word": (lambda x: x + "1", ((3,),), "found '1'; convert it"),
    "a word times": (lambda x: x * "1", ((3,),), "found '1'; convert it"),
    "a word under": (lambda x: x / "1", ((3,),), "found '1'; convert it"),
    "nothing": (lambda x: x - None, ((3,),), "found None; convert it"),
    "a complex number": (lambda x: x + 1j, ((3,),), "found complex; convert it"),
    "uneven rows": (lambda x: x * [[1], [1, 2]], ((3,),), "rows of different lengths"),
    "a function": (lambda x: x + functions.relu, ((3,),), "found the function relu"),
    "infinite factor": (lambda x: x * float("inf"), ((3,),), "finite"),
    "and": (lambda x: (x > 0) & (x < 1), ((3,),), "write a * b for and"),
    "whole division": (lambda x: x // 2, ((3,),), "floor(x / y)"),
    "assignment": (lambda x: x.__setitem__(0, 1.0), ((3,),), "use where, or concatenate"),
    "index by tensor": (lambda x: x[x], ((3,),), "use gather(x, indices)"),
    "index by truth": (lambda x: x[True], ((3,),), "found True"),
    "index by fraction": (lambda x: x[0.5], ((3,),), "found 0.5"),
    "list past the end": (lambda x: x[[0, 3]], ((3,),), "list of whole numbers below 3 at axis 0, found [0, 3]"),
    "empty list": (lambda x: x[[]], ((3,),), "list of whole numbers below 3"),
    "two lists": (lambda x: x[[0, 1], [0, 1]], ((3, 4),), "index twice: x[[0, 1]][:, 0]"),
    "axis of functions": (lambda x: functions.softmax(x, 5), ((3, 4),), "found axis 5; count from 0"),
    "axis by name": (lambda x: x.sum("rows"), ((3, 4),), "found axis 'rows'"),
    "negative extent": (lambda x: x.reshape(-3, -4), ((3, 4),), "12 elements"),
    "fraction of an extent": (lambda x: x.reshape(1.5, 8), ((3, 4),), "whole numbers for extents, found 1.5"),
    "functions of numbers": (
        lambda x: functions.relu(3.0),  # type: ignore[arg-type]
        ((3,),),
        "expected a tensor in real.relu, found 3.0",
    ),
    "functions of arrays": (lambda x: functions.maximum(1.0, 2.0), ((3,),), "found 1.0 and 2.0; use numpy before"),
    "result": (lambda x: 3, ((3,),), "tensors out of the traced function"),
    "results": (lambda x: [x, 3], ((3,),), "tensors out of the traced function"),
}


@every_case(MISTAKES)
def test_mistakes_are_one_line_with_file_and_line(name: str) -> None:
    function, shapes, words = MISTAKES[name]
    with pytest.raises(TypingError) as caught:
        trace(function, *shapes)
    message = str(caught.value)
    assert words in message and "\n" not in message
    assert re.search(rf"{Path(__file__).name}:\d+", message), message


def test_attributes_that_tensors_lack() -> None:
    """hasattr goes on to mean what it means."""
    for name, words in (("exp", r"use exp\(x\) of circuitize"), ("astype", "its methods are sum, mean")):
        with pytest.raises(AttributeError, match=words):
            trace(lambda x, name=name: getattr(x, name)(), (3,))
    seen: list[bool] = []

    def asked(x: Tensor) -> Tensor:
        seen.append(hasattr(x, "cuda"))
        return x

    trace(asked, (3,))
    assert seen == [False]


def test_a_product_with_a_known_number_is_a_scale() -> None:
    for function in (lambda x: np.float64(0.5) * x, lambda x: x * 0.5, lambda x: np.multiply(0.5, x)):
        assert [edge.operation.name for edge in trace(function, (3,)).edges()] == ["real.scale"]


def test_rows_that_follow_one_another_are_one_slice() -> None:
    for function in (lambda x: x[[1, 2, 3]], lambda x: x[1:4]):
        assert [edge.operation.name for edge in trace(function, (5, 2)).edges()] == ["real.slice"]


def test_tensors_of_two_traces_do_not_mix() -> None:
    leaked: list[Tensor] = []

    def leaking(x: Tensor) -> Tensor:
        leaked.append(x)
        return x

    trace(leaking, (3,))
    with pytest.raises(TypingError, match="two"):
        trace(lambda x: x + leaked[0], (3,))
