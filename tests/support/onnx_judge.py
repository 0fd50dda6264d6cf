"""Random ONNX graphs, each judged beside a runtime: `python tests/support/onnx_judge.py 5000 1 2 3`, seeds last."""

from __future__ import annotations

import faulthandler
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from onnx_graphs import Graph, graph
from onnx_oracles import EXTREMES, NEWEST, Arrays, Refused, hazard, narrowed, reference, runtime, widened

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.onnx import arrow
from circuitize.frontends.onnx.folding import OWN
from circuitize.sims.real import executor

TOLERANCES = {"float16": (2e-2, 2e-2), "float32": (2e-4, 2e-5), "float64": (1e-5, 1e-6)}
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
    """Outputs and their element types. Raise CircuitizeError where the graph is refused."""
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


def judge(given: Graph, tally: Tally) -> None:
    """Run the graph here and there, and count what became of it."""
    began = time.perf_counter()
    text = ""
    values: Arrays = []
    types: tuple[str, ...] = ()
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
    if hazard(given) and (given.operator in OWN or given.operator in EXTREMES):
        tally.outcomes["nobody to ask"] += 1
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
