"""Networks and whole training steps of tinygrad and polygrad, taken in and compared with what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from packages import MODELS, PACKAGES, Package, step_of

from circuitize.circuits.hypergraph import evaluate

NAMES = [(package, model) for package in PACKAGES for model in MODELS]


def made(package: Package, name: str) -> tuple[Any, Any, Any]:
    package.tensor.manual_seed(0)
    model, batch = MODELS[name]
    built = model(package)
    for tensor in package.state.get_parameters(built):
        tensor.realize()
    return built, *batch(np.random.default_rng(0))


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_forward(package: str, name: str) -> None:
    system = PACKAGES[package]
    model, x, _ = made(system, name)
    found = system.take(model, x)
    (ours,) = evaluate(found.arrow, [*found.parameters.values(), x.astype(np.float64)])
    np.testing.assert_allclose(ours, model(system.tensor(x)).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize(("package", "name"), NAMES)
def test_step(package: str, name: str, optimizer: str) -> None:
    system = PACKAGES[package]
    model, x, y = made(system, name)
    rule = getattr(system.module("nn.optim"), optimizer)(system.state.get_parameters(model), lr=0.01)
    step = step_of(system, model, rule)
    found = system.take(step, x, y, state=[model, rule])
    ours = dict(zip(found.outputs, evaluate(found.arrow, [*found.parameters.values(), x, y]), strict=True))
    loss = step(system.tensor(x), system.tensor(y)).numpy()
    theirs = {name: tensor.numpy() for name, tensor in system.system.names([model, rule])[0].items()}
    for name, value in ours.items():
        np.testing.assert_allclose(
            value, loss if name == "output" else theirs[name], rtol=1e-5, atol=1e-6, err_msg=name
        )
