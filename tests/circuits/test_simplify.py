"""Simplification keeps the function and drops what nothing needs."""

from __future__ import annotations

import numpy as np
import pytest

from circuitize.circuits import integers
from circuitize.circuits.arrays import Add, Constant, Exp, Multiply, Negate, Reshape, Scale, Subtract
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.simplify import FOLD_LIMIT, simplify
from circuitize.circuits.types import Array, signed
from circuitize.circuits.validate import validate
from circuitize.frontends.provenance import part
from circuitize.frontends.trace import trace


def names(arrow: Arrow) -> list[str]:
    return [edge.operation.name for edge in arrow.edges()]


def test_edges_that_no_output_needs_go() -> None:
    builder = Builder()
    x, y = builder.inputs([Array((2,)), Array((2,))])
    builder.add(Exp(), builder.add(Add(), x, y))
    simple = simplify(builder.build([builder.add(Negate(), x)]))
    assert names(simple) == ["real.negate"]
    assert len(simple.source) == 2, "the interface stays as it is"


def test_what_may_have_no_value_stays_where_it_is_asked_for() -> None:
    """With what it reads; once, if it is there twice, and not if it always has a value."""
    builder = Builder()
    (x,) = builder.inputs([signed((2,), 4, 0)])
    doubled = builder.add(integers.Add(), x, x)
    for _ in range(2):
        builder.add(integers.Check(-4, 4), doubled)
    builder.add(integers.Check(-8, 7), x)
    builder.add(integers.ReLU(), x)
    arrow = builder.build([x])
    kept = simplify(arrow, integers.PARTIAL)
    assert names(kept) == ["integer.add", "integer.check"] and names(simplify(kept)) == names(simplify(arrow)) == []
    simple = simplify(arrow)
    assert simplify(simple, integers.PARTIAL) is simple


def test_equal_edges_are_made_once() -> None:
    builder = Builder()
    x, y = builder.inputs([Array((2,)), Array((2,))])
    first, second = builder.add(Multiply(), x, y), builder.add(Multiply(), x, y)
    simple = simplify(builder.build([builder.add(Add(), first, second)]))
    assert names(simple) == ["real.multiply", "real.add"]
    assert np.array_equal(evaluate(simple, [np.array([2.0, 3.0])] * 2)[0], [8.0, 18.0])


def test_edges_on_exchanged_sources_are_two() -> None:
    builder = Builder()
    x, y = builder.inputs([Array((2,)), Array((2,))])
    simple = simplify(builder.build([builder.add(Subtract(), x, y), builder.add(Subtract(), y, x)]))
    first, second = evaluate(simple, [np.array([5.0, 1.0]), np.array([2.0, 3.0])])
    assert np.array_equal(first, [3.0, -2.0]) and np.array_equal(second, [-3.0, 2.0])


def test_identities_go_and_an_output_may_be_an_input() -> None:
    builder = Builder()
    (x,) = builder.inputs([Array((2, 3))])
    same = builder.add(Scale(1.0), builder.add(Reshape((2, 3)), x))
    simple = simplify(builder.build([same, x]))
    assert not names(simple)
    assert simple.outputs.tolist() == [0, 0]


def test_small_constants_are_computed_and_large_ones_stay_symbolic() -> None:
    for size, expected in ((4, ["real.constant"]), (FOLD_LIMIT + 1, ["real.constant", "real.exp"])):
        builder = Builder()
        made = builder.add(Exp(), builder.add(Constant.splat(0.0, (size,))))
        simple = simplify(builder.build([made]))
        assert names(simple) == expected
        assert np.array_equal(evaluate(simple, [])[0], np.ones(size))


def test_a_constant_that_has_no_value_is_left_to_run_time() -> None:
    builder = Builder()
    five = builder.add(integers.Constant.of(np.array([5, 0]), 0))
    arrow = simplify(builder.build([builder.add(integers.Check(0, 3), five)]))
    assert names(arrow) == ["integer.constant", "integer.check"]
    with pytest.raises(Undefined, match="5"):
        evaluate(arrow, [])


def test_integer_arrows_stay_well_typed() -> None:
    builder = Builder()
    (x,) = builder.inputs([signed((3,), 8, 4)])
    offset = builder.add(integers.Constant.of(np.array([1, 2, 3]), 4))
    checked = builder.add(integers.Check(0, 7), offset)
    simple = simplify(builder.build([builder.add(integers.Add(), x, checked)]))
    validate(simple)
    assert np.array_equal(evaluate(simple, [np.array([1, 1, 1])])[0], [2, 3, 4])


def test_it_is_idempotent_and_keeps_provenance() -> None:
    def function(x):  # type: ignore[no-untyped-def]
        with part("encoder"):
            return (x + x) * (x + x)

    simple = simplify(trace(function, (3,)))
    assert simplify(simple) is simple
    assert {edge.provenance.part for edge in simple.edges()} == {"encoder"}
