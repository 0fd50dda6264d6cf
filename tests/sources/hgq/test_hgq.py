"""Networks of HGQ2 and logic of alkaid, bit for bit what their own executors make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from combinational_networks import bits, frames, mixture, perceptron, traced
from hgq_networks import KINDS, network, predicted
from tiers import TIER

import circuitize as cz
from circuitize.circuits.program import IntegerProgram
from circuitize.frontends.combinational.files import from_logic
from circuitize.sims import integer

COUNT = 200
KERAS = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
"""Its variables are copied as numpy 1 did."""


def run(program: IntegerProgram, seed: int = 0) -> tuple[Any, Any]:
    """Inputs, the ends of all intervals among them, and what the program makes of these, as reals."""
    entering, leaving = program.inputs[0].format, program.outputs[0].format
    low, high = (np.full(entering.shape[1], end) for end in (entering.low, entering.high))
    x = frames(low, high, entering.shape[0], seed)
    (y,) = integer.executor(program).outputs([x])
    return np.ldexp(x, -entering.fraction_bits), np.ldexp(y, -leaving.fraction_bits)


ALL = [(kind, tracer) for kind in KINDS for tracer in ("alkaid", "da4ml")]
FEW = [("perceptron", "alkaid"), ("perceptron", "da4ml")]


@KERAS
@pytest.mark.parametrize(("kind", "tracer"), ALL if TIER == "deep" else FEW)
def test_networks_are_bit_equal_to_their_prediction(kind: str, tracer: str) -> None:
    model = network(kind, seed=3)
    x, y = run(cz.from_hgq(model, COUNT, tracer=tracer))
    np.testing.assert_array_equal(y, predicted(model, x))
    assert len(np.unique(y)) > 20


@KERAS
def test_a_file_is_its_model(tmp_path: Path) -> None:
    model = network("perceptron", seed=3)
    model.save(tmp_path / "model.keras")
    assert cz.program_digest(cz.from_hgq(tmp_path / "model.keras")) == cz.program_digest(cz.from_hgq(model))


@pytest.mark.parametrize("seed", range(9))
def test_logic_of_alkaid(seed: int, tmp_path: Path) -> None:
    made = [perceptron(seed, (4, 9, 3), mixed=seed % 2 == 0), mixture(seed), bits(seed)][seed % 3]
    logic = traced("alkaid", made, 4, (1, 2, 3 + seed % 2))
    logic.save(tmp_path / "logic.json.gz")
    x, y = run(from_logic(tmp_path / "logic.json.gz", COUNT), seed)
    np.testing.assert_array_equal(y, logic.predict(x))


def packed(first: int, second: int, code: int, data: int, interval: list[float]) -> list[Any]:
    return [first, second, code, data, interval, 0.0, 0.0]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_versions_of_alkaid(version: int, tmp_path: Path) -> None:
    """A sum with a constant, a choice by a sign, bits in common: in version 2 their numbers share a word."""
    from alkaid._compat import upgrade_model_data
    from alkaid.types import CombLogic

    whole = [-8.0, 7.0, 1.0]
    records = [
        packed(0, -1, -1, 0, whole),
        packed(1, -1, -1, 0, whole),
        packed(0, -1, 4, 3 | 1 << 32, [-6.5, 8.5, 0.5]),
        packed(2, 1, 6, 0 | 1 << 32, [-16.0, 15.5, 0.5]),
        packed(0, 1, 10, 0 | 1 << 56, whole),
        packed(3, -1, -2, 0, [-15.5, 16.0, 0.5]),
        packed(5, -1, 3, 0, [-4.0, 3.0, 1.0]),
    ]
    model = [[2, 3], [0, 0], [6, 4, 3], [0, 0, 0], [0, 1, 0], records, -1, -1]
    path = tmp_path / "logic.json"
    whole_file = {"model": upgrade_model_data(model, 2, version), "meta": "DAISModel", "spec_version": version}
    path.write_text(json.dumps(whole_file))
    x, y = run(from_logic(path, COUNT))
    np.testing.assert_array_equal(y, CombLogic.load(path).predict(x))


def test_refusals() -> None:
    import keras

    layer = keras.Sequential([keras.Input((4,)), keras.layers.LayerNormalization()])
    for given, message in (
        (3, "expected a Keras model or a .keras file, found 3"),
        ("none.keras", "none.keras: expected a .keras file, found none"),
        (layer, "expected layers that it traces, found KeyError"),
    ):
        with pytest.raises(cz.CircuitizeError, match=message) as raised:
            cz.from_hgq(given)
        assert "\n" not in str(raised.value)
    with pytest.raises(cz.CircuitizeError, match="expected a tracer among alkaid, da4ml, found 'vivado'"):
        cz.from_hgq(layer, tracer="vivado")


def test_a_rounding_that_is_not_traced() -> None:
    with pytest.raises(
        cz.CircuitizeError, match=r"found AssertionError .*round_mode.*; take HGQ2's layers with rounding"
    ):
        cz.from_hgq(network("perceptron", seed=3, rounding="RND_CONV"))


@KERAS
def test_plain_layers_with_given_bits() -> None:
    """Keras's own dense layer, whose weights are what they are, of inputs whose bits are given."""
    import keras

    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu")])
    model.layers[0].set_weights([np.round(weight * 16) / 16 for weight in model.layers[0].get_weights()])
    x, y = run(cz.from_hgq(model, COUNT, inputs=(1, 2, 3)))
    np.testing.assert_array_equal(y, predicted(model, x))
