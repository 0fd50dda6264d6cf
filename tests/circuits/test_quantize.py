"""Quantization: where rounding happens, what a program's formats become, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from circuitize.circuits.arrays import Add, Broadcast, Einsum, Multiply, ReLU, Scale, Subtract
from circuitize.circuits.builder import Builder
from circuitize.circuits.calibrate import calibrate
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, OverflowRisk
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Check, Shift
from circuitize.circuits.lowering import Precision
from circuitize.circuits.operation import Operation
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Array, Fixed, signed
from circuitize.circuits.validate import validate
from circuitize.circuits.values import raw, to_integers, to_reals
from circuitize.sims import integer, real

PUBLIC = Visibility.PUBLIC


def count(arrow: Arrow, kind: type[Operation]) -> int:
    return sum(isinstance(edge.operation, kind) for edge in arrow.edges())


def program(
    arrow: Arrow,
    formats: list[Fixed],
    output: Fixed | None = None,
    scale: float = 1.0,
    precision: Precision | None = None,
) -> Program:
    generator = np.random.default_rng(0)
    ports = tuple(Port(f"x{i}", PUBLIC, format) for i, format in enumerate(formats))
    examples = tuple(
        {port.name: generator.uniform(-scale, scale, format.shape) for port, format in zip(ports, formats, strict=True)}
        for _ in range(3)
    )
    outputs = tuple(Port(f"y{i}", PUBLIC, output) for i in range(len(arrow.target)))
    return Program(arrow, ports, outputs, examples, precision or Precision())


def affine() -> Arrow:
    """relu(x @ w + b) : 4x3, 3x2, 2 -> 4x2."""
    builder = Builder()
    x, w, b = builder.inputs([Array((4, 3)), Array((3, 2)), Array((2,))])
    product = builder.add(Einsum("bi,ij->bj"), x, w)
    offset = builder.add(Broadcast((4, 2), (0,)), b)
    return builder.build([builder.add(ReLU(), builder.add(Add(), product, offset))])


FORMATS = [signed((4, 3), 10, 8), signed((3, 2), 18, 14), signed((2,), 18, 14)]


def test_a_bias_is_added_before_the_one_rounding() -> None:
    exact = quantize(program(affine(), FORMATS))
    assert count(exact.arrow, Shift) == 1
    validate(exact.arrow)


def test_the_integers_are_within_the_roundings_of_the_reals() -> None:
    source = program(affine(), FORMATS)
    exact = quantize(source)
    for batch in source.examples:
        inputs = {p.name: to_reals(p.format, to_integers(p, batch[p.name], "here")) for p in exact.inputs if p.format}
        expected = real.run(source, inputs)["y0"]
        format = exact.outputs[0].format
        assert format is not None
        found = to_reals(format, integer.run(exact, batch)["y0"])
        assert np.abs(found - expected).max() <= 2.0 ** -(format.fraction_bits + 1) + 1e-12


def test_an_update_rounds_the_difference_not_the_gradient() -> None:
    builder = Builder()
    w, x, d = builder.inputs([Array((3, 2)), Array((4, 3)), Array((4, 2))])
    gradient = builder.add(Einsum("bi,bj->ij"), x, d)
    arrow = builder.build([builder.add(Subtract(), w, gradient)])
    weights = signed((3, 2), 18, 14)
    exact = quantize(program(arrow, [weights, signed((4, 3), 10, 8), signed((4, 2), 20, 18)], weights, scale=0.1))
    assert count(exact.arrow, Shift) == 1
    assert exact.arrow.target == (weights,), "a parameter leaves in exactly the type it has"
    generator = np.random.default_rng(1)
    inputs = {p.name: generator.integers(-20, 20, p.format.shape) for p in exact.inputs if p.format}
    sums = (inputs["x0"] << 12) - np.einsum("bi,bj->ij", inputs["x1"], inputs["x2"])
    assert np.array_equal(integer.run(exact, raw(inputs))["y0"], (sums + (1 << 11)) >> 12)


def test_a_scalar_is_rounded_before_it_is_broadcast() -> None:
    builder = Builder()
    x, s = builder.inputs([Array((64,)), Array(())])
    rate = builder.add(Scale(1 / 3), builder.add(Multiply(), s, s))
    spread = builder.add(Broadcast((64,), (0,)), rate)
    arrow = builder.build([builder.add(Multiply(), x, spread)])
    exact = quantize(program(arrow, [signed((64,), 12, 10), signed((), 12, 10)])).arrow
    sizes = sorted(exact.type(edge.targets[0]).size for edge in exact.edges() if isinstance(edge.operation, Shift))
    assert sizes == [1, 64]


def test_sums_that_outgrow_their_calibration_are_checked_and_never_overflow() -> None:
    builder = Builder()
    (x,) = builder.inputs([Array((2,))])
    for _ in range(100):  # doubles and halves: the interval would grow by a bit each time, the values stay as they are
        x = builder.add(Scale(0.5), builder.add(ReLU(), builder.add(Add(), x, x)))
    source = program(builder.build([x]), [signed((2,), 12, 10)])
    exact = quantize(source)
    assert count(exact.arrow, Check) > 1
    widest = max(type.width for type in exact.arrow.types if isinstance(type, Fixed))
    assert widest < 40
    batch = source.examples[0]
    format = exact.outputs[0].format
    assert format is not None
    found = to_reals(format, integer.run(exact, batch)["y0"])
    assert np.allclose(found, np.maximum(batch["x0"], 0), atol=1e-3)


def test_what_could_pass_the_limit_is_refused_by_name() -> None:
    builder = Builder()
    x, y = builder.inputs([Array((2,)), Array((2,))])
    arrow = builder.build([builder.add(Multiply(), x, y)])
    with pytest.raises(OverflowRisk, match=r"2\^62.*integer\.multiply"):
        quantize(program(arrow, [signed((2,), 40, 0), signed((2,), 40, 0)], scale=2.0**30))


def test_operands_too_fine_to_multiply_exactly_are_rounded_first() -> None:
    builder = Builder()
    x, y = builder.inputs([Array((2,)), Array((2,))])
    exact = quantize(
        program(builder.build([builder.add(Multiply(), x, y)]), [signed((2,), 40, 30), signed((2,), 40, 30)])
    )
    assert count(exact.arrow, Shift) == 3


def test_calibration_wants_examples_on_which_the_program_is_defined() -> None:
    source = program(affine(), FORMATS)
    with pytest.raises(CircuitizeError, match="example inputs"):
        quantize(replace(source, examples=()))
    with pytest.raises(CircuitizeError, match="input 'x2'"):
        quantize(replace(source, examples=({"x0": np.zeros((4, 3)), "x1": np.zeros((3, 2))},)))


def test_calibration_sees_the_greatest_magnitude_of_all_examples() -> None:
    source = program(affine(), FORMATS)
    arrow = source.arrow
    single = [calibrate(arrow, replace(source, examples=(batch,))) for batch in source.examples]
    assert np.array_equal(calibrate(arrow, source), np.max(single, axis=0))


def test_quantizing_twice_changes_nothing_and_once_is_reproducible() -> None:
    source = program(affine(), FORMATS)
    exact = quantize(source)
    assert quantize(exact) is exact
    assert program_digest(quantize(program(affine(), FORMATS))) == program_digest(exact)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, (0, 0)), (1.0, (1, 0)), (0.75, (3, 2)), (-8.0, (-1, -3)), (2.0**-40, (1, 40)), (1 / 3, (43691, 17))],
)
def test_coefficients_are_odd_and_dyadic_ones_exact(value: float, expected: tuple[int, int]) -> None:
    assert Precision().coefficient(value) == expected


@pytest.mark.parametrize(
    ("magnitude", "exponent"), [(0.0, 0), (0.5, 1), (0.4999, 0), (1.0, 2), (3.0, 3), (2.0**-9, -7)]
)
def test_formats_leave_the_margin_above_what_was_seen(magnitude: float, exponent: int) -> None:
    precision = Precision(margin=2.0)
    assert precision.exponents(np.array([magnitude])).tolist() == [exponent]
    format = precision.format((1,), exponent, nonnegative=False)
    assert format.high * 2.0**-format.fraction_bits >= magnitude * 1.99
    assert format.fraction_bits >= precision.fraction_bits
