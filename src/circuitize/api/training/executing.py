"""The executors of a training: integers, which can be proved later, and float64 for comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from circuitize.backends.tensor.dataset import batch_size
from circuitize.circuits.errors import CircuitizeError, restated
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port
from circuitize.circuits.program import as_integers
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw, to_reals
from circuitize.sims import integer, real
from circuitize.sims.device import CPU, Device
from circuitize.sims.xla.device import NAMES, Xla

from ..exact import Exact, Integers, Reals
from .course import Course
from .journal import Journal

if TYPE_CHECKING:
    from circuitize.sims.xla.stretch import Stretches

EXECUTORS = ("integer", "real", "both")
DEVICES = NAMES
RIGHT = "right"
"""The name of an evaluation's output that counts right answers."""


@dataclass(frozen=True)
class Judge:
    """An evaluation program, and the tensors of a test set that consists of whole batches."""

    program: Exact
    data: Mapping[str, Integers]

    def __post_init__(self) -> None:
        for port in self.program.integer.outputs:
            if port.format.shape != ():
                raise CircuitizeError(
                    f"expected an evaluation whose outputs are numbers, found {port.name!r} of shape "
                    f"{list(port.format.shape)}; evaluation(model, batch) makes one"
                )
        if self.size % self.batch or not self.size:
            raise CircuitizeError(
                f"expected a test set of whole batches of {self.batch}, found {self.size} examples; choose a "
                "batch that divides them"
            )

    def require_judges(self, course: Course) -> None:
        """Raise CircuitizeError if the held inputs of the evaluation program differ from those of the training in name
        or format.
        """
        held = {port.name: port.format for port in course.held}
        for port in self.program.integer.inputs:
            if port.held and held.get(port.name) != port.format:
                found = "none" if port.name not in held else str(held[port.name])
                raise CircuitizeError(
                    f"expected the evaluation's {port.name!r} as the step has it, {port.format}, found {found}; make "
                    "both of one model"
                )

    @property
    def size(self) -> int:
        """Return the number of examples in the test set."""
        return len(next(iter(self.data.values())))

    @property
    def batch(self) -> int:
        """Return the number of examples that one run of the evaluation program takes."""
        return batch_size(self.program.integer)

    @property
    def names(self) -> list[str]:
        """Return the names of the evaluation's measures: `accuracy` if right answers are counted, and the mean of each
        other output.
        """
        return ["accuracy" if port.name == RIGHT else f"test_{port.name}" for port in self.program.integer.outputs]


def names_of(executor: str) -> tuple[str, ...]:
    """Return the names of the executors that a word such as `both` stands for. Raise CircuitizeError for a word that
    stands for no executor.
    """
    if executor not in EXECUTORS:
        raise CircuitizeError(f"expected an executor among {', '.join(EXECUTORS)}, found {executor!r}; choose one")
    return ("integer", "real") if executor == "both" else (executor,)


@dataclass(frozen=True)
class Running:
    """One executor that runs the course of a training on a device; the integer executor gives the same results on all
    devices.
    """

    name: str
    course: Course
    device: Device = CPU

    def __post_init__(self) -> None:
        if self.name == "real" and as_integers(self.course.step.given) is not None:
            raise CircuitizeError(
                "expected a program of reals to train in float64, found one of integers; quantize later"
            )

    @property
    def exact(self) -> bool:
        """Return whether this executor computes the integers that proofs are about."""
        return self.name == "integer"

    def initial(self) -> dict[str, Values]:
        """Return the held values before the first step."""
        return {port.name: self._own(port, self.course.initial[port.name]) for port in self.course.held}

    def _own(self, port: Port[Fixed], values: Integers) -> Values:
        return values if self.exact else np.asarray(to_reals(port.format, values))

    def steps(
        self, held: Mapping[str, Values], after: int, last: int, often: int, journal: Journal | None
    ) -> Iterator[dict[str, Values]]:
        """Yield the outputs of each step after a given one; the held values are among them after every `often` steps
        and after the last step. If a journal is given, which records the values of every step, the held values must be
        requested after every step (`often` is 1).

        Raise CircuitizeError, naming the step, if the program is undefined at a step.
        """
        compiled = isinstance(self.device, Xla) and after < last
        made = (
            self._compiled(held, after, last, often, journal) if compiled else self._plain(held, after, last, journal)
        )
        for step in range(after + 1, last + 1):
            try:
                yield dict(next(made))
            except CircuitizeError as error:
                said = str(error).removeprefix(f"step {step}: ")
                raise restated(error, f"step {step}: {said}; the checkpoints before it are kept") from None

    def _plain(
        self, held: Mapping[str, Values], after: int, last: int, journal: Journal | None
    ) -> Iterator[Mapping[str, Values]]:
        """Run the steps with numpy, one by one; if a journal is given, it runs and records the integer steps."""
        batches, given = self.course.batches(after, last), self.course.step
        if journal is not None:
            return journal.steps(held, batches)
        if self.exact:
            return integer.train(given.integer, {name: Raw(values) for name, values in held.items()}, batches)
        return real.train(given.given, held, batches)

    def _compiled(
        self, held: Mapping[str, Values], after: int, last: int, often: int, journal: Journal | None
    ) -> Iterator[Mapping[str, Values]]:
        """Run the steps compiled by XLA, many at a time, but never past a step after which the held values are wanted.

        If the program is undefined at one of the compiled steps, numpy runs the steps again and names the step and the
        reason.
        """
        stretches = self.stretches(often)
        step, there = after, stretches.put(held)
        ports = {port.name: port for port in self.course.step.integer.inputs}
        while step < last:
            left = last - step if often == 1 else min(last - step, often - step % often)
            count = min(stretches.most, left)
            given = self.course.stretch(step, count)
            done = stretches.run(there, {name: self._own(ports[name], values) for name, values in given.items()})
            if done is None:
                yield from self._plain(stretches.take(there), step, step + count, journal)
                raise CircuitizeError(
                    f"expected a value as numpy has one, found none by {self.device.name}; report this"
                )
            for k in range(count):
                if journal is not None:
                    journal.entering({name: values[k] for name, values in given.items()})
                asked = often > 1 and k == count - 1 and ((step + count) % often == 0 or step + count == last)
                made = {name: values[k] for name, values in done.told.items()}
                yield made | stretches.take(done.held) if asked else made
            step, there = step + count, done.held

    def stretches(self, often: int) -> Stretches:
        """Return the step compiled for the XLA device of this executor; the compiled step that was used last is
        kept.
        """
        from circuitize.sims.xla.stretch import MOST_STEPS, Stretches

        assert isinstance(self.device, Xla)
        if "stretches" not in self._kept:
            step = self.course.step
            program = step.integer if self.exact else step.given
            arrow = program.arrow if self.exact else real.simplified(program.arrow)
            told = self.measures + [port.name for port in self.course.held if often == 1]
            self._kept["stretches"] = Stretches(program, arrow, self.device, told, MOST_STEPS if often == 1 else often)
        return self._kept["stretches"]

    @cached_property
    def _kept(self) -> dict[str, Stretches]:
        return {}

    @property
    def folder(self) -> str:
        """Return the name of the folder for the checkpoints of this executor."""
        return f"checkpoints-{self.name}"

    @property
    def measures(self) -> list[str]:
        """Return the names of a step's outputs that are single numbers and not held, such as the loss."""
        kept = {port.name for port in self.course.held}
        return [p.name for p in self.course.step.integer.outputs if p.name not in kept and p.format.shape == ()]

    def measured(self, made: Mapping[str, Values]) -> dict[str, float]:
        """Return, as real numbers, those outputs of a step that are single numbers and not held."""
        wanted = set(self.measures)
        return {p.name: self._real(p, made[p.name]) for p in self.course.step.integer.outputs if p.name in wanted}

    def _real(self, port: Port[Fixed], value: Values) -> float:
        return float(to_reals(port.format, value) if self.exact else value)

    def reals(self, held: Mapping[str, Values]) -> dict[str, Reals]:
        """Return the held values as the real numbers that they represent."""
        made = {}
        for port in self.course.held:
            values = held[port.name]
            made[port.name] = np.asarray(to_reals(port.format, values) if self.exact else values, np.float64)
        return made

    def judged(self, judge: Judge, held: Mapping[str, Values]) -> dict[str, float]:
        """Return the measures of the evaluation program for the held values on the test set, by the names in
        `Judge.names`.
        """
        program, totals = judge.program, dict.fromkeys((p.name for p in judge.program.integer.outputs), 0.0)
        wanted = {port.name for port in program.integer.inputs}
        for start in range(0, judge.size, judge.batch):
            batch = {name: Raw(tensor[start : start + judge.batch]) for name, tensor in judge.data.items()}
            own = {name: Raw(values) if self.exact else values for name, values in held.items() if name in wanted}
            made = (
                integer.run(program.integer, {**own, **batch}, self.device)
                if self.exact
                else real.run(program.given, {**own, **batch}, self.device)
            )
            for port in program.integer.outputs:
                totals[port.name] += self._real(port, made[port.name])
        counts = [judge.size if port.name == RIGHT else judge.size // judge.batch for port in program.integer.outputs]
        return {name: total / count for name, total, count in zip(judge.names, totals.values(), counts, strict=True)}


def drift(ours: Mapping[str, Reals], theirs: Mapping[str, Reals]) -> float:
    """Return the greatest difference between an element of a held value and its counterpart in float64."""
    return max((float(np.max(np.abs(ours[name] - theirs[name]), initial=0.0)) for name in ours), default=0.0)
