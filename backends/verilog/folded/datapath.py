"""Datapaths: the elementwise operations of a stage as pipelined Verilog, which gives one result a clock and never
stalls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from circuitize.circuits.integers import Check, Divide, Lookup, Multiply, Scale, Shift, Subtract
from circuitize.circuits.operation import Operation

from ..signals import Signal, literal, signed_width, width
from .elementwise import PLAIN
from .graph import REDUCED, Node
from .iterative import divide, root
from .rows import Rows
from .size import dsp_blocks, fits, in_parts, luts, multiplied, parts, quotient_bits, timing

LEVELS = 2
"""Operations between two registers."""
AWAY = 3
"""Clocks from the factors of a product that is made outside to the product: a register of the stage's factors, one of
the multiplier's, and one of the product.
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """The time at which a value is ready: after `cycle` registers and, behind the last of them, `level` operations."""

    cycle: int
    level: int


ALWAYS = Moment(-1, 0)
"""When a constant is there."""


@dataclass(frozen=True, slots=True)
class Away:
    """A product of a datapath that is made outside: the node, the bits of its signed factors, the wider one first, and
    the clock in which the factors leave.
    """

    name: str
    bits: tuple[int, int]
    cycle: int


@dataclass
class Datapath:
    """The Verilog text of a pipeline under construction.

    The name of a signal is that of a value of the stage, with a prefix in front. `values` maps the names of the stage's
    values to signals, `lines` is the text, `files` holds tables by file name, and `fails` lists the wires that are 1 if
    a Check fails. `lut`, `ff`, `dsp` and `rom_bits` are estimates of the size of the text in hardware; `idle` of the
    bits in `ff` are always 0. If `apart` is true, each operation has a clock of its own, and the parts of a wide
    product are added in a further clock. If `lends` is true, products that one multiplier takes are made
    outside, and `away` lists them.
    """

    owner: str
    values: dict[str, Signal] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    fails: list[str] = field(default_factory=list)
    lut: int = 0
    ff: int = 0
    dsp: int = 0
    rom_bits: int = 0
    apart: bool = False
    lends: bool = False
    away: list[Away] = field(default_factory=list)
    idle: int = 0
    _nodes: dict[str, Node] = field(default_factory=dict)
    _moments: dict[str, Moment] = field(default_factory=dict)
    _unused: set[str] = field(default_factory=set)
    _delayed: dict[tuple[str, int], str] = field(default_factory=dict)
    _rows: Rows = field(default_factory=Rows)

    def source(self, name: str, signal: Signal, constant: bool = False) -> None:
        """Add a value that is ready at cycle 0 or, if it is constant, always."""
        self.values[name] = signal
        self._moments[signal.name] = ALWAYS if constant else Moment(0, 0)
        if constant:
            self._rows.constant(signal)
        else:
            self._rows.source(signal)

    def at(self, signal: Signal, cycle: int) -> Signal:
        """Return a signal that is delayed to the given cycle."""
        moment = self._moments[signal.name]
        if moment == ALWAYS or (moment.cycle == cycle):
            return signal
        name = signal.name
        for later in range(moment.cycle + 1, cycle + 1):
            delayed = self._delayed.get((signal.name, later))
            if delayed is None:
                delayed = f"{signal.name}_at{later}"
                self.register(Signal(delayed, signal.low, signal.high), name, later)
                self.idle += self._rows.zeros.get(signal.name, 0)
                self._delayed[signal.name, later] = delayed
            name = delayed
        return Signal(name, signal.low, signal.high)

    def zeros(self, name: str) -> int:
        """Return how many of the lowest bits of a value are known to be 0."""
        return self._rows.zeros.get(self.values[name].name, 0)

    def follows(self, name: str) -> bool:
        """Return whether a value adds to a product that nothing else reads."""
        return self._rows.follows(self.values[name].name)

    def held(self, after: int, late: int, multiplied: bool) -> tuple[int, int]:
        """Return the bits of registers in rows that LUTs can hold as shift registers, and the LUTs that hold them, with
        so many registers before the result of a reduction and before other sources. If `multiplied` is true,
        multipliers hold the registers of their factors.
        """
        reduced = self.values.get(REDUCED)
        return self._rows.held(reduced.name if reduced else "", after, late, multiplied)

    def register(self, signal: Signal, expression: str, cycle: int) -> Signal:
        """Declare a register that takes the value of an expression and has it at `cycle`, and return the register's
        signal.
        """
        self.lines += [
            f"  reg {signal.declared} {signal.name};",
            f"  always @(posedge clk) {signal.name} <= {expression};",
        ]
        self.ff += signal.width
        self._moments[signal.name] = Moment(cycle, 0)
        return signal

    def wire(self, signal: Signal, expression: str, moment: Moment) -> Signal:
        """Declare a wire with the value of an expression, which is ready at `moment`, and return the wire's signal."""
        cast = f"$signed({expression})" if signal.signed else expression
        self.lines.append(f"  wire {signal.declared} {signal.name} = {cast};")
        self._moments[signal.name] = moment
        return signal

    def bits(self, signal: Signal, count: int) -> str:
        """Return the lowest `count` bits of a signal as an unsigned expression; a signal with fewer bits is extended by
        its sign or by zeros.
        """
        if self._moments[signal.name] == ALWAYS:
            value = int(signal.low) & ((1 << count) - 1)
            return f"{count}'d{value}"
        if count < signal.width:
            self.drop(signal)
            return f"{signal.name}[{count - 1}:0]"
        if count == signal.width:
            return f"{{{signal.name}}}" if signal.signed else signal.name
        top = f"{signal.name}[{signal.width - 1}]" if signal.signed else "1'b0"
        return f"{{{{{count - signal.width}{{{top}}}}}, {signal.name}}}"

    def signed(self, signal: Signal, count: int) -> str:
        """Return the value of a signal as a signed expression of exactly `count` bits."""
        if self._moments[signal.name] == ALWAYS:
            return literal(int(signal.low), count)
        return signal.extended(count)

    def exact(self, signal: Signal) -> str:
        """Return a signal as an expression of the width and the sign with which it is declared."""
        if self._moments[signal.name] != ALWAYS:
            return signal.name
        return literal(signal.low, signal.width) if signal.signed else f"{signal.width}'d{signal.low}"

    def drop(self, signal: Signal) -> None:
        """Declare to Verilog tools that some bits of a signal are left unused on purpose."""
        if signal.name not in self._unused:
            self._unused.add(signal.name)
            self.lines.append(f"  wire {signal.name}_unused = ^{signal.name};")

    def fail(self, fail: Signal, moment: Moment) -> None:
        """Record a wire that is 1 if a Check fails."""
        self._moments[fail.name] = moment
        self._rows.start(fail, moment.cycle)
        self.fails.append(fail.name)

    def node(self, node: Node, prefix: str = "") -> None:
        """Add an elementwise operation to the datapath."""
        sources = [self.values[name] for name in node.sources]
        target = Signal(prefix + node.name, node.low, node.high)
        if node.low == node.high and not isinstance(node.operation, Check):
            for source in sources:
                if self._moments[source.name] != ALWAYS:
                    self.drop(source)
            self.source(node.name, Signal(f"{target.name}_constant", node.low, node.high), constant=True)
            return
        if self._foldable(node.operation, sources):
            (made,) = node.operation.run(*(np.full(1, source.low, np.int64) for source in sources))
            self.source(node.name, Signal(f"{target.name}_constant", int(made[0]), int(made[0])), constant=True)
            return
        self._nodes[node.name] = node
        lowest = self._lowest(node)
        if lowest:
            self._cut_off(sources, target, lowest)
            self.values[node.name] = target
            return
        operation, moments = node.operation, [self._moments[source.name] for source in sources]
        cycle = max(0, *(moment.cycle for moment in moments))
        level = max((moment.level for moment in moments if moment.cycle == cycle), default=0)
        weight, latency = timing(operation, sources)
        latency += self.apart and in_parts(operation, sources)
        leaves = self.lends and self._leaves(operation, sources, target)
        latency = AWAY if leaves else latency
        if level and (level + weight > (1 if self.apart else LEVELS) or latency):
            cycle, level = cycle + 1, 0
        product = isinstance(operation, Multiply | Scale) and latency > 0 and not leaves
        self._rows.read(operation, sources, target, cycle, product)
        sources = [self.at(source, cycle) for source in sources]
        self.lut += luts(operation, sources, target)
        if leaves:
            self._send(node.name, self._factors(operation, sources), target, cycle)
        elif latency:
            self._clocked(operation, sources, target, cycle, latency)
        else:
            self._plain(operation, sources, target, Moment(cycle, level + weight))
        self.values[node.name] = target
        self._rows.start(target, self._moments[target.name].cycle)

    def _foldable(self, operation: Operation, sources: Sequence[Signal]) -> bool:
        """Return whether an operation takes no register and cannot fail, and all its sources are known numbers."""
        known = all(self._moments[source.name] == ALWAYS for source in sources)
        return known and type(operation) in PLAIN and not isinstance(operation, Check)

    def _lowest(self, node: Node) -> int:
        """Return the number k if a node subtracts from x the number 2^k (x >> k), which leaves the lowest k bits of x;
        otherwise 0.
        """
        back = self._nodes.get(node.sources[-1])
        above = None if back is None else self._nodes.get(back.sources[0])
        if back is None or above is None or not isinstance(node.operation, Subtract):
            return 0
        scale, shift = back.operation, above.operation
        if not isinstance(scale, Scale) or not isinstance(shift, Shift) or above.sources[0] != node.sources[0]:
            return 0
        exact = (node.low, node.high) == (0, scale.factor - 1) and scale.factor == 1 << shift.bits
        return shift.bits if exact else 0

    def _cut_off(self, sources: Sequence[Signal], target: Signal, bits: int) -> None:
        """Write the lowest bits of a value, which take no logic."""
        x, back = sources
        moment = self._moments[x.name]
        self._rows.read(Shift(0), [x], target, moment.cycle, False)
        self.drop(x)
        self.drop(back)
        self.wire(target, f"{x.name}[{bits - 1}:0]", moment)
        self._rows.start(target, moment.cycle)

    def finish(self, name: str, fails: bool) -> tuple[Signal, str, int]:
        """Return the result of the datapath in a register, the wire that is 1 if a Check failed, and the cycle at which
        both are ready.
        """
        signal = self.values[name]
        failing = [Signal(fail, 0, 1) for fail in self.fails]
        moments = [self._moments[s.name] for s in (signal, *failing)]
        cycle = max(0, *(moment.cycle + (moment.level > 0) for moment in moments))
        value = self.at(signal, cycle)
        for last in (signal, *failing):
            self._rows.end(last, cycle)
        if not fails:
            return value, "1'b0", cycle
        return value, " | ".join(self.at(fail, cycle).name for fail in failing) or "1'b0", cycle

    def _clocked(
        self, operation: Operation, sources: Sequence[Signal], target: Signal, cycle: int, latency: int
    ) -> None:
        if isinstance(operation, Multiply | Scale):
            sources = self._factors(operation, sources)
            bits = sum(signed_width(s.low, s.high) for s in sources)
            product = Signal(f"{target.name}_wide", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            if latency > 1:
                self.dsp += self._in_parts(product, sources, cycle)
            else:
                self.dsp += dsp_blocks(target, *sources)
                self.wire(product, " * ".join(self.signed(s, bits) for s in sources), Moment(cycle, 0))
            kept = self.bits(product, target.width)
            self.register(target, f"$signed({kept})" if target.signed else kept, cycle + latency)
        elif isinstance(operation, Lookup):
            self._table(operation, sources[0], target, cycle)
        else:
            self._iterative(operation, sources, target, cycle, latency)

    def _factors(self, operation: Operation, sources: Sequence[Signal]) -> Sequence[Signal]:
        """Return the factors of a product, of which that of a Scale is a number."""
        if not isinstance(operation, Scale):
            return sources
        factor = Signal(str(operation.factor), operation.factor, operation.factor)
        self._moments[factor.name] = ALWAYS
        return [*sources, factor]

    def _leaves(self, operation: Operation, sources: Sequence[Signal], target: Signal) -> bool:
        """Return whether an operation is a product that one multiplier takes."""
        if not isinstance(operation, Multiply | Scale):
            return False
        factors = self._factors(operation, sources)
        return multiplied(operation, factors) and fits(factors) and dsp_blocks(target, *factors) > 0

    def _send(self, name: str, factors: Sequence[Signal], target: Signal, cycle: int) -> None:
        """Write a product that is made outside: its factors leave through ports, and it comes back AWAY clocks
        later.
        """
        y, x = sorted(factors, key=lambda s: signed_width(s.low, s.high))
        bits = signed_width(x.low, x.high), signed_width(y.low, y.high)
        place, total = len(self.away), sum(bits)
        self.away.append(Away(name, bits, cycle))
        self.lines += [
            f"  assign away{place}_x = {self.signed(x, bits[0])};",
            f"  assign away{place}_y = {self.signed(y, bits[1])};",
        ]
        product = Signal(f"{target.name}_wide", -(1 << (total - 1)), (1 << (total - 1)) - 1)
        self.wire(product, f"away{place}", Moment(cycle + AWAY, 0))
        self.wire(target, self.bits(product, target.width), Moment(cycle + AWAY, 0))

    def _in_parts(self, product: Signal, sources: Sequence[Signal], cycle: int) -> int:
        """Write a product whose wide factor is multiplied in parts, the results of which are added a clock later, and
        return the number of parts.
        """
        other, wide = sorted(sources, key=lambda s: signed_width(s.low, s.high))
        bits, own = signed_width(wide.low, wide.high), signed_width(other.low, other.high)
        factor, declared, made, terms = f"{product.name}_factor", [], [], []
        for low, part in parts(bits):
            name, total, last = f"{product.name}_from{low}", part + own, low + part == bits
            sign = f"{{{total - part}{{{factor}[{bits - 1}]}}}}" if last else f"{total - part + 1}'d0"
            taken = f"{{{sign}, {factor}[{bits - 1 if last else low + part - 2}:{low}]}}"
            declared.append(f"  reg signed [{total - 1}:0] {name};")
            made.append(f"    {name} <= $signed({taken}) * {self.signed(other, total)};")
            more = bits + own - total - low
            extended = [f"{{{more}{{{name}[{total - 1}]}}}}"] * (more > 0) + [name] + [f"{low}'d0"] * (low > 0)
            terms.append(f"{{{', '.join(extended)}}}")
            self.ff += total
        self.lines += [f"  wire signed [{bits - 1}:0] {factor} = {self.signed(wide, bits)};", *declared]
        self.lines += ["  always @(posedge clk) begin", *made, "  end"]
        self.wire(product, " + ".join(reversed(terms)), Moment(cycle + 1, 0))
        return len(terms)

    def _table(self, operation: Lookup, source: Signal, target: Signal, cycle: int) -> None:
        reached = operation.table[source.low - operation.low : source.high - operation.low + 1].tolist()
        bits, mask = width(0, len(reached) - 1), (1 << target.width) - 1
        text = "".join(f"{value & mask:x}\n" for value in reached + [reached[-1]] * ((1 << bits) - len(reached)))
        file = next((name for name, known in self.files.items() if known == text), None)
        if file is None:
            file = f"{self.owner}_{target.name}.hex"
            self.files[file] = text
        index = Signal(f"{target.name}_index", 0, (1 << bits) - 1)
        wide = max(bits, source.width)
        offset = f"{wide}'d{source.low & ((1 << wide) - 1)}"
        full = Signal(f"{target.name}_offset", 0, (1 << wide) - 1)
        self.wire(full, f"{self.bits(source, wide)} - {offset}", Moment(cycle, 0))
        self.wire(index, self.bits(full, bits), Moment(cycle, 0))
        self.rom_bits += target.width << bits
        self.lines += [
            f"  reg [{target.width - 1}:0] {target.name}_table [0:{(1 << bits) - 1}];",
            f'  initial $readmemh("{file}", {target.name}_table);',
            f"  reg [{target.width - 1}:0] {target.name}_read;",
            f"  always @(posedge clk) {target.name}_read <= {target.name}_table[{index.name}];",
        ]
        read = f"{target.name}_read"
        self.wire(target, read, Moment(cycle + 1, 0))

    def _iterative(
        self, operation: Operation, sources: Sequence[Signal], target: Signal, cycle: int, latency: int
    ) -> None:
        if isinstance(operation, Divide):
            x, y = sources
            bits, by = quotient_bits(x), y.width
            module, text = divide(bits, by)
            self.files[f"{module}.v"] = text
            raw = Signal(f"{target.name}_quotient", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            self.wire(
                Signal(f"{target.name}_x", -(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                self.bits(x, bits),
                Moment(cycle, 0),
            )
            self.wire(Signal(f"{target.name}_y", 0, (1 << by) - 1), self.bits(y, by), Moment(cycle, 0))
            self.lines += [
                f"  wire {raw.declared} {raw.name};",
                f"  {module} {target.name}_divider (.clk(clk), .x({target.name}_x), .y({target.name}_y), "
                f".quotient({raw.name}));",
            ]
        else:
            (x,) = sources
            half = (x.width + 1) // 2
            module, text = root(half)
            self.files[f"{module}.v"] = text
            raw = Signal(f"{target.name}_root", 0, (1 << half) - 1)
            self.lines += [
                f"  wire {raw.declared} {raw.name};",
                f"  {module} {target.name}_rooter (.clk(clk), .x({self.bits(x, 2 * half)}), .root({raw.name}));",
            ]
        self._moments[raw.name] = Moment(cycle + latency, 0)
        self.wire(target, self.bits(raw, target.width), Moment(cycle + latency, 0))

    def _plain(self, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> None:
        write = PLAIN[type(operation)]
        self.wire(target, write(self, operation, sources, target, moment), moment)
