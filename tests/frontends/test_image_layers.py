"""Convolution, pooling and embedding are JAX's, derivatives included, and survive quantization."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import check_agreement
from jax_derivatives import pulled

from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.port import Visibility
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Array
from circuitize.circuits.values import to_reals
from circuitize.frontends import formats, functions
from circuitize.frontends.image_layers import average_pool2d, conv2d, flatten, image, max_pool2d
from circuitize.frontends.layers import Model, dense, embedding, relu, sequential
from circuitize.frontends.losses import cross_entropy, mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.trace import trace
from circuitize.frontends.training import predict, training_step, with_examples
from circuitize.sims import integer, real

jax.config.update("jax_enable_x64", True)


def jax_conv2d(x: Any, kernel: Any, padding: int, step: int) -> Any:
    edges = [(padding, padding)] * 2
    return jax.lax.conv_general_dilated(x, kernel, (step, step), edges, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def jax_max_pool2d(x: Any, size: int, step: int) -> Any:
    window = (1, size, size, 1)
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, (1, step, step, 1), "VALID")


@pytest.mark.parametrize(("padding", "step"), [(0, 1), (1, 1), (2, 2), (0, 3)])
def test_convolution_and_its_derivatives(padding: int, step: int) -> None:
    random = np.random.default_rng(0)
    x, kernel = random.normal(size=(2, 6, 7, 3)), random.normal(size=(3, 2, 3, 4))
    arrow = trace(lambda x, k: functions.conv2d(x, k, padding, step), x.shape, kernel.shape)
    (value,) = evaluate(arrow, [x, kernel])
    cotangent = random.normal(size=value.shape)
    expected, slopes = pulled(lambda x, k: jax_conv2d(x, k, padding, step))([x, kernel], cotangent)
    np.testing.assert_allclose(value, expected, atol=1e-12)
    found = evaluate(reverse_derivative(arrow), [x, kernel, cotangent])
    for slope, wanted in zip(found, slopes, strict=True):
        np.testing.assert_allclose(slope, wanted, atol=1e-12)


@pytest.mark.parametrize(("size", "step"), [(2, 2), (3, 1), (2, 3)])
def test_maximum_pooling_sends_the_cotangent_to_the_first_of_equals(size: int, step: int) -> None:
    """As JAX does, with many ties: each window's pixels are among three values."""
    random = np.random.default_rng(1)
    x = random.integers(0, 3, (2, 7, 6, 3)) * 1.0
    arrow = trace(lambda x: functions.max_pool2d(x, size, step), x.shape)
    (value,) = evaluate(arrow, [x])
    cotangent = random.normal(size=value.shape)
    expected, (slope,) = pulled(lambda x: jax_max_pool2d(x, size, step))([x], cotangent)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_allclose(evaluate(reverse_derivative(arrow), [x, cotangent])[0], slope, atol=1e-13)


def test_average_pooling() -> None:
    x = np.random.default_rng(2).normal(size=(2, 6, 4, 3))
    (found,) = evaluate(trace(lambda x: functions.average_pool2d(x, 2), x.shape), [x])
    np.testing.assert_allclose(found, x.reshape(2, 3, 2, 2, 2, 3).mean((2, 4)), atol=1e-14)


def test_windows_larger_than_the_image_are_refused() -> None:
    with pytest.raises(TypingError, match="window of at most 3 along axis 1, found 4"):
        trace(lambda x: functions.max_pool2d(x, 4), (1, 3, 5, 1))


def network() -> Model:
    return sequential(image(4, 6), conv2d(1, 2, 3, padding=1), relu(), max_pool2d(2), flatten(), dense(12, 3))


def test_a_convolutional_step_is_jax_s() -> None:
    model, random = network(), np.random.default_rng(3)
    batch: dict[str, Any] = {
        "inputs": random.integers(0, 17, (5, 24)) / 16.0,
        "targets": np.eye(3)[random.integers(0, 3, 5)],
        "learning_rate": 0.125,
    }
    held = model.initial(0)

    def loss(held: Any) -> Any:
        hidden = jax_conv2d(batch["inputs"].reshape(5, 4, 6, 1), held["conv2d1.weight"], 1, 1) + held["conv2d1.bias"]
        pooled = jax_max_pool2d(jnp.maximum(hidden, 0), 2, 2).reshape(5, 12)
        logits = pooled @ held["dense1.weight"] + held["dense1.bias"]
        return -(batch["targets"] * jax.nn.log_softmax(logits)).sum(1).mean()

    program = with_examples(training_step(model, cross_entropy, SGD(), 5), held | batch)
    made, slopes = real.run(program, held | batch), jax.jit(jax.grad(loss))(held)
    for name, slope in slopes.items():
        np.testing.assert_allclose(made[name], held[name] - 0.125 * slope, atol=1e-12)
    integers = quantize(program)
    found = integer.run(integers, held | batch)
    for port in integers.outputs:
        assert port.format is not None
        assert np.abs(to_reals(port.format, found[port.name]) - made[port.name]).max() <= 5e-4, port.name
    assert check_agreement(integers, [integer.rounded(integers, held | batch)]).undefined == 0


def test_average_pooling_in_a_model() -> None:
    model = sequential(image(4, 4), average_pool2d(2), flatten(), dense(4, 2))
    x = np.arange(32).reshape(2, 16) / 32
    held = model.initial(0)
    expected = x.reshape(2, 2, 2, 2, 2).mean((2, 4)).reshape(2, 4) @ held["dense1.weight"]
    np.testing.assert_allclose(real.run(predict(model, 2), held | {"inputs": x})["outputs"], expected, atol=1e-14)


def test_embedding_trains_the_rows_it_read() -> None:
    model = sequential(embedding(6, 3, inputs=(2,)), flatten(), dense(6, 2))
    program = training_step(model, mean_squared_error, SGD(), 4, inputs=formats.labels(6))
    indices = np.array([[0, 5], [1, 1], [0, 3], [5, 5]])
    batch: dict[str, Any] = {"inputs": indices, "targets": np.eye(2)[[0, 1, 1, 0]], "learning_rate": 0.5}
    held = model.initial(0)
    program = with_examples(program, held | batch)

    def loss(held: Any) -> Any:
        outputs = held["embedding1.table"][indices].reshape(4, 6) @ held["dense1.weight"] + held["dense1.bias"]
        return ((outputs - batch["targets"]) ** 2).mean()

    made, slopes = real.run(program, held | batch), jax.jit(jax.grad(loss))(jax.tree.map(jnp.asarray, held))
    for name, slope in slopes.items():
        np.testing.assert_allclose(made[name], held[name] - 0.5 * slope, atol=1e-12)
    untouched = [2, 4]
    np.testing.assert_array_equal(made["embedding1.table"][untouched], held["embedding1.table"][untouched])
    integers = quantize(program)
    assert integers.inputs[0].visibility is Visibility.COMMITTED
    found = integer.run(integers, held | batch)
    for port in integers.outputs:
        assert port.format is not None
        assert np.abs(to_reals(port.format, found[port.name]) - made[port.name]).max() <= 5e-4, port.name
    assert check_agreement(integers, [integer.rounded(integers, held | batch)]).undefined == 0
    with pytest.raises(Undefined, match=r"whole number from 0 to 5, found 2\.5"):
        real.run(program, held | batch | {"inputs": indices + 0.5 * (indices == 1) + (indices == 1)})


def test_kernels_start_with_the_variance_of_their_fan_in() -> None:
    kernel = conv2d(16, 64, 5).initial(0)["weight"]
    assert kernel.std() == pytest.approx(np.sqrt(2 / (25 * 16)), rel=0.02)
    assert image(8, 8).batch_type(3) == Array((3, 64))
