"""Training: steps are run one after the other, with checkpoints, metrics, and the inputs of a later proof."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import alone
from circuitize.circuits.operation import Values
from circuitize.circuits.phases import Phases, Progress, silent, under_way
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json
from circuitize.circuits.values import Given
from circuitize.frontends.checkpoint import save_safetensors
from circuitize.frontends.dataset import Dataset
from circuitize.frontends.datasets import Split
from circuitize.frontends.layers import Model
from circuitize.sims.xla.device import Xla, named

from ..exact import Exact, Reals, exact
from ..runs.data import Data, dataset_of, initial_values, public_start, seed_bytes
from ..runs.data import Values as Start
from ..runs.proving import require_apart
from ..runs.room import duration
from ..runs.scalars import Schedule, proved_scalars
from ..runs.spelling import PYTHON, Spelling
from ..runs.steps import whole_number
from ..values import write_npz
from . import metrics
from .checkpoint import Checkpoint
from .chunks import Layout
from .course import Course, digest_of
from .executing import Judge, Running, drift, names_of
from .folder import MANIFEST, SCALARS, Setting, begin, read_manifest, resume
from .journal import Journal
from .metrics import Metrics, Row
from .promised import RUN, promise

WEIGHTS = "weights.safetensors"
"""The carried values at the end, as the real numbers that they represent."""

OWN = 0o700
"""The mode of a new folder, which contains private data and weights."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trained:
    """The result of a training: its folder, its final values and metrics, and the roots of the run that is to prove the
    training.

    The field `outputs` of a training's result holds the final held values as real numbers, those of the integer
    executor if both executors ran; `last` is the row of metrics of the last step. The field `resumed` of a training's
    result is the number of steps that earlier calls had done. The fields `roots` and `final` of a training's result are
    the roots of the run's initial and final values; they are empty if no roots were made. The field `head` of a
    training's result is the end of the journal's hash chain, by which a dispute between two trainings is bisected; it
    is None for a training in float64, which keeps no journal.
    """

    folder: Path
    digest: str
    executor: str
    seed: str
    steps: int
    resumed: int
    examples: int
    seconds: float
    outputs: Mapping[str, Reals]
    last: Row
    roots: Mapping[str, str]
    final: Mapping[str, str]
    head: str | None

    def __repr__(self) -> str:
        worth = f", {_worth(self.last)}" if _worth(self.last) else ""
        return f"Trained({self.steps:,} steps in {self.folder}{worth}, program {self.digest[:16]}...)"

    def as_json(self) -> Json:
        """Return the result of the training as `circuitize train --json` writes it, without the held values."""
        names = (
            "digest",
            "executor",
            "seed",
            "steps",
            "resumed",
            "examples",
            "seconds",
            "last",
            "roots",
            "final",
            "head",
        )
        return {name: getattr(self, name) for name in names}


def train(
    program: Program | Exact,
    folder: Path | str,
    *,
    seed: bytes | str,
    steps: int | None = None,
    epochs: int | None = None,
    dataset: Data | None = None,
    inputs: Start | None = None,
    raw_inputs: bool = False,
    scalars: Mapping[str, Given] | None = None,
    schedule: Schedule | None = None,
    executor: str = "integer",
    device: str = "numpy",
    evaluate: Program | None = None,
    test: Data | None = None,
    every: int | None = None,
    initial_seed: bytes | str | None = None,
    model: Model | None = None,
    record: bool = False,
    roots: bool = True,
    per_proof: int | None = None,
    not_zero_knowledge: bool = False,
    progress: Progress = silent,
    say: Progress = silent,
    spelling: Spelling = PYTHON,
) -> Trained:
    """Train with a program that is one step, in integers (the exact meaning, which can be proved), in float64 ("real"),
    or in both side by side ("both").

    The arguments `dataset`, `seed`, `inputs`, `scalars`, `schedule`, `initial_seed` and `model` have the same meaning
    as for `prove_run`, and give the same batches: `prove_run` with the program, data.npz and initial.npz of the folder
    proves this training. A training writes a checkpoint after every `every` steps (by default each epoch) and at the
    end; at each checkpoint, `evaluate` is run on the held values and the `test` set, which is by default the test part
    of a `Dataset`. If the folder holds an interrupted training with the same settings, the training is resumed from its
    last checkpoint: values, metrics and files equal those of a training without an interruption. If the folder holds a
    training with fewer steps, the training is continued up to `steps`.

    The argument `device` says what runs the training: numpy ("numpy"), or code compiled by XLA for the processor
    ("xla") or for an NVIDIA GPU ("cuda"), with the same integers; a training may be resumed on another device. A
    training in integers keeps a journal for `dispute`; with `record`, which needs numpy, it also keeps the hashes of
    every wire.

    With `roots`, unless the executor is "real", the training also commits to the values of the run that is to prove it:
    see `Trained`.

    Raise CircuitizeError, before anything is written, if inputs do not fit or the folder holds something else; raise it
    also if the program is undefined at a step, in which case earlier checkpoints stay.
    """
    path, names = Path(folder), names_of(executor)
    given = exact(program, Phases())
    begun = public_start(given.integer, initial_seed, model, spelling)
    if begun is not None and inputs is not None:
        name, other = spelling.option("initial_seed"), spelling.option("inputs")
        raise CircuitizeError(
            f"{name}: expected no {other} beside it, which says otherwise what is begun with; give one"
        )
    if begun is None and not inputs:
        name, other = spelling.option("initial_seed"), spelling.option("model")
        say(f"it begins as the first example, which may be late in a training; {name} with {other} draws a beginning")
    course = Course(
        given,
        dataset_of(given.integer, dataset, say, spelling),
        seed_bytes(seed, spelling),
        proved_scalars(given.integer, scalars, schedule, say, spelling),
        begun.values if begun is not None else initial_values(given.integer, inputs, say, raw_inputs),
    )
    apart = dataset if test is None and isinstance(dataset, Dataset | Split) else test
    last, judge = _last(course, steps, epochs, spelling), _judge(evaluate, apart if evaluate else test, say, spelling)
    if judge is not None:
        judge.require_judges(course)
    running = [Running(name, course, named(device)) for name in names]
    often = course.steps_of_epoch if every is None else whole_number(spelling.option("every"), every)
    if often < 1:
        raise CircuitizeError(f"{spelling.option('every')}: expected at least 1 step, found {often}; choose another")
    judged = None if judge is None else digest_of(judge.program.digest, judge.data)
    if record and "integer" not in names:
        raise CircuitizeError(f"{spelling.option('record')}: expected integers, found float64 alone; leave it out")
    if record and isinstance(running[0].device, Xla):
        raise CircuitizeError(
            f"{spelling.option('record')}: expected numpy, found {device!r}, whose wires are not at hand; leave it out"
        )
    setting = Setting(course.digest, course.seed.hex(), executor, often, judged, running[0].exact, record)
    scalars_then = course.all_scalars(last)
    require_apart(path / RUN)
    _make(path)
    with alone(path / MANIFEST, "trains here", wait=False):
        held, done = resume(path, setting, running, last)
        if done and not read_manifest(path).get("journal"):
            setting = replace(setting, journal=False)
        if done is None:
            setting.write(path, last, {})
        if not done:
            begin(path, course)
        write_npz(path / SCALARS, scalars_then)
        run, said = None, read_manifest(path)
        if roots and "integer" in names:
            run = promise(course, path, last, per_proof, not not_zero_knowledge, bool(said["roots"]), say)
        first = {} if run is None else run.roots(course, 0, course.initial)
        told = said.get("final") if said.get("steps") == done == last else None
        setting.write(path, last, first or said["roots"], told)
        layout = Layout(given.integer)
        journal = Journal(path, layout, course.digest, done or 0, held[0], record) if setting.journal else None
        stops = 1 if journal is not None or len(running) > 1 else often
        _compile(running, stops, say, progress, done != last)
        table, started = Metrics(path, _columns(running, judge), done or 0), time.perf_counter()
        judged_last: dict[str, float] = {}
        for row, now in _rows(running, held, done or 0, last, stops, journal):
            held, step = now, int(row["step"])
            if journal is not None:
                journal.add(held[0])
            if step % often == 0 or step == last:
                judged_last = _judged(running, judge, held)
                table.add(row | judged_last)
                table.flush()
                if journal is not None:
                    journal.flush()
                scalar = course.scalars_digest(step)
                for one, own in zip(running, held, strict=True):
                    Checkpoint(one.name, step, course.digest, scalar, own).write(path / one.folder)
            else:
                table.add(row)
            seconds = time.perf_counter() - started
            progress(_live(course, row | judged_last, last, seconds / (step - (done or 0)) * (last - step)))
        progress("")
        outputs = running[0].reals(held[0])
        save_safetensors(path / WEIGHTS, outputs)
        final = {} if run is None else run.final(course, held[0], say)
        setting.write(path, last, first or said["roots"], final or told or {})
    return Trained(
        folder=path,
        digest=given.digest,
        executor=executor,
        seed=course.seed.hex(),
        steps=last,
        resumed=done or 0,
        examples=course.size,
        seconds=round(time.perf_counter() - started, 3),
        outputs=outputs,
        last=metrics.read_last(path),
        roots=first,
        final=final,
        head=None if journal is None else journal.head,
    )


def _make(path: Path) -> None:
    try:
        os.makedirs(path, OWN, exist_ok=True)
    except OSError as error:
        raise CircuitizeError(f"{path}: expected a folder, found {error.strerror or error}; choose another") from None


def _last(course: Course, steps: int | None, epochs: int | None, spelling: Spelling) -> int:
    """Return the total number of steps of the training, from `steps` or `epochs`."""
    given = {"steps": steps, "epochs": epochs}
    said = [name for name, count in given.items() if count is not None]
    if len(said) != 1:
        both = f"{spelling.option('steps')} or {spelling.option('epochs')}"
        raise CircuitizeError(f"expected one of {both}, found {'both' if said else 'none'}; give one")
    count = whole_number(spelling.option(said[0]), given[said[0]])
    if count < 1:
        raise CircuitizeError(f"{spelling.option(said[0])}: expected at least 1, found {count}; choose another number")
    return count if said == ["steps"] else count * course.steps_of_epoch


def _judge(program: Program | None, test: Data | None, say: Progress, spelling: Spelling) -> Judge | None:
    if program is None:
        if test is not None:
            name, other = spelling.option("test"), spelling.option("evaluate")
            raise CircuitizeError(f"{name}: expected it beside {other}, found it alone; give both")
        return None
    judging = exact(program, Phases())
    return Judge(judging, dataset_of(judging.integer, test, say, spelling, "test"))


def _rows(
    running: list[Running],
    held: list[dict[str, Values]],
    after: int,
    last: int,
    often: int,
    journal: Journal | None,
) -> Iterator[tuple[dict[str, float | int], list[dict[str, Values]]]]:
    """Yield the metrics after each step, with the held values of each executor at least after every `often` steps and
    after the last step.
    """
    course = running[0].course
    names = [port.name for port in course.held]
    everything = [
        one.steps(own, after, last, often, journal if one.exact else None)
        for one, own in zip(running, held, strict=True)
    ]
    for step, made in enumerate(zip(*everything, strict=True), after + 1):
        if all(name in outputs for outputs in made for name in names):
            held = [{name: outputs[name] for name in names} for outputs in made]
        row: dict[str, float | int] = {"step": step, "epoch": (step - 1) // course.steps_of_epoch + 1}
        for one, outputs in zip(running, made, strict=True):
            row |= _named(running, one, one.measured(outputs))
        if len(running) == 2:
            row["drift"] = drift(*(one.reals(own) for one, own in zip(running, held, strict=True)))
        yield row, held


def _compile(running: list[Running], often: int, say: Progress, progress: Progress, needed: bool) -> None:
    """Compile the steps of the executors that run by XLA, and report how long the compilation took."""
    for one in running:
        if needed and isinstance(one.device, Xla):
            with under_way(progress, f"compiling for {one.device.name}"):
                seconds = one.stretches(often).compile()
            say(f"compiled the step in {one.name} for {one.device.name} in {seconds:.1f} s")


def _judged(running: list[Running], judge: Judge | None, held: list[dict[str, Values]]) -> dict[str, float]:
    found: dict[str, float] = {}
    if judge is not None:
        for one, own in zip(running, held, strict=True):
            found |= _named(running, one, one.judged(judge, own))
    return found


def _named(running: list[Running], one: Running, measured: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics of an executor by name; those of float64 get separate names if it runs beside integers."""
    beside = one is not running[0]
    return {f"{name}_float64" if beside else name: value for name, value in measured.items()}


def _columns(running: list[Running], judge: Judge | None) -> list[str]:
    measured = [*running[0].measures, *([] if judge is None else judge.names)]
    own = [name for one in running for name in _named(running, one, dict.fromkeys(measured, 0.0))]
    return ["step", "epoch", *own, *(["drift"] if len(running) == 2 else [])]


def _worth(row: Row) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in row.items() if name not in ("step", "epoch"))


def _live(course: Course, row: Row, last: int, left: float) -> str:
    """Return one line about the progress of a training: the step, its metrics, and the remaining time."""
    return f"step {row['step']:,} of {last:,}, epoch {row['epoch']:,}: {_worth(row)}; {duration(left)} left"
