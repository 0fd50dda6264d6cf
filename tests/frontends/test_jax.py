"""Functions of JAX: one of each kind; tests/sources/jax has the others, with optax, Flax and Keras."""

from __future__ import annotations

import importlib
from itertools import islice
from pathlib import Path
from typing import Any

import example_programs
import jax
import jax.numpy as jnp
import jax_page
import numpy as np
import pytest
from example_modules import example
from numpy.typing import ArrayLike

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends import datasets, training
from circuitize.frontends.formats import WEIGHTS
from circuitize.frontends.jax import installed, pytree
from circuitize.sims import real

PAGE = Path(__file__).parents[2] / "docs" / "jax.md"


def test_the_page_lists_the_rules(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text()
    if request.config.getoption("--update-golden"):
        PAGE.write_text(jax_page.page(text))
        return
    assert text == jax_page.page(text), "docs/jax.md differs from the rules; if that was meant: make golden"


def test_without_jax_or_with_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not installed, or too old, one line says so."""

    def missing(name: str) -> Any:
        raise ImportError(name)

    for place, name, value, message in (
        (importlib, "import_module", missing, "expected the package jax.*none; pip"),
        (jax, "__version_info__", (0, 4, 30), "expected jax 0.7 or newer, found jax"),
    ):
        monkeypatch.setattr(place, name, value)
        installed.package.cache_clear()
        with pytest.raises(CircuitizeError, match=message):
            cz.from_jax(lambda p, x: x, {}, np.ones((2, 3)))
        monkeypatch.undo()
        installed.package.cache_clear()


def test_a_model_a_loss_and_a_whole_step_agree() -> None:
    """By our derivative and by JAX's, in double precision though JAX is in single."""
    parameters = {"kernel": np.array([[0.5, -1.0], [2.0, 0.25], [-0.5, 1.5]]), "bias": np.array([0.25, -0.5])}
    inputs, targets = np.array([[0.5, 1.0, 0.25], [0.75, 0.0, 1.0]]), np.array([[1.0, 0.0], [0.5, 0.25]])

    def forward(p: Any, x: Any) -> Any:
        return jnp.tanh(x @ p["kernel"] + p["bias"])

    def loss(y: Any, t: Any) -> Any:
        return ((y - t) ** 2).mean()

    def descend(p: Any, x: Any, t: Any, rate: Any) -> Any:
        value, gradient = jax.value_and_grad(lambda p: loss(forward(p, x), t))(p)
        return jax.tree.map(lambda p, g: p - rate * g, p, gradient), value

    model = cz.from_jax(forward, parameters, inputs)
    ours = cz.training_step(model, cz.from_jax_loss(loss), cz.SGD(), 2)
    theirs = cz.from_jax_step(descend, parameters, inputs, targets, 0.5)
    assert [port.name for port in ours.outputs] == ["bias", "kernel", "loss"]
    assert [port.name for port in theirs.outputs] == ["p.bias", "p.kernel", "loss"]
    renewed = pytree(parameters, cz.run(theirs), root="p")
    assert {name: array.shape for name, array in renewed.items()} == {"bias": (2,), "kernel": (3, 2)}
    with pytest.raises(CircuitizeError, match="expected a value for 'bias', found"):
        pytree(parameters, {"kernel": 1.0})
    values: list[ArrayLike] = [parameters["bias"], parameters["kernel"], inputs, targets, 0.5]
    found = [evaluate(program.arrow, values) for program in (ours, theirs)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    prediction = np.tanh(inputs @ parameters["kernel"] + parameters["bias"])
    np.testing.assert_allclose(found[0][-1], ((prediction - targets) ** 2).mean(), rtol=1e-6)


def test_a_loop_that_stops_by_what_it_computes_is_refused() -> None:
    def doubled(x: Any) -> Any:
        return jax.lax.while_loop(lambda x: x.sum() < 9.0, lambda x: x * 2.0, x)

    with pytest.raises(CircuitizeError, match=r"^test_jax.py:\d+: while: expected a loop whose length is known"):
        cz.from_jax_step(doubled, np.ones(3))


def test_the_example_learns() -> None:
    """Irises: JAX's forward and loss, by our derivative; and its own step is the same."""
    irises = example("jax_iris")
    split = datasets.iris(seed=1)
    step, given = (example_programs.example(f"jax_iris.py:{name}").given for name in ("step", "given"))
    *_, last = real.train(step, irises.MODEL.initial(0), islice(irises.RECIPE.batches(split), 300))
    predict = training.predict(irises.MODEL, 30, irises.MEASURES)
    scores = real.run(predict, {**{name: last[name] for name in irises.NAMES}, "inputs": split.test_inputs})
    assert datasets.accuracy(scores["outputs"], split.test_labels) >= 0.9
    moment = step.examples[0]
    entering = {f"parameters.{name}": moment[name] for name in irises.NAMES}
    data = {"flowers": moment["inputs"], "kinds": moment["targets"], "rate": moment["learning_rate"]}
    ours, theirs = real.run(step, moment), real.run(given, {**entering, **data})
    for name in irises.NAMES:
        np.testing.assert_allclose(ours[name], theirs[f"parameters.{name}"], atol=1e-6)


@pytest.mark.deep
def test_windows_cost_what_those_of_native_layers_cost() -> None:
    """The network of examples/cnn.py in JAX, on the same moments: at most 1.1 times as much in every prover."""
    cnn = example("cnn")
    native, names = cnn.step(), list(cnn.MODEL.initial(0))

    def forward(p: Any, x: Any) -> Any:
        x, kernel, numbers = x.reshape(-1, 8, 8, 1), p[names[0]].reshape(3, 3, 1, 8), ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=numbers) + p[names[1]]
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return jax.nn.relu(x).reshape(x.shape[0], -1) @ p[names[2]] + p[names[3]]

    def loss(y: Any, t: Any) -> Any:
        return -jnp.mean(jnp.sum(t * jax.nn.log_softmax(y), -1))

    model = cz.from_jax(forward, cnn.MODEL.initial(0), np.zeros((16, 64)), formats=dict.fromkeys(names, WEIGHTS))
    made = cz.training_step(model, cz.from_jax_loss(loss), cnn.RECIPE.optimizer, 16, precision=cnn.PRECISION)
    ours = cz.estimate(training.with_examples(made, *native.examples)).targets
    theirs = cz.estimate(native).targets
    sizes = {"r1cs": "constraints", "mirage": "constraints", "plonkish": "rows", "tensor": "lookups"}
    for target, size in sizes.items():
        assert ours[target][size] <= 1.1 * theirs[target][size], target
