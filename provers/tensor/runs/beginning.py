"""Beginning a run, or going on with one: which state its prover is in, and that the folder is of this run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from circuitize import _native
from circuitize.circuits.errors import CircuitizeError

from ..forms import Integers, Trace
from ..groups import DATA, INPUT, OUTPUT, PortKey
from ..prover import commit
from .continuing import Earlier
from .files import FORMATS, MANIFEST, Manifest, read_manifest, read_step, step_path
from .setting import Run
from .state import State

Commitments = dict[PortKey, _native.TensorCommitment]


@dataclass(frozen=True)
class Beginning:
    """Where proofs of a run are to go on: what is kept, the commitments that the next proof takes, and the run's name.

    `roots` are those that the run begins with; `trace` is that of the proof of formats, which `shown` says there is.
    """

    state: State
    commitments: Commitments
    roots: Mapping[str, bytes]
    identity: bytes
    trace: Trace
    shown: bool


def begin(
    run: Run, initial: Mapping[str, Integers] | Earlier, data: Mapping[str, Integers], folder: Path, kept: Path
) -> Beginning:
    """What a run goes on with: what was kept of it, or what it begins with, which is then kept before a proof is made.

    Raises CircuitizeError, before anything is written, where the folder or what is kept is of another run, of other
    scalars or another dataset, or where another run goes on from the same one.
    """
    scalars = run.scalars_digest()
    if isinstance(initial, Earlier):
        initial.require_goes_on(run)
        first = initial.state
    else:
        first = State.fresh(run.first - 1, initial, (*run.kept, DATA))
    claimed = read_manifest(folder) if (folder / MANIFEST).exists() else None
    known = _known(run, first, folder, kept)
    state = known or first
    trace = run.formats_plan.trace({**state.held, **data})
    commitments = _commitments(run, state, trace, data)
    current = {name: commitment.root for (_, name), commitment in commitments.items()}
    if claimed is not None:
        _require_folder(run, folder, claimed, state, current)
    elif isinstance(initial, Earlier):
        initial.require_roots(current)
    roots = current if claimed is None else claimed.roots
    identity = run.identity(roots)
    fingerprint = hashlib.sha256(identity + scalars).digest()
    if known is not None:
        _require_same(run, folder, kept, state, fingerprint, claimed is not None)
    else:
        state = replace(state, fingerprint=fingerprint)
        if isinstance(initial, Earlier):
            state = initial.followed(fingerprint)
        state.write(kept)
    shown = state.step >= run.first or (folder / FORMATS).exists()
    return Beginning(state, commitments, dict(roots), identity, trace, shown)


def require_new(folder: Path, kept: Path) -> None:
    """Raises CircuitizeError where no run can begin in a folder: something else lies there, or what a prover keeps.

    The secret in that file is all that opens the roots of its run, wherever that run's folder is now: it stays.
    """
    _require_empty(folder)
    if os.path.lexists(kept):
        raise CircuitizeError(
            f"{kept}: expected no file yet, found what the prover of a run keeps, without that run in {folder}; it is "
            "left as it is: choose another folder for this run, or move that file beside its own run"
        )


def _require_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CircuitizeError(f"{folder}: expected a new folder, or that of this run, found something else")


def _known(run: Run, first: State, folder: Path, kept: Path) -> State | None:
    """What was kept of this run after the last proof that is in the folder; None where it was not begun.

    A run that was interrupted before it said what it claims is known by what it kept: nothing of it is in the folder.
    """
    if (folder / MANIFEST).exists():
        state = State.read(kept)
        done = state.step - run.first + 1
        if done % run.per_proof or not 0 <= done <= run.steps or set(state.held) != set(first.held):
            raise CircuitizeError(f"{kept}: expected what the prover of this run keeps, found that of another run")
        return state
    _require_empty(folder)
    if not os.path.lexists(kept):
        return None
    state = State.read(kept)
    same = state.step == first.step and set(state.held) == set(first.held)
    if not same or any(not np.array_equal(state.held[name], values) for name, values in first.held.items()):
        require_new(folder, kept)
    return state


def _require_same(run: Run, folder: Path, kept: Path, state: State, fingerprint: bytes, claimed: bool) -> None:
    """Raises CircuitizeError where what was kept is of a run with other scalars, or of another one.

    Roots are made for the proofs of one run: others would open them more often.
    """
    if state.fingerprint == fingerprint:
        return
    if not claimed:
        require_new(folder, kept)
    raise CircuitizeError(
        f"{folder}: expected the scalars that this run began with, found others; give the same (a schedule, or one "
        "number for all steps), or end this run first and prove another one after it"
    )


def _require_folder(run: Run, folder: Path, claimed: Manifest, state: State, current: Mapping[str, bytes]) -> None:
    """Raises CircuitizeError unless the proofs in a folder are those of this run, up to the step that is kept."""
    before = dict(claimed.roots)
    own = Manifest(
        run.digest,
        run.plan.digest.hex(),
        run.seed,
        *(run.first, run.steps, run.per_proof, run.size),
        run.openings if run.zero_knowledge else None,
        before,
    )
    if state.step >= run.first:
        last = read_step(step_path(folder, state.step - run.per_proof + 1))
        before = {name: last.roots[OUTPUT, name] for name in run.kept} | {DATA: last.roots[INPUT, DATA]}
    if claimed != own or before[DATA] != current[DATA]:
        raise CircuitizeError(
            f"{folder}: expected the run of this program, seed, length and dataset, found another; give what it "
            "began with, or choose another folder"
        )
    if any(before[name] != current[name] for name in run.kept):
        raise CircuitizeError(f"{folder}: expected the proofs of the run that is kept, found others")


def _commitments(run: Run, state: State, trace: Trace, data: Mapping[str, Integers]) -> Commitments:
    """The commitments that the next proof takes, made again from the values and the secrets of their roots."""
    renewed = state.step >= run.first and run.renews(run.first) and run.openings != run.made_for
    names = run.kept if renewed else (*run.kept, DATA)
    made = {(INPUT, name): commit(run.formats_plan, trace, (INPUT, name), state.roots[name]) for name in names}
    if renewed:
        plan = run.renewal_plan(run.first)
        made[INPUT, DATA] = commit(plan, plan.trace(data), (OUTPUT, DATA), state.roots[DATA])
    return made
