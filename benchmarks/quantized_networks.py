"""Twenty quantized networks of other systems: bit-equal to their own executors, and their LUTs beside da4ml's Verilog.

Usage: python benchmarks/quantized_networks.py [--rows N] [--synthesize YOSYS] [--kind KIND ...]

Of da4ml, alkaid, HGQ2, QDQ and QONNX, from the seeds that their names say (tests/support/imported_networks.py). The
packages of some lie in .venv-hgq and .venv-qonnx (make .stamps/source-hgq .stamps/source-qonnx), whose Python judges
them. Both designs are one combinational stage of the same sums and bits, synthesized for a 7 series without DSPs;
ours has its handshake and its registers of inputs and outputs besides. da4ml's attributes of memories are left out,
which yosys 0.23 does not map.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

from imported_networks import ENVIRONMENTS, KINDS, Imported, judge  # noqa: E402

STAGE = 1 << 20
"""Adders between registers, so that there is one stage."""
SCRIPT = (
    "read_verilog -defer {files}; hierarchy -top {top}; synth_xilinx -family xc7 -flatten -noiopad -nodsp -top {top}; "
)
SCRIPT += "tee -q -o stat.txt stat"


def luts(files: dict[str, str], top: str, yosys: str) -> int:
    """LUTs that yosys makes of some files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        sources = " ".join(sorted(name for name in files if name.endswith(".v")))
        done = [yosys, "-p", SCRIPT.format(files=sources, top=top)]
        subprocess.run(done, cwd=folder, capture_output=True, text=True, check=True)
        lines = [line.split() for line in (Path(folder) / "stat.txt").read_text().splitlines()]
    return sum(counted(words) for words in lines)


def counted(words: list[str]) -> int:
    """LUTs of a line of yosys' `stat`: a cell before its number, as 0.23 writes it, or behind it."""
    numbers = [int(word) for word in words if word.isdigit()]
    return numbers[0] if numbers and any(word.startswith("LUT") for word in words) else 0


def ours(network: Imported, yosys: str) -> tuple[int, int, int]:
    """LUTs as estimated, as synthesized, and as synthesized without the handshake."""
    from circuitize.backends.verilog.parallel.schedule import Unrolled

    design = Unrolled(network.program(1), STAGE).design()
    files = dict(design.files)
    bare = files | {"bare.v": without_handshake(files[f"{design.top}.v"], design.top)}
    return int(design.report["lut"]), luts(files, design.top, yosys), luts(bare, "bare", yosys)


def without_handshake(text: str, top: str) -> str:
    """A module around a design that offers a right frame and takes all outputs in every clock."""
    ports = re.findall(r"^    (input|output) wire ((?:\[\d+:0\] )?)(\w+)", text, re.MULTILINE)
    outside, pins = [], []
    for way, width, name in ports:
        if name == "clk" or name.endswith("_tdata"):
            outside.append(f"{way} wire {width}{name}")
            pins.append(f".{name}({name})")
        elif way == "input":
            pins.append(f".{name}(1'b{int(name.endswith(('_tvalid', '_tlast', '_tready')))})")
    return f"module bare ({', '.join(outside)});\n  {top} inside ({', '.join(pins)});\nendmodule\n"


def theirs(network: Imported, yosys: str) -> int:
    """LUTs of the Verilog that da4ml writes."""
    from da4ml.codegen import RTLModel

    with tempfile.TemporaryDirectory() as folder:
        RTLModel(network.logic(), "model", folder, flavor="verilog", latency_cutoff=-1, print_latency=False).write()
        found = [path for path in Path(folder).rglob("*") if path.suffix in (".v", ".mem") and "_tb" not in path.name]
        files = {path.name: re.sub(r"\(\*.*?\*\)", "", path.read_text()) for path in found}
    return luts(files, "model", yosys)


def equal(kind: str, rows: int) -> list[dict[str, Any]]:
    """What each network of a kind says of `judge`, in the environment that has its packages."""
    python = ROOT / ENVIRONMENTS[kind] / "bin" / "python"
    command = [str(python), __file__, "--judge", kind, "--rows", str(rows)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"KERAS_BACKEND": "jax"}, check=False
    )
    if done.returncode:
        raise SystemExit(f"{kind}: expected {python} with its packages, found: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000, help="inputs of each network")
    parser.add_argument("--synthesize", metavar="YOSYS", help="count the LUTs of both designs")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--judge", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--size", choices=KINDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.judge:
        for line in judge(arguments.judge, arguments.rows):
            print(line, flush=True)
        return
    if arguments.size:
        for network in KINDS[arguments.size]():
            made = ours(network, arguments.synthesize)
            print(json.dumps([*made, theirs(network, arguments.synthesize), network.exactly]), flush=True)
        return
    print("| from | network | modes | rows | differ | LUT, estimate | LUT | LUT, bare | da4ml | ratio | ratio, bare |")
    print("|---" * 11 + "|")
    ratios: list[tuple[float, float]] = []
    differing = 0
    for kind in arguments.kind or KINDS:
        found = equal(kind, arguments.rows)
        sizes = sized(kind, arguments.synthesize) if arguments.synthesize else [None] * len(found)
        for row, size in zip(found, sizes, strict=True):
            differing += row["differ"]
            cells = [kind, row["name"], row["modes"], f"{row['rows']:,}", str(row["differ"])]
            if size is None:
                cells += [""] * 6
            else:
                *own, other, exactly = size
                ratios.append((own[1] / other, own[2] / other))
                cells += [f"{count:,}" for count in own] + [f"{other:,}{'' if exactly else ' (RND)'}"]
                cells += [f"{ratio:.3f}" for ratio in ratios[-1]]
            print("| " + " | ".join(cells) + " |", flush=True)
    for word, column in zip(("with", "without"), zip(*ratios, strict=True), strict=False):
        mean = math.exp(sum(map(math.log, column)) / len(column))
        print(f"\ngeometric mean of {len(column)} ratios {word} the handshake: {mean:.3f}; greatest {max(column):.3f}")
    sys.exit(1 if differing else 0)


def sized(kind: str, yosys: str) -> list[Any]:
    """LUTs of each network of a kind, where da4ml is."""
    environment = ".venv" if kind == "QONNX" else ENVIRONMENTS[kind]
    command = [str(ROOT / environment / "bin" / "python"), __file__, "--size", kind, "--synthesize", yosys]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"KERAS_BACKEND": "jax"}, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


if __name__ == "__main__":
    main()
