"""The reverse derivative obeys the equations of reverse derivative categories, and equals JAX's and finite differences.

Cockett, Cruttwell, Gallagher, Lemay, MacAdam, Plotkin, Pronk: Reverse derivative categories, arXiv 1910.07065.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st
from jax_derivatives import pulled
from random_programs import KINKED, SMOOTH, Numeric, Reals, random_program
from tiers import examples

from circuitize.circuits.arrays import Add, Constant
from circuitize.circuits.builder import generator
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import Arrow, compose, evaluate, identity, permute, tensor
from circuitize.circuits.types import Array
from circuitize.circuits.validate import validate
from circuitize.frontends.functions import square
from circuitize.frontends.trace import trace

seeds = st.integers(0, 2**32 - 1)
laws = settings(max_examples=examples(16, deep=2000), deadline=None)
few = settings(max_examples=examples(4, deep=400), deadline=None)  # JAX compiles each program anew


def normal(seed: int, arrow_types: tuple[object, ...]) -> list[Reals]:
    random = np.random.default_rng(seed)
    return [random.normal(size=type.shape) for type in arrow_types if isinstance(type, Array)]


def assert_close(found: list[Reals], expected: list[Reals], tolerance: float = 1e-9) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def assert_equal_at(first: Arrow, second: Arrow, values: list[Reals]) -> None:
    assert first.source == second.source and first.target == second.target
    assert_close(evaluate(first, values), evaluate(second, values))


@laws
@given(seeds)
def test_the_arrow_means_the_program(seed: int) -> None:
    program, point = random_program(seed)
    arrow = program.arrow()
    validate(arrow)
    assert_close(evaluate(arrow, point), program(*point))


@few
@given(seeds)
def test_equals_jax(seed: int) -> None:
    program, point = random_program(seed)
    arrow = program.arrow()
    derivative = reverse_derivative(arrow)
    validate(derivative)
    above = normal(seed, arrow.target)
    _, below = pulled(lambda *xs: program.run(Numeric(jnp), *xs))(point, above)
    assert_close(evaluate(derivative, [*point, *above]), below)


def test_every_word_equals_jax() -> None:
    """Programs of one word (and additions) at a time, so that none is left to chance; JAX compiles all as one."""
    words = [word for word in (*SMOOTH, *KINKED) for _ in tiers.seeds(1, deep=4)]
    random = [random_program(k, [(2, 3), (3, 2), (3,)], [word, "add"], length=5) for k, word in enumerate(words)]
    programs, points = [program for program, _ in random], [point for _, point in random]
    arrows = [program.arrow() for program in programs]
    above = [normal(seed, arrow.target) for seed, arrow in enumerate(arrows)]

    def every(*points: Reals) -> list[list[Reals]]:
        return [program.run(Numeric(jnp), *xs) for program, xs in zip(programs, points, strict=True)]

    _, below = pulled(every)(points, above)
    wrong = []
    for word, arrow, point, cotangent, expected in zip(words, arrows, points, above, below, strict=True):
        try:
            assert_close(evaluate(reverse_derivative(arrow), [*point, *cotangent]), expected)
        except AssertionError as error:
            wrong.append(f"{word}: {error}")
    assert not wrong, "\n".join(wrong)


@laws
@given(seeds)
def test_equals_finite_differences(seed: int) -> None:
    """<R[f](x, c), v> is the slope of <c, f> at x along v: central differences, error of order h^2."""
    program, point = random_program(seed, length=6)
    arrow = program.arrow()
    above, direction = normal(seed, arrow.target), normal(seed + 1, arrow.source)
    step = 1e-5 / max(1.0, *(float(np.abs(v).max()) for v in direction))

    def along(t: float) -> float:
        values = evaluate(arrow, [x + t * v for x, v in zip(point, direction, strict=True)])
        return sum(float((c * y).sum()) for c, y in zip(above, values, strict=True))

    slope = (along(step) - along(-step)) / (2 * step)
    below = evaluate(reverse_derivative(arrow), [*point, *above])
    found = sum(float((g * v).sum()) for g, v in zip(below, direction, strict=True))
    scale = 1 + sum(float(np.abs(g * v).sum()) for g, v in zip(below, direction, strict=True))
    assert abs(found - slope) <= 2e-4 * scale


@laws
@given(seeds)
def test_chain_rule(seed: int) -> None:
    """R[f; g] = (copy x; f on one copy; R[g]) then R[f] on the other."""
    first, point = random_program(seed, length=5)
    f = first.arrow()
    shapes = [type.shape for type in f.target]
    second, _ = random_program(seed + 1, shapes, SMOOTH, length=4)
    g = second.arrow()
    n, k = len(f.source), len(g.target)
    xs, cs = range(n), range(n, n + k)
    by_rule = compose(
        permute([*f.source, *g.target], [*xs, *xs, *cs]),
        tensor(identity(*f.source), f, identity(*g.target)),
        tensor(identity(*f.source), reverse_derivative(g)),
        reverse_derivative(f),
    )
    assert_equal_at(reverse_derivative(compose(f, g)), by_rule, [*point, *normal(seed, g.target)])


@laws
@given(seeds)
def test_parallel_rule(seed: int) -> None:
    """R[f x g] = R[f] x R[g], up to the order of wires."""
    (first, x), (second, y) = random_program(seed, length=4), random_program(seed + 1, length=4)
    f, g = first.arrow(), second.arrow()
    a, b, c = len(f.source), len(g.source), len(f.target)
    total = a + b + c + len(g.target)
    order = [*range(a), *range(a + b, a + b + c), *range(a, a + b), *range(a + b + c, total)]
    types = [*f.source, *g.source, *f.target, *g.target]
    by_rule = compose(permute(types, order), tensor(reverse_derivative(f), reverse_derivative(g)))
    values = [*x, *y, *normal(seed, (*f.target, *g.target))]
    assert_equal_at(reverse_derivative(tensor(f, g)), by_rule, values)


@laws
@given(seeds)
def test_linear_in_the_cotangent(seed: int) -> None:
    program, point = random_program(seed)
    arrow = program.arrow()
    derivative = reverse_derivative(arrow)
    c, d = normal(seed, arrow.target), normal(seed + 1, arrow.target)
    mixed = evaluate(derivative, [*point, *[2.0 * u - 3.0 * v for u, v in zip(c, d, strict=True)]])
    left, right = evaluate(derivative, [*point, *c]), evaluate(derivative, [*point, *d])
    assert_close(mixed, [2.0 * u - 3.0 * v for u, v in zip(left, right, strict=True)], 1e-8)
    for value in evaluate(derivative, [*point, *[np.zeros_like(u) for u in c]]):
        assert not np.any(value)


@laws
@given(seeds)
def test_wirings_copy_to_sums_and_discard_to_zeros(seed: int) -> None:
    """R of a wiring adds the cotangents of copies and gives zero for what is discarded."""
    random = np.random.default_rng(seed)
    types = [Array((2,)), Array((2,)), Array((3,)), Array(())]
    choice = random.integers(0, 4, random.integers(0, 6)).tolist()
    wiring = permute(types, choice)
    values = normal(seed, (*types, *wiring.target))
    expected = [np.zeros(type.shape) for type in types]
    for source, cotangent in zip(choice, values[4:], strict=True):
        expected[source] = expected[source] + cotangent
    assert_close(evaluate(reverse_derivative(wiring), values), expected, 1e-15)


def test_add_copies_and_zero_discards() -> None:
    """Dual to the wirings: R[add] copies the cotangent, R[zero] discards it."""
    pair = [Array((2,)), Array((2,))]
    add = reverse_derivative(generator(Add(), *pair))
    x, y, c = normal(0, (*pair, Array((2,))))
    assert_close(evaluate(add, [x, y, c]), [c, c], 0)
    zero = reverse_derivative(generator(Constant.zeros((2,))))
    assert zero.source == (Array((2,)),) and zero.target == ()


@few
@given(seeds)
def test_derivatives_can_be_differentiated(seed: int) -> None:
    """R of R, in its first arguments, equals JAX's second reverse derivative."""
    program, point = random_program(seed, words=SMOOTH, length=5)
    arrow = program.arrow()
    derivative = reverse_derivative(arrow)
    above, seeds_above = normal(seed, arrow.target), normal(seed + 1, arrow.source)
    found = evaluate(reverse_derivative(derivative), [*point, *above, *seeds_above])

    def backward(*values: jax.Array) -> tuple[jax.Array, ...]:
        xs, cs = values[: len(point)], list(values[len(point) :])
        found: tuple[jax.Array, ...] = jax.vjp(lambda *inner: program.run(Numeric(jnp), *inner), *xs)[1](cs)
        return found

    _, second = pulled(backward)([*point, *above], tuple(seeds_above))
    assert_close(found, second, 1e-8)


def test_derivative_is_linear_in_size() -> None:
    """A long chain: the reverse derivative has a bounded number of edges per edge."""

    def size(length: int) -> int:
        stage = trace(lambda x: square(x) * 0.5 + x, (2, 2))
        return reverse_derivative(compose(*[stage] * length)).edge_count

    assert size(400) <= 2 * size(200) + 10
