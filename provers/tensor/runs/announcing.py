"""Roots of a run before it is proved: the secret that the prover will keep, and the roots before the first and after
the last step that follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT
from circuitize.circuits.files import alone

from ..prover import commit
from .beginning import require_new
from .promised import promised, require_promised, steps_promised, with_dataset
from .setting import Run
from .state import PROVES, State


def announce(
    run: Run, initial: Mapping[str, Integers], data: Mapping[str, Integers], folder: Path, kept: Path
) -> State:
    """Store a secret for a future run in a folder; the run begins with the given values and uses the secret.

    Raise CircuitizeError if the run's folder is not empty, or if a secret is stored already.
    """
    with alone(kept, PROVES, wait=False):
        require_new(folder, kept)
        state = replace(State.fresh(run.first - 1, initial, run.kept), promised=promised(run, data, 0))
        state.write(kept)
        return state


def fix(run: Run, data: Mapping[str, Integers], kept: Path) -> State | None:
    """Record, before the roots after a run's last step are published, that the run has the given scalars up to its last
    step.

    Return None if a run whose scalars up to that step are not fixed has used the secret meanwhile, since that run's
    roots may differ. Raise CircuitizeError if the secret was stored for another run.
    """
    with alone(kept, PROVES, wait=False):
        state = State.read(kept)
        require_promised(run, data, state, kept)
        if run.last > steps_promised(state):
            if not state.unnamed:
                return None
            state = replace(state, promised=promised(run, data, run.last))
            state.write(kept)
        return state


def roots(
    run: Run, state: State, step: int, held: Mapping[str, Integers], data: Mapping[str, Integers]
) -> dict[str, bytes]:
    """The roots of groups that a run has after a step, if a proof of it ends there, by the stored secret.

    Privacy: the argument `held` must be the values that the run has after that step; other values under the same secret
    would share their salts.
    """
    trace = run.ports_plan.trace({**held, **data})
    return {name: commit(run.ports_plan, trace, (INPUT, name), state.root_secret(name, step)).root for name in run.kept}


def dataset_root(run: Run, state: State, held: Mapping[str, Integers], data: Mapping[str, Integers]) -> bytes:
    """The root of the dataset that a run begins with, which is made for the openings of its proofs."""
    trace = run.ports_plan.trace({**held, **data})
    return commit(run.ports_plan, trace, (INPUT, DATA), with_dataset(run, state).roots[DATA]).root
