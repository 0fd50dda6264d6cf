"""Other runtimes of ONNX graphs: onnxruntime where it is installed, and ONNX's own evaluator."""

from __future__ import annotations

import math
import warnings
from typing import Any

import onnx
from onnx.reference import ReferenceEvaluator
from onnx_graphs import Graph

from circuitize.frontends.onnx.schema import signature

try:
    import onnxruntime as onnxruntime
except ImportError:
    onnxruntime = None

Arrays = list[Any]
EXTREMES = ("Max", "Min")
NEWEST = 23
"""The newest opset that both runtimes read."""


class Refused(Exception):
    """Another runtime takes no such graph."""


def runtime(given: Graph) -> Arrays:
    """By onnxruntime. Raise Refused."""
    if onnxruntime is None:
        raise Refused
    content = given.model if isinstance(given.model, bytes) else given.model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        names = {entry.name for entry in session.get_inputs()}
        return list(session.run(None, {name: array for name, array in given.feeds.items() if name in names}))
    except Exception as error:
        raise Refused(str(error)) from None


def _cast(array: Any, kinds: dict[str, str]) -> Any:
    return array.astype(kinds.get(array.dtype.kind, array.dtype))


def widened(given: Graph) -> Arrays:
    """As `narrowed`, with whole numbers of 64 bits, which do not wrap. Raise Refused."""
    return narrowed(given, {"i": "int64", "u": "int64", "f": "float32"})


def narrowed(given: Graph, kinds: dict[str, str] = {"f": "float32"}) -> Arrays:  # noqa: B006
    """By onnxruntime where it lacks a kernel: floats of 32 bits, in an older opset where need be. Raise Refused."""
    if isinstance(given.model, bytes):
        raise Refused("bytes")
    try:
        return _narrowed(given, kinds)
    except Refused:
        raise
    except Exception as error:  # onnx, on what is malformed
        raise Refused(str(error)) from None


def _narrowed(given: Graph, kinds: dict[str, str]) -> Arrays:
    model = onnx.ModelProto.FromString(given.model.SerializeToString())
    feeds = {name: _cast(array, kinds) for name, array in given.feeds.items()}
    for entry in model.graph.input:
        entry.type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(feeds[entry.name].dtype)
    for tensor in model.graph.initializer:
        array = _cast(onnx.numpy_helper.to_array(tensor), kinds)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    said = Refused("")
    node, first = model.graph.node[0], model.opset_import[0]
    while not node.domain and first.version >= 1:
        try:
            return runtime(Graph(given.operator, given.element, model, feeds))
        except Refused as error:
            said = error
        chosen = signature(node.op_type, first.version, "")
        if chosen is None:
            break
        first.version = chosen.version - 1
    raise said


def reference(given: Graph) -> Arrays:
    """By ONNX's own evaluator. Raise Refused."""
    try:
        model = onnx.load_from_string(given.model) if isinstance(given.model, bytes) else given.model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(ReferenceEvaluator(model).run(None, dict(given.feeds)))
    except Exception as error:
        raise Refused(str(error)) from None


def hazard(given: Graph) -> bool:
    """Whether another runtime may end the process: divisions by 0, the least number by -1, tensors without elements.

    Extremes of an input that is missing too.
    """
    if given.operator in EXTREMES and given.malformed:
        return True
    if any(not array.size for array in given.feeds.values()):
        return True
    if isinstance(given.model, bytes):
        return False
    if any(not math.prod(entry.dims) and len(entry.dims) > 1 for entry in given.model.graph.initializer):
        return True
    if given.operator != "Div":
        return False
    arrays = (
        [onnx.numpy_helper.to_array(entry) for entry in given.model.graph.initializer] if not given.malformed else []
    )
    arrays += list(given.feeds.values())
    return any(array.dtype.kind in "iu" and ((array == 0) | (array == -1)).any() for array in arrays)
