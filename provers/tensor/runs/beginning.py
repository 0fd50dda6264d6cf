"""Beginning or continuing a run: loading the state of its prover, and checking that the folder belongs to this run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import remove_parts

from ..prover import commit
from .commitments import Commitments, commitments
from .continuing import Earlier
from .evaluation import PUBLIC_SECRET, TEST
from .files import FORMATS, MANIFEST, RENEWALS, STEPS, Manifest, read_manifest, read_step, step_path
from .promised import require_promised, with_dataset
from .setting import Run
from .state import State

ANOTHER = (
    "expected the run of this program, seed, length and dataset, found another; give what it began with, or choose "
    "another folder"
)


@dataclass(frozen=True)
class HeldOut:
    """A test set: its tensors by name; if it is `public`, anybody who has it may compute its root."""

    tensors: Mapping[str, Integers]
    public: bool = False


@dataclass(frozen=True)
class Beginning:
    """The point from which a run continues: the kept state, the commitments with which the next proof begins, and the
    run's name.

    The field `roots` has the roots with which the run begins; `shown` says whether the proof of formats has already
    been written. The flag `marked` says that the preceding run had not recorded this run before, so that nobody can
    have seen a proof of this run. The field `unnamed` is the stored state with which this run has just begun; its roots
    may have been published, and only its secret can open them.
    """

    state: State
    commitments: Commitments
    roots: Mapping[str, bytes]
    identity: bytes
    fingerprint: bytes
    shown: bool
    marked: bool
    unnamed: State | None = None


def begin(
    run: Run,
    initial: Mapping[str, Integers] | Earlier,
    data: Mapping[str, Integers],
    folder: Path,
    kept: Path,
    test: HeldOut | None = None,
) -> Beginning:
    """Return the point from which a run continues: from its stored state, or from its initial state, which is stored
    before any proof is made.

    Raise CircuitizeError, before anything is written, if the folder or the stored state belongs to another run or to
    other scalars, values or dataset, or if another run already continues from the same preceding run.
    """
    scalars = run.scalars_digest()
    if isinstance(initial, Earlier):
        initial.require_goes_on(run)
    claimed = read_manifest(folder) if (folder / MANIFEST).exists() else None
    if claimed is not None:
        _require_claim(run, folder, claimed)
    known = _known(run, initial, folder, kept, claimed is not None)
    if known is not None and known.unnamed:
        require_promised(run, data, known, kept)
    for place in (folder, folder / STEPS, folder / RENEWALS):
        remove_parts(place)
    remove_parts(kept.parent, kept.name)
    if known is not None:
        state = with_dataset(run, known) if known.unnamed else known
    elif isinstance(initial, Earlier):
        state = initial.state
    else:
        state = State.fresh(run.first - 1, initial, run.kept)
    made = commitments(run, state.step + 1, state.held, state.roots, data)
    current = {name: commitment.root for (_, name), commitment in made.items()}
    if run.evaluation is not None:
        assert test is not None
        if claimed is None:
            # Steps that are proved for an end that cannot be judged are proved in vain.
            run.evaluation.require_value(state.held, test.tensors)
        # Of a run that follows, by the secret of the one before it: its own follows from its name, which has this root.
        before = initial.state if isinstance(initial, Earlier) else state
        secret = PUBLIC_SECRET if test.public else before.test_secret(run.evaluation.content(test.tensors))
        made[INPUT, TEST] = run.evaluation.commitment(test.tensors, secret)
    if claimed is not None:
        _require_proofs(run, folder, claimed, state, current)
        _require_initial(run, initial, data, claimed, state, folder)
    elif isinstance(initial, Earlier):
        initial.require_roots(current)
    current |= {TEST: made[INPUT, TEST].root} if run.evaluation is not None else {}
    roots = current if claimed is None else claimed.roots
    if claimed is not None and claimed.roots.get(TEST) != current.get(TEST):
        raise CircuitizeError(f"{folder}: {ANOTHER}")
    identity = run.identity(roots)
    fingerprint = hashlib.sha256(identity + scalars).digest()
    marked, unnamed = False, None
    if known is None:
        if isinstance(initial, Earlier):
            state, marked = initial.followed(fingerprint)
        else:
            state = state.of(fingerprint)
        try:
            state.write(kept)
        except BaseException:
            withdraw(kept, initial, fingerprint, marked)
            raise
    elif state.unnamed and claimed is None:
        state, unnamed = state.of(fingerprint), known
        try:
            state.write(kept)
        except BaseException:
            known.write(kept)
            raise
    elif not state.is_of(fingerprint):
        if claimed is None:
            require_new(folder, kept)
        raise CircuitizeError(
            f"{folder}: expected the scalars that this run began with, found others; give the same (a schedule, or one "
            "number for all steps), or choose another folder to begin again"
        )
    shown = state.step >= run.first or (folder / FORMATS).exists()
    return Beginning(state, made, dict(roots), identity, fingerprint, shown, marked, unnamed)


def withdraw(
    kept: Path,
    initial: Mapping[str, Integers] | Earlier,
    fingerprint: bytes,
    marked: bool,
    unnamed: State | None = None,
) -> None:
    """Withdraw a run that has shown nothing: remove its stored state, and its mark in the preceding run if the mark was
    just set.

    The state that was stored before the withdrawn run is stored again, since its secret may be needed to open published
    roots.
    """
    if unnamed is not None:
        unnamed.write(kept)
    elif not (kept.exists() and State.read(kept).promised):
        kept.unlink(missing_ok=True)
    if isinstance(initial, Earlier) and marked:
        initial.left(fingerprint)


def require_new(folder: Path, kept: Path) -> None:
    """Raise CircuitizeError if no run can begin in a folder, because it contains other files or a prover's stored state
    lies beside it.

    A file of stored state is never removed for a new run, since only its secret opens the roots of the run to which it
    belongs, wherever that run's folder is by now.
    """
    require_empty(folder)
    if os.path.lexists(kept):
        raise CircuitizeError(
            f"{kept}: expected no file yet, found what the prover of a run keeps, without that run in {folder}; it is "
            "left as it is: choose another folder for this run, or move that file beside its own run"
        )


def require_free(folder: Path, kept: Path) -> None:
    """Raise CircuitizeError if neither a new run can begin in a folder, nor a run continue that was interrupted at its
    very beginning.
    """
    require_empty(folder)
    if os.path.lexists(kept):
        try:
            State.read(kept)
        except CircuitizeError:
            require_new(folder, kept)


def require_empty(folder: Path) -> None:
    """Raise CircuitizeError if a folder contains anything, except temporary files of a process that was killed."""
    if folder.exists() and (not folder.is_dir() or any(path.suffix != ".part" for path in folder.iterdir())):
        raise CircuitizeError(
            f"{folder}: expected a new folder, or that of this run, found something else; choose another"
        )


def _known(
    run: Run, initial: Mapping[str, Integers] | Earlier, folder: Path, kept: Path, claimed: bool
) -> State | None:
    """Return the state of this run after the last of its proofs in the folder, or None if no proof of the run was
    begun.

    A run that was interrupted before its manifest was written is recognised by its stored state, since the folder
    contains nothing of the run.
    """
    held = initial.state.held if isinstance(initial, Earlier) else initial
    if not claimed:
        require_free(folder, kept)
        if not os.path.lexists(kept):
            return None
    state = State.read(kept)
    done = state.step - run.first + 1
    shapes = {port.name: port.format.shape for port in run.program.inputs if port.held and port.format is not None}
    whole = set(state.roots) == {*run.kept, DATA} and {n: v.shape for n, v in state.held.items()} == shapes
    if not whole or (done % run.per_proof and done != run.steps) or not 0 <= done <= run.steps:
        if not claimed:
            require_new(folder, kept)
        raise CircuitizeError(
            f"{kept}: expected what the prover of this run keeps, found that of another run; put the right one there, "
            "or choose another folder to begin again"
        )
    if not claimed and (done or any(not np.array_equal(state.held[name], held[name]) for name in shapes)):
        require_new(folder, kept)
    return state


def _require_claim(run: Run, folder: Path, claimed: Manifest) -> None:
    """Raise CircuitizeError unless the manifest in a folder claims the setting of this run; its roots are not
    compared.
    """
    if claimed.zero_knowledge != run.zero_knowledge:
        found = "in zero knowledge" if claimed.zero_knowledge else "not in zero knowledge"
        raise CircuitizeError(f"{folder}: expected proofs of one kind, found a run {found}; go on with its kind")
    own = Manifest(
        run.digest,
        run.plans_digest,
        run.seed,
        *(run.first, run.steps, run.per_proof, run.size, run.told.value),
        run.openings if run.zero_knowledge else None,
        None if run.evaluation is None else run.evaluation.size,
        None if run.start is None else run.start.seed,
        dict(claimed.roots),
    )
    if claimed != own or set(claimed.roots) != set(run.rooted):
        raise CircuitizeError(f"{folder}: {ANOTHER}")


def _require_proofs(run: Run, folder: Path, claimed: Manifest, state: State, current: Mapping[str, bytes]) -> None:
    """Raise CircuitizeError unless the proofs in a folder belong to this run, up to the step of the stored state."""
    before = dict(claimed.roots)
    if state.step >= run.first:
        if not (folder / FORMATS).exists():
            raise CircuitizeError(
                f"{folder / FORMATS}: expected the proof that what the run begins with is in format, found none; put "
                "it back, or choose another folder to begin again"
            )
        last = read_step(step_path(folder, run.begins(state.step)))
        keys = [*((OUTPUT, name) for name in run.kept), (INPUT, DATA)]
        before = {name: last.roots.get((side, name), b"") for side, name in keys}
    if before[DATA] != current[DATA]:
        raise CircuitizeError(f"{folder}: {ANOTHER}")
    if any(before[name] != current[name] for name in run.kept):
        raise CircuitizeError(
            f"{folder}: expected the proofs of the run that is kept, found others; put them back, or choose another "
            "folder to begin again"
        )


def _require_initial(
    run: Run,
    initial: Mapping[str, Integers] | Earlier,
    data: Mapping[str, Integers],
    claimed: Manifest,
    state: State,
    folder: Path,
) -> None:
    """Raise CircuitizeError unless a continued run is given the same initial values with which it began."""
    if isinstance(initial, Earlier):
        same = all(initial.roots.get(name) == claimed.roots[name] for name in (*run.kept, DATA))
    else:
        trace = run.ports_plan.trace({**initial, **data})
        secrets = state.first_roots(run.first - 1, run.kept)
        same = all(
            commit(run.ports_plan, trace, (INPUT, name), secrets[name]).root == claimed.roots[name] for name in run.kept
        )
    if not same:
        raise CircuitizeError(
            f"{folder}: expected the values that this run began with, found others; give the same, or choose another "
            "folder"
        )
