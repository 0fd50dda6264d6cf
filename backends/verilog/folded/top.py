"""The top module of a folded design, which joins receivers, stages, channels, senders and the status as the
plan says.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..design import STATUS, Bus, Stream
from ..modes import Mode
from ..rounds import cut
from .channel import HEAD, TAIL, write_rom
from .conductor import frames
from .graph import Stage
from .lane_text import literal_operand
from .loans import Loans
from .plan import Plan, operand_widths
from .rounds import teller
from .sizes import UNDER_WAY
from .stage_text import write_stage
from .status import flags, status
from .streams import receiver, sender
from .wiring import Emission, Indices

TOP = "folded"
"""The name of the top module."""

LINE = 140


def emit(plan: Plan, initial: Mapping[str, Indices]) -> Emission:
    """Return the files of a plan; `initial` holds the first values of the state, by input name, as integers."""
    made = _Top(plan, initial).emission
    made.files = {name: _folded(text) if name.endswith(".v") else text for name, text in made.files.items()}
    return made


def _folded(text: str) -> str:
    """Return a Verilog text with its long lines broken at commas and operators."""
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


class _Top(Loans):
    def __init__(self, plan: Plan, initial: Mapping[str, Indices]) -> None:
        super().__init__(plan, initial)
        self._channels()
        self._flags()
        self._receivers()
        self._stages()
        self._pool()
        self._loans()
        self._senders()
        self._write()

    def _flags(self) -> None:
        """Add the flags of the receivers and stages that have one, and tokens for the actors that nothing else
        starts.
        """
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

    def _receivers(self) -> None:
        for number, stream in enumerate(self.ins):
            name = f"in_{stream.name}"
            comment = f"{name}: input {stream.port!r}, {stream.format}, {stream.lanes} elements a beat."
            tells = self.fold.rounds is not None and stream.port == self.fold.rounds.teller
            count, once = self._rounds(stream)
            text = teller(name, count) if tells else receiver(name, comment, stream, count, once)
            self.files[f"{name}.v"] = text
            wires = [".clk(clk)", ".rst(rst)", *([] if tells else _axi(stream))]
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

    def _rounds(self, stream: Stream) -> tuple[int, bool]:
        """Return the number of rounds of a frame, and whether one of them alone has the beats of a stream."""
        rounds = self.fold.rounds
        return (1, True) if rounds is None else (rounds.count, stream.port not in cut(rounds, stream.output))

    def _stages(self) -> None:
        for number, (stage, tiling) in enumerate(zip(self.fold.stages, self.plan.tilings, strict=True)):
            actor, name = self.first + number, stage.name
            flagged = f"{name}_flag" in self.flag_names
            slots: dict[str, tuple[int, ...]] = {}
            wires = [".clk(clk)", ".rst(rst)"]
            shared = self._share(number) if number in self.fold.members else None
            sent = self._lend(number)
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
            waits = bool(self.fold.members)
            body = write_stage(stage, tiling, slots, flagged, shared, waits, sent, self.plan.late(number))
            wires += [*self._pool_wires(number), *self._sent_wires(number, sent)]
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
        """Add a memory of constants, and return the slots of its reader and the names of its columns."""
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
            late = actor in self.sizes.late
            rounds = self._rounds(stream)
            gone = ["gone"] if rounds[0] > 1 else []
            for signal in ("start", "r_step", "r_last", *(["r_holds"] if late else []), *gone):
                self.wire(f"{name}_{signal}")
            comment = f"{name}: output {stream.port!r}, {stream.format}, {stream.lanes} elements a beat."
            place = self.sizes.shared.get(actor)
            if place is None:
                place = [r.actor for r in self.sizes.readers].index(actor)
            else:
                self.lines.append(f"  wire {name}_r_last_unused = {name}_r_last;")
            reader = self.sizes.readers[place]
            read = reader.actor, reader.operand or ""
            columns, slots = self.columns[read], self.slots[read]
            self.files[f"{name}.v"] = sender(name, comment, stream, bool(self.fold.members), late, *rounds)
            ready = " & ".join([*self.ready[actor], *self.free.get(actor, [])])
            wires = [".clk(clk)", ".rst(rst)", f".r_ready({ready})", f".r_start({name}_start)"]
            wires += [f".r_step({name}_r_step)", f".r_last({name}_r_last)", *_axi(stream)]
            wires += [f".r_holds({name}_r_holds)"] if late else []
            wires += [f".gone({name}_gone)"] * len(gone)
            wires += [f".in{k}({columns[slot]})" for k, slot in enumerate(slots)]
            self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")
        kept = bool(self.fold.states)
        self.files["folded_status.v"] = status(
            "folded_status",
            len(self.flag_names),
            len(self.done),
            kept,
            bool(self.fold.members),
            self.fold.round_count,
        )
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
            tells = self.fold.rounds is not None and stream.port == self.fold.rounds.teller
            ports += [] if tells else stream.ports
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
