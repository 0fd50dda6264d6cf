"""Roots of the run that will prove a training, written down before there is a proof: the promise of the run."""

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
"""The folder, in that of the training, that `prove-run` will write."""


@dataclass(frozen=True)
class Promise:
    """The promise of a run that is proved later, with the secret that its prover keeps until then.

    The root of the run's dataset is made for the openings of a known number of proofs, so that it exists only if
    `per_proof` is given, or if nothing is hidden.
    """

    run: Run
    state: State
    per_proof: int | None
    kept: Path

    def roots(self, course: Course, step: int, held: Mapping[str, Integers]) -> dict[str, str]:
        """Return the roots of the values after a step, in hexadecimal, by the names that `prove-run` gives them."""
        found = roots(self.run, self.state, step, held, course.data)
        if step == 0 and (self.per_proof is not None or not self.run.zero_knowledge):
            found["data"] = dataset_root(self.run, self.state, held, course.data)
        return {name: f"0x{root.hex()}" for name, root in found.items()}

    def final(self, course: Course, held: Mapping[str, Integers], say: Progress) -> dict[str, str]:
        """Return the roots of the values after the last step, once the secret file records that its secret commits to
        exactly these values.

        Return no roots, with a remark to `say`, if a run has already taken over the secret and may continue with other
        values.
        """
        if fix(self.run, course.data, self.kept) is None:
            say(f"no final roots: a run has taken what is kept in {self.kept}, and says itself what it ends with")
            return {}
        return self.roots(course, self.run.last, held)


def promise(
    course: Course, folder: Path, steps: int, per_proof: int | None, zero_knowledge: bool, told: bool, say: Progress
) -> Promise | None:
    """Return the promise of a run: a new one, or, if its roots were `told` before or were about to be told, the one
    that was written.

    Return None, with a remark to `say`, if no run can be made from the step, or if the secret is missing or belongs to
    another run. Raise CircuitizeError if the secret was made for other values, since the roots of the new values would
    then have the same salts.
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
