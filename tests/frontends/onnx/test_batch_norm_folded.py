"""Convolutions that take in the batch norms behind them compute what they did, with fewer parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from circuitize.frontends.onnx.batch_norm import folded
from circuitize.frontends.onnx.network import network
from circuitize.sims import real

SCALES = ("scale", "shift", "mean", "variance")


def model(groups: int, biased: bool, twice: bool = False, training: bool = False) -> Any:
    random = np.random.default_rng(0)
    kernel = random.normal(size=(6, 4 // groups, 3, 3))
    arrays = {"kernel": kernel, "bias": random.normal(size=6), "scale": random.normal(size=6)}
    arrays |= {"shift": random.normal(size=6), "mean": random.normal(size=6), "variance": random.uniform(0.5, 2, 6)}
    weights = ["kernel", "bias"] if biased else ["kernel"]
    nodes = [
        helper.make_node("Conv", ["x", *weights], ["c"], group=groups, strides=[2, 1]),
        helper.make_node("BatchNormalization", ["c", *SCALES], ["n"], epsilon=1e-3),
        helper.make_node("Add", ["n", "c" if twice else "n"], ["y"]),
    ]
    if training:
        nodes[1].output.extend(["m", "v"])
        nodes[1].attribute.append(helper.make_attribute("training_mode", 1))
    entries = [numpy_helper.from_array(v.astype(np.float32), n) for n, v in arrays.items() if biased or n != "bias"]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 4, 7, 6))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 6, 3, 4))
    graph = helper.make_graph(nodes, "g", [x], [y], entries)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_what_is_folded_computes_the_same(groups: int, biased: bool) -> None:
    given = model(groups, biased)
    onnx.checker.check_model(folded(given))
    x = np.random.default_rng(1).normal(size=(2, 4, 7, 6))
    found = []
    for fold in (False, True):
        made = network(given, fold_batch_norms=fold)
        assert fold == ("variance" not in made.parameters)
        values = [np.asarray(made.parameters.get(name, x), np.float64) for name in made.inputs]
        found.append(real.executor(made.arrow).outputs(values)[0])
    assert set(made.parameters) == {"kernel", "shift"}
    assert np.allclose(found[0], found[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kept", [model(1, True, twice=True), model(1, True, training=True)])
def test_what_is_read_twice_or_trained_stays(kept: Any) -> None:
    assert [node.op_type for node in folded(kept).graph.node] == ["Conv", "BatchNormalization", "Add"]
    assert {entry.name for entry in folded(kept).graph.initializer} == {"kernel", "bias", *SCALES}
