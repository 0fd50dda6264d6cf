"""The cutting of a program, or of the programs of a design with modes, into stages, which does not depend on a
budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.micro_batches import Rounds
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram, require_integers
from circuitize.circuits.types import Fixed

from ..design import stream_names
from ..modes import Modal, Mode, Passage
from ..signals import element
from .alignment import aligned
from .core import core
from .cutting import cut
from .datapath import Datapath
from .feeding import NARROW, Feed, feeding
from .following import leaders_of
from .graph import Graph, Stage
from .join import joined
from .lane_text import lane, unit
from .layout import spread
from .naming import name_stages, names_of_streams
from .rematerialization import rematerialized
from .splitting import split
from .tiling import Choice, lane_axis, tile, varies

Indices = NDArray[np.int64]


WIDE = 16
"""Wide factors share lanes where they are in one product of so many, or more: two multipliers a lane in some families.
"""


@dataclass(frozen=True)
class Entry:
    """A tensor that enters a design, and the wire that holds it; the wire is negative if no stage reads the tensor."""

    wire: int
    stream: str
    passage: Passage


@dataclass(frozen=True, eq=False)
class Exit:
    """A tensor that leaves a design: the elements `at` of a wire, in this order."""

    wire: int
    at: Indices
    stream: str
    passage: Passage


@dataclass
class Fold:
    """A program that is cut into stages, with everything that does not depend on the budget.

    `held` maps wires in memory to the inputs whose values they have; `states` maps the wire of each state to the wire
    of its next value. If there are several kinds of frames, `modal` says which, and `loads` maps the wire of each
    memory to the wire of the entry that writes it. If `elements_per_beat` is not 0, a beat of each stream has at least
    so many elements, and a power of two or the whole tensor. If `follows` is true, stages follow others. If `rounds` is
    given, the program is that of a round.
    """

    program: IntegerProgram
    graph: Graph
    formats: dict[int, Fixed]
    held: dict[int, Port[Fixed]]
    states: dict[int, int]
    entries: list[Entry]
    exits: list[Exit]
    axes: list[int]
    elements_per_beat: int = 0
    modal: Modal | None = None
    loads: dict[int, int] = field(default_factory=dict)
    follows: bool = False
    rounds: Rounds | None = None
    _paths: dict[tuple[int, int], tuple[Datapath, int, Datapath | None, int]] = field(default_factory=dict)
    _spread: dict[tuple[int, Choice], dict[str, int]] = field(default_factory=dict)

    @property
    def stages(self) -> list[Stage]:
        """Return the stages in an order in which each tensor is written before it is read."""
        return self.graph.stages

    @property
    def round_count(self) -> int:
        """Return the number of rounds of a frame."""
        return 1 if self.rounds is None else self.rounds.count

    @cached_property
    def updates(self) -> bool:
        """Return whether any stage writes state; if so, each frame waits for the frame before it."""
        return any(stage.wire in self.states.values() for stage in self.stages)

    @cached_property
    def members(self) -> dict[int, tuple[Feed, Feed]]:
        """Return the stages of a training step that share lanes, with the sources of their factors; none unless there
        are several.

        The first factor of a stage's terms is the one of more than NARROW bits, if there is one, else the one that
        differs less from lane to lane. Stages with a factor of more than NARROW bits keep their own lanes if they have
        only a small part of all products.
        """
        if not self.updates:
            return {}
        found = {k: made for k, stage in enumerate(self.stages) if (made := feeding(stage)) is not None}
        works = {k: self.stages[k].size * self.stages[k].terms for k in found}
        wide = {k for k, feeds in found.items() if max(feed.signed_bits for feed in feeds) > NARROW}
        if sum(works[k] for k in wide) * WIDE < sum(works.values()):
            found = {k: feeds for k, feeds in found.items() if k not in wide}
        for k, (x, y) in found.items():
            stage, axis = self.stages[k], self.axes[k]
            differ = [any(varies(operand, stage.shape, axis) for operand in feed.operands) for feed in (x, y)]
            if (y.signed_bits > NARROW, not differ[1]) > (x.signed_bits > NARROW, not differ[0]):
                found[k] = y, x
        return found if len(found) > 1 else {}

    @cached_property
    def leaders(self) -> dict[int, int]:
        """Return for each stage that follows another one the number of the latter."""
        return leaders_of(self.stages) if self.follows else {}

    def format(self, wire: int) -> Fixed:
        """Return the format of a wire in memory, which a stage writes or which is an input."""
        for stage in self.stages:
            if stage.wire == wire:
                return stage.format
        return self.formats[wire]

    @cached_property
    def flagged(self) -> list[int]:
        """Return the stages that report to the status of a frame: those with a Check, and those that write state.

        In a design with modes, the stages that write outputs also report to the status, which then says that they are
        done.
        """
        found = [k for k, stage in enumerate(self.stages) if stage.checks]
        ends = set(self.states.values()) | ({exit.wire for exit in self.exits} if self.modal else set())
        found += [k for k, stage in enumerate(self.stages) if k not in found and stage.wire in ends]
        return sorted(found)

    @cached_property
    def stage_modes(self) -> list[frozenset[Mode]]:
        """Return for each stage the modes in which it runs: those of the outputs and of the state for which it is
        needed.
        """
        needed: dict[int, frozenset[Mode]] = {}
        if self.modal is None:
            return [frozenset()] * len(self.stages)
        for exit in self.exits:
            if exit.passage.modes != {Mode.READ}:
                needed[exit.wire] = needed.get(exit.wire, frozenset()) | exit.passage.modes
        for wire in self.states.values():
            needed[wire] = needed.get(wire, frozenset()) | {Mode.TRAIN}
        for stage in reversed(self.stages):
            for operand in stage.operands:
                if operand.amounts is None:
                    needed[operand.wire] = needed.get(operand.wire, frozenset()) | needed[stage.wire]
        return [needed[stage.wire] for stage in self.stages]

    @cached_property
    def learning(self) -> set[int]:
        """Return the stages that only training steps run, in a design that also predicts."""
        return {k for k, modes in enumerate(self.stage_modes) if modes == {Mode.TRAIN}}

    def spread(self, number: int, choice: Choice) -> dict[str, int]:
        """Return for each operand in memory that a stage of the given sizes reads how many bits of block memory more
        than those of its elements it takes: copies and tables of addresses.
        """
        if (number, choice) not in self._spread:
            stage = self.stages[number]
            tiling = tile(stage, choice)
            self._spread[number, choice] = {
                operand.name: spread(tiling.reads(operand), operand.format.size, element(operand.format).width)
                for operand in stage.operands
                if operand.amounts is None
            }
        return self._spread[number, choice]

    def paths(self, number: int, split: int) -> tuple[Datapath, int, Datapath | None, int]:
        """Return the datapath of a unit and its clocks, and the datapath of a lane (or None) and its clocks before the
        sum.
        """
        key = (number, split)
        if key not in self._paths:
            stage = self.stages[number]
            _, outer, after = unit("unit", stage, split)
            if stage.reduction:
                _, inner, before = lane("lane", stage, split)
                self._paths[key] = outer, after, inner, before
            else:
                self._paths[key] = outer, after, None, 0
        return self._paths[key]


def fold(
    program: IntegerProgram,
    elements_per_beat: int = 0,
    modal: Modal | None = None,
    narrow: bool = False,
    rounds: Rounds | None = None,
) -> Fold:
    """Return a program, or the programs of a design with modes, cut into stages; if `narrow` is true, wide contractions
    of a program without modes are split. If `rounds` is given, `program` is that of a round.

    Raise CircuitizeError for a program that is not quantized to integers, or that has no input.
    """
    require_integers(program)
    if modal is not None:
        return _modal(modal, elements_per_beat)
    outputs = {port.name: k for k, port in enumerate(program.outputs)}
    state_ports = [k for k, port in enumerate(program.inputs) if port.held and port.name in outputs]
    names = {program.inputs[k].name for k in state_ports}
    if len(names) == len(program.inputs):
        raise CircuitizeError("expected a program with an input, found none; leave one unbound")
    arrow = split(program.arrow) if narrow else core(program.arrow)
    graph = cut(arrow, [port.name in names for port in program.outputs])
    if names:
        graph = rematerialized(graph)
    inputs = arrow.inputs.tolist()
    states = {inputs[k]: graph.outputs[outputs[program.inputs[k].name]][0] for k in state_ports}
    real = [port for port in program.inputs if port.name not in names]
    into, out = names_of_streams(real, program.outputs, rounds)
    wires = dict(zip([port.name for port in program.inputs], inputs, strict=True))
    entries = [Entry(wires[p.name], into[p.name], _passage(p)) for p in real]
    exits = [
        Exit(wire, at, out[port.name], _passage(port))
        for port, (wire, at) in zip(program.outputs, graph.outputs, strict=True)
        if port.name in out
    ]
    formats = {wires[port.name]: port.format for port in program.inputs}
    held = {inputs[k]: program.inputs[k] for k in state_ports}
    name_stages(graph)
    axes = _lane_axes(graph)
    made = Fold(program, graph, formats, held, states, entries, exits, axes, elements_per_beat, rounds=rounds)
    return _sharing(replace(made, axes=aligned(graph.stages, axes, states))) if made.members else made


def _sharing(made: Fold) -> Fold:
    """Return a program cut into stages that share lanes, changed so that the parts of a wide product are added in a
    separate clock.
    """
    for stage in made.stages:
        stage.apart = True
    return made


def _passage(port: Port[Fixed]) -> Passage:
    return Passage(port.name, port.name, port.format, frozenset())


def _lane_axes(graph: Graph) -> list[int]:
    """Return for each stage the axis that its lanes spread over."""
    return [lane_axis(stage) if stage.reduction else 0 for stage in graph.stages]


def _modal(modal: Modal, elements_per_beat: int) -> Fold:
    """Return the stages of all programs of a design with modes; a stage that several programs have in common is there
    once.
    """
    arrow = joined(modal, core)
    entering, leaving = modal.entering(), modal.leaving()
    kept = {port.name for port in modal.state}
    carried = [port for port in modal.step.outputs if port.name in kept]
    running = [passage for passage in leaving if passage.modes != {Mode.READ}]
    graph = cut(arrow, [False] * len(running) + [True] * len(carried))
    into, out = stream_names([p.name for p in entering], [p.name for p in leaving])
    fed = [p for p in entering if not p.modes & {Mode.WRITE}]
    wires = dict(zip([p.name for p in modal.state] + [p.name for p in fed], arrow.inputs.tolist(), strict=True))
    entries = [Entry(wires[p.name] if p in fed else -1 - k, into[p.name], p) for k, p in enumerate(entering)]
    loads = {wires[e.passage.name]: e.wire for e in entries if e.passage.modes == {Mode.WRITE}}
    written = {port.name: wire for port, (wire, _) in zip(carried, graph.outputs[len(running) :], strict=True)}
    held = {wires[port.name]: port for port in modal.state}
    states = {wire: written.get(port.name, loads[wire]) for wire, port in held.items()}
    exits = [Exit(w, at, out[p.name], p) for p, (w, at) in zip(running, graph.outputs, strict=False)]
    exits += [
        Exit(wire, np.arange(passage.format.size), out[passage.name], passage)
        for wire, passage in zip(held, leaving[len(running) :], strict=True)
    ]
    formats = {wire: port.format for wire, port in held.items()} | {e.wire: e.passage.format for e in entries}
    name_stages(graph)
    axes = _lane_axes(graph)
    made = Fold(modal.step, graph, formats, held, states, entries, exits, axes, elements_per_beat, modal, loads)
    _require_one_reading(made)
    for number, stage in enumerate(graph.stages):
        if stage.wire in states.values() and stage.reduction:
            axes[number] = max(0, len(stage.shape) - 1)
    return _sharing(made) if made.members else made


def _require_one_reading(made: Fold) -> None:
    """Raise CircuitizeError if training and prediction read one tensor in different stages."""
    for stage, modes in zip(made.stages, made.stage_modes, strict=True):
        for operand in stage.operands:
            if modes == {Mode.PREDICT} and operand.wire in made.held and made.updates:
                name = made.held[operand.wire].name
                raise CircuitizeError(
                    f"--predict: expected the prediction to use {name!r} as the step's forward pass does, found "
                    f"another product ({stage.provenance}); give both one batch, one model and the same formats"
                )
