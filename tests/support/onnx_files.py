"""Networks as ONNX files that exporters write: open batches, float32 weights, torch's layout of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper, save


def written(path: Path, model: Any) -> Path:
    """The path, where the model is now."""
    save(model, path)
    return path


def built(nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: Mapping[str, ArrayLike]) -> Any:
    """A model of these nodes, of opset 18."""
    told = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "network", inputs, outputs, told)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def floats(name: str, *shape: int | str) -> Any:
    """An input or output of float32; a text is an open extent."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def mlp() -> Any:
    """x [batch, 3] -> y [batch, 2] by four hidden units."""
    draw = np.random.default_rng(0).normal
    return built(
        [
            helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], transB=1),
            helper.make_node("Relu", ["h"], ["r"]),
            helper.make_node("Gemm", ["r", "w2", "b2"], ["y"], transB=1),
        ],
        [floats("x", "batch", 3)],
        [floats("y", "batch", 2)],
        {"w1": draw(size=(4, 3)), "b1": draw(size=4), "w2": draw(size=(2, 4)), "b2": draw(size=2)},
    )


def cnn() -> Any:
    """The network of examples/cnn.py: image [batch, 1, 8, 8] -> logits [batch, 10]."""
    kernels = np.random.default_rng(0).normal(0.0, np.sqrt(2 / 9), (8, 1, 3, 3))
    return built(
        [
            helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["c"]),
            helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Relu", ["p"], ["r"]),
            helper.make_node("Flatten", ["r"], ["f"]),
            helper.make_node("Gemm", ["f", "dense.weight", "dense.bias"], ["logits"], transB=1),
        ],
        [floats("image", "batch", 1, 8, 8)],
        [floats("logits", "batch", 10)],
        {
            "conv.weight": kernels,
            "conv.bias": np.zeros(8),
            "dense.weight": np.zeros((10, 72)),
            "dense.bias": np.zeros(10),
        },
    )
