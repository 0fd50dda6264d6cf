"""What a worker of a cluster does: proofs of steps of a run, each from all that it takes."""

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
"""Who did it, the files of the proof and of a new root's, processor and other seconds, and those of parts."""


class Board:
    """Which worker makes the proof that begins at which step, for whoever looks on."""

    def __init__(self) -> None:
        self.working: dict[str, int] = {}

    def note(self, worker: str, step: int | None) -> None:
        """Note that a worker makes the proof that begins at a step, or with None that it makes none."""
        if step is None:
            self.working.pop(worker, None)
        else:
            # Another worker does what one that died did not finish.
            self.working = {name: done for name, done in self.working.items() if done != step} | {worker: step}

    def read(self) -> dict[str, int]:
        """Return the step that each worker is at, without workers that make nothing."""
        return self.working


def prove_here(setting: bytes, data: Mapping[str, Integers], task: Task, board: Any) -> Answer:
    """Do a task of a run, which comes as a pin has it. One thread proves: Ray gives a worker one core.

    Raise CircuitizeError where this machine's version makes other plans.
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
    """A run, whose plans are made once in a process."""
    pin = decode_pin(setting)
    if pin.run.plans_digest != pin.plans:
        raise CircuitizeError(
            f"{socket.gethostname()}: expected plans {pin.plans}, found {pin.run.plans_digest}, as the version of "
            "circuitize there makes them; install one version on all machines"
        )
    return pin.run
