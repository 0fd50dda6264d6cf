"""The proofs of a run, made one after the other: each starts from the values that the previous proof's steps left, with
the same commitments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import alone

from ..prover import prove_values
from .apart import Place, prove_apart
from .beginning import Beginning, HeldOut, begin, withdraw
from .commitments import Commitments, commitments
from .continuing import Earlier
from .evaluation import TEST, Evaluation
from .files import EVALUATION, FORMATS, MANIFEST, Manifest
from .requirements import require_joined
from .setting import Run
from .state import PROVES, State
from .task import Done, Task, prove_task, stated
from .underway import Underway

Results = dict[str, list[Integers]]
"""The outputs of steps which no step hands on, by name, in order."""


@dataclass
class Proving:
    """The result of proving a run: the run's name, its roots, and the costs of its proofs."""

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

    def note(self, done: Done) -> None:
        """Record the costs of one proof, including the costs of a new root of the dataset before it."""
        self.seconds.append(done.seconds)
        self.cpu_seconds.append(done.cpu_seconds)
        self.proof_bytes.append(len(done.steps.encode()) + (len(done.renewal.encode()) if done.renewal else 0))
        for phase, spent in done.phases.items():
            self.phases[phase] = self.phases.get(phase, 0.0) + spent


def prove_run(
    run: Run,
    initial: Mapping[str, Integers] | Earlier,
    data: Mapping[str, Integers],
    folder: Path,
    kept: Path,
    test: HeldOut | None = None,
    progress: Callable[[int], object] = lambda _: None,
    running: Callable[[int], object] = lambda _: None,
    place: Place | None = None,
) -> Proving:
    """Prove a run and write its folder, or continue the interrupted run in the folder.

    The argument `initial` holds the initial values of all held ports, or is a finished run to continue; `data` holds
    the dataset's tensors by port name; `test` is the test set of the run's evaluation. The file `kept` holds what only
    the prover may know, and is written after each proof, so that an interrupted run continues at the same point; a
    proof that was being made is made again with the same bytes. The callback `progress` is called with the number of
    the last proved step, and `running` with the number of each step that is executed before it is proved. The proofs of
    a run are made in this process, one after the other, or, if `place` is given, as tasks that it distributes. Raise
    CircuitizeError, before anything is written, if the folder holds another run or a scalar is out of its format; raise
    it also if the program is undefined at a step, in which case the proofs already made stay.
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
                        withdraw(kept, initial, found.fingerprint, found.marked, found.unnamed)
                    raise
        made = Proving(found.identity, dict(found.roots), resumed=found.state.step - run.first + 1)

        def keep(state: State) -> None:
            state.write(kept)
            progress(state.step)

        underway = Underway(run, found, data, folder, keep, running, made.note)
        state, ends, results = _prove_here(underway) if place is None else _prove_apart(underway, place)
        made.results = {name: np.concatenate(values) for name, values in results.items()}
        made.final = {name: ends[INPUT, name].root for name in (*run.kept, DATA)}
        made.held = state.held
        if run.evaluation is not None and test is not None:
            made.evaluation = _evaluate(underway, run.evaluation, state, ends, test.tensors)
        return made


def _before(initial: Mapping[str, Integers] | Earlier, folder: Path) -> AbstractContextManager[None]:
    """Return a context manager during which no other run can continue from the same preceding run, until this run has
    shown something or has removed its mark from the preceding run.
    """
    return initial.alone() if isinstance(initial, Earlier) and not (folder / FORMATS).exists() else nullcontext()


def _prove_here(underway: Underway) -> tuple[State, Commitments, Results]:
    """Prove the remaining steps of a run in this process, one proof after the other, each with the commitments with
    which the previous proof ended.
    """
    run, state, ends = underway.run, underway.found.state, underway.found.commitments
    results: Results = {}
    while state.step < run.last:
        task = Task.next(run, underway.found.identity, state)
        result = prove_task(run, underway.data, task, ends, underway.running)
        result.done.write(underway.folder, task.step)
        state, ends = task.after(run, state, result.held), result.commitments
        underway.keep(state)
        underway.note(result.done)
        for name, values in result.results.items():
            results.setdefault(name, []).append(values)
    return state, ends, results


def _prove_apart(underway: Underway, place: Place) -> tuple[State, Commitments, Results]:
    """Have other processes prove the remaining steps of a run."""
    ahead = prove_apart(underway, place)
    run, state = underway.run, ahead.state
    return state, commitments(run, state.step + 1, state.held, state.roots, underway.data), ahead.results


def _show_formats(run: Run, found: Beginning, data: Mapping[str, Integers], folder: Path) -> None:
    """Write the manifest of the run, and the proof that its initial values are in format."""
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


def _evaluate(
    underway: Underway, evaluation: Evaluation, state: State, ends: Commitments, test: Mapping[str, Integers]
) -> Mapping[str, Integers]:
    """Make the proof of the run's evaluation after the last step, write it, and return the evaluation's results."""
    run, found = underway.run, underway.found
    chunk, plan = evaluation.chunk, evaluation.chunk.plan
    try:
        trace = plan.trace(evaluation.inputs(state.held, test))
    except CircuitizeError as error:
        raise CircuitizeError(f"evaluation: {error}; the proofs of all steps are kept") from None
    judged = {(INPUT, name): ends[INPUT, name] for name in evaluation.kept}
    proved = prove_values(
        *(chunk.program, plan, trace, plan.values(trace, evaluation.rows)),
        secret=state.derived("proofs"),
        kept=judged | {(INPUT, DATA): found.commitments[INPUT, TEST]},
        context=run.evaluation_context(found.identity),
    )
    stated(found.identity, run.last, proved).write(underway.folder / EVALUATION)
    return evaluation.results(proved.statement.publics)
