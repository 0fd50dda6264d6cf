"""RMSprop, Lion, LAMB and clipping are those of their papers; Huber and Kullback-Leibler losses; integers follow."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.lowering import Precision
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends.adam import Adam
from circuitize.frontends.adaptive import LAMB, Lion, RMSprop
from circuitize.frontends.clipping import ClippedByNorm, ClippedByValue
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import Model, dense, relu, sequential
from circuitize.frontends.losses import huber, kullback_leibler, mean_squared_error
from circuitize.frontends.optimizers import SGD, Momentum, Optimizer
from circuitize.frontends.training import Loss, start, training_step, with_examples
from circuitize.sims import integer, real

jax.config.update("jax_enable_x64", True)

BATCH, RATE, FINE = 4, 2.0**-6, Format.signed(26, 22)
SHARES = Format.between(0.0, 1.0, 8)


def network() -> Model:
    return sequential(dense(5, 6, format=FINE), relu(), dense(6, 3, format=FINE))


def batch(seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    shares = SHARES.nearest(0.9 * random.dirichlet(np.ones(3), BATCH))
    shares[:, 0] = 1 - shares[:, 1:].sum(1)
    return {"inputs": random.integers(0, 17, (BATCH, 5)) / 16.0, "targets": shares}


def outputs(held: Any, x: Any) -> Any:
    hidden = jnp.maximum(x @ held["dense1.weight"] + held["dense1.bias"], 0)
    return hidden @ held["dense2.weight"] + held["dense2.bias"]


def squares(held: Any, data: Any) -> Any:
    return ((outputs(held, data["inputs"]) - data["targets"]) ** 2).mean()


slopes_of_squares = jax.jit(jax.grad(squares))


def huber_of_paper(held: Any, data: Any) -> Any:
    r = abs(outputs(held, data["inputs"]) - data["targets"])
    return jnp.where(r <= 1, r * r / 2, r - 0.5).mean()


def divergence(held: Any, data: Any) -> Any:
    t = data["targets"]
    elements = jnp.where(t > 0, t * jnp.log(jnp.where(t > 0, t, 1)), 0)
    return (elements - t * jax.nn.log_softmax(outputs(held, data["inputs"]))).sum(1).mean()


@pytest.mark.parametrize(("loss", "reference"), [(huber, huber_of_paper), (kullback_leibler, divergence)])
def test_losses(loss: Loss, reference: Any) -> None:
    program = training_step(network(), loss, SGD(), BATCH, targets=SHARES, precision=Precision(margin=4.0))
    held, data = start(program, network(), 1), batch()
    data["targets"][0] = [0.0, 0.0, 1.0]
    data["learning_rate"] = RATE
    expected, slopes = jax.jit(jax.value_and_grad(reference))(held, data)
    found = real.run(program, held | data)
    np.testing.assert_allclose(found["loss"], expected, rtol=1e-12)
    exact = quantize(with_examples(program, held | data, *(held | data | batch(seed) for seed in range(1, 6))))
    integers = integer.run(exact, held | data)
    for port in exact.outputs:
        assert port.format is not None
        np.testing.assert_allclose(to_reals(port.format, integers[port.name]), found[port.name], atol=2e-3)
    for name, slope in slopes.items():
        np.testing.assert_allclose(found[name], held[name] - RATE * slope, rtol=1e-9, atol=1e-12)


def rmsprop(optimizer: Any, t: int, w: Any, g: Any, kept: dict[str, Any]) -> Any:
    kept["v"] = optimizer.decay * kept.get("v", 0) + (1 - optimizer.decay) * g * g
    return w - RATE * g / (np.sqrt(kept["v"]) + optimizer.epsilon)


def lion(optimizer: Any, t: int, w: Any, g: Any, kept: dict[str, Any]) -> Any:
    m = kept.get("m", 0)
    kept["m"] = optimizer.beta2 * m + (1 - optimizer.beta2) * g
    return w - RATE * (np.sign(optimizer.beta1 * m + (1 - optimizer.beta1) * g) + optimizer.weight_decay * w)


def lamb(optimizer: Any, t: int, w: Any, g: Any, kept: dict[str, Any]) -> Any:
    kept["m"] = optimizer.beta1 * kept.get("m", 0) + (1 - optimizer.beta1) * g
    kept["v"] = optimizer.beta2 * kept.get("v", 0) + (1 - optimizer.beta2) * g * g
    fair = kept["m"] / (1 - optimizer.beta1**t) / (np.sqrt(kept["v"] / (1 - optimizer.beta2**t)) + optimizer.epsilon)
    r = fair + optimizer.weight_decay * w
    size, length = np.linalg.norm(w), np.linalg.norm(r)
    return w - RATE * (size / length if size and length > 2.0**-4 else 1.0) * r


@pytest.mark.parametrize(
    ("optimizer", "reference"),
    [(RMSprop(), rmsprop), (Lion(), lion), (Lion(weight_decay=0.25), lion), (LAMB(), lamb)],
    ids=["rmsprop", "lion", "lion with decay", "lamb"],
)
def test_steps_are_those_of_the_papers_and_integers_learn(optimizer: Optimizer, reference: Any) -> None:
    program = training_step(
        network(), mean_squared_error, optimizer, BATCH, targets=SHARES, precision=Precision(margin=4.0)
    )
    begin = start(program, network(), 1)
    given = [batch() | optimizer.values(t, RATE) for t in range(1, 31)]
    held: dict[str, Any] = network().initial(1)
    kept: dict[str, dict[str, Any]] = {name: {} for name in held}
    losses = []
    for t, made in enumerate(real.train(program, begin, given), 1):
        losses.append(float(made["loss"]))
        if t > 6:
            continue
        slopes = slopes_of_squares(held, batch())
        held = {n: reference(optimizer, t, w, np.asarray(slopes[n]), kept[n]) for n, w in held.items()}
        for name, value in held.items():
            # LAMB's corrections are rounded to 13 bits; the others have none.
            allowed = 4 * RATE * t * 2.0**-13 if isinstance(optimizer, LAMB) else 1e-12
            np.testing.assert_allclose(made[name], value, rtol=0, atol=allowed)
        held = {name: np.asarray(made[name]) for name in held}
    exact = quantize(with_examples(program, *real.record(program, begin, given, 12)))
    format = exact.outputs[-1].format
    assert format is not None
    found = [float(to_reals(format, made["loss"])) for made in integer.train(exact, begin, given)]
    np.testing.assert_allclose(found, losses, atol=0.05)
    assert found[-1] < 0.6 * found[0]


@pytest.mark.parametrize("inner", [SGD(), Momentum(), Adam()], ids=["sgd", "momentum", "adam"])
@pytest.mark.parametrize("by_norm", [False, True])
def test_clipped_gradients_go_to_any_optimiser(inner: Optimizer, by_norm: bool) -> None:
    """One step from rest: what the optimiser makes of the clipped gradients, computed from those of JAX."""
    bound = 0.05
    optimizer = ClippedByNorm(inner, bound) if by_norm else ClippedByValue(inner, bound)
    program = training_step(
        network(), mean_squared_error, optimizer, BATCH, targets=SHARES, precision=Precision(margin=4.0)
    )
    held, data = start(program, network(), 1), batch() | optimizer.values(1, RATE)
    slopes = {n: np.asarray(g) for n, g in slopes_of_squares({n: held[n] for n in network().initial(1)}, data).items()}
    norm = np.sqrt(sum((g * g).sum() for g in slopes.values()))
    assert norm > bound
    clipped = {n: g * bound / norm if by_norm else np.clip(g, -bound, bound) for n, g in slopes.items()}
    found = real.run(program, held | data)
    for name, g in clipped.items():
        step = RATE * g / (abs(g) + 2.0**-14) if isinstance(inner, Adam) else RATE * g
        np.testing.assert_allclose(found[name], held[name] - step, atol=1e-5 if isinstance(inner, Adam) else 1e-12)
    exact = quantize(with_examples(program, held | data, *(held | data | batch(seed) for seed in range(1, 5))))
    integers = integer.run(exact, held | data)
    for port in exact.outputs:
        assert port.format is not None
        if port.name in slopes:
            bound = 2e-3 if isinstance(inner, Adam) else 2e-4
            np.testing.assert_allclose(to_reals(port.format, integers[port.name]), found[port.name], atol=bound)


def test_small_gradients_are_not_clipped() -> None:
    data = batch() | {"learning_rate": RATE}
    plain, *clipped = (
        training_step(network(), mean_squared_error, optimizer, BATCH, targets=SHARES)
        for optimizer in (SGD(), ClippedByNorm(SGD(), 100.0), ClippedByValue(SGD(), 100.0))
    )
    held = start(plain, network(), 1)
    expected = real.run(plain, held | data)
    for program in clipped:
        for name, value in real.run(program, held | data).items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-12, atol=1e-15)


def test_refused() -> None:
    with pytest.raises(CircuitizeError, match="expected a positive bound, found 0"):
        ClippedByNorm(SGD(), 0)
    with pytest.raises(TypingError, match="expected a positive delta, found 0"):
        training_step(network(), lambda x, y: huber(x, y, 0), SGD(), BATCH)
