"""Tensor proofs of whole training steps: plan, witness, proof by phase, verification, sizes, memory.

Usage: python benchmarks/tensor.py [PROGRAM ...]   (default: iris, digits, 784-128-10 at batch 64)

Each program runs in a process of its own. A proof includes every commitment and every opening; process start, reading
and planning a program are apart. The figures to beat, on two cores: 784-128-10 in 0.6 s, a million parameters in 3 s
(mlp_1m.py:step), verification in 0.1 s, proofs of 2 MB; for digits, EZKL's best tuning takes 9.6 processor seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = ["iris.py:step", "digits.py:step", "mnist_mlp.py:step64"]


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, processor seconds of all threads, and wall-clock seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def measure(name: str) -> dict[str, Any]:
    """One program: the best of three proofs, which the native verifier accepts."""
    from circuitize.circuits.program import to_integers
    from circuitize.cli.loading import load_program
    from circuitize.provers.tensor.plan import plan
    from circuitize.provers.tensor.prover import prove_values
    from circuitize.provers.tensor.security import bounds, union
    from circuitize.provers.tensor.verifier import refusal

    program = load_program(str(EXAMPLES / name)).integer
    inputs = {port.name: to_integers(port, program.examples[0][port.name], "example") for port in program.inputs}
    made, _, planning = measured(lambda: plan(program))
    assert made.native
    (trace, values), _, witness = measured(lambda: ((t := made.trace(inputs)), made.values(t)))
    runs = [measured(lambda: prove_values(program, made, trace, values)) for _ in range(3)]
    proved, cpu, wall = min(runs, key=lambda run: float(run[2]))
    reason, _, checking = measured(lambda: refusal(program, proved.statement, proved.proof, made))
    assert reason is None, reason
    return {
        "program": name,
        "plan_seconds": planning,
        "witness_seconds": witness,
        "prove_seconds": wall,
        "prove_cpu_seconds": cpu,
        "phases": proved.proof.phases,
        "verify_seconds": checking,
        "proof_bytes": len(proved.proof.encode()),
        "committed": made.committed,
        "lookups": made.looked_up,
        "security_bits": union(bounds(made)),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def show(row: dict[str, Any]) -> None:
    """One program's figures."""
    phases = ", ".join(f"{name} {seconds:.3f}" for name, seconds in row["phases"].items())
    print(f"{row['program']}: {row['committed']:,} committed, {row['lookups']:,} looked up")
    print(f"  plan {row['plan_seconds']:.2f} s, witness {row['witness_seconds']:.3f} s")
    print(f"  proof {row['prove_seconds']:.3f} s, {row['prove_cpu_seconds']:.3f} CPU-seconds ({phases})")
    print(f"  {row['proof_bytes'] / 1e3:.0f} kB, verified in {row['verify_seconds'] * 1e3:.1f} ms")
    print(f"  {row['security_bits']:.1f} bits, {row['peak_bytes'] / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.programs[0])))
        return
    for name in options.programs:
        done = subprocess.run([sys.executable, __file__, name, "--one"], check=True, capture_output=True, text=True)
        show(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
