"""Normalisation: running statistics are state that a step renews and inference reads; rows and groups need none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Array
from circuitize.circuits.unroll import compose_steps
from circuitize.circuits.values import Raw
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import Model, dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.normalization import batch_norm, group_norm, layer_norm, rms_norm
from circuitize.frontends.optimizers import SGD, Momentum
from circuitize.frontends.training import predict, start, training_step, with_examples
from circuitize.sims import integer, real

BATCH, SIGNED = 8, Format.signed(12, 8)
MODEL = sequential(dense(3, 4), batch_norm(4), relu(), dense(4, 2), batch_norm(2))
STATE = ["batch_norm1.mean", "batch_norm1.variance", "batch_norm2.mean", "batch_norm2.variance"]


def batch(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "inputs": SIGNED.nearest(random.normal(0.0, 1.0, (BATCH, 3))),
        "targets": SIGNED.nearest(random.normal(0.0, 1.0, (BATCH, 2))),
        "learning_rate": np.array(0.125),
    }


def step(optimizer: SGD | Momentum = SGD()) -> Program:  # noqa: B008 - frozen
    made = training_step(MODEL, mean_squared_error, optimizer, BATCH, SIGNED, SIGNED)
    first = start(made, MODEL, 1)
    return with_examples(made, *({**first, **batch(seed)} for seed in range(4)))


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x.mean(axis=0), x.var(axis=0, ddof=1)


@pytest.mark.parametrize("optimizer", [SGD(), Momentum()], ids=["sgd", "momentum"])
def test_state_stands_after_the_optimiser_s_and_has_the_names_of_its_layers(optimizer: SGD | Momentum) -> None:
    made = step(optimizer)
    names = [port.name for port in made.inputs]
    assert names[-7:] == [*STATE, "inputs", "targets", "learning_rate"]
    assert [port.name for port in made.outputs] == [*names[:-3], "loss"]
    assert all(port.held for port in made.outputs[:-1])
    assert [port.name for port in predict(MODEL, 1, SIGNED).inputs][-5:] == [*STATE, "inputs"]
    assert not any(name in STATE for name in (f"{p.name}" for p in MODEL.parameters))


def test_a_step_renews_the_statistics_of_its_batch() -> None:
    made = step()
    given = dict(made.examples[0])
    found = real.run(made, given)
    hidden = given["inputs"] @ given["dense1.weight"] + given["dense1.bias"]
    mean, variance = moments(hidden)
    assert np.allclose(found["batch_norm1.mean"], 0.125 * mean)
    assert np.allclose(found["batch_norm1.variance"], 0.875 + 0.125 * variance)


def test_gradients_pass_through_the_batch_s_statistics() -> None:
    """The new weights against finite differences of the loss."""
    made = step()
    given = dict(made.examples[1])
    found, small = real.run(made, given), 2.0**-12
    for name, at in (("dense1.weight", (1, 2)), ("batch_norm1.weight", (3,)), ("batch_norm2.bias", (0,))):
        losses = []
        for sign in (1, -1):
            moved = given[name].copy()
            moved[at] += sign * small
            losses.append(float(real.run(made, {**given, name: moved})["loss"]))
        slope = (losses[0] - losses[1]) / (2 * small)
        assert float(given[name][at] - found[name][at]) == pytest.approx(0.125 * slope, rel=1e-3, abs=1e-6)


def test_inference_reads_the_running_statistics() -> None:
    random = np.random.default_rng(7)
    kept = {p.name: SIGNED.nearest(random.normal(1.0, 0.25, p.shape)) for p in (*MODEL.parameters, *MODEL.state)}
    kept |= {name: abs(kept[name]) for name in STATE}
    x = batch(5)["inputs"]
    found = real.run(predict(MODEL, BATCH, SIGNED), {**kept, "inputs": x})["outputs"]

    def normal(layer: str, y: np.ndarray) -> np.ndarray:
        mean, variance, weight, bias = (kept[f"{layer}.{name}"] for name in ("mean", "variance", "weight", "bias"))
        return (y - mean) / np.sqrt(variance + 2.0**-8) * weight + bias

    hidden = np.maximum(normal("batch_norm1", x @ kept["dense1.weight"] + kept["dense1.bias"]), 0)
    expected = normal("batch_norm2", hidden @ kept["dense2.weight"] + kept["dense2.bias"])
    assert np.allclose(found, expected)


def test_integers_follow_and_steps_compose() -> None:
    made = step()
    integers = quantize(made)
    exact = integer.run(integers, made.examples[0])
    floats = real.run(made, made.examples[0])
    for port in integers.outputs:
        assert port.format is not None
        error = np.abs(np.ldexp(exact[port.name].astype(float), -port.format.fraction_bits) - floats[port.name]).max()
        assert error < 5e-3, port.name
    twice = compose_steps(integers, integers)
    first = {name: value for name, value in made.examples[0].items() if name not in batch(0)}
    later = {f"{name}.{k + 1}": value for k in range(2) for name, value in batch(k).items()}
    once = integer.run(integers, {**first, **batch(0)})
    again = integer.run(integers, {**{p.name: Raw(once[p.name]) for p in integers.outputs if p.held}, **batch(1)})
    both = integer.run(twice, {**first, **later})
    assert all(np.array_equal(both[name], again[name]) for name in STATE)


def test_a_model_without_state_is_as_before() -> None:
    plain: Model = sequential(dense(3, 4), relu())
    assert plain.state == ()
    assert plain.inference is None


def standard(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    return np.asarray((x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon))


LAYERS = [
    (layer_norm(6, 2.0**-4), lambda x: standard(x, (1,), 2.0**-4)),
    (rms_norm(6, 2.0**-4), lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 2.0**-4)),
    (group_norm(6, 2, 2.0**-4), lambda x: standard(x.reshape(-1, 2, 3), (2,), 2.0**-4).reshape(-1, 6)),
]


@pytest.mark.parametrize(("layer", "function"), LAYERS, ids=lambda x: getattr(x, "kind", ""))
def test_rows_and_groups(layer: Model, function: Any) -> None:
    """A step of a network with the layer: the layer's meaning, and integers that follow."""
    model = sequential(dense(3, 6), layer, dense(6, 2))
    made = training_step(model, mean_squared_error, SGD(), 2, SIGNED, SIGNED)
    first = start(made, model, 2)
    few = [{name: value[:2] if value.ndim else value for name, value in batch(seed).items()} for seed in range(4)]
    made = with_examples(made, *({**first, **data} for data in few))
    given = made.examples[0]
    hidden = function(given["inputs"] @ given["dense1.weight"] + given["dense1.bias"])
    expected = hidden @ given["dense2.weight"] + given["dense2.bias"]
    found = real.run(predict(model, 2, SIGNED), {n: v for n, v in given.items() if n in {**first, "inputs": 0}})
    np.testing.assert_allclose(found["outputs"], expected, rtol=1e-12, atol=1e-12)
    exact = quantize(made)
    floats, integers = real.run(made, given), integer.run(exact, given)
    for port in exact.outputs:
        assert port.format is not None
        error = np.abs(np.ldexp(integers[port.name].astype(float), -port.format.fraction_bits) - floats[port.name])
        assert error.max() < 3e-3, port.name


def test_groups_of_pictures_take_all_places_together() -> None:
    x = np.random.default_rng(3).normal(size=(2, 4, 5, 6))
    (found,) = evaluate(group_norm(6, 3, 0.01).arrow(Array(x.shape)), [np.ones(6), np.zeros(6), x])
    expected = standard(x.reshape(2, 4, 5, 3, 2), (1, 2, 4), 0.01).reshape(x.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(TypingError, match="groups that divide 6 features, found 4; choose a divisor"):
        group_norm(6, 4)
