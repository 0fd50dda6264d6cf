"""Plans of folded training steps: clocks, multipliers and how busy these are, estimated LUTs and bits, seconds.

python benchmarks/verilog_plans.py [PROGRAM ...] [--dsp-budget N]        PROGRAM is a file of examples/ and a name

A multiplier is busy in a clock in which it makes a product that the program needs. Products are those of shared lanes
and those that units send away; what else a unit multiplies is not counted, so the share is a lower bound.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from example_programs import example  # noqa: E402

from circuitize.backends.verilog.folded.folding import Fold, fold  # noqa: E402
from circuitize.backends.verilog.folded.lending import away  # noqa: E402
from circuitize.backends.verilog.folded.plan import plan  # noqa: E402
from circuitize.backends.verilog.folded.pool import works  # noqa: E402
from circuitize.backends.verilog.folded.schedule import report  # noqa: E402
from circuitize.backends.verilog.folded.search import choose_sizes  # noqa: E402

STEPS = (
    *("iris.py:step", "digits.py:step", "digits.py:adam", "cnn.py:step"),
    *("transformer.py:step", "mnist_mlp.py:step", "mlp_1m.py:step"),
)


def products(folded: Fold) -> int:
    """The products of a frame, of shared lanes and of those sent away."""
    found = sum(works(folded).values())
    for number, stage in enumerate(folded.stages):
        lanes, units = away(folded, number, 1)
        found += stage.size * (stage.terms * len(lanes) + len(units))
    return found


def row(name: str, dsp_budget: int | None) -> str:
    program = example(name).integer
    start = time.process_time()
    made = plan(choose_sizes(fold(program), None, dsp_budget, None))
    seconds = time.process_time() - start
    found, clocks = report(made), made.sizes.interval
    busy = 100 * products(made.sizes.fold) / (made.sizes.dsp * clocks)
    numbers = [f"{found[key]:,}" for key in ("lut", "ff", "bram_bits")]
    cells = [name, f"{clocks:,}", f"{made.sizes.dsp}", f"{busy:.0f} %", *numbers, f"{seconds:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=STEPS, metavar="PROGRAM")
    parser.add_argument("--dsp-budget", type=int, metavar="N")
    options = parser.parse_args()
    print("| step | clocks | multipliers | busy | LUTs | flip-flops | bits in blocks | CPU-seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.programs:
        print(row(name, options.dsp_budget), flush=True)


if __name__ == "__main__":
    main()
