"""Proofs of a run made as tasks of Ray, on all cores of this machine or of a cluster.

Ray assigns the tasks to workers, and repeats a task whose worker died; a repeated proof has the same bytes. A worker's
result is checked before it is written (see `provers.tensor.runs.apart`); if the result does not hold, the proof is made
again.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from types import ModuleType
from typing import Any, TextIO

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.phases import Progress
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.runs.apart import Judge, Place, Sent
from circuitize.provers.tensor.runs.files import StepProof
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.task import Done

from ..exact import Integers
from .pin import Pin
from .spelling import Spelling
from .worker import Board, prove_here

HERE = "local"
"""The address that stands for a cluster started for this run: all cores of this machine."""

DEATHS = 20
"""How often a task is repeated after its worker died."""

REFUSALS = 3
"""How often a task is done if its proof does not hold."""

AHEAD = 2
"""The number of tasks for each core that are known to Ray: since the values that enter them are in Ray's memory."""


SHOWN = 4
"""How many workers are named in a line of progress."""

CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class Cluster:
    """The resources that Ray offers: the number of cores of all machines together, the bytes of memory of the largest
    machine, and the bytes of memory for each core of the smallest machine.
    """

    cores: int
    largest: int
    memory_each: int

    def most_steps(self, steps: int) -> int:
        """Return the greatest number of steps per proof, a power of two, that leaves at least one proof for each
        core.
        """
        return 1 << max(0, (-(-steps // self.cores)).bit_length() - 1)

    def require_memory(self, needed: int, spelling: Spelling) -> None:
        """Raise CircuitizeError if no machine has enough memory for a proof, since Ray would wait for such a machine
        for ever.
        """
        if needed > self.largest:
            raise CircuitizeError(
                f"{spelling.option('ray')}: expected a machine with {amount_of_bytes(needed)} for a proof, found at "
                f"most {amount_of_bytes(self.largest)} that Ray gives away; say fewer steps in a proof "
                f"({spelling.option('per_proof')}), or start Ray with more memory"
            )

    def place(self, run: Run, data: Mapping[str, Integers], needed: int, say: Progress, progress: Progress) -> Place:
        """Yield the pool of Ray tasks in which proofs of a run are made, each with one core and `needed` bytes of
        memory.
        """
        ray = _ray()

        def place(tasks: Iterator[Sent], judge: Judge) -> Iterator[tuple[Sent, Done]]:
            setting = ray.put(Pin(run, run.plans_digest, {}, {}).encode())
            tensors = ray.put(dict(data))
            board = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(Board).remote()
            prove = ray.remote(num_cpus=1, memory=needed, max_retries=DEATHS)(prove_here)
            pending: dict[object, tuple[Sent, int]] = {}

            def send(sent: Sent, times: int) -> None:
                pending[prove.remote(setting, tensors, ray.put(sent.task), board)] = sent, times

            more = True
            while more or pending:
                while more and len(pending) < AHEAD * self.cores:
                    sent = next(tasks, None)
                    more = sent is not None
                    if sent is not None:
                        send(sent, 1)
                ready, _ = ray.wait(list(pending), timeout=1.0) if pending else ([], [])
                for reference in ready:
                    sent, times = pending.pop(reference)
                    worker, done, reason = _answer(reference)
                    fault = reason if done is None else judge(sent, done)
                    if done is not None and fault is None:
                        yield sent, done
                        continue
                    said = f"the proof from step {sent.task.step} on, of {worker}, does not hold: {fault}"
                    if times == REFUSALS:
                        raise CircuitizeError(f"{said}; the proofs before it are kept")
                    say(f"{said}; it is made again")
                    send(sent, times + 1)
                progress(_said(board, run))

        return place


@contextmanager
def cluster(address: str, spelling: Spelling) -> Iterator[Cluster]:
    """Yield a cluster on which to make proofs: the cluster at the given address, or for `local` a cluster that is
    started for the block and stopped after it.

    If this process has already joined a cluster, that cluster is used and no other is started. Raise CircuitizeError if
    Ray is not installed, if nothing answers at the address, or if the cluster has no free core.
    """
    try:
        ray = _ray()
    except ImportError:
        raise CircuitizeError(
            f"{spelling.option('ray')}: expected ray, found none; install it: pip install 'circuitize[ray]'"
        ) from None
    joined = ray.is_initialized()
    with _quiet():
        try:
            if not joined:
                _join(address, spelling)
            yield _found(spelling)
        finally:
            if not joined:
                # It prints what it kept back, from this thread.
                with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                    ray.shutdown()


def _ray() -> ModuleType:
    """Import the package Ray, which is an optional extra. Raise ImportError if the package Ray is not installed."""
    return import_module("ray")


def _join(address: str, spelling: Spelling) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == HERE:
        # Nothing is reported to anybody, and a proof for which there is too little memory is given up in the end.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_task_oom_retries", str(DEATHS))
        options |= {"num_cpus": os.cpu_count() or 1, "include_dashboard": False}
    try:
        _require_reached(address)
        _ray().init(address=address, **options)
    except Exception as error:  # Ray raises many kinds, of the network and of its own.
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise CircuitizeError(
            f"{spelling.option('ray', address)}: expected a cluster of Ray, found {reason}; start it (ray start "
            "--head) and give its address, with RAY_AUTH_MODE=token where it wants a token; or give none, for this "
            "machine alone"
        ) from None


def _require_reached(address: str) -> None:
    """Raise OSError if nothing answers at HOST:PORT; without this check Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()


def _found(spelling: Spelling) -> Cluster:
    ray = _ray()

    machines = [
        (int(node["Resources"]["CPU"]), int(node["Resources"].get("memory", 0)))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    ]
    if not machines:
        raise CircuitizeError(
            f"{spelling.option('ray')}: expected a machine with a core to give, found none; start Ray on one"
        )
    return Cluster(
        sum(cores for cores, _ in machines),
        max(memory for _, memory in machines),
        min(memory // cores for cores, memory in machines),
    )


def _answer(reference: object) -> tuple[str, Done | None, str]:
    """Return the outcome of a task of Ray: its worker, and its result or the reason why there is none."""
    ray = _ray()

    try:
        worker, steps, renewal, seconds, cpu_seconds, phases = ray.get(reference)
        done = Done(
            StepProof.decode(steps),
            None if renewal is None else Proof.decode(renewal),
            *(seconds, cpu_seconds, phases),
        )
        return worker, done, ""
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, CircuitizeError):
            raise CircuitizeError(f"a worker of Ray cannot prove: {error.cause}") from None
        return "a worker", None, f"{type(error.cause).__name__}: {error.cause}"
    except ray.exceptions.RayError as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise CircuitizeError(
            f"expected a worker of Ray to live until its proof is made, found {DEATHS + 1} that died ({reason}); look "
            "for what ends them (memory, most often); the proofs made so far are kept"
        ) from None
    except (CircuitizeError, ValueError, TypeError) as error:
        return "a worker", None, str(error)


def _said(board: Any, run: Run) -> str:
    """Return one line about what each worker of the cluster does."""
    ray = _ray()

    try:
        working: dict[str, int] = ray.get(board.read.remote(), timeout=1.0)
    except ray.exceptions.RayError:
        return ""
    said = [f"{worker} from step {step:,} on" for worker, step in sorted(working.items(), key=lambda one: one[1])]
    more = f", and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return f"proving {run.steps:,} steps: {', '.join(said[:SHOWN])}{more}" if said else ""


class _WithoutRay:
    """A context manager that keeps the lines that Ray's own threads print out of standard output, which is for the
    command's result.
    """

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def write(self, text: str) -> int:
        if threading.current_thread().name.startswith("ray_"):
            return len(text)
        return int(self._output.write(text))

    def __getattr__(self, name: str) -> object:
        return getattr(self._output, name)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Ray's own messages; circuitize itself reports what matters."""
    output, logger = sys.stdout, logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    sys.stdout = _WithoutRay(output)
    try:
        yield
    finally:
        sys.stdout = output
        logger.setLevel(level)
