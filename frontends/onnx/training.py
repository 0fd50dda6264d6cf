"""An ONNX network in training: batch norm uses the statistics of its batch, and dropout reads masks that are inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType

from circuitize.circuits.errors import CircuitizeError, excerpt

from .model import package
from .protos import ModelProto, NodeProto, TensorProto
from .tensors import value

BATCH_NORM_SINCE, DROPOUT_SINCE = 14, 12
"""The opsets from which on a node says whether it is in training."""
MODE = "circuitize.training"
"""The name of the condition that nodes of Dropout read."""


@dataclass(frozen=True)
class Training:
    """An ONNX model whose nodes are in training mode, the output with the new value of each statistic, and the share of
    elements that each mask drops.
    """

    model: ModelProto
    renewed: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)


def in_training(model: ModelProto) -> Training:
    """Return the model in training mode; the model itself if training makes no difference.

    A batch norm whose statistics are initializers that no other node reads updates these in training, from opset 14 on.
    A dropout of known ratio reads in training a mask, named after its result with `.mask`, from opset 12 on.
    """
    onnx = package()
    version = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    held = {entry.name: entry for entry in model.graph.initializer}
    made = {name: node for node in model.graph.node for name in node.output if node.op_type == "Constant"}
    read = Counter(name for node in model.graph.node for name in node.input)
    renewed: dict[str, str] = {}
    rates: dict[str, float] = {}
    nodes = []
    for node in model.graph.node:
        changed = None
        if node.domain in ("", "ai.onnx") and node.op_type == "BatchNormalization" and version >= BATCH_NORM_SINCE:
            changed = _normalizing(onnx, node, held, read, renewed)
        elif node.domain in ("", "ai.onnx") and node.op_type == "Dropout" and version >= DROPOUT_SINCE:
            changed = _dropping(onnx, node, held, made, rates)
        nodes.append(changed or node)
    if not renewed and not rates:
        return Training(model)
    graph = onnx.GraphProto(name=model.graph.name)
    graph.node.extend(nodes)
    graph.initializer.extend(model.graph.initializer)
    if rates:
        graph.initializer.append(onnx.helper.make_tensor(MODE, onnx.TensorProto.BOOL, [], [True]))
    graph.input.extend(model.graph.input)
    graph.output.extend(model.graph.output)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in renewed.values())
    whole = onnx.ModelProto(ir_version=model.ir_version, graph=graph)
    whole.opset_import.extend(model.opset_import)
    whole.functions.extend(model.functions)
    return Training(whole, renewed, rates)


def _normalizing(
    onnx: ModuleType, node: NodeProto, held: Collection[str], read: Counter[str], renewed: dict[str, str]
) -> NodeProto | None:
    """Return the node of a batch norm in training mode, with outputs for its updated statistics; None if other ONNX
    nodes read the statistics.
    """
    statistics = list(node.input[3:5])
    if len(statistics) < 2 or any(name not in held or read[name] != 1 for name in statistics):
        return None
    changed: NodeProto = onnx.NodeProto()
    changed.CopyFrom(node)
    del changed.attribute[:], changed.output[1:]
    changed.attribute.extend(entry for entry in node.attribute if entry.name != "training_mode")
    changed.attribute.append(onnx.helper.make_attribute("training_mode", 1))
    for name in statistics:
        renewed[name] = f"{name}.renewed"
        changed.output.append(renewed[name])
    return changed


def _dropping(
    onnx: ModuleType,
    node: NodeProto,
    held: Mapping[str, TensorProto],
    made: Mapping[str, NodeProto],
    rates: dict[str, float],
) -> NodeProto | None:
    """Return a dropout's node in training mode; None if it drops nothing."""
    rate = 0.5
    if len(node.input) > 1 and node.input[1]:
        name = node.input[1]
        tensor = held.get(name)
        if tensor is None and name in made:
            tensor = next((entry.t for entry in made[name].attribute if entry.name == "value"), None)
        if tensor is None:
            raise CircuitizeError(
                f"Dropout {node.name!r}: expected a known ratio, found {name!r}, which is computed; make it a constant"
            )
        given = value(onnx, tensor, f"ratio of Dropout {node.name!r}").content
        if given.size != 1 or not 0 <= given.reshape(-1)[0] < 1:
            raise CircuitizeError(
                f"Dropout {node.name!r}: expected a ratio from 0 to below 1, found {excerpt(given.tolist())}; correct"
            )
        rate = float(given.reshape(-1)[0])
    if rate == 0:
        return None
    rates[f"{node.output[0]}.mask"] = rate
    changed: NodeProto = onnx.NodeProto()
    changed.CopyFrom(node)
    del changed.input[:]
    changed.input.extend([node.input[0], node.input[1] if len(node.input) > 1 else "", MODE])
    return changed
