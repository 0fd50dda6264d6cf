"""The top module: receivers, stages, channels, senders and the status, joined as the plan says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..design import STATUS, Bus, Stream
from ..modes import Mode
from ..signals import element
from .budget import UNDER_WAY, Reader, streams
from .channel import HEAD, TAIL, Channel, write_channel, write_rom
from .conductor import Conductor, frames
from .graph import Stage
from .lane_text import literal_operand
from .layout import NOTHING
from .plan import Plan, operand_widths
from .sharing import Client, Memory
from .stage_text import Body, write_stage
from .streams import flags, receiver, sender, status
from .tokens import prefix

Indices = NDArray[np.int64]
TOP = "folded"
"""The name of the top module."""

LINE = 140


@dataclass
class Emission:
    """All text of a design."""

    files: dict[str, str] = field(default_factory=dict)
    bodies: list[Body] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)


def emit(plan: Plan, initial: Mapping[str, Indices]) -> Emission:
    """The files of a plan; `initial` holds what state starts as, by input name, in integers."""
    made = _Top(plan, initial).emission
    made.files = {name: _folded(text) if name.endswith(".v") else text for name, text in made.files.items()}
    return made


def _folded(text: str) -> str:
    """The same text with long lines broken at commas and operators."""
    lines = []
    for line in text.split("\n"):
        while len(line) > LINE and not line.startswith("//"):
            at = max(line.rfind(mark, 6, LINE) + len(mark) for mark in (", ", " | ", " & ", " : ", " ? "))
            if at < 12:
                break
            lines.append(line[:at].rstrip())
            line = "      " + line[at:]
        lines.append(line)
    return "\n".join(lines)


@dataclass
class _Port:
    """Who writes a wire, in the top module: names of its lanes and of its control signals."""

    name: str
    lanes: list[str]
    frees: list[str] = field(default_factory=list)


class _Top:
    def __init__(self, plan: Plan, initial: Mapping[str, Indices]) -> None:
        self.plan, self.sizes, self.fold = plan, plan.sizes, plan.sizes.fold
        self.emission = Emission()
        self.lines: list[str] = []
        self.ins, self.outs = streams(self.sizes)
        self.initial = initial
        self.first = len(self.ins)
        self.conductor = Conductor(self.fold.modal, self.wire, self.lines)
        self.writers: dict[int, _Port] = {}
        self.ready: dict[int, list[str]] = {}
        self.free: dict[int, list[str]] = {}
        self.columns: dict[tuple[int, str], list[str]] = {}
        self.slots: dict[tuple[int, str], tuple[int, ...]] = {}
        self.done: list[str] = []
        self._name_writers()
        self._stores()
        self._channels()
        self._flags()
        self._receivers()
        self._stages()
        self._senders()
        self._write()

    @property
    def files(self) -> dict[str, str]:
        return self.emission.files

    def wire(self, name: str, width: int = 0) -> str:
        self.lines.append(f"  wire {f'[{width - 1}:0] ' if width else ''}{name};")
        return name

    def _name_writers(self) -> None:
        for wire, stream in zip([entry.wire for entry in self.fold.entries], self.ins, strict=True):
            lanes = [self.wire(f"in_{stream.name}_{k}", stream.element_bits) for k in range(stream.lanes)]
            self.writers[wire] = _Port(f"in_{stream.name}", lanes)
        for stage, tiling in zip(self.fold.stages, self.plan.tilings, strict=True):
            bits = element(stage.format).width
            lanes = [self.wire(f"{stage.name}_out{k}", bits) for k in range(tiling.units)]
            self.writers[stage.wire] = _Port(stage.name, lanes)
        for port in self.writers.values():
            for signal in ("start", "valid", "last"):
                self.wire(f"{port.name}_{signal}")

    def _stores(self) -> None:
        """Who writes each state: the stage that updates it, or the receiver that loads it where there are modes."""
        self.stores = {wire: self.writers[new] for wire, new in self.fold.states.items()}
        for wire, load in self.fold.loads.items():
            if load == self.fold.states[wire]:
                continue
            made, given = self.stores[wire], self.writers[load]
            name = f"{given.name}_store"
            bits = element(self.fold.format(wire)).width
            lanes = [self.wire(f"{name}{k}", bits) for k in range(len(given.lanes))]
            self.stores[wire] = _Port(name, lanes)
            train = self.conductor.within(frozenset({Mode.TRAIN}))
            self.lines.append(
                f"  assign {self.wire(f'{name}_valid')} = {given.name}_valid | ({made.name}_valid & {train});"
            )
            self.lines += [
                f"  assign {lane} = {train} ? {update} : {loaded};"
                for lane, update, loaded in zip(lanes, made.lanes, given.lanes, strict=True)
            ]
            self.lines.append(f"  wire {given.name}_last_unused = {given.name}_last;")

    def _modes(self, actor: int) -> frozenset[Mode]:
        return self.sizes.modes[actor] if self.sizes.modes else frozenset()

    def _channels(self) -> None:
        """A channel for each memory, with the control signals of its readers named after them."""
        used: dict[int, set[int]] = {}
        for memory in self.plan.memories:
            readers = [self.sizes.readers[client.readers[0]] for client in memory.clients]
            wire, number = readers[0].wire, memory.readers[0]
            state = wire in self.fold.states
            port = self.stores[wire] if state else self.writers[wire]
            width = element(self.fold.format(wire)).width
            name = self._reader(readers[0])[0]
            banks = self.sizes.links[number].banks or 1
            whom = ", then ".join(self._reader(reader)[1] for reader in readers)
            comment = f"{name}: what {port.name} writes, {self.fold.format(wire)}, as {whom} reads it."
            layouts = tuple(client.layout for client in memory.clients)
            initial = self._initial(wire) if state else None
            channel = Channel(name, width, layouts, banks, comment, initial, memory.shows)
            self.emission.channels.append(channel)
            self.files[f"{name}.v"] = write_channel(channel, self.files)
            wires = [".clk(clk)", ".rst(rst)"]
            wires += self._kept(name, memory, port) if state else self._queued(name, memory, port)
            used.setdefault(wire, set()).update(channel.lanes)
            wires += [f".w_data{lane}({port.lanes[lane]})" for lane in channel.lanes]
            for turn, client in enumerate(memory.clients):
                wires += self._client(name, turn, client, width)
                wires.append(self._last(turn, readers[turn], len(readers) > 1))
            self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")
        for wire, port in self.writers.items():
            kept = set().union(*(used.get(key, set()) for key in [wire, *self._states_of(wire)]))
            for lane, name in enumerate(port.lanes):
                if lane not in kept:
                    self.lines.append(f"  wire {name}_unused = ^{name};")

    def _kept(self, name: str, memory: Memory, port: _Port) -> list[str]:
        """The control signals of state."""
        reader = self.sizes.readers[memory.readers[0]]
        done, train = self.wire(f"{name}_done"), self.conductor.within(frozenset({Mode.TRAIN}))
        if self.fold.updates and (reader.operand is not None or not self.fold.modal):
            self.done.append(f"({done} | ~{train})" if self.fold.modal else done)
        else:
            self.lines.append(f"  wire {done}_unused = {done};")
        steady = f"~{train}" if self.fold.modal else "1'b0"
        wires = [f".w_valid({port.name}_valid)", ".commit(status_take)", ".r_bank(status_bank)"]
        wires += [f".all_done({done})", f".steady({steady})"]
        if memory.shows:
            free = self.wire(f"{name}_free")
            self.free.setdefault(self.sizes.links[memory.readers[-1]].writer, []).append(free)
            wires += [f".w_free({free})", f".w_last({port.name}_last)"]
        return wires

    def _queued(self, name: str, memory: Memory, port: _Port) -> list[str]:
        """The control signals of what one frame writes and reads."""
        link, free = self.sizes.links[memory.readers[0]], self.wire(f"{name}_free")
        some = self.conductor.narrowed(self._modes(link.writer), self._modes(link.reader))
        self.free.setdefault(link.writer, []).append(f"({free} | ~{some})" if some else free)
        wires = [f".w_free({free})", f".w_last({port.name}_last)"]
        return wires + [f".w_{word}({port.name}_{word}{f' & {some}' * bool(some)})" for word in ("start", "valid")]

    def _client(self, name: str, turn: int, client: Client, width: int) -> list[str]:
        """The ports of what reads a channel in its turn."""
        own, number = prefix(turn), client.readers[0]
        reader = self.sizes.readers[number]
        to, side = self._reader(reader)[1], self._side(reader)
        ready = self.wire(f"{name}_{own}_ready" if turn else f"{name}_ready")
        self.ready.setdefault(reader.actor, []).append(ready)
        also = [k for k, shared in self.sizes.shared.items() if shared == number]
        more = "".join(f" | out_{self.outs[k - self.first - len(self.fold.stages)].name}_r_step" for k in also)
        columns = [
            self.wire(f"{name}_{own}_{k}" if turn else f"{name}_{k}", width) for k in range(len(client.layout.columns))
        ]
        for place, taken in zip(client.readers, client.columns, strict=True):
            self.columns[reader.actor, self.sizes.readers[place].operand or ""] = [columns[k] for k in taken]
        for place, slots in zip(client.readers, client.slots, strict=True):
            self.slots[reader.actor, self.sizes.readers[place].operand or ""] = slots
        wires = [f".{own}_start({to}_start)", f".{own}_ready({ready})"]
        wires.append(f".{own}_step({to}_{side}step{more})")
        return wires + [f".{own}_data{k}({column})" for k, column in enumerate(columns)]

    def _last(self, turn: int, reader: Reader, among: bool) -> str:
        """What ends a reader's frame: its last step; among several, that what it read is no longer shown."""
        to, side = self._reader(reader)[1], self._side(reader)
        if not among:
            return f".r_last({to}_{side}last)"
        if reader.operand is not None:
            return f".{prefix(turn)}_done({to}_{side}step & {to}_{side}last)"
        stream = to.removeprefix("out_")
        self.lines.append(f"  wire {to}_r_last_unused = {to}_r_last;")
        return f".{prefix(turn)}_done({stream}_tvalid & {stream}_tready & {stream}_tlast)"

    def _states_of(self, wire: int) -> list[int]:
        return [old for old, new in self.fold.states.items() if new == wire]

    def _reader(self, reader: Reader) -> tuple[str, str]:
        """The channel's name and the reader's."""
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

    def _initial(self, wire: int) -> Indices:
        """(element, value) of what the writer's lanes would write, step by step."""
        values = np.asarray(self.initial[self.fold.held[wire].name], np.int64).reshape(-1)
        written = self.plan.written[self.fold.states[wire]]
        return np.stack([np.where(written >= 0, written, NOTHING), values[np.maximum(written, 0)]], axis=2)

    def _flags(self) -> None:
        """Flags of the receivers and of the stages that have one, and tokens for what nothing else starts."""
        status_number, self.flag_names = len(self.sizes.actors) - 1, []
        self.statuses: list[tuple[str, str]] = []
        made: set[str] = set()
        for link in self.sizes.links[len(self.sizes.readers) :]:
            depth, to_status = link.banks or 1, link.reader == status_number
            modal = self.fold.modal is not None
            depth = UNDER_WAY if modal and not to_status else depth
            module = f"folded_flags_{depth}"
            if module not in made:
                made.add(module)
                self.files[f"{module}.v"] = flags(module, depth)
            writer = self._actor(link.writer)
            start, valid, fail = f"{writer}_start", f"{writer}_valid & {writer}_last", "1'b0"
            if to_status:
                name, take = f"{writer}_flag", "status_take"
                some = self.conductor.within(self._modes(link.writer))
                self.flag_names.append(name)
                self.statuses.append((f"{name}_ready", f"{name}_fail"))
                if modal:
                    take = f"status_take & {some}"
                    self.statuses[-1] = (f"({name}_ready | ~{some})", f"({name}_fail & {some})")
                if writer.startswith("out_"):
                    stream = writer.removeprefix("out_")
                    valid = f"{stream}_tvalid & {stream}_tready & {stream}_tlast"
                else:
                    fail = self.wire(f"{writer}_fail")
                    fail = f"{fail} | {self.conductor.unknown}" if modal and link.writer == 0 else fail
            else:
                reader = self._actor(link.reader)
                name, take = f"{reader}_token", f"{reader}_start"
                self.ready.setdefault(link.reader, []).append(f"{name}_ready")
                if modal:
                    start = valid = f"{writer}_valid & {self.conductor.within(self._modes(link.reader))}"
            self.wire(f"{name}_free")
            self.wire(f"{name}_ready")
            self.wire(f"{name}_fail")
            if not to_status:
                self.lines.append(f"  wire {name}_fail_unused = {name}_fail;")
            if modal and not to_status:
                self.lines.append(f"  wire {name}_free_unused = {name}_free;")
            else:
                self.free.setdefault(link.writer, []).append(f"{name}_free")
            self.lines.append(
                f"  {module} {name}_i (.clk(clk), .rst(rst), .w_start({start}), .w_free({name}_free),\n"
                f"    .w_valid({valid}), .w_fail({fail}), .r_take({take}), "
                f".r_ready({name}_ready), .r_fail({name}_fail));"
            )

    def _actor(self, number: int) -> str:
        """The name of a receiver, a stage or a sender."""
        names = [f"in_{stream.name}" for stream in self.ins] + [stage.name for stage in self.fold.stages]
        return [*names, *(f"out_{stream.name}" for stream in self.outs)][number]

    def _receivers(self) -> None:
        for number, stream in enumerate(self.ins):
            name = f"in_{stream.name}"
            comment = f"{name}: input {stream.port!r}, {stream.format}, {stream.lanes} elements a beat."
            text = receiver(name, comment, stream)
            self.files[f"{name}.v"] = text
            wires = [".clk(clk)", ".rst(rst)", *_axi(stream)]
            room = [*self.free[number], *self.ready.get(number, [])]
            if number == 0 and self.fold.modal is not None:
                room.append("frames_room")
                self.files["folded_frames.v"] = frames("folded_frames", stream.element_bits, UNDER_WAY)
                self.lines.append(
                    f"  folded_frames frames_i (.clk(clk), .rst(rst), .start({name}_start), .ends(status_take), "
                    f".wanted({stream.name}_tdata), .mode(mode), .room(frames_room));"
                )
            wires += [f".w_free({' & '.join(room)})", f".fail({name}_fail)"]
            wires += [f".w_start({name}_start)", f".w_valid({name}_valid)", f".w_last({name}_last)"]
            wires += [f".out{k}({lane})" for k, lane in enumerate(self.writers_of(number).lanes)]
            self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")

    def writers_of(self, number: int) -> _Port:
        return list(self.writers.values())[number]

    def _stages(self) -> None:
        for number, (stage, tiling) in enumerate(zip(self.fold.stages, self.plan.tilings, strict=True)):
            actor, name = self.first + number, stage.name
            flagged = f"{name}_flag" in self.flag_names
            slots: dict[str, tuple[int, ...]] = {}
            wires = [".clk(clk)", ".rst(rst)"]
            go = " & ".join([*self.ready.get(actor, []), *self.free.get(actor, [])])
            sides = set()
            for operand in stage.operands:
                if literal_operand(operand) is not None:
                    continue
                side = "t_" if operand.in_reduction else "e_"
                sides.add(side)
                if operand.amounts is None:
                    slots[operand.name] = self.slots[actor, operand.name]
                    columns = self.columns[actor, operand.name]
                else:
                    slots[operand.name], columns = self._rom(number, stage, operand.name, side)
                wires += [f".{operand.name}_{k}({column})" for k, column in enumerate(columns)]
            body = write_stage(stage, tiling, slots, flagged)
            self.emission.bodies.append(body)
            self.files.update(body.files)
            for side in sorted(sides):
                wires += [f".{side}step({self.wire(f'{name}_{side}step')})"]
                wires += [f".{side}last({self.wire(f'{name}_{side}last')})"]
                if not any(o.amounts is None for o in stage.operands if (o.in_reduction) == (side == "t_")):
                    self.lines.append(f"  wire {name}_{side}last_unused = {name}_{side}last;")
            wires += [f".go({go})", f".start({name}_start)", f".out_valid({name}_valid)", f".out_last({name}_last)"]
            wires += [f".out{k}({lane})" for k, lane in enumerate(self.writers[stage.wire].lanes)]
            wires += [f".fail({name}_fail)"] if flagged else []
            self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")

    def _rom(self, number: int, stage: Stage, operand: str, side: str) -> tuple[tuple[int, ...], list[str]]:
        """A memory of constants and the names of what it shows."""
        rom, name = self.plan.roms[number, operand], f"{stage.name}_{operand}_constants"
        widths = operand_widths(stage, operand, rom.words.shape[1])
        self.files[f"{name}.v"] = write_rom(name, f"{name}: constants of {stage.name}.", rom, widths, self.files)
        columns = [self.wire(f"{name}_{k}", width) for k, width in enumerate(widths)]
        wires = [".clk(clk)", ".rst(rst)", f".r_step({stage.name}_{side}step)"]
        wires += [f".r_data{k}({column})" for k, column in enumerate(columns)]
        self.lines.append(f"  {name} {name}_i ({', '.join(wires)});")
        return rom.slots, columns

    def _senders(self) -> None:
        first = self.first + len(self.fold.stages)
        for number, stream in enumerate(self.outs):
            name, actor = f"out_{stream.name}", first + number
            for signal in ("start", "r_step", "r_last"):
                self.wire(f"{name}_{signal}")
            comment = f"{name}: output {stream.port!r}, {stream.format}, {stream.lanes} elements a beat."
            self.files[f"{name}.v"] = sender(name, comment, stream)
            place = self.sizes.shared.get(actor)
            if place is None:
                place = [r.actor for r in self.sizes.readers].index(actor)
            else:
                self.lines.append(f"  wire {name}_r_last_unused = {name}_r_last;")
            reader = self.sizes.readers[place]
            read = reader.actor, reader.operand or ""
            columns, slots = self.columns[read], self.slots[read]
            ready = " & ".join([*self.ready[actor], *self.free.get(actor, [])])
            wires = [".clk(clk)", ".rst(rst)", f".r_ready({ready})", f".r_start({name}_start)"]
            wires += [f".r_step({name}_r_step)", f".r_last({name}_r_last)", *_axi(stream)]
            wires += [f".in{k}({columns[slot]})" for k, slot in enumerate(slots)]
            self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")
        kept = bool(self.fold.states)
        self.files["folded_status.v"] = status("folded_status", len(self.flag_names), len(self.done), kept)
        wires = [".clk(clk)", ".rst(rst)"]
        for k, (ready, fail) in enumerate(self.statuses):
            wires += [f".ready{k}({ready})", f".fail{k}({fail})"]
        keeps = self.conductor.within(frozenset({Mode.WRITE, Mode.TRAIN})) if self.fold.modal else "1'b1"
        wires += [f".done{k}({done})" for k, done in enumerate(self.done)]
        wires += [".take(status_take)", *([".bank(status_bank)", f".keeps({keeps})"] if kept else [])]
        wires += [f".{word}({STATUS}_{word})" for word in ("tdata", "tvalid", "tready", "tlast")]
        self.lines.append(f"  folded_status status_i (\n    {', '.join(wires)});")

    def _write(self) -> None:
        ports = ["input wire clk", "input wire rst"]
        for stream in [*self.ins, *self.outs]:
            ports += stream.ports
        ports += [f"output wire [0:0] {STATUS}_tdata", f"output wire {STATUS}_tvalid"]
        ports += [f"input wire {STATUS}_tready", f"output wire {STATUS}_tlast"]
        self.lines.insert(0, "  wire status_take;")
        if self.fold.states:
            self.lines.insert(0, "  wire [0:0] status_bank;")
        declared = [line for line in self.lines if line.startswith("  wire ") and "=" not in line]
        rest = [line for line in self.lines if not (line.startswith("  wire ") and "=" not in line)]
        head = f"// A folded design of {len(self.fold.stages)} stages.\n{HEAD}module {TOP} (\n  "
        self.files[f"{TOP}.v"] = head + ",\n  ".join(ports) + "\n);\n" + "\n".join([*declared, *rest]) + "\n" + TAIL


def _axi(stream: Stream) -> list[str]:
    return [f".{wire}({stream.name}_{wire})" for wire in Bus((stream,)).wires]
