"""The last part of the demo: a whole training run is proved and evaluated on test data, and forgeries are refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from circuitize.api.runs.proving import ProvedRun
from circuitize.api.runs.training_run import Training, forgeries
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json

from .output import progress, show


def shown_run(training: Training, folder: Path, say: Callable[[str], object]) -> Json:
    """Prove a whole training run, verify the run, try to forge it, and return a report."""
    start = time.perf_counter()
    made = training.prove(folder, show)
    proved = time.perf_counter() - start
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    start = time.perf_counter()
    verdict = training.verify(folder)
    seconds = time.perf_counter() - start
    say(
        f"Run       all {made.steps:,} steps by sumchecks, {_proofs(made)}: {proved:.0f} s, {amount_of_bytes(size)}, "
        f"{made.kind}, {made.security_bits:.0f} bits"
    )
    worth = verdict.evaluation
    said = f"valid: {worth.right} of {worth.examples} right on the test set" if worth is not None else verdict.reason
    say(f"Verify    {said}, {seconds:.1f} s; the verifier learns that and {len(verdict.roots)} commitments")
    with progress("attacking the run"):
        attempts = forgeries(training, folder)
    return {
        **made.as_json(),
        "prove_seconds": round(proved, 1),
        "cpu_seconds": round(sum(made.cpu_seconds), 1),
        "verify_seconds": round(seconds, 2),
        "bytes": size,
        "security_bits": round(made.security_bits, 1),
        "zero_knowledge": made.zero_knowledge,
        "valid": verdict.valid,
        "evaluation": worth.as_json() if worth is not None else None,
        "refused": [{"tried": entry.tried, "refusal": entry.refusal} for entry in attempts],
    }


def _proofs(made: ProvedRun) -> str:
    if made.resumed:
        return f"{made.resumed:,} of them proved before"
    return "one proof" if len(made.seconds) == 1 else f"{len(made.seconds)} proofs"
