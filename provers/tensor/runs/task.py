"""A task of proving some steps of a run: it contains all inputs of one proof, so that any process makes the proof with
the same bytes.
"""

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
    """The inputs of the proof that begins at a step, except the run and its dataset; a task is secret, since it
    contains the values.

    The field `held` of a task has the values that enter the step, `roots` the secrets of their roots and of the
    dataset's root, `made` the secrets of the roots that the proof makes, and `renewed` the secret of the dataset's new
    root if one is due. The field `proofs` of a task is the seed from which the prover's randomness is drawn. A task
    does not contain the secret of the run, from which all its secrets follow.
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
        """Return the task of the proof that follows the stored state."""
        step = state.step + 1
        last = state.step + run.count(step)
        names = [name for side, name in run.chunk(step).plan.groups if side == OUTPUT]
        return Task(
            *(identity, step, state.held, state.roots, {name: state.root_secret(name, last) for name in names}),
            state.dataset_secret(step) if run.renews(step) else None,
            state.derived("proofs"),
        )

    def after(self, run: Run, state: State, held: Mapping[str, Integers]) -> State:
        """Return the stored state after the task's proof, whose last step leaves the given values."""
        roots = {name: self.made[name] for name in run.kept}
        roots |= {DATA: self.renewed} if self.renewed is not None else {}
        return state.after(state.step + run.count(self.step), held, roots)


@dataclass(frozen=True)
class Done:
    """The result of a task: the proof of its steps, the proof of the dataset's new root if one was due, and the costs
    of both.

    The field `phases` has the wall-clock seconds of each part of the task.
    """

    steps: StepProof
    renewal: Proof | None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    phases: Mapping[str, float] = field(default_factory=dict)

    def write(self, folder: Path, step: int) -> None:
        """Write the result of a task into the run's folder, as the proof that begins at the given step."""
        if self.renewal is not None:
            self.renewal.write(renewal_path(folder, step))
        self.steps.write(step_path(folder, step))


@dataclass(frozen=True)
class Result:
    """The result of a task in the process that carried it out: the files to write, the values held after the steps, the
    commitments to these values, and the other outputs.
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
    """Carry out a task, given the commitments to the values that enter its first step.

    The callback `running` is called with the number of each step when it is run. Raise CircuitizeError if the program
    is undefined at a step.
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
    """Return the proof that begins at a step as it is written to a file: without the numbers of the batches' examples,
    which prover and verifier each draw.
    """
    publics = {
        key: folded(tuple(values.reshape(-1).tolist()))
        for key, values in proved.statement.publics.items()
        if key[0] != ROWS
    }
    return StepProof(identity, step, publics, proved.statement.roots, proved.proof)


def given(run: Run, data: Mapping[str, Integers], step: int, held: Mapping[str, Integers]) -> dict[str, Integers]:
    """Return the inputs of the steps that one proof covers: the held values, the scalars, and the batches from the
    dataset.
    """
    rows = run.rows(step)
    return {**held, **run.scalars_of(step), **{name: data[name][rows[BATCH]] for name in data}}


class Stopped:
    """A callback for steps that are run in turn, which names the step at which the program is undefined."""

    def __init__(self, step: int, running: Callable[[int], object]) -> None:
        self.step, self.done, self.running = step, step, running

    def __call__(self, time: int) -> None:
        self.done = self.step + time
        self.running(self.done)

    def error(self, error: CircuitizeError) -> CircuitizeError:
        """Return the error with the number of the step at which it was raised, and with a note about which proofs are
        kept.
        """
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
    """Return the values of all wires of a chunk, after running each of its steps alone."""
    chunk, stopped = run.chunk(task.step), Stopped(task.step, running)
    try:
        return chunk.plan.trace(chunk.scan.inputs(given(run, data, task.step, task.held), stopped))
    except CircuitizeError as error:
        raise stopped.error(error) from None
