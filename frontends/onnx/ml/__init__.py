"""ONNX's operators of classical machine learning: the domain ai.onnx.ml."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules

from ..node import OPERATORS
from ..protos import NodeProto

DOMAIN = "ai.onnx.ml"

# The modules beside this one fill OPERATORS.
for _module in iter_modules(__path__):
    import_module(f".{_module.name}", __name__)

NAMES = frozenset(name for name, entry in OPERATORS.items() if entry.function.__module__.startswith(f"{__name__}."))
"""The operators of ai.onnx.ml that the importer reads."""


def without_maps(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yield the nodes of an ONNX graph, with ZipMap replaced by Identity: instead of ZipMap's maps from labels to
    numbers, the result is the columns of numbers, in the order of the labels.
    """
    for node in nodes:
        if (node.domain, node.op_type) == (DOMAIN, "ZipMap"):
            plain = type(node)()
            plain.op_type, plain.name = "Identity", node.name
            plain.input.extend(node.input)
            plain.output.extend(node.output)
            node = plain
        yield node
