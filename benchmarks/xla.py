"""The integer executor by XLA beside numpy's: operations, contractions, whole steps, and what compiling takes.

Usage: python benchmarks/xla.py [operations] [contractions] [steps] [--seconds S] [--programs PROGRAM ...]

All is checked to be equal to the bit before it is timed. Times are processor time of one thread, the sides in turn,
the least of each; compiling is told apart. What XLA is given lies on its device already; what it gives is taken off it
as int64, as numpy's is.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"

import jax
import numpy as np

from circuitize.api.named import exact_named
from circuitize.circuits import integers
from circuitize.circuits.builder import generator
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import View
from circuitize.circuits.integers.contraction import multiply_matrices
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_integers
from circuitize.sims import integer
from circuitize.sims.executor import Executor
from circuitize.sims.xla.compiled import Compiled
from circuitize.sims.xla.contraction import Kind, kinds, multiply
from circuitize.sims.xla.device import processor

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = [
    *("iris.py:step", "digits.py:step", "digits.py:adam", "cnn.py:step", "transformer.py:step"),
    *("mnist_mlp.py:step64", "mlp_1m.py:step", "mlp_10m.py:step"),
]
SIZE = 768
OPERANDS = [(14, 14), (24, 24), (40, 11)]
"""Bits of the operands of contractions, signs apart."""

Work = Callable[[], Any]


def least(works: Sequence[Work], seconds: float = 0.0, turns: int = 3) -> list[float]:
    """The least processor time of each in milliseconds, in turn for so many seconds and at least so many times."""
    found = [float("inf")] * len(works)
    end, turn = time.perf_counter() + seconds, 0
    while turn < turns or time.perf_counter() < end:
        turn += 1
        for place, work in enumerate(works):
            start = time.process_time()
            jax.block_until_ready(work())
            found[place] = min(found[place], (time.process_time() - start) * 1e3)
    return found


def compared(ours: Callable[[], list[Any]], theirs: Work, against: Work, seconds: float) -> tuple[float, float, float]:
    """Seconds of the first run, which compiles, and the least milliseconds of a run of `ours` and of one of `against`.

    What `ours` gives, taken off the device as int64, is what `theirs` gives, to the bit.
    """

    def taken() -> list[Any]:
        return [processor().take(value) for value in ours()]

    start = time.process_time()
    found = taken()
    compiling = time.process_time() - start
    for one, expected in zip(found, theirs(), strict=True):
        np.testing.assert_array_equal(one, expected, strict=True)
    mine, other = least([taken, against], seconds)
    return compiling, mine, other


def ten() -> list[tuple[str, Arrow]]:
    """Ten operations that a port may get wrong: signs, ties, shifts, views that reach outside, equal indices."""
    shape = (512, 512)
    wide, positive = Fixed(shape, 0, -(1 << 40), 1 << 40), Fixed(shape, 0, 1, 1 << 20)
    places, table = Fixed((512,), 0, 0, 511), np.arange(60_001) % 9973
    view = View.window(shape, (0, 1), (3, 3))
    return [
        ("floor division", generator(integers.Divide(), wide, positive)),
        ("floor square root", generator(integers.SquareRoot(), Fixed(shape, 0, 0, (1 << 62) - 1))),
        ("shift of negatives", generator(integers.Shift(13), wide)),
        ("first of equals", generator(integers.ArgMax(1), Fixed(shape, 0, -2, 2))),
        ("gather", generator(integers.Gather(0), wide, places)),
        ("add at places", generator(integers.ScatterAdd(0, 512), wide, places)),
        ("lookup", generator(integers.Lookup(-30_000, table, 0), Fixed(shape, 0, -30_000, 30_000))),
        ("windows of 3 x 3", generator(integers.Reindex(view), Fixed(shape, 0, -50_000, 50_000))),
        ("their sum", generator(integers.Sum(view), Fixed((510, 510, 3, 3), 0, -9, 9))),
        ("check", generator(integers.Check(-(1 << 40), 1 << 40), wide.with_interval(-(1 << 42), 1 << 42))),
    ]


def operations(seconds: float) -> None:
    random, device = np.random.default_rng(1), processor()
    print(f"{'operation':<22}{'compile s':>10}{'XLA ms':>10}{'numpy ms':>10}{'ratio':>8}")
    for name, arrow in ten():
        formats = [arrow.format(wire) for wire in arrow.inputs.tolist()]
        inside = [min(format.high, 1 << 40) for format in formats] if name == "check" else [f.high for f in formats]
        values = [
            random.integers(max(format.low, -high), high, format.shape, endpoint=True)
            for format, high in zip(formats, inside, strict=True)
        ]
        run, numpy, there = Compiled(arrow, device).outputs, Executor(arrow).outputs, list(map(device.put, values))
        compiling, *times = compared(partial(run, there), partial(numpy, values), partial(numpy, values), seconds)
        print(f"{name:<22}{compiling:>10.2f}{shown(times)}", flush=True)


def contractions(seconds: float) -> None:
    """Every kind by which a product of 768^3 is exact, against one of float32."""
    random, device, letters = np.random.default_rng(1), processor(), ("ab", "bc", "ac")
    singles = [device.put(random.normal(size=(SIZE, SIZE)).astype(np.float32)) for _ in range(2)]
    float32 = jax.jit(lambda x, y: jax.numpy.matmul(x, y, precision="highest"))
    print(f"{'bits':<10}{'kind':<10}{'products':>9}{'ms':>10}{'of float32':>12}")
    for bits in OPERANDS:
        x, y = (random.integers(1 - (1 << most), 1 << most, (SIZE, SIZE)) for most in bits)
        expected, intervals = x @ y, [(1 - (1 << most), (1 << most) - 1) for most in bits]
        there = [
            device.put(value.astype(np.int32 if most < 32 else np.int64))
            for value, most in zip((x, y), bits, strict=True)
        ]
        name = f"{bits[0]} x {bits[1]}"
        for kind in [*kinds(SIZE, *intervals), Kind("integers")]:
            if kind.products <= 30:
                with jax.enable_x64(True):
                    work = jax.jit(lambda x, y, kind=kind: [multiply(letters, x, y, kind, np.int64)])
                    _, ours, one = compared(
                        partial(work, *there), partial(list, [expected]), partial(float32, *singles), seconds
                    )
                print(f"{name:<10}{kind.name:<10}{kind.products:>9}{ours:>10.2f}{ours / one:>11.2f}x", flush=True)
        theirs, one = least([partial(multiply_matrices, x, y), partial(float32, *singles)], seconds)
        print(f"{name:<10}{'numpy':<10}{'':>9}{theirs:>10.2f}{theirs / one:>11.2f}x", flush=True)


def steps(seconds: float, programs: Sequence[str]) -> None:
    device = processor()
    print(f"{'program':<28}{'operations':>11}{'compile s':>10}{'XLA ms':>10}{'numpy ms':>10}{'ratio':>8}")
    for name in programs:
        program = exact_named(str(EXAMPLES / name)).integer
        values = [to_integers(port, program.examples[0][port.name], "example") for port in program.inputs]
        run, numpy = Compiled(program.arrow, device).outputs, integer.executor(program).outputs
        there = list(map(device.put, values))
        compiling, *times = compared(partial(run, there), partial(numpy, values), partial(numpy, values), seconds)
        print(f"{name:<28}{program.arrow.edge_count:>11,}{compiling:>10.2f}{shown(times)}", flush=True)


def shown(times: Sequence[float]) -> str:
    ours, theirs = times
    return f"{ours:>10.3f}{theirs:>10.3f}{ours / theirs:>7.2f}x"


PARTS = ("operations", "contractions", "steps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, help="FILE:NAME in the examples")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each pair runs")
    chosen = parser.parse_args()
    for part in chosen.parts:
        if part not in PARTS:
            parser.error(f"expected parts among {', '.join(PARTS)}, found {part!r}")
    if "operations" in chosen.parts:
        operations(chosen.seconds)
    if "contractions" in chosen.parts:
        contractions(chosen.seconds)
    if "steps" in chosen.parts:
        steps(chosen.seconds, chosen.programs)
    print(f"{processor().name}, numpy {np.__version__}")


if __name__ == "__main__":
    main()
