"""Accuracy of training in integers beside the same training in float64, and the error of a single step.

Usage: python benchmarks/accuracy.py [--splits N] [--batches N]

First table: the digits example trained on each split, test accuracy and last loss of both runs. Second: the
greatest difference between the integer step's new weights and the float64 step's from the same dequantized weights
and inputs, over seeded batches of the trained model; batches where a hidden unit is on in one run and off in the
other are counted and reported apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays import ReLU
from circuitize.circuits.arrays.composite import expand_composites
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import ReLU as IntegerReLU
from circuitize.circuits.program import Program, to_reals
from circuitize.circuits.quantize import quantize
from circuitize.circuits.simplify import simplify
from circuitize.frontends.datasets import Split, accuracy, digits
from circuitize.frontends.training import predict
from circuitize.sims import integer, real

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import digits as example


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--splits", type=int, default=5)
    arguments.add_argument("--batches", type=int, default=100)
    chosen = arguments.parse_args()
    step = example.step()
    integers = quantize(step)
    print(f"digits 64-32-10, {example.RECIPE.epochs} epochs of batches of {example.RECIPE.batch}")
    print(f"{'':>6}{'test accuracy':>20}{'last loss':>20}{'CPU-ms per step':>20}")
    print(f"{'split':>6}" + f"{'float64':>10}{'integers':>10}" * 3)
    rows, trained = [], {}
    for seed in range(chosen.splits):
        split = digits(seed)
        start = time.process_time()
        floats = last(real.train(step, example.MODEL.initial(seed), example.RECIPE.batches(split)))
        middle = time.process_time()
        exact = last(integer.train(integers, example.MODEL.initial(seed), example.RECIPE.batches(split)))
        seconds = time.process_time() - middle
        trained = {port.name: to_reals(port.format, exact[port.name]) for port in integers.outputs if port.format}
        row = (tested(floats, split), tested(trained, split), float(floats["loss"]), float(trained["loss"]))
        rows.append(row)
        steps = sum(1 for _ in example.RECIPE.batches(split))
        print(
            f"{seed:>6}{row[0]:>10.2%}{row[1]:>10.2%}{row[2]:>10.5f}{row[3]:>10.5f}"
            f"{(middle - start) / steps * 1000:>10.3f}{seconds / steps * 1000:>10.3f}",
            flush=True,
        )
    mean = np.mean(rows, axis=0)
    print(f"{'mean':>6}{mean[0]:>10.2%}{mean[1]:>10.2%}{mean[2]:>10.5f}{mean[3]:>10.5f}")
    errors(step, integers, trained, digits(chosen.splits - 1), chosen.batches)


def last(steps: Any) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for outputs in steps:  # noqa: B007
        pass
    return outputs


def tested(parameters: dict[str, Any], split: Split) -> float:
    program = predict(example.MODEL, len(split.test_labels))
    inputs = {name: parameters[name] for name in (port.name for port in program.inputs) if name != "inputs"}
    return accuracy(real.run(program, {**inputs, "inputs": split.test_inputs})["outputs"], split.test_labels)


def errors(step: Program, integers: Program, trained: dict[str, Any], split: Split, count: int) -> None:
    """Print the greatest weight error over `count` seeded batches of the trained model, mask flips apart."""
    batches = replace(example.RECIPE, seed=1, epochs=2).batches(split)
    arrow = simplify(expand_composites(step.arrow))
    without, flipped = [], []
    for _, batch in zip(range(count), batches, strict=False):
        inputs = {**{p.name: trained[p.name] for p in integers.inputs if p.name in trained}, **batch}
        exact = integer.trace(integers, inputs)
        ordered = [real.to_floats(port, inputs[port.name]) for port in step.inputs]
        floats = fold(arrow, ordered, lambda _, operation, values: operation.run(*values), keep=True)
        worst = 0.0
        for port, wire, real_wire in zip(integers.outputs, integers.arrow.outputs, arrow.outputs, strict=True):
            if port.name in trained and port.name != "loss" and port.format is not None:
                difference = np.abs(to_reals(port.format, exact[wire]) - floats[real_wire]).max()
                worst = max(worst, float(difference))
        flips = sum(
            int((a != b).sum())
            for a, b in zip(masks(integers.arrow, exact, IntegerReLU), masks(arrow, floats, ReLU), strict=True)
        )
        (flipped if flips else without).append(worst)
    print(f"weight error over {len(without)} batches without a mask flip: greatest {max(without, default=0):.2e}")
    print(f"weight error over {len(flipped)} batches with one: greatest {max(flipped, default=0):.2e}")


def masks(arrow: Arrow, values: Any, kind: type) -> list[NDArray[np.bool_]]:
    return [values[edge.targets[0]] > 0 for edge in arrow.edges() if isinstance(edge.operation, kind)]


if __name__ == "__main__":
    main()
