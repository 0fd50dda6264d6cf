"""Proving a run: step after step, each on what the one before left, with the commitments that it made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import alone

from ..dataset import ROWS
from ..forms import Integers, Trace
from ..groups import DATA, INPUT, OUTPUT
from ..prover import Proved, prove_values
from .beginning import Beginning, HeldOut, begin, withdraw
from .chunk import BATCH, Chunk
from .continuing import Earlier
from .evaluation import TEST, Evaluation
from .files import EVALUATION, FORMATS, MANIFEST, Manifest, StepProof, folded, renewal_path, step_path
from .requirements import require_joined
from .setting import Run
from .state import PROVES, State


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
    results: dict[str, Integers] = field(default_factory=dict)
    evaluation: Mapping[str, Integers] = field(default_factory=dict)


def prove_run(
    run: Run,
    initial: Mapping[str, Integers] | Earlier,
    data: Mapping[str, Integers],
    folder: Path,
    kept: Path,
    test: HeldOut | None = None,
    progress: Callable[[int], object] = lambda _: None,
    running: Callable[[int], object] = lambda _: None,
) -> Proving:
    """Write a run's folder, or go on with one that was interrupted.

    `initial` holds the values of everything held, or is a finished run to go on from; `data` the dataset's tensors, by
    port name; `test` is the test set of the run's evaluation. `kept` is the file of what the prover alone may know,
    written after each proof, so that a run that is interrupted goes on where it was; a proof that it had made already
    it makes again, to the byte. `progress` is told the number of the last step that is proved, `running` that of each
    step that is run before. Raises CircuitizeError, before anything is written, where the folder holds another run or a
    step's scalars are out of format; and where the program has no value at a step: then proofs made stay.
    """
    require_joined(run)
    with alone(kept, PROVES, wait=False):
        with _before(initial, folder):
            found = begin(run, initial, data, folder, kept, test)
            if not found.shown:
                try:
                    _show_formats(run, found, data, folder)
                except BaseException:
                    if not (folder / MANIFEST).exists():
                        withdraw(kept, initial, found.fingerprint, found.marked)
                    raise
        prover = _Prover(run, data, folder, found, running)
        made = _prove_steps(prover, found, kept, progress)
        if run.evaluation is not None and test is not None:
            made.evaluation = prover.evaluate(run.evaluation, test.tensors)
        return made


def _before(initial: Mapping[str, Integers] | Earlier, folder: Path) -> AbstractContextManager[None]:
    """No other run begins after the same one until this one has shown something, or has taken back that it follows."""
    return initial.alone() if isinstance(initial, Earlier) and not (folder / FORMATS).exists() else nullcontext()


def _prove_steps(prover: _Prover, found: Beginning, kept: Path, progress: Callable[[int], object]) -> Proving:
    """Prove what is left of a run, and keep what goes on after each proof."""
    run = prover.run
    made = Proving(found.identity, dict(found.roots), resumed=found.state.step - run.first + 1)
    for step in range(prover.state.step + 1, run.last + 1, run.per_proof):
        wall, cpu = time.perf_counter(), time.process_time()
        proofs = prover.prove(step)
        prover.state.write(kept)
        made.seconds.append(time.perf_counter() - wall)
        made.cpu_seconds.append(time.process_time() - cpu)
        made.proof_bytes.append(prover.written)
        for proved in proofs:
            for phase, spent in proved.proof.phases.items():
                made.phases[phase] = made.phases.get(phase, 0.0) + spent
        progress(prover.state.step)
    made.final = {name: prover.commitments[INPUT, name].root for name in (*run.kept, DATA)}
    made.held = prover.state.held
    made.results = {name: np.concatenate(values) for name, values in prover.results.items()}
    return made


def _show_formats(run: Run, found: Beginning, data: Mapping[str, Integers], folder: Path) -> None:
    """Write what the run claims, and the proof that what it begins with is in format."""
    plan = run.formats_plan
    trace = plan.trace({**found.state.held, **data})
    shown = prove_values(
        *(run.formats, plan, trace, plan.values(trace)),
        secret=found.state.derived("proofs"),
        kept=found.commitments,
    )
    openings = run.openings if run.zero_knowledge else None
    tested = None if run.evaluation is None else run.evaluation.size
    lengths = (run.first, run.steps, run.per_proof, run.size, run.told.value, openings, tested)
    start = None if run.start is None else run.start.seed
    Manifest(run.digest, run.plans_digest, run.seed, *lengths, start, found.roots).write(folder)
    shown.proof.write(folder / FORMATS)


class _Prover:
    """The prover of steps: what is kept after the last one, and the commitments that the next one takes."""

    def __init__(
        self,
        run: Run,
        data: Mapping[str, Integers],
        folder: Path,
        found: Beginning,
        running: Callable[[int], object],
    ) -> None:
        self.run, self.data, self.folder, self.identity, self.running = run, data, folder, found.identity, running
        self.results: dict[str, list[Integers]] = {}
        self.state: State = found.state
        self.commitments = dict(found.commitments)
        self.secret = found.state.derived("proofs")
        self.written = 0

    def prove(self, step: int) -> list[Proved]:
        """Prove what begins at a step, with a new root of the dataset where its time has come, and write it."""
        self.written = 0
        renewed = [self._renew(step)] if self.run.renews(step) else []
        return [*renewed, self._step(step)]

    def _renew(self, step: int) -> Proved:
        run, plan = self.run, self.run.renewal_plan(step)
        trace = plan.trace(self.data)
        secret = self.state.dataset_secret(step)
        proved = prove_values(
            *(run.renewal, plan, trace, plan.values(trace)),
            salts={(OUTPUT, DATA): secret},
            secret=self.secret,
            kept=self.commitments,
            context=run.renewal_context(self.identity, step),
        )
        proved.proof.write(renewal_path(self.folder, step))
        self.commitments[INPUT, DATA] = proved.commitments[OUTPUT, DATA]
        self.state = self.state.after(self.state.step, self.state.held, {DATA: secret})
        self.written += len(proved.proof.encode())
        return proved

    def _step(self, step: int) -> Proved:
        run, state, chunk = self.run, self.state, self.run.chunk(step)
        plan, last = chunk.plan, step + chunk.count - 1
        rows = run.rows(step)
        batches = {name: self.data[name][rows[BATCH]] for name in self.data}
        trace = self._trace(chunk, step, {**state.held, **run.scalars_of(step), **batches})
        secrets = {name: state.root_secret(name, last) for side, name in plan.groups if side == OUTPUT}
        proved = prove_values(
            *(chunk.program, plan, trace, plan.values(trace, rows)),
            salts={(OUTPUT, name): secret for name, secret in secrets.items()},
            secret=self.secret,
            kept=self.commitments,
            context=run.context(self.identity, step),
        )
        for name, output in chunk.scan.results.items():
            self.results.setdefault(name, []).append(proved.outputs[output])
        held = {name: secrets[name] for name in run.kept}
        written = self._written(step, proved)
        written.write(step_path(self.folder, step))
        self.state = state.after(last, {name: proved.outputs[name] for name in state.held}, held)
        self.commitments |= {(INPUT, name): proved.commitments[OUTPUT, name] for name in run.kept}
        self.written += len(written.encode())
        return proved

    def _written(self, step: int, proved: Proved) -> StepProof:
        """What is written of a proof that begins at a step."""
        publics = {
            key: folded(tuple(values.reshape(-1).tolist()))
            for key, values in proved.statement.publics.items()
            if key[0] != ROWS
        }
        return StepProof(self.identity, step, publics, proved.statement.roots, proved.proof)

    def evaluate(self, evaluation: Evaluation, test: Mapping[str, Integers]) -> dict[str, Integers]:
        """Write the proof of what the run is worth, made after its last step; return its results."""
        chunk, plan = evaluation.chunk, evaluation.chunk.plan
        try:
            trace = plan.trace(evaluation.inputs(self.state.held, test))
        except CircuitizeError as error:
            raise CircuitizeError(f"evaluation: {error}; the proofs of all steps are kept") from None
        judged = {(INPUT, name): self.commitments[INPUT, name] for name in evaluation.kept}
        proved = prove_values(
            *(chunk.program, plan, trace, plan.values(trace, evaluation.rows)),
            secret=self.secret,
            kept=judged | {(INPUT, DATA): self.commitments[INPUT, TEST]},
            context=self.run.evaluation_context(self.identity),
        )
        self._written(self.run.last, proved).write(self.folder / EVALUATION)
        return evaluation.results(proved.statement.publics)

    def _trace(self, chunk: Chunk, step: int, given: Mapping[str, Integers]) -> Trace:
        """The values of all wires of the proof that begins at a step; each step is run alone first."""
        done = step

        def run(time: int) -> None:
            nonlocal done
            done = step + time
            self.running(done)

        try:
            return chunk.plan.trace(chunk.scan.inputs(given, run))
        except CircuitizeError as error:
            raise CircuitizeError(f"step {done}: {error}; the proofs of the steps before {step} are kept") from None
