"""Quantized networks as exporters write them, their scales powers of two, and what onnxruntime makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.frontends.formats import Format
from circuitize.frontends.onnx import arrow

Floats = NDArray[np.float32]
INPUT = Format.signed(12, 8)
"""Inputs in 256ths: beside a scale of 1/32 a sixteenth of them is a tie."""


@dataclass(frozen=True)
class Network:
    """A model of one input `x` and one output `y`, and the shape of a batch."""

    model: Any
    shape: tuple[int, ...]

    def drawn(self, count: int, seed: int = 0) -> list[NDArray[np.float64]]:
        """Inputs of the format: every second one small, so that ties and few bits count, the others saturate too."""
        random = np.random.default_rng(seed)
        most = [(INPUT.high, 96)[place % 2] for place in range(count)]
        return [random.integers(-m - 1, m, self.shape, endpoint=True) / 2.0**INPUT.fraction_bits for m in most]

    def program(self, examples: Sequence[NDArray[np.float64]]) -> Program:
        ports = (Port("x", Visibility.PUBLIC, INPUT.of(self.shape)),)
        batches = tuple({"x": example} for example in examples)
        return Program(arrow(self.model).arrow, ports, (Port("y", Visibility.PUBLIC),), batches)

    def judged(self, inputs: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """What onnxruntime gives, node by node, nothing optimised."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.model.SerializeToString(), options, ["CPUExecutionProvider"])
        return [session.run(None, {"x": x.astype(np.float32)})[0].astype(np.float64) for x in inputs]


class _Graph:
    """Nodes and initializers under construction."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.known: dict[str, NDArray[Any]] = {}

    def add(self, operator: str, *inputs: str | NDArray[Any], **attributes: Any) -> str:
        names = []
        for given in inputs:
            if not isinstance(given, str):
                self.known[f"known{len(self.known)}"] = given
                given = f"known{len(self.known) - 1}"
            names.append(given)
        made = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [made], **attributes))
        return made

    def through(self, x: str, scale: float, zero: Any) -> str:
        """x quantized and back."""
        return self.dequantized(self.add("QuantizeLinear", x, np.float32(scale) * np.ones((), "f"), zero), scale, zero)

    def dequantized(self, x: str | NDArray[Any], scale: Any, zero: Any, **attributes: Any) -> str:
        return self.add("DequantizeLinear", x, np.asarray(scale, np.float32), zero, **attributes)

    def network(self, made: str, shape: tuple[int, ...], domains: Mapping[str, int] | None = None) -> Network:
        self.nodes[-1].output[0] = "y" if self.nodes[-1].output[0] == made else made
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        known = [numpy_helper.from_array(array, name) for name, array in self.known.items()]
        graph = helper.make_graph(self.nodes, "quantized", [x], [onnx.ValueInfoProto(name="y")], known)
        # onnxruntime wants the type of an output.
        graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
        opsets = [helper.make_opsetid("", 21), *(helper.make_opsetid(*entry) for entry in (domains or {}).items())]
        return Network(helper.make_model(graph, opset_imports=opsets, ir_version=10), shape)


I8, U8 = np.zeros((), np.int8), np.zeros((), np.uint8)


def perceptron(
    scales: Sequence[float] = (2**-5, 2**-7, 2**-4, 2**-6, 2**-3), widths: Sequence[int] = (8, 10, 4)
) -> Network:
    """Dense layers with int8 weights, int32 biases and uint8 activations between them: QDQ, per tensor."""
    random, graph = np.random.default_rng(1), _Graph()
    of_input, of_first, of_hidden, of_second, of_result = scales
    x = graph.through("x", of_input, I8)
    for place, (of_x, of_w) in enumerate(((of_input, of_first), (of_hidden, of_second))):
        rows, columns = widths[place : place + 2]
        weight = graph.dequantized(random.integers(-128, 128, (rows, columns)).astype(np.int8), of_w, I8)
        bias = random.integers(-4000, 4000, columns).astype(np.int32)
        made = graph.add("MatMul", x, weight)
        made = graph.add("Add", made, graph.dequantized(bias, of_x * of_w, np.zeros((), np.int32)))
        x = graph.through(graph.add("Relu", made), of_hidden, U8) if not place else graph.through(made, of_result, I8)
    return graph.network(x, (1, widths[0]))


def convolutions() -> Network:
    """Convolutions whose output channels have scales of their own, a maximum and a mean: QDQ, per channel."""
    random, graph = np.random.default_rng(2), _Graph()
    x, of_x, channels = graph.through("x", 2**-5, I8), 2**-5, 2
    for made_channels, groups in ((4, 1), (4, 4)):
        weight = random.integers(-128, 128, (made_channels, channels // groups, 3, 3)).astype(np.int8)
        of_w = 2.0 ** -np.array([6.0, 8.0, 7.0, 9.0])
        none = np.zeros(4, np.int8)
        bias = random.integers(-3000, 3000, made_channels).astype(np.int32)
        inputs = (
            graph.dequantized(weight, of_w, none, axis=0),
            graph.dequantized(bias, of_w * of_x, np.zeros(4, np.int32), axis=0),
        )
        made = graph.add("Relu", graph.add("Conv", x, *inputs, pads=[1, 1, 1, 1], group=groups))
        if groups == 1:
            made = graph.add("MaxPool", made, kernel_shape=[2, 2], strides=[2, 2])
        of_x, channels = 2**-3, made_channels
        x = graph.through(made, of_x, U8)
    x = graph.through(graph.add("Flatten", graph.add("GlobalAveragePool", x)), 2**-4, U8)
    weight = np.array([[101, -120, 37, -64], [-128, 127, -90, 55], [13, -7, 66, -100]], np.int8)
    dense = graph.dequantized(weight, 2.0 ** -np.array([5.0, 7.0, 6.0]), np.zeros(3, np.int8), axis=0)
    made = graph.add("Gemm", x, dense, transB=1)
    return graph.network(graph.through(made, 2**-4, I8), (1, 2, 8, 8))


def asymmetric(
    of_input: float = 2**-5, of_kernel: float = 2**-7, of_hidden: float = 2**-4, of_weight: float = 2**-6
) -> Network:
    """uint8 with zero points everywhere, by QLinearConv and QLinearMatMul, as in the operator-oriented format."""
    random, graph = np.random.default_rng(3), _Graph()

    def scale(value: float) -> NDArray[np.float32]:
        return np.asarray(value, np.float32)

    def u8(value: int) -> NDArray[np.uint8]:
        return np.asarray(value, np.uint8)

    kernel = random.integers(0, 256, (3, 2, 3, 3)).astype(np.uint8)
    bias = random.integers(-4000, 4000, 3).astype(np.int32)
    weight = random.integers(0, 256, (12, 5)).astype(np.uint8)
    x = graph.add("QuantizeLinear", "x", scale(of_input), u8(119))
    given = (scale(of_input), u8(119), kernel, scale(of_kernel), u8(131), scale(of_hidden), u8(97), bias)
    x = graph.add("QLinearConv", x, *given, strides=[2, 2], pads=[0, 0, 1, 1])
    x = graph.add("Reshape", x, np.array([1, 12], np.int64))
    factor = (weight, scale(of_weight), u8(140))
    x = graph.add("QLinearMatMul", x, scale(of_hidden), u8(97), *factor, scale(2**-3), u8(60))
    return graph.network(graph.dequantized(x, 2**-3, u8(60)), (1, 2, 4, 4))
