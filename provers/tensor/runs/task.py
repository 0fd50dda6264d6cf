"""One proof of a run's steps as a task: all inputs of the proof, so that any process makes it with the same bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circuitize.backends.tensor.dataset import ROWS
from circuitize.backends.tensor.forms import Integers, Trace
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.circuits.errors import CircuitizeError

from ..proof import Proof
from ..prover import Proved, prove_values
from .chunk import BATCH
from .commitments import Commitments
from .files import StepProof, folded, renewal_path, step_path
from .setting import Run
from .state import State


@dataclass(frozen=True)
class Task:
    """A task: the inputs of the proof that begins at a step, beside the run and its dataset; a task is secret, since it
    holds the values.

    In a task `held` are the values that enter the step, `roots` the secrets of their roots and of the dataset's, `made`
    the secrets of the roots that the proof makes, `renewed` the secret of the dataset's new root if it is due. The
    field `proofs` of a task is the seed of the prover's randomness. The secret of the run, from which all secrets of a
    task follow, is not part of the task.
    """

    identity: bytes
    step: int
    held: Mapping[str, Integers] = field(repr=False)
    roots: Mapping[str, bytes] = field(repr=False)
    made: Mapping[str, bytes] = field(repr=False)
    renewed: bytes | None = field(repr=False)
    proofs: bytes = field(repr=False)

    @staticmethod
    def next(run: Run, identity: bytes, state: State) -> Task:
        """The task of the proof that comes after the kept state."""
        step = state.step + 1
        last = state.step + run.count(step)
        names = [name for side, name in run.chunk(step).plan.groups if side == OUTPUT]
        return Task(
            *(identity, step, state.held, state.roots, {name: state.root_secret(name, last) for name in names}),
            state.dataset_secret(step) if run.renews(step) else None,
            state.derived("proofs"),
        )

    def after(self, run: Run, state: State, held: Mapping[str, Integers]) -> State:
        """The kept state after a proof, whose last step leaves the given values."""
        roots = {name: self.made[name] for name in run.kept}
        roots |= {DATA: self.renewed} if self.renewed is not None else {}
        return state.after(state.step + run.count(self.step), held, roots)


@dataclass(frozen=True)
class Done:
    """The result of a task: the proof of its steps, the proof of the dataset's new root if there is one, and their
    costs.

    The field `phases` has the wall-clock seconds of each part of a task.
    """

    steps: StepProof
    renewal: Proof | None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    phases: Mapping[str, float] = field(default_factory=dict)

    def write(self, folder: Path, step: int) -> None:
        """Write the result of a task into the folder of the run, as the proof that begins at a step."""
        if self.renewal is not None:
            self.renewal.write(renewal_path(folder, step))
        self.steps.write(step_path(folder, step))


@dataclass(frozen=True)
class Result:
    """The result of a task in the process that did it: the files to write, the values held after it, their commitments,
    and other outputs.
    """

    done: Done
    held: Mapping[str, Integers]
    results: Mapping[str, Integers]
    commitments: Commitments


def prove_task(
    run: Run,
    data: Mapping[str, Integers],
    task: Task,
    commitments: Commitments,
    running: Callable[[int], object] = lambda _: None,
) -> Result:
    """Do a task, given the commitments to the values that enter its first step.

    The callback `running` is called with the number of each step that is run. Raise CircuitizeError if a step has no
    value.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    renewed = _renew(run, data, task, commitments) if task.renewed is not None else None
    taken = commitments | ({(INPUT, DATA): renewed.commitments[OUTPUT, DATA]} if renewed is not None else {})
    chunk, plan = run.chunk(task.step), run.chunk(task.step).plan
    trace, rows = _trace(run, data, task, running), run.rows(task.step)
    proved = prove_values(
        *(chunk.program, plan, trace, plan.values(trace, rows)),
        salts={(OUTPUT, name): secret for name, secret in task.made.items()},
        secret=task.proofs,
        kept=taken,
        context=run.context(task.identity, task.step),
    )
    parts = [one.proof.phases for one in (renewed, proved) if one is not None]
    done = Done(
        stated(task.identity, task.step, proved),
        None if renewed is None else renewed.proof,
        time.perf_counter() - wall,
        time.process_time() - cpu,
        {name: sum(part.get(name, 0.0) for part in parts) for part in parts for name in part},
    )
    return Result(
        done,
        {name: proved.outputs[name] for name in task.held},
        {name: proved.outputs[output] for name, output in chunk.scan.results.items()},
        taken | {(INPUT, name): proved.commitments[OUTPUT, name] for name in run.kept},
    )


def stated(identity: bytes, step: int, proved: Proved) -> StepProof:
    """The written form of a proof that begins at a step: without the numbers of rows, which prover and verifier
    draw.
    """
    publics = {
        key: folded(tuple(values.reshape(-1).tolist()))
        for key, values in proved.statement.publics.items()
        if key[0] != ROWS
    }
    return StepProof(identity, step, publics, proved.statement.roots, proved.proof)


def given(run: Run, data: Mapping[str, Integers], step: int, held: Mapping[str, Integers]) -> dict[str, Integers]:
    """The inputs of the steps of one proof: held values, scalars, and their batches from the dataset."""
    rows = run.rows(step)
    return {**held, **run.scalars_of(step), **{name: data[name][rows[BATCH]] for name in data}}


class Stopped:
    """A context that names the step at which the program has no value, among steps that are run in turn."""

    def __init__(self, step: int, running: Callable[[int], object]) -> None:
        self.step, self.done, self.running = step, step, running

    def __call__(self, time: int) -> None:
        self.done = self.step + time
        self.running(self.done)

    def error(self, error: CircuitizeError) -> CircuitizeError:
        """Return the error with the step at which it was raised, and a note on which part of the run is kept."""
        return CircuitizeError(f"step {self.done}: {error}; the proofs of the steps before {self.step} are kept")


def _renew(run: Run, data: Mapping[str, Integers], task: Task, commitments: Commitments) -> Proved:
    assert task.renewed is not None
    plan = run.renewal_plan(task.step)
    trace = plan.trace(data)
    return prove_values(
        *(run.renewal, plan, trace, plan.values(trace)),
        salts={(OUTPUT, DATA): task.renewed},
        secret=task.proofs,
        kept=commitments,
        context=run.renewal_context(task.identity, task.step),
    )


def _trace(run: Run, data: Mapping[str, Integers], task: Task, running: Callable[[int], object]) -> Trace:
    """The values of all wires of a chunk, after each of its steps was run alone."""
    chunk, stopped = run.chunk(task.step), Stopped(task.step, running)
    try:
        return chunk.plan.trace(chunk.scan.inputs(given(run, data, task.step, task.held), stopped))
    except CircuitizeError as error:
        raise stopped.error(error) from None
