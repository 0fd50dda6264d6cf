"""Proofs of a run made as tasks: the steps are executed first, then other processes prove them in any order, and each
proof is checked.

Soundness: nothing that the processes which carry out tasks report is believed without a check. The result of a task is
accepted only if it is the proof of the task's steps in this run, with the roots that the run's own prover computes from
its own values and secrets, and if the verifier accepts the proof. Privacy: a process that carries out a task sees the
values that enter the task's steps, the dataset, and the secrets of the roots of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.circuits.errors import CircuitizeError

from ..proof import Proof
from ..verifier import refusal
from .beginning import Beginning
from .checking import Refused, Renewal, renewal_fault, statement_of
from .commitments import held_commitments, renewal
from .files import read_step, renewal_path, step_path
from .setting import Run
from .state import State
from .task import Done, Stopped, Task, given
from .underway import Underway


@dataclass(frozen=True)
class Sent:
    """A task as the run's own prover keeps it: the task itself, the roots before and after its steps, and the state
    that is kept once the task is done.

    The field `before` is the root of the dataset before it is renewed for this task's proof.
    """

    task: Task
    entering: Mapping[str, bytes]
    leaving: Mapping[str, bytes]
    before: bytes
    state: State


Judge = Callable[[Sent, Done], str | None]
"""A function that says why a result is not the proof that a task asked for, or None if it is."""

Place = Callable[[Iterator[Sent], Judge], Iterator[tuple[Sent, Done]]]
"""A pool of workers for proving tasks: it takes tasks as it has room, gives valid results in any order, and repeats
tasks with invalid ones.
"""


class Ahead:
    """The remaining tasks of a run, in order: when a task is requested, its steps are executed, but not proved.

    If the program is undefined at a step, the sequence of tasks ends, and `error` says why. The field `results` has
    those outputs of the executed steps that no step hands on; `state` is the state after these steps.
    """

    def __init__(
        self, run: Run, found: Beginning, data: Mapping[str, Integers], running: Callable[[int], object]
    ) -> None:
        self.run, self.identity, self.data, self.running = run, found.identity, data, running
        self.state = found.state
        self.error: CircuitizeError | None = None
        self.results: dict[str, list[Integers]] = {}
        self._roots = {name: found.commitments[INPUT, name].root for name in (*run.kept, DATA)}

    def __iter__(self) -> Iterator[Sent]:
        while self.state.step < self.run.last and self.error is None:
            task = Task.next(self.run, self.identity, self.state)
            stopped = Stopped(task.step, self.running)
            try:
                taken = given(self.run, self.data, task.step, task.held)
                held, results = self.run.chunk(task.step).scan.run(taken, stopped)
            except CircuitizeError as error:
                self.error = stopped.error(error)
                return
            for name, values in results.items():
                self.results.setdefault(name, []).append(values)
            yield self._sent(task, {**task.held, **held})

    def _sent(self, task: Task, held: Mapping[str, Integers]) -> Sent:
        run, before = self.run, self._roots[DATA]
        self.state = task.after(run, self.state, held)
        entering, leaving = dict(self._roots), held_commitments(run, held, self.state.roots, self.data)
        if task.renewed is not None:
            entering[DATA] = renewal(run, task.step, task.renewed, self.data).root
        after = {name: leaving[INPUT, name].root for name in run.kept}
        self._roots = entering | after
        return Sent(task, entering, after, before, self.state)


def prove_apart(underway: Underway, place: Place) -> Ahead:
    """Have the remaining steps of a run proved as tasks, and write their proofs as they arrive.

    If the run was interrupted and a proof is already in its folder, the proof is not made again if it holds. Raise
    CircuitizeError if the program is undefined at a step, after the proofs of the earlier steps are written.
    """
    run, folder = underway.run, underway.folder
    ahead, waiting = Ahead(run, underway.found, underway.data, underway.running), dict[int, Sent]()

    def judge(sent: Sent, done: Done) -> str | None:
        return fault_of(run, sent, done)

    def tasks() -> Iterator[Sent]:
        for sent in ahead:
            waiting[sent.task.step] = sent
            if _is_written(run, folder, sent):
                finish(sent)
            else:
                yield sent

    written = set[int]()

    def finish(sent: Sent) -> None:
        written.add(sent.task.step)
        while waiting and (first := min(waiting)) in written:
            underway.keep(waiting.pop(first).state)

    for sent, done in place(tasks(), judge):
        done.write(folder, sent.task.step)
        underway.note(done)
        finish(sent)
    if ahead.error is not None:
        raise ahead.error
    return ahead


def fault_of(run: Run, sent: Sent, done: Done) -> str | None:
    """Return a text that says why a task's result is not the proof that the task requires, or None if it is that proof
    and the verifier accepts it.
    """
    task, chunk = sent.task, run.chunk(sent.task.step)
    try:
        statement = statement_of(run, task.identity, task.step, done.steps, sent.entering)
    except Refused as error:
        return str(error)
    if any(statement.roots.get((OUTPUT, name)) != root for name, root in sent.leaving.items()):
        return "it ends with other roots"
    if (done.renewal is None) != (task.renewed is None):
        return "it comes with the proof of a new root of the dataset, or without, where the other was expected"
    reason = refusal(
        *(chunk.program, statement, done.steps.proof, chunk.plan, run.context(task.identity, task.step)), sent.entering
    )
    if reason is None and done.renewal is not None:
        made = Renewal(task.identity, task.step, sent.before, sent.entering[DATA])
        reason = renewal_fault(run, made, done.renewal)
    return reason


def _is_written(run: Run, folder: Path, sent: Sent) -> bool:
    step = sent.task.step
    try:
        renewed = None if sent.task.renewed is None else Proof.read(renewal_path(folder, step))
        return fault_of(run, sent, Done(read_step(step_path(folder, step)), renewed)) is None
    except CircuitizeError:
        return False
