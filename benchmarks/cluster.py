"""A run whose proofs workers of Ray make on this machine, beside the same run in one process with as many threads.

Usage: python benchmarks/cluster.py [--steps N] [--per-proof T] [--pairs K]   (default: 4,096 digits steps by 256, 3)

Seconds by the clock of the whole command, least of alternating pairs, and without what starts Ray, on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import EXAMPLES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=4096)
    parser.add_argument("--per-proof", type=int, default=256)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {"one process": [], "Ray": []}
    print(f"{'':<14}{'seconds':>10}{'without start':>16}")
    for pair in range(options.pairs):
        for name in list(found)[:: 1 if pair % 2 else -1]:
            found[name].append(seconds(options.steps, options.per_proof, ["--ray"] if name == "Ray" else []))
            print(f"{name:<14}{found[name][-1][0]:>10.1f}{found[name][-1][1]:>16.1f}", flush=True)
    for at, what in ((0, "in all"), (1, "without start")):
        here, there = (min(one[at] for one in found[name]) for name in ("one process", "Ray"))
        print(f"{what}: Ray takes {there / here:.2f} times as long")


def seconds(steps: int, per_proof: int, kind: list[str]) -> tuple[float, float]:
    """By the clock, and without what joins the cluster."""
    with TemporaryDirectory() as scratch:
        command = ["prove-run", f"{EXAMPLES / 'digits.py'}:step", "--steps", str(steps), "--per-proof", str(per_proof)]
        command += ["--seed", "5eed", "-o", str(Path(scratch) / "run"), "--json", *kind]
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "circuitize.cli", *command], capture_output=True, check=True)
        spent = time.perf_counter() - begun
        return spent, spent - json.loads(done.stdout)["phases"].get("cluster", {}).get("seconds", 0.0)


if __name__ == "__main__":
    main()
