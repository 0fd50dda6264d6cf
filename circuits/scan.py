"""A scan: several steps of a program as one step on arrays with time as their first axis, in which each step takes the
values that the step before leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from .builder import Builder
from .errors import TypingError
from .integers.arithmetic import Subtract
from .integers.check import Check
from .integers.view import View
from .integers.wiring import Concatenate, Reindex, Sum
from .lift import lift, lifted
from .operation import Values
from .port import Port, Visibility
from .program import IntegerProgram
from .types import Fixed
from .undefined import outputs_of


class Told(Enum):
    """The choice of the steps whose public outputs are disclosed: none, the first and the last, all, or, in place of
    single steps, the sum over all steps.
    """

    NONE = "none"
    ENDS = "ends"
    ALL = "all"
    TOTAL = "total"


@dataclass(frozen=True)
class Trajectory:
    """The names of the ports of a value that is handed from step to step: before the first step, entering each step,
    and leaving each step.
    """

    first: str
    entering: str
    leaving: str


@dataclass(frozen=True)
class Scan:
    """A step, the program that does the step `count` times, and how the ports of the two correspond.

    The field `results` of a Scan gives, for each output of the step that is not handed to the next step, the output of
    the program with the values of all steps.
    """

    step: IntegerProgram
    count: int
    program: IntegerProgram
    trajectories: tuple[Trajectory, ...]
    results: Mapping[str, str]

    def inputs(
        self, given: Mapping[str, Values], progress: Callable[[int], object] = lambda _: None
    ) -> dict[str, Values]:
        """Return all inputs of a scan's program, from the first held values and the inputs of each step, by running the
        steps in turn.

        The callback `progress` is called with the number of each step, from 0 on, before the step is run. Raise
        Undefined if a step of the scan has no value on its inputs.
        """
        first = {one.first: np.asarray(given[one.first], np.int64) for one in self.trajectories}
        entering = {name: np.empty((self.count, *value.shape), np.int64) for name, value in first.items()}

        def note(time: int, held: Mapping[str, Values]) -> None:
            progress(time)
            for name, value in held.items():
                entering[name][time] = value

        self._run(given, note, ())
        return dict(given) | {one.entering: entering[one.first] for one in self.trajectories}

    def run(
        self, given: Mapping[str, Values], progress: Callable[[int], object] = lambda _: None
    ) -> tuple[dict[str, Values], dict[str, Values]]:
        """Return the values that the last step hands on, and the other outputs of all steps, by name, with time as
        first axis.

        The arguments `given` and `progress` have the same meaning as in `inputs`. Raise Undefined if a step of the scan
        has no value on its inputs.
        """
        return self._run(given, lambda time, _: progress(time), self.results)

    def _run(
        self, given: Mapping[str, Values], note: Callable[[int, Mapping[str, Values]], object], kept: Iterable[str]
    ) -> tuple[dict[str, Values], dict[str, Values]]:
        """Run the steps in turn: the callback `note` is called with the values that enter each step, before the step is
        run; `kept` are the outputs whose values are returned.
        """
        names = tuple(port.name for port in self.step.inputs)
        outputs = [port.name for port in self.step.outputs]
        held = {port.name for port in self.step.inputs if port.held}
        current = {one.first: np.asarray(given[one.first], np.int64) for one in self.trajectories}
        results: dict[str, list[Values]] = {name: [] for name in kept}
        for time in range(self.count):
            note(time, current)
            inputs = [current.get(name, given[name] if name in held else given[name][time]) for name in names]
            made = dict(zip(outputs, outputs_of(self.step.arrow, inputs, names), strict=True))
            current = {name: made[name] for name in current}
            for name, values in results.items():
                values.append(made[name])
        return current, {name: np.array(values) for name, values in results.items()}


def scan(step: IntegerProgram, count: int, told: Told = Told.NONE) -> Scan:
    """Return the integer program that does a step `count` times, each time with the values that the step before leaves.

    A held value that leaves a step is handed to the next step: the scan's program takes the value before the first step
    and returns the value after the last. All other inputs and outputs of a scan have the time of the step as a new
    first axis. Of the steps' public outputs, only those of the steps that are `told` stay public, or only the sum over
    all steps. In addition to the step's inputs, the scan's program has a private input for each value handed on: the
    values that enter the steps. A Check ensures that the private input of a scan holds the first value, then the values
    that each step but the last leaves; so this input can only hold the values that the steps have when run in turn. A
    scan's program has private outputs for provers: the values that leave each step.

    Raise TypingError for a step that takes and gives a held value in two formats, and wherever `lift` does.
    """
    leaving = {port.name: port for port in step.outputs}
    carried = [port for port in step.inputs if port.held and port.name in leaving]
    for port in carried:
        if leaving[port.name].format != port.format:
            raise TypingError(
                f"expected {port.name!r} to leave a step as it enters, in {port.format}, found "
                f"{leaving[port.name].format}; give both one format"
            )
    builder = Builder()
    wires = {p.name: builder.input(p.format if p.held else lifted(p.format, count)) for p in step.inputs}
    entering = {port.name: builder.input(lifted(port.format, count)) for port in carried}
    constant = [port for port in step.inputs if port.held and port not in carried]
    taken = wires | {p.name: _at_all_times(builder, wires[p.name], count) for p in constant} | entering
    sources = [taken[port.name] for port in step.inputs]
    outputs = dict(zip(leaving, builder.splice(lift(step.arrow, count), sources), strict=True))
    final: dict[str, int] = {}
    for port in carried:
        _hand_on(builder, wires[port.name], entering[port.name], outputs[port.name], count)
        final[port.name] = builder.add(Reindex(View.take((count, *port.format.shape), count - 1)), outputs[port.name])
    trajectories = tuple(Trajectory(port.name, f"{port.name} entering", f"{port.name} leaving") for port in carried)
    inputs = [
        *(port if port.held else _over_time(port, count) for port in step.inputs),
        *(_private(port, one.entering, count) for port, one in zip(carried, trajectories, strict=True)),
    ]
    ports: list[tuple[Port[Fixed], int]] = []
    results: dict[str, str] = {}
    for port in step.outputs:
        if port.name in final:
            ports.append((port, final[port.name]))
            continue
        wire, results[port.name] = outputs[port.name], port.name
        if port.visibility is Visibility.PUBLIC and told is Told.NONE:
            ports.append((_private(port, port.name, count), wire))
        elif port.visibility is Visibility.PUBLIC and told is not Told.ALL:
            results[port.name] = f"{port.name} of all steps"
            shown = _ends(builder, wire, count) if told is Told.ENDS else _total(builder, wire, count)
            ports.append((replace(port, format=builder.format(shown)), shown))
            ports.append((_private(port, results[port.name], count), wire))
        else:
            ports.append((_over_time(port, count), wire))
    ports += [
        (_private(port, one.leaving, count), outputs[port.name])
        for port, one in zip(carried, trajectories, strict=True)
    ]
    arrow = builder.build([wire for _, wire in ports])
    program = IntegerProgram(arrow, tuple(inputs), tuple(port for port, _ in ports), precision=step.precision)
    return Scan(step, count, program, trajectories, results)


def _hand_on(builder: Builder, first: int, entering: int, leaving: int, count: int) -> None:
    """Check that the value that enters each step is the value that the step before leaves, or at the first step the
    first value.
    """
    shape = builder.format(first).shape
    joined = builder.add(Reindex(View.broadcast((1, *shape), (0,))), first)
    if count > 1:
        start, stop = (0,) * (len(shape) + 1), (count - 1, *shape)
        before = builder.add(Reindex(View.slice((count, *shape), start, stop)), leaving)
        joined = builder.add(Concatenate(0), joined, before)
    builder.add(Check(0, 0), builder.add(Subtract(), entering, joined))


def _at_all_times(builder: Builder, wire: int, count: int) -> int:
    """Return a held value that enters each step unchanged because it never leaves a step."""
    return builder.add(Reindex(View.broadcast((count, *builder.format(wire).shape), (0,))), wire)


def _ends(builder: Builder, wire: int, count: int) -> int:
    """Return the values of the first and the last step of a scan."""
    shape = builder.format(wire).shape
    rest = (0,) * (len(shape) - 1)
    view = View.slice(shape, (0, *rest), shape, (max(1, count - 1), *(1 for _ in rest)))
    return builder.add(Reindex(view), wire)


def _total(builder: Builder, wire: int, count: int) -> int:
    """Return the sum of a value over all steps of a scan."""
    shape = builder.format(wire).shape[1:]
    return builder.add(Sum(View.broadcast((count, *shape), (0,))), wire)


def _over_time(port: Port[Fixed], count: int) -> Port[Fixed]:
    return replace(port, format=lifted(port.format, count))


def _private(port: Port[Fixed], name: str, count: int) -> Port[Fixed]:
    return replace(_over_time(port, count), name=name, visibility=Visibility.PRIVATE)
