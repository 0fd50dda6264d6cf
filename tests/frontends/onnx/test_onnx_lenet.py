"""LeNet from ONNX beside the same network by native layers: as exact, as cheap, proved, and trained."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx_lenet
import pytest
from example_modules import example

import circuitize as cz
from circuitize.api.targets.registry import TARGETS
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Array
from circuitize.frontends import imported, training
from circuitize.frontends.formats import WEIGHTS
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MOST = 1.1
"""How much more than the native network's any size of any target may be."""


@cache
def native() -> Program:
    made: Program = example("lenet").predict()
    return made


@cache
def ours() -> Program:
    return onnx_lenet.program(native())


def larger(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """The sizes of one estimate that pass those of another."""
    numbers = {name: size for name, size in theirs.items() if isinstance(size, (int, float))}
    assert numbers and numbers.keys() <= mine.keys()
    return {name: (mine[name], size) for name, size in numbers.items() if mine[name] > MOST * size}


def test_the_logits_are_those_of_the_native_layers() -> None:
    for batch, other in zip(native().examples, ours().examples, strict=True):
        (wanted,), (found,) = real.run(native(), batch).values(), real.run(ours(), other).values()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_no_tensor_or_mirage_circuit_is_larger() -> None:
    mine, theirs = quantize(ours()), quantize(native())
    for name in ("tensor", "mirage"):
        assert TARGETS[name].cost(mine) <= MOST * TARGETS[name].cost(theirs), name


@pytest.mark.deep
def test_no_circuit_is_larger(capsys: pytest.CaptureFixture[str]) -> None:
    mine, theirs = cz.estimate(ours()).targets, cz.estimate(native()).targets
    assert mine.keys() == theirs.keys() == TARGETS.keys()
    with capsys.disabled():
        for name in mine:
            print(f"\n{name}: {TARGETS[name].cost(quantize(ours())):,} by ONNX, ", end="")
            print(f"{TARGETS[name].cost(quantize(native())):,} by native layers", end="")
    assert not {name: found for name in mine if (found := larger(dict(mine[name]), dict(theirs[name])))}


@pytest.mark.proof
def test_it_is_proved() -> None:
    proof = cz.compile(ours(), cz.tensor_proof).prove()
    verdict = cz.verifier(ours(), prover="tensor").check(proof)
    assert verdict and verdict.digest == proof.digest
    np.testing.assert_array_equal(verdict.publics["logits"], cz.run(ours())["logits"])


def test_the_gradients_are_those_of_the_native_layers() -> None:
    """One step of each, from the same start on the same batch."""
    module = example("lenet")
    start = module.MODEL.initial(seed=0)
    parameters = onnx_lenet.weights(start)
    made = imported.model(
        parameters,
        lambda batch: onnx_lenet.read(parameters, batch),
        (784,),
        "onnx",
        formats=dict.fromkeys(parameters, WEIGHTS),
    )
    assert made.arrow(Array((4, 784))).source[-1] == Array((4, 784))
    batch = next(module.RECIPE.batches(example("mnist_mlp").data(seed=0)))
    wanted, found = (
        real.run(training.training_step(model, cross_entropy, SGD(), 4), {**values, **batch})
        for model, values in ((module.MODEL, start), (made, parameters))
    )
    for name, array in onnx_lenet.weights({name: wanted[name] for name in start}).items():
        np.testing.assert_allclose(found[name], array, rtol=0, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(found["loss"], wanted["loss"], rtol=0, atol=1e-12)
