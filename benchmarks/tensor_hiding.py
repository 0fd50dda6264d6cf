"""What zero knowledge costs: tensor proofs that hide beside those that do not, in turn, in one process.

Usage: python benchmarks/tensor_hiding.py [PROGRAM ...]   (default: iris, digits, 784-128-10, a million parameters)

Processor milliseconds of a proof with all its commitments, witness apart, and of its verification: the least of PAIRS.
The limits that this is built for, as ratios of proofs: digits 2, a million parameters 1.25, ten million in eight layers
(mlp_10m.py:deep) 1.1; 300 kB for digits, 1.05 MB for ten million.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from circuitize.api.named import exact_named
from circuitize.circuits.values import to_integers
from circuitize.provers.tensor.plan import OPENINGS, plan
from circuitize.provers.tensor.prover import prove_values
from circuitize.provers.tensor.verifier import refusal

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = ["iris.py:step", "digits.py:step", "mnist_mlp.py:step64", "mlp_1m.py:step"]
PAIRS = 4


def spent(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and processor milliseconds of all threads."""
    start = time.process_time()
    return work(), 1e3 * (time.process_time() - start)


def measure(name: str) -> None:
    """Print a row: figures of proofs that hide, of those that do not, and what one is to the other."""
    program = exact_named(str(EXAMPLES / name)).integer
    inputs = {port.name: to_integers(port, program.examples[0][port.name], "example") for port in program.inputs}
    made = plan(program)
    plans = (made.hiding(OPENINGS), made)
    trace = made.trace(inputs)
    proving, checking, size = [1e9, 1e9], [1e9, 1e9], [0, 0]
    for _ in range(PAIRS):
        for kind, own in enumerate(plans):
            values = own.values(trace)
            proved, milliseconds = spent(partial(prove_values, program, own, trace, values))
            reason, check = spent(partial(refusal, program, proved.statement, proved.proof, own))
            assert reason is None, reason
            proving[kind], checking[kind] = min(proving[kind], milliseconds), min(checking[kind], check)
            size[kind] = len(proved.proof.encode())
    columns = [*(f"{x:,.1f}" for x in proving), f"{proving[0] / proving[1]:.2f}"]
    columns += [*(f"{x / 1e3:,.0f} kB" for x in size), *(f"{x:,.1f}" for x in checking)]
    print(f"| {name} | {' | '.join(columns)} |", flush=True)


def main() -> None:
    print("| step | prove | without | ratio | proof | without | verify | without |")
    print("|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or PROGRAMS:
        measure(name)


if __name__ == "__main__":
    main()
