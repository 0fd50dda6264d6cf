"""Accuracy of training in integers beside the same training in float64, and the error of a single step.

Usage: python benchmarks/accuracy.py [PROGRAM ...] [--splits N] [--batches N]   (default: digits with mean squared
error, with cross-entropy and Adam, with Adam at 16 fraction bits, the convolutional network, and the transformers)

A table for each: the example trained on each split, test accuracy and last loss of both runs. Then, for digits.py:step,
the greatest difference between the integer step's new weights and the float64 step's from the same dequantized weights
and inputs, over seeded batches of the trained model; batches where a hidden unit is on in one run and off in the other
are counted and reported apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays import ReLU
from circuitize.circuits.arrays.composite import expand_composites
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import ReLU as IntegerReLU
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.simplify import simplify
from circuitize.circuits.values import to_reals
from circuitize.frontends.datasets import Recipe, Split, accuracy, digits
from circuitize.frontends.layers import Model
from circuitize.frontends.training import predict, start
from circuitize.sims import integer, real

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = (
    *("digits.py:step", "digits_xent.py:adam", "digits_xent.py:adam_sixteen", "cnn.py:step"),
    *("transformer.py:step", "transformer.py:spherical_step"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--batches", type=int, default=100)
    chosen = parser.parse_args()
    sys.path.insert(0, str(EXAMPLES))
    for program in chosen.programs:
        file, _, name = program.partition(":")
        example = import_module(file.removesuffix(".py"))
        recipe = example.RECIPES[name] if hasattr(example, "RECIPES") else example.RECIPE
        model = example.MODELS[name] if hasattr(example, "MODELS") else example.MODEL
        step = getattr(example, name)()
        integers = quantize(step)
        print(f"{program}, {recipe.epochs} epochs of batches of {recipe.batch}")
        trained = table(step, integers, model, recipe, chosen.splits)
        if program == "digits.py:step":
            errors(step, integers, trained, recipe, digits(chosen.splits - 1), chosen.batches)


def table(step: Program, integers: IntegerProgram, model: Model, recipe: Recipe, splits: int) -> dict[str, Any]:
    """Train on every split, a row for each; the last split's parameters, trained in integers."""
    print(f"{'':>6}{'test accuracy':>20}{'last loss':>20}{'CPU-ms per step':>20}")
    print(f"{'split':>6}" + f"{'float64':>10}{'integers':>10}" * 3)
    rows, trained = [], {}
    for seed in range(splits):
        split = digits(seed)
        first = start(step, model, seed)
        begin = time.process_time()
        floats = last(real.train(step, first, recipe.batches(split)))
        middle = time.process_time()
        exact = last(integer.train(integers, first, recipe.batches(split)))
        seconds = time.process_time() - middle
        trained = {port.name: to_reals(port.format, exact[port.name]) for port in integers.outputs if port.format}
        row = (
            tested(model, floats, split),
            tested(model, trained, split),
            float(floats["loss"]),
            float(trained["loss"]),
        )
        rows.append(row)
        steps = sum(1 for _ in recipe.batches(split))
        print(
            f"{seed:>6}{row[0]:>10.2%}{row[1]:>10.2%}{row[2]:>10.5f}{row[3]:>10.5f}"
            f"{(middle - begin) / steps * 1000:>10.3f}{seconds / steps * 1000:>10.3f}",
            flush=True,
        )
    mean = np.mean(rows, axis=0)
    print(f"{'mean':>6}{mean[0]:>10.2%}{mean[1]:>10.2%}{mean[2]:>10.5f}{mean[3]:>10.5f}")
    return trained


def last(steps: Any) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for outputs in steps:  # noqa: B007
        pass
    return outputs


def tested(model: Model, parameters: dict[str, Any], split: Split) -> float:
    program = predict(model, len(split.test_labels))
    inputs = {name: parameters[name] for name in (port.name for port in program.inputs) if name != "inputs"}
    return accuracy(real.run(program, {**inputs, "inputs": split.test_inputs})["outputs"], split.test_labels)


def errors(
    step: Program, integers: IntegerProgram, trained: dict[str, Any], recipe: Recipe, split: Split, count: int
) -> None:
    """Print the greatest weight error over `count` seeded batches of the trained model, mask flips apart."""
    batches = replace(recipe, seed=1, epochs=2).batches(split)
    arrow = simplify(expand_composites(step.arrow))
    without: list[float] = []
    flipped: list[float] = []
    for _, batch in zip(range(count), batches, strict=False):
        inputs = {**{p.name: trained[p.name] for p in integers.inputs if p.name in trained}, **batch}
        exact = integer.trace(integers, integer.rounded(integers, inputs))
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
