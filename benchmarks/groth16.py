"""Proving cost of the native Groth16 prover, beside stock ark-groth16 on the same matrices.

Run as `python benchmarks/groth16.py`. It builds the native crate with the feature `stock` (a minute or two) and
proves a synthetic system shaped like a training step's: two thirds rows b (b - 1) = 0, one third products of 16-bit
signed values.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from measuring import measured, peak
from numpy.typing import NDArray

CRATE = Path(__file__).resolve().parents[1] / "provers" / "native" / "python"
PRIME = 21888242871839275222246405745257275088548364400416034343698204186575808495617
PUBLIC = 16
LIMB = (1 << 64) - 1

Arrays = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]


def build() -> ModuleType:
    """The native module with the feature `stock`, from the crates' target folder."""
    cargo = shutil.which("cargo")
    if cargo is None:
        sys.exit("cargo is not on the path; remedy: install Rust (https://rustup.rs)")
    target = CRATE.parent / "target" / "stock"
    subprocess.run(
        [cargo, "build", "--release", "--features", "stock", "--target-dir", str(target)], cwd=CRATE, check=True
    )
    suffix = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
    prefix = "" if sys.platform == "win32" else "lib"
    library = str(target / "release" / f"{prefix}circuitize_native.{suffix}")
    loader = ExtensionFileLoader("_native", library)
    specification = importlib.util.spec_from_file_location("_native", library, loader=loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    loader.exec_module(module)
    return module


def rows(counts: NDArray[Any], wires: NDArray[Any], coefficients: NDArray[Any]) -> Arrays:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return offsets, wires.astype(np.uint32), coefficients.astype(np.int64)


def limbs(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Signed integers modulo the prime, four little-endian limbs each."""
    distinct, inverse = np.unique(values, return_inverse=True)
    table = [[int(value) % PRIME >> 64 * i & LIMB for i in range(4)] for value in distinct.tolist()]
    return np.array(table, np.uint64)[inverse]


def synthetic(count: int) -> tuple[tuple[Any, ...], NDArray[np.uint64]]:
    """The system's arrays as the native prover takes them, and a witness."""
    random = np.random.default_rng(0)
    products = count // 3
    bits = count - products
    values = [np.ones(1, np.int64), random.integers(-1000, 1000, PUBLIC), random.integers(0, 2, bits)]
    x, y = random.integers(-(2**15), 2**15, (2, products))
    first = 1 + PUBLIC
    bit, left, right, product = np.split(
        np.arange(first, first + bits + 3 * products), np.cumsum([bits, products, products])
    )
    one, zero = np.ones(count, np.int64), np.zeros(bits, np.int64)
    a = rows(one, np.concatenate([bit, left]), one)
    b = rows(
        np.concatenate([zero + 2, one[:products]]),
        np.concatenate([np.stack([zero, bit], axis=1).reshape(-1), right]),
        np.concatenate([np.tile([-1, 1], bits), one[:products]]),
    )
    c = rows(np.concatenate([zero, one[:products]]), product, one[:products])
    large = np.zeros((0, 4), np.uint64)
    witness = limbs(np.concatenate([*values, x, y, x * y]))
    return (a, b, c, large, len(witness), PUBLIC), witness


def resident() -> int:
    """Bytes of this process's memory now (Linux), else 0."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=(1 << 18) - PUBLIC - 1, help="default: a full domain of 2^18")
    parser.add_argument("--runs", type=int, default=3, help="runs of each prover; the median counts")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    native = build()
    system, witness = synthetic(arguments.rows)
    key, setup_cpu, setup_wall = measured(lambda: native.groth16_setup(system, bytes(32)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proving.key"
        with path.open("wb") as file:
            file.writelines(key.chunks())
        size = path.stat().st_size
        key, read_cpu, _ = measured(lambda: native.Groth16ProvingKey.read(path))
    before = resident()

    def ours() -> dict[str, float]:
        proof, phases = native.groth16_prove(key, system, witness)
        assert native.groth16_verify(key.verifying_key, witness[1 : 1 + PUBLIC], proof) is None
        return dict(phases)

    runs = sorted((measured(ours) for _ in range(arguments.runs)), key=lambda run: run[1])
    phases, ours_cpu, ours_wall = runs[len(runs) // 2]
    most = peak()
    stock = native.StockGroth16(system, witness)

    def theirs() -> None:
        assert stock.prove()

    stock_runs = sorted((measured(theirs) for _ in range(arguments.runs)), key=lambda run: run[1])
    _, stock_cpu, stock_wall = stock_runs[len(stock_runs) // 2]
    table = {
        "rows": arguments.rows,
        "wires": system[4],
        "domain": key.domain,
        "setup_cpu_seconds": setup_cpu,
        "setup_seconds": setup_wall,
        "proving_key_bytes": size,
        "read_key_cpu_seconds": read_cpu,
        "prove_cpu_seconds": ours_cpu,
        "prove_seconds": ours_wall,
        "rows_per_cpu_second": arguments.rows / ours_cpu,
        "resident_bytes_before": before,
        "peak_bytes": most,
        "phases": phases,
        "stock_prove_cpu_seconds": stock_cpu,
        "stock_prove_seconds": stock_wall,
        "stock_rows_per_cpu_second": arguments.rows / stock_cpu,
        "times_stock": stock_cpu / ours_cpu,
    }
    if arguments.json:
        print(json.dumps(table))
        return
    print(f"{arguments.rows:,} rows, {system[4]:,} wires, {PUBLIC} publics, domain {key.domain:,}")
    print(f"setup {setup_cpu:.2f} CPU-s; proving key {size / 1e6:.1f} MB, read in {read_cpu:.2f} CPU-s")
    print(f"{'':24}{'CPU-s':>8}{'wall s':>8}{'rows per CPU-s':>16}")
    for name, cpu, wall in (("circuitize", ours_cpu, ours_wall), ("stock ark-groth16 0.6", stock_cpu, stock_wall)):
        print(f"{name:24}{cpu:8.2f}{wall:8.2f}{arguments.rows / cpu:16,.0f}")
    print(f"{stock_cpu / ours_cpu:.2f} times stock; peak memory {most / 2**20:,.0f} MiB, key and setup included")
    print("phases (wall s): " + ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in phases.items()))


if __name__ == "__main__":
    main()
