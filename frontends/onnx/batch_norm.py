"""Batch norms after convolutions, folded into the kernels of the convolutions, for inference."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import TypeVar

import numpy as np

from circuitize.frontends.imported import Reals

from .model import package
from .protos import ModelProto, NodeProto, TensorProto

Model = TypeVar("Model", bound=ModelProto)

EPSILON = 1e-5
"""The number that ONNX adds to a variance unless a node says otherwise."""


def folded(model: Model) -> Model:
    """Return the model without those batch norms that are the only readers of a convolution's result: kernel W and bias
    b become W' = k W and b' = k (b - mean) + shift.

    The factor of a folded batch norm is k = scale / sqrt(variance + epsilon), by channel, in float64. A batch norm is
    folded if scale, bias, mean, variance and kernel are float initializers, and kernel and bias of the convolution have
    no other reader; batch norms in training mode are not folded. The kernel of a convolution into which a batch norm is
    folded keeps its name; the bias gets the name of the batch norm's shift, unless another node reads that shift.
    """
    onnx = package()
    made: Model = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    known = {entry.name: entry for entry in graph.initializer if entry.data_type == onnx.TensorProto.FLOAT}
    readers = Counter(name for node in graph.node for name in node.input)
    readers.update(entry.name for entry in graph.output)
    writers = {node.output[0]: node for node in graph.node if node.op_type == "Conv" and node.domain == ""}
    for norm in [node for node in graph.node if node.op_type == "BatchNormalization" and node.domain == ""]:
        convolution = writers.get(norm.input[0])
        trained = len(norm.output) > 1 or _number(norm, "training_mode", 0)
        if convolution is None or trained or readers[norm.input[0]] > 1:
            continue
        kernel, bias = convolution.input[1], [*convolution.input[2:]]
        if not {kernel, *bias, *norm.input[1:]} <= set(known) or any(readers[name] > 1 for name in (kernel, *bias)):
            continue
        scale, shift, mean, variance = (_values(onnx, known[name]) for name in norm.input[1:])
        factor = scale / np.sqrt(variance + _number(norm, "epsilon", EPSILON))
        weights = _values(onnx, known[kernel])
        before = _values(onnx, known[bias[0]]) if bias else 0.0
        name = norm.input[2] if readers[norm.input[2]] == 1 else f"{kernel}.shift"
        _set(onnx, known[kernel], weights * factor.reshape(-1, *(1,) * (weights.ndim - 1)), kernel)
        if name not in known:
            graph.initializer.append(onnx.TensorProto())
            known[name] = graph.initializer[-1]
        _set(onnx, known[name], (before - mean) * factor + shift, name)
        convolution.input[:] = [convolution.input[0], kernel, name]
        convolution.output[0] = norm.output[0]
        graph.node.remove(norm)
    read = {name for node in graph.node for name in node.input} | {entry.name for entry in graph.output}
    kept = [entry for entry in graph.initializer if entry.name in read]
    entering = [entry for entry in graph.input if entry.name in read or entry.name not in known]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(kept)
    graph.input.extend(entering)
    return made


def _number(node: NodeProto, name: str, default: float) -> float:
    found = [one.f if one.type == 1 else one.i for one in node.attribute if one.name == name]
    return float(found[0]) if found else default


def _values(onnx: ModuleType, entry: TensorProto) -> Reals:
    return np.asarray(onnx.numpy_helper.to_array(entry), np.float64)


def _set(onnx: ModuleType, entry: TensorProto, values: Reals, name: str) -> None:
    entry.CopyFrom(onnx.numpy_helper.from_array(values.astype(np.float32), name))
