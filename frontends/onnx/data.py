"""ONNX operators whose results have a shape that depends on values: they are computed when the graph is read."""

from __future__ import annotations

from collections.abc import Sequence

from .folding import folded
from .node import ANY, Made, Node, Result, operator


@operator("MelWeightMatrix", "NonMaxSuppression", "NonZero", "Unique", kinds=ANY)
def _found(node: Node) -> Sequence[Result]:
    """Compute an ONNX node whose inputs are all known; raise UnknownValue if an input is not known."""
    for index in range(len(node.inputs)):
        if node.has(index):
            node.known(index, "the input")
    made = folded(node)
    if made is None:
        raise node.fault("expected inputs that ONNX's evaluator takes, found others; correct the node")
    node.attributes.read.update(node.attributes.given)
    return [Made(value.content, value.element) for value in made]
