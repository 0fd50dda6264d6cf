"""Small ONNX models for tests, and what our arrows make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from onnx import ValueInfoProto, helper, numpy_helper

from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.onnx import arrow

Arrays = Mapping[str, NDArray[Any]]


def model(
    nodes: Sequence[Any], inputs: Arrays, outputs: Sequence[str], known: Arrays | None = None, opset: int = 18
) -> Any:
    """A model of nodes, with inputs like the given arrays and the known ones as initializers."""
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    told = [numpy_helper.from_array(array, name) for name, array in (known or {}).items()]
    graph = helper.make_graph(list(nodes), "graph", declared, [ValueInfoProto(name=name) for name in outputs], told)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def one(operator: str, *arrays: NDArray[Any], known: int = 0, opset: int = 18, **attributes: Any) -> Any:
    """A model of one node with output y; the last so many inputs are known."""
    named = {f"x{place}": array for place, array in enumerate(arrays)}
    names = list(named)
    first = len(names) - known
    node = helper.make_node(operator, names, ["y"], **attributes)
    return model([node], {n: named[n] for n in names[:first]}, ["y"], {n: named[n] for n in names[first:]}, opset)


def run(given: Any, *values: ArrayLike) -> NDArray[np.float64]:
    """The first output of the model's arrow on these inputs."""
    found: NDArray[np.float64] = evaluate(arrow(given).arrow, [np.asarray(value, np.float64) for value in values])[0]
    return found
