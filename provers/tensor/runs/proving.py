"""Proving a run: step after step, each on what the one before left, with the commitments that it made."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circuitize import _native
from circuitize.circuits.errors import CircuitizeError

from ..dataset import ROWS
from ..forms import Integers, Trace
from ..groups import DATA, INPUT, OUTPUT, PortKey
from ..prover import SECRET_BYTES, commit, prove_values
from .continuing import Earlier
from .files import FORMATS, MANIFEST, Manifest, StepProof, read_manifest, read_step, step_path
from .setting import Run
from .state import State


@dataclass
class Proving:
    """A run as it was proved: its name, roots, and what it took."""

    identity: bytes = b""
    roots: dict[str, bytes] = field(default_factory=dict)
    final: dict[str, bytes] = field(default_factory=dict)
    resumed: int = 0
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    proof_bytes: list[int] = field(default_factory=list)
    phases: dict[str, float] = field(default_factory=dict)
    held: Mapping[str, Integers] = field(default_factory=dict)


def prove_run(
    run: Run,
    initial: Mapping[str, Integers] | Earlier,
    data: Mapping[str, Integers],
    folder: Path,
    kept: Path,
    progress: Callable[[int], object] = lambda _: None,
) -> Proving:
    """Write a run's folder, or go on with one that was interrupted; NOT zero-knowledge.

    `initial` holds the values of everything held, or is a finished run to go on from; `data` the dataset's tensors, by
    port name. `kept` is the file of what the prover alone may know, written after each proof, so that a run that is
    interrupted goes on where it was. Raises CircuitizeError, before anything is written, where the folder holds another
    run or a step's scalars are out of format; and where the program has no value at a step: then proofs made stay.
    """
    run.require_joined()
    run.require_scalars()
    if isinstance(initial, Earlier):
        initial.require_goes_on(run)
    begin = initial.state if isinstance(initial, Earlier) else State.fresh(run.first - 1, initial)
    known = _known(run, begin, folder, kept)
    state = known or begin
    made = Proving(resumed=state.step - run.first + 1)
    trace = run.formats_plan.trace({**state.held, **data})
    commitments = {
        (INPUT, name): commit(run.formats_plan, trace, (INPUT, name), _salt(state.secret, name, at))
        for name, at in [*((name, state.step) for name in run.kept), (DATA, 0)]
    }
    current = {name: commitment.root for (_, name), commitment in commitments.items()}
    if known is None:
        if isinstance(initial, Earlier):
            initial.require_roots(current)
        state.write(kept)
    try:
        _begin(run, state, trace, folder, current, commitments, made)
    except BaseException:
        if known is None and not (folder / MANIFEST).exists():
            kept.unlink(missing_ok=True)
        raise
    for step in range(state.step + 1, run.last + 1, run.per_proof):
        wall, cpu = time.perf_counter(), time.process_time()
        rows = run.rows(step)
        inputs = {**state.held, **run.scalars_of(step)}
        assert run.plan.dataset is not None
        for name, (tensor, label) in run.plan.dataset.batches.items():
            inputs[name] = data[tensor][rows[label]]
        last = step + run.per_proof - 1
        try:
            trace = run.plan.trace(inputs)
        except CircuitizeError as error:
            raise CircuitizeError(f"step {step}: {error}; the proofs of the steps before it are kept") from None
        salts = {(OUTPUT, name): _salt(state.secret, name, last) for name in run.kept}
        proved = prove_values(
            run.unrolled,
            run.plan,
            trace,
            run.plan.values(trace, rows),
            salts=salts,
            kept=commitments,
            context=run.context(made.identity, step),
        )
        publics = {key: tuple(v.reshape(-1).tolist()) for key, v in proved.statement.publics.items() if key[0] != ROWS}
        written = StepProof(made.identity, step, publics, proved.statement.roots, proved.proof)
        written.write(folder)
        state = State(state.secret, last, {name: proved.outputs[name] for name in state.held})
        state.write(kept)
        commitments |= {(INPUT, name): proved.commitments[OUTPUT, name] for name in run.kept}
        made.seconds.append(time.perf_counter() - wall)
        made.cpu_seconds.append(time.process_time() - cpu)
        made.proof_bytes.append(len(written.encode()))
        for phase, spent in proved.proof.phases.items():
            made.phases[phase] = made.phases.get(phase, 0.0) + spent
        progress(last)
    made.final = {name: commitments[INPUT, name].root for name in run.kept}
    made.held = state.held
    return made


def _known(run: Run, begin: State, folder: Path, kept: Path) -> State | None:
    """What was kept of this run after the last proof that is in the folder; None where it was not begun."""
    if (folder / MANIFEST).exists():
        state = State.read(kept)
        done = state.step - run.first + 1
        if done % run.per_proof or not 0 <= done <= run.steps or set(state.held) != set(begin.held):
            raise CircuitizeError(f"{kept}: expected what the prover of this run keeps, found that of another run")
        return state
    require_new(folder, kept)
    return None


def require_new(folder: Path, kept: Path) -> None:
    """Raises CircuitizeError where no run can begin in a folder: something else lies there, or what a prover keeps.

    The secret in that file is all that opens the roots of its run, wherever that run's folder is now: it stays.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CircuitizeError(f"{folder}: expected a new folder, or that of this run, found something else")
    if os.path.lexists(kept):
        raise CircuitizeError(
            f"{kept}: expected no file yet, found what the prover of a run keeps, without that run in {folder}; it is "
            "left as it is: choose another folder for this run, or move that file beside its own run"
        )


def _begin(
    run: Run,
    state: State,
    trace: Trace,
    folder: Path,
    current: Mapping[str, bytes],
    commitments: Mapping[PortKey, _native.TensorCommitment],
    made: Proving,
) -> None:
    """The manifest and the proof of formats; for a run that goes on, that it is this one."""
    known = read_manifest(folder).roots if (folder / MANIFEST).exists() else current
    manifest = Manifest(
        run.digest, run.plan.digest.hex(), run.seed, run.first, run.steps, run.per_proof, run.size, known
    )
    made.roots, made.identity = dict(known), run.identity(known)
    if (folder / MANIFEST).exists():
        if read_manifest(folder) != manifest or known[DATA] != current[DATA]:
            raise CircuitizeError(
                f"{folder}: expected the run of this program, seed, length and dataset, found another; give what it "
                "began with, or choose another folder"
            )
        before, begun = known, state.step >= run.first
        if begun:
            last = read_step(step_path(folder, state.step - run.per_proof + 1))
            before = {name: last.roots[OUTPUT, name] for name in run.kept}
        if any(before[name] != current[name] for name in run.kept):
            raise CircuitizeError(f"{folder}: expected the proofs of the run that is kept, found others")
        if begun or (folder / FORMATS).exists():
            return
    plan = run.formats_plan
    shown = prove_values(run.formats, plan, trace, plan.values(trace), kept=commitments)
    manifest.write(folder)
    shown.proof.write(folder / FORMATS)


def _salt(secret: bytes, name: str, step: int) -> bytes:
    """The secret of a group's commitment after a step, so that a proof made again has the same roots."""
    return hashlib.blake2b(f"{step}:{name}".encode(), key=secret, digest_size=SECRET_BYTES).digest()
