"""Seconds to differentiate, simplify and quantize programs of many operations.

Usage: python benchmarks/compiler.py [OPERATIONS ...]   (default 70000 and 200000)

The counts are of the forward program; its step, reverse derivative included, has 2.8 times as many operations.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from circuitize.circuits.arrays import Add, Broadcast, Einsum, Multiply, Negate, ReLU, Subtract
from circuitize.circuits.builder import Builder
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Array, signed

WIDTH, BATCH, LANES = 4, 2, 64


def network(operations: int) -> Arrow:
    """A residual network of about `operations` edges: x + relu(x @ W + b), the same 64 weights over and over."""
    builder = Builder()
    x = builder.input(Array((BATCH, WIDTH)))
    weights = [builder.input(Array((WIDTH, WIDTH))) for _ in range(LANES)]
    biases = [builder.input(Array((WIDTH,))) for _ in range(LANES)]
    for block in range(operations // 5):
        product = builder.add(Einsum("bi,ij->bj"), x, weights[block % LANES])
        offset = builder.add(Broadcast((BATCH, WIDTH), (0,)), biases[(block // 7) % LANES])
        x = builder.add(Add(), x, builder.add(ReLU(), builder.add(Add(), product, offset)))
    return builder.build([x])


def chain(operations: int) -> Arrow:
    """A random program of about `operations` edges, no two wires alike: 64 lanes, products, sums, differences, ReLU."""
    chooser = np.random.default_rng(0)
    builder = Builder()
    lanes = [builder.input(Array((WIDTH,))) for _ in range(LANES)]
    weights = [builder.input(Array((WIDTH,))) for _ in range(LANES)]
    kinds, places = chooser.integers(0, 5, operations).tolist(), chooser.integers(0, LANES, (operations, 2)).tolist()
    for kind, (here, there) in zip(kinds, places, strict=True):
        if kind == 0:
            lanes[here] = builder.add(Multiply(), lanes[here], weights[there])
        elif kind == 1:
            lanes[here] = builder.add(Add(), lanes[here], weights[there])
        elif kind == 2:
            lanes[here] = builder.add(Subtract(), weights[there], lanes[here])
        elif kind == 3:
            lanes[here] = builder.add(ReLU(), lanes[here])
        else:
            lanes[here] = builder.add(Negate(), lanes[here])
    return builder.build(lanes)


def timed(label: str, work: Callable[[], Any]) -> Any:
    start = time.process_time()
    result = work()
    print(f"  {label:<24}{time.process_time() - start:8.2f} CPU-s", flush=True)
    return result


def measure(shape: Callable[[int], Arrow], operations: int, reach: float) -> None:
    print(f"{shape.__name__} of {operations:,} operations")
    forward = timed("build", lambda: shape(operations))
    start = time.process_time()
    step = timed("derive", lambda: reverse_derivative(forward))
    step = timed("simplify", lambda: simplify(step))
    values = np.random.default_rng(1)
    ports, example = [], {}
    for index, type in enumerate(step.source):
        name = f"input{index}"
        ports.append(Port(name, Visibility.COMMITTED, signed(type.shape, 16, 14)))
        example[name] = values.uniform(-reach, reach, type.shape)
    outputs = tuple(Port(f"output{index}", Visibility.PUBLIC) for index in range(len(step.target)))
    program = Program(step, tuple(ports), outputs, (example,))
    integers = timed("quantize", lambda: quantize(program))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"  total {time.process_time() - start:.2f} CPU-s: {step.edge_count:,} operations with the reverse derivative, "
        f"{integers.arrow.edge_count:,} integer operations; peak memory {memory:.2f} GiB"
    )


if __name__ == "__main__":
    gc.disable()
    for count in [int(argument) for argument in sys.argv[1:]] or [70_000, 200_000]:
        measure(network, count, 1e-3)
        measure(chain, count, 0.9)
