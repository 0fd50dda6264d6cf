"""Formats that a program states for wires in its middle: one rounding, no calibration, the same in every target."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import circuitize as cz
from circuitize.circuits import arrays, integers
from circuitize.circuits.arrays.piecewise.quantize import IN_FLOATS
from circuitize.circuits.errors import CircuitizeError, TypingError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.stated import with_formats
from circuitize.circuits.values import to_reals
from circuitize.frontends.functions import exact, maximum, quantized, relu, rescaled, tanh
from circuitize.frontends.trace import trace
from circuitize.frontends.training import with_examples

Floats = NDArray[np.float64]
INPUT = cz.Format.signed(10, 6)


def program(
    function: Callable[[cz.Tensor], cz.Tensor], shape: tuple[int, ...] = (3, 4), small: float = 0.05
) -> Program:
    """Of one input, calibrated on small values alone: whatever else enters is beyond what calibration saw."""
    example = {"x": INPUT.nearest(np.random.default_rng(0).uniform(-small, small, shape))}
    ports = (cz.Port("x", cz.Visibility.PUBLIC, INPUT.of(shape)),)
    return Program(trace(function, shape), ports, (cz.Port("y", cz.Visibility.PUBLIC),), (example,))


def agrees_with_floats(given: Program, count: int = 40) -> IntegerProgram:
    """The integers are the float meaning, exactly, on the whole of the input's format."""
    made, random = cz.quantize(given), np.random.default_rng(1)
    (shape,) = (port.format.shape for port in given.inputs)
    for _ in range(count):
        x = random.integers(INPUT.low, INPUT.high, shape, endpoint=True)
        (wanted,) = evaluate(given.arrow, [to_reals(INPUT.of(shape), x)])
        (found,) = evaluate(made.arrow, [x])
        np.testing.assert_array_equal(to_reals(made.outputs[0].format, found), wanted)
    return made


WEIGHTS = np.random.default_rng(2).integers(-128, 128, (4, 5)) / 2.0**9
BIAS = np.random.default_rng(3).integers(-(2**15), 2**15, 5) / 2.0**17


@pytest.mark.parametrize("rule", IN_FLOATS)
def test_an_accumulator_is_rounded_once(rule: str) -> None:
    """Fifteen fraction bits of a product, seventeen of a bias: rounded to twelve on the way, ties would be others."""
    made = agrees_with_floats(program(lambda x: quantized(relu(x @ WEIGHTS + BIAS), cz.Format(4, 0, 40), rule)))
    assert made.outputs[0].format == cz.Format(4, 0, 40).of((3, 5))
    rounded = program(lambda x: quantized(x @ WEIGHTS, cz.Format.signed(20, 14), rule))
    agrees_with_floats(rounded)


def test_what_exact_operations_make_of_stated_formats_is_final() -> None:
    """Nothing of it is checked against what calibration saw: large values pass."""

    def function(x: cz.Tensor) -> cz.Tensor:
        small = quantized(x, cz.Format.signed(6, 3), "floor")
        turned = small.T.reshape(3, 4)
        return maximum(turned, -small)[:, 1:]

    made = agrees_with_floats(program(function, small=0.01))
    assert not any(isinstance(operation, integers.Check) for operation in made.arrow.operations)


def test_a_tensor_that_a_curve_reads_too_is_rounded_for_all() -> None:
    def function(x: cz.Tensor) -> tuple[cz.Tensor, cz.Tensor]:
        made = x @ WEIGHTS
        return quantized(made, cz.Format.signed(20, 14)), tanh(made)

    ports = (cz.Port("x", cz.Visibility.PUBLIC, INPUT.of((3, 4))),)
    outputs = (cz.Port("q", cz.Visibility.PUBLIC), cz.Port("t", cz.Visibility.PUBLIC))
    example = {"x": INPUT.nearest(np.full((3, 4), 0.5))}
    made = cz.quantize(Program(trace(function, (3, 4)), ports, outputs, (example,)))
    assert made.outputs[0].format.fraction_bits < 14


def test_exact_keeps_an_accumulator_whole() -> None:
    def plain(x: cz.Tensor) -> cz.Tensor:
        return (x @ WEIGHTS) * (x @ WEIGHTS)

    def whole(x: cz.Tensor) -> cz.Tensor:
        return exact(x @ WEIGHTS) * exact(x @ WEIGHTS)

    assert cz.quantize(program(plain, small=1.0)).outputs[0].format.fraction_bits < 30
    made = cz.quantize(program(lambda x: exact(whole(x))))
    assert made.outputs[0].format.fraction_bits == 30
    agrees_with_floats(program(lambda x: exact(whole(x))))


def test_factors_along_axes() -> None:
    factors = 2.0 ** -np.arange(12.0).reshape(3, 4)
    for given in (factors, factors[:, :1], factors[0], 0.25):
        for divides in (False, True):
            agrees_with_floats(program(lambda x, g=given, d=divides: rescaled(x, g, divides=d)))  # type: ignore[misc]


def test_factors_that_are_not_dyadic_are_the_nearest_of_so_many_bits() -> None:
    made = cz.quantize(program(lambda x: rescaled(x, 0.1), (7,)))
    x = np.array([-512, -100, -1, 0, 1, 99, 511])
    (found,) = evaluate(made.arrow, [x])
    wanted = x / 64 * 0.1
    assert (np.abs(to_reals(made.outputs[0].format, found) - wanted) <= np.abs(wanted) * 2.0**-17).all()


def test_a_factor_too_fine_for_62_bits_drops_bits_of_the_operand_first() -> None:
    """54 bits of an accumulator and 16 of a factor: the operand is rounded to the 45 bits that fit beside it."""

    def function(x: cz.Tensor) -> cz.Tensor:
        square = exact(x * x)
        return rescaled(exact(exact(square * square) * square), 1 / 3)

    made = cz.quantize(program(function, (5,)))
    x = np.array([-512, -3, 100, 500, 511])
    (found,) = evaluate(made.arrow, [x])
    np.testing.assert_allclose(to_reals(made.outputs[0].format, found), (x / 64) ** 6 / 3, rtol=2.0**-16, atol=2.0**-26)


def test_wrap_is_taken_where_nothing_wraps_and_refused_elsewhere() -> None:
    fits = agrees_with_floats(program(lambda x: quantized(x, cz.Format.signed(7, 3), "floor", "wrap")))
    assert not any(isinstance(operation, (integers.Clamp, integers.Check)) for operation in fits.arrow.operations)
    with pytest.raises(CircuitizeError, match=r"expected an interval within \[-32, 31\], where nothing wraps, found"):
        cz.quantize(program(lambda x: quantized(x, cz.Format.signed(6, 3), "floor", "wrap")))


def test_check_is_undefined_outside() -> None:
    made = cz.quantize(program(lambda x: quantized(x, cz.Format.signed(6, 3), "half even", "check"), (2,)))
    (found,) = evaluate(made.arrow, [np.array([-256, 251])])
    assert found.tolist() == [-32, 31]
    for x in ([-512, 0], [0, 252]):
        with pytest.raises(Undefined):
            evaluate(made.arrow, [np.array(x)])
        with pytest.raises(Undefined):
            evaluate(made.arrow, [np.array(x[::-1])])
    with pytest.raises(Undefined, match="expected a number in"):
        evaluate(trace(lambda x: quantized(x, cz.Format.signed(6, 3), "floor", "check"), (1,)), [np.array([4.0])])


def test_constants_of_stated_formats_stay_constants() -> None:
    """However large: no element of them costs anything, and what moves them moves nothing when the program runs."""
    kernel = np.random.default_rng(4).integers(-128, 128, (80, 60))

    def function(x: cz.Tensor) -> cz.Tensor:
        weights = rescaled(cz.Tensor(x.builder, x.builder.add(arrays.Constant.of(kernel))), 2.0 ** -np.arange(60.0) / 3)
        return quantized(x @ quantized(weights, cz.Format.signed(12, 9)).T.reshape(60, 80).T, cz.Format.signed(8, 1))

    made = cz.quantize(program(function, (1, 80), small=8.0))
    (weights,) = (o for o in made.arrow.operations if isinstance(o, integers.Constant) and o.amounts.size == 4800)
    assert weights.fraction_bits == 9 and not any(isinstance(o, integers.Reindex) for o in made.arrow.operations)


def test_wires_of_an_arrow_get_formats_by_their_numbers() -> None:
    arrow = trace(lambda x: relu(x @ WEIGHTS) @ WEIGHTS.T, (3, 4))
    wire = next(edge.targets[0] for edge in arrow.edges() if edge.operation.name == "real.relu")
    made = with_formats(arrow, {0: arrays.Quantize(3, -9, 9), wire: arrays.Quantize(4, 0, 7, "floor")})
    x = np.random.default_rng(0).uniform(-2, 2, (3, 4))
    hidden = np.floor(np.maximum(np.clip(np.rint(x * 8), -9, 9) / 8 @ WEIGHTS, 0) * 16).clip(0, 7) / 16
    np.testing.assert_array_equal(evaluate(made, [x])[0], hidden @ WEIGHTS.T)
    for given, message in (
        ({99: arrays.Quantize(0, 0, 1)}, r"expected wires below 6, found 99"),
        ({0: arrays.ReLU()}, "wire 0: expected an operation that states a format"),
    ):
        with pytest.raises(TypingError, match=message):
            with_formats(arrow, given)


def test_every_target_has_these_formats() -> None:
    """R1CS and Mirage, Plonkish, tensor proofs, hardware folded and parallel, on one program of all rules."""

    def function(x: cz.Tensor) -> cz.Tensor:
        made = x @ WEIGHTS[:2, :3]
        for number, rule in enumerate(IN_FLOATS):
            made = quantized(made * 1.25 + number / 7, cz.Format.signed(9 - number % 3, 5 - number % 4), rule)
        return rescaled(made, [1.0, 0.5, 3.0])

    found = cz.check(program(function, (1, 2)), vectors=4)
    assert found, found
    names = " ".join(found.targets)
    assert all(word in names for word in ("r1cs with a commitment", "plonkish", "tensor", "parallel", "folded")), names


def test_a_format_survives_training() -> None:
    """The forward pass of a training step has the bits that prediction has; weights learn straight through."""
    format = cz.Format.signed(4, 3)

    def layer(w: cz.Tensor, x: cz.Tensor) -> cz.Tensor:
        return quantized(relu(x @ quantized(w, format)), cz.Format(3, 0, 31))

    def start(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(random.uniform(-1.2, 1.2, shape))

    model = cz.traced(layer, [cz.Parameter("w", (4, 4), start)], (4,))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), 4)
    random = np.random.default_rng(5)
    x, y = np.rint(random.uniform(0, 1, (4, 4)) * 16) / 16, np.rint(random.uniform(0, 1, (4, 4)))
    held = cz.start(step, model, seed=1)
    batch = {**held, "inputs": x, "targets": y, "learning_rate": np.asarray(0.5)}
    made = cz.run(with_examples(step, batch), batch)

    (w,) = held.values()
    eighths = np.rint(w * 8)
    weights, sums = np.clip(eighths, -8, 7) / 8, x @ (np.clip(eighths, -8, 7) / 8)
    predicted = np.clip(np.rint(np.maximum(sums, 0) * 8), 0, 31) / 8
    assert made["loss"] == ((predicted - y) ** 2).mean()
    slopes = x.T @ (2 * (predicted - y) / 16 * (sums > 0))
    wanted = w - 0.5 * slopes * ((eighths >= -8) & (eighths <= 7))
    assert ((eighths < -8) | (eighths > 7)).any() and weights.size == w.size
    (name,) = held
    np.testing.assert_allclose(made[name], wanted, rtol=0, atol=2.0**-14)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: arrays.Quantize(0, 3, 2), r"expected an interval within 2\^62, found \[3, 2\]"),
        (lambda: arrays.Quantize(2000, 0, 2), "expected fraction bits within 1024, found 2000"),
        (lambda: arrays.Quantize(0, 0, 2, "nearest"), r"expected rounding among \['half even', .*found 'nearest'"),
        (lambda: arrays.Quantize(0, 0, 2, "floor", "clip"), r"expected overflow among \['saturate', .*found 'clip'"),
        (lambda: arrays.Rescale(np.array([1.0, 0.0])), "expected finite factors other than 0"),
        (lambda: arrays.Rescale(np.zeros((2, 2)) + 1), "expected finite factors other than 0, one or a list"),
        (
            lambda: trace(lambda x: rescaled(x, [1.0, 2.0]), (3,)),
            r"expected factors that broadcast to \[3\], found \[2\]",
        ),
    ],
)
def test_what_is_no_format_is_refused(given: Callable[[], object], message: str) -> None:
    with pytest.raises(TypingError, match=message):
        given()
