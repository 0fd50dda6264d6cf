"""A whole training run that is proved and evaluated on test data, and the forgeries of it that a verifier refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from circuitize.api.tampering import Attempt
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json
from circuitize.frontends.datasets import Recipe, Split
from circuitize.frontends.layers import Model

from .proving import ProvedRun, prove_run
from .tampering import one_right_answer_more, with_claim, without_last_proof
from .verdict import RunVerdict
from .verifying import verify_run

SEED, START = "5eed", "c0ffee"
"""Seeds of the order of examples and of the first weights: a verifier would take both from a beacon."""


@dataclass(frozen=True)
class Training:
    """A training run: its step, the program that evaluates its final values, its model and recipe, and the
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

    def prove(self, folder: Path, progress: Progress = silent) -> ProvedRun:
        """Prove the whole run and the evaluation of its final values, and write the proofs to a folder."""
        data = {"inputs": self.split.train_inputs, "targets": self.split.train_targets}
        return prove_run(self.step, folder, **self.public, dataset=data, public_test=True, progress=progress)

    def verify(self, folder: Path, **other: object) -> RunVerdict:
        """Return the verdict on a run's folder; the arguments `other` replace some of the verifier's requirements."""
        return verify_run(self.step, folder, **{**self.public, **other})


def forgeries(training: Training, folder: Path) -> list[Attempt]:
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
    with TemporaryDirectory(prefix="circuitize-") as scratch:
        for number, (tried, change) in enumerate(changed.items()):
            copy = Path(copytree(folder, Path(scratch) / str(number)))
            change(copy)
            found.append(Attempt(tried, training.verify(copy).reason))
        copy = Path(copytree(folder, Path(scratch) / "claimed"))
        with_claim(copy, seed="00")
        found.append(Attempt("another order of examples, claimed", training.verify(copy, seed="00").reason))
        found += [Attempt(tried, training.verify(folder, **other).reason) for tried, other in others.items()]
    return found
