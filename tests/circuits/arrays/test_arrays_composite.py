"""Composites: expanding them changes neither values nor derivatives, and leaves none behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from arrays_cases import cases
from every_case import every_case
from operations.real import Case

from circuitize.circuits import arrays
from circuitize.circuits.arrays.term import Real
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.operation import Operation, Provenance
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Array, Fixed

COMPOSITES = [case for case in cases() if isinstance(case.operation, arrays.Composite)]


@dataclass(frozen=True)
class Variance(arrays.Composite):
    """A composite of composites, with two uses of one source."""

    name = "test.variance"

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        mean = arrays.Mean((0,))
        return mean(arrays.Square()(x - arrays.Broadcast(x.shape, (0,))(mean(x))))


@dataclass(frozen=True)
class MeanAndScaled(arrays.Composite):
    """Two targets, of sources of two shapes."""

    name = "test.mean_and_scaled"
    arity = 2

    def require(self, *sources: Array) -> None:
        arrays.expect.arrays(sources, 2)

    def define(self, *sources: Real) -> Sequence[Real]:
        x, factor = sources
        return arrays.Mean((0,))(x), x * arrays.Broadcast(x.shape, (0, 1))(factor)


def composites_in(arrow: Arrow) -> list[str]:
    return [operation.name for operation in arrow.operations if isinstance(operation, arrays.Composite)]


@every_case(COMPOSITES)
def test_expanding_keeps_the_values(case: Case) -> None:
    expanded = arrays.expand_composites(case.arrow)
    values = case.smooth(np.random.default_rng(9))
    assert composites_in(case.arrow) and not composites_in(expanded)
    np.testing.assert_array_equal(evaluate(expanded, values)[0], evaluate(case.arrow, values)[0])


def test_nested_composites_expand_all_the_way_and_differentiate() -> None:
    arrow = generator(Variance(), Array((5, 2)))
    values = np.random.default_rng(10).normal(size=(5, 2))
    expanded = arrays.expand_composites(arrow)
    assert not composites_in(expanded)
    np.testing.assert_allclose(evaluate(expanded, [values])[0], values.var(0), rtol=1e-13)
    (slope,) = evaluate(reverse_derivative(arrow), [values, np.ones(2)])
    np.testing.assert_allclose(slope, 2 * (values - values.mean(0)) / 5, rtol=1e-12, atol=1e-14)


def test_several_targets_of_several_shapes() -> None:
    arrow = generator(MeanAndScaled(), Array((2, 3)), Array(()))
    x, factor = np.arange(6.0).reshape(2, 3), np.array(4.0)
    mean, scaled = evaluate(arrow, [x, factor])
    assert mean.tolist() == x.mean(0).tolist() and scaled.tolist() == (4 * x).tolist()
    slopes = evaluate(reverse_derivative(arrow), [x, factor, np.ones(3), np.ones((2, 3))])
    assert slopes[0].tolist() == np.full((2, 3), 4.5).tolist() and float(slopes[1]) == x.sum()


def test_composites_with_a_derivative_of_their_own_can_stay_whole() -> None:
    kept = arrays.expand_composites(generator(Variance(), Array((5, 2))), keep_derivatives=True)
    assert composites_in(kept) == ["real.square"]


def test_an_arrow_without_composites_is_returned_as_it_is() -> None:
    arrow = generator(arrays.Negate(), Array((2,)))
    assert arrays.expand_composites(arrow) is arrow


def test_edges_of_a_definition_take_the_provenance_of_the_composite() -> None:
    builder = Builder()
    x = builder.input(Array((4,)))
    builder.provenance = Provenance("output", "net.py", 7)
    arrow = arrays.expand_composites(builder.build([builder.add(arrays.Softmax(0), x)]))
    assert {edge.provenance for edge in arrow.edges()} == {Provenance("output", "net.py", 7)}
    assert arrow.edge_count == 8


def test_softmax_of_great_numbers_is_finite() -> None:
    x = np.array([1e4, 1e4 - 1, -1e4])
    (y,) = evaluate(generator(arrays.Softmax(0), Array((3,))), [x])
    np.testing.assert_allclose(y, [1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0], atol=1e-15)


@every_case(COMPOSITES)
def test_quantized_composites_agree_with_the_float_meaning(case: Case) -> None:
    """Expanded, calibrated and lowered as a program: within 2^-9 at 12 fraction bits."""
    random = np.random.default_rng(11)
    names = [f"x{position}" for position in range(len(case.sources))]
    ports = tuple(Port(n, Visibility.PUBLIC, s.fixed) for n, s in zip(names, case.sources, strict=True))
    drawn = [case.awkward(random) for _ in range(8)]
    examples = tuple(dict(zip(names, case.reals(integers), strict=True)) for integers in drawn)
    program = quantize(Program(case.arrow, ports, (Port("y", Visibility.PUBLIC),), examples))
    (format,) = program.arrow.target
    assert isinstance(format, Fixed)
    for integers in drawn:
        (found,) = evaluate(program.arrow, integers)
        (expected,) = evaluate(case.arrow, case.reals(integers))
        np.testing.assert_allclose(np.ldexp(found.astype(float), -format.fraction_bits), expected, atol=2.0**-9)


def made(name: str = "test.own", **members: Any) -> Any:
    """An operation of one's own: twice its source, but for these members of its class."""
    members = {"define": lambda self, x: x * 2.0, **members}
    kind: Any = type(
        "Own", (arrays.Composite,), {"__doc__": "An operation.", **({"name": name} if name else {}), **members}
    )
    return dataclass(frozen=True)(kind)()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"name": ""}, "expected a name in the class Own, found none; write name = 'mine.own'"),
        (
            {"define": lambda self, x: None},
            "test.own: expected define to return a term, or a list of terms, found None",
        ),
        ({"define": lambda self, x: [1.0]}, "test.own: expected define to return a term, or a list of terms, found"),
        ({"define": lambda self, x, y: x}, "test.own: expected define to take 1, the class's arity, found (x, y); set"),
        ({"define": lambda self, x: x if x > 0.0 else -x}, "expected a condition known now, found a term"),
        ({"define": lambda self, x: np.exp(x)}, "found numpy's exp of a term; write it as arrays.Exp()(x) is written"),
        ({"derivative": lambda self, dz, z, x: dz}, "found Real([3]); return each source's cotangent"),
        ({"derivative": lambda self, dz, z, x: None}, "found None; return each source's cotangent"),
        ({"derivative": lambda self, dz, z, x: [dz, z]}, "expected derivative to return a list of 1, a term or None"),
        ({"derivative": lambda self, dz, z, x: [arrays.Sum((0,))(dz)]}, "shapes, found [] for a source of shape [3]"),
    ],
)
def test_one_line_says_what_is_wrong_with_an_operation(members: dict[str, Any], said: str) -> None:
    operation = made(**members)
    with pytest.raises(TypingError, match=re.escape(said)):
        reverse_derivative(generator(operation, Array((3,))))


def test_a_name_of_the_package_is_taken() -> None:
    with pytest.raises(
        CircuitizeError, match=r"found 'real.relu', the name of ReLU; choose another, such as 'mine.own'"
    ):
        made("real.relu")
    assert Operation.registry["real.relu"] is arrays.ReLU


def test_operations_of_ones_own_are_applied_to_terms_and_run_on_arrays() -> None:
    with pytest.raises(
        TypingError, match=re.escape("Own: expected terms or tensors, found array([1.]); use run(array)")
    ):
        made()(np.ones(1))
    assert made().run(np.ones(1))[0] == 2


def test_an_edge_of_several_targets_is_no_wire() -> None:
    two, builder = made(define=lambda self, x: [x, x * 2.0]), Builder()
    with pytest.raises(TypingError, match="expected an operation with one target, found 2; return one term"):
        builder.add(two, builder.input(Array((3,))))


def test_numbers_and_arrays_of_numpy_are_operands_on_either_side() -> None:
    row = np.array([1.0, 2.0, 4.0])
    values = np.array([0.5, -1.0, 3.0])
    operation = made(define=lambda self, x: (np.float64(3.0) - row * (np.float64(2.0) * x + row)) / row)
    assert np.array_equal(operation.run(values)[0], (3.0 - row * (2.0 * values + row)) / row)
