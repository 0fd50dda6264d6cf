"""The plan of a folded design: stages tiled for a budget, and the channels between them, before any text is made."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram, require_integers
from circuitize.circuits.types import Fixed

from ..design import Stream, stream_names
from ..signals import element
from . import model
from .core import core
from .datapath import Datapath
from .graph import Graph, Stage, cut
from .lane_text import interval_of, lane, lane_bits, literal_operand, unit
from .layout import NOTHING, Layout, Rom, layout, rom
from .tiling import Choice, Tiling, choose, divisor, lane_axis, tile

Indices = NDArray[np.int64]


@dataclass
class Fold:
    """A program cut into stages, and what does not depend on the budget.

    `elements_per_beat`, where not 0, is the least of every stream: a power of two of them, or the whole tensor, is a
    beat.
    """

    program: IntegerProgram
    graph: Graph
    inputs: list[int]
    states: dict[int, int]
    axes: list[int]
    names: tuple[dict[str, str], dict[str, str]]
    elements_per_beat: int = 0
    _paths: dict[tuple[int, int], tuple[Datapath, int, Datapath | None, int]] = field(default_factory=dict)

    @property
    def stages(self) -> list[Stage]:
        """Return the stages in order, so that a tensor is written before it is read."""
        return self.graph.stages

    def format(self, wire: int) -> Fixed:
        """Return the format of a wire in memory: what a stage writes, or an input."""
        for stage in self.stages:
            if stage.wire == wire:
                return stage.format
        found = self.program.inputs[self.inputs.index(wire)].format
        assert found is not None
        return found

    @cached_property
    def flagged(self) -> list[int]:
        """The stages that tell the status of a frame: those with a Check, and those that write state."""
        found = [k for k, stage in enumerate(self.stages) if stage.checks]
        found += [k for k, stage in enumerate(self.stages) if k not in found and stage.wire in self.states.values()]
        return sorted(found)

    def paths(self, number: int, split: int) -> tuple[Datapath, int, Datapath | None, int]:
        """A unit's datapath and its clocks; a lane's, where there is one, and its clocks before the sum."""
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


def fold(program: IntegerProgram, elements_per_beat: int = 0) -> Fold:
    """Cut a program; raises CircuitizeError for one that is not integer or takes no input."""
    require_integers(program)
    outputs = {port.name: k for k, port in enumerate(program.outputs)}
    state_ports = [k for k, port in enumerate(program.inputs) if port.held and port.name in outputs]
    names = {program.inputs[k].name for k in state_ports}
    if len(names) == len(program.inputs):
        raise CircuitizeError("expected a program with an input, found none; leave one unbound")
    arrow = core(program.arrow)
    graph = cut(arrow, [port.name in names for port in program.outputs])
    inputs = arrow.inputs.tolist()
    states = {inputs[k]: graph.outputs[outputs[program.inputs[k].name]][0] for k in state_ports}
    for number, stage in enumerate(graph.stages):
        part = re.sub(r"[^A-Za-z0-9]+", "_", stage.provenance.part).strip("_") or "stage"
        stage.name = f"s{number}_{part}"
    axes = [lane_axis(stage) if stage.reduction else 0 for stage in graph.stages]
    real = [port.name for port in program.inputs if port.name not in names]
    streams = stream_names(real, [port.name for port in program.outputs])
    return Fold(program, graph, inputs, states, axes, streams, elements_per_beat)


@dataclass
class Reader:
    """A channel to be: who reads a wire, as which operand (None for a sender), and when its last read is."""

    wire: int
    actor: int
    operand: str | None
    reads: int


@dataclass
class Sizes:
    """A budget's choices: sizes of every stage and stream, the model of their timing, and what they come to."""

    fold: Fold
    target: int
    choices: list[Choice]
    in_lanes: list[int]
    out_lanes: list[int]
    actors: list[model.Actor]
    unbanked: list[model.Link]
    readers: list[Reader]
    lanes: int
    dsp: int

    @cached_property
    def links(self) -> list[model.Link]:
        """The channels, with as many banks as keep every writer busy."""
        counts = model.banks(self.actors, self.unbanked)
        return [replace(link, banks=count) for link, count in zip(self.unbanked, counts, strict=True)]

    @cached_property
    def interval(self) -> int:
        """Clocks from frame to frame."""
        return model.interval(self.actors, self.links)


def sizes(fold: Fold, target: int, halved: Mapping[int, int] = MappingProxyType({})) -> Sizes:
    """The cheapest sizes with which each stage takes at most `target` clocks a frame, where it can.

    With state, stages run one after another. Lanes in proportion to the roots of their work then make the sum of their
    clocks least: the target is that of the stage with the most work, and others have less in proportion to the root.
    `halved` says of some stages how often their targets are halved.
    """
    stages = fold.stages
    choices, dsp, lanes = [], 0, 0
    actors: list[model.Actor] = []
    received = [wire for wire in fold.inputs if wire not in fold.states]
    in_lanes = [_stream_lanes(fold.format(wire).size, target, fold.elements_per_beat) for wire in received]
    for wire, width in zip(received, in_lanes, strict=True):
        beats = -(-fold.format(wire).size // width)
        actors.append(model.Actor(f"in{wire}", beats, beats))
    writer = {wire: k for k, wire in enumerate(received)}
    spans: list[tuple[int, int]] = []
    most = max(stage.size * stage.terms for stage in stages)
    for number, stage in enumerate(stages):
        path = fold.paths(number, 1)[0]
        bits = lane_bits(stage, 1) if stage.reduction else 0
        share = math.sqrt(stage.size * stage.terms / most) if fold.states else 1.0
        choice = choose(
            stage,
            max(1, round(target * share) >> halved.get(number, 0)),
            fold.axes[number],
            (20, bits, 40 + path.lut + path.ff // 2 + 20 * path.dsp),
        )
        choices.append(choice)
        writer[stage.wire] = len(actors)
        path, after, inner, before = fold.paths(number, choice.split)
        late_terms, late_results = choice.late(stage)
        dsp += choice.units * path.dsp
        if inner is not None:
            lanes, dsp = lanes + choice.lanes * choice.split, dsp + choice.lanes * choice.split * inner.dsp
            reading, drain = -(-stage.terms // choice.split), -(-choice.lanes // choice.units)
            clocks = max(reading, drain)
            last = (choice.passes - 1) * clocks + reading
            result = last + late_terms + before + 2 + (drain > 1) + drain - 1
        else:
            last = result = choice.passes
        spans.append((last, result))
        actors.append(model.Actor(stage.name, choice.cycles, result + 1 + late_results + after))
    out_lanes = [_stream_lanes(at.size, target, fold.elements_per_beat) for _, at in fold.graph.outputs]
    readers = []
    for number, stage in enumerate(stages):
        for operand in stage.operands:
            if operand.amounts is None:
                reads = spans[number][0 if operand.in_reduction else 1]
                readers.append(Reader(operand.wire, writer[stage.wire], operand.name, reads))
    for (wire, at), width in zip(fold.graph.outputs, out_lanes, strict=True):
        beats = -(-at.size // width)
        readers.append(Reader(wire, len(actors), None, beats))
        actors.append(model.Actor(f"out{wire}", beats, 0, beats + 1))
    status = len(actors)
    actors.append(model.Actor("status", 1, 0, 0))
    state = {wire: writer[new] for wire, new in fold.states.items()}
    links = [
        model.Link(state.get(r.wire, writer.get(r.wire, 0)), r.actor, r.reads, None, r.wire in state) for r in readers
    ]
    links += [model.Link(k, status, 0) for k in range(len(received))]
    links += [model.Link(writer[stages[k].wire], status, 0) for k in fold.flagged]
    triggers = _untriggered(fold, writer, links)
    links += [model.Link(0, actor, 0) for actor in triggers]
    return Sizes(fold, target, choices, in_lanes, out_lanes, actors, links, readers, lanes, dsp)


def _untriggered(fold: Fold, writer: Mapping[int, int], links: list[model.Link]) -> list[int]:
    """Stages that read constants and state only: they start with the first input's frames."""
    fed = {link.reader for link in links if not link.state}
    return [writer[stage.wire] for stage in fold.stages if writer[stage.wire] not in fed]


def _stream_lanes(size: int, target: int, wanted: int) -> int:
    """Elements a beat: the fewest that keep to the target; if some are wanted, a power of two or the whole tensor."""
    least = min(size, -(-size // max(1, target)))
    if wanted:
        return min(size, 1 << (max(least, wanted) - 1).bit_length())
    even = divisor(size, least)
    return even if even <= 2 * least else least


@dataclass
class Plan:
    """Everything that is emitted: tilings, layouts and constants, by stage and operand."""

    sizes: Sizes
    tilings: list[Tiling]
    layouts: list[Layout]
    roms: dict[tuple[int, str], Rom]

    @property
    def latency(self) -> int:
        """Return the clocks from a frame's first beat in to its last beat out, both included, by the model."""
        return model.latency(self.sizes.actors, self.sizes.links)


def plan(sizes: Sizes) -> Plan:
    """The tables of all stages and channels."""
    fold = sizes.fold
    tilings = [tile(stage, choice) for stage, choice in zip(fold.stages, sizes.choices, strict=True)]
    written: dict[int, Indices] = {}
    received = [wire for wire in fold.inputs if wire not in fold.states]
    for wire, width in zip(received, sizes.in_lanes, strict=True):
        written[wire] = _beats(fold.format(wire).size, width)
    for stage, tiling in zip(fold.stages, tilings, strict=True):
        written[stage.wire] = tiling.written()
    layouts: list[Layout] = []
    roms: dict[tuple[int, str], Rom] = {}
    for number, (stage, tiling) in enumerate(zip(fold.stages, tilings, strict=True)):
        for operand in stage.operands:
            if literal_operand(operand) is not None:
                continue
            table, valid = tiling.reads(operand)
            if operand.in_reduction and any(
                n.in_reduction and n.operation.name == "integer.check" for n in stage.nodes
            ):
                valid = np.ones_like(valid)
            if operand.amounts is not None:
                roms[number, operand.name] = rom(table, valid, operand.amounts)
            else:
                source = fold.states.get(operand.wire, operand.wire)
                layouts.append(layout(table, valid, written[source], fold.format(operand.wire).size))
    for (wire, at), width in zip(fold.graph.outputs, sizes.out_lanes, strict=True):
        places = _beats(at.size, width)
        table = np.where(places >= 0, at[np.maximum(places, 0)], -1)
        layouts.append(layout(table, np.ones(table.shape, bool), written[wire], fold.format(wire).size))
    return Plan(sizes, tilings, layouts, roms)


def _beats(size: int, lanes: int) -> Indices:
    flat = np.arange(size, dtype=np.int64)
    missing = -size % lanes
    return np.concatenate([flat, np.full(missing, NOTHING)]).reshape(-1, lanes)


def streams(sizes: Sizes) -> tuple[list[Stream], list[Stream]]:
    """Input and output streams, the status apart."""
    fold = sizes.fold
    into, out = fold.names
    ports = [port for port, wire in zip(fold.program.inputs, fold.inputs, strict=True) if wire not in fold.states]
    ins = [
        Stream(into[port.name], port.name, False, port.format, width, user=True)
        for port, width in zip(ports, sizes.in_lanes, strict=True)
    ]
    outs = [
        Stream(out[port.name], port.name, True, port.format, width)
        for port, width in zip(fold.program.outputs, sizes.out_lanes, strict=True)
    ]
    return ins, outs


def operand_widths(stage: Stage, name: str, columns: int) -> tuple[int, ...]:
    """Bits of each column of an operand."""
    (found,) = [operand for operand in stage.operands if operand.name == name]
    low, high = interval_of(found) if found.amounts is not None else (0, 0)
    kind = element(found.format).width if found.amounts is None else element(Fixed((), 0, low, high)).width
    return (kind,) * columns


def least_cycles(fold: Fold) -> int:
    """Clocks of the longest stage when nothing is done in parallel."""
    longest = [stage.size * stage.terms for stage in fold.stages]
    return max([*longest, *(math.prod(port.format.shape) for port in fold.program.inputs if port.format)])
