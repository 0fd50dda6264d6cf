"""Models of Flax and Keras: batch normalization, dropout, and one integer step of each proved."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import models  # first: it asks for 64 bits
import numpy as np
import pytest

import circuitize as cz
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.formats import Format
from circuitize.frontends.training import with_examples

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def compared(forward: Any, parameters: Any, state: Any, x: Any, targets: Any, key: Any = None, **more: Any) -> None:
    """Predictions' loss, gradients and state of a step by one are those of JAX; an integer step is proved."""
    beside = () if key is None else (key,)
    model = cz.from_jax(forward, parameters, x, state=state, key=key, **more)
    loss = cz.from_jax_loss(models.cross_entropy)
    data = Format.between(0.0, 1.0, 8)
    program = cz.training_step(model, loss, cz.SGD(), len(x), data)
    masks = model.drawn(0)
    given = {p.name: p.initializer(np.random.default_rng(0), p.shape) for p in (*model.parameters, *model.state)}
    given |= {**masks, "inputs": x, "targets": targets}
    found = evaluate(program.arrow, [given.get(port.name, np.float64(1.0)) for port in program.inputs])
    ours = dict(zip((port.name for port in program.outputs), found, strict=True))

    def measured(p: Any) -> Any:
        predictions, renewed = forward(p, state, x, *beside)
        return models.cross_entropy(predictions, targets), renewed

    if masks:
        measured = with_masks(measured, masks)
    (value, renewed), gradient = jax.jit(jax.value_and_grad(measured, has_aux=True))(parameters)
    np.testing.assert_allclose(ours["loss"], value, rtol=1e-6)
    for parameter, theirs in zip(model.parameters, jax.tree.leaves(gradient), strict=True):
        name = parameter.name
        np.testing.assert_allclose(given[name] - ours[name], theirs, rtol=1e-6, atol=1e-6, err_msg=name)
    kept = [p for p in model.state if not p.fresh]
    for parameter, theirs in zip(kept, jax.tree.leaves(renewed), strict=True):
        np.testing.assert_allclose(ours[parameter.name], theirs, rtol=1e-6, atol=1e-6, err_msg=parameter.name)

    optimizer = cz.Momentum()
    program = cz.training_step(model, loss, optimizer, len(x), data)
    moment = {**cz.start(program, model, 0), **masks, "inputs": x, "targets": targets, **optimizer.values(1, 2.0**-5)}
    program = with_examples(program, moment)
    proof = cz.compile(program, cz.tensor_proof).prove(not_zero_knowledge=True)
    assert cz.verifier(program, prover="tensor").check(proof)
    exact, integers = (cz.run(program, executor=executor) for executor in ("real", "integer"))
    for port in program.outputs:
        assert np.max(np.abs(integers[port.name] - exact[port.name])) < 2.0**-6, port.name


def with_masks(function: Any, masks: Any) -> Any:
    """The function, in which `bernoulli` gives these masks instead of what it draws."""

    def masked(p: Any) -> Any:
        given = iter(masks.values())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jax.random, "bernoulli", lambda key, p, shape: jnp.asarray(next(given), bool))
            return function(p)

    return masked


@pytest.mark.deep
def test_a_network_of_flax() -> None:
    """Linen: a convolution, batch normalization with running statistics, dropout, dense layers."""
    import flax.linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any, training: bool) -> Any:
            x = nn.Conv(3, (3, 3), param_dtype=jnp.float64)(x)
            x = nn.relu(nn.BatchNorm(use_running_average=not training, momentum=0.75, param_dtype=jnp.float64)(x))
            x = nn.max_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
            x = nn.Dropout(0.25, deterministic=not training)(x)
            return nn.Dense(3, param_dtype=jnp.float64)(x)

    network = Network()
    x = np.random.default_rng(0).random((4, 6, 6, 1))
    made = network.init(jax.random.key(0), x, False)

    def forward(parameters: Any, state: Any, x: Any, key: Any) -> Any:
        every = {"params": parameters, "batch_stats": state}
        predictions, renewed = network.apply(every, x, True, rngs={"dropout": key}, mutable=["batch_stats"])
        return predictions, renewed["batch_stats"]

    def inference(parameters: Any, state: Any, x: Any) -> Any:
        return network.apply({"params": parameters, "batch_stats": state}, x, False)

    parameters, state, key = made["params"], made["batch_stats"], jax.random.key(1)
    compared(forward, parameters, state, x, np.eye(3)[[0, 1, 2, 0]], key, inference=inference)
    model = cz.from_jax(forward, parameters, x, state=state, key=key, inference=inference)
    assert [p.name for p in model.state] == ["BatchNorm_0.mean", "BatchNorm_0.var", "mask1"]
    program = cz.predict(model, 2)
    start = {p.name: p.initializer(np.random.default_rng(0), p.shape) for p in (*model.parameters, *model.state)}
    (found,) = evaluate(program.arrow, [{**start, "inputs": x[:2]}[port.name] for port in program.inputs])
    np.testing.assert_allclose(found, inference(parameters, state, x[:2]), rtol=1e-6, atol=1e-6)


@pytest.mark.deep
def test_a_network_of_keras() -> None:
    """Keras 3 with its backend of JAX, by `stateless_call`."""
    import keras

    keras.utils.set_random_seed(0)
    keras.backend.set_floatx("float64")
    network = keras.Sequential(
        [
            keras.layers.Input((6, 6, 1)),
            keras.layers.Conv2D(3, 3, activation="relu"),
            keras.layers.AveragePooling2D(2),
            keras.layers.Flatten(),
            keras.layers.Dense(5, activation="gelu"),
            keras.layers.LayerNormalization(),
            keras.layers.Dense(3),
        ]
    )
    names = [variable.path for variable in network.trainable_variables]
    parameters = {variable.path: variable.value for variable in network.trainable_variables}
    state = {variable.path: variable.value for variable in network.non_trainable_variables}

    def forward(parameters: Any, state: Any, x: Any) -> Any:
        predictions, _ = network.stateless_call([parameters[name] for name in names], [], x, training=True)
        return predictions, state

    x = np.random.default_rng(0).random((4, 6, 6, 1))
    compared(forward, parameters, state, x, np.eye(3)[[0, 1, 2, 0]])
