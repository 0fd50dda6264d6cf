"""Resets training steps in hardware at random cycles: the state must always be the last one kept.

    python benchmarks/verilog_resets.py examples/iris.py:step examples/digits.py:step --resets 500

Frames are the program's examples, values near them, ends of intervals and random values; some have no value, so that
their status is 1 and the state stays. Exit status 1 where any beat differs from the integer executor's.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rtl_resets import check_resets

from circuitize.api.named import exact_named
from circuitize.backends.verilog.bound import design
from circuitize.sims.rtl.frames import bound_somehow, frames_to_try


def main() -> int:
    parser = argparse.ArgumentParser(description="Resets training steps in hardware at random cycles.")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--resets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gaps", type=int, help="the seed of gaps and stalls; none without it")
    parser.add_argument("--simulator", default="verilator")
    options = parser.parse_args()
    wrong = 0
    for name in options.programs:
        made = bound_somehow(exact_named(name).integer)
        frames = frames_to_try(made, 3 * options.resets + 8, options.seed)
        start = time.perf_counter()
        arguments = (options.resets, options.seed, options.simulator, options.gaps)
        found = check_resets(design(made, "folded", {}), made.program, frames, made.initial, *arguments)
        told = found.first_difference or "the state is always the last one kept"
        print(
            f"{name}: {found.resets} resets, {found.ended} frames ended, {found.beats:,} beats compared, "
            f"{time.perf_counter() - start:.0f} s: {told}",
            flush=True,
        )
        wrong += found.first_difference is not None
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
