"""The work of one worker in a cluster: making proofs of a run's steps, each from a task that contains all its
inputs.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.tensor.runs.commitments import commitments
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.task import Task, prove_task

from ..exact import Integers
from .pin import decode_pin

Answer = tuple[str, bytes, bytes | None, float, float, Mapping[str, float]]
"""The result of a task: the worker, the files of the proof and of a new root, and the processor and wall seconds in
total and by part.
"""


class Board:
    """A table of the proof that each worker is making, by the proof's first step, for a progress display."""

    def __init__(self) -> None:
        self.working: dict[str, int] = {}

    def note(self, worker: str, step: int | None) -> None:
        """Record that a worker is making the proof that begins at a step; None means that the worker is idle."""
        if step is None:
            self.working.pop(worker, None)
        else:
            # Another worker does what one that died did not finish.
            self.working = {name: done for name, done in self.working.items() if done != step} | {worker: step}

    def read(self) -> dict[str, int]:
        """Return, for each worker, the first step of the proof that it is making; idle workers are left out."""
        return self.working


def prove_here(setting: bytes, data: Mapping[str, Integers], task: Task, board: Any) -> Answer:
    """Carry out one task of a run, whose setting arrives as the content of a pin. A task's proof is made by a single
    thread, because Ray gives each worker one core.

    Raise CircuitizeError if the version of the package on this machine makes other plans.
    """
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    worker = f"{socket.gethostname()}:{os.getpid()}"
    board.note.remote(worker, task.step)
    begun = time.perf_counter(), time.process_time()
    run = _run(setting)
    taken = commitments(run, task.step, task.held, task.roots, data)
    done = prove_task(run, data, task, taken).done
    board.note.remote(worker, None)
    renewal = None if done.renewal is None else done.renewal.encode()
    spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
    return worker, done.steps.encode(), renewal, *spent, dict(done.phases)


@lru_cache(maxsize=1)
def _run(setting: bytes) -> Run:
    """Return the run that a setting describes; its plans are made once per process."""
    pin = decode_pin(setting)
    if pin.run.plans_digest != pin.plans:
        raise CircuitizeError(
            f"{socket.gethostname()}: expected plans {pin.plans}, found {pin.run.plans_digest}, as the version of "
            "circuitize there makes them; install one version on all machines"
        )
    return pin.run
