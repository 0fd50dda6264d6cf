"""Tensor proofs of whole training steps: plan, witness, proof by phase, verification, sizes, memory; beside estimates.

Usage: python benchmarks/tensor.py [PROGRAM ...] [--all] [--fit]   (default: iris, digits, 784-128-10 at batch 64)

Each program runs in processes of its own: a proof by itself, and one of a step of a run, whose inputs are known to be
in format and committed to already. A proof includes every commitment that is new and every opening; process start,
reading and planning a program are apart. --all adds the other losses and optimisers, a convolutional network, and
networks of one and of ten million parameters. --fit prints the constants of `provers/tensor/cost.py` that predict these
times and this memory best, and how far they are off.

The figures to beat, on two cores: 784-128-10 in 0.6 s, a million parameters in 3 s, ten million in 30 s and 12 GB,
verification in 0.1 s, proofs of 2 MB; for digits, EZKL's best tuning takes 9.6 processor seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = ["iris.py:step", "digits.py:step", "mnist_mlp.py:step64"]
OTHERS = ["digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam", "cnn.py:step", "mlp_1m.py:step"]
LARGE = ["mlp_10m.py:step", "mlp_10m.py:deep"]
ALONE, IN_A_RUN = "alone", "step of a run"
REPEATS = 3


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, processor seconds of all threads, and wall-clock seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def measure(name: str, mode: str) -> dict[str, Any]:
    """One program: the proof of least processor time, which the native verifier accepts."""
    from circuitize.api.named import exact_named
    from circuitize.backends.tensor.groups import INPUT, input_groups
    from circuitize.circuits.values import to_integers
    from circuitize.provers.tensor.cost import HELD, sizes, work
    from circuitize.provers.tensor.plan import plan
    from circuitize.provers.tensor.prover import commit, prove_values
    from circuitize.provers.tensor.verifier import refusal

    program = exact_named(str(EXAMPLES / name)).integer
    assumed = HELD.intersection(input_groups(program)) if mode == IN_A_RUN else frozenset()
    inputs = {port.name: to_integers(port, program.examples[0][port.name], "example") for port in program.inputs}
    made, _, planning = measured(lambda: plan(program, assumed=assumed))
    assert made.native
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (trace, values), _, witness = measured(lambda: ((t := made.trace(inputs)), made.values(t)))
    kept = {(INPUT, own): commit(made, trace, (INPUT, own), bytes(32)) for own in assumed}
    repeats = 1 if name in LARGE else REPEATS
    runs = [measured(lambda: prove_values(program, made, trace, values, kept=kept)) for _ in range(repeats)]
    proved, cpu, wall = min(runs, key=lambda run: float(run[1]))
    trusted = {own: proved.statement.roots[INPUT, own] for own in assumed}
    check = partial(refusal, program, proved.statement, proved.proof, made, trusted=trusted)
    reason, checking_cpu, checking = measured(check)
    assert reason is None, reason
    return {
        "program": name,
        "mode": mode,
        "plan_seconds": planning,
        "witness_seconds": witness,
        "prove_seconds": wall,
        "prove_cpu_seconds": cpu,
        "phases": proved.proof.phases,
        "verify_seconds": checking,
        "verify_cpu_seconds": checking_cpu,
        "proof_bytes": len(proved.proof.encode()),
        "bytes_before": before * 1024,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "work": work(made, assumed),
        "expected": sizes(made, assumed),
    }


def show(row: dict[str, Any]) -> None:
    """One program's figures, and how far the estimates are from them."""
    expected = row["expected"]
    phases = ", ".join(f"{name} {seconds:.3f}" for name, seconds in row["phases"].items())

    def off(estimate: str, found: float) -> str:
        return f"estimate {100 * (expected[estimate] / found - 1):+.0f} %"

    print(f"{row['program']}, {row['mode']}: {expected['committed']:,} committed, {expected['lookups']:,} looked up")
    print(f"  plan {row['plan_seconds']:.2f} s, witness {row['witness_seconds']:.3f} s")
    seconds = f"{row['prove_seconds']:.3f} s, {row['prove_cpu_seconds']:.3f} CPU-seconds"
    print(f"  proof {seconds} ({off('prover_cpu_seconds', row['prove_cpu_seconds'])}; {phases})")
    size = f"{row['proof_bytes'] / 1e3:.0f} kB ({off('proof_bytes', row['proof_bytes'])})"
    checking = f"{row['verify_seconds'] * 1e3:.1f} ms, {row['verify_cpu_seconds'] * 1e3:.1f} CPU-ms"
    print(f"  {size}, verified in {checking}")
    memory = f"{row['peak_bytes'] / 1e6:.0f} MB ({off('prover_bytes', row['peak_bytes'])})"
    print(f"  {expected['security_bits']:.1f} bits, {memory}")


def fit(rows: list[dict[str, Any]]) -> None:
    """The constants, none below 0, of least squared relative error."""
    import numpy as np
    from scipy.optimize import nnls

    for name, measure in (("SECONDS", "prove_cpu_seconds"), ("BYTES", "peak_bytes")):
        found = np.array([row[measure] for row in rows])
        work = np.array([row["work"] for row in rows]) / found[:, None]
        scale = work.max(axis=0)
        constants = nnls(work / scale, np.ones(len(rows)))[0] / scale
        errors = work @ constants - 1
        numbers = ", ".join(f"{constant:.2e}" for constant in constants)
        print(f"{name} = ({numbers}), off by {100 * abs(errors).max():.0f} % at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    parser.add_argument("--all", action="store_true", help="measure all programs")
    parser.add_argument("--rows", type=Path, help="write all figures to a file, a line of JSON each")
    parser.add_argument("--fit", action="store_true", help="fit the constants of the estimates")
    parser.add_argument("--one", choices=(ALONE, IN_A_RUN), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.programs[0], options.one)))
        return
    rows = []
    for name in [*PROGRAMS, *OTHERS, *LARGE] if options.all else options.programs:
        for mode in (ALONE, IN_A_RUN):
            command = [sys.executable, __file__, name, "--one", mode]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            show(rows[-1])
    if options.rows:
        options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if options.fit:
        fit(rows)


if __name__ == "__main__":
    main()
