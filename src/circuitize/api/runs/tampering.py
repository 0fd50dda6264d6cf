"""Changes that forge a run, to show that the verifier refuses forged runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from circuitize.backends.tensor.groups import OUTPUT
from circuitize.provers.tensor.runs.files import EVALUATION, MANIFEST, STEPS, read_step

from .evaluated import RIGHT


def one_right_answer_more(folder: Path) -> None:
    """Forge a run: its proof of evaluation then states one right answer more."""
    found = read_step(folder / EVALUATION)
    (right,) = found.publics[OUTPUT, RIGHT]
    replace(found, publics={**found.publics, (OUTPUT, RIGHT): (right + 1,)}).write(folder / EVALUATION)


def with_claim(folder: Path, **changed: object) -> None:
    """Forge a run by changing what its manifest claims."""
    claimed = json.loads((folder / MANIFEST).read_text()) | changed
    (folder / MANIFEST).write_text(json.dumps(claimed, indent=1, sort_keys=True) + "\n")


def without_last_proof(folder: Path) -> None:
    """Forge a run by removing its last proof of steps."""
    max((folder / STEPS).iterdir()).unlink()
