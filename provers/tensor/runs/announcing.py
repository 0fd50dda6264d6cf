"""Announcing the roots of a run before the run is proved: a secret is stored for the prover, and the roots before the
first and after the last step follow from it.
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
    """Store a secret for a future run, which begins with the given values in the given folder, and return the state
    that contains the secret.

    Raise CircuitizeError if the folder of the run is not empty, or if a secret is already stored for it.
    """
    with alone(kept, PROVES, wait=False):
        require_new(folder, kept)
        state = replace(State.fresh(run.first - 1, initial, run.kept), promised=promised(run, data, 0))
        state.write(kept)
        return state


def fix(run: Run, data: Mapping[str, Integers], kept: Path) -> State | None:
    """Record, before the roots after a run's last step are published, that the run has the given scalars up to this
    step.

    Return None if a run whose scalars are not fixed up to the given step has used the secret in the meantime, since the
    roots of that run may differ. Raise CircuitizeError if the stored secret belongs to another run.
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
    """Return the roots, by group, that a run would have after a step if a proof ended there, computed with the stored
    secret.

    Privacy: the argument `held` must be the values that the run really has after the given step; if two sets of values
    were committed to with the same secret, they would share their salts.
    """
    trace = run.ports_plan.trace({**held, **data})
    return {name: commit(run.ports_plan, trace, (INPUT, name), state.root_secret(name, step)).root for name in run.kept}


def dataset_root(run: Run, state: State, held: Mapping[str, Integers], data: Mapping[str, Integers]) -> bytes:
    """Return the root of the dataset with which a run begins, which may be opened as often as the run's proofs need."""
    trace = run.ports_plan.trace({**held, **data})
    return commit(run.ports_plan, trace, (INPUT, DATA), with_dataset(run, state).roots[DATA]).root
