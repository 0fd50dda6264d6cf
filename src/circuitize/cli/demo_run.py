"""The last part of the demo: the whole training run is proved in a few proofs and evaluated on the test set, and
forgeries are refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from circuitize.api.runs.proving import ProvedRun, prove_run
from circuitize.api.runs.tampering import one_right_answer_more, with_claim, without_last_proof
from circuitize.api.runs.verdict import RunVerdict
from circuitize.api.runs.verifying import verify_run
from circuitize.api.tampering import Attempt
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json
from circuitize.frontends.datasets import Recipe, Split
from circuitize.frontends.layers import Model

from .output import progress, show

SEED, START = "5eed", "c0ffee"
"""Seeds of the order of examples and of the first weights: a verifier would take both from a beacon."""


@dataclass(frozen=True)
class Training:
    """A training run of the demo: its step, the program that evaluates its final values, its model and recipe, and the
    data for training and testing.
    """

    step: Program
    judge: Program
    model: Model
    recipe: Recipe
    split: Split

    @property
    def steps(self) -> int:
        """Return the number of steps in the run: the whole batches in all epochs."""
        return self.recipe.epochs * (len(self.split.train_labels) // self.recipe.batch)

    @property
    def public(self) -> Json:
        """Return the settings of the run on which prover and verifier agree."""
        test = {"inputs": self.split.test_inputs, "targets": self.split.test_targets}
        begun = {"initial_seed": START, "model": self.model, "schedule": self.recipe}
        return begun | {"steps": self.steps, "seed": SEED, "evaluate": self.judge, "test": test}

    def prove(self, folder: Path) -> ProvedRun:
        """Prove the whole run and the evaluation of its final values, and write the proofs to a folder."""
        data = {"inputs": self.split.train_inputs, "targets": self.split.train_targets}
        return prove_run(self.step, folder, **self.public, dataset=data, public_test=True, progress=show)

    def verify(self, folder: Path, **other: object) -> RunVerdict:
        """Return the verdict on a run's folder; the arguments `other` replace some of the verifier's requirements."""
        return verify_run(self.step, folder, **{**self.public, **other})


def shown_run(training: Training, folder: Path, say: Callable[[str], object]) -> Json:
    """Prove a whole training run, verify the run, try to forge it, and return a report."""
    start = time.perf_counter()
    made = training.prove(folder)
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
    attempts = _attempts(training, folder)
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


def _attempts(training: Training, folder: Path) -> list[Attempt]:
    """Return the attacks that a forger might try, or false claims that a mistaken verifier might require, each with the
    reason why it is refused.
    """
    changed: dict[str, Callable[[Path], None]] = {
        "one right answer more": one_right_answer_more,
        "the last proof left out": without_last_proof,
    }
    rate = replace(training.recipe, learning_rate=training.recipe.learning_rate * 2)  # type: ignore[operator]
    others: dict[str, Json] = {
        "twice the learning rate": {"schedule": rate},
        "other first weights": {"initial_seed": "00"},
    }
    found: list[Attempt] = []
    with TemporaryDirectory(prefix="circuitize-") as scratch, progress("attacking the run"):
        for number, (tried, change) in enumerate(changed.items()):
            copy = Path(copytree(folder, Path(scratch) / str(number)))
            change(copy)
            found.append(Attempt(tried, training.verify(copy).reason))
        copy = Path(copytree(folder, Path(scratch) / "claimed"))
        with_claim(copy, seed="00")
        found.append(Attempt("another order of examples, claimed", training.verify(copy, seed="00").reason))
        found += [Attempt(tried, training.verify(folder, **other).reason) for tried, other in others.items()]
    return found
