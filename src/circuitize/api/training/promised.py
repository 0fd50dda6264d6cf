"""Roots of the run that is to prove a training: written down before there is a proof."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress
from circuitize.provers.tensor.runs.announcing import announce, dataset_root, fix, roots
from circuitize.provers.tensor.runs.promised import require_promised
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State, kept_beside

from ..exact import Integers
from .course import Course

RUN = "run"
"""The folder, in that of the training, that `prove-run` is to write."""


@dataclass(frozen=True)
class Promise:
    """A run that is proved later, and the secret that its prover keeps until then.

    The root of the dataset is made for the openings of a known number of proofs: it is there where `per_proof` is
    given, or where nothing is hidden.
    """

    run: Run
    state: State
    per_proof: int | None
    kept: Path

    def roots(self, course: Course, step: int, held: Mapping[str, Integers]) -> dict[str, str]:
        """The roots after a step, in hexadecimal, by the names that `prove-run` gives them."""
        found = roots(self.run, self.state, step, held, course.data)
        if step == 0 and (self.per_proof is not None or not self.run.zero_knowledge):
            found["data"] = dataset_root(self.run, self.state, held, course.data)
        return {name: f"0x{root.hex()}" for name, root in found.items()}

    def final(self, course: Course, held: Mapping[str, Integers], say: Progress) -> dict[str, str]:
        """The roots after the last step, of which it is written first that this is what the secret commits to.

        None, which `say` is told of, where a run has taken the secret that may go on otherwise.
        """
        if fix(self.run, course.data, self.kept) is None:
            say(f"no final roots: a run has taken what is kept in {self.kept}, and says itself what it ends with")
            return {}
        return self.roots(course, self.run.last, held)


def promise(
    course: Course, folder: Path, steps: int, per_proof: int | None, zero_knowledge: bool, told: bool, say: Progress
) -> Promise | None:
    """What the run will keep: made now, or where roots were `told` before, or nearly, as it was.

    None, which `say` is told of, where no run consists of such steps, and where what was kept is gone, or is of
    another run. Raise CircuitizeError where it was kept for other values: these would share the salts of those.
    """
    kept = kept_beside(folder / RUN)
    try:
        run = Run(
            course.step.integer,
            course.size,
            steps,
            course.seed,
            course.scalars,
            min(per_proof or 1, steps),
            zero_knowledge=zero_knowledge,
        )
    except Unprovable as error:
        say(f"no roots: {error}")
        return None
    if not told and not os.path.lexists(kept):
        return Promise(run, announce(run, course.initial, course.data, folder / RUN, kept), per_proof, kept)
    try:
        state = State.read(kept)
    except CircuitizeError as error:
        say(f"no roots: {error}")
        return None
    if not state.promised:
        say(f"no roots: {kept} is what the prover of another run keeps")
        return None
    require_promised(run, course.data, state, kept)
    return Promise(run, state, per_proof, kept)
