"""Roots of a run before it is proved: the secret that its prover is to keep, and what it gives both ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT

from ..prover import commit
from .beginning import require_new
from .setting import Run
from .state import State


def announce(run: Run, initial: Mapping[str, Integers], folder: Path, kept: Path) -> State:
    """Keep a secret for the run that a folder is to hold, which begins with these values and takes the secret.

    Raises CircuitizeError where the folder holds something, or a secret is kept already.
    """
    require_new(folder, kept)
    state = State.fresh(run.first - 1, initial, run.kept)
    state.write(kept)
    return state


def roots(
    run: Run, state: State, step: int, held: Mapping[str, Integers], data: Mapping[str, Integers]
) -> dict[str, bytes]:
    """The roots of groups that a run has after a step, where a proof of it ends there, by the secret that is kept.

    Privacy: `held` are the values that this run has after that step; other ones under the same secret would share
    their salts.
    """
    trace = run.ports_plan.trace({**held, **data})
    return {name: commit(run.ports_plan, trace, (INPUT, name), state.root_secret(name, step)).root for name in run.kept}


def dataset_root(run: Run, state: State, held: Mapping[str, Integers], data: Mapping[str, Integers]) -> bytes:
    """The root of the dataset that a run begins with, which is made for the openings of its proofs."""
    trace = run.ports_plan.trace({**held, **data})
    return commit(run.ports_plan, trace, (INPUT, DATA), state.dataset_secret(run.first - 1)).root
