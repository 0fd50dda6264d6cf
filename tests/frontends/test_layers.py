"""Models with masks, tied and frozen parameters: what a step takes, gives back, and leaves as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from circuitize.circuits import arrays
from circuitize.circuits.errors import TypingError
from circuitize.circuits.port import Role
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends.activations import silu
from circuitize.frontends.adam import Adam
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import Model, activation, dense, dropout, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.training import predict, start, training_step, with_examples
from circuitize.sims import integer, real

BATCH, SIGNED = 4, Format.signed(14, 10)
RATE = np.array(0.125)


def data(seed: int, width: int = 2) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "inputs": SIGNED.nearest(random.normal(0.0, 0.5, (BATCH, 3))),
        "targets": SIGNED.nearest(random.normal(0.0, 0.5, (BATCH, width))),
        "learning_rate": RATE,
    }


DROPPING = sequential(dense(3, 8), relu(), dropout(0.5, (BATCH, 8)), dense(8, 2))


def test_a_mask_is_an_input_of_the_step_and_not_of_the_prediction() -> None:
    step = training_step(DROPPING, mean_squared_error, SGD(), BATCH, SIGNED, SIGNED)
    names = {port.name: port for port in step.inputs}
    assert names["dropout1.mask"].role is Role.DATA
    assert "dropout1.mask" not in {port.name for port in step.outputs}
    assert "dropout1.mask" not in {port.name for port in predict(DROPPING, BATCH, SIGNED).inputs}
    assert "dropout1.mask" not in DROPPING.initial(0)


def test_dropout_is_that_of_the_paper() -> None:
    step = training_step(DROPPING, mean_squared_error, SGD(), BATCH, SIGNED, SIGNED)
    held, batch = start(step, DROPPING, 1), data(2)
    mask = DROPPING.drawn(3)["dropout1.mask"]
    assert set(np.unique(mask)) == {0.0, 1.0}
    hidden = np.maximum(batch["inputs"] @ held["dense1.weight"] + held["dense1.bias"], 0)
    for training, scale in ((True, 2.0 * mask), (False, np.ones(mask.shape))):
        outputs = (hidden * scale) @ held["dense2.weight"] + held["dense2.bias"]
        if training:
            made = real.run(step, {**held, **batch, "dropout1.mask": mask})
            np.testing.assert_allclose(made["loss"], ((outputs - batch["targets"]) ** 2).mean(), rtol=1e-12)
            slope = (hidden * scale).T @ (2 * (outputs - batch["targets"]) / outputs.size)
            np.testing.assert_allclose(made["dense2.weight"], held["dense2.weight"] - RATE * slope, atol=1e-12)
            dropped = ~mask.any(0)
            assert np.array_equal(made["dense1.weight"][:, dropped], held["dense1.weight"][:, dropped])
        else:
            made = real.run(predict(DROPPING, BATCH, SIGNED), {**held, "inputs": batch["inputs"]})
            np.testing.assert_allclose(made["outputs"], outputs, rtol=1e-12, atol=1e-12)


def test_integers_learn_with_fresh_masks() -> None:
    step = training_step(DROPPING, mean_squared_error, SGD(), BATCH, SIGNED, SIGNED)
    begin = start(step, DROPPING, 1)
    batches = [data(0) | DROPPING.drawn(seed) for seed in range(40)]
    given = with_examples(step, *({**begin, **batch} for batch in batches[:8]))
    exact = quantize(given)
    format = exact.outputs[-1].format
    assert format is not None
    floats = [float(made["loss"]) for made in real.train(step, begin, batches)]
    found = [float(to_reals(format, made["loss"])) for made in integer.train(exact, begin, batches)]
    np.testing.assert_allclose(found, floats, atol=0.02)
    assert np.mean(found[-5:]) < 0.5 * np.mean(found[:5])


@pytest.mark.parametrize("optimizer", [SGD(), Adam()])
def test_frozen_parameters_leave_as_they_came(optimizer: SGD | Adam) -> None:
    model = sequential(dense(3, 4), relu(), dense(4, 2)).freeze("dense1.weight", "dense1.bias")
    step = training_step(model, mean_squared_error, optimizer, BATCH, SIGNED, SIGNED)
    apart = sequential(dense(3, 4), relu(), dense(4, 2))
    whole = training_step(apart, mean_squared_error, optimizer, BATCH, SIGNED, SIGNED)
    assert not any(port.name.startswith("dense1.") and "moment" in port.name for port in step.inputs)
    held = start(whole, model, 1) | data(2) | optimizer.values(1, 0.125)
    frozen = real.run(step, {port.name: held[port.name] for port in step.inputs})
    free = real.run(whole, {port.name: held[port.name] for port in whole.inputs})
    for name in ("dense1.weight", "dense1.bias"):
        assert np.array_equal(frozen[name], held[name]) and not np.array_equal(free[name], held[name])
    for name in ("dense2.weight", "dense2.bias", "loss"):
        np.testing.assert_array_equal(frozen[name], free[name])


@pytest.mark.parametrize("transposed", [False, True])
def test_tied_parameters_add_their_gradients(transposed: bool) -> None:
    shape = (3, 4) if transposed else (3, 3)
    free: Model = sequential(dense(*shape), relu(), dense(*shape[::-1]))
    tied = free.tie("dense2.weight", "dense1.weight", transposed)
    assert [p.name for p in tied.parameters] == ["dense1.weight", "dense1.bias", "dense2.bias"]
    batch = data(5, 3)
    one, two = (training_step(m, mean_squared_error, SGD(), BATCH, SIGNED, SIGNED) for m in (tied, free))
    held = start(one, tied, 1)
    weight = held["dense1.weight"]
    other = weight.T if transposed else weight
    found = real.run(one, held | batch)
    apart = real.run(two, held | batch | {"dense2.weight": other})
    assert "dense2.weight" not in found
    np.testing.assert_allclose(found["loss"], apart["loss"], rtol=1e-12)
    second = apart["dense2.weight"] - other
    expected = apart["dense1.weight"] + (second.T if transposed else second)
    np.testing.assert_allclose(found["dense1.weight"], expected, rtol=1e-12, atol=1e-15)
    outputs = real.run(predict(tied, BATCH, SIGNED), {**held, "inputs": batch["inputs"]})["outputs"]
    hidden = np.maximum(batch["inputs"] @ weight + held["dense1.bias"], 0)
    np.testing.assert_allclose(outputs, hidden @ other + held["dense2.bias"], atol=1e-12)


def test_any_function_of_a_tensor_makes_a_layer() -> None:
    model = sequential(dense(3, 4), activation(silu), dense(4, 4), activation(lambda x: x * 2.0, "double"), dense(4, 2))
    assert [p.name for p in model.parameters][::2] == ["dense1.weight", "dense2.weight", "dense3.weight"]
    held, x = model.initial(3), data(1)["inputs"]
    hidden = x @ held["dense1.weight"]
    second = (hidden / (1 + np.exp(-hidden))) @ held["dense2.weight"]
    found = real.run(predict(model, BATCH, SIGNED), {**held, "inputs": x})["outputs"]
    np.testing.assert_allclose(found, 2 * second @ held["dense3.weight"], rtol=1e-12, atol=1e-12)


def test_refused() -> None:
    model = sequential(dense(3, 4), relu(), dense(4, 2))
    with pytest.raises(TypingError, match=r"shape \[4, 2\] for 'dense2.weight', found 'dense1.weight' of \[3, 4\]"):
        model.tie("dense2.weight", "dense1.weight")
    with pytest.raises(TypingError, match=r"found 'dense3\.weight'; name one of these"):
        model.freeze("dense3.weight")
    with pytest.raises(TypingError, match=r"at least 0 and below 1, found 1\.0"):
        dropout(1.0, (2, 2))


def test_the_class_of_an_operation_is_no_activation() -> None:
    kind: Any = arrays.ReLU
    with pytest.raises(TypingError, match=r"found the class ReLU; write ReLU\(\) for an operation"):
        activation(kind)
