"""Runs of training: many steps in one proof, in zero knowledge.

Usage: python benchmarks/runs.py [PROGRAM=STEPS ...] [--not-zero-knowledge] [--json]   (default: digits at 64, 1,024 and
4,096 steps, cross-entropy and Adam, the convolutional network, the transformer block, a million parameters)

The dataset is the program's own examples, the scalars those of the first. Processor milliseconds a step of the proof of
steps (the executor's run before it included), memory at its most, bytes of that proof and of that of formats, and
milliseconds of the verifier, plans apart. Peers: Kaizen, 15 minutes a step of ten million parameters, 1.63 MB whatever
the steps, verified in 130 ms; 205fb4c, 50 digits steps side by side in one proof in the clear: 6.2 ms a step, 673 kB.
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measuring import Measurement, example, peak, table, timed

COLUMNS = ("steps", "step_ms", "peak_gb", "proof_bytes", "formats_bytes", "verify_ms", "bits")
RUNS = (
    *("digits.py:step=64", "digits.py:step=1024", "digits.py:step=4096", "digits_xent.py:adam=128"),
    *("cnn.py:step=16", "transformer.py:step=16", "mlp_1m.py:step=4"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"default: {' '.join(RUNS)}")
    parser.add_argument("--not-zero-knowledge", action="store_true", help="proofs that hide nothing")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(figures(options.programs[0], not options.not_zero_knowledge)))
        return
    kind = ["--not-zero-knowledge"] if options.not_zero_knowledge else []
    table(__file__, [Measurement(run, kind) for run in options.programs or RUNS], COLUMNS, options.json)


def figures(name: str, hides: bool) -> dict[str, Any]:
    """Everything once, in this process."""
    import numpy as np

    from circuitize.backends.tensor.dataset import batch_ports, whole
    from circuitize.circuits.port import Role
    from circuitize.circuits.quantize import quantize
    from circuitize.circuits.values import to_integers
    from circuitize.provers.tensor.runs.checking import check, security_bits
    from circuitize.provers.tensor.runs.files import FORMATS, read_manifest, step_path
    from circuitize.provers.tensor.runs.proving import prove_run
    from circuitize.provers.tensor.runs.setting import Run

    file, _, count = name.partition("=")
    steps = int(count)
    program = quantize(example(file))
    first, ports = program.examples[0], batch_ports(program)
    every = {port.name: np.concatenate([batch[port.name] for batch in program.examples]) for port in ports}
    size = len(every[ports[0].name])
    data = {port.name: to_integers(whole(port, size), every[port.name], "data") for port in ports}
    held = {port.name: to_integers(port, first[port.name], "start") for port in program.inputs if port.held}
    scalars = {p.name: Fraction(float(first[p.name])) for p in program.inputs if p.role is Role.SCALAR}
    run = Run(program, size, steps, b"benchmark", lambda _: scalars, steps, zero_knowledge=hides)
    run.require_plans()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        made = prove_run(run, held, data, folder, Path(scratch) / "kept")
        _, checked = timed(lambda: check(run, folder, read_manifest(folder)))
        return {
            "steps": steps,
            "step_ms": 1e3 * made.cpu_seconds[0] / steps,
            "peak_gb": peak() / 1e9,
            "proof_bytes": step_path(folder, 1).stat().st_size,
            "formats_bytes": (folder / FORMATS).stat().st_size,
            "verify_ms": 1e3 * checked,
            "bits": security_bits(run),
        }


if __name__ == "__main__":
    main()
