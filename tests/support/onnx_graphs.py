"""Random ONNX graphs of one operator, whole and malformed, for any opset that is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx_draw import Draw
from onnx_element_recipes import unary
from onnx_recipes import RECIPES

from circuitize.frontends.onnx import OPERATORS
from circuitize.frontends.onnx.schema import OLDEST, signature

Random = np.random.Generator
TRAINING = ("Adagrad", "Adam", "Momentum")


@dataclass
class Graph:
    """A model of one node, what is fed to it, how it was malformed, and intervals promised for its inputs."""

    operator: str
    element: str
    model: Any
    feeds: dict[str, np.ndarray[Any, Any]]
    malformed: str = ""
    intervals: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        node = self.model.graph.node[0] if len(self.model.graph.node) else None
        opsets = [(entry.domain, entry.version) for entry in self.model.opset_import]
        shapes = {name: (str(array.dtype), array.shape) for name, array in self.feeds.items()}
        told = (
            {i.name: numpy_helper.to_array(i).tolist() for i in self.model.graph.initializer}
            if not self.malformed
            else {}
        )
        attributes = (
            {a.name: helper.get_attribute_value(a) for a in node.attribute} if node and not self.malformed else {}
        )
        return f"{self.operator} {opsets} {self.malformed} {attributes} inputs {shapes} initializers {told}"


def graph(random: Random, newest: int, malformed: float = 0.1) -> Graph:
    """A graph of an operator that is read, in an opset up to `newest`; so often malformed."""
    names = sorted(OPERATORS)
    while True:
        name = names[int(random.integers(len(names)))]
        domain = "ai.onnx.preview.training" if name in TRAINING else ""
        opset = 1 if domain else int(random.integers(OLDEST, newest + 1))
        chosen = signature(name, opset, domain)
        if chosen is not None:
            break
    draw = Draw(random, name, opset, chosen)
    if name == "Constant":
        draw.attributes["value"] = numpy_helper.from_array(np.asarray(random.normal(size=(2, 2)), np.float32))
    else:
        RECIPES.get(name, unary())(draw)
    made = _graph(draw, domain)
    if random.random() < malformed:
        kinds = sorted(MALFORMED)
        made.malformed = kinds[int(random.integers(len(kinds)))]
        MALFORMED[made.malformed](random, made)
    return made


def _graph(draw: Draw, domain: str) -> Graph:
    names = ["" if given is None else f"x{index}" for index, given in enumerate(draw.inputs)]
    outputs = [f"y{index}" for index in range(draw.outputs)]
    node = helper.make_node(draw.operator, names, outputs, "node", domain=domain, **draw.attributes)
    inputs, initializers, feeds, intervals = [], [], {}, {}
    promised = draw.chance(0.7)
    for name, given in zip(names, draw.inputs, strict=True):
        if given is None:
            continue
        array, element, known = given
        if known:
            initializers.append(numpy_helper.from_array(array, name))
            continue
        inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        feeds[name] = array
        if element.kind == "int" and array.size and promised:
            intervals[name] = (int(array.min()), int(array.max()))
    nodes = [node, *(_second(draw, outputs[0]) if draw.chance(0.15) else ())]
    outputs += [nodes[-1].output[0]] if len(nodes) > 1 else []
    declared = [onnx.ValueInfoProto(name=name) for name in outputs]
    opsets = [helper.make_opsetid("", 20 if domain else draw.opset)] + (
        [helper.make_opsetid(domain, 1)] if domain else []
    )
    model = helper.make_model(
        helper.make_graph(nodes, "graph", inputs, declared, initializers), opset_imports=opsets, ir_version=8
    )
    first = next((given[1].name for given in draw.inputs if given is not None), "")
    return Graph(draw.operator, first, model, feeds, intervals=intervals)


def _second(draw: Draw, name: str) -> list[Any]:
    """A node that reads the first one's output: whether element types and intervals are carried on."""
    # What jumps stands behind exact numbers only: a float may be rounded to either side.
    smooth = any(given is not None and given[1].kind == "float" for given in draw.inputs)
    others = [] if smooth else ["Not", "Less", "Where"]
    operator = draw.one(["Cast", "Cast", "Add", "Mul", "Sub", "Neg", "Abs", "ReduceSum", *others])
    if operator == "Cast":
        to = draw.one([1, 11] if smooth else [1, 3, 6, 7, 9, 11])
        return [helper.make_node("Cast", [name], ["z"], to=to)]
    names = {
        "Where": ["b", name, name],
        "Add": [name, name],
        "Mul": [name, name],
        "Sub": [name, name],
        "Less": [name, "c"],
    }
    first = {"Where": [helper.make_node("Cast", [name], ["b"], to=9)], "Less": [helper.make_node("Neg", [name], ["c"])]}
    return [*first.get(operator, []), helper.make_node(operator, names.get(operator, [name]), ["z"])]


# Ways to malform a model. Each may leave one that is still right.


def _some(random: Random, entries: Any) -> Any:
    return entries[int(random.integers(len(entries)))] if len(entries) else None


def _input_missing(random: Random, made: Graph) -> None:
    node = made.model.graph.node[0]
    if len(node.input):
        node.input[int(random.integers(len(node.input)))] = str(random.choice(["", "nowhere", "y0"]))


def _inputs_fewer(random: Random, made: Graph) -> None:
    node = made.model.graph.node[0]
    if len(node.input):
        del node.input[int(random.integers(len(node.input))) :]


def _inputs_more(random: Random, made: Graph) -> None:
    node = made.model.graph.node[0]
    node.input.extend([node.input[0] if len(node.input) else "x0"] * int(random.integers(1, 5)))


def _attribute_unknown(random: Random, made: Graph) -> None:
    made.model.graph.node[0].attribute.append(helper.make_attribute(str(random.choice(["broadcast", "axs", "to"])), 1))


def _attribute_kind(random: Random, made: Graph) -> None:
    attributes = made.model.graph.node[0].attribute
    if len(attributes):
        name = attributes[0].name
        del attributes[0]
        values: list[Any] = [1.5, "word", b"\xff\xfe", [1, 2], [0.5], numpy_helper.from_array(np.ones(2)), 1 << 62]
        attributes.append(helper.make_attribute(name, values[int(random.integers(len(values)))]))


def _attribute_twice(random: Random, made: Graph) -> None:
    attributes = made.model.graph.node[0].attribute
    if len(attributes):
        attributes.append(attributes[0])


def _attribute_far(random: Random, made: Graph) -> None:
    for attribute in made.model.graph.node[0].attribute:
        far = int(random.choice([1 << 40, -1, 0, (1 << 63) - 1, -(1 << 63)]))
        if attribute.type == onnx.AttributeProto.INT:
            attribute.i = far
        for place in range(len(attribute.ints)):
            attribute.ints[place] = far


def _opset(random: Random, made: Graph) -> None:
    made.model.opset_import[0].version = int(random.choice([0, -1, 1, 3, 6, 99, 1 << 40]))


def _opset_missing(random: Random, made: Graph) -> None:
    del made.model.opset_import[:]


def _operator(random: Random, made: Graph) -> None:
    made.model.graph.node[0].op_type = str(random.choice(["Sinus", "", "Loop", "If\n\x1b[31m", "Relu"]))


def _domain(random: Random, made: Graph) -> None:
    made.model.graph.node[0].domain = str(random.choice(["mine", "ai.onnx.ml", "ai.onnx.preview.training"]))


def _dims(random: Random, made: Graph) -> None:
    tensor = _some(random, made.model.graph.initializer)
    if tensor is not None:
        dims = [[1 << 40], [-1], [1 << 32, 1 << 32], [7, 7], [0]]
        del tensor.dims[:]
        tensor.dims.extend(dims[int(random.integers(len(dims)))])


def _data_type(random: Random, made: Graph) -> None:
    tensor = _some(random, made.model.graph.initializer)
    if tensor is not None:
        tensor.data_type = int(random.choice([0, 8, 14, 15, 17, 22, 77, 6, 7, 9]))


def _external(random: Random, made: Graph) -> None:
    tensor = _some(random, made.model.graph.initializer)
    if tensor is not None:
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../../../../../etc/passwd")


def _input_type(random: Random, made: Graph) -> None:
    given = _some(random, made.model.graph.input)
    if given is not None:
        given.type.tensor_type.elem_type = int(random.choice([0, 8, 14, 15, 17, 99]))


def _input_shape(random: Random, made: Graph) -> None:
    given = _some(random, made.model.graph.input)
    if given is not None:
        shapes: list[Any] = [[1 << 40], [-2], ["batch", 2], [2, 3, 1, 1, 2, 1], []]
        found = shapes[int(random.integers(len(shapes)))]
        kind = given.type.tensor_type.elem_type
        given.CopyFrom(helper.make_tensor_value_info(given.name, kind, found))
        if found in ([], [2, 3, 1, 1, 2, 1]):
            made.feeds[given.name] = np.ones(found, helper.tensor_dtype_to_np_dtype(kind))
            made.intervals.pop(given.name, None)


def _input_twice(random: Random, made: Graph) -> None:
    graph = made.model.graph
    found = _some(random, [graph.input, graph.initializer, graph.output, graph.node])
    if len(found):
        found.append(found[0])


def _cycle(random: Random, made: Graph) -> None:
    graph = made.model.graph
    graph.node.insert(0, helper.make_node("Identity", [graph.node[0].output[0]], ["z"]))
    if len(graph.node[1].input) and random.random() < 0.5:
        graph.node[1].input[0] = "z"


def _output(random: Random, made: Graph) -> None:
    graph = made.model.graph
    choice = int(random.integers(4))
    if choice == 0:
        graph.output[0].name = "nowhere"
    elif choice == 1:
        del graph.output[:]
    elif choice == 2:
        graph.output[0].CopyFrom(helper.make_tensor_value_info("y0", TensorProto.INT8, [3, 1, 4]))
    else:
        graph.node[0].output.extend(["more"] * 9)


def _extras(random: Random, made: Graph) -> None:
    model, choice = made.model, int(random.integers(4))
    if choice == 0:
        body = [helper.make_node("Neg", ["a"], ["b"])]
        model.functions.append(helper.make_function("", "Relu", ["a"], ["b"], body, model.opset_import))
    elif choice == 1:
        model.training_info.add()
    elif choice == 2:
        model.graph.sparse_initializer.add()
    else:
        model.ClearField("graph")


def _subgraph(random: Random, made: Graph) -> None:
    made.model.graph.node[0].attribute.append(helper.make_attribute("body", made.model.graph))


def _bytes(random: Random, made: Graph) -> None:
    """A few bytes of the file changed, or its end missing: judged where it is still a model."""
    content = bytearray(made.model.SerializeToString())
    for place in random.integers(0, len(content), int(random.integers(1, 4))):
        content[place] ^= 1 << int(random.integers(8))
    if random.random() < 0.2:
        del content[int(random.integers(len(content))) :]
    made.model = bytes(content)


MALFORMED: dict[str, Callable[[Random, Graph], None]] = {
    "attribute of another kind": _attribute_kind,
    "attribute twice": _attribute_twice,
    "attribute unknown": _attribute_unknown,
    "attributes far away": _attribute_far,
    "bytes": _bytes,
    "cycle": _cycle,
    "data type": _data_type,
    "dims": _dims,
    "domain": _domain,
    "external": _external,
    "extras": _extras,
    "input missing": _input_missing,
    "input shape": _input_shape,
    "input twice": _input_twice,
    "input type": _input_type,
    "inputs fewer": _inputs_fewer,
    "inputs more": _inputs_more,
    "operator": _operator,
    "opset": _opset,
    "opset missing": _opset_missing,
    "output": _output,
    "subgraph": _subgraph,
}
