"""The wires of a top module by name: who writes each tensor, who reads it, and which signals tell them when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..modes import Mode
from ..signals import element
from .budget import streams
from .channel import Channel
from .conductor import Conductor
from .plan import Plan
from .sizes import Reader
from .stage_text import Body

Indices = NDArray[np.int64]


@dataclass
class Emission:
    """All text of a folded design, with the stages and channels that it was written from."""

    files: dict[str, str] = field(default_factory=dict)
    bodies: list[Body] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)


@dataclass
class Port:
    """A writer of a wire in the top module: its name, and the names of its lanes and of its control signals."""

    name: str
    lanes: list[str]
    frees: list[str] = field(default_factory=list)


class Wiring:
    """The names that a top module gives to the actors and wires of a plan, and the text that joins them."""

    def __init__(self, plan: Plan, initial: Mapping[str, Indices]) -> None:
        self.plan, self.sizes, self.fold = plan, plan.sizes, plan.sizes.fold
        self.emission = Emission()
        self.lines: list[str] = []
        self.ins, self.outs = streams(self.sizes)
        self.initial = initial
        self.first = len(self.ins)
        mode = self.ins[0].name
        begins = (f"in_{mode}_start", f"{mode}_tdata") if self.fold.modal is not None and self.fold.members else None
        self.conductor = Conductor(self.fold.modal, self.wire, self.lines, begins)
        self.writers: dict[int, Port] = {}
        self.ready: dict[int, list[str]] = {}
        self.free: dict[int, list[str]] = {}
        self.columns: dict[tuple[int, str], list[str]] = {}
        self.slots: dict[tuple[int, str], tuple[int, ...]] = {}
        self.done: list[str] = []
        self._name_writers()
        self._stores()

    @property
    def files(self) -> dict[str, str]:
        """Return the text of each file of the design so far, by file name."""
        return self.emission.files

    def wire(self, name: str, width: int = 0) -> str:
        """Declare a wire of `width` bits, or of one bit if `width` is 0, and return the wire's name."""
        self.lines.append(f"  wire {f'[{width - 1}:0] ' if width else ''}{name};")
        return name

    def _name_writers(self) -> None:
        for wire, stream in zip([entry.wire for entry in self.fold.entries], self.ins, strict=True):
            lanes = [self.wire(f"in_{stream.name}_{k}", stream.element_bits) for k in range(stream.lanes)]
            self.writers[wire] = Port(f"in_{stream.name}", lanes)
        for stage, tiling in zip(self.fold.stages, self.plan.tilings, strict=True):
            bits = element(stage.format).width
            lanes = [self.wire(f"{stage.name}_out{k}", bits) for k in range(tiling.units)]
            self.writers[stage.wire] = Port(stage.name, lanes)
        for port in self.writers.values():
            for signal in ("start", "valid", "last"):
                self.wire(f"{port.name}_{signal}")

    def _stores(self) -> None:
        """Find the writer of each state: the stage that updates it or, in a design with modes, this stage and the
        receiver that loads it, behind a register.

        The register keeps the choice by mode out of the paths to the memories. A stage or a receiver passes its flag to
        the status in the clock in which its last element comes to the register, and the banks change places a clock
        later at the earliest: by then this element has been written to the right bank.
        """
        self.stores = {wire: self.writers[new] for wire, new in self.fold.states.items()}
        for wire, load in self.fold.loads.items():
            if load == self.fold.states[wire]:
                continue
            made, given = self.stores[wire], self.writers[load]
            name = f"{given.name}_store"
            bits = element(self.fold.format(wire)).width
            lanes = [f"{name}{k}" for k in range(len(given.lanes))]
            self.stores[wire] = Port(name, lanes)
            train = self.conductor.within(frozenset({Mode.TRAIN}))
            valid = f"{given.name}_valid | ({made.name}_valid & {train})"
            self.lines += [
                f"  reg {name}_valid;",
                f"  always @(posedge clk) {name}_valid <= ~rst & ({valid});",
                *(f"  reg [{bits - 1}:0] {lane};" for lane in lanes),
                *(
                    f"  always @(posedge clk) {lane} <= {train} ? {update} : {loaded};"
                    for lane, update, loaded in zip(lanes, made.lanes, given.lanes, strict=True)
                ),
                f"  wire {given.name}_last_unused = {given.name}_last;",
            ]

    def _modes(self, actor: int) -> frozenset[Mode]:
        return self.sizes.modes[actor] if self.sizes.modes else frozenset()

    def _states_of(self, wire: int) -> list[int]:
        return [old for old, new in self.fold.states.items() if new == wire]

    def _reader(self, reader: Reader) -> tuple[str, str]:
        """Return the name of the channel that a reader reads, and the name of the reader."""
        if reader.operand is None:
            stream = self.outs[reader.actor - self.first - len(self.fold.stages)]
            return f"to_{stream.name}", f"out_{stream.name}"
        stage = self.fold.stages[reader.actor - self.first]
        return f"{stage.name}_{reader.operand}_memory", stage.name

    def _side(self, reader: Reader) -> str:
        if reader.operand is None:
            return "r_"
        stage = self.fold.stages[reader.actor - len(self.ins)]
        (operand,) = [o for o in stage.operands if o.name == reader.operand]
        return "t_" if operand.in_reduction else "e_"

    def _actor(self, number: int) -> str:
        """Return the name of a receiver, a stage or a sender, by its number."""
        names = [f"in_{stream.name}" for stream in self.ins] + [stage.name for stage in self.fold.stages]
        return [*names, *(f"out_{stream.name}" for stream in self.outs)][number]

    def writers_of(self, number: int) -> Port:
        """Return the port of a receiver or a stage, by its number among the writers."""
        return list(self.writers.values())[number]
