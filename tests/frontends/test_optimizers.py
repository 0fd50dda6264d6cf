"""Adam and its relatives are the textbook's, their scalars exact, and schedules change no program."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiers
from agreement import check_agreement

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.validate import validate
from circuitize.circuits.values import to_reals
from circuitize.frontends import formats
from circuitize.frontends.adam import Adam, AdamW
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import Model, dense, relu, sequential
from circuitize.frontends.losses import binary_cross_entropy, cross_entropy, label_cross_entropy
from circuitize.frontends.optimizers import SGD, Momentum, Optimizer
from circuitize.frontends.schedules import Schedule, constant, cosine, rounded_cosine, warm_up
from circuitize.frontends.training import Loss, start, training_step, with_examples
from circuitize.sims import integer, real

jax.config.update("jax_enable_x64", True)

BATCH, RATE = 4, 2.0**-6
FINE = Format.signed(26, 22)
"""Weights fine enough for a decay of a few millionths."""


def perceptron() -> Model:
    return sequential(dense(5, 6, format=FINE), relu(), dense(6, 3, format=FINE))


def batches(count: int, optimizer: Optimizer, schedule: Schedule = constant(RATE)) -> Iterator[dict[str, Any]]:  # noqa: B008
    generator = np.random.default_rng(0)
    for t in range(1, count + 1):
        yield {
            "inputs": generator.integers(0, 17, (BATCH, 5)) / 16.0,
            "targets": np.eye(3)[generator.integers(0, 3, BATCH)],
            **optimizer.values(t, schedule(t)),
        }


@cache
def step(optimizer: Optimizer, loss: Loss = cross_entropy) -> Program:
    program = training_step(perceptron(), loss, optimizer, BATCH, precision=Precision(margin=4.0))
    given = list(batches(40, optimizer))
    return with_examples(program, *real.record(program, start(program, perceptron(), 1), given, 16))


def logits(held: Any, x: Any) -> Any:
    hidden = jnp.maximum(x @ held["dense1.weight"] + held["dense1.bias"], 0)
    return hidden @ held["dense2.weight"] + held["dense2.bias"]


def jax_cross_entropy(held: Any, batch: Any) -> Any:
    return -(batch["targets"] * jax.nn.log_softmax(logits(held, batch["inputs"]))).sum(1).mean()


def jax_binary_cross_entropy(held: Any, batch: Any) -> Any:
    x, t = logits(held, batch["inputs"]), batch["targets"]
    return -(t * jax.nn.log_sigmoid(x) + (1 - t) * jax.nn.log_sigmoid(-x)).mean()


@pytest.mark.parametrize(
    ("loss", "reference"), [(cross_entropy, jax_cross_entropy), (binary_cross_entropy, jax_binary_cross_entropy)]
)
def test_a_step_is_the_one_that_jax_takes(loss: Loss, reference: Any) -> None:
    program = step(SGD(), loss)
    (batch,) = batches(1, SGD())
    held = start(program, perceptron(), 1)
    expected, slopes = jax.jit(jax.value_and_grad(reference))(held, batch)
    made = real.run(program, held | batch)
    np.testing.assert_allclose(made["loss"], expected, rtol=1e-12)
    for name, slope in slopes.items():
        np.testing.assert_allclose(made[name], held[name] - RATE * slope, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", [cross_entropy, binary_cross_entropy])
def test_integers_follow_with_every_loss(loss: Loss) -> None:
    program = step(SGD(), loss)
    integers = quantize(program)
    for example in program.examples[:4]:
        exact, found = real.run(program, example), integer.run(integers, example)
        for port in integers.outputs:
            assert port.format is not None
            error = np.abs(to_reals(port.format, found[port.name]) - exact[port.name]).max()
            assert error <= (2e-3 if port.name == "loss" else 1e-4), (port.name, error)


def test_labels_are_indicators() -> None:
    model, precision = perceptron(), Precision(margin=4.0)
    (batch,) = batches(1, SGD())
    hot = training_step(model, cross_entropy, SGD(), BATCH, precision=precision)
    labelled = training_step(
        model, label_cross_entropy, SGD(), BATCH, targets=formats.labels(3), target_shape=(), precision=precision
    )
    held = start(hot, model, 1)
    numbers = batch | {"targets": batch["targets"].argmax(1).astype(float)}
    expected, found = real.run(hot, held | batch), real.run(labelled, held | numbers)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-13, atol=1e-15)
    exact = quantize(with_examples(labelled, held | numbers))
    other = quantize(with_examples(hot, held | batch))
    for name, units in integer.run(other, held | batch).items():
        np.testing.assert_array_equal(integer.run(exact, held | numbers)[name], units)
    assert check_agreement(exact, [integer.rounded(exact, held | numbers)]).undefined == 0
    with pytest.raises(CircuitizeError, match=r"'targets' in \[0, 2\], found 3"):
        integer.run(exact, held | numbers | {"targets": np.array([0, 1, 2, 3])})
    with pytest.raises(Undefined, match="whole number from 0 to 2"):
        real.run(labelled, held | numbers | {"targets": np.array([0, 1, 2, 0.5])})


cross_entropy_slopes = jax.jit(jax.grad(jax_cross_entropy))


def adam(
    held: dict[str, Any], moments: dict[str, Any], batch: Any, t: int, optimizer: Adam, decay: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Algorithm 1 of the paper, and algorithm 2 of AdamW's, in floating point."""
    slopes = cross_entropy_slopes(held, batch)
    new, kept = {}, {}
    for name, g in slopes.items():
        m, v = moments.get(name, (0.0, 0.0))
        m = optimizer.beta1 * m + (1 - optimizer.beta1) * g
        v = optimizer.beta2 * v + (1 - optimizer.beta2) * g * g
        fair = m / (1 - optimizer.beta1**t) / (jnp.sqrt(v / (1 - optimizer.beta2**t)) + optimizer.epsilon)
        new[name] = held[name] - RATE * fair - RATE * decay * held[name]
        kept[name] = (m, v)
    return new, kept


@pytest.mark.parametrize(
    ("optimizer", "decay"),
    [(Adam(), 0.0), (Adam(beta1=1 - 2.0**-4, beta2=0.99, epsilon=1e-3, scale_bits=8), 0.0), (AdamW(), 2.0**-7)],
)
def test_adam_is_that_of_the_paper(optimizer: Adam, decay: float) -> None:
    """Up to the rounding of its scalars, a relative 2^-13 of the second correction."""
    program = training_step(perceptron(), cross_entropy, optimizer, BATCH)
    held: dict[str, Any] = perceptron().initial(1)
    moments: dict[str, Any] = {}
    given = list(batches(6, optimizer))
    for t, made in enumerate(real.train(program, start(program, perceptron(), 1), given), 1):
        held, moments = adam(held, moments, given[t - 1], t, optimizer, decay)
        for name, value in held.items():
            np.testing.assert_allclose(made[name], value, atol=4 * RATE * t * 2.0**-13)
            m, v = moments[name]
            scale = 2.0**optimizer.scale_bits
            np.testing.assert_allclose(made[f"{name}.first_moment"] / scale, m, rtol=1e-3, atol=2e-5)
            np.testing.assert_allclose(made[f"{name}.second_moment"] / scale**2, v, rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("optimizer", [Adam(), AdamW()])
def test_integer_adam_keeps_its_formats_and_is_close(optimizer: Adam) -> None:
    program = step(optimizer)
    integers = quantize(program)
    validate(integers.arrow)
    assert integers.inputs[:12] == integers.outputs[:12] and integers.arrow.source[:12] == integers.arrow.target[:12]
    for example in program.examples:
        exact, found = real.run(program, example), integer.run(integers, example)
        for port in integers.outputs[:12]:
            assert port.format is not None
            error = np.abs(to_reals(port.format, found[port.name]) - exact[port.name]).max()
            bound = max(0.01 * np.abs(exact[port.name]).max(), 1) if "moment" in port.name else 5e-4
            assert error <= bound, (port.name, error)


def test_integer_adam_learns_one_batch() -> None:
    program, (batch,) = step(Adam()), batches(1, Adam())
    given = [batch | Adam().values(t, RATE) for t in range(1, 41)]
    begin = start(program, perceptron(), 1)
    integers = quantize(with_examples(program, *real.record(program, begin, given, 16)))
    exact = [float(made["loss"]) for made in real.train(program, begin, given)]
    format = integers.outputs[-1].format
    assert format is not None
    found = [float(to_reals(format, made["loss"])) for made in integer.train(integers, begin, given)]
    np.testing.assert_allclose(found, exact, atol=0.02)
    assert found[-1] < 0.5 * found[0]


def test_two_rates_and_two_schedules_have_one_program() -> None:
    for optimizer in (SGD(), AdamW(), *([Momentum(), Adam()] if tiers.TIER == "deep" else [])):
        integers = quantize(step(optimizer))
        digest = program_digest(integers)
        held, made = start(step(optimizer), perceptron(), 1), []
        for schedule in (constant(0.01), cosine(0.05, 10), warm_up(constant(0.02), 5)):
            (batch,) = batches(1, optimizer, schedule)
            made.append(integer.run(integers, held | batch)["dense2.bias"])
        assert program_digest(quantize(step.__wrapped__(optimizer))) == digest
        assert not np.array_equal(made[0], made[1])


def test_scalars_are_exact() -> None:
    assert Adam().values(1, 0.0625) == {"step_size": 0.5, "correction": 1024.0}
    for t in (2, 7, 1000):
        found = AdamW().values(t, Fraction(1, 1000))
        corrected = Fraction(1, 1000) / (1 - Fraction(7, 8) ** t)
        assert abs(Fraction(found["step_size"]) - corrected) <= Fraction(1, 2**25)
        assert abs(Fraction(found["correction"]) - 1 / (1 - Fraction(1023, 1024) ** t)) <= Fraction(1, 2**13)
        assert abs(Fraction(found["decay"]) - Fraction(1, 128_000)) <= Fraction(1, 2**25)
    assert SGD().values(3, 0.1) == {"learning_rate": round(0.1 * 2**16) / 2**16}
    with pytest.raises(
        CircuitizeError,
        match=r"expected step_size in \[0.0, 1.0\], found 4; choose another number, or widen the format",
    ):
        Adam().values(1, 0.5)


def test_formats_round_halves_to_even() -> None:
    format = Format.between(0.0, 4.0, 1)
    found = [format.rounded(Fraction(n, 4)) for n in range(6)]
    assert found == [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]


def test_schedules() -> None:
    assert constant(0.25)(1) == constant(0.25)(99) == Fraction(1, 4)
    warm = warm_up(constant(0.5), 4)
    assert [warm(t) for t in (1, 2, 4, 5)] == [Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1, 2)]
    falling = cosine(0.5, 8, final=0.125)
    assert falling(1) == Fraction(1, 2) and falling(9) == falling(100) == Fraction(1, 8)
    assert falling(5) == Fraction(5, 16)
    for t in range(1, 10):
        assert float(falling(t)) == pytest.approx(0.125 + 0.375 * (1 + math.cos(math.pi * (t - 1) / 8)) / 2, abs=1e-12)
    with pytest.raises(CircuitizeError, match="at least 1 step, found 0"):
        cosine(0.5, 0)


def test_cosines_are_correctly_rounded() -> None:
    for n in range(257):
        found = rounded_cosine(Fraction(n, 256))
        assert abs(float(found) - math.cos(math.pi * n / 256)) <= 2.0**-41 + 2.0**-52
    assert rounded_cosine(Fraction(1, 2)) == 0 and rounded_cosine(Fraction(1, 3)) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Adam(beta1=1.0), "expected 0 <= beta1 < 1, found 1.0"),
        (lambda: Adam(beta2=-0.5), "expected 0 <= beta2 < 1"),
        (lambda: Adam(epsilon=0.0), "expected a positive epsilon"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(CircuitizeError, match=message):
        make()
