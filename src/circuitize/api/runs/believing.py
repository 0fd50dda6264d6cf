"""Limits on the lengths that a run claims of itself: a verifier accepts claims within these limits without requiring
them, so that checking stays quick.
"""

from __future__ import annotations

from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.runs.budget import tensors
from circuitize.provers.tensor.runs.dividing import MOST_CHOSEN, is_heavy, is_heavy_to_judge
from circuitize.provers.tensor.runs.files import Manifest
from circuitize.provers.tensor.runs.setting import Run

from .spelling import Spelling

BELIEVED_EXAMPLES = 1 << 20
"""The most examples that are put in order on the prover's claim alone."""

BELIEVED_NUMBERS = 1 << 23
"""The most numbers of a test set that is planned for on the prover's claim alone: one proof covers all of it, and its
plan takes seconds for this many, and minutes for some more.
"""


def require_believable(folder: Path, manifest: Manifest, examples: bool, per_proof: bool, spelling: Spelling) -> None:
    """Raise CircuitizeError if a run claims numbers so great that checking would take long, unless the verifier
    required these numbers.

    The numbers that are limited are the steps in a proof and the examples, since they determine how long plans and the
    order of examples take.
    """
    claimed = manifest.per_proof
    if not per_proof and claimed > MOST_CHOSEN:
        raise CircuitizeError(
            f"{folder}: expected at most {MOST_CHOSEN:,} steps in a proof unless you say so, found a claim of "
            f"{claimed:,}; give {spelling.option('per_proof', claimed)} if these are the proofs that you asked for"
        )
    if not examples and manifest.examples > BELIEVED_EXAMPLES:
        raise CircuitizeError(
            f"{folder}: expected at most {BELIEVED_EXAMPLES:,} examples unless you say so, found a claim of "
            f"{manifest.examples:,}; give {spelling.option('examples', 'N')} if you know how many there are"
        )


def require_believable_test_set(
    folder: Path, judge: IntegerProgram, claimed: int, held: bool, spelling: Spelling
) -> None:
    """Raise CircuitizeError if a run claims a test set so large that its plan takes long to make, unless the verifier
    has the test set (`held`).
    """
    numbers = sum(port.format.size for port in tensors(judge, claimed) if port.format is not None)
    if claimed > BELIEVED_EXAMPLES or (numbers > BELIEVED_NUMBERS and not held):
        raise CircuitizeError(
            f"{folder}: expected at most {BELIEVED_EXAMPLES:,} test examples, of {BELIEVED_NUMBERS:,} numbers, unless "
            f"you say so, found a claim of {claimed:,}; give {spelling.option('test_examples', 'N')} if you know how "
            "many there are"
        )


def require_light(folder: Path, run: Run, per_proof: bool, tested: bool, spelling: Spelling) -> None:
    """Raise CircuitizeError if, by the run's claims, its proofs take long to check, unless the verifier required the
    claimed numbers.
    """
    if not per_proof and is_heavy(run):
        raise CircuitizeError(
            f"{folder}: expected fewer steps in a proof of this program unless you say so, found a claim of "
            f"{run.per_proof:,}, which takes long to check; give {spelling.option('per_proof', run.per_proof)} if you "
            "asked for that"
        )
    if not tested and run.evaluation is not None and is_heavy_to_judge(run):
        raise CircuitizeError(
            f"{folder}: expected fewer test examples of this program unless you say so, found a claim of "
            f"{run.evaluation.size:,}, which takes long to check; give "
            f"{spelling.option('test_examples', run.evaluation.size)} if you know that there are so many"
        )
