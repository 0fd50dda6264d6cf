"""Folding of constants: nodes of an ONNX graph with known inputs are computed when the graph is read, by ONNX's own
evaluator, in their own element types.
"""

from __future__ import annotations

import math
import warnings
from types import ModuleType

import numpy as np

from circuitize.frontends.tensor import Tensor

from .elements import CODES, ELEMENTS, Element, Known, Value
from .model import package
from .node import Node
from .protos import ModelProto

FOLDED = 1 << 22
"""The most elements of an array that is computed when the graph is read; larger ones are left to the arrow."""
OWN = frozenset(
    {
        "AveragePool",
        "BatchNormalization",
        "ConvTranspose",
        "GatherElements",
        "GlobalLpPool",
        "GlobalMaxPool",
        "Hardmax",
        "LRN",
        "LogSoftmax",
        "LpNormalization",
        "LpPool",
        "MaxPool",
        "MeanVarianceNormalization",
        "Pad",
        "ReduceLogSumExp",
        "Softmax",
        "Softsign",
    }
)
"""Operators that ONNX's evaluator has wrong, or lacks, in some opset or form: they are always translated."""
WRAPPING = frozenset(
    {"CumProd", "CumSum", "Pow", "ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare"}
)
"""Operators that runtimes compute in other ways if whole numbers pass their interval: the translation refuses these
cases.
"""
DRAWN = frozenset(
    {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
"""Operators that draw random numbers, always or in training: they are never computed."""
GIVEN, MADE = "x", "y"


def is_known(node: Node) -> bool:
    """Return whether an ONNX node has inputs, and all of them are known."""
    read = node.inputs[:1] if node.operator == "CastLike" else node.inputs
    contents = [value.content for value in read if value is not None]
    return bool(contents) and not any(isinstance(content, Tensor) for content in contents)


def folded(node: Node) -> list[Value] | None:
    """Return the results of an ONNX node with known inputs, one for each output; None if they are too large, or cannot
    be computed.
    """
    left = OWN | DRAWN | (WRAPPING if node.has(0) and node.whole else frozenset())
    if not is_known(node) or node.operator in left or node.domain != "":
        return None
    if sum(math.prod(value.shape) for value in node.inputs if value is not None) > FOLDED:
        return None
    onnx = package()
    model = _model(onnx, node)
    if not _small(onnx, model):
        return None
    made = _computed(model)
    if made is None or len(made) != node.outputs:
        return None
    results = []
    for array, element in zip(made, node.results, strict=True):
        found = element or _element(onnx, array)
        if found is None:
            return None
        results.append(Value.of(np.asarray(array), found))
    return results


def _element(onnx: ModuleType, array: Known) -> Element | None:
    try:
        return ELEMENTS.get(onnx.helper.np_dtype_to_tensor_dtype(array.dtype))
    except (KeyError, ValueError):
        return None


def _model(onnx: ModuleType, node: Node) -> ModelProto:
    """Return a model of a single node, with its inputs as initializers, so that shapes may be inferred from their
    values.
    """
    names, feeds = [], {}
    for place, value in enumerate(node.inputs):
        names.append(f"{GIVEN}{place}" if value is not None else "")
        if value is not None:
            # What is not known here is read for its type.
            content = np.zeros(()) if isinstance(value.content, Tensor) else value.content
            feeds[names[-1]] = content.astype(onnx.helper.tensor_dtype_to_np_dtype(CODES[value.element]))
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    del proto.input[:], proto.output[:], proto.attribute[:]
    proto.input.extend(names)
    proto.output.extend(f"{MADE}{place}" for place in range(node.outputs))
    proto.attribute.extend(node.entries)
    kept = [onnx.numpy_helper.from_array(array, name) for name, array in feeds.items()]
    made = [onnx.ValueInfoProto(name=name) for name in proto.output]
    graph = onnx.helper.make_graph([proto], "node", [], made, kept)
    opsets = [onnx.helper.make_opsetid("", node.opset)]
    model: ModelProto = onnx.helper.make_model(graph, opset_imports=opsets)
    return model


def _small(onnx: ModuleType, model: ModelProto) -> bool:
    """Return whether shape inference shows that all results of an ONNX node are small."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception:  # the package is free in what it raises
        return False
    for entry in inferred.graph.output:
        tensor = entry.type.tensor_type
        if not tensor.HasField("shape") or any(not d.HasField("dim_value") for d in tensor.shape.dim):
            return _bounded(model)
        if math.prod(d.dim_value for d in tensor.shape.dim) > FOLDED:
            return False
    return True


def _bounded(model: ModelProto) -> bool:
    """Return whether an ONNX node's results cannot have more elements than its inputs, since they are indices or a
    choice of elements.
    """
    return model.graph.node[0].op_type in {"NonZero", "Unique", "Compress", "NonMaxSuppression", "TopK"}


def _computed(model: ModelProto) -> list[Known] | None:
    from onnx.reference import ReferenceEvaluator

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = list(ReferenceEvaluator(model).run(None, {}))
    except Exception:  # the package is free in what it raises
        return None
    return made if all(isinstance(array, (np.ndarray, np.generic)) for array in made) else None
