"""examples/lenet.py as an ONNX graph, as exporters write it: channels first, weights [out, in]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from circuitize.circuits.program import Program
from circuitize.circuits.types import Array
from circuitize.frontends.formats import WEIGHTS
from circuitize.frontends.imported import Imported
from circuitize.frontends.onnx import arrow

Arrays = dict[str, NDArray[np.float64]]


def weights(native: Arrays) -> Arrays:
    """The native layers' parameters, by the same names, as ONNX's operators take them."""
    made = {}
    for name, array in native.items():
        if name.endswith(".bias"):
            made[name] = array
        elif name.startswith("conv2d"):
            made[name] = array.transpose(3, 2, 0, 1)
        elif name == "dense1.weight":
            # Rows come in the order row, column, channel; here the channel comes first.
            made[name] = array.reshape(5, 5, 16, 120).transpose(2, 0, 1, 3).reshape(400, 120).T
        else:
            made[name] = array.T
    return made


def model(parameters: Arrays, batch: int) -> Any:
    """The graph with its weights as inputs behind the images."""
    nodes = [helper.make_node("Reshape", ["inputs", "shape"], ["image"], "reshape")]
    last = "image"
    for number, pads in ((1, [2, 2, 2, 2]), (2, [0, 0, 0, 0])):
        names = [last, f"conv2d{number}.weight", f"conv2d{number}.bias"]
        nodes += [
            helper.make_node("Conv", names, [f"c{number}"], f"conv{number}", kernel_shape=[5, 5], pads=pads),
            helper.make_node("Relu", [f"c{number}"], [f"r{number}"], f"relu{number}"),
            helper.make_node(
                "MaxPool", [f"r{number}"], [f"p{number}"], f"pool{number}", kernel_shape=[2, 2], strides=[2, 2]
            ),
        ]
        last = f"p{number}"
    nodes.append(helper.make_node("Flatten", [last], ["flat"], "flatten"))
    last = "flat"
    for number in (1, 2, 3):
        made = "logits" if number == 3 else f"d{number}"
        names = [last, f"dense{number}.weight", f"dense{number}.bias"]
        nodes.append(helper.make_node("Gemm", names, [made], f"dense{number}", transB=1))
        if number < 3:
            nodes.append(helper.make_node("Relu", [made], [f"a{number}"], f"rectifier{number}"))
            last = f"a{number}"
    inputs = [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, [batch, 784])]
    inputs += [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in parameters.items()]
    shape = helper.make_tensor("shape", TensorProto.INT64, [4], [-1, 1, 28, 28])
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, 10])]
    graph = helper.make_graph(nodes, "lenet", inputs, outputs, [shape])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def program(native: Program) -> Program:
    """The same network as a program of `native`'s examples: its formats, its visibilities."""
    examples = [dict(batch) for batch in native.examples]
    images = next(port for port in native.inputs if port.name == "inputs")
    assert images.format is not None
    parameters = weights({name: array for name, array in examples[0].items() if name != "inputs"})
    data = [{"inputs": batch["inputs"]} for batch in examples]
    seen = {port.name: port.visibility for port in native.inputs} | {"logits": native.outputs[0].visibility}
    return read(parameters, Array(images.format.shape)).program(
        dict.fromkeys(parameters, WEIGHTS), visibility=seen, examples=data, precision=native.precision
    )


def read(parameters: Arrays, batch: Array) -> Imported:
    """The graph as our arrow, of parameters and a batch of images."""
    made = arrow(model(parameters, batch.shape[0]))
    return Imported(made.arrow, made.inputs, made.outputs, parameters)
