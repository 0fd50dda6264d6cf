"""The Verilog modules of a netlist: one module for each operation, or several for a large one, which contain the
pipeline registers of the signals that the operation makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...verilog.design import CLOCK
from ...verilog.netlist import Integers, Kind, Netlist
from ...verilog.signals import Literal, Signal, width
from .parts import Group, parts
from .pipeline import Pipeline
from .roms import Rom
from .signs import compared
from .state import KEPT, STATE, State
from .text import Operand, expression
from .unread import unread

ENABLE = "enable"
"""The signal that moves all registers of a pipeline."""
LOAD = "load"
"""The signals that load the registers of each stage begin with this if frames go through a pipeline alone."""
DATA = "tdata"
"""The input of a module that unpacks a stream."""
CLEAR = "clear"
"""The signal that sets the totals of rounds to 0."""


class Modules:
    """The texts of a netlist's Verilog modules; `outputs` are the nodes that are read after the last pipeline stage.

    The keys of `feedback` are inputs that are kept in the pipeline's own registers: those of the nodes that follow on
    them in each round. The program's own state is in the modules that read it.
    """

    def __init__(
        self,
        net: Netlist,
        groups: Sequence[Group],
        pipe: Pipeline,
        outputs: Integers,
        feedback: Mapping[int, int] | None = None,
        states: Sequence[State] = (),
    ) -> None:
        self.net, self.pipe, self.feedback = net, pipe, feedback or {}
        self.totals = set(self.feedback.values())
        self.states = {state.register.name: state for state in states}
        self.groups, self.owner = parts(net, groups, pipe)
        self.kind, self.low, self.high = net.kind.tolist(), net.low.tolist(), net.high.tolist()
        self.a, self.b, self.c = net.a.tolist(), net.b.tolist(), net.c.tolist()
        self.n, self.m = net.n.tolist(), net.m.tolist()
        self.stage, self.delay = pipe.stage.tolist(), pipe.delay.tolist()
        self.compared = compared(net, pipe).tolist()
        self.names = self._names()
        self.members = self._members()
        self.imports, self.exports = self._crossings(outputs)
        self.roms: dict[Rom, str] = {}

    def signal(self, node: int, stage: int) -> Operand:
        """Return the signal that holds a node's value in a pipeline stage."""
        if node in self.feedback:
            node = self.feedback[node]
            stage = self.stage[node] + 1
        if self.kind[node] == Kind.CONSTANT:
            return Literal(self.low[node])
        late = min(stage - self.stage[node], self.delay[node])
        name = f"{self.names[node]}_d{late}" if late else self.names[node]
        return Signal(name, self.low[node], self.high[node])

    def text(self, index: int) -> str:
        """Return the Verilog text of one module, which is empty if the operation needs no logic."""
        group, members = self.groups[index], self.members[index]
        if not members:
            return ""
        body: list[str] = []
        registers: list[str] = []
        held: dict[tuple[int, bool], list[tuple[int, bool]]] = {}
        blocks: dict[tuple[int, int], list[str]] = {}
        tier: dict[int, int] = {}
        owned: list[Signal] = []
        exported = {(node, stage) for node, stage in self.exports[index].tolist()}
        source, starts = self.source(index), self._starts(index)
        for node in members:
            made, late = self._known(node, self.stage[node]), self.delay[node]
            owned.append(made)
            inside = (node, self.stage[node]) not in exported
            kind = Kind(self.kind[node])
            tier[node] = max((tier.get(x[node], 0) for x in (self.a, self.b, self.c)), default=0)
            if kind is Kind.INPUT or kind is Kind.TABLE:
                body += self._wire(kind, node, made, inside, source, starts)
                if kind is Kind.TABLE:
                    tier[node] += 1
                    owned.append(self._entry(node))
            else:
                if inside:
                    registers.append(f"    reg {made.declared} {made.name};")
                operands = [self.signal(x[node], self.stage[node]) for x in (self.a, self.b, self.c) if x[node] >= 0]
                text = expression(kind, made, operands, self.n[node], self.m[node], self.compared[node])
                blocks.setdefault((self.stage[node], tier[node]), []).append(f"        {made.name} = {text};")
            for step in range(1, late + 1):
                into = self.stage[node] + step
                held.setdefault((into, node in self.totals), []).append((node, (node, into) in exported))
        moves: dict[tuple[str, str], list[str]] = {}
        for (stage, total), kept in sorted(held.items()):
            name = f"{'total' if total else 'held'}{stage}"
            bits, reads = 0, []
            for node, out in kept:
                late_signal, early = self._known(node, stage), self._known(node, stage - 1)
                owned.append(late_signal)
                begin = f"assign {late_signal.name}" if out else f"wire {late_signal.declared} {late_signal.name}"
                body.append(f"    {begin} = {name}[{bits + early.width - 1}:{bits}];")
                reads.append(early.name)
                bits += early.width
            registers.append(f"    reg [{bits - 1}:0] {name};")
            joined = ",\n".join(f"                {read}" for read in reversed(reads))
            clears = f"if ({CLEAR}) {name} <= {bits}'d0;\n        else " if total else ""
            loaded = moves.setdefault((self.gate(stage), clears), [])
            loaded += [f"            {name} <= {{", joined, "            };"]
        if source == STATE:
            assert group.stream is not None
            state = self.states[group.stream.name]
            held_state, moves[KEPT, ""] = state.lines(list(starts), lambda node: self.signal(node, self.pipe.stages))
            registers += held_state
        inputs = [self._known(node, stage) for node, stage in self.imports[index].tolist()]
        given = {self._known(node, stage).name for node, stage in self.exports[index].tolist()}
        texts = [line.partition(" = ")[2] for block in blocks.values() for line in block]
        texts += [line.partition(" = ")[2] or line.partition(", .entry(")[0] for line in body]
        wires = [signal for signal in [*inputs, *owned] if signal.name not in given]
        data_bits = group.stream.data_bits if group.stream is not None else 0
        if source == DATA:
            wires.append(Signal(DATA, 0, (1 << data_bits) - 1))
        body += unread(wires, [*texts, *(line for lines in moves.values() for line in lines)])
        ports = [f"input wire {name}" for name in ([CLOCK, *self.gates(index)] if moves else [])]
        if source == DATA:
            ports.append(f"input wire [{data_bits - 1}:0] {DATA}")
        ports += [self._port("input wire", node, stage) for node, stage in self.imports[index].tolist()]
        ports += [
            self._port("output wire" if self._is_wire(node) or stage > self.stage[node] else "output reg", node, stage)
            for node, stage in self.exports[index].tolist()
        ]
        lines = [f"// {line}" for line in group.comment]
        lines += [f"module {group.name} (", ",\n".join(f"    {port}" for port in ports), ");", *registers, *body]
        for block in blocks.values():
            lines += ["    always @* begin", *block, "    end"]
        for (gate, clears), loads in moves.items():
            lines += [f"    always @(posedge {CLOCK}) begin", f"        {clears}if ({gate}) begin", *loads]
            lines += ["        end", "    end"]
        return "\n".join([*lines, "endmodule", ""])

    def wires(self, index: int) -> list[str]:
        """Return, for the top module, the declarations of the wires that a module drives."""
        made = [self._known(node, stage) for node, stage in self.exports[index].tolist()]
        return [f"    wire {signal.declared} {signal.name};" for signal in made]

    def instance(self, index: int) -> list[str]:
        """Return, for the top module, the instance of a module."""
        group = self.groups[index]
        if not self.members[index]:
            return []
        pins = []
        gates = self.gates(index)
        if gates:
            pins += [f".{name}({name})" for name in (CLOCK, *gates)]
        if self.source(index) == DATA:
            assert group.stream is not None
            pins.append(f".{DATA}({group.data or f'{group.stream.name}_tdata'})")
        for node, stage in [*self.imports[index].tolist(), *self.exports[index].tolist()]:
            name = self._known(node, stage).name
            pins.append(f".{name}({name})")
        joined = ",\n".join(f"        {pin}" for pin in pins)
        return [f"    {group.name} {group.name} (", joined, "    );"]

    def source(self, index: int) -> str:
        """Return the name of what a module unpacks: DATA, STATE, or none."""
        stream = self.groups[index].stream
        return "" if stream is None else STATE if stream.name in self.states else DATA

    def gate(self, stage: int) -> str:
        """Return the name of the signal that loads the registers before a stage."""
        return f"{LOAD}{stage}" if self.pipe.alone else ENABLE

    def gates(self, index: int) -> list[str]:
        """Return the names of the signals that load the registers of a module, in the order of the stages, and of
        those that clear totals and load state.
        """
        members = np.array(self.members[index], np.int64)
        stages = np.unique(self.pipe.stage[members[self.pipe.delay[members] > 0]]) + 1
        clears = [CLEAR] * (not self.totals.isdisjoint(self.members[index]))
        keeps = [KEPT] * (self.source(index) == STATE and bool(self.members[index]))
        return [*dict.fromkeys(map(self.gate, stages.tolist())), *clears, *keeps]

    def _is_wire(self, node: int) -> bool:
        return self.kind[node] in (Kind.INPUT, Kind.TABLE)

    def _starts(self, index: int) -> dict[int, int]:
        """Return, for each element of a stream or of state in a module, where its bits start."""
        stream = self.groups[index].stream
        if stream is None:
            return {}
        nodes = [node for node in self.members[index] if self.kind[node] == Kind.INPUT]
        places = range(len(nodes)) if self.source(index) == STATE else (self.m[node] for node in nodes)
        return {node: place * stream.element_bits for node, place in zip(nodes, places, strict=True)}

    def _wire(
        self, kind: Kind, node: int, made: Signal, inside: bool, source: str, starts: Mapping[int, int]
    ) -> list[str]:
        """Return the Verilog that declares an element of a stream, of state or of a table."""
        begin = f"    wire {made.declared} {made.name} =" if inside else f"    assign {made.name} ="
        if kind is Kind.INPUT:
            start = starts[node]
            return [f"{begin} {source}[{start + made.width - 1}:{start}];"]
        index, entry = self.signal(self.a[node], self.stage[node]), self._entry(node)
        key = (self.n[node], self.m[node], index.width, index.signed, entry.width)
        rom = self.roms.setdefault(key, f"{self.groups[0].name}_table{len(self.roms)}")
        return [
            f"    wire {entry.declared} {entry.name};",
            f"    {rom} {made.name}_rom (.index({index.slice(0, index.width)}), .entry({entry.name}));",
            f"{begin} {entry.slice(0, made.width)};",
        ]

    def _entry(self, node: int) -> Signal:
        """Return the signal of the whole entry of a table, of which an element may need fewer bits."""
        table = self.net.tables[self.n[node]]
        bits = width(int(table.min()), int(table.max()))
        return Signal(f"{self.names[node]}_entry", 0, (1 << bits) - 1)

    def _known(self, node: int, stage: int) -> Signal:
        made = self.signal(node, stage)
        assert isinstance(made, Signal)
        return made

    def _port(self, direction: str, node: int, stage: int) -> str:
        made = self._known(node, stage)
        return f"{direction} {made.declared} {made.name}"

    def _names(self) -> dict[int, str]:
        names: dict[int, str] = {}
        count = [0] * len(self.groups)
        live = np.flatnonzero(self.pipe.live & (self.net.kind != Kind.CONSTANT))
        for node, index in zip(live.tolist(), self.owner[live].tolist(), strict=True):
            group = self.groups[index]
            label = group.labels.get(node)
            if label is None:
                label = f"t{count[index]}"
                count[index] += 1
            names[node] = f"{group.name.partition('_')[2]}__{label}"
        return names

    def _members(self) -> list[list[int]]:
        here = self.pipe.live & (self.net.kind != Kind.CONSTANT)
        here[list(self.feedback)] = False
        live = np.flatnonzero(here)
        found: list[list[int]] = [[] for _ in self.groups]
        for node, index in zip(live.tolist(), self.owner[live].tolist(), strict=True):
            found[index].append(node)
        return found

    def _crossings(self, outputs: Integers) -> tuple[list[Integers], list[Integers]]:
        """Return, for each group of nodes, the (node, stage) pairs that it takes from other groups, and those that it
        gives to others.
        """
        net, pipe = self.net, self.pipe
        kept = np.full(net.count, -1, np.int64)
        kept[list(self.feedback)] = list(self.feedback.values())
        rows = []
        for column in (net.a, net.b, net.c):
            reader = np.flatnonzero(pipe.live & (column >= 0))
            of = column[reader]
            stage = np.minimum(pipe.stage[reader], pipe.stage[of] + pipe.delay[of])
            back = kept[of]
            fed = back >= 0
            assert (pipe.stage[reader][fed] <= pipe.stage[back[fed]]).all()
            of, stage = np.where(fed, back, of), np.where(fed, pipe.stage[back] + 1, stage)
            rows.append(np.stack([of, stage, self.owner[reader]], axis=1))
        stage = pipe.stage[outputs] + pipe.delay[outputs]
        there = np.stack([outputs, stage, np.full(len(outputs), -1)], axis=1)
        for state in self.states.values():
            of, at = state.following[pipe.live[state.nodes]], self.owner[state.nodes[pipe.live[state.nodes]]]
            rows.append(np.stack([of, pipe.stage[of] + pipe.delay[of], at], axis=1))
        read = np.unique(np.concatenate([*rows, there]).astype(np.int64), axis=0)
        read = read[net.kind[read[:, 0]] != Kind.CONSTANT]
        owner = self.owner[read[:, 0]]
        read, owner = read[read[:, 2] != owner], owner[read[:, 2] != owner]
        given = [np.unique(one, axis=0) for one in _by(owner, read, len(self.groups))]
        return _by(read[:, 2], read, len(self.groups)), given


def _by(group: Integers, pairs: Integers, count: int) -> list[Integers]:
    """Return the first two columns of the pairs of each group, in their order."""
    order = np.argsort(group, kind="stable")
    return np.split(pairs[order, :2], np.searchsorted(group[order], np.arange(count + 1)))[1:-1]
