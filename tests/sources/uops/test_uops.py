"""Networks and whole training steps of tinygrad and polygrad, taken in and compared with what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from functions import FUNCTIONS, LAYERS
from numpy.typing import NDArray
from packages import MODELS, PACKAGES, Package, loss_of, step_of

import circuitize as cz
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.frontends.imported import Imported
from circuitize.frontends.losses import label_cross_entropy
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.uops import polygrad_model, tinygrad_model

DEEP = pytest.mark.deep
MODEL_OF = {"tinygrad": tinygrad_model, "polygrad": polygrad_model}
ONE = ["polygrad", pytest.param("tinygrad", marks=DEEP)]
"""Both in the deep tier, which takes its time: tinygrad in Python is slow."""


def named(*quick: str) -> list[Any]:
    """All packages with all networks, but these in the deep tier."""
    pairs = [(package, model) for package in PACKAGES for model in MODELS]
    return [pytest.param(*pair, marks=() if " ".join(pair) in quick else DEEP) for pair in pairs]


Reals = NDArray[np.float64]


def close(found: Any, expected: Any, name: str = "", tolerance: float = 1e-6) -> None:
    """Theirs is of single precision."""
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=name)


def made(package: Package, name: str) -> tuple[Any, Any, Any]:
    package.tensor.manual_seed(0)
    network, batch = MODELS[name]
    model, generator = network(package), np.random.default_rng(0)
    if name == "mlp":  # Drawn by numpy, since tinygrad takes a second to compile what draws.
        for parameter in package.state.get_parameters(model):
            drawn = generator.normal(0.0, 0.4, parameter.shape).astype(np.float32)
            parameter.replace(package.tensor(drawn).realize())
    return model, *batch(np.random.default_rng(0))


def run(taken: Imported, *inputs: Any) -> dict[str, Reals]:
    values = [*taken.parameters.values(), *(np.asarray(each, np.float64) for each in inputs)]
    return dict(zip(taken.outputs, evaluate(taken.arrow, values), strict=True))


def operations(arrow: Arrow) -> list[str]:
    return [arrow.operations[edge].name.removeprefix("real.") for edge in arrow.edge_operations.tolist()]


@pytest.mark.parametrize(("package", "name"), named("polygrad mlp"))
def test_forward(package: str, name: str) -> None:
    system = PACKAGES[package]
    model, x, _ = made(system, name)
    found = run(system.take(model, x), x)
    close(found["output"], model(system.tensor(x)).numpy())


@pytest.mark.parametrize("optimizer", ["SGD", pytest.param("Adam", marks=DEEP), pytest.param("AdamW", marks=DEEP)])
@pytest.mark.parametrize(("package", "name"), named("tinygrad mlp", "polygrad mlp"))
def test_step(package: str, name: str, optimizer: str) -> None:
    """Of an optimiser with state two steps, the second from what the first made, so that no state is at its start."""
    system = PACKAGES[package]
    model, x, y = made(system, name)
    rule = getattr(system.module("nn.optim"), optimizer)(system.state.get_parameters(model), lr=0.01)
    step = step_of(system, model, rule)
    if optimizer != "SGD":
        step(system.tensor(x), system.tensor(y))
    taken = system.take(step, x, y, state=[model, rule])
    ours = run(taken, x, y)
    loss = step(system.tensor(x), system.tensor(y)).numpy()
    theirs = {name: tensor.numpy() for name, tensor in system.system.names([model, rule])[0].items()}
    assert set(ours) == {*(name for name in taken.parameters if name in theirs), "output"}
    for key, value in ours.items():
        close(value, loss if key == "output" else theirs[key], key)


@pytest.mark.parametrize(("package", "name"), named("polygrad mlp"))
def test_our_derivative_is_theirs(package: str, name: str) -> None:
    """The strongest check of both: two derivatives, by two rules, of graphs of two origins."""
    system = PACKAGES[package]
    model, x, y = made(system, name)
    rule = system.module("nn.optim").SGD(system.state.get_parameters(model), lr=0.125)
    theirs = run(system.take(step_of(system, model, rule), x, y, state=[model, rule]), x, y)

    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return label_cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

    ours = MODEL_OF[package](model, x)
    labels = cz.Format.between(0.0, 8.0, 0)
    step = cz.training_step(ours, loss, cz.SGD(), len(x), inputs=labels, targets=labels, target_shape=y.shape[1:])
    start = {p.name: p.initializer(np.random.default_rng(0), p.shape) for p in (*ours.parameters, *ours.state)}
    given = {**start, "inputs": x, "targets": y, "learning_rate": np.float64(0.125)}
    values = evaluate(step.arrow, [np.asarray(given[port.name], np.float64) for port in step.inputs])
    found = dict(zip([port.name for port in step.outputs], values, strict=True))
    for key, value in found.items():
        expected = theirs["output" if key == "loss" else key]
        close(value, expected, key)
    assert set(found) >= {name for name in theirs if "num_batches" not in name and name != "output"}


@pytest.mark.parametrize("package", ONE)
def test_what_networks_are_made_of(package: str) -> None:
    """Contractions, gathers, softmax and normalisations are one operation each; convolutions are windows."""
    system = PACKAGES[package]
    model, x, _ = made(system, "gpt")
    counts = operations(system.take(model, x).arrow)
    assert [counts.count(name) for name in ("gather", "softmax", "normalize", "tanh_gelu")] == [1, 1, 3, 1]
    assert counts.count("einsum") == 7 and not {"exp", "reciprocal", "one_hot", "max"} & set(counts)
    model, x, _ = made(system, "cnn")
    counts = operations(system.take(model, x).arrow)
    assert [counts.count(name) for name in ("window", "einsum", "max", "pad")] == [3, 3, 2, 1]
    assert not {"slice", "concatenate"} & set(counts)


@pytest.mark.parametrize("package", ONE)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ("clip", "causal", "stack") else DEEP) for n in FUNCTIONS],
)
def test_functions(package: str, name: str) -> None:
    system = PACKAGES[package]
    function, shapes = FUNCTIONS[name]
    generator = np.random.default_rng(1)
    inputs = [generator.normal(0.0, 0.7, shape).astype(np.float32) for shape in shapes]
    expected = function(*map(system.tensor, inputs)).numpy()
    close(run(system.take(function, *inputs), *inputs)["output"], expected, "", 2e-6)


@pytest.mark.parametrize("package", ONE)
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == "GroupNorm" else DEEP) for n in LAYERS])
def test_layers(package: str, name: str) -> None:
    system = PACKAGES[package]
    build, shape = LAYERS[name]
    layer, x = build(system.nn), np.random.default_rng(1).normal(0.0, 0.7, shape).astype(np.float32)
    expected = layer(system.tensor(x)).numpy()
    close(run(system.take(layer, x), x)["output"], expected, "", 2e-6)


def compiled_step(system: Package, model: Any, rule: Any) -> Any:
    return system.module().TinyJit(step_of(system, model, rule))


@pytest.mark.parametrize("package", ONE)
def test_compiled_functions_are_their_functions(package: str) -> None:
    """Before a first call, and after it was captured and replayed; and where one calls another."""
    system = PACKAGES[package]
    model, x, y = made(system, "mlp")
    rule = system.module("nn.optim").SGD(system.state.get_parameters(model), lr=0.125)
    step = compiled_step(system, model, rule)
    before = system.take(step, x, y, state=[model, rule])
    for _ in range(3):
        step(system.tensor(x).realize(), system.tensor(y).realize())
    after = system.take(lambda x, y: step(x, y), x, y, state=[model, rule])
    assert cz.digest(before.arrow) == cz.digest(after.arrow)
    ours = run(after, x, y)
    step(system.tensor(x).realize(), system.tensor(y).realize())
    close(ours["l1.weight"], model.l1.weight.numpy())


@pytest.mark.parametrize("package", ONE)
def test_nothing_is_changed(package: str) -> None:
    system = PACKAGES[package]
    model, x, y = made(system, "mlp")
    rule = system.module("nn.optim").Adam(system.state.get_parameters(model), lr=0.125)
    held = system.system.names([model, rule])[0]
    before = {name: np.array(tensor.numpy()) for name, tensor in held.items()}
    method = system.tensor.realize
    system.take(step_of(system, model, rule), x, y, state=[model, rule])
    assert system.tensor.realize == method and all(tensor.grad is None for tensor in held.values())
    for name, tensor in held.items():
        np.testing.assert_array_equal(tensor.numpy(), before[name])


@pytest.mark.parametrize("package", ONE)
def test_tensors_as_they_are(package: str) -> None:
    system = PACKAGES[package]
    a, b = system.tensor.rand(3, 4), system.tensor.rand(4, 5).realize()
    taken = system.take({"c": (a @ b).softmax(-1)}, inputs={"a": a}, state={"b": b})
    assert (taken.inputs, taken.outputs) == (("b", "a"), ("c",)) and operations(taken.arrow) == ["einsum", "softmax"]
    constant = system.take((a @ b).softmax(-1), inputs={"a": a})
    close(run(taken, a.numpy())["c"], run(constant, a.numpy())["output"])


@pytest.mark.parametrize("package", ONE)
def test_a_learning_rate_may_be_an_input(package: str) -> None:
    system = PACKAGES[package]
    model, x, y = made(system, "mlp")
    rule = system.module("nn.optim").SGD(system.state.get_parameters(model), lr=0.125)
    taken = system.take(step_of(system, model, rule), x, y, state=[model, {"lr": rule.lr}])
    assert taken.inputs == ("l1.weight", "l1.bias", "l2.weight", "l2.bias", "lr", "x", "y")
    slower = {**taken.parameters, "lr": np.array([0.0])}
    found = dict(zip(taken.outputs, evaluate(taken.arrow, [*slower.values(), x, y]), strict=True))
    np.testing.assert_array_equal(found["l1.weight"], taken.parameters["l1.weight"])


@DEEP
def test_losses_are_of_the_values_before_the_step() -> None:
    """tinygrad computes a loss that is returned unrealised from the parameters as they are when it is read."""
    system = PACKAGES["tinygrad"]
    model, x, y = made(system, "mlp")
    rule = system.module("nn.optim").SGD(system.state.get_parameters(model), lr=0.125)

    def step(x: Any, y: Any) -> Any:
        with system.training():
            loss = loss_of(model, x, y)
            loss.backward()
            rule.step()
            return loss

    expected = loss_of(model, system.tensor(x), system.tensor(y)).numpy()
    found = run(system.take(step, x, y, state=[model, rule]), x, y)["output"]
    close(found, expected)
