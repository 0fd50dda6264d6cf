"""Random ONNX graphs, each judged beside another runtime. `python tests/onnx_judge.py 5000 1 2 3`, seeds at the end."""

from __future__ import annotations

import faulthandler
import math
import re
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx_graphs import Graph, graph

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.onnx import arrow
from circuitize.frontends.onnx.schema import signature
from circuitize.sims.real import executor

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

Arrays = list[Any]
TOLERANCES = {"float16": (2e-2, 2e-2), "float32": (2e-4, 2e-5), "float64": (1e-5, 1e-6)}
FAULTY = (
    "AveragePool",
    "BatchNormalization",
    "ConvTranspose",
    "GatherElements",
    "GlobalLpPool",
    "GlobalMaxPool",
    "Hardmax",
    "LRN",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "MaxPool",
    "MeanVarianceNormalization",
    "Pad",
    "ReduceLogSumExp",
    "Softmax",
    "Softsign",
)
"""Operators that ONNX's own evaluator has wrong or lacks, in some opset or form: judged beside onnxruntime alone."""
SINGLE = (
    "GroupNormalization",
    "InstanceNormalization",
    "LayerNormalization",
    "MeanVarianceNormalization",
    "RMSNormalization",
    "Shrink",
)
"""Operators that runtimes compute with 32 bits; most divide by a root that may be as small as that of epsilon."""
SINGLE_TOLERANCE = 2e-3
NEWEST = 23
"""The newest opset that both runtimes read."""


REASONS = (
    "give the intervals of the inputs",
    "to be known",
    "axes of at least one element",
    "an empty one",
    "expected floats, found",
    "expected whole exponents",
    "expected an equation",
    "of which ONNX says nothing before opset 12",
    "beside auto_pad",
    "expected an odd size",
)


class Refused(Exception):
    """Another runtime takes no such graph."""


class Unfed(Exception):
    """What was malformed is a shape: the model is right, and what is fed no longer fits it."""


@dataclass
class Tally:
    """What became of the graphs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    by_operator: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    single: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0


def ours(given: Graph) -> tuple[Arrays, tuple[str, ...]]:
    """Outputs and their element types. Raises CircuitizeError where the graph is refused."""
    if isinstance(given.model, bytes):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(given.model)
            imported = arrow(path, intervals=None)
    else:
        imported = arrow(given.model, intervals=given.intervals)
    if [given.feeds[name].shape for name in imported.inputs] != [type.shape for type in imported.arrow.source]:
        raise Unfed
    values = [np.asarray(given.feeds[name], np.float64) for name in imported.inputs]
    return executor(imported.arrow).outputs(values), imported.output_types


def runtime(given: Graph) -> Arrays:
    """By onnxruntime. Raises Refused."""
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
    """As `narrowed`, with whole numbers of 64 bits, which do not wrap. Raises Refused."""
    return narrowed(given, {"i": "int64", "u": "int64", "f": "float32"})


def narrowed(given: Graph, kinds: dict[str, str] = {"f": "float32"}) -> Arrays:  # noqa: B006
    """By onnxruntime where it lacks a kernel: floats of 32 bits, in an older opset where need be. Raises Refused."""
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
    """By ONNX's own evaluator. Raises Refused."""
    try:
        model = onnx.load_from_string(given.model) if isinstance(given.model, bytes) else given.model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(ReferenceEvaluator(model).run(None, dict(given.feeds)))
    except Exception as error:
        raise Refused(str(error)) from None


def difference(given: Graph, found: Arrays, types: tuple[str, ...], expected: Arrays, loose: bool = False) -> str:
    """What differs, "" where nothing does. Where `loose`, numbers may be of other widths: ONNX's evaluator is free.

    Infinities and NaN are no real numbers: what stands there is not compared."""
    if len(found) != len(expected):
        return f"{len(found)} outputs for {len(expected)}"
    for place, (mine, kind, theirs) in enumerate(zip(found, types, expected, strict=True)):
        other = np.asarray(theirs)
        dtype = {"float": "float32", "double": "float64"}.get(kind, kind)
        if loose and other.dtype.kind == "f" and dtype in TOLERANCES:
            dtype, other = (
                max(dtype, other.dtype.name, "float32", key=lambda n: TOLERANCES[n]),
                other.astype(np.float64),
            )
        elif loose and other.dtype.kind in "iu" and np.dtype(dtype).kind in "iu":
            pass
        elif other.dtype.name != dtype:
            return f"output {place}: {dtype} for {other.dtype.name}"
        if other.shape != mine.shape:
            return f"output {place}: {dtype}{mine.shape} for {other.dtype.name}{other.shape}"
        if other.dtype.kind != "f":
            same = [int(entry) for entry in mine.reshape(-1)] == [int(entry) for entry in other.reshape(-1)]
            if not same:
                return f"output {place}: {mine.reshape(-1)[:8]} for {other.reshape(-1)[:8]}"
            continue
        wide = other.astype(np.float64)
        finite = np.isfinite(wide)
        coarsest = max({dtype, given.element} & TOLERANCES.keys(), key=lambda name: TOLERANCES[name])
        relative, absolute = TOLERANCES[coarsest]
        if given.operator in SINGLE:
            relative, absolute = max(relative, SINGLE_TOLERANCE), max(absolute, SINGLE_TOLERANCE)
        scale = max(1.0, float(np.abs(wide[finite]).max(initial=0.0)))
        close = np.abs(mine - wide) <= relative * np.abs(wide) + absolute * scale
        if not (close | ~finite).all():
            return f"output {place}: {mine.reshape(-1)[:8]} for {wide.reshape(-1)[:8]}"
    return ""


def hazard(given: Graph) -> bool:
    """Whether another runtime may end the process: divisions by 0, the least number by -1, tensors without elements."""
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


def judge(given: Graph, tally: Tally) -> None:
    """Run the graph here and there, and count what became of it."""
    began = time.perf_counter()
    text, values, types = "", [], ()
    try:
        values, types = ours(given)
    except CircuitizeError as error:
        text = str(error)
        if "\n" in text or not text.isprintable() or (": " not in text and ";" not in text):
            tally.wrong.append(f"no line: {text!r}: {given}")
    except Unfed:
        tally.outcomes["accepted, of other shapes"] += 1
        return
    except Exception as error:
        tally.outcomes["raw exception"] += 1
        tally.wrong.append(f"raw {type(error).__name__}: {error}: {describe(given)}")
        return
    tally.slowest = max(tally.slowest, time.perf_counter() - began)
    kind = given.malformed or "whole"
    own = tally.by_operator[f"{given.operator} {'float' if given.element == 'float' else 'other'}"]
    if given.malformed and text:
        tally.outcomes["malformed, refused"] += 1
        return
    oracles = (reference,) if hazard(given) else (runtime, narrowed, widened, reference)
    said = []
    for oracle in oracles:
        try:
            expected = oracle(given)
        except Refused as error:
            said.append(str(error)[:300])
            continue
        if text:
            tally.outcomes["refused"] += 1
            tally.refusals[reason(text)] += 1
            tally.single[reason(text)] += given.element == "float" and not given.malformed
            own["refused"] += not given.malformed
            return
        wrong = difference(given, values, types, expected, oracle is not runtime)
        if wrong and oracle is widened:
            continue
        if wrong and oracle is runtime:
            # Where ONNX leaves a choice, its own evaluator may have taken ours.
            try:
                if not difference(given, values, types, reference(given), True):
                    tally.outcomes["equal to the reference, not to the runtime"] += 1
                    tally.refusals[f"RUNTIME DIFFERS {given.operator}"] += 1
                    own["equal"] += 1
                    tally.wrong.append(f"{wrong} (runtime, not reference): {describe(given)}")
                    return
            except Refused:
                pass
        own["wrong" if wrong else "equal"] += 1
        tally.single["accepted"] += given.element == "float" and not given.malformed
        tally.outcomes["wrong" if wrong else f"equal, {kind if given.malformed == '' else 'malformed'}"] += 1
        if wrong:
            tally.wrong.append(f"{wrong} ({oracle.__name__}): {describe(given)}")
        return
    if text:
        tally.outcomes["refused by all"] += 1
        return
    tally.outcomes["accepted by none but us"] += 1
    tally.wrong.append(f"accepted by none but us {said}: {describe(given)}")


def reason(text: str) -> str:
    """A refusal without its names and numbers."""
    return next((key for key in REASONS if key in text), re.sub(r"[-\d]+", "#", text.partition(":")[2])[:80])


def describe(given: Graph) -> str:
    return f"{given.operator} {given.malformed}" if isinstance(given.model, bytes) else str(given)


def main(count: int, *seeds: int) -> int:
    faulthandler.enable()
    tally = Tally()
    for seed in seeds:
        random = np.random.default_rng(seed)
        for _ in range(count):
            judge(graph(random, NEWEST), tally)
    print(dict(tally.outcomes), f"slowest {tally.slowest:.2f} s")
    print("of graphs of float32 that another runtime takes:")
    for text, times in tally.single.most_common(20):
        print(f"  {times:5d} {text}")
    print("of all that another runtime takes:")
    for text, times in tally.refusals.most_common(60):
        print(f"  {times:5d} refused: {text}")
    for name, outcomes in sorted(tally.by_operator.items()):
        if outcomes["refused"]:
            print(f"  {name}: {dict(outcomes)}")
    print(f"{len(tally.wrong)} wrong")
    for line in tally.wrong[:80]:
        print("  " + line[:900])
    return bool(tally.wrong)


if __name__ == "__main__":
    raise SystemExit(main(*[int(argument) for argument in sys.argv[1:]]))
