"""Forgeries of a run, which show that the verifier refuses them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from circuitize.backends.tensor.groups import OUTPUT
from circuitize.provers.tensor.runs.files import EVALUATION, MANIFEST, STEPS, read_step

from .evaluated import RIGHT


def one_right_answer_more(folder: Path) -> None:
    """A forgery whose proof of evaluation states one right answer more."""
    found = read_step(folder / EVALUATION)
    (right,) = found.publics[OUTPUT, RIGHT]
    replace(found, publics={**found.publics, (OUTPUT, RIGHT): (right + 1,)}).write(folder / EVALUATION)


def with_claim(folder: Path, **changed: object) -> None:
    """A forgery in which the run's claim is changed."""
    claimed = json.loads((folder / MANIFEST).read_text()) | changed
    (folder / MANIFEST).write_text(json.dumps(claimed, indent=1, sort_keys=True) + "\n")


def without_last_proof(folder: Path) -> None:
    """A forgery in which the last proof of steps is missing."""
    max((folder / STEPS).iterdir()).unlink()
