"""Machines that err by one bit: an executor with a fault, batches out of order, values that change in memory."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from circuitize.api.training.chunks import Layout
from circuitize.api.training.course import Course
from circuitize.api.training.records import Records
from circuitize.circuits.equality import Itself
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import Raw
from circuitize.provers.tensor.runs.order import rows
from circuitize.sims import integer
from circuitize.sims.device import Device
from circuitize.sims.executor import Executor

KINDS = ("operation", "input", "data", "order", "kept")


@dataclass(frozen=True)
class Fault:
    """One bit of one element of a tensor changes in one step; in `order`, of the number of an example of the batch.

    `part` is the place of the tensor in the layout of the step.
    """

    kind: str
    step: int
    part: int
    element: tuple[int, ...]
    bit: int


def drawn(kind: str, program: IntegerProgram, steps: int, random: np.random.Generator) -> Fault:
    """A fault of a kind, at a random place of a random step."""
    parts = Layout(program).parts
    held = {port.name for port in program.inputs if port.held}
    arrow = Layout(program).program.arrow

    def fits(k: int) -> bool:
        part = parts[k]
        if kind in ("data", "order"):
            return part.kind == "input" and len(part.shape) > 1 and part.name not in held
        if kind == "input":
            return part.kind == "input" and part.name in held
        return part.kind == kind and (kind == "kept" or bool(len(arrow.edge(part.edge).sources)))

    part = int(random.choice([k for k in range(len(parts)) if fits(k)]))
    shape = parts[part].shape
    element = tuple(int(random.integers(extent)) for extent in shape)
    return Fault(kind, int(random.integers(1, steps + 1)), part, element, int(random.integers(0, 3)))


def flipped(values: Any, element: tuple[int, ...], bit: int) -> Any:
    """The same values but for one bit, in an array of its own."""
    changed = np.array(values)
    changed[element] ^= 1 << bit
    return changed


class Faulty(Executor):
    """An executor that errs in one run, and in each later one on the same values; `seen` are hashes of all values."""

    def __init__(
        self, arrow: Arrow, device: Device, names: Sequence[str], fault: Fault, layout: Layout, seen: list[bytes]
    ) -> None:
        super().__init__(arrow, device, names)
        self.fault, self.part, self.seen = fault, layout.parts[fault.part], seen

    def _run(self, inputs: Sequence[Any], keep: bool) -> list[Any]:
        self.seen.append(hashlib.sha256(b"".join(np.ascontiguousarray(value).tobytes() for value in inputs)).digest())
        if self.seen[-1] not in self.seen[self.fault.step - 1 : self.fault.step]:
            return super()._run(inputs, keep)
        fault = self.fault
        if fault.kind == "input":
            at = self._inputs.index(self.part.wire)
            inputs = [flipped(v, fault.element, fault.bit) if k == at else v for k, v in enumerate(inputs)]
            return super()._run(inputs, keep)
        plans = self._plan, self._frugal
        self._plan, self._frugal = ([self._wrapped(one) for one in plan] for plan in plans)
        try:
            return super()._run(inputs, keep)
        finally:
            self._plan, self._frugal = plans

    def _wrapped(self, instruction: Any) -> Any:
        run, sources, targets, spent, edge = instruction
        if edge != self.part.edge:
            return instruction

        def erring(*values: Any) -> Any:
            at = targets.index(self.part.wire)
            made = list(run(*values))
            return [flipped(v, self.fault.element, self.fault.bit) if k == at else v for k, v in enumerate(made)]

        return erring, sources, targets, spent, edge


@contextmanager
def machine(fault: Fault, program: IntegerProgram) -> Iterator[None]:
    """This machine has a fault meanwhile: what trains on it, from the first step on, is wrong at one place."""
    layout = Layout(program)
    part = layout.parts[fault.part]
    seen: list[bytes] = []

    @cache
    def prepared(held: Itself, device: Device, names: tuple[str, ...]) -> Executor:
        return Faulty(held.arrow, device, names, fault, layout, seen)

    batches, took = Course.batches, Records.took

    def other_batches(self: Course, after: int, last: int) -> Iterator[dict[str, Raw]]:
        for step, batch in enumerate(batches(self, after, last), after + 1):
            if step == fault.step:
                batch[part.name] = Raw(flipped(batch[part.name].array, fault.element, fault.bit))
            yield batch

    def other_rows(seed: bytes, size: int, batch: int, step: int) -> Any:
        chosen = rows(seed, size, batch, step)
        return flipped(chosen, fault.element[:1], fault.bit) if step == fault.step else chosen

    done = iter(range(1, 1 << 20))

    def other_took(self: Records, wires: list[Any]) -> None:
        took(self, wires)
        if next(done) == fault.step:
            wires[part.wire] = flipped(wires[part.wire], fault.element, fault.bit)

    courses = sys.modules[Course.__module__]
    changes: dict[str, tuple[Any, str, Callable[..., Any]]] = {
        "operation": (integer, "_prepared", prepared),
        "input": (integer, "_prepared", prepared),
        "data": (Course, "batches", other_batches),
        "order": (courses, "rows", other_rows),
        "kept": (Records, "took", other_took),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*changes[fault.kind])
        yield
