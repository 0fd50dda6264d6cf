"""Datapaths: elementwise operations of a stage as pipelined Verilog, one result a clock, no stalls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from circuitize.circuits.integers import (
    Add,
    Check,
    Clamp,
    Divide,
    IsNegative,
    Lookup,
    Maximum,
    Multiply,
    ReLU,
    Scale,
    Select,
    Shift,
    SquareRoot,
    Subtract,
)
from circuitize.circuits.operation import Operation

from ..signals import Signal, literal, signed_width, width
from .graph import Node
from .iterative import divide, root

LEVELS = 2
"""Operations between two registers."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a value is there: after so many registers, and so many operations after the last of them."""

    cycle: int
    level: int


ALWAYS = Moment(-1, 0)
"""When a constant is there."""


@dataclass
class Datapath:
    """Verilog text of a pipeline under construction. Names are those of the stage's values with `prefix` in front.

    `values` maps the stage's names to signals, `lines` is the text, `files` are tables by name, `fails` the wires that
    are 1 where a Check fails. `lut`, `ff`, `dsp` and `rom_bits` are estimates of what the text comes to.
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
    _moments: dict[str, Moment] = field(default_factory=dict)
    _unused: set[str] = field(default_factory=set)
    _delayed: dict[tuple[str, int], str] = field(default_factory=dict)

    def source(self, name: str, signal: Signal, constant: bool = False) -> None:
        """A value that is there at cycle 0, or always."""
        self.values[name] = signal
        self._moments[signal.name] = ALWAYS if constant else Moment(0, 0)

    def at(self, signal: Signal, cycle: int) -> Signal:
        """The signal delayed to a cycle."""
        moment = self._moments[signal.name]
        if moment == ALWAYS or (moment.cycle == cycle):
            return signal
        name = signal.name
        for now in range(moment.cycle + 1, cycle + 1):
            delayed = self._delayed.get((signal.name, now))
            if delayed is None:
                delayed = f"{signal.name}_at{now}"
                self.register(Signal(delayed, signal.low, signal.high), name, now)
                self._delayed[signal.name, now] = delayed
            name = delayed
        return Signal(name, signal.low, signal.high)

    def register(self, signal: Signal, expression: str, cycle: int) -> Signal:
        self.lines += [
            f"  reg {signal.declared} {signal.name};",
            f"  always @(posedge clk) {signal.name} <= {expression};",
        ]
        self.ff += signal.width
        self._moments[signal.name] = Moment(cycle, 0)
        return signal

    def wire(self, signal: Signal, expression: str, moment: Moment) -> Signal:
        cast = f"$signed({expression})" if signal.signed else expression
        self.lines.append(f"  wire {signal.declared} {signal.name} = {cast};")
        self._moments[signal.name] = moment
        return signal

    def bits(self, signal: Signal, count: int) -> str:
        """The lowest bits, extended as the sign says: an unsigned expression of exactly so many bits."""
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
        """A signed expression of exactly so many bits."""
        if self._moments[signal.name] == ALWAYS:
            return literal(int(signal.low), count)
        return signal.extended(count)

    def exact(self, signal: Signal) -> str:
        """The signal as it is declared."""
        if self._moments[signal.name] != ALWAYS:
            return signal.name
        return literal(signal.low, signal.width) if signal.signed else f"{signal.width}'d{signal.low}"

    def drop(self, signal: Signal) -> None:
        """Say that some bits of a signal are not used, and mean it."""
        if signal.name not in self._unused:
            self._unused.add(signal.name)
            self.lines.append(f"  wire {signal.name}_unused = ^{signal.name};")

    def node(self, node: Node, prefix: str = "") -> None:
        """Add an operation."""
        sources = [self.values[name] for name in node.sources]
        target = Signal(prefix + node.name, node.low, node.high)
        if node.low == node.high and not isinstance(node.operation, Check):
            for source in sources:
                if self._moments[source.name] != ALWAYS:
                    self.drop(source)
            self.source(node.name, Signal(f"{target.name}_constant", node.low, node.high), constant=True)
            return
        operation, moments = node.operation, [self._moments[source.name] for source in sources]
        cycle = max(0, *(moment.cycle for moment in moments))
        level = max((moment.level for moment in moments if moment.cycle == cycle), default=0)
        weight, latency = _timing(operation, sources)
        if level and (level + weight > LEVELS or latency):
            cycle, level = cycle + 1, 0
        sources = [self.at(source, cycle) for source in sources]
        self.lut += _luts(operation, sources, target)
        if latency:
            self._clocked(operation, sources, target, cycle, latency)
        else:
            self._plain(operation, sources, target, Moment(cycle, level + weight))
        self.values[node.name] = target

    def finish(self, name: str, fails: bool) -> tuple[Signal, str, int]:
        """The result in a register, with the wire that is 1 where a Check failed, and the cycle both are there."""
        signal = self.values[name]
        failing = [Signal(fail, 0, 1) for fail in self.fails]
        moments = [self._moments[s.name] for s in (signal, *failing)]
        cycle = max(0, *(moment.cycle + (moment.level > 0) for moment in moments))
        value = self.at(signal, cycle)
        if not fails:
            return value, "1'b0", cycle
        return value, " | ".join(self.at(fail, cycle).name for fail in failing) or "1'b0", cycle

    def _clocked(
        self, operation: Operation, sources: Sequence[Signal], target: Signal, cycle: int, latency: int
    ) -> None:
        if isinstance(operation, Multiply | Scale):
            if isinstance(operation, Scale):
                factor = Signal(str(operation.factor), operation.factor, operation.factor)
                self._moments[factor.name] = ALWAYS
                sources = [*sources, factor]
            self.dsp += dsp_blocks(target, *sources)
            bits = sum(signed_width(s.low, s.high) for s in sources)
            product = Signal(f"{target.name}_wide", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            self.wire(product, " * ".join(self.signed(s, bits) for s in sources), Moment(cycle, 0))
            kept = self.bits(product, target.width)
            self.register(target, f"$signed({kept})" if target.signed else kept, cycle + 1)
        elif isinstance(operation, Lookup):
            self._table(operation, sources[0], target, cycle)
        else:
            self._iterative(operation, sources, target, cycle, latency)

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
            bits, by = _quotient_bits(x), y.width
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
        write = _PLAIN[type(operation)]
        self.wire(target, write(self, operation, sources, target, moment), moment)


def _quotient_bits(x: Signal) -> int:
    return max(signed_width(x.low, x.high), 2)


def _timing(operation: Operation, sources: Sequence[Signal]) -> tuple[int, int]:
    """How many operations deep it counts, and registers inside."""
    if isinstance(operation, Multiply):
        return (1, 0) if any(_is_bit(s) for s in sources) else (0, 1)
    if isinstance(operation, Scale):
        size = abs(operation.factor)
        if size & (size - 1) == 0:
            return (1 if operation.factor < 0 else 0), 0
        return 0, 1
    if isinstance(operation, Lookup):
        return 0, 1
    if isinstance(operation, Divide):
        return 0, _quotient_bits(sources[0])
    if isinstance(operation, SquareRoot):
        return 0, (sources[0].width + 1) // 2
    return (0 if isinstance(operation, Shift | IsNegative) else 1), 0


def _is_bit(signal: Signal) -> bool:
    return signal.low >= 0 and signal.high <= 1


def dsp_blocks(target: Signal, *sources: Signal) -> int:
    """Blocks of 25 x 18 bits that a product takes; none where it is so narrow that yosys prefers logic."""
    x, y = sorted(signed_width(s.low, s.high) for s in sources)
    if x < 2 or target.width < 9:
        return 0
    return min(-(-(x - 1) // 17) * -(-(y - 1) // 24), -(-(x - 1) // 24) * -(-(y - 1) // 17))


def _luts(operation: Operation, sources: Sequence[Signal], target: Signal) -> int:
    """LUTs with six inputs, a first guess."""
    if isinstance(operation, Shift | IsNegative):
        return 0
    if isinstance(operation, Scale):
        size = abs(operation.factor)
        return 0 if operation.factor > 0 and size & (size - 1) == 0 else target.width
    if isinstance(operation, Multiply):
        if any(_is_bit(s) for s in sources):
            return target.width
        return 0 if dsp_blocks(target, *sources) else sources[0].width * sources[1].width
    if isinstance(operation, Divide):
        return _quotient_bits(sources[0]) * (sources[1].width + 2)
    if isinstance(operation, SquareRoot):
        return sources[0].width * sources[0].width // 3
    if isinstance(operation, Clamp):
        return target.width + sources[0].width // 2
    if isinstance(operation, Check):
        return max(1, (sources[0].width - target.width + 5) // 5)
    return target.width


Write = Callable[[Datapath, Operation, Sequence[Signal], Signal, Moment], str]


def _add(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    sign = "-" if isinstance(operation, Subtract) else "+"
    return f" {sign} ".join(path.bits(source, target.width) for source in sources)


def _multiply(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    gate, other = sources if sources[0].low >= 0 and sources[0].high <= 1 else reversed(sources)
    return f"{{{target.width}{{{path.bits(gate, 1)}}}}} & {path.bits(other, target.width)}"


def _scale(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Scale)
    (x,) = sources
    zeros = abs(operation.factor).bit_length() - 1
    kept = target.width - zeros
    shifted = f"{{{path.bits(x, kept)}, {zeros}'d0}}" if zeros else path.bits(x, kept)
    return shifted if operation.factor > 0 else f"{target.width}'d0 - {shifted}"


def _relu(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    (x,) = sources
    if not x.signed:
        return path.bits(x, target.width)
    return f"{{{target.width}{{~{x.name}[{x.width - 1}]}}}} & {path.bits(x, target.width)}"


def _shift(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Shift)
    (x,) = sources
    path.drop(x)
    kept = x.width - operation.bits
    if kept <= 0:
        return f"{{{target.width}{{{x.name}[{x.width - 1}]}}}}" if x.signed else f"{target.width}'d0"
    return f"{x.name}[{x.width - 1}:{operation.bits}]"


def _negative(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    (x,) = sources
    path.drop(x)
    return f"{x.name}[{x.width - 1}]"


def _outside(path: Datapath, x: Signal, low: int, high: int) -> tuple[str, str]:
    """Conditions that x is below low, and above high; empty where it cannot be."""
    bits = max(signed_width(x.low, x.high), signed_width(low, high))
    below = f"({path.signed(x, bits)} < {literal(low, bits)})" if x.low < low else ""
    return below, f"({path.signed(x, bits)} > {literal(high, bits)})" if x.high > high else ""


def _check(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Check)
    (x,) = sources
    conditions = [c for c in _outside(path, x, operation.low, operation.high) if c]
    if conditions:
        fail = Signal(f"{target.name}_fail", 0, 1)
        path.lines.append(f"  wire [0:0] {fail.name} = {' | '.join(conditions)};")
        path._moments[fail.name] = moment
        path.fails.append(fail.name)
    return path.bits(x, target.width)


def _clamp(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Clamp)
    (x,) = sources
    below, above = _outside(path, x, operation.low, operation.high)
    mask = (1 << target.width) - 1
    text = path.bits(x, target.width)
    text = f"{above} ? {target.width}'d{operation.high & mask} : {text}" if above else text
    return f"{below} ? {target.width}'d{operation.low & mask} : {text}" if below else text


def _select(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    condition, x, y = sources
    return f"{path.bits(condition, 1)} ? {path.bits(x, target.width)} : {path.bits(y, target.width)}"


def _maximum(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    x, y = sources
    bits = max(signed_width(s.low, s.high) for s in sources)
    larger = f"({path.signed(x, bits)} > {path.signed(y, bits)})"
    return f"{larger} ? {path.bits(x, target.width)} : {path.bits(y, target.width)}"


_PLAIN: Mapping[type[Operation], Write] = {
    Add: _add,
    Subtract: _add,
    Multiply: _multiply,
    Scale: _scale,
    ReLU: _relu,
    Shift: _shift,
    IsNegative: _negative,
    Check: _check,
    Clamp: _clamp,
    Select: _select,
    Maximum: _maximum,
}
