"""Proofs of overlapping max pooling and of convolutional networks of real size, in zero knowledge, phase by phase.

Usage: python benchmarks/convolutions.py [CASE ...] [--json]   (default: pool28 pool56 pool112 squeezenet64)

Cases are poolN, 3x3 maxima of step 2 of 16 channels of N x N; and squeezenetN and resnet50N, the networks of these
names among the test data of the package onnx, of N x N pixels, with He normal weights, committed, in place of its
constants; mobilenetN of N x N pixels, lstmN of N steps and gptN of N tokens are small networks of these kinds. Each is
one process: processor seconds of compiling, of the plan, of executing (the values of all wires and columns), of each
phase of the proof, and of verification; the most memory, and the bytes of the proof; seconds and memory as estimated.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Measurement, peak, processor, table, timed

CASES = ("pool28", "pool56", "pool112", "squeezenet64")
PHASES = ("commit", "lookups", "products", "open")
BEFORE, AFTER = (
    ("compile_s", "plan_s", "execute_s"),
    ("prove_s", "expected_s", "verify_s", "peak_gb", "expected_gb", "kb"),
)
COLUMNS = (*BEFORE, *(f"{name}_s" for name in PHASES), *AFTER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(figures(options.cases[0])))
        return
    table(__file__, [Measurement(case, ()) for case in options.cases], COLUMNS, options.json)


def figures(case: str) -> dict[str, Any]:
    """Everything once, in this process; the proof is one that the native verifier accepts."""
    from circuitize.circuits.quantize import quantize
    from circuitize.provers.tensor.cost import sizes
    from circuitize.provers.tensor.plan import OPENINGS, plan
    from circuitize.provers.tensor.prover import prove_values
    from circuitize.provers.tensor.verifier import refusal
    from circuitize.sims import integer

    integers, compile_s = timed(lambda: quantize(program(case)))
    inputs = integer.rounded(integers, integers.examples[0])
    made, plan_s = timed(lambda: _ready(plan(integers).hiding(OPENINGS)))
    (trace, values), execute_s = timed(lambda: (found := made.trace(inputs), made.values(found)))
    spent, last = {}, processor()

    def done(phase: str) -> None:
        nonlocal last
        spent[f"{phase}_s"], last = processor() - last, processor()

    proved, prove_s = timed(lambda: prove_values(integers, made, trace, values, progress=done))
    most, expected = peak(), sizes(made)
    reason, verify_s = timed(lambda: refusal(integers, proved.statement, proved.proof, made))
    assert reason is None, reason
    return {
        "compile_s": compile_s,
        "plan_s": plan_s,
        "execute_s": execute_s,
        **spent,
        "prove_s": prove_s,
        "verify_s": verify_s,
        "peak_gb": most / 1e9,
        "kb": len(proved.proof.encode()) // 1000,
        "committed": made.committed,
        "lookups": made.looked_up,
        "expected_s": expected["prover_cpu_seconds"],
        "expected_gb": expected["prover_bytes"] / 1e9,
    }


def _ready(made: Any) -> Any:
    assert made.digest
    assert made.native
    return made


def program(case: str) -> Any:
    """The real program of a case."""
    match = re.fullmatch(r"(pool|mobilenet|lstm|gpt|squeezenet|resnet50)(\d+)", case)
    if match is None:
        raise SystemExit(f"expected poolN, mobilenetN, lstmN, gptN, squeezenetN or resnet50N, found {case!r}")
    size, own = int(match[2]), {"pool": pooling, "mobilenet": mobile, "lstm": recurrent, "gpt": transformer}
    return own[match[1]](size) if match[1] in own else network(match[1], size)


def pooling(size: int) -> Any:
    """3x3 maxima of step 2, of one image of 16 channels."""
    from circuitize.circuits.port import Port, Role, Visibility
    from circuitize.circuits.program import Program
    from circuitize.frontends.convolution import max_pool
    from circuitize.frontends.formats import Format
    from circuitize.frontends.trace import trace

    shape = (1, size, size, 16)
    format = Format.between(-8.0, 8.0, 8)
    arrow = trace(lambda x: max_pool(x, 3, 2), shape)
    data = np.random.default_rng(0).normal(size=shape).clip(-7, 7)
    return Program(
        arrow,
        (Port("x", Visibility.COMMITTED, format.of(shape), Role.DATA),),
        (Port("y", Visibility.PUBLIC),),
        ({"x": data},),
    )


def mobile(size: int) -> Any:
    """Separable convolutions as in MobileNet, at half its width: depthwise 3x3, then 1x1, five times."""
    import circuitize as cz
    from circuitize.frontends.image_layers import global_average_pool

    layers, channels = [cz.image(size, size, 3), cz.conv2d(3, 16, 3, padding=1, step=2), cz.relu()], 16
    for made, step in ((32, 1), (64, 2), (64, 1), (128, 2), (256, 2)):
        layers += [cz.conv2d(channels, channels, 3, padding=1, step=step, groups=channels), cz.relu()]
        layers += [cz.conv2d(channels, made, 1), cz.relu()]
        channels = made
    model = cz.sequential(*layers, global_average_pool(), cz.dense(channels, 10))
    return predicted(model, np.random.default_rng(0).random((1, size * size * 3)))


def transformer(length: int) -> Any:
    """Two blocks of GPT-2, of width 128 and 1,000 tokens, on so many of them."""
    from circuitize.frontends.transformer import gpt2

    model = gpt2(1000, blocks=2, length=length, width=128, heads=4)
    return predicted(model, np.random.default_rng(0).integers(0, 1000, (1, length)), 1000)


def predicted(model: Any, data: Any, tokens: int | None = None) -> Any:
    """The program of a model's result, weights committed."""
    from circuitize.frontends import training
    from circuitize.frontends.formats import DATA, labels

    program = training.predict(model, batch=1, inputs=DATA if tokens is None else labels(tokens))
    return training.with_examples(program, {**model.initial(0), "inputs": data})


def recurrent(steps: int) -> Any:
    """An LSTM of ONNX, 64 numbers in and 128 out, of so many steps."""
    import onnx
    from onnx import helper, numpy_helper

    from circuitize.frontends.onnx.network import network as read

    random = np.random.default_rng(0)
    arrays = {"W": (1, 512, 64), "R": (1, 512, 128)}
    entries = [
        numpy_helper.from_array((random.normal(size=shape) / 12).astype(np.float32), name)
        for name, shape in arrays.items()
    ]
    node = helper.make_node("LSTM", ["x", "W", "R"], ["", "y"], hidden_size=128)
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (steps, 1, 64))
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (1, 1, 128))
    graph = helper.make_graph([node], "lstm", [x], [y], entries)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return read(made).program(examples=[{"x": random.random((steps, 1, 64))}])


def network(name: str, size: int) -> Any:
    """A network of the package onnx, of images of this size, with weights of its own."""
    import onnx
    from onnx import numpy_helper

    from circuitize.frontends.onnx.network import network as read

    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    model = onnx.load(light)
    graph, generator = model.graph, np.random.default_rng(0)
    shapes = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    made = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in made:
        shape = tuple(shapes[node.input[0]].tolist())
        values = weights(node.output[0], shape, generator)
        graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
        graph.node.remove(node)
    for node in graph.node:
        if node.op_type == "Dropout":
            del node.output[1:]
    for entry in graph.input:
        extents = entry.type.tensor_type.shape.dim
        if len(extents) == 4 and extents[1].dim_value == 3 and entry.name not in {node.output[0] for node in made}:
            extents[2].dim_value = extents[3].dim_value = size
            data = entry.name
    inputs = [entry for entry in graph.input if entry.name == data]
    del graph.input[:], graph.value_info[:]
    graph.input.extend(inputs)
    for extent in graph.output[0].type.tensor_type.shape.dim[2:]:
        extent.dim_value = 1
    batch = {data: generator.random((1, 3, size, size))}
    return read(model, fold_batch_norms=True).program(examples=[batch])


def weights(name: str, shape: tuple[int, ...], generator: np.random.Generator) -> Any:
    """He normal for kernels and matrices; of batch norms variances and scales near 1; small numbers elsewhere."""
    if len(shape) > 1:
        return generator.normal(size=shape) * math.sqrt(2 / math.prod(shape[1:]))
    if name.endswith(("_riv_0", "_s_0")):
        return generator.uniform(0.8, 1.2, shape)
    return generator.normal(size=shape) * 0.05


if __name__ == "__main__":
    main()
