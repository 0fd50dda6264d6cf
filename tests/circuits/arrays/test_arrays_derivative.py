"""Reverse derivatives of real operations against finite differences and against JAX, at smooth points and at ties."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tiers
from arrays_cases import cases, described
from every_case import every_case
from jax_derivatives import pulled
from operations.real import Case

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.types import Array


def own_derivative(case: Case) -> Arrow:
    """(sources, cotangent) -> (target, cotangents of the sources), from the operation's own `reverse`."""
    builder = Builder()
    sources = builder.inputs([source.array for source in case.sources])
    targets = builder.apply(case.operation, *sources)
    cotangents = builder.inputs([case.target])
    below = case.operation.reverse(builder, sources, targets, cotangents)
    assert len(below) == len(sources)
    zeros = [builder.add(arrays.Constant.zeros(source.shape)) for source in case.sources]
    return builder.build(targets + [zero if wire is None else wire for wire, zero in zip(below, zeros, strict=True)])


def difference_quotient(case: Case, values: list[Any], cotangent: Any) -> list[Any]:
    """Central differences of <cotangent, f>, element by element; zero for an index, and of Detach by definition."""
    step, slopes, arrow = 2.0**-18, [], case.arrow
    stops = isinstance(case.operation, arrays.Detach)
    for position, value in enumerate(values):
        slope = np.zeros(value.shape)
        for index in np.ndindex(value.shape) if not (stops or case.sources[position].index) else ():
            ends = []
            for sign in (1, -1):
                moved = [v.copy() for v in values]
                moved[position][index] += sign * step
                ends.append(float(np.sum(cotangent * evaluate(arrow, moved)[0])))
            slope[index] = (ends[0] - ends[1]) / (2 * step)
        slopes.append(slope)
    return slopes


STRAIGHT = arrays.Quantize
"""Its derivative is straight through, by choice: JAX's, of the same choice, and that of its own test."""


@every_case(case for case in cases() if not isinstance(case.operation, STRAIGHT))
def test_derivative_agrees_with_finite_differences(case: Case) -> None:
    random = np.random.default_rng(4)
    values, cotangent = case.smooth(random), random.normal(size=case.target.shape)
    target, *found = evaluate(own_derivative(case), [*values, cotangent])
    np.testing.assert_array_equal(target, evaluate(case.arrow, values)[0])
    for slope, expected in zip(found, difference_quotient(case, values, cotangent), strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


EACH = tiers.of_each(cases())
ELSEWHERE = (arrays.Composite, arrays.LinearOperation)
CASES = EACH if tiers.TIER == "deep" else [case for case in EACH if not isinstance(case.operation, ELSEWHERE)]
"""Derivatives of composites follow from those of what they are made of, and those of linear operations are the same
everywhere; finite differences are taken of both.
"""
TOGETHER = 19
"""Functions that JAX compiles as one."""


@cache
def drawn_with_jax(first: int) -> list[list[tuple[Any, ...]]]:
    """By case of some, by draw: sources, cotangent, and JAX's value and derivative there."""
    some = CASES[first : first + TOGETHER]
    functions = [described()[type(case.operation)].jax(case.operation) for case in some]
    by_jax = pulled(lambda *sources: [function(*each) for function, each in zip(functions, sources, strict=True)])
    draws: list[list[tuple[Any, Any]]] = []
    for case in some:
        random = np.random.default_rng(5)
        values = case.smooth(random), case.reals(case.awkward(random)), case.reals(case.awkward(random))
        draws.append([(each, random.normal(size=case.target.shape)) for each in values])
    found = [by_jax(*map(list, zip(*(draw[number] for draw in draws), strict=True))) for number in range(3)]
    return [
        [(*draw[number], found[number][0][place], found[number][1][place]) for number in range(3)]
        for place, draw in enumerate(draws)
    ]


@every_case(enumerate(CASES))
def test_derivative_agrees_with_jax_ties_included(place: int, case: Case) -> None:
    derivative = own_derivative(case)
    for values, cotangent, value, expected in drawn_with_jax(place - place % TOGETHER)[place % TOGETHER]:
        target, *found = evaluate(derivative, [*values, cotangent])
        np.testing.assert_allclose(target, value, rtol=1e-13, atol=1e-13)
        for slope, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-12)


@every_case(cases())
def test_own_derivative_is_that_of_the_arrow(case: Case) -> None:
    random = np.random.default_rng(6)
    values, cotangent = case.smooth(random), random.normal(size=case.target.shape)
    _, *own = evaluate(own_derivative(case), [*values, cotangent])
    derived = evaluate(reverse_derivative(case.arrow), [*values, cotangent])
    for slope, expected in zip(derived, own, strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-11, atol=1e-11)


def derivative_at(operation: arrays.RealOperation, *values: Any) -> list[Any]:
    """Each source's cotangent, for a cotangent of ones."""
    arrow = generator(operation, *(Array(value.shape) for value in values))
    return evaluate(reverse_derivative(arrow), [*values, np.ones(arrow.target[0].shape)])


def test_quantize_is_straight_through_where_it_does_not_saturate() -> None:
    x = np.array([-3.0, -1.26, -1.24, -1.0, 0.0, 0.3, 1.0, 1.12, 1.13, 9.0])
    (slope,) = derivative_at(arrays.Quantize(2, -5, 4), x)  # from -1.25 to 1, each end the nearest of an eighth more
    np.testing.assert_array_equal(slope, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    (floored,) = derivative_at(arrays.Quantize(0, -1, 0, "floor"), np.array([-1.1, -1.0, 0.9, 1.0]))
    np.testing.assert_array_equal(floored, [0.0, 1.0, 1.0, 0.0])


def test_relu_has_slope_zero_at_zero() -> None:
    (slope,) = derivative_at(arrays.ReLU(), np.array([-1.0, -0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(slope, [0.0, 0.0, 0.0, 1.0])


def test_max_sends_the_cotangent_to_the_first_of_several_greatest() -> None:
    (slope,) = derivative_at(arrays.Max(0), np.array([1.0, 3.0, 3.0, 2.0, 3.0]))
    np.testing.assert_array_equal(slope, [0.0, 1.0, 0.0, 0.0, 0.0])


def test_comparisons_have_slope_zero() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    assert not any(slope.any() for slope in derivative_at(arrays.Greater(), x, y))
    assert not derivative_at(arrays.ArgMaxOneHot(0), x)[0].any()
    assert not derivative_at(arrays.Select(), x - 1, x, y)[0].any()


def test_select_at_condition_zero_takes_the_third() -> None:
    _, second, third = derivative_at(arrays.Select(), np.array([-1.0, 0.0, 0.5]), np.zeros(3), np.zeros(3))
    np.testing.assert_array_equal(second, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(third, [1.0, 1.0, 0.0])


@every_case(case for case in cases() if isinstance(case.operation, arrays.LinearOperation))
def test_a_dagger_is_the_adjoint_and_its_dagger_the_operation(case: Case) -> None:
    """<f x, c> = <x, f* c>, and f** = f."""
    random = np.random.default_rng(7)
    values, cotangent = case.smooth(random), random.normal(size=case.target.shape)
    target, *found = evaluate(own_derivative(case), [*values, cotangent])
    inner = sum(float(np.sum(x * slope)) for x, slope in zip(values, found, strict=True))
    assert inner == pytest.approx(float(np.sum(target * cotangent)), rel=1e-12, abs=1e-12)
    if len(case.sources) == 1:
        builder = Builder()
        (seed,) = builder.inputs([case.target])
        assert isinstance(case.operation, arrays.LinearOperation)
        (below,) = case.operation.dagger(builder, [case.sources[0].array], [seed])
        assert below is not None
        again = reverse_derivative(builder.build([below]))
        np.testing.assert_allclose(evaluate(again, [cotangent, values[0]])[0], target, rtol=1e-14, atol=1e-14)
