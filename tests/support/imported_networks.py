"""Twenty quantized networks from stated seeds, of each format that is read: programs, own executors, da4ml's logic."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from combinational_networks import Network, frames, mixture, perceptron, traced
from numpy.typing import NDArray

from circuitize.circuits.program import IntegerProgram
from circuitize.frontends.combinational.files import from_logic
from circuitize.sims import integer

Reals = NDArray[np.float64]
SIZES = (8, 12, 5)


@dataclass(frozen=True)
class Imported:
    """A network: how it is read, for a batch; what its own executor makes of rows; and da4ml's logic of it.

    `logic` is of the same sums and bits; `exactly` says that it rounds as the network does.
    """

    kind: str
    name: str
    modes: str
    program: Callable[[int], IntegerProgram]
    judged: Callable[[Reals], Reals]
    logic: Callable[[], Any]
    exactly: bool = True

    def mismatches(self, count: int, seed: int = 0) -> tuple[int, int]:
        """Of how many rows an output differs, and of how many there are: the ends of all intervals among them."""
        made = self.program(count)
        entering, leaving = made.inputs[0].format, made.outputs[0].format
        size = int(np.prod(entering.shape)) // count
        x = frames(np.full(size, entering.low), np.full(size, entering.high), count, seed)
        (y,) = integer.executor(made).outputs([x.reshape(entering.shape)])
        wanted = self.judged(np.ldexp(x, -entering.fraction_bits)).reshape(count, -1)
        found = np.ldexp(y, -leaving.fraction_bits).reshape(count, -1)
        return int((found != wanted).any(axis=1).sum()), count


def of_logic(package: str, network: Network, inputs: int, name: str, modes: str) -> Imported:
    """Logic that a package traces and saves."""

    def program(batch: int) -> IntegerProgram:
        with tempfile.TemporaryDirectory() as folder:
            logic.save(Path(folder) / "logic.json")
            return from_logic(Path(folder) / "logic.json", batch)

    logic = traced(package, network, inputs)
    return Imported(package, name, modes, program, logic.predict, lambda: traced("da4ml", network, inputs))


def of_da4ml() -> Iterator[Imported]:
    """Every rounding with every overflow, bits by element, and other operations."""
    for seed, (overflow, rounding) in enumerate((o, r) for o in ("WRAP", "SAT", "SAT_SYM") for r in ("TRN", "RND")):
        made = perceptron(seed, SIZES, modes=(overflow, rounding))
        yield of_logic("da4ml", made, 8, f"8-12-5, seed {seed}", f"{rounding}, {overflow}")
    made = perceptron(6, SIZES, mixed=True, modes=("SAT", "RND"))
    yield of_logic("da4ml", made, 8, "8-12-5, bits by element, seed 6", "RND, SAT")
    yield of_logic("da4ml", mixture(7), 4, "products, maxima, a sine, seed 7", "RND, SAT")


def of_alkaid() -> Iterator[Imported]:
    """The same by alkaid."""
    for seed, modes in ((8, ("WRAP", "RND")), (9, ("SAT", "RND"))):
        made = perceptron(seed, SIZES, modes=modes)
        yield of_logic("alkaid", made, 8, f"8-12-5, seed {seed}", f"{modes[1]}, {modes[0]}")
    made = perceptron(10, SIZES, mixed=True, modes=("WRAP", "TRN"))
    yield of_logic("alkaid", made, 8, "8-12-5, bits by element, seed 10", "TRN, WRAP")
    yield of_logic("alkaid", mixture(11), 4, "products, maxima, a sine, seed 11", "RND, SAT")


def of_hgq() -> Iterator[Imported]:
    """Networks of HGQ2, whose bits are by element."""
    import hgq_networks

    from circuitize.frontends.combinational.hgq import from_hgq

    cases = (
        ("perceptron", 12, "WRAP"),
        ("perceptron", 13, "SAT"),
        ("normalized", 14, "WRAP"),
        ("convolution", 15, "WRAP"),
    )
    for kind, seed, overflow in cases:
        model = hgq_networks.network(kind, seed, overflow)

        # Only quantizers that wrap say what bits the inputs have.
        inputs = None if overflow == "WRAP" else (1, 3, 6)

        def logic(model: Any = model, inputs: Any = inputs) -> Any:
            from da4ml.converter import trace_model
            from da4ml.trace import comb_trace

            return comb_trace(*trace_model(model, inputs_kif=inputs))

        read, judged = partial(from_hgq, model, inputs=inputs), partial(hgq_networks.predicted, model)
        yield Imported("HGQ2", f"{kind}, seed {seed}", f"RND, {overflow}", read, judged, logic)


@dataclass(frozen=True)
class Dense:
    """Two dense layers of whole numbers: weights in eighths, biases in 256ths, activations of so many bits."""

    seed: int
    bits: int
    rounding: str

    def layers(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        random = np.random.default_rng(self.seed)
        shapes = pairwise(SIZES)
        return [(random.integers(-8, 8, shape), random.integers(-200, 200, shape[1])) for shape in shapes]

    def traced(self, x: Any, ops: Any) -> Any:
        """The same in da4ml's operations."""
        (first, of_first), (second, of_second) = self.layers()
        x = ops.quantize(x, 1, self.bits - 6, 5, "SAT", self.rounding)
        x = ops.quantize(ops.relu(x @ (first / 8.0) + of_first / 256.0), 0, self.bits - 4, 4, "SAT", self.rounding)
        return ops.quantize(x @ (second / 8.0) + of_second / 256.0, 1, self.bits - 4, 3, "SAT", self.rounding)


def of_onnx(kind: str, dense: Dense, build: Callable[[Dense, int], Any], run: Callable[[Any, Any], Any]) -> Imported:
    """A network in ONNX; inputs have two bits more than its first rounding."""
    from circuitize.circuits.port import Port, Visibility
    from circuitize.circuits.program import Program
    from circuitize.circuits.quantize import quantize
    from circuitize.frontends.formats import Format
    from circuitize.frontends.onnx import arrow

    def program(batch: int) -> IntegerProgram:
        shape = (batch, SIZES[0])
        entering = Port("x", Visibility.COMMITTED, Format.signed(dense.bits + 2, 7).of(shape))
        examples = ({"x": np.full(shape, 2.0**-7)},)
        read = arrow(build(dense, batch)).arrow
        return quantize(Program(read, (entering,), (Port("y", Visibility.PUBLIC),), examples))

    def judged(x: Reals) -> Reals:
        found: Reals = np.asarray(run(build(dense, len(x)), x.astype(np.float32)), np.float64)
        return found

    exactly = dense.rounding == "TRN"
    modes = f"{dense.rounding if exactly else 'RND_CONV'}, SAT"
    formats = (1, dense.bits - 6, 7)
    logic = partial(traced, "da4ml", dense.traced, SIZES[0], formats)
    return Imported(kind, f"8-12-5, seed {dense.seed}", modes, program, judged, logic, exactly)


def _model(nodes: list[Any], known: dict[str, Any], batch: int) -> Any:
    from onnx import TensorProto, helper, numpy_helper

    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, (batch, SIZES[0]) if name == "x" else None)
        for name in "xy"
    ]
    given = [numpy_helper.from_array(np.asarray(value), name) for name, value in known.items()]
    graph = helper.make_graph(nodes, "quantized", ends[:1], ends[1:], given)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("qonnx.custom_op.general", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def of_qdq() -> Iterator[Imported]:
    """QuantizeLinear and DequantizeLinear between float operators, 8 bits, by onnxruntime."""
    from onnx import helper

    def build(dense: Dense, batch: int) -> Any:
        nodes: list[Any] = []
        known: dict[str, Any] = {"i8": np.int8(0), "u8": np.uint8(0), "i32": np.int32(0)}

        def add(operator: str, *inputs: str) -> str:
            nodes.append(helper.make_node(operator, inputs, [f"t{len(nodes)}"]))
            return f"t{len(nodes) - 1}"

        def keep(value: Any) -> str:
            known[f"k{len(known)}"] = value
            return f"k{len(known) - 1}"

        def through(x: str, scale: float, zero: str) -> str:
            step = keep(np.float32(scale))
            return add("DequantizeLinear", add("QuantizeLinear", x, step, zero), step, zero)

        x = through("x", 2**-5, "i8")
        for place, (weight, bias) in enumerate(dense.layers()):
            factor = add("DequantizeLinear", keep(weight.astype(np.int8)), keep(np.float32(2**-3)), "i8")
            added = add("DequantizeLinear", keep(bias.astype(np.int32)), keep(np.float32(2**-8)), "i32")
            x = add("Add", add("MatMul", x, factor), added)
            x = through(x, 2**-3, "i8") if place else through(add("Relu", x), 2**-4, "u8")
        nodes[-1].output[0] = "y"
        return _model(nodes, known, batch)

    def run(model: Any, x: Any) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        return session.run(None, {"x": x})[0]

    for seed in (16, 17):
        yield of_onnx("QDQ", Dense(seed, 8, "RND"), build, run)


def of_qonnx() -> Iterator[Imported]:
    """Quant nodes, 7 bits, by the package qonnx."""
    from onnx import helper

    def build(dense: Dense, batch: int) -> Any:
        nodes: list[Any] = []
        known: dict[str, Any] = {}

        def add(operator: str, *inputs: Any, **attributes: Any) -> str:
            names = []
            for given in inputs:
                if not isinstance(given, str):
                    known[f"k{len(known)}"] = np.asarray(given, np.float32)
                    given = f"k{len(known) - 1}"
                names.append(given)
            nodes.append(helper.make_node(operator, names, [f"t{len(nodes)}"], **attributes))
            return f"t{len(nodes) - 1}"

        mode = "FLOOR" if dense.rounding == "TRN" else "ROUND"

        def through(x: Any, scale: float, bits: int, signed: int) -> str:
            own = {"signed": signed, "narrow": 0, "rounding_mode": mode, "domain": "qonnx.custom_op.general"}
            return add("Quant", x, scale, 0.0, float(bits), **own)

        x = through("x", 2**-5, dense.bits, 1)
        for place, (weight, bias) in enumerate(dense.layers()):
            x = add("Add", add("MatMul", x, through(weight / 8.0, 2**-3, 4, 1)), through(bias / 256.0, 2**-8, 12, 1))
            x = through(x, 2**-3, dense.bits, 1) if place else through(add("Relu", x), 2**-4, dense.bits, 0)
        nodes[-1].output[0] = "y"
        return _model(nodes, known, batch)

    def run(model: Any, x: Any) -> Any:
        from qonnx.core.modelwrapper import ModelWrapper
        from qonnx.core.onnx_exec import execute_onnx
        from qonnx.transformation.infer_shapes import InferShapes

        return execute_onnx(ModelWrapper(model).transform(InferShapes()), {"x": x})["y"]

    for seed, rounding in ((18, "RND"), (19, "TRN")):
        yield of_onnx("QONNX", Dense(seed, 7, rounding), build, run)


KINDS: dict[str, Callable[[], Iterator[Imported]]] = {
    "da4ml": of_da4ml,
    "alkaid": of_alkaid,
    "HGQ2": of_hgq,
    "QDQ": of_qdq,
    "QONNX": of_qonnx,
}
ENVIRONMENTS = {"da4ml": ".venv", "alkaid": ".venv-hgq", "HGQ2": ".venv-hgq", "QDQ": ".venv", "QONNX": ".venv-qonnx"}
"""Where the packages of each kind's own executor are."""


def judge(kind: str, count: int) -> Iterator[str]:
    """A line of JSON for each network of a kind: name, modes, rows that differ, rows."""
    for network in KINDS[kind]():
        differing, rows = network.mismatches(count)
        yield json.dumps(
            {"kind": kind, "name": network.name, "modes": network.modes, "differ": differing, "rows": rows}
        )
