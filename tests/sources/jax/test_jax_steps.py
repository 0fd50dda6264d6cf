"""Whole steps as optax writes them, and our own derivative, against JAX; one integer step of each network proved."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import models
import numpy as np
import optax
import pytest

import circuitize as cz
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends import jax as imported
from circuitize.frontends.formats import Format, labels
from circuitize.frontends.training import with_examples

OPTIMIZERS = {
    "sgd": lambda: optax.sgd(0.1),
    "momentum": lambda: optax.sgd(0.1, momentum=0.9),
    "nesterov": lambda: optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optax.adam(1e-2),
    "adamw": lambda: optax.adamw(1e-2),
    "clipping and a schedule": lambda: optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 10, 100))
    ),
    "rmsprop": lambda: optax.rmsprop(1e-2),
    "lion": lambda: optax.lion(1e-3),
    "lamb": lambda: optax.lamb(1e-2),
}
CHOSEN = {("perceptron", "clipping and a schedule")}
PAIRS = [
    pytest.param(name, optimizer, marks=[] if (name, optimizer) in CHOSEN else pytest.mark.deep)
    for name in models.NETWORKS
    for optimizer in OPTIMIZERS
]


def networks(*shown: str) -> list[Any]:
    """All of them, those that are not shown in the deep tier alone."""
    return [pytest.param(name, marks=[] if name in shown else pytest.mark.deep) for name in models.NETWORKS]


ZERO = 1e-12
"""An element whose gradient is at most this in magnitude, relative to the greatest element of all gradients, has a
gradient that is zero mathematically: of a bias before a batch normalization, of the bias of an attention's keys, of a
word that the batch lacks. What JAX computes of it is the rounding of sums that cancel. Lion takes its sign and LAMB
brings a tensor of such elements to a norm: their updates of these mean nothing, and differ between any two orders of
summation. So these parameters' elements are not compared, for these two optimisers."""
AMPLIFY = ("lion", "lamb")


def formats(network: models.Network, *names: str) -> dict[str, Format]:
    """Of what comes in as whole numbers."""
    words = network.inputs.dtype.kind == "i"
    return {name: labels(11) for name in names} if words else {}


@cache
def gradients(name: str) -> Any:
    """The loss and its gradient by JAX."""
    network = models.NETWORKS[name]()
    loss = lambda p: network.loss(network.forward(p, network.inputs), network.targets)  # noqa: E731
    return jax.jit(jax.value_and_grad(loss))(network.parameters)


def whole(network: models.Network, chosen: Any) -> Any:
    """A step as users of optax write it."""

    def step(params: Any, state: Any, x: Any, t: Any) -> Any:
        loss, gradient = jax.value_and_grad(lambda p: network.loss(network.forward(p, x), t))(params)
        updates, state = chosen.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, loss

    return step


@pytest.mark.parametrize(("name", "optimizer"), PAIRS)
def test_steps_as_given(name: str, optimizer: str) -> None:
    """Two steps in float64, the second from JAX's own state, to 1e-5."""
    network, chosen = models.NETWORKS[name](), OPTIMIZERS[optimizer]()

    step = whole(network, chosen)
    params, state = network.parameters, chosen.init(network.parameters)
    made = imported.imported(step, params, state, network.inputs, network.targets, formats=formats(network, "x", "t"))
    assert made.outputs[-1] == "loss" and made.inputs[: len(made.outputs) - 1] == made.outputs[:-1]
    sizes = [np.abs(leaf) for leaf in jax.tree.leaves(gradients(name)[1])] if optimizer in AMPLIFY else []
    least = ZERO * max((size.max() for size in sizes), default=0.0)
    compiled = jax.jit(step)
    for _ in range(2):
        entering = jax.tree.leaves((params, state, network.inputs, network.targets))
        found = evaluate(made.arrow, [np.asarray(leaf, np.float64) for leaf in entering])
        params, state, loss = compiled(params, state, network.inputs, network.targets)
        for place, (ours, theirs) in enumerate(zip(found, jax.tree.leaves((params, state, loss)), strict=True)):
            if place < len(sizes):
                ours, theirs = (np.where(sizes[place] > least, array, 0.0) for array in (ours, theirs))
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, err_msg=made.outputs[place])


@pytest.mark.deep
@pytest.mark.parametrize("name", ["convolutional", "transformer"])
def test_the_rule_leaves_out_only_what_is_zero(name: str) -> None:
    """These elements and no others: none is near the bound."""
    _, gradient = gradients(name)
    found, _ = jax.tree_util.tree_flatten_with_path(gradient)
    sizes = {jax.tree_util.keystr(path, simple=True, separator="."): np.abs(leaf) for path, leaf in found}
    greatest = max(size.max() for size in sizes.values())
    every = np.concatenate([size.reshape(-1) for size in sizes.values()]) / greatest
    assert not ((every > 1e-14) & (every < 1e-8)).any()
    left = {name: int((size <= ZERO * greatest).sum()) for name, size in sizes.items()}
    zeros = {name: count for name, count in left.items() if count}
    if name == "convolutional":
        assert zeros == {"first.bias": 3, "second.bias": 4}
    else:  # The middle third is of the keys.
        assert zeros == {"block.attention.bias": 8}
        assert (sizes["block.attention.bias"].reshape(3, -1)[1] <= ZERO * greatest).all()


MASKED = pytest.mark.filterwarnings("ignore:.*what is masked by -inf is -64")


def training(network: models.Network, optimizer: Any) -> tuple[cz.Model, cz.Program]:
    words = network.inputs.dtype.kind == "i"
    model = cz.from_jax(network.forward, network.parameters, network.inputs, formats=formats(network, "inputs"))
    loss = cz.from_jax_loss(network.loss, 11 if words else None)
    given: dict[str, Any] = {"inputs": Format.between(0.0, 1.0, 8)}
    if words:
        given = {"inputs": labels(11), "targets": labels(11), "target_shape": network.targets.shape[1:]}
    return model, cz.training_step(model, loss, optimizer, len(network.inputs), **given)


def batch(network: models.Network) -> dict[str, Any]:
    return {"inputs": network.inputs.astype(np.float64), "targets": network.targets.astype(np.float64)}


@MASKED
@pytest.mark.parametrize("name", networks("perceptron"))
def test_our_derivative_is_that_of_jax(name: str) -> None:
    """A step of SGD by one: what is taken off is the gradient, to 1e-6."""
    network = models.NETWORKS[name]()
    model, program = training(network, cz.SGD())
    weights = jax.tree.leaves(network.parameters)
    given = dict(zip((p.name for p in model.parameters), weights, strict=True)) | batch(network)
    found = evaluate(program.arrow, [given.get(port.name, np.float64(1.0)) for port in program.inputs])
    loss, theirs = gradients(name)
    for weight, ours, gradient in zip(weights, found, jax.tree.leaves(theirs), strict=False):
        np.testing.assert_allclose(weight - ours, gradient, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[-1], loss, rtol=1e-9)


@pytest.mark.deep
@MASKED
@pytest.mark.parametrize("name", models.NETWORKS)
def test_an_integer_step_is_proved(name: str) -> None:
    """With our Adam; the integers are near what JAX computes."""
    network, optimizer = models.NETWORKS[name](), cz.Adam()
    model, program = training(network, optimizer)
    moment = {**cz.start(program, model, 0), **batch(network), **optimizer.values(1, 2.0**-7)}
    program = with_examples(program, moment)
    proved(program, len(model.parameters))


@pytest.mark.deep
@MASKED
@pytest.mark.parametrize("name", models.NETWORKS)
def test_a_whole_step_in_integers_is_proved(name: str) -> None:
    """As optax has it, with momentum and JAX's own derivative."""
    network, chosen = models.NETWORKS[name](), optax.sgd(0.125, momentum=0.875)
    state = chosen.init(network.parameters)
    given = (network.parameters, state, network.inputs, network.targets)
    program = cz.from_jax_step(whole(network, chosen), *given, formats=formats(network, "x", "t"))
    proved(program, len(program.outputs))


def proved(program: cz.Program, count: int) -> None:
    """A tensor proof of the first example is valid, and its outputs are near those of the real program."""
    proof = cz.compile(program, cz.tensor_proof).prove(not_zero_knowledge=True)
    assert cz.verifier(program, prover="tensor").check(proof)
    exact, found = (cz.run(program, executor=executor) for executor in ("real", "integer"))
    for port in program.outputs[:count]:
        # The first step of Adam is the learning rate times nearly a sign: one that is wrong is off by 2^-6.
        assert np.mean(np.abs(found[port.name] - exact[port.name])) < 2.0**-9, port.name


@pytest.mark.deep
@pytest.mark.parametrize("prover", ["tensor", "mirage", "groth16", "halo2"])
def test_every_prover_hides_a_step(prover: str) -> None:
    """In zero knowledge, of the perceptron with SGD; keys, where there are any, are for development."""
    network, optimizer = models.perceptron(), cz.SGD()
    model, program = training(network, optimizer)
    moment = {**cz.start(program, model, 0), **batch(network), **optimizer.values(1, 2.0**-4)}
    program = with_examples(program, moment)
    target = {"tensor": cz.tensor_proof}.get(prover) or getattr(cz, prover)
    circuit = cz.compile(program, target)
    keys = None if prover == "tensor" else circuit.insecure_keys()
    proof = circuit.prove(keys=keys)
    assert proof.zero_knowledge
    verifier = cz.verifier(program, None if keys is None else keys.verifying, prover=prover)
    assert verifier.check(proof)
